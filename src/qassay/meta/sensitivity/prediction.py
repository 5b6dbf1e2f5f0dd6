"""Reading the closed form: rates at any size, the size that a difference needs, the gap that is repeatable.

No trial is drawn: means and variances of the pairs' differences are enough. Measured scores lie further apart than the
true ones, by the noise of the units, so their differences are multiplied by kappa first. No gap is given where the
systems may as well be equal: the test of all pairs must separate two of them, and the spread of true scores must be
above 0 at its lower limit and show a gap there too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Literal

import numpy as np

from qassay.arrays import TIE, Floats, none_for_nan
from qassay.matrix import ScoreMatrix
from qassay.meta.blocks import blocks
from qassay.meta.sensitivity.closed_form import PairMoments, pair_moments, predicted_rates
from qassay.meta.sensitivity.reading import first_within
from qassay.meta.sensitivity.trials import LIMITED_BINS, Scale, bin_limits, width_for
from qassay.meta.significance import compare_all, residual_variance
from qassay.meta.significance.power import first_enough

# "Size needed" looks this many times further than the units at hand.
FURTHEST = 10
# The spread of true scores is below its lower limit in this share of samples.
BELOW = 0.1
# Why there is no gap: no two systems differ, all of them may be nearly equal, or most lie in the open bin.
Withheld = Literal["pairs", "spread", "bins"]


@dataclass(frozen=True, slots=True)
class Separation:
    """How far the systems lie apart: the pairs that differ, and the spread of scores compared with their noise.

    `ratio` is F, the mean square of the differences over the mean variance of a difference; 1 where only noise sets
    the systems apart. `lowest` is its lower 90% limit, F (k - 1)/chi2, the 90% point of k - 1 degrees of freedom.
    """

    different: int
    ratio: float
    lowest: float

    @property
    def kappa(self) -> float:
        """What true differences are of measured ones: sqrt((F - 1)/F)."""
        return _share(self.ratio)

    @property
    def lowest_kappa(self) -> float:
        """The same at the lower limit of the spread."""
        return _share(self.lowest)

    @property
    def withheld(self) -> Withheld | None:
        """Why no gap can be given, whatever the size; None where the systems are apart."""
        if self.different == 0:
            return "pairs"
        return None if self.lowest > 1 else "spread"


def _share(ratio: float) -> float:
    return math.sqrt(max(1 - 1 / ratio, 0.0)) if ratio > 0 else 0.0


def separation(matrix: ScoreMatrix, moments: PairMoments, different: int | None = None, seed: int = 0) -> Separation:
    """How far the systems lie apart; `different` is the number of pairs that differ, if it is known."""
    if different is None:
        different = compare_all(matrix, seed=seed).different if len(matrix.runs) > 1 else 0
    if len(moments.means) == 0:
        return Separation(different, 0.0, 0.0)
    if not moments.variances.any():
        ratio = math.inf if moments.means.any() else 0.0
        return Separation(different, ratio, ratio)
    from scipy.special import chdtri

    parts = blocks(matrix)
    ratio = float((moments.means**2).mean()) / (2 * residual_variance(parts.values())[0] / parts.count)
    freedom = len(matrix.runs) - 1
    return Separation(different, ratio, ratio * freedom / float(chdtri(freedom, BELOW)))


@dataclass(frozen=True, eq=False)
class Prediction:
    """The closed form of one score matrix; `compiled` code is for many pairs at many sizes."""

    moments: PairMoments
    width: Decimal
    separation: Separation
    compiled: bool = False

    @cached_property
    def limits(self) -> tuple[float, ...]:
        """The lower limits of the bins."""
        return tuple(float(limit) for limit in bin_limits(self.width))

    def bin_of(self, difference: float) -> int:
        """The number of the bin that contains a difference."""
        return Scale(step=float(self.width), slack=TIE, tie=TIE).bin_of(difference)

    def rates_at(self, size: float) -> Floats:
        """The error rate of each bin at any size; not-a-number where no pair is expected."""
        return self._rates(size, self.separation.kappa)

    def _rates(self, size: float, kappa: float) -> Floats:
        return predicted_rates(self._true(kappa), size, np.array(self.limits), compiled=self.compiled)

    def _true(self, kappa: float) -> PairMoments:
        """The moments with means as far apart as true ones."""
        return replace(self.moments, means=self.moments.means * kappa)

    def repeatable(self, size: float, error: float) -> float | None:
        """The gap from which on every bin is within the error rate at this size; None where there is none.

        None too for a single pair of runs, which says nothing of other runs, and where the runs are not apart, at the
        lower limit of their spread included.
        """
        if len(self.moments.means) < 2 or self.separation.withheld is not None:
            return None
        lowest, gap = (
            first_within(self.limits[1:], none_for_nan(self._rates(size, kappa)[1:]), error)
            for kappa in (self.separation.lowest_kappa, self.separation.kappa)
        )
        return None if lowest is None else gap

    def sizes_needed(self, error: float, furthest: int) -> dict[str, int | None]:
        """For each bin but the first and the open one, by its lower limit: the smallest size within the error rate.

        None everywhere where the runs are not apart.
        """
        names = [format(limit, "f") for limit in bin_limits(self.width)][1:LIMITED_BINS]
        if self.separation.withheld is not None:
            return dict.fromkeys(names)
        true = self._true(self.separation.kappa)
        return {name: self._size_needed(true, k, error, furthest) for k, name in enumerate(names, 1)}

    def _size_needed(self, true: PairMoments, k: int, error: float, furthest: int) -> int | None:
        """The smallest size at which the rate of a bin is within the error, by doubling and halving.

        The curve of a bin falls, and ends where no pair is expected in the bin any more: beyond its end there is
        nothing to be wrong about, but a size there is no answer.
        """
        limits = np.array(self.limits[k : k + 2])

        def rate(size: int) -> float:
            return float(predicted_rates(true, size, limits, compiled=self.compiled)[0])

        def is_enough(size: int) -> bool:
            expected = rate(size)
            return math.isnan(expected) or expected <= error

        size = first_enough(is_enough, 0, 1, furthest)
        return size if size is not None and rate(size) <= error else None


def predict(matrix: ScoreMatrix) -> Prediction:
    """The closed form of a matrix, with the bins that suit its scores."""
    moments = pair_moments(matrix)
    return Prediction(moments, width_for(matrix), separation(matrix, moments))
