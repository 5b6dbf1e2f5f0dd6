"""How often intervals hold the truth, in simulated evaluations whose truth is known.

The figure is a share, beside the nominal 0.95, over the interval's simulations; the tests marked slow assert the same
over more settings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import numpy as np

from benchmarks.rows import Row
from qassay.matrix import Floats, ScoreMatrix
from qassay.meta.intervals import blocks, flip_test, score_intervals
from qassay.meta.sensitivity import sensitivity
from qassay.meta.simulate import simulate_runs

Scores: TypeAlias = Literal["normal", "zero-inflated", "binary"]

SIMULATIONS = 1000
UNITS = 50

# Error rates: kind of scores, runs, units, true difference of the best and the worst run.
STUDIES: tuple[tuple[Scores, int, int, float], ...] = (
    ("normal", 12, 40, 0.15),
    ("zero-inflated", 20, 50, 0.15),
    ("binary", 16, 60, 0.1),
    ("binary", 6, 100, 0.2),
)
STUDIED = 300
TRIALS = 100
FRESH_SETS = 60_000
AT_ONCE = 2000


def coverage_rows() -> list[Row]:
    """Coverage of every kind of interval of evaluation scores."""
    return [*_means(), *_proportions(), *_differences(), *_error_rates()]


def _row(name: str, held: Floats, note: str) -> Row:
    return Row(f"coverage, {name}", None, None, float(np.mean(held)), f"{np.mean(held):.3f}; nominal 0.950; {note}")


def _graded(rng: np.random.Generator, rows: int) -> tuple[Floats, float]:
    """F scores of hard questions, one simulated test set a row, and their true mean."""
    shape = (rows, UNITS)
    return np.where(rng.random(shape) < 0.3, 0.0, rng.beta(1.5, 2.5, shape)), 0.7 * 1.5 / 4


def _matrix(values: Floats) -> ScoreMatrix:
    runs, units = (tuple(map(str, range(count))) for count in values.shape)
    return ScoreMatrix(runs, units, values)


def _held(values: Floats, truth: float) -> Floats:
    """Whether the interval of each row's mean holds the truth."""
    found = score_intervals(_matrix(values), seed=1)
    limits = zip(found.low, found.high, strict=True)
    return np.array([low is not None and high is not None and low <= truth <= high for low, high in limits])


def _means() -> Iterator[Row]:
    values, truth = _graded(np.random.default_rng(1), SIMULATIONS)
    yield _row(f"BCa of a mean, {UNITS} units", _held(values, truth), f"{SIMULATIONS} simulations")


def _proportions() -> Iterator[Row]:
    right = np.random.default_rng(2).random((SIMULATIONS, UNITS)) < 0.4
    yield _row(f"Wilson, {UNITS} questions", _held(right.astype(float), 0.4), f"{SIMULATIONS} simulations")


def _differences() -> Iterator[Row]:
    """The second run is the first one on half of the units, and loses a tenth everywhere."""
    rng = np.random.default_rng(3)
    one, truth = _graded(rng, SIMULATIONS)
    other = 0.9 * np.where(rng.random(one.shape) < 0.5, one, _graded(rng, SIMULATIONS)[0])
    held = []
    for seed, pair in enumerate(np.stack([one, other], axis=1)):
        found = flip_test(blocks(_matrix(pair)), flips=2000, seed=seed)
        held.append(found.low is not None and found.high is not None and found.low <= 0.1 * truth <= found.high)
    yield _row(f"difference by sign flips, {UNITS} units", np.array(held), f"{SIMULATIONS} simulations")


def _error_rates() -> Iterator[Row]:
    for scores, runs, units, most in STUDIES:
        means, sizes = 0.2 + np.linspace(0.0, most, runs), (5, units // 4, units // 2)
        expected, truth = (np.array(part) for part in zip(*(_true(means, scores, size) for size in sizes), strict=True))
        held, of = np.zeros(truth.shape), np.zeros(truth.shape)
        for seed in range(STUDIED):
            matrix = simulate_runs(means, units, scores=scores, seed=seed)
            found = sensitivity(matrix, sizes=sizes, trials=TRIALS, intervals=60, seed=seed).intervals
            if found is not None:
                of += np.isfinite(found[..., 0])
                held += (found[..., 0] <= truth) & (truth <= found[..., 1])
        use = (expected * TRIALS >= 20) & (of > STUDIED / 4)
        by_bin = held[use] / of[use]
        note = f"{STUDIED} simulations x {int(use.sum())} bins and sizes, the lowest {by_bin.min():.3f}"
        yield _row(f"error rates, {scores} scores, {runs} runs x {units} units", by_bin, note)


def _true(means: Floats, scores: Scores, size: int) -> tuple[Floats, Floats]:
    """Comparisons a trial and error rate of each bin with base and test sets of fresh units."""
    seen, swaps = np.zeros(21), np.zeros(21)
    first, second = np.triu_indices(len(means), 1)
    for number in range(FRESH_SETS // AT_ONCE):
        units = simulate_runs(means, 2 * size * AT_ONCE, scores=scores, seed=10**6 + number).values
        base, test = np.moveaxis(units.reshape(len(means), AT_ONCE, 2, size).mean(axis=3), 2, 0)
        d_base, d_test = base[first] - base[second], test[first] - test[second]
        k = np.minimum((np.abs(d_base) + 1e-9) // 0.01, 20).astype(np.int64)
        seen += np.bincount(k.ravel(), minlength=21)
        swaps += np.bincount(k[d_base * d_test < -1e-12], minlength=21)
    return seen / FRESH_SETS, np.divide(swaps, seen, out=np.full(21, np.nan), where=seen > 0)
