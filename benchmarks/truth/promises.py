"""A promise: a sentence that people read, how often it is true, and the populations on which that is measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol
from zlib import crc32

import numpy as np
from scipy.special import ndtr, stdtrit

from qassay.tables import Column, Table, table

# How far a share may be from its limit by chance, in standard errors.
BY_CHANCE = 3.0


def within(interval: tuple[float, float] | None, truth: float) -> bool:
    """Whether an interval contains the truth; where there is none, nothing is claimed that is wrong."""
    return interval is None or interval[0] - 1e-9 <= truth <= interval[1] + 1e-9


def power_of_t(effect: float, questions: int) -> float:
    """The power of a t test at 0.05, for a difference in deviations."""
    return float(ndtr(effect * math.sqrt(questions) - stdtrit(questions - 1, 0.975)))


class Source(Protocol):
    """What evaluations are drawn from: a population of questions, of judgments, or of both."""

    @property
    def name(self) -> str:
        """What it is."""

    @property
    def is_there(self) -> bool:
        """Whether evaluations can be drawn here."""

    def evaluation(self, rng: np.random.Generator, questions: int) -> Any:
        """One evaluation, with what is true of it."""


@dataclass(frozen=True, eq=False)
class Case:
    """A population with a number of questions, and what TRUTH observed there."""

    population: Source
    questions: int
    seen: float | None = None


def cases(population: Source, seen: Mapping[int, float | None]) -> tuple[Case, ...]:
    """One case for each number of questions."""
    return tuple(Case(population, questions, share) for questions, share in seen.items())


@dataclass(frozen=True, eq=False)
class Promise:
    """What is promised; `outcome` is that of one evaluation: 1 or 0, or a share; None where nothing is printed.

    `at_most` promises are about errors, the others about sentences that are true. `share` of the repetitions are made
    where one takes long.
    """

    name: str
    says: str
    kind: Literal["at least", "at most"]
    rate: float
    outcome: Callable[[Any, np.random.Generator], float | None]
    cases: tuple[Case, ...]
    share: float = 1.0

    def try_one(self, case: Case, number: int, seed: int) -> float | None:
        """The outcome of one evaluation; the same number and seed give the same evaluation."""
        name = f"{self.name}/{case.population.name}/{case.questions}"
        rng = np.random.default_rng([seed, crc32(name.encode()), number])
        outcome = self.outcome(case.population.evaluation(rng, case.questions), rng)
        return None if outcome is None else float(outcome)


@dataclass(frozen=True)
class Observed:
    """What a promise came to on a population; `repetitions` of them printed the sentence."""

    promise: str
    says: str
    kind: str
    rate: float
    population: str
    questions: int
    seen: float | None
    now: float | None
    error: float
    repetitions: int
    tried: int

    @classmethod
    def of(cls, promise: Promise, case: Case, outcomes: Iterable[float | None]) -> Observed:
        """The share and its standard error, with one success and one failure more: none of few is not none of many."""
        every = list(outcomes)
        values = np.array([outcome for outcome in every if outcome is not None])
        now = float(values.mean()) if len(values) else None
        spread = np.append(values, (0.0, 1.0)).std() / math.sqrt(max(len(values), 1))
        what = promise.name, promise.says, promise.kind, promise.rate
        where = case.population.name, case.questions, case.seen
        return cls(*what, *where, now, float(spread), len(values), len(every))

    @property
    def limit(self) -> float:
        """The promise, or what TRUTH observed where that is worse."""
        if self.seen is None:
            return self.rate
        return max(self.rate, self.seen) if self.kind == "at most" else min(self.rate, self.seen)

    @property
    def is_worse(self) -> bool:
        """Whether chance does not explain how much worse than its limit it is."""
        if self.now is None:
            return False
        beyond = self.now - self.limit if self.kind == "at most" else self.limit - self.now
        least = math.sqrt(self.limit * (1 - self.limit) / self.repetitions)
        return beyond > BY_CHANCE * max(self.error, least)

    def as_row(self) -> dict[str, object]:
        """Plain data, rounded."""
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in asdict(self).items()}


def observed_table(rows: Iterable[Observed], title: str) -> Table:
    """One row per promise and population."""
    columns: list[Column | str] = [
        *("promise", "population", Column("questions"), "promised", Column("seen before", ".3f")),
        *(Column("now", ".3f"), Column("± by chance", ".3f"), Column("evaluations"), ""),
    ]
    shown = [
        (
            *(row.promise, row.population, row.questions, f"{row.kind} {row.rate:g}", row.seen),
            *(row.now, row.error, row.repetitions, "WORSE" if row.is_worse else "ok" if row.now is not None else ""),
        )
        for row in rows
    ]
    return table(title, columns, shown)
