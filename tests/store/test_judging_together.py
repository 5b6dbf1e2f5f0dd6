"""Many at work at once, large pools, and what it is worth in the end: the scores of the same judgments in files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier
from typing import Any

import desk as desks
from sqlalchemy import event

import qassay
from acting import act
from qassay.formats import jsonl
from qassay.judging import ADJUDICATED, JUDGMENT_COLUMNS, Item, Part
from qassay.judging.sets import judgment_set
from qassay.store.adjudication.own_lists import adopt
from qassay.store.adjudication.settling import progress, settle
from qassay.store.assignment.counting import parts_for, recount
from qassay.store.engine import Store
from qassay.store.judging.decisions import LockedError, is_locked
from qassay.store.judging.judgments import ConflictError
from qassay.store.judging.nuggets import copy_list, nuggets_of
from qassay.store.pool.items import items_of

store, desk = desks.store, desks.desk


@contextmanager
def statements(store: Store) -> Iterator[list[str]]:
    """What is sent to the database."""
    sent: list[str] = []

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        sent.append(statement)

    event.listen(store.engine, "before_cursor_execute", note)
    yield sent
    event.remove(store.engine, "before_cursor_execute", note)


def test_two_tabs_that_finish_one_list_at_once_count_it(desk: Any) -> None:
    """Each part is saved by its own tab, at the same moment."""
    with desk.store.read() as connection:
        assignment = desk.assigned(connection, "1.2")
        work = [
            (item, part)
            for item in items_of(connection, "1.2")
            for part in parts_for(connection, assignment.set, item, None)
        ]
    barrier = Barrier(len(work))

    def judge(place: tuple[Item, Part]) -> None:
        barrier.wait()
        with desk.store.write() as connection:
            desk.say(connection, assignment, *place, {"judgment": "R"})

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
                assignment = desk.assigned(connection, question, set_name)
                items = items_of(connection, question)
            for item in items:
                for part in (part for part in parts_for_set(item)):
                    with store.write() as connection:
                        desk.say(connection, assignment, item, part, {"judgment": "R"})

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
        disagreement = desk.disagreements(connection, "1.1")[0]
        assignment = desk.assigned(connection, "1.1", "second")
        (part,) = parts_for(connection, assignment.set, disagreement.item, None)
    barrier = Barrier(2)

    def change() -> bool:
        barrier.wait()
        try:
            with desk.store.write() as connection:
                desk.say(connection, assignment, disagreement.item, part, {"judgment": "R"})
        except LockedError:
            return False
        return True

    def rule() -> bool:
        barrier.wait()
        try:
            with desk.store.write() as connection:
                desk.rule(connection, disagreement, {"judgment": "U"})
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
        evaluation = desks.write_evaluation(
            tmp_path / str(size), task="ranked5", questions=[{"id": "q", "type": "factoid", "text": "?"}],
            runs={f"r{n}": f"q Q0 D1 1 1 r{n} answer {n}\n" for n in range(size)},
        )  # fmt: skip
        with store.write() as connection:
            for table in reversed(desks.metadata.sorted_tables):
                connection.execute(table.delete())
        desk = desks.make_desk(store, tmp_path, made=evaluation, development=False)
        with store.write() as connection:
            where = desks.first_part(desk, connection, "q")
            with statements(store) as sent:
                desks.save(desk, connection, where)
            single = len(sent)
            desk.judge_all(connection, "q", "first")
            desk.judge_all(connection, "q", "second")
            with statements(store) as sent:
                recount(act(connection), where[0])
            counted = len(sent)
            with statements(store) as sent:
                settle(act(connection), "q")
                desk.disagreements(connection, "q")
                progress(connection)
            counts.append((single, counted, len(sent)))
    assert counts[0] == counts[1]
    assert counts[0][0] <= 6


def export(desk: Any, connection: Any, folder: Path, sets: tuple[str, ...]) -> qassay.Evaluation:
    """Write sets and lists as files, as FORMATS has them."""
    for kind in ("judgments", "nuggets"):
        (folder / kind).mkdir(exist_ok=True)
    for set_name in sets:
        lines = "".join(json.dumps(row) + "\n" for row in desk.rows(connection, set_name))
        (folder / "judgments" / f"{set_name}.jsonl").write_text(lines, encoding="utf-8")
        listed = [dict(nugget.body) for nugget in nuggets_of(connection, set_name, "1.3")]
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
        for set_name, verdict in says.items():
            for question in ("1.1", "1.2"):
                desk.judge_all(connection, question, set_name, lambda _, part, verdict=verdict: verdict(part))
            copy_list(act(connection), source="development", target=set_name, question="1.3")
            assignment = desk.assigned(connection, "1.3", set_name)
            for item in items_of(connection, "1.3"):
                whole, *links = parts_for(connection, assignment.set, item, None)
                desk.say(connection, assignment, item, links[-1], {"nuggets": ["1"]})
                desk.say(connection, assignment, item, whole, {"nuggets": []})
        for disagreements in [*desk.disagreements(connection, "1.1"), *desk.disagreements(connection, "1.2")]:
            desk.rule(connection, disagreements, {"judgment": "X"})
        adopt(act(connection, who=desk.judge, key="adopt"), "1.3", "second")
        assert all(each.settled.left == 0 for each in progress(connection))
        sets = ("first", "second", ADJUDICATED)
        served = export(desk, connection, tmp_path / "evaluation", sets)
        for set_name in sets:
            rows = [(number, row) for number, row in enumerate(desk.rows(connection, set_name), 1)]
            table = jsonl.rows_table(rows, JUDGMENT_COLUMNS, file="x")
            found_kinds = judgment_set(set_name, table, served.questions, served.task, file="x").kinds
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
