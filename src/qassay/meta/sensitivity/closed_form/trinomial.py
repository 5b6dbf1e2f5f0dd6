"""Expected error rates of right-or-wrong scores on small sets, exactly.

On a unit, two runs differ by 1, 0 or -1 steps; over a set of fresh units the steps add up, and the distribution of
their sum follows from two numbers of the pair: on how many units it differs, and its mean difference. For units dealt
from those at hand, base and test together are 2S units, of which I favour one run, J the other and the rest neither;
all ways to halve them are equally likely. So what a halving shows, by (I, J), is one table for all pairs, and a pair
only has its probabilities of (I, J), which are hypergeometric.

The normal closed form takes such sets for smoother than they are. Its rates follow too little how often runs differ,
by an eighth where sets are small.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from qassay.matrix import TIE, Floats, Integers
from qassay.meta.sensitivity.closed_form.predictor import PairMoments

# Up to this size; beyond it, tables become large and the normal closed form serves.
LARGEST = 32


@dataclass(frozen=True)
class Trinomial:
    """Sets of one size; `unit` is the difference of right and wrong, `limits` those of the bins."""

    size: int
    unit: float
    limits: tuple[float, ...]

    def fresh(self, moments: PairMoments) -> Floats:
        """Expected comparisons, swaps and agreements (rows) by bin, over all pairs, on fresh units."""
        differ, mean = self._shares(moments)
        # The distribution of a sum, from the characteristic function of one unit.
        outcomes = 2 * self.size + 1
        angle = 2 * np.pi / outcomes * np.arange(self.size + 1)
        one_unit = np.empty((len(mean), len(angle)), dtype=np.complex128)
        one_unit.real = 1.0 + np.multiply.outer(differ, np.cos(angle) - 1.0)
        one_unit.imag = np.multiply.outer(mean, -np.sin(angle))
        chances = np.maximum(np.fft.irfft(_power(one_unit, self.size), outcomes, axis=1), 0.0)
        up, down = chances[:, 1 : self.size + 1], chances[:, : self.size : -1]
        better, worse = up.sum(axis=1), down.sum(axis=1)
        swaps = _weighted(up, worse) + _weighted(down, better)
        agreements = _weighted(up, better) + _weighted(down, worse)
        bins = self._bins(np.arange(1, self.size + 1))
        found = np.zeros((3, len(self.limits)))
        for row, by_steps in enumerate((up.sum(axis=0) + down.sum(axis=0), swaps, agreements)):
            found[row] = np.bincount(bins, by_steps, minlength=len(self.limits))
        found[0, 0] += chances[:, 0].sum()
        return found

    def dealt(self, moments: PairMoments, units: int) -> Floats:
        """The same on units dealt from so many at hand."""
        differ, mean = (np.rint(share * units).astype(np.int64) for share in self._shares(moments))
        # Many pairs differ on as many units and by as much.
        (differ, mean), pairs = np.unique(np.stack([differ, mean]), axis=1, return_counts=True)
        plus, minus, cells = self._halvings
        ways = _LogChoices(units)
        log = ways((differ + mean)[:, None] // 2, plus) + ways((differ - mean)[:, None] // 2, minus)
        log += ways((units - differ)[:, None], 2 * self.size - plus - minus)
        log -= ways(np.array(units), np.array(2 * self.size))
        return np.asarray(np.einsum("r,rck->ck", (np.exp(log) * pairs[:, None]).sum(axis=0), cells))

    def _shares(self, moments: PairMoments) -> tuple[Floats, Floats]:
        """The share of units on which the runs of a pair differ, and their mean difference in steps."""
        if moments.equal is None:
            raise TypeError("the moments do not say how often runs are equal")
        mean = np.minimum(moments.means / self.unit, 1.0)
        return np.clip(1.0 - moments.equal, mean, 1.0), mean

    def _bins(self, steps: Integers) -> Integers:
        return np.asarray(np.searchsorted(self.limits, np.abs(steps) * (self.unit / self.size) + TIE, side="right") - 1)

    @cached_property
    def _halvings(self) -> tuple[Integers, Integers, Floats]:
        """I, J and what a halving of 2S such units shows: rows x (comparisons, swaps, agreements) x bins."""
        size = self.size
        one = np.array([(i, j) for i in range(size + 1) for j in range(size + 1 - i)])
        base, test = np.repeat(one, len(one), axis=0).T, np.tile(one, (len(one), 1)).T
        both = base + test
        share = np.exp(_log_ways(base, size) + _log_ways(test, size) - _log_ways(both, 2 * size))
        d_base, d_test = base[0] - base[1], test[0] - test[1]
        product = d_base * d_test
        rows, bins = both[0] * (2 * size + 1) + both[1], len(self.limits)
        cell = rows * bins + self._bins(d_base)
        every = (2 * size + 1) ** 2
        kinds = (share, share * (product < 0), share * (product > 0))
        cells = np.stack([np.bincount(cell, kind, minlength=every * bins).reshape(every, bins) for kind in kinds], 1)
        there = np.unique(rows)
        return there // (2 * size + 1), there % (2 * size + 1), cells[there]


@lru_cache(maxsize=LARGEST)
def trinomial(size: int, unit: float, limits: tuple[float, ...]) -> Trinomial:
    """The sets of one size; kept, because their table takes a moment."""
    return Trinomial(size, unit, limits)


def _weighted(chances: Floats, weights: Floats) -> Floats:
    """Weighted sums over pairs; in plain loops, whose order does not depend on the number of threads."""
    return np.asarray(np.einsum("pd,p->d", chances, weights))


def _power(base: NDArray[np.complex128], exponent: int) -> NDArray[np.complex128]:
    """A whole power by squaring: far faster than the general power of complex numbers."""
    if exponent == 1:
        return base
    half = _power(base, exponent // 2)
    square = half * half
    return square * base if exponent % 2 else square


def _log_ways(numbers: Integers, of: int) -> Floats:
    """Log of the number of ways in which some of so many units favour one run, some the other, and the rest none."""
    from scipy.special import gammaln

    rest = of - numbers[0] - numbers[1]
    return np.asarray(gammaln(of + 1) - gammaln(numbers[0] + 1) - gammaln(numbers[1] + 1) - gammaln(rest + 1))


class _LogChoices:
    """Log of the number of ways to choose some of those there; minus infinity where there are not enough."""

    def __init__(self, most: int) -> None:
        from scipy.special import gammaln

        self.factorials = np.asarray(gammaln(np.arange(most + 1) + 1.0))

    def __call__(self, have: Integers, number: Integers) -> Floats:
        log, left = self.factorials, have - number
        ways = log[have] - log[np.minimum(number, have)] - log[np.maximum(left, 0)]
        return np.asarray(np.where(left >= 0, ways, -np.inf))
