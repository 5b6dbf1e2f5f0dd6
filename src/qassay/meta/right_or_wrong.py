"""Two runs that differ by one amount only, as with answers that are right or wrong: mid-p, and the interval beside it.

p is that of the sign test on the questions where the runs differ (McNemar 1947), in which a result as likely as the
observed one counts half: without that the test finds less than it may. The interval is that of Bonett and Price (2012):
one question more on either side says that the next one may differ although none did so far. It is kept on the side of 0
that p decides, so that the two never contradict each other. (METHOD 6)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from qassay.arrays import Floats, Integers
from qassay.meta.normal_and_t import two_sided_t_line

# Up to this many units where the runs differ, p is computed in whole numbers, to the last bit.
_WHOLE = 10_000
# With fewer units than this a result as likely as the observed one counts in full.
_FEWEST_HALVED = 6


def mid_p(ahead: int, behind: int, count: int) -> float:
    """The chance that a fair coin is further from half than `ahead` of `ahead + behind`, plus half of that to tie.

    `count` is the number of all units. With fewer than 6 of them it is the chance to be at least as far.

    >>> mid_p(12, 4, 60), mid_p(5, 0, 10), mid_p(5, 0, 5), mid_p(2, 2, 30), mid_p(0, 0, 9)
    (0.049041748046875, 0.03125, 0.0625, 1.0, 1.0)
    """
    tosses, fewer = ahead + behind, min(ahead, behind)
    if 2 * fewer == tosses:
        return 1.0
    halved = int(count >= _FEWEST_HALVED)
    if tosses > _WHOLE:
        shares = _binomial(tosses)[: fewer + 1]
        return min(1.0, float(2 * shares.sum() - halved * shares[-1]))
    ways = total = 1
    for heads in range(1, fewer + 1):
        ways = ways * (tosses - heads + 1) // heads
        total += ways
    return (2 * total - halved * ways) / (1 << tosses)


@dataclass(frozen=True, slots=True)
class Adjusted:
    """A mean difference after one more unit on either side, its standard deviation, and its limits."""

    mean: float
    deviation: float
    low: float
    high: float


def adjusted_interval(ahead: int, behind: int, count: int, *, step: float, span: float, alpha: float) -> Adjusted:
    """The interval of the mean difference of `count` units, which differ by `step`; `span` is the range of the scores.

    >>> found = adjusted_interval(55, 30, 301, step=1, span=1, alpha=0.05)
    >>> round(found.low, 6), round(found.high, 6)
    (0.022654, 0.142363)
    """
    units = count + 2
    mean = step * (ahead - behind) / units
    variance = ((step**2 * (ahead + behind) + 2 * span**2) / units - mean**2) / units
    deviation = math.sqrt(variance)
    margin = two_sided_t_line(count + 1, alpha) * deviation
    return Adjusted(mean, deviation, max(mean - margin, -span), min(mean + margin, span))


def _binomial(tosses: int) -> Floats:
    """The probability of every number of heads of a fair coin."""
    heads: Integers = np.arange(tosses + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, tosses + 1)))])
    return np.asarray(np.exp(logs[-1] - logs[heads] - logs[tosses - heads] - tosses * math.log(2.0)))
