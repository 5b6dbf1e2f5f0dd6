"""Rankings, tau and tau_AP against the papers, scipy, and the definitions spelled out."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from qassay.errors import UsageError
from qassay.meta.ranking import (
    ALL_TIED,
    TOO_FEW_RUNS,
    compare_rankings,
    levels,
    mean_ranks,
    mean_unit_tau,
    places,
    rank_runs,
    swapped_pairs,
)

# Small whole numbers, so that ties are frequent.
TIED_SCORES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=8)


def scores_of(order: str, runs: str) -> list[float]:
    """Scores that put the runs in this order."""
    return [-float(order.index(run)) for run in runs]


def plain_tau_ap(truth: Sequence[float], order: Sequence[int]) -> float:
    """tau_AP by its definition, for an estimate given as an order of indices without ties."""
    n = len(order)
    total = 0.0
    for i in range(1, n):
        above = [j for j in order[:i] if truth[j] > truth[order[i]]]
        total += len(above) / i
    return 2 * total / (n - 1) - 1


def test_levels_join_scores_closer_than_the_tie() -> None:
    assert levels([0.3, 0.3 + 5e-10, 0.1 + 0.2, 0.5]).tolist() == [1, 1, 1, 0]
    assert levels([0.3, 0.3 + 2e-9]).tolist() == [1, 0]


def test_ties_share_the_mean_rank_and_stand_by_tag() -> None:
    ranking = rank_runs(["c", "b", "a", "d"], [0.5, 0.7, 0.5, 0.1])
    assert ranking.runs == ("b", "a", "c", "d")
    assert [row.rank for row in ranking.rows] == [1, 2.5, 2.5, 4]
    assert places(row.rank for row in ranking.rows) == [1, "2=", "2=", 4]


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12))
def test_mean_ranks_are_scipys(scores: list[int]) -> None:
    assert mean_ranks(scores).tolist() == stats.rankdata([-s for s in scores]).tolist()


def test_113_swaps_of_1485_pairs_are_0848(golden: dict[str, Any]) -> None:
    # [QA03] 4.2, second assessor: the ranking itself is not printed, so 113 exchanges of neighbours stand for it.
    printed = golden["QA03"]["second_assessor"]
    truth = list(range(printed["runs"], 0, -1))
    order, left = list(range(printed["runs"])), printed["swaps"]
    for end in range(len(order) - 1, 0, -1):
        for i in range(end):
            if left:
                order[i], order[i + 1] = order[i + 1], order[i]
                left -= 1
    estimate = [-order.index(run) for run in range(printed["runs"])]
    comparison = compare_rankings(truth, estimate)
    assert (comparison.pairs, comparison.swaps) == (printed["pairs"], printed["swaps"])
    assert comparison.tau == pytest.approx(1 - 2 * 113 / 1485, abs=1e-12)
    assert comparison.tau == pytest.approx(printed["tau"], abs=5e-4)


@pytest.mark.parametrize("judge", ["judge1", "judge2", "disagreement_unknown"])
def test_entailment_rankings(golden: dict[str, Any], judge: str) -> None:
    # [RTE08] section 2: rankings under other keys; tau and tau_AP recomputed with the official one as the truth.
    paper = golden["RTE08"]
    official = paper["rankings"]["official"]
    comparison = compare_rankings(scores_of(official, official), scores_of(paper["rankings"][judge], official))
    tau, swaps = paper["tau_recomputed"][judge]
    assert comparison.swaps == swaps
    assert comparison.tau == pytest.approx(tau, abs=1e-6)
    assert comparison.tau_ap == pytest.approx(paper["tau_ap_recomputed"][judge], abs=5e-5)


def test_pilot_rankings(golden: dict[str, Any]) -> None:
    # [DEF03]: holistic against nugget F, author against other assessor.
    rankings = golden["DEF03"]["rankings"]
    for pair, tau in golden["DEF03"]["tau_recomputed"].items():
        first, second = pair.split("/")
        comparison = compare_rankings(scores_of(rankings[first], "ABCDEFGH"), scores_of(rankings[second], "ABCDEFGH"))
        assert comparison.tau == pytest.approx(tau, abs=1e-6)


def test_tau_ap_anchors(golden: dict[str, Any]) -> None:
    # README of the R package ircor.
    anchor = golden["rank_correlation"]
    plain = compare_rankings(anchor["x"], anchor["y"])
    one_tied = compare_rankings(anchor["x"], anchor["y_rounded"])
    both_tied = compare_rankings(anchor["x_rounded"], anchor["y_rounded"])
    assert plain.tau_ap == pytest.approx(anchor["tau_ap"], abs=1e-7)
    assert one_tied.tau_ap_a == pytest.approx(anchor["tau_ap_a_y_rounded_1"], abs=1e-5)
    assert one_tied.tau_ap_b == pytest.approx(anchor["tau_ap_b_y_rounded_1"], abs=1e-7)
    assert both_tied.tau_ap_b == pytest.approx(anchor["tau_ap_b_both_rounded_1"], abs=1e-6)
    assert both_tied.tau_ap == both_tied.tau_ap_b


@given(TIED_SCORES)
def test_counts_and_tau_b_are_those_of_the_definition_and_of_scipy(pairs: list[tuple[int, int]]) -> None:
    truth, estimate = [a for a, _ in pairs], [b for _, b in pairs]
    signs = [
        1 if (a > c) == (b > d) else -1 for (a, b), (c, d) in itertools.combinations(pairs, 2) if a != c and b != d
    ]
    comparison = compare_rankings(truth, estimate)
    assert comparison.concordant == signs.count(1)
    assert comparison.swaps == signs.count(-1)
    assert comparison.concordant + comparison.swaps + comparison.tied == comparison.pairs
    if len(set(truth)) == 1 or len(set(estimate)) == 1:
        assert comparison.tau is comparison.tau_ap is comparison.tau_ap_a is comparison.tau_ap_b is None
        assert comparison.notes == (ALL_TIED,)
    else:
        assert comparison.tau == pytest.approx(float(stats.kendalltau(truth, estimate).statistic), abs=1e-12)


@given(TIED_SCORES.filter(lambda pairs: len(pairs) <= 6))
def test_form_a_is_the_mean_over_all_orders_of_the_tied(pairs: list[tuple[int, int]]) -> None:
    truth, estimate = [a for a, _ in pairs], [b for _, b in pairs]
    comparison = compare_rankings(truth, estimate)
    if comparison.tau_ap_a is None:
        return
    orders = [
        order
        for order in itertools.permutations(range(len(pairs)))
        if all(estimate[a] >= estimate[b] for a, b in itertools.pairwise(order))
    ]
    expected = sum(plain_tau_ap(truth, order) for order in orders) / len(orders)
    assert comparison.tau_ap_a == pytest.approx(expected, abs=1e-12)


@given(TIED_SCORES)
def test_form_b_is_symmetric_one_for_itself_and_spelled_out(pairs: list[tuple[int, int]]) -> None:
    truth, estimate = [a for a, _ in pairs], [b for _, b in pairs]
    comparison = compare_rankings(truth, estimate)
    if comparison.tau_ap_b is None:
        return

    def direction(x: list[int], y: list[int]) -> float:
        rest = [i for i in range(len(y)) if y[i] < max(y)]
        terms = []
        for i in rest:
            above = [j for j in range(len(y)) if y[j] > y[i]]
            terms.append(sum(x[j] > x[i] for j in above) / len(above))
        return 2 / len(rest) * sum(terms) - 1

    expected = (direction(truth, estimate) + direction(estimate, truth)) / 2
    assert comparison.tau_ap_b == pytest.approx(expected, abs=1e-12)
    assert compare_rankings(estimate, truth).tau_ap_b == pytest.approx(comparison.tau_ap_b, abs=1e-12)
    assert compare_rankings(truth, truth).tau_ap == pytest.approx(1.0, abs=1e-12)


@given(st.permutations(range(7)))
def test_without_ties_tau_ap_follows_its_definition(order: list[int]) -> None:
    truth = [float(-i) for i in range(7)]
    estimate = [float(-order.index(i)) for i in range(7)]
    comparison = compare_rankings(truth, estimate)
    assert comparison.tau_ap == pytest.approx(plain_tau_ap(truth, order), abs=1e-12)
    assert comparison.tau == pytest.approx(1 - 2 * comparison.swaps / 21, abs=1e-12)


@pytest.mark.parametrize("runs", [0, 1, 2])
def test_fewer_than_three_runs_have_no_correlation(runs: int) -> None:
    comparison = compare_rankings(list(range(runs)), list(range(runs)))
    assert comparison.tau is None
    assert comparison.notes == (TOO_FEW_RUNS,)
    assert "–" in str(comparison.table())


def test_swaps_come_with_their_difference_under_the_reference() -> None:
    # c and d are tied under the reference: no swap whatever the other says.
    swaps = swapped_pairs(["a", "b", "c", "d"], [0.9, 0.6, 0.5, 0.5], [0.55, 0.6, 0.5, 0.7])
    assert [(s.better, s.worse) for s in swaps] == [("a", "d"), ("a", "b"), ("b", "d")]
    assert [s.difference for s in swaps] == pytest.approx([0.4, 0.3, 0.1])
    assert [s.other_difference for s in swaps] == pytest.approx([-0.15, -0.05, -0.1])


@given(TIED_SCORES)
def test_as_many_swaps_as_discordant_pairs(pairs: list[tuple[int, int]]) -> None:
    truth, estimate = [a for a, _ in pairs], [b for _, b in pairs]
    swaps = swapped_pairs([str(i) for i in range(len(pairs))], truth, estimate)
    assert len(swaps) == compare_rankings(truth, estimate).swaps
    assert all(swap.difference > 0 > swap.other_difference for swap in swaps)


def test_mean_unit_tau_is_the_mean_of_scipys_over_the_units_that_have_one() -> None:
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 3, (6, 40)).astype(float)
    estimate = rng.integers(0, 2, (6, 40)).astype(float)
    estimate[:, :5] = 1.0
    taus = [
        stats.kendalltau(truth[:, u], estimate[:, u]).statistic
        for u in range(40)
        if np.ptp(truth[:, u]) and np.ptp(estimate[:, u])
    ]
    mean, units = mean_unit_tau(truth, estimate)
    assert mean == pytest.approx(float(np.mean(taus)), abs=1e-12)
    assert units == len(taus) < 40
    assert mean_unit_tau(truth[:2], estimate[:2]) == (None, 0)


def test_unusable_scores_are_an_error() -> None:
    with pytest.raises(UsageError, match="finite"):
        compare_rankings([1.0, float("nan"), 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(UsageError, match="3 and of 2 runs"):
        compare_rankings([1.0, 2.0, 3.0], [1.0, 2.0])
    with pytest.raises(UsageError, match="do not fit"):
        rank_runs(["a"], [1.0, 2.0])
