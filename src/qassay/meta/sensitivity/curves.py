"""The result of a sensitivity analysis, and the questions it answers.

The curve of a bin of differences is ErrorRate = A1 * exp(-A2 * S) [EVAL02, QA03, SERIES05].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from qassay.arrays import Floats, defined, none_for_nan
from qassay.directions import HIGHER, Direction
from qassay.errors import UsageError
from qassay.frames import ends, frame
from qassay.meta.sensitivity import presenting
from qassay.meta.sensitivity.closed_form import PairMoments
from qassay.meta.sensitivity.counting import Counts, Ties, has_numba
from qassay.meta.sensitivity.prediction import FURTHEST, Prediction, Separation, Withheld
from qassay.meta.sensitivity.presets import Schedule
from qassay.meta.sensitivity.reading import (
    Both,
    Findings,
    RankRange,
    Way,
    above_again,
    findings,
    first_within,
    share_of_pairs,
)
from qassay.meta.sensitivity.trials import LIMITED_BINS
from qassay.results import UNREPORTED, Result, reported
from qassay.tables import Table

if TYPE_CHECKING:
    import polars as pl

# Where the search for a fit starts, and the points it needs.
START = (1.0, 0.25)
FEWEST_POINTS = 3

# Below this many runs each bin has too few pairs for a curve, and none is fitted unless asked for. (METHOD 6)
FEWEST_FITTED = 20
TOO_FEW_RUNS = f"fewer than {FEWEST_FITTED} runs"

# From this many pairs x sizes on, predictions are compiled.
MANY_PREDICTIONS = 300_000


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted curve, A1 * exp(-A2 * size)."""

    A1: float
    A2: float

    def at(self, size: float) -> float:
        """The error rate at a size."""
        return self.A1 * math.exp(-self.A2 * size)

    def size_for(self, error: float, largest: int) -> int | None:
        """The smallest size at which the curve is at or below an error rate; None where it is beyond the largest."""
        if self.at(1) <= error:
            return 1
        estimate = math.ceil(min(math.log(self.A1 / error) / self.A2, largest + 1.0))
        # The logarithm and the curve itself may disagree in the last digit.
        size = next((s for s in (estimate - 1, estimate, estimate + 1) if s >= 1 and self.at(s) <= error), None)
        return size if size is not None and size <= largest else None


def fit_curve(sizes: Floats, rates: Floats) -> Fit | str:
    """Unweighted non-linear least squares from (1, 0.25), or the reason why there is no curve.

    `rates` are those of non-empty bins only.
    """
    if len(sizes) < FEWEST_POINTS:
        return "fewer than three points"
    if not np.any(rates > 0.0):
        return "no swap at any size"
    from scipy.optimize import leastsq

    # A step of the search may try a large negative A2; what overflows there is refused below or left by the search.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        parameters, _, _, _, status = leastsq(
            _residuals, START, args=(sizes, rates), Dfun=_slopes, col_deriv=True, full_output=True, maxfev=1000
        )
    a1, a2 = float(parameters[0]), float(parameters[1])
    if status not in (1, 2, 3, 4):
        return "no convergence"
    if not (math.isfinite(a1) and math.isfinite(a2) and a1 > 0.0 and a2 > 0.0):
        return "A1 or A2 not positive and finite"
    return Fit(a1, a2)


def _residuals(parameters: Floats, sizes: Floats, rates: Floats) -> Floats:
    return np.asarray(parameters[0] * np.exp(-parameters[1] * sizes) - rates)


def _slopes(parameters: Floats, sizes: Floats, rates: Floats) -> Floats:
    decay = np.exp(-parameters[1] * sizes)
    return np.stack([decay, -parameters[0] * sizes * decay])


@dataclass(frozen=True, slots=True)
class BinCurve:
    """The error rate of one bin of differences, by size and at the target.

    `error_rate[i]` is None where no comparison fell into the bin at size i. `fit` is None where there is no curve,
    and `not_fitted` says why.
    """

    low: float
    high: float | None
    error_rate: tuple[float | None, ...]
    comparisons: tuple[int, ...]
    interval: tuple[tuple[float, float] | None, ...] | None
    predicted: tuple[float | None, ...]
    fit: Fit | None
    not_fitted: str | None
    extrapolated: float | None
    predicted_at_target: float | None


@dataclass(frozen=True, eq=False, repr=False)
class SensitivityCurves(Result):
    """Error rates of comparisons by size and difference [EVAL02, QA03, SERIES05].

    `counts` are what was seen; `bins` are the curves through it. `floor` is the largest difference between runs with
    identical responses that were judged separately, where that is known: no smaller difference means anything.
    `spread` is the largest standard deviation of a run's score between its repeats, where it has any.
    `wider` is a better width of the bins, where most differences fall into the open one. `with_fits` says whether the
    exponential of the papers is fitted to the rates. `manual` are the runs that people had a hand in. `study_notes` are
    about the rates measured in trials, `notes` about the rest.
    """

    schedule: Schedule = field(metadata=UNREPORTED)
    measure: str
    units: int
    runs: tuple[str, ...] = field(metadata=UNREPORTED)
    scores: Floats = field(metadata=UNREPORTED)
    seed: int
    ties: Ties
    error: float
    width: Decimal = field(metadata=UNREPORTED)
    counts: Counts = field(metadata=UNREPORTED)
    intervals: Floats | None = field(metadata=UNREPORTED)
    moments: PairMoments = field(metadata=UNREPORTED)
    separation: Separation = field(metadata=UNREPORTED)
    resamples: int = 0
    floor: float | None = None
    spread: float | None = None
    wider: Decimal | None = field(default=None, metadata=UNREPORTED)
    notes: tuple[str, ...] = field(default=(), metadata=UNREPORTED)
    unit_name: tuple[str, str] = field(default=("question", "questions"), metadata=UNREPORTED)
    study_notes: tuple[str, ...] = field(default=(), metadata=UNREPORTED)
    with_fits: bool = field(default=True, metadata=UNREPORTED)
    manual: frozenset[str] = field(default=frozenset(), metadata=UNREPORTED)
    direction: Direction = HIGHER

    @reported
    def preset(self) -> str:
        """The study that is repeated."""
        return self.schedule.preset

    @reported
    def runs_(self) -> int:
        """Number of runs."""
        return len(self.runs)

    @reported
    def pairs(self) -> int:
        """Number of pairs of runs."""
        return len(self.runs) * (len(self.runs) - 1) // 2

    @reported
    def sizes(self) -> tuple[int, ...]:
        """The sizes measured."""
        return self.schedule.sizes

    @reported
    def target(self) -> int:
        """The size the curves are read at: the units at hand."""
        return self.schedule.target

    @reported
    def trials(self) -> int:
        """The trials of each size."""
        return self.schedule.trials

    @reported
    def bins(self) -> tuple[BinCurve, ...]:
        """One curve for each bin."""
        return self._bins

    @cached_property
    def _bins(self) -> tuple[BinCurve, ...]:
        rates = self.counts.rates(self.ties)
        denominators = self.counts.denominators(self.ties)
        predicted = np.array([self.predicted_at(size) for size in self.sizes])
        return tuple(
            BinCurve(
                low=self.limits[k],
                high=self.limits[k + 1] if k < LIMITED_BINS else None,
                error_rate=tuple(none_for_nan(rates[:, k])),
                comparisons=tuple(denominators[:, k].tolist()),
                interval=None if self.intervals is None else tuple(map(_defined_pair, self.intervals[:, k])),
                predicted=tuple(none_for_nan(predicted[:, k])),
                fit=fit if isinstance(fit, Fit) else None,
                not_fitted=fit if isinstance(fit, str) else None,
                extrapolated=fit.at(self.target) if isinstance(fit, Fit) else None,
                predicted_at_target=defined(self._predicted_at_target[k]),
            )
            for k, fit in enumerate(self.fits)
        )

    @cached_property
    def prediction(self) -> Prediction:
        """The closed form; many pairs at many sizes are worth loading compiled code for."""
        large = len(self.moments.means) * len(self.sizes) > MANY_PREDICTIONS
        return Prediction(self.moments, self.width, self.separation, compiled=large and has_numba())

    @property
    def limits(self) -> tuple[float, ...]:
        """The lower limits of the bins."""
        return self.prediction.limits

    @cached_property
    def fits(self) -> tuple[Fit | str, ...]:
        """The fitted curve of each bin, or the reason why there is none."""
        sizes = np.array(self.sizes, dtype=np.float64)
        rates = self.counts.rates(self.ties)
        fits: list[Fit | str] = ["first bin"]
        if not self.with_fits:
            return (*fits, *([TOO_FEW_RUNS] * (LIMITED_BINS - 1)), "open bin")
        for k in range(1, LIMITED_BINS):
            use = (sizes > self.schedule.fit_above) & np.isfinite(rates[:, k])
            fits.append(fit_curve(sizes[use], rates[use, k]))
        return (*fits, "open bin")

    def predicted_at(self, size: float) -> Floats:
        """The closed form's error rate of each bin at any size; not-a-number where no pair is expected."""
        return self.prediction.rates_at(size)

    @cached_property
    def _predicted_at_target(self) -> Floats:
        return self.predicted_at(self.target)

    def minimum_difference(self, error: float | None = None) -> Both:
        """From this difference on every bin has an error rate within `error` with all units.

        From the fit over the fitted bins, from the closed form over all bins but the first, if the runs are apart. None
        where there is no such difference, and for a single pair of runs, whose curve says nothing of other runs.
        """
        level = self.error if error is None else checked_error(error)
        if self.pairs < 2:
            return Both(None, None)
        by_fit = first_within(self.limits[1:], self._rates_at_target["fit"], level)
        return Both(by_fit, self.prediction.repeatable(self.target, level))

    @reported
    def minimum_difference_(self) -> Both:
        """The minimum difference at the error rate to stay within."""
        return self.minimum_difference()

    @property
    def are_runs_alike(self) -> bool:
        """Whether all runs have the same scores on every unit: there is no gap then."""
        return not self.moments.means.any() and not self.moments.variances.any()

    @reported
    def repeatable_difference(self) -> float | None:
        """The gap from which on the order of two runs is repeatable with as many new units, by the closed form."""
        return self.minimum_difference().predicted

    @reported
    def withheld(self) -> Withheld | None:
        """Why no gap is given: no pair differs, all lie too close together, or the bins are too narrow; else None."""
        if self.pairs < 2 or self.repeatable_difference is not None:
            return None
        return self.separation.withheld or ("spread" if self.wider is None else "bins")

    @reported
    def different(self) -> int:
        """The pairs of runs that differ, tested all together."""
        return self.separation.different

    @reported
    def kappa(self) -> float:
        """What true differences are of measured ones, by which the expected rates are computed."""
        return self.separation.kappa

    @property
    def is_open(self) -> bool:
        """Whether the repeatable gap is that of the open bin: of all larger gaps together, not of gaps of its size."""
        *_, below, _ = self._rates_at_target["predicted"]
        return self.repeatable_difference == self.limits[-1] and below is not None and below > self.error

    def above_again(self, way: Way) -> tuple[float, float] | None:
        """The lower limit and the rate of the bin that spoils smaller differences which are within the error rate."""
        return above_again(self.limits[1:], self._rates_at_target[way], self.error)

    @cached_property
    def _rates_at_target(self) -> dict[Way, list[float | None]]:
        """Rates at the target of all bins but the first."""
        return {
            "fit": [fit.at(self.target) if isinstance(fit, Fit) else None for fit in self.fits[1:]],
            "predicted": none_for_nan(self._predicted_at_target[1:]),
        }

    def size_needed(self) -> dict[str, Both]:
        """For each bin but the first and the open one, by its lower limit: the smallest size within the error rate.

        Sizes up to ten times the units at hand are looked at; None where none of them is enough.
        """
        return dict(self._sizes_needed)

    @reported
    def size_needed_(self) -> dict[str, Both]:
        """For each bin, the smallest size within the error rate."""
        return self._sizes_needed

    @cached_property
    def _sizes_needed(self) -> dict[str, Both]:
        level, furthest = self.error, FURTHEST * self.units
        predicted = self.prediction.sizes_needed(level, furthest)
        return {
            limit: Both(fit.size_for(level, furthest) if isinstance(fit, Fit) else None, size)
            for fit, (limit, size) in zip(self.fits[1:LIMITED_BINS], predicted.items(), strict=True)
        }

    @cached_property
    def findings(self) -> Findings | None:
        """Groups and rank ranges by the minimum difference of the fit, as [QA03] reads them; None without one."""
        minimum = self.minimum_difference().fit
        return None if minimum is None else findings(self.runs, self.scores, minimum, self.direction)

    @reported
    def pairs_at_least_minimum(self) -> float | None:
        """The share of pairs whose observed difference is repeatable."""
        gap = self.repeatable_difference
        return None if gap is None else share_of_pairs(self.moments.means, gap)

    @reported
    def groups(self) -> tuple[tuple[str, ...], ...] | None:
        """Runs within the minimum difference of the fit below the first of their group; None without a fit."""
        return None if self.findings is None else self.findings.groups

    @reported
    def rank_ranges(self) -> tuple[RankRange, ...] | None:
        """Ranks with the minimum difference of the fit added and subtracted; None without a fit."""
        return None if self.findings is None else self.findings.rank_ranges

    @reported
    def bin_width(self) -> float:
        """The width of a bin."""
        return float(self.width)

    @reported
    def notes_(self) -> list[str]:
        """The notes on everything."""
        return [*self.notes, *self.study_notes, *presenting.notes_on_intervals(self)]

    def error_rate_at(self, difference: float, size: int | None = None) -> Both:
        """The error rate of a comparison with this difference, at a size (by default with all units)."""
        at = self.units if size is None else size
        k = self.bin_of(difference)
        fit = self.fits[k]
        return Both(fit.at(at) if isinstance(fit, Fit) else None, defined(self.predicted_at(at)[k]))

    def bin_of(self, difference: float) -> int:
        """The number of the bin that contains a difference."""
        return self.prediction.bin_of(difference)

    def summary(self) -> str:
        """The plain answer first, and how to read it."""
        return presenting.summary(self)

    def sentence(self) -> str:
        """Which gap is repeatable."""
        return presenting.answer(self)

    def to_polars(self) -> pl.DataFrame:
        """One row per range of differences and number of units: the error rate, measured and predicted."""
        columns = {"difference_from": float, "difference_to": float, "units": int, "comparisons": int}
        numbers = ("error_rate", "low", "high", "fit", "predicted")
        rows = [
            (
                *(curve.low, curve.high, size, curve.comparisons[i], curve.error_rate[i]),
                *ends(None if curve.interval is None else curve.interval[i]),
                None if curve.fit is None else curve.fit.at(size),
                curve.predicted[i],
            )
            for curve in self.bins
            for i, size in enumerate(self.sizes)
        ]
        return frame({**columns, **dict.fromkeys(numbers, float)}, rows)

    def table(self) -> Table:
        """Expected error rates by difference, and the units needed."""
        return presenting.expected_rates(self)

    def tables(self) -> tuple[Table, ...]:
        """Expected error rates, groups and rank ranges; then the study of the papers, where it is asked for.

        None for a single pair of runs: its curve says nothing of other runs.
        """
        return presenting.tables(self)


def checked_error(error: float) -> float:
    """An error rate to reach, or an error."""
    if not 0.0 < error < 1.0:
        raise UsageError(f"an error rate lies between 0 and 1, not {error}")
    return error


def _defined_pair(ends: Floats) -> tuple[float, float] | None:
    return None if np.isnan(ends).any() else (float(ends[0]), float(ends[1]))
