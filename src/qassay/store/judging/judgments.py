"""Judgments: appended, never overwritten; the last of each thing stands.

A save names the version that it replaces. Whoever comes second with the same version is told what stands, and nothing
is lost; the same save sent twice (one idempotency key) is one judgment, and both get the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, delete, insert, select

from qassay.errors import InputError, Problem, QassayError
from qassay.store.assignment.assignments import keep_others_out
from qassay.store.judging.appending import BATCH, Entry, Row, insert_one, stand
from qassay.store.judging.looking import bodies, versions
from qassay.store.pool.things import thing
from qassay.store.schema import judgment, standing

LONGEST_KEY = 100


@dataclass(frozen=True, slots=True)
class Saved:
    """A judgment as stored; a body of None says that what was judged before is taken back."""

    id: int
    set: str
    thing: str
    version: int
    body: Row | None
    account: int | None
    at: str


class ConflictError(QassayError):
    """Somebody else, or another tab, was first: what stands now."""

    def __init__(
        self,
        standing: Saved | None,
        message: str = "this was judged in the meantime; look at what stands and decide again",
    ) -> None:
        super().__init__(message)
        self.standing = standing


class KeyReusedError(QassayError):
    """One idempotency key was sent for two different judgments."""


def append(
    connection: Connection,
    *,
    set_name: str,
    kind: str,
    row: Mapping[str, Any],
    at: str,
    expected: int | None = None,
    key: str | None = None,
    account: int | None = None,
    taken_back: bool = False,
) -> Saved:
    """Append a judgment; with `taken_back`, the thing that `row` names becomes unjudged again.

    `expected` is the version that the writer has seen (0: not judged yet); None takes whatever stands.
    """
    body = None if taken_back else row
    if earlier := repeated(connection, key, set_name, kind, row, body, account):
        return earlier
    current = version_of(connection, set_name, thing(kind, row))
    return append_next(
        connection,
        set_name=set_name,
        kind=kind,
        row=row,
        body=body,
        at=at,
        current=current,
        expected=expected,
        key=key,
        account=account,
    )


def append_next(
    connection: Connection,
    *,
    set_name: str,
    kind: str,
    row: Mapping[str, Any],
    body: Mapping[str, Any] | None,
    at: str,
    current: int,
    expected: int | None,
    key: str | None,
    account: int | None,
) -> Saved:
    """Append a judgment to the version that stands, where the key was found to be new."""
    named = thing(kind, row)
    entry = Entry(kind, str(row["question"]), named, current + 1, body)
    made = None
    if expected is None or expected == current:
        made = insert_one(connection, set_name, entry, at=at, key=key, account=account)
    if made is None:
        # Somebody was faster: the same save, which has its answer, or another one, which is met as a conflict.
        if earlier := repeated(connection, key, set_name, kind, row, body, account):
            return earlier
        raise ConflictError(last(connection, set_name, named))
    stand(connection, set_name, [(made, entry)])
    return Saved(made, set_name, named, current + 1, None if body is None else dict(body), account, at)


def repeated(
    connection: Connection,
    key: str | None,
    set_name: str,
    kind: str,
    row: Mapping[str, Any],
    body: Mapping[str, Any] | None,
    account: int | None,
) -> Saved | None:
    """What was saved under this key before: the answer to the same save sent again. `row` names what is judged.

    A key that comes with another verdict is refused: answering with the first would lose the second.
    """
    if key is None:
        return None
    if not 1 <= len(key) <= LONGEST_KEY or not (key.isascii() and key.isprintable()):
        message = f"an idempotency key has 1 to {LONGEST_KEY} printable ASCII characters"
        raise InputError(Problem("syntax", message))
    earlier = by_key(connection, key)
    if earlier is None:
        return None
    same = (earlier.set, earlier.thing, earlier.account) == (set_name, thing(kind, row), account)
    if not same or _said(earlier.body) != _said(body):
        raise KeyReusedError("this idempotency key belongs to another judgment; make a new one for every save")
    return earlier


def append_many(
    connection: Connection, *, set_name: str, rows: Iterable[tuple[str, str]], at: str, account: int | None = None
) -> int:
    """Append many rows to a set in order, given as kind and JSON text; returns how many.

    For files and for automatic assessors: what stands is replaced without being looked at. Others wait so long.
    """
    if connection.dialect.name == "postgresql":
        # In the order in which everybody takes them: whoever saves holds the question's assignments first.
        keep_others_out(connection)
        connection.exec_driver_sql("LOCK TABLE judgment, standing IN SHARE ROW EXCLUSIVE MODE")
    latest = connection.execute(select(judgment.c.id).order_by(judgment.c.id.desc()).limit(1)).scalar() or 0
    known = connection.execute(select(standing.c.thing, standing.c.version).where(standing.c.set == set_name))
    latest_versions: dict[str, int] = {row.thing: row.version for row in known}
    count = 0
    for batch in _batches(_versioned(rows, latest_versions, set_name, at, account)):
        connection.execute(insert(judgment), batch)
        count += len(batch)
    if count:
        restand(connection, set_name, after=latest)
    return count


def restand(connection: Connection, set_name: str, *, after: int) -> None:
    """Bring `standing` up to date with the judgments of a set that came after a certain one."""
    fresh = select(judgment.c.thing).where(judgment.c.set == set_name, judgment.c.id > after)
    connection.execute(delete(standing).where(standing.c.set == set_name, standing.c.thing.in_(fresh)))
    later = judgment.alias("later")
    newer = (
        select(later.c.id)
        .where(later.c.set == judgment.c.set, later.c.thing == judgment.c.thing, later.c.version > judgment.c.version)
        .exists()
    )
    names = ("set", "thing", "question", "kind", "judgment", "version", "body")
    chosen = select(*(judgment.c["id" if name == "judgment" else name] for name in names)).where(
        judgment.c.set == set_name, judgment.c.id > after, ~newer
    )
    connection.execute(insert(standing).from_select(names, chosen))


def version_of(connection: Connection, set_name: str, named: str) -> int:
    """The version that stands; 0 where nothing was ever said of the thing."""
    version, _ = versions(connection, set_name, [named]).get(named, (0, False))
    return version


def last(connection: Connection, set_name: str, named: str) -> Saved | None:
    """The judgment of a thing that stands, taken back or not."""
    rows = _saved(connection, _LAST, name=set_name, named=named)
    return rows[0] if rows else None


def history(connection: Connection, set_name: str, named: str) -> list[Saved]:
    """Everything that was said of a thing in a set, in order."""
    return _saved(connection, _HISTORY, name=set_name, named=named)


def body_at(versions: Sequence[Saved], version: int, question: str) -> Row | None:
    """What stood at a version (0: nothing); a version that never was is refused, it would take everything back."""
    if version == 0:
        return None
    for saved in versions:
        if saved.version == version:
            return saved.body
    message = f"question {question}: there is no version {version} to go back to; there are {len(versions)}"
    raise InputError(Problem("syntax", message, None, None, question))


def body_before(connection: Connection, set_name: str, named: str, number: int) -> Row | None:
    """What stood for a thing before a certain judgment, by its number."""
    c = judgment.c
    query = select(c.body).where(c.set == set_name, c.thing == named, c.id < number)
    body = connection.execute(query.order_by(c.version.desc()).limit(1)).scalar()
    return None if body is None else msgspec.json.decode(body)


def by_key(connection: Connection, key: str) -> Saved | None:
    """The judgment that was saved under an idempotency key."""
    rows = _saved(connection, _BY_KEY, key=key)
    return rows[0] if rows else None


def standing_rows(connection: Connection, set_name: str, things: Sequence[str]) -> dict[str, tuple[int, Row | None]]:
    """Version and body of what stands for some things; a thing that was never judged is absent."""
    return bodies(connection, set_name, things)


def _saved(connection: Connection, statement: Any, **asked: Any) -> list[Saved]:
    return [
        Saved(number, name, named, version, None if body is None else msgspec.json.decode(body), account, at)
        for number, name, named, version, body, account, at in connection.execute(statement, asked)
    ]


_c = judgment.c
_ROWS = select(_c.id, _c.set, _c.thing, _c.version, _c.body, _c.account, _c.at)
_BY_KEY = _ROWS.where(_c.key == bindparam("key"))
_HISTORY = _ROWS.where(_c.set == bindparam("name"), _c.thing == bindparam("named")).order_by(_c.version)
_LAST = _ROWS.where(_c.set == bindparam("name"), _c.thing == bindparam("named")).order_by(_c.version.desc()).limit(1)


def _said(body: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A row without what differs when the same save is sent again."""
    return None if body is None else {name: value for name, value in body.items() if name not in ("at", "assessor")}


def _versioned(
    rows: Iterable[tuple[str, str]], versions: dict[str, int], set_name: str, at: str, account: int | None
) -> Iterator[Row]:
    for kind, body in rows:
        row = msgspec.json.decode(body)
        named = thing(kind, row)
        versions[named] = versions.get(named, 0) + 1
        yield {
            "set": set_name,
            "question": str(row["question"]),
            "kind": kind,
            "thing": named,
            "version": versions[named],
            "body": body,
            "account": account,
            # When it was made, where the row says so: a file that is taken in is older than today.
            "at": row["at"] if _is_moment(row.get("at")) else at,
        }


def _is_moment(value: Any) -> bool:
    """Whether a value can be a time; files say many things there."""
    return isinstance(value, str) and 0 < len(value) <= 40 and value.isascii() and value.isprintable()


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
