"""The paired randomisation test of two runs whose scores are right or wrong: exact, without drawing a single flip.

On a unit the two runs differ by +1, -1 or 0. A set of flipped units contains a of the units on which the first run is
ahead, b of those on which it is behind, and c of those on which they are level: three independent binomial numbers.
What the test looks at, the mean difference over the flipped units and over the others, depends on s = a - b and on
m = a + b + c alone. So the joint distribution of s and m gives p-value and interval of all flips at once. For a
difference of 0 it is the exact binomial test on the units where the runs differ (McNemar 1947).

The joint distribution has about as many values as there are units, and some hundred bytes for each. Of many units its
limits are those of the normal distribution with the fourth cumulant (Cornish and Fisher 1938), less than one unit
from the exact ones. p stays exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from qassay.arrays import Floats, Integers
from qassay.meta.normal_and_t import ndtri

# Numbers of flipped units further than this from their mean, in standard deviations, are left to the tails.
_REACH = 7.0
# Up to this many units where the runs differ, p is computed in whole numbers, to the last bit.
_WHOLE = 10_000
# From this many units on, limits are not taken from the joint distribution.
_MANY = 20_000


@dataclass(frozen=True, slots=True)
class ExactFlips:
    """p-value of no difference, and the limits of the differences that are not rejected, in units of one answer.

    A limit is infinite where no difference is far enough out to be rejected.
    """

    p: float
    low: float
    high: float


def exact_flips(ahead: int, behind: int, level: int, *, alpha: float) -> ExactFlips:
    """The test for two runs of which the first is ahead on some units, behind on some, and level on the others.

    Limits are mean differences per unit: between -1 and 1.
    """
    total, units = ahead - behind, ahead + behind + level
    p = two_sided_binomial(ahead, behind)
    if units >= _MANY:
        low, high = _limit(ahead, behind, level, alpha), -_limit(behind, ahead, level, alpha)
        # Many flips leave no difference, or one unit in the half that is flipped: p decides on which side of 0 it is.
        if p > alpha:
            return ExactFlips(p, min(low, 0.0), max(high, 0.0))
        return ExactFlips(p, max(low, 2 / units), high) if total > 0 else ExactFlips(p, low, min(high, -2 / units))
    sums, sizes, shares = _joint(ahead, behind, level)
    inside = (sizes > 0) & (sizes < units)
    with np.errstate(divide="ignore", invalid="ignore"):
        flipped, rest = sums / sizes, (total - sums) / (units - sizes)
    # A flip of nothing, or of everything, leaves the distance from 0 as it was, whatever the difference is.
    lows = np.where(inside, np.minimum(flipped, rest), -np.inf)
    highs = np.where(inside, np.maximum(flipped, rest), np.inf)
    return ExactFlips(
        p=p,
        low=_first_above(lows, shares, alpha),
        high=-_first_above(-highs, shares, alpha),
    )


def _limit(ahead: int, behind: int, level: int, alpha: float) -> float:
    """The lower limit for many units.

    A difference x is too small where alpha of all flips or less leave the flipped units, or the others, with a sum of
    (difference - x) of at most 0. This sum is symmetric around (total - x * units)/2 with the variance
    sum (difference - x)^2 / 4 and the fourth cumulant -sum (difference - x)^4 / 8; the two sums add up to
    total - x * units, so that each has half of alpha.
    """
    total, units = ahead - behind, ahead + behind + level
    z = ndtri(1 - alpha / 2)
    limit = total / units
    for _ in range(100):
        apart = ((ahead, 1 - limit), (behind, 1 + limit), (level, limit))
        variance = sum(number * difference**2 for number, difference in apart) / 4
        if variance == 0.0:
            return limit
        excess = -sum(number * difference**4 for number, difference in apart) / 8 / variance**2
        quantile = z + (z**3 - 3 * z) * excess / 24
        before, limit = limit, (total - 2 * quantile * math.sqrt(variance)) / units
        if abs(limit - before) < 1e-15:
            break
    return limit


def two_sided_binomial(ahead: int, behind: int) -> float:
    """The chance that a fair coin is at least as far from half as `ahead` of `ahead + behind`; 1 where there is none.

    >>> two_sided_binomial(3, 0), two_sided_binomial(2, 2), two_sided_binomial(0, 0)
    (0.25, 1.0, 1.0)
    """
    tosses, fewer = ahead + behind, min(ahead, behind)
    if 2 * fewer >= tosses:
        return 1.0
    if tosses > _WHOLE:
        return min(1.0, 2.0 * float(_binomial(tosses)[: fewer + 1].sum()))
    ways = total = 1
    for heads in range(1, fewer + 1):
        ways = ways * (tosses - heads + 1) // heads
        total += ways
    return 2 * total / (1 << tosses)


def _joint(ahead: int, behind: int, level: int) -> tuple[Floats, Floats, Floats]:
    """The joint distribution of s = a - b and m = a + b + c, as columns: s, m and the share of the flips with both."""
    (first_a, share_a), (first_b, share_b), (first_c, share_c) = (_central(n) for n in (ahead, behind, level))
    # Rows: s from its smallest value on. Columns: a + b likewise.
    a, b = np.meshgrid(np.arange(len(share_a)), np.arange(len(share_b)), indexing="ij")
    table = np.zeros((len(share_a) + len(share_b) - 1, len(share_a) + len(share_b) - 1))
    table[a - b + len(share_b) - 1, a + b] = share_a[:, None] * share_b[None, :]
    width = table.shape[1] + len(share_c) - 1
    size = 1 << (width - 1).bit_length()
    joint = np.fft.irfft(np.fft.rfft(table, size, axis=1) * np.fft.rfft(share_c, size), size, axis=1)[:, :width]
    sums = np.arange(table.shape[0]) + (first_a - first_b - len(share_b) + 1)
    sizes = np.arange(width) + (first_a + first_b + first_c)
    # Rounding leaves a little where there is no flip.
    row, column = np.nonzero(joint > 1e-18)
    return sums[row].astype(float), sizes[column].astype(float), joint[row, column]


def _central(tosses: int) -> tuple[int, Floats]:
    """The probabilities of the numbers of heads around the middle, and the first of these numbers."""
    reach = math.ceil(_REACH * math.sqrt(tosses) / 2) + 1
    first, last = max(0, tosses // 2 - reach), min(tosses, -(-tosses // 2) + reach)
    return first, _binomial(tosses)[first : last + 1]


def _binomial(tosses: int) -> Floats:
    """The probability of every number of heads of a fair coin."""
    heads: Integers = np.arange(tosses + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, tosses + 1)))])
    return np.asarray(np.exp(logs[-1] - logs[heads] - logs[tosses - heads] - tosses * math.log(2.0)))


def _first_above(values: Floats, shares: Floats, alpha: float) -> float:
    """The smallest value such that more than `alpha` of all flips are at most this; the tails count as smaller."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(shares[order]) + max(0.0, 1.0 - float(shares.sum()))
    place = int(np.searchsorted(below, alpha + 1e-12, side="right"))
    return float(values[order[place]]) if place < len(order) else math.inf
