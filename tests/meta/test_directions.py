"""Lower is better: every answer is that of the negated scores, with scores and differences as measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qassay import figures
from qassay.directions import Direction
from qassay.errors import UsageError
from qassay.matrix import Repeats, ScoreMatrix
from qassay.meta.distributions import score_distributions
from qassay.meta.intervals import score_intervals
from qassay.meta.planning import Wanted
from qassay.meta.sensitivity import sensitivity
from qassay.meta.significance import compare, compare_all
from qassay.meta.significance.methods import Method
from qassay.meta.stability import MeasureStability, stability
from qassay.sources import only_pair
from qassay.studies.plan import plan_from_pilot

LOWER = Direction(higher_is_better=False)


def drawn(seed: int, runs: int, units: int = 24, *, repeats: int = 1) -> ScoreMatrix:
    """Scores from 0 to 60: runs that differ, units that are hard or easy, and ties."""
    rng = np.random.default_rng(seed)
    shape = (runs, units, repeats)
    values = (
        rng.integers(0, 40, shape) + 5.0 * np.arange(runs)[:, None, None] // 2 + rng.integers(0, 10, units)[:, None]
    )
    several = Repeats(tuple(values)) if repeats > 1 else None
    means = values.mean(axis=2)
    names = tuple(f"r{i}" for i in rng.permutation(runs))
    questions = tuple(f"q{i}" for i in range(units))
    return ScoreMatrix(names, questions, means, denominator=repeats, repeats=several, scale=(0.0, 60.0))


def mirrored(matrix: ScoreMatrix) -> ScoreMatrix:
    """The negated scores, of which lower ones are better."""
    repeats = None if matrix.repeats is None else Repeats(tuple(-scores for scores in matrix.repeats.values))
    return replace(matrix, values=-matrix.values, repeats=repeats, scale=(-60.0, 0.0), direction=LOWER)


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("seed", range(12))
def test_two_runs(seed: int, repeats: int) -> None:
    matrix = drawn(seed, 2 + seed % 3, repeats=repeats)
    higher, lower = (compare(scores, "r0", "r1", seed=seed) for scores in (matrix, mirrored(matrix)))
    for name in ("verdict", "p", "p_t", "reversal", "units_needed", "units_better", "units_worse", "ahead"):
        assert getattr(lower, name) == getattr(higher, name), name
    assert lower.difference == -higher.difference
    assert higher.interval is not None
    assert lower.interval == pytest.approx((-higher.interval[1], -higher.interval[0]))
    assert [unit.part for unit in lower.deciding] == [-unit.part for unit in higher.deciding]
    assert [lower.gate(margin) for margin in (0.0, 2.0, 9.0)] == [higher.gate(margin) for margin in (0.0, 2.0, 9.0)]
    assert lower.sentence() == higher.sentence().replace("scores higher", "scores lower")
    assert only_pair(matrix) == only_pair(mirrored(matrix))
    drawn_pairs = [figures.differences_by_unit(result).table.rows for result in (higher, lower)]
    assert [row[0] for row in drawn_pairs[0]] == [row[0] for row in drawn_pairs[1]]


@pytest.mark.parametrize("method", ["randomised-tukey", "tukey", "holm", "bh"])
@pytest.mark.parametrize("seed", range(4))
def test_all_pairs(seed: int, method: Method) -> None:
    matrix = drawn(seed, 6)
    higher, lower = (
        compare_all(scores, method=method, seed=seed, permutations=2000) for scores in (matrix, mirrored(matrix))
    )
    for name in ("runs", "letters", "groups", "leaders", "margin", "different"):
        assert getattr(lower, name) == getattr(higher, name), name
    assert np.array_equal(lower.p_adjusted, higher.p_adjusted, equal_nan=True)
    assert np.array_equal(lower.ranks, higher.ranks)
    assert np.array_equal(lower.differences, -higher.differences)
    assert [row[:2] for row in lower.table().rows] == [row[:2] for row in higher.table().rows]
    assert [row[:2] for row in lower.pair_table().rows] == [row[:2] for row in higher.pair_table().rows]
    assert lower.sentence() == higher.sentence().replace(f"{higher.scores[0]:.3f}", f"-{higher.scores[0]:.3f}")
    with_intervals = [score_intervals(scores, seed=seed) for scores in (matrix, mirrored(matrix))]
    orders = [figures.leaderboard(*both).table.rows for both in zip((higher, lower), with_intervals, strict=True)]
    assert [row[0] for row in orders[0]] == [row[0] for row in orders[1]] == list(higher.runs)
    for run in matrix.runs:
        low, high = with_intervals[0].interval(run) or (0.0, 0.0)
        assert with_intervals[1].interval(run) == pytest.approx((-high, -low), abs=0.3)


@pytest.mark.parametrize("seed", range(3))
def test_sensitivity_and_plan(seed: int) -> None:
    matrix = drawn(seed, 5, units=40)
    higher, lower = (
        sensitivity(scores, trials=20, intervals=0, seed=seed, bin_width=1, fit=True)
        for scores in (matrix, mirrored(matrix))
    )
    assert lower.sentence() == higher.sentence()
    assert lower.groups == higher.groups
    assert np.array_equal(lower.counts.rates("stay"), higher.counts.rates("stay"), equal_nan=True)
    first, second = higher.findings, lower.findings
    assert (first is None) == (second is None)
    for one, other in zip(first.rank_ranges if first else (), second.rank_ranges if second else (), strict=True):
        assert other == replace(one, score=-one.score)
    assert [table.rows[0][0] for table in lower.tables()] == [table.rows[0][0] for table in higher.tables()]
    wanted = Wanted((1.0, 2.0, 5.0))
    plans = [plan_from_pilot(scores, (), wanted=wanted).as_json() for scores in (matrix, mirrored(matrix))]
    assert plans[0].pop("higher_is_better") is True
    assert plans[1].pop("higher_is_better") is False
    assert plans[0] == plans[1]


def test_rankings_under_two_judges() -> None:
    judges = {"people": drawn(1, 6), "model": drawn(2, 6)}
    opposite = {name: mirrored(matrix) for name, matrix in judges.items()}

    def measured(matrices: dict[str, ScoreMatrix]) -> MeasureStability:
        return stability({"score": matrices}, reference="people").measures["score"]

    higher, lower = measured(judges), measured(opposite)
    assert lower.swapped == higher.swapped
    assert lower.comparisons == higher.comparisons
    assert lower.rankings().rows[0][0] == higher.rankings().rows[0][0]
    assert [row[::2] for row in lower.rankings().rows] == [row[::2] for row in higher.rankings().rows]
    assert lower.ranks == higher.ranks
    assert figures.ranks_by_set(lower).table.rows == figures.ranks_by_set(higher).table.rows
    with pytest.raises(UsageError, match="higher scores are better under some of the sets"):
        measured({"people": judges["people"], "model": opposite["model"]})


def test_questions_and_figures() -> None:
    matrix = drawn(3, 6)
    both = (matrix, mirrored(matrix))
    hard = [score_distributions(scores).hardest_and_easiest().replace("-", "") for scores in both]
    assert hard[0] == hard[1] != ""
    for draw in (
        figures.scores_by_unit,
        lambda scores: figures.run_by_unit(scores, "r2"),
        lambda scores: figures.unit_by_run(scores, "q5"),
        lambda scores: figures.boxes_by_unit(score_distributions(scores)),
    ):
        first, second = (draw(scores) for scores in both)
        assert [row[0] for row in first.table.rows] == [row[0] for row in second.table.rows]
    assert [row[0] for row in both[0].table().rows] == [row[0] for row in both[1].table().rows]
    assert both[0].sentence().split(" with ")[0] == both[1].sentence().split(" with ")[0]
