"""Questions, series and test sets: what is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, get_args

import polars as pl

from qassay.errors import InputError, Problem, Problems

QuestionType = Literal["factoid", "list", "definition", "other", "pair", "qa"]
TYPES = get_args(QuestionType)


@dataclass(frozen=True, slots=True)
class Question:
    """One question; for entailment, one text-hypothesis pair (`text` is the text)."""

    id: str
    type: str
    text: str = ""
    series: str | None = None
    target: str | None = None
    target_type: str | None = None
    series_type: str | None = None
    definition: str | None = None
    hypothesis: str | None = None
    # Answers that are known to be right, for free-text questions.
    gold: tuple[str, ...] = ()
    # Who wrote it: the name of an account, or of an assessor in judgments. It is not part of what is asked.
    author: str | None = field(default=None, compare=False)
    extra: Mapping[str, object] = field(default_factory=dict, compare=False, hash=False)

    @property
    def asked(self) -> str:
        """The question in words; one for the rest about a target has none of its own."""
        if self.type == "other" and self.target and self.text.lower() in ("", "other"):
            return f"What else is there to know about {self.target}?"
        return self.hypothesis or self.text or self.target or self.id


@dataclass(frozen=True, slots=True)
class Series:
    """An ordered group of questions about one target [SERIES05]."""

    id: str
    target: str | None
    questions: tuple[Question, ...]
    type: str | None = None


@dataclass(frozen=True)
class TestSet:
    """The questions of one evaluation, in the order of their file."""

    __test__ = False  # not a test class, whatever its name says to pytest

    questions: tuple[Question, ...]

    def __len__(self) -> int:
        return len(self.questions)

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Question ids in order."""
        return tuple(question.id for question in self.questions)

    @cached_property
    def by_id(self) -> Mapping[str, Question]:
        """Questions by id."""
        return {question.id: question for question in self.questions}

    @cached_property
    def shown(self) -> Mapping[str, Question]:
        """Questions by id as people read them: a file may name the target at the first question of a series alone."""
        targets = {series.id: series.target for series in self.series}
        return {
            question.id: question
            if question.target or question.series is None
            else replace(question, target=targets[question.series])
            for question in self.questions
        }

    @cached_property
    def enum(self) -> pl.Enum:
        """The column type of a question in every table: an integer that knows its id and its order."""
        return pl.Enum(self.ids)

    @cached_property
    def types(self) -> tuple[str, ...]:
        """Type of each question, in order."""
        return tuple(question.type for question in self.questions)

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """The series, in the order in which they begin; questions without a series belong to none."""
        members: dict[str, list[Question]] = {}
        for question in self.questions:
            if question.series is not None:
                members.setdefault(question.series, []).append(question)
        return tuple(
            Series(
                name,
                next((q.target for q in group if q.target), None),
                tuple(group),
                next((q.series_type for q in group if q.series_type), None),
            )
            for name, group in members.items()
        )

    @cached_property
    def titles(self) -> dict[str, str]:
        """What the series are about, by their names; those without a target are left out."""
        return {series.id: series.target for series in self.series if series.target}

    def of_type(self, *types: str) -> tuple[Question, ...]:
        """The questions of the given types, in order."""
        return tuple(question for question in self.questions if question.type in types)

    def counts(self) -> dict[str, int]:
        """Number of questions of each type that occurs."""
        return {kind: n for kind in TYPES if (n := self.types.count(kind))}


def gather(questions: Iterable[Question], *, file: str | None = None) -> TestSet:
    """Put questions together and check what only the whole can show: unique ids, whole series."""
    test_set = TestSet(tuple(questions))
    problems = Problems(_duplicates(test_set, file))
    problems += _broken_series(test_set, file)
    if problems:
        raise InputError(problems)
    if not test_set.questions:
        raise InputError(Problem("syntax", "there are no questions in it", file))
    return test_set


def _duplicates(questions: TestSet, file: str | None) -> Iterator[Problem]:
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            yield Problem(
                "duplicate-question", f"question {question.id} is there twice; ids are unique", file, None, question.id
            )
        seen.add(question.id)


def _broken_series(questions: TestSet, file: str | None) -> Iterator[Problem]:
    for series in questions.series:
        for question in series.questions[:-1]:
            if question.type == "other":
                yield Problem(
                    "configuration",
                    f"question {question.id} is of type other but not the last of series {series.id}; move it there",
                    file,
                    None,
                    question.id,
                )
