"""Reading the closed form: rates at any size, the size that a difference needs, the gap that is repeatable.

No trial is drawn: means and variances of the pairs' differences are enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np

from qassay.arrays import TIE, Floats, none_for_nan
from qassay.matrix import ScoreMatrix
from qassay.meta.sensitivity.closed_form import PairMoments, pair_moments, predicted_rates
from qassay.meta.sensitivity.reading import first_within
from qassay.meta.sensitivity.trials import LIMITED_BINS, Scale, bin_limits, width_for

# "Size needed" looks this many times further than the units at hand.
FURTHEST = 10


@dataclass(frozen=True, eq=False)
class Prediction:
    """The closed form of one score matrix; `compiled` code is for many pairs at many sizes."""

    moments: PairMoments
    width: Decimal
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
        return predicted_rates(self.moments, size, np.array(self.limits), compiled=self.compiled)

    def repeatable(self, size: float, error: float) -> float | None:
        """The gap from which on every bin is within the error rate at this size; None where there is none.

        None for a single pair of runs too, which says nothing of other runs.
        """
        if len(self.moments.means) < 2:
            return None
        return first_within(self.limits[1:], none_for_nan(self.rates_at(size)[1:]), error)

    def sizes_needed(self, error: float, furthest: int) -> dict[str, int | None]:
        """For each bin but the first and the open one, by its lower limit: the smallest size within the error rate."""
        names = [format(limit, "f") for limit in bin_limits(self.width)]
        return {names[k]: self._size_needed(k, error, furthest) for k in range(1, LIMITED_BINS)}

    def _size_needed(self, k: int, error: float, furthest: int) -> int | None:
        """The smallest size at which the rate of a bin is within the error, by doubling and halving.

        The curve of a bin falls, and ends where no pair is expected in the bin any more: beyond its end there is
        nothing to be wrong about, but a size there is no answer.
        """
        limits = np.array(self.limits[k : k + 2])

        def rate(size: int) -> float:
            return float(predicted_rates(self.moments, size, limits, compiled=self.compiled)[0])

        def is_enough(size: int) -> bool:
            expected = rate(size)
            return math.isnan(expected) or expected <= error

        low, high = 0, 1
        while not is_enough(high):
            if high >= furthest:
                return None
            low, high = high, min(2 * high, furthest)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if is_enough(middle) else (middle, high)
        return high if rate(high) <= error else None


def predict(matrix: ScoreMatrix) -> Prediction:
    """The closed form of a matrix, with the bins that suit its scores."""
    return Prediction(pair_moments(matrix), width_for(matrix))
