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

from qassay.matrix import TIE, ConfidenceWeighted, Floats, Integers, ScoreMatrix, TypeWeighted

# Sums of whole numbers up to here are exact in double precision, in any order and on any number of threads.
_EXACT = 2.0**52


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
    by_type = linear_weights(matrix)
    weights: Floats = sizes.astype(np.float64)
    if by_type is not None:
        weights = np.bincount(index, weights=by_type, minlength=len(sizes)).astype(np.float64)
    numerators = matrix.numerators() if by_type is None else None
    if numerators is not None and not isinstance(matrix.summary, ConfidenceWeighted):
        whole, scale, tolerance = numerators.astype(np.float64), float(matrix.denominator or 1), 0.5
    else:
        shown = contributions(matrix)
        if by_type is not None:
            shown = deviations(matrix) + matrix.scores()[:, None] * (by_type * units)
        largest = max(float(np.abs(shown).max(initial=0.0)), 1.0)
        scale = 2.0 ** np.floor(np.log2(_EXACT / (largest * max(units, 1))))
        whole, tolerance = np.rint(shown * scale), TIE * units * scale
    if matrix.clusters is not None:
        whole = np.stack([np.bincount(index, weights=row, minlength=len(sizes)) for row in whole])
    return Blocks(whole, sizes, weights, scale * units, tolerance)


def block_index(matrix: ScoreMatrix) -> tuple[Integers, Integers]:
    """The block of every unit, numbered in the order of first appearance, and the size of every block."""
    if matrix.clusters is None:
        return np.arange(len(matrix.units)), np.ones(len(matrix.units), dtype=np.int64)
    number = {name: i for i, name in enumerate(dict.fromkeys(matrix.clusters))}
    index = np.array([number[name] for name in matrix.clusters], dtype=np.int64)
    return index, np.bincount(index, minlength=len(number))


def contributions(matrix: ScoreMatrix) -> Floats:
    """Runs x units, such that the mean of a row is the run's score.

    Mean: the unit scores. Type-weighted: unit scores times weight times number of units. Confidence-weighted: the
    score plus the jackknife influence of the unit, centred.
    """
    weights = linear_weights(matrix)
    if weights is not None:
        return np.asarray(matrix.values * (weights * len(matrix.units)))
    if not isinstance(matrix.summary, ConfidenceWeighted) or len(matrix.units) < 2:
        return matrix.values if not isinstance(matrix.summary, ConfidenceWeighted) else matrix.scores()[:, None]
    left_out = _without_each_unit(matrix.values, matrix.summary)
    influence = (len(matrix.units) - 1) * (left_out.mean(axis=1, keepdims=True) - left_out)
    return np.asarray(matrix.scores()[:, None] + influence)


def deviations(matrix: ScoreMatrix) -> Floats:
    """Runs x units: what each unit contributes beyond its share in the score, which is what chance acts on.

    In a type-weighted score a unit deviates from the mean of its type. Means of few units are nearer to them than
    the true one; the deviations of n units are stretched by sqrt(n/(n-1)), so that their squares are right on average.
    A unit that is alone of its type deviates from the score of the run.
    """
    weights = linear_weights(matrix)
    if weights is None or not isinstance(matrix.summary, TypeWeighted):
        return np.asarray(contributions(matrix) - matrix.scores()[:, None])
    _, which, counts = np.unique(np.array(matrix.summary.types), return_inverse=True, return_counts=True)
    sums = np.stack([np.bincount(which, weights=row, minlength=len(counts)) for row in matrix.values])
    several = (counts > 1)[which]
    stretch = np.sqrt(counts / np.maximum(counts - 1, 1))[which]
    alone = matrix.values - matrix.scores()[:, None]
    # What units alone of their type deviate by, the others share with the opposite sign: scores stay what they are.
    rest = -(alone * (weights * ~several)).sum(axis=1, keepdims=True) / max(float(weights[several].sum()), TIE)
    within = (matrix.values - (sums / counts)[:, which]) * stretch + rest
    return np.asarray(np.where(several, within, alone) * (weights * len(matrix.units)))


def linear_weights(matrix: ScoreMatrix) -> Floats | None:
    """The weights of the units in a type-weighted score; None for the other summaries."""
    if isinstance(matrix.summary, TypeWeighted):
        return matrix.summary.unit_weights(np.arange(len(matrix.units)))
    return None


def scores_without(matrix: ScoreMatrix) -> Floats:
    """Jackknife: the score of every run without each block in turn, blocks x runs."""
    index, sizes = block_index(matrix)
    if isinstance(matrix.summary, ConfidenceWeighted):
        if matrix.clusters is None:
            return _without_each_unit(matrix.values, matrix.summary).T
        return np.stack([matrix.scores_on(np.flatnonzero(index != block)) for block in range(len(sizes))])
    if isinstance(matrix.summary, TypeWeighted):
        return _type_weighted_without(matrix, matrix.summary, index, len(sizes))
    sums = np.stack([np.bincount(index, weights=row, minlength=len(sizes)) for row in matrix.values])
    rest = sums.sum(axis=1, keepdims=True) - sums
    return np.asarray((rest / (len(matrix.units) - sizes)).T)


def _without_each_unit(values: Floats, summary: ConfidenceWeighted) -> Floats:
    """Confidence-weighted scores without each unit in turn, runs x units.

    Leaving out place j keeps the terms before it; the terms after it lose one place, and one right answer where
    the answer at j was right.
    """
    right = np.take_along_axis(values, summary.order, axis=1)
    total = right.shape[1]
    correct = np.cumsum(right, axis=1)
    place = np.arange(1, total + 1)
    before = np.cumsum(correct / place, axis=1) - correct / place
    earlier = np.where(place > 1, 1.0 / np.maximum(place - 1, 1), 0.0)
    terms = correct * earlier
    after = terms.sum(axis=1, keepdims=True) - np.cumsum(terms, axis=1)
    lost = right * (earlier.sum() - np.cumsum(earlier))
    ranked = (before + after - lost) / (total - 1)
    scores: Floats = np.empty(ranked.shape)
    np.put_along_axis(scores, summary.order, ranked, axis=1)
    return scores


def _type_weighted_without(matrix: ScoreMatrix, summary: TypeWeighted, index: Integers, count: int) -> Floats:
    """Type-weighted scores without each block in turn, blocks x runs."""
    kinds = np.array(summary.types)
    top = np.zeros((count, len(matrix.runs)))
    bottom = np.zeros((count, 1))
    for kind in dict.fromkeys(summary.types):
        of_kind = kinds == kind
        where = index[of_kind]
        sums = np.stack([np.bincount(where, weights=row, minlength=count) for row in matrix.values[:, of_kind]])
        left = (of_kind.sum() - np.bincount(where, minlength=count))[:, None]
        means = (sums.sum(axis=1, keepdims=True) - sums).T / np.maximum(left, 1)
        top += summary.weights[kind] * np.where(left > 0, means, 0.0)
        bottom += summary.weights[kind] * (left > 0)
    return top / bottom
