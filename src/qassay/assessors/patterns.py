"""The pattern assessor: regular expressions that right answers match, and the documents that support them.

W where no pattern of the question matches anywhere in the string. U where documents are given and the item's is not
among those of any pattern that matches. R else. Patterns find an answer; few are written to show where it ends, so
`patterns(exact=true)` is asked for: it calls X what no pattern matches as a whole, but for white space and punctuation
around it, where the task has that label. A question without a pattern is not judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import regex

from qassay.assessors.base import COPIED_FROM, Case, Opinion
from qassay.assessors.gold import Classes
from qassay.assessors.words import normalised
from qassay.errors import InputError, Problem
from qassay.tasks import Task

# Patterns are other people's: one that takes too long is reported, not waited for.
SECONDS = 2.0
_AROUND = " \t\r\n.,;:!?\"'()[]“”‘’"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern of a question."""

    expression: Any
    text: str
    docs: frozenset[str]


@dataclass(frozen=True)
class Patterns:
    """Judges factoid and list items by patterns."""

    patterns: Mapping[str, tuple[Pattern, ...]]
    exact: bool = False
    # The set of people from whose judgments the patterns were written, where they were.
    judged: str | None = None
    # Question, document and string of the right answers that the patterns were written from.
    sources: frozenset[tuple[str, str | None, str]] = frozenset()
    # The class of a right item of a list, where its string is known; else it is its own class.
    classes: Classes = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The spelling says whether it tells exact answers from others, and where the patterns come from."""
        parameters = ["exact=true"] if self.exact else []
        parameters += [f"judged={self.judged}"] if self.judged else []
        return f"patterns({','.join(parameters)})" if parameters else "patterns"

    @property
    def learns(self) -> bool:
        """Whether it knows what people judged."""
        return self.judged is not None

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Mapping[str, Any]],
        task: Task,
        *,
        exact: bool = False,
        judged: str | None = None,
        sources: frozenset[tuple[str, str | None, str]] = frozenset(),
        classes: Classes | None = None,
    ) -> Patterns:
        """The assessor of parsed patterns (question, pattern, docs)."""
        patterns_of: dict[str, list[Pattern]] = {}
        for row in rows:
            pattern = Pattern(regex.compile(row["pattern"]), row["pattern"], frozenset(row.get("docs") or ()))
            patterns_of.setdefault(row["question"], []).append(pattern)
        by_question = {question: tuple(own) for question, own in patterns_of.items()}
        return cls(by_question, exact and "X" in task.labels, judged, sources, classes or {})

    def judge(self, case: Case) -> Opinion | None:
        """The label of an item, or nothing where the question has no pattern or the part no string."""
        question, part = case.question, case.part
        text = part.row.get("text")
        own = self.patterns.get(question.id)
        if part.kind not in ("item", "list") or text is None or not own:
            return None
        opinion = self._opinion(case, str(text), own)
        if self.judged and (question.id, part.row.get("doc"), text) in self.sources:
            return Opinion(opinion.verdict, {**opinion.trace, COPIED_FROM: self.judged})
        return opinion

    def _opinion(self, case: Case, text: str, own: Sequence[Pattern]) -> Opinion:
        question, part = case.question, case.part
        matching = [pattern for pattern in own if _search(pattern, text, question.id)]
        if not matching:
            return Opinion({"judgment": "W"}, {"pattern": None})
        doc = part.row.get("doc")
        supported = [pattern for pattern in matching if not pattern.docs or doc in pattern.docs]
        if not supported:
            return Opinion({"judgment": "U"}, {"pattern": matching[0].text})
        bare = text.strip(_AROUND)
        whole = [pattern for pattern in supported if _search(pattern, bare, question.id, whole=True)]
        if self.exact and not whole:
            return Opinion({"judgment": "X"}, {"pattern": supported[0].text})
        chosen = (whole or supported)[0]
        answer = {"answer": self._class(question.id, bare or text)} if part.kind == "list" else {}
        return Opinion({"judgment": "R", **answer}, {"pattern": chosen.text})

    def _class(self, question: str, text: str) -> str:
        return self.classes.get(question, {}).get(normalised(text), text)


def _search(pattern: Pattern, text: str, question: str, *, whole: bool = False) -> bool:
    try:
        find = pattern.expression.fullmatch if whole else pattern.expression.search
        return find(text, timeout=SECONDS) is not None
    except TimeoutError:
        message = f"question {question}: the pattern {pattern.text[:60]!r} takes too long on an answer; simplify it"
        raise InputError(Problem("syntax", message, "patterns.txt", None, question)) from None
