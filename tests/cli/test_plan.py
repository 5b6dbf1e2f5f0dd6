"""`qassay plan`: from pilot scores and from assumed variances."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from qassay.cli import main
from qassay.formats.matrix import read_matrix, write_matrix
from qassay.matrix import Floats, ScoreMatrix
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
        assert set(row["units"]) == {"power", "power_hard", "fit", "predicted"}
    assert document["differences"][0]["units"]["power"] > document["differences"][1]["units"]["power"]
    assert document["differences"][1]["units"]["predicted"] is not None
    assert document["generalizability"]["units"] == 60
    assert any("extrapolated" in note for note in document["notes"])


def test_for_people(call: Call, pilot: str) -> None:
    status, out, _ = call(pilot)
    assert status == 0
    for words in ("Units needed to see a difference", "Where the scores vary", "The 60 units at hand show"):
        assert words in " ".join(out.split())


def test_from_assumed_variances(call: Call) -> None:
    # papers.json, generalizability: 69 units for E-rho-squared 0.95, 259 for Phi.
    status, out, _ = call("--assume", "run=0.0028117,unit=0.028093", "--assume", "residual=0.010152", "--json")
    document = json.loads(out)
    assert status == 0
    assert document["units_for_coefficient"] == [{"assessors": 1, "e_rho2": 69, "phi": 259}]
    assert document["units"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "pilot scores (a folder or a file) or --assume"),
        (["--assume", "run=x"], "such as run=0.003"),
        (["--assume", "run=1"], "no variance for unit, residual"),
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
    assert "a score matrix has none" in call(pilot, "--sets", "a,b")[2]
    assert "larger than 0" in call(pilot, "-d", "0")[2]


def test_too_little_is_said(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("A\n1\n0\n", encoding="utf-8")
    status, out, _ = call(str(path), "--json")
    notes = " ".join(json.loads(out)["notes"])
    assert status == 0
    for words in ("no power can be said", "No variances", "No error rates"):
        assert words in notes


def file_of(tmp_path: Path, values: Floats) -> str:
    runs, units = values.shape
    path = tmp_path / "scores.csv"
    write_matrix(ScoreMatrix(tuple("ABCDEF"[:runs]), tuple(map(str, range(units))), values), path)
    return str(path)


def test_one_pair_of_runs_has_no_sizes_by_error_rate(call: Call, tmp_path: Path) -> None:
    document = json.loads(call(file_of(tmp_path, np.random.default_rng(0).random((2, 30))), "--json")[1])
    assert all(row["units"]["fit"] is None and row["units"]["predicted"] is None for row in document["differences"])
    assert any("three runs or more" in note for note in document["notes"])
    document = json.loads(call(file_of(tmp_path, np.random.default_rng(0).random((3, 30))), "--json")[1])
    assert any(row["units"]["fit"] is not None for row in document["differences"])
    assert "The error rates rest on 3 pairs of runs only." in document["notes"]


def test_scores_up_to_a_hundred_have_differences_of_their_own(call: Call, tmp_path: Path) -> None:
    values = np.random.default_rng(0).integers(0, 101, (4, 40)) + np.arange(4.0)[:, None]
    document = json.loads(call(file_of(tmp_path, np.minimum(values, 100.0)), "--json")[1])
    assert [row["difference"] for row in document["differences"]] == [1, 2, 3, 5, 7, 10, 15]
    assert any(row["units"]["fit"] is not None for row in document["differences"])


def test_the_closed_form_gives_sizes_where_no_curve_fits(call: Call, tmp_path: Path) -> None:
    # One size measured: no bin has the three points of a fit.
    values = np.random.default_rng(3).normal(np.linspace(0.3, 0.6, 6)[:, None], 0.1, (6, 11))
    path = file_of(tmp_path, values)
    document = json.loads(call(path, "-d", "0.1", "--json")[1])
    (row,) = document["differences"]
    assert row["units"]["fit"] is None
    assert any(note.startswith("No size by the fitted error rate:") for note in document["notes"])
    assert not any("predicted error rate" in note for note in document["notes"])
    curves = sensitivity(read_matrix(path), intervals=0, bin_width=width_for(read_matrix(path)))
    size = row["units"]["predicted"]
    assert curves.predicted_at(size)[curves.bin_of(0.1)] <= 0.05 < curves.predicted_at(size - 1)[curves.bin_of(0.1)]


def test_sizes_that_are_missing_have_a_reason(call: Call, tmp_path: Path) -> None:
    same = np.full((3, 20), 0.5)
    notes = json.loads(call(file_of(tmp_path, same), "--json")[1])["notes"]
    assert "No size by the fitted error rate: runs differ by so much at too few of the sizes measured." in notes
    assert "No size by the predicted error rate: no two runs are expected to differ by so much." in notes
    some = np.random.default_rng(1).random((4, 40))
    notes = json.loads(call(file_of(tmp_path, some), "-d", "0.005", "-d", "0.05", "-d", "0.9", "--json")[1])["notes"]
    assert "No size by error rate for 0.005: so small a difference has no curve." in notes
    assert "No size by error rate for 0.9: so large a difference has no curve." in notes
