"""Settings of a served evaluation, the record of what organisers did, and the fingerprint of the store."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
from sqlalchemy import Connection, Table, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite

from qassay.judging import digest
from qassay.store.development import question_mark
from qassay.store.schema import answer, judgment, nugget, record, run, setting, settled

# The evaluation that a database belongs to.
EVALUATION = "evaluation"
# Runs that are described before they are there: rows of runs.jsonl as JSON text.
WAITING = "run-information"
# Files without a row, which are in no table: names of judgment sets and of nugget lists.
EMPTY_FILES = "empty-files"
# A row gets its number when it is written, and is seen when its transaction ends; far fewer are written meanwhile.
AT_ONCE = 20_000


def get_setting(connection: Connection, name: str) -> Any:
    """The value of a setting; None where it was never set."""
    value = connection.execute(select(setting.c.value).where(setting.c.name == name)).scalar()
    return None if value is None else msgspec.json.decode(value)


def setting_to_change(connection: Connection, name: str) -> Any:
    """The value of a setting that this transaction replaces: until it ends, others who would change it too wait."""
    take_turn(connection, f"setting {name}")
    return get_setting(connection, name)


def take_turn(connection: Connection, name: str) -> None:
    """On PostgreSQL, where writers do not wait for each other: one transaction at a time does what is named."""
    if connection.dialect.name == "postgresql":
        number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
        connection.execute(select(func.pg_advisory_xact_lock(number)))


def put_setting(connection: Connection, name: str, value: Any) -> None:
    """Set a setting; None removes it."""
    if value is None:
        connection.execute(delete(setting).where(setting.c.name == name))
        return
    text = msgspec.json.encode(value).decode()
    statement = _insert(connection).values(name=name, value=text)
    connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_={"value": text}))


def put_once(connection: Connection, name: str, value: Any) -> Any:
    """Set a setting unless it is set, and return its value: of two writers at once both get the first one's."""
    text = msgspec.json.encode(value).decode()
    connection.execute(_insert(connection).values(name=name, value=text).on_conflict_do_nothing())
    return get_setting(connection, name)


def remove_settings(connection: Connection, prefix: str) -> None:
    """Remove all settings whose names begin so."""
    connection.execute(delete(setting).where(setting.c.name.startswith(prefix, autoescape=True)))


def forget_settled(connection: Connection, question: str) -> None:
    """Say that a question must be settled again."""
    connection.execute(delete(settled).where(settled.c.question == question))


def count_actions(connection: Connection, action: str, *, account: int) -> int:
    """How often somebody did something that is recorded."""
    same = (record.c.action == action, record.c.account == account)
    return connection.execute(select(func.count()).select_from(record).where(*same)).scalar_one()


def fingerprint(connection: Connection) -> str:
    """A short text that changes whenever anything changes that scoring reads, as this connection sees it.

    Judgments, nuggets and answers are only ever appended: the last row is enough. On PostgreSQL a lower number may be
    committed after a higher one, so the last ones are counted too. Changes of questions are counted. Runs change in
    place and are few.
    """
    appended = [_appended(connection, table) for table in (judgment, nugget, answer)]
    runs = select(
        *(run.c.tag, run.c.file, run.c.at, run.c.withdrawn, run.c.information, func.length(run.c.data)),
    )
    waiting = select(setting.c.value).where(setting.c.name.in_([WAITING, EMPTY_FILES])).order_by(setting.c.name)
    changing = [[tuple(row) for row in connection.execute(query)] for query in (runs.order_by(run.c.tag), waiting)]
    return digest(appended, question_mark(connection), changing)


def _appended(connection: Connection, table: Table) -> list[Any]:
    last = connection.execute(select(table).order_by(table.c.id.desc()).limit(1)).first()
    count = None
    if last is not None and connection.dialect.name != "sqlite":
        recent = select(func.count()).select_from(table).where(table.c.id > last.id - AT_ONCE)
        count = connection.execute(recent).scalar_one()
    return [None if last is None else tuple(last), count]


def _insert(connection: Connection) -> Any:
    return (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(setting)
