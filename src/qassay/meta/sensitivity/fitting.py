"""The curve of a bin: ErrorRate = A1 * exp(-A2 * S) [EVAL02, QA03, SERIES05]."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from qassay.matrix import Floats

START = (1.0, 0.25)
FEWEST_POINTS = 3


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted curve."""

    a1: float
    a2: float

    def at(self, size: float) -> float:
        """The error rate at a size."""
        return self.a1 * math.exp(-self.a2 * size)

    def size_for(self, error: float, largest: int) -> int | None:
        """The smallest size at which the curve is at or below an error rate; None where it is beyond the largest."""
        if self.at(1) <= error:
            return 1
        estimate = math.ceil(min(math.log(self.a1 / error) / self.a2, largest + 1.0))
        # The logarithm and the curve itself may disagree in the last digit.
        size = next((s for s in (estimate - 1, estimate, estimate + 1) if s >= 1 and self.at(s) <= error), None)
        return size if size is not None and size <= largest else None

    def as_json(self) -> dict[str, float]:
        """The parameters under the names of the papers."""
        return {"A1": self.a1, "A2": self.a2}


def fit_curve(sizes: Floats, rates: Floats) -> Fit | str:
    """Unweighted non-linear least squares from (1, 0.25), or the reason why there is no curve.

    `rates` are those of non-empty bins only.
    """
    if len(sizes) < FEWEST_POINTS:
        return "fewer than three points"
    if not np.any(rates > 0.0):
        return "no swap at any size"
    from scipy.optimize import leastsq

    # A step of the search may try a large negative A2; what overflows there is refused below or left by the search.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found, _, _, _, status = leastsq(
            _residuals, START, args=(sizes, rates), Dfun=_slopes, col_deriv=True, full_output=True, maxfev=1000
        )
    a1, a2 = float(found[0]), float(found[1])
    if status not in (1, 2, 3, 4):
        return "no convergence"
    if not (math.isfinite(a1) and math.isfinite(a2) and a1 > 0.0 and a2 > 0.0):
        return "A1 or A2 not positive and finite"
    return Fit(a1, a2)


def _residuals(parameters: Floats, sizes: Floats, rates: Floats) -> Floats:
    return np.asarray(parameters[0] * np.exp(-parameters[1] * sizes) - rates)


def _slopes(parameters: Floats, sizes: Floats, rates: Floats) -> Floats:
    decay = np.exp(-parameters[1] * sizes)
    return np.stack([decay, -parameters[0] * sizes * decay])
