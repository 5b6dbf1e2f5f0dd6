"""How uncertain an error rate is: intervals from resampled units, never from the binomial formula.

An interval is for the expected error rate of the study in its bin and at its size: the expected number of swaps over
the expected number of comparisons, over draws of all the units from the population they come from, for these runs.
(Where units are independent, that is the rate with base and test sets of fresh units.) A measured rate is off for two
reasons, and each has its part in the interval, on the scale of the normal quantile.

The units. Repeating the study on resampled units would not show it: the runs of a resample lie further apart than
they truly do, its rates are too low, and in bins that few pairs reach they jump between 0 and 1. So the study is
counted once, and the closed form says the rest:

    plausible    the true means that the runs could have, one set for each resample of the units
    fresh        the rates of fresh units in each of these truths; their deviation is what the units make uncertain
    dealt        the rate that the closed form expects of the study itself, dealt from the units at hand

The trials. Given the units, trials are independent, but comparisons within one share runs: the squared deviations of
whole trials, beside those of single comparisons, say how many independent comparisons a bin is worth (Kish's effective
sample size). Jeffreys' interval of that many comparisons is the interval of the rate with endless trials. It needs no
large numbers; its median is the place of the measured rate.

The centre is mean(fresh) + (measured - dealt), where the second part is what the closed form gets wrong (skewed
scores, confidence-weighted ones). Each limit is as far from it as the two parts together: the root of the sum of
their squared distances (Zou and Donner 2008). An interval always contains its rate.

Counting 100 resamples again, besides being biased, takes over 20 times as long for 12 runs x 301 units, over 4 times
for 100 x 400.

What this guarantees: nothing exactly; it is an approximation for many units. No width in it is a fitted constant, but
the construction was chosen among about twenty, and the lines of ten comparisons and of twenty ranked answers among
others, by coverage in simulations. `python -m benchmarks truth` measures how often intervals contain the truth on
other settings and seeds, and docs/method.md has the figures. In short: where hardly a swap is expected, intervals
contain the truth too often; where true means come in a few groups that lie well apart, intervals at half of the units
contain it far too rarely, because plausible means are drawn as if they were normal.

There is no interval for fewer than three runs (two do not show how far apart true scores lie), for a single trial,
where fewer than ten comparisons are to be expected in the bin, or for fewer than twenty answers ranked by confidence,
which have few possible scores and tie in a way that the closed form does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import TIE, Floats
from qassay.matrix import ScoreMatrix
from qassay.meta.sensitivity.closed_form import Plausible, blocks, plausible
from qassay.meta.sensitivity.counting import Counts, Path, Progress, Study, Ties, has_numba, processors
from qassay.meta.sensitivity.expectation import LARGEST, Expected, Trinomial, in_fresh_series, on_dealt_units, trinomial
from qassay.meta.sensitivity.trials import BINS, bin_limits

COVERAGE = 0.95

# An interval needs this many comparisons to be expected in its bin, and this many runs, resamples and trials. Expected,
# not seen: a bin that is judged where the units happen to fill it is judged where they set runs apart by luck.
FEWEST_COMPARISONS = 10
FEWEST_RUNS = 3
FEWEST_RESAMPLES = 2
FEWEST_TRIALS = 2

# Sets of so few answers have few confidence-weighted scores, and ties that the closed form knows nothing of.
FEWEST_RANKED = 20

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
    path: Path = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Floats:
    """95% intervals of the measured rates, sizes x bins x 2; not-a-number where there is none."""
    matrix, sizes = study.prepared.matrix, study.sizes
    if len(matrix.runs) < FEWEST_RUNS or _too_few(matrix, resamples, study.trials) is not None:
        if progress is not None:
            progress(1, 1)
        return np.full((len(sizes), BINS, 2), np.nan)
    form = _closed_form(study, ties, resamples, path)
    workers = threads or processors()
    expected = np.stack(list(_each(form.dealt, sizes, workers)))
    rates, reached = np.empty((2, resamples, len(sizes), BINS))
    for number, by_size in enumerate(_each(form.fresh, range(resamples), workers)):
        rates[number], reached[number] = by_size
        if progress is not None:
            progress(number + 1, resamples)
    foreseen = reached.mean(axis=0) * (study.trials * matrix.pairs / len(form.truths.measured.means))
    intervals = around(counts.rates(ties), foreseen, effective(counts, ties, study.trials), expected, rates)
    return np.where(_large_enough(study)[:, None, None], intervals, np.nan)


@dataclass(frozen=True, slots=True)
class _ClosedForm:
    """The rates that the closed form expects of one study; `exact` has the sizes that need no approximation."""

    truths: Plausible
    sizes: tuple[int, ...]
    units: int
    limits: Floats
    step: float
    exact: Mapping[int, Trinomial]
    ties: Ties
    compiled: bool

    def dealt(self, size: int) -> Floats:
        """Rates of the study itself at one size, dealt from the units at hand; by bin."""
        measured = self.truths.measured
        if size in self.exact:
            return Expected(*self.exact[size].dealt(measured, self.units)).rates(self.ties)
        return on_dealt_units(measured, size, self.units, self.limits, self.step / size).rates(self.ties)

    def fresh(self, resample: int) -> Floats:
        """Rates of fresh units in one plausible truth, and the comparisons behind them; 2 x sizes x bins."""
        moments = self.truths.moments(resample)
        by_size = []
        for size in self.sizes:
            step, exact = self.step / size, self.exact.get(size)
            expected = in_fresh_series(
                moments, size, self.units, self.limits, step, compiled=self.compiled, exact=exact
            )
            by_size.append([expected.rates(self.ties), expected.denominators(self.ties)])
        return np.stack(by_size, axis=1)


def _closed_form(study: Study, ties: Ties, resamples: int, path: Path) -> _ClosedForm:
    matrix, sizes = study.prepared.matrix, study.sizes
    limits = np.array(bin_limits(study.prepared.width), dtype=np.float64)
    truths = plausible(matrix, resamples, study.seed)
    many = len(truths.measured.means) * len(sizes) * resamples > MANY
    return _ClosedForm(
        truths=truths,
        sizes=sizes,
        units=study.prepared.units,
        limits=limits,
        step=unit_step(matrix),
        exact=_trinomials(matrix, sizes, limits),
        ties=ties,
        compiled=path == "compiled" or (path == "auto" and many and has_numba()),
    )


def effective(counts: Counts, ties: Ties, trials: int) -> Floats:
    """How many independent comparisons those of each bin are worth, sizes x bins.

    That is comparisons / (their variance by trials / their variance one by one), and never more than all of them. A
    bin without swaps, or with nothing else, does not show how it varies by trials; there the correlation of two
    comparisons of a trial is taken that the other bins of the size show.
    """
    comparisons = counts.denominators(ties).astype(np.float64)
    rates = np.nan_to_num(counts.rates(ties))
    single, whole = counts.alone(ties), counts.by_trial(ties) * trials / (trials - 1)
    binomial = comparisons * rates * (1 - rates)
    together = counts.in_a_trial(ties) - comparisons
    varied = np.maximum(whole, single)
    own = np.divide(comparisons * binomial, varied, out=comparisons.copy(), where=(binomial > 0.0) & (varied > 0.0))
    excess = np.where(binomial > 0.0, whole - single, 0.0).sum(axis=1, keepdims=True)
    chances = (rates * (1 - rates) * together).sum(axis=1, keepdims=True)
    correlation = np.clip(np.divide(excess, chances, out=np.zeros_like(excess), where=chances > 0.0), 0.0, 1.0)
    beside = np.divide(together, comparisons, out=np.zeros_like(together), where=comparisons > 0.0)
    return np.asarray(np.where(binomial > 0.0, own, comparisons / (1 + correlation * beside)))


def around(measured: Floats, foreseen: Floats, worth: Floats, expected: Floats, rates: Floats) -> Floats:
    """Intervals around measured rates (sizes x bins).

    `foreseen` is how many comparisons fresh units would show in plausible truths, `worth` how many independent ones
    there are, `expected` what the closed form says of the study, and `rates` (resamples x sizes x bins) what it says of
    fresh units in plausible truths.
    """
    from scipy.special import betaincinv, ndtr, stdtrit

    enough = (foreseen >= FEWEST_COMPARISONS) & np.isfinite(measured + expected) & np.isfinite(rates).all(axis=0)
    share, of = np.where(enough, measured, 0.5), np.where(enough, worth, 1.0)
    below, place, above = (
        _quantiles(np.asarray(betaincinv(share * of + 0.5, (1 - share) * of + 0.5, tail), dtype=np.float64))
        for tail in ((1 - COVERAGE) / 2, 0.5, (1 + COVERAGE) / 2)
    )
    draws = _quantiles(np.where(enough, rates, 0.5))
    centre = draws.mean(axis=0) + place - _quantiles(np.where(enough, expected, 0.5))
    reach = stdtrit(len(rates) - 1, (1 + COVERAGE) / 2) * draws.std(axis=0, ddof=1)
    low = np.minimum(ndtr(centre - np.hypot(place - below, reach)), measured)
    high = np.maximum(ndtr(centre + np.hypot(above - place, reach)), measured)
    # Where only ties are possible (steps are wider than the bin), the rate follows from the rule and is certain.
    certain = (rates == expected).all(axis=0) & (measured == expected)
    ends = np.stack([np.where(certain, measured, low), np.where(certain, measured, high)], axis=-1)
    return np.where(enough[..., None], ends, np.nan)


def interval_notes(study: Study, counts: Counts, ties: Ties, intervals: Floats | None, *, resamples: int) -> list[str]:
    """Why there are no intervals, or not everywhere."""
    matrix = study.prepared.matrix
    if intervals is None or len(matrix.runs) < FEWEST_RUNS - 1:
        return []
    if len(matrix.runs) < FEWEST_RUNS:
        return ["No intervals: two runs do not show how far apart true scores lie."]
    reason = _too_few(matrix, resamples, study.trials)
    if reason is not None:
        return [f"No intervals: {reason}."]
    of, large = counts.denominators(ties), _large_enough(study)
    notes = []
    if not large.all():
        name = matrix.unit_name[1]
        notes.append(f"No interval for sets of fewer than {FEWEST_RANKED} {name}: so few ranked answers often tie.")
    if ((of > 0) & np.isnan(intervals[..., 0]))[large].any():
        notes.append(f"No interval where fewer than {FEWEST_COMPARISONS} comparisons are to be expected in a bin.")
    return notes


def _large_enough(study: Study) -> NDArray[np.bool_]:
    """The sizes that can have intervals."""
    ranked = study.prepared.matrix.summary.order is not None
    return np.array(study.sizes) >= (FEWEST_RANKED if ranked else 1)


def _too_few(matrix: ScoreMatrix, resamples: int, trials: int) -> str | None:
    """Why no bin has an interval; None where some have."""
    if resamples < FEWEST_RESAMPLES or blocks(matrix) < 2:
        return f"they need at least two resamples and two {matrix.unit_name[1]}"
    return "a single trial does not show how trials vary" if trials < FEWEST_TRIALS else None


def unit_step(matrix: ScoreMatrix) -> float:
    """The greatest number of which all unit scores are multiples, where they are exact and the score is their mean.

    0 where there is no such number.
    """
    numerators = matrix.numerators()
    if numerators is None or matrix.denominator is None:
        return 0.0
    return float(np.gcd.reduce(np.abs(numerators).astype(np.int64), axis=None)) / matrix.denominator


def _trinomials(matrix: ScoreMatrix, sizes: Sequence[int], limits: Floats) -> dict[int, Trinomial]:
    """The small sizes, where scores are right or wrong: these need no approximation."""
    step = unit_step(matrix)
    if step == 0.0 or float(np.ptp(matrix.values)) > step * (1.0 + TIE):
        return {}
    return {size: trinomial(size, step, tuple(limits.tolist())) for size in sizes if size <= LARGEST}


def _quantiles(rates: Floats) -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(rates, SMALLEST, 1 - SMALLEST)))


def _each(work: Callable[[Item], Floats], items: Sequence[Item], threads: int) -> Iterator[Floats]:
    """The results in the order of the items; an interrupt drops what has not started."""
    if threads == 1:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        yield from pool.map(work, items)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
