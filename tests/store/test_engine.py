"""The store: one state for a reader, one writer at a time, everything or nothing."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import desk as desks
import pytest
from sqlalchemy import func, insert, select, text
from sqlalchemy.exc import IntegrityError

from acting import act
from qassay.errors import InputError
from qassay.formats.folder import DATABASE, VARIABLE
from qassay.formats.times import now
from qassay.store.engine import Store, connect, is_alive, open_store, store_url
from qassay.store.schema import account, judgment, session, setting
from qassay.store.settings import get_setting, put_once, put_setting

store = desks.store


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(VARIABLE, raising=False)
    desks.write_evaluation(tmp_path / "evaluation")
    return tmp_path / "evaluation"


def test_a_reader_sees_one_state(store: Store) -> None:
    with store.write() as connection:
        put_setting(connection, "x", 1)
    with store.read() as reader:
        assert get_setting(reader, "x") == 1
        with store.write() as connection:
            put_setting(connection, "x", 2)
        assert get_setting(reader, "x") == 1
    with store.read() as reader:
        assert get_setting(reader, "x") == 2


def test_a_write_that_fails_leaves_nothing(store: Store) -> None:
    def fail() -> None:
        with store.write() as connection:
            put_setting(connection, "x", 1)
            act(connection).note("something")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with store.read() as connection:
        assert get_setting(connection, "x") is None


def test_writers_take_turns_and_lose_nothing(store: Store) -> None:
    """Each reads what is there and adds to it."""
    with store.write() as connection:
        put_setting(connection, "count", 0)

    def add(_: int) -> None:
        with store.write() as connection:
            connection.execute(select(setting).where(setting.c.name == "count").with_for_update())
            put_setting(connection, "count", get_setting(connection, "count") + 1)

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(add, range(60)))
    with store.read() as connection:
        assert get_setting(connection, "count") == 60


def _second_waits_for_first(first: Store, second: Store, seconds: float) -> None:
    begun, finish = Event(), Event()

    def write() -> None:
        with first.write() as connection:
            put_setting(connection, "x", 1)
            begun.set()
            finish.wait(seconds)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        assert begun.wait(30)
        with second.write() as connection:
            put_setting(connection, "x", get_setting(connection, "x") + 1)
        finish.set()
        writing.result()
    with first.read() as connection:
        assert get_setting(connection, "x") == 2


def test_writers_of_one_process_wait_their_turn_however_long(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They do not leave it to SQLite, which gives up after a while: 'database is locked' is shown to nobody."""
    monkeypatch.setattr("qassay.store.engine.BUSY_MILLISECONDS", 1)
    store = open_store(folder, create=True)
    _second_waits_for_first(store, store, seconds=0.2)
    store.close()


def test_readers_do_not_wait_for_a_writer(store: Store) -> None:
    begun, finish = Event(), Event()

    def write() -> None:
        with store.write() as connection:
            put_setting(connection, "x", 1)
            begun.set()
            finish.wait(30)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        assert begun.wait(30)
        with store.read() as connection:
            assert get_setting(connection, "x") is None
        finish.set()
        writing.result()


def test_another_process_is_waited_for(folder: Path) -> None:
    """Two stores on one file, as two processes have them."""
    first, second = open_store(folder, create=True), open_store(folder)
    _second_waits_for_first(first, second, seconds=0.5)
    first.close()
    second.close()


def test_sqlite_is_set_up_to_lose_nothing(folder: Path) -> None:
    store = open_store(folder, create=True)
    with store.read() as connection:
        pragmas = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 15_000}
    store.close()


def test_rows_with_unknown_accounts_or_roles_are_refused(store: Store) -> None:
    values = {"digest": "x", "account": 99, "created": now(), "seen": now(), "expires": now()}
    with store.engine.connect() as connection, connection.begin(), pytest.raises(IntegrityError):
        connection.execute(insert(session).values(values))
    with store.engine.connect() as connection, connection.begin(), pytest.raises(IntegrityError):
        connection.execute(insert(account).values(name="x", role="king", created=now()))


def test_a_version_exists_once_even_past_the_rules(store: Store) -> None:
    row = {"set": "first", "question": "q", "kind": "item", "subject": "t", "version": 1, "body": "{}", "at": now()}
    with store.write() as connection:
        connection.execute(insert(judgment).values(row))
    with store.engine.connect() as connection, connection.begin(), pytest.raises(IntegrityError):
        connection.execute(insert(judgment).values(row))


def test_a_setting_that_two_make_at_once_is_the_first_ones(store: Store) -> None:
    def make(number: int) -> Any:
        with store.write() as connection:
            return put_once(connection, "seed", number)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(make, range(8)))) == 1
    with store.write() as connection:
        put_setting(connection, "seed", None)
        assert get_setting(connection, "seed") is None
        assert connection.execute(select(func.count()).select_from(setting)).scalar_one() == 0


def test_times_are_written_so_that_text_sorts_like_time() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", now())
    assert now() <= now()


def test_a_store_is_made_only_where_it_is_asked_for(folder: Path) -> None:
    with pytest.raises(InputError, match="has no store; it is made by: qassay serve"):
        open_store(folder)
    assert not (folder / DATABASE).exists()
    open_store(folder, create=True).close()
    store = open_store(folder)
    assert store.is_file
    assert is_alive(store)
    store.close()


def test_the_database_is_where_the_variable_or_the_configuration_says(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = desks.qassay.open(folder)
    assert str(store_url(opened.folder, opened.configuration)).endswith("evaluation/qassay.db")
    monkeypatch.setenv(VARIABLE, f"sqlite:///{tmp_path / 'elsewhere.db'}")
    assert str(store_url(opened.folder, opened.configuration)).endswith("elsewhere.db")
    open_store(folder, create=True).close()
    assert (tmp_path / "elsewhere.db").exists()
    assert not (folder / DATABASE).exists()


@pytest.mark.parametrize("url", ["nonsense", "mysql://x/y", "oracle://x", "sqlite+nothing:///x"])
def test_a_database_that_is_not_served_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="database"):
        connect(url)


def test_a_database_that_does_not_answer_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "postgresql+psycopg://nobody@127.0.0.1:9/nothing")
    with pytest.raises(InputError, match="the database cannot be used"):
        open_store(folder, create=True)
