"""Rows of the append-only table, and of the one that says what stands: always written together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, insert
from sqlalchemy.dialects import postgresql, sqlite

from qassay.store.schema import judgment, standing

Row = dict[str, Any]
# Rows written at once.
BATCH = 5_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A judgment to be appended under a version; a body of None takes back what stands."""

    kind: str
    question: str
    thing: str
    version: int
    body: Mapping[str, Any] | None


def append_entries(
    connection: Connection, set_name: str, entries: Sequence[Entry], *, at: str, account: int | None = None
) -> None:
    """Append judgments whose next versions the caller knows, because it holds their question."""
    for start in range(0, len(entries), BATCH):
        batch = entries[start : start + BATCH]
        rows = [_values(set_name, entry, at=at, key=None, account=account) for entry in batch]
        statement = insert(judgment).returning(judgment.c.id, judgment.c.thing)
        numbers = {named: number for number, named in connection.execute(statement, rows)}
        stand(connection, set_name, [(numbers[entry.thing], entry) for entry in batch])


def _values(
    set_name: str, entry: Entry, *, at: str, key: str | None = None, account: int | None = None
) -> dict[str, Any]:
    return {
        "set": set_name,
        "question": entry.question,
        "kind": entry.kind,
        "thing": entry.thing,
        "version": entry.version,
        "body": _text(entry.body),
        "key": key,
        "account": account,
        "at": at,
    }


def _text(body: Mapping[str, Any] | None) -> str | None:
    return None if body is None else msgspec.json.encode(body).decode()


def insert_one(
    connection: Connection, set_name: str, entry: Entry, *, at: str, key: str | None, account: int | None
) -> int | None:
    """The number of the new row; nothing where the key, or the version, is taken."""
    values = _values(set_name, entry, at=at, key=key, account=account)
    number: int | None = connection.execute(_INSERT[connection.dialect.name], values).scalar_one_or_none()
    return number


def stand(connection: Connection, set_name: str, made: Sequence[tuple[int, Entry]]) -> None:
    """Say what stands now, in place of what stood."""
    rows = [
        {
            "set": set_name,
            "thing": entry.thing,
            "question": entry.question,
            "kind": entry.kind,
            "judgment": number,
            "version": entry.version,
            "body": _text(entry.body),
        }
        for number, entry in made
    ]
    connection.execute(_STAND[connection.dialect.name], rows)


def _upsert(dialect: Any) -> Any:
    statement = dialect.insert(standing)
    changed = {name: statement.excluded[name] for name in ("judgment", "version", "body")}
    return statement.on_conflict_do_update(index_elements=["set", "thing"], set_=changed)


_DIALECTS: Mapping[str, Any] = {"sqlite": sqlite, "postgresql": postgresql}
_INSERT = {
    name: dialect.insert(judgment).on_conflict_do_nothing().returning(judgment.c.id)
    for name, dialect in _DIALECTS.items()
}
_STAND = {name: _upsert(dialect) for name, dialect in _DIALECTS.items()}
