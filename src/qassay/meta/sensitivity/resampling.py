"""How uncertain an error rate is: intervals from resampled units, never from the binomial formula.

Pairs share runs and trials share units, so the comparisons behind a rate are anything but independent: binomial
intervals are two to four times too small. What an interval is to hold is the true rate of its bin and size: the share
of swaps with base and test sets of fresh units, over the population that the units come from.

Repeating the study on resampled units does not give that. The runs of a resample lie further apart than they truly
do, its rates are too low, and in bins that few pairs reach they jump between 0 and 1: such intervals held the truth in
82% to 91% of simulated evaluations. So the study is counted once, and the closed form says the rest:

    plausible    the true means that the runs could have, one set for each resample of the units
    fresh        the rates that base and test of fresh units have in each of these truths
    dealt        the rate that the closed form expects of the study itself, dealt from the units at hand

All on the scale of the normal quantile: the interval is mean(fresh) + (measured - dealt), give or take t times the
root of variance(fresh) + noise of the trials. `measured - dealt` is where the closed form is off (skewed scores,
confidence-weighted ones); the noise of the trials in it is added to the width. An interval always holds its rate.
There is none for fewer than three runs, or where fewer than 20 comparisons fell into the bin.

Held against simulated truth, a thousand evaluations for each of four settings (normal, zero-inflated and
right-or-wrong scores; 6 to 20 runs, 40 to 100 units, sizes from 5 to half the units), these intervals hold it in 93%
to 97% of evaluations on average over bins and sizes, and in 90% or more in every bin with 20 expected comparisons.
SHARED was chosen in view of these very settings, so expect somewhat less elsewhere. In smaller trials, with SHARED at
0.5, they held it more often than need be (97% to 99%) for right-or-wrong scores of 5 to 8 runs, and less often (87% to
89%) in the first bin at size 5 for zero-inflated scores of many runs, where ties of runs that score 0 on all five units
decide. Confidence-weighted scores, clusters and the other rules for ties were not put to this test.
`tests/meta/sensitivity/test_resampling.py` simulates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from qassay.matrix import Floats, Mean, ScoreMatrix
from qassay.meta.sensitivity.counting import Counts, Ties
from qassay.meta.sensitivity.expectation import on_dealt_units, on_fresh_units
from qassay.meta.sensitivity.plausible import blocks, plausible
from qassay.meta.sensitivity.scale import BINS, bin_limits
from qassay.meta.sensitivity.study import Progress, Study, has_numba, processors

COVERAGE = 0.95

# An interval needs this many comparisons in its bin, runs, and resamples.
FEWEST_COMPARISONS = 20
FEWEST_RUNS = 3
FEWEST_RESAMPLES = 2

# Comparisons of one trial share runs: with c of them in a bin and r runs, their variance is taken for 1 + 0.4 c / r
# times the binomial one. (Chosen by simulation, from 0.2 to 0.5: less makes single bins too narrow, more all too wide.)
SHARED = 0.4

# Rates nearer to 0 or 1 than this are taken for this.
SMALLEST = 1e-12

# From this many pairs x sizes x resamples on, the closed form is compiled.
MANY = 1_000_000

Item = TypeVar("Item")


def rate_intervals(
    study: Study,
    counts: Counts,
    ties: Ties,
    *,
    resamples: int,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Floats:
    """95% intervals of the measured rates, sizes x bins x 2; not-a-number where there is none."""
    matrix, sizes = study.prepared.matrix, study.sizes
    if len(matrix.runs) < FEWEST_RUNS or resamples < FEWEST_RESAMPLES or blocks(matrix) < 2:
        if progress is not None:
            progress(1, 1)
        return np.full((len(sizes), BINS, 2), np.nan)
    limits, step = np.array(bin_limits(study.prepared.width), dtype=np.float64), unit_step(matrix)
    truths = plausible(matrix, resamples, study.seed)
    compiled = len(truths.measured.means) * len(sizes) * resamples > MANY and has_numba()

    def dealt(size: int) -> Floats:
        return on_dealt_units(truths.measured, size, len(matrix.units), limits, step / size).rates(ties)

    def fresh(resample: int) -> Floats:
        moments = truths.moments(resample)
        found = (on_fresh_units(moments, size, limits, step / size, compiled=compiled) for size in sizes)
        return np.stack([expected.rates(ties) for expected in found])

    workers = threads or processors()
    expected = np.stack(list(_each(dealt, sizes, workers)))
    rates = np.empty((resamples, len(sizes), BINS))
    for number, found in enumerate(_each(fresh, range(resamples), workers)):
        rates[number] = found
        if progress is not None:
            progress(number + 1, resamples)
    comparisons = counts.denominators(ties).astype(np.float64)
    shared = 1 + SHARED * comparisons / (study.trials * len(matrix.runs))
    return around(counts.rates(ties), comparisons, expected, rates, shared)


def around(measured: Floats, comparisons: Floats, expected: Floats, rates: Floats, shared: Floats) -> Floats:
    """Intervals around measured rates (sizes x bins).

    `expected` is what the closed form says of the study, `rates` (resamples x sizes x bins) what it says of fresh
    units in plausible truths, and `shared` how much more than binomial the trials vary.
    """
    from scipy.special import ndtr, ndtri, stdtrit

    enough = (comparisons >= FEWEST_COMPARISONS) & np.isfinite(expected) & np.isfinite(rates).all(axis=0)
    # Half a swap and half an agreement more: a share of 0 or 1 has no quantile.
    share = np.where(enough, (measured * comparisons + 0.5) / (comparisons + 1), 0.5)
    place = ndtri(share)
    slope = np.exp(-(place**2) / 2) / np.sqrt(2 * np.pi)
    noise = shared * share * (1 - share) / (np.maximum(comparisons, 1) * slope**2)
    draws = _quantiles(np.where(enough, rates, 0.5))
    centre = draws.mean(axis=0) + place - _quantiles(np.where(enough, expected, 0.5))
    times = stdtrit(len(rates) - 1, (1 + COVERAGE) / 2)
    reach = times * np.sqrt(draws.var(axis=0, ddof=1) + noise)
    low, high = np.minimum(ndtr(centre - reach), measured), np.maximum(ndtr(centre + reach), measured)
    # Where no swap is possible (steps are wider than the bin, and all in it are ties), the rate is 0 and certain.
    never = (expected == 0.0) & (rates == 0.0).all(axis=0) & (measured == 0.0)
    ends = np.stack([np.where(never, 0.0, low), np.where(never, 0.0, high)], axis=-1)
    return np.where(enough[..., None], ends, np.nan)


def interval_notes(matrix: ScoreMatrix, counts: Counts, ties: Ties, resamples: int) -> list[str]:
    """Why there are no intervals, or not everywhere."""
    if resamples == 0 or len(matrix.runs) < FEWEST_RUNS - 1:
        return []
    if len(matrix.runs) < FEWEST_RUNS:
        return ["No intervals: two runs do not show how far apart true scores lie."]
    if resamples < FEWEST_RESAMPLES or blocks(matrix) < 2:
        return ["No intervals: they need two resamples and two units at least."]
    of = counts.denominators(ties)
    if ((of > 0) & (of < FEWEST_COMPARISONS)).any():
        return [f"No interval where fewer than {FEWEST_COMPARISONS} comparisons fell into a bin."]
    return []


def unit_step(matrix: ScoreMatrix) -> float:
    """The greatest number of which all unit scores are multiples, where they are exact and the score is their mean.

    0 where there is no such number.
    """
    numerators = matrix.numerators()
    if numerators is None or matrix.denominator is None or not isinstance(matrix.summary, Mean):
        return 0.0
    return float(np.gcd.reduce(np.abs(numerators).astype(np.int64), axis=None)) / matrix.denominator


def _quantiles(rates: Floats) -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(rates, SMALLEST, 1 - SMALLEST)))


def _each(work: Callable[[Item], Floats], items: Sequence[Item], threads: int) -> Iterator[Floats]:
    """The results in the order of the items; an interrupt drops what has not started."""
    pool = ThreadPoolExecutor(threads)
    try:
        yield from pool.map(work, items)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
