"""Identical responses judged separately."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qassay.errors import UsageError
from qassay.meta.noise import identical_runs, judging_noise
from qassay.results import document


def items(rows: list[tuple[str, str, str | None, str | None]]) -> pl.DataFrame:
    schema = {"run": pl.String, "question": pl.String, "doc": pl.String, "text": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def scores(scores_of_run: dict[str, list[float]]) -> pl.DataFrame:
    rows = [(run, str(q), score) for run, values in scores_of_run.items() for q, score in enumerate(values, 1)]
    return pl.DataFrame(rows, schema=["run", "question", "score"], orient="row")


def test_pairs_of_identical_runs_and_how_they_were_scored() -> None:
    same = [("1", "d1", "Rome"), ("1", "d2", "Oslo"), ("2", "d1", "Rome")]
    rows = [("a", *item) for item in same] + [("b", *item) for item in reversed(same)] + [("c", *item) for item in same]
    rows += [("d", *item) for item in same[:2]]
    noise = judging_noise(
        items(rows),
        scores({"a": [0.5, 1.0], "b": [0.5, 0.0], "c": [0.5, 1.0], "d": [0.5, 0.0]}),
        component="list",
        assessors={"1": "first", "2": "second"},
    )
    assert [(pair.a, pair.b, pair.differing) for pair in noise.identical] == [
        ("a", "b", ("2",)),
        ("a", "c", ()),
        ("b", "c", ("2",)),
    ]
    assert document(noise) == {
        "component": "list",
        "runs": 4,
        "asked": 2,
        "pairs": 3,
        "questions_differing": {"0": 1, "1": 2},
        "min": 0.0,
        "max": 0.5,
        "mean": pytest.approx(1 / 3),
        "questions_with_any_difference": 1,
        "questions": ["2"],
        "assessors": {"second": 1},
        "identical": [
            {"a": "a", "b": "b", "questions": 1, "difference": 0.5},
            {"a": "a", "b": "c", "questions": 0, "difference": 0.0},
            {"a": "b", "b": "c", "questions": 1, "difference": 0.5},
        ],
        "notes": [],
    }
    assert "judged by second" in str(noise.table())


def test_the_distribution_of_2003(golden: dict[str, Any]) -> None:
    # [QA03] 4.2: 14 pairs, by number of definition questions judged differently. Each pair here is two runs that
    # return one string of their own; as many questions as printed are scored otherwise.
    paper = golden["QA03"]["identical_pairs"]["definition"]
    numbers = [int(n) for n, pairs in paper["differing_questions"].items() for _ in range(pairs)]
    rows, scored = [], {}
    for pair, differing in enumerate(numbers):
        for twin in "ab":
            rows += [(f"{pair}{twin}", str(q), "doc", f"answer {pair}") for q in range(1, 51)]
        scored[f"{pair}a"] = [0.5] * 50
        scored[f"{pair}b"] = [0.6] * differing + [0.5] * (50 - differing)
    noise = judging_noise(items(rows), scores(scored), component="definition")
    assert noise.pairs == paper["pairs"]
    assert noise.questions_differing == paper["differing_questions"]
    assert noise.min == paper["min"]
    assert noise.max == pytest.approx(10 * 0.1 / 50)


def test_which_responses_are_identical() -> None:
    same = [("a", "1", "d", "x"), ("a", "1", "d", "x"), ("a", "2", None, "y")]
    twice = [("b", "1", "d", "x"), ("b", "2", None, "y")]
    elsewhere = [("c", "1", "d", "x"), ("c", "1", "d", "x"), ("c", "2", "", "y")]
    moved = [("d", "2", "d", "x"), ("d", "2", "d", "x"), ("d", "1", None, "y")]
    assert identical_runs(items(same + twice + elsewhere + moved), list("abcd"), ["1", "2"]) == []
    equal = [("e", "2", None, "y"), ("e", "1", "d", "x"), ("e", "1", "d", "x"), ("e", "3", "d", "z")]
    assert identical_runs(items(same + equal), list("ae"), ["1", "2"]) == [["a", "e"]]
    assert identical_runs(items(same + equal), list("ae"), ["1", "2", "3"]) == []


def test_empty_responses_are_equal_but_need_judging_somewhere() -> None:
    rows = items([("a", "1", "d", "x"), ("a", "2", None, None), ("b", "1", "d", "x"), ("c", "1", None, None)])
    assert identical_runs(rows, list("abcd"), ["1", "2"]) == [["a", "b"]]


@given(st.lists(st.lists(st.tuples(st.sampled_from("12"), st.sampled_from("de"), st.sampled_from("xy")), max_size=3)))
@settings(max_examples=50)
def test_groups_are_those_of_equal_multisets(responses: list[list[tuple[str, str, str]]]) -> None:
    runs = [f"r{i:02}" for i in range(len(responses))]
    rows = [(run, *item) for run, items in zip(runs, responses, strict=True) for item in items]
    expected: dict[tuple[tuple[str, str, str], ...], list[str]] = {}
    for run, own_items in zip(runs, responses, strict=True):
        expected.setdefault(tuple(sorted(own_items)), []).append(run)
    groups = [group for key, group in expected.items() if len(group) > 1 and key]
    assert sorted(identical_runs(items(rows), runs, ["1", "2"])) == sorted(groups)


def test_questions_without_a_score_do_not_count() -> None:
    rows = items([(run, q, "d", "x") for run in "ab" for q in "12"])
    partial = pl.DataFrame(
        {"run": ["a", "a", "b", "b"], "question": ["1", "2", "1", "2"], "score": [1.0, 0.5, 0.0, None]}
    )
    noise = judging_noise(rows, partial, component="list")
    assert noise.questions_differing == {"1": 1}
    assert noise.max == 1.0


def test_no_identical_runs_is_noted() -> None:
    noise = judging_noise(items([("a", "1", "d", "x")]), scores({"a": [1.0], "b": [0.0]}), component="other")
    assert noise.pairs == 0
    assert noise.min is noise.max is noise.mean is None
    assert "nothing can be said" in str(noise.table())


def test_a_missing_column_is_an_error() -> None:
    with pytest.raises(UsageError, match="scores need the column score"):
        judging_noise(items([]), pl.DataFrame({"run": ["a"], "question": ["1"]}), component="list")
