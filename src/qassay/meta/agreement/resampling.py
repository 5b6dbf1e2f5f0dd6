"""Bootstrap intervals over items, from the distinct things that items can be.

Items that look alike are interchangeable, so a resample of a hundred thousand items is one multinomial draw over the
few dozen distinct combinations of labels, and all resamples are computed at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from qassay.matrix import Floats

Interval: TypeAlias = tuple[float, float]
# From `weights[resample, kind]` (how often each kind of item was drawn) to the values of every statistic.
Statistics: TypeAlias = Callable[[Floats], Mapping[str, Floats]]

LEVEL = 0.95
# Draws held in memory at a time; fixed, so that results do not depend on the machine.
CHUNK = 2_000_000


def estimate(counts: Floats, statistics: Statistics) -> dict[str, float | None]:
    """The statistics of the items as they are; None where undefined."""
    return {name: _defined(float(values[0])) for name, values in statistics(counts[None, :]).items()}


def bootstrap_intervals(
    counts: Floats, statistics: Statistics, *, seed: int, resamples: int
) -> dict[str, Interval | None]:
    """Percentile intervals (95%) of every statistic, over items drawn with replacement.

    `counts[kind]` says how many items there are of each kind. A resample in which a statistic is undefined does not
    count for it; a statistic undefined in more than one resample of twenty has no interval.
    """
    total = int(counts.sum())
    if resamples == 0 or total == 0:
        return dict.fromkeys(statistics(counts[None, :]))
    rng = np.random.default_rng(seed)
    chances = counts / counts.sum()
    step = max(1, CHUNK // len(counts))
    drawn: dict[str, list[Floats]] = {}
    for start in range(0, resamples, step):
        weights = rng.multinomial(total, chances, size=min(step, resamples - start)).astype(np.float64)
        for name, values in statistics(weights).items():
            drawn.setdefault(name, []).append(values)
    return {name: _interval(np.concatenate(parts)) for name, parts in drawn.items()}


def _interval(values: Floats) -> Interval | None:
    known = values[np.isfinite(values)]
    if len(known) < LEVEL * len(values):
        return None
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _defined(value: float) -> float | None:
    return value if np.isfinite(value) else None
