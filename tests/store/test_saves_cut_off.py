"""Saves that end early, by a lost connection or a server that is killed, leave nothing and can be sent again."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import desk as desks
import pytest
from sqlalchemy import Connection, insert, select, text
from sqlalchemy.exc import DBAPIError, OperationalError

from qassay.formats.times import now
from qassay.store.assignment.assignments import all_assignments
from qassay.store.assignment.counting import parts_for
from qassay.store.engine import Store
from qassay.store.judging import judgments
from qassay.store.judging.decisions import SavedJudgment, decide
from qassay.store.pool.items import items_of
from qassay.store.schema import current_judgment, judgment, setting

store = desks.store


def test_after_one_lost_connection_the_others_are_asked_before_they_are_used(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """A server that restarts closes all connections at once: one save fails, not one for each connection."""
    store = desks.make_store(request, tmp_path, "postgresql")

    def put(name: str) -> bool:
        try:
            with store.write() as connection:
                connection.execute(insert(setting), {"name": name, "value": ""})
        except OperationalError as error:
            return not error.connection_invalidated
        return True

    with ExitStack() as stack:
        for connection in [stack.enter_context(store.write()) for _ in range(6)]:
            connection.exec_driver_sql("SELECT 1")
    end_others = (
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    with store.write() as connection:
        connection.exec_driver_sql(end_others)
    assert [put(f"name {number}") for number in range(12)].count(False) <= 1
    store.close()


def test_a_connection_whose_server_went_away_is_not_used_again(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    store = desks.make_store(request, tmp_path, "postgresql")

    def ask_after_the_end() -> None:
        with store.write() as connection, store.read() as other:
            number = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
            other.execute(text("SELECT pg_terminate_backend(:number)"), {"number": number})
            connection.execute(insert(setting), {"name": "late", "value": now()})

    with pytest.raises(DBAPIError) as caught:
        ask_after_the_end()
    assert caught.value.connection_invalidated
    with store.write() as connection:
        connection.execute(insert(setting), {"name": "later", "value": now()})
    store.close()


class CutOffError(Exception):
    """A save ends here, as where its server is killed."""


@contextmanager
def cut_off(where: Callable[[], str]) -> Iterator[None]:
    """Saves that end early: `where` is asked at each statement, and says "before" it, "after" it, or nothing."""
    execute = Connection.execute

    def ending(connection: Connection, *statement: Any, **options: Any) -> Any:
        ends = where()
        if ends == "before":
            raise CutOffError
        answer = execute(connection, *statement, **options)
        if ends == "after":
            answer.close()
            raise CutOffError
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Connection, "execute", ending)
        yield


def test_a_save_that_ends_anywhere_leaves_nothing_and_can_be_sent_again(store: Store, tmp_path: Path) -> None:
    desk = desks.make_desk(store, tmp_path)
    with store.read() as connection:
        assignment, _, part = where = desks.first_part(desk, connection)

    def save() -> SavedJudgment:
        with store.write() as connection:
            return desks.save(desk, connection, where, key="again")

    cut = 0
    while True:
        statements = iter([*[""] * cut, "after"])
        try:
            with cut_off(partial(next, statements, "")):
                saved = save()
        except CutOffError:
            with store.read() as connection:
                assert judgments.history(connection, assignment.set, part.subject) == []
                desk.check_counts(connection)
            cut += 1
        else:
            break
    assert 4 <= cut < 20
    assert save().saved == saved.saved
    with store.read() as connection:
        assert len(judgments.history(connection, assignment.set, part.subject)) == 1
        desk.check_counts(connection)


def test_what_eight_people_are_told_is_what_is_stored(store: Store, tmp_path: Path) -> None:
    """Saves and changes of the same few answers, of which many are cut off or sent twice."""
    desk = desks.make_desk(store, tmp_path)
    with store.read() as connection:
        places = [
            (assignment, item, part)
            for assignment in all_assignments(connection)
            for item in items_of(connection, assignment.question)
            for part in parts_for(connection, assignment.set, item, None)
            if "judgment" in desks.usual(item, part)
        ]
    told: dict[str, tuple[str, str, int, str]] = {}
    own = threading.local()

    def judge(number: int) -> None:
        own.random = random = Random(number)
        for step in range(30):
            assignment, item, part = random.choice(places)
            key, verdict = f"{number} {step}", {"judgment": random.choice("RXUW")}
            expected = None
            for _ in range(4):
                try:
                    if expected is None:
                        with store.read() as connection:
                            expected = judgments.version_of(connection, assignment.set, part.subject)
                    with store.write() as connection:
                        change = replace(desk.act(connection, assignment), key=key)
                        saved = decide(change, assignment, item, part, verdict, expected=expected).saved
                except CutOffError:
                    continue
                except judgments.ConflictError:
                    break
                outcome = (saved.set, saved.subject, saved.version, verdict["judgment"])
                assert told.setdefault(key, outcome) == outcome

    with (
        cut_off(lambda: own.random.choice(("before", "after")) if own.random.random() < 0.05 else ""),
        ThreadPoolExecutor(8) as pool,
    ):
        for done in [pool.submit(judge, number) for number in range(8)]:
            done.result()
    with store.read() as connection:
        rows = connection.execute(select(judgment).where(judgment.c.key.is_not(None))).all()
        stored = {row.key: (row.set, row.subject, row.version, json.loads(row.body)["judgment"]) for row in rows}
        assert {key: stored.get(key) for key in told} == told
        assert len(stored) == len(rows)
        versions: dict[tuple[str, str], list[int]] = {}
        for row in rows:
            versions.setdefault((row.set, row.subject), []).append(row.version)
        assert all(sorted(given) == list(range(1, len(given) + 1)) for given in versions.values())
        last = {(row.set, row.subject): row.version for row in connection.execute(select(current_judgment))}
        assert {place: last[place] for place in versions} == {place: max(given) for place, given in versions.items()}
        desk.check_counts(connection)
    assert len(told) > 50
