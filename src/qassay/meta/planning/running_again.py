"""More questions, or running the systems again? What repeats of a pilot show. (METHOD 6, Repeats)

`qassay.meta.significance.power` has the variances, and the questions that follow from them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from qassay.errors import UsageError
from qassay.meta.significance import Variances
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

    def chance(self, difference: float, units: int, *, alpha: float) -> float | None:
        """The probability that a test on this many questions finds a difference, with the repeats at hand."""
        given = Variances(self.question_variance, self.repeat_variance, self.rest_variance)
        return given.power(difference, units, self.at_hand, alpha=alpha)

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


def best_repeats(given: Variances, costs: Costs) -> int | None:
    """The cheapest repeats: sqrt(s_e^2 * cost of a question / (s_q^2 * cost of an answer)), from 1 up."""
    if given.repeat > 0 or given.question <= 0:
        return None
    best = math.sqrt(given.rest * costs.question / (given.question * costs.answer))
    lower = max(1, math.floor(best))
    # The variance times the cost is what a repeat more or less changes; the better neighbour wins.
    return min((lower, lower + 1), key=lambda r: (given.question + given.rest / r) * costs.of(1, r))


def running_again(
    given: Variances, at_hand: int, difference: float, *, power: float, alpha: float, costs: Costs | None = None
) -> RunningAgain:
    """Weigh repeats against questions for one difference."""
    best = None if costs is None else best_repeats(given, costs)
    numbers = sorted({*REPEATS, at_hand, *([] if best is None else [best])})
    rows = []
    for number in numbers:
        units = given.units_for(difference, number, power=power, alpha=alpha)
        rows.append(WithRepeats(number, units, None if costs is None or units is None else costs.of(units, number)))
    return RunningAgain(difference, given.question, given.repeat, given.rest, at_hand, best, tuple(rows))
