"""How far the score of a run could be off: its interval.

Bias-corrected and accelerated bootstrap over units, over whole series where questions are scored in series (intervals
over single questions of a series can be three times too narrow); Wilson's interval for proportions of few questions;
Student's t where a system was run several times.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from qassay.arrays import TIE, Floats, Integers
from qassay.directions import HIGHER, Direction
from qassay.display import enumerated
from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix, too_few_for_intervals
from qassay.meta.blocks import block_index, chunks, scores_without
from qassay.meta.normal_and_t import ndtr, ndtri, normal_quantiles, two_sided_t_line
from qassay.meta.repeats import mean_uncertainty
from qassay.results import document
from qassay.tables import Column, Table, counted, table

# Wilson's interval stands in where the bootstrap sees too little: fewer questions than this, or fewer than
# FEW_EITHER right or wrong answers.
FEW_QUESTIONS = 200
FEW_EITHER = 30
# The method of an interval that includes running a system again.
REPEATED = "t with repeats"
# The methods in words.
WAYS = {"BCa": "bootstrap (BCa)", "Wilson": "Wilson", REPEATED: "t (running again included)"}


@dataclass(frozen=True, slots=True)
class Leader:
    """The systems with the best score: the limit of their intervals that allows for being picked, on the worse side,
    and the score to which theirs is probably nearer; None where there is no interval, and where it hardly differs."""

    runs: tuple[str, ...]
    lower: float | None
    nearer: float | None


@dataclass(frozen=True)
class ScoreIntervals:
    """The interval of every run's score; a limit is None where it is undefined.

    `reasons` are those of the `notes` that say why runs have no interval, and what the one of the leader allows for.
    """

    runs: tuple[str, ...]
    scores: tuple[float, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    methods: tuple[str, ...]
    level: float
    over: str
    notes: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    direction: Direction = HIGHER
    leader: Leader | None = None

    def interval(self, run: str) -> tuple[float, float] | None:
        """The interval of one run, or None where it is undefined."""
        at = self.runs.index(run)
        low, high = self.low[at], self.high[at]
        return None if low is None or high is None else (low, high)

    def table(self) -> Table:
        """Runs with their limits, the best first."""
        order = sorted(range(len(self.runs)), key=lambda i: (-self.direction.oriented(self.scores[i]), self.runs[i]))
        rows = [(self.runs[i], self.scores[i], self.low[i], self.high[i], self.methods[i]) for i in order]
        numbers = [Column(name, ".3f") for name in ("score", "from", "to")]
        title = f"Scores with {self.level:.0%} intervals over {self.over}"
        return table(title, ["run", *numbers, "method"], rows, self.notes)

    def as_json(self) -> dict[str, object]:
        """Level, and score and interval of every run."""
        rows = zip(self.runs, self.scores, self.low, self.high, self.methods, strict=True)
        runs = [
            {"run": run, "score": score, "interval": None if low is None else [low, high], "method": method}
            for run, score, low, high, method in rows
        ]
        return {**document(self, "level", "over"), "runs": runs, **document(self, "notes")}


def score_intervals(
    matrix: ScoreMatrix,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> ScoreIntervals:
    """An interval for the score of every run.

    BCa bootstrap through the summary of the matrix, over series where `matrix.clusters` names them. Where scores can
    only be 0 or 1 (`matrix.right_or_wrong`, whichever runs are shown), run scores are their means and there are no
    series, Wilson's interval stands in for a run with
    few questions, or few right or few wrong answers. There is none for too few units (or series), and none for a run
    whose scores are all alike: a bootstrap would give an interval of no width, as if the score were known exactly.
    The score of a system that was run several times has a t interval that includes what running it again would change.
    """
    if not 0 < level < 1:
        raise UsageError(f"the level of an interval lies between 0 and 1, not {level}")
    _, sizes = block_index(matrix)
    scores = matrix.scores() if len(matrix.units) else np.zeros(len(matrix.runs))
    over = counted(len(sizes), matrix.unit_name)
    if matrix.clusters is not None:
        over = f"{len(sizes)} series of {counted(len(matrix.units), matrix.unit_name)}"
    name = matrix.unit_name if matrix.clusters is None else ("series", "series")
    limits: list[tuple[float | None, float | None, str]] = [(None, None, "none")] * len(matrix.runs)
    reason = too_few_for_intervals(len(sizes), name)
    if reason is None:
        limits = _limits(matrix, scores, level, resamples, seed)
        alike = [run for run, (_, _, method) in zip(matrix.runs, limits, strict=True) if method == "none"]
        if alike:
            reason = (
                f"No interval for {enumerated(alike, 3)}: the scores are the same on every {name[0]} and do not show "
                "how far they may vary."
            )
    low, high, methods = zip(*limits, strict=True) if limits else ((), (), ())
    reasons = () if reason is None else (reason,)
    notes = (*matrix.notes, *reasons)
    return ScoreIntervals(
        matrix.runs, tuple(scores.tolist()), low, high, methods, level, over, notes, reasons, matrix.direction
    )


def _limits(
    matrix: ScoreMatrix, scores: Floats, level: float, resamples: int, seed: int
) -> list[tuple[float | None, float | None, str]]:
    """The limits of every run, and by which method."""
    limits: list[tuple[float | None, float | None, str]] = [(None, None, "none")] * len(matrix.runs)
    few = _few(matrix)
    if not few.all():
        resampled = bootstrap_scores(matrix, resamples=resamples, seed=seed)
        lows, highs = bca_limits(scores, resampled, scores_without(matrix), level=level)
        varies = np.ptp(resampled, axis=0) > TIE * np.maximum(np.abs(scores), 1.0)
        for run in np.flatnonzero(varies):
            limits[run] = (float(lows[run]), float(highs[run]), "BCa")
    for run in np.flatnonzero(few):
        limits[run] = (*wilson(round(float(matrix.values[run].sum())), len(matrix.units), level=level), "Wilson")
    for place, limit in _with_repeats(matrix, level):
        limits[place] = limit
    return limits


def _with_repeats(matrix: ScoreMatrix, level: float) -> Iterator[tuple[int, tuple[float, float, str]]]:
    """The intervals of the runs that answered every question several times, where their scores vary at all.

    Resampling questions would miss what a repeat shifts on all questions at once (METHOD 6, Repeats).
    """
    if matrix.repeats is None or matrix.clusters is not None or not matrix.summary.is_mean or len(matrix.units) < 2:
        return
    for run, values in enumerate(matrix.repeats.values):
        margin = mean_uncertainty(values).margin(level) if values.shape[1] > 1 else 0.0
        if margin > 0:
            score = float(values.mean())
            shares = values.min() >= 0 and values.max() <= 1
            low, high = (0.0, 1.0) if shares else (-math.inf, math.inf)
            yield run, (max(score - margin, low), min(score + margin, high), REPEATED)


def wilson(successes: int, total: int, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a proportion (Wilson 1927); undefined for n = 0."""
    if not 0 <= successes <= total or total == 0:
        raise UsageError(f"{successes} of {total} is not a proportion")
    return wilson_limits(successes / total, total, ndtri((1 + level) / 2))


def wilson_limits(share: float, number: float, z: float) -> tuple[float, float]:
    """Wilson's limits for a share of `number` trials, which need not be whole; the share itself for infinitely many.

    (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)
    """
    if math.isinf(number):
        return share, share
    centre = share + z * z / (2 * number)
    spread = z * math.sqrt(share * (1 - share) / number + (z / (2 * number)) ** 2)
    below, above = (centre - spread) / (1 + z * z / number), (centre + spread) / (1 + z * z / number)
    # At the ends the formula gives 0 and 1 but for rounding.
    return (0.0 if share == 0 else below), (1.0 if share == 1 else above)


def _few(matrix: ScoreMatrix) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which runs have a proportion of few questions for a score."""
    units = len(matrix.units)
    proportions = matrix.summary.is_mean and matrix.clusters is None and units > 0
    if not proportions or not matrix.is_right_or_wrong:
        return np.zeros(len(matrix.runs), dtype=np.bool_)
    right = matrix.values.sum(axis=1)
    return np.asarray((units < FEW_QUESTIONS) | (np.minimum(right, units - right) < FEW_EITHER))


def bootstrap_scores(matrix: ScoreMatrix, *, resamples: int, seed: int) -> Floats:
    """Scores of every run on resampled units, resamples x runs.

    Units are drawn with replacement, whole series where `matrix.clusters` names them; the summary of the matrix
    is computed again on every draw.
    """
    rng = np.random.default_rng(seed)
    index, sizes = block_index(matrix)
    scores = np.empty((resamples, len(matrix.runs)))
    for start, stop in chunks(resamples, max(len(matrix.units), 1)):
        times = _draw(rng, stop - start, len(sizes))
        scores[start:stop] = matrix.summary.resampled(matrix.values, times[:, index], matrix.denominator)
    return scores


def bca_limits(
    scores: Floats, resampled: Floats, left_out: Floats, *, level: float = 0.95, expand: bool = True
) -> tuple[Floats, Floats]:
    """Limits of bias-corrected and accelerated intervals, one a column of `resampled`.

    Efron (1987): with z0 the normal quantile of the share of resamples below the score (ties half) and a the
    acceleration from the jackknife, the limits are the resamples' quantiles at
    Phi(z0 + (z0 + z)/(1 - a(z0 + z))). `expand` takes z = sqrt(n/(n-1)) t(n-1) in place of the normal quantile
    (Hesterberg 2015), since a bootstrap of few units is too narrow by that factor. Where all resamples agree, both
    limits are the score.
    """
    count = len(left_out)
    if expand and count > 1:
        z = float(np.sqrt(count / (count - 1)) * two_sided_t_line(count - 1, 1.0 - level))
    else:
        z = ndtri((1.0 + level) / 2.0)
    resamples = len(resampled)
    below = ((resampled < scores).sum(axis=0) + (resampled <= scores).sum(axis=0)) / (2 * resamples)
    # A score at the very end of its resamples has no normal quantile; half a resample beyond stands in.
    bias = normal_quantiles(np.clip(below, 0.5 / resamples, 1 - 0.5 / resamples))
    from_mean = left_out.mean(axis=0) - left_out
    spread = (from_mean**2).sum(axis=0) ** 1.5
    acceleration = np.divide((from_mean**3).sum(axis=0), 6 * spread, out=np.zeros(len(scores)), where=spread > 0)
    ordered = np.sort(resampled, axis=0)
    limits = []
    for side in (-z, z):
        shifted = bias + side
        levels = ndtr(bias + shifted / np.maximum(1 - acceleration * shifted, 1e-6))
        limits.append(_quantiles(ordered, levels))
    return limits[0], limits[1]


def _draw(rng: np.random.Generator, rows: int, count: int) -> Integers:
    """How often each of `count` blocks is drawn, in each of `rows` resamples."""
    drawn = rng.integers(count, size=(rows, count)) + count * np.arange(rows)[:, None]
    return np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count)


def _quantiles(ordered: Floats, levels: Floats) -> Floats:
    """One quantile a column of sorted columns, by linear interpolation."""
    place = levels * (len(ordered) - 1)
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, len(ordered) - 1)
    columns = np.arange(ordered.shape[1])
    below, above = ordered[low, columns], ordered[high, columns]
    return np.asarray(below + (above - below) * (place - low))
