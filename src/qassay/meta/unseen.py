"""The interval of a difference allows for what no unit shows.

Two runs are right on all of ten questions, or differ on one of them: the units at hand tell nothing of the questions
on which they would differ otherwise, and what follows from these units alone is an interval of hardly any width. So
half a unit is added on which the first run is ahead by the whole range of the scores, and half a unit on which it is
behind by as much, as for corrected differences (METHOD 7). This is done where all units that tell the runs apart do it
by the same amount: right or wrong answers, and runs that are equal on every unit.
"""

from __future__ import annotations

import math

import numpy as np

from qassay.arrays import TIE, Floats
from qassay.meta.normal_and_t import two_sided_t_line


def shows_one_difference(differences: Floats, weights: Floats, tolerance: float) -> bool:
    """Whether the runs differ by the same amount on all units, or series, on which they differ at all.

    A series differs by as much as another where its part of the difference is larger by its weight.
    """
    size = np.abs(differences)
    step = float((size / weights).max(initial=0.0))
    return bool(((size <= tolerance) | (np.abs(size - step * weights) <= tolerance)).all())


def limits_with_unseen(
    differences: Floats, span: float, *, alpha: float, decided: tuple[float, float]
) -> tuple[float, float]:
    """The limits of a decision, widened to contain the t interval of the differences and of what no unit shows.

    `span` is the range of the scores. A limit that the widening would move across 0 stays: the decision is that of the
    test. Where the decision is a single number, because the runs differ by it on every unit, the limit goes as far as
    the decision lets it, to the smallest difference that is not a tie: that one number was seen does not prove it.
    """
    units = len(differences)
    mean = float(differences.sum()) / (units + 1)
    variance = (float((differences**2).sum()) + span**2) / (units + 1) - mean**2
    margin = two_sided_t_line(units, alpha) * math.sqrt(max(variance, 0.0) / units)
    low, high = max(mean - margin, -span), min(mean + margin, span)
    smallest, largest = decided
    is_one_number = largest - smallest <= TIE
    if smallest > 0.0 >= low:
        low = min(smallest, TIE) if is_one_number else smallest
    if largest < 0.0 <= high:
        high = max(largest, -TIE) if is_one_number else largest
    return min(smallest, low), max(largest, high)
