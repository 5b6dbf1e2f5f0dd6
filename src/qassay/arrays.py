"""Arrays of numbers: their types, when two numbers are equal, exact sums, and how undefined numbers are written."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

# Two scores closer than this are equal: in rankings, tau, groups, bins. (METHOD 6)
TIE = 1e-9


def defined(value: float) -> float | None:
    """A number as results have it: None where it is undefined."""
    return None if math.isnan(value) else float(value)


def none_for_nan(values: Floats) -> list[float | None]:
    """A row of numbers as results have them."""
    listed: list[float | None] = np.asarray(values, dtype=np.float64).tolist()
    for undefined in np.flatnonzero(np.isnan(values)).tolist():
        listed[undefined] = None
    return listed


def whole_numbers(values: Floats, denominator: int | None = None) -> tuple[Floats, float]:
    """Values (runs x units) as whole numbers, and their scale: every sum over the units is exact.

    Sums of whole numbers up to 2^52 are exact in double precision, in any order and on any number of threads. Values
    that are whole numbers of 1/denominator keep it as their scale; others are rounded to the finest one that fits.
    """
    if denominator is not None:
        return np.rint(values * denominator), float(denominator)
    largest = max(float(np.abs(values).max(initial=0.0)), 1.0)
    scale = 2.0 ** np.floor(np.log2(2.0**52 / (largest * max(values.shape[1], 1))))
    return np.rint(values * scale), float(scale)
