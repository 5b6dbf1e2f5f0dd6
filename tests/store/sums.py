"""What `share` and `stage` must hold, counted from the rows that they sum up."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sqlalchemy import Connection, select

from qassay.store.schema import assignment, item, question, settled, share, stage, standing


def check_sums(connection: Connection) -> None:
    """Compare the sums that the triggers keep with what is there."""
    assert _rows(connection, stage) == expected_stages(connection)
    assert {row for row in _rows(connection, share) if row[3]} == expected_shares(connection)


def _rows(connection: Connection, table: Any) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in connection.execute(select(table))}


def expected_shares(connection: Connection) -> set[tuple[Any, ...]]:
    """The rows of `share` of those who have work."""
    sums: dict[tuple[Any, ...], Counter[str]] = {}
    for row in connection.execute(select(assignment)):
        one = sums.setdefault((row.slot, row.set, row.account or 0), Counter())
        waiting = row.total - row.done if row.closed is None else 0
        one.update(questions=1, closed=row.closed is not None, total=row.total, done=row.done, waiting=waiting)
        one.update(seconds=row.seconds, timed=row.done if row.seconds else 0)
    names = ("questions", "closed", "total", "done", "waiting", "seconds", "timed")
    return {(*key, *(one[name] for name in names)) for key, one in sums.items()}


def expected_stages(connection: Connection) -> set[tuple[Any, ...]]:
    """The rows of `stage`."""
    places = {
        row[0]: row[1] for row in connection.execute(select(question.c.id, question.c.ordinal).where(~question.c.draft))
    }
    pooled = set(connection.execute(select(item.c.question).where(item.c.active)).scalars())
    judged = set(connection.execute(select(standing.c.question).where(standing.c.body.is_not(None))).scalars())
    unruled = {row[0]: row[1] for row in connection.execute(select(settled.c.question, settled.c.unruled))}
    work: dict[str, list[Any]] = {}
    for row in connection.execute(select(assignment).order_by(assignment.c.id)):
        work.setdefault(row.question, []).append(row)
    found = set()
    for name in places.keys() | work.keys():
        own = work.get(name, [])
        left = [row for row in own if row.closed is None]
        sums = (sum(row.total for row in own), sum(row.done for row in own), sum(row.total - row.done for row in left))
        known = (name, places.get(name), own[0].id if own else None, name in pooled, name in judged)
        found.add((*known, len(own), len(left), *sums, sum(row.seconds for row in own), unruled.get(name, 0)))
    return found
