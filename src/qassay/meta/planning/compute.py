"""Units needed, by power, by sensitivity curves and by generalizability."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from qassay.matrix import ScoreMatrix
from qassay.meta.generalizability import RESIDUAL, Generalizability
from qassay.meta.intervals import Blocks, blocks
from qassay.meta.planning.result import DIFFERENCES, Plan, UnitsFor, UnitsForCoefficient, Wanted
from qassay.meta.sensitivity.scale import WIDTH, width_for
from qassay.meta.significance import detectable, power, residual_variance, units_for_power

ASSESSORS = (1, 2, 3, 4, 5)
# The harder pairs: nine of ten pairs vary less than this.
HARD = 0.9


@dataclass(frozen=True, slots=True)
class _Pilot:
    """How far the differences of a typical pair and of a harder one vary; so many blocks of so many units."""

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
    sizes = size_needed or {}
    rows = [
        _units_for(difference, pilot, wanted, _in_bin(sizes, difference, bin_width))
        for difference in sorted(set(wanted.differences))
    ]
    return Plan(
        measure=matrix.measure,
        wanted=wanted,
        runs=len(matrix.runs),
        units=len(matrix.units),
        deviation=typical,
        deviation_hard=hard,
        detectable=_detectable(pilot, wanted),
        differences=tuple(rows),
        study=study,
        coefficients=_for_coefficient(study, wanted.coefficient),
        notes=(*matrix.notes, *notes),
    )


def plan_from_variances(study: Generalizability, *, wanted: Wanted | None = None) -> Plan:
    """Units needed, from assumed variances: a typical pair deviates by sqrt(2 * (run x unit + residual))."""
    wanted = wanted or Wanted()
    within = study.variances.get("run x unit", 0.0) + study.variances[RESIDUAL]
    deviation = math.sqrt(2 * within) if within > 0 else None
    rows = [
        UnitsFor(difference, _units(difference, deviation, wanted, 1.0), None, None, None, None)
        for difference in sorted(set(wanted.differences))
    ]
    return Plan(
        measure="score",
        wanted=wanted,
        runs=None,
        units=None,
        deviation=deviation,
        deviation_hard=None,
        detectable=None,
        differences=tuple(rows),
        study=study,
        coefficients=_for_coefficient(study, wanted.coefficient),
        notes=("Assumed variances hold no curves: error rates need pilot scores.",),
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
    now = None if pilot.typical is None else power(difference / pilot.typical, pilot.blocks, alpha=wanted.alpha)
    return UnitsFor(
        difference=difference,
        power=_units(difference, pilot.typical, wanted, pilot.block),
        power_hard=_units(difference, pilot.hard, wanted, pilot.block),
        fit=_whole(curve.get("fit")),
        predicted=_whole(curve.get("predicted")),
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
    return next((found for limit, found in sizes.items() if round(float(limit) / width) == number), {})


def _for_coefficient(study: Generalizability | None, wanted: float) -> tuple[UnitsForCoefficient, ...]:
    if study is None:
        return ()
    numbers = ASSESSORS if study.with_assessors else (1,)
    return tuple(
        UnitsForCoefficient(n, study.units_for("e_rho2", wanted, n), study.units_for("phi", wanted, n)) for n in numbers
    )


def _whole(size: float | None) -> int | None:
    return None if size is None else int(size)
