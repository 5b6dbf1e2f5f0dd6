"""Plausible truths: what the true means of the runs could be, given the scores on the units at hand.

Units are resampled, and the deviations of the runs' means from what was measured say how far a mean can be off. But
a resample must not simply be taken for another truth. Measured means are further apart than true ones, by the
noise of the units, and means of resamples further still, by the same noise again: error rates computed from them
are too low, at half the units by a factor of two. So the measured means are pulled together first. With sigma^2
the noise of a mean (its part that is not common to the runs) and tau^2 the variance of the true means,

    a = tau^2 / (tau^2 + sigma^2),    true means = centre + a * (measured - centre) + sqrt(a) * deviation

which has the spread tau^2 again, and is the posterior under normal means (Efron and Morris 1975). tau is not known
either: it is drawn for each resample from its posterior with a flat prior on tau (Gelman 2006), which needs three
runs at least. Covariances of the unit scores are those of the resample; the shares of units on which two runs are
equal are pulled together like the means.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qassay.matrix import Floats, Integers, ScoreMatrix
from qassay.meta.sensitivity.closed_form.predictor import PairMoments, pair_moments
from qassay.meta.sensitivity.sampling import WORD, resampled_units

# Sums of whole numbers below 2^52 are exact, whatever the order in which threads add them.
EXACT_BITS = 52

# Of more pairs than this, a random choice stands for all: measured and plausible rates are compared on the same ones.
MOST_PAIRS = 2000

# Values of tau that are weighed, and how far they reach in units of the measured spread.
GRID = 2000
FURTHEST = 20.0


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
        own = np.diag(products)
        sums = own[first] + own[second] - 2 * products[first, second]
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
    kept = _kept(scores, deviations, seed)
    means = kept[:, None] * scores + np.sqrt(kept)[:, None] * deviations
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
    found = (times.astype(np.float32) @ equal.T).astype(np.float64) / equal.shape[1]
    off = (found - measured) / narrower
    common = off.mean(axis=1, keepdims=True)
    noise, spread = float(((off - common) ** 2).mean()), float(measured.var())
    kept = max(1.0 - noise / spread, 0.0) if spread > 0.0 else 0.0
    centre = measured.mean()
    shares = centre + kept * (measured - centre) + common + np.sqrt(kept) * (off - common)
    # Two runs that never differ do so in no plausible truth.
    return np.asarray(np.where(measured == 1.0, 1.0, np.clip(shares, 0.0, 1.0)))


def blocks(matrix: ScoreMatrix) -> int:
    """How many units, or clusters of them, are resampled."""
    return len(matrix.units if matrix.clusters is None else set(matrix.clusters))


def _series(differences: Floats, clusters: tuple[str, ...]) -> float:
    """Variance of a mean difference over series / that over as many single units, less 1; over all pairs."""
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


def _kept(scores: Floats, deviations: Floats, seed: int) -> Floats:
    """For each resample a plausible share `a` of the measured differences that is not noise."""
    noise = float(deviations.var(axis=1, ddof=1).mean())
    spread = float(scores.var(ddof=1))
    if noise == 0.0:
        return np.ones(len(deviations))
    tau = np.linspace(0.0, 1.0, GRID) ** 2 * FURTHEST * np.sqrt(max(spread, noise))
    total = tau**2 + noise
    log = -(len(scores) - 1) / 2 * (np.log(total) + spread / total)
    # The grid is finer near 0: each value stands for a stretch as long as its distance to its neighbours.
    mass = np.cumsum(np.exp(log - log.max()) * np.gradient(tau))
    rng = np.random.default_rng([seed % WORD, 0])
    resamples = len(deviations)
    # One draw from each of as many equal parts as there are resamples, in random order.
    wanted = (rng.permutation(resamples) + rng.random(resamples)) / resamples
    found = tau[np.minimum(np.searchsorted(mass / mass[-1], wanted), GRID - 1)]
    return np.asarray(found**2 / (found**2 + noise))
