"""The pool of the store: made from the runs, summed up once, so that no page counts a million items."""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from qassay.errors import InputError, Problem
from qassay.formats.times import now
from qassay.judging import Item, Wanted
from qassay.questions import TestSet
from qassay.store.acts import Act, Assessor
from qassay.store.assignment.assignments import keep_others_out
from qassay.store.assignment.counting import recount_question
from qassay.store.development.answers import in_parts
from qassay.store.engine import Store
from qassay.store.pool.items import Changes, Pooled, find_changes, numbered, store_changes
from qassay.store.pool.uploads import runs_mark
from qassay.store.schema import assignment, run
from qassay.store.schema import question as question_table
from qassay.store.settings import get_setting, put_setting
from qassay.tasks import Task

SUMMARY = "pool"
# The mark of a pool that is being made, and who makes it.
_UNFINISHED = "unfinished"
_TURN = "pool-turn"
# Questions with this many items are stored together. It goes on for some seconds while others wait, then they write.
PART = 500
HELD = 0.2
_PAUSE = 0.005
# The most runs that are named of those that came after the pool.
NAMED = 3


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """The content of the pool: items and questions by type of question, and its sources."""

    items: int
    questions: int
    nothing: int
    # (type of question, kind of item, questions, items)
    types: list[tuple[str, str, int, int]]
    mark: str
    at: str
    holistic: bool = False
    citations: bool = False


def store_pool(
    store: Store,
    items: Iterable[Item],
    questions: TestSet,
    task: Task,
    *,
    mark: str,
    wanted: Wanted,
    person: Assessor | None,
) -> Pooled:
    """Bring the items up to date with the runs, the assignments with the items, and sum it up.

    It stores a few questions at a time, so that a save waits for a few questions and not for all. Every question is
    whole at any moment. Until the last one the pool is not current, and is marked so: where the work is interrupted, it
    is done again. Of two who do it at the same time the first gives way.
    """
    rows = numbered(items)
    turn = secrets.token_hex(8)
    with store.write() as connection:
        _begin(connection, turn)
    # Nobody else adds or changes items while it is our turn: these changes are still valid when they are stored.
    with store.read() as connection:
        changes = find_changes(connection, rows)
    parts = deque(_parts(changes))
    while parts:
        with store.write() as connection:
            _go_on(connection, turn)
            until = time.monotonic() + HELD
            act = Act(connection, task)
            _store_part(act, changes, parts.popleft())
            while parts and time.monotonic() < until:
                _store_part(act, changes, parts.popleft())
        time.sleep(_PAUSE)
    pooled = changes.summary()
    with store.write() as connection:
        _go_on(connection, turn)
        _sum_up(connection, changes, questions, mark=mark, wanted=wanted)
        act = Act(connection, task, person)
        act.note("pool", items=pooled.items, added=pooled.added, retired=pooled.retired, mark=mark)
    return pooled


def _parts(changes: Changes) -> Iterator[list[str]]:
    """Changed questions with this many items together, or one question with more."""
    names: list[str] = []
    size, sizes = 0, changes.sizes()
    for name in sorted(changes.by_question):
        names.append(name)
        size += 1 + sizes.get(name, 0)
        if size >= PART:
            yield names
            names, size = [], 0
    if names:
        yield names


def _begin(connection: Connection, turn: str) -> None:
    """Say who makes the pool, and that the earlier one is not current."""
    # On PostgreSQL, another process may be storing a part: wait for it before comparing.
    keep_others_out(connection)
    put_setting(connection, _TURN, turn)
    summary = get_setting(connection, SUMMARY)
    if summary is not None:
        put_setting(connection, SUMMARY, {**summary, "mark": _UNFINISHED})


def _go_on(connection: Connection, turn: str) -> None:
    """Stop where another server has begun: what it read is newer, or is called out of date when it is done."""
    # Before the items, which change sums of questions: a save that has locked its question would wait for those.
    keep_others_out(connection)
    if get_setting(connection, _TURN) != turn:
        raise InputError(Problem("configuration", "the pool is being made by another server of this evaluation"))


def _store_part(act: Act, changes: Changes, names: Sequence[str]) -> None:
    """Store the changes of some questions, and count again what is assigned of them."""
    store_changes(act.connection, (changes.by_question[name] for name in names))
    for name in sorted(_assigned(act.connection, changes.touched(names))):
        recount_question(act, name)


def _sum_up(connection: Connection, changes: Changes, questions: TestSet, *, mark: str, wanted: Wanted) -> None:
    sizes = changes.sizes()
    summary = PoolSummary(
        items=sum(sizes.values()),
        questions=len(sizes),
        nothing=sum(question.id not in sizes for question in questions),
        types=_types(questions, changes.kinds),
        mark=mark,
        at=now(),
        holistic=wanted.holistic,
        citations=wanted.citations,
    )
    put_setting(connection, SUMMARY, asdict(summary))


def pool_summary(connection: Connection) -> PoolSummary | None:
    """The summary of the last pool; None before the first."""
    stored: dict[str, Any] | None = get_setting(connection, SUMMARY)
    if stored is None:
        return None
    types = [(str(kind), str(way), int(questions), int(items)) for kind, way, questions, items in stored.pop("types")]
    return PoolSummary(types=types, **stored)


def pool_mark(connection: Connection) -> str:
    """The sources of a pool now: runs and questions."""
    query = select(func.count(), func.coalesce(func.sum(question_table.c.version), 0)).where(~question_table.c.draft)
    count, versions = connection.execute(query).one()
    return f"{runs_mark(connection)} {count} {versions}"


def later_runs(connection: Connection, summary: PoolSummary) -> list[str]:
    """The first few runs that came after the pool was made: what they returned is in no pool."""
    c = run.c
    late = select(c.tag).where(c.at > summary.at, ~c.withdrawn).order_by(c.tag).limit(NAMED)
    return list(connection.execute(late).scalars())


def _types(questions: TestSet, counts: Mapping[str, Mapping[str, int]]) -> list[tuple[str, str, int, int]]:
    sums: dict[tuple[str, str], list[int]] = {}
    for question in questions:
        for kind, count in counts.get(question.id, {}).items():
            both = sums.setdefault((question.type, kind), [0, 0])
            both[0] += 1
            both[1] += count
    return [(kind, way, asked, items) for (kind, way), (asked, items) in sorted(sums.items())]


def _assigned(connection: Connection, questions: Collection[str]) -> set[str]:
    c = assignment.c
    assigned: set[str] = set()
    for part in in_parts(list(questions)):
        assigned |= set(connection.execute(select(c.question).where(c.question.in_(part)).distinct()).scalars())
    return assigned
