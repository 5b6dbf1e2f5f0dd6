"""Acts on a store, as tests make them."""

from __future__ import annotations

from sqlalchemy import Connection

from qassay import tasks
from qassay.formats.times import now
from qassay.store.acts import Act, Assessor
from qassay.tasks import Task


def act(
    connection: Connection,
    *,
    task: Task | None = None,
    who: Assessor | None = None,
    key: str | None = None,
    at: str | None = None,
    account: int | None = None,
) -> Act:
    """An act under the rules of a task (series2004 unless given), by a person or an account."""
    person = who if who is not None or account is None else Assessor(account, "")
    return Act(connection, task or tasks.task("series2004"), person, key, at or now())
