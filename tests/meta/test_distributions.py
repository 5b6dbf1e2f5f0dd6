"""Box statistics against the statistics module, and units with a median of 0."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qassay.errors import UsageError
from qassay.formats.matrix import read_matrix
from qassay.matrix import ScoreMatrix
from qassay.meta.distributions import score_distributions
from qassay.summaries import TypeWeighted


def one_unit(scores: list[float]) -> ScoreMatrix:
    return ScoreMatrix(tuple(f"r{i}" for i in range(len(scores))), ("u",), np.array(scores)[:, None])


def test_box_by_hand() -> None:
    (box,) = score_distributions(one_unit([0.0, 0.1, 0.2, 0.3, 0.4, 1.0])).units
    assert (box.q1, box.median, box.q3) == pytest.approx((0.125, 0.25, 0.375))
    # The box is 0.25 high, so whiskers reach at most 0.375 beyond it: 1.0 lies outside.
    assert (box.low, box.high) == (0.0, 0.4)
    assert [(outlier.run, outlier.score) for outlier in box.outliers] == [("r5", 1.0)]
    assert box.mean == pytest.approx(2 / 6)


@settings(max_examples=60)
@given(st.lists(st.floats(0, 1).map(lambda x: round(x, 3)), min_size=2, max_size=30))
def test_boxes_agree_with_the_statistics_module(scores: list[float]) -> None:
    (box,) = score_distributions(one_unit(scores)).units
    q1, median, q3 = statistics.quantiles(scores, n=4, method="inclusive")
    assert (box.q1, box.median, box.q3) == pytest.approx((q1, median, q3))
    reach = 1.5 * (q3 - q1)
    inside = [s for s in scores if q1 - reach - 1e-9 <= s <= q3 + reach + 1e-9]
    assert (box.low, box.high) == (min(inside), max(inside))
    assert sorted(outlier.score for outlier in box.outliers) == sorted(s for s in scores if s not in inside)
    assert box.has_zero_median == (abs(median) < 1e-9)


def test_zero_medians_by_type() -> None:
    values = np.array([[0, 1, 0, 0.5], [0, 1, 0.2, 0.5], [1, 0, 0, 0.5]])
    types = ("factoid", "factoid", "list", "other")
    matrix = ScoreMatrix(("A", "B", "C"), ("1", "2", "3", "4"), values)
    expected = [("factoid", 1, 2, 0.5), ("list", 1, 1, 1.0), ("other", 0, 1, 0.0), ("all", 2, 4, 0.5)]
    spread = score_distributions(matrix, types=types)
    assert [(kind, z.zero, z.units, z.share) for kind, z in spread.zero_medians.items()] == expected
    weighted = ScoreMatrix(
        ("A", "B", "C"), ("1", "2", "3", "4"), values, summary=TypeWeighted(types, dict.fromkeys(types, 1.0))
    )
    assert score_distributions(weighted).zero_medians == spread.zero_medians
    assert [box.type for box in spread.units] == list(types)


def test_tables_and_json() -> None:
    result = score_distributions(one_unit([0.0, 0.0, 1.0]))
    document = json.loads(json.dumps(result.as_json(), allow_nan=False))
    assert document["zero_medians"] == {"all": {"zero": 1, "units": 1, "share": 1.0}}
    zeros, boxes = result.tables()
    assert [column.header for column in boxes.columns][:2] == ["question", "lower whisker"]  # no type: there are none
    assert boxes.rows[0][:2] == ("u", 0.0)
    typed = score_distributions(one_unit([0.0, 0.0, 1.0]), types=["list"]).table()
    assert typed.rows[0][:3] == ("u", "list", 0.0)
    assert zeros.rows == (("all", 1, 1, 1.0),)
    assert "no quartiles to speak of" in result.notes[0]


def test_a_whisker_that_ends_inside_the_box_is_explained() -> None:
    # q3 lies between 0.2 and the outlier 1: above every score that is none.
    result = score_distributions(one_unit([0.0, 0.1, 0.2, 1.0]))
    (box,) = result.units
    assert box.outliers
    assert box.high < box.q3
    assert "can end inside the box" in " ".join(result.table().notes)


def test_the_first_units_are_shown_and_the_others_counted() -> None:
    matrix = ScoreMatrix(("A",), ("1", "2", "3"), np.zeros((1, 3)))
    shown = score_distributions(matrix).table(2)
    assert shown.title.startswith("Scores of 1 run on")
    assert len(shown.rows) == 2
    assert shown.notes[0].startswith("1 more question (")
    assert len(score_distributions(matrix).table().rows) == 3


def test_wrong_calls() -> None:
    with pytest.raises(UsageError, match="2 types do not fit 1 question"):
        score_distributions(one_unit([0.0]), types=["a", "b"])
    with pytest.raises(UsageError, match="no runs"):
        score_distributions(ScoreMatrix((), ("u",), np.zeros((0, 1))))


def test_real_scores(data: Callable[[str], Path]) -> None:
    matrix = read_matrix(data("nq301/matrix.csv"))
    spread = score_distributions(matrix)
    zero = sum(statistics.median(column) == 0 for column in matrix.values.T.tolist())
    assert [(kind, z.zero, z.units) for kind, z in spread.zero_medians.items()] == [("all", zero, 301)]
    assert zero > 0
