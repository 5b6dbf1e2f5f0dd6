"""What `question_progress` and `workload` must contain, counted from the rows that they sum up."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from qassay.store.schema import assignment, current_judgment, item, question, question_progress, settled, workload


def check_sums(connection: Connection) -> None:
    """Compare the progress that the triggers keep with the rows of the other tables."""
    expected = _expected(connection)
    stored = {row.question: tuple(row)[1:] for row in connection.execute(select(question_progress))}
    assert stored == {name: expected.get(name, _NOTHING) for name in stored.keys() | expected.keys()}
    work: dict[tuple[Any, ...], list[int]] = {}
    for row in connection.execute(select(assignment)):
        left = 0 if row.closed else row.total - row.done
        added = (1, int(row.closed is not None), row.total, row.done, left, row.seconds, row.done if row.seconds else 0)
        sums = work.setdefault((row.slot, row.set, row.account or 0), [0] * len(added))
        sums[:] = [so_far + more for so_far, more in zip(sums, added, strict=True)]
    summed = {tuple(row)[:3]: list(row)[3:] for row in connection.execute(select(workload))}
    assert summed == {place: work.get(place, [0] * 7) for place in summed.keys() | work.keys()}


# The row of a question of which nothing is left.
_NOTHING = (None, None, False, False, 0, 0, 0, 0, 0, 0)


def _expected(connection: Connection) -> dict[str, tuple[Any, ...]]:
    """The rows of `question_progress` by question."""
    places = {
        row[0]: row[1] for row in connection.execute(select(question.c.id, question.c.ordinal).where(~question.c.draft))
    }
    pooled = set(connection.execute(select(item.c.question).where(item.c.active)).scalars())
    judged = set(
        connection.execute(select(current_judgment.c.question).where(current_judgment.c.body.is_not(None))).scalars()
    )
    unruled = {row[0]: row[1] for row in connection.execute(select(settled.c.question, settled.c.unruled))}
    work: dict[str, list[Any]] = {}
    for row in connection.execute(select(assignment).order_by(assignment.c.id)):
        work.setdefault(row.question, []).append(row)
    progress = {}
    for name in places.keys() | pooled | judged | unruled.keys() | work.keys():
        own = work.get(name, [])
        left = [row for row in own if row.closed is None]
        sums = (sum(row.done for row in own), sum(row.total - row.done for row in left))
        known = (places.get(name), own[0].id if own else None, name in pooled, name in judged)
        seconds = sum(row.seconds for row in own)
        progress[name] = (*known, len(own), len(left), *sums, seconds, unruled.get(name, 0))
    return progress
