"""Taking back what one action wrote: judgments and nuggets whose keys begin with the action's own.

An action that changes several things writes each under its idempotency key and a suffix. Taking it back puts every one
of them to what stood before, in new rows; where one of them has changed since, nothing is taken back.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, or_, select

from qassay.store import judgments
from qassay.store.assignments import Assignment, hold
from qassay.store.engine import now
from qassay.store.judging import Assessor, LockedError, is_locked
from qassay.store.nuggets import write_nugget
from qassay.store.schema import judgment, nugget


def check_open(connection: Connection, one: Assignment, who: Assessor) -> None:
    """Hold the question, and refuse where it is not open to this assessor."""
    here = next((other for other in hold(connection, one.question) if other.id == one.id), None)
    if here is None or here.account != who.id:
        raise LockedError(f"question {one.question} is not assigned to you any more; nothing was saved")
    if is_locked(connection, one.question):
        raise LockedError("an adjudicator has ruled on this question; ask an organiser to open it again")


def take_back_judgments(
    connection: Connection, *, set_name: str, question: str, of: str, key: str, account: int | None
) -> int:
    """Put the judgments that an action wrote to what stood before it; returns how many there were."""
    c = judgment.c
    rows = connection.execute(
        select(judgment).where(c.set == set_name, c.question == question, _written_by(c.key, of)).order_by(c.id)
    ).all()
    at = now()
    for number, row in enumerate(rows):
        past = {one.version: one.body for one in judgments.history(connection, set_name, row.thing)}
        before = past.get(row.version - 1)
        # A row names its thing even where it is taken back: any row of its history does.
        named = before or next(body for body in past.values() if body is not None)
        judgments.append(
            connection,
            set_name=set_name,
            kind=row.kind,
            row=named,
            at=at,
            expected=row.version,
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
    first: dict[str, Any] = {}
    last: dict[str, Any] = {}
    for row in rows:
        first.setdefault(row.nugget, row)
        last[row.nugget] = row
    for number, (name, row) in enumerate(first.items()):
        before = connection.execute(select(nugget).where(*here, c.nugget == name, c.version == row.version - 1)).first()
        write_nugget(
            connection,
            list_name=list_name,
            question=question,
            nugget=name,
            body=_body(before),
            ordinal=before.ordinal if before is not None else row.ordinal,
            expected=last[name].version,
            key=f"{key}.n{number}",
            account=account,
        )
    return len(rows)


def _body(row: Any) -> dict[str, Any] | None:
    return None if row is None or row.body is None else msgspec.json.decode(row.body)


def _written_by(column: Any, key: str) -> ColumnElement[bool]:
    return or_(column == key, column.startswith(f"{key}.", autoescape=True))
