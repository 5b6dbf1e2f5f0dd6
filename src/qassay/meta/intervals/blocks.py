"""What chance acts on: the units, or whole series of them, and what each contributes to a run's score.

Resampling, sign flips, permutations and variances all need a run's score as a sum over independent parts. For a
mean the parts are the unit scores. A type-weighted score is linear too, each unit with its own weight; the types are
not drawn by chance, so what sets them apart is no noise, and units vary around the mean of their type. A
confidence-weighted score is not: there the part of a unit is its influence, so that exchanging two runs on a unit
exchanges what the unit does to both scores, its correctness together with its place in the confidence order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from qassay.matrix import TIE, Floats, Integers, ScoreMatrix, whole_numbers


@dataclass(frozen=True, eq=False)
class Blocks:
    """Runs x blocks; `parts[r].sum() / scale` is the score of run r.

    The parts are whole numbers, so that every sum of them is exact. `sizes[b]` is the number of units of block b,
    `weights[b]` what block b adds to a score when all its units gain the same: its size, unless units weigh by type.
    Two sums closer than `tolerance` are equal.
    """

    parts: Floats
    sizes: Integers
    weights: Floats
    scale: float
    tolerance: float

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

        A block that counts for more than others has more of every score, which is no spread.
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
    tolerance = TIE * units * scale if exact is None else 0.5
    return Blocks(whole, sizes, weights.astype(np.float64), scale * units, tolerance)


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
