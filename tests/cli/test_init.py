"""`qassay init`."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from qassay import tasks
from qassay.cli import main
from qassay.cli.init import configuration_text
from qassay.formats.folder import open_folder, read_configuration


@pytest.mark.parametrize("task", tasks.names())
def test_every_task(tmp_path: Path, task: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "deep" / "my eval"
    assert main(["init", str(folder), "--task", task]) == 0
    configuration = read_configuration(open_folder(folder))
    assert (configuration.name, configuration.task) == ("my eval", tasks.task(task))
    assert sorted(path.name for path in folder.iterdir()) == ["judgments", "nuggets", "qassay.toml", "runs"]
    printed = capsys.readouterr().out
    assert f"qassay import '{folder}' QUESTIONS" in printed


@pytest.mark.parametrize("task", tasks.names())
def test_comments_show_the_values_that_apply(task: str) -> None:
    """Taking the # off any line of a task's own rules changes nothing."""
    text = configuration_text(tasks.definition(task), name="x", task=task)
    active = re.sub(r"^# (?=[\w\"]+ = |\[)", "", text, flags=re.MULTILINE)
    keys = tomllib.loads(active)
    definition = tasks.definition(task)
    assert keys["types"] == definition["types"]
    assert keys.get("without", {}) == definition.get("without", {})
    assert keys["measure"] == definition["measure"]
    assert keys.get("labels", []) == definition.get("labels", [])
    assert keys["drop"] == {"7": "other question never judged"}


@pytest.mark.parametrize("name", ['a "b" \\', "Ünïcode \u2028", "tab\tdel\x7f", "'''", ""])
def test_any_name(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path / "e"), "--task", "nuggets", "--name", name, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    expected = name or "e"
    assert document == {"folder": str(tmp_path / "e"), "name": expected, "task": "nuggets"}
    assert read_configuration(open_folder(tmp_path / "e")).name == expected


def test_a_task_file_is_copied(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'name = "own"\ntitle = "Own rules"\nmeasure = "accuracy"\nforms = ["jsonl"]\n'
        '[types.factoid]\nresponse = "one"\nscore = "accuracy"\n'
    )
    assert main(["init", str(tmp_path / "e"), "--task", str(own)]) == 0
    assert read_configuration(open_folder(tmp_path / "e")).task.title == "Own rules"


def test_a_folder_with_other_things_may_become_one(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    assert main(["init", str(tmp_path), "--task", "ranked5"]) == 0
    assert (tmp_path / "notes.txt").read_text() == "x"


def test_an_evaluation_is_not_made_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["init", str(tmp_path), "--task", "ranked5"])
    before = (tmp_path / "qassay.toml").read_bytes()
    capsys.readouterr()
    assert main(["init", str(tmp_path), "--task", "nuggets", "--json"]) == 1
    printed = capsys.readouterr()
    assert "is an evaluation already" in printed.err
    assert json.loads(printed.out)["errors"][0]["rule"] == "configuration"
    assert (tmp_path / "qassay.toml").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["e"], "which task?"),
        (["e", "--task", "seris2004"], "did you mean 'series2004'"),
        ([], "Missing argument"),
    ],
)
def test_wrong_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", *arguments]) == 2
    assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", [None, "name = [", 'title = "x"'])
def test_faulty_task_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None) -> None:
    if text is not None:
        (tmp_path / "own.toml").write_text(text)
    assert main(["init", str(tmp_path / "e"), "--task", str(tmp_path / "own.toml")]) == 1
    assert "own.toml" in capsys.readouterr().err
    assert not (tmp_path / "e").exists()


def test_places_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "e", Path("/proc/e")):
        assert main(["init", str(place), "--task", "nuggets"]) == 1
        assert "cannot make an evaluation here" in capsys.readouterr().err


def test_read_only_parent(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    # Root may write anywhere, so the refusal is made up.
    monkeypatch.setattr(Path, "mkdir", refuse)
    assert main(["init", str(tmp_path / "e"), "--task", "nuggets"]) == 1
    assert "cannot make an evaluation here: Permission denied" in capsys.readouterr().err
