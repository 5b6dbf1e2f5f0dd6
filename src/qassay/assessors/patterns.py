"""The pattern assessor: regular expressions that right answers match, and the documents that support them.

W where no pattern of the question matches anywhere in the string. U where documents are given and the item's is not
among those of any pattern that matches. R else. Patterns find an answer; few are written to show where it ends, so
`patterns(exact=true)` is asked for: it calls X what no pattern matches as a whole, but for white space and punctuation
around it, where the task has that label. A question without a pattern is not judged. An answer in free text gets the
task's best label where a pattern matches, else the worst.

Patterns can be written from judgments. Every string that people judged right becomes a pattern: its words in a row,
whatever stands between them, without a leading article. A pattern that a shorter one covers is left out, and so is one
that finds more wrong strings than right ones. Each says what it finds: the right strings of its question, the wrong
ones, and the documents of the right ones.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import regex

from qassay.assessors.base import Case, Opinion, spelled
from qassay.assessors.gold import RIGHT, UNSUPPORTED, WRONG, Classes, best_and_worst, right_or_wrong
from qassay.assessors.words import normalised
from qassay.errors import InputError, Problem
from qassay.evaluation.learning import COPIED_FROM
from qassay.judging import ROW_KINDS, STRINGS
from qassay.tasks import Task

# Patterns are other people's: what takes too long is reported, not waited for. This is the limit
# of one search, and of all slow ones together: thousands of answers on which a pattern takes a second are hours.
SECONDS = 2.0
SLOW = 0.02
INEXACT = "X"
_AROUND = " \t\r\n.,;:!?\"'()[]“”‘’"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern of a question."""

    expression: Any
    text: str
    docs: frozenset[str]


@dataclass(frozen=True)
class Patterns:
    """Judges factoid and list items, and answers in free text, by patterns."""

    patterns: Mapping[str, tuple[Pattern, ...]]
    exact: bool = False
    # The set of people from whose judgments the patterns were written, where they were.
    judged: str | None = None
    # Question, document and string of the right answers that the patterns were written from.
    sources: frozenset[tuple[str, str | None, str]] = frozenset()
    # The class of a right item of a list, where its string is known; else it is its own class.
    classes: Classes = field(default_factory=dict)
    # The labels for free-text answers that a pattern matches and that none does.
    labels: tuple[str, str] | None = None
    # What the patterns find among the judgments that they were written from.
    remarks: tuple[str, ...] = ()
    # The seconds that slow searches took so far.
    _slow: list[float] = field(default_factory=list, repr=False, compare=False)
    judges: ClassVar[tuple[str, ...]] = STRINGS
    silence: ClassVar[str] = "no pattern for the question"

    @property
    def name(self) -> str:
        """The spelling says whether it tells exact answers from others, and where the patterns come from."""
        return spelled("patterns", exact=self.exact, judged=self.judged)

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
        by_question = {question: tuple(patterns) for question, patterns in patterns_of.items()}
        return cls(by_question, exact and INEXACT in task.labels, judged, sources, classes or {}, best_and_worst(task))

    def judge(self, case: Case) -> Opinion | None:
        """The label of an item, or nothing where the question has no pattern or the part no string."""
        question, part = case.question, case.part
        text = part.row.get("text")
        patterns = self.patterns.get(question.id)
        if part.kind not in STRINGS or text is None or not patterns:
            return None
        opinion = self._opinion(case, str(text), patterns)
        if opinion is not None and self.judged and (question.id, part.row.get("doc"), text) in self.sources:
            return Opinion(opinion.verdict, {**opinion.trace, COPIED_FROM: self.judged})
        return opinion

    def _opinion(self, case: Case, text: str, patterns: Sequence[Pattern]) -> Opinion | None:
        question, doc = case.question, case.doc
        matching = [pattern for pattern in patterns if self._search(pattern, text, question.id)]
        if not matching or ROW_KINDS[case.kind].has_values:
            verdict = right_or_wrong(case, self.labels, right=bool(matching))
            return None if verdict is None else Opinion(verdict, {"pattern": matching[0].text if matching else None})
        supported = [pattern for pattern in matching if not pattern.docs or doc in pattern.docs]
        if not supported:
            return Opinion({"judgment": UNSUPPORTED}, {"pattern": matching[0].text})
        bare = text.strip(_AROUND)
        whole = [pattern for pattern in supported if self._search(pattern, bare, question.id, whole=True)]
        if self.exact and not whole:
            return Opinion({"judgment": INEXACT}, {"pattern": supported[0].text})
        chosen = (whole or supported)[0]
        verdict = right_or_wrong(case, self.labels, right=True, answer=self._class(question.id, bare or text))
        return None if verdict is None else Opinion(verdict, {"pattern": chosen.text})

    def _search(self, pattern: Pattern, text: str, question: str, *, whole: bool = False) -> bool:
        """Whether a pattern matches, or an error where it takes too long."""
        begun = time.thread_time()
        try:
            find = pattern.expression.fullmatch if whole else pattern.expression.search
            is_there = find(text, timeout=SECONDS) is not None
        except TimeoutError:
            raise _too_slow(pattern, question) from None
        if (took := time.thread_time() - begun) > SLOW:
            self._slow.append(took)
            if sum(self._slow) > SECONDS:
                raise _too_slow(pattern, question)
        return is_there

    def _class(self, question: str, text: str) -> str:
        return self.classes.get(question, {}).get(normalised(text), text)


def _too_slow(pattern: Pattern, question: str) -> InputError:
    message = f"question {question}: the pattern {pattern.text[:60]!r} takes too long on an answer; simplify it"
    return InputError(Problem("syntax", message, "patterns.txt", None, question))


# ---- patterns written from judgments --------------------------------------------------------------------------------


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
        """The row of patterns.txt."""
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
        pattern
        for question, strings in judged.items()
        for pattern in _of_question(question, strings, right=right, wrong=wrong)
    ]


def checked_patterns(
    patterns: Sequence[WrittenPattern], rows: Iterable[Mapping[str, Any]], *, right: str = RIGHT, wrong: str = WRONG
) -> str:
    """A sentence on the matches of patterns among the strings that they were written from; each string counts once."""
    by_question: dict[str, list[re.Pattern[str]]] = {}
    for pattern in patterns:
        by_question.setdefault(pattern.question, []).append(re.compile(pattern.pattern))
    strings = {(row["question"], row["judgment"], str(row["text"])) for row in rows if row.get("text") is not None}
    judged = Counter(label for _, label, _ in strings)
    matched = Counter(
        label
        for question, label, text in strings
        if any(expression.search(text) for expression in by_question.get(question, ()))
    )
    return (
        f"{len(patterns):,} patterns written from people's judgments: they find {matched[right]:,} of the "
        f"{judged[right]:,} strings judged {right}, and {matched[wrong]:,} of the {judged[wrong]:,} judged {wrong}."
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
