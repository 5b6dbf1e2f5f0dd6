"""Sign flips of paired differences: random sets of blocks, sums over them, and the plain test with its interval.

If two runs do not differ, which of them earned which score on a unit is a matter of chance, and the sign of every
per-unit difference could as well be the other one. The interval contains every difference that this test does not
reject, so that interval and p-value cannot contradict each other. `qassay.meta.one_pair` says where this test decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import Floats
from qassay.meta.blocks import Blocks, rows_at_once

# Random flips by default; all flips where there are no more than this.
FLIPS = 100_000
# Of very many blocks fewer are flipped, so that flips x blocks is no more than this, but never fewer than that.
_MOST_FLIPPED = 10**10
_FEWEST_FLIPS = 10_000
# Bytes of random flips drawn at once: they fit the caches.
_DRAWN = 1 << 17
# Bytes of a set whose sums are looked up at once; bounds the memory.
_BAND = 1 << 14
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)


@dataclass(frozen=True, slots=True)
class FlipTest:
    """The p-value of no difference, the limits of the differences that are not rejected, and the number of flips.

    A limit is infinite where no difference is far enough out to be rejected: too few units. `exact` says that every
    flip counts, and not a random part of them; p is their share then, else (1 + hits)/(1 + flips).
    """

    p: float
    low: float
    high: float
    flips: int
    exact: bool


def default_flips(count: int) -> int:
    """How many random flips of this number of blocks are drawn unless the caller says otherwise.

    >>> default_flips(500), default_flips(1_000_000)
    (100000, 10000)
    """
    return min(FLIPS, max(_FEWEST_FLIPS, _MOST_FLIPPED // max(count, 1)))


def flip_test(pair: Blocks, *, alpha: float, flips: int | None = None, seed: int = 0) -> FlipTest:
    """The paired randomisation test of two runs, first minus second, and the interval of their difference.

    For a set F of flipped units, the flipped mean of the differences minus delta is at least as far from 0 as the
    observed one exactly where delta lies between the mean difference over F and the mean over the other units.
    So the limits are order statistics of these means, and one set of flips serves every delta. Series are flipped
    as wholes. All flips count where there are no more than `flips` of them.
    """
    differences = pair.parts[0] - pair.parts[1]
    total = float(differences.sum())
    flips = default_flips(pair.count) if flips is None else flips
    exact = every_flip_fits(pair.count, flips)
    count = 2**pair.count if exact else flips
    lows, highs = np.empty(count), np.empty(count)
    at = 0
    for flipped, weight in flipped_sums(np.stack([differences, pair.weights]), flips, seed):
        share = weight / pair.weights.sum()
        over_flipped = _mean(flipped, share, pair)
        over_rest = _mean(total - flipped, 1.0 - share, pair)
        rows = slice(at, at + len(flipped))
        # A flip of nothing, or of everything, leaves the distance from 0 as it was, whatever delta is.
        trivial = np.isnan(over_flipped) | np.isnan(over_rest)
        lows[rows] = np.where(trivial, -np.inf, np.minimum(over_flipped, over_rest))
        highs[rows] = np.where(trivial, np.inf, np.maximum(over_flipped, over_rest))
        at += len(flipped)
    hits = int(((lows <= 0) & (highs >= 0)).sum())
    needed = hits_needed(count, alpha, exact=exact)
    low, high = -np.inf, np.inf
    if 1 <= needed <= count:
        low = float(np.partition(lows, needed - 1)[needed - 1])
        high = -float(np.partition(-highs, needed - 1)[needed - 1])
    return FlipTest(hits / count if exact else (1 + hits) / (1 + count), low, high, count, exact)


def hits_needed(count: int, alpha: float, *, exact: bool) -> int:
    """The least number of hits that makes p larger than alpha."""
    # The small term keeps 0.05 * 20 at 1 whatever its last bit is.
    return math.floor(alpha * count + 1e-9) + 1 if exact else math.floor(alpha * (count + 1) + 1e-9)


def every_flip_fits(count: int, flips: int) -> bool:
    """Whether all flips of this many blocks can be enumerated."""
    return count < 63 and 2**count <= flips


def flip_chunks(count: int, flips: int, seed: int, *, rows: int = 4096) -> Iterator[NDArray[np.uint8]]:
    """Sets of flipped blocks as rows of 0 and 1, some rows at a time: all sets there are, or random ones."""
    if every_flip_fits(count, flips):
        for start in range(0, 2**count, rows):
            numbers = np.arange(start, min(start + rows, 2**count))[:, None]
            yield ((numbers >> np.arange(count)) & 1).astype(np.uint8)
        return
    for packed in _random_flips(count, flips, seed, rows=min(rows, rows_at_once(count))):
        yield np.unpackbits(packed, axis=1, count=count)


def _random_flips(count: int, flips: int, seed: int, *, rows: int) -> Iterator[NDArray[np.uint8]]:
    """Random sets of flipped blocks as rows of bits, about `rows` at a time; the sets do not depend on `rows`."""
    rng = np.random.default_rng(seed)
    # The generator drops what is left of a word of four bytes when a call ends: with four rows nothing is left.
    step = max(4, rows // 4 * 4)
    for start in range(0, flips, step):
        yield rng.integers(256, size=(min(step, flips - start), -(-count // 8)), dtype=np.uint8)


def flipped_sums(columns: Floats, flips: int, seed: int) -> Iterator[Floats]:
    """Sums of each row of numbers over sets of flipped blocks, those of `flip_chunks`: rows x some sets at a time.

    A byte of a set is eight blocks: the sums of all 256 of its values are looked up, many times faster than adding.
    """
    rows, count = columns.shape
    width = -(-count // 8)
    padded = np.zeros((rows, width * 8))
    padded[:, :count] = columns
    by_byte = padded.reshape(rows, width, 8)

    def look_up(start: int) -> Floats:
        return np.asarray(by_byte[:, start : start + _BAND] @ _BITS.T)

    tables: Callable[[int], Floats] = cache(look_up) if width <= _BAND else look_up
    for packed in _packed_flips(count, flips, seed):
        sums = np.zeros((rows, len(packed)))
        for start in range(0, width, _BAND):
            sets = packed[:, start : start + _BAND]
            places = sets + 256 * np.arange(sets.shape[1])
            for row, table in zip(sums, tables(start), strict=True):
                row += table.ravel().take(places).sum(axis=1)
        yield sums


def _packed_flips(count: int, flips: int, seed: int) -> Iterator[NDArray[np.uint8]]:
    """The sets of `flip_chunks` as rows of bits; what a last byte has beyond them is chance."""
    if every_flip_fits(count, flips):
        return (np.packbits(chosen, axis=1) for chosen in flip_chunks(count, flips, seed))
    return _random_flips(count, flips, seed, rows=max(256, _DRAWN // -(-count // 8)))


def _mean(sums: Floats, share: Floats, pair: Blocks) -> Floats:
    """Mean difference over a part of the units; NaN over none; 0 where it is no more than rounding."""
    sums = np.where(np.abs(sums) < pair.tolerance, 0.0, sums)
    empty = np.abs(share) < 1e-12
    return np.where(empty, np.nan, sums / (pair.scale * np.where(empty, 1.0, share)))
