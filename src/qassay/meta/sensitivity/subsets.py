"""The scores of all runs on the base and on the test set of each trial, in array code."""

from __future__ import annotations

import numpy as np

from qassay.matrix import ConfidenceWeighted, Floats, Mean
from qassay.meta.sensitivity.sampling import BASE, TEST, Sides
from qassay.meta.sensitivity.scale import Prepared

# Scores gathered at once for sums: small enough for the caches.
GATHERED_AT_ONCE = 500_000


def subset_scores(prepared: Prepared, sides: Sides, size: int) -> tuple[Floats, Floats]:
    """Scores of every run (rows) in every trial (columns) on base and on test, for trials of one size.

    Where the scale is one of whole numbers these are sums, else scores as the measure defines them.
    """
    summary = prepared.matrix.summary
    if isinstance(summary, Mean):
        return _means(prepared, sides, BASE, size), _means(prepared, sides, TEST, size)
    if isinstance(summary, ConfidenceWeighted):
        return _confidence_weighted(prepared, sides, BASE, size), _confidence_weighted(prepared, sides, TEST, size)
    return _type_weighted(prepared, sides, BASE), _type_weighted(prepared, sides, TEST)


def _means(prepared: Prepared, sides: Sides, side: int, size: int) -> Floats:
    if prepared.unit_step is not None:
        # Sums of whole numbers below 2^53 are exact in any order, so the matrix product may choose its own.
        return np.asarray(prepared.values @ (sides == side).T.astype(np.float64))
    members = np.nonzero(sides == side)[1].reshape(len(sides), size)
    units_first = np.ascontiguousarray(prepared.values.T)
    sums = np.empty((len(sides), prepared.runs))
    at_once = max(1, GATHERED_AT_ONCE // max(size * prepared.runs, 1))
    for start in range(0, len(sides), at_once):
        part = slice(start, start + at_once)
        # Summing over a middle axis adds one unit after the other, in the order of the units: one fixed order.
        sums[part] = units_first[members[part]].sum(axis=1)
    return np.ascontiguousarray((sums / size).T)


def cws_weights(size: int) -> Floats:
    """What a right answer at each place of the confidence order adds to the score of `size` questions.

    CWS = 1/Q * sum over i of (number correct in the first i) / i: an answer at place k counts in every i >= k, so it
    adds 1/Q * (1/k + ... + 1/Q).
    """
    return np.asarray(np.cumsum(1.0 / np.arange(size, 0, -1))[::-1] / size)


def _confidence_weighted(prepared: Prepared, sides: Sides, side: int, size: int) -> Floats:
    order = prepared.order
    weights = cws_weights(size)
    scores = np.empty((prepared.runs, len(sides)))
    if order is None:
        raise TypeError("the matrix has no order of confidence")
    for run, ranking in enumerate(order):
        places = np.nonzero(sides[:, ranking] == side)[1].reshape(len(sides), size)
        gains = prepared.values[run, ranking][places] * weights
        scores[run] = np.cumsum(gains, axis=1)[:, -1]
    return scores


def _type_weighted(prepared: Prepared, sides: Sides, side: int) -> Floats:
    """Weighted mean of type means; the weight of a type that a subset lacks is shared out among the others."""
    found = prepared.type_weights
    if found is None:
        raise TypeError("the matrix has no weights of types")
    kinds, weights = found
    total = np.zeros((prepared.runs, len(sides)))
    present = np.zeros(len(sides))
    for kind, weight in enumerate(weights.tolist()):
        columns = np.flatnonzero(kinds == kind)
        chosen = (sides[:, columns] == side).astype(np.float64)
        number = chosen.sum(axis=1)
        means = np.einsum("ru,tu->rt", prepared.values[:, columns], chosen) / np.maximum(number, 1.0)
        total += weight * means
        present += weight * (number > 0)
    return np.asarray(total / present)
