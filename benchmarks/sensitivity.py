"""The sensitivity analysis beside the same counting in plain Python, and at a scale that plain Python cannot reach."""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks.rows import Row, processor_seconds
from qassay.formats.matrix import write_matrix
from qassay.matrix import ScoreMatrix
from qassay.meta.sensitivity import SensitivityCurves, sensitivity
from qassay.meta.simulate import simulate_runs
from qassay.summaries import ConfidenceWeighted

Scores = list[list[float]]
Score = Callable[[int, list[int]], float]


def plain_rates(runs: int, units: int, score: Score, sizes: Sequence[int], trials: int) -> list[list[float | None]]:
    """The error rates as METHOD writes them, with nothing but the standard library."""
    rates: list[list[float | None]] = []
    for size in sizes:
        seen, swaps = [0] * 21, [0] * 21
        for _ in range(trials):
            drawn = random.sample(range(units), 2 * size)
            base = [score(run, drawn[:size]) for run in range(runs)]
            test = [score(run, drawn[size:]) for run in range(runs)]
            for a in range(runs):
                for b in range(a):
                    difference = base[a] - base[b]
                    k = min(20, int(abs(difference) / 0.01))
                    seen[k] += 1
                    swaps[k] += difference * (test[a] - test[b]) < 0
        rates.append([s / n if n else None for s, n in zip(swaps, seen, strict=True)])
    return rates


def graded() -> list[Row]:
    """[SERIES05]: 63 runs x 64 series, sizes 5 to 32, 50 trials."""
    matrix = simulate_runs(np.linspace(0.05, 0.6, 63), 64)
    values = matrix.values.tolist()

    def mean(run: int, units: list[int]) -> float:
        row = values[run]
        return float(sum([row[u] for u in units]) / len(units))

    name = "sensitivity, graded scores, 63 x 64, sizes 5-32, 50 trials / plain Python"
    return [_beside(name, matrix, range(5, 33), 50, mean, "at least 15 times")]


def confidence() -> list[Row]:
    """[EVAL02]: confidence-weighted scores of 67 runs x 500 questions, sizes 1 to 250, 10 trials."""
    right = simulate_runs(np.linspace(0.1, 0.8, 67), 500, scores="binary")
    order = np.argsort(np.random.default_rng(0).random((67, 500)), axis=1)
    matrix = ScoreMatrix(right.runs, right.units, right.values, "cws", ConfidenceWeighted(order))
    values, ranking = right.values.tolist(), order.tolist()

    def cws(run: int, units: list[int]) -> float:
        members, row = set(units), values[run]
        correct = total = place = 0.0
        for unit in ranking[run]:
            if unit in members:
                place += 1
                correct += row[unit]
                total += correct / place
        return total / place

    name = "sensitivity, confidence-weighted, 67 x 500, sizes 1-250, 10 trials / plain Python"
    return [_beside(name, matrix, range(1, 251), 10, cws, "at least 25 times")]


def large() -> list[Row]:
    """500 runs x 10,000 units, 100 sizes x 1000 trials: 12.5 thousand million comparisons."""
    means = np.linspace(0.2, 0.7, 500)
    sizes = [int(size) for size in np.rint(np.linspace(50, 5000, 100))]
    binary = simulate_runs(means, 10_000, scores="binary")
    rows = [_alone("sensitivity, 0/1 scores, 500 x 10,000, 100 sizes x 1000 trials", binary, sizes, "at most 12")]
    graded_scores = simulate_runs(means, 10_000)
    name = "sensitivity, graded scores, 500 x 10,000, 100 sizes x 1000 trials"
    return [*rows, _alone(name, graded_scores, sizes, "at most 60")]


# The command, with compiled code or without it.
COMMAND = """
import sys
from qassay.meta.sensitivity import counting, curves, resampling
if sys.argv.pop(1) == "plain":
    counting.has_numba = curves.has_numba = resampling.has_numba = lambda: False
from qassay.cli import main
sys.exit(main(sys.argv[1:]))
"""


SCORES: tuple[Literal["binary", "normal"], ...] = ("binary", "normal")


def compiled() -> list[Row]:
    """`qassay sensitivity` with compiled code and without it, by processor time from start to exit."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for runs, units in ((16, 10), (12, 301), (100, 400), (500, 2_000)):
            for scores in SCORES:
                table = Path(place) / "scores.csv"
                write_matrix(simulate_runs(np.linspace(0.2, 0.7, runs), units, scores=scores), table)
                commands = {
                    way: [sys.executable, "-c", COMMAND, way, "sensitivity", str(table)]
                    for way in ("compiled", "plain")
                }
                ours, plain = processor_seconds(commands, times=2).values()
                name = f"sensitivity, {runs} x {units:,}, {scores}, compiled / arrays alone; processor time"
                rows.append(Row(name, ours, plain, plain / ours, "kept for 1.5 times and more at large sizes"))
    return rows


def _beside(name: str, matrix: ScoreMatrix, sizes: range, trials: int, score: Score, goal: str) -> Row:
    """Ours after a first call, which loads compiled code where there is any; the best of five."""
    ours = min(_seconds(matrix, sizes, trials)[0] for _ in range(6))
    started = time.perf_counter()
    plain_rates(len(matrix.runs), len(matrix.units), score, sizes, trials)
    plain = time.perf_counter() - started
    with_curves = min(_seconds(matrix, sizes, trials, finish=lambda curves: curves.bins)[0] for _ in range(3))
    note = f"with fits and predictions {with_curves:.3f} s; wanted: {goal}"
    return Row(name, ours, plain, plain / ours, note)


def _alone(name: str, matrix: ScoreMatrix, sizes: Sequence[int], goal: str) -> Row:
    _seconds(matrix, sizes[:1], 1)
    wall, processor = _seconds(matrix, sizes, 1000, finish=lambda curves: curves.counts)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return Row(name, wall, None, None, f"{processor:.1f} CPU-seconds, {memory:.2f} GiB; wanted: {goal} CPU-seconds")


def _seconds(
    matrix: ScoreMatrix,
    sizes: Sequence[int],
    trials: int,
    finish: Callable[[SensitivityCurves], object] = lambda curves: curves.counts,
) -> tuple[float, float]:
    """Wall and processor seconds of one analysis without intervals."""
    wall, processor = time.perf_counter(), time.process_time()
    finish(sensitivity(matrix, sizes=sizes, trials=trials, intervals=0))
    return time.perf_counter() - wall, time.process_time() - processor
