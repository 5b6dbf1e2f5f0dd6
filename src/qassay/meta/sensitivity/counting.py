"""Counting comparisons, swaps and ties by bin, in array code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from qassay.matrix import Floats, Integers
from qassay.meta.sensitivity.sampling import STUDY, Keys, deal, trial_keys
from qassay.meta.sensitivity.scale import BINS, LIMITED_BINS, Prepared, Scale
from qassay.meta.sensitivity.subsets import subset_scores

Ties: TypeAlias = Literal["stay", "half", "exclude"]

# Trials x units held at once while dealing, and pairs x trials while counting: small enough for the caches.
DEALT_AT_ONCE = 4_000_000
COUNTED_AT_ONCE = 30_000

# What happened to a comparison: the offset of its class among the cells of a size.
_CLASSES = 3


@dataclass(frozen=True, eq=False)
class Counts:
    """Comparisons, swaps and ties by size (rows) and bin (columns), over all trials and pairs.

    A tie is a pair that is equal in base, in test or in both; it is never a swap.
    """

    comparisons: Integers
    swaps: Integers
    ties: Integers

    def rates(self, ties: Ties) -> Floats:
        """Error rates; not-a-number where a bin is empty.

        stay: a tie is no swap and stays in the denominator. half: it counts half a swap. exclude: it leaves the
        denominator.
        """
        swaps = self.swaps + self.ties / 2 if ties == "half" else self.swaps.astype(np.float64)
        of = self.denominators(ties)
        return np.asarray(np.divide(swaps, of, out=np.full(swaps.shape, np.nan), where=of > 0))

    def denominators(self, ties: Ties) -> Integers:
        """The comparisons that an error rate is a share of."""
        return self.comparisons - self.ties if ties == "exclude" else self.comparisons


def count_with_arrays(
    prepared: Prepared, sizes: Sequence[int], trials: int, *, seed: int
) -> Iterator[tuple[int, Integers]]:
    """Yield (number of trials, cells) as the work goes; the sum of the cells is the result.

    Cells are sizes x 3 x bins: comparisons that were neither swaps nor ties, swaps, ties.
    """
    for rows, keys, row_sizes in _blocks(sizes, trials, prepared.units, seed):
        sides = deal(keys, row_sizes, prepared.units)
        base = np.empty((prepared.runs, len(rows)))
        test = np.empty_like(base)
        numbers = rows // trials
        for number in np.unique(numbers).tolist():
            columns = np.flatnonzero(numbers == number)
            first, last = int(columns[0]), int(columns[-1]) + 1
            base[:, first:last], test[:, first:last] = subset_scores(prepared, sides[first:last], sizes[number])
        scales = [prepared.scale(size) for size in sizes]
        yield len(rows), count_pairs(base, test, numbers, scales)


def count_pairs(base: Floats, test: Floats, numbers: Integers, scales: Sequence[Scale]) -> Integers:
    """Cells (sizes x 3 x bins) of all pairs of runs in trials (columns) whose size has the given number."""
    cells = np.zeros(len(scales) * _CLASSES * BINS, dtype=np.int64)
    runs, trials = base.shape
    at_once = max(1, COUNTED_AT_ONCE // max(runs, 1))
    steps = np.array([scale.step for scale in scales])[numbers]
    slack, tie = scales[0].slack, scales[0].tie
    for start in range(0, trials, at_once):
        part = slice(start, start + at_once)
        offsets = numbers[part] * (_CLASSES * BINS)
        one, other, step = base[:, part], test[:, part], steps[part]
        for run in range(runs - 1):
            d_base = one[run + 1 :] - one[run]
            d_test = other[run + 1 :] - other[run]
            # 0: the sets agree, 1: a swap, 2: a tie.
            what = (d_base * d_test < 0.0).view(np.int8)
            np.abs(d_base, out=d_base)
            np.abs(d_test, out=d_test)
            np.minimum(d_test, d_base, out=d_test)
            what[d_test < tie] = 2
            d_base += slack
            d_base /= step
            np.minimum(d_base, LIMITED_BINS, out=d_base)
            cell = d_base.astype(np.int64)
            cell += what * np.int64(BINS)
            cell += offsets
            cells += np.bincount(cell.ravel(), minlength=len(cells))
    return cells.reshape(len(scales), _CLASSES, BINS)


def as_counts(cells: Integers) -> Counts:
    """The cells as comparisons, swaps and ties."""
    return Counts(comparisons=cells.sum(axis=1), swaps=cells[:, 1], ties=cells[:, 2])


def _blocks(sizes: Sequence[int], trials: int, units: int, seed: int) -> Iterator[tuple[Integers, Keys, Integers]]:
    """All trials of all sizes in blocks: their numbers (size by size), keys and sizes."""
    keys = np.concatenate([trial_keys(seed, STUDY, size, trials) for size in sizes])
    all_sizes = np.repeat(np.array(sizes, dtype=np.int64), trials)
    at_once = max(1, DEALT_AT_ONCE // units)
    for start in range(0, len(keys), at_once):
        rows = np.arange(start, min(start + at_once, len(keys)))
        yield rows, keys[rows], all_sizes[rows]
