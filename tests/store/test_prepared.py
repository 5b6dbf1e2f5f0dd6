"""Statements handed to the driver: the rows and the errors are those that SQLAlchemy gives."""

from __future__ import annotations

from pathlib import Path

import desk as desks
import pytest
from sqlalchemy import bindparam, insert, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

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
