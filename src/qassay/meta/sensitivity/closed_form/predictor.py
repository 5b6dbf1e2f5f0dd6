"""The closed-form predictor: error rates at any size from means and variances alone. (METHOD 6)

Base and test means of a pair at size S are taken as independent normal(m, v/S), with m the mean and v the variance
of the pair's differences per unit. The sets being independent, the probability that the base difference lies in a
bin and the test difference has the other sign is a product: no trial is drawn, and any size can be asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from qassay.matrix import TIE, Floats, ScoreMatrix

# Below this share of the variances of two runs, the variance of their difference is rounding noise: they move alike.
NO_VARIANCE = 1e-12
# So is what lies this far below the scores themselves: a run that scores 0.7 throughout has a variance of 1e-32.
ROUNDING = 1e-14

# A bin into which fewer pairs than this are expected to fall has no rate: nothing will ever be in it.
FEWEST_EXPECTED = 1e-9

# Pairs x limits worked on at once.
AT_ONCE = 1_000_000


@dataclass(frozen=True, eq=False)
class PairMoments:
    """Mean m >= 0 and variance v of the per-unit differences, for every pair of runs.

    `equal` is the share of units on which the two have the same score, where that is known. `series` is the variance
    of the mean difference over all units, times their number, less v: what units of the same series add to it.
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
    own = np.diag(covariances)
    both = own[first] + own[second]
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
    that two runs differ at all on a set of units; 1 unless told.
    """
    some = np.ones(len(means)) if moving is None else moving
    if compiled:
        from qassay.meta.sensitivity.compiled.predicting import expected_at_least as in_compiled_code

        return in_compiled_code(means, errors, limits, half, some)
    from scipy.special import ndtr

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
