"""The forms in which NIST gives out judgments and keys, read and written. (FORMATS 4)

    parse_factoid   qid docid judgment string
    parse_list      qid tag docid judgment distinct string
    parse_other     qid tag item docid string, then qid tag item nugget
    parse_nuggets   qid nugget<TAB>vital|okay<TAB>text, under `Qid ...` headings
    parse_weights   qid<TAB>nugget<TAB>weight<TAB>text
    parse_target_types  #PERSON Fred Durst
    parse_answers   # qid, Q:..., one answer per line
    parse_patterns  qid regex, or qid regex docid docid ...

Every `parse_*` gives the rows that the JSON lines would contain, with their line numbers, so that everything downstream
sees one form; every `format_*` gives the text for such rows.
"""

from __future__ import annotations

import re
import warnings as python_warnings
from collections.abc import Container, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from qassay.display import one_line
from qassay.errors import InputError, Problem, Problems
from qassay.formats import lines
from qassay.formats.jsonl import Numbered
from qassay.runs import NIL


class FormWriter:
    """Gathers the lines of one file, and the faults of strings that no line can express."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._lines: list[str] = []
        self._problems = Problems()

    def line(self, question: str, fields: Sequence[str], string: str | None = None) -> None:
        """Add a line: fields separated by one blank, then the string, which runs to the end of the line."""
        self.check_fields(question, fields)
        if string is not None:
            self.check(question, string)
        self.raw(" ".join([*fields, *([] if string is None else [string])]))

    def check_fields(self, question: str, fields: Sequence[str]) -> None:
        """Note fields that would not be read back as one."""
        for part in fields:
            if not part or any(c in part for c in " \t\r\n\0"):
                self.fault(question, f"{part[:60]!r} is empty or has white space; a NIST form cannot express it")

    def check(self, question: str, string: str) -> None:
        """Note a string that would not be read back as it is."""
        if not string or not lines.is_one_line(string) or "\0" in string:
            fault = "is empty" if not string else "has line ends in it or blanks around it"
            self.fault(question, f"{string[:60]!r} {fault}; a NIST form cannot express it")

    def raw(self, line: str) -> None:
        """Add a line as it is."""
        self._lines.append(line + "\n")

    def fault(self, question: str, message: str) -> None:
        """Note something that cannot be written."""
        self._problems.append(Problem("syntax", f"question {question}: {message}", self.file, None, question))

    def text(self) -> str:
        """The text of the file, or all that keeps it from being written."""
        if self._problems:
            raise InputError(self._problems)
        return "".join(self._lines)


LABELS = {"-1": "W", "1": "R", "2": "U", "3": "X"}
CODES = {label: code for code, label in LABELS.items()}
# Two files are known to write "not distinct" in two ways.
DISTINCT = {"1": True, "0": False, "-1": False}
# Stands where an item has no document, so that the fields keep their places.
NO_DOC = "-"


def parse_factoid(text: str, *, file: str, warnings: list[Problem] | None = None) -> list[Numbered]:
    """Rows of `qid docid judgment string`.

    Lines that judge NIL are skipped with a warning: whether NIL is right follows from the other judgments.
    """
    rows: list[Numbered] = []
    problems = lines.unprintable(text, file=file)
    for number, line in lines.numbered(text):
        parts = lines.fields(line, 3)
        question = parts[0]
        if len(parts) > 1 and parts[1] == NIL:
            if warnings is not None:
                message = f"question {question}: NIL needs no judgment; it follows from the others"
                warnings.append(Problem("syntax", message, file, number))
        elif len(parts) > 2 and parts[2] not in LABELS:
            problems.append(_bad_label(file, number, question, parts[2]))
        elif len(parts) < 4:
            problems.append(_short(file, number, question, "qid docid judgment string"))
        else:
            row = {"question": question, "doc": parts[1], "text": parts[3], "judgment": LABELS[parts[2]]}
            rows.append((number, row))
    return _whole(rows, problems)


def format_factoid(rows: Iterable[Mapping[str, Any]], *, file: str) -> str:
    """The text of `qid docid judgment string`."""
    writer = FormWriter(file)
    for row in rows:
        question = row["question"]
        writer.line(question, [question, row["doc"], _code(writer, question, row["judgment"])], row["text"])
    return writer.text()


def parse_list(text: str, *, file: str, warnings: list[Problem] | None = None) -> list[Numbered]:
    """Rows of `qid tag docid judgment distinct string`; only what is right can be distinct.

    Equal items of one list have a line each, of which at most one is marked: together they are the distinct answer.
    """
    rows: list[Numbered] = []
    marked: set[tuple[str, str, str, str]] = set()
    problems = lines.unprintable(text, file=file)
    for number, line in lines.numbered(text):
        parts = lines.fields(line, 5)
        question = parts[0]
        if len(parts) > 2 and parts[2] == NIL:
            if warnings is not None:
                warnings.append(Problem("syntax", f"question {question}: NIL needs no judgment", file, number))
            continue
        if len(parts) < 6:
            problems.append(_short(file, number, question, "qid tag docid judgment distinct string"))
            continue
        _, tag, doc, code, mark, string = parts
        if code not in LABELS:
            problems.append(_bad_label(file, number, question, code))
        elif mark not in DISTINCT:
            message = f"question {question}: {mark!r} is not the mark of a distinct answer; it is 0 or 1"
            problems.append(Problem("bad-label", message, file, number, question))
        elif DISTINCT[mark] and LABELS[code] != "R":
            message = f"question {question}: {string!r} is judged {code} but marked distinct; only right answers are"
            problems.append(Problem("bad-label", message, file, number, question))
        else:
            where = {"question": question, "run": tag, "doc": doc, "text": string}
            if DISTINCT[mark]:
                marked.add((question, tag, doc, string))
            distinct = LABELS[code] == "R" and (question, tag, doc, string) in marked
            rows.append((number, {**where, "judgment": LABELS[code], "distinct": distinct}))
    return _whole(rows, problems)


def format_list(rows: Iterable[Mapping[str, Any]], *, file: str) -> str:
    """The text of `qid tag docid judgment distinct string`.

    Of a run's right items with one `answer` class (the string, where neither class nor mark is known) the first is
    the distinct one.
    """
    writer = FormWriter(file)
    seen: set[tuple[str, str, str]] = set()
    for row in rows:
        question, run, text = row["question"], row["run"], row["text"]
        distinct = bool(row.get("distinct"))
        if row["judgment"] == "R" and (row.get("answer") is not None or row.get("distinct") is None):
            answer = row.get("answer")
            member = (question, run, text if answer is None else answer)
            distinct = member not in seen
            seen.add(member)
        mark = "1" if distinct and row["judgment"] == "R" else "0"
        code = _code(writer, question, row["judgment"])
        writer.line(question, [question, run, row["doc"] or NO_DOC, code, mark], text)
    return writer.text()


def parse_other(text: str, *, file: str, warnings: list[Problem] | None = None) -> list[Numbered]:
    """Rows of the two parts `qid tag item docid string` and `qid tag item nugget`.

    Items count from 1 here and from 0 in the rows. A response that was shown and matched nothing has one row that
    says so.
    """
    shown: dict[tuple[str, str], tuple[int, set[int]]] = {}
    matches: dict[tuple[str, str, int], tuple[int, list[str]]] = {}
    problems = lines.unprintable(text, file=file)
    for number, line in lines.numbered(text):
        parts = lines.fields(line, 4)
        if len(parts) < 4 or not (parts[2].isascii() and parts[2].isdigit() and int(parts[2][:9]) > 0):
            problems.append(_short(file, number, parts[0], "qid tag item docid string, or: qid tag item nugget"))
            continue
        question, tag, item = parts[0], parts[1], int(parts[2][:9])
        if len(parts) == 5:
            shown.setdefault((question, tag), (number, set()))[1].add(item)
        else:
            nuggets = matches.setdefault((question, tag, item), (number, []))[1]
            if parts[3] not in nuggets:
                nuggets.append(parts[3])
    rows: list[Numbered] = []
    for (question, tag, item), (number, nuggets) in matches.items():
        if shown and item not in shown.get((question, tag), (0, set()))[1]:
            message = f"question {question}: run {tag} has no item {item} in the first part of the file"
            problems.append(Problem("syntax", message, file, number, question))
        rows.append((number, {"question": question, "run": tag, "item": item - 1, "nuggets": nuggets}))
    matched = {(question, tag) for question, tag, _ in matches}
    for (question, tag), (number, _) in shown.items():
        if (question, tag) not in matched:
            rows.append((number, {"question": question, "run": tag, "nuggets": []}))
    return _whole(rows, problems)


def format_other(
    rows: Sequence[Mapping[str, Any]], items: Mapping[tuple[str, str], Sequence[tuple[str | None, str]]], *, file: str
) -> str:
    """The text of the two parts; `items` has the responses, as (document, string), by question and run.

    A match whose item is not known is written with the first one.
    """
    writer = FormWriter(file)
    for question, run in dict.fromkeys((row["question"], row["run"]) for row in rows):
        for place, (doc, string) in enumerate(items.get((question, run), ()), 1):
            writer.line(question, [question, run, str(place), doc or NO_DOC], string)
    for row in rows:
        for nugget in row["nuggets"]:
            place = 1 + (row.get("item") or 0)
            writer.line(row["question"], [row["question"], row["run"], str(place), nugget])
    return writer.text()


def _code(writer: FormWriter, question: str, label: str) -> str:
    """The number for a label; tasks of one's own may have labels that NIST has none for."""
    if label not in CODES:
        writer.fault(question, f"the label {label!r} has no number in NIST's form")
    return CODES.get(label, "-")


def _short(file: str, number: int, question: str, form: str) -> Problem:
    return Problem("syntax", f"question {question}: a line is: {form}", file, number, question)


def _bad_label(file: str, number: int, question: str, code: str) -> Problem:
    message = f"question {question}: {code!r} is not a judgment; it is -1 (W), 1 (R), 2 (U) or 3 (X)"
    return Problem("bad-label", message, file, number, question)


def _whole(rows: list[Numbered], problems: list[Problem]) -> list[Numbered]:
    if problems:
        raise InputError(problems)
    return rows


HEADING = re.compile(r"Qid[ \t]+([^ \t:]+)[ \t]*(?::|$)")
NUGGET = re.compile(r"([^ \t]+)[ \t]+([^ \t]+)[ \t]+(vital|okay)(?:[ \t]+(.*))?", re.DOTALL | re.IGNORECASE)
ANSWERS_HEADING = re.compile(r"#[ \t]+([^ \t]+)")
# Exactly four fields, separated by tabs, with a number from 0 in the third.
WEIGHT = re.compile(r"([^\t ]+)\t([^\t ]+)\t([0-9]+(?:\.[0-9]+)?)\t([^\t]+)")
TARGET_TYPE = re.compile(r"#([A-Z][A-Z_]*)[ \t]+(.+)")


def parse_nuggets(text: str, *, file: str, warnings: list[Problem] | None = None) -> list[Numbered]:
    """Rows of nugget lists; a nugget under another question's heading gets a warning."""
    rows: list[Numbered] = []
    problems = lines.unprintable(text, file=file)
    heading: str | None = None
    seen: dict[tuple[str, str], int] = {}
    for number, line in lines.numbered(text):
        if title := HEADING.match(line):
            heading = title[1]
            continue
        match = NUGGET.fullmatch(line)
        if match is None or not match[4]:
            question = lines.fields(line, 1)[0]
            problems.append(_short(file, number, question, "qid nugget, a tab, vital or okay, a tab, text"))
            continue
        question, nugget = match[1], match[2]
        if (question, nugget) in seen:
            message = f"question {question} has two nuggets {nugget}; the first is on line {seen[question, nugget]}"
            problems.append(Problem("syntax", message, file, number, question))
        if heading is not None and question != heading and warnings is not None:
            message = f"a nugget of question {question} stands under the heading of question {heading}"
            warnings.append(Problem("syntax", message, file, number, question))
        seen.setdefault((question, nugget), number)
        row = {"question": question, "nugget": nugget, "vital": match[3].lower() == "vital", "text": match[4]}
        rows.append((number, row))
    return _whole(rows, problems)


def parse_weights(text: str, *, file: str) -> list[Numbered]:
    """Rows of nuggets with their weights, `vital` still open: an existing list may say it."""
    rows: list[Numbered] = []
    problems = lines.unprintable(text, file=file)
    for number, line in lines.numbered(text):
        match = WEIGHT.fullmatch(line)
        if match is None:
            question = lines.fields(line, 1)[0]
            problems.append(_short(file, number, question, "qid, nugget, weight and text, separated by tabs"))
            continue
        row = {"question": match[1], "nugget": match[2], "text": match[4].strip(), "weight": float(match[3])}
        rows.append((number, row))
    return _whole(rows, problems)


def format_weights(rows: Iterable[Mapping[str, Any]], *, file: str) -> str:
    """The text of `qid<TAB>nugget<TAB>weight<TAB>text`, for the nuggets that have a weight."""
    writer = FormWriter(file)
    for row in rows:
        if row.get("weight") is None:
            continue
        question, text = row["question"], one_line(row["text"] or "")
        writer.check_fields(question, [question, row["nugget"]])
        writer.check(question, text)
        weight = format(Decimal(repr(float(row["weight"]))), "f")  # never with an exponent
        writer.raw("\t".join([question, row["nugget"], weight, text]))
    return writer.text()


def parse_target_types(text: str, *, file: str) -> list[Numbered]:
    """Rows with the type and the text of targets."""
    rows: list[Numbered] = []
    problems = lines.unprintable(text, file=file)
    for number, line in lines.numbered(text):
        match = TARGET_TYPE.fullmatch(line)
        if match is None:
            problems.append(
                Problem("syntax", "a line is #TYPE and the target, such as #PERSON Fred Durst", file, number)
            )
        else:
            rows.append((number, {"target_type": match[1], "target": match[2]}))
    return _whole(rows, problems)


def format_nuggets(rows: Iterable[Mapping[str, Any]], titles: Mapping[str, str], *, file: str) -> str:
    """The text of nugget lists; `titles` has the texts of the headings, by question."""
    writer = FormWriter(file)
    for number, (question, nuggets) in enumerate(_by_question(rows).items()):
        if number:
            writer.raw("\n")
        writer.check_fields(question, [question])
        writer.raw(f"Qid {question}: {one_line(titles.get(question, ''))}".rstrip())
        for row in nuggets:
            # The text is for people: it may lose its line ends and the blanks around it.
            text = re.sub(r"[\r\n]+", " ", row["text"] or "").strip(lines.BLANKS)
            writer.check(question, text)
            writer.check_fields(question, [row["nugget"]])
            writer.raw(f"{question} {row['nugget']}\t{'vital' if row['vital'] else 'okay'}\t{text}")
    return writer.text()


def parse_answers(text: str, *, file: str, warnings: list[Problem] | None = None) -> list[Numbered]:
    """Rows of known answers.

    An answer that occurs twice is two answers that were written alike; the second becomes `Moscow (2)`, so that both
    count.
    """
    rows: list[Numbered] = []
    problems = lines.unprintable(text, file=file)
    question: str | None = None
    may_ask = False
    seen: set[tuple[str, str]] = set()
    for number, line in lines.numbered(text):
        if title := ANSWERS_HEADING.fullmatch(line):
            question, may_ask = title[1], True
            continue
        if question is None:
            message = "an answer before the first question; a question begins with a line: # qid"
            problems.append(Problem("syntax", message, file, number))
            continue
        is_text = may_ask and line.startswith("Q:")
        may_ask = False
        if is_text:
            continue
        answer, count = line, 1
        while (question, answer) in seen:
            count += 1
            answer = f"{line} ({count})"
        seen.add((question, answer))
        rows.append((number, {"question": question, "answer": answer}))
    return _whole(rows, problems)


def format_answers(rows: Iterable[Mapping[str, Any]], titles: Mapping[str, str], *, file: str) -> str:
    """The text of known answers; `titles` has the questions' texts."""
    writer = FormWriter(file)
    for number, (question, answers) in enumerate(_by_question(rows).items()):
        if number:
            writer.raw("")
        writer.line(question, ["#", question])
        writer.raw(f"Q:{one_line(titles.get(question, ''))}".rstrip())
        for row in answers:
            answer = row["answer"]
            writer.check(question, answer)
            if ANSWERS_HEADING.fullmatch(answer):
                writer.fault(question, f"{answer!r} would be read as a heading; a NIST form cannot express it")
            writer.raw(answer)
    return writer.text()


def _by_question(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    grouped: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        grouped.setdefault(row["question"], []).append(row)
    return grouped


# NYT19980619.0373, APW_ENG_20050101.0001; AP880212-0001; BLOG06-20051206-000-0000000001.
_DOC = re.compile(
    r"[A-Z]{2,5}(?:_[A-Z]{3}_)?[0-9]{8}\.[0-9]{4}|[A-Z]{2,5}[0-9]{6}-[0-9]{4}|BLOG06-[0-9]{8}-[0-9]{3}-[0-9]+"
)
# Longer ones take seconds to compile, and nobody writes them.
LONGEST_PATTERN = 10_000


def looks_like_doc(field: str) -> bool:
    """Whether a field looks like a doc-id of the collections TREC used.

    >>> looks_like_doc("NYT19980619.0373"), looks_like_doc("B-52")
    (True, False)
    """
    return _DOC.fullmatch(field) is not None


def parse_patterns(text: str, *, file: str, documents: Container[str] = ()) -> list[Numbered]:
    """Rows of `qid regex` and `qid regex docid docid ...`: question, pattern, docs.

    Doc-ids are the last fields that look like one or are in `documents`; at least one field stays the pattern. A
    pattern that Python cannot compile is an error.
    """
    rows: list[Numbered] = []
    problems = lines.unprintable(text, file=file)
    for number, line in lines.numbered(text):
        parts = lines.fields(line, 1)
        question = parts[0]
        if len(parts) < 2:
            problems.append(_short(file, number, question, "qid regex, or: qid regex docid docid ..."))
            continue
        pattern, docs = _split(parts[1], documents)
        if fault := _fault(pattern):
            message = f"question {question}: {pattern[:60]!r} is not a regular expression: {fault}"
            problems.append(Problem("syntax", message, file, number, question))
        rows.append((number, {"question": question, "pattern": pattern, "docs": docs}))
    return _whole(rows, problems)


def _split(rest: str, documents: Container[str]) -> tuple[str, list[str]]:
    """The pattern, and the doc-ids behind it."""
    fields = list(re.finditer(r"[^ \t]+", rest))
    first = len(fields)
    while first > 1 and (looks_like_doc(fields[first - 1][0]) or fields[first - 1][0] in documents):
        first -= 1
    return rest[: fields[first - 1].end()], [field[0] for field in fields[first:]]


def _fault(pattern: str) -> str | None:
    if len(pattern) > LONGEST_PATTERN:
        return f"it has {len(pattern):,} characters; at most {LONGEST_PATTERN:,} are allowed"
    try:
        with python_warnings.catch_warnings():
            python_warnings.simplefilter("ignore")  # of sets such as [[a]: what they mean may change, they compile
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error)
    return None
