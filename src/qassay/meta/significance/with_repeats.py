"""The power of the test of two systems that answered every question several times, exact up to the variances.

The difference of two systems on Q questions with R repeats each varies by V = (q + e/R)/Q + r/R: questions, single
answers, and what a repeat shifts on all questions at once. The test sees an estimate of V, with few degrees of freedom
where there are few repeats, so that its line varies from evaluation to evaluation. (METHOD 6, Repeats)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from qassay.arrays import TIE, Floats
from qassay.matrix import Repeats
from qassay.meta.normal_and_t import ndtr
from qassay.meta.repeats import mean_squares
from qassay.meta.significance.power import first_enough

# Midpoint quantiles of each estimated variance: the power is the mean over their combinations.
QUANTILES = 24
# More questions than these are not looked at.
MOST_QUESTIONS = 1_000_000


@dataclass(frozen=True, slots=True)
class Variances:
    """q, r and e of the difference of a typical pair, as means over all pairs: questions, repeats, single answers."""

    question: float
    repeat: float
    rest: float

    def power(self, difference: float, units: int, repeats: int, *, alpha: float) -> float | None:
        """The probability that a test on this many questions finds a difference.

        None where nothing varies, where there is no test, and where one repeat does not show what running again
        shifts.
        """
        deviation = math.sqrt(self.variance(units, repeats))
        if units < 2 or deviation <= 0 or (repeats < 2 and self.repeat > 0):
            return None
        return float(ndtr((abs(difference) - _lines(self, units, repeats, alpha)) / deviation).mean())

    def units_for(self, difference: float, repeats: int, *, power: float, alpha: float) -> int | None:
        """The questions with which a test finds a difference; None where a million are not enough."""

        def is_enough(units: int) -> bool:
            return (self.power(difference, units, repeats, alpha=alpha) or 0.0) >= power

        return first_enough(is_enough, 1, 2, MOST_QUESTIONS)

    def detectable(self, units: int, repeats: int, *, power: float, alpha: float) -> float | None:
        """The difference that a test on this many questions finds with this power."""
        if self.power(0.0, units, repeats, alpha=alpha) is None:
            return None
        from scipy.optimize import brentq

        def missing(difference: float) -> float:
            return (self.power(difference, units, repeats, alpha=alpha) or 0.0) - power

        high = math.sqrt(self.variance(units, repeats))
        while missing(high) < 0:
            high *= 2
        return float(brentq(missing, 0.0, high, xtol=1e-10))

    def variance(self, units: int, repeats: int) -> float:
        """The variance of the difference of the two means."""
        return (self.question + self.rest / repeats) / units + self.repeat / repeats


@lru_cache(maxsize=128)
def _lines(given: Variances, units: int, repeats: int, alpha: float) -> Floats:
    """The line of the test, t times its deviation, in every combination of quantiles of what it estimates.

    It sees (q + e/R)/Q times x0, and for each system max(0, g - e/2)/(QR) with g = (e + Qr)/2 times x, where x0, x are
    chi-squared over their degrees of freedom, Q - 1 and R - 1. Degrees of freedom follow Satterthwaite, at least 1.
    """
    from scipy.special import stdtrit

    cells = units * repeats
    by_question = (given.question + given.rest / repeats) / units * _chi_squared(units - 1)
    total, spread = by_question[:, None, None], (by_question**2 / (units - 1))[:, None, None]
    if repeats > 1:
        shift = (given.rest + units * given.repeat) / 2 / cells * _chi_squared(repeats - 1)
        noise = given.rest / 2 / cells
        is_seen = shift > noise
        added = np.where(is_seen, shift - noise, 0.0)
        uncertain = np.where(is_seen, shift**2 / (repeats - 1) + noise**2 / ((units - 1) * (repeats - 1)), 0.0)
        total = total + added[:, None] + added
        spread = spread + uncertain[:, None] + uncertain
    freedom = np.divide(total**2, spread, out=np.ones_like(total), where=spread > 0)
    return np.asarray(stdtrit(np.maximum(freedom, 1.0), 1 - alpha / 2) * np.sqrt(total))


@lru_cache(maxsize=64)
def _chi_squared(freedom: int) -> Floats:
    """Midpoint quantiles of chi-squared over its degrees of freedom."""
    from scipy.special import gammaincinv

    levels = (np.arange(QUANTILES) + 0.5) / QUANTILES
    return np.asarray(gammaincinv(freedom / 2, levels) / (freedom / 2))


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
