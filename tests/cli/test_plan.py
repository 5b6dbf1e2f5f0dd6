"""`qassay plan`: from pilot scores and from assumed variances."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from qassay.arrays import Floats
from qassay.cli import main
from qassay.formats.matrix import read_matrix, write_matrix
from qassay.matrix import ScoreMatrix
from qassay.meta.sensitivity import sensitivity, width_for

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def calling(*arguments: str) -> tuple[int, str, str]:
        status = main(["plan", *arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return calling


@pytest.fixture
def pilot(tmp_path: Path) -> str:
    rng = np.random.default_rng(3)
    values = rng.random(60) + 0.3 * rng.random((6, 60)) + np.linspace(0, 0.2, 6)[:, None]
    path = tmp_path / "pilot.csv"
    write_matrix(ScoreMatrix(tuple("ABCDEF"), tuple(map(str, range(60))), values), path)
    return str(path)


def test_from_a_pilot(call: Call, pilot: str) -> None:
    status, out, err = call(pilot, "--difference", "0.05", "-d", "0.02", "--json")
    document = json.loads(out)
    assert (status, err) == (0, "")
    assert [row["difference"] for row in document["differences"]] == [0.02, 0.05]
    for row in document["differences"]:
        assert set(row["units"]) == {"power", "power_hard", "predicted"}
    assert document["differences"][0]["units"]["power"] > document["differences"][1]["units"]["power"]
    assert document["differences"][1]["units"]["predicted"] is not None
    assert document["generalizability"]["units"] == 60


def test_the_recommendation_comes_first(call: Call, pilot: str) -> None:
    status, out, _ = call(pilot)
    assert status == 0
    read, blank, first, *rest = out.splitlines()
    assert (read, blank) == ("Wide table: 6 systems x 60 questions; higher is better (assumed).", "")
    assert re.match(
        r"About [0-9,]+ questions find a true difference of 0\.0\d+ in 8 of 10 evaluations\. Four of ", first
    )
    text = " ".join(rest)
    assert "What more or fewer questions can show" in text
    assert "60 (now)" in text
    assert "Each system ran once" in text
    for detail in ("Where the scores vary", "Questions needed for a difference", "coefficient of"):
        assert detail not in text
    document = json.loads(call(pilot, "--json")[1])
    best = document["recommendation"]
    assert first == best["text"]
    (row,) = (row for row in document["differences"] if row["difference"] == best["difference"])
    assert best["units"] == row["units"]["power"] > best["at_hand"] == 60
    shows = {row["units"]: row for row in document["shows"]}
    assert shows[60]["detectable"] == pytest.approx(document["detectable"])
    assert list(shows) == sorted(shows)
    # More questions show smaller differences, and a repeatable gap that the closed form gives for that size.
    detectable = [row["detectable"] for row in document["shows"]]
    assert detectable == sorted(detectable, reverse=True)
    curves = sensitivity(read_matrix(pilot), intervals=0)
    assert shows[60]["repeatable"] == curves.repeatable_difference


def test_alternatives_are_details(call: Call, pilot: str) -> None:
    out = " ".join(call(pilot, "--details")[1].split())
    for words in ("Questions needed for a difference", "Where the scores vary", "The present 60 questions show"):
        assert words in out
    assert "Questions needed for a difference" in call(pilot, "-d", "0.02", "-d", "0.05")[1]


def repeated(tmp_path: Path, shift: float) -> str:
    """Two systems, 40 questions, 4 repeats; a repeat shifts all its questions by a random number of this size."""
    rng = np.random.default_rng(1)
    easy, lines = rng.normal(0.5, 0.15, 40), ["question_id,system,epoch,score"]
    for system, better in (("A", 0.0), ("B", 0.05)):
        own = easy + better + rng.normal(0, 0.1, 40)
        for epoch in range(4):
            shifted = own + rng.normal(0, shift) + rng.normal(0, 0.2, 40)
            lines += [f"q{i},{system},{epoch},{value:.6f}" for i, value in enumerate(shifted)]
    path = tmp_path / "epochs.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_repeats_are_weighed_against_questions(call: Call, tmp_path: Path) -> None:
    path = repeated(tmp_path, 0.0)
    document = json.loads(call(path, "-d", "0.05", "--cost-question", "10", "--cost-answer", "1", "--json")[1])
    again = document["running_again"]
    assert again["at_hand"] == 4
    assert document["recommendation"]["units"] == {row["repeats"]: row["units"] for row in again["rows"]}[4]
    wanted = math.sqrt(again["rest_variance"] * 10 / (again["question_variance"] * 1))
    assert again["repeat_variance"] > 0 or abs(again["best_repeats"] - wanted) < 1
    for row in again["rows"]:
        assert row["units"] is None or row["cost"] == row["units"] * (10 + row["repeats"])
    out = call(path, "-d", "0.05")[1]
    assert "More questions, or running again?" in out
    assert "4 (now)" in out
    assert "Each system ran once" not in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cost-question", "1"], "both costs"),
        (["--cost-question", "1", "--cost-answer", "0"], "above 0"),
        (["--cost-question", "1", "--cost-answer", "1"], "no system has repeats"),
    ],
)
def test_costs_need_repeats_and_each_other(call: Call, pilot: str, arguments: list[str], message: str) -> None:
    status, _, err = call(pilot, *arguments)
    assert status == 2
    assert message in err


def test_from_assumed_variances(call: Call) -> None:
    # papers.json, generalizability: 69 units for E-rho-squared 0.95, 259 for Phi.
    status, out, _ = call("--assume", "run=0.0028117,question=0.028093", "--assume", "residual=0.010152", "--json")
    document = json.loads(out)
    assert status == 0
    assert document["units_for_coefficient"] == [{"assessors": 1, "e_rho2": 69, "phi": 259}]
    assert document["units"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "pilot scores (a folder or a file) or assumed variances"),
        (["--assume", "run=x"], "such as run=0.003"),
        (["--assume", "run=1"], "no variance for question, residual"),
        (["--assume", "run=1,unit=1,residual=1,moon=1"], "unknown source 'moon'"),
        (["--assume", "run=1,unit=1,residual=1", "--power", "2"], "power lies between 0 and 1"),
    ],
)
def test_wrong_usage(call: Call, arguments: list[str], message: str) -> None:
    status, out, err = call(*arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_wrong_usage_with_a_pilot(call: Call, pilot: str) -> None:
    assert "one of the two" in call(pilot, "--assume", "run=1")[2]
    assert "--sets does not apply to a table of scores" in call(pilot, "--sets", "a,b")[2]
    assert "larger than 0" in call(pilot, "-d", "0")[2]


def test_too_little_data_is_reported(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("A\n1\n0\n", encoding="utf-8")
    status, out, _ = call(str(path), "--json")
    notes = " ".join(json.loads(out)["notes"])
    assert status == 0
    for words in ("no power can be given", "No variances", "No repeatable gaps"):
        assert words in notes


def file_of(tmp_path: Path, values: Floats) -> str:
    runs, units = values.shape
    path = tmp_path / "scores.csv"
    write_matrix(ScoreMatrix(tuple("ABCDEF"[:runs]), tuple(map(str, range(units))), values), path)
    return str(path)


def test_one_pair_of_runs_has_no_repeatable_sizes(call: Call, tmp_path: Path) -> None:
    document = json.loads(call(file_of(tmp_path, np.random.default_rng(0).random((2, 30))), "--json")[1])
    assert all(row["units"]["predicted"] is None for row in document["differences"])
    assert any("three runs or more" in note for note in document["notes"])
    apart = np.random.default_rng(0).random((3, 30)) / 2 + np.array([[0.0], [0.2], [0.5]])
    document = json.loads(call(file_of(tmp_path, apart), "--json")[1])
    assert any(row["units"]["predicted"] is not None for row in document["differences"])
    assert "The error rates rest on 3 pairs of runs only." in document["notes"]


def test_scores_up_to_a_hundred_have_differences_of_their_own(call: Call, tmp_path: Path) -> None:
    values = np.random.default_rng(0).integers(0, 101, (4, 40)) + 20 * np.arange(4.0)[:, None]
    document = json.loads(call(file_of(tmp_path, np.minimum(values, 100.0)), "--json")[1])
    assert [row["difference"] for row in document["differences"]] == [1, 2, 3, 5, 7, 10, 15]
    assert any(row["units"]["predicted"] is not None for row in document["differences"])


def test_repeatable_sizes_are_those_of_the_closed_form(call: Call, tmp_path: Path) -> None:
    values = np.random.default_rng(3).normal(np.linspace(0.3, 0.6, 6)[:, None], 0.1, (6, 11))
    path = file_of(tmp_path, values)
    document = json.loads(call(path, "-d", "0.1", "--json")[1])
    (row,) = document["differences"]
    assert not any("No repeatable size" in note for note in document["notes"])
    curves = sensitivity(read_matrix(path), intervals=0, bin_width=width_for(read_matrix(path)))
    size = row["units"]["predicted"]
    assert curves.predicted_at(size)[curves.bin_of(0.1)] <= 0.05 < curves.predicted_at(size - 1)[curves.bin_of(0.1)]


def test_sizes_that_are_missing_have_a_reason(call: Call, tmp_path: Path) -> None:
    same = np.full((3, 20), 0.5)
    notes = json.loads(call(file_of(tmp_path, same), "--json")[1])["notes"]
    reason = (
        "These questions do not separate any two of these systems, so no gap between them can be called repeatable."
    )
    assert reason in notes
    some = np.random.default_rng(1).random((4, 40)) / 2 + np.array([[0.0], [0.1], [0.2], [0.4]])
    notes = json.loads(call(file_of(tmp_path, some), "-d", "0.005", "-d", "0.05", "-d", "0.9", "--json")[1])["notes"]
    assert any(note.startswith("No repeatable size for 0.005: so small a difference") for note in notes)
    assert "No repeatable size for 0.9: so large a difference is in the open bin." in notes
