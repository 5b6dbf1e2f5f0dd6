"""One decision of an assessor: checked, appended, counted; all of it in the transaction that is answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select, update

from qassay.errors import QassayError
from qassay.store import judgments
from qassay.store.assignments import Assignment, is_closed
from qassay.store.engine import now
from qassay.store.items import Item, items_of
from qassay.store.judgments import Saved
from qassay.store.nuggets import list_for
from qassay.store.parts import Part, check_verdict, parts_of, row_of
from qassay.store.schema import assignment as assignment_table
from qassay.store.schema import judgment, standing
from qassay.tasks import Task

ADJUDICATED = "adjudicated"
# A pause at the desk is no time spent judging.
LONGEST_SECONDS = 300


class LockedError(QassayError):
    """An adjudicator has ruled on the question: its assessors' judgments stay as they are."""


@dataclass(frozen=True, slots=True)
class Assessor:
    """Who judges."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Decided:
    """What a save did: the judgment, and where its item and its question now are."""

    saved: Saved
    complete: bool
    done: int
    total: int
    closed: bool


def parts_for(connection: Connection, one: Assignment | str, item: Item, assessor: str | None) -> list[Part]:
    """The parts of an item as an assignment (or a judgment set) judges them."""
    set_name = one if isinstance(one, str) else one.set
    nuggets: Sequence[str] = ()
    if item.kind in ("support", "match"):
        nuggets = [nugget.nugget for nugget in list_for(connection, set_name, item.question)[1]]
    return parts_of(item, nuggets=nuggets, assessor=assessor)


def is_complete(connection: Connection, set_name: str, parts: Sequence[Part]) -> bool:
    """Whether every part that needs a verdict has one."""
    needed = [part.thing for part in parts if part.required]
    found = judgments.standing_rows(connection, set_name, needed)
    return bool(needed) and all(named in found and found[named][1] is not None for named in needed)


def completed(connection: Connection, one: Assignment, items: Sequence[Item], assessor: str | None) -> list[bool]:
    """Which of the items of an assignment need nothing more: one look at the store for all of them."""
    c = standing.c
    said = select(c.thing).where(c.set == one.set, c.question == one.question, c.body.is_not(None))
    judged = set(connection.execute(said).scalars())
    nuggets = [nugget.nugget for nugget in list_for(connection, one.set, one.question)[1]]
    done = []
    for item in items:
        needed = [part.thing for part in parts_of(item, nuggets=nuggets, assessor=assessor) if part.required]
        done.append(bool(needed) and judged.issuperset(needed))
    return done


def decide(
    connection: Connection,
    one: Assignment,
    item: Item,
    part: Part,
    verdict: Mapping[str, Any],
    *,
    task: Task,
    who: Assessor,
    expected: int,
    key: str,
    seconds: int = 0,
) -> Decided:
    """Save a verdict on a part of an item."""
    nuggets = (
        [nugget.nugget for nugget in list_for(connection, one.set, item.question)[1]] if part.kind == "match" else []
    )
    check_verdict(part, verdict, task, nuggets=nuggets)
    at = now()
    row = row_of(part, verdict, assessor=who.name, at=at)
    return _append(connection, one, item, part, row, who=who, expected=expected, key=key, at=at, seconds=seconds)


def undo(
    connection: Connection,
    one: Assignment,
    item: Item,
    part: Part,
    *,
    who: Assessor,
    expected: int,
    to: int,
    key: str,
) -> Decided:
    """Put back what stood at an earlier version (0: nothing); the undoing is itself recorded."""
    earlier = {saved.version: saved.body for saved in judgments.history(connection, one.set, part.thing)}
    body = earlier.get(to)
    row = dict(body) if body is not None else dict(part.row)
    return _append(
        connection, one, item, part, row, who=who, expected=expected, key=key, at=now(), taken_back=body is None
    )


def _append(
    connection: Connection,
    one: Assignment,
    item: Item,
    part: Part,
    row: Mapping[str, Any],
    *,
    who: Assessor,
    expected: int,
    key: str,
    at: str,
    seconds: int = 0,
    taken_back: bool = False,
) -> Decided:
    if judgments.by_key(connection, key) is None and is_locked(connection, item.question):
        raise LockedError("an adjudicator has ruled on this question; ask an organiser to open it again")
    parts = parts_for(connection, one, item, who.name)
    before = is_complete(connection, one.set, parts)
    saved = judgments.append(
        connection,
        set_name=one.set,
        kind=part.kind,
        row=row,
        at=at,
        expected=expected,
        key=key,
        account=who.id,
        taken_back=taken_back,
    )
    after = is_complete(connection, one.set, parts)
    done, total, closed = _count(connection, one, after - before, min(max(seconds, 0), LONGEST_SECONDS), at)
    return Decided(saved, after, done, total, closed)


def recount(connection: Connection, one: Assignment, assessor: str | None = None) -> tuple[int, int, bool]:
    """Count the finished items of an assignment anew, after its nuggets or its pool have changed, or to close it."""
    items = items_of(connection, one.question)
    done = sum(completed(connection, one, items, assessor))
    return _settle_count(connection, one, done, len(items), 0, now())


def is_locked(connection: Connection, question: str) -> bool:
    """Whether every assessor has finished the question and an adjudicator has ruled on something of it."""
    c = judgment.c
    ruled = select(c.id).where(c.set == ADJUDICATED, c.question == question, c.account.is_not(None)).limit(1)
    return connection.execute(ruled).first() is not None and is_closed(connection, question)


def _count(connection: Connection, one: Assignment, change: int, seconds: int, at: str) -> tuple[int, int, bool]:
    c = assignment_table.c
    now_there = connection.execute(select(c.done, c.total).where(c.id == one.id).with_for_update()).one()
    return _settle_count(connection, one, now_there.done + change, now_there.total, seconds, at)


def _settle_count(
    connection: Connection, one: Assignment, done: int, total: int, seconds: int, at: str
) -> tuple[int, int, bool]:
    c = assignment_table.c
    closed = done >= total
    connection.execute(
        update(assignment_table)
        .where(c.id == one.id)
        .values(
            done=done,
            total=total,
            closed=(one.closed or at) if closed else None,
            seconds=c.seconds + seconds,
            leased=None,
        )
    )
    return done, total, closed
