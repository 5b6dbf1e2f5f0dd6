"""Tests of two and of many runs against scipy and plain Python; one decision behind every figure."""

from __future__ import annotations

import itertools
import json
import math
import re
import string
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from qassay.arrays import Floats
from qassay.errors import UsageError
from qassay.formats.matrix import read_matrix
from qassay.matrix import ScoreMatrix
from qassay.meta.blocks import blocks
from qassay.meta.flips import flip_test
from qassay.meta.significance import (
    AllPairs,
    Method,
    compare,
    compare_all,
    detectable,
    power,
    residual_variance,
    units_for_power,
)
from qassay.meta.significance.letters import indistinguishable, letters
from qassay.meta.significance.ranges import critical_range, exchange_ranges, studentized_range_sf
from qassay.meta.significance.single_pairs import benjamini_hochberg, flip_p_values, holm, t_p_values
from qassay.summaries import ConfidenceWeighted, Mean, TypeWeighted

METHODS: list[Method] = ["max-t", "randomised-tukey", "tukey", "holm", "bh"]


def matrix_of(values: Floats, **more: object) -> ScoreMatrix:
    runs, units = values.shape
    tags = tuple(string.ascii_uppercase[i] if runs <= 26 else f"r{i}" for i in range(runs))
    return ScoreMatrix(tags, tuple(f"u{i}" for i in range(units)), values, **more)  # type: ignore[arg-type]


def some_runs(seed: int, runs: int = 6, units: int = 40, spread: float = 0.1) -> ScoreMatrix:
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=units)
    values = hard + np.linspace(0, spread * runs, runs)[:, None] + rng.normal(size=(runs, units))
    return matrix_of(values)


# --- two runs -----------------------------------------------------------------------------------------------------


def test_t_test_and_effect_size_agree_with_scipy() -> None:
    matrix = some_runs(1)
    result = compare(matrix, "A", "F")
    a, b = matrix.values[0], matrix.values[5]
    assert result.p_t == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert result.effect_size == pytest.approx((a - b).mean() / (a - b).std(ddof=1))
    assert result.difference == pytest.approx((a - b).mean())


def test_randomisation_p_value_agrees_with_scipy() -> None:
    matrix = some_runs(2, units=60)
    mine = flip_test(blocks(matrix.select(["A", "C"])), alpha=0.05, flips=50_000).p
    theirs = stats.permutation_test(
        (matrix.values[0] - matrix.values[2],),
        np.mean,
        permutation_type="samples",
        n_resamples=50_000,
        rng=np.random.default_rng(0),
        vectorized=True,
    ).pvalue
    assert mine == pytest.approx(theirs, abs=5 * math.sqrt(mine * (1 - mine) / 25_000))


def test_p_value_counts_the_observed_order() -> None:
    # 40 units, always better: no flip does as well, and p is (1 + 0)/(B + 1).
    values = np.stack([np.ones(40), np.zeros(40)])
    values[0, 0] = 0.5
    assert compare(matrix_of(values), "A", "B", permutations=1000).p == pytest.approx(1 / 1001)


@settings(max_examples=60)
@given(
    hnp.arrays(np.float64, st.tuples(st.just(2), st.integers(1, 30)), elements=st.sampled_from([0.0, 1 / 3, 1.0])),
    st.sampled_from([0.01, 0.05, 0.2]),
)
def test_verdict_interval_and_p_are_one_decision(values: Floats, alpha: float) -> None:
    result = compare(matrix_of(values), "A", "B", alpha=alpha, permutations=400)
    decided = result.verdict != "cannot tell"
    assert decided == (result.p <= alpha)
    if result.interval is None:
        assert not decided
    else:
        low, high = result.interval
        assert decided == (low > 0 or high < 0)
        assert (result.verdict == "better") == (low > 0)
        assert (result.verdict == "worse") == (high < 0)
        assert result.gate(0.0) == {"better": "ALLOW", "worse": "REJECT", "cannot tell": "INCONCLUSIVE"}[result.verdict]
    json.dumps(result.as_json(), allow_nan=False)


def test_units_needed_carry_power() -> None:
    """The noncentral t of scipy, at the upper limit of the variance that the chi-square of scipy gives."""
    matrix = some_runs(3)
    result = compare(matrix, "A", "B", wanted=0.5)
    d = matrix.values[0] - matrix.values[1]
    v = (d - d.mean()) ** 2 * 40 / 39
    freedom = 2 * 40 * v.mean() ** 2 / v.var(ddof=1)
    deviation = math.sqrt(v.mean() * freedom / stats.chi2.ppf(0.2, freedom))

    def t_power(difference: float, n: int) -> float:
        line, shift = stats.t.isf(0.025, n - 1), difference / deviation * n**0.5
        return float(stats.nct.sf(line, n - 1, shift) + stats.nct.cdf(-line, n - 1, shift))

    assert result.units_needed is not None
    assert t_power(0.5, result.units_needed) >= 0.8 > t_power(0.5, result.units_needed - 1)
    assert result.found_with is not None
    assert t_power(result.found_with, 40) == pytest.approx(0.8)
    with pytest.raises(UsageError, match="more than 0"):
        compare(matrix, "A", "B", wanted=0)


def test_golden_number_of_questions_for_a_pair(data: Callable[[str], Path]) -> None:
    pair = read_matrix(data("nq301/matrix.csv")).select(["DPR", "FiD"])
    first = replace(pair, units=pair.units[:20], values=pair.values[:, :20])
    assert compare(first, "DPR", "FiD", wanted=0.1).units_needed == 320


def test_t_test_over_series_is_a_t_test_of_series_means_where_they_are_equally_long() -> None:
    rng = np.random.default_rng(5)
    values = rng.random((2, 60)) + np.repeat(rng.random((2, 20)), 3, axis=1)
    matrix = matrix_of(values, clusters=tuple(str(i // 3) for i in range(60)))
    means = values.reshape(2, 20, 3).mean(axis=2)
    result = compare(matrix, "A", "B")
    assert result.p_t == pytest.approx(stats.ttest_rel(means[0], means[1]).pvalue)
    assert any("20 series with 60 questions" in note for note in result.remarks)


def test_deciding_units() -> None:
    values = np.array([[1.0, 0.0, 0.5, 1.0, 0.2], [0.0, 1.0, 0.5, 0.4, 0.1]])
    result = compare(matrix_of(values), "A", "B", top=3)
    assert [(u.unit, u.part) for u in result.deciding] == [("u0", 0.2), ("u1", -0.2), ("u3", pytest.approx(0.12))]
    assert (result.units_better, result.units_worse) == (3, 1)


def test_parts_of_a_type_weighted_difference_add_up() -> None:
    rng = np.random.default_rng(1)
    types = ("factoid",) * 20 + ("list",) * 5 + ("other",) * 5
    matrix = matrix_of(rng.random((2, 30)), summary=TypeWeighted(types, {"factoid": 0.5, "list": 0.25, "other": 0.25}))
    result = compare(matrix, "A", "B", top=30)
    scores = matrix.scores()
    assert result.difference == pytest.approx(scores[0] - scores[1], abs=1e-9)
    assert sum(u.part for u in result.deciding) == pytest.approx(result.difference)
    # The flips act on weight x (difference - that of its type + that of the runs): the exact test in plain Python on
    # twelve units agrees. What n units deviate from their own mean is stretched by sqrt(n / (n - 1)).
    small = matrix_of(
        matrix.values[:, 15:27], summary=TypeWeighted(types[15:27], {"factoid": 0.5, "list": 0.25, "other": 0.25})
    )
    apart = (small.values[0] - small.values[1]).tolist()
    groups = [(0.5, apart[:5]), (0.25, apart[5:10]), (0.25, apart[10:])]
    whole = sum(weight * sum(x) / len(x) for weight, x in groups)
    d = [
        weight / len(x) * ((value - sum(x) / len(x)) * (len(x) / (len(x) - 1)) ** 0.5 + whole)
        for weight, x in groups
        for value in x
    ]
    assert sum(d) == pytest.approx(whole)
    flips = list(itertools.product([1, -1], repeat=12))
    hits = sum(abs(sum(s * x for s, x in zip(f, d, strict=True))) >= abs(sum(d)) - 1e-9 for f in flips)
    comparison = compare(small, "A", "B")
    assert comparison.p == pytest.approx(hits / len(flips))
    spread = sum(
        (12 * (x - whole * share)) ** 2 for x, share in zip(d, [0.1] * 5 + [0.05] * 5 + [0.125] * 2, strict=True)
    )
    assert comparison.effect_size == pytest.approx(whole / (spread / 11) ** 0.5)


def test_same_answers_in_another_order_of_confidence_can_differ() -> None:
    # Both runs are right on the same half of the questions; one knows which half, the other has it backwards.
    right = np.tile([1.0, 0.0], 30)
    order = np.argsort(-right, kind="stable")
    matrix = matrix_of(np.stack([right, right]), summary=ConfidenceWeighted(np.stack([order, order[::-1]])))
    assert compare(matrix, "A", "B").verdict == "better"


def test_identical_runs() -> None:
    values = np.tile(np.linspace(0, 1, 30), (2, 1))
    result = compare(matrix_of(values), "A", "B")
    assert (result.difference, result.p) == (0.0, 1.0)
    # 30 questions do not show that no question tells the runs apart.
    assert result.interval == pytest.approx((-0.0901, 0.0901), abs=1e-4)
    assert (result.p_t, result.effect_size, result.found_with, result.units_needed) == (None,) * 4
    assert result.verdict == "cannot tell"
    assert result.gate(0.0) == "INCONCLUSIVE"
    assert result.gate(0.01) == "INCONCLUSIVE"
    assert result.gate(0.1) == "ALLOW"
    assert any("same on every question" in note for note in result.remarks)
    assert "score the same on each question" in str(result.table())
    assert "chance alone" not in result.sentence()


def test_an_interval_shows_on_which_side_of_0_it_lies() -> None:
    result = compare(some_runs(4), "A", "B")
    for interval, shown in (
        ((0.00001, 0.1195), "+0.00001 to +0.119"),
        ((-0.1, -0.000002), "-0.100 to -0.000002"),
        ((0.02, 0.03), "+0.020 to +0.030"),
    ):
        assert shown in str(replace(result, interval=interval).table())


@pytest.mark.parametrize("units", [1, 2, 5])
def test_few_units_say_so(units: int) -> None:
    values = np.stack([np.linspace(0.5, 1, units), np.linspace(0, 0.3, units)])
    result = compare(matrix_of(values), "A", "B")
    assert result.verdict == "cannot tell"
    assert result.interval is None
    assert result.as_json()["interval"] is None
    assert result.gate(1.0) == "INCONCLUSIVE"
    assert any("no test reaches 0.05" in note for note in result.remarks)
    assert "there is no 95% interval" in str(result.table())


def test_one_pair_among_many_is_noted_as_uncorrected() -> None:
    matrix = matrix_of(np.repeat([[1.0], [0.0], [0.5]], 12, axis=1))
    advice = "chosen beforehand. To pick a pair by its scores among several runs,"
    assert any(advice in note for note in compare(matrix, "A", "B").notes)
    two = matrix_of(np.repeat([[1.0], [0.0]], 12, axis=1))
    assert not any(advice in note for note in compare(two, "A", "B").notes)


def test_one_run_has_no_pairs_to_list() -> None:
    result = compare_all(some_runs(1, runs=1, units=12))
    (shown,) = result.tables()
    assert shown.title == "1 run: a comparison needs two."


def test_wrong_calls() -> None:
    matrix = some_runs(0)
    with pytest.raises(UsageError, match="itself"):
        compare(matrix, "A", "A")
    with pytest.raises(UsageError, match="unknown run 'Z'"):
        compare(matrix, "A", "Z")
    with pytest.raises(UsageError, match="between 0 and 1"):
        compare(matrix, "A", "B", alpha=0)
    with pytest.raises(UsageError, match="at least one permutation"):
        compare(matrix, "A", "B", permutations=0)
    with pytest.raises(UsageError, match="0 or more"):
        compare(matrix, "A", "B").gate(-0.1)
    with pytest.raises(UsageError, match="unknown method 'tuky'; did you mean 'tukey'"):
        compare_all(matrix, method="tuky")  # type: ignore[arg-type]


# --- power --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("effect", "units"), [(0.13, 301), (0.5, 10), (1.0, 5), (0.3, 2), (0.05, 3000), (2.0, 400)])
def test_power_is_that_of_the_noncentral_t(effect: float, units: int) -> None:
    line = stats.t.isf(0.025, units - 1)
    shift = effect * units**0.5
    theirs = stats.nct.sf(line, units - 1, shift) + stats.nct.cdf(-line, units - 1, shift)
    assert power(effect, units) == pytest.approx(theirs, abs=1e-9)


def test_units_for_power() -> None:
    # A medium effect, power 0.8, level 0.05: 34 pairs (Cohen's tables; G*Power gives the same).
    assert units_for_power(0.5) == 34
    assert units_for_power(-0.5) == 34
    assert units_for_power(0.0) is None
    assert units_for_power(math.inf) is None
    # Where the normal approximation takes over, nothing jumps.
    assert units_for_power(0.0199) == pytest.approx(units_for_power(0.0197), rel=0.025)
    # detectable is the inverse
    difference = detectable(34)
    assert difference is not None
    assert power(difference, 34) == pytest.approx(0.8)
    assert detectable(1) is None
    with pytest.raises(UsageError):
        units_for_power(0.5, power=0.01)


# --- corrections, groups, letters ---------------------------------------------------------------------------------


@settings(max_examples=50)
@given(st.lists(st.floats(0, 1), max_size=30))
def test_holm_and_benjamini_hochberg(values: list[float]) -> None:
    p = np.array(values)
    count = len(p)
    order = sorted(range(count), key=lambda i: values[i])
    expected, running = [0.0] * count, 0.0
    for place, i in enumerate(order):
        running = max(running, min(1.0, (count - place) * values[i]))
        expected[i] = running
    assert holm(p) == pytest.approx(np.array(expected))
    if count:
        assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p))


@settings(max_examples=60)
@given(st.integers(1, 9).flatmap(lambda n: hnp.arrays(np.bool_, (n, n))))
def test_groups_are_maximal_and_letters_say_the_same_as_pairs(marks: np.ndarray) -> None:
    different = np.triu(marks, 1) | np.triu(marks, 1).T
    count = len(different)
    sets = indistinguishable(different)
    for members in sets:
        assert not different[np.ix_(members, members)].any()
        outside = [run for run in range(count) if run not in members]
        assert all(different[run, members].any() for run in outside), "a group is maximal"
    for i, j in itertools.combinations(range(count), 2):
        assert different[i, j] == (not any(i in members and j in members for members in sets))
    assert {run for members in sets for run in members} == set(range(count))
    assert len(letters(sets, count)) == count


def test_with_one_line_groups_are_all_maximal_stretches() -> None:
    scores = [9.0, 8.5, 7.0, 6.9, 6.0, 3.0]
    different = np.array([[abs(a - b) > 2 for b in scores] for a in scores])
    assert indistinguishable(different) == [[0, 1, 2], [1, 2, 3], [2, 3, 4], [5]]


def test_letters_never_run_out() -> None:
    sets = [[i, i + 1] for i in range(799)]
    shown = letters(sets, 800)
    assert shown[:3] == ["a", "a,b", "b,c"]
    assert shown[27] == "aa,ab"
    assert shown[799] == "ads"
    assert len(set(shown)) == 800
    assert letters([[0], [0], [0], [0], [0]], 1) == ["a–e"]


# --- many runs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("runs", "freedom"), [(2, 5), (3, 4), (5, 40), (12, 3300), (40, 1911), (139, 53130)])
def test_studentized_range_agrees_with_scipy(runs: int, freedom: int) -> None:
    q = np.array([0.0, 0.3, 1.0, 2.5, 4.0, 5.5, 7.0, 9.0])
    assert studentized_range_sf(q, runs, freedom) == pytest.approx(
        stats.studentized_range.sf(q, runs, freedom), abs=1e-8
    )
    line = critical_range(runs, freedom, 0.05)
    assert line == pytest.approx(stats.studentized_range.ppf(0.95, runs, freedom), abs=1e-6)


def test_paired_tukey_by_hand() -> None:
    matrix = some_runs(6, runs=5, units=12)
    v = matrix.values
    k, n = v.shape
    total = ((v - v.mean()) ** 2).sum()
    between_runs = n * ((v.mean(axis=1) - v.mean()) ** 2).sum()
    between_units = k * ((v.mean(axis=0) - v.mean()) ** 2).sum()
    variance = (total - between_runs - between_units) / ((k - 1) * (n - 1))
    assert residual_variance(v) == (pytest.approx(variance), 44)
    result = compare_all(matrix, method="tukey")
    for pair in result.pairs():
        gap = abs(v[matrix.index(pair.a)].mean() - v[matrix.index(pair.b)].mean())
        assert pair.p_adjusted == pytest.approx(
            stats.studentized_range.sf(gap / math.sqrt(variance / n), k, 44), abs=1e-8
        )


def test_paired_tukey_of_two_runs_is_the_paired_t_test() -> None:
    matrix = some_runs(7, runs=2, units=25)
    (pair,) = compare_all(matrix, method="tukey").pairs()
    theirs = stats.ttest_rel(matrix.values[0], matrix.values[1]).pvalue
    assert (pair.p, pair.p_adjusted) == pytest.approx((theirs, theirs), abs=1e-8)


def naive_ranges(values: Floats, permutations: int, seed: int) -> Floats:
    """Ranges of run sums under exchange within units, one permutation at a time."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(permutations):
        sums = rng.permuted(values, axis=0).sum(axis=1)
        found.append(sums.max() - sums.min())
    return np.array(found)


@pytest.mark.parametrize("units", [4, 30])
def test_exchange_ranges_are_distributed_as_those_of_the_naive_loop(units: int) -> None:
    matrix = some_runs(8, runs=7, units=units)
    parts = blocks(matrix)
    ranges, singles = exchange_ranges(parts, permutations=20_000, seed=3)
    ours = ranges / parts.scale * units
    naive = naive_ranges(matrix.values, 20_000, 4)
    assert stats.ks_2samp(ours, naive).pvalue > 0.001
    assert (singles <= ranges[:, None] + 1e-9).all()


def test_every_method_gives_two_runs_their_own_test() -> None:
    for seed in range(40):
        matrix = some_runs(seed, runs=2, units=(6, 9, 30)[seed % 3])
        alone = compare(matrix, "A", "B")
        for method in ("max-t", "randomised-tukey", "holm", "bh"):
            result = compare_all(matrix, method=method)
            (pair,) = result.pairs()
            assert pair.p == pair.p_adjusted == alone.p
            assert pair.different == (alone.verdict != "cannot tell")
            assert result.permutations == alone.permutations


@pytest.mark.parametrize("method", ["randomised-tukey", "holm", "bh"])
def test_complete_permutations_are_noted(method: Method) -> None:
    few, many = (compare_all(some_runs(9, runs=2, units=units), method=method) for units in (6, 30))
    assert (few.exact, many.exact) == (True, False)
    assert ", all 64 permutations." in few.table().notes[0]
    assert ", 20,000 permutations." in many.table().notes[0]
    assert not compare_all(some_runs(9, runs=3, units=6), method="randomised-tukey").exact


def test_flip_p_values_of_all_pairs_are_those_of_single_pairs() -> None:
    for matrix in (
        some_runs(10, units=10),
        matrix_of(np.random.default_rng(1).integers(0, 2, (6, 10)) * 1.0, denominator=1),
    ):
        p, flips, exact = flip_p_values(blocks(matrix), flips=5000, seed=0)
        assert (flips, exact) == (1024, True)
        for i, j in itertools.combinations(range(6), 2):
            alone = flip_test(blocks(matrix.select([matrix.runs[i], matrix.runs[j]])), alpha=0.05)
            assert p[i, j] == pytest.approx(alone.p)
    # Random flips: the same ones for the same seed, so the same p-values.
    matrix = some_runs(10, units=50)
    p, _, exact = flip_p_values(blocks(matrix), flips=3000, seed=5)
    assert not exact
    assert p[1, 4] == pytest.approx(compare(matrix, "B", "E", permutations=3000, seed=5).p, abs=0.03)


def test_t_p_values_of_all_pairs() -> None:
    matrix = some_runs(11)
    p = t_p_values(blocks(matrix))
    for i, j in itertools.combinations(range(6), 2):
        assert p[i, j] == pytest.approx(stats.ttest_rel(matrix.values[i], matrix.values[j]).pvalue)
    same = matrix_of(np.vstack([matrix.values[0], matrix.values[0] + 0.5]))
    assert np.isnan(t_p_values(blocks(same))[0, 1])


def assert_consistent(result: AllPairs) -> None:
    """p, adjusted p, interval, difference, groups and letters say the same of every pair."""
    together = {frozenset(pair) for group in result.groups for pair in itertools.combinations(group, 2)}
    pairs = list(result.pairs())
    assert len(pairs) == len(result.runs) * (len(result.runs) - 1) // 2
    for pair in pairs:
        assert pair.different == (pair.p_adjusted is not None and pair.p_adjusted <= result.alpha)
        if result.method == "max-t" and len(result.runs) > 2:
            assert pair.p is None, "the p-value of a single pair comes from comparing the two alone"
        else:
            assert pair.p is not None
            assert pair.p_adjusted is not None
            assert pair.p <= pair.p_adjusted + 1e-12
        assert pair.different == (frozenset((pair.a, pair.b)) not in together)
        assert pair.difference >= -1e-9
        if pair.interval is not None:
            assert pair.different == (pair.interval[0] > 0)
    for place, row in enumerate(result.ranking):
        others = [pair for pair in pairs if pair.different and row.run in (pair.a, pair.b)]
        better = sum(pair.b == row.run for pair in others)
        assert row.rank_range == (1 + better, len(result.runs) - len(others) + better)
        assert row.rank_range[0] <= place + 1 <= row.rank_range[1]
    assert result.different == sum(pair.different for pair in pairs)
    document = json.loads(json.dumps(result.as_json(), allow_nan=False))
    assert document["different"] == result.different
    assert [p["different"] for p in document["pairs"]] == [p.different for p in pairs]


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=15)
@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(2, 6), st.integers(2, 25)),
        elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    ),
    st.booleans(),
)
def test_all_figures_follow_one_decision(method: Method, values: Floats, exact: bool) -> None:
    matrix = matrix_of(values, denominator=4 if exact else None)
    assert_consistent(compare_all(matrix, method=method, permutations=300))


@pytest.mark.parametrize("method", METHODS)
def test_different_pairs_are_found(method: Method) -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(5, 200)) * 0.1 + np.array([0, 0, 0.2, 0.2, 0.4])[:, None]
    result = compare_all(matrix_of(values), method=method)
    assert [set(group) for group in result.groups] == [{"E"}, {"C", "D"}, {"A", "B"}]
    assert result.different == 8
    assert_consistent(result)
    assert [row[3] for row in result.table().rows] == ["a", "b", "b", "c", "c"]


@pytest.mark.parametrize("method", METHODS)
def test_degenerate_matrices(method: Method) -> None:
    identical = compare_all(matrix_of(np.tile(np.linspace(0, 1, 20), (4, 1))), method=method)
    assert identical.different == 0
    assert identical.groups == (("A", "B", "C", "D"),)
    one_unit = compare_all(matrix_of(np.array([[0.1], [0.9], [0.5]])), method=method)
    assert one_unit.different == 0
    json.dumps(one_unit.as_json(), allow_nan=False)
    alone = compare_all(matrix_of(np.array([[0.1, 0.2]])), method=method)
    assert alone.groups == (("A",),)
    assert alone.as_json()["pairs"] == []
    assert any("One run alone" in note for note in alone.notes)
    assert len(alone.tables()) == 1


@pytest.mark.parametrize(("runs", "units", "found"), [(3, 2, False), (3, 8, True)])
def test_no_line_is_drawn_that_nothing_can_pass(runs: int, units: int, found: bool) -> None:
    values = np.arange(runs)[:, None] + np.linspace(0, 0.3, units)
    result = compare_all(matrix_of(values), method="randomised-tukey")
    assert (result.margin is not None) == (result.different > 0) == found
    assert any("no pair can be called different" in note for note in result.notes) != found
    assert ("are significant" in str(result.table())) == found


def test_equal_runs_are_noted() -> None:
    for method in METHODS[:2]:
        result = compare_all(matrix_of(np.full((3, 20), 0.5)), method=method)
        assert "All systems have the same scores." in result.notes
        assert "are significant" not in str(result.table())
        assert [row.rank_range for row in result.ranking] == [(1, 3)] * 3


def test_few_questions_say_why_nothing_differs() -> None:
    """Five questions show nothing; where one series is most of the score, no difference is ruled out."""
    few = compare_all(matrix_of(np.arange(3)[:, None] + np.linspace(0, 0.3, 5)))
    assert "On 5 questions no pair can be called different at 0.05: it takes 6 or more." in few.notes
    assert (few.different, few.margins, few.permutations) == (0, None, None)
    assert [pair.interval for pair in few.pairs()] == [None] * 3
    names = ("one",) * 800 + tuple(map(str, range(199)))
    values = np.random.default_rng(0).random((3, 999)) + np.array([0, 0, 0.9])[:, None]
    values[:, :800] = 0.5
    one_series = compare_all(matrix_of(values, clusters=names))
    assert (one_series.different, one_series.margins) == (0, None)
    assert any("On 200 series chance alone often reaches the largest" in note for note in one_series.notes)
    assert [pair.interval for pair in one_series.pairs()] == [None] * 3


def test_the_sentence_about_margins_says_how_far_they_differ() -> None:
    """One number where all intervals are as wide, a range where the answers of systems vary differently."""
    varied = compare_all(some_runs(1, units=300, spread=0.5)).significant_from()
    assert varied is not None
    assert "by how much two systems' answers vary" in varied
    rng = np.random.default_rng(0)
    even = compare_all(matrix_of(rng.choice([0.0, 0.1], (4, 2000)), denominator=10)).significant_from()
    assert even is not None
    assert re.fullmatch(r"Differences are significant from about 0\.\d{3}\.", even)


def test_pairs_near_the_line_are_noted() -> None:
    noted = [compare_all(some_runs(seed, units=40, spread=0.2), permutations=300) for seed in range(40)]
    assert any(result.near_line for result in noted)
    for result in noted:
        lie = "pair lies" if result.near_line == 1 else "pairs lie"
        note = f"{result.near_line} {lie} so near the line that other random flips could decide otherwise"
        assert (f"{note} (--permutations 3000)." in result.notes) == (result.near_line > 0)


def test_constant_differences_do_not_show_how_far_chance_reaches() -> None:
    """The paired Tukey test called them certain (p = 0), on two units too, where the other tests see too few."""
    for units in (2, 20):
        base = np.linspace(0, 1, units)
        result = compare_all(matrix_of(np.stack([base, base + 0.1, base + 0.1])), method="tukey")
        assert (result.different, result.margin) == (0, None)
        assert any("does not show this test how far chance reaches" in note for note in result.notes)
    assert compare_all(matrix_of(np.stack([base, base + 0.1, base + 0.1])), method="holm").different == 2
    assert compare_all(matrix_of(np.stack([base, base])), method="tukey").p_adjusted[0, 1] == 1.0


def test_few_permutations_cannot_reach_the_level() -> None:
    matrix = some_runs(12, spread=1.0)
    result = compare_all(matrix, method="holm", permutations=100)
    assert any("100 permutations give no p below" in note for note in result.notes)
    few = compare_all(some_runs(12, units=6, spread=1.0), method="holm")
    assert few.permutations == 64
    assert any("6 questions give no p below" in note for note in few.notes)
    assert any("cannot reach 0.05" in note for note in compare_all(matrix, permutations=10).notes)


def test_holm_draws_the_permutations_it_needs() -> None:
    matrix = some_runs(13, runs=120, units=40)
    result = compare_all(matrix, method="holm")
    # 7,140 pairs at 0.05: the smallest p-value has to reach 0.05 / 7140. (METHOD 6: 9,591 need about 192,000.)
    assert result.permutations == 7140 / 0.05
    assert not any("no p below" in note for note in result.notes)


def test_series_are_exchanged_as_wholes() -> None:
    rng = np.random.default_rng(14)
    values = np.repeat(rng.random((4, 15)), 6, axis=1)
    series = compare_all(matrix_of(values, clusters=tuple(str(i // 6) for i in range(90))), method="tukey")
    means = compare_all(matrix_of(values[:, ::6]), method="tukey")
    assert series.margin == pytest.approx(means.margin)
    assert any("15 of them contain 90 questions" in note for note in series.notes)


def test_same_seed_same_result() -> None:
    matrix = some_runs(15)
    first, second = (compare_all(matrix, permutations=500, seed=3).as_json() for _ in range(2))
    assert first == second
    assert first != compare_all(matrix, permutations=500, seed=4).as_json()


# --- real runs ----------------------------------------------------------------------------------------------------


def test_twelve_systems_on_301_questions(data: Callable[[str], Path]) -> None:
    matrix = read_matrix(data("nq301/matrix.csv"))
    result = compare_all(matrix)
    assert result.different == 11
    assert result.significant_from() == (
        "Differences are significant from about 0.087 (0.066 to 0.103, by how much two systems' answers vary)."
    )
    # PEERS: "the paired one finds 9" of 66, which is the randomised test; Holm finds 8 of mid-p.
    assert compare_all(matrix, method="randomised-tukey").different == 9
    assert compare_all(matrix, method="holm").different == 8
    # The studentized range puts its line at 0.0883, the randomised one at 27/301 = 0.0897: one pair lies between.
    assert compare_all(matrix, method="tukey").different == 10
    for method in METHODS:
        assert_consistent(compare_all(matrix, method=method))


def test_forty_best_runs_of_adhoc8(data: Callable[[str], Path]) -> None:
    # METHOD 6: scipy's unpaired test separates 7 of 780 pairs, the paired one 110.
    matrix = read_matrix(data("score_matrices/adhoc8_ap.csv"))
    best = [matrix.runs[i] for i in np.argsort(-matrix.scores())[:40]]
    assert compare_all(matrix.select(best), method="tukey").different == 110


@pytest.mark.slow
def test_139_runs_with_every_method(data: Callable[[str], Path]) -> None:
    matrix = read_matrix(data("score_matrices/trec2006_factoid_rr_strict.csv"), missing="zero")
    for method in METHODS:
        result = compare_all(matrix, method=method)
        assert_consistent(result)
        assert result.different > 4000


def test_a_difference_that_is_the_same_on_every_question_is_clear_whatever_their_types_weigh() -> None:
    base = np.random.default_rng(0).integers(0, 8, 30) / 10
    types = ("factoid",) * 20 + ("list",) * 6 + ("definition",) * 4
    summary = TypeWeighted(types, {"factoid": 0.5, "list": 0.25, "definition": 0.25})
    units = tuple(map(str, range(30)))
    matrix = ScoreMatrix(("a", "b"), units, np.stack([base + 0.1, base]), summary=summary)
    comparison = compare(matrix, "a", "b")
    unweighted = compare(replace(matrix, summary=Mean()), "a", "b")
    assert comparison.verdict == unweighted.verdict == "better"
    assert comparison.interval is not None
    assert 0.0 < comparison.interval[0] < 0.1 < comparison.interval[1] < 0.2
    assert comparison.p_t is None


def test_manual_runs_have_a_star_in_both_tables() -> None:
    matrix = some_runs(3)
    starred = compare_all(replace(matrix, manual=frozenset({matrix.runs[1], "elsewhere"})))
    plain = compare_all(matrix)
    for with_star, without in ((starred.table(), plain.table()), (starred.pair_table(), plain.pair_table())):
        assert f"{matrix.runs[1]}*" in str(with_star)
        assert "* manual run" in str(with_star)
        assert "*" not in str(without)
        assert "elsewhere" not in str(with_star)
    assert starred.as_json() == plain.as_json()


def test_runs_with_the_same_score_share_first_place() -> None:
    equal = ScoreMatrix(("A", "B", "C"), tuple("abcdef"), np.array([[1.0] * 6, [1.0] * 6, [0.0] * 6]))
    assert compare_all(equal).sentence().startswith("A and B share first place with 1.000; ")
    apart = ScoreMatrix(("A", "B"), tuple("abcdef"), np.array([[1.0] * 6, [0.9] * 6]))
    assert compare_all(apart).sentence().startswith("A leads with 1.000, ")
