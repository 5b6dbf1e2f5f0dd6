"""What a store gives back: the same evaluation, to the last bit."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, update
from written import write_out

import qassay
import random_evaluations as evaluations
from acting import act
from qassay.errors import InputError
from qassay.formats.exporting import make_export
from qassay.formats.folder import Folder, open_folder, read_configuration
from qassay.formats.times import now
from qassay.store import as_stored
from qassay.store.engine import Store, open_store
from qassay.store.folder import snapshot as module
from qassay.store.folder.importing import import_folder
from qassay.store.folder.snapshot import snapshot
from qassay.store.judging.judgments import append
from qassay.store.judging.nuggets import write_nugget
from qassay.store.schema import question, run
from qassay.store.settings import fingerprint

Scores = Callable[[Path], dict[str, Any]]
Serve = Callable[[Path], Store]
ITEM = {"question": "1.1", "doc": "D1", "text": "1901"}


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def round_trip(folder: Path, serve: Serve, scores: Scores) -> None:
    """Files, store, export, and a store made from the export score the same."""
    before = scores(folder)
    store = serve(folder)
    for path in folder.rglob("*.jsonl*"):  # what is read now is the store
        path.unlink()
    assert scores(folder) == before
    target = folder.with_name(folder.name + "-written")
    write_out(store, target, Folder(folder))
    configuration = target / "qassay.toml"
    lines = configuration.read_text(encoding="utf-8").splitlines(keepends=True)
    configuration.write_text("".join(line for line in lines if not line.startswith("database")), encoding="utf-8")
    assert scores(target) == before
    again = open_store(target, create=True)
    import_folder(again, Folder(target))
    again.close()
    assert scores(target) == before


@pytest.mark.parametrize("name", ["series", "entailment", "rag"])
def test_the_built_in_evaluations_score_the_same(
    name: str, demo: Callable[[str], Path], served: Serve, scores: Scores
) -> None:
    round_trip(demo(name), served, scores)


# All tasks in a file; on a database server those with the most kinds of rows.
CASES = [
    *(("sqlite", task) for task in evaluations.TASKS),
    *(("postgresql", task) for task in ("main2003", "series2004", "nuggets", "justification")),
]


@pytest.mark.parametrize(("in_database", "task"), CASES, indirect=["in_database"])
def test_random_evaluations_score_the_same(task: str, tmp_path: Path, served: Serve, scores: Scores) -> None:
    round_trip(evaluations.make(tmp_path / task, task, 11), served, scores)


@pytest.mark.slow
@pytest.mark.parametrize("task", evaluations.TASKS)
def test_many_random_evaluations_score_the_same(task: str, tmp_path: Path, served: Serve, scores: Scores) -> None:
    for seed in range(100, 140):
        round_trip(evaluations.make(tmp_path / f"{task}{seed}", task, seed), served, scores)


def test_files_come_out_as_they_went_in(small: Path, served: Serve, tmp_path: Path) -> None:
    write_out(served(small), tmp_path / "out", Folder(small))
    for path in [*small.rglob("*.txt"), *small.rglob("*.jsonl"), small / "qassay.toml"]:
        assert (tmp_path / "out" / path.relative_to(small)).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "names", [["judgments/none.jsonl"], ["nuggets/none.jsonl"], ["judgments/a.jsonl", "nuggets/b.jsonl"]]
)
def test_sets_and_lists_without_rows_survive(
    names: list[str], small: Path, served: Serve, scores: Scores, tmp_path: Path
) -> None:
    for name in names:
        (small / name).write_text("")
    before = scores(small)
    store = served(small)
    assert import_folder(store, Folder(small)) == []
    write_out(store, tmp_path / "out", Folder(small))
    for name in names:
        assert (tmp_path / "out" / name).read_bytes() == b""
    for path in small.rglob("*.jsonl"):
        path.unlink()
    assert scores(small) == before
    export = make_export(as_stored(Folder(small), read_configuration(Folder(small))))
    assert [export.contents[name] for name in names] == [b""] * len(names)


def test_the_only_set_may_be_empty(small: Path, served: Serve, scores: Scores) -> None:
    (small / "judgments" / "first.jsonl").write_text("\n")
    round_trip(small, served, scores)
    assert qassay.open(small).sets == ("first",)


def test_an_empty_set_gets_rows_later(small: Path, served: Serve) -> None:
    (small / "judgments" / "second.jsonl").write_text("")
    store = served(small)
    empty = snapshot(store, Folder(small))
    with store.write() as connection:
        append(act(connection), "second", "item", {**ITEM, "judgment": "X"})
    assert json.loads(snapshot(store, Folder(small)).judgment_sets()["second"].text()) == {**ITEM, "judgment": "X"}
    (small / "judgments" / "third.jsonl").write_text("")
    import_folder(store, Folder(small))
    assert snapshot(store, Folder(small)).judgment_sets().keys() == {"first", "second", "third"}
    assert empty.judgment_sets().keys() == {"first", "second"}


def test_drafts_and_withdrawn_runs_stay_inside(small: Path, served: Serve, tmp_path: Path) -> None:
    store = served(small)
    with store.write() as connection:
        body = '{"id": "9", "type": "factoid", "text": "?", "series": "9"}'
        connection.execute(insert(question).values(id="9", ordinal=9, body=body, draft=True, at=now()))
        connection.execute(update(run).where(run.c.tag == "b").values(withdrawn=True))
    write_out(store, tmp_path / "out", Folder(small))
    assert [row["id"] for row in rows(tmp_path / "out" / "questions.jsonl")] == ["1.1", "1.2", "1.3"]
    assert [path.name for path in (tmp_path / "out" / "runs").iterdir()] == ["a.txt"]
    assert [row["run"] for row in rows(tmp_path / "out" / "runs.jsonl")] == ["a"]


def test_a_removed_judgment_is_left_out_with_its_history(small: Path, served: Serve, tmp_path: Path) -> None:
    store = served(small)

    def said() -> list[str]:
        place = tmp_path / f"out-{now()}"
        write_out(store, place, Folder(small))
        stored = rows(place / "judgments" / "first.jsonl")
        return [row["judgment"] for row in stored if row["question"] == "1.1"]

    assert said() == ["W", "R"]
    with store.write() as connection:
        append(act(connection), "first", "item", ITEM, undone=True)
    assert said() == []
    with store.write() as connection:
        append(act(connection), "first", "item", {**ITEM, "judgment": "X"})
        append(act(connection), "first", "item", {**ITEM, "judgment": "U"})
    assert said() == ["X", "U"]


def test_nuggets_come_out_in_their_order_and_without_those_taken_off(
    small: Path, served: Serve, tmp_path: Path
) -> None:
    store = served(small)
    with store.write() as connection:

        def put(nugget: str | None, ordinal: int, text: str | None) -> None:
            body = None if text is None else {"vital": True, "text": text}
            write_nugget(act(connection), "first", "1.3", nugget, body, ordinal=ordinal)

        put("3", 0, "first of all")
        put("1", 9, "moved to the end")
        put("2", 2, None)
    write_out(store, tmp_path / "out", Folder(small))
    stored = rows(tmp_path / "out" / "nuggets" / "first.jsonl")
    assert [(row["nugget"], row["text"]) for row in stored] == [
        ("3", "first of all"),
        ("1", "chess"),
        ("1", "moved to the end"),
    ]


def test_messages_name_the_files_of_the_evaluation(small: Path, served: Serve) -> None:
    store = served(small)
    with store.write() as connection:
        append(act(connection), "first", "item", {**ITEM, "judgment": "?"})
    with pytest.raises(InputError) as caught:
        qassay.open(small).score()
    assert [(problem.file, problem.line) for problem in caught.value.problems] == [("judgments/first.jsonl", 8)]


def test_documents_and_patterns_are_those_of_the_folder(small: Path, served: Serve) -> None:
    served(small)
    folder = qassay.open(small).folder
    assert folder.collection == small / "collection"
    assert folder.patterns == small / "patterns.txt"
    assert folder.stored is not None


def test_a_snapshot_stays_as_the_store_was(small: Path, served: Serve) -> None:
    store = served(small)
    first = snapshot(store, Folder(small))
    assert snapshot(store, Folder(small)) == first
    with store.write() as connection:
        append(act(connection), "first", "item", {**ITEM, "judgment": "X"})
        append(act(connection), "second", "item", {**ITEM, "judgment": "X"})
    second = snapshot(store, Folder(small))
    assert second != first
    assert [part.name for part in first.judgment_sets().values()] == ["judgments/first.jsonl"]
    assert first.judgment_sets()["first"].read() == (small / "judgments" / "first.jsonl").read_bytes()
    assert b'"X"' in second.judgment_sets()["first"].read()


def test_scoring_a_store_writes_no_file(
    small: Path, served: Serve, scores: Scores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served(small)
    (tmp_path / "room").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "room"))
    monkeypatch.setattr(tempfile, "mkdtemp", lambda **_: pytest.fail("a temporary folder was made"))
    monkeypatch.setattr(tempfile, "mkstemp", lambda **_: pytest.fail("a temporary file was made"))
    assert scores(small)


def test_a_run_may_be_called_like_another_part(small: Path, served: Serve) -> None:
    store = served(small)
    with store.write() as connection:
        connection.execute(update(run).where(run.c.tag == "a").values(file="questions.jsonl"))
    folder = snapshot(store, Folder(small))
    assert [part.name for part in folder.question_files()] == ["questions.jsonl"]
    assert "runs/questions.jsonl" in [part.name for part in folder.runs()]


def test_large_parts_are_not_kept(small: Path, served: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT_BYTES", 100)
    folder = snapshot(served(small), Folder(small))
    part = folder.judgment_sets()["first"]
    assert part.read() == part.read() == (small / "judgments" / "first.jsonl").read_bytes()
    assert [part.read() for part in folder.runs()] == [path.read_bytes() for path in sorted((small / "runs").iterdir())]


def test_whatever_scoring_reads_changes_the_fingerprint(small: Path, served: Serve) -> None:
    store = served(small)
    seen = set()

    def look() -> None:
        with store.read() as connection:
            mark = fingerprint(connection)
        assert mark not in seen
        seen.add(mark)

    look()
    with store.write() as connection:
        append(act(connection), "first", "item", {**ITEM, "judgment": "X"})
    look()
    with store.write() as connection:
        write_nugget(act(connection), "first", "1.3", "1", None)
    look()
    for table, values in (
        (run, {"withdrawn": True}),
        (run, {"information": '{"run": "a"}'}),
        (question, {"draft": True}),
        (question, {"ordinal": 7}),
        (question, {"body": '{"id": "1.1", "type": "factoid", "text": "How?", "series": "1"}'}),
    ):
        with store.write() as connection:
            connection.execute(update(table).values(**values))
        look()


def test_without_a_store_the_files_are_read(small: Path, in_database: Callable[[Path], Path]) -> None:
    """Also where a database is named that holds nothing yet; looking makes nothing in it."""
    folder = open_folder(in_database(small))
    assert as_stored(folder, read_configuration(folder)) is folder
    assert not (small / "qassay.db").exists()
    open_store(folder, create=True).close()
    assert as_stored(folder, read_configuration(folder)) is folder, "nothing was brought in"


def test_the_database_of_another_evaluation_is_refused(
    small: Path, demo: Callable[[str], Path], postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QASSAY_DATABASE", postgres_url)
    store = open_store(small, create=True)
    import_folder(store, Folder(small))
    store.close()
    assert qassay.open(small).runs.tags
    other = demo("series")
    with pytest.raises(InputError, match="holds the evaluation 'small', not 'Qassay demo': name another"):
        qassay.open(other)
    # Nor is it served, or backed up, under another name.
    with pytest.raises(InputError, match="holds the evaluation 'small', not 'Qassay demo': name another"):
        open_store(other, create=True)


def test_a_database_that_is_away_is_reported(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QASSAY_DATABASE", "postgresql+psycopg://nobody@127.0.0.1:1/none")
    with pytest.raises(InputError, match=r"the database cannot be used: .*refused"):
        qassay.open(small)


def test_a_file_that_is_not_a_database_is_an_error(small: Path) -> None:
    (small / "qassay.db").write_text("not a database, whatever its name is" * 100)
    with pytest.raises(InputError, match="the database cannot be used: file is not a database"):
        qassay.open(small)


def test_a_name_out_of_the_database_leads_nowhere_else(small: Path, served: Serve, tmp_path: Path) -> None:
    store = served(small)
    with store.write() as connection:
        connection.execute(update(run).where(run.c.tag == "a").values(file="../../escaped.txt"))
        connection.execute(update(run).where(run.c.tag == "b").values(file="escaped.txt"))
    write_out(store, tmp_path / "out", Folder(small))
    assert sorted(path.name for path in (tmp_path / "out" / "runs").iterdir()) == ["b.txt", "escaped.txt"]
    assert not list(tmp_path.glob("escaped*"))
