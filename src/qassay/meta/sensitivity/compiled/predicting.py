"""Compiled code for the closed form over very many pairs; importing it imports numba."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from qassay.arrays import Floats
from qassay.meta.sensitivity.compiled import compiled

# The normal distribution function between nodes 1/256 apart, by the cubic through the values and slopes at both:
# within 1e-12 of the function. Beyond 9 it is 0 or 1.
NODES = 256
FURTHEST = 9


def expected_at_least(
    means: Floats, errors: Floats, limits: Floats, half: float, moving: Floats
) -> tuple[Floats, Floats, Floats]:
    """Expected number of pairs that reach each limit in base, of those that swap, and that agree: as `predictor`."""
    sums = np.zeros((3, len(limits)))
    _add_pairs(means, errors, limits, half, moving, *_tables(), sums)
    return sums[0], sums[1], sums[2]


@cache
def _tables() -> tuple[Floats, Floats]:
    """The normal distribution function at the nodes, and its slopes there."""
    from scipy.special import ndtr

    nodes = np.arange(-FURTHEST * NODES, FURTHEST * NODES + 2) / NODES
    return np.asarray(ndtr(nodes)), np.exp(-(nodes**2) / 2) / np.sqrt(2 * np.pi) / NODES


@compiled
def _add_pairs(
    means: Floats,
    errors: Floats,
    limits: Floats,
    half: float,
    moving: Floats,
    values: Floats,
    slopes: Floats,
    sums: Floats,
) -> None:
    for pair in range(len(means)):
        mean, scale = means[pair], 1.0 / errors[pair]
        better = _below((mean - half) * scale, values, slopes) * moving[pair]
        worse = _below((-mean - half) * scale, values, slopes) * moving[pair]
        for k in range(len(limits)):
            # Limits rise: what is out of reach here stays out of reach.
            above = (mean - limits[k]) * scale
            if above < -FURTHEST:
                break
            upper = _below(above, values, slopes) * moving[pair]
            sums[0, k] += upper
            sums[1, k] += upper * worse
            sums[2, k] += upper * better
            if (mean + limits[k]) * scale < FURTHEST:
                lower = _below((-mean - limits[k]) * scale, values, slopes) * moving[pair]
                sums[0, k] += lower
                sums[1, k] += lower * better
                sums[2, k] += lower * worse


@compiled
def _below(z: float, values: Floats, slopes: Floats) -> Any:
    """The normal distribution function, from its table."""
    place = (min(max(z, -FURTHEST), FURTHEST) + FURTHEST) * NODES
    node = int(place)
    t = place - node
    rest = 1.0 - t
    return (
        values[node] * rest * rest * (1.0 + 2.0 * t)
        + values[node + 1] * t * t * (3.0 - 2.0 * t)
        + t * rest * (slopes[node] * rest - slopes[node + 1] * t)
    )
