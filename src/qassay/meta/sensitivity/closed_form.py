"""Error rates without drawing a trial: from means and variances of the pairs' differences. (METHOD 6)

Base and test means of a pair at size S are taken as independent normal(m, v/S), with m the mean and v the variance
of the pair's differences per unit. The sets being independent, the probability that the base difference lies in a
bin and the test difference has the other sign is a product: no trial is drawn, and any size can be asked for.

Plausible truths are what the true means of the runs could be, given the scores on the units at hand. Units are
resampled, and the deviations of the runs' means from what was measured say how far a mean can be off. But a resample
must not simply be taken for another truth. Measured means are further apart than true ones, by the noise of the units,
and means of resamples further still, by the same noise again: error rates computed from them are too low, at half the
units by a factor of two. So the measured means are pulled together first. With sigma^2 the noise of a mean (its part
that is not common to the runs) and tau^2 the variance of the true means,

    a = tau^2 / (tau^2 + sigma^2),    true means = centre + a * (measured - centre) + sqrt(a) * deviation

which has the spread tau^2 again, and is the posterior under normal means (Efron and Morris 1975). tau is not known
either: it is drawn for each resample from its posterior with a flat prior on tau (Gelman 2006), which needs three
runs at least. Covariances of the unit scores are those of the resample; the shares of units on which two runs are
equal are pulled together like the means.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import TIE, Floats, Integers
from qassay.matrix import ScoreMatrix
from qassay.meta.normal_and_t import ndtr
from qassay.meta.sensitivity.trials import WORD, resampled_units

# Below this share of the variances of two runs, the variance of their difference is rounding noise: they move alike.
NO_VARIANCE = 1e-12
# So is what lies this far below the scores themselves: a run that scores 0.7 throughout has a variance of 1e-32.
ROUNDING = 1e-14

# A bin into which fewer pairs than this are expected to fall has no rate: nothing will ever be in it.
FEWEST_EXPECTED = 1e-9

# Pairs x limits worked on at once.
AT_ONCE = 1_000_000

# Sums of whole numbers below 2^52 are exact, whatever the order in which threads add them.
EXACT_BITS = 52

# Of more pairs than this, a random choice is used: measured and plausible rates are compared on the same ones.
MOST_PAIRS = 2000

# Values of tau that are weighed, and how far they reach in units of the measured spread.
GRID = 2000
FURTHEST = 20.0


@dataclass(frozen=True, eq=False)
class PairMoments:
    """Mean m >= 0 and variance v of the per-unit differences, for every pair of runs.

    `equal` is the share of units on which the two have the same score, where that is known. `series` is the variance
    of the mean difference over all units, times their number, minus v: what units of the same series add to it.
    """

    means: Floats
    variances: Floats
    equal: Floats | None = None
    series: Floats | None = None

    @cached_property
    def varying(self) -> tuple[Floats, Floats]:
        """Means and deviations of the pairs whose difference varies."""
        some = self.variances > 0.0
        return self.means[some], np.sqrt(self.variances[some])

    @cached_property
    def fixed(self) -> Floats:
        """Means of the pairs whose difference is the same on every unit."""
        return self.means[self.variances <= 0.0]


def pair_moments(matrix: ScoreMatrix) -> PairMoments:
    """The moments of all pairs, from unit scores, or from pseudo-values where the score is not a mean."""
    # Numbers whose mean is the score of a run and whose spread is its noise. Units are drawn one by one here, whatever
    # series they are of.
    values = matrix.summary.pseudo_values(matrix.values)
    first, second = np.triu_indices(len(values), 1)
    scores = matrix.scores()
    if len(values) < 2:
        return PairMoments(np.zeros(0), np.zeros(0))
    covariances = np.atleast_2d(np.cov(values))
    diagonal = np.diag(covariances)
    both = diagonal[first] + diagonal[second]
    variances = both - 2 * covariances[first, second]
    noise = (ROUNDING * float(np.abs(values).max(initial=0.0))) ** 2
    variances[variances <= np.maximum(NO_VARIANCE * both, noise)] = 0.0
    return PairMoments(np.abs(scores[first] - scores[second]), variances)


def predicted_rates(moments: PairMoments, size: float, limits: Floats, *, compiled: bool = False) -> Floats:
    """The error rate of each bin at a size; not-a-number where no pair is expected in the bin.

    With X and Y the differences in base and test, U(l) = P(X >= l) and D(l) = P(X <= -l): a bin [l, h) is reached
    with probability U(l) - U(h) + D(l) - D(h), and swapped with (U(l) - U(h)) P(Y < 0) + (D(l) - D(h)) P(Y > 0).
    A pair whose difference never varies is in the bin of m and never swapped. `compiled` code is for many pairs at
    many sizes.
    """
    means, deviations = moments.varying
    reached, swapped, _ = expected_at_least(means, deviations / np.sqrt(size), limits, compiled=compiled)
    reached += (moments.fixed[:, None] >= limits - TIE).sum(axis=0)
    in_bin = reached - np.append(reached[1:], 0.0)
    swaps = swapped - np.append(swapped[1:], 0.0)
    enough = in_bin >= FEWEST_EXPECTED
    return np.asarray(np.divide(swaps, in_bin, out=np.full(len(limits), np.nan), where=enough))


def expected_at_least(
    means: Floats,
    errors: Floats,
    limits: Floats,
    half: float = 0.0,
    moving: Floats | None = None,
    *,
    compiled: bool = False,
) -> tuple[Floats, Floats, Floats]:
    """Expected number of pairs that reach each limit in base, of those that also swap, and of those that agree.

    A difference in test within `half` of 0 is a tie: neither a swap nor an agreement. `moving` is the probability
    that two runs differ at all on a set of units; 1 by default.
    """
    some = np.ones(len(means)) if moving is None else moving
    if compiled:
        from qassay.meta.sensitivity.compiled.predicting import expected_at_least as in_compiled_code

        return in_compiled_code(means, errors, limits, half, some)
    reached, swapped, agreed = np.zeros(len(limits)), np.zeros(len(limits)), np.zeros(len(limits))
    at_once = max(1, AT_ONCE // len(limits))
    for start in range(0, len(means), at_once):
        part = slice(start, start + at_once)
        m, s, p = means[part], errors[part], some[part]
        upper = ndtr((m - limits[:, None]) / s) * p
        lower = ndtr((-m - limits[:, None]) / s) * p
        better, worse = ndtr((m - half) / s) * p, ndtr((-m - half) / s) * p
        reached += upper.sum(axis=1) + lower.sum(axis=1)
        # Sums over rows, not matrix products: their order does not depend on the number of threads.
        swapped += (upper * worse + lower * better).sum(axis=1)
        agreed += (upper * better + lower * worse).sum(axis=1)
    return reached, swapped, agreed


@dataclass(frozen=True, eq=False)
class Plausible:
    """Resampled truths of one matrix: `moments(b)` are those of the b-th.

    `equal` (resamples x pairs) is the share of units on which two runs are equal. `series` is what units of the same
    series add to the variance of a mean, as a share of what it would be without.
    """

    measured: PairMoments
    means: Floats
    times: Integers
    whole: Floats
    scale: float
    pairs: tuple[Integers, Integers]
    equal: Floats
    series: float | None = None

    def moments(self, resample: int) -> PairMoments:
        """Mean and variance of every pair's differences per unit in one plausible truth."""
        first, second = self.pairs
        times = self.times[resample].astype(np.float64)
        units = times.sum()
        centre = self.whole @ times
        products = (self.whole * times) @ self.whole.T
        squares = np.diag(products)
        sums = squares[first] + squares[second] - 2 * products[first, second]
        variances = (sums - (centre[first] - centre[second]) ** 2 / units) * self.scale**2 * units / (units - 1) ** 2
        means = self.means[resample]
        # Two runs that never vary against each other do so in no resample; elsewhere rounding is far below notice.
        varies = (self.measured.variances > 0.0) & (variances > 0.0)
        variances = np.where(varies, variances, 0.0)
        series = None if self.series is None else variances * self.series
        return PairMoments(np.abs(means[first] - means[second]), variances, self.equal[resample], series)


def plausible(matrix: ScoreMatrix, resamples: int, seed: int) -> Plausible:
    """Resample the units (whole clusters where there are any) and draw a plausible truth for each resample."""
    values, units = matrix.summary.pseudo_values(matrix.values), len(matrix.units)
    apart = values - values.mean(axis=1, keepdims=True)
    bits = (EXACT_BITS - int(np.ceil(np.log2(units))) - 2) // 2
    scale = max(float(np.abs(apart).max(initial=0.0)), np.finfo(float).tiny) / 2.0**bits
    whole = np.rint(apart / scale)
    drawn = [resampled_units(seed, number, units, matrix.clusters) for number in range(1, resamples + 1)]
    times = np.stack([np.bincount(positions, minlength=units) for positions in drawn])
    # A mean of resampled units varies less than one of fresh units, by this factor.
    narrower = np.sqrt((blocks(matrix) - 1) / blocks(matrix))
    deviations = (times.astype(np.float64) @ whole.T) * (scale / units / narrower)
    deviations -= deviations.mean(axis=1, keepdims=True)
    scores = matrix.scores() - matrix.scores().mean()
    true_share = _true_share(scores, deviations, seed)
    means = true_share[:, None] * scores + np.sqrt(true_share)[:, None] * deviations
    chosen = _some_pairs(len(values), seed)
    first, second = (side[chosen] for side in np.triu_indices(len(values), 1))
    everyone = pair_moments(matrix)
    # Pseudo-values of other summaries are hardly ever the same: there, ties are left to the measured rates.
    equal = (values[first] == values[second]).astype(np.float32) * matrix.summary.is_mean
    measured = PairMoments(everyone.means[chosen], everyone.variances[chosen], equal.mean(axis=1, dtype=np.float64))
    series = None if matrix.clusters is None else _series(values[first] - values[second], matrix.clusters)
    shares = _pulled_together(equal, times, narrower)
    return Plausible(measured, means, times, whole, scale, (first, second), shares, series)


def _pulled_together(equal: NDArray[np.float32], times: Integers, narrower: float) -> Floats:
    """Plausible shares of units on which the runs of a pair are equal, resamples x pairs.

    Rates depend on these shares by a curve, so that noise in them does not average out. As with means, measured shares
    lie further apart than true ones; what all pairs of a resample have in common is left as it is.
    """
    measured = equal.mean(axis=1, dtype=np.float64)
    # Whole numbers: exact in any order of summation.
    resampled = (times.astype(np.float32) @ equal.T).astype(np.float64) / equal.shape[1]
    off = (resampled - measured) / narrower
    common = off.mean(axis=1, keepdims=True)
    noise, spread = float(((off - common) ** 2).mean()), float(measured.var())
    true_share = max(1.0 - noise / spread, 0.0) if spread > 0.0 else 0.0
    centre = measured.mean()
    shares = centre + true_share * (measured - centre) + common + np.sqrt(true_share) * (off - common)
    # Two runs that never differ do so in no plausible truth.
    return np.asarray(np.where(measured == 1.0, 1.0, np.clip(shares, 0.0, 1.0)))


def blocks(matrix: ScoreMatrix) -> int:
    """How many units, or clusters of them, are resampled."""
    return len(matrix.units if matrix.clusters is None else set(matrix.clusters))


def _series(differences: Floats, clusters: tuple[str, ...]) -> float:
    """Variance of a mean difference over series / the same over single units, minus 1; over all pairs."""
    apart = differences - differences.mean(axis=1, keepdims=True)
    _, which = np.unique(np.array(clusters), return_inverse=True)
    sums = np.stack([np.bincount(which, weights=row) for row in apart])
    units, count = apart.shape[1], sums.shape[1]
    alone = float((apart**2).sum()) * units / (units - 1)
    return max(float((sums**2).sum()) * count / (count - 1) / alone - 1.0, 0.0) if alone > 0.0 else 0.0


def _some_pairs(runs: int, seed: int) -> Integers:
    """The pairs that are looked at: all, or a random choice of them."""
    pairs = runs * (runs - 1) // 2
    if pairs <= MOST_PAIRS:
        return np.arange(pairs)
    rng = np.random.default_rng([seed % WORD, 0, 1])
    return np.sort(rng.choice(pairs, MOST_PAIRS, replace=False))


def _true_share(scores: Floats, deviations: Floats, seed: int) -> Floats:
    """For each resample a plausible share `a` of the measured differences that is not noise."""
    noise = float(deviations.var(axis=1, ddof=1).mean())
    spread = float(scores.var(ddof=1))
    if noise == 0.0:
        return np.ones(len(deviations))
    tau = np.linspace(0.0, 1.0, GRID) ** 2 * FURTHEST * np.sqrt(max(spread, noise))
    total = tau**2 + noise
    log = -(len(scores) - 1) / 2 * (np.log(total) + spread / total)
    # The grid is finer near 0: each value represents a stretch as long as its distance to its neighbours.
    mass = np.cumsum(np.exp(log - log.max()) * np.gradient(tau))
    rng = np.random.default_rng([seed % WORD, 0])
    resamples = len(deviations)
    # One draw from each of as many equal parts as there are resamples, in random order.
    levels = (rng.permutation(resamples) + rng.random(resamples)) / resamples
    drawn = tau[np.minimum(np.searchsorted(mass / mass[-1], levels), GRID - 1)]
    return np.asarray(drawn**2 / (drawn**2 + noise))
