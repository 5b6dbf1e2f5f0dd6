"""Chance-corrected agreement, each coefficient one formula over counts, and bootstrap intervals over questions.

Two tables are all that is needed. `joint[..., c, k]` counts the items that one assessor labels c and the other k.
`coincidences[..., c, k]` counts the pairs of labels (c, k) given to one item by two different assessors, in both
orders, each item weighing 1/(its labels - 1): its sum is the number of labels that can be paired. Leading axes are
free, so that a thousand resamples are one call. Where a coefficient is undefined its value is NaN here, and None
in every result.

Answers to one question are judged alike, for they are right or wrong for one reason: what is drawn again are questions,
each with the counts of all its items. Questions with the same counts are interchangeable, so a resample of a hundred
thousand questions with one item each is one multinomial draw over the few dozen distinct combinations of labels, and
all resamples are computed at once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from qassay.arrays import TIE, Floats, Integers, defined
from qassay.meta.intervals import bca_limits

Metric = Literal["nominal", "ordinal", "interval"]
Interval: TypeAlias = tuple[float, float]
# From `sums[resample, cell]` (the counts of all questions that were drawn) to the values of every statistic.
Statistics: TypeAlias = Callable[[Floats], Mapping[str, Floats]]
# Called with (done, total).
Progress: TypeAlias = Callable[[int, int], None]

LEVEL = 0.95
# Draws kept in memory at a time; fixed, so that results do not depend on the machine.
CHUNK = 2_000_000
# Fewer questions than this do not show how agreement varies between them.
LEAST_QUESTIONS = 10
# Where this many questions share their counts on average, a multinomial draw is faster than one of each question.
MULTINOMIAL = 15
DRAWN_AGAIN = "Intervals: 95%, questions drawn again with all their answers."


def coincidences(counts: Floats) -> Floats:
    """The coincidence table of each item, from `counts[item, c]`: how many assessors gave it the label c.

    An item with fewer than two labels pairs nothing and adds nothing.
    """
    labels = counts.sum(axis=-1, keepdims=True)[..., None]
    pairs = counts[..., :, None] * counts[..., None, :] - counts[..., None] * np.eye(counts.shape[-1])
    return np.asarray(np.divide(pairs, labels - 1, out=np.zeros_like(pairs), where=labels > 1))


def cohen_kappa(joint: Floats) -> Floats:
    """Cohen's kappa (1960): (observed - expected) / (1 - expected), each assessor with a distribution of their own.

    Undefined where both assessors give one and the same label throughout: chance alone then agrees always.
    """
    total = joint.sum(axis=(-2, -1))
    observed = np.trace(joint, axis1=-2, axis2=-1)
    expected = (joint.sum(axis=-1) * joint.sum(axis=-2)).sum(axis=-1)
    return _ratio(total * observed - expected, total**2 - expected)


def fleiss_kappa(table: Floats) -> Floats:
    """Fleiss' kappa (1971) from coincidences: (observed - expected) / (1 - expected), one distribution for all.

    Every item has to be labelled by the same number of assessors. With two of them it is Scott's pi (1955).
    Undefined where only one label occurs.
    """
    total = table.sum(axis=(-2, -1))
    expected = (table.sum(axis=-1) ** 2).sum(axis=-1)
    observed = np.trace(table, axis1=-2, axis2=-1)
    return _ratio(total * observed - expected, total**2 - expected)


def krippendorff_alpha(table: Floats, metric: Metric = "nominal", values: Floats | None = None) -> Floats:
    """Krippendorff's alpha (1970) from coincidences: 1 - observed / expected disagreement.

    A pair of labels (c, k) disagrees by 1 (nominal), by (values[c] - values[k])^2 (interval), or by the squared
    number of labels given from c to k, the two ends counted half (ordinal: labels in the order of the table).
    Items may have different numbers of labels. Undefined where only one label occurs.
    """
    marginals = table.sum(axis=-1)
    total = marginals.sum(axis=-1)
    if metric == "nominal":
        distance = 1.0 - np.eye(table.shape[-1])
    elif metric == "ordinal":
        # Half of the labels at c are below its middle, so distances are those of the middles.
        middle = marginals.cumsum(axis=-1) - marginals / 2
        distance = (middle[..., :, None] - middle[..., None, :]) ** 2
    else:
        scale = np.arange(table.shape[-1], dtype=np.float64) if values is None else values
        distance = (scale[:, None] - scale[None, :]) ** 2
    observed = (table * distance).sum(axis=(-2, -1))
    expected = (marginals[..., :, None] * marginals[..., None, :] * distance).sum(axis=(-2, -1))
    return 1.0 - _ratio((total - 1) * observed, expected)


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient, NaN where the denominator is nothing but rounding."""
    small = np.abs(denominator) <= 1e-9
    return np.where(small, np.nan, numerator / np.where(small, 1.0, denominator))


@dataclass(frozen=True, eq=False)
class Questions:
    """What is drawn: the counts of each distinct question, `rows[question, cell]`, and how many questions have them."""

    rows: Floats
    numbers: Floats

    @staticmethod
    def of(questions: Integers, kinds: Integers, cells: Floats) -> Questions:
        """The questions of items: item i is one of questions[i], and its counts are cells[kinds[i]]."""
        items = pl.DataFrame({"question": questions, "kind": kinds}).sort("kind", "question")
        each = items.group_by("question", maintain_order=True).agg("kind")
        distinct = each.group_by("kind", maintain_order=True).len("number")
        place = np.repeat(np.arange(len(distinct)), distinct["kind"].list.len().to_numpy())
        kind = distinct["kind"].explode().to_numpy()
        rows = np.zeros((len(distinct), cells.shape[1]))
        for column in range(cells.shape[1]):
            rows[:, column] = np.bincount(place, cells[kind, column], minlength=len(distinct))
        return Questions(rows, distinct["number"].to_numpy().astype(np.float64))

    def __len__(self) -> int:
        return int(self.numbers.sum())

    @property
    def sums(self) -> Floats:
        """The counts of all questions."""
        return np.asarray(self.numbers @ self.rows)

    def drawn(self, rng: np.random.Generator, times: int) -> Floats:
        """The counts of as many questions as there are, drawn with replacement, in each of `times` resamples."""
        total, distinct = len(self), len(self.numbers)
        if distinct * MULTINOMIAL < total:
            often = rng.multinomial(total, self.numbers / total, size=times).astype(np.float64)
        else:
            place = np.repeat(np.arange(distinct), self.numbers.astype(np.int64))
            often = np.empty((times, distinct))
            for resample in often:
                resample[:] = np.bincount(place[rng.integers(total, size=total)], minlength=distinct)
        return np.asarray(often @ self.rows)

    def too_few(self) -> list[str]:
        """That there are too few questions for intervals, where there are."""
        total = len(self)
        if not 0 < total < LEAST_QUESTIONS:
            return []
        questions = "1 question is" if total == 1 else f"{total} questions are"
        return [f"{questions} too few to show how agreement varies between questions."]


def estimate(questions: Questions, statistics: Statistics) -> dict[str, float | None]:
    """The statistics of the questions as they are; None where undefined."""
    return {name: defined(float(values[0])) for name, values in statistics(questions.sums[None, :]).items()}


def bootstrap_intervals(
    questions: Questions, statistics: Statistics, *, seed: int, resamples: int, progress: Progress | None = None
) -> dict[str, Interval | None]:
    """Bias-corrected and accelerated intervals (95%) of every statistic, over questions drawn with replacement.

    The jackknife leaves questions out. A resample in which a statistic is undefined does not count for it; a statistic
    undefined in more than one resample of twenty has no interval, and none has one that is the same in all resamples:
    full agreement seen is not full agreement everywhere. Fewer than ten questions give no intervals.
    Plain percentiles are too narrow where questions are few: with a hundred, they contain kappa in 92 to 94% of cases.
    """
    sums = questions.sums[None, :]
    measured = statistics(sums)
    if resamples == 0 or len(questions) < LEAST_QUESTIONS:
        return dict.fromkeys(measured)
    rng = np.random.default_rng(seed)
    step = max(1, CHUNK // max(len(questions), sums.size))
    draws = (questions.drawn(rng, min(step, resamples - start)) for start in range(0, resamples, step))
    few = max(1, CHUNK // sums.size)
    left = (sums - questions.rows[start : start + few] for start in range(0, len(questions.rows), few))
    tick = ticks(math.ceil(resamples / step) + math.ceil(len(questions.rows) / few), progress)
    drawn, without = _each(draws, statistics, tick), _each(left, statistics, tick)
    times = questions.numbers.astype(np.int64)
    return {
        name: _interval(float(measured[name][0]), values, np.repeat(without[name], times))
        for name, values in drawn.items()
    }


def _each(pieces: Iterable[Floats], statistics: Statistics, tick: Callable[[], None]) -> dict[str, Floats]:
    """Every statistic for all rows of all pieces."""
    parts_of: dict[str, list[Floats]] = {}
    for sums in pieces:
        for name, values in statistics(sums).items():
            parts_of.setdefault(name, []).append(values)
        tick()
    return {name: np.concatenate(parts) for name, parts in parts_of.items()}


def ticks(total: int, progress: Progress | None) -> Callable[[], None]:
    """A function to call after each step of the work."""
    done = itertools.count(1)
    return lambda: None if progress is None else progress(next(done), total)


def _interval(value: float, drawn: Floats, left_out: Floats) -> Interval | None:
    known = drawn[np.isfinite(drawn)]
    if len(known) < LEVEL * len(drawn) or not np.isfinite(value):
        return None
    jackknife = left_out[np.isfinite(left_out)]
    # Questions that all agree say nothing of how others would fall.
    if len(jackknife) < 2 or float(np.ptp(known)) <= TIE:
        return None
    low, high = bca_limits(np.array([value]), known[:, None], jackknife[:, None], level=LEVEL)
    return float(low[0]), float(high[0])
