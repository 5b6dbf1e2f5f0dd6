"""`qassay export`: the same scores, nothing lost, nothing overwritten."""

from __future__ import annotations

import json
import shutil
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from on_disk import snapshot
from qassay.cli import main

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A copy of the built-in evaluation."""
    source = Path(str(resources.files("qassay") / "demo" / "series"))
    return Path(shutil.copytree(source, tmp_path / "demo"))


def export(folder: Path, *arguments: object) -> int:
    return main(["export", str(folder), *map(str, arguments)])


def scores(folder: Path, capsys: Captured, *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["score", str(folder), "--json", *arguments]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_an_export_scores_the_same(demo: Path, tmp_path: Path, capsys: Captured) -> None:
    assert export(demo, "--to", tmp_path / "out") == 0
    for key in ("adjudicated", "first", "second"):
        assert scores(tmp_path / "out", capsys, "--key", key) == scores(demo, capsys, "--key", key)


def test_importing_an_export_scores_the_same(demo: Path, tmp_path: Path, capsys: Captured) -> None:
    out, new = tmp_path / "out", tmp_path / "new"
    export(demo, "--to", out)
    main(["init", str(new), "--task", "series2004", "--name", "demo"])
    paths = [str(path) for path in sorted(out.rglob("*.*")) if path.name not in ("qassay.toml", "export.json")]
    assert main(["import", str(new), *paths]) == 0
    assert scores(new, capsys) == scores(demo, capsys)
    assert snapshot(new / "runs") == snapshot(demo / "runs")
    for path in (path for path in demo.rglob("*.jsonl") if path.parent.name != "collection"):
        same = new / path.relative_to(demo)
        lines = [file.read_text(encoding="utf-8").strip().split("\n") for file in (same, path)]
        assert list(map(json.loads, lines[0])) == list(map(json.loads, lines[1]))


def test_exporting_an_export_gives_the_same_files(demo: Path, tmp_path: Path) -> None:
    export(demo, "--to", tmp_path / "one")
    export(tmp_path / "one", "--to", tmp_path / "two")
    assert snapshot(tmp_path / "one") == snapshot(tmp_path / "two")


@pytest.mark.parametrize("key", ["adjudicated", "first", "second"])
def test_nist_forms_score_the_same(demo: Path, tmp_path: Path, capsys: Captured, key: str) -> None:
    out = tmp_path / "out"
    assert export(demo, "--to", out, "--nist") == 0
    assert not (out / "judgments").exists()
    wanted = sorted(map(str, (out / "nist").glob(f"{key}-*.txt")))
    assert len(wanted) == 5
    assert main(["import", str(out), *wanted, "--set", key]) == 0
    assert scores(out, capsys, "--key", key) == scores(demo, capsys, "--key", key)


def test_rows_without_a_nist_form_are_reported(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "e"
    main(["init", str(folder), "--task", "nuggets"])
    (folder / "questions.jsonl").write_text('{"id": "1", "type": "other", "text": "why?"}\n')
    (folder / "judgments" / "a.jsonl").write_text('{"question": "1", "run": "A", "nugget": "1", "support": "full"}\n')
    row = {"question": "1", "nugget": "1", "vital": True, "text": " two\nlines ", "weight": 0.5}
    (folder / "nuggets" / "a.jsonl").write_text(json.dumps(row) + "\n")
    capsys.readouterr()
    assert export(folder, "--nist", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    nist = ["nist/a-nuggets.txt", "nist/a-weights.txt", "nist/topics.tsv"]
    assert document["files"] == [*nist, "qassay.toml", "questions.jsonl"]
    assert any("1 judgments of nugget support are left out" in note for note in document["notes"])
    assert (folder / "export" / "nist" / "a-weights.txt").read_text() == "1\t1\t0.5\ttwo lines\n"
    assert (folder / "export" / "nist" / "topics.tsv").read_text() == "1\twhy?\n"
    assert (folder / "export" / "nist" / "a-nuggets.txt").read_text() == "Qid 1: why?\n1 1\tvital\ttwo lines\n"


def test_strings_that_no_line_holds_stop_the_export(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "e"
    main(["init", str(folder), "--task", "confidence"])
    (folder / "questions.jsonl").write_text('{"id": "1", "type": "factoid", "text": "why?"}\n')
    row = {"question": "1", "doc": "D", "text": "two\nlines", "judgment": "R"}
    (folder / "judgments" / "a.jsonl").write_text(json.dumps(row) + "\n")
    assert export(folder, "--nist") == 1
    assert "a NIST form cannot express it" in capsys.readouterr().err
    assert not (folder / "export").exists()
    assert export(folder) == 0


def test_labels_in_the_file_of_questions_become_a_set(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "e"
    main(["init", str(folder), "--task", "entailment3"])
    pairs = "".join(
        f'<pair id="{i}" entailment="{label}"><t>T</t><h>H</h></pair>'
        for i, label in enumerate(["ENTAILMENT", "NO ENTAILMENT"])
    )
    (folder / "questions.xml").write_text(f"<entailment-corpus>{pairs}</entailment-corpus>")
    (folder / "runs" / "A.txt").write_text("ranked: no\n0 YES\n1 UNKNOWN\n")
    assert export(folder, "--to", tmp_path / "out") == 0
    rows = (tmp_path / "out" / "judgments" / "reference.jsonl").read_text().splitlines()
    assert [json.loads(row)["judgment"] for row in rows] == ["YES", "NO"]
    # UNKNOWN counts as NO against a two-way key.
    assert scores(tmp_path / "out", capsys)["runs"][0]["score"] == 1.0


def test_a_task_of_ones_own_goes_along(tmp_path: Path, capsys: Captured) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'name = "own"\ntitle = "Own"\nmeasure = "accuracy"\nforms = ["jsonl"]\nlabels = ["R", "W"]\n'
        '[types.factoid]\nresponse = "one"\nscore = "accuracy"\n'
    )
    folder = tmp_path / "e"
    main(["init", str(folder), "--task", str(own)])
    (folder / "questions.jsonl").write_text('{"id": "1", "type": "factoid", "text": "why?"}\n')
    assert export(folder, "--to", tmp_path / "out") == 0
    assert (tmp_path / "out" / "own.toml").read_bytes() == own.read_bytes()
    (folder / "qassay.toml").write_text('task = "../own.toml"\n')
    assert export(folder, "--to", tmp_path / "out2") == 1
    assert "lies outside the evaluation" in capsys.readouterr().err


def test_documents_go_along_when_asked(demo: Path, tmp_path: Path, capsys: Captured) -> None:
    export(demo, "--to", tmp_path / "out")
    assert "collection/ is left out" in capsys.readouterr().out
    assert not (tmp_path / "out" / "collection").exists()
    export(demo, "--to", tmp_path / "out", "--collection")
    assert snapshot(tmp_path / "out" / "collection") == snapshot(demo / "collection")


def test_an_earlier_export_is_replaced_whole(demo: Path) -> None:
    assert export(demo) == 0
    (demo / "runs" / "hobby.txt").unlink()
    assert export(demo) == 0
    assert not (demo / "export" / "runs" / "hobby.txt").exists()
    assert export(demo, "--nist") == 0
    assert not (demo / "export" / "judgments").exists()
    assert [path.name for path in demo.iterdir() if path.name.startswith(".")] == []


def test_other_things_are_not_touched(demo: Path, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "out"
    export(demo, "--to", out)
    (out / "mine.txt").write_text("x")
    before = snapshot(out)
    assert export(demo, "--to", out, "--nist") == 1
    assert "contains other files (mine.txt)" in capsys.readouterr().err
    assert snapshot(out) == before
    assert export(demo, "--to", out, "--nist", "--force") == 0
    after = snapshot(out)
    assert after["mine.txt"] == b"x"
    assert "nist/adjudicated-factoid.txt" in after
    assert not any(name.startswith("judgments/") for name in after)


def test_a_false_list_of_files_deletes_nothing_outside(demo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "victim").write_text("x")
    (out / "mine").write_text("x")
    (out / "export.json").write_text(json.dumps({"export": "qassay", "files": ["../victim", "/etc/hostname"]}))
    assert export(demo, "--to", out) == 1
    assert export(demo, "--to", out, "--force") == 0
    assert (tmp_path / "victim").exists()
    assert (out / "mine").exists()
    (out / "export.json").write_text("[" * 5_000)
    assert export(demo, "--to", out, "--force") == 0


@pytest.mark.parametrize("place", [".", "runs", "judgments/x", "collection"])
def test_parts_of_the_evaluation_cannot_be_the_target(demo: Path, place: str) -> None:
    before = snapshot(demo)
    assert export(demo, "--to", demo / place, "--force") == 2
    assert snapshot(demo) == before


def test_targets_that_cannot_be(demo: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "file").write_text("x")
    assert export(demo, "--to", tmp_path / "file") == 1
    assert "is a file; name a folder" in capsys.readouterr().err
    assert export(demo, "--to", tmp_path / "file" / "below") == 1
    assert export(tmp_path / "none") == 1


def test_a_full_disk_leaves_the_earlier_export(demo: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    export(demo)
    before = snapshot(demo)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert export(demo) == 1
    assert "No space left" in capsys.readouterr().err
    assert snapshot(demo) == before


def test_an_evaluation_without_questions(tmp_path: Path, capsys: Captured) -> None:
    main(["init", str(tmp_path / "e"), "--task", "nuggets"])
    assert export(tmp_path / "e") == 1
    assert "there are no questions yet" in capsys.readouterr().err
