"""Patterns written from judgments, and checked against them.

Every string that people judged right becomes a pattern: its words in a row, whatever stands between them, without a
leading article. A pattern that a shorter one covers is left out, and so is one that finds more wrong strings than right
ones. Each says what it finds: the right strings of its question, the wrong ones, and the documents of the right ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from qassay.assessors.gold import RIGHT, WRONG

_WORD = re.compile(r"[^\W_]+")
_ARTICLES = ("a", "an", "the")


@dataclass(frozen=True, slots=True)
class WrittenPattern:
    """A pattern of a question; how many right and wrong strings it matches, and the documents of the right ones."""

    question: str
    pattern: str
    matched: int
    wrongly_matched: int
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
        matched = {string for string in good if compiled.search(string)}
        wrongly = sum(compiled.search(string) is not None for string in bad)
        if wrongly <= len(matched):
            documents = {
                row["doc"] for row in rows if row.get("doc") and row["judgment"] == right and row["text"] in matched
            }
            written.append(WrittenPattern(question, expression, len(matched), wrongly, frozenset(documents)))
            covered |= matched
    return written


def _expression(text: str) -> str | None:
    """The words of a string in a row; None where it has none."""
    words = _WORD.findall(text)
    while len(words) > 1 and words[0].lower() in _ARTICLES:
        del words[0]
    return r"(?i)\b" + r"[\W_]+".join(map(re.escape, words)) + r"\b" if words else None
