"""How uncertain an error rate is: intervals from resampled units, never from the binomial formula."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from qassay.matrix import Floats, Mean, ScoreMatrix
from qassay.meta.sensitivity.counting import Counts, Ties
from qassay.meta.sensitivity.expectation import on_dealt_units, on_fresh_units
from qassay.meta.sensitivity.plausible import Plausible, plausible
from qassay.meta.sensitivity.scale import BINS, bin_limits
from qassay.meta.sensitivity.study import Progress, has_numba, processors

COVERAGE = 0.95

# A bin with fewer comparisons has no interval.
FEWEST_COMPARISONS = 20

# How far the closed form is trusted, as a standard deviation on the normal scale.
CLOSED_FORM_ERROR = 0.3
SHARING = 1.0

# Rates nearer to 0 or 1 than this are taken for this.
SMALLEST = 1e-12

# From this many pairs x sizes x resamples on, predictions are compiled.
MANY = 1_000_000


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a study, its bins, and the step of a unit's score (0 where scores take any value)."""

    sizes: tuple[int, ...]
    trials: int
    width: Decimal
    step: float
    ties: Ties

    @property
    def limits(self) -> Floats:
        """The lower limits of the bins."""
        return np.array([float(limit) for limit in bin_limits(self.width)])


def rate_intervals(
    matrix: ScoreMatrix,
    counts: Counts,
    sizes: tuple[int, ...],
    *,
    trials: int,
    width: Decimal,
    ties: Ties,
    resamples: int,
    seed: int,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Floats:
    """95% intervals of the measured rates, sizes x bins x 2; not-a-number where there is none."""
    nothing = np.full((len(sizes), BINS, 2), np.nan)
    if len(matrix.runs) < 3 or resamples < 2 or _blocks(matrix) < 2:
        return nothing
    study = Sizes(sizes, trials, width, _step(matrix), ties)
    truths = plausible(matrix, resamples, seed)
    workers = threads or processors()
    with ThreadPoolExecutor(workers) as pool:
        expected = np.stack(list(pool.map(lambda size: _dealt(truths, study, size, len(matrix.units)), sizes)))
        rates = np.empty((resamples, len(sizes), BINS))
        compiled = len(truths.pairs[0]) * len(sizes) * resamples > MANY and has_numba()
        for number, found in enumerate(pool.map(lambda b: _fresh(truths, study, b, compiled), range(resamples))):
            rates[number] = found
            if progress is not None:
                progress(number + 1, resamples)
    return _around(counts, study, len(matrix.runs), expected, rates)


def _around(counts: Counts, study: Sizes, runs: int, expected: Floats, rates: Floats) -> Floats:
    from scipy.special import ndtr, ndtri, stdtrit

    of = counts.denominators(study.ties)
    measured = counts.rates(study.ties)
    enough = (of >= FEWEST_COMPARISONS) & np.isfinite(expected) & np.isfinite(rates).all(axis=0)
    share = np.where(enough, (measured * of + 0.5) / (of + 1), 0.5)
    place = ndtri(share)
    density = np.exp(-(place**2) / 2) / np.sqrt(2 * np.pi)
    sharing = 1 + SHARING * of / (study.trials * runs)
    noise = share * (1 - share) * sharing / (np.maximum(of, 1) * density**2)
    believed = CLOSED_FORM_ERROR**2 / (CLOSED_FORM_ERROR**2 + noise)
    off = place - _normal(np.where(enough, expected, 0.5))
    draws = _normal(np.where(enough, rates, 0.5))
    centre = draws.mean(axis=0) + believed * off
    reach = stdtrit(len(rates) - 1, (1 + COVERAGE) / 2) * np.sqrt(draws.var(axis=0, ddof=1) + believed * noise)
    ends = np.stack([np.minimum(ndtr(centre - reach), measured), np.maximum(ndtr(centre + reach), measured)], axis=-1)
    never = (expected == 0.0) & (rates == 0.0).all(axis=0) & (measured == 0.0)
    ends[never] = 0.0
    ends[~enough] = np.nan
    return np.asarray(ends)


def _normal(rates: Floats) -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(rates, SMALLEST, 1 - SMALLEST)))


def _dealt(truths: Plausible, study: Sizes, size: int, units: int) -> Floats:
    return on_dealt_units(truths.measured, size, units, study.limits, study.step / size).rates(study.ties)


def _fresh(truths: Plausible, study: Sizes, resample: int, compiled: bool) -> Floats:
    moments, limits = truths.moments(resample), study.limits
    found = (on_fresh_units(moments, size, limits, study.step / size, compiled=compiled) for size in study.sizes)
    return np.stack([one.rates(study.ties) for one in found])


def _step(matrix: ScoreMatrix) -> float:
    """The greatest number of which all unit scores are multiples, where they are exact and the score is their mean."""
    numerators = matrix.numerators()
    if numerators is None or matrix.denominator is None or not isinstance(matrix.summary, Mean):
        return 0.0
    return float(np.gcd.reduce(np.abs(numerators).astype(np.int64), axis=None)) / matrix.denominator


def _blocks(matrix: ScoreMatrix) -> int:
    return len(matrix.units if matrix.clusters is None else set(matrix.clusters))
