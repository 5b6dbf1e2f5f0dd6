"""The paired randomisation test of two runs, and the interval of their difference, which is its inverse.

If two runs do not differ, which of them earned which score on a unit is a matter of chance, and the sign of every
per-unit difference could as well be the other one. The interval contains every difference that this test does not
reject, so that interval and p-value cannot contradict each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import Floats, Integers
from qassay.meta.blocks import Blocks, rows_at_once
from qassay.meta.right_or_wrong import exact_flips
from qassay.meta.unseen import limits_with_unseen, shows_one_difference

# Random flips by default; all flips where there are no more than this.
FLIPS = 100_000
# Of very many blocks fewer are flipped, so that flips x blocks is no more than this, but never fewer than that.
_MOST_FLIPPED = 10**10
_FEWEST_FLIPS = 10_000
# Bytes of random flips drawn at once: they fit the caches.
_DRAWN = 1 << 20


@dataclass(frozen=True, slots=True)
class FlipTest:
    """The outcome: the difference, its interval, its p-value, and the number of flips.

    A limit is None where no difference is far enough out to be rejected: too few units. `exact` says that every
    flip counts, and not a random part of them; p is their share then, else (1 + hits)/(1 + flips). `flips` is None
    where there are too many to write their number down.
    """

    difference: float
    low: float | None
    high: float | None
    p: float
    flips: int | None
    exact: bool

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both limits; None where there is none on either side."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def rejects(self) -> bool:
        """Whether no difference at all is ruled out: 0 lies outside the interval."""
        return (self.low is not None and self.low > 0) or (self.high is not None and self.high < 0)


def default_flips(count: int) -> int:
    """How many random flips of this number of blocks are drawn unless the caller says otherwise.

    >>> default_flips(500), default_flips(1_000_000)
    (100000, 10000)
    """
    return min(FLIPS, max(_FEWEST_FLIPS, _MOST_FLIPPED // max(count, 1)))


def flip_test(pair: Blocks, *, level: float = 0.95, flips: int | None = None, seed: int = 0) -> FlipTest:
    """The paired randomisation test of two runs, first minus second, and the interval of their difference.

    For a set F of flipped units, the flipped mean of the differences minus delta is at least as far from 0 as the
    observed one exactly where delta lies between the mean difference over F and the mean over the other units.
    So the limits are order statistics of these means, and one set of flips serves every delta. Series are flipped
    as wholes. All flips count where there are no more than `flips` of them, and where every unit tells the runs apart
    by the same amount or not at all, as with answers that are right or wrong. There the limits allow for differences
    that no unit shows (`qassay.meta.unseen`); p and the decision stay those of the flips.
    """
    differences = pair.parts[0] - pair.parts[1]
    flips = default_flips(pair.count) if flips is None else flips
    counts = ahead_and_behind(pair)
    test = _flipped(differences, pair, level, flips, seed) if counts is None else _computed(*counts, pair, level)
    if test.interval is None or not shows_one_difference(differences, pair.weights, pair.tolerance):
        return test
    first, second = pair.values()
    low, high = limits_with_unseen(first - second, pair.span, alpha=1 - level, decided=test.interval)
    return replace(test, low=low, high=high)


def _flipped(differences: Floats, pair: Blocks, level: float, flips: int, seed: int) -> FlipTest:
    """The test by all flips there are, or by random ones."""
    total = float(differences.sum())
    exact = every_flip_fits(pair.count, flips)
    count = 2**pair.count if exact else flips
    lows, highs = np.empty(count), np.empty(count)
    at = 0
    for flipped, weight in flipped_sums(differences, pair.weights, flips, seed):
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
    needed = hits_needed(count, 1 - level, exact=exact)
    low, high = -np.inf, np.inf
    if 1 <= needed <= count:
        low = float(np.partition(lows, needed - 1)[needed - 1])
        high = -float(np.partition(-highs, needed - 1)[needed - 1])
    return FlipTest(
        difference=total / pair.scale,
        low=low if math.isfinite(low) else None,
        high=high if math.isfinite(high) else None,
        p=hits / count if exact else (1 + hits) / (1 + count),
        flips=count,
        exact=exact,
    )


def ahead_and_behind(pair: Blocks) -> tuple[int, int, float] | None:
    """On how many blocks the first run is ahead, on how many behind, and by how much; None where it is not one amount.

    None too where blocks that differ weigh differently: a sum of them is then no number of blocks.
    """
    differences = pair.parts[0] - pair.parts[1]
    ahead, behind = (int((sign * differences > pair.tolerance).sum()) for sign in (1, -1))
    weigh_the_same = ahead + behind == 0 or bool((pair.weights == pair.weights[0]).all())
    if not weigh_the_same or not shows_one_difference(differences, pair.weights, pair.tolerance):
        return None
    return ahead, behind, float(np.abs(differences).max(initial=0.0))


def _computed(ahead: int, behind: int, step: float, pair: Blocks, level: float) -> FlipTest:
    """The test where the runs differ on a unit by one amount, or not at all: computed, not enumerated or drawn."""
    test = exact_flips(ahead, behind, pair.count - ahead - behind, alpha=1 - level)
    scale = step * pair.count / pair.scale
    return FlipTest(
        difference=float((pair.parts[0] - pair.parts[1]).sum()) / pair.scale,
        low=test.low * scale if math.isfinite(test.low) else None,
        high=test.high * scale if math.isfinite(test.high) else None,
        p=test.p,
        flips=2**pair.count if pair.count < 63 else None,
        exact=True,
    )


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


def flipped_sums(values: Floats, weights: Floats, flips: int, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """Sums of values (whole numbers) and of weights over sets of flipped blocks, those of `flip_chunks`."""
    count = len(values)
    if every_flip_fits(count, flips) or not (weights == weights[0]).all():
        for chosen in flip_chunks(count, flips, seed):
            signs = chosen.astype(np.float64)
            yield signs @ values, signs @ weights
        return
    planes = _BitPlanes(values)
    for packed in _random_flips(count, flips, seed, rows=_DRAWN // -(-count // 8)):
        sums, sizes = planes.sums(packed)
        yield sums, sizes * weights[0]


class _BitPlanes:
    """Whole numbers by their binary digits, so that sums over sets of them are numbers of common ones.

    A set has one bit for each number. Where 2^k is the value of a digit, the sum over a set is the sum over k of
    2^k * (ones that the set and digit k of all numbers have in common): exact, and many times faster than adding.
    """

    def __init__(self, values: Floats) -> None:
        self.lowest = int(values.min())
        above = values.astype(np.int64) - self.lowest
        self.all = self._words(np.packbits(np.ones(len(values), dtype=np.uint8))[None, :])
        digits = range(int(above.max()).bit_length())
        self.planes = [self._words(np.packbits((above >> k & 1).astype(np.uint8))[None, :]) for k in digits]

    def sums(self, packed: NDArray[np.uint8]) -> tuple[Floats, Floats]:
        """The sum over each set (row of bits), and the number of its members."""
        sets = self._words(packed)
        sizes = self._common(sets, self.all)
        totals = self.lowest * sizes
        for k, plane in enumerate(self.planes):
            totals += self._common(sets, plane) << k
        return totals.astype(np.float64), sizes.astype(np.float64)

    @staticmethod
    def _common(sets: NDArray[np.uint64], plane: NDArray[np.uint64]) -> Integers:
        return np.asarray(np.bitwise_count(sets & plane).sum(axis=1, dtype=np.int64))

    @staticmethod
    def _words(packed: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """Rows of bytes as rows of 64-bit words, filled up with zeros."""
        rows, width = packed.shape
        padded = np.zeros((rows, -(-width // 8) * 8), dtype=np.uint8)
        padded[:, :width] = packed
        return padded.view(np.uint64)


def _mean(sums: Floats, share: Floats, pair: Blocks) -> Floats:
    """Mean difference over a part of the units; NaN over none; 0 where it is no more than rounding."""
    sums = np.where(np.abs(sums) < pair.tolerance, 0.0, sums)
    empty = np.abs(share) < 1e-12
    return np.where(empty, np.nan, sums / (pair.scale * np.where(empty, 1.0, share)))
