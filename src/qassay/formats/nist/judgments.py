"""Judgments in NIST's forms: factoid, list, and other questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from qassay.errors import InputError, Problem
from qassay.formats import lines
from qassay.formats.jsonl import Numbered
from qassay.formats.nist.writing import Writer
from qassay.runs import NIL

LABELS = {"-1": "W", "1": "R", "2": "U", "3": "X"}
CODES = {label: code for code, label in LABELS.items()}
# Two files are known to write "not distinct" in two ways.
DISTINCT = {"1": True, "0": False, "-1": False}
# Stands where an item has no document, so that the fields keep their places.
NO_DOC = "-"


def parse_factoid(text: str, *, file: str, warnings: list[Problem] | None = None) -> list[Numbered]:
    """Rows of `qid docid judgment string`.

    Lines that judge NIL are passed over with a warning: whether NIL is right follows from the other judgments.
    """
    rows: list[Numbered] = []
    problems = lines.unprintable(text, file=file)
    for number, line in lines.numbered(text):
        parts = lines.fields(line, 3)
        question = parts[0]
        if len(parts) > 1 and parts[1] == NIL:
            _warn(warnings, f"question {question}: NIL needs no judgment; it follows from the others", file, number)
        elif len(parts) < 3:
            problems.append(_short(file, number, question, "qid docid judgment string"))
        elif parts[2] not in LABELS:
            problems.append(_bad_label(file, number, question, parts[2]))
        elif len(parts) < 4:
            problems.append(_short(file, number, question, "qid docid judgment string"))
        else:
            row = {"question": question, "doc": parts[1], "text": parts[3], "judgment": LABELS[parts[2]]}
            rows.append((number, row))
    return _whole(rows, problems)


def format_factoid(rows: Iterable[Mapping[str, Any]], *, file: str) -> str:
    """The text of `qid docid judgment string`."""
    writer = Writer(file)
    for row in rows:
        question = row["question"]
        writer.line(question, [question, row["doc"], _code(writer, question, row["judgment"])], row["text"])
    return writer.text()


def parse_list(text: str, *, file: str, warnings: list[Problem] | None = None) -> list[Numbered]:
    """Rows of `qid tag docid judgment distinct string`; only what is right can be distinct."""
    rows: list[Numbered] = []
    problems = lines.unprintable(text, file=file)
    for number, line in lines.numbered(text):
        parts = lines.fields(line, 5)
        question = parts[0]
        if len(parts) > 2 and parts[2] == NIL:
            _warn(warnings, f"question {question}: NIL needs no judgment", file, number)
            continue
        if len(parts) < 6:
            problems.append(_short(file, number, question, "qid tag docid judgment distinct string"))
            continue
        _, tag, doc, code, mark, string = parts
        if code not in LABELS:
            problems.append(_bad_label(file, number, question, code))
        elif mark not in DISTINCT:
            message = f"question {question}: {mark!r} is no mark of a distinct answer; it is 0 or 1"
            problems.append(Problem("bad-label", message, file, number, question))
        elif DISTINCT[mark] and LABELS[code] != "R":
            message = f"question {question}: {string!r} is judged {code} but marked distinct; only right answers are"
            problems.append(Problem("bad-label", message, file, number, question))
        else:
            where = {"question": question, "run": tag, "doc": doc, "text": string}
            rows.append((number, {**where, "judgment": LABELS[code], "distinct": DISTINCT[mark]}))
    return _whole(rows, problems)


def format_list(rows: Iterable[Mapping[str, Any]], *, file: str) -> str:
    """The text of `qid tag docid judgment distinct string`.

    Of a run's right items with one `answer` class (the string, where neither class nor mark is known) the first is
    the distinct one.
    """
    writer = Writer(file)
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
            found = matches.setdefault((question, tag, item), (number, []))[1]
            if parts[3] not in found:
                found.append(parts[3])
    if shown:
        problems += _unshown(shown, matches, file)
    return _whole(list(_other_rows(shown, matches)), problems)


def format_other(
    rows: Sequence[Mapping[str, Any]], items: Mapping[tuple[str, str], Sequence[tuple[str | None, str]]], *, file: str
) -> str:
    """The text of the two parts; `items` holds the responses, as (document, string), by question and run.

    A match whose item is not known is written with the first one.
    """
    writer = Writer(file)
    for question, run in dict.fromkeys((row["question"], row["run"]) for row in rows):
        for place, (doc, string) in enumerate(items.get((question, run), ()), 1):
            writer.line(question, [question, run, str(place), doc or NO_DOC], string)
    for row in rows:
        for nugget in row["nuggets"]:
            place = 1 + (row.get("item") or 0)
            writer.line(row["question"], [row["question"], row["run"], str(place), nugget])
    return writer.text()


def _other_rows(
    shown: Mapping[tuple[str, str], tuple[int, set[int]]],
    matches: Mapping[tuple[str, str, int], tuple[int, list[str]]],
) -> Iterator[Numbered]:
    for (question, tag, item), (number, nuggets) in matches.items():
        yield number, {"question": question, "run": tag, "item": item - 1, "nuggets": nuggets}
    matched = {(question, tag) for question, tag, _ in matches}
    for (question, tag), (number, _) in shown.items():
        if (question, tag) not in matched:
            yield number, {"question": question, "run": tag, "nuggets": []}


def _unshown(
    shown: Mapping[tuple[str, str], tuple[int, set[int]]],
    matches: Mapping[tuple[str, str, int], tuple[int, list[str]]],
    file: str,
) -> Iterator[Problem]:
    """Matches of items that the first part does not hold."""
    for (question, tag, item), (number, _) in matches.items():
        if item not in shown.get((question, tag), (0, set()))[1]:
            message = f"question {question}: run {tag} has no item {item} in the first part of the file"
            yield Problem("syntax", message, file, number, question)


def _code(writer: Writer, question: str, label: str) -> str:
    """The number for a label; tasks of one's own may have labels that NIST has none for."""
    if label not in CODES:
        writer.fault(question, f"the label {label!r} has no number in NIST's form")
    return CODES.get(label, "-")


def _short(file: str, number: int, question: str, form: str) -> Problem:
    return Problem("syntax", f"question {question}: a line is: {form}", file, number, question)


def _bad_label(file: str, number: int, question: str, code: str) -> Problem:
    message = f"question {question}: {code!r} is no judgment; it is -1 (W), 1 (R), 2 (U) or 3 (X)"
    return Problem("bad-label", message, file, number, question)


def _warn(warnings: list[Problem] | None, message: str, file: str, number: int) -> None:
    if warnings is not None:
        warnings.append(Problem("syntax", message, file, number))


def _whole(rows: list[Numbered], problems: list[Problem]) -> list[Numbered]:
    if problems:
        raise InputError(problems)
    return rows
