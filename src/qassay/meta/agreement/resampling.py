"""Bootstrap intervals over items, from the distinct things that items can be.

Items that look alike are interchangeable, so a resample of a hundred thousand items is one multinomial draw over the
few dozen distinct combinations of labels, and all resamples are computed at once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import numpy as np

from qassay.matrix import Floats, Integers
from qassay.meta.intervals.bootstrap import bca_limits

Interval: TypeAlias = tuple[float, float]
# From `weights[resample, kind]` (how often each kind of item was drawn) to the values of every statistic.
Statistics: TypeAlias = Callable[[Floats], Mapping[str, Floats]]
# Called with (done, total).
Progress: TypeAlias = Callable[[int, int], None]

LEVEL = 0.95
# Draws held in memory at a time; fixed, so that results do not depend on the machine.
CHUNK = 2_000_000


def estimate(counts: Floats, statistics: Statistics) -> dict[str, float | None]:
    """The statistics of the items as they are; None where undefined."""
    return {name: _defined(float(values[0])) for name, values in statistics(counts[None, :]).items()}


def bootstrap_intervals(
    counts: Floats, statistics: Statistics, *, seed: int, resamples: int, progress: Progress | None = None
) -> dict[str, Interval | None]:
    """Bias-corrected and accelerated intervals (95%) of every statistic, over items drawn with replacement.

    `counts[kind]` says how many items there are of each kind. A resample in which a statistic is undefined does not
    count for it; a statistic undefined in more than one resample of twenty, or of a single item, has no interval.
    Plain percentiles are too narrow where items are few: of a hundred, they hold a kappa in 92 to 94% of the cases.
    """
    total = int(counts.sum())
    if resamples == 0 or total == 0:
        return dict.fromkeys(statistics(counts[None, :]))
    rng = np.random.default_rng(seed)
    chances = counts / counts.sum()
    step = max(1, CHUNK // len(counts))
    present = np.flatnonzero(counts)
    draws = (
        rng.multinomial(total, chances, size=min(step, resamples - start)).astype(np.float64)
        for start in range(0, resamples, step)
    )
    left = (_without(counts, present[start : start + step]) for start in range(0, len(present), step))
    tick = _ticks(math.ceil(resamples / step) + math.ceil(len(present) / step), progress)
    found, drawn, without = statistics(counts[None, :]), _each(draws, statistics, tick), _each(left, statistics, tick)
    times = counts[present].astype(np.int64)
    return {
        name: _interval(float(found[name][0]), values, np.repeat(without[name], times))
        for name, values in drawn.items()
    }


def _each(pieces: Iterable[Floats], statistics: Statistics, tick: Callable[[], None]) -> dict[str, Floats]:
    """Every statistic for all rows of all pieces."""
    found: dict[str, list[Floats]] = {}
    for weights in pieces:
        for name, values in statistics(weights).items():
            found.setdefault(name, []).append(values)
        tick()
    return {name: np.concatenate(parts) for name, parts in found.items()}


def _without(counts: Floats, kinds: Integers) -> Floats:
    """The counts less one item of each of these kinds in turn: items of one kind leave the same behind."""
    rows = np.repeat(counts[None, :], len(kinds), axis=0)
    rows[np.arange(len(kinds)), kinds] -= 1
    return rows


def _ticks(total: int, progress: Progress | None) -> Callable[[], None]:
    """A function to call after each of so many steps."""
    done = itertools.count(1)
    return lambda: None if progress is None else progress(next(done), total)


def _interval(value: float, drawn: Floats, left_out: Floats) -> Interval | None:
    known = drawn[np.isfinite(drawn)]
    if len(known) < LEVEL * len(drawn) or not np.isfinite(value):
        return None
    jackknife = left_out[np.isfinite(left_out)]
    if len(jackknife) < 2:  # one item says nothing of how others would fall
        return None
    low, high = bca_limits(np.array([value]), known[:, None], jackknife[:, None], level=LEVEL)
    return float(low[0]), float(high[0])


def _defined(value: float) -> float | None:
    return value if np.isfinite(value) else None
