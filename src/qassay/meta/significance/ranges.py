"""Tukey's honestly significant difference for runs over the same units: is the range of all runs that wide by chance?

Two ways to say what chance does: the studentized range distribution on the residual of runs and units (two-way,
paired; the one-way test of most libraries ignores that the runs share their units and finds far less), and the
range under random exchange of the runs within each unit, which assumes no distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from qassay.arrays import Floats
from qassay.meta.blocks import Blocks, chunks

_CELLS = 4_000_000  # of one batch of exchanges; bounds the memory
_FURTHEST = 36.0  # a normal range beyond this has a probability below 1e-140


def residual_variance(values: Floats) -> tuple[float, int]:
    """Mean square of what runs and units leave unexplained (two-way, no replication), and its degrees of freedom."""
    runs, units = values.shape
    left = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    freedom = (runs - 1) * (units - 1)
    return float((left**2).sum()) / freedom, freedom


def exchange_ranges(
    parts: Blocks, *, permutations: int, seed: int, progress: Callable[[int, int], None] | None = None
) -> tuple[Floats, Floats]:
    """Ranges and single differences of run sums when runs are exchanged at random within each unit or series.

    The second array holds, row by row, the differences of disjoint pairs of runs under the same exchanges: what
    one pair alone does by chance. Each unit draws its exchanges from a stock of 4 * sqrt(permutations) random ones,
    which makes the work a sum of table rows. Every exchange is uniform, and given one unit's exchange the ranges
    are distributed as before, so the stock adds at most 1/16 to the variance of a p-value.
    """
    rng = np.random.default_rng(seed)
    runs, count = parts.parts.shape
    ranges = np.empty(permutations)
    pairs = min(runs // 2, max(1, _CELLS // permutations))
    singles = np.empty((permutations, pairs))
    batch = max(1, _CELLS // max(runs, 1))
    batches = math.ceil(permutations / batch)
    for number in range(batches):
        start, stop = number * batch, min((number + 1) * batch, permutations)
        sums = np.zeros((stop - start, runs))
        stock = min(stop - start, math.ceil(4 * math.sqrt(stop - start)))
        table = np.empty((stock, runs))
        for block in range(count):
            table[:] = parts.parts[:, block]
            rng.permuted(table, axis=1, out=table)
            _add_rows(sums, table, rng.integers(stock, size=stop - start))
            if progress is not None:
                progress(number * count + block + 1, batches * count)
        ranges[start:stop] = sums.max(axis=1) - sums.min(axis=1)
        singles[start:stop] = np.abs(sums[:, 0 : 2 * pairs : 2] - sums[:, 1 : 2 * pairs : 2])
    return ranges, singles


def _add_rows(sums: Floats, table: Floats, chosen: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
    """Add a chosen row of the table to every row of the sums, in pieces that stay in the processor's cache."""
    step = max(1, 65_536 // sums.shape[1])
    buffer = np.empty((step, sums.shape[1]))
    for start in range(0, len(sums), step):
        stop = min(start + step, len(sums))
        taken = np.take(table, chosen[start:stop], axis=0, out=buffer[: stop - start], mode="clip")
        sums[start:stop] += taken


def studentized_range_sf(q: Floats, runs: int, freedom: float) -> Floats:
    """P(studentized range of `runs` means > q), for many q at once.

    Integral over s = sqrt(chi2/freedom) of the tail of the normal range at q*s,
    k * integral of phi(z) Phi(z)^(k-1) (1 - (1 - Phi(z-r)/Phi(z))^(k-1)) dz, by Gauss-Legendre quadrature:
    scipy's own function agrees to eight digits and takes ten milliseconds for each q.
    """
    from scipy.special import gammainccinv, gammaincinv, gammaln, xlogy

    half = freedom / 2
    low, high = np.sqrt([gammaincinv(half, 1e-15) / half, gammainccinv(half, 1e-15) / half])
    s, weight = _legendre(96, float(low), float(high))
    density = np.exp(np.log(2) + xlogy(half, half) - gammaln(half) + xlogy(freedom - 1, s) - half * s**2) * weight
    density /= density.sum()
    tails: Floats = np.empty(len(q))
    for start, stop in chunks(len(q), 96 * 20):
        ranges = np.minimum(np.multiply.outer(q[start:stop], s), _FURTHEST)
        tails[start:stop] = np.exp(np.minimum(_log_tail(runs)(ranges), 0.0)) @ density
    return np.clip(tails, 0.0, 1.0)


def critical_range(runs: int, freedom: float, alpha: float) -> float:
    """The q that the studentized range exceeds with probability `alpha`."""
    from scipy.optimize import brentq

    def excess(q: float) -> float:
        return float(studentized_range_sf(np.array([q]), runs, freedom)[0]) - alpha

    high = 8.0
    while excess(high) > 0:
        high *= 2
    return float(brentq(excess, 0.0, high, xtol=1e-12))


@lru_cache(maxsize=8)
def _log_tail(runs: int) -> Callable[[Floats], Floats]:
    """Log of the tail of the range of `runs` standard normal values, interpolated from a fine table."""
    from scipy.interpolate import CubicSpline

    knots = np.linspace(0.0, _FURTHEST, 1600)
    spline: Callable[[Floats], Floats] = CubicSpline(knots, np.log(np.maximum(_normal_range_tail(knots, runs), 1e-300)))
    return spline


def _normal_range_tail(r: Floats, runs: int) -> Floats:
    from scipy.special import log_ndtr

    z, weight = _legendre(400, -8.5, 10.0)
    cdf = log_ndtr(z)
    top = runs * np.exp(-0.5 * z**2 + (runs - 1) * cdf) / math.sqrt(2 * math.pi) * weight
    ratio = np.exp(np.minimum(log_ndtr(z - r[:, None]) - cdf, 0.0))
    with np.errstate(divide="ignore"):
        part = -np.expm1((runs - 1) * np.log1p(-ratio))
    return np.asarray(part @ top)


def _legendre(count: int, low: float, high: float) -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss-Legendre quadrature on an interval."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) * (high - low) / 2 + low, weights * (high - low) / 2
