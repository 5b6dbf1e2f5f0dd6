"""Decisions: checked, counted without drift, repeated without harm, and worth the same as files."""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import event

import qassay
from qassay.errors import InputError
from qassay.formats import jsonl
from qassay.judgments import JUDGMENT_COLUMNS, sort_out
from qassay.store import judgments
from qassay.store.adjudication import adopt, progress, settle
from qassay.store.assignments import reassign, reopen
from qassay.store.engine import Store
from qassay.store.items import Item, items_of
from qassay.store.judging import (
    ADJUDICATED,
    LockedError,
    completed,
    decide,
    is_complete,
    is_locked,
    parts_for,
    recount,
    undo,
)
from qassay.store.judgments import ConflictError, KeyReusedError
from qassay.store.nuggets import copy_list, nuggets_of, write_nugget
from qassay.store.parts import Part


def beside(name: str) -> ModuleType:
    """A helper module of this folder (the tests are no package)."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


desks = beside("desk")
store = desks.store


@pytest.fixture
def desk(store: Store, tmp_path: Path) -> Any:
    return desks.make_desk(store, tmp_path)


@contextmanager
def statements(store: Store) -> Iterator[list[str]]:
    """What is sent to the database."""
    sent: list[str] = []

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        sent.append(statement)

    event.listen(store.engine, "before_cursor_execute", note)
    yield sent
    event.remove(store.engine, "before_cursor_execute", note)


def first_part(desk: Any, connection: Any, question: str = "1.1", set_name: str = "first") -> tuple[Any, Item, Part]:
    one = desk.assigned(connection, question, set_name)
    item = items_of(connection, question)[0]
    return one, item, parts_for(connection, one, item, None)[0]


def save(desk: Any, connection: Any, where: tuple[Any, Item, Part], label: str = "R", **options: Any) -> Any:
    one, item, part = where
    how = {"task": desk.evaluation.task, "who": desk.who(one), "expected": 0, "key": "k", **options}
    return decide(connection, one, item, part, {"judgment": label}, **how)


def test_a_decision_is_counted_once(desk: Any) -> None:
    with desk.store.write() as connection:
        where = first_part(desk, connection)
        made = save(desk, connection, where, seconds=7)
        assert (made.saved.version, made.complete, made.done, made.total, made.closed) == (1, True, 1, 2, False)
        assert save(desk, connection, where, seconds=7) == made
        changed = save(desk, connection, where, "W", expected=1, key="l", seconds=1000)
        assert (changed.saved.version, changed.done) == (2, 1)
        assert desk.assigned(connection, "1.1").seconds == 307
        desk.check_counts(connection)
        row = changed.saved.body
        assert (row["assessor"], row["judgment"]) == (desk.who(where[0]).name, "W")
        assert "run" not in row


def test_what_is_refused_changes_nothing(desk: Any) -> None:
    with desk.store.write() as connection:
        where = first_part(desk, connection)
        with pytest.raises(InputError):
            save(desk, connection, where, "?")
        save(desk, connection, where)
        with pytest.raises(ConflictError) as met:
            save(desk, connection, where, "W", key="l")
        assert met.value.standing.body["judgment"] == "R"
        with pytest.raises(KeyReusedError):
            save(desk, connection, where, "W", expected=1)
        with pytest.raises(LockedError, match="not assigned to you"):
            save(desk, connection, where, "W", expected=1, key="l", who=desk.judge)
        assert len(judgments.history(connection, "first", where[2].thing)) == 1
        desk.check_counts(connection)


def test_a_save_that_was_answered_is_answered_again_whatever_came_between(desk: Any) -> None:
    """Given to somebody else, ruled on, or a nugget gone: the first answer was given, and is given again."""
    with desk.store.write() as connection:
        where = first_part(desk, connection)
        who = desk.who(where[0])
        made = save(desk, connection, where)
        reassign(connection, where[0].id, desk.judge.id, by=None)
        assert save(desk, connection, where, who=who).saved == made.saved
        one, item, part = first_part(desk, connection, "1.3")
        how = {"task": desk.evaluation.task, "who": desk.who(one), "expected": 0, "key": "n"}
        linked = decide(connection, one, item, part, {"nuggets": ["2"]}, **how)
        write_nugget(connection, list_name="development", question="1.3", nugget="2", body=None)
        assert decide(connection, one, item, part, {"nuggets": ["2"]}, **how).saved == linked.saved


def test_undo_goes_back_step_by_step_and_is_itself_recorded(desk: Any) -> None:
    task = desk.evaluation.task
    with desk.store.write() as connection:
        where = first_part(desk, connection)
        one, item, part = where
        who = desk.who(one)
        for version, label in enumerate("RXW"):
            save(desk, connection, where, label, expected=version, key=f"d{version}")
        how = {"task": task, "who": who}
        back = undo(connection, one, item, part, expected=3, to=2, key="u1", **how)
        assert (back.saved.version, back.saved.body["judgment"], back.done) == (4, "X", 1)
        assert undo(connection, one, item, part, expected=3, to=2, key="u1", **how).saved == back.saved
        gone = undo(connection, one, item, part, expected=4, to=0, key="u2", **how)
        assert (gone.saved.body, gone.complete, gone.done) == (None, False, 0)
        again = undo(connection, one, item, part, expected=5, to=4, key="u3", **how)
        assert (again.saved.body["judgment"], again.done) == ("X", 1)
        with pytest.raises(InputError, match="no version 9"):
            undo(connection, one, item, part, expected=6, to=9, key="u4", **how)
        with pytest.raises(ConflictError):
            undo(connection, one, item, part, expected=5, to=0, key="u5", **how)
        said = [saved.body and saved.body["judgment"] for saved in judgments.history(connection, "first", part.thing)]
        assert said == ["R", "X", "W", "X", None, "X"]
        desk.check_counts(connection)


def test_undo_brings_back_no_nugget_that_is_gone(desk: Any) -> None:
    with desk.store.write() as connection:
        one, item, part = first_part(desk, connection, "1.3")
        desk.say(connection, one, item, part, {"nuggets": ["2"]})
        desk.say(connection, one, item, part, {"nuggets": []})
        write_nugget(connection, list_name="development", question="1.3", nugget="2", body=None)
        with pytest.raises(InputError, match="no nugget '2'"):
            desk.take_back(connection, one, item, part, to=1)


def test_random_work_never_drifts(desk: Any) -> None:
    """Whatever is judged, changed and taken back: counts are those of counting, settled is what settling gives."""
    chance = random.Random(7)
    with desk.store.write() as connection:
        for step in range(150):
            question = chance.choice(["1.1", "1.2", "1.3"])
            one = desk.assigned(connection, question, chance.choice(["first", "second"]))
            item = chance.choice(items_of(connection, question))
            part = chance.choice(parts_for(connection, one, item, None))
            version = judgments.version_of(connection, one.set, part.thing)
            if version and chance.random() < 0.15:
                desk.take_back(connection, one, item, part, chance.randrange(version))
            else:
                verdict = {"nuggets": chance.choice([[], ["1"]])} if part.kind == "match" else {
                    "judgment": chance.choice("RW")}  # fmt: skip
                desk.say(connection, one, item, part, verdict)
            if step % 10 == 9:
                desk.check_counts(connection)
                for each in progress(connection):
                    assert (each.settled is not None) == each.closed
                    if each.closed:
                        rows = desk.rows(connection, question=each.question)
                        assert settle(connection, each.question, desk.evaluation.task) == each.settled
                        assert desk.rows(connection, question=each.question) == rows
        assert any(each.closed for each in progress(connection))


def test_two_tabs_that_finish_one_list_at_once_count_it(desk: Any) -> None:
    """Each part is saved by its own tab, at the same moment."""
    with desk.store.read() as connection:
        one = desk.assigned(connection, "1.2")
        work = [(item, part) for item in items_of(connection, "1.2") for part in parts_for(connection, one, item, None)]
    barrier = Barrier(len(work))

    def judge(place: tuple[Item, Part]) -> None:
        barrier.wait()
        with desk.store.write() as connection:
            desk.say(connection, one, *place, {"judgment": "R"})

    with ThreadPoolExecutor(len(work)) as pool:
        list(pool.map(judge, work))
    with desk.store.read() as connection:
        desk.check_counts(connection)
        assert desk.assigned(connection, "1.2").closed


def test_assessors_who_finish_at_the_same_moment_settle_the_question(store: Store, tmp_path: Path) -> None:
    """Neither sees the other as finished unless one of them waits: the question would never be settled."""
    desk = desks.make_desk(store, tmp_path, assessors=3)
    sets = ("first", "second", "third")
    barrier = Barrier(len(sets))

    def judge(set_name: str) -> None:
        for question in ("1.1", "1.2"):
            barrier.wait()
            with store.read() as connection:
                one = desk.assigned(connection, question, set_name)
                items = items_of(connection, question)
            for item in items:
                for part in (part for part in parts_for_set(item)):
                    with store.write() as connection:
                        desk.say(connection, one, item, part, {"judgment": "R"})

    def parts_for_set(item: Item) -> list[Part]:
        with store.read() as connection:
            return parts_for(connection, "first", item, None)

    with ThreadPoolExecutor(len(sets)) as pool:
        list(pool.map(judge, sets))
    with store.read() as connection:
        desk.check_counts(connection)
        assert desk.settled(connection, "1.1") == (2, 0, 0)
        assert desk.settled(connection, "1.2") == (3, 0, 0)
        assert len(desk.rows(connection)) == 5


def test_a_ruling_and_a_change_at_the_same_moment_do_not_pass_each_other(desk: Any) -> None:
    """Either the change is in what was ruled on, or it is refused."""
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second", lambda *_: {"judgment": "W"})
        found = desk.disagreements(connection, "1.1")[0]
        one = desk.assigned(connection, "1.1", "second")
        (part,) = parts_for(connection, one, found.item, None)
    barrier = Barrier(2)

    def change() -> bool:
        barrier.wait()
        try:
            with desk.store.write() as connection:
                desk.say(connection, one, found.item, part, {"judgment": "R"})
        except LockedError:
            return False
        return True

    def rule() -> bool:
        barrier.wait()
        try:
            with desk.store.write() as connection:
                desk.rule(connection, found, {"judgment": "U"})
        except ConflictError:  # the change made it unanimous
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        changed, ruled = pool.submit(change), pool.submit(rule)
        assert changed.result() != ruled.result()
    with desk.store.read() as connection:
        assert is_locked(connection, "1.1") == ruled.result()
        desk.check_counts(connection)


def test_a_decision_takes_few_queries_however_large_the_pool(store: Store, tmp_path: Path) -> None:
    counts = []
    for size in (3, 60):
        made = desks.write_evaluation(
            tmp_path / str(size), task="ranked5", questions=[{"id": "q", "type": "factoid", "text": "?"}],
            runs={f"r{n}": f"q Q0 D1 1 1 r{n} answer {n}\n" for n in range(size)},
        )  # fmt: skip
        with store.write() as connection:
            for table in reversed(desks.metadata.sorted_tables):
                connection.execute(table.delete())
        desk = desks.make_desk(store, tmp_path, made=made, development=False)
        with store.write() as connection:
            where = first_part(desk, connection, "q")
            with statements(store) as sent:
                save(desk, connection, where)
            single = len(sent)
            desk.judge_all(connection, "q", "first")
            desk.judge_all(connection, "q", "second")
            with statements(store) as sent:
                recount(connection, where[0])
            counted = len(sent)
            with statements(store) as sent:
                settle(connection, "q")
                desk.disagreements(connection, "q")
                progress(connection)
            counts.append((single, counted, len(sent)))
    assert counts[0] == counts[1]
    assert counts[0][0] <= 6


def test_after_reopening_only_the_assessors_go_on_until_they_say_so(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second")
        reopen(connection, "1.1", by=None, reason="")
        where = first_part(desk, connection)
        again = save(desk, connection, where, "X", expected=1)
        assert (again.done, again.total, again.closed) == (2, 2, False)
        undone = desk.take_back(connection, *where)
        assert (undone.done, undone.closed) == (1, False)
        # What becomes complete anew closes by itself.
        assert save(desk, connection, where, "X", expected=3, key="l").closed
        assert desk.settled(connection, "1.1") is None
        assert recount(connection, desk.assigned(connection, "1.1", "second"))[2]
        assert desk.settled(connection, "1.1") == (1, 1, 1)
        desk.check_counts(connection)


def test_completed_and_is_complete_say_the_same(desk: Any) -> None:
    with desk.store.write() as connection:
        for question in ("1.1", "1.2", "1.3"):
            one, item, part = first_part(desk, connection, question)
            desk.say(connection, one, item, part, desks.usual(item, part))
            items = items_of(connection, question)
            each = [is_complete(connection, "first", parts_for(connection, one, other, None)) for other in items]
            assert completed(connection, one, items, None) == each
            assert sum(each) == desk.assigned(connection, question).done


def export(desk: Any, connection: Any, folder: Path, sets: tuple[str, ...]) -> qassay.Evaluation:
    """Write sets and lists as files, as FORMATS has them."""
    for kind in ("judgments", "nuggets"):
        (folder / kind).mkdir(exist_ok=True)
    for set_name in sets:
        lines = "".join(json.dumps(row) + "\n" for row in desk.rows(connection, set_name))
        (folder / "judgments" / f"{set_name}.jsonl").write_text(lines, encoding="utf-8")
        listed = [dict(one.body) for one in nuggets_of(connection, set_name, "1.3")]
        lines = "".join(json.dumps(row) + "\n" for row in listed)
        (folder / "nuggets" / f"{set_name}.jsonl").write_text(lines, encoding="utf-8")
    return qassay.open(folder)


def test_an_evaluation_judged_here_scores_like_the_same_judgments_in_files(store: Store, tmp_path: Path) -> None:
    """Factoid, list and nuggets by two assessors, adjudicated; against rows written by hand."""
    desk = desks.make_desk(store, tmp_path)
    says: Mapping[str, Callable[[Part], Mapping[str, Any]]] = {
        "first": lambda part: {"judgment": "R"},
        "second": lambda part: {"judgment": "R" if part.row["text"] in ("1901", "Ann") else "W"},
    }
    with store.write() as connection:
        for set_name, said in says.items():
            for question in ("1.1", "1.2"):
                desk.judge_all(connection, question, set_name, lambda _, part, said=said: said(part))
            copy_list(connection, source="development", target=set_name, question="1.3", account=None)
            one = desk.assigned(connection, "1.3", set_name)
            for item in items_of(connection, "1.3"):
                whole, *links = parts_for(connection, one, item, None)
                desk.say(connection, one, item, links[-1], {"nuggets": ["1"]})
                desk.say(connection, one, item, whole, {"nuggets": []})
        for found in [*desk.disagreements(connection, "1.1"), *desk.disagreements(connection, "1.2")]:
            desk.rule(connection, found, {"judgment": "X"})
        adopt(connection, "1.3", "second", who=desk.judge, key="adopt")
        assert all(each.settled.left == 0 for each in progress(connection))
        sets = ("first", "second", ADJUDICATED)
        served = export(desk, connection, tmp_path / "evaluation", sets)
        for set_name in sets:
            rows = [(number, row) for number, row in enumerate(desk.rows(connection, set_name), 1)]
            table = jsonl.rows_table(rows, JUDGMENT_COLUMNS, file="x")
            found_kinds = sort_out(set_name, table, served.questions, served.task, file="x").kinds
            assert {kind: rows.height for kind, rows in found_kinds.items()} == {"item": 2, "list": 3, "match": 4}
    by_hand = desks.write_evaluation(tmp_path / "by hand")
    labels = {"first": "RRRRR", "second": "RWRWR", ADJUDICATED: "RXRXR"}
    things = [
        *(("1.1", {"doc": "D1", "text": text}) for text in ("1901", "in 1901")),
        ("1.2", {"run": "north", "doc": "D1", "text": "Ann"}),
        ("1.2", {"run": "north", "doc": "D2", "text": "Bob"}),
        ("1.2", {"run": "south", "doc": "D1", "text": "Ann"}),
    ]
    facts = {"1": "chess", "2": "plays"}
    nuggets = [{"question": "1.3", "nugget": n, "vital": n == "1", "text": fact} for n, fact in facts.items()]
    for kind in ("judgments", "nuggets"):
        (tmp_path / "by hand" / kind).mkdir()
    for set_name, said_labels in labels.items():
        rows_by_hand: list[dict[str, Any]] = [
            {"question": question, **named, "judgment": label}
            for (question, named), label in zip(things, said_labels, strict=True)
        ]
        rows_by_hand += [{"question": "1.3", "run": run, "nuggets": ["1"]} for run in ("north", "south")]
        for kind, content in (("judgments", rows_by_hand), ("nuggets", nuggets)):
            text = "".join(json.dumps(row) + "\n" for row in content)
            (tmp_path / "by hand" / kind / f"{set_name}.jsonl").write_text(text, encoding="utf-8")
    by_hand = qassay.open(tmp_path / "by hand")
    for set_name in sets:
        assert served.score(set_name).as_json() == by_hand.score(set_name).as_json()
    assert served.score().as_json()["key"] == ADJUDICATED
    assert len({str(served.score(set_name).as_json()["runs"]) for set_name in sets}) > 1
