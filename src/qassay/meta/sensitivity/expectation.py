"""Expected error rates under the closed form, as intervals need them: ties included, and for units dealt from few.

The closed form of `closed_form` is that of scores that take any value. Scores that are right or wrong move in steps:
at size S the difference of two runs is a multiple of 1/S, many bins are never reached, and ties are common. Here a
step stands for the stretch around it that is nearer to it than to the next one. And where base and test are dealt
from the same n units, they are not independent: what one gets the other lacks, and the correlation of their means
is -S / (n - S), which is -1 at half the units. Scores that are often the same without moving in steps, such as F
scores of 0, tie where every unit of a small set is such a one: bin 0 is full of these.

Right-or-wrong scores on small sets are exact. On a unit, two runs differ by 1, 0 or -1 steps; over a set of fresh units
the steps add up, and the distribution of their sum follows from two numbers of the pair: on how many units it differs,
and its mean difference. For units dealt from those at hand, base and test together are 2S units, of which I favour one
run, J the other and the rest neither; all ways to halve them are equally likely. So what a halving shows, by (I, J), is
one table for all pairs, and a pair only has its probabilities of (I, J), which are hypergeometric. The normal closed
form takes such sets for smoother than they are. Its rates follow too little how often runs differ, by an eighth where
sets are small.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import TIE, Floats, Integers
from qassay.meta.sensitivity.closed_form import AT_ONCE, FEWEST_EXPECTED, PairMoments, expected_at_least
from qassay.meta.sensitivity.counting import Ties

# Nodes of Gauss-Legendre quadrature in a stretch, and the most stretches of a bin and of the open bin.
NODES = 4
MOST_IN_A_BIN = 8
MOST_IN_THE_OPEN_BIN = 60

# Steps of at least this share of a bin are summed one by one.
COARSE = 0.25

# Normal means further out than this many deviations do not matter.
FAR = 6.0

# Nodes and weights of Gauss-Hermite quadrature over what base and test sets from the same series have in common.
SERIES_NODES, SERIES_WEIGHTS = np.polynomial.hermite_e.hermegauss(5)

# The largest sets with an exact table; beyond it, tables become large and the normal closed form serves.
LARGEST = 32


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected comparisons, swaps and agreements of each bin; what is neither is a tie."""

    comparisons: Floats
    swaps: Floats
    agreements: Floats

    @property
    def tied(self) -> Floats:
        """The probability of neither."""
        return np.maximum(self.comparisons - self.swaps - self.agreements, 0.0)

    def denominators(self, ties: Ties) -> Floats:
        """The comparisons that an error rate is a share of."""
        return self.comparisons - self.tied if ties == "exclude" else self.comparisons

    def rates(self, ties: Ties) -> Floats:
        """Error rates by a rule for ties; not-a-number where nothing is expected."""
        swaps = self.swaps + self.tied / 2 if ties == "half" else self.swaps
        of = self.denominators(ties)
        return np.asarray(np.divide(swaps, of, out=np.full(len(of), np.nan), where=of >= FEWEST_EXPECTED))


def in_fresh_series(
    moments: PairMoments,
    size: int,
    units: int,
    limits: Floats,
    step: float,
    *,
    compiled: bool,
    exact: Trinomial | None = None,
) -> Expected:
    """The expected result of the study on this many fresh units in fresh series, base and test sharing series.

    With V the variance of the mean of all units and v that of a unit, the means of base and test have the variance
    V + v (1/S - 1/n) and the covariance V - v/n: those of independent sets of fresh units, whose common mean is off by
    a normal number of variance V - v/n. `exact` stands in for the normal closed form where it is known.
    """

    def on_fresh(some: PairMoments) -> Expected:
        if exact is not None:
            return Expected(*exact.fresh(some))
        return on_fresh_units(some, size, limits, step, compiled=compiled)

    if moments.series is None:
        return on_fresh(moments)
    off = np.sqrt(np.maximum(moments.series, 0.0) / units)
    parts = [on_fresh(replace(moments, means=np.abs(moments.means + node * off))) for node in SERIES_NODES]
    shares = SERIES_WEIGHTS / SERIES_WEIGHTS.sum()
    comparisons, swaps, agreements = (
        np.asarray(sum(share * getattr(part, name) for share, part in zip(shares, parts, strict=True)))
        for name in ("comparisons", "swaps", "agreements")
    )
    return Expected(comparisons, swaps, agreements)


def on_fresh_units(moments: PairMoments, size: int, limits: Floats, step: float, *, compiled: bool) -> Expected:
    """The expected rates of base and test sets of fresh units; `step` is that of a difference at this size, or 0."""
    means, deviations = moments.varying
    half = step / 2
    edges = limits if step == 0.0 else (np.ceil(limits / step - TIE) - 0.5) * step
    edges = np.concatenate([[half], edges[1:]])
    moving = 1.0 - _equal(moments, limits, step) ** size
    at_least = expected_at_least(means, deviations / np.sqrt(size), edges, half, moving, compiled=compiled)
    at_least[0][0] = len(means)
    comparisons, swaps, agreements = (reaching - np.append(reaching[1:], 0.0) for reaching in at_least)
    return _with_fixed(comparisons, swaps, agreements, moments.fixed, limits)


def on_dealt_units(moments: PairMoments, size: int, units: int, limits: Floats, step: float) -> Expected:
    """The expected result of the study itself, over all ways to deal base and test from the units at hand."""
    from scipy.special import ndtr

    means, deviations = moments.varying
    sums = np.zeros((3, len(limits)))
    spreads = deviations * np.sqrt(1.0 / size - 1.0 / units)
    rho = -size / (units - size)
    nodes, weights, bins = _nodes(means, spreads, limits, step)
    # All units of a set are among the equal ones: k of n, then k - 1 of n - 1, and so on.
    left = np.arange(size)
    equal = np.rint(_equal(moments, limits, step) * units)[:, None]
    moving = 1.0 - np.prod(np.maximum(equal - left, 0.0) / (units - left), axis=1)
    sums[0, 0] = (1.0 - moving).sum()
    at_once = max(1, AT_ONCE // len(nodes))
    for start in range(0, len(means), at_once):
        m, s = means[start : start + at_once, None], spreads[start : start + at_once, None]
        rest = s * max(np.sqrt(1.0 - rho * rho), TIE)
        parts = []
        for sign in (1.0, -1.0):
            away = sign * nodes - m
            # Equal in base: there is one such node, and neither a swap nor an agreement.
            mass = np.exp(-((away / s) ** 2) / 2) * np.where((nodes == 0.0) & (sign < 0), 0.0, weights)
            test = sign * (m + rho * away)
            some = mass * (nodes > 0.0)
            parts.append((mass, some * ndtr((-step / 2 - test) / rest), some * ndtr((test - step / 2) / rest)))
        total = sum(mass.sum(axis=1, keepdims=True) for mass, _, _ in parts)
        share = np.divide(1.0, total, out=np.zeros_like(m), where=total > 0.0)
        for row in range(3):
            differ = moving[start : start + at_once, None] ** (1 if row == 0 else 2)
            by_node = ((parts[0][row] + parts[1][row]) * share * differ).sum(axis=0)
            sums[row] += np.bincount(bins, weights=by_node, minlength=len(limits))
    return _with_fixed(sums[0], sums[1], sums[2], moments.fixed, limits)


def _equal(moments: PairMoments, limits: Floats, step: float) -> Floats:
    """The share of units on which the two runs of a pair are equal; 0 where ties come from steps."""
    varying = moments.variances > 0.0
    if moments.equal is None or step >= COARSE * limits[1]:
        return np.zeros(int(varying.sum()))
    return moments.equal[varying]


def _nodes(means: Floats, spreads: Floats, limits: Floats, step: float) -> tuple[Floats, Floats, Integers]:
    """Where to evaluate the distribution of a base difference: points, their weights, and the bins they are in."""
    width, last = limits[1], limits[-1]
    top = max(float((means + FAR * spreads).max(initial=0.0)), last + width)
    if step >= COARSE * width and top / step < MOST_IN_THE_OPEN_BIN * len(limits):
        nodes = np.arange(0.0, np.ceil(top / step) + 1) * step
        weights = np.ones(len(nodes))
    else:
        narrow = float(np.quantile(spreads, 0.1)) if len(spreads) else width
        inner = int(np.clip(np.ceil(width / max(2 * narrow, TIE)), 1, MOST_IN_A_BIN))
        outer = int(np.clip(np.ceil((top - last) / max(width, narrow)), 1, MOST_IN_THE_OPEN_BIN))
        ends = np.concatenate(
            [np.linspace(0.0, last, (len(limits) - 1) * inner + 1)[:-1], np.linspace(last, top, outer + 1)]
        )
        points, parts = np.polynomial.legendre.leggauss(NODES)
        half = np.diff(ends)[:, None] / 2
        nodes = (ends[:-1, None] + half * (1 + points)).ravel()
        weights = (half * parts).ravel()
    bins = np.searchsorted(limits, nodes + TIE, side="right") - 1
    return nodes, weights, np.asarray(bins)


def _with_fixed(comparisons: Floats, swaps: Floats, agreements: Floats, fixed: Floats, limits: Floats) -> Expected:
    """Add the pairs whose difference never varies: in the bin of their mean, never swapped."""
    bins = np.searchsorted(limits, fixed + TIE, side="right") - 1
    always = np.bincount(bins, minlength=len(limits))
    agreeing = np.bincount(bins[fixed >= TIE], minlength=len(limits))
    return Expected(comparisons + always, swaps, agreements + agreeing)


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
        sums = np.zeros((3, len(self.limits)))
        for row, by_steps in enumerate((up.sum(axis=0) + down.sum(axis=0), swaps, agreements)):
            sums[row] = np.bincount(bins, by_steps, minlength=len(self.limits))
        sums[0, 0] += chances[:, 0].sum()
        return sums

    def dealt(self, moments: PairMoments, units: int) -> Floats:
        """The same on units dealt from this many units."""
        from scipy.special import gammaln

        differ, mean = (np.rint(share * units).astype(np.int64) for share in self._shares(moments))
        # Many pairs differ on as many units and by as much.
        (differ, mean), pairs = np.unique(np.stack([differ, mean]), axis=1, return_counts=True)
        plus, minus, cells = self._halvings
        factorials = np.asarray(gammaln(np.arange(units + 1) + 1.0))

        def ways(have: Integers, number: Integers) -> Floats:
            """Log of the number of ways to choose; minus infinity where there are not enough."""
            left = have - number
            log = factorials[have] - factorials[np.minimum(number, have)] - factorials[np.maximum(left, 0)]
            return np.asarray(np.where(left >= 0, log, -np.inf))

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
        outcomes = np.array([(i, j) for i in range(size + 1) for j in range(size + 1 - i)])
        base, test = np.repeat(outcomes, len(outcomes), axis=0).T, np.tile(outcomes, (len(outcomes), 1)).T
        both = base + test
        share = np.exp(_log_ways(base, size) + _log_ways(test, size) - _log_ways(both, 2 * size))
        d_base, d_test = base[0] - base[1], test[0] - test[1]
        product = d_base * d_test
        rows, bins = both[0] * (2 * size + 1) + both[1], len(self.limits)
        cell = rows * bins + self._bins(d_base)
        every = (2 * size + 1) ** 2
        kinds = (share, share * (product < 0), share * (product > 0))
        cells = np.stack([np.bincount(cell, kind, minlength=every * bins).reshape(every, bins) for kind in kinds], 1)
        occurring = np.unique(rows)
        return occurring // (2 * size + 1), occurring % (2 * size + 1), cells[occurring]


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
    """Log of the number of ways in which some of the units favour one run, some the other, and the rest none."""
    from scipy.special import gammaln

    rest = of - numbers[0] - numbers[1]
    return np.asarray(gammaln(of + 1) - gammaln(numbers[0] + 1) - gammaln(numbers[1] + 1) - gammaln(rest + 1))
