"""The independent parts of a score: units, or whole series of them, whose parts add up to the score of a run.

Resampling, sign flips, permutations and variances all act on blocks. What the part of a unit is, the summary of the
matrix says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from qassay.arrays import TIE, Floats, Integers, whole_numbers
from qassay.matrix import ScoreMatrix

_CELLS = 2_000_000  # of a chunk of resamples or flips; bounds the memory


@dataclass(frozen=True, eq=False)
class Blocks:
    """Runs x blocks; `parts[r].sum() / scale` is the score of run r.

    The parts are whole numbers, so that every sum of them is exact. `sizes[b]` is the number of units of block b,
    `weights[b]` what block b adds to a score when all its units gain the same: its size, unless units weigh by type.
    Two sums closer than `tolerance` are equal. `name` is what people call a block and blocks. `span` is the range of
    the scores (`ScoreMatrix.span`).
    """

    parts: Floats
    sizes: Integers
    weights: Floats
    scale: float
    tolerance: float
    name: tuple[str, str]
    span: float

    @property
    def count(self) -> int:
        """Number of blocks."""
        return len(self.sizes)

    @cached_property
    def shares(self) -> Floats:
        """The share of each block in a score."""
        return np.asarray(self.weights / self.weights.sum())

    def values(self) -> Floats:
        """Runs x blocks, such that the mean of a row is the run's score and its spread the noise of that score.

        A block that counts for more than others has more of every score, which is not spread.
        """
        scores = self.parts.sum(axis=1, keepdims=True) / self.scale
        return np.asarray(self.parts * (self.count / self.scale) - scores * (self.shares * self.count - 1))


def blocks(matrix: ScoreMatrix) -> Blocks:
    """The independent parts of every run's score: series where `matrix.clusters` names them, else units."""
    index, sizes = block_index(matrix)
    units = len(matrix.units)
    weights = np.bincount(index, weights=matrix.summary.unit_weights(np.arange(units)), minlength=len(sizes))
    exact = matrix.denominator if matrix.summary.is_mean else None
    whole, scale = whole_numbers(matrix.summary.parts(matrix.values), exact)
    if matrix.clusters is not None:
        whole = np.stack([np.bincount(index, weights=row, minlength=len(sizes)) for row in whole])
    # In lowest terms, so that the digits of runs that were left out change nothing.
    divisor = int(np.gcd.reduce(whole.astype(np.int64), axis=None)) if scale.is_integer() else 1
    divisor = math.gcd(divisor, int(scale))
    whole, scale = whole / divisor, scale / divisor
    # Below half a whole number there is no difference; decimals such as 0.333333333333 have smaller ones than a tie is.
    tolerance = max(0.5, TIE * units * scale)
    name = matrix.unit_name if matrix.clusters is None else ("series", "series")
    return Blocks(whole, sizes, weights.astype(np.float64), scale * units, tolerance, name, matrix.span)


def block_index(matrix: ScoreMatrix) -> tuple[Integers, Integers]:
    """The block of every unit, numbered in the order of first appearance, and the size of every block."""
    if matrix.clusters is None:
        return np.arange(len(matrix.units)), np.ones(len(matrix.units), dtype=np.int64)
    number = {name: i for i, name in enumerate(dict.fromkeys(matrix.clusters))}
    index = np.array([number[name] for name in matrix.clusters], dtype=np.int64)
    return index, np.bincount(index, minlength=len(number))


def scores_without(matrix: ScoreMatrix) -> Floats:
    """Jackknife: the score of every run without each block in turn, blocks x runs."""
    return matrix.summary.scores_without(matrix.values, block_index(matrix)[0])


def rows_at_once(width: int) -> int:
    """How many rows of `width` columns are drawn at once."""
    return max(1, _CELLS // max(width, 1))


def chunks(total: int, width: int) -> Iterator[tuple[int, int]]:
    """Spans of rows such that a chunk of `width` columns stays small."""
    step = rows_at_once(width)
    for start in range(0, total, step):
        yield start, min(start + step, total)
