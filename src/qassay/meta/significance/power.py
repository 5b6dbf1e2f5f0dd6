"""How large a paired comparison has to be: the power of the paired t test, by the noncentral t distribution."""

from __future__ import annotations

import math

from qassay.errors import UsageError

# Beyond so many units t and normal agree to every digit that matters, and the noncentral t becomes slow.
_NORMAL = 20_000


def power(effect: float, units: int, *, alpha: float = 0.05) -> float | None:
    """The probability that a two-sided paired t test at level `alpha` finds a true difference.

    `effect` is the difference divided by the standard deviation of the per-unit differences. None with fewer than
    two units, where there is no test.
    """
    if units < 2:
        return None
    from scipy.special import nctdtr, ndtr, ndtri, stdtrit

    distance = abs(effect) * math.sqrt(units)
    if units > _NORMAL:
        line = float(ndtri(1 - alpha / 2))
        return float(ndtr(distance - line) + ndtr(-distance - line))
    line = -float(stdtrit(units - 1, alpha / 2))
    below, above = (float(nctdtr(units - 1, distance, at)) for at in (-line, line))
    # scipy gives not-a-number for probabilities too small to compute: below 1e-15 wherever it was seen.
    return 1 - (0.0 if math.isnan(above) else above) + (0.0 if math.isnan(below) else below)


def units_for_power(effect: float, *, power: float = 0.8, alpha: float = 0.05) -> int | None:
    """The smallest number of units with which the paired t test has this power; None where the effect is 0."""
    _check(power, alpha)
    if effect == 0 or not math.isfinite(effect):
        return None
    from scipy.special import ndtri

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
    """The smallest effect that the paired t test finds with this power on so many units; None below two units."""
    _check(power, alpha)
    if units < 2:
        return None
    from scipy.optimize import brentq

    low, high = 0.0, 1.0
    while _reached(high, units, alpha) < power:
        low, high = high, 2 * high
    return float(brentq(lambda effect: _reached(effect, units, alpha) - power, low, high, xtol=1e-10))


def _reached(effect: float, units: int, alpha: float) -> float:
    return power(effect, units, alpha=alpha) or 0.0


def _check(wanted: float, alpha: float) -> None:
    if not 0 < alpha < 1:
        raise UsageError(f"the level of a test lies between 0 and 1, not {alpha}")
    if not alpha < wanted < 1:
        raise UsageError(f"power lies between the level {alpha} and 1, not {wanted}")
