"""Justification ratings and holistic scores."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from qassay.errors import InputError, UsageError
from qassay.meta.ratings import rate


@pytest.fixture(scope="module")
def pair75(golden: dict[str, Any]) -> pl.DataFrame:
    """[RTE08] figure 2: six judges' ratings of six justifications of pair 75."""
    rows = [
        {"set": f"judge{j}", "assessor": None, "question": "75", "run": run, "understandability": u, "correctness": c}
        for run, ratings in golden["RTE08"]["pair75"].items()
        for j, (u, c) in enumerate(ratings, 1)
    ]
    return pl.DataFrame(rows)


def holistic(rows: list[tuple[str, str, str, int, int]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["set", "question", "run", "content", "organization"], orient="row")


@pytest.mark.parametrize("scale", ["understandability", "correctness"])
def test_means_and_mean_ranks_of_pair_75(pair75: pl.DataFrame, golden: dict[str, Any], scale: str) -> None:
    rated = rate(pair75)[scale]
    expected = golden["RTE08"]["pair75_recomputed"]
    assert dict(rated.mean) == pytest.approx(expected[f"mean_{scale}"], abs=1e-6)
    assert dict(rated.mean_rank) == pytest.approx(expected[f"mean_rank_{scale}"], abs=1e-6)


def test_histograms_count_unassigned_as_zero(pair75: pl.DataFrame) -> None:
    # Read off figure 2: C was not understood by judges 4, 5 and 6.
    ratings = rate(pair75)
    assert ratings["correctness"].histogram["C"] == {0: 3, 1: 0, 2: 0, 3: 1, 4: 2, 5: 0}
    assert ratings["understandability"].histogram["C"] == {1: 1, 2: 2, 3: 1, 4: 2, 5: 0}


def test_ranks_of_a_judge_share_the_mean(pair75: pl.DataFrame) -> None:
    # Judge 4 gives correctness 1 to A, B, D, F and H and none to C: five runs share ranks 1 to 5.
    ranks = rate(pair75)["correctness"].judge_ranks["judge4"]
    assert ranks == {"A": 3, "B": 3, "D": 3, "F": 3, "H": 3, "C": 6}


def test_tables_show_runs_from_the_best_and_the_agreement(pair75: pl.DataFrame) -> None:
    first, ranks = rate(pair75)["understandability"].tables()
    assert [row[0] for row in first.rows] == ["A", "B", "D", "F", "C", "H"]
    assert "alpha: ordinal 0.2" in first.notes[0]
    assert "judge6" in str(ranks)


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=8))
@settings(max_examples=25)
def test_mean_ranks_are_scipys(grades: list[tuple[int, int, int]]) -> None:
    rows = [
        ("author", str(q), run, grade, 5) for q, row in enumerate(grades) for run, grade in zip("abc", row, strict=True)
    ]
    rated = rate(holistic(rows), resamples=0)["content"]
    ranks = [stats.rankdata([-grade for grade in row]) for row in grades]
    for i, run in enumerate("abc"):
        assert rated.mean_rank[run] == pytest.approx(sum(r[i] for r in ranks) / len(ranks))
        assert rated.mean[run] == pytest.approx(sum(row[i] for row in grades) / len(grades))


def test_agreement_of_two_raters_by_hand() -> None:
    # Two responses, ratings (0, 1) and (3, 3): observed squares 1 + 1 over n - 1 = 3; all pairs of 0, 1, 3, 3:
    # 2 * (1 + 9 + 9 + 4 + 4 + 0) = 54. alpha = 1 - 3 * 2 / 54.
    rows = [
        ("author", "1", "a", 0, 5),
        ("other", "1", "a", 1, 5),
        ("author", "1", "b", 3, 5),
        ("other", "1", "b", 3, 5),
    ]
    scales = rate(holistic(rows))
    assert scales["content"].krippendorff_alpha_interval == pytest.approx(1 - 6 / 54)
    assert scales["organization"].krippendorff_alpha_interval is None
    assert "undefined" in scales["organization"].notes[0]


def test_one_judge_and_missing_ratings_are_noted() -> None:
    rated = rate(holistic([("author", "1", "a", 4, 5), ("author", "1", "b", 3, 5), ("author", "2", "a", 3, 5)]))
    assert rated["content"].krippendorff_alpha_ordinal is None
    assert rated["content"].notes == (
        "Ratings missing: 1. A rank is among the runs that the judge rated for the question.",
    )
    assert "One judge" in str(rated["content"].table())


def test_a_value_off_the_scale_is_an_error_that_names_its_place() -> None:
    with pytest.raises(InputError, match="judge author, run a: content 11 is not 0 to 10") as caught:
        rate(holistic([("author", "7", "a", 11, 5), ("author", "7", "b", -1, 5)]))
    assert [problem.question for problem in caught.value.problems] == ["7", "7"]


def test_a_frame_without_ratings_is_an_error() -> None:
    with pytest.raises(UsageError, match="one of understandability"):
        rate(pl.DataFrame({"set": ["a"], "question": ["1"], "run": ["x"]}))
    with pytest.raises(UsageError, match="column run"):
        rate(pl.DataFrame({"set": ["a"], "question": ["1"], "content": [1]}))


def test_the_judge_is_the_assessor_or_the_set() -> None:
    columns = ["set", "assessor", "question", "run", "understandability", "correctness"]
    rows = [("one", "anna", "75", "A", 4, 4), ("one", "bert", "75", "A", 3, 2), ("two", None, "75", "A", 1, None)]
    rated = rate(pl.DataFrame(rows, schema=columns, orient="row"))["correctness"]
    assert rated.judges == ("anna", "bert", "two")
    assert rated.mean == {"A": 2.0}
    again = [*rows, ("two", "anna", "75", "A", 5, 5)]
    rated = rate(pl.DataFrame(again, schema=columns, orient="row"))["correctness"]
    assert rated.judges == ("one/anna", "one/bert", "two", "two/anna")
