"""`qassay sheet`, and `qassay import` of what comes back: every fault is reported, and nothing is written twice."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pooling import store_items

import qassay
from acting import act
from qassay.cli import main
from qassay.evaluation import open_evaluation
from qassay.formats.folder import Folder
from qassay.formats.recognise import row_kind
from qassay.formats.sheets import SheetKey, write_key
from qassay.judging.items import pool_items
from qassay.store.assignment.assignments import assign, assignments_on
from qassay.store.engine import open_store
from qassay.store.folder.importing import import_folder
from qassay.store.pool.items import order_seed

Captured = pytest.CaptureFixture[str]
Make = Callable[..., Any]
AT = "2026-01-02T03:04:05.678Z"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The demo, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(qassay.demo_folder(), tmp_path / "eval"))


@pytest.fixture
def output(capsys: Captured) -> Make:
    """What a command prints with --json."""

    def run(*arguments: object, status: int = 0) -> Any:
        capsys.readouterr()
        assert main([*map(str, arguments), "--json"]) == status
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def key(folder: Path, output: Make) -> dict[str, Any]:
    """What the numbers of Ada's sheet on series 1 stand for."""
    document = output("sheet", folder, "--assessor", "ada", "--questions", "1")
    sheet_key: dict[str, Any] = json.loads((folder / document["key"]).read_text())
    return sheet_key


def find(key: dict[str, Any], kind: str, question: str) -> tuple[int, str]:
    """An item and a part of this kind."""
    for number, parts in key["items"].items():
        for name, part in parts.items():
            if part["kind"] == kind and part["row"]["question"] == question:
                return int(number), name
    raise LookupError


def decision(key: dict[str, Any], kind: str, question: str, verdict: object, at: str = AT) -> dict[str, Any]:
    """A row as a sheet writes it."""
    item, part = find(key, kind, question)
    return {"sheet": key["sheet"], "item": item, "part": part, "verdict": verdict, "at": at}


def written(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def judged(folder: Path, name: str = "ada") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "judgments" / f"{name}.jsonl").read_text().splitlines()]


def test_a_sheet_is_one_file_and_a_key_and_is_made_the_same_again(folder: Path, tmp_path: Path, output: Make) -> None:
    document = output("sheet", folder, "--assessor", "ada", "--questions", "1,2.1")
    assert document["file"] == "ada.html"
    assert (document["questions"], document["items"], document["without_nuggets"]) == (8, 45, [])
    assert document["bytes"] == (tmp_path / "ada.html").stat().st_size
    again = output("sheet", folder, "--assessor", "ada", "--questions", "1,2.1", "--to", "again.html")
    assert (again["sheet"], again["key"]) == (document["sheet"], document["key"])
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "ada.html").read_bytes()
    other = output("sheet", folder, "--assessor", "bob", "--questions", "1,2.1")
    keys = [json.loads((folder / sheet["key"]).read_text()) for sheet in (document, other)]
    assert [*keys[0]["items"]] == [*keys[1]["items"]]  # everybody sees the same order
    assert keys[0]["sheet"] != keys[1]["sheet"]


def test_orders_and_numbers_are_those_of_the_store(folder: Path, output: Make) -> None:
    before = output("sheet", folder, "--assessor", "ada", "--questions", "1.6")
    store = open_store(folder, create=True)
    import_folder(store, Folder(folder))
    store.close()
    outputs = [output("sheet", folder, "--assessor", "ada", "--questions", "1.6", "--to", f"{n}.html") for n in "12"]
    assert outputs[0]["sheet"] == outputs[1]["sheet"] != before["sheet"]


def test_questions_without_nuggets_are_left_out_and_named(folder: Path, output: Make, capsys: Captured) -> None:
    shutil.rmtree(folder / "nuggets")
    document = output("sheet", folder, "--assessor", "ada", "--questions", "1")
    assert (document["questions"], document["without_nuggets"]) == (6, ["1.7"])
    assert main(["sheet", str(folder), "--assessor", "ada", "--to", "b.html", "--questions", "1"]) == 0
    printed = capsys.readouterr().out
    assert "nuggets are not written yet: 1 question (1.7)" in printed
    assert f"Send b.html to ada. The file that comes back: qassay import {folder} FILE" in printed
    [problem] = output("sheet", folder, "--assessor", "ada", "--to", "c.html", "--questions", "1.7", status=1)["errors"]
    assert "none are written" in problem["message"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--assessor", "a b"], "names a judgment set"),
        (["--assessor", "ada", "--questions", "1.1,zzz"], "unknown question or series 'zzz'"),
        (["--assessor", "ada", "--to", "eval/qassay.toml"], "is there already"),
    ],
    ids=["name", "question", "file"],
)
def test_wrong_usage(folder: Path, capsys: Captured, options: list[str], message: str) -> None:
    assert main(["sheet", str(folder), *options]) == 2
    assert message in capsys.readouterr().err
    assert not list(folder.parent.glob("*.html"))


def test_a_returned_sheet_becomes_judgments_once(folder: Path, tmp_path: Path, key: Any, output: Make) -> None:
    rows = [
        decision(key, "item", "1.1", {"judgment": "R", "note": "so"}),
        decision(key, "list", "1.6", {"judgment": "R", "answer": "Pierre"}),
        decision(key, "match", "1.7", {"nuggets": ["2"]}),
    ]
    file = written(tmp_path / "back.jsonl", *rows)
    [added] = output("import", folder, file)["added"]
    assert added["kind"] == "sheet"
    assert "judgments/ada.jsonl" in added["to"]
    first, second, third = judged(folder)
    assert first | {"doc": "", "text": ""} == {
        **{"question": "1.1", "doc": "", "text": "", "judgment": "R", "note": "so", "assessor": "ada", "at": AT}
    }
    assert (second["answer"], second["run"] in {path.stem for path in (folder / "runs").iterdir()}) == ("Pierre", True)
    assert (third["nuggets"], "item" in third) == (["2"], False)
    assert output("import", folder, file)["added"][0]["count"] == 0
    # A later save of the sheet: one decision is another now, one is new.
    later = decision(key, "item", "1.1", {"judgment": "W"}, "2026-01-03T00:00:00Z")
    new = decision(key, "item", "1.2", {"judgment": "X"})
    [added] = output("import", folder, written(tmp_path / "later.jsonl", later, *rows[1:], new))["added"]
    assert added["count"] == 2
    assert [row["judgment"] for row in judged(folder) if row["question"] in ("1.1", "1.2")] == ["R", "W", "X"]
    # The earlier file says nothing new: what it says is history.
    assert output("import", folder, file)["added"][0]["count"] == 0


def test_the_set_can_be_named(folder: Path, tmp_path: Path, key: Any, output: Make) -> None:
    file = written(tmp_path / "back.jsonl", decision(key, "item", "1.1", {"judgment": "R"}))
    output("import", folder, file, "--set", "fourth")
    assert [row["assessor"] for row in judged(folder, "fourth")] == ["ada"]


def test_it_goes_into_the_store_where_there_is_one(folder: Path, tmp_path: Path, key: Any, output: Make) -> None:
    store = open_store(folder, create=True)
    import_folder(store, Folder(folder))
    store.close()
    file = written(tmp_path / "back.jsonl", decision(key, "item", "1.1", {"judgment": "R"}))
    assert output("import", folder, file)["added"][0]["count"] == 1
    assert not (folder / "judgments" / "ada.jsonl").exists()
    assert open_evaluation(folder).judgment_set("ada").kind("item").height == 1
    assert output("import", folder, file)["added"][0]["count"] == 0


def test_the_work_of_a_first_assessor_counts_as_done(folder: Path, tmp_path: Path, output: Make) -> None:
    """As the help of the command and docs/how-to/serve.md say."""
    shutil.rmtree(folder / "judgments")
    store = open_store(folder, create=True)
    import_folder(store, Folder(folder))
    evaluation = open_evaluation(folder, store=store)
    with store.write() as connection:
        seed = order_seed(connection)
        store_items(connection, pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed=seed))
        assign(act(connection), evaluation.questions, assessors=1, accounts=[])
    document = output("sheet", folder, "--assessor", "ada", "--questions", "1.1")
    key = json.loads((folder / document["key"]).read_text())
    rows = [
        {"sheet": key["sheet"], "item": int(item), "part": part, "verdict": {"judgment": "W"}, "at": AT}
        for item, parts in key["items"].items()
        for part in parts
    ]
    output("import", folder, written(tmp_path / "back.jsonl", *rows), "--set", "first")
    with store.read() as connection:
        (assignment,) = assignments_on(connection, "1.1")
    store.close()
    assert (assignment.set, assignment.done, assignment.closed is not None) == ("first", len(rows), True)


def test_the_help_says_how_it_becomes_the_first_assessors_work(capsys: Captured) -> None:
    assert main(["sheet", "--help"]) == 0
    assert "jsonl --set first" in capsys.readouterr().out


def test_the_set_goes_by_the_nuggets_that_its_assessor_saw(
    folder: Path, tmp_path: Path, key: Any, output: Make
) -> None:
    """With several lists and none of its name, scoring would find none."""
    assert len(list((folder / "nuggets").iterdir())) > 1
    file = written(tmp_path / "back.jsonl", decision(key, "match", "1.7", {"nuggets": ["1"]}))
    output("import", folder, file)
    seen = [json.loads(line) for line in (folder / "nuggets" / "ada.jsonl").read_text().splitlines()]
    development = [json.loads(line) for line in (folder / "nuggets" / "development.jsonl").read_text().splitlines()]
    assert [row["nugget"] for row in seen] == [row["nugget"] for row in development if row["question"] == "1.7"]


def test_the_only_list_is_not_copied(folder: Path, tmp_path: Path, key: Any, output: Make) -> None:
    for path in (folder / "nuggets").iterdir():
        if path.stem != "development":
            path.unlink()
    output("import", folder, written(tmp_path / "back.jsonl", decision(key, "match", "1.7", {"nuggets": ["1"]})))
    assert [path.stem for path in (folder / "nuggets").iterdir()] == ["development"]


def test_a_known_answer_is_added_with_its_assessor(folder: Path, tmp_path: Path, key: Any, output: Make) -> None:
    row = {"sheet": key["sheet"], "question": "1.1", "known_answer": "Warszawa", "doc": "demo-curie-1", "at": AT}
    file = written(tmp_path / "back.jsonl", row)
    output("import", folder, file)
    last = (folder / "answers.jsonl").read_text().splitlines()[-1]
    assert json.loads(last) == {"question": "1.1", "answer": "Warszawa", "doc": "demo-curie-1", "assessor": "ada"}
    assert output("import", folder, file)["added"][0]["count"] == 0


def test_an_undone_judgment_in_the_set_is_a_warning(folder: Path, tmp_path: Path, key: Any, output: Make) -> None:
    rows = [
        decision(key, kind, q, v)
        for kind, q, v in (("item", "1.1", {"judgment": "R"}), ("match", "1.7", {"nuggets": []}))
    ]
    back = [{**row, "verdict": None} for row in rows]
    file = written(tmp_path / "back.jsonl", *back)
    assert output("import", folder, file)["warnings"] == []
    output("import", folder, written(tmp_path / "said.jsonl", *rows))
    [warning] = output("import", folder, file)["warnings"]
    assert warning["message"].startswith("2 judgments that the sheet removes are in the set ada and stay")
    assert len(judged(folder)) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"item": 7}, "has no item 7"),
        ({"item": None}, "has no item None"),
        ({"part": "3"}, "has no part '3'"),
        ({"part": None}, "has no part None"),
        ({"verdict": {"judgment": "Z"}}, "'Z' is not a label"),
        ({"verdict": {"judgment": 5}}, "5 is not a label"),
        ({"verdict": {"judgment": ["R"]}}, "['R'] is not a label"),
        ({"verdict": {"support": "full"}}, "has no 'support'"),
        ({"verdict": {}}, "None is not a label"),
        ({"verdict": "R"}, "it takes an object"),
        ({"verdict": {"judgment": "R", "run": "badger"}}, "has no 'run'"),
        ({"verdict": {"judgment": "R", "note": "x" * 2001}}, "at most 2000 characters"),
        ({"at": "yesterday"}, "it takes a moment"),
        ({"at": "2026-01-02T03:04:05"}, "it takes a moment"),
        ({"sheet": "ada-000000000000"}, "was not made from this evaluation"),
        ({"sheet": "../../etc"}, "was not made from this evaluation"),
        ({"sheet": "x" * 400}, "was not made from this evaluation"),
        ({"sheet": 5}, "names no sheet"),
        ({"flag": 5}, "'flag' takes a text"),
        ({"flag": "x" * 501}, "at most 500 characters"),
        ({"flag": "x", "item": 5}, "has no item 5"),
        ({"known_answer": " ", "question": "1.1"}, "it takes a text"),
        ({"known_answer": "A", "question": "zzz"}, "question zzz is not in the test set"),
    ],
)
def test_every_fault_is_reported_with_its_line_and_nothing_is_written(
    folder: Path, tmp_path: Path, key: Any, output: Make, change: dict[str, Any], message: str
) -> None:
    good = decision(key, "item", "1.2", {"judgment": "R"})
    bad = {**decision(key, "item", "1.1", {"judgment": "R"}), **change}
    errors = output("import", folder, written(tmp_path / "back.jsonl", good, bad), "--as", "sheet", status=1)["errors"]
    assert [(error["line"], message in error["message"]) for error in errors] == [(2, True)]
    assert not (folder / "judgments" / "ada.jsonl").exists()


def test_nuggets_that_the_list_does_not_hold_are_an_error(folder: Path, tmp_path: Path, key: Any, output: Make) -> None:
    file = written(tmp_path / "back.jsonl", decision(key, "match", "1.7", {"nuggets": ["99"]}))
    [problem] = output("import", folder, file, status=1)["errors"]
    assert problem["rule"] == "unknown-nugget"


def test_a_broken_key_is_reported(folder: Path, tmp_path: Path, key: Any, output: Make) -> None:
    file = written(tmp_path / "back.jsonl", decision(key, "item", "1.1", {"judgment": "R"}))
    (folder / "sheets" / f"{key['sheet']}.json").write_text("{}")
    [problem] = output("import", folder, file, status=1)["errors"]
    assert "is not the key of a sheet" in problem["message"]
    for damaged in (b"[]", b'{"seed": "\xff"}', b"[" * 5_000):
        (folder / "sheets" / "order.json").write_bytes(damaged)
        [problem] = output("sheet", folder, "--assessor", "bob", status=1)["errors"]
        assert "does not contain the seed" in problem["message"]


def test_a_name_is_written_as_a_file_name(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    path = write_key(folder, SheetKey("a:b-1", "E", "a:b", [], {}))
    assert path.name == "a%3Ab-1.json"


def test_rows_of_sheets_are_recognised() -> None:
    assert row_kind({"sheet": "a", "item": 1, "part": "", "verdict": None, "at": AT}) == "sheet"
    assert row_kind({"sheet": "kept", "question": "1.1", "judgment": "R"}) == "judgments"
    assert row_kind({"sheet": "kept", "question": "1.1", "answer": "Warsaw"}) == "answers"
