"""Chance: which units make up base and test in one trial.

The draws of a trial follow from (seed, stream, size, trial) alone, so that neither the order of the work nor the
number of threads can change a result. The numbers come from SplitMix64 used as a counter-based generator (Steele,
Lea and Flood 2014): its i-th number is a hash of key + i * GOLDEN, which array code and compiled code compute alike.
The trials of a study are those of stream 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from qassay.matrix import Integers

Keys: TypeAlias = NDArray[np.uint64]
Sides: TypeAlias = NDArray[np.uint8]

GOLDEN = 0x9E3779B97F4A7C15
FIRST_FACTOR = 0xBF58476D1CE4E5B9
SECOND_FACTOR = 0x94D049BB133111EB
WORD = 2**64

# The stream of numbers that the trials of a study take.
STUDY = 0

# What `sides` holds for a unit.
UNUSED, BASE, TEST = 0, 1, 2


def mixed(numbers: Keys) -> Keys:
    """SplitMix64's hash of 64-bit words; products wrap around, as they should."""
    z = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(FIRST_FACTOR)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(SECOND_FACTOR)
    return z ^ (z >> np.uint64(31))


def trial_keys(seed: int, stream: int, size: int, trials: int) -> Keys:
    """One key for each trial of a size."""
    key = np.array([seed % WORD], dtype=np.uint64)
    for number in (stream, size):
        key = mixed(key + np.uint64(GOLDEN * (number + 1) % WORD))
    return mixed(key + np.uint64(GOLDEN) * np.arange(1, trials + 1, dtype=np.uint64))


def deal(keys: Keys, sizes: Integers, units: int) -> Sides:
    """Draw 2S of the units without replacement for each trial, and deal them into base and test.

    One row a trial, with `sizes[row]` its S: the first S units of a Fisher-Yates shuffle are the base set, the next
    S the test set. All trials take a step of the shuffle at once. A number below m is the high half of a 64-bit word
    times m, shifted right by 32: its bias, m / 2^32, is far below anything a trial can show. Rows are expected in
    order of increasing size.
    """
    rows = len(keys)
    pool = np.tile(np.arange(units, dtype=np.int64), (rows, 1)).ravel()
    starts = np.arange(rows) * units
    sides = np.zeros(rows * units, dtype=np.uint8)
    # Rows are sorted by size: those still drawing at a step are a slice.
    active_from = np.searchsorted(2 * sizes, np.arange(2 * int(sizes[-1])), side="right")
    for step, first in enumerate(active_from.tolist()):
        words = mixed(keys[first:] + np.uint64(GOLDEN * (step + 1) % WORD)) >> np.uint64(32)
        jump = ((words * np.uint64(units - step)) >> np.uint64(32)).astype(np.int64)
        here = starts[first:] + step
        there = here + jump
        drawn = pool[there]
        pool[there] = pool[here]
        sides[starts[first:] + drawn] = np.where(step < sizes[first:], BASE, TEST)
    return sides.reshape(rows, units)


def resampled_units(seed: int, resample: int, units: int, clusters: Sequence[str] | None = None) -> Integers:
    """Indices of the units of one bootstrap resample; whole clusters where units come in clusters.

    Clusters differ in length: they are drawn until there are enough units, and the last one is cut.
    """
    rng = np.random.default_rng([seed % WORD, resample])
    if clusters is None:
        return rng.integers(0, units, units)
    _, which = np.unique(np.array(clusters), return_inverse=True)
    members = [np.flatnonzero(which == cluster) for cluster in range(int(which.max()) + 1)]
    drawn = rng.integers(0, len(members), units)
    return np.concatenate([members[cluster] for cluster in drawn.tolist()])[:units]
