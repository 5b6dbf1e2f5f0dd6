"""How far a score could be off: intervals for the score of a run and for the difference of two.

The score of a run: bias-corrected and accelerated bootstrap over units, over whole series where questions are
scored in series (intervals over single questions of a series can be three times too narrow); Wilson's interval for
proportions of few questions. The difference of two runs: the inverse of the paired randomisation test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from qassay.errors import UsageError
from qassay.matrix import Floats, ScoreMatrix
from qassay.meta.intervals.blocks import Blocks, block_index, blocks, scores_without
from qassay.meta.intervals.bootstrap import bca_intervals, bca_limits, bootstrap_scores, chunks
from qassay.meta.intervals.flips import (
    FLIPS,
    FlipTest,
    difference_interval,
    every_flip_fits,
    flip_chunks,
    flip_test,
    hits_needed,
)
from qassay.tables import Column, Table, plural, table

__all__ = [
    "FLIPS",
    "Blocks",
    "FlipTest",
    "ScoreIntervals",
    "bca_intervals",
    "bca_limits",
    "block_index",
    "blocks",
    "bootstrap_scores",
    "chunks",
    "difference_interval",
    "every_flip_fits",
    "flip_chunks",
    "flip_test",
    "hits_needed",
    "score_intervals",
    "scores_without",
    "wilson",
]

# Wilson's interval stands in where the bootstrap sees too little: fewer questions than this, or fewer than
# FEW_EITHER right or wrong answers.
FEW_QUESTIONS = 200
FEW_EITHER = 30


@dataclass(frozen=True)
class ScoreIntervals:
    """The interval of every run's score; a limit is None where it cannot be said."""

    runs: tuple[str, ...]
    scores: tuple[float, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    methods: tuple[str, ...]
    level: float
    over: str
    notes: tuple[str, ...] = ()

    def interval(self, run: str) -> tuple[float, float] | None:
        """The interval of one run, or None where it cannot be said."""
        at = self.runs.index(run)
        low, high = self.low[at], self.high[at]
        return None if low is None or high is None else (low, high)

    def table(self) -> Table:
        """Runs by decreasing score with their limits."""
        order = sorted(range(len(self.runs)), key=lambda i: (-self.scores[i], self.runs[i]))
        rows = [(self.runs[i], self.scores[i], self.low[i], self.high[i], self.methods[i]) for i in order]
        numbers = [Column(name, ".3f") for name in ("score", "from", "to")]
        title = f"Scores with {self.level:.0%} intervals over {self.over}"
        return table(title, ["run", *numbers, "method"], rows, self.notes)

    def as_json(self) -> dict[str, object]:
        """Level, and score and interval of every run."""
        rows = zip(self.runs, self.scores, self.low, self.high, self.methods, strict=True)
        return {
            "level": self.level,
            "over": self.over,
            "runs": [
                {"run": run, "score": score, "interval": None if low is None else [low, high], "method": method}
                for run, score, low, high, method in rows
            ],
            "notes": list(self.notes),
        }


def score_intervals(
    matrix: ScoreMatrix,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> ScoreIntervals:
    """An interval for the score of every run.

    BCa bootstrap through the summary of the matrix, over series where `matrix.clusters` names them. Where scores
    are 0 or 1, run scores are their means and there are no series, Wilson's interval stands in for a run with
    few questions, or few right or few wrong answers. With a single unit (or series) nothing can be said.
    """
    if not 0 < level < 1:
        raise UsageError(f"the level of an interval lies between 0 and 1, not {level}")
    _, sizes = block_index(matrix)
    scores = matrix.scores() if len(matrix.units) else np.zeros(len(matrix.runs))
    over = plural(len(sizes), "unit")
    if matrix.clusters is not None:
        over = f"{len(sizes)} series of {plural(len(matrix.units), 'question')}"
    few = _few(matrix)
    limits: list[tuple[float | None, float | None, str]] = [(None, None, "none")] * len(matrix.runs)
    notes = list(matrix.notes)
    if len(sizes) > 1 and not few.all():
        low, high = bca_intervals(matrix, level=level, resamples=resamples, seed=seed, progress=progress)
        limits = [(float(a), float(b), "BCa") for a, b in zip(low, high, strict=True)]
    elif len(sizes) < 2 and not few.all():
        notes.append(f"No intervals: {over} do not show how scores vary.")
    for run in np.flatnonzero(few):
        limits[run] = (*wilson(round(float(matrix.values[run].sum())), len(matrix.units), level=level), "Wilson")
    low_, high_, methods = zip(*limits, strict=True) if limits else ((), (), ())
    return ScoreIntervals(matrix.runs, tuple(scores.tolist()), low_, high_, methods, level, over, tuple(notes))


def wilson(successes: int, total: int, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a proportion (Wilson 1927).

    (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n); undefined for n = 0.
    """
    if not 0 <= successes <= total or total == 0:
        raise UsageError(f"{successes} of {total} is not a proportion")
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    share = successes / total
    centre = share + z * z / (2 * total)
    spread = z * float(np.sqrt(share * (1 - share) / total + (z / (2 * total)) ** 2))
    below, above = (centre - spread) / (1 + z * z / total), (centre + spread) / (1 + z * z / total)
    # At the ends the formula gives 0 and 1 but for rounding.
    return (0.0 if successes == 0 else below), (1.0 if successes == total else above)


def _few(matrix: ScoreMatrix) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which runs have a proportion of few questions for a score."""
    none = np.zeros(len(matrix.runs), dtype=np.bool_)
    units = len(matrix.units)
    if not matrix.summary.is_mean or matrix.clusters is not None or units == 0:
        return none
    if not _zero_one(matrix.values):
        return none
    right = matrix.values.sum(axis=1)
    return np.asarray((units < FEW_QUESTIONS) | (np.minimum(right, units - right) < FEW_EITHER))


def _zero_one(values: Floats) -> bool:
    return bool(((values == 0) | (values == 1)).all())
