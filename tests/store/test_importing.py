"""Files on their way into a store: only what it lacks, and nothing where anything is wrong."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import func, select, update
from written import write_out

import qassay
from acting import act
from qassay.errors import InputError
from qassay.formats.folder import Folder
from qassay.formats.importing import ImportPlan, Options, plan_import
from qassay.formats.times import now
from qassay.store.engine import Store, open_store
from qassay.store.folder.importing import Imported, import_folder, import_plan
from qassay.store.folder.snapshot import snapshot
from qassay.store.judging.judgments import append
from qassay.store.schema import answer, current_judgment, judgment, metadata, nugget, question, record, run

Serve = Callable[[Path], Store]
Write = Callable[..., Path]
ITEM = {"question": "1.1", "doc": "D1", "text": "1901"}


def counts(store: Store) -> dict[str, int]:
    with store.read() as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in metadata.sorted_tables
            if table is not record
        }


def standing_of(store: Store, set_name: str = "first") -> dict[str, Any]:
    with store.read() as connection:
        rows = connection.execute(
            select(current_judgment.c.subject, current_judgment.c.body).where(current_judgment.c.set == set_name)
        ).all()
    return {row.subject: row.body and json.loads(row.body) for row in rows}


def test_everything_comes_in_and_is_counted(small: Path, in_database: Callable[[Path], Path]) -> None:
    store = open_store(in_database(small), create=True)
    assert import_folder(store, Folder(small)) == [
        Imported("questions.jsonl", "questions", 3),
        Imported("answers.jsonl", "answers", 1),
        Imported("runs/a.txt", "run", 1),
        Imported("runs/b.txt", "run", 1),
        Imported("runs.jsonl", "run-information", 2),
        Imported("nuggets/first.jsonl", "nuggets", 2),
        Imported("judgments/first.jsonl", "judgments", 7),
    ]
    assert import_folder(store, Folder(small)) == []
    assert counts(store)["standing"] == 6, "the last row of a thing stands"
    store.close()


def test_fields_in_another_order_are_the_same_row(small: Path, served: Serve) -> None:
    store = served(small)
    for name in ("judgments/first.jsonl", "nuggets/first.jsonl", "answers.jsonl", "runs.jsonl"):
        path = small / name
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        turned = [json.dumps(dict(reversed(row.items())), separators=(",", ":")) for row in rows]
        path.write_text("\n\n".join(turned), encoding="utf-8")
    assert import_folder(store, Folder(small)) == []


def test_rows_keep_their_bytes(small: Path, served: Serve, tmp_path: Path) -> None:
    text = '{"question":  "1.1", "doc": "D9", "text": "\\u0000 \\"", "judgment": "W", "x": 1.0e3, "y": {"z": [null]}}'
    path = small / "judgments" / "first.jsonl"
    path.write_text(path.read_text() + f"  {text}\t\r\n", encoding="utf-8")
    write_out(served(small), tmp_path / "out", Folder(small))
    assert (tmp_path / "out" / "judgments" / "first.jsonl").read_text().splitlines()[-1] == text


def test_new_rows_are_appended_as_new_versions(small: Path, served: Serve, write: Write) -> None:
    store = served(small)
    old = (small / "judgments" / "first.jsonl").read_text()
    new = [{**ITEM, "judgment": "X", "at": "2026-01-02T00:00:00Z"}, {**ITEM, "judgment": "U"}]
    write(small, "judgments/first.jsonl", old + "".join(json.dumps(row) + "\n" for row in new))
    assert import_folder(store, Folder(small)) == [Imported("judgments/first.jsonl", "judgments", 2)]
    with store.read() as connection:
        rows = connection.execute(select(judgment).where(judgment.c.question == "1.1").order_by(judgment.c.id)).all()
    assert [(row.version, json.loads(row.body)["judgment"]) for row in rows] == [(1, "W"), (2, "R"), (3, "X"), (4, "U")]
    assert rows[2].at == "2026-01-02T00:00:00Z"
    assert import_folder(store, Folder(small)) == []


def test_an_old_file_does_not_undo_what_was_changed_since(small: Path, served: Serve) -> None:
    store = served(small)
    with store.write() as connection:
        saved = append(act(connection), "first", "item", {**ITEM, "judgment": "X"})
    assert import_folder(store, Folder(small)) == []
    assert standing_of(store)[saved.subject]["judgment"] == "X"


def test_undone_judgments_are_imported_again_on_request(small: Path, served: Serve) -> None:
    store = served(small)
    with store.write() as connection:
        saved = append(act(connection), "first", "item", ITEM, undone=True)
    assert import_folder(store, Folder(small)) == [Imported("judgments/first.jsonl", "judgments", 2)]
    assert standing_of(store)[saved.subject]["judgment"] == "R"
    assert import_folder(store, Folder(small)) == []


def test_a_changed_question_is_recorded(small: Path, served: Serve, write: Write) -> None:
    store = served(small)
    rows = [json.loads(line) for line in (small / "questions.jsonl").read_text().splitlines()]
    rows[0]["text"] = "When did it begin?"
    write(small, "questions.jsonl", rows)
    assert import_folder(store, Folder(small)) == [Imported("questions.jsonl", "questions", 0, 1)]
    with store.read() as connection:
        changed = connection.execute(select(question).where(question.c.id == "1.1")).one()
        noted = connection.execute(select(record).where(record.c.action == "change-question")).one()
    assert (changed.version, json.loads(changed.body)["text"]) == (2, "When did it begin?")
    assert (noted.question, json.loads(noted.body)["before"]["text"]) == ("1.1", "When was the club founded?")


def test_a_judged_question_keeps_its_type(small: Path, served: Serve, write: Write) -> None:
    store = served(small)
    (small / "judgments" / "first.jsonl").unlink()
    rows = [json.loads(line) for line in (small / "questions.jsonl").read_text().splitlines()]
    rows[0]["type"] = "list"
    write(small, "questions.jsonl", rows)
    with pytest.raises(InputError, match=r"question 1\.1 is judged as factoid and cannot become list"):
        import_folder(store, Folder(small))


def test_questions_that_only_the_store_has_stay(small: Path, served: Serve, write: Write) -> None:
    store = served(small)
    for name in ("judgments", "nuggets", "runs"):
        for path in (small / name).iterdir():
            path.unlink()
    write(small, "answers.jsonl", "")
    write(small, "questions.jsonl", [{"id": "2.1", "type": "factoid", "text": "Who?", "series": "2"}])
    assert import_folder(store, Folder(small)) == [Imported("questions.jsonl", "questions", 1)]
    assert qassay.open(small).questions.ids == ("1.1", "1.2", "1.3", "2.1")


def test_a_file_with_all_questions_gives_their_order(small: Path, served: Serve, write: Write) -> None:
    store = served(small)
    rows = [json.loads(line) for line in (small / "questions.jsonl").read_text().splitlines()]
    new = {"id": "0.1", "type": "factoid", "text": "Who?", "series": "0"}
    write(small, "questions.jsonl", [new, rows[1], rows[0], rows[2]])
    (small / "judgments" / "first.jsonl").unlink()
    assert import_folder(store, Folder(small)) == [Imported("questions.jsonl", "questions", 1)]
    assert qassay.open(small).questions.ids == ("0.1", "1.2", "1.1", "1.3")


def test_another_run_of_a_tag_is_refused_unless_it_is_to_replace(small: Path, served: Serve, write: Write) -> None:
    store = served(small)
    old = (small / "runs" / "a.txt").read_text()
    write(small, "runs/a.txt", old.replace("1901", "1902"))
    with pytest.raises(InputError, match="the store has another run a") as caught:
        import_folder(store, Folder(small))
    assert caught.value.problems[0].file == "runs/a.txt"
    assert import_folder(store, Folder(small), replace=True) == [Imported("runs/a.txt", "run", 0, 1)]
    with store.read() as connection:
        assert b"1902" in connection.execute(select(run.c.data).where(run.c.tag == "a")).scalar_one()


def test_a_compressed_run_is_the_same_run(small: Path, served: Serve) -> None:
    store = served(small)
    path = small / "runs" / "a.txt"
    (small / "runs" / "a.txt.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert import_folder(store, Folder(small)) == []


def test_a_withdrawn_run_stays_withdrawn_unless_it_is_to_replace(small: Path, served: Serve) -> None:
    store = served(small)
    with store.write() as connection:
        connection.execute(update(run).where(run.c.tag == "a").values(withdrawn=True))
    assert import_folder(store, Folder(small)) == []
    assert qassay.open(small).runs.tags == ("b",)
    import_folder(store, Folder(small), replace=True)
    assert qassay.open(small).runs.tags == ("a", "b")


def test_two_runs_in_files_of_one_name_are_both_kept(small: Path, served: Serve, write: Write) -> None:
    store = served(small)
    write(small, "runs/a.txt", (small / "runs" / "a.txt").read_text().replace(" a ", " c "))
    import_folder(store, Folder(small))
    assert qassay.open(small).runs.tags == ("a", "b", "c")


def test_the_information_on_a_run_may_come_before_it(small: Path, served: Serve, write: Write) -> None:
    store = served(small)
    row = {"run": "c", "organisation": "east", "unknown": [1]}
    write(small, "runs.jsonl", (small / "runs.jsonl").read_text() + json.dumps(row) + "\n")
    assert import_folder(store, Folder(small)) == [Imported("runs.jsonl", "run-information", 1)]
    assert import_folder(store, Folder(small)) == []
    assert qassay.open(small).information["c"].organisation == "east"
    (small / "runs.jsonl").unlink()
    write(small, "runs/c.txt", (small / "runs" / "a.txt").read_text().replace(" a ", " c "))
    import_folder(store, Folder(small))
    assert qassay.open(small).runs.information["c"].organisation == "east"
    with store.read() as connection:
        assert json.loads(connection.execute(select(run.c.information).where(run.c.tag == "c")).scalar_one()) == row


def test_labels_of_pairs_become_a_set_and_stay_two_way(
    tmp_path: Path, served: Serve, scores: Any, write: Write
) -> None:
    folder = tmp_path / "pairs"
    pairs = "".join(
        f'<pair id="{n}" entailment="{label}" task="IE"><t>t</t><h>h</h></pair>'
        for n, label in enumerate(["YES", "NO ENTAILMENT", "YES"], 1)
    )
    write(folder, "qassay.toml", 'task = "entailment3"\n')
    write(folder, "questions.xml", f"<entailment-corpus>{pairs}</entailment-corpus>")
    write(folder, "runs/r.rte", "ranked: no\n1 YES\n2 UNKNOWN\n3 NO\n")
    before = scores(folder)
    assert before["None"]["runs"][0]["score"] == pytest.approx(2 / 3)
    served(folder)
    assert 'two_way = ["reference"]' in (folder / "qassay.toml").read_text()
    assert scores(folder) == before


def test_every_fault_is_reported_and_nothing_comes_in(
    small: Path, in_database: Callable[[Path], Path], write: Write
) -> None:
    store = open_store(in_database(small), create=True)
    write(small, "judgments/second.jsonl", '{"question": "1.1", "doc": "D", "text": "t", "judgment": "Q"}\nnot JSON\n')
    write(small, "judgments/third.jsonl", '{"question": "1.3", "run": "a", "nuggets": ["7"]}\n')
    write(small, "judgments/fourth.jsonl", '{"question": "7.7", "doc": "D", "text": "t", "judgment": "R"}\n')
    write(small, "nuggets/first.jsonl", '{"question": "1.3", "nugget": "1"}\n')
    write(small, "answers.jsonl", '{"question": "1.1"}\n')
    write(small, "runs.jsonl", '{"organisation": "north"}\n')
    write(small, "runs/c.txt", "1.1 c D1 one\n1.1 c D1 two\n")
    empty = counts(store)
    with pytest.raises(InputError) as caught:
        import_folder(store, Folder(small))
    assert {problem.file for problem in caught.value.problems} == {
        "answers.jsonl",
        "judgments/first.jsonl",
        "judgments/fourth.jsonl",
        "judgments/second.jsonl",
        "judgments/third.jsonl",
        "nuggets/first.jsonl",
        "runs.jsonl",
        "runs/c.txt",
    }
    assert counts(store) == empty
    store.close()


def test_a_failure_half_way_leaves_the_store_as_it_was(
    small: Path, in_database: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(in_database(small), create=True)
    empty = counts(store)

    def fail(*_: Any, **__: Any) -> int:
        raise OSError("the disk is full")

    monkeypatch.setattr("qassay.store.folder.importing.append_many", fail)
    with pytest.raises(OSError, match="disk is full"):
        import_folder(store, Folder(small))
    assert counts(store) == empty
    store.close()


@pytest.mark.parametrize("identifier", ["x" * 201, "a\0b"])
def test_ids_that_a_database_cannot_hold_are_reported(
    small: Path, in_database: Callable[[Path], Path], write: Write, identifier: str
) -> None:
    store = open_store(in_database(small), create=True)
    rows = [{"question": "1.3", "nugget": identifier, "vital": True, "text": "t"}]
    write(small, "nuggets/second.jsonl", rows)
    write(small, "questions.jsonl", (small / "questions.jsonl").read_text())
    with pytest.raises(InputError, match="longer than 200 characters, or contains a NUL"):
        import_folder(store, Folder(small))
    store.close()


def test_a_long_moment_does_not_stop_the_set(small: Path, served: Serve, write: Write) -> None:
    store = served(small)
    write(small, "judgments/second.jsonl", [{**ITEM, "judgment": "R", "at": "yesterday, " * 10}])
    assert import_folder(store, Folder(small)) == [Imported("judgments/second.jsonl", "judgments", 1)]


def test_numbers_stand_for_their_digits(small: Path, served: Serve, write: Write) -> None:
    store = served(small)
    rows = [{"question": "1.3", "nugget": 1, "vital": True, "text": "chess"}]
    write(small, "nuggets/second.jsonl", rows)
    write(small, "judgments/second.jsonl", [{"question": "1.3", "run": "a", "nuggets": [1]}])
    assert [imported.added for imported in import_folder(store, Folder(small))] == [1, 1]
    assert import_folder(store, Folder(small)) == []


def test_an_evaluation_without_anything_can_be_served(tmp_path: Path, served: Serve, write: Write) -> None:
    write(tmp_path / "new", "qassay.toml", 'task = "series2004"\n')
    store = served(tmp_path / "new")
    assert counts(store)["question"] == 0
    with store.read() as connection:
        assert connection.execute(select(answer)).first() is None
        assert connection.execute(select(nugget)).first() is None


def test_judgments_saved_meanwhile_are_neither_lost_nor_in_the_way(
    small: Path, served: Serve, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between reading the files and writing them somebody judges the same thing."""
    from qassay.store.folder import importing

    store = served(small)
    write(small, "judgments/first.jsonl", [{**ITEM, "judgment": "U"}])
    real = importing.read_folder

    def slowly(*arguments: Any) -> Any:
        contents = real(*arguments)
        with store.write() as connection:
            append(act(connection), "first", "item", {**ITEM, "judgment": "X"})
        return contents

    monkeypatch.setattr(importing, "read_folder", slowly)
    import_folder(store, Folder(small))
    with store.read() as connection:
        rows = select(judgment.c.body).where(judgment.c.question == "1.1").order_by(judgment.c.version)
        labels = [msgspec.json.decode(body)["judgment"] for body in connection.execute(rows).scalars()]
    assert labels == ["W", "R", "X", "U"]


def test_a_question_that_is_changed_meanwhile_stays_so(
    small: Path, served: Serve, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between reading the files and writing them somebody changes a question that they do not name, and adds one."""
    from qassay.store.development.drafts import change_question
    from qassay.store.folder import importing

    store = served(small)
    for name in ("judgments", "nuggets", "runs"):
        for path in (small / name).iterdir():
            path.unlink()
    write(small, "answers.jsonl", "")
    write(small, "questions.jsonl", [{"id": "2.1", "type": "factoid", "text": "Who?", "series": "2"}])
    real, task = importing.read_folder, qassay.open(small).task
    added = {"id": "3.1", "type": "factoid", "text": "How many?", "series": "3"}

    def slowly(*arguments: Any) -> Any:
        contents = real(*arguments)
        with store.write() as connection:
            change_question(act(connection, task=task), "1.1", {"text": "Founded when?"}, expected=1)
            connection.execute(question.insert().values(id="3.1", ordinal=3, body=json.dumps(added), at=now()))
        return contents

    monkeypatch.setattr(importing, "read_folder", slowly)
    assert import_folder(store, Folder(small)) == [Imported("questions.jsonl", "questions", 1)]
    questions = qassay.open(small).questions
    assert questions.ids == ("1.1", "1.2", "1.3", "3.1", "2.1")
    assert questions.by_id["1.1"].text == "Founded when?"


def planned(store: Store, folder: Path, *paths: Path, **options: Any) -> ImportPlan:
    return plan_import(snapshot(store, Folder(folder)), paths, kind="judgments", options=Options(**options))


def judgments_of(store: Store, number: str = "1.1") -> list[str | None]:
    with store.read() as connection:
        rows = select(judgment.c.body).where(judgment.c.question == number).order_by(judgment.c.version)
        bodies = connection.execute(rows).scalars().all()
    return [None if body is None else msgspec.json.decode(body)["judgment"] for body in bodies]


def test_rows_of_each_source_are_compared_in_their_order(small: Path, served: Serve, write: Write) -> None:
    """The set has W and then R: W after R is new, but W and R from two files are not."""
    store = served(small)
    rows = [json.loads(line) for line in (small / "judgments" / "first.jsonl").read_text().splitlines()[:2]]
    right, wrong = (write(small.parent, f"{row['judgment']}.jsonl", [row]) for row in reversed(rows))
    plan = planned(store, small, right, wrong, set_name="first")
    assert [added.count for added in plan.added.values()] == [0, 0]
    assert import_plan(store, plan) == []
    both = write(small.parent, "both.jsonl", list(reversed(rows)))
    plan = planned(store, small, both, set_name="first")
    assert [added.count for added in plan.added.values()] == [1]
    assert import_plan(store, plan) == [Imported("judgments/first.jsonl", "judgments", 1)]
    assert import_plan(store, plan) == [], "nothing twice"
    assert judgments_of(store) == ["W", "R", "W"]


def test_a_planned_import_brings_only_the_rows_of_its_sources(small: Path, served: Serve, write: Write) -> None:
    """Somebody undoes a judgment after the import was planned."""
    store = served(small)
    sources = [
        write(small.parent, "first.jsonl", [{**ITEM, "doc": "D7", "judgment": "X"}]),
        write(small.parent, "more.jsonl", [{**ITEM, "doc": "D8", "judgment": "X"}]),
    ]
    plan = planned(store, small, *sources, set_name="first")
    with store.write() as connection:
        append(act(connection), "first", "item", ITEM, undone=True)
    assert import_plan(store, plan) == [Imported("judgments/first.jsonl", "judgments", 2)]
    with store.read() as connection:
        noted = connection.execute(select(record.c.body).where(record.c.action == "take-in").order_by(record.c.id))
        last = msgspec.json.decode(noted.scalars().all()[-1])
        body = (
            connection.execute(select(current_judgment.c.body).where(current_judgment.c.body.is_(None))).scalars().all()
        )
    assert last == {"files": [{"file": "judgments/first.jsonl", "kind": "judgments", "added": 2, "changed": 0}]}
    assert body == [None], "what was undone stays undone"


def test_a_question_changed_after_the_plan_stays_so(small: Path, served: Serve, write: Write) -> None:
    from qassay.store.development.drafts import change_question

    store = served(small)
    new = write(small.parent, "new.jsonl", [{"id": "2.1", "type": "factoid", "text": "Who?", "series": "2"}])
    plan = plan_import(snapshot(store, Folder(small)), [new])
    with store.write() as connection:
        task = plan.configuration.task
        change_question(act(connection, task=task), "1.1", {"text": "Founded when?"}, expected=1)
    assert import_plan(store, plan) == [Imported("questions.jsonl", "questions", 1)]
    questions = qassay.open(small).questions
    assert questions.ids == ("1.1", "1.2", "1.3", "2.1")
    assert questions.by_id["1.1"].text == "Founded when?"
