"""The bootstrap over units: resample them (or whole series), score every run anew, and read off an interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from qassay.matrix import Floats, Integers, ScoreMatrix
from qassay.meta.intervals.blocks import block_index, scores_without

_CELLS = 2_000_000  # of a chunk of resamples; bounds the memory


def bootstrap_scores(
    matrix: ScoreMatrix, *, resamples: int, seed: int, progress: Callable[[int, int], None] | None = None
) -> Floats:
    """Scores of every run on resampled units, resamples x runs.

    Units are drawn with replacement, whole series where `matrix.clusters` names them; the summary of the matrix
    is computed anew on every draw.
    """
    rng = np.random.default_rng(seed)
    index, sizes = block_index(matrix)
    found = np.empty((resamples, len(matrix.runs)))
    for start, stop in chunks(resamples, max(len(matrix.units), 1)):
        times = _draw(rng, stop - start, len(sizes))
        found[start:stop] = matrix.summary.resampled(matrix.values, times[:, index], matrix.denominator)
        if progress is not None:
            progress(stop, resamples)
    return found


def bca_limits(
    scores: Floats, resampled: Floats, left_out: Floats, *, level: float = 0.95, expand: bool = True
) -> tuple[Floats, Floats]:
    """Limits of bias-corrected and accelerated intervals, one a column of `resampled`.

    Efron (1987): with z0 the normal quantile of the share of resamples below the score (ties half) and a the
    acceleration from the jackknife, the limits are the resamples' quantiles at
    Phi(z0 + (z0 + z)/(1 - a(z0 + z))). `expand` takes z = sqrt(n/(n-1)) t(n-1) in place of the normal quantile
    (Hesterberg 2015), since a bootstrap of few units is too narrow by that factor. Where all resamples agree, both
    limits are the score.
    """
    from scipy.special import ndtr, ndtri, stdtrit

    count = len(left_out)
    tail = (1.0 + level) / 2.0
    z = float(np.sqrt(count / (count - 1)) * stdtrit(count - 1, tail)) if expand and count > 1 else float(ndtri(tail))
    resamples = len(resampled)
    below = ((resampled < scores).sum(axis=0) + (resampled <= scores).sum(axis=0)) / (2 * resamples)
    # A score at the very end of its resamples has no normal quantile; half a resample beyond stands in.
    bias = ndtri(np.clip(below, 0.5 / resamples, 1 - 0.5 / resamples))
    from_mean = left_out.mean(axis=0) - left_out
    spread = (from_mean**2).sum(axis=0) ** 1.5
    acceleration = np.divide((from_mean**3).sum(axis=0), 6 * spread, out=np.zeros(len(scores)), where=spread > 0)
    ordered = np.sort(resampled, axis=0)
    limits = []
    for side in (-z, z):
        shifted = bias + side
        wanted = ndtr(bias + shifted / np.maximum(1 - acceleration * shifted, 1e-6))
        limits.append(_quantiles(ordered, wanted))
    return limits[0], limits[1]


def bca_intervals(
    matrix: ScoreMatrix,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Floats, Floats]:
    """BCa limits of every run's score, over units or, where they are named, over series."""
    resampled = bootstrap_scores(matrix, resamples=resamples, seed=seed, progress=progress)
    return bca_limits(matrix.scores(), resampled, scores_without(matrix), level=level)


def chunks(total: int, width: int) -> Iterator[tuple[int, int]]:
    """Spans of rows such that a chunk of `width` columns stays small."""
    step = max(1, _CELLS // max(width, 1))
    for start in range(0, total, step):
        yield start, min(start + step, total)


def _draw(rng: np.random.Generator, rows: int, count: int) -> Integers:
    """How often each of `count` blocks is drawn, in each of `rows` resamples."""
    drawn = rng.integers(count, size=(rows, count)) + count * np.arange(rows)[:, None]
    return np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count)


def _quantiles(ordered: Floats, wanted: Floats) -> Floats:
    """One quantile a column of sorted columns, by linear interpolation."""
    place = wanted * (len(ordered) - 1)
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, len(ordered) - 1)
    columns = np.arange(ordered.shape[1])
    below, above = ordered[low, columns], ordered[high, columns]
    return np.asarray(below + (above - below) * (place - low))
