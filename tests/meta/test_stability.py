"""Rankings under several judgment sets."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from qassay.errors import InputError, UsageError
from qassay.matrix import ScoreMatrix
from qassay.meta.stability import Stability, stability
from qassay.results import document as document_of_record
from qassay.summaries import ConfidenceWeighted


def matrix(values: Sequence[Sequence[float]], runs: Sequence[str] = "", units: Sequence[str] = ()) -> ScoreMatrix:
    array = np.array(values, dtype=float)
    tags = tuple(runs) or tuple(f"r{i}" for i in range(len(array)))
    return ScoreMatrix(tags, tuple(units) or tuple(str(u) for u in range(array.shape[1])), array)


def ranked(orders: Mapping[str, str], runs: str) -> dict[str, ScoreMatrix]:
    """One unit a matrix, scores falling by 0.01 a place."""
    return {
        name: matrix([[1 - order.index(run) / 100] for run in runs], runs=runs, units=["all"])
        for name, order in orders.items()
    }


@pytest.fixture(scope="module")
def entailment(golden: dict[str, Any]) -> Stability:
    rankings = golden["RTE08"]["rankings"]
    return stability({"entailment_accuracy": ranked(rankings, rankings["official"])}, reference="official")


def test_entailment_rankings_under_four_keys(entailment: Stability, golden: dict[str, Any]) -> None:
    # [RTE08]: tau and number of swaps against the official ranking.
    paper = golden["RTE08"]
    document = entailment.as_json()
    measured: dict[str, Any] = document["measures"]["entailment_accuracy"]  # type: ignore[index]
    assert document["sets"] == ["official", "judge1", "judge2", "disagreement_unknown"]
    for column, name in enumerate(document["sets"][1:], 1):  # type: ignore[index, arg-type]
        tau, swaps = paper["tau_recomputed"][name]
        assert measured["tau"][0][column] == measured["tau"][column][0] == pytest.approx(tau, abs=1e-6)
        assert measured["swaps"][0][column] == swaps
        assert measured["tau_ap"][0][column] == pytest.approx(paper["tau_ap_recomputed"][name], abs=5e-5)
        assert measured["tau_ap"][0][column] != pytest.approx(measured["tau_ap"][column][0], abs=1e-3)
    assert measured["mean_tau_with_reference"] == pytest.approx((2 * 0.757576 + 0.939394) / 3, abs=1e-6)
    assert measured["swaps_with_reference"] == 18
    assert [measured["tau"][i][i] for i in range(4)] == [1.0] * 4


def test_the_pilots_assessors(golden: dict[str, Any]) -> None:
    # [DEF03] table 1: mean F(5) by author and by other assessor; D and G change places.
    scores = golden["DEF03"]["table1"]
    matrices = {
        name: matrix([[score_of[run]] for run in "ABCDEFGH"], runs="ABCDEFGH") for name, score_of in scores.items()
    }
    measured = stability({"nugget_f(beta=5)": matrices}, reference="author").measures["nugget_f(beta=5)"]
    assert measured.mean_tau == pytest.approx(golden["DEF03"]["tau_recomputed"]["F5_author/F5_other"], abs=1e-6)
    assert [(s.better, s.worse) for s in measured.swapped] == [("D", "G")]
    assert measured.largest_swapped_difference == pytest.approx(0.568 - 0.562)
    assert measured.swaps_at_least == {f"{t / 100:.2f}": int(t == 0) for t in range(21)}
    change = measured.largest_change
    assert change is not None
    assert (change.run, change.set) == ("G", "other")
    assert change.change == pytest.approx(0.671 - 0.562)


def test_swaps_are_counted_from_the_difference_on() -> None:
    # 0.3 - 0.1 is a little less than 0.2 in floating point, and still at least 0.20.
    pair = {"a": matrix([[0.3], [0.1], [0.0]]), "b": matrix([[0.1], [0.3], [0.0]])}
    measured = stability({"m": pair}, reference="a").measures["m"]
    assert measured.swaps_at_least["0.20"] == 1
    assert measured.swaps_at_least["0.21"] == 0
    wide = {"a": matrix([[30.0], [10.0]]), "b": matrix([[10.0], [30.0]])}
    assert list(stability({"m": wide}, reference="a").measures["m"].swaps_at_least)[-1] == "1.00"


@given(st.lists(st.lists(st.integers(0, 3), min_size=12, max_size=12), min_size=3, max_size=3))
@settings(max_examples=40)
def test_tables_are_those_of_all_pairs(sets: list[list[int]]) -> None:
    names = ["x", "y", "z"]
    matrices = {
        name: matrix(np.array(values, dtype=float).reshape(4, 3)) for name, values in zip(names, sets, strict=True)
    }
    measured = stability({"m": matrices}, reference="y").measures["m"]
    means = {name: np.array(values).reshape(4, 3).sum(axis=1) for name, values in zip(names, sets, strict=True)}
    taus = []
    for i, j in itertools.product(range(3), repeat=2):
        a, b = means[names[i]], means[names[j]]
        swaps = sum((a[p] - a[q]) * (b[p] - b[q]) < 0 for p, q in itertools.combinations(range(4), 2))
        tied = sum((a[p] - a[q]) * (b[p] - b[q]) == 0 for p, q in itertools.combinations(range(4), 2))
        comparison = measured.comparisons[i][j]
        assert (comparison.swaps, comparison.tied) == (swaps, tied)
        if np.ptp(a) and np.ptp(b):
            assert comparison.tau == pytest.approx(float(stats.kendalltau(a, b).statistic), abs=1e-9)
        else:
            assert comparison.tau is None
        if i < j and comparison.tau is not None:
            taus.append(comparison.tau)
    assert measured.mean_tau == (pytest.approx(sum(taus) / len(taus)) if taus else None)
    assert measured.swaps_with_reference == measured.comparisons[1][0].swaps + measured.comparisons[1][2].swaps


def test_run_level_and_unit_level_tau_stand_together() -> None:
    # The means rank the runs alike while no unit does.
    human = matrix([[3, 3, 0], [2, 2, 0], [1, 1, 0]])
    model = matrix([[1, 2, 9], [2, 0, 5], [3, 1, 0]])
    measured = stability({"m": {"human": human, "model": model}}, reference="human").measures["m"]
    assert measured.comparisons[0][1].tau == 1.0
    # Units: -1 and 1/3; the third does not rank the runs under the human.
    assert measured.unit_tau[0][1] == measured.unit_tau[1][0] == pytest.approx((-1 + 1 / 3) / 2)
    assert measured.unit_tau_units[0][1] == 2
    assert measured.unit_tau[0][0] == 1.0
    assert measured.table().rows == (("human", "model", 1.0, 1.0, 3, 0, 0, pytest.approx(-1 / 3), 2),)


def test_json_holds_what_the_tables_show() -> None:
    human, model = matrix([[3, 3], [2, 2], [1, 1]]), matrix([[1, 1], [2, 2], [2, 2]])
    measured = stability({"m": {"human": human, "model": model}}, reference="human").measures["m"]
    document = document_of_record(measured)
    top, middle, last = measured.runs
    assert document["scores"]["model"] == {top: 1.0, middle: 2.0, last: 2.0}
    assert document["ranks"] == {
        "human": {top: 1.0, middle: 2.0, last: 3.0},
        "model": {top: 3.0, middle: 1.5, last: 1.5},
    }
    counts = [document[name][0][1] for name in ("concordant", "swaps", "tied")]
    assert counts == [0, 2, 1]
    assert sum(counts) == document["pairs"]
    assert {(swap["difference"], swap["other_difference"]) for swap in document["swapped"]} == {
        (1.0, -1.0),
        (2.0, -1.0),
    }


def test_matrices_of_other_runs_and_units_are_compared_on_what_they_share() -> None:
    first = matrix([[1, 0], [2, 0], [3, 0], [9, 9]], runs="abcd", units=["u", "v"])
    two = matrix([[7, 3], [7, 2], [7, 1], [0, 0]], runs=["c", "b", "a", "e"], units=["w", "u"])
    measured = stability({"m": {"one": first, "two": two}}, reference="one").measures["m"]
    assert measured.runs == ("a", "b", "c")
    assert measured.unit_tau[0][1] == 1.0
    assert "2 runs that are not in every set (d, e)" in measured.notes[0]
    assert "they share 1" in measured.notes[1]
    apart = matrix([[1], [2], [3]], runs="abc", units=["elsewhere"])
    assert stability({"m": {"one": first, "apart": apart}}, reference="one").measures["m"].unit_tau[0][1] is None


def test_the_summary_of_the_measure_ranks_the_runs() -> None:
    # Three runs right on two of three questions: by confidence-weighted score they differ, by accuracy they tie.
    values = np.array([[1.0, 1, 0], [1, 0, 1], [0, 1, 1]])
    order = np.tile(np.arange(3), (3, 1))
    cws = ScoreMatrix(("a", "b", "c"), ("1", "2", "3"), values, summary=ConfidenceWeighted(order))
    back = ScoreMatrix(("a", "b", "c"), ("1", "2", "3"), values, summary=ConfidenceWeighted(order[:, ::-1]))
    plain = matrix(values.tolist(), runs="abc")
    result = stability({"cws": {"x": cws, "y": back}, "accuracy": {"x": plain, "y": plain}}, reference="x")
    assert result.measures["cws"].comparisons[0][1].tau == -1.0
    assert result.measures["accuracy"].mean_tau is None
    assert "tied" in result.measures["accuracy"].notes[0]


def test_bound_is_for_shares_of_right_decisions(golden: dict[str, Any]) -> None:
    # [RTE08]: 136 disagreements on 800 pairs bound every change by 0.17.
    paper = golden["RTE08"]
    rng = np.random.default_rng(0)
    right = matrix(rng.integers(0, 2, (4, 800)).tolist())
    graded = matrix(rng.random((4, 800)).tolist())
    result = stability(
        {"accuracy": {"a": right, "b": right}, "f": {"a": graded, "b": graded}},
        reference="a",
        disagreements=paper["disagreements"],
    )
    assert result.measures["accuracy"].bound == pytest.approx(paper["bound"])
    assert result.measures["f"].bound is None
    assert "Bound" in str(result.table())


def test_fewer_than_three_runs_have_no_tau_but_swaps() -> None:
    result = stability({"m": {"a": matrix([[1], [2]]), "b": matrix([[2], [1]])}}, reference="a")
    measure = result.measures["m"]
    assert measure.mean_tau is measure.mean_tau_with_reference is None
    assert measure.swaps_with_reference == 1
    assert "three runs" in measure.notes[0]
    assert "three runs" in "\n".join(map(str, result.tables()))


def test_no_run_in_common_is_noted() -> None:
    with pytest.raises(InputError, match=r"no run in common \(a has x; b has y\)"):
        stability({"m": {"a": matrix([[1]], runs="x"), "b": matrix([[1]], runs="y")}}, reference="a")


def test_tables_of_many_runs_are_cut_and_say_so() -> None:
    rng = np.random.default_rng(3)
    pair = {name: matrix(rng.random((60, 5)).tolist()) for name in ("a", "b")}
    measured = stability({"m": pair}, reference="a").measures["m"]
    assert len(measured.rankings().rows) == 40
    assert measured.rankings().notes == ("The first 40 of 60 runs.",)
    assert len(measured.largest_swaps().rows) == 10
    assert measured.swaps_with_reference > 10


def test_progress_counts_the_comparisons() -> None:
    calls: list[tuple[int, int]] = []
    three = {name: matrix([[1], [2], [3]]) for name in "abc"}
    stability({"m": three, "n": three}, reference="a", progress=lambda done, total: calls.append((done, total)))
    assert calls == [(i, 6) for i in range(1, 7)]


@pytest.mark.parametrize(
    ("matrices", "message"),
    [
        ({}, "at least one measure"),
        ({"m": {}}, "at least one measure"),
        ({"m": {"x": matrix([[1]]), "b": matrix([[1]])}}, "unknown reference 'a'"),
        ({"m": {"a": matrix([[1]]), "b": matrix([[1]])}, "n": {"a": matrix([[1]])}}, "same judgment sets"),
    ],
)
def test_wrong_calls_say_what_is_wrong(matrices: dict[str, dict[str, ScoreMatrix]], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        stability(matrices, reference="a")


def test_manual_runs_carry_a_star_and_matrices_their_notes() -> None:
    first = replace(matrix([[3], [2], [1]]), manual=frozenset({"r1"}), notes=("12 cells counted as 0.", "Read as is."))
    two = replace(matrix([[1], [2], [3]]), notes=("Read as is.",))
    measured = stability({"m": {"one": first, "two": two}}, reference="one").measures["m"]
    assert [row[0] for row in measured.rankings().rows] == ["r0", "r1*", "r2"]
    assert measured.rankings().notes == ("* manual run",)
    assert ("two", "r0", "r1*", 1.0, -1.0) in measured.largest_swaps().rows
    assert measured.notes == ("one: 12 cells counted as 0.", "Read as is.")


def test_a_single_set_is_ranked_with_a_note() -> None:
    result = stability({"m": {"only": matrix([[1], [2], [3]])}}, reference="only")
    assert result.as_json()["measures"]["m"]["tau"] == [[1.0]]  # type: ignore[index]
    assert result.measures["m"].mean_tau is None
    assert "nothing to compare it with" in str(result.tables()[0])
