"""Files of questions: TREC topics and XML, TREC RAG topics, RTE pairs, JSON lines. (FORMATS 2)

The form is told by the content. All faults of a file are reported at once, each with its line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from qassay.errors import InputError, Problem
from qassay.formats import files, jsonl, topics, xml
from qassay.formats.question_xml import xml_questions
from qassay.formats.topics import NumberedQuestion
from qassay.questions import TYPES, Question, TestSet, gather

_OPTIONAL = ("series", "target", "target_type", "series_type", "definition", "hypothesis")


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """What a file of questions holds.

    `reference` holds the labels of an RTE file by pair; they are two-way where NO means "not entailed".
    """

    questions: TestSet
    reference: Mapping[str, str] = field(default_factory=dict)
    two_way: bool = False
    warnings: tuple[Problem, ...] = ()


def read_questions(
    path: Path, *, default_type: str | None = None, encoding: str | None = None, file: str | None = None
) -> QuestionFile:
    """The questions of a file, in its order.

    `default_type` is the type of questions that do not tell theirs; else it is `factoid` in TREC topics and `other`
    in TREC RAG topics. `file` is how messages call the file.
    """
    return parse_questions(files.read_bytes(path), default_type=default_type, encoding=encoding, file=file or str(path))


def parse_questions(
    data: bytes, *, default_type: str | None = None, encoding: str | None = None, file: str
) -> QuestionFile:
    """The questions in these bytes; see `read_questions`."""
    if looks_like_xml(data):
        root = xml.parse(xml.decode(data, file=file, encoding=encoding), file=file)
        made = xml_questions(root, file=file)
        return QuestionFile(_gathered(made.questions, file), made.reference, made.two_way, made.warnings)
    text = files.decode(data, file=file, encoding=encoding or "utf-8")
    start = text.lstrip()[:200]
    if start.startswith("{"):
        return QuestionFile(_gathered(_from_rows(jsonl.parse_rows(text, file=file), file), file))
    if start[:5].lower() == "<top>":
        return QuestionFile(
            _gathered(topics.trec_topics(text, default_type=default_type or "factoid", file=file), file)
        )
    return QuestionFile(_gathered(topics.rag_topics(text, default_type=default_type or "other", file=file), file))


def write_questions(path: Path, questions: Iterable[Question]) -> None:
    """Replace a file by the questions as JSON lines."""
    jsonl.write_rows(path, map(question_row, questions))


def question_row(question: Question) -> dict[str, Any]:
    """A question as it stands in a JSON line; fields that Qassay does not know come last."""
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
    """The question that a JSON object holds, or all that is wrong with it."""
    faults: list[str] = []
    question = _from_row(row, faults.append)
    if faults:
        raise InputError(Problem("syntax", message, None, None, question.id or None) for message in faults)
    return question


def reference_rows(found: QuestionFile) -> list[jsonl.Row]:
    """The labels of a file of pairs as rows of a judgment set."""
    return [{"question": pair, "judgment": label} for pair, label in found.reference.items()]


def looks_like_xml(data: bytes) -> bool:
    """Whether these bytes begin as one of the XML forms: a declaration, or an element that is no topic."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return b"<" in data[:200]
    start = data.removeprefix(files.BOM).lstrip()[:200].lower()
    return start.startswith(b"<") and not start.startswith((b"<top>", b"<doc>"))


def _gathered(found: Iterable[NumberedQuestion], file: str) -> TestSet:
    """The test set; what only the whole can show is reported with the line of its question."""
    numbered = list(found)
    lines = {question.id: line for line, question in numbered}
    try:
        return gather((question for _, question in numbered), file=file)
    except InputError as error:
        located = [
            replace(problem, line=lines.get(problem.question)) if problem.question is not None else problem
            for problem in error.problems
        ]
        raise InputError(located) from None


def _from_rows(rows: Iterable[jsonl.Numbered], file: str) -> list[NumberedQuestion]:
    questions: list[NumberedQuestion] = []
    problems: list[Problem] = []
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
