"""Statements handed to the driver: the rows and the errors are those that SQLAlchemy gives."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import desk as desks
import pytest
from sqlalchemy import bindparam, insert, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from qassay.formats.times import now
from qassay.store.engine import Store
from qassay.store.prepared import Prepared
from qassay.store.schema import setting

store = desks.store

_VALUES = [{"name": name, "value": value} for name, value in [("a", "1"), ("b", "%s :x ?"), ("ü\u202e", '"é"')]]
_PUT = Prepared(insert(setting))
_LIKE = select(setting).where(setting.c.value != bindparam("other")).order_by(setting.c.name.desc()).limit(2)


def test_rows_are_those_of_the_statement_in_the_same_transaction(store: Store) -> None:
    prepared = Prepared(_LIKE)
    with store.write() as connection:
        for values in _VALUES:
            assert _PUT.rows(connection, **values) == []
        for other in ("1", "%s :x ?", "none"):
            assert prepared.rows(connection, other=other) == [
                tuple(row) for row in connection.execute(_LIKE, {"other": other})
            ]
        connection.rollback()
    with store.read() as connection:
        assert prepared.rows(connection, other="1") == []


def test_errors_are_those_of_the_engine_and_undo_the_transaction(store: Store) -> None:
    def put_twice() -> None:
        with store.write() as connection:
            _PUT.rows(connection, **_VALUES[0])
            _PUT.rows(connection, **_VALUES[0])

    with pytest.raises(IntegrityError) as caught:
        put_twice()
    assert isinstance(caught.value.orig, store.engine.dialect.loaded_dbapi.IntegrityError)
    with store.read() as connection:
        assert connection.execute(select(setting).where(setting.c.name == "a")).all() == []


def test_a_parameter_that_is_forgotten_is_an_error_and_not_null(store: Store) -> None:
    prepared = Prepared(_LIKE)

    def forget() -> None:
        with store.write() as connection:
            prepared.rows(connection, others="1")

    with pytest.raises((KeyError, DBAPIError), match="other"):
        forget()


def test_after_one_lost_connection_the_others_are_asked_before_they_are_used(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """A server that restarts closes all connections at once: one save fails, not one for each connection."""
    store = desks.make_store(request, tmp_path, "postgresql")

    def put(name: str) -> bool:
        try:
            with store.write() as connection:
                _PUT.rows(connection, name=name, value="")
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
            _PUT.rows(connection, name="late", value=now())

    with pytest.raises(DBAPIError) as caught:
        ask_after_the_end()
    assert caught.value.connection_invalidated
    with store.write() as connection:
        _PUT.rows(connection, name="later", value=now())
    store.close()
