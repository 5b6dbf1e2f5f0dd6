"""`compare --control`: every system against one, from the command line, in Python and on the page of results."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qassay
from qassay.cli import main
from qassay.errors import UsageError
from qassay.formats.matrix import write_matrix
from qassay.matrix import ScoreMatrix
from qassay.studies import compare as study
from qassay.studies.control import ControlComparison

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def calling(*arguments: object) -> tuple[int, str, str]:
        status = main(["compare", *map(str, arguments)])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return calling


def seven() -> ScoreMatrix:
    """Production, a better system, two worse ones, and three that differ from it by chance."""
    rng = np.random.default_rng(0)
    truth = {"production": 0.5, "new-rag": 0.8, "old": 0.15, "older": 0.1, "x": 0.5, "y": 0.5, "z": 0.5}
    values = (rng.random((7, 120)) < np.array(list(truth.values()))[:, None]) * 1.0
    return ScoreMatrix(tuple(truth), tuple(map(str, range(120))), values, denominator=1)


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    write_matrix(seven(), path)
    return path


def test_the_answer_names_who_is_better(call: Call, scores: Path) -> None:
    status, out, _ = call(scores, "--control", "production")
    document = json.loads(call(scores, "--control", "production", "--json")[1])
    (better,) = [row for row in document["against"] if row["verdict"] == "better"]
    low, high = better["interval"]
    assert status == 0
    named = f"new-rag ({better['difference']:+.3f}, {low:.3f} to {high:.3f})"
    assert f"3 of 6 systems differ from production; {named} is better." in out
    assert "Corrected for 6 comparisons." in out
    assert (document["control"], document["alpha"]) == ("production", 0.05)
    assert {row["system"] for row in document["against"]} == set(seven().runs) - {"production"}
    for row in document["against"]:
        low, high = row["interval"]
        assert (row["verdict"] == "better") == (low > 0)
        assert (row["verdict"] == "worse") == (high < 0)
        assert (row["verdict"] != "cannot tell") == (row["p_adjusted"] <= 0.05)
        assert row["not_worse"] is None


def test_python_the_command_and_the_page_say_the_same(call: Call, scores: Path) -> None:
    in_python = qassay.compare_all(seven(), control="production", margin=0.3)
    document = json.loads(call(scores, "--control", "production", "--margin", "0.3", "--json")[1])
    assert in_python.as_json()["against"] == document["against"]
    for row in document["against"]:
        assert row["not_worse"] == (row["interval"][0] > -0.3)
    shown = study.page(in_python)
    passing = sum(row["not_worse"] for row in document["against"])
    assert shown.answer[2] == f"{passing} of 6 systems are at most 0.3 worse."
    assert " ".join(shown.answer) in " ".join(call(scores, "--control", "production", "--margin", "0.3")[1].split())


def test_lower_scores_that_are_better_turn_the_verdict() -> None:
    """The same scores with the other direction: who was better is worse, with the same interval."""
    higher = qassay.compare_all(seven(), control="production", margin=0.1)
    lower = qassay.compare_all(seven(), control="production", margin=0.1, lower_is_better="all")
    assert {
        row.verdict: {other.system: other for other in lower.against}[row.system].verdict for row in higher.against
    } == {"better": "worse", "worse": "better", "cannot tell": "cannot tell"}
    for row in lower.against:
        assert row.interval is not None
        assert row.not_worse == (row.interval[1] < 0.1)


def test_one_other_system_is_the_comparison_of_the_two(call: Call, scores: Path) -> None:
    alone = json.loads(call(scores, "x", "production", "--json")[1])
    (row,) = json.loads(call(scores, "--control", "production", "--systems", "x,production", "--json")[1])["against"]
    assert (row["p_adjusted"], row["interval"], row["verdict"]) == (alone["p"], alone["interval"], alone["verdict"])
    assert qassay.compare_all(seven().select(["x", "production"]), control="production").sentence() == alone["answer"]


def test_a_family_of_one_system_against_others_is_smaller_than_that_of_all_pairs() -> None:
    """A named control finds at least what all pairs find of it, and its intervals are narrower."""
    control = qassay.compare_all(seven(), control="production")
    every = qassay.compare_all(seven())
    for row in control.against:
        assert row.interval is not None
        (pair,) = [pair for pair in every.pairs() if {pair.a, pair.b} == {row.system, "production"}]
        assert pair.interval is not None
        assert row.interval[1] - row.interval[0] < pair.interval[1] - pair.interval[0]


def test_metrics_share_one_correction(call: Call, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [f"q{q},{s},{rng.random():.3f},{rng.random():.3f}" for q in range(40) for s in "ABC"]
    path = tmp_path / "metrics.csv"
    path.write_text("\n".join(["qid,model,f1,em", *rows]))
    document = json.loads(call(path, "--control", "A", "--metric", "all", "--json")[1])
    assert (document["correction"], set(document["metrics"])) == ("max-t", {"f1", "em"})
    for name, each in document["metrics"].items():
        alone = json.loads(call(path, "--control", "A", "--metric", name, "--json")[1])
        for row, single in zip(each["against"], alone["against"], strict=True):
            assert row["p_adjusted"] >= single["p_adjusted"]
    assert "Corrected for 4 comparisons." in call(path, "--control", "A", "--metric", "all")[1]
    one = json.loads(call(path, "--control", "A", "--systems", "A,B", "--metric", "all", "--json")[1])
    assert one["correction"] == "holm"  # two systems have their own test under each metric


def test_repeats_are_part_of_the_answer() -> None:
    """What a repeat shifts on all questions widens the interval of its system."""
    rng = np.random.default_rng(2)
    shifts = {"A": (0, 0, 0, 0), "B": (0, 0, 0, 0), "C": (-0.3, 0.3, 0.1, -0.1)}
    rows = [
        {"question": f"q{q}", "system": system, "repeat": r, "score": ease + shift[r] + 0.05 * rng.normal()}
        for q, ease in enumerate(rng.random(40).tolist())
        for system, shift in shifts.items()
        for r in range(4)
    ]
    result = qassay.compare_all(qassay.scores(rows).matrix, control="A")
    widths = {row.system: row.interval[1] - row.interval[0] for row in result.against if row.interval}
    assert widths["C"] > 2 * widths["B"], widths


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--control", "producton"], "unknown run 'producton'; did you mean 'production'?"),
        (["x", "y", "--control", "production"], "leave out the two names"),
        (["--control", "production", "--method", "holm"], "goes without method"),
        (["--control", "production", "--gate"], "--gate compares two systems"),
        (["--control", "production", "--margin", "-1"], "0 or more"),
        (["--control", "production", "--top", "3"], "leave out"),
    ],
)
def test_what_does_not_go_together(call: Call, scores: Path, arguments: list[str], message: str) -> None:
    status, _, error = call(scores, *arguments)
    assert status == 2
    assert message in " ".join(error.split())


def test_a_control_alone_is_compared_with_nothing() -> None:
    with pytest.raises(UsageError, match="is the only system"):
        qassay.compare_all(seven().select(["x"]), control="x")
    assert isinstance(qassay.compare_all(seven().select(["x", "y"]), control="x"), ControlComparison)


def test_nobody_differs_and_all_are_worse() -> None:
    alike = qassay.compare_all(seven().select(["production", "x", "y", "z"]), control="production")
    assert alike.sentence() == "None of 3 systems is shown to differ from production"
    best: Any = qassay.compare_all(seven().select(["new-rag", "old", "older"]), control="new-rag")
    assert best.sentence() == "All 2 systems differ from new-rag; all of these are worse"
