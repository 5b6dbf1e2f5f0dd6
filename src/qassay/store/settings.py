"""Settings of a served evaluation, and the record of what organisers did."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from qassay.formats.times import now
from qassay.store.schema import record, setting, settled


def get_setting(connection: Connection, name: str) -> Any:
    """The value of a setting; None where it was never set."""
    value = connection.execute(select(setting.c.value).where(setting.c.name == name)).scalar()
    return None if value is None else msgspec.json.decode(value)


def put_setting(connection: Connection, name: str, value: Any) -> None:
    """Set a setting; None removes it."""
    if value is None:
        connection.execute(delete(setting).where(setting.c.name == name))
        return
    text = msgspec.json.encode(value).decode()
    statement = _insert(connection).values(name=name, value=text)
    connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_={"value": text}))


def put_once(connection: Connection, name: str, value: Any) -> Any:
    """Set a setting unless it is set; returns what it is then: of two writers at once both get the first one's."""
    text = msgspec.json.encode(value).decode()
    connection.execute(_insert(connection).values(name=name, value=text).on_conflict_do_nothing())
    return get_setting(connection, name)


def forget_settled(connection: Connection, question: str) -> None:
    """Say that a question must be settled anew."""
    connection.execute(delete(settled).where(settled.c.question == question))


def note_action(
    connection: Connection, action: str, *, account: int | None, question: str | None = None, **details: Any
) -> None:
    """Record what an organiser or adjudicator did, with whatever tells it apart."""
    body = msgspec.json.encode(details).decode()
    connection.execute(insert(record).values(at=now(), account=account, action=action, question=question, body=body))


def _insert(connection: Connection) -> Any:
    return (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(setting)
