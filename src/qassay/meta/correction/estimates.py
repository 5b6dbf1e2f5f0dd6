"""Scores of an automatic judge, corrected by a random sample of people's labels (METHOD 7): the formulas, on arrays.

    corrected_share   right or wrong: strata by the judge's verdict, Wilson's limits with a finite population
    corrected_mean    graded scores, and differences of two runs: a control variate with a cross-fitted weight
    corrected_units   units with several decisions, each with at least one label (nuggets, series)
    labels_needed     how many labels a wanted half-width takes
    units_needed      how many units, where each has several decisions

Each is about one of two targets: "these" questions, or "new" questions like them. N questions, n of them labelled; the
labelled ones come first in a random order of all. `people` and `judge` are the scores of the labelled questions in the
order of the draw, `judge_all` those of all N. `look` gives the quantiles: those of one look, or those of the line that
holds however often anybody looks (`qassay.meta.looks`).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from qassay.arrays import Floats
from qassay.errors import UsageError
from qassay.meta.intervals import wilson_limits
from qassay.meta.looks import ONE_LOOK, Look, Plan
from qassay.meta.normal_and_t import ndtri

Target: TypeAlias = Literal["new", "these"]

# No interval is given below these numbers of labelled questions, or of units with several decisions.
FEWEST_QUESTIONS = 20
FEWEST_UNITS = 15
FOLDS = 5
Z = ndtri(0.975)
# More units than this are not searched.
MOST_UNITS = 2**62


@dataclass(frozen=True, slots=True)
class Estimate:
    """A corrected score or difference, beside the judge's own.

    `labels` is the number of labelled questions (of decisions, for units), `population` that of all questions or units.
    `spread` is the variance of people's scores between questions, `left` the part of it that the judge does not
    explain: their ratio says what the judge is worth.
    """

    value: float
    interval: tuple[float, float] | None
    judge: float
    labels: int
    population: int
    spread: float
    left: float

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval."""
        return None if self.interval is None else (self.interval[1] - self.interval[0]) / 2


# ---- right or wrong -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Stratum:
    """The questions to which the judge gives one verdict: their number, those labelled, and those people call right."""

    number: int
    labelled: int
    right: float

    @property
    def without_replacement(self) -> float:
        """The labelled questions, as many as they are worth where the stratum is finite."""
        return math.inf if self.labelled == self.number else self.labelled / (1 - self.labelled / self.number)


def corrected_share(
    people: Floats, judge: Floats, judge_all: Floats, *, target: Target = "new", look: Look = ONE_LOOK
) -> Estimate:
    """The share of right answers, from labels 0 and 1.

    Strata h by the judge's verdict (a probability is cut at 0.5): share w_h, rate p_h with Wilson's limits l_h, u_h for
    n_h / (1 - n_h/N_h) labels; a stratum without labels has the overall rate and the limits 0 and 1.

        p = sum w_h p_h        lower limit p - sqrt(sum w_h^2 (p_h - l_h)^2 + a^2), upper likewise with u_h

    a is the distance from p to Wilson's limit for N questions where the target is new questions, else 0.
    """
    n, size = _sizes(people, judge, judge_all)
    line = look.normal(n)
    z = Z if line is None else line
    overall = float(people.mean())
    strata = [stratum for stratum in _strata(people, judge, judge_all) if stratum.number]
    rates = [(stratum.right / stratum.labelled if stratum.labelled else overall) for stratum in strata]
    weights = [stratum.number / size for stratum in strata]
    value = min(1.0, max(0.0, sum(weight * rate for weight, rate in zip(weights, rates, strict=True))))
    below, above = 0.0, 0.0
    for stratum, rate, weight in zip(strata, rates, weights, strict=True):
        limits = (0.0, 1.0)
        if stratum.labelled:
            limits = wilson_limits(rate, stratum.without_replacement, z)
        below += (weight * (rate - limits[0])) ** 2
        above += (weight * (limits[1] - rate)) ** 2
    if target == "new":
        limits = wilson_limits(value, size, z)
        below += (value - limits[0]) ** 2
        above += (limits[1] - value) ** 2
    interval = (max(0.0, value - math.sqrt(below)), min(1.0, value + math.sqrt(above)))
    smoothed = [(stratum.right + 1) / (stratum.labelled + 2) for stratum in strata]
    return Estimate(
        value=value,
        interval=None if line is None or n < FEWEST_QUESTIONS else interval,
        judge=float(judge_all.mean()),
        labels=n,
        population=size,
        spread=value * (1 - value),
        left=sum(weight * rate * (1 - rate) for weight, rate in zip(weights, smoothed, strict=True)),
    )


def _strata(people: Floats, judge: Floats, judge_all: Floats) -> list[_Stratum]:
    """Called right, and called wrong."""
    labelled, every = judge >= 0.5, judge_all >= 0.5
    return [
        _Stratum(
            int((every == verdict).sum()), int((labelled == verdict).sum()), float(people[labelled == verdict].sum())
        )
        for verdict in (True, False)
    ]


# ---- graded scores and differences ----------------------------------------------------------------------------------


def corrected_mean(
    people: Floats,
    judge: Floats,
    judge_all: Floats,
    *,
    scale: tuple[float, float] = (-1.0, 1.0),
    target: Target = "new",
    look: Look = ONE_LOOK,
    among: int | None = None,
) -> Estimate:
    """A mean of graded scores, or of differences D = people's, F = the judge's: `scale` has their limits.

        z = D - lambda (F - F_mean)        lambda = Cov(D, F) / Var(F) of the other four of five folds, within [0, 1]

    The two ends of the scale are added with weight 1/2 each, so that few or equal labels do not close the interval:

        m = (sum z + (low + high)/2) / (n + 1)
        s^2 = ((sum z^2 + (low^2 + high^2)/2) / (n + 1) - m^2) (n + 1) / n
        v = (1 - n/N) s^2 / (n + 1) + s_D^2 / N  (the last term for new questions)        m +- t(n) sqrt(v)

    For differences the ends are -1 and +1, and m = sum z / (n + 1). For these questions the ends pull the centre by the
    share that is not labelled: with a label for every question the interval is the mean of the labels. `among` is the
    number of all questions where the sample was drawn from the N on which two runs differ: the others have D = F = 0.
    """
    n, size = _sizes(people, judge, judge_all)
    share = 1.0 if among is None else size / among
    # Where every question has its label the judge has nothing to add.
    weight = cross_fitted(people, judge) if n < size else np.zeros(n)
    residual = people - weight * (judge - judge_all.mean())
    low, high = scale
    mean = float(residual.mean())
    centre, variance = _with_ends(residual, low, high)
    between = _spread_among(people, low, high, share)
    unlabelled = 1 - n / size
    squared = share**2 * unlabelled * variance / (n + 1)
    if target == "new":
        squared += between / (among or size)
    else:
        centre = mean + unlabelled * (centre - mean)
    line = look.t(n, n) if n >= FEWEST_QUESTIONS else None
    interval = None
    if line is not None:
        half = line * math.sqrt(squared)
        interval = (max(low, share * centre - half), min(high, share * centre + half))
    return Estimate(
        value=share * mean,
        interval=interval,
        judge=share * float(judge_all.mean()),
        labels=n,
        population=size,
        spread=between,
        left=share**2 * variance,
    )


def _spread_among(values: Floats, low: float, high: float, share: float) -> float:
    """The variance between questions where a share of them has such values and the others have 0; s_D^2 for all."""
    n = len(values)
    mean, variance = _with_ends(values, low, high)
    square = variance * n / (n + 1) + mean**2
    return max(0.0, share * square - (share * mean) ** 2) * (n + 1) / n


def cross_fitted(people: Floats, judge: Floats) -> Floats:
    """The weight of the judge for each labelled question, from the labels of the other folds; folds go by place."""
    fold = np.arange(len(people)) % FOLDS
    own = [
        np.bincount(fold, values, FOLDS) for values in (np.ones(len(people)), people, judge, people * judge, judge**2)
    ]
    return np.asarray(_weights(*(values.sum() - values for values in own))[fold])


def _weights(number: Floats, people: Floats, judge: Floats, both: Floats, square: Floats) -> Floats:
    """Cov(D, F) / Var(F) within [0, 1] from sums over some labels; 0 where F does not vary."""
    count = np.maximum(number, 1)
    variance, together = square - judge**2 / count, both - people * judge / count
    varies = variance > 1e-12 * np.maximum(1.0, square)
    return np.asarray(np.clip(np.divide(together, variance, out=np.zeros(len(count)), where=varies), 0.0, 1.0))


def _with_ends(values: Floats, low: float, high: float) -> tuple[float, float]:
    """Mean and variance with the two ends of the scale added, each with weight 1/2."""
    n = len(values)
    mean = (float(values.sum()) + (low + high) / 2) / (n + 1)
    square = (float((values**2).sum()) + (low**2 + high**2) / 2) / (n + 1)
    return mean, max(0.0, square - mean**2) * (n + 1) / n


# ---- units with several decisions -----------------------------------------------------------------------------------


def corrected_units(
    people: Floats, judge: Floats, judge_all: Floats, *, labels: int, look: Look = ONE_LOOK
) -> Estimate:
    """A mean over units with several decisions each, at least one of them labelled in every unit.

    For each unit: the mean of people's labels, the mean of the judge on the same decisions, and on all decisions.

        z_u = people - lambda (judge - judge_all), lambda of the other units        mean +- t(U - 1) s_z / sqrt(U)

    Units are what chance draws; single decisions are not independent. The target is new units.
    """
    units = len(people)
    if not units or len(judge) != units or len(judge_all) != units:
        raise UsageError(
            "every topic or series needs three means: labels, the judge on them, the judge on all decisions"
        )
    apart = judge - judge_all
    residual = people - _weights_without_each(people, apart) * apart
    value = float(residual.mean())
    spread = float(residual.var(ddof=1)) if units > 1 else 0.0
    line = look.t(units, units - 1) if units >= FEWEST_UNITS else None
    half = None if line is None else line * math.sqrt(spread / units)
    return Estimate(
        value=value,
        interval=None if half is None else (value - half, value + half),
        judge=float(judge_all.mean()),
        labels=labels,
        population=units,
        spread=float(people.var(ddof=1)) if units > 1 else 0.0,
        left=spread,
    )


def _weights_without_each(people: Floats, apart: Floats) -> Floats:
    """The weight of the judge for each unit, from the other units."""
    own = (np.ones(len(people)), people, apart, people * apart, apart**2)
    return _weights(*(values.sum() - values for values in own))


# ---- planning -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LabelsNeeded:
    """The labelled questions that a half-width takes; None where the questions are too few, and the best there is."""

    half_width: float
    labels: int | None
    best: float


def expected_half_width(
    estimate: Estimate, labels: int, quantile: float, *, target: Target = "new", among: int | None = None
) -> float:
    """The half-width that this number of labels is expected to give, from those that are there.

        q sqrt(s_e^2/n + (s_Y^2 - s_e^2)/N) for new questions, q sqrt(s_e^2/n - s_e^2/N) for these

    `among` is the number of all questions where the N are those on which two runs differ.
    """
    left, spread, size = estimate.left, estimate.spread, estimate.population
    variance = left * (1 / labels - 1 / size) + (spread / (among or size) if target == "new" else 0.0)
    return quantile * math.sqrt(max(0.0, variance))


def labels_needed(
    estimate: Estimate, half_width: float, *, target: Target = "new", plan: Plan | None = None
) -> LabelsNeeded:
    """How many labels a wanted half-width takes, from a first batch, if they are looked at as this plan says.

        n = s_e^2 / (h^2/q^2 - (s_Y^2 - s_e^2)/N) for new questions, s_e^2 / (h^2/q^2 + s_e^2/N) for these

    `best` is the half-width with every question labelled: q s_Y / sqrt(N) for new questions, 0 for these.
    """
    if not half_width > 0:
        raise UsageError(f"a half-width is a positive number, not {half_width:g}")

    def width_with(labels: int) -> float:
        quantile = _planned(plan, labels).normal(labels)
        return math.inf if quantile is None else expected_half_width(estimate, labels, quantile, target=target)

    size = estimate.population
    wanted = range(FEWEST_QUESTIONS, max(size, FEWEST_QUESTIONS) + 1)
    labels = FEWEST_QUESTIONS + bisect_left(wanted, -half_width, key=lambda number: -width_with(number))
    return LabelsNeeded(half_width, labels if labels <= size else None, width_with(size))


def units_needed(estimate: Estimate, half_width: float, *, plan: Plan | None = None) -> int:
    """The smallest number of units, labelled like the present ones, with which t(U - 1) s_z / sqrt(U) is at most this.

    Where units have several decisions, labels alone are not planned: all units have some, and further labels of the
    same units leave the spread between them as it is.
    """
    if not half_width > 0:
        raise UsageError(f"a half-width is a positive number, not {half_width:g}")

    def width_with(units: int) -> float:
        line = _planned(plan, units).t(units, units - 1)
        return math.inf if line is None else line * math.sqrt(estimate.left / units)

    wanted = range(FEWEST_UNITS, MOST_UNITS)
    return FEWEST_UNITS + bisect_left(wanted, -half_width, key=lambda number: -width_with(number))


def _planned(plan: Plan | None, number: int) -> Look:
    """The last look of a plan of this size."""
    return ONE_LOOK if plan is None else replace(plan, planned=number).look(number)


def _sizes(people: Floats, judge: Floats, judge_all: Floats) -> tuple[int, int]:
    """n and N; an error where there is nothing to correct with."""
    n, size = len(people), len(judge_all)
    if not 0 < n <= size or len(judge) != n:
        raise UsageError(f"{n} labelled questions, {len(judge)} scores of the judge for them and {size} in all")
    return n, size
