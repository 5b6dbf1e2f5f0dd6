"""How many questions, and assessors, does a wanted difference need?

Three answers stand side by side, since they answer different questions: the error rate of a comparison (the
sensitivity curves), the power of a test (noncentral t), and the stability of a ranking (generalizability). They come
from pilot scores, or from assumed variances.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from qassay.errors import UsageError
from qassay.frames import frame
from qassay.matrix import ScoreMatrix, document
from qassay.meta.generalizability import RESIDUAL, Generalizability
from qassay.meta.intervals import Blocks, blocks
from qassay.meta.sensitivity import SensitivityCurves, rests_on, why_not_fitted
from qassay.meta.sensitivity.curves import FURTHEST
from qassay.meta.sensitivity.trials import WIDTH, width_for
from qassay.meta.significance import detectable, power, residual_variance, units_for_power
from qassay.results import Result
from qassay.tables import Cell, Column, Table, counted, plural, table

if TYPE_CHECKING:
    import polars as pl

DIFFERENCES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.10, 0.15)
ASSESSORS = (1, 2, 3, 4, 5)
# The harder pairs: nine of ten pairs vary less than this.
HARD = 0.9


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the test is to show: which differences, at which error rate, with which power, how stable a ranking."""

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
    than nine of ten. `fit` and `predicted`: the error rate of the comparison is within the wanted one, by the
    fitted curve and by the closed form. `power_now` is the power with the units at hand.
    """

    difference: float
    power: int | None
    power_hard: int | None
    fit: int | None
    predicted: int | None
    power_now: float | None


@dataclass(frozen=True, slots=True)
class UnitsForCoefficient:
    """Units needed for a coefficient with so many assessors; None where no number of units reaches it."""

    assessors: int
    e_rho2: int | None
    phi: int | None


@dataclass(frozen=True, repr=False)
class Plan(Result):
    """Units for wanted differences, and for a wanted coefficient.

    `deviation` is the standard deviation of the per-unit differences of a typical pair of runs. `detectable` is the
    smallest difference that the units at hand show with the wanted power.
    """

    measure: str
    wanted: Wanted
    runs: int | None
    units: int | None
    deviation: float | None
    deviation_hard: float | None
    detectable: float | None
    differences: tuple[UnitsFor, ...]
    study: Generalizability | None
    coefficients: tuple[UnitsForCoefficient, ...]
    notes: tuple[str, ...] = ()
    unit_name: tuple[str, str] = ("unit", "units")
    # Units per independent part: questions per series where whole series are counted.
    block: float = 1.0

    def sentence(self) -> str:
        """The units for the differences wanted, the smallest first."""
        known = [row for row in self.differences if row.power is not None]
        if not known:
            return "no number of units can be given; the notes say why"
        sizes = [
            f"{counted(row.power or 0, self.unit_name)} for a difference of {row.difference:g}" for row in known[:3]
        ]
        return f"{', '.join(sizes)} (power {self.wanted.power:g})"

    def to_polars(self) -> pl.DataFrame:
        """One row per difference: the units needed by power and by error rate, and the power of the units at hand."""
        sizes = ("units_by_power", "units_by_power_harder_pair", "units_by_error_fit", "units_by_error_predicted")
        rows = [astuple(row) for row in self.differences]
        return frame({"difference": float, **dict.fromkeys(sizes, int), "power_now": float}, rows)

    def tables(self) -> list[Table]:
        """Units for differences; where the scores vary; units for the coefficient."""
        shown = [self.table()]
        if self.study is not None:
            shown += [self.study.table(), self._coefficient_table()]
        return shown

    def table(self) -> Table:
        """Units needed for each difference; ways of asking that give no number at all are left out."""
        error = f"error {self.wanted.error:g}"
        names = (f"power {self.wanted.power:g}", "harder pair", f"{error}, fit", f"{error}, predicted")
        columns = [Column("difference", ".3g"), *map(Column, names), Column("power now", ".2f")]
        rows: list[tuple[Cell, ...]] = [astuple(row) for row in self.differences]
        kept = [i for i in range(len(columns)) if i < 2 or any(row[i] is not None for row in rows)]
        at_hand = "assumed variances"
        if self.runs is not None and self.units is not None:
            at_hand = f"{plural(self.runs, 'run')} on {plural(self.units, 'unit')}"
        return table(
            f"Units needed to see a difference, from {at_hand}",
            [columns[i] for i in kept],
            [[row[i] for i in kept] for row in rows],
            (*self._reading(), *self.notes),
        )

    def as_json(self) -> dict[str, object]:
        """The document of `plan --json`."""
        units = [document(row, "power", "power_hard", "fit", "predicted") for row in self.differences]
        rows = zip(self.differences, units, strict=True)
        return {
            **document(self, "measure", "runs", "units"),
            **document(self.wanted, "error", "alpha", "power", "coefficient"),
            **document(self, "deviation", "deviation_hard", "detectable"),
            "differences": [
                {**document(row, "difference"), "units": by, **document(row, "power_now")} for row, by in rows
            ],
            "generalizability": self.study and self.study.as_json(),
            "units_for_coefficient": [document(row) for row in self.coefficients],
            "notes": [*self.notes, *self._unreachable()],
        }

    def _reading(self) -> list[str]:
        """What the columns mean."""
        wanted, rows = self.wanted, self.differences
        notes = [f"power: a paired t test at level {wanted.alpha:g} finds it with probability {wanted.power:g}."]
        if self.deviation_hard is not None:
            notes.append("harder pair: for two runs whose differences vary more than those of nine pairs in ten.")
        if any(row.fit is not None or row.predicted is not None for row in rows):
            notes.append(f"error: as many new units reverse the order of such a pair in at most {wanted.error:.1%}.")
        if self.detectable is not None:
            notes.append(f"The {self.units} units at hand show a difference of {self.detectable:.3g} with that power.")
        return notes

    def _unreachable(self) -> list[str]:
        """Why there is no number of units for a coefficient."""
        if self.study is None or all(row.e_rho2 is not None and row.phi is not None for row in self.coefficients):
            return []
        if not any(self.study.variances.values()):
            return ["The scores do not vary at all: there is no coefficient."]
        if self.study.variances["run"] <= 0:
            return ["The runs differ no more than chance makes them: no number of units gives such a coefficient."]
        return ["Where a number is missing, so few assessors lean too far apart for any number of units to make up."]

    def _coefficient_table(self) -> Table:
        with_assessors = self.study is not None and self.study.with_assessors
        columns = [Column("units, E-rho-squared"), Column("units, Phi")]
        rows: list[tuple[Cell, ...]] = [(row.e_rho2, row.phi) for row in self.coefficients]
        notes = ["E-rho-squared: how stable differences between runs are; Phi: how stable the scores themselves are."]
        if with_assessors:
            columns = [Column("assessors"), *columns, Column("judgments a run")]
            rows = [(c.assessors, c.e_rho2, c.phi, c.e_rho2 and c.e_rho2 * c.assessors) for c in self.coefficients]
            notes.append("judgments a run: units x assessors, for E-rho-squared.")
        notes += self._unreachable()
        return table(f"Units needed for a coefficient of {self.wanted.coefficient:g}", columns, rows, notes)


@dataclass(frozen=True, slots=True)
class _Pilot:
    """How far the differences of a typical pair and of a harder one vary, over `blocks` of `block` units each."""

    typical: float | None
    hard: float | None
    blocks: int
    block: float


def differences_for(matrix: ScoreMatrix) -> tuple[float, ...]:
    """Differences to plan for unless told: those of scores within [0, 1], on the scale of the scores."""
    scale = width_for(matrix) / WIDTH
    return tuple(float(Decimal(str(difference)) * scale) for difference in DIFFERENCES)


def plan(
    matrix: ScoreMatrix,
    *,
    wanted: Wanted | None = None,
    size_needed: Mapping[str, Mapping[str, float | None]] | None = None,
    bin_width: float = 0.01,
    study: Generalizability | None = None,
) -> Plan:
    """Units needed, from the scores of a pilot.

    The deviation of a typical pair is sqrt(2 * residual variance of runs and units), the root mean square over all
    pairs. `size_needed` is what the sensitivity curves give for the wanted error rate, from lower bin limit to fit
    and predicted; a difference is looked up in the bin it lies in. Where questions are scored in series, whole
    series are counted and turned into units.
    """
    wanted = wanted or Wanted()
    parts = blocks(matrix)
    typical, hard, notes = _deviations(parts)
    pilot = _Pilot(typical, hard, parts.count, len(matrix.units) / parts.count)
    if matrix.clusters is not None:
        notes.append(f"Series are the independent parts: {parts.count} of them, {pilot.block:.1f} units each.")
    made = _plan(
        matrix.measure,
        wanted,
        pilot,
        study,
        curve=lambda difference: _in_bin(size_needed or {}, difference, bin_width),
        runs=len(matrix.runs),
        units=len(matrix.units),
        notes=(*matrix.notes, *notes),
    )
    return replace(made, unit_name=matrix.unit_name)


def plan_from_variances(study: Generalizability, *, wanted: Wanted | None = None) -> Plan:
    """Units needed, from assumed variances: a typical pair deviates by sqrt(2 * (run x unit + residual))."""
    wanted = wanted or Wanted()
    within = study.variances.get("run x unit", 0.0) + study.variances[RESIDUAL]
    deviation = math.sqrt(2 * within) if within > 0 else None
    notes = ("Assumed variances hold no curves: error rates need pilot scores.",)
    return _plan("score", wanted, _Pilot(deviation, None, blocks=0, block=1.0), study, notes=notes)


def _plan(
    measure: str,
    wanted: Wanted,
    pilot: _Pilot,
    study: Generalizability | None,
    *,
    curve: Callable[[float], Mapping[str, float | None]] = lambda difference: {},
    runs: int | None = None,
    units: int | None = None,
    notes: tuple[str, ...],
) -> Plan:
    """The plan; `curve` is what the sensitivity curve of the bin of a difference gives."""
    differences = sorted(set(wanted.differences))
    return Plan(
        measure=measure,
        wanted=wanted,
        runs=runs,
        units=units,
        deviation=pilot.typical,
        deviation_hard=pilot.hard,
        detectable=_detectable(pilot, wanted),
        differences=tuple(_units_for(difference, pilot, wanted, curve(difference)) for difference in differences),
        study=study,
        coefficients=_for_coefficient(study, wanted.coefficient),
        notes=notes,
        block=pilot.block,
    )


def _deviations(parts: Blocks) -> tuple[float | None, float | None, list[str]]:
    """Standard deviation of the differences of a typical pair and of a harder one, over blocks."""
    values = parts.values()
    runs, count = values.shape
    if runs < 2 or count < 2:
        return None, None, [f"{runs} runs on {count} units do not show how differences vary: no power can be said."]
    variance, _ = residual_variance(values)
    if variance < 1e-15:
        return None, None, ["The differences between the runs are the same on every unit: no power can be said."]
    covariance = np.cov(values)
    own = np.diag(covariance)
    pairs = (own[:, None] + own[None, :] - 2 * covariance)[np.triu_indices(runs, 1)]
    hard = float(np.quantile(np.sqrt(np.maximum(pairs, 0.0)), HARD)) if runs > 2 else None
    notes = [] if runs > 2 else ["Two runs are one pair: there is no harder one to plan for."]
    return math.sqrt(2 * variance), hard, notes


def _units_for(difference: float, pilot: _Pilot, wanted: Wanted, curve: Mapping[str, float | None]) -> UnitsFor:
    """The row of one difference; `curve` is what the sensitivity curve of its bin gives."""
    sizes = {way: None if size is None else int(size) for way, size in curve.items()}
    now = None if pilot.typical is None else power(difference / pilot.typical, pilot.blocks, alpha=wanted.alpha)
    return UnitsFor(
        difference=difference,
        power=_units(difference, pilot.typical, wanted, pilot.block),
        power_hard=_units(difference, pilot.hard, wanted, pilot.block),
        fit=sizes.get("fit"),
        predicted=sizes.get("predicted"),
        power_now=now,
    )


def _detectable(pilot: _Pilot, wanted: Wanted) -> float | None:
    """The smallest difference that a test of the units at hand finds with the wanted power."""
    smallest = detectable(pilot.blocks, power=wanted.power, alpha=wanted.alpha)
    return None if pilot.typical is None or smallest is None else smallest * pilot.typical


def _units(difference: float, deviation: float | None, wanted: Wanted, block: float) -> int | None:
    """Units with which a test finds the difference, in whole blocks."""
    if deviation is None or deviation <= 0:
        return None
    needed = units_for_power(difference / deviation, power=wanted.power, alpha=wanted.alpha)
    return None if needed is None else math.ceil(needed * block - 1e-9)


def _in_bin(
    sizes: Mapping[str, Mapping[str, float | None]], difference: float, width: float
) -> Mapping[str, float | None]:
    """What the curve of the bin that holds the difference says; nothing where there is no such curve."""
    number = math.floor(difference / width + 1e-9)
    return next((needed for limit, needed in sizes.items() if round(float(limit) / width) == number), {})


def _for_coefficient(study: Generalizability | None, wanted: float) -> tuple[UnitsForCoefficient, ...]:
    if study is None:
        return ()
    numbers = ASSESSORS if study.with_assessors else (1,)
    return tuple(
        UnitsForCoefficient(n, study.units_for("e_rho2", wanted, n), study.units_for("phi", wanted, n)) for n in numbers
    )


def notes_on_curves(curves: SensitivityCurves, plan: Plan) -> list[str]:
    """On how many pairs the sizes by error rate rest, which are extrapolated, and why some are missing."""
    measured, notes = max(curves.sizes), []
    sizes = [size for row in plan.differences for size in (row.fit, row.predicted) if size is not None]
    if sizes:
        notes += rests_on(curves.pairs)
    if any(size > measured for size in sizes):
        notes.append(f"Sizes by error rate above {measured} units are extrapolated.")
    missing: dict[tuple[str, str], list[str]] = {}
    for row in plan.differences:
        for way_and_reason in _reasons(curves, row):
            missing.setdefault(way_and_reason, []).append(f"{row.difference:g}")
    for (way, reason), which in missing.items():
        for_which = "" if len(which) == len(plan.differences) else f" for {', '.join(which)}"
        notes.append(f"No size by {way}{for_which}: {reason}.")
    return notes


def _reasons(curves: SensitivityCurves, row: UnitsFor) -> list[tuple[str, str]]:
    """Which way of reading the bin that holds the difference gives no size, and why; one entry where both say so."""
    beyond = f"it would be more than {FURTHEST * curves.units:,} units"
    not_fitted, k = why_not_fitted(curves, row.difference), curves.bin_of(row.difference)
    by_fit = (not_fitted or beyond) if row.fit is None else None
    by_closed_form = beyond if row.predicted is None else None
    if row.predicted is None and k in (0, len(curves.fits) - 1):
        by_closed_form = not_fitted
    elif row.predicted is None and math.isnan(curves.predicted_at(1)[k]):
        by_closed_form = "no two runs are expected to differ by so much"
    if by_fit is not None and by_fit == by_closed_form:
        return [("error rate", by_fit)]
    ways = (("the fitted error rate", by_fit), ("the predicted error rate", by_closed_form))
    return [(way, reason) for way, reason in ways if reason is not None]
