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
    # The keys of FORMATS 6 and 8.
    assert {
        "a", "b", "units", "difference", "interval", "p", "test", "effect_size", "reversal",
        "found_with", "wanted_difference", "units_needed", "verdict",
    } <= set(document)  # fmt: skip
    assert (document["a"], document["b"], document["units"], document["verdict"]) == ("A", "B", 80, "better")
    assert document["interval"][0] < document["difference"] < document["interval"][1]
    assert document["test"] == "hall"
    assert 0 < document["reversal"] < 0.01
    assert (
        document["answer"] == "A is better than B on these 80 questions: chance alone does not explain the difference"
    )
    assert call(scores, "A", "B", "--json")[1] == out, "the same command gives the same output"


def test_two_runs_for_people(call: Call, scores: str) -> None:
    status, out, _ = call(scores, "B", "A")
    assert status == 0
    lines = out.splitlines()
    assert lines[0] == "Wide table: 2 of 3 systems x 80 questions; higher is better (assumed)."
    assert lines[2] == "B is worse than A on these 80 questions: chance alone does not explain the difference."
    assert lines[4] == "In numbers"
    assert [line.split("  ")[0] for line in lines[6:12]] == [
        "B", "A", "B − A", "chance of a reversal", "found with these 80 questions", "questions for 0.063",
    ]  # fmt: skip
    assert "p, paired t test" not in out
    assert "The questions that make the difference" not in out
    assert lines[-1] == "With --details: show all tests too, and the questions or pairs behind the answer."
    details = call(scores, "B", "A", "--details")[1]
    assert "p, paired t test" in details
    assert "The questions that make the difference: B ahead on" in details
    assert "p, paired t test" not in call(scores, "B", "A", "--top", "3")[1]


def test_equal_within_reads_the_printed_interval(call: Call, tmp_path: Path) -> None:
    """No second interval: A and B differ on 4 of 400 questions, and A and C by 0.03 on all but chance."""
    rows = [f"q{i},{i % 2},{i % 2 if i > 3 else 1 - i % 2},{0 if i < 30 else i % 2}" for i in range(400)]
    path = tmp_path / "near.csv"
    path.write_text("question,A,B,C\n" + "\n".join(rows) + "\n", encoding="utf-8")
    status, out, _ = call(str(path), "A", "B", "--equal-within", "0.05", "--gate")
    assert (status, out.splitlines()[2].split(":")[0]) == (0, "EQUAL")
    assert "A and B are equal within 0.05: the difference lies between -0.0" in out
    assert "A is better than C, but by less than 0.1." in call(str(path), "A", "C", "--equal-within", "0.1")[1]
    status, out, _ = call(str(path), "A", "B", "--equal-within", "0.001", "--gate")
    assert (status, "Not shown to be equal within 0.001." in out) == (4, True)
    document = json.loads(call(str(path), "A", "C", "--equal-within", "0.1", "--gate", "--json")[1])
    assert (document["equal_within"], document["gate"]) == ({"difference": 0.1, "shown": True}, "ALLOW")
    assert json.loads(call(str(path), "A", "C", "--json")[1])["equal_within"] is None
    assert "more than 0" in call(str(path), "A", "C", "--equal-within", "-1")[2]
    assert "name them" in call(str(path), "--equal-within", "0.1")[2]


def test_a_table_of_two_systems_is_their_comparison(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("id,A,B\n" + "".join(f"{unit},{unit % 2},1\n" for unit in range(20)))
    assert call(str(path))[1].splitlines()[2].startswith("B is better than A on these 20 questions")
    assert json.loads(call(str(path), "--json")[1])["pairs"][0]["a"] == "B"
    assert call(str(path), "--method", "holm") == call(str(path))


def test_all_pairs_as_json(call: Call, scores: str) -> None:
    _, out, _ = call(scores, "--json")
    document = json.loads(out)
    assert (document["runs"], document["units"], document["method"]) == (3, 80, "max-t")
    assert document["permutations"] == 20_000
    differs = {(pair["a"], pair["b"]): pair["different"] for pair in document["pairs"]}
    assert differs["A", "B"]
    assert differs["A", "C"]
    assert document["different"] == 2
    assert sorted(map(sorted, document["groups"])) == [["A"], ["B", "C"]]
    assert [row["rank_range"] for row in document["ranking"]] == [[1, 1], [2, 3], [2, 3]]
    assert (document["margin"], document["near_line"]) == (None, 0)
    assert document["margins"] == sorted(document["margins"])
    for pair in document["pairs"]:
        assert pair["p"] is None
        assert pair["different"] == (pair["p_adjusted"] <= 0.05) == (pair["interval"][0] > 0)
    assert all({"a", "b", "difference", "p", "p_adjusted", "different"} <= set(pair) for pair in document["pairs"])


@pytest.mark.parametrize(
    ("method", "name", "permutations"),
    [
        ("max-t", "flips, largest of all pairs", 500),
        ("tukey", "paired Tukey", None),
        ("randomised-tukey", "randomised Tukey", 500),
        ("holm", "Holm", 500),
        ("bh", "Benjamini-Hochberg", 500),
    ],
)
def test_methods(call: Call, scores: str, method: str, name: str, permutations: int | None) -> None:
    _, out, _ = call(scores, "--method", method, "--permutations", "500", "--json")
    document = json.loads(out)
    in_document = "max-t" if method == "max-t" else name
    assert (document["method"], document["permutations"], document["different"]) == (in_document, permutations, 2)
    _, out, _ = call(scores, "--method", method)
    assert f"corrected by {name}" in " ".join(out.split())


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
    exit_status, out, _ = call(scores, a, b, "--gate", "--margin", margin, "--json")
    document = json.loads(out)
    assert (exit_status, document["gate"], document["margin"]) == (status, decision, float(margin))
    exit_status, out, _ = call(scores, a, b, "--gate", "--margin", margin)
    assert exit_status == status
    assert out.splitlines()[2].startswith(f"{decision}: the 95% interval of {a} - {b}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["A"], "what is 'A' to be compared with?"),
        (["A", "X"], "unknown system 'X'"),
        (["A", "A"], "cannot be compared with itself"),
        (["--gate"], "--gate compares two systems"),
        (["A", "B", "--margin", "0.1"], "--margin goes with --gate"),
        (["A", "B", "--gate", "--margin", "-1"], "0 or more"),
        (["A", "B", "--method", "holm"], "--method is for all pairs"),
        (["--method", "fisher"], "fisher"),
        (["--alpha", "1.5"], "between 0 and 1"),
        (["--top", "3"], "top shows questions of two systems"),
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


def test_few_units_leave_questions_open_with_a_note(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("A,B\n1,0\n1,0\n1,1\n", encoding="utf-8")
    status, out, _ = call(str(path), "A", "B", "--json")
    document = json.loads(out)
    assert status == 0
    assert (document["verdict"], document["interval"]) == ("cannot tell", None)
    assert call(str(path), "A", "B", "--gate")[0] == 4


def test_real_scores(call: Call, data: Callable[[str], Path]) -> None:
    _, out, _ = call(str(data("nq301/matrix.csv")), "--json")
    assert json.loads(out)["different"] == 11


def test_units_that_are_not_shown_are_counted(call: Call, scores: str) -> None:
    assert "70 more questions differ." in call(scores, "A", "B", "--details")[1]
    assert "79 more questions differ." in call(scores, "A", "B", "--top", "1")[1]
    assert "more questions differ." not in call(scores, "A", "B", "--top", "80")[1]


def test_a_constant_difference_says_what_there_is_not(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "shift.csv"
    path.write_text("A,B\n" + "0.7,0.5\n" * 20, encoding="utf-8")
    document = json.loads(call(str(path), "A", "B", "--json")[1])
    assert (document["effect_size"], document["units_needed"]) == (None, None)
    assert any("no effect size and no number of questions" in note for note in document["notes"])


def test_too_little_memory_is_an_error_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def too_much(_: Path) -> bytes:
        raise MemoryError

    path = tmp_path / "scores.csv"
    path.write_text("id,a,b\nq1,1,0\n")
    monkeypatch.setattr("qassay.formats.tables.read_bytes", too_much)
    assert main(["compare", str(path)]) == 1
    assert capsys.readouterr().err == "error: there is not enough memory for this input\n"


def test_an_interrupt_within_another_error_is_an_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python wraps what is raised while a class is made, as when Ctrl-C comes while libraries load."""

    def interrupted(_: Path) -> bytes:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    path = tmp_path / "scores.csv"
    path.write_text("id,a,b\nq1,1,0\n")
    monkeypatch.setattr("qassay.formats.tables.read_bytes", interrupted)
    assert main(["compare", str(path)]) == 130
    assert capsys.readouterr().err == "interrupted\n"
