"""One trial: which units are base and test, what the runs score on them, and which bin a difference falls into.

The draws of a trial follow from (seed, stream, size, trial) alone, so that neither the order of the work nor the
number of threads can change a result. The numbers come from SplitMix64 used as a counter-based generator (Steele,
Lea and Flood 2014): its i-th number is a hash of key + i * GOLDEN, which array code and compiled code compute alike.
The trials of a study are those of stream 0.

Bins are exact (METHOD 6). Bin k has the differences from k * width up to, not including, (k + 1) * width; the last
one is open. Means of scores that are whole numbers of 1/denominator are compared as integer sums, so that a difference
on a bin limit lies in the upper bin and equal means are a tie. Other scores are doubles, and 1e-9 of slack stands for
the noise of their summation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import TIE, Floats, Integers
from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix

Keys: TypeAlias = NDArray[np.uint64]
Sides: TypeAlias = NDArray[np.uint8]

GOLDEN = 0x9E3779B97F4A7C15
FIRST_FACTOR = 0xBF58476D1CE4E5B9
SECOND_FACTOR = 0x94D049BB133111EB
WORD = 2**64

# The stream of numbers that the trials of a study take.
STUDY = 0

# The value in `sides` of a unit; 0 for one that is in neither set.
BASE, TEST = 1, 2

LIMITED_BINS = 20
BINS = LIMITED_BINS + 1
SMALLEST_WIDTH = Decimal("0.000001")
# The width of the papers, for scores within [0, 1]: a hundredth of what scores may span.
WIDTH = Decimal("0.01")

# Whole numbers up to here, and their sums, are exact in double precision.
EXACT = 2**53


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
        front = starts[first:] + step
        picked = front + jump
        drawn = pool[picked]
        pool[picked] = pool[front]
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


def bin_limits(width: Decimal) -> tuple[Decimal, ...]:
    """The lower limits of the 21 bins."""
    return tuple(width * k for k in range(BINS))


def checked_width(width: float | str | Decimal) -> Decimal:
    """The width of a bin as it is written: 0.01 is one hundredth, not the double next to it."""
    try:
        exact = Decimal(str(width))
    except ArithmeticError:
        raise UsageError(f"a bin width is a positive number, not {width!r}") from None
    if not exact.is_finite() or exact < SMALLEST_WIDTH:
        raise UsageError(f"a bin width is a number from {SMALLEST_WIDTH} up, not {width}")
    return exact


def width_for(matrix: ScoreMatrix) -> Decimal:
    """The width that suits the scores: 0.01 within 0 to 1, else a hundredth of the scale.

    The scale is that of the task, where it is known and the scores keep to it, else what the scores span, with two
    digits.
    """
    if not matrix.values.size:
        return WIDTH
    low, high = matrix.bounds or (float(matrix.values.min()), float(matrix.values.max()))
    if (low >= 0.0 and high <= 1.0) or high - low <= TIE:
        return WIDTH
    hundredth = Decimal(f"{(high - low) / 100:.2g}")
    return max(Decimal(format(hundredth.normalize(), "f")), SMALLEST_WIDTH)


def rounded_up(number: float) -> Decimal:
    """The next of 1, 2 and 5 times a power of ten.

    >>> rounded_up(0.04), rounded_up(1.0), rounded_up(7)
    (Decimal('0.05'), Decimal('1'), Decimal('10'))
    """
    power = math.floor(math.log10(number))
    steps = (Decimal(f"{k}e{e}") for k, e in ((1, power), (2, power), (5, power), (1, power + 1)))
    smallest = next(step for step in steps if float(step) >= number * (1 - TIE))
    return Decimal(format(smallest, "f"))


@dataclass(frozen=True, slots=True)
class Scale:
    """How the scores of subsets of one size are compared.

    The bin of a difference d is floor((|d| + slack) / step), the last one where that is more; |d| < tie is a tie.
    Computed with the same operations everywhere, so that every path counts alike.
    """

    step: float
    slack: float
    tie: float

    def bin_of(self, difference: float) -> int:
        """The bin of one difference."""
        return min(LIMITED_BINS, math.floor((abs(difference) + self.slack) / self.step))

    def thresholds(self) -> Floats:
        """The smallest non-negative double in each bin; that of bin 0 is the smallest that is not a tie.

        `|d| >= thresholds[k]` says the same as `bin_of(d) >= k` for every double, without a division.
        """
        limits = [self.tie]
        for k in range(1, BINS):
            limit = k * self.step - self.slack
            while self.bin_of(limit) >= k:
                limit = math.nextafter(limit, 0.0)
            while self.bin_of(limit) < k:
                limit = math.nextafter(limit, math.inf)
            limits.append(limit)
        return np.array(limits)


@dataclass(frozen=True, eq=False)
class Prepared:
    """A score matrix made ready for scoring subsets: what to sum, and how to compare the sums.

    `values` are runs x units: whole numbers where `unit_step` is set (the width of a bin in one unit's numbers),
    else scores.
    """

    matrix: ScoreMatrix
    width: Decimal
    values: Floats
    unit_step: int | None

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.values)

    @property
    def units(self) -> int:
        """Number of units."""
        return len(self.matrix.units)

    def scale(self, size: int) -> Scale:
        """How scores of subsets of this size are compared."""
        if self.unit_step is not None:
            # Whole numbers: equal means equal, and a difference of less than 1 does not exist.
            return Scale(step=float(self.unit_step * size), slack=0.0, tie=1.0)
        return Scale(step=float(self.width), slack=TIE, tie=TIE)


def prepare(matrix: ScoreMatrix, width: Decimal) -> Prepared:
    """Choose whole numbers where they are exact, doubles elsewhere.

    With width = p/q and scores n/denominator, a difference of sums D over S units lies in bin
    floor(D * q / (p * denominator * S)). The numerators are multiplied by q here, once.
    """
    numerators = matrix.numerators()
    if numerators is not None and matrix.denominator is not None:
        exact = Fraction(width)
        unit_step = exact.numerator * matrix.denominator
        largest = max(int(np.abs(numerators).max(initial=0)) * exact.denominator, BINS * unit_step)
        if largest * 2 * max(len(matrix.units), 1) < EXACT:
            return Prepared(matrix, width, (numerators * exact.denominator).astype(np.float64), unit_step)
    return Prepared(matrix, width, np.asarray(matrix.values, dtype=np.float64), None)


def subset_scores(prepared: Prepared, sides: Sides, size: int) -> tuple[Floats, Floats]:
    """Scores of every run (rows) in every trial (columns) on base and on test, for trials of one size.

    Where the scale is one of whole numbers these are sums, else scores as the measure defines them.
    """
    base, test = sides == BASE, sides == TEST
    if prepared.unit_step is not None:
        # Sums of whole numbers below 2^53 are exact in any order, so the matrix product may choose its own.
        return prepared.values @ base.T.astype(np.float64), prepared.values @ test.T.astype(np.float64)
    summary = prepared.matrix.summary
    return summary.on_subsets(prepared.values, base, size), summary.on_subsets(prepared.values, test, size)
