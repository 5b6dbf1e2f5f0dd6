"""Taking back what one action wrote: judgments and nuggets whose keys begin with the action's own.

An action that changes several things writes each under its idempotency key and a suffix. Taking it back puts every one
of them to what stood before, in new rows. Where one of them says something else by now, nothing is taken back; what was
changed and put back in the meantime is as it was, so that one action after the other can be taken back.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, or_, select

from qassay.formats.times import now
from qassay.store.assignment.assignments import Assignment, hold
from qassay.store.assignment.counting import Assessor
from qassay.store.judging import judgments
from qassay.store.judging.decisions import LockedError, is_locked
from qassay.store.judging.nuggets import NuggetConflictError, as_nugget, write_nugget
from qassay.store.schema import judgment, nugget


def check_open(connection: Connection, one: Assignment, who: Assessor) -> None:
    """Hold the question, and refuse where it is not open to this assessor."""
    here = next((other for other in hold(connection, one.question) if other.id == one.id), None)
    if here is None or here.account != who.id:
        raise LockedError(f"question {one.question} is not assigned to you any more; nothing was saved")
    if is_locked(connection, one.question):
        raise LockedError(f"an adjudicator has ruled on question {one.question}; ask an organiser to open it again")


def take_back_judgments(
    connection: Connection, *, set_name: str, question: str, of: str, key: str, account: int | None
) -> int:
    """Put the judgments that an action wrote to what stood before it; returns how many rows there were."""
    c = judgment.c
    rows = connection.execute(
        select(judgment).where(c.set == set_name, c.question == question, _written_by(c.key, of)).order_by(c.id)
    ).all()
    # An action may write a thing twice: a link that went, and a response that is to be looked at again.
    written: dict[str, tuple[Any, Any]] = {}
    for row in rows:
        written[row.thing] = (written[row.thing][0] if row.thing in written else row, row)
    at = now()
    for number, (name, (first, last)) in enumerate(written.items()):
        history = judgments.history(connection, set_name, name)
        past = {one.version: one.body for one in history}
        before = past.get(first.version - 1)
        if history[-1].body != past[last.version]:
            raise judgments.ConflictError(history[-1])
        # A row names its thing even where it is taken back: any row of its history does.
        named = before or next(body for body in past.values() if body is not None)
        judgments.append(
            connection,
            set_name=set_name,
            kind=first.kind,
            row=named,
            at=at,
            expected=history[-1].version,
            key=f"{key}.j{number}",
            account=account,
            taken_back=before is None,
        )
    return len(rows)


def take_back_nuggets(
    connection: Connection, *, list_name: str, question: str, of: str, key: str, account: int | None
) -> int:
    """Put the nuggets that an action wrote to what stood before it; returns how many rows there were."""
    c = nugget.c
    here = (c.list == list_name, c.question == question)
    rows = connection.execute(select(nugget).where(*here, _written_by(c.key, of)).order_by(c.id)).all()
    # An action may write a nugget twice: what it made of it, and its place.
    written: dict[str, tuple[Any, Any]] = {}
    for row in rows:
        written[row.nugget] = (written[row.nugget][0] if row.nugget in written else row, row)
    for number, (name, (first, last)) in enumerate(written.items()):
        past = {one.version: one for one in connection.execute(select(nugget).where(*here, c.nugget == name))}
        now_there, before = past[max(past)], past.get(first.version - 1)
        if (_body(now_there), now_there.ordinal) != (_body(last), last.ordinal):
            raise NuggetConflictError(as_nugget(now_there))
        write_nugget(
            connection,
            list_name=list_name,
            question=question,
            nugget=name,
            body=_body(before),
            ordinal=before.ordinal if before is not None else first.ordinal,
            expected=now_there.version,
            key=f"{key}.n{number}",
            account=account,
        )
    return len(rows)


def _body(row: Any) -> dict[str, Any] | None:
    return None if row is None or row.body is None else msgspec.json.decode(row.body)


def _written_by(column: Any, key: str) -> ColumnElement[bool]:
    return or_(column == key, column.startswith(f"{key}.", autoescape=True))
