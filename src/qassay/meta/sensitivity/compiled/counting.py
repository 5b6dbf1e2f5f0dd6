"""Counting trials in compiled code, for jobs that would take array code long; importing it imports numba.

Only a large job loads this module. Compiled functions release the interpreter's lock, so that threads share the work.
Every count equals that of the array code: the same draws, the same sums in the same order, the same comparisons.

Swaps are counted without visiting the pairs. Runs stand at positions in increasing order of their base score. For the
run at position q, the runs that are worse by at least threshold k are the positions below reach[q, k]. Going through
the runs by decreasing test score, a set of bits holds the positions of the runs that are better in test than the one at
hand: its swaps at threshold k are the ones below reach[q, k], which takes a count kept for each word and one popcount.
So a trial costs runs x bins steps instead of runs x runs.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import Floats, Integers
from qassay.meta.sensitivity.compiled import ONE, compiled, popcount
from qassay.meta.sensitivity.compiled.scoring import (
    FEWEST_IN_TILE,
    LANES,
    TILE,
    bit_sums,
    confidence_weighted,
    deal_bits,
    deal_sides,
    lane_sums,
    members_of,
    tile_starts,
)
from qassay.meta.sensitivity.counting import Part, counts_of_trials
from qassay.meta.sensitivity.trials import BINS, Keys, Prepared, subset_scores
from qassay.summaries import cws_weights

_WORD = 64

# Integers of any width: half-width ones where there are many.
Counts: TypeAlias = NDArray[np.signedinteger[Any]]

# Base scores that are whole numbers within this range are looked up in a table instead of compared.
TABLE = 8192

# Positions that a pointer looks ahead at once; more than a few steps at a time are rare.
AHEAD = 4


class Counter:
    """Counts trials of one prepared matrix; made once, called for many chunks of trials, from any thread."""

    def __init__(self, prepared: Prepared, *, with_ties: bool) -> None:
        self.prepared = prepared
        self.with_ties = with_ties
        self.unit = _common_unit(prepared)
        self.top = _zero_or(prepared.values) if prepared.unit_step is not None else None
        if self.top is not None:
            self.bits = _packed(prepared.values != 0.0)
        elif prepared.matrix.summary.is_mean:
            self.lanes = _in_lanes(prepared.values)
        if prepared.matrix.summary.order is not None:
            self.ranked = np.take_along_axis(prepared.values, prepared.matrix.summary.order, axis=1)

    def __call__(self, number: int, size: int, keys: Keys) -> Part:
        """The counts of the trials with these keys, for the size with this number."""
        base, test = self._scores(size, keys)
        scale = self.prepared.scale(size)
        totals = np.zeros((len(keys), 3, BINS), dtype=np.int64)
        orders = self._order(base), self._order(test)
        count_rows(base, test, *orders, scale.thresholds(), self.unit, scale.tie, self.with_ties, totals)
        runs = self.prepared.runs
        return number, len(keys), counts_of_trials(_cells(totals, runs * (runs - 1) // 2, self.with_ties))

    def _order(self, scores: Floats) -> Integers:
        """The runs of each trial by increasing score; short whole numbers have a faster sort of their own."""
        if self.unit > 0.0:
            lowest = scores.min()
            if scores.max() - lowest <= self.unit * np.iinfo(np.uint16).max:
                return np.argsort(((scores - lowest) / self.unit).astype(np.uint16), axis=1, kind="stable")
        return np.argsort(scores, axis=1)

    def _pool(self) -> Any:
        """Room for the units being shuffled, as narrow as their numbers allow: it should fit the fastest cache."""
        return np.empty(self.prepared.units, dtype=np.uint16 if self.prepared.units <= 2**16 else np.int32)

    def _scores(self, size: int, keys: Keys) -> tuple[Floats, Floats]:
        """Scores of the runs (columns) in each trial (rows) on base and test."""
        prepared = self.prepared
        summary = prepared.matrix.summary
        if self.top is not None:
            return self._bit_scores(size, keys, self.top)
        sides = np.empty((len(keys), prepared.units), dtype=np.uint8)
        deal_sides(keys, size, sides, self._pool())
        if summary.is_mean:
            members = np.empty((len(keys), 2, size + 1), dtype=np.int32)
            members_of(sides, size, members)
            tile = max(TILE, prepared.units * FEWEST_IN_TILE // size)
            starts = np.empty((len(keys), 2, -(-prepared.units // tile) + 1), dtype=np.int32)
            tile_starts(members, size, tile, starts)
            base = np.empty((len(keys), len(self.lanes) * LANES))
            test = np.empty_like(base)
            lane_sums(self.lanes, members, starts, 1.0 if prepared.unit_step is not None else float(size), base, test)
            return np.ascontiguousarray(base[:, : prepared.runs]), np.ascontiguousarray(test[:, : prepared.runs])
        if summary.order is not None:
            base = np.empty((len(keys), prepared.runs))
            test = np.empty_like(base)
            # One weight more than there are places: the place after the last is looked up, and adds nothing.
            weights = np.append(cws_weights(size), 0.0)
            confidence_weighted(self.ranked, summary.order, sides, weights, base, test)
            return base, test
        in_base, in_test = subset_scores(prepared, sides, size)
        return np.ascontiguousarray(in_base.T), np.ascontiguousarray(in_test.T)

    def _bit_scores(self, size: int, keys: Keys, top: float) -> tuple[Floats, Floats]:
        base = np.empty((len(keys), self.prepared.runs))
        test = np.empty_like(base)
        masks = np.empty((len(keys), 2, self.bits.shape[1]), dtype=np.uint64)
        deal_bits(keys, size, masks, self._pool())
        bit_sums(self.bits, masks, top, base, test)
        return base, test


def _cells(totals: Integers, pairs: int, with_ties: bool) -> Integers:
    """From "at least threshold k" to "in bin k", and from two counts of ties to one; trials x 3 x bins."""
    at_least, swaps, not_worse = (totals[:, row] for row in range(3))
    untied_in_base = at_least[:, 0].copy()
    reached = at_least.copy()
    reached[:, 0] = pairs
    in_bin, swapped = _without_next(reached), _without_next(swaps)
    tied = np.zeros_like(swaps)
    if with_ties:
        # `not_worse` holds the better ones too; pairs that are equal in base are ties whatever the test set says.
        tied = _without_next(not_worse - swaps)
        tied[:, 0] += pairs - untied_in_base
    return np.stack([in_bin - swapped - tied, swapped, tied], axis=1)


def _without_next(counts: Integers) -> Integers:
    """The count of each bin minus that of the next one."""
    less = counts.copy()
    less[:, :-1] -= counts[:, 1:]
    return less


def _common_unit(prepared: Prepared) -> float:
    """The greatest whole number that divides all values where they are whole numbers, else 0."""
    if prepared.unit_step is None:
        return 0.0
    return float(np.gcd.reduce(np.abs(prepared.values).astype(np.int64), axis=None))


def _zero_or(values: Floats) -> float | None:
    """The one value besides 0, where there is only one and it is positive."""
    top = float(values.max(initial=0.0))
    return top if top > 0.0 and bool(((values == 0.0) | (values == top)).all()) else None


def _packed(ones: Any) -> Keys:
    """Rows of booleans as rows of 64-bit words, the first unit in the lowest bit."""
    rows, columns = ones.shape
    padded = np.zeros((rows, -(-columns // _WORD) * _WORD), dtype=np.bool_)
    padded[:, :columns] = ones
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def _in_lanes(values: Floats) -> Floats:
    """Runs x units as blocks x units x 32 runs; the last block is filled up with zeros."""
    runs, units = values.shape
    blocks = -(-runs // LANES)
    padded = np.zeros((blocks * LANES, units))
    padded[:runs] = values
    return np.ascontiguousarray(padded.reshape(blocks, LANES, units).transpose(0, 2, 1))


@compiled
def count_rows(
    base: Floats,
    test: Floats,
    by_base: Integers,
    by_test: Integers,
    thresholds: Floats,
    unit: float,
    tie: float,
    with_ties: bool,
    totals: Integers,
) -> None:
    """Add, for each trial and threshold: pairs that reach it, swaps among them, pairs not worse in test among them.

    `by_base` and `by_test` sort each row. `unit` divides all base scores where they are whole numbers, else it is 0.
    """
    trials, runs = base.shape
    levels = np.empty(BINS, np.int64)
    for k in range(BINS):
        levels[k] = np.int64(np.ceil(thresholds[k] / unit)) if unit > 0.0 else 0
    ranked = np.empty(runs + AHEAD)
    ranked[runs:] = np.inf
    table = np.empty(TABLE + 2, np.int32)
    reach = np.empty((runs, BINS), np.int32)
    position = np.empty(runs, np.int64)
    for row in range(trials):
        for place in range(runs):
            run = by_base[row, place]
            position[run] = place
            ranked[place] = base[row, run]
        if unit > 0.0 and ranked[runs - 1] - ranked[0] < unit * TABLE:
            _reach_by_table(ranked, runs, unit, levels, table, reach)
        else:
            _reach_by_steps(ranked, runs, thresholds, reach)
        for place in range(runs):
            for k in range(BINS):
                totals[row, 0, k] += reach[place, k]
        _swaps(test[row], by_test[row], position, reach, tie, totals[row, 1])
        if with_ties:
            _not_worse(test[row], by_test[row], position, reach, tie, totals[row, 2])


@compiled
def _reach_by_table(ranked: Floats, runs: int, unit: float, levels: Integers, table: Counts, reach: Counts) -> None:
    """Whole numbers: table[x] is the number of runs less than x levels above the lowest one.

    It is counted and summed up, because filling it run by run is a loop whose length nothing can guess.
    """
    lowest = ranked[0]
    highest = np.int64((ranked[runs - 1] - lowest) / unit)
    table[: highest + 2] = 0
    for place in range(runs):
        table[np.int64((ranked[place] - lowest) / unit) + 1] += 1
    for above in range(1, highest + 2):
        table[above] += table[above - 1]
    for place in range(runs):
        level = np.int64((ranked[place] - lowest) / unit)
        for k in range(BINS):
            reach[place, k] = table[max(level - levels[k] + 1, 0)]


@compiled
def _reach_by_steps(ranked: Floats, runs: int, thresholds: Floats, reach: Counts) -> None:
    """A pointer for each threshold moves up with the run at hand; `ranked` ends in infinities to look ahead into."""
    below = np.zeros(BINS, np.int64)
    for place in range(runs):
        score = ranked[place]
        for k in range(BINS):
            at = below[k]
            while True:
                steps = 0
                for ahead in range(AHEAD):
                    steps += score - ranked[at + ahead] >= thresholds[k]
                at += steps
                if steps < AHEAD:
                    break
            below[k] = at
            reach[place, k] = at


@compiled
def _swaps(test: Floats, by_test: Integers, position: Integers, reach: Counts, tie: float, totals: Integers) -> None:
    """Add, for every threshold, the runs worse in base by at least that much and better in test."""
    runs = len(test)
    bits, before = np.zeros((runs >> 6) + 1, np.uint64), np.zeros((runs >> 6) + 1, np.int64)
    entering = runs - 1
    for place in range(runs - 1, -1, -1):
        run = by_test[place]
        while test[by_test[entering]] - test[run] >= tie:
            _enter(position[by_test[entering]], bits, before)
            entering -= 1
        _add_prefixes(reach[position[run]], bits, before, totals)


@compiled
def _not_worse(
    test: Floats, by_test: Integers, position: Integers, reach: Counts, tie: float, totals: Integers
) -> None:
    """As `_swaps`, with the runs that are tied in test besides those that are better."""
    runs = len(test)
    bits, before = np.zeros((runs >> 6) + 1, np.uint64), np.zeros((runs >> 6) + 1, np.int64)
    entering = runs - 1
    for place in range(runs - 1, -1, -1):
        run = by_test[place]
        while entering >= 0 and test[run] - test[by_test[entering]] < tie:
            _enter(position[by_test[entering]], bits, before)
            entering -= 1
        _add_prefixes(reach[position[run]], bits, before, totals)


@compiled
def _enter(place: int, bits: Keys, before: Integers) -> None:
    """Set a bit, and keep the number of ones before each word."""
    word = place >> 6
    bits[word] |= ONE << np.uint64(place & 63)
    # All words, because a loop of varying length is guessed wrong more often than it saves steps.
    for later in range(len(bits)):
        before[later] += later > word


@compiled
def _add_prefixes(reach: Counts, bits: Keys, before: Integers, totals: Integers) -> None:
    """Add, for every threshold, the number of ones below its reach."""
    for k in range(BINS):
        word = reach[k] >> 6
        lower = (ONE << np.uint64(reach[k] & 63)) - ONE
        ones = before[word] + np.int64(popcount(bits[word] & lower))
        if ones == 0:
            # Thresholds rise and reaches fall: there are none further on.
            break
        totals[k] += ones
