"""How large a comparison has to be: the power of the paired t test, by the noncentral t distribution."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from qassay.errors import UsageError
from qassay.meta.special import ndtr, ndtri, t_power, two_sided_t_line

# Beyond this many units t and normal agree to every digit that matters, and the noncentral t becomes slow.
_NORMAL = 20_000


def check_test(alpha: float, permutations: int | None = None) -> None:
    """The level of a test lies between 0 and 1, and a randomisation test has a permutation at least."""
    if not 0 < alpha < 1:
        raise UsageError(f"the level of a test lies between 0 and 1, not {alpha}")
    if permutations is not None and permutations < 1:
        raise UsageError(f"a randomisation test needs at least one permutation, not {permutations}")


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
    low, high = 1, max(4, math.ceil(start) + 10)
    while _reached(effect, high, alpha) < power:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _reached(effect, middle, alpha) >= power else (middle, high)
    return high


def detectable(units: int, *, power: float = 0.8, alpha: float = 0.05) -> float | None:
    """The smallest effect that the paired t test finds with this power on this many units; None below two units."""
    _check(power, alpha)
    if units < 2:
        return None
    from scipy.optimize import brentq

    low, high = 0.0, 1.0
    while _reached(high, units, alpha) < power:
        low, high = high, 2 * high
    return float(brentq(lambda effect: _reached(effect, units, alpha) - power, low, high, xtol=1e-10))


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
