"""Compiled code that counts swaps without visiting the pairs; importing it imports numba.

Runs stand at positions in increasing order of their base score. For the run at position q, the runs that are worse
by at least threshold k are the positions below reach[q, k]. Going through the runs by decreasing test score, a set of
bits holds the positions of the runs that are better in test than the one at hand: its swaps at threshold k are the
ones below reach[q, k], which takes a count kept for each word and one popcount. So a trial costs runs x bins steps
instead of runs x runs.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qassay.matrix import Floats, Integers
from qassay.meta.sensitivity.compiled.machine import ONE, compiled, popcount
from qassay.meta.sensitivity.sampling import Keys
from qassay.meta.sensitivity.scale import BINS

# Integers of any width: half-width ones where there are many.
Counts: TypeAlias = NDArray[np.signedinteger[Any]]

# Base scores that are whole numbers within this range are looked up in a table instead of compared.
TABLE = 8192

# Positions that a pointer looks ahead at once; more than a few steps at a time are rare.
AHEAD = 4


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
    """Whole numbers: table[x] is the number of runs less than x levels above the lowest one."""
    lowest = ranked[0]
    filled = 0
    for place in range(runs):
        level = np.int64((ranked[place] - lowest) / unit)
        while filled <= level:
            table[filled] = place
            filled += 1
    table[filled] = runs
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
    for later in range(word + 1, len(bits)):
        before[later] += 1


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
