"""Intervals against scipy and plain Python."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from qassay.arrays import Floats
from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix
from qassay.meta import blocks as independent_parts
from qassay.meta.blocks import blocks, scores_without
from qassay.meta.flips import FLIPS, FlipTest, flip_chunks, flip_test, flipped_sums
from qassay.meta.intervals import bca_limits, bootstrap_scores, score_intervals, wilson
from qassay.summaries import ConfidenceWeighted, TypeWeighted


def difference_interval(matrix: ScoreMatrix, a: str, b: str, *, flips: int = FLIPS) -> FlipTest:
    return flip_test(blocks(matrix.select([a, b])), flips=flips)


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


# --- the difference of two runs -------------------------------------------------------------------------------------


def brute_p(d: Floats, delta: float, weights: Floats | None = None) -> float:
    """The sign-flip test of a mean difference of delta, all flips, in plain Python."""
    w = np.ones(len(d)) if weights is None else weights
    shifted = [x - delta * v for x, v in zip(d, w, strict=True)]
    observed = abs(sum(shifted))
    flips = list(itertools.product([1, -1], repeat=len(d)))
    hits = sum(abs(sum(s * x for s, x in zip(flip, shifted, strict=True))) >= observed - 1e-9 for flip in flips)
    return hits / len(flips)


@settings(max_examples=40)
@given(hnp.arrays(np.float64, (2, 8), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])))
def test_exact_p_value(values: Floats) -> None:
    result = difference_interval(matrix_of(values, denominator=4), "r0", "r1")
    assert result.exact
    assert result.flips == 256
    assert result.p == pytest.approx(brute_p(values[0] - values[1], 0.0))
    theirs = stats.permutation_test(
        (values[0], values[1]), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
    )
    assert result.p == pytest.approx(min(1.0, theirs.pvalue))


@settings(max_examples=25)
@given(hnp.arrays(np.float64, (2, 7), elements=st.floats(0, 1).map(lambda x: round(x, 3))))
def test_interval_holds_what_the_test_does_not_reject(values: Floats) -> None:
    result = difference_interval(matrix_of(values), "r0", "r1")
    d = values[0] - values[1]
    assert result.low is not None
    assert result.high is not None
    # Right-or-wrong scores have a wider interval, which allows for what no question shows (test_right_or_wrong).
    is_exact = result.high - result.low > 1e-5 and len(np.unique(values)) > 2
    for inside in (result.low + 1e-6, result.high - 1e-6):
        if is_exact:
            assert brute_p(d, inside) > 0.05
    for outside in (result.low - 1e-6, result.high + 1e-6):
        assert brute_p(d, outside) <= 0.05


def test_interval_of_series_weighs_them_by_their_units() -> None:
    rng = np.random.default_rng(8)
    values = rng.random((2, 20))
    names = tuple("aabbbccccdefghhhhijj")
    result = difference_interval(matrix_of(values, clusters=names), "r0", "r1")
    order = list(dict.fromkeys(names))
    d = np.array([sum(values[0, u] - values[1, u] for u in range(20) if names[u] == s) for s in order])
    sizes = np.array([names.count(s) for s in order], dtype=float)
    assert result.low is not None
    assert result.p == pytest.approx(brute_p(d, 0.0))
    assert brute_p(d, result.low + 1e-7, sizes) > 0.05
    assert brute_p(d, result.low - 1e-7, sizes) <= 0.05


@settings(max_examples=60)
@given(
    hnp.arrays(np.float64, st.tuples(st.just(2), st.integers(1, 40)), elements=st.sampled_from([0.0, 0.5, 1.0])),
    st.integers(0, 3),
)
def test_p_interval_and_decision_never_contradict_each_other(values: Floats, seed: int) -> None:
    result = flip_test(blocks(matrix_of(values, denominator=2)), flips=500, seed=seed)
    contains = (result.low is None or result.low <= 0) and (result.high is None or result.high >= 0)
    assert contains == (result.p > 0.05)
    assert result.rejects == (not contains)
    assert result.low is None or result.low <= result.difference + 1e-12
    assert result.high is None or result.high >= result.difference - 1e-12


def test_few_units_have_no_interval() -> None:
    result = difference_interval(matrix_of(np.array([[1.0] * 5, [0.0] * 5])), "r0", "r1")
    assert result.p == pytest.approx(2 / 32)  # no test on five units gets below
    assert (result.low, result.high) == (None, None)


def test_mcnemar_is_a_special_case() -> None:
    rng = np.random.default_rng(4)
    values = (rng.random((2, 300)) < np.array([[0.6], [0.5]])).astype(float)
    first = int(((values[0] == 1) & (values[1] == 0)).sum())
    second = int(((values[0] == 0) & (values[1] == 1)).sum())
    exact = stats.binomtest(first, first + second).pvalue
    flips = 200_000
    p = difference_interval(matrix_of(values, denominator=1), "r0", "r1", flips=flips).p
    assert p == pytest.approx(exact, abs=4 * (exact * (1 - exact) / flips) ** 0.5)


def test_swapping_the_runs_mirrors_the_interval() -> None:
    matrix = matrix_of(np.random.default_rng(6).random((2, 50)))
    forth, other = (difference_interval(matrix, *pair) for pair in (("r0", "r1"), ("r1", "r0")))
    assert forth.p == other.p
    assert forth.low is not None
    assert other.high is not None
    assert forth.low == pytest.approx(-other.high)


@pytest.mark.parametrize("units", [17, 64, 300])
def test_sums_over_flipped_units_are_those_of_plain_addition(units: int) -> None:
    """Counting common ones gives the sums of the same flips as adding does, to the last bit, in pieces of any size."""
    rng = np.random.default_rng(units)
    values = rng.integers(-(2**20), 2**40, units).astype(np.float64)
    weights = np.ones(units)
    chosen = np.concatenate(list(flip_chunks(units, 1001, 3))).astype(np.float64)
    pieces = np.concatenate(list(flip_chunks(units, 1001, 3, rows=8)))
    assert (chosen == pieces).all()
    sums, sizes = (np.concatenate(column) for column in zip(*flipped_sums(values, weights, 1001, 3), strict=True))
    assert (sums == chosen @ values).all()
    assert (sizes == chosen.sum(axis=1)).all()


def test_number_of_flips_grows_as_two_to_the_blocks() -> None:
    matrix = matrix_of(np.random.default_rng(0).random((2, 10)))
    assert difference_interval(matrix, "r0", "r1").flips == sum(comb(10, k) for k in range(11))
    assert difference_interval(matrix, "r0", "r1", flips=1000).flips == 1000


def test_flips_of_many_blocks_come_in_fewer_rows_with_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any other draw would change p-values with the bound on memory."""
    whole = np.vstack(list(flip_chunks(77, 1000, 5)))
    monkeypatch.setattr(independent_parts, "_CELLS", 77 * 13)
    pieces = list(flip_chunks(77, 1000, 5))
    assert max(map(len, pieces)) == 12
    assert (np.vstack(pieces) == whole).all()
    few = list(flip_chunks(6, 1000, 5))
    assert len({tuple(row) for piece in few for row in piece.tolist()}) == 64
