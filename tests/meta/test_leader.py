"""The best of many: a limit that allows for being picked, and a score that is probably nearer to the truth."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qassay.arrays import Floats
from qassay.cli import main
from qassay.demo import demo_folder
from qassay.directions import Direction
from qassay.formats.matrix import read_matrix
from qassay.matrix import Repeats, ScoreMatrix
from qassay.meta.flips import flip_chunks
from qassay.meta.intervals import ScoreIntervals, score_intervals
from qassay.meta.leader import chance_line, with_leader
from qassay.meta.normal_and_t import two_sided_t_line


def matrix_of(values: Floats, **more: Any) -> ScoreMatrix:
    runs, units = values.shape
    return ScoreMatrix(tuple(f"r{i}" for i in range(runs)), tuple(f"u{i}" for i in range(units)), values, **more)


def allowing(matrix: ScoreMatrix) -> ScoreIntervals:
    return with_leader(score_intervals(matrix), matrix)


@pytest.mark.parametrize("name", ["nq301", "contra.csv"])
def test_the_leader_has_its_golden_figures(data: Callable[[str], Path], truth: dict[str, Any], name: str) -> None:
    golden = Path(__file__).parents[1] / "golden" / "contra.csv"
    matrix = read_matrix(golden if name == "contra.csv" else data("nq301/matrix.csv"), missing="zero")
    expected, found = truth[f"leader {name}"], allowing(matrix)
    assert found.leader is not None
    assert found.leader.runs == (matrix.runs[expected["leader"]],)
    assert chance_line(matrix.values, 0.05) == pytest.approx(expected["c"], abs=1e-6)
    assert found.leader.lower == pytest.approx(expected["wilson_low"], abs=1e-6)
    assert found.leader.nearer == pytest.approx(expected["shrunken"], abs=1e-6)
    own, moved = score_intervals(matrix), found.interval(found.leader.runs[0])
    assert moved == (found.leader.lower, own.high[expected["leader"]])
    # The other systems keep theirs, and the score and the ranking stay as measured.
    assert (own.low[0], own.high[0], own.scores) == (found.low[0], found.high[0], found.scores)
    assert found.reasons[-1] == (
        f"{found.leader.runs[0]} was picked as the highest of 12: its interval allows for that; its score is probably "
        f"nearer {expected['shrunken']:.3f}."
    )


def test_a_nearer_score_that_hardly_differs_is_left_out(data: Callable[[str], Path]) -> None:
    matrix = read_matrix(data("score_matrices/robust2004_p10.csv"), missing="zero")
    found = allowing(matrix)
    assert found.leader is not None
    assert found.leader.nearer is None
    assert found.reasons[-1].endswith("was picked as the highest of 110: its interval allows for that.")


def test_graded_scores_within_bounds_and_without() -> None:
    rng = np.random.default_rng(0)
    values = np.clip(rng.normal(0.5, 0.2, (6, 40)) + 0.02 * np.arange(6.0)[:, None], 0, 1)
    apart = values - values.mean(axis=1, keepdims=True)
    scaled = apart / np.linalg.norm(apart, axis=1, keepdims=True)
    flips = np.concatenate([1 - 2.0 * chosen for chosen in flip_chunks(40, 20_000, 0)])
    line = np.sort((flips @ scaled.T).max(axis=1))[-500]
    z = line * two_sided_t_line(39, 0.05) / 1.959964
    best = int(values.mean(axis=1).argmax())
    score, variance = values[best].mean(), values[best].var(ddof=1) / 40
    n = score * (1 - score) / variance
    wilson = score + z * z / (2 * n) - z * math.sqrt(score * (1 - score) / n + (z / (2 * n)) ** 2)
    found = allowing(matrix_of(values)).leader
    assert found is not None
    assert found.lower == pytest.approx(wilson / (1 + z * z / n), abs=1e-6)
    unbounded = allowing(matrix_of(values + 5)).leader
    assert unbounded is not None
    assert unbounded.lower == pytest.approx(score + 5 - z * math.sqrt(variance), abs=1e-6)
    # The same scale, other numbers; and lower scores that are better.
    ten = allowing(matrix_of(values * 10, scale=(0.0, 10.0))).leader
    assert ten is not None
    assert ten.lower == pytest.approx(10 * (found.lower or 0))
    mirrored = matrix_of(1 - values, direction=Direction(higher_is_better=False))
    lowest = allowing(mirrored)
    assert lowest.leader is not None
    assert lowest.leader.lower == pytest.approx(1 - (found.lower or 0), abs=1e-6)
    assert "picked as the lowest of 6" in lowest.reasons[-1]
    limits = lowest.interval(f"r{best}")
    assert limits is not None
    assert limits[0] < 1 - score < limits[1] == lowest.leader.lower


def test_series_and_repeats_make_the_limit_lower() -> None:
    rng = np.random.default_rng(1)
    values = np.repeat((rng.random((4, 20)) < 0.5).astype(float), 5, axis=1)
    alone, series = (allowing(matrix_of(values, clusters=clusters)).leader for clusters in (None, names(100, 5)))
    assert alone is not None
    assert series is not None
    assert (series.lower or 0) < (alone.lower or 0)
    repeated = tuple(rng.normal(0.5, 0.05, (40, 1)) + rng.normal(0, 0.1, 3) for _ in range(4))
    means = np.stack([scores.mean(axis=1) for scores in repeated])
    once, again = allowing(matrix_of(means)).leader, allowing(matrix_of(means, repeats=Repeats(repeated))).leader
    assert once is not None
    assert again is not None
    assert (again.lower or 0) < (once.lower or 0) - 0.05


def names(units: int, size: int) -> tuple[str, ...]:
    return tuple(str(unit // size) for unit in range(units))


def test_ties_systems_that_never_vary_and_two_systems() -> None:
    rng = np.random.default_rng(2)
    row = (rng.random(30) < 0.7).astype(float)
    tied = allowing(matrix_of(np.stack([row, row[::-1], 1 - row])))
    assert tied.leader is not None
    assert tied.leader.runs == ("r0", "r1")
    assert tied.low[0] == tied.low[1] == tied.leader.lower
    assert "r0 and r1 were picked as the highest of 3: their intervals allow for that" in tied.reasons[-1]
    values = rng.normal(0.5, 0.1, (4, 30))
    values[3] = 0.9
    steady = allowing(matrix_of(values))
    assert steady.leader is not None
    assert (steady.leader.runs, steady.leader.lower, steady.interval("r3")) == (("r3",), None, None)
    # A system that never varies is no part of what chance reaches.
    assert chance_line(values, 0.05) == chance_line(values[:3], 0.05)
    two = matrix_of(values[:2])
    assert allowing(two) == score_intervals(two)


def test_the_leader_is_in_the_document_and_below_the_leaderboard(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(demo_folder()), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    first = document["runs"][0]
    assert set(document["leader"]) == {"lower", "nearer"}
    assert document["leader"]["lower"] == first["interval"][0]
    assert any(f"{first['run']} was picked as the highest of" in note for note in document["notes"])
    assert main(["score", str(demo_folder())]) == 0
    assert "was picked as the highest of" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["right or wrong", "graded"])
def test_the_interval_of_the_leader_contains_its_true_score(kind: str) -> None:
    """Ten equal systems: its own interval would contain it in about .8 of evaluations."""
    rng = np.random.default_rng(0)
    inside = own_inside = 0
    for _ in range(150):
        values = rng.beta(2, 2, (10, 50))
        values = (values < 0.5).astype(float) if kind == "right or wrong" else values
        matrix = matrix_of(values, denominator=1 if kind == "right or wrong" else None)
        own = score_intervals(matrix, resamples=400)
        found = with_leader(own, matrix)
        assert found.leader is not None
        for intervals in (own, found):
            low, high = intervals.interval(found.leader.runs[0]) or (0.0, 0.0)
            hit = low <= 0.5 <= high
            inside, own_inside = (inside + hit, own_inside) if intervals is found else (inside, own_inside + hit)
    assert inside / 150 >= 0.93
    assert own_inside / 150 <= 0.93


def test_the_limit_never_moves_up() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        matrix = matrix_of((rng.random((3, 12)) < rng.random((3, 1))).astype(float))
        own, found = score_intervals(matrix), allowing(matrix)
        assert all(a is None or (b is not None and b <= a) for a, b in zip(own.low, found.low, strict=True))
        assert own.high == found.high
        assert replace(found, leader=None).scores == own.scores
