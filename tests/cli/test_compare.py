"""`qassay compare`: JSON, tables, methods, the gate, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qassay.cli import main
from qassay.formats.matrix import write_matrix
from qassay.matrix import ScoreMatrix
from qassay.meta.sensitivity import predicted_rate, sensitivity, width_for


@pytest.fixture
def scores(tmp_path: Path) -> str:
    """A is better than B by 0.2, C is B with a hair of noise."""
    rng = np.random.default_rng(1)
    hard = rng.random(80)
    values = np.clip(np.stack([hard + 0.2, hard, hard]) + 0.05 * rng.normal(size=(3, 80)), 0, 2)
    path = tmp_path / "scores.csv"
    write_matrix(ScoreMatrix(("A", "B", "C"), tuple(map(str, range(80))), values), path)
    return str(path)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def calling(*arguments: str) -> tuple[int, str, str]:
        status = main(["compare", *arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return calling


Call = Callable[..., tuple[int, str, str]]


def test_two_runs_as_json(call: Call, scores: str) -> None:
    status, out, err = call(scores, "A", "B", "--json")
    document: dict[str, Any] = json.loads(out)
    assert (status, err) == (0, "")
    # The keys of FORMATS 6.
    assert {
        "a", "b", "units", "difference", "interval", "p_randomisation", "p_t", "effect_size", "error_rate",
        "units_needed", "verdict",
    } <= set(document)  # fmt: skip
    assert (document["a"], document["b"], document["units"], document["verdict"]) == ("A", "B", 80, "better")
    assert document["interval"][0] < document["difference"] < document["interval"][1]
    assert set(document["error_rate"]) == {"fit", "predicted"}
    assert call(scores, "A", "B", "--json")[1] == out, "the same command gives the same output"


def test_two_runs_for_people(call: Call, scores: str) -> None:
    status, out, _ = call(scores, "B", "A")
    assert status == 0
    for word in ("Is B better than A?", "95% interval", "p, randomisation", "worse", "Units that make the difference"):
        assert word in out
    assert "Units that make" not in call(scores, "B", "A", "--top", "0")[1]


def test_all_pairs_as_json(call: Call, scores: str) -> None:
    _, out, _ = call(scores, "--json")
    document = json.loads(out)
    assert (document["runs"], document["units"], document["method"]) == (3, 80, "randomised Tukey")
    assert document["permutations"] == 20_000
    found = {(pair["a"], pair["b"]): pair["different"] for pair in document["pairs"]}
    assert found["A", "B"]
    assert found["A", "C"]
    assert document["different"] == 2
    assert sorted(map(sorted, document["groups"])) == [["A"], ["B", "C"]]
    assert all({"a", "b", "difference", "p", "p_adjusted", "different"} <= set(pair) for pair in document["pairs"])


@pytest.mark.parametrize(
    ("method", "name", "permutations"),
    [
        ("tukey", "paired Tukey", None),
        ("randomised-tukey", "randomised Tukey", 500),
        ("holm", "Holm", 500),
        ("bh", "Benjamini-Hochberg", 500),
    ],
)
def test_methods(call: Call, scores: str, method: str, name: str, permutations: int | None) -> None:
    _, out, _ = call(scores, "--method", method, "--permutations", "500", "--json")
    document = json.loads(out)
    assert (document["method"], document["permutations"], document["different"]) == (name, permutations, 2)
    _, out, _ = call(scores, "--method", method)
    assert f"Correction: {name}" in " ".join(out.split())


@pytest.mark.parametrize(
    ("a", "b", "margin", "decision", "status"),
    [
        ("A", "B", "0", "ALLOW", 0),
        ("B", "A", "0", "REJECT", 3),
        ("B", "C", "0", "INCONCLUSIVE", 4),
        ("B", "C", "0.1", "ALLOW", 0),
        ("B", "A", "0.2", "INCONCLUSIVE", 4),
        ("B", "A", "0.4", "ALLOW", 0),
    ],
)
def test_gate(call: Call, scores: str, a: str, b: str, margin: str, decision: str, status: int) -> None:
    found, out, _ = call(scores, a, b, "--gate", "--margin", margin, "--json")
    document = json.loads(out)
    assert (found, document["gate"], document["margin"]) == (status, decision, float(margin))
    found, out, _ = call(scores, a, b, "--gate", "--margin", margin)
    assert found == status
    assert out.strip().splitlines()[-1].startswith(f"{decision}: the 95% interval of {a} - {b}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["A"], "what is 'A' to be compared with?"),
        (["A", "X"], "unknown run 'X'"),
        (["A", "A"], "cannot be compared with itself"),
        (["--gate"], "--gate compares two systems"),
        (["A", "B", "--margin", "0.1"], "--margin goes with --gate"),
        (["A", "B", "--gate", "--margin", "-1"], "0 or more"),
        (["A", "B", "--method", "holm"], "--method is for all pairs"),
        (["--method", "fisher"], "fisher"),
        (["--alpha", "1.5"], "between 0 and 1"),
        (["--top", "3"], "--top shows questions of two systems"),
    ],
)
def test_wrong_usage(call: Call, scores: str, arguments: list[str], message: str) -> None:
    status, out, err = call(scores, *arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_bad_cells(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("qid,A,B\n1,1,\n2,x,1\n", encoding="utf-8")
    status, out, err = call(str(path), "--json")
    assert status == 1
    assert [error["line"] for error in json.loads(out)["errors"]] == [2, 3]
    assert "column B" in err
    status, out, _ = call(str(path), "--missing", "zero", "--json")
    assert status == 0
    assert "2 cells without a score counted as 0" in json.loads(out)["notes"][0]


def test_few_units_say_what_cannot_be_said(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("A,B\n1,0\n1,0\n1,1\n", encoding="utf-8")
    status, out, _ = call(str(path), "A", "B", "--json")
    document = json.loads(out)
    assert status == 0
    assert (document["verdict"], document["interval"]) == ("cannot tell", None)
    assert document["error_rate"] == {"fit": None, "predicted": None}
    assert any("No error rate" in note for note in document["notes"])
    assert call(str(path), "A", "B", "--gate")[0] == 4


def test_real_scores(call: Call, data: Callable[[str], Path]) -> None:
    _, out, _ = call(str(data("nq301/matrix.csv")), "--json")
    assert json.loads(out)["different"] == 9  # FORMATS 6


def test_units_that_are_not_shown_are_counted(call: Call, scores: str) -> None:
    assert "70 more units differ (--top)." in call(scores, "A", "B")[1]
    assert "79 more units differ (--top)." in call(scores, "A", "B", "--top", "1")[1]
    assert "more unit" not in call(scores, "A", "B", "--top", "80")[1]


def test_a_constant_difference_says_what_there_is_not(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "shift.csv"
    path.write_text("A,B\n" + "0.7,0.5\n" * 20, encoding="utf-8")
    document = json.loads(call(str(path), "A", "B", "--json")[1])
    assert document["error_rate"] == {"fit": None, "predicted": 0.0}
    assert "No fitted error rate: it takes 20 runs or more." in document["notes"]
    assert (document["effect_size"], document["units_needed"]) == (None, None)
    assert any("no effect size and no number of units needed" in note for note in document["notes"])
    assert "The error rates rest on 1 pair of runs only." in document["notes"]


def test_error_rates_of_scores_beyond_one_are_looked_up_in_wider_bins(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "hundred.csv"
    values = np.random.default_rng(0).integers(0, 101, (20, 40)) + np.arange(20.0)[:, None] * 3
    write_matrix(ScoreMatrix(tuple("ABCDEFGHIJKLMNOPQRST"), tuple(map(str, range(40))), values), path)
    document = json.loads(call(str(path), "D", "A", "--json")[1])
    assert abs(document["difference"]) > 1
    assert document["error_rate"]["fit"] is not None


@pytest.mark.parametrize("difference", [0.0, 0.01, 0.05, 0.1, 0.3, 0.7])
def test_the_error_rate_of_few_runs_is_the_closed_form_of_the_study(difference: float) -> None:
    values = np.random.default_rng(3).random((5, 30))
    matrix = ScoreMatrix(tuple("ABCDE"), tuple(map(str, range(30))), values)
    curves = sensitivity(matrix, intervals=0, bin_width=width_for(matrix))
    assert predicted_rate(matrix, difference) == curves.error_rate_at(difference).predicted
