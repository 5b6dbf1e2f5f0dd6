"""Files of questions: TREC topics and XML, TREC RAG topics, RTE pairs, JSON lines. (FORMATS 2)

The form is known by the content. All faults of a file are reported at once, each with its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from qassay.errors import InputError, Problem, Problems
from qassay.formats import files, jsonl, lines, xml
from qassay.formats.parts import Part
from qassay.formats.xml import Element
from qassay.questions import TYPES, Question, TestSet, gather

# A question with the line it begins on.
NumberedQuestion = tuple[int, Question]
_OPTIONAL = ("series", "target", "target_type", "series_type", "definition", "hypothesis", "author")


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """The content of a file of questions.

    `reference` has the labels of an RTE file by pair; they are two-way where NO means "not entailed".
    """

    questions: TestSet
    reference: Mapping[str, str] = field(default_factory=dict)
    two_way: bool = False
    warnings: tuple[Problem, ...] = ()


def read_questions(part: Part) -> QuestionFile:
    """The questions of a file, in its order; `file` is how messages call it."""
    return parse_questions(part.read(), file=part.name)


def parse_questions(
    data: bytes, *, default_type: str | None = None, encoding: str | None = None, file: str
) -> QuestionFile:
    """The questions in these bytes.

    `default_type` is the type of questions that do not name theirs; else it is `factoid` in TREC topics and `other`
    in TREC RAG topics.
    """
    if looks_like_xml(data):
        return xml_questions(xml.parse(xml.decode(data, file=file, encoding=encoding), file=file), file=file)
    text = files.decode(data, file=file, encoding=encoding or "utf-8")
    start = text.lstrip()[:200]
    if start.startswith("{"):
        questions = _from_rows(jsonl.parse_rows(text, file=file), file)
    elif start[:5].lower() == "<top>":
        questions = trec_topics(text, default_type=default_type or "factoid", file=file)
    else:
        questions = rag_topics(text, default_type=default_type or "other", file=file)
    return QuestionFile(_gathered(questions, file))


def question_row(question: Question) -> dict[str, Any]:
    """A question as in a JSON line; fields that Qassay does not know come last."""
    known = {name: getattr(question, name) for name in _OPTIONAL}
    return {
        "id": question.id,
        "type": question.type,
        "text": question.text,
        **{name: value for name, value in known.items() if value is not None},
        **({"gold": list(question.gold)} if question.gold else {}),
        **question.extra,
    }


def question_of_row(row: jsonl.Row) -> Question:
    """The question in a JSON object, or all that is wrong with it."""
    faults: list[str] = []
    question = _from_row(row, faults.append)
    if faults:
        raise InputError(Problem("syntax", message, None, None, question.id or None) for message in faults)
    return question


def reference_rows(read: QuestionFile) -> list[jsonl.Row]:
    """The labels of a file of pairs as rows of a judgment set."""
    return [{"question": pair, "judgment": label} for pair, label in read.reference.items()]


def looks_like_xml(data: bytes) -> bool:
    """Whether these bytes begin as one of the XML forms: a declaration, or an element that is not a topic."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return b"<" in data[:200]
    start = data.removeprefix(files.BOM).lstrip()[:200].lower()
    return start.startswith(b"<") and not start.startswith((b"<top>", b"<doc>"))


def _gathered(numbered: Sequence[NumberedQuestion], file: str) -> TestSet:
    """The test set; what only the whole can show is reported with the line of its question."""
    lines = {question.id: line for line, question in numbered}
    try:
        return gather((question for _, question in numbered), file=file)
    except InputError as error:
        located = error.problems.changed(
            lambda problem: problem if problem.question is None else replace(problem, line=lines.get(problem.question))
        )
        raise InputError(located) from None


def _from_rows(rows: Iterable[jsonl.Numbered], file: str) -> list[NumberedQuestion]:
    questions: list[NumberedQuestion] = []
    problems = Problems()
    for line, row in rows:
        faults: list[str] = []
        question = _from_row(row, faults.append)
        problems += [Problem("syntax", message, file, line, question.id or None) for message in faults]
        questions.append((line, question))
    if problems:
        raise InputError(problems)
    return questions


def _from_row(row: jsonl.Row, fault: Callable[[str], None]) -> Question:
    """The question of a row; what is wrong goes to `fault`."""

    def string(name: str, *, required: bool = False) -> str:
        value = row.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)  # "id": 1894
        if isinstance(value, str):
            return value
        if value is not None:
            fault(f"{name!r} is not a string")
        elif required:
            fault(f"{name!r} is missing; a question has id, type and text")
        return ""

    identifier = string("id", required=True).strip()
    kind = string("type", required=True).strip().lower()
    if kind and kind not in TYPES:
        fault(f"type {row['type']!r}; the types are {', '.join(TYPES)}")
    text = string("text", required=kind != "other").strip()
    if isinstance(row.get("id"), str) and not identifier:
        fault("the id is empty")
    if isinstance(row.get("text"), str) and not text and kind != "other":
        fault(f"the text is empty; only that of an other question may be, not of a {kind or 'question'}")
    if kind == "pair" and not string("hypothesis").strip():
        fault("a pair needs a hypothesis")
    optional = {name: string(name).strip() for name in _OPTIONAL if row.get(name) is not None}
    gold = _gold(row.get("gold"), fault) if kind == "qa" else ()
    known = {"id", "type", "text", *_OPTIONAL, *(("gold",) if kind == "qa" else ())}
    extra = {name: value for name, value in row.items() if name not in known}
    return Question(identifier, kind, text, gold=gold, extra=extra, **optional)


def _gold(value: Any, fault: Callable[[str], None]) -> tuple[str, ...]:
    """The gold answers of a free-text question: a text, or several."""
    answers = [value] if isinstance(value, str) else value or []
    if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
        fault("'gold' is a text or a list of texts")
        return ()
    return tuple(answer.strip() for answer in answers if answer.strip())


_TAG = re.compile(r"<(/?)(top|num|type|desc|narr|title)>", re.IGNORECASE)
_LABEL = re.compile(r"\A\s*(?:number|type|description|narrative|title)\s*:", re.IGNORECASE)


@dataclass
class _Topic:
    line: int
    fields: dict[str, str] = field(default_factory=dict)


def trec_topics(text: str, *, default_type: str, file: str) -> list[NumberedQuestion]:
    """The `<top>` topics of a text; before 2003 they had no `<type>`, and get the default."""
    problems = lines.unprintable(text, file=file)
    questions = []
    for topic in _topics(text.replace("\r\n", "\n"), file, problems):
        number = topic.fields.get("num", "")
        kind = topic.fields.get("type", default_type).lower()
        missing = [f"<{name}>" for name in ("num", "desc") if not topic.fields.get(name)]
        if missing:
            message = f"this topic has no {' and no '.join(missing)}"
            problems.append(Problem("syntax", message, file, topic.line, number or None))
        elif re.search(r"\s", number):
            message = f"the number of this topic is {number!r}; a number has no white space"
            problems.append(Problem("syntax", message, file, topic.line))
        elif kind not in TYPES:
            message = f"type {kind!r}; the types are {', '.join(TYPES)}"
            problems.append(Problem("syntax", message, file, topic.line, number))
        else:
            questions.append((topic.line, Question(number, kind, topic.fields["desc"])))
    if problems:
        raise InputError(problems)
    return questions


def rag_topics(text: str, *, default_type: str, file: str) -> list[NumberedQuestion]:
    """The `qid<TAB>text` topics of a text."""
    problems = lines.unprintable(text, file=file)
    questions = []
    for number, line in lines.numbered(text):
        identifier, tab, question = line.partition("\t")
        if not tab:
            message = "not a question: this line has no tab between id and text"
            problems.append(Problem("syntax", message, file, number))
        questions.append((number, Question(identifier.strip(), default_type, question.strip())))
    if problems:
        raise InputError(problems)
    return questions


def _topics(text: str, file: str, problems: list[Problem]) -> list[_Topic]:
    """Cut the text at its tags. Closing tags of fields are as good as none, as SGML has it."""
    line_of = lines.line_finder(text)

    def fault(message: str, position: int) -> None:
        problems.append(Problem("syntax", message, file, line_of(position)))

    topics: list[_Topic] = []
    topic: _Topic | None = None
    open_field: str | None = None
    end = 0
    for tag in [*_TAG.finditer(text), None]:
        start = len(text) if tag is None else tag.start()
        between = text[end:start]
        if topic is not None and open_field is not None:
            topic.fields.setdefault(open_field, _LABEL.sub("", between, count=1).strip())
        elif between.strip():
            fault("there is text outside the fields of a topic", start - len(between.lstrip()))
        open_field = None
        name = "" if tag is None else tag[2].lower()
        closing = tag is not None and bool(tag[1])
        if name == "top" and closing:
            if topic is None:
                fault("</top> without <top>", start)
            topic = None
        elif name in ("", "top"):  # another topic, or the end of the text
            if topic is not None:
                fault(f"the topic of line {topic.line} is not closed by </top>", start)
            if tag is not None:
                topic = _Topic(line_of(start))
                topics.append(topic)
        elif not closing:
            open_field = name
            if topic is None:
                fault(f"<{name}> stands outside <top> and </top>", start)
        end = start if tag is None else tag.end()
    return topics


# What the files of RTE write, and what it is called here. NO ENTAILMENT is the NO of a two-way decision.
LABELS = {
    "YES": "YES",
    "NO": "NO",
    "UNKNOWN": "UNKNOWN",
    "ENTAILMENT": "YES",
    "CONTRADICTION": "NO",
    "NO ENTAILMENT": "NO",
    "NO_ENTAILMENT": "NO",
}
_TWO_WAY = ("NO ENTAILMENT", "NO_ENTAILMENT")
# Characters that Latin-1 has no letters for, where Windows has quotation marks and dashes.
_WINDOWS = re.compile("[\x80-\x84\x86-\x9f]")


def xml_questions(root: Element, *, file: str) -> QuestionFile:
    """The questions below this root, or all faults of the file."""
    problems = Problems()
    labels: dict[str, str] = {}
    if root.name == "trecqa" or (root.name != "pair" and next(root.find_all("target"), None)):
        questions = _series(root, file, problems)
    elif root.name == "entailment-corpus" or next(root.find_all("pair"), None):
        questions = _pairs(root, file, labels, problems)
    else:
        message = f"<{root.name}> contains no questions; the roots known are <trecqa> and <entailment-corpus>"
        raise InputError(Problem("syntax", message, file, root.line))
    if problems:
        raise InputError(problems)
    return QuestionFile(
        _gathered(questions, file),
        reference={pair: LABELS[label] for pair, label in labels.items()},
        two_way=any(label in _TWO_WAY for label in labels.values()),
        warnings=tuple(_odd_characters(questions, file)),
    )


def _series(root: Element, file: str, problems: list[Problem]) -> list[NumberedQuestion]:
    questions: list[NumberedQuestion] = []
    seen: dict[str, int] = {}
    for target in root.find_all("target"):
        series = target.attributes.get("id", "").strip()
        text = target.attributes.get("text", "").strip()
        if not series or not text:
            problems.append(Problem("syntax", "this target has no id or no text", file, target.line))
        if series in seen:
            message = f"target {series} is there twice, first on line {seen[series]}"
            problems.append(Problem("duplicate-question", message, file, target.line))
        seen.setdefault(series, target.line)
        elements = list(target.find_all("q"))
        if not elements:
            problems.append(Problem("syntax", f"target {series} has no questions", file, target.line))
        for q in elements:
            kind = q.attributes.get("type", "").strip().lower()
            question = Question(q.attributes.get("id", "").strip(), kind, q.text.strip(), series, text)
            problems.extend(_question_faults(q, question, file))
            questions.append((q.line, question))
    return questions


def _question_faults(q: Element, question: Question, file: str) -> Iterator[Problem]:
    """The first fault of a question of a series."""
    if not question.id:
        yield Problem("syntax", "this question has no id", file, q.line)
    elif question.type not in TYPES or question.type == "pair":
        message = f"question {question.id}: type {question.type.upper()!r}; it is FACTOID, LIST or OTHER"
        yield Problem("syntax", message, file, q.line, question.id)
    elif not question.text and question.type != "other":
        yield Problem("syntax", f"question {question.id} has no text", file, q.line, question.id)


def _pairs(root: Element, file: str, labels: dict[str, str], problems: list[Problem]) -> list[NumberedQuestion]:
    """The pairs; their labels go to `labels`."""
    questions: list[NumberedQuestion] = []
    for pair in [root] if root.name == "pair" else root.find_all("pair"):
        parts = (next(pair.find_all(name), None) for name in ("t", "h"))
        text, hypothesis = (part.text.strip() if part else "" for part in parts)
        extra = {name: value for name, value in pair.attributes.items() if name not in ("id", "entailment")}
        number = pair.attributes.get("id", "").strip()
        question = Question(number, "pair", text, hypothesis=hypothesis, extra=extra)
        problems.extend(_pair_faults(pair, question, file))
        questions.append((pair.line, question))
        if (label := _label(pair)) is not None:
            labels[question.id] = label
    if {*labels.values()} & {*_TWO_WAY} and {*labels.values()} & {"CONTRADICTION", "UNKNOWN"}:
        message = "contains both NO ENTAILMENT (a two-way label) and CONTRADICTION or UNKNOWN (three-way labels)"
        problems.append(Problem("bad-label", message, file))
    return questions


def _label(pair: Element) -> str | None:
    """The label of a pair as it is written, but for its case and blanks."""
    written = pair.attributes.get("entailment")
    return None if written is None else " ".join(written.upper().split())


def _pair_faults(pair: Element, question: Question, file: str) -> Iterator[Problem]:
    """Everything that is wrong with a pair."""
    if not question.id:
        yield Problem("syntax", "this pair has no id", file, pair.line)
    missing = [tag for tag, text in (("<t>", question.text), ("<h>", question.hypothesis)) if not text]
    if missing:
        message = f"pair {question.id} has no {' and no '.join(missing)}"
        yield Problem("syntax", message, file, pair.line, question.id or None)
    label = _label(pair)
    if label is not None and label not in LABELS:
        message = f"pair {question.id}: entailment={pair.attributes['entailment']!r}; it is one of {', '.join(LABELS)}"
        yield Problem("bad-label", message, file, pair.line, question.id or None)


def _odd_characters(questions: list[NumberedQuestion], file: str) -> Iterator[Problem]:
    """A word about text that was probably written on Windows and declared Latin-1."""
    for line, question in questions:
        if _WINDOWS.search(f"{question.text}{question.target or ''}{question.hypothesis or ''}"):
            message = (
                f"question {question.id} contains control characters; if they should be quotation marks or dashes,"
                " read the file with --encoding cp1252"
            )
            yield Problem("encoding", message, file, line, question.id)
            return
