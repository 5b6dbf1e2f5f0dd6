"""Nugget lists: append-only like judgments; the last row of a nugget counts, and an id is never used again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, func, insert, select

from qassay.errors import QassayError, UsageError
from qassay.judging.sets import DEVELOPMENT as DEVELOPMENT
from qassay.judging.sets import SLOTS, list_shown
from qassay.nuggets import list_of_key
from qassay.store.acts import Act
from qassay.store.schema import nugget as table


@dataclass(frozen=True, slots=True)
class Nugget:
    """One nugget of a list as it is now; a body of None says that it left the list."""

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
    """Somebody else changed the nugget first: the nugget as it is now."""

    def __init__(self, current: Nugget | None) -> None:
        super().__init__("this nugget was changed in the meantime; look at it again and decide")
        self.current = current


def nugget_lists(connection: Connection) -> list[str]:
    """Names of the lists that have rows, in order."""
    return list(connection.execute(_LISTS).scalars())


def nuggets_of(connection: Connection, list_name: str, question: str) -> list[Nugget]:
    """The current nuggets of a question on a list, in their order."""
    c = table.c
    rows = connection.execute(select(table).where(c.list == list_name, c.question == question).order_by(c.version))
    last = {row.nugget: row for row in rows}
    nuggets = [as_nugget(row) for row in last.values() if row.body is not None]
    return sorted(nuggets, key=lambda nugget: (nugget.ordinal, len(nugget.nugget), nugget.nugget))


def list_for(connection: Connection, set_name: str, question: str) -> tuple[str, list[Nugget]]:
    """The list that a judgment set goes by, and its nuggets of a question: its own, else the only list there is.

    The rule is the one of keys (FORMATS 4), so that scores use the nuggets that the assessor saw; but nobody is shown
    what another assessor wrote, and a list that is added later takes nothing away from those who use the one that
    was given to all.
    """
    name = _chosen(set_name, nugget_lists(connection))
    return name, nuggets_of(connection, name, question)


def write_nugget(
    act: Act,
    list_name: str,
    question: str,
    nugget: str | None,
    body: Mapping[str, Any] | None,
    *,
    ordinal: int | None = None,
    expected: int | None = None,
) -> Nugget:
    """Append a nugget (with None, a new one under the next number), a change of it, or with no body its removal.

    A key that was used before writes nothing: what it wrote then is returned.
    """
    c, connection = table.c, act.connection
    if act.key is not None:
        earlier = connection.execute(select(table).where(c.key == act.key)).one_or_none()
        if earlier is not None:
            return as_nugget(earlier)
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
    values = {**asdict(written), "body": text, "key": act.key, "account": act.account, "at": act.at}
    connection.execute(insert(table).values(values))
    return written


def _last(history: Sequence[Any], name: str) -> Nugget | None:
    """The last row of a nugget; None where it was never on the list."""
    row = max((row for row in history if row.nugget == name), key=lambda row: row.version, default=None)
    return None if row is None else as_nugget(row)


def copy_list(act: Act, *, source: str, target: str, question: str) -> int:
    """Start a list from a copy of another; returns how many were copied. A list that has rows stays as it is."""
    c = table.c
    count = select(func.count()).select_from(table).where(c.list == target, c.question == question)
    if act.connection.execute(count).scalar_one():
        return 0
    nuggets = nuggets_of(act.connection, source, question)
    # The copy that a list begins as has no key: nobody has changed the list yet.
    plain = replace(act, key=None)
    for nugget in nuggets:
        write_nugget(plain, target, question, nugget.nugget, nugget.body, ordinal=nugget.ordinal)
    return len(nuggets)


def give_list(act: Act, set_name: str) -> None:
    """Give a program's set the list that its assessor was shown, where scores would find none for it."""
    names = nugget_lists(act.connection)
    if list_of_key(set_name, names) is not None:
        return
    source = list_shown(set_name, names)
    c = table.c
    listed = select(c.question).where(c.list == source).distinct().order_by(c.question)
    for question in act.connection.execute(listed).scalars().all():
        copy_list(act, source=source, target=set_name, question=question)


def _chosen(set_name: str, names: Sequence[str]) -> str:
    if set_name in SLOTS:
        return list_shown(set_name, names)
    return list_of_key(set_name, names) or set_name


def _list_names() -> Select[Any]:
    """Each name once, from one to the next in the index: a plain DISTINCT reads every nugget."""
    first = select(func.min(table.c.list).label("name")).cte("names", recursive=True)
    following = select(func.min(table.c.list)).where(table.c.list > first.c.name).scalar_subquery()
    names = first.union_all(select(following).where(first.c.name.is_not(None)))
    return select(names.c.name).where(names.c.name.is_not(None))


_LISTS = _list_names()


def split_nugget(
    act: Act, list_name: str, question: str, nugget: str, texts: tuple[str, str], *, expected: int
) -> tuple[Nugget, Nugget]:
    """Make two nuggets of one. The first keeps its id, and so its links; the second comes right after it."""
    body = dict(_current(act, list_name, question, nugget).body or {})
    first = write_nugget(act, list_name, question, nugget, {**body, "text": texts[0]}, expected=expected)
    second = write_nugget(act.step("new"), list_name, question, None, {**body, "text": texts[1]})
    order = _order(act, list_name, question, without=second.nugget)
    order.insert(order.index(nugget) + 1, second.nugget)
    _reorder(act, list_name, question, order)
    return first, second


def merge_nuggets(
    act: Act, list_name: str, question: str, kept_id: str, removed_id: str, text: str, *, expected: tuple[int, int]
) -> Nugget:
    """Make one nugget of two: one keeps its id and place, the other leaves the list. Vital where either was."""
    if kept_id == removed_id:
        raise UsageError("a nugget is merged with another one")
    first, second = (_current(act, list_name, question, name) for name in (kept_id, removed_id))
    body = {**(first.body or {}), "text": text, "vital": first.vital or second.vital}
    merged = write_nugget(act, list_name, question, kept_id, body, expected=expected[0])
    write_nugget(act.step("gone"), list_name, question, removed_id, None, expected=expected[1])
    return merged


def move_nugget(act: Act, list_name: str, question: str, nugget: str, before: str | None, *, expected: int) -> None:
    """Put a nugget before another one, or with None at the end."""
    current = _current(act, list_name, question, nugget)
    if current.version != expected:
        raise NuggetConflictError(current)
    order = _order(act, list_name, question, without=nugget)
    if before is not None and before not in order:
        raise NuggetConflictError(None)
    order.insert(len(order) if before is None else order.index(before), nugget)
    _reorder(act, list_name, question, order)


def _order(act: Act, list_name: str, question: str, *, without: str) -> list[str]:
    nuggets = nuggets_of(act.connection, list_name, question)
    return [nugget.nugget for nugget in nuggets if nugget.nugget != without]


def _reorder(act: Act, list_name: str, question: str, order: Sequence[str]) -> None:
    """Number the nuggets by their place; only those that move get a row."""
    current = {nugget.nugget: nugget for nugget in nuggets_of(act.connection, list_name, question)}
    for place, name in enumerate(order, start=1):
        if current[name].ordinal != place:
            write_nugget(act.step(str(place)), list_name, question, name, current[name].body, ordinal=place)


def _current(act: Act, list_name: str, question: str, nugget: str) -> Nugget:
    """A nugget that is on the list; where it is not any more, somebody else was first."""
    for listed in nuggets_of(act.connection, list_name, question):
        if listed.nugget == nugget:
            return listed
    raise NuggetConflictError(None)


def as_nugget(row: Any) -> Nugget:
    """A row of the table as a nugget."""
    body = None if row.body is None else msgspec.json.decode(row.body)
    return Nugget(row.list, row.question, row.nugget, row.version, row.ordinal, body)


def _next_number(names: list[str]) -> str:
    return str(1 + max((int(name) for name in names if name.isdecimal()), default=0))
