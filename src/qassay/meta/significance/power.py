"""How large a comparison has to be: the power of the paired t test, by the noncentral t distribution.

Where systems answered every question several times, the difference of two of them on Q questions with R repeats each
varies by s_q^2/Q + s_r^2/R + s_e^2/(Q*R): questions, what a repeat shifts on all questions at once, and the noise of
single answers. (METHOD 6, Repeats)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from qassay.arrays import TIE
from qassay.errors import UsageError
from qassay.matrix import Repeats
from qassay.meta.normal_and_t import ndtr, ndtri, t_power, two_sided_t_line
from qassay.meta.repeats import mean_squares

# Beyond this many units t and normal agree to every digit that matters, and the noncentral t becomes slow.
_NORMAL = 20_000


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


@dataclass(frozen=True, slots=True)
class Variances:
    """s_q^2, s_r^2 and s_e^2 of the difference of a typical pair, as means over all pairs.

    A repeat that shifts all questions at once leaves few degrees of freedom: there the normal distribution is used.
    """

    question: float
    repeat: float
    rest: float

    def units_for(self, difference: float, repeats: int, *, power: float, alpha: float) -> int | None:
        """The questions with which a test finds a difference; None where no number of them is enough."""
        per_question = self._per_question(repeats)
        if per_question <= 0:
            return None
        if self.repeat <= 0:
            return units_for_power(difference / math.sqrt(per_question), power=power, alpha=alpha)
        within = (difference / (ndtri(1 - alpha / 2) + ndtri(power))) ** 2 - self.repeat / repeats
        return max(2, math.ceil(per_question / within)) if within > 0 else None

    def detectable(self, units: int, repeats: int, *, power: float, alpha: float) -> float | None:
        """The difference that a test on this many questions finds with this power."""
        if self.repeat <= 0:
            smallest = detectable(units, power=power, alpha=alpha)
            return None if smallest is None else smallest * math.sqrt(self._per_question(repeats))
        return (ndtri(1 - alpha / 2) + ndtri(power)) * math.sqrt(self._variance(units, repeats))

    def power(self, difference: float, units: int, repeats: int, *, alpha: float) -> float | None:
        """The probability that a test on this many questions finds a difference; None where nothing varies."""
        if self._variance(units, repeats) <= 0:
            return None
        if self.repeat <= 0:
            return power(difference / math.sqrt(self._per_question(repeats)), units, alpha=alpha)
        distance, line = abs(difference) / math.sqrt(self._variance(units, repeats)), ndtri(1 - alpha / 2)
        return float(ndtr(np.array([distance - line, -distance - line])).sum())

    def _per_question(self, repeats: int) -> float:
        return self.question + self.rest / repeats

    def _variance(self, units: int, repeats: int) -> float:
        return self._per_question(repeats) / units + self.repeat / repeats


def variances(repeats: Repeats) -> Variances | None:
    """The variances of a typical pair of systems; None where no system has two repeats, or there is one system."""
    squares = [mean_squares(scores) for scores in repeats.values]
    several = [parts for parts in squares if parts.repeat_count > 1]
    if not several or len(squares) < 2:
        return None
    mean_rest = float(np.mean([parts.rest_variance for parts in several]))
    mean_repeat = float(np.mean([parts.repeat_variance for parts in several]))
    rest = [parts.rest_variance if parts.repeat_count > 1 else mean_rest for parts in squares]
    repeat = [parts.repeat_variance if parts.repeat_count > 1 else mean_repeat for parts in squares]
    means = [scores.mean(axis=1) for scores in repeats.values]
    pairs = list(combinations(range(len(squares)), 2))
    noise = [value / parts.repeat_count for value, parts in zip(rest, squares, strict=True)]
    question = [max(float((means[i] - means[j]).var(ddof=1)) - noise[i] - noise[j], 0.0) for i, j in pairs]
    of_pairs = (question, [repeat[i] + repeat[j] for i, j in pairs], [rest[i] + rest[j] for i, j in pairs])
    # Scores that do not vary have no variance, but for rounding.
    return Variances(*(mean if (mean := float(np.mean(values))) > TIE**2 else 0.0 for values in of_pairs))


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
