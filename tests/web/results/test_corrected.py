"""Pages about an automatic assessor: corrected scores and differences, as soon as people have judged its sample."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from qassay.cli import main
from qassay.demo import demo_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The built-in evaluation; the second assessor is a program, and its sample is drawn."""
    folder = tmp_path / "series"
    shutil.copytree(demo_folder("series"), folder)
    with (folder / "qassay.toml").open("a", encoding="utf-8") as file:
        file.write('automatic = ["second"]\n')
    (folder / "judgments" / "third.jsonl").unlink()
    assert main(["sample", str(folder), "--size", "40", "--for", "second"]) == 0
    return folder


def test_corrected_scores_are_beside_those_of_the_program(folder: Path, serve, capsys) -> None:
    capsys.readouterr()
    assert main(["score", str(folder), "--key", "second", "--correct-with", "adjudicated", "--json"]) == 0
    wanted = json.loads(capsys.readouterr().out)
    served = serve(folder)
    page = served.page("/results", key="second")
    assert [table["name"] for table in page["tables"]][:2] == ["corrected", "leaderboard"]
    assert page["document"]["corrected"] == wanted
    assert page["answer"].startswith("hobby scores best with 0.")
    assert "40 questions labelled by adjudicated" in page["answer"]
    html = served.html("/results", key="second")
    assert "second corrected with adjudicated" in html
    assert "Judged by a program: intervals and tests leave its errors out" in html
    assert "corrected" not in served.page("/results")["document"]


@pytest.mark.parametrize("runs", [{}, {"a": "hobby", "b": "egret"}], ids=["all pairs", "two runs"])
def test_corrected_differences_are_beside_those_of_the_program(
    folder: Path, serve, capsys, runs: dict[str, str]
) -> None:
    capsys.readouterr()
    corrected = ["--key", "second", "--correct-with", "adjudicated", "--json"]
    assert main(["compare", str(folder), *runs.values(), *corrected]) == 0
    wanted = json.loads(capsys.readouterr().out)
    served = serve(folder)
    page = served.page("/results/compare", key="second", **runs)
    assert page["tables"][0]["name"] == "corrected"
    assert len(page["tables"]) > 1
    assert page["document"]["corrected"] == wanted
    assert "40 questions labelled by adjudicated" in page["answer"]
    assert "corrected" not in served.page("/results/compare", **runs)["document"]


def test_an_unjudged_sample_says_why_there_is_no_correction(folder: Path, serve) -> None:
    for name in ("adjudicated", "first"):
        path = folder / "judgments" / f"{name}.jsonl"
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        last = json.loads((folder / "samples" / "second.jsonl").read_text(encoding="utf-8").splitlines()[0])["question"]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows if row["question"] != last), encoding="utf-8")
    served = serve(folder)
    for place, runs in (("/results", {}), ("/results/compare", {"a": "hobby", "b": "egret"})):
        notes = served.page(place, key="second", **runs)["tables"][0]["notes"]
        assert any(note.startswith("No corrected scores yet: ") and "drawn before it" in note for note in notes)
