"""Compiled code that deals the units and scores subsets of them; importing it imports numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from qassay.arrays import Floats, Integers
from qassay.meta.sensitivity.compiled import ONE, compiled, compiled_wide, popcount
from qassay.meta.sensitivity.trials import BASE, FIRST_FACTOR, GOLDEN, SECOND_FACTOR, TEST, Keys, Sides

_GOLDEN, _FIRST, _SECOND = np.uint64(GOLDEN), np.uint64(FIRST_FACTOR), np.uint64(SECOND_FACTOR)
_27, _30, _31, _32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)

# Runs whose sums are built at once: enough of them that no sum waits for the one before.
LANES = 32

# Units whose scores for these runs fit the fastest cache, and members of a set from which on a tile pays.
TILE = 96
FEWEST_IN_TILE = 32


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


@compiled
def tile_starts(members: Any, size: int, tile: int, starts: Any) -> None:
    """Where the units of each tile begin in the lists of `members_of`; starts are trials x 2 x (tiles + 1)."""
    tiles = starts.shape[2] - 1
    for row in range(len(members)):
        for side in range(2):
            place = 0
            for number in range(tiles):
                starts[row, side, number] = place
                while place < size and members[row, side, place] < (number + 1) * tile:
                    place += 1
            starts[row, side, tiles] = size


def _lane_sums(lanes: Floats, members: Any, starts: Any, divisor: float, base: Floats, test: Floats) -> None:
    """Sums over base and test, unit by unit in their order, divided by the divisor.

    `lanes` are blocks x units x 32 runs. All trials are summed over one tile of units for 32 runs before the next
    tile: their scores stay in the fastest cache, and every sum still goes through the units in order. Named sums,
    because the compiler keeps those in registers.
    """
    rows, tiles = len(members), starts.shape[2] - 1
    sums = np.empty((rows, 2, LANES))
    for block in range(len(lanes)):
        values, at = lanes[block], block * LANES
        sums[:] = 0.0
        for tile in range(tiles):
            for row in range(rows):
                for side in range(2):
                    so_far = sums[row, side]
                    s0, s1, s2, s3 = so_far[0], so_far[1], so_far[2], so_far[3]
                    s4, s5, s6, s7 = so_far[4], so_far[5], so_far[6], so_far[7]
                    s8, s9, s10, s11 = so_far[8], so_far[9], so_far[10], so_far[11]
                    s12, s13, s14, s15 = so_far[12], so_far[13], so_far[14], so_far[15]
                    s16, s17, s18, s19 = so_far[16], so_far[17], so_far[18], so_far[19]
                    s20, s21, s22, s23 = so_far[20], so_far[21], so_far[22], so_far[23]
                    s24, s25, s26, s27 = so_far[24], so_far[25], so_far[26], so_far[27]
                    s28, s29, s30, s31 = so_far[28], so_far[29], so_far[30], so_far[31]
                    for place in range(starts[row, side, tile], starts[row, side, tile + 1]):
                        v = values[members[row, side, place]]
                        s0, s1, s2, s3 = s0 + v[0], s1 + v[1], s2 + v[2], s3 + v[3]
                        s4, s5, s6, s7 = s4 + v[4], s5 + v[5], s6 + v[6], s7 + v[7]
                        s8, s9, s10, s11 = s8 + v[8], s9 + v[9], s10 + v[10], s11 + v[11]
                        s12, s13, s14, s15 = s12 + v[12], s13 + v[13], s14 + v[14], s15 + v[15]
                        s16, s17, s18, s19 = s16 + v[16], s17 + v[17], s18 + v[18], s19 + v[19]
                        s20, s21, s22, s23 = s20 + v[20], s21 + v[21], s22 + v[22], s23 + v[23]
                        s24, s25, s26, s27 = s24 + v[24], s25 + v[25], s26 + v[26], s27 + v[27]
                        s28, s29, s30, s31 = s28 + v[28], s29 + v[29], s30 + v[30], s31 + v[31]
                    so_far[0], so_far[1], so_far[2], so_far[3] = s0, s1, s2, s3
                    so_far[4], so_far[5], so_far[6], so_far[7] = s4, s5, s6, s7
                    so_far[8], so_far[9], so_far[10], so_far[11] = s8, s9, s10, s11
                    so_far[12], so_far[13], so_far[14], so_far[15] = s12, s13, s14, s15
                    so_far[16], so_far[17], so_far[18], so_far[19] = s16, s17, s18, s19
                    so_far[20], so_far[21], so_far[22], so_far[23] = s20, s21, s22, s23
                    so_far[24], so_far[25], so_far[26], so_far[27] = s24, s25, s26, s27
                    so_far[28], so_far[29], so_far[30], so_far[31] = s28, s29, s30, s31
        base[:, at : at + LANES] = sums[:, 0]
        test[:, at : at + LANES] = sums[:, 1]
    base /= divisor
    test /= divisor


lane_sums = compiled_wide(_lane_sums, "void(f8[:,:,::1], i4[:,:,::1], i4[:,:,::1], f8, f8[:,::1], f8[:,::1])")
