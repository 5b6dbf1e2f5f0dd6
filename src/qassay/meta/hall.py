"""Sign flips of Hall's t: the test and the interval of graded differences, which may be skewed.

A t interval misses the truth too often where a few questions make most of the difference. Hall (1992) corrects t for
the skewness of the differences. Its flips are those of the plain test, so p is exact where a difference is as likely up
as down, and the interval reaches further on the side of the long tail. (METHOD 6)

With m the mean of n differences, v their variance and g their skewness over sqrt(n), T = m sqrt((n - 1)/v) and

    H = T + g T^2/3 + g^2 T^3/27 + g/6.

H rises with T, so the differences that the flips do not reject lie between two limits.
"""

from __future__ import annotations

import math

import numpy as np

from qassay.arrays import TIE, Floats
from qassay.meta.flips import FlipTest, every_flip_fits, flipped_sums, hits_needed

# With fewer differences plain flips are as good.
ENOUGH = 20
_FEWEST_FLIPS, _MOST_FLIPS, _MOST_FLIPPED = 2_000, 20_000, 10**8
# A skewness beyond this share of sqrt(n): few differences make most of the mean.
_SKEWED = 0.2


def hall_test(differences: Floats, *, alpha: float, flips: int | None = None, seed: int = 0) -> FlipTest:
    """The test of a mean difference, and the interval that inverts it.

    At least `ENOUGH` differences, which are not all of one size.
    """
    count = len(differences)
    flips = min(_MOST_FLIPS, max(_FEWEST_FLIPS, _MOST_FLIPPED // count)) if flips is None else flips
    # Of order 1, so that third powers neither overflow nor vanish.
    unit = float(np.sqrt((differences**2).mean()))
    scaled = differences / unit
    columns = np.stack([scaled, scaled**3])
    totals = columns.sum(axis=1)
    observed = abs(float(_hall(totals[:, None], count)[0]))
    flipped = np.abs(
        np.concatenate([_hall(totals[:, None] - 2 * sums, count) for sums in flipped_sums(columns, flips, seed)])
    )
    exact = every_flip_fits(count, flips)
    hits = int((flipped >= observed * (1 - TIE)).sum())
    needed = hits_needed(len(flipped), alpha, exact=exact)
    p = hits / len(flipped) if exact else (1 + hits) / (1 + len(flipped))
    if not 1 <= needed <= len(flipped):
        return FlipTest(p, -math.inf, math.inf, len(flipped), exact)
    line = -float(np.partition(-flipped, needed - 1)[needed - 1])
    mean = totals[0] / count
    variance = 1.0 - mean**2
    g = skewness(differences) / math.sqrt(count)
    error = unit * math.sqrt(variance / (count - 1))
    low, high = (unit * mean - _inverse(end, g) * error for end in (line, -line))
    return FlipTest(p, float(low), float(high), len(flipped), exact)


def skewness(differences: Floats) -> float:
    """The third moment of differences around their mean, in standard deviations; 0 where nothing varies."""
    around = differences - differences.mean()
    deviation = float(np.sqrt((around**2).mean()))
    return 0.0 if deviation <= TIE else float(((around / deviation) ** 3).mean())


def rests_on_few(differences: Floats) -> bool:
    """Whether a few differences make most of the mean, so that chance may reach further than an interval says."""
    return abs(skewness(differences)) > _SKEWED * math.sqrt(len(differences))


def _hall(sums: Floats, count: int) -> Floats:
    """Hall's t from the sums of differences and of their third powers; the mean of the squares is 1."""
    mean, cubes = sums / count
    variance = 1.0 - mean**2
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean * np.sqrt((count - 1) / variance)
        g = (cubes - 3 * mean + 2 * mean**3) / variance**1.5 / math.sqrt(count)
        hall = t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6
    # Where all differences have one sign and one size, none is further from 0.
    return np.where(variance > TIE, hall, np.inf)


def _inverse(hall: float, g: float) -> float:
    """The t that Hall's correction turns into this."""
    if abs(g) < TIE:
        return hall
    return 3 * (math.cbrt(1 + g * (hall - g / 6)) - 1) / g
