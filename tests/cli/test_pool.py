"""`qassay pool`: what is to be judged, counted by hand, and a sheet that becomes a judgment set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pooling import store_items

from acting import act
from qassay.cli import main
from qassay.evaluation import open_evaluation
from qassay.formats.folder import open_folder
from qassay.judging.items import pool_items
from qassay.store.assignment.assignments import assign
from qassay.store.engine import open_store
from qassay.store.folder.importing import import_folder
from qassay.store.pool.items import order_seed
from qassay.tally import ListCounts

QUESTIONS = [
    {"id": "1.1", "type": "factoid", "text": "Who?", "series": "1", "target": "T"},
    {"id": "1.2", "type": "list", "text": "Which?", "series": "1", "target": "T"},
    {"id": "1.3", "type": "other", "text": "", "series": "1", "target": "T"},
]
# Two runs share the factoid item; b's list is empty; both give an other response.
RUNS = {
    "a": "1.1 a d1 x y\n1.2 a d1 p\n1.2 a d1 p\n1.2 a d2 q\n1.3 a d1 fact\n",
    "b": "1.1 b d1 x y\n1.2 b NIL\n1.3 b d1 fact\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "eval"
    (folder / "runs").mkdir(parents=True)
    (folder / "qassay.toml").write_text('task = "series2004"\n')
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS))
    for tag, text in RUNS.items():
        (folder / "runs" / f"{tag}.txt").write_text(text)
    return folder


def counted(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, Any]:
    assert main(["pool", str(folder), "--json", *more]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_equal_items_are_judged_once_and_lists_run_by_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    types = counted(folder, capsys)["types"]
    assert {name: (counts["returned"], counts["to_judge"], counts["left"]) for name, counts in types.items()} == {
        "factoid": (2, 1, 1),
        "list": (3, 2, 2),  # the item that a returned twice is judged by one row
        "other": (2, 2, 2),
    }


def test_a_filled_sheet_becomes_a_judgment_set(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "first.jsonl"
    assert main(["pool", str(folder), "--sheet", str(sheet)]) == 0
    rows = [json.loads(line) for line in sheet.read_text().splitlines()]
    assert rows[0] == {"question": "1.1", "doc": "d1", "text": "x y", "judgment": "", "asked": "Who?"}
    assert "run" not in rows[0]  # pooled items do not tell who returned them
    for row in rows:
        row |= {"judgment": "R"} if "judgment" in row else {}
        row |= {"answer": row["text"]} if "answer" in row else {}
        row |= {"nuggets": []} if "nuggets" in row else {}
    sheet.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["import", str(folder), str(sheet)]) == 0
    capsys.readouterr()
    document = counted(folder, capsys, "--set", "first")
    assert document["key"] == "first"
    assert all(counts["left"] == 0 for counts in document["types"].values())


def test_a_sheet_that_nobody_has_filled_in_is_not_a_judgment(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "first.jsonl"
    assert main(["pool", str(folder), "--sheet", str(sheet)]) == 0
    capsys.readouterr()
    assert main(["import", str(folder), str(sheet)]) == 1
    assert "first.jsonl: nothing is judged yet: the verdict of every row is empty" in capsys.readouterr().err


def test_a_sheet_that_is_judged_in_part_counts_as_far_as_it_is(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "first.jsonl"
    assert main(["pool", str(folder), "--sheet", str(sheet)]) == 0
    first, *others = [json.loads(line) for line in sheet.read_text().splitlines()]
    sheet.write_text("".join(json.dumps(row) + "\n" for row in (first | {"judgment": "R"}, *others)))
    capsys.readouterr()
    assert main(["import", str(folder), str(sheet)]) == 0
    assert f"first.jsonl: {len(others)} rows without a verdict left out" in capsys.readouterr().err
    judged = [json.loads(line) for line in (folder / "judgments" / "first.jsonl").read_text().splitlines()]
    assert [row["judgment"] for row in judged] == ["R"]


def test_right_items_of_a_sheet_without_a_class_are_answers_of_their_own(folder: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "first.jsonl"
    assert main(["pool", str(folder), "--sheet", str(sheet)]) == 0
    rows = [json.loads(line) for line in sheet.read_text().splitlines()]
    filled = [row | ({"nuggets": []} if "nuggets" in row else {"judgment": "R"}) for row in rows]
    sheet.write_text("".join(json.dumps(row) + "\n" for row in filled))
    assert main(["import", str(folder), str(sheet)]) == 0
    counts = open_evaluation(folder).tally("first").types["list"].counts
    assert isinstance(counts, ListCounts)
    assert counts.known.tolist() == [2]
    assert counts.distinct.tolist() == [[2], [0]]


def test_a_sheet_is_never_overwritten(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = tmp_path / "first.jsonl"
    sheet.write_text("somebody's work\n")
    assert main(["pool", str(folder), "--sheet", str(sheet)]) == 2
    assert "there already" in capsys.readouterr().err
    assert sheet.read_text() == "somebody's work\n"


def test_an_unknown_set_is_counted_as_not_begun(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = counted(folder, capsys, "--set", "nobody")
    assert document["key"] is None
    assert document["types"]["factoid"]["left"] == 1


def test_assigned_work_is_reported_by_set(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "assigned" not in counted(folder, capsys)
    store = open_store(folder, create=True)
    import_folder(store, open_folder(folder))
    evaluation = open_evaluation(folder, store=store)
    with store.write() as connection:
        seed = order_seed(connection)
        store_items(connection, pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed=seed))
        assign(act(connection), evaluation.questions, assessors=2, accounts=[])
    store.close()
    # One factoid item, one list that is not empty, two other responses.
    expected = {"questions": 3, "finished": 0, "decisions": 5, "judged": 0, "left": 5}
    assert counted(folder, capsys)["assigned"] == {"first": expected, "second": expected}
    assert main(["pool", str(folder)]) == 0
    assert "What is assigned in the application" in capsys.readouterr().out
