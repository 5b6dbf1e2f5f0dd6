"""Questions in XML: the series of TREC 2004 to 2007, and the pairs of RTE. (FORMATS 2)"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from qassay.errors import InputError, Problem
from qassay.formats.topics import NumberedQuestion
from qassay.formats.xml import Element
from qassay.questions import TYPES, Question

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


@dataclass
class XmlQuestions:
    """What an XML file of questions holds."""

    questions: list[NumberedQuestion] = field(default_factory=list)
    reference: dict[str, str] = field(default_factory=dict)
    two_way: bool = False
    warnings: tuple[Problem, ...] = ()


def xml_questions(root: Element, *, file: str) -> XmlQuestions:
    """The questions below this root, or all faults of the file."""
    problems: list[Problem] = []
    if root.name == "trecqa" or (root.name != "pair" and next(root.find_all("target"), None)):
        made = _series(root, file, problems)
    elif root.name == "entailment-corpus" or next(root.find_all("pair"), None):
        made = _pairs(root, file, problems)
    else:
        message = f"<{root.name}> holds no questions; the roots known are <trecqa> and <entailment-corpus>"
        raise InputError(Problem("syntax", message, file, root.line))
    if problems:
        raise InputError(problems)
    made.warnings = tuple(_odd_characters(made.questions, file))
    return made


def _series(root: Element, file: str, problems: list[Problem]) -> XmlQuestions:
    made = XmlQuestions()
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
        found = list(target.find_all("q"))
        if not found:
            problems.append(Problem("syntax", f"target {series} has no questions", file, target.line))
        for q in found:
            question = _question(q, series, text)
            problems.extend(_question_faults(q, question, file))
            made.questions.append((q.line, question))
    return made


def _question(q: Element, series: str, target: str) -> Question:
    kind = q.attributes.get("type", "").strip().lower()
    return Question(q.attributes.get("id", "").strip(), kind, q.text.strip(), series, target)


def _question_faults(q: Element, question: Question, file: str) -> Iterator[Problem]:
    """The first thing that is wrong with a question of a series."""
    if not question.id:
        yield Problem("syntax", "this question has no id", file, q.line)
    elif question.type not in TYPES or question.type == "pair":
        message = f"question {question.id}: type {question.type.upper()!r}; it is FACTOID, LIST or OTHER"
        yield Problem("syntax", message, file, q.line, question.id)
    elif not question.text and question.type != "other":
        yield Problem("syntax", f"question {question.id} has no text", file, q.line, question.id)


def _pairs(root: Element, file: str, problems: list[Problem]) -> XmlQuestions:
    made = XmlQuestions()
    written: dict[str, str] = {}
    for pair in [root] if root.name == "pair" else root.find_all("pair"):
        question = _pair(pair)
        problems.extend(_pair_faults(pair, question, file))
        made.questions.append((pair.line, question))
        if (label := _label(pair)) is not None:
            written[question.id] = label
    made.reference = {identifier: LABELS.get(label, "") for identifier, label in written.items()}
    made.two_way = any(label in _TWO_WAY for label in written.values())
    if made.two_way and any(label in ("CONTRADICTION", "UNKNOWN") for label in written.values()):
        message = "holds both NO ENTAILMENT (a two-way label) and CONTRADICTION or UNKNOWN (three-way labels)"
        problems.append(Problem("bad-label", message, file))
    return made


def _pair(pair: Element) -> Question:
    parts = (next(pair.find_all(name), None) for name in ("t", "h"))
    text, hypothesis = (part.text.strip() if part else "" for part in parts)
    extra = {name: value for name, value in pair.attributes.items() if name not in ("id", "entailment")}
    return Question(pair.attributes.get("id", "").strip(), "pair", text, hypothesis=hypothesis, extra=extra)


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
                f"question {question.id} holds control characters; if they should be quotation marks or dashes,"
                " read the file with --encoding cp1252"
            )
            yield Problem("encoding", message, file, line, question.id)
            return
