"""Sign flips: the randomisation test of a paired difference, and the interval that is its inverse.

If two runs do not differ, which of them earned which score on a unit is a matter of chance, and the sign of every
per-unit difference could as well be the other one. The interval holds every difference that the test does not
reject, so that interval and p-value cannot contradict each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qassay.matrix import Floats, ScoreMatrix
from qassay.meta.intervals.blocks import Blocks, blocks

# Random flips unless told; all there are where there are no more than this.
FLIPS = 100_000


@dataclass(frozen=True, slots=True)
class FlipTest:
    """The outcome: the difference, its interval, its p-value, and how many flips stand behind them.

    A limit is None where no difference is far enough out to be rejected: too few units. `exact` says that every
    flip there is was looked at; p = hits/flips then, else (1 + hits)/(1 + flips).
    """

    difference: float
    low: float | None
    high: float | None
    p: float
    flips: int
    exact: bool
    level: float

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both limits; None where there is none on either side."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def rejects(self) -> bool:
        """Whether no difference at all is ruled out: 0 lies outside the interval."""
        return (self.low is not None and self.low > 0) or (self.high is not None and self.high < 0)


def difference_interval(
    matrix: ScoreMatrix, a: str, b: str, *, level: float = 0.95, flips: int = FLIPS, seed: int = 0
) -> FlipTest:
    """The interval of the difference of two runs, and the paired randomisation test that it inverts.

    For a set F of flipped units, the flipped mean of the differences less delta is at least as far from 0 as the
    observed one exactly where delta lies between the mean difference over F and the mean over the other units.
    So the limits are order statistics of these means, and one set of flips serves every delta. Series are flipped
    as wholes. All flips are enumerated where there are no more than `flips` of them.
    """
    return flip_test(blocks(matrix.select([a, b])), level=level, flips=flips, seed=seed)


def flip_test(pair: Blocks, *, level: float = 0.95, flips: int = FLIPS, seed: int = 0) -> FlipTest:
    """The test and the interval for the first run less the second of a two-run `Blocks`."""
    differences = pair.parts[0] - pair.parts[1]
    total = float(differences.sum())
    exact = every_flip_fits(pair.count, flips)
    count = 2**pair.count if exact else flips
    lows, highs = np.empty(count), np.empty(count)
    at = 0
    for chosen in flip_chunks(pair.count, flips, seed):
        signs = chosen.astype(np.float64)
        flipped, share = signs @ differences, signs @ pair.weights / pair.weights.sum()
        one = _mean(flipped, share, pair)
        other = _mean(total - flipped, 1.0 - share, pair)
        rows = slice(at, at + len(chosen))
        # A flip of nothing, or of everything, leaves the distance from 0 as it was, whatever delta is.
        trivial = np.isnan(one) | np.isnan(other)
        lows[rows] = np.where(trivial, -np.inf, np.minimum(one, other))
        highs[rows] = np.where(trivial, np.inf, np.maximum(one, other))
        at += len(chosen)
    hits = int(((lows <= 0) & (highs >= 0)).sum())
    needed = hits_needed(count, 1 - level, exact=exact)
    low, high = -np.inf, np.inf
    if 1 <= needed <= count:
        low = float(np.partition(lows, needed - 1)[needed - 1])
        high = -float(np.partition(-highs, needed - 1)[needed - 1])
    return FlipTest(
        difference=total / pair.scale,
        low=low if math.isfinite(low) else None,
        high=high if math.isfinite(high) else None,
        p=hits / count if exact else (1 + hits) / (1 + count),
        flips=count,
        exact=exact,
        level=level,
    )


def hits_needed(count: int, alpha: float, *, exact: bool) -> int:
    """The least number of hits that makes p larger than alpha."""
    # The small term keeps 0.05 * 20 at 1 whatever its last bit is.
    return math.floor(alpha * count + 1e-9) + 1 if exact else math.floor(alpha * (count + 1) + 1e-9)


def every_flip_fits(count: int, flips: int) -> bool:
    """Whether all flips of so many blocks can be enumerated."""
    return count < 63 and 2**count <= flips


def flip_chunks(count: int, flips: int, seed: int, *, rows: int = 4096) -> Iterator[NDArray[np.uint8]]:
    """Sets of flipped blocks as rows of 0 and 1, so many rows at a time: all sets there are, or random ones."""
    if every_flip_fits(count, flips):
        for start in range(0, 2**count, rows):
            numbers = np.arange(start, min(start + rows, 2**count))[:, None]
            yield ((numbers >> np.arange(count)) & 1).astype(np.uint8)
        return
    rng = np.random.default_rng(seed)
    width = -(-count // 8)
    for start in range(0, flips, rows):
        packed = rng.integers(256, size=(min(rows, flips - start), width), dtype=np.uint8)
        yield np.unpackbits(packed, axis=1, count=count)


def _mean(sums: Floats, share: Floats, pair: Blocks) -> Floats:
    """Mean difference over a part of the units; NaN over none; 0 where it is no more than rounding."""
    sums = np.where(np.abs(sums) < pair.tolerance, 0.0, sums)
    empty = np.abs(share) < 1e-12
    return np.where(empty, np.nan, sums / (pair.scale * np.where(empty, 1.0, share)))
