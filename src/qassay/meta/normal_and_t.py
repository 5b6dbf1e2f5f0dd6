"""The normal and the t distribution for a few values, without loading scipy.special.

With scipy.special `qassay compare` of two systems takes 1.5 times the processor time (`python -m benchmarks start`).
What it needs is here: each function agrees with scipy's to ten digits or more (tests/meta/test_normal_and_t.py).
Many values, and many units, go to scipy.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from qassay.arrays import Floats

# From this many values on, scipy's compiled loop saves more than loading it costs.
MANY = 20_000
# Beyond this many degrees of freedom the logarithms of the gamma function cancel; scipy has another way.
LARGEST = 10_000
# The integral over the spread: as many steps as show its peak at the largest number of degrees of freedom.
STEPS = 2_000
_TINY = 1e-300
_TAIL = 40.0


def ndtr(values: Floats) -> Floats:
    """The normal distribution function."""
    if values.size > MANY:
        from scipy.special import ndtr as compiled

        return np.asarray(compiled(values))
    scaled = (values * -math.sqrt(0.5)).ravel().tolist()
    return 0.5 * np.array([math.erfc(value) for value in scaled]).reshape(values.shape)


def ndtri(share: float) -> float:
    """The quantile of the normal distribution; the end of the line at 0 and 1."""
    from statistics import NormalDist

    if not 0.0 < share < 1.0:
        return -math.inf if share <= 0.0 else math.inf
    return NormalDist().inv_cdf(share)


def normal_quantiles(shares: Floats) -> Floats:
    """The quantile of the normal distribution for each share."""
    if shares.size > MANY:
        from scipy.special import ndtri as compiled

        return np.asarray(compiled(shares))
    return np.array([ndtri(share) for share in shares.ravel().tolist()]).reshape(shares.shape)


def two_sided_t(freedom: int, t: float) -> float:
    """The probability of a t value at least this far from 0: the incomplete beta function at n/(n + t^2).

    The continued fraction is that of Didonato and Morris (1992), evaluated after Lentz (1976).
    """
    if freedom > LARGEST:
        from scipy.special import stdtr

        return float(2 * stdtr(freedom, -abs(t)))
    if t * t < _TINY:
        return 1.0
    if math.isinf(t):
        return 0.0
    a, b = freedom / 2, 0.5
    x, rest = freedom / (freedom + t * t), t * t / (freedom + t * t)
    log = math.log(x) if x < rest else math.log1p(-rest)  # whichever does not cancel
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * log + b * math.log(rest)
    if x < (a + 1) / (a + b + 2):
        return math.exp(front) * _fraction(a, b, x) / a
    return 1.0 - math.exp(front) * _fraction(b, a, rest) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function."""
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 10_000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / _away(1.0 + step * d)
            c = _away(1.0 + step / c)
            value *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return value


def _away(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def two_sided_t_line(freedom: int, alpha: float) -> float:
    """The t value that is exceeded on both sides together with probability `alpha`."""
    if freedom > LARGEST:
        from scipy.special import stdtrit

        return -float(stdtrit(freedom, alpha / 2))
    # The tail is convex, and the normal line lies below: Newton's steps go up to the root and never past it.
    t = ndtri(1 - alpha / 2)
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    for _ in range(100):
        density = scale * (1 + t * t / freedom) ** (-(freedom + 1) / 2)
        step = (two_sided_t(freedom, t) - alpha) / (2 * density)
        t += step
        if abs(step) <= 1e-15 * t:
            break
    return t


def chi_square_point(freedom: float, share: float) -> float:
    """The value below which this share of a chi-square lies; the degrees of freedom need not be whole.

    Newton's steps from Wilson and Hilferty's (1931) approximation, on the series of the incomplete gamma function; with
    many degrees of freedom the approximation is exact to seven digits.
    """
    part = 2 / (9 * freedom)
    value = freedom * max(1 - part + ndtri(share) * math.sqrt(part), 0.01) ** 3
    half = freedom / 2
    for _ in range(50 if freedom < LARGEST else 0):
        x = value / 2
        density = math.exp(half * math.log(x) - x - math.lgamma(half + 1))
        term = total = 1.0
        for k in range(1, 10_000):
            term *= x / (half + k)
            total += term
            if term < 1e-17 * total:
                break
        step = (density * total - share) / (density * half / x) * 2
        value = max(value - step, value / 10)
        if abs(step) <= 1e-14 * value:
            break
    return value


def t_power(freedom: int, distance: float, line: float) -> float:
    """The probability that a t value whose mean is shifted by `distance` lies beyond a line on either side.

    T = (Z + distance)/s, where s^2 is a chi-square over its degrees of freedom: the mean over s of
    P(Z > line s - distance) + P(Z < -line s - distance), by the trapezoidal rule in log s, which converges fast where
    the integrand falls off at both ends.
    """
    spread, weights = _spreads(freedom)
    beyond = ndtr(distance - line * spread) + ndtr(-distance - line * spread)
    return float((beyond * weights).sum())


@lru_cache(maxsize=64)
def _spreads(freedom: int) -> tuple[Floats, Floats]:
    """Values of s on a grid of its logarithm, and their weights."""
    left = -(_TAIL / freedom + 0.5)
    right = 0.5 * math.log1p(2 * math.sqrt(_TAIL / freedom) + 2 * _TAIL / freedom)
    logs = np.linspace(left, right, STEPS + 1)
    density = freedom * (logs - np.expm1(2 * logs) / 2)
    weights = np.exp(density - density.max())
    return np.exp(logs), weights / weights.sum()
