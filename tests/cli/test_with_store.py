"""Commands on an evaluation that has a store: they read it, they write it, and its files are left alone."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

import qassay
from acting import act
from qassay.cli import main
from qassay.formats.folder import Folder, read_configuration
from qassay.store.development.drafts import new_series
from qassay.store.engine import open_store
from qassay.store.folder.importing import import_folder
from qassay.store.judging.judgments import append

Captured = pytest.CaptureFixture[str]


@pytest.fixture(params=["sqlite"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A built-in evaluation with a store."""
    folder = Path(shutil.copytree(qassay.demo_folder(), tmp_path / "eval"))
    if request.param == "postgresql":
        configuration = folder / "qassay.toml"
        url = request.getfixturevalue("postgres_url")
        configuration.write_text(f'database = "{url}"\n' + configuration.read_text())
    store = open_store(folder, create=True)
    import_folder(store, Folder(folder))
    store.close()
    return folder


# Where a command does more with the database than read and take in.
both_databases = pytest.mark.parametrize("folder", ["sqlite", "postgresql"], indirect=True)


def judge(folder: Path, **row: Any) -> None:
    """Judge an item as the application does."""
    store = open_store(folder)
    with store.write() as connection:
        append(act(connection), "adjudicated", "item", row)
    store.close()


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith("qassay.db")
    }


def output(capsys: Captured, *arguments: object) -> Any:
    capsys.readouterr()
    status = main([*map(str, arguments), "--json"])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    return json.loads(captured.out)


def warnings(capsys: Captured, folder: Path) -> list[str]:
    return [warning["file"] for warning in output(capsys, "check", folder)["warnings"]]


def wrong_item(folder: Path) -> dict[str, Any]:
    """An item of the best run that is judged R, as the row that says W."""
    for line in (folder / "judgments" / "adjudicated.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row.get("judgment") == "R" and "run" not in row:
            return {**row, "judgment": "W"}
    raise AssertionError


@both_databases
def test_scores_are_those_of_the_store(folder: Path, capsys: Captured) -> None:
    before = output(capsys, "score", folder)
    judge(folder, **wrong_item(folder))
    assert output(capsys, "score", folder) != before
    for verb in ("pool", "agree", "stability"):
        assert output(capsys, verb, folder)


def test_check_warns_of_each_file_that_differs(folder: Path, capsys: Captured) -> None:
    assert warnings(capsys, folder) == []
    judge(folder, **wrong_item(folder))
    assert warnings(capsys, folder) == ["judgments/adjudicated.jsonl"]
    (folder / "answers.jsonl").write_text('{"question": "1.1", "answer": "something new"}\n')
    (folder / "runs" / "hobby.txt").write_text("1.1 hobby NIL\n")
    (folder / "runs.jsonl").write_text("not JSON")
    questions = folder / "questions.jsonl"
    questions.write_text(questions.read_text().replace("?", "??", 1))
    (folder / "nuggets" / "mine.jsonl").write_text('{"question": "1.7", "nugget": "1", "vital": true, "text": "t"}\n')
    assert sorted(warnings(capsys, folder)) == [
        "answers.jsonl",
        "judgments/adjudicated.jsonl",
        "nuggets/mine.jsonl",
        "questions.jsonl",
        "runs.jsonl",
        "runs/hobby.txt",
    ]
    main(["check", str(folder)])
    assert "answers.jsonl: differs from the store" in capsys.readouterr().err


def test_check_says_how_to_complete_a_file_that_lacks_rows(folder: Path, capsys: Captured) -> None:
    judge(folder, **wrong_item(folder))
    questions = folder / "questions.jsonl"
    *others, _ = questions.read_text().splitlines(keepends=True)
    questions.write_text("".join(others))
    messages = [warning["message"] for warning in output(capsys, "check", folder)["warnings"]]
    assert len(messages) == 2
    for message in messages:
        advice, command = message.split(". To write the file again: qassay ")
        assert advice == "lacks rows that the store has, and the store counts"
    assert main(shlex.split(command)) == 0
    assert warnings(capsys, folder) == []


@both_databases
def test_import_writes_to_the_store(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    row = wrong_item(folder)
    before = files(folder)
    scores = output(capsys, "score", folder)
    sheet = tmp_path / "adjudicated.jsonl"
    sheet.write_text(json.dumps(row) + "\n")
    (tmp_path / "new.txt").write_text((folder / "runs" / "hobby.txt").read_text().replace(" hobby ", " new "))
    (tmp_path / "about.jsonl").write_text('{"run": "new", "organisation": "theirs"}\n')
    (tmp_path / "patterns.txt").write_text("1.1 some pattern\n")
    paths = [sheet, tmp_path / "new.txt", tmp_path / "about.jsonl", tmp_path / "patterns.txt"]
    added = output(capsys, "import", folder, *paths)["added"]
    assert [(entry["count"], entry["to"]) for entry in added] == [
        (1, ["judgments/adjudicated.jsonl"]),
        (1, ["runs/new.txt"]),
        (1, ["runs.jsonl"]),
        (1, ["patterns.txt"]),
    ]
    assert (folder / "patterns.txt").read_bytes() == before.pop("patterns.txt") + b"1.1 some pattern\n"
    assert {name: data for name, data in files(folder).items() if name != "patterns.txt"} == before
    after = output(capsys, "score", folder, "--unjudged", "wrong")
    assert after != scores
    assert {run["run"] for run in after["runs"]} - {run["run"] for run in scores["runs"]} == {"new"}
    assert qassay.open(folder).runs.information["new"].organisation == "theirs"
    assert [entry["count"] for entry in output(capsys, "import", folder, *paths)["added"]] == [0, 0, 0, 0]


def test_import_replaces_only_on_request(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    other = tmp_path / "hobby.txt"
    other.write_text((folder / "runs" / "badger.txt").read_text().replace(" badger ", " hobby "))
    before = output(capsys, "score", folder)
    assert main(["import", str(folder), str(other)]) == 1
    assert "another run hobby" in capsys.readouterr().err
    assert output(capsys, "score", folder) == before
    output(capsys, "import", folder, other, "--replace")
    scored = {row["run"]: row["score"] for row in output(capsys, "score", folder, "--unjudged", "wrong")["runs"]}
    assert scored["hobby"] != {row["run"]: row["score"] for row in before["runs"]}["hobby"]


def test_a_faulty_file_leaves_the_store_as_it_was(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    before = output(capsys, "score", folder)
    good, bad = tmp_path / "adjudicated.jsonl", tmp_path / "first.jsonl"
    good.write_text(json.dumps(wrong_item(folder)) + "\n")
    bad.write_text('{"question": "1.1", "doc": "D", "text": "t", "judgment": "?"}\n')
    assert main(["import", str(folder), str(good), str(bad)]) == 1
    assert "first.jsonl:1" in capsys.readouterr().err
    assert output(capsys, "score", folder) == before


def test_warnings_of_check_allow_the_import(folder: Path, capsys: Captured) -> None:
    path = folder / "judgments" / "first.jsonl"
    path.write_text(path.read_text() + json.dumps(wrong_item(folder)) + "\n")
    assert warnings(capsys, folder) == ["judgments/first.jsonl"]
    assert output(capsys, "import", folder, path)["added"][0]["count"] == 1
    assert warnings(capsys, folder) == []


def test_the_store_can_be_exported_over_the_files(folder: Path, capsys: Captured) -> None:
    judge(folder, **wrong_item(folder))
    scores = output(capsys, "score", folder)
    path = folder / "questions.jsonl"
    path.rename(folder / "questions.json")  # the same questions under another name
    (folder / "judgments" / "mine.jsonl").write_text('{"question": "1.1", "doc": "D", "text": "t", "judgment": "W"}\n')
    before = files(folder)
    assert main(["export", str(folder), "--to", str(folder)]) == 1
    assert "is the evaluation itself" in capsys.readouterr().err
    assert files(folder) == before
    output(capsys, "export", folder, "--to", folder, "--force")
    assert warnings(capsys, folder) == ["judgments/mine.jsonl"], "what the store does not hold stays"
    assert not (folder / "questions.json").exists()
    assert not (folder / "export.json").exists()
    for name in ("qassay.db", "qassay.db-wal", "qassay.db-shm"):
        (folder / name).unlink(missing_ok=True)
    configuration = folder / "qassay.toml"
    lines = configuration.read_text().splitlines(keepends=True)
    configuration.write_text("".join(line for line in lines if not line.startswith("database")))
    assert output(capsys, "score", folder) == scores


def test_an_export_is_written_from_the_store(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    judge(folder, **wrong_item(folder))
    scores = output(capsys, "score", folder)
    output(capsys, "export", folder, "--to", tmp_path / "out")
    configuration = tmp_path / "out" / "qassay.toml"
    lines = configuration.read_text().splitlines(keepends=True)
    configuration.write_text("".join(line for line in lines if not line.startswith("database")))
    assert output(capsys, "score", tmp_path / "out") == scores


def test_a_run_goes_to_the_store(folder: Path, capsys: Captured) -> None:
    before = files(folder)
    result = output(capsys, "run", folder, "--system", "sentence-baseline", "--tag", "base", "--organisation", "ours")
    assert result["file"] == "runs/base.jsonl"
    assert {name for name in files(folder) if name not in before and name.startswith("runs")} == set()
    opened = qassay.open(folder)
    assert "base" in opened.runs.tags
    assert opened.runs.information["base"].organisation == "ours"
    assert main(["run", str(folder), "--system", "sentence-baseline", "--tag", "base"]) == 1
    assert "is there already" in capsys.readouterr().err
    output(capsys, "run", folder, "--system", "sentence-baseline", "--tag", "base", "--force")


def draft(folder: Path) -> None:
    """Begin a series on the page Questions: its `other` question is a draft."""
    store = open_store(folder, create=True)
    task = read_configuration(Folder(folder)).task
    with store.write() as connection:
        new_series(act(connection, task=task), target="Marie Curie")
    store.close()


@pytest.mark.parametrize("command", [["check"], ["run", "--system", "cat"], ["pool"]])
def test_drafts_are_not_taken_for_no_questions(command: list[str], tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "eval"
    assert main(["init", str(folder), "--task", "series2004"]) == 0
    draft(folder)
    capsys.readouterr()
    assert main([command[0], str(folder), *command[1:]]) == 1
    message = capsys.readouterr().err
    assert "has no questions, only 1 draft that is not published yet" in message
    assert f"To publish it, on the page Questions: qassay serve {folder}" in message
    assert "qassay import" not in message
    draft(folder)
    assert main([command[0], str(folder), *command[1:]]) == 1
    assert "only 2 drafts that are not published yet. To publish them" in capsys.readouterr().err


def test_drafts_next_to_questions_are_reported(folder: Path, capsys: Captured) -> None:
    assert not output(capsys, "check", folder)["warnings"]
    draft(folder)
    (warning,) = output(capsys, "check", folder)["warnings"]
    assert "has 1 draft that is not published yet" in warning["message"]
    assert main(["run", str(folder), "--system", "sentence-baseline", "--tag", "base"]) == 0
    assert "warning: not all is asked: the evaluation has 1 draft that is not published yet" in capsys.readouterr().err


def test_files_of_the_folder_come_into_an_empty_store_first(tmp_path: Path, capsys: Captured) -> None:
    folder = Path(shutil.copytree(qassay.demo_folder(), tmp_path / "eval"))
    before = output(capsys, "score", folder)
    open_store(folder, create=True).close()
    assert output(capsys, "score", folder) == before
    output(capsys, "import", folder, folder / "judgments" / "first.jsonl")
    (folder / "questions.jsonl").unlink()
    assert output(capsys, "score", folder) == before


@both_databases
def test_backup_and_restore(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    before = output(capsys, "score", folder)
    document = output(capsys, "backup", folder)
    assert Path(document["to"]).parent == folder / "backups"
    assert Path(document["to"]).stat().st_size == document["bytes"]
    judge(folder, **wrong_item(folder))
    after = output(capsys, "score", folder)
    set_aside = output(capsys, "restore", folder, document["to"], "--force")["kept"]
    assert output(capsys, "score", folder) == before
    output(capsys, "restore", folder, set_aside, "--force")
    assert output(capsys, "score", folder) == after
    assert main(["backup", str(folder), "--to", str(tmp_path / "b.db")]) == 0
    assert "checked" in capsys.readouterr().out
    assert main(["restore", str(folder), str(tmp_path / "b.db"), "--force"]) == 0
    assert "before-restore-3" in capsys.readouterr().out


def test_nothing_to_back_up_is_reported(tmp_path: Path, capsys: Captured) -> None:
    folder = Path(shutil.copytree(qassay.demo_folder(), tmp_path / "eval"))
    assert main(["backup", str(folder)]) == 1
    assert "has no store" in capsys.readouterr().err
    assert main(["restore", str(folder), str(folder / "questions.jsonl")]) == 1
    assert "is not a backup of a store" in capsys.readouterr().err


def test_an_empty_file_in_place_of_a_store_is_ignored(tmp_path: Path) -> None:
    """`serve` leaves one where the disk was full; the files still are the evaluation."""
    folder = tmp_path / "demo"
    assert main(["demo", "--to", str(folder)]) == 0
    (folder / "qassay.db").touch()
    assert main(["check", str(folder)]) == 0
    assert (folder / "qassay.db").stat().st_size == 0
