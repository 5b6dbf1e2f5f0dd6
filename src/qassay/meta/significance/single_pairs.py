"""p-values of every single pair of runs, and their corrections for the number of pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import Floats, Integers
from qassay.meta.blocks import Blocks
from qassay.meta.flips import FLIPS, every_flip_fits, flip_chunks
from qassay.meta.right_or_wrong import mid_p

# More flips than this are not drawn on our own account; the notes then say what they cannot show.
MOST_FLIPS = 1_000_000
# Flips looked at together: rows of this length stay in the processor's cache.
_ROWS = 16_384
# Whole numbers and halves up to here are exact in single precision, which is twice as fast.
_SINGLE = 2.0**22


def flips_for(pairs: int, alpha: float) -> int:
    """As many flips as Holm's correction of this many pairs needs to reach its level, within bounds."""
    return min(max(FLIPS, math.ceil(pairs / alpha)), MOST_FLIPS)


def binomial_p_values(parts: Blocks) -> Floats | None:
    """The mid-p of every pair of runs (runs x runs) where scores are right or wrong; else None.

    It is computed, without drawing a flip, from the units where the two differ.
    """
    values = np.unique(parts.parts)
    if len(values) > 2 or not (parts.weights == parts.weights[0]).all():
        return None
    runs = len(parts.parts)
    right = (parts.parts == values[-1]).astype(np.float64)
    both = right @ right.T
    ahead = np.rint(np.diag(both)[:, None] - both).astype(int).tolist()
    binomial = cache(mid_p)
    p = np.ones((runs, runs))
    for first in range(runs):
        for second in range(first):
            p[first, second] = binomial(*sorted((ahead[first][second], ahead[second][first])), parts.count)
    return np.minimum(p, p.T)


def flip_p_values(
    parts: Blocks, *, flips: int, seed: int, progress: Callable[[int, int], None] | None = None
) -> tuple[Floats, int, bool]:
    """p-values of the sign-flip test for every pair of runs (runs x runs), the flips behind them, and if they are all.

    Flipping the differences of two runs is flipping the scores of both, so the flipped sums of the runs serve every
    pair: the work is one matrix product, and one comparison for each pair and flip.
    """
    runs = len(parts.parts)
    totals = parts.parts.sum(axis=1)
    lines = np.abs(totals[:, None] - totals[None, :]) - parts.tolerance
    single = bool(2 * np.abs(parts.parts).sum(axis=1).max(initial=0.0) < _SINGLE)
    kind: type[np.float32 | np.float64] = np.float32 if single else np.float64
    hits = np.zeros((runs, runs), dtype=np.int64)
    done = 0
    exact = every_flip_fits(parts.count, flips)
    total = 2**parts.count if exact else flips
    signed: NDArray[Any] = parts.parts.astype(kind)
    for chosen in flip_chunks(parts.count, flips, seed, rows=_ROWS):
        signs: NDArray[Any] = 1 - 2 * chosen.astype(kind)
        _count_hits(np.ascontiguousarray(signed @ signs.T), lines, hits)
        done += len(chosen)
        if progress is not None:
            progress(done, total)
    hits += hits.T
    p: Floats = hits / total if exact else (1 + hits) / (1 + total)
    return p, total, exact


def _count_hits(flipped: NDArray[Any], lines: Floats, hits: Integers) -> None:
    """Count, for every pair of rows, the flips whose difference reaches the pair's line."""
    buffer = np.empty(flipped.shape[1], dtype=flipped.dtype)
    for first in range(len(flipped)):
        for second in range(first + 1, len(flipped)):
            np.subtract(flipped[first], flipped[second], out=buffer)
            np.abs(buffer, out=buffer)
            hits[first, second] += np.count_nonzero(buffer >= float(lines[first, second]))


def t_p_values(parts: Blocks) -> Floats:
    """p-values of the paired t test for every pair of runs (runs x runs); NaN where a pair does not vary.

    The variance of a difference follows from the covariances of the runs; series count as wholes, by the share of
    the units they hold.
    """
    from scipy.special import stdtr

    count = parts.count
    totals = parts.parts.sum(axis=1)
    spread = (parts.parts - totals[:, None] * parts.shares) / parts.scale
    products = spread @ spread.T
    squares = np.diag(products)
    variance = np.maximum(squares[:, None] + squares[None, :] - 2 * products, 0.0)
    # Rounding leaves crumbs of the variance of runs that differ by the same amount everywhere.
    variance[variance < 1e-12 * (squares[:, None] + squares[None, :])] = 0.0
    if count < 2:
        return np.full(variance.shape, np.nan)
    error = np.sqrt(variance * count / (count - 1))
    difference = np.abs(totals[:, None] - totals[None, :]) / parts.scale
    t = np.divide(difference, error, out=np.full(error.shape, np.nan), where=error > 0)
    return np.asarray(2 * stdtr(count - 1, -t))


def holm(p: Floats) -> Floats:
    """Holm's step-down adjustment (Holm 1979): the chance of any false difference stays below the level.

    The i-th smallest of m p-values is multiplied by m - i + 1; running maximum, at most 1.
    """
    count = len(p)
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(count, 0, -1)) if count else p
    return _back(np.minimum(raised, 1.0), order)


def holm_levels(p: Mapping[str, float], alpha: float) -> tuple[dict[str, float], dict[str, float]]:
    """The level of each test, and its adjusted p-value, such that both decide as Holm's correction does.

    The i-th smallest of m p-values is tested at alpha/(m - i + 1), and all that follow the first one that is not
    significant at its level. An interval at the level of its test then excludes 0 exactly where the adjusted p-value
    is at most alpha.
    """
    adjusted = dict(zip(p, holm(np.array(list(p.values()))).tolist(), strict=True))
    levels: dict[str, float] = {}
    left = len(p)
    for name in sorted(p, key=lambda name: p[name]):
        levels[name] = alpha / left
        if p[name] <= alpha / left:
            left -= 1
    return {name: levels[name] for name in p}, adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini and Hochberg's step-up adjustment (1995): the expected share of false differences.

    The i-th smallest of m p-values is multiplied by m/i; running minimum from the largest down, at most 1.
    """
    count = len(p)
    order = np.argsort(p, kind="stable")
    raised = p[order] * (count / np.arange(1, count + 1))
    lowered = np.minimum.accumulate(raised[::-1])[::-1] if count else raised
    return _back(np.minimum(lowered, 1.0), order)


def _back(adjusted: Floats, order: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Floats:
    result: Floats = np.empty(len(adjusted))
    result[order] = adjusted
    return result
