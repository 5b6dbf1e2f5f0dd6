"""One faulty file and the rest: `import` leaves nothing that `serve` refuses, `score` names other faulty sets."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from qassay.cli import main
from qassay.formats.folder import Folder
from qassay.store.engine import open_store
from qassay.store.folder.importing import import_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small evaluation in files, with nuggets and judgments of them."""
    folder = tmp_path / "eval"
    rows: dict[str, list[dict[str, Any]]] = {
        "questions.jsonl": [{"id": "1", "type": "definition", "text": "What is a club?"}],
        "nuggets/development.jsonl": [{"question": "1", "nugget": "1", "vital": True, "text": "chess"}],
        "judgments/first.jsonl": [{"question": "1", "run": "a", "nuggets": ["1"]}],
    }
    for name, lines in rows.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in lines))
    (folder / "qassay.toml").write_text('task = "definition"\n')
    (folder / "runs").mkdir()
    (folder / "runs" / "a.txt").write_text("1 a D1 it plays chess\n")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def serve(folder: Path) -> None:
    """What `serve` does first."""
    with closing(open_store(folder, create=True)) as store:
        import_folder(store, Folder(folder))


def test_a_nugget_list_that_makes_earlier_judgments_ambiguous_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "second.jsonl"
    other.write_text('{"question": "1", "nugget": "7", "vital": true, "text": "cards"}\n')
    before = contents(folder)
    assert main(["import", str(folder), str(other), "--as", "nuggets"]) == 1
    assert "judgments/first.jsonl" in capsys.readouterr().err
    assert contents(folder) == before
    serve(folder)


def test_an_id_that_no_database_keeps_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "questions.jsonl"
    rows = [{"id": number, "type": "definition", "text": "What?"} for number in ("1", "x" * 300)]
    other.write_text("".join(json.dumps(row) + "\n" for row in rows))
    before = contents(folder)
    assert main(["import", str(folder), str(other), "--replace"]) == 1
    assert "longer than 200 characters" in capsys.readouterr().err
    assert contents(folder) == before
    serve(folder)


def test_a_fault_that_was_there_before_does_not_stop_an_import(folder: Path, tmp_path: Path) -> None:
    (folder / "judgments" / "third.jsonl").write_text("not a row\n")
    other = tmp_path / "b.txt"
    other.write_text("1 b D1 it plays\n")
    assert main(["import", str(folder), str(other)]) == 0
    assert (folder / "runs" / "b.txt").is_file()


def test_score_says_when_another_set_is_corrupt(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(folder), "--key", "first"]) == 0
    assert capsys.readouterr().err == ""
    (folder / "judgments" / "second.jsonl").write_text('{"question": "1", "run": "a", "nuggets": ["1"]}\n{broken\n')
    assert main(["score", str(folder), "--key", "first", "--json"]) == 0
    shown = capsys.readouterr()
    scores = json.loads(shown.out)
    assert scores["key"] == "first"
    (note,) = [note for note in scores["notes"] if "judgment set second cannot be read" in note]
    assert "judgments/second.jsonl:2" in note
