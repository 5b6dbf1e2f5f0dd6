"""`qassay describe` on the built-in evaluation and on real score matrices."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from qassay.cli import main
from qassay.demo import demo_folder


def described(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["describe", *arguments, "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_an_evaluation_is_described_by_unit_type_and_weight(capsys: pytest.CaptureFixture[str]) -> None:
    found = described(capsys, str(demo_folder()))
    assert main(["score", str(demo_folder()), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    by_unit = zip(scores["units"], zip(*scores["matrix"].values(), strict=True), strict=True)
    medians = {unit: median(values) for unit, values in by_unit}
    assert {row["unit"]: row["median"] for row in found["units"]["units"]} == pytest.approx(medians)
    questions = {
        name: [scores["questions"][run][name] for run in scores["questions"]] for name in scores["questions"]["hobby"]
    }
    zero = sum(median(values) == 0 for values in questions.values())
    assert found["questions"]["zero_medians"]["all"]["zero"] == zero
    assert [move["component"] for move in found["weights"]["moves"]] == ["factoid"] * 2 + ["list"] * 2 + ["other"] * 2
    assert -1 <= found["aggregation"]["agreement"]["tau"] <= 1


def test_one_question_type_has_no_weights_to_move(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(described(capsys, str(demo_folder()), "--component", "list")) == ["units"]


def test_series_hide_the_questions_that_nobody_answers(
    data: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    # About 64% of the TREC 2006 questions have a zero median, about 8% of the series do.
    matrix = str(data("score_matrices/trec2006_factoid_rr_strict.csv"))
    questions = described(capsys, matrix, "--missing", "zero")["units"]["zero_medians"]["all"]
    series = described(capsys, matrix, "--missing", "zero", "--series-from", r"^([^.]+)")["units"]["zero_medians"][
        "all"
    ]
    assert (questions["units"], series["units"]) == (386, 75)
    assert questions["share"] == pytest.approx(0.64, abs=0.01)
    assert series["share"] == pytest.approx(0.08, abs=0.005)


def test_the_summary_comes_first_and_top_limits_the_units(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("qid,A,B\n" + "".join(f"q{i},0,1\n" for i in range(30)))
    assert main(["describe", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.index("Questions with a median score of 0") < out.index("Scores of 2 runs")
    assert "q19" in out
    assert "q20" not in out
    assert "10 more questions (--top)" in out
    assert main(["describe", str(path), "--top", "0"]) == 0
    assert "Scores of 2 runs" not in capsys.readouterr().out
