"""`qassay reuse` on the built-in evaluation."""

from __future__ import annotations

import json

import pytest

from qassay.cli import main
from qassay.demo import demo_folder


def test_json_and_table_tell_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reuse", str(demo_folder()), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["runs"][0]["run"] == "hobby"
    assert all(row["score_without"] <= row["score"] + 1e-12 for row in document["runs"])
    assert main(["reuse", str(demo_folder())]) == 0
    shown = capsys.readouterr().out
    assert f"{document['mean_change']:+.3f}" in shown
    assert "cannot be left out" in shown


def test_nuggets_have_the_weights_of_scoring(capsys: pytest.CaptureFixture[str]) -> None:
    scores = []
    for verb in ("score", "reuse"):
        assert main([verb, str(demo_folder()), "--measure", "pyramid_f", "--json"]) == 0
        scores.append({row["run"]: row["score"] for row in json.loads(capsys.readouterr().out)["runs"]})
    assert scores[0] == pytest.approx(scores[1])


def test_an_unknown_way_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reuse", str(demo_folder()), "--by", "year"]) == 2
    assert "--by" in capsys.readouterr().err
