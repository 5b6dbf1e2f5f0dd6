"""`qassay plan`: from pilot scores and from assumed variances."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from qassay.cli.app import run
from qassay.formats.matrix import write_matrix
from qassay.matrix import ScoreMatrix

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def calling(*arguments: str) -> tuple[int, str, str]:
        status = run(["plan", *arguments])
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
