"""One decision of an assessor: checked, appended, counted; all of it in the transaction that is answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from qassay.errors import QassayError
from qassay.formats.times import now
from qassay.store.adjudication.comparing import ADJUDICATED
from qassay.store.adjudication.settling import settle
from qassay.store.assignment.assignments import Assignment, hold, is_closed
from qassay.store.assignment.counting import (
    Assessor,
    Look,
    closed_at,
    is_complete,
    look,
    nuggets_for,
)
from qassay.store.judging import judgments
from qassay.store.judging.judgments import Saved
from qassay.store.pool.items import Item
from qassay.store.pool.parts import FIELDS, Part, check_verdict, parts_of, row_of
from qassay.store.schema import assignment as assignment_table
from qassay.store.schema import judgment
from qassay.tasks import Task

# A pause at the desk is no time spent judging.
LONGEST_SECONDS = 300


class LockedError(QassayError):
    """The question is not open to this assessor: an adjudicator has ruled on it, or somebody else judges it now."""


@dataclass(frozen=True, slots=True)
class Decided:
    """What a save did: the judgment, and where its item and its question now are."""

    saved: Saved
    complete: bool
    done: int
    total: int
    closed: bool


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
    held, at = hold(connection, one.question), now()
    row = row_of(part, verdict, assessor=who.name, at=at)
    nuggets = nuggets_for(connection, one.set, item)
    if earlier := judgments.repeated(connection, key, one.set, part.kind, row, row, who.id):
        return _again(connection, earlier, held, one, item, nuggets)
    check_verdict(part, verdict, task, nuggets=nuggets)
    save = _Save(item, part, row, row, at, expected, key, min(max(seconds, 0), LONGEST_SECONDS))
    return _save(connection, save, held, one, nuggets, task, who)


def undo(
    connection: Connection,
    one: Assignment,
    item: Item,
    part: Part,
    *,
    task: Task,
    who: Assessor,
    expected: int,
    to: int,
    key: str,
) -> Decided:
    """Put back what stood at an earlier version (0: nothing); the undoing is itself recorded."""
    held, at = hold(connection, one.question), now()
    body = judgments.body_at(judgments.history(connection, one.set, part.thing), to, one.question)
    row = dict(part.row) if body is None else body
    nuggets = nuggets_for(connection, one.set, item)
    if earlier := judgments.repeated(connection, key, one.set, part.kind, row, body, who.id):
        return _again(connection, earlier, held, one, item, nuggets)
    if body is not None:  # the rules may have changed since
        said = {name: body[name] for name in FIELDS[part.kind] if body.get(name) is not None}
        check_verdict(part, said, task, nuggets=nuggets)
    return _save(connection, _Save(item, part, row, body, at, expected, key), held, one, nuggets, task, who)


def is_locked(connection: Connection, question: str) -> bool:
    """Whether every assessor has finished the question and an adjudicator has ruled on something of it."""
    c = judgment.c
    ruled = select(c.id).where(c.question == question, c.set == ADJUDICATED, c.account.is_not(None)).limit(1)
    return is_closed(connection, question) and connection.execute(ruled).first() is not None


def locked_among(connection: Connection, questions: Sequence[str]) -> set[str]:
    """Which of a page of questions are locked."""
    c = judgment.c
    ruled = select(c.question).where(c.question.in_(questions), c.set == ADJUDICATED, c.account.is_not(None)).distinct()
    a = assignment_table.c
    open_ = select(a.question).where(a.question.in_(questions), a.closed.is_(None))
    return {*connection.execute(ruled).scalars()} - {*connection.execute(open_).scalars()} if questions else set()


@dataclass(frozen=True, slots=True)
class _Save:
    """What is to be appended: a body of None takes back what `row` names."""

    item: Item
    part: Part
    row: Mapping[str, Any]
    body: Mapping[str, Any] | None
    at: str
    expected: int
    key: str
    seconds: int = 0


def _save(
    connection: Connection,
    save: _Save,
    held: Sequence[Assignment],
    one: Assignment,
    nuggets: Sequence[str],
    task: Task,
    who: Assessor,
) -> Decided:
    """Append under the hold of the question; what completes the last item of the last assessor settles it."""
    here = _own(held, one, who)
    if all(other.closed for other in held) and is_locked(connection, one.question):
        raise LockedError(f"an adjudicator has ruled on question {one.question}; ask an organiser to open it again")
    parts = parts_of(save.item, nuggets=nuggets, assessor=who.name)
    named = save.part.thing
    before = look(connection, one.set, parts, also=named)
    saved = judgments.append_next(
        connection,
        set_name=one.set,
        kind=save.part.kind,
        row=save.row,
        body=save.body,
        at=save.at,
        current=before.version,
        expected=save.expected,
        key=save.key,
        account=who.id,
    )
    after = _after(connection, one.set, parts, before, save)
    done = here.done + after - before.complete
    closed = closed_at(here, done, here.total, save.at)
    counts = {"new_done": done, "new_closed": closed, "new_seconds": here.seconds + save.seconds}
    connection.execute(_COUNTS, {"number": here.id, **counts})
    if closed and all(other.closed for other in held if other.id != here.id):
        settle(connection, one.question, task)
    return Decided(saved, after, done, here.total, closed is not None)


def _after(connection: Connection, set_name: str, parts: Sequence[Part], before: Look, save: _Save) -> bool:
    """Whether the item is complete now."""
    if save.body is not None:
        return before.needs and not before.missing - {save.part.thing}
    return is_complete(connection, set_name, parts) if save.part.required else before.complete


_c = assignment_table.c
_COUNTS = (
    update(assignment_table)
    .where(_c.id == bindparam("number"))
    .values(done=bindparam("new_done"), closed=bindparam("new_closed"), seconds=bindparam("new_seconds"), leased=None)
)


def _own(held: Sequence[Assignment], one: Assignment, who: Assessor) -> Assignment:
    """The assignment as it is now that nobody else can change it."""
    here = next((other for other in held if other.id == one.id), None)
    if here is None or here.account != who.id:
        raise LockedError(f"question {one.question} is not assigned to you any more; nothing was saved")
    return here


def _again(
    connection: Connection,
    earlier: Saved,
    held: Sequence[Assignment],
    one: Assignment,
    item: Item,
    nuggets: Sequence[str],
) -> Decided:
    """The answer to a save that was sent again; how far somebody else is who judges the question now is not told."""
    here = next((other for other in held if other.id == one.id), one)
    if here.account != earlier.account:
        return Decided(earlier, complete=True, done=0, total=here.total, closed=False)
    complete = is_complete(connection, one.set, parts_of(item, nuggets=nuggets))
    return Decided(earlier, complete, here.done, here.total, here.closed is not None)
