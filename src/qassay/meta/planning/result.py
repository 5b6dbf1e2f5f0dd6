"""A plan: one number with its reason, what other numbers of units would show, and the alternatives."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Any

from qassay.directions import HIGHER, Direction
from qassay.display import as_sentence
from qassay.errors import UsageError
from qassay.frames import frame
from qassay.meta.generalizability import Generalizability
from qassay.meta.planning.running_again import RunningAgain
from qassay.meta.significance import fewest_units, power
from qassay.results import UNREPORTED, Result, document, reported
from qassay.tables import Cell, Column, Table, at_least, counted, plural, table

if TYPE_CHECKING:
    import polars as pl

DIFFERENCES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.10, 0.15)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The aims of the test: which differences, at which error rate, with which power, how stable a ranking."""

    differences: tuple[float, ...] = DIFFERENCES
    error: float = 0.05
    power: float = 0.8
    alpha: float = 0.05
    coefficient: float = 0.95

    def __post_init__(self) -> None:
        if any(not 0 < difference < math.inf for difference in self.differences):
            raise UsageError("a wanted difference is larger than 0")
        for name in ("error", "alpha", "coefficient", "power"):
            if not 0 < getattr(self, name) < 1:
                raise UsageError(f"{name} lies between 0 and 1, not {getattr(self, name)}")
        if self.power <= self.alpha:
            raise UsageError(f"power lies between the level {self.alpha} and 1, not {self.power}")


@dataclass(frozen=True, slots=True)
class UnitsFor:
    """Units needed for one difference, by each way of asking; None where that way gives no number.

    `power` and `power_hard`: a paired t test finds the difference, for a typical pair and for one that varies more
    than nine of ten. `predicted`: the error rate of the comparison is within the wanted one, by the closed form.
    `power_now` is the power with the units at hand.
    """

    difference: float
    power: int | None = field(metadata=UNREPORTED)
    power_hard: int | None = field(metadata=UNREPORTED)
    predicted: int | None = field(metadata=UNREPORTED)
    power_now: float | None

    @reported
    def units(self) -> dict[str, int | None]:
        """The units needed, by each way of asking."""
        return document(self, "power", "power_hard", "predicted")


@dataclass(frozen=True, slots=True)
class UnitsForCoefficient:
    """Units needed for a coefficient with this many assessors; None where no number of units reaches it."""

    assessors: int
    e_rho2: int | None
    phi: int | None


@dataclass(frozen=True, slots=True)
class Shown:
    """The findings of this many units: the difference that a test finds, of a typical and a harder pair, and the gap
    that is repeatable; None where it cannot be given."""

    units: int
    detectable: float | None
    detectable_hard: float | None
    repeatable: float | None


# In place of a difference that the scores cannot have.
NONE = "none"
ASSURED = "Four of five pilots like this one give a number that is large enough."
WAY_ON = "Give the scores of two systems or more that differ, on six {} or more."


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The number of units to plan for, and the difference that it is for; `units` is None where none is enough."""

    difference: float
    units: int | None
    at_hand: int | None


@dataclass(frozen=True, repr=False)
class Plan(Result):
    """Units for wanted differences, and for a wanted coefficient.

    `deviation` is the standard deviation of the per-unit differences of a typical pair of runs, `deviation_upper` the
    upper limit that everything is planned with: in four of five pilots it is above the true one (None with repeats, and
    without a pilot). `detectable` is the smallest difference that the units at hand show with the wanted power.
    `recommendation` is None where the pilot does not show how differences vary. `largest` is the largest difference
    that the scores allow, where it is known. `details` shows the alternatives too.
    """

    measure: str
    wanted: Wanted = field(metadata=UNREPORTED)
    runs: int | None
    units: int | None
    deviation: float | None
    deviation_upper: float | None
    deviation_hard: float | None
    detectable: float | None
    differences: tuple[UnitsFor, ...]
    generalizability: Generalizability | None
    units_for_coefficient: tuple[UnitsForCoefficient, ...]
    notes: tuple[str, ...] = field(default=(), metadata=UNREPORTED)
    # Why some differences have no repeatable size: they go with the table of differences.
    missing_sizes: tuple[str, ...] = field(default=(), metadata=UNREPORTED)
    unit_name: tuple[str, str] = field(default=("question", "questions"), metadata=UNREPORTED)
    # Units per independent part: questions per series where whole series are counted.
    block: float = field(default=1.0, metadata=UNREPORTED)
    largest: float | None = field(default=None, metadata=UNREPORTED)
    shows: tuple[Shown, ...] = ()
    recommendation: Recommendation | None = field(default=None, metadata=UNREPORTED)
    running_again: RunningAgain | None = None
    details: bool = field(default=True, metadata=UNREPORTED)
    # Why there is no recommendation, where there is none.
    why_none: str = field(default="", metadata=UNREPORTED)
    direction: Direction = HIGHER

    def sentence(self) -> str:
        """The number of units to plan for, and what it finds."""
        best = self.recommendation
        if best is None:
            return f"no number of {self.unit_name[1]} can be given: {self.why_none}"
        again = "" if self.running_again is None else f" with {plural(self.running_again.at_hand, 'repeat')} each"
        purpose = f"a true difference of {best.difference:g} in {_of_evaluations(self.wanted.power)}"
        if best.units is None:
            return f"no number of {self.unit_name[1]}{again} finds {purpose}"
        return f"about {counted(best.units, self.unit_name)}{again} find {purpose}"

    def summary(self) -> str:
        """The recommendation first, how sure it is, and what the units at hand show."""
        sentences = [as_sentence(self.sentence())]
        best = self.recommendation
        if best is None:
            return f"{sentences[0]} {WAY_ON.format(self.unit_name[1])}"
        if best.units is None:
            sentences.append(f"More {self.unit_name[1]} are not enough: run the systems more often.")
        elif self.deviation_upper is not None:
            sentences.append(ASSURED)
        if best.at_hand is not None and (self.detectable is not None or self._too_few(best.at_hand)):
            sentences.append(f"The present {self._at_hand('differences of {} or more')} in this way.")
        if self.generalizability is not None and (assessors := self.generalizability.worth_of_assessor()):
            sentences.append(assessors)
        return " ".join(sentences)

    def at_hand(self) -> str:
        """What the units at hand show with the wanted power, as a sentence of its own; empty where it is unknown."""
        if self.units is None or (self.detectable is None and not self._too_few(self.units)):
            return ""
        assured = "" if self.deviation_upper is None else ", with 80% assurance"
        return f"These {self._at_hand('a true difference of {}')} with {self.wanted.power:.0%} probability{assured}."

    def _at_hand(self, least: str) -> str:
        """The units at hand with the smallest difference that they show, where the scores can differ by so much."""
        assert self.units is not None
        number, show = counted(self.units, self.unit_name), "shows" if self.units == 1 else "show"
        if self.detectable is None or not self._possible(self.detectable):
            return f"{number} {show} no difference at all"
        return f"{number} {show} {least.format(f'{at_least(self.detectable):.3f}')}"

    def chance(self, difference: float, units: int) -> float | None:
        """The probability that a test on this many units finds a difference of a typical pair."""
        if self.running_again is not None:
            return self.running_again.chance(difference, units, alpha=self.wanted.alpha)
        planned_with = self.deviation_upper or self.deviation
        if planned_with is None:
            return None
        return power(difference / planned_with, max(2, round(units / self.block)), alpha=self.wanted.alpha)

    def _assured(self) -> str:
        """What the numbers are planned with."""
        if self.deviation_upper is None or self.deviation is None:
            return ""
        return f", if differences vary by {self.deviation_upper:.3g} (measured {self.deviation:.3g}; 80% assurance)"

    def _too_few(self, units: int) -> bool:
        """Whether a test on this many units can find nothing, however large the difference."""
        is_known = self.deviation is not None and self.running_again is None
        return is_known and round(units / self.block) < fewest_units(self.wanted.alpha)

    def _possible(self, difference: float | None) -> bool:
        """Whether the scores can differ by this much."""
        return difference is None or self.largest is None or difference <= self.largest

    def to_polars(self) -> pl.DataFrame:
        """One row per difference: the units needed by power and by error rate, and the power of the units at hand."""
        sizes = ("units_by_power", "units_by_power_harder_pair", "units_by_error")
        rows = [astuple(row) for row in self.differences]
        return frame({"difference": float, **dict.fromkeys(sizes, int), "power_now": float}, rows)

    def tables(self) -> list[Table]:
        """The findings of numbers of units, repeats against units; with `details` also the units for each difference.

        With `details`, or where assessors are weighed: where the scores vary, and units for the coefficient.
        """
        if self.why_none and not any(row.power or row.predicted for row in self.differences):
            return []
        shown = [] if self.shows and not self.details else [self.table()]
        if self.running_again is not None:
            shown = [self.running_again.table(self.unit_name), *shown]
        if self.shows:
            shown = [self.shown_table(), *shown]
        if self.generalizability is not None and (self.details or self.generalizability.with_assessors):
            shown += [self.generalizability.table(), self._coefficient_table()]
        return shown

    def shown_table(self) -> Table:
        """The findings of n units, for several n."""
        wanted, units = self.wanted, self.unit_name[1]
        columns = [Column(units), Column("significant from", ".3f"), Column("harder pair", ".3f")]
        columns.append(Column("repeatable from", ".3f"))
        findings = [(_up(row.detectable), _up(row.detectable_hard), row.repeatable) for row in self.shows]
        rows: list[list[Cell]] = [
            [_now(row.units, self.units), *(least if self._possible(least) else NONE for least in cells)]
            for row, cells in zip(self.shows, findings, strict=True)
        ]
        filled = [i for i in range(len(columns)) if i == 0 or any(row[i] is not None for row in rows)]
        too_few = [self._too_few(row.units) for row in self.shows]
        for cells, few in zip(rows, too_few, strict=True):
            cells[1:3] = [NONE, NONE] if few else cells[1:3]
        notes = [
            f"significant from: a paired t test at level {wanted.alpha:g} finds a true difference of this size with "
            f"probability {wanted.power:g} (power), for a typical pair of systems{self._assured()}."
        ]
        if 2 in filled:
            notes.append("harder pair: for two systems whose differences vary more than those of nine pairs in ten.")
        if 3 in filled:
            notes.append(
                f"repeatable from: a gap of about this size keeps its sign with as many new {units} in "
                f"{(1 - wanted.error) * 100:g} of 100 repetitions. This is another question, about all pairs of runs"
                f"{', and without running again' if self.running_again is not None else ''}."
            )
        if any(not self._possible(least) for cells in findings for least in cells):
            notes.append(f"{NONE}: not even the largest possible difference, {self.largest:g}.")
        if any(too_few):
            parts = units if self.block == 1.0 else "series"
            least = fewest_units(wanted.alpha)
            notes.append(f"{NONE}: with fewer than {least} {parts}, chance alone could explain any difference.")
        own = () if self.details else self.notes
        title = f"What more or fewer {units} can show ({self.measure})"
        return table(title, [columns[i] for i in filled], [[row[i] for i in filled] for row in rows], (*notes, *own))

    def table(self) -> Table:
        """Units needed for each difference; ways of asking that give no number at all are left out."""
        names = (f"significant, power {self.wanted.power:g}", "harder pair", "repeatable")
        columns = [Column("difference", ".3g"), *(Column(name, ",") for name in names), Column("power now", ".2f")]
        rows: list[tuple[Cell, ...]] = [astuple(row) for row in self.differences]
        filled = [i for i in range(len(columns)) if i < 2 or any(row[i] is not None for row in rows)]
        at_hand = "assumed variances"
        if self.runs is not None and self.units is not None:
            at_hand = f"{plural(self.runs, 'run')} on {counted(self.units, self.unit_name)}"
        return table(
            f"{self.unit_name[1].capitalize()} needed for a difference, from {at_hand}",
            [columns[i] for i in filled],
            [[row[i] for i in filled] for row in rows],
            (*self._reading(), *self.notes, *self.missing_sizes),
        )

    @reported
    def error(self) -> float:
        """The wanted error rate of a comparison."""
        return self.wanted.error

    @reported
    def alpha(self) -> float:
        """The level of the test."""
        return self.wanted.alpha

    @reported
    def power(self) -> float:
        """The wanted power of the test."""
        return self.wanted.power

    @reported
    def coefficient(self) -> float:
        """The wanted generalizability coefficient."""
        return self.wanted.coefficient

    @reported
    def recommendation_(self) -> dict[str, Any] | None:
        """The recommendation, with its words."""
        return None if self.recommendation is None else {**document(self.recommendation), "text": self.summary()}

    @reported
    def notes_(self) -> tuple[str, ...]:
        """The notes on everything."""
        return (*self.notes, *self.missing_sizes, *self._unreachable())

    def _reading(self) -> list[str]:
        """The meaning of the columns."""
        wanted, units = self.wanted, self.unit_name[1]
        notes = [
            f"significant: a paired t test at level {wanted.alpha:g} finds it with probability {wanted.power:g}"
            f"{self._assured()}."
        ]
        if self.deviation_hard is not None:
            notes.append("harder pair: for two runs whose differences vary more than those of nine pairs in ten.")
        if any(row.predicted is not None for row in self.differences):
            notes.append(
                f"repeatable: as many new {units} reverse the order of such a pair in at most {wanted.error:.1%}. "
                "This is another question, about all pairs of runs."
            )
        if self.detectable is not None and self.units is not None:
            notes.append(f"The present {self._at_hand('a difference of {}')} with that power.")
        return notes

    def _unreachable(self) -> list[str]:
        """Why there is no number of units for a coefficient."""
        if self.generalizability is None or all(
            row.e_rho2 is not None and row.phi is not None for row in self.units_for_coefficient
        ):
            return []
        units = self.unit_name[1]
        if not any(self.generalizability.variances.values()):
            return ["The scores do not vary at all: there is no coefficient."]
        if self.generalizability.variances["run"] <= 0:
            return [f"The runs differ no more than chance makes them: no number of {units} gives such a coefficient."]
        return [f"Where a number is missing, so few assessors lean too far apart for any number of {units} to make up."]

    def _coefficient_table(self) -> Table:
        with_assessors = self.generalizability is not None and self.generalizability.with_assessors
        units = self.unit_name[1]
        columns = [Column(f"{units}, E-rho-squared", ","), Column(f"{units}, Phi", ",")]
        rows: list[tuple[Cell, ...]] = [(row.e_rho2, row.phi) for row in self.units_for_coefficient]
        notes = ["E-rho-squared: how stable differences between runs are; Phi: how stable the scores themselves are."]
        if with_assessors:
            columns = [Column("assessors"), *columns, Column("judgments per run", ",")]
            rows = [
                (c.assessors, c.e_rho2, c.phi, c.e_rho2 and c.e_rho2 * c.assessors) for c in self.units_for_coefficient
            ]
            notes.append(f"judgments per run: {units} x assessors, for E-rho-squared.")
        notes += self._unreachable()
        title = f"{units.capitalize()} needed for a coefficient of {self.wanted.coefficient:g}"
        return table(title, columns, rows, notes)


def _of_evaluations(power: float) -> str:
    """How often, in whole evaluations where that is possible.

    >>> _of_evaluations(0.8), _of_evaluations(0.85), _of_evaluations(0.999)
    ('8 of 10 evaluations', '85 of 100 evaluations', '99.9 of 100 evaluations')
    """
    tenths = round(power * 10, 9)
    return f"{tenths:g} of 10 evaluations" if tenths.is_integer() else f"{power * 100:g} of 100 evaluations"


def _now(units: int, at_hand: int | None) -> str:
    """A number of units, marked where these are the ones at hand."""
    return f"{units:,} (now)" if units == at_hand else f"{units:,}"


def _up(difference: float | None) -> float | None:
    """A difference as the sentence has it, so that sentence and table never differ."""
    return None if difference is None else at_least(difference)
