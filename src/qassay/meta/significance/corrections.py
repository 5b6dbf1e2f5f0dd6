"""Corrections for testing many pairs at once, on p-values alone."""

from __future__ import annotations

import numpy as np

from qassay.matrix import Floats


def holm(p: Floats) -> Floats:
    """Holm's step-down adjustment (Holm 1979): the chance of any false difference stays below the level.

    The i-th smallest of m p-values is multiplied by m - i + 1; running maximum, at most 1.
    """
    count = len(p)
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(count, 0, -1)) if count else p
    return _back(np.minimum(raised, 1.0), order)


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini and Hochberg's step-up adjustment (1995): the expected share of false differences.

    The i-th smallest of m p-values is multiplied by m/i; running minimum from the largest down, at most 1.
    """
    count = len(p)
    order = np.argsort(p, kind="stable")
    raised = p[order] * (count / np.arange(1, count + 1))
    lowered = np.minimum.accumulate(raised[::-1])[::-1] if count else raised
    return _back(np.minimum(lowered, 1.0), order)


def _back(adjusted: Floats, order: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Floats:
    result: Floats = np.empty(len(adjusted))
    result[order] = adjusted
    return result
