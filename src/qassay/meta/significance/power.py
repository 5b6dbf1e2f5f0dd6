"""How large a comparison has to be: the power of the paired t test, by the noncentral t distribution.

A pilot shows only roughly how far differences vary: its variance is replaced by an upper limit (assurance).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from qassay.arrays import TIE, Floats
from qassay.errors import UsageError
from qassay.meta.normal_and_t import chi_square_point, ndtr, ndtri, t_power, two_sided_t_line

# Beyond this many units t and normal agree to every digit that matters, and the noncentral t becomes slow.
_NORMAL = 20_000
# The share of pilots whose number of units is large enough, and the fewest blocks that show how differences vary.
ASSURANCE = 0.8
FEWEST_BLOCKS = 6


def check_test(alpha: float, permutations: int | None = None) -> None:
    """The level of a test lies between 0 and 1, and a randomisation test has a permutation at least."""
    if not 0 < alpha < 1:
        raise UsageError(f"the level of a test lies between 0 and 1, not {alpha}")
    if permutations is not None and permutations < 1:
        raise UsageError(f"a randomisation test needs at least one permutation, not {permutations}")


def fewest_units(alpha: float) -> int:
    """The smallest number of units on which the randomisation test can find a difference: one of 2^n flips, and its
    mirror image, are no more than `alpha` of all.

    >>> fewest_units(0.05), fewest_units(0.5), fewest_units(0.001)
    (6, 2, 11)
    """
    return 1 + math.ceil(-math.log2(alpha) - 1e-9)


def power(effect: float, units: int, *, alpha: float = 0.05) -> float | None:
    """The probability that a two-sided paired t test at level `alpha` finds a true difference.

    `effect` is the difference divided by the standard deviation of the per-unit differences. None with fewer than
    two units, where there is no test.
    """
    if units < 2:
        return None
    distance = abs(effect) * math.sqrt(units)
    if units > _NORMAL:
        line = ndtri(1 - alpha / 2)
        return float(ndtr(np.array([distance - line, -distance - line])).sum())
    return t_power(units - 1, distance, _line(units - 1, alpha))


def units_for_power(effect: float, *, power: float = 0.8, alpha: float = 0.05) -> int | None:
    """The smallest number of units with which the paired t test has this power; None where the effect is 0."""
    _check(power, alpha)
    if effect == 0 or not math.isfinite(effect):
        return None
    start = ((ndtri(1 - alpha / 2) + ndtri(power)) / abs(effect)) ** 2
    if start > _NORMAL:
        # The t test needs about z^2/2 units more than the normal one.
        return math.ceil(start + ndtri(1 - alpha / 2) ** 2 / 2)
    return first_enough(lambda units: _reached(effect, units, alpha) >= power, 1, max(4, math.ceil(start) + 10))


def first_enough(is_enough: Callable[[int], bool], low: int, high: int, most: int | None = None) -> int | None:
    """The smallest number above `low` that is enough, by doubling `high` and halving; None where `most` is not.

    >>> first_enough(lambda number: number**2 >= 50, 1, 2), first_enough(lambda number: False, 1, 2, most=100)
    (8, None)
    """
    while not is_enough(high):
        if most is not None and high >= most:
            return None
        low, high = high, 2 * high if most is None else min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def detectable(units: int, *, power: float = 0.8, alpha: float = 0.05) -> float | None:
    """The smallest effect that the paired t test finds with this power on this many units; None below two units."""
    _check(power, alpha)
    if units < 2:
        return None
    low, high = (0.0, alpha - power), (1.0, _reached(1.0, units, alpha) - power)
    while high[1] < 0:
        low, high = high, (2 * high[0], _reached(2 * high[0], units, alpha) - power)
    # The secant with the Illinois rule: an end that stays twice counts half.
    while high[0] - low[0] > 1e-10:
        middle = high[0] - high[1] * (high[0] - low[0]) / (high[1] - low[1])
        missing = _reached(middle, units, alpha) - power
        if abs(missing) < 1e-12:
            return middle
        if missing > 0:
            low, high = (low[0], low[1] / 2), (middle, missing)
        else:
            low, high = (middle, missing), (high[0], high[1] / 2)
    return high[0]


@dataclass(frozen=True, slots=True)
class AssuredVariance:
    """The variance of per-block differences in a pilot, and its upper limit, above the true one in four of five pilots.

    The measured variance is too small in about every second pilot, and so is a number of units planned from it.
    """

    measured: float
    upper: float


def assured_variance(values: Floats) -> AssuredVariance | None:
    """sigma^2 of the differences of a typical pair, and sigma^2 * nu / chi2, the 20% point at nu degrees of freedom.

    `values` are runs x blocks (`Blocks.values`); of two runs it is the variance of their differences. Per block
    v = 2 n/(n-1) * sum over runs of e^2/(k-1), e the residual of runs and blocks; sigma^2 = mean v and
    nu = 2 n sigma^4/var(v), at least 1, 2n where v is constant. None below six blocks, and where nothing varies.
    """
    runs, count = values.shape
    if runs < 2 or count < FEWEST_BLOCKS:
        return None
    left = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    by_block = 2 * count / (count - 1) * (left**2).sum(axis=0) / (runs - 1)
    variance, spread = float(by_block.mean()), float(by_block.var(ddof=1))
    if variance < TIE**2:
        return None
    freedom = max(1.0, 2 * count * variance**2 / spread) if spread > 0 else 2.0 * count
    return AssuredVariance(variance, variance * freedom / chi_square_point(freedom, 1 - ASSURANCE))


@lru_cache(maxsize=256)
def _line(freedom: int, alpha: float) -> float:
    """The line of the two-sided t test."""
    return two_sided_t_line(freedom, alpha)


def _reached(effect: float, units: int, alpha: float) -> float:
    return power(effect, units, alpha=alpha) or 0.0


def _check(power: float, alpha: float) -> None:
    check_test(alpha)
    if not alpha < power < 1:
        raise UsageError(f"power lies between the level {alpha} and 1, not {power}")
