"""Questions in XML: the series of TREC 2004 to 2007, and the pairs of RTE. (FORMATS 2)"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from qassay.errors import InputError, Problem
from qassay.formats.topics import Numbered
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

    questions: list[Numbered] = field(default_factory=list)
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
            identifier = q.attributes.get("id", "").strip()
            kind = q.attributes.get("type", "").strip().lower()
            body = q.text.strip()
            if not identifier:
                problems.append(Problem("syntax", "this question has no id", file, q.line))
            elif kind not in TYPES or kind == "pair":
                message = f"question {identifier}: type {kind.upper()!r}; it is FACTOID, LIST or OTHER"
                problems.append(Problem("syntax", message, file, q.line, identifier))
            elif not body and kind != "other":
                problems.append(Problem("syntax", f"question {identifier} has no text", file, q.line, identifier))
            made.questions.append((q.line, Question(identifier, kind, body, series, text)))
    return made


def _pairs(root: Element, file: str, problems: list[Problem]) -> XmlQuestions:
    made = XmlQuestions()
    written: dict[str, str] = {}
    for pair in [root] if root.name == "pair" else root.find_all("pair"):
        identifier = pair.attributes.get("id", "").strip()
        texts = {name: next(pair.find_all(name), None) for name in ("t", "h")}
        missing = [f"<{name}>" for name, part in texts.items() if part is None or not part.text.strip()]
        if not identifier:
            problems.append(Problem("syntax", "this pair has no id", file, pair.line))
        if missing:
            message = f"pair {identifier} has no {' and no '.join(missing)}"
            problems.append(Problem("syntax", message, file, pair.line, identifier or None))
        label = pair.attributes.get("entailment")
        if label is not None:
            written[identifier] = " ".join(label.upper().split())
            if written[identifier] not in LABELS:
                message = f"pair {identifier}: entailment={label!r}; it is one of {', '.join(LABELS)}"
                problems.append(Problem("bad-label", message, file, pair.line, identifier or None))
        text, hypothesis = (part.text.strip() if part else "" for part in texts.values())
        extra = {k: v for k, v in pair.attributes.items() if k not in ("id", "entailment")}
        made.questions.append((pair.line, Question(identifier, "pair", text, hypothesis=hypothesis, extra=extra)))
    made.reference = {identifier: LABELS.get(label, "") for identifier, label in written.items()}
    made.two_way = any(label in _TWO_WAY for label in written.values())
    if made.two_way and any(label in ("CONTRADICTION", "UNKNOWN") for label in written.values()):
        message = "holds both NO ENTAILMENT (a two-way label) and CONTRADICTION or UNKNOWN (three-way labels)"
        problems.append(Problem("bad-label", message, file))
    return made


def _odd_characters(questions: list[Numbered], file: str) -> Iterator[Problem]:
    """A word about text that was probably written on Windows and declared Latin-1."""
    for line, question in questions:
        if _WINDOWS.search(f"{question.text}{question.target or ''}{question.hypothesis or ''}"):
            message = (
                f"question {question.id} holds control characters; if they should be quotation marks or dashes,"
                " read the file with --encoding cp1252"
            )
            yield Problem("encoding", message, file, line, question.id)
            return
