"""Compiled code that deals the units and scores subsets of them; importing it imports numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from qassay.matrix import Floats, Integers
from qassay.meta.sensitivity.compiled import ONE, compiled, compiled_wide, popcount
from qassay.meta.sensitivity.trials import BASE, FIRST_FACTOR, GOLDEN, SECOND_FACTOR, TEST, Keys, Sides

_GOLDEN, _FIRST, _SECOND = np.uint64(GOLDEN), np.uint64(FIRST_FACTOR), np.uint64(SECOND_FACTOR)
_27, _30, _31, _32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)

# Runs whose sums are built at once: eight doubles are one cache line, and one register of a wide processor.
LANES = 8


@compiled
def _below(key: Any, step: int, limit: int) -> Any:
    """The step-th random number of a key, below a limit; see `sampling`."""
    z = key + _GOLDEN * np.uint64(step + 1)
    z = (z ^ (z >> _30)) * _FIRST
    z = (z ^ (z >> _27)) * _SECOND
    z = (z ^ (z >> _31)) >> _32
    return np.int64((z * np.uint64(limit)) >> _32)


@compiled
def deal_sides(keys: Keys, size: int, sides: Sides, pool: Any) -> None:
    """Base and test set of each trial (row); see `sampling.deal`. `pool` is room for the units being shuffled."""
    units = len(pool)
    for row in range(len(keys)):
        for unit in range(units):
            pool[unit] = unit
            sides[row, unit] = 0
        for step in range(2 * size):
            drawn = step + _below(keys[row], step, units - step)
            sides[row, pool[drawn]] = BASE if step < size else TEST
            pool[drawn] = pool[step]


@compiled
def deal_bits(keys: Keys, size: int, masks: Keys, pool: Any) -> None:
    """As `deal_sides`, with a bit for every unit: masks are trials x 2 x words."""
    units = len(pool)
    masks[:] = 0
    draws = np.empty(2 * size, np.int64)
    for row in range(len(keys)):
        for unit in range(units):
            pool[unit] = unit
        # All random numbers first: alone, they are made several at a time.
        for step in range(2 * size):
            draws[step] = step + _below(keys[row], step, units - step)
        for side in range(2):
            for step in range(side * size, side * size + size):
                drawn = draws[step]
                drawn_unit = np.int64(pool[drawn])
                pool[drawn] = pool[step]
                masks[row, side, drawn_unit >> 6] |= ONE << np.uint64(drawn_unit & 63)


@compiled
def members_of(sides: Sides, size: int, members: Any) -> None:
    """The units of base and of test in increasing order; members are trials x 2 x (size + 1).

    Every unit is written to the end of both lists and stays only where the list then grows: no branch to guess.
    """
    for row in range(len(sides)):
        in_base = in_test = 0
        for unit in range(sides.shape[1]):
            members[row, 0, in_base] = unit
            members[row, 1, in_test] = unit
            in_base += sides[row, unit] == BASE
            in_test += sides[row, unit] == TEST


@compiled
def bit_sums(bits: Keys, masks: Keys, top: float, base: Floats, test: Floats) -> None:
    """Sums of scores that are 0 or `top`: the ones that a run (a row of bits) and a set have in common."""
    trials, words = masks.shape[0], masks.shape[2]
    for start in range(0, trials, 8):
        for run in range(len(bits)):
            for row in range(start, min(start + 8, trials)):
                in_base = in_test = np.uint64(0)
                for word in range(words):
                    in_base += popcount(bits[run, word] & masks[row, 0, word])
                    in_test += popcount(bits[run, word] & masks[row, 1, word])
                base[row, run] = in_base * top
                test[row, run] = in_test * top


@compiled
def confidence_weighted(
    ranked: Floats, order: Integers, sides: Sides, weights: Floats, base: Floats, test: Floats
) -> None:
    """Scores in each run's own order restricted to base and to test; `ranked` are the values in that order."""
    runs, units = order.shape
    for row in range(len(sides)):
        for run in range(runs):
            in_base = in_test = 0
            base_score = test_score = 0.0
            for place in range(units):
                side = sides[row, order[run, place]]
                is_base, is_test = side == BASE, side == TEST
                # No branches: which side a unit is on is chance, and guessing it wrong costs more than adding 0.
                base_score += ranked[run, place] * weights[in_base] * is_base
                test_score += ranked[run, place] * weights[in_test] * is_test
                in_base += is_base
                in_test += is_test
            base[row, run] = base_score
            test[row, run] = test_score


def _lane_sums(lanes: Floats, members: Any, size: int, divisor: float, base: Floats, test: Floats) -> None:
    """Sums over base and test, unit by unit in their order, divided by the divisor.

    `lanes` are blocks x units x 8 runs: all trials are summed for eight runs before the next eight, so that the
    scores of eight runs stay in the cache. Named sums, because the compiler keeps those in one register.
    """
    for block in range(len(lanes)):
        values, at = lanes[block], block * LANES
        for row in range(len(members)):
            b0 = b1 = b2 = b3 = b4 = b5 = b6 = b7 = 0.0
            t0 = t1 = t2 = t3 = t4 = t5 = t6 = t7 = 0.0
            for place in range(size):
                u = members[row, 0, place]
                b0, b1, b2, b3 = b0 + values[u, 0], b1 + values[u, 1], b2 + values[u, 2], b3 + values[u, 3]
                b4, b5, b6, b7 = b4 + values[u, 4], b5 + values[u, 5], b6 + values[u, 6], b7 + values[u, 7]
                u = members[row, 1, place]
                t0, t1, t2, t3 = t0 + values[u, 0], t1 + values[u, 1], t2 + values[u, 2], t3 + values[u, 3]
                t4, t5, t6, t7 = t4 + values[u, 4], t5 + values[u, 5], t6 + values[u, 6], t7 + values[u, 7]
            base[row, at], base[row, at + 1], base[row, at + 2], base[row, at + 3] = b0, b1, b2, b3
            base[row, at + 4], base[row, at + 5], base[row, at + 6], base[row, at + 7] = b4, b5, b6, b7
            test[row, at], test[row, at + 1], test[row, at + 2], test[row, at + 3] = t0, t1, t2, t3
            test[row, at + 4], test[row, at + 5], test[row, at + 6], test[row, at + 7] = t4, t5, t6, t7
    base /= divisor
    test /= divisor


lane_sums = compiled_wide(_lane_sums, "void(f8[:,:,::1], i4[:,:,::1], i8, f8, f8[:,::1], f8[:,::1])")
