"""Judgments: appended and never lost, whoever writes at the same moment."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import desk as desks
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, func, select

from acting import act
from qassay.errors import InputError
from qassay.judging import subject
from qassay.judging.settling import NewJudgment
from qassay.store.engine import Store
from qassay.store.judging import judgments
from qassay.store.judging.judgments import ConflictError, KeyReusedError, append, append_judgments, append_many
from qassay.store.schema import current_judgment, judgment

store = desks.store
AT = "2026-01-01T00:00:00.000Z"
ROW = {"question": "1", "doc": "D", "text": "x", "judgment": "R"}
THING = subject("item", ROW)


def save(connection: Any, label: str = "R", **options: Any) -> judgments.Judgment:
    row = {**ROW, "judgment": label}
    new_act = act(
        connection, key=options.pop("key", None), account=options.pop("account", None), at=options.pop("at", AT)
    )
    return append(new_act, options.pop("set_name", "first"), "item", options.pop("row", row), **options)


def everything(connection: Any) -> tuple[list[Any], list[Any]]:
    """Both tables, without the numbers that a database gives."""
    j, s = judgment.c, current_judgment.c
    rows = connection.execute(select(j.set, j.question, j.kind, j.subject, j.version, j.body, j.at).order_by(j.id))
    last = connection.execute(
        select(s.set, s.subject, s.question, s.kind, s.version, s.body).order_by(s.set, s.subject)
    )
    return [tuple(row) for row in rows], [tuple(row) for row in last]


def test_the_last_judgment_is_current_and_the_rest_is_history(store: Store) -> None:
    with store.write() as connection:
        assert [save(connection, label).version for label in "RXW"] == [1, 2, 3]
        assert [saved.body["judgment"] for saved in judgments.history(connection, "first", THING)] == ["R", "X", "W"]
        assert judgments.last(connection, "first", THING).body["judgment"] == "W"
        assert judgments.version_of(connection, "first", THING) == 3
        assert judgments.version_of(connection, "second", THING) == 0
        assert judgments.last(connection, "second", THING) is None
        assert judgments.current_rows(connection, "first", [THING, "never"]) == {THING: (3, {**ROW, "judgment": "W"})}


def test_stale_save_gets_a_conflict(store: Store) -> None:
    with store.write() as connection:
        first = save(connection, "R", expected=0)
        with pytest.raises(ConflictError) as met:
            save(connection, "W", expected=0)
        assert met.value.current == first
        with pytest.raises(ConflictError):
            save(connection, "W", expected=7)
        assert save(connection, "W", expected=1).version == 2
        with pytest.raises(ConflictError) as met:
            append(act(connection, at=AT), "second", "item", ROW, expected=1)
        assert met.value.current is None


def test_a_save_sent_twice_is_one_judgment_with_one_answer(store: Store) -> None:
    with store.write() as connection:
        first = save(connection, "R", expected=0, key="k")
        assert save(connection, "R", expected=0, key="k", at="2027-01-01T00:00:00Z") == first
        save(connection, "W", expected=1, key="l")
        assert save(connection, "R", expected=0, key="k") == first
        assert len(judgments.history(connection, "first", THING)) == 2


def test_a_key_is_for_one_judgment(store: Store) -> None:
    """Answering another verdict with the first one's answer would lose it."""
    other = {**ROW, "text": "y"}
    with store.write() as connection:
        (person, *_) = desks.add_people(connection, 1)
        save(connection, "R", key="k")
        for changed in (
            {"label": "W"},
            {"row": other},
            {"set_name": "second"},
            {"account": person.id},
            {"undone": True},
        ):
            with pytest.raises(KeyReusedError):
                save(connection, key="k", **changed)
        assert len(judgments.history(connection, "first", THING)) == 1


@pytest.mark.parametrize("key", ["", "x" * 101, "a\x00b", "é", "\ud800", "a\nb"])
def test_a_key_that_no_database_could_hold_is_refused(tmp_path: Path, key: str, request: Any) -> None:
    store = desks.make_store(request, tmp_path, "sqlite")
    with store.write() as connection, pytest.raises(InputError, match="idempotency key"):
        save(connection, key=key)
    store.close()


def test_taking_back_leaves_nothing_standing_and_loses_nothing(store: Store) -> None:
    with store.write() as connection:
        save(connection, "R")
        gone = save(connection, undone=True, expected=1)
        assert (gone.version, gone.body) == (2, None)
        assert judgments.current_rows(connection, "first", [THING]) == {THING: (2, None)}
        with pytest.raises(ConflictError):
            save(connection, "W", expected=0)
        save(connection, "W", expected=2)
        assert [entry.body and entry.body["judgment"] for entry in judgments.history(connection, "first", THING)] == [
            "R", None, "W"
        ]  # fmt: skip


def test_a_transaction_that_fails_leaves_nothing(store: Store) -> None:
    def fail() -> None:
        with store.write() as connection:
            save(connection, "R")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with store.read() as connection:
        assert everything(connection) == ([], [])


def test_of_twenty_writers_one_has_each_version(store: Store) -> None:
    """Everybody writes over the version they saw until it is saved; after a conflict they look again."""
    writers, barrier = 20, Barrier(20)

    def write(number: int) -> tuple[int, int]:
        barrier.wait()
        refused = 0
        seen = 0
        while True:
            try:
                with store.write() as connection:
                    saved = save(connection, "R", row={**ROW, "note": str(number)}, expected=seen, key=f"k{number}")
                    return saved.version, refused
            except ConflictError as error:
                refused += 1
                seen = error.current.version if error.current else 0

    with ThreadPoolExecutor(writers) as pool:
        got = list(pool.map(write, range(writers)))
    assert sorted(version for version, _ in got) == list(range(1, writers + 1))
    assert sum(refused for _, refused in got) > 0
    with store.read() as connection:
        rows = judgments.history(connection, "first", THING)
        assert [row.version for row in rows] == list(range(1, writers + 1))
        assert {row.body["note"] for row in rows} == {str(number) for number in range(writers)}
        assert judgments.current_rows(connection, "first", [THING])[THING] == (writers, rows[-1].body)


def test_the_same_save_from_twenty_connections_is_one_judgment(store: Store) -> None:
    barrier = Barrier(20)

    def write(_: int) -> judgments.Judgment:
        barrier.wait()
        with store.write() as connection:
            return save(connection, "R", expected=0, key="same")

    with ThreadPoolExecutor(20) as pool:
        got = set(map(repr, pool.map(write, range(20))))
    assert len(got) == 1
    with store.read() as connection:
        assert len(judgments.history(connection, "first", THING)) == 1


def test_a_file_imported_meanwhile_loses_no_judgment(store: Store) -> None:
    """Single saves and whole files at once: every row is there, versions without gaps, the last one standing."""
    barrier = Barrier(8)
    rows = [{**ROW, "text": str(number)} for number in range(50)]

    def write(number: int) -> int:
        barrier.wait()
        if number % 2:
            with store.write() as connection:
                return append_many(
                    connection, set_name="first", rows=[("item", json.dumps(row)) for row in rows], at=AT
                )
        done = 0
        for row in rows[:20]:
            try:
                with store.write() as connection:
                    save(connection, row={**row, "note": str(number)})
                done += 1
            except ConflictError:
                pass
        return done

    with ThreadPoolExecutor(8) as pool:
        count = sum(pool.map(write, range(8)))
    with store.read() as connection:
        assert connection.execute(select(func.count()).select_from(judgment)).scalar_one() == count
        for row in rows:
            entries = judgments.history(connection, "first", subject("item", row))
            assert [entry.version for entry in entries] == list(range(1, len(entries) + 1))
            assert judgments.current_rows(connection, "first", [entries[0].subject])[entries[0].subject] == (
                len(entries),
                entries[-1].body,
            )


SAVES = st.lists(
    st.tuples(st.sampled_from(["1", "2"]), st.sampled_from(["x", "", "ü\u2028", "a" * 300]), st.sampled_from("RXUW")),
    max_size=12,
)


def test_many_at_once_are_what_one_after_the_other_are(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    store = desks.make_store(request, tmp_path, "sqlite")

    def row(values: tuple[str, str, str]) -> dict[str, str]:
        return {"question": values[0], "doc": "D", "text": values[1], "judgment": values[2]}

    def state(before: Any, rows: Any, *, at_once: bool) -> Any:
        with store.write() as connection:
            connection.execute(delete(current_judgment))
            connection.execute(delete(judgment))
            for values in before:
                save(connection, row=row(values))
            if at_once:
                texts = [
                    ("item", json.dumps(row(values), separators=(",", ":"), ensure_ascii=False)) for values in rows
                ]
                assert append_many(connection, set_name="first", rows=texts, at=AT) == len(rows)
            else:
                for values in rows:
                    save(connection, row=row(values))
            return everything(connection)

    @settings(max_examples=40)
    @given(before=SAVES, rows=SAVES)
    def check(before: Any, rows: Any) -> None:
        assert state(before, rows, at_once=True) == state(before, rows, at_once=False)

    check()
    store.close()


def test_more_rows_than_a_batch_and_more_things_than_parameters(store: Store) -> None:
    rows = [{**ROW, "text": str(number)} for number in range(7_000)]
    texts = (("item", json.dumps(row)) for row in rows)
    with store.write() as connection:
        assert append_many(connection, set_name="first", rows=texts, at=AT) == 7_000
        named = [subject("item", row) for row in rows]
        never = [f"{number:032x}" for number in range(70_000)]
        assert len(judgments.current_rows(connection, "first", named + never)) == 7_000
        new = [NewJudgment("item", "1", key, 2, None) for key in named[:6_000]]
        append_judgments(act(connection, at=AT), "first", new)
        current = judgments.current_rows(connection, "first", named)
        assert sum(body is None for _, body in current.values()) == 6_000
        assert current[named[0]] == (2, None)


def test_rows_of_a_file_keep_the_time_they_tell(store: Store) -> None:
    with store.write() as connection:
        rows = [("item", json.dumps({**ROW, "at": "1999-01-01T00:00:00Z"})), ("item", json.dumps(ROW))]
        append_many(connection, set_name="first", rows=rows, at=AT)
        assert [entry.at for entry in judgments.history(connection, "first", THING)] == ["1999-01-01T00:00:00Z", AT]


def test_odd_and_huge_strings_come_back_as_they_were(store: Store) -> None:
    texts = ["", " ", "a\x00b", "\u202eabc", "🂡" * 3, "x" * 10_000_000, "\"\\'", "é", "e\u0301"]
    with store.write() as connection:
        for text in texts:
            save(connection, row={**ROW, "text": text})
    with store.read() as connection:
        for text in texts:
            entry = judgments.last(connection, "first", subject("item", {**ROW, "text": text}))
            assert entry.version == 1
            assert entry.body["text"] == text


def test_going_back_to_a_version_that_never_was_is_refused(store: Store) -> None:
    with store.write() as connection:
        save(connection, "R")
        save(connection, undone=True)
        rows = judgments.history(connection, "first", THING)
        assert judgments.body_at(rows, 0, "1") is None
        assert judgments.body_at(rows, 1, "1") == ROW
        assert judgments.body_at(rows, 2, "1") is None
        for version in (3, -1):
            with pytest.raises(InputError, match="no version"):
                judgments.body_at(rows, version, "1")


def test_plan_made_for_an_empty_table_finds_judgments_by_their_key(tmp_path: Path, request: Any) -> None:
    """PostgreSQL keeps the plan of a statement; this one would read all judgments of a set at every save."""
    store = desks.make_store(request, tmp_path, "postgresql")
    statement = str(judgments._VERSIONS["postgresql"].compile(dialect=store.engine.dialect))
    for number, name in enumerate(("subjects", "name", "param_1"), 1):
        statement = statement.replace(f"%({name})s", f"${number}")
    with store.read() as connection:
        connection.exec_driver_sql("SET LOCAL plan_cache_mode = force_generic_plan")
        connection.exec_driver_sql(f"PREPARE look AS {statement}")
        plan = [row[0] for row in connection.exec_driver_sql("EXPLAIN EXECUTE look(ARRAY['x'], 'first', 1)")]
    conditions = [line for line in plan if "Cond" in line or "Filter" in line]
    assert len(conditions) == 1
    assert "set" in conditions[0]
    assert "thing" in conditions[0]
    store.close()
