"""More questions, or running the systems again? What repeats of a pilot show. (METHOD 6, Repeats)

The difference of two systems on Q questions with R repeats each varies by s_q^2/Q + s_r^2/R + s_e^2/(Q*R): questions,
what a repeat shifts on all questions at once, and the noise of single answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from qassay.errors import UsageError
from qassay.matrix import Repeats, document
from qassay.meta.repeats import mean_squares
from qassay.meta.significance import units_for_power
from qassay.meta.special import ndtri
from qassay.tables import Cell, Column, Table, table

# The repeats that are weighed, beside those at hand and the best.
REPEATS = (1, 2, 3, 5, 10)


@dataclass(frozen=True, slots=True)
class Costs:
    """The cost of a question (to find, to write), and of one more answer to it, from all systems together."""

    question: float
    answer: float

    def __post_init__(self) -> None:
        for name, cost in (("question", self.question), ("answer", self.answer)):
            if not 0 < cost < math.inf:
                raise UsageError(f"the cost of {'an' if name == 'answer' else 'a'} {name} is a number above 0")

    def of(self, units: int, repeats: int) -> float:
        """The cost of this many questions with this many repeats."""
        return units * (self.question + repeats * self.answer)


@dataclass(frozen=True, slots=True)
class WithRepeats:
    """Questions needed with this many repeats, and what they cost; None where no number of questions is enough."""

    repeats: int
    units: int | None
    cost: float | None


@dataclass(frozen=True, slots=True)
class RunningAgain:
    """The variance of the difference of a typical pair by source, and the questions that repeats save.

    `best_repeats` is the cheapest number of repeats; None without costs, where a repeat shifts all questions at once,
    which more questions do not average out, and where questions vary no more than single answers do.
    """

    difference: float
    question_variance: float
    repeat_variance: float
    rest_variance: float
    at_hand: int
    best_repeats: int | None
    rows: tuple[WithRepeats, ...]

    def detectable(self, units: int, *, power: float, alpha: float) -> float:
        """The difference that a test on this many questions finds with this power, with the repeats at hand."""
        per_question = self.question_variance + self.rest_variance / self.at_hand
        variance = per_question / units + self.repeat_variance / self.at_hand
        return (ndtri(1 - alpha / 2) + ndtri(power)) * math.sqrt(variance)

    def units_with(self, repeats: int) -> int | None:
        """The questions needed with this many repeats, where these were weighed."""
        return next((row.units for row in self.rows if row.repeats == repeats), None)

    def table(self, unit_name: tuple[str, str]) -> Table:
        """Questions needed by the number of repeats."""
        columns = [Column("repeats"), Column(f"{unit_name[1]} needed"), Column("cost", ",.10g")]
        rows: list[tuple[Cell, ...]] = [
            (
                f"{row.repeats}{self._mark(row.repeats)}",
                None if row.units is None else f"{row.units:,}",
                None if row.cost is None else float(row.cost),
            )
            for row in self.rows
        ]
        width = 3 if any(row.cost is not None for row in self.rows) else 2
        return table(
            f"More {unit_name[1]}, or running again? For a difference of {self.difference:g}",
            columns[:width],
            [row[:width] for row in rows],
            self._notes(unit_name),
        )

    def _mark(self, repeats: int) -> str:
        marks = [(self.at_hand, " (now)"), (self.best_repeats, " (best)")]
        return "".join(mark for number, mark in marks if number == repeats)

    def _notes(self, unit_name: tuple[str, str]) -> list[str]:
        parts = [
            (f"{unit_name[1]} {self.question_variance:.4g}"),
            (f"running again {self.repeat_variance:.4g}"),
            (f"single answers {self.rest_variance:.4g}"),
        ]
        notes = [f"Variance of the difference of a typical pair of systems: {', '.join(parts)}."]
        if self.repeat_variance > 0:
            notes.append(
                f"Running again shifts all {unit_name[1]} at once: more {unit_name[1]} do not average that out, more "
                "repeats do."
            )
        elif self.question_variance <= 0:
            notes.append(f"The {unit_name[1]} vary no more than single answers: there is no best number of repeats.")
        elif self.best_repeats is None:
            notes.append("The costs of a question and of an answer show the best number of repeats.")
        return notes

    def as_json(self) -> dict[str, object]:
        """All figures under their names."""
        return document(
            self,
            *("difference", "question_variance", "repeat_variance", "rest_variance", "at_hand", "best_repeats", "rows"),
        )


@dataclass(frozen=True, slots=True)
class Variances:
    """s_q^2, s_r^2 and s_e^2 of the difference of a typical pair, as means over all pairs."""

    question: float
    repeat: float
    rest: float

    def units_for(self, difference: float, repeats: int, *, power: float, alpha: float) -> int | None:
        """The questions with which a test finds a difference; None where no number of them is enough."""
        per_question = self.question + self.rest / repeats
        if per_question <= 0:
            return None
        if self.repeat <= 0:
            return units_for_power(difference / math.sqrt(per_question), power=power, alpha=alpha)
        within = (difference / (ndtri(1 - alpha / 2) + ndtri(power))) ** 2 - self.repeat / repeats
        return math.ceil(per_question / within) if within > 0 else None

    def best_repeats(self, costs: Costs) -> int | None:
        """The cheapest repeats: sqrt(s_e^2 * cost of a question / (s_q^2 * cost of an answer)), from 1 up."""
        if self.repeat > 0 or self.question <= 0:
            return None
        best = math.sqrt(self.rest * costs.question / (self.question * costs.answer))
        lower = max(1, math.floor(best))
        # A repeat more or less changes the variance times the cost; the better neighbour wins.
        return min((lower, lower + 1), key=lambda r: (self.question + self.rest / r) * costs.of(1, r))


def variances(repeats: Repeats) -> Variances | None:
    """The variances of a typical pair of systems; None where no system has two repeats, or there is one system."""
    squares = [mean_squares(scores) for scores in repeats.values]
    several = [parts for parts in squares if parts.repeat_count > 1]
    if not several or len(squares) < 2:
        return None
    mean_rest = float(np.mean([parts.rest_variance for parts in several]))
    mean_repeat = float(np.mean([parts.repeat_variance for parts in several]))
    rest = [parts.rest_variance if parts.repeat_count > 1 else mean_rest for parts in squares]
    repeat = [parts.repeat_variance if parts.repeat_count > 1 else mean_repeat for parts in squares]
    means = [scores.mean(axis=1) for scores in repeats.values]
    pairs = list(combinations(range(len(squares)), 2))
    noise = [value / parts.repeat_count for value, parts in zip(rest, squares, strict=True)]
    question = [max(float((means[i] - means[j]).var(ddof=1)) - noise[i] - noise[j], 0.0) for i, j in pairs]
    return Variances(
        question=float(np.mean(question)),
        repeat=float(np.mean([repeat[i] + repeat[j] for i, j in pairs])),
        rest=float(np.mean([rest[i] + rest[j] for i, j in pairs])),
    )


def running_again(
    repeats: Repeats, difference: float, *, power: float, alpha: float, costs: Costs | None = None
) -> RunningAgain | None:
    """Weigh repeats against questions for one difference; None where the pilot does not show what repeats change."""
    components = variances(repeats)
    if components is None:
        return None
    at_hand = max(repeats.numbers)
    best = None if costs is None else components.best_repeats(costs)
    numbers = sorted({*REPEATS, at_hand, *([] if best is None else [best])})
    rows = []
    for number in numbers:
        units = components.units_for(difference, number, power=power, alpha=alpha)
        rows.append(WithRepeats(number, units, None if costs is None or units is None else costs.of(units, number)))
    return RunningAgain(difference, components.question, components.repeat, components.rest, at_hand, best, tuple(rows))
