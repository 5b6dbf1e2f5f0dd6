"""The scores of all runs on the base and on the test set of each trial, in array code."""

from __future__ import annotations

import numpy as np

from qassay.matrix import Floats
from qassay.meta.sensitivity.sampling import BASE, TEST, Sides
from qassay.meta.sensitivity.scale import Prepared


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
