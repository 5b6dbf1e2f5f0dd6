"""Keys of people and programs: what people judged stays, programs judge the rest, outputs say who did what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import qassay
from qassay.cli import main

KEY = "adjudicated+patterns+overlap"
NEW = "newcomer"


def command(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    capsys.readouterr()
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The demo with one run that nobody judged, judged by two programs."""
    place = tmp_path / "demo"
    assert main(["demo", "--to", str(place)]) == 0
    _add_run(place)
    for assessor in ("patterns", "overlap"):
        assert main(["judge", str(place), "--with", assessor]) == 0
    return place


def _add_run(place: Path) -> None:
    """A copy of the best run that says everything with other strings, so that nothing of it is judged."""
    evaluation = qassay.open(place)
    rows: dict[str, list[dict[str, Any]]] = {}
    table = evaluation.runs.table.filter(evaluation.runs.table["run"] == "hobby")
    for row in table.iter_rows(named=True):
        items = rows.setdefault(str(row["question"]), [])
        if row["rank"] > 0:
            items.append({"doc": row["doc"], "text": f"{row['text']} , then"})
    lines = [
        {"run": NEW, "question": question, "items": items, **({} if items else {"nil": True})}
        for question, items in rows.items()
    ]
    (place / "runs" / f"{NEW}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_fully_judged_runs_keep_their_scores(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mixed = command(capsys, "score", folder, "--key", KEY, "--unjudged", "wrong")
    (folder / "runs" / f"{NEW}.jsonl").unlink()
    people = command(capsys, "score", folder)
    before = {row["run"]: row for row in people["runs"]}
    after = {row["run"]: row for row in mixed["runs"]}
    assert set(after) - set(before) == {NEW}
    for run, row in before.items():
        assert after[run]["score"] == row["score"]
        assert after[run]["components"] == row["components"]
        assert mixed["matrix"][run] == people["matrix"][run]
    assert after[NEW]["score"] > 0


def test_every_output_says_who_judged_how_much_of_each_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = command(capsys, "score", folder, "--key", KEY, "--unjudged", "wrong")
    judged = scores["judged_by"]
    assert judged[NEW]["adjudicated"] == 0
    assert judged[NEW]["patterns"] > 0
    assert judged[NEW]["overlap"] > 0
    assert all(counts["patterns"] == counts["overlap"] == 0 for run, counts in judged.items() if run != NEW)
    # Counted again: distinct things of the run that have a row, in the first set that has one.
    rows = [json.loads(line) for line in (folder / "judgments" / "patterns.jsonl").read_text().splitlines()]
    mine = {
        (str(row["question"]), row["doc"], row["text"])
        for row in qassay.open(folder).runs.table.iter_rows(named=True)
        if row["run"] == NEW and row["rank"] > 0
    }
    subjects = {(row["question"], row["doc"], row["text"]) for row in rows if row.get("run") in (None, NEW)}
    assert judged[NEW]["patterns"] == len(mine & subjects)
    for arguments in (["score"], ["sensitivity"], ["compare"]):
        capsys.readouterr()
        assert main([*arguments, str(folder), "--key", KEY, "--unjudged", "wrong"]) == 0
        assert "Judgments by set" in capsys.readouterr().out.replace("\n", " ")


def test_a_score_of_people_and_programs_has_no_interval(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["score", str(folder), "--key", KEY, "--unjudged", "wrong"]) == 0
    assert "95% interval" not in capsys.readouterr().out
    assert main(["score", str(folder), "--key", KEY, "--unjudged", "wrong", "--intervals"]) == 2


def test_an_answer_that_only_a_program_found_is_not_a_known_answer(folder: Path) -> None:
    evaluation = qassay.open(folder)
    people, mixed = evaluation.key("adjudicated"), evaluation.key(KEY)
    assert mixed.answer_classes().equals(people.answer_classes())
    assert (mixed.nil_is_right(evaluation.questions) == people.nil_is_right(evaluation.questions)).all()
    assert mixed.nuggets.equals(people.nuggets)
    classes = set(people.answer_classes().iter_rows())
    rows = mixed.right_list_items().iter_rows(named=True)
    theirs = [row for row in rows if row["run"] == NEW]
    assert theirs
    assert any(row["class"] is None for row in theirs)
    for row in theirs:
        assert row["class"] is None or (row["question"], row["class"]) in classes


def test_a_set_of_exactly_that_name_wins(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", str(folder), "--with", "patterns", "--set", "adjudicated+patterns"]) == 0
    scores = command(
        capsys, "score", folder, "--key", "adjudicated+patterns", "--component", "factoid", "--unjudged", "wrong"
    )
    plain = command(capsys, "score", folder, "--key", "patterns", "--component", "factoid", "--unjudged", "wrong")
    assert "judged_by" not in scores
    assert scores["matrix"] == plain["matrix"]


def test_a_part_that_is_not_there_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(folder), "--key", "adjudicated+nobody"]) != 0
    assert "nobody" in capsys.readouterr().err
