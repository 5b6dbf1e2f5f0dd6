"""`qassay report`: what is written, and that nothing is written where something is wrong."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from qassay.cli import main
from qassay.demo import demo_folder

SCORES = "id,A,B,C\n" + "".join(
    f"q{unit},{unit % 3 / 2},{unit % 5 / 4},{int(unit % 2 == 0 or unit > 28)}\n" for unit in range(30)
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "scores.csv").write_text(SCORES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def document_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["report", *arguments, "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def refused(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 1) -> str:
    assert main(["report", *arguments]) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_scores_become_a_page(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "scores.csv"]) == 0
    printed = capsys.readouterr().out
    assert files(place) == {"scores.csv", "report.html"}
    page = (place / "report.html").read_text(encoding="utf-8")
    assert "<h1>Results: scores.csv</h1>" in page
    read, _, answer = printed.splitlines()[:3]
    assert read == "Wide table: 3 systems x 30 questions."
    assert answer.startswith("C leads with 0.533, but chance alone could explain its lead over ")
    assert "Wrote report.html" in printed
    assert "qassay compare scores.csv" in page


@pytest.mark.parametrize(("name", "form"), [("r.md", "markdown"), ("r.tex", "latex"), ("r.htm", "html")])
def test_the_ending_of_the_file_chooses_the_form(
    place: Path, capsys: pytest.CaptureFixture[str], name: str, form: str
) -> None:
    document = document_of(capsys, "scores.csv", "--to", name)
    assert (document["format"], document["files"]) == (form, [name])
    assert document["bytes"] == (place / name).stat().st_size


def test_a_folder_has_tables_and_figures(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = document_of(capsys, "scores.csv", "--format", "csv", "--to", "bundle")
    assert set(document["files"]) == files(place / "bundle")
    figures = {name.removesuffix(".svg") for name in document["files"] if name.endswith(".svg")}
    assert {"leaderboard", "power"} <= figures
    for name in figures:
        assert {f"{name}.csv", f"{name}.png", f"{name}.pdf"} <= files(place / "bundle")
    rows = (place / "bundle" / "scores.csv").read_text().splitlines()
    assert rows[0] == "rank,run,score,95% interval,group,possible ranks"
    assert len(rows) == 4


def test_tables_as_parquet_are_those_as_csv(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document_of(capsys, "scores.csv", "--format", "csv", "--to", "as-csv")
    document = document_of(capsys, "scores.csv", "--format", "parquet", "--to", "as-parquet")
    assert document["format"] == "parquet"
    tables = [name for name in document["files"] if name.endswith(".parquet")]
    assert {Path(name).stem for name in tables} == {path.stem for path in (place / "as-csv").glob("*.csv")}
    for name in tables:
        rows = pl.read_parquet(place / "as-parquet" / name)
        assert rows.write_csv() == (place / "as-csv" / name.replace(".parquet", ".csv")).read_text()


def test_options_reach_the_scores_and_the_commands(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document_of(capsys, str(demo_folder()), "--component", "factoid", "--seed", "7", "--name", "For <the> meeting")
    page = (place / "report.html").read_text(encoding="utf-8")
    assert "77 questions" in page
    assert "--component factoid --seed 7" in page
    assert "Results: For &lt;the&gt; meeting" in page


def test_a_report_is_not_overwritten_without_force(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "report.html").write_text("mine")
    assert "report.html: exists already. To replace it: --force" in refused(capsys, "scores.csv")
    assert (place / "report.html").read_text() == "mine"
    document_of(capsys, "scores.csv", "--force")
    assert (place / "report.html").read_text() != "mine"


def test_a_folder_with_files_needs_force(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "bundle").mkdir()
    (place / "bundle" / "other.txt").write_text("mine")
    assert "bundle: is not empty" in refused(capsys, "scores.csv", "--format", "csv", "--to", "bundle")
    document_of(capsys, "scores.csv", "--format", "csv", "--to", "bundle", "--force")
    assert "other.txt" in files(place / "bundle")


def test_places_that_cannot_be_written_are_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "nowhere: there is no such folder. Make it first" in refused(capsys, "scores.csv", "--to", "nowhere/r.html")
    (place / "made").mkdir()
    assert "made: is a folder. Name a file" in refused(capsys, "scores.csv", "--to", "made")
    message = refused(capsys, "scores.csv", "--to", "scores.csv", "--format", "csv", "--force")
    assert "scores.csv: is a file. Name a folder" in message
    assert files(place) == {"scores.csv"}


def test_a_read_only_folder_is_named(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "locked").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "locked")
    message = refused(capsys, "scores.csv", "--to", "locked/r.html")
    assert "locked: the folder cannot be written to" in message
    assert list((place / "locked").iterdir()) == []


def test_a_full_disk_leaves_nothing_behind(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for form in ("html", "csv"):
        assert "No space left" in refused(capsys, "scores.csv", "--format", form)
    assert [path.name for path in place.iterdir()] == ["scores.csv"]


def test_an_evaluation_with_errors_has_no_report(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(demo_folder(), place / "broken")
    run = next((place / "broken" / "runs").iterdir())
    run.write_text(run.read_text(encoding="utf-8") + "nonsense\n", encoding="utf-8")
    assert run.name in refused(capsys, "broken")
    assert not (place / "report.html").exists()


def test_unjudged_work_stops_the_report_unless_allowed(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(demo_folder(), place / "open")
    judgments = place / "open" / "judgments" / "adjudicated.jsonl"
    rows = judgments.read_text(encoding="utf-8").splitlines(keepends=True)
    judgments.write_text("".join(rows[5:]), encoding="utf-8")
    assert "--unjudged" in refused(capsys, "open")
    assert not (place / "report.html").exists()
    document_of(capsys, "open", "--unjudged", "wrong")
    page = (place / "report.html").read_text(encoding="utf-8")
    assert "counted as wrong (--unjudged wrong)" in page
    assert "qassay score open --unjudged wrong" in page


def test_wrong_usage_ends_with_two(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--top is for --format latex" in refused(capsys, "scores.csv", "--top", "3", status=2)
    assert "name it with --to" in refused(capsys, str(demo_folder()), "--by", "organisation", status=2)
    message = refused(capsys, "scores.csv", "--by", "organisation", "--to", "pages", status=2)
    assert "needs an evaluation" in message


def test_each_organisation_gets_its_page(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = document_of(capsys, str(demo_folder()), "--by", "organisation", "--to", "pages")
    assert document["pages"]["team-b.html"] == "team B"
    assert files(place / "pages") == set(document["pages"])
    page = (place / "pages" / "team-b.html").read_text(encoding="utf-8")
    assert "Results of team B" in page
    assert "hobby" not in page


def test_runs_without_organisations_have_no_pages(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(demo_folder(), place / "nameless")
    (place / "nameless" / "runs.jsonl").unlink()
    message = refused(capsys, "nameless", "--by", "organisation", "--to", "pages")
    assert "no run names its organisation" in message
    assert not (place / "pages").exists()
