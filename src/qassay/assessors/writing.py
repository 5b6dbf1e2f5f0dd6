"""Patterns written from judgments, and checked against them.

Every string that people judged right becomes a pattern: its words in a row, whatever stands between them, without a
leading article. A pattern that a shorter one covers is left out, and so is one that finds more wrong strings than right
ones. Each says what it finds: the right strings of its question, the wrong ones, and the documents of the right ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qassay.assessors.gold import RIGHT, WRONG

_WORD = re.compile(r"[^\W_]+")
_ARTICLES = ("a", "an", "the")


@dataclass(frozen=True, slots=True)
class WrittenPattern:
    """A pattern of a question with what it finds among the judged strings."""

    question: str
    pattern: str
    found: int
    wrongly_found: int
    documents: frozenset[str]

    def as_row(self) -> dict[str, Any]:
        """As patterns.txt has it."""
        return {"question": self.question, "pattern": self.pattern, "docs": sorted(self.documents)}


def written_patterns(
    rows: Iterable[Mapping[str, Any]], *, right: str = RIGHT, wrong: str = WRONG
) -> list[WrittenPattern]:
    """The patterns of judgments of strings (question, text, doc, judgment)."""
    judged: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row.get("text") is not None and row.get("judgment") is not None:
            judged.setdefault(row["question"], []).append(row)
    return [
        pattern for question, own in judged.items() for pattern in _of_question(question, own, right=right, wrong=wrong)
    ]


def checked_patterns(
    patterns: Sequence[WrittenPattern], rows: Iterable[Mapping[str, Any]], *, right: str = RIGHT, wrong: str = WRONG
) -> str:
    """What patterns find among the strings that they were written from, in a sentence; each string counts once."""
    by_question: dict[str, list[re.Pattern[str]]] = {}
    for pattern in patterns:
        by_question.setdefault(pattern.question, []).append(re.compile(pattern.pattern))
    strings = {(row["question"], row["judgment"], str(row["text"])) for row in rows if row.get("text") is not None}
    judged = Counter(label for _, label, _ in strings)
    found = Counter(
        label
        for question, label, text in strings
        if any(expression.search(text) for expression in by_question.get(question, ()))
    )
    return (
        f"{len(patterns):,} patterns written from people's judgments: they find {found[right]:,} of the "
        f"{judged[right]:,} strings judged {right}, and {found[wrong]:,} of the {judged[wrong]:,} judged {wrong}."
    )


def _of_question(question: str, rows: list[Mapping[str, Any]], *, right: str, wrong: str) -> list[WrittenPattern]:
    good = {str(row["text"]) for row in rows if row["judgment"] == right}
    bad = {str(row["text"]) for row in rows if row["judgment"] == wrong}
    written: list[WrittenPattern] = []
    covered: set[str] = set()
    for text in sorted(good, key=lambda string: (len(string), string)):
        expression = _expression(text)
        if text in covered or expression is None:
            continue
        compiled = re.compile(expression)
        found = {string for string in good if compiled.search(string)}
        wrongly = sum(compiled.search(string) is not None for string in bad)
        if wrongly <= len(found):
            documents = {
                row["doc"] for row in rows if row.get("doc") and row["judgment"] == right and row["text"] in found
            }
            written.append(WrittenPattern(question, expression, len(found), wrongly, frozenset(documents)))
            covered |= found
    return written


def _expression(text: str) -> str | None:
    """The words of a string in a row; None where it has none."""
    said = _WORD.findall(text)
    while len(said) > 1 and said[0].lower() in _ARTICLES:
        del said[0]
    return r"(?i)\b" + r"[\W_]+".join(map(re.escape, said)) + r"\b" if said else None
