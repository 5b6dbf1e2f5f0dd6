"""How many questions, and assessors, does a wanted difference need?

The recommendation is the number with which a test finds the difference (noncentral t), if differences vary by as much
as the upper limit that a pilot leaves open (assurance). Beside it, since they answer
other questions: the size at which the order of two runs is repeatable (the closed form of sensitivity), the stability
of a ranking (generalizability), and running the systems again against asking more. All come from pilot scores, or from
assumed variances.

    result         the plan, and its tables
    running_again  repeats against questions
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from qassay.arrays import TIE
from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix
from qassay.meta.blocks import Blocks, blocks
from qassay.meta.generalizability import RESIDUAL, Generalizability
from qassay.meta.planning.result import (
    DIFFERENCES,
    Plan,
    Recommendation,
    Shown,
    UnitsFor,
    UnitsForCoefficient,
    Wanted,
)
from qassay.meta.planning.running_again import Costs, running_again
from qassay.meta.sensitivity import Prediction
from qassay.meta.sensitivity.prediction import FURTHEST
from qassay.meta.sensitivity.trials import BINS, WIDTH, width_for
from qassay.meta.significance import (
    FEWEST_BLOCKS,
    Variances,
    assured_variance,
    detectable,
    fewest_units,
    power,
    residual_variance,
    units_for_power,
    variances,
)
from qassay.tables import counted, plural

__all__ = ["DIFFERENCES", "Costs", "Plan", "Wanted", "differences_for", "plan", "plan_from_variances"]

ASSESSORS = (1, 2, 3, 4, 5)
# The harder pairs: nine of ten pairs vary less than this.
HARD = 0.9

# The numbers of units whose power is shown, as multiples of those at hand; without a pilot, as numbers.
MULTIPLES = (0.25, 0.5, 1, 2, 4, 10)
NUMBERS = (50, 100, 200, 500, 1000, 2000, 5000)

# A plan for less than this times the units at hand is hardly worth making.
MORE = 1.2

# Each system ran once: variation between runs of the same system is not in the numbers.
RAN_ONCE = "Each system ran once: the variation from run to run is not included."


@dataclass(frozen=True, slots=True)
class _Pilot:
    """How far the differences of a typical pair and of a harder one vary, over `blocks` of `block` units each.

    `measured` is the deviation of the typical pair in a pilot; the others are upper limits then.
    """

    measured: float | None
    typical: float | None
    hard: float | None
    blocks: int
    block: float

    def shows(self, deviation: float | None, units: int, wanted: Wanted) -> float | None:
        """The smallest difference that a test of this many units finds with the wanted power; None for too few."""
        if round(units / self.block) < fewest_units(wanted.alpha):
            return None
        smallest = detectable(round(units / self.block), power=wanted.power, alpha=wanted.alpha)
        return None if deviation is None or smallest is None else smallest * deviation


def differences_for(matrix: ScoreMatrix) -> tuple[float, ...]:
    """Differences to plan for by default: those of scores within [0, 1], on the scale of the scores."""
    scale = width_for(matrix) / WIDTH
    return tuple(float(Decimal(str(difference)) * scale) for difference in DIFFERENCES)


def plan(
    matrix: ScoreMatrix,
    *,
    wanted: Wanted | None = None,
    prediction: Prediction | None = None,
    study: Generalizability | None = None,
    costs: Costs | None = None,
) -> Plan:
    """Units needed, from the scores of a pilot.

    The deviation of a typical pair is sqrt(2 * residual variance of runs and units), the root mean square over all
    pairs; its upper limit is planned with, and that of a harder pair is larger by the same factor. `prediction` is the
    closed form of the sensitivity study, where there are runs enough for it. Where questions are scored in series,
    whole series are counted and turned into units. `costs` choose the number of repeats.
    """
    wanted = wanted or Wanted()
    parts = blocks(matrix)
    between = None if matrix.repeats is None or len(matrix.units) < 2 else variances(matrix.repeats)
    pilot = _pilot(parts, len(matrix.units) / parts.count, with_repeats=between is not None)
    why_none = _why_no_deviation(parts, matrix.unit_name) if pilot.typical is None else None
    notes = [] if why_none is None else [f"{why_none[0].upper()}{why_none[1:]}: no power can be given."]
    if pilot.typical is not None and len(matrix.runs) == 2:
        notes.append("Two runs are one pair: there is no harder one to plan for.")
    if matrix.clusters is not None:
        notes.append(
            f"Series are the independent parts: {parts.count} of them, {pilot.block:.1f} {matrix.unit_name[1]} each."
        )
    pilot_plan = _plan(
        matrix.measure,
        wanted,
        pilot,
        study,
        prediction=prediction,
        runs=len(matrix.runs),
        units=len(matrix.units),
        notes=(*matrix.notes, *notes),
    )
    pilot_plan = replace(
        pilot_plan,
        unit_name=matrix.unit_name,
        block=pilot.block,
        largest=float(width_for(matrix) / WIDTH),
        why_none=why_none or "",
        direction=matrix.direction,
    )
    if between is not None and matrix.repeats is not None and pilot_plan.recommendation is not None:
        return _with_repeats(pilot_plan, between, max(matrix.repeats.numbers), costs)
    if costs is not None:
        raise UsageError("costs choose the number of repeats, but no system has repeats: its answers are there once")
    return replace(pilot_plan, notes=(*pilot_plan.notes, RAN_ONCE))


def _with_repeats(pilot_plan: Plan, between: Variances, repeats: int, costs: Costs | None) -> Plan:
    """The plan with every number of questions, and every difference, such that running again is counted."""
    wanted, units = pilot_plan.wanted, pilot_plan.units
    assert units is not None
    rows = tuple(
        replace(
            row,
            power=between.units_for(row.difference, repeats, power=wanted.power, alpha=wanted.alpha),
            power_hard=None,
            power_now=between.power(row.difference, units, repeats, alpha=wanted.alpha),
        )
        for row in pilot_plan.differences
    )
    shows = tuple(
        replace(
            row,
            detectable=between.detectable(row.units, repeats, power=wanted.power, alpha=wanted.alpha),
            detectable_hard=None,
        )
        for row in pilot_plan.shows
    )
    # Where no number of questions is enough for the largest difference, none is for a smaller one.
    best = _recommended(rows, units) or Recommendation(rows[-1].difference, None, units)
    again = running_again(between, repeats, best.difference, power=wanted.power, alpha=wanted.alpha, costs=costs)
    note = f"Significant differences include running the systems again, with {plural(repeats, 'repeat')} each."
    return replace(
        pilot_plan,
        differences=rows,
        shows=shows,
        detectable=between.detectable(units, repeats, power=wanted.power, alpha=wanted.alpha),
        deviation_upper=None,
        deviation_hard=None,
        recommendation=best,
        running_again=again,
        notes=(*pilot_plan.notes, note),
    )


def plan_from_variances(study: Generalizability, *, wanted: Wanted | None = None) -> Plan:
    """Units needed, from assumed variances: a typical pair deviates by sqrt(2 * (run x unit + residual))."""
    wanted = wanted or Wanted()
    within = study.variances.get("run x unit", 0.0) + study.variances[RESIDUAL]
    deviation = math.sqrt(2 * within) if within > 0 else None
    notes = ("Assumed variances say nothing about repeatable gaps: these need pilot scores.",)
    pilot_plan = _plan("score", wanted, _Pilot(None, deviation, None, blocks=0, block=1.0), study, notes=notes)
    return replace(
        pilot_plan, unit_name=("question", "questions"), why_none="the assumed variances leave nothing to chance"
    )


def _plan(
    measure: str,
    wanted: Wanted,
    pilot: _Pilot,
    study: Generalizability | None,
    *,
    prediction: Prediction | None = None,
    runs: int | None = None,
    units: int | None = None,
    notes: tuple[str, ...],
) -> Plan:
    sizes = _sizes_needed(prediction, wanted.error, units)
    rows = tuple(_units_for(difference, pilot, wanted, sizes) for difference in sorted(set(wanted.differences)))
    return Plan(
        measure=measure,
        wanted=wanted,
        runs=runs,
        units=units,
        deviation=pilot.measured or pilot.typical,
        deviation_upper=None if pilot.measured is None else pilot.typical,
        deviation_hard=pilot.hard,
        detectable=None if units is None else pilot.shows(pilot.typical, units, wanted),
        differences=rows,
        generalizability=study,
        units_for_coefficient=_for_coefficient(study, wanted.coefficient),
        notes=notes,
        shows=_shown(pilot, wanted, prediction, units),
        recommendation=_recommended(rows, units),
    )


def _recommended(rows: Sequence[UnitsFor], units: int | None) -> Recommendation | None:
    """The largest difference that takes clearly more units than those at hand; the smallest where none does.

    Without a pilot, the difference in the middle.
    """
    known = [row for row in rows if row.power is not None]
    if not known:
        return None
    if units is None:
        row = known[(len(known) - 1) // 2]
    else:
        row = next((row for row in reversed(known) if (row.power or 0) > MORE * units), known[0])
    return Recommendation(row.difference, row.power, units)


def _shown(pilot: _Pilot, wanted: Wanted, prediction: Prediction | None, units: int | None) -> tuple[Shown, ...]:
    """The findings of several numbers of units; nothing where the pilot does not show how differences vary."""
    if pilot.typical is None:
        return ()
    sizes = NUMBERS if units is None else sorted({max(2, round(units * times)) for times in MULTIPLES})
    gaps = _repeatable(prediction, sizes, units, wanted.error)
    return tuple(
        Shown(size, pilot.shows(pilot.typical, size, wanted), pilot.shows(pilot.hard, size, wanted), gap)
        for size, gap in zip(sizes, gaps, strict=True)
    )


def _repeatable(
    prediction: Prediction | None, sizes: Sequence[int], units: int | None, error: float
) -> list[float | None]:
    """The repeatable gap at each of the increasing sizes: the one of sensitivity at the units at hand.

    More units never make it larger, nor fewer smaller. Beyond the units at hand the closed form can say so where it
    expects no two runs to be so close, and below them where it expects none to be so far apart.
    """
    if prediction is None:
        return [None for _ in sizes]
    gaps = [prediction.repeatable(size, error) for size in sizes]
    now = sizes.index(units) if units in sizes else 0
    for place in range(now + 1, len(gaps)):
        gaps[place] = min((gap for gap in gaps[place - 1 : place + 1] if gap is not None), default=None)
    for place in reversed(range(now)):
        fewer, more = gaps[place], gaps[place + 1]
        gaps[place] = None if fewer is None or more is None else max(fewer, more)
    return gaps


def _sizes_needed(prediction: Prediction | None, error: float, units: int | None) -> Callable[[float], int | None]:
    """The units at which a difference is repeatable, by the closed form of the bin that contains it."""
    if prediction is None or units is None:
        return lambda difference: None
    needed = list(prediction.sizes_needed(error, FURTHEST * units).values())

    def of(difference: float) -> int | None:
        k = prediction.bin_of(difference)
        return needed[k - 1] if 0 < k < BINS - 1 else None

    return of


def _why_no_deviation(parts: Blocks, unit_name: tuple[str, str]) -> str:
    """Why the scores do not show how differences vary."""
    runs, count = parts.parts.shape
    if runs > 1 and count >= FEWEST_BLOCKS:
        return f"the runs differ by the same on every {unit_name[0]}"
    does = "does" if runs == 1 else "do"
    return f"{plural(runs, 'run')} on {counted(count, parts.name)} {does} not show how differences vary"


def _pilot(parts: Blocks, block: float, *, with_repeats: bool) -> _Pilot:
    """Standard deviation of the differences of a typical pair and of a harder one, over blocks.

    With repeats it is the measured one of a typical pair: the plan follows from the variances of the repeats.
    """
    values = parts.values()
    if with_repeats:
        variance = 2 * residual_variance(values)[0]
        return _Pilot(None, math.sqrt(variance) if variance > TIE**2 else None, None, parts.count, block)
    assured = assured_variance(values)
    if assured is None:
        return _Pilot(None, None, None, parts.count, block)
    covariance = np.cov(values)
    variances = np.diag(covariance)
    pairs = (variances[:, None] + variances[None, :] - 2 * covariance)[np.triu_indices(len(values), 1)]
    larger = assured.upper / assured.measured
    hard = math.sqrt(float(np.quantile(np.maximum(pairs, 0.0), HARD)) * larger) if len(values) > 2 else None
    return _Pilot(math.sqrt(assured.measured), math.sqrt(assured.upper), hard, parts.count, block)


def _units_for(difference: float, pilot: _Pilot, wanted: Wanted, repeatable: Callable[[float], int | None]) -> UnitsFor:
    """The row of one difference."""
    now = None if pilot.typical is None else power(difference / pilot.typical, pilot.blocks, alpha=wanted.alpha)
    if now is not None and pilot.blocks < fewest_units(wanted.alpha):
        now = 0.0
    return UnitsFor(
        difference=difference,
        power=_units(difference, pilot.typical, wanted, pilot.block),
        power_hard=_units(difference, pilot.hard, wanted, pilot.block),
        predicted=repeatable(difference),
        power_now=now,
    )


def _units(difference: float, deviation: float | None, wanted: Wanted, block: float) -> int | None:
    """Units with which a test finds the difference, in whole blocks."""
    if deviation is None or deviation <= 0:
        return None
    needed = units_for_power(difference / deviation, power=wanted.power, alpha=wanted.alpha)
    return None if needed is None else math.ceil(max(needed, fewest_units(wanted.alpha)) * block - 1e-9)


def _for_coefficient(study: Generalizability | None, wanted: float) -> tuple[UnitsForCoefficient, ...]:
    if study is None:
        return ()
    numbers = ASSESSORS if study.with_assessors else (1,)
    return tuple(
        UnitsForCoefficient(n, study.units_for("e_rho2", wanted, n), study.units_for("phi", wanted, n)) for n in numbers
    )


def notes_on_sizes(prediction: Prediction, pilot_plan: Plan) -> list[str]:
    """Why some repeatable sizes are missing."""
    missing: dict[str, list[str]] = {}
    for row in pilot_plan.differences:
        if row.predicted is None:
            missing.setdefault(_reason(prediction, row.difference, pilot_plan.units or 0), []).append(
                f"{row.difference:g}"
            )
    notes = []
    for reason, which in missing.items():
        for_which = "" if len(which) == len(pilot_plan.differences) else f" for {', '.join(which)}"
        notes.append(f"No repeatable size{for_which}: {reason}.")
    return notes


def _reason(prediction: Prediction, difference: float, units: int) -> str:
    """Why the bin that contains a difference has no size."""
    k = prediction.bin_of(difference)
    if k == 0:
        return "so small a difference is not repeatable at any size that was tried"
    if k == BINS - 1:
        return "so large a difference is in the open bin"
    if math.isnan(prediction.rates_at(1)[k]):
        return "no two runs are expected to differ by so much"
    return f"it would be more than {FURTHEST * units:,}"
