"""The paired randomisation test and the paired t test for all pairs of runs at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qassay.matrix import Floats, Integers
from qassay.meta.intervals import Blocks, every_flip_fits, flip_chunks

# Flips looked at together: rows of this length stay in the processor's cache.
_ROWS = 16_384
# Whole numbers and halves up to here are exact in single precision, which is twice as fast.
_SINGLE = 2.0**22


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
