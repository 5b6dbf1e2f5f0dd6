"""Nugget lists: append-only like judgments; the last row of a nugget stands, and an id is never used again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, func, insert, select

from qassay.errors import QassayError, UsageError
from qassay.formats.times import now
from qassay.nuggets import list_of_key
from qassay.store.assignment.assignments import SLOTS
from qassay.store.schema import nugget as table

DEVELOPMENT = "development"


@dataclass(frozen=True, slots=True)
class Nugget:
    """One nugget of a list as it stands; a body of None says that it was taken off."""

    list: str
    question: str
    nugget: str
    version: int
    ordinal: int
    body: Mapping[str, Any] | None

    @property
    def text(self) -> str:
        """The fact."""
        return str((self.body or {}).get("text") or "")

    @property
    def vital(self) -> bool:
        """Whether a good answer must have it."""
        return bool((self.body or {}).get("vital"))


class NuggetConflictError(QassayError):
    """Somebody else changed the nugget first: what stands now."""

    def __init__(self, standing: Nugget | None) -> None:
        super().__init__("this nugget was changed in the meantime; look at what stands and decide again")
        self.standing = standing


def nugget_lists(connection: Connection) -> list[str]:
    """Names of the lists that have rows, in order."""
    return list(connection.execute(_LISTS).scalars())


def nuggets_of(connection: Connection, list_name: str, question: str) -> list[Nugget]:
    """The nuggets of a question on a list that stand, in their order."""
    c = table.c
    rows = connection.execute(select(table).where(c.list == list_name, c.question == question).order_by(c.version))
    last = {row.nugget: row for row in rows}
    kept = [as_nugget(row) for row in last.values() if row.body is not None]
    return sorted(kept, key=lambda one: (one.ordinal, len(one.nugget), one.nugget))


def list_for(connection: Connection, set_name: str, question: str) -> tuple[str, list[Nugget]]:
    """The list that a judgment set goes by, and its nuggets of a question: its own, else the only list there is.

    The rule is the one of keys (FORMATS 4), so that scores use the nuggets that the assessor saw; but nobody is shown
    what another assessor wrote, and a list that is added later takes nothing away from those who go by the one that
    was given to all.
    """
    chosen = _chosen(set_name, nugget_lists(connection))
    return chosen, nuggets_of(connection, chosen, question)


def write_nugget(
    connection: Connection,
    *,
    list_name: str,
    question: str,
    nugget: str | None,
    body: Mapping[str, Any] | None,
    ordinal: int | None = None,
    expected: int | None = None,
    key: str | None = None,
    account: int | None = None,
    at: str | None = None,
) -> Nugget:
    """Append a nugget (with None, a new one under the next number), a change of it, or with no body its removal.

    A key that was used before writes nothing: what it wrote then is returned.
    """
    replayed = _under_key(connection, key)
    if replayed is not None:
        return replayed
    c = table.c
    history = connection.execute(select(table).where(c.list == list_name, c.question == question)).all()
    name = nugget if nugget is not None else _next_number([row.nugget for row in history])
    last = _last(history, name)
    version = last.version if last is not None else 0
    if expected is not None and expected != version:
        raise NuggetConflictError(last)
    if ordinal is None:
        ordinal = last.ordinal if last is not None else 1 + max((row.ordinal for row in history), default=0)
    whole = None if body is None else {**body, "question": question, "nugget": name}
    written = Nugget(list_name, question, name, version + 1, ordinal, whole)
    text = None if whole is None else msgspec.json.encode(whole).decode()
    values = {**asdict(written), "body": text, "key": key, "account": account, "at": at or now()}
    connection.execute(insert(table).values(values))
    return written


def _under_key(connection: Connection, key: str | None) -> Nugget | None:
    """What was written under a key; None where nothing was, or without a key."""
    row = None if key is None else connection.execute(select(table).where(table.c.key == key)).one_or_none()
    return None if row is None else as_nugget(row)


def _last(history: Sequence[Any], name: str) -> Nugget | None:
    """The last row of a nugget, which stands; None where it was never on the list."""
    row = max((row for row in history if row.nugget == name), key=lambda row: row.version, default=None)
    return None if row is None else as_nugget(row)


def copy_list(connection: Connection, *, source: str, target: str, question: str, account: int | None) -> int:
    """Start a list from a copy of another; returns how many were copied. A list that has rows stays as it is."""
    c = table.c
    count = select(func.count()).select_from(table).where(c.list == target, c.question == question)
    if connection.execute(count).scalar_one():
        return 0
    found = nuggets_of(connection, source, question)
    for one in found:
        write_nugget(
            connection,
            list_name=target,
            question=question,
            nugget=one.nugget,
            body=one.body,
            ordinal=one.ordinal,
            account=account,
        )
    return len(found)


def _chosen(set_name: str, names: Sequence[str]) -> str:
    if set_name in SLOTS:
        return list_shown(set_name, names)
    return list_of_key(set_name, names) or set_name


def list_shown(set_name: str, names: Sequence[str]) -> str:
    """The list of those there are that an assessor is shown: the own one, or one that was given to all.

    What other assessors wrote is shown to nobody; where there is nothing else, the own list is yet to be written.
    """
    if set_name in names:
        return set_name
    written = any(name in SLOTS for name in names)
    if len(names) == 1 and not written:
        return names[0]
    # Where assessors write their own, `adjudicated` is what was made of them.
    given = (DEVELOPMENT,) if written else (DEVELOPMENT, "adjudicated")
    return next((name for name in given if name in names), set_name)


def _list_names() -> Select[Any]:
    """Each name once, from one to the next in the index: a plain DISTINCT reads every nugget."""
    first = select(func.min(table.c.list).label("name")).cte("names", recursive=True)
    following = select(func.min(table.c.list)).where(table.c.list > first.c.name).scalar_subquery()
    names = first.union_all(select(following).where(first.c.name.is_not(None)))
    return select(names.c.name).where(names.c.name.is_not(None))


_LISTS = _list_names()


def split_nugget(
    connection: Connection,
    *,
    list_name: str,
    question: str,
    nugget: str,
    texts: tuple[str, str],
    expected: int,
    key: str,
    account: int | None = None,
) -> tuple[Nugget, Nugget]:
    """Make two nuggets of one. The first keeps its id, and so its links; the second comes right after it."""
    standing = _standing(connection, list_name, question, nugget)
    body = dict(standing.body or {})
    named: dict[str, Any] = {"list_name": list_name, "question": question, "account": account}
    first = write_nugget(
        connection, **named, nugget=nugget, body={**body, "text": texts[0]}, expected=expected, key=key
    )
    second = write_nugget(connection, **named, nugget=None, body={**body, "text": texts[1]}, key=f"{key}.new")
    order = [one.nugget for one in nuggets_of(connection, list_name, question) if one.nugget != second.nugget]
    order.insert(order.index(nugget) + 1, second.nugget)
    _reorder(connection, order, key=key, **named)
    return first, second


def merge_nuggets(
    connection: Connection,
    *,
    list_name: str,
    question: str,
    kept: str,
    gone: str,
    text: str,
    expected: tuple[int, int],
    key: str,
    account: int | None = None,
) -> Nugget:
    """Make one nugget of two: one keeps its id and place, the other is taken off. Vital where either was."""
    if kept == gone:
        raise UsageError("a nugget is merged with another one")
    one, other = (_standing(connection, list_name, question, name) for name in (kept, gone))
    named: dict[str, Any] = {"list_name": list_name, "question": question, "account": account}
    body = {**(one.body or {}), "text": text, "vital": one.vital or other.vital}
    merged = write_nugget(connection, **named, nugget=kept, body=body, expected=expected[0], key=key)
    write_nugget(connection, **named, nugget=gone, body=None, expected=expected[1], key=f"{key}.gone")
    return merged


def move_nugget(
    connection: Connection,
    *,
    list_name: str,
    question: str,
    nugget: str,
    before: str | None,
    expected: int,
    key: str,
    account: int | None = None,
) -> None:
    """Put a nugget before another one, or with None at the end."""
    standing = _standing(connection, list_name, question, nugget)
    if standing.version != expected:
        raise NuggetConflictError(standing)
    order = [one.nugget for one in nuggets_of(connection, list_name, question) if one.nugget != nugget]
    if before is not None and before not in order:
        raise NuggetConflictError(None)
    order.insert(len(order) if before is None else order.index(before), nugget)
    _reorder(connection, order, list_name=list_name, question=question, key=key, account=account)


def _reorder(
    connection: Connection, order: Sequence[str], *, list_name: str, question: str, key: str, account: int | None
) -> None:
    """Number the nuggets by their place; only those that move get a row."""
    standing = {one.nugget: one for one in nuggets_of(connection, list_name, question)}
    for place, name in enumerate(order, start=1):
        one = standing[name]
        if one.ordinal != place:
            write_nugget(
                connection,
                list_name=list_name,
                question=question,
                nugget=name,
                body=one.body,
                ordinal=place,
                key=f"{key}.{place}",
                account=account,
            )


def _standing(connection: Connection, list_name: str, question: str, nugget: str) -> Nugget:
    """A nugget that is on the list; where it is not any more, somebody else was first."""
    for one in nuggets_of(connection, list_name, question):
        if one.nugget == nugget:
            return one
    raise NuggetConflictError(None)


def as_nugget(row: Any) -> Nugget:
    """A row of the table as a nugget."""
    body = None if row.body is None else msgspec.json.decode(row.body)
    return Nugget(row.list, row.question, row.nugget, row.version, row.ordinal, body)


def _next_number(names: list[str]) -> str:
    return str(1 + max((int(name) for name in names if name.isdecimal()), default=0))
