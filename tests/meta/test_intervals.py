"""Intervals against scipy and plain Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from qassay.arrays import Floats
from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix
from qassay.meta.blocks import blocks, scores_without
from qassay.meta.intervals import bca_limits, bootstrap_scores, score_intervals, wilson
from qassay.summaries import ConfidenceWeighted, TypeWeighted


def matrix_of(values: Floats, **more: object) -> ScoreMatrix:
    runs, units = values.shape
    return ScoreMatrix(tuple(f"r{i}" for i in range(runs)), tuple(f"u{i}" for i in range(units)), values, **more)  # type: ignore[arg-type]


def confidence_matrix(rng: np.random.Generator, runs: int, units: int, **more: object) -> ScoreMatrix:
    values = (rng.random((runs, units)) < 0.6).astype(float)
    order = np.argsort(-(values + rng.normal(size=values.shape)), axis=1)
    return matrix_of(values, summary=ConfidenceWeighted(order), denominator=1, **more)


def type_matrix(rng: np.random.Generator, runs: int, units: int, **more: object) -> ScoreMatrix:
    types = tuple(rng.choice(["factoid", "list", "other"], size=units, p=[0.6, 0.3, 0.1]))
    summary = TypeWeighted(types, {"factoid": 0.5, "list": 0.25, "other": 0.25})
    return matrix_of(rng.random((runs, units)), summary=summary, **more)


def makers() -> list[Callable[..., ScoreMatrix]]:
    def plain(rng: np.random.Generator, runs: int, units: int, **more: object) -> ScoreMatrix:
        return matrix_of(rng.random((runs, units)), **more)

    return [plain, confidence_matrix, type_matrix]


# --- the bootstrap ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_bca_agrees_with_scipy(seed: int) -> None:
    values = np.random.default_rng(seed).beta(0.5, 2, size=(1, 40))
    matrix = matrix_of(values)
    resampled = bootstrap_scores(matrix, resamples=9999, seed=seed)
    low, high = bca_limits(matrix.scores(), resampled, scores_without(matrix), expand=False)
    theirs = stats.bootstrap(
        (values[0],), np.mean, n_resamples=9999, method="BCa", rng=np.random.default_rng(seed)
    ).confidence_interval
    # The same draws, so the same limits.
    assert (low[0], high[0]) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


@pytest.mark.parametrize("maker", makers())
@pytest.mark.parametrize("in_series", [False, True])
def test_resampled_scores_are_the_summary_of_the_drawn_units(
    maker: Callable[..., ScoreMatrix], in_series: bool
) -> None:
    rng = np.random.default_rng(7)
    clusters = tuple(str(i // 3) for i in range(20)) if in_series else None
    matrix = maker(rng, 3, 20, clusters=clusters)
    resampled = bootstrap_scores(matrix, resamples=50, seed=11)
    count = 7 if in_series else 20
    drawn = np.random.default_rng(11).integers(count, size=(50, count))
    for row, blocks_drawn in zip(resampled, drawn, strict=True):
        units = [u for b in blocks_drawn for u in range(20) if (u // 3 if in_series else u) == b]
        assert row == pytest.approx(matrix.scores_on(np.array(units)), abs=1e-9)


@pytest.mark.parametrize("maker", makers())
@pytest.mark.parametrize("in_series", [False, True])
def test_jackknife_leaves_out_each_block(maker: Callable[..., ScoreMatrix], in_series: bool) -> None:
    clusters = tuple(str(i // 4) for i in range(18)) if in_series else None
    matrix = maker(np.random.default_rng(3), 4, 18, clusters=clusters)
    names = clusters or matrix.units
    expected = [
        matrix.scores_on(np.array([u for u in range(18) if names[u] != block])) for block in dict.fromkeys(names)
    ]
    assert scores_without(matrix) == pytest.approx(np.array(expected))


@pytest.mark.parametrize("maker", makers())
def test_parts_add_up_to_the_scores(maker: Callable[..., ScoreMatrix]) -> None:
    matrix = maker(np.random.default_rng(5), 4, 33, clusters=tuple(str(i // 5) for i in range(33)))
    assert matrix.summary.contributions(matrix.values).mean(axis=1) == pytest.approx(matrix.scores())
    parts = blocks(matrix)
    assert parts.parts.sum(axis=1) / parts.scale == pytest.approx(matrix.scores(), abs=1e-9)
    assert parts.values().mean(axis=1) == pytest.approx(matrix.scores(), abs=1e-9)
    assert (parts.parts == np.rint(parts.parts)).all()


def test_series_make_intervals_wider() -> None:
    rng = np.random.default_rng(0)
    shared = np.repeat(rng.random(30), 6)
    values = (shared + 0.05 * rng.normal(size=180))[None, :]
    alone = score_intervals(matrix_of(values))
    together = score_intervals(matrix_of(values, clusters=tuple(str(i // 6) for i in range(180))))

    def width(intervals_of: object) -> float:
        low, high = intervals_of.interval("r0")  # type: ignore[attr-defined]
        return float(high - low)

    assert width(together) / width(alone) == pytest.approx(6**0.5, rel=0.25)
    assert "30 series of 180 questions" in together.table().title


def test_same_seed_same_intervals() -> None:
    matrix = matrix_of(np.random.default_rng(1).random((3, 60)))
    assert score_intervals(matrix, seed=4).as_json() == score_intervals(matrix, seed=4).as_json()
    assert score_intervals(matrix, seed=4).as_json() != score_intervals(matrix, seed=5).as_json()


def test_a_run_whose_scores_are_all_alike_has_no_interval() -> None:
    # An interval of no width would claim that the score is known exactly.
    values = np.vstack([np.full(30, 0.3), np.linspace(0.1, 0.9, 30), np.zeros(30)])
    found = score_intervals(matrix_of(values))
    assert [found.interval(run) is None for run in found.runs] == [True, False, True]
    assert found.methods == ("none", "BCa", "none")
    (reason,) = found.reasons
    assert reason == (
        "No interval for r0 and r2: the scores are the same on every question and do not show how far they may vary."
    )
    assert reason in found.notes
    large = score_intervals(matrix_of(values * 1e9 / 7))
    assert large.interval("r0") is None
    # A score that is not a mean: all right gives 1 on every draw.
    right = score_intervals(matrix_of(np.ones((1, 30)), summary=ConfidenceWeighted(np.arange(30)[None, :])))
    assert right.interval("r0") is None
    # Right-or-wrong scores have Wilson's interval.
    assert score_intervals(matrix_of(np.ones((1, 30)))).interval("r0") == pytest.approx((0.886, 1.0), abs=0.001)


def test_few_units_have_no_intervals_of_scores() -> None:
    for count in (1, 2, 4):
        few = score_intervals(matrix_of(np.random.default_rng(0).random((2, count))))
        assert few.low == few.high == (None, None)
        assert f"they need 5 questions or more, and there {'is' if count == 1 else 'are'} {count}." in few.reasons[0]
    in_series = matrix_of(np.random.default_rng(0).random((1, 30)), clusters=tuple("ab" * 15))
    assert "5 series or more, and there are 2" in score_intervals(in_series).reasons[0]
    intervals = score_intervals(matrix_of(np.array([[0.3], [0.4]])))
    assert intervals.interval("r0") is None
    assert intervals.as_json()["runs"][0]["interval"] is None  # type: ignore[index]
    assert "No intervals" in intervals.notes[0]
    with pytest.raises(UsageError):
        score_intervals(matrix_of(np.ones((1, 3))), level=1.0)


# --- proportions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("right", "total"), [(0, 10), (3, 10), (10, 10), (81, 263)])
def test_wilson_agrees_with_scipy(right: int, total: int) -> None:
    theirs = stats.binomtest(right, total).proportion_ci(method="wilson")
    assert wilson(right, total) == pytest.approx((theirs.low, theirs.high))


def test_wilson_for_few_questions_only() -> None:
    rng = np.random.default_rng(2)
    few = (rng.random((2, 50)) < 0.5).astype(float)
    assert set(score_intervals(matrix_of(few)).methods) == {"Wilson"}
    many = (rng.random((2, 400)) < 0.5).astype(float)
    many[1] = 1.0
    many[1, :3] = 0.0  # three wrong answers are few
    assert score_intervals(matrix_of(many)).methods == ("BCa", "Wilson")
    assert set(score_intervals(matrix_of(few, clusters=tuple(str(i // 2) for i in range(50)))).methods) == {"BCa"}
    with pytest.raises(UsageError):
        wilson(3, 2)
