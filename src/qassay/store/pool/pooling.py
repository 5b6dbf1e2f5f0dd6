"""The pool of the store: made from the runs, summed up once, so that no page counts a million items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from qassay.questions import TestSet
from qassay.store.assignment.assignments import keep_others_out
from qassay.store.assignment.counting import recount_question
from qassay.store.engine import now
from qassay.store.pool.items import Item, Pooled, store_items
from qassay.store.pool.uploads import runs_mark
from qassay.store.schema import assignment, item, question, run
from qassay.store.settings import get_setting, note_action, put_setting

SUMMARY = "pool"
SIZES = "pool-sizes"
# So many runs are named that came after the pool.
NAMED = 3


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """What the pool holds: items and questions by type of question, and what it was made of."""

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
    connection: Connection,
    made: Iterable[Item],
    questions: TestSet,
    *,
    mark: str,
    holistic: bool,
    citations: bool,
    account: int | None,
) -> Pooled:
    """Bring the items up to date with the runs, the assignments with the items, and sum it up."""
    # Before the items, which change sums of questions: a save that holds its question would wait for those.
    keep_others_out(connection)
    done = store_items(connection, made)
    for name in sorted(_assigned(connection) & done.touched):
        recount_question(connection, name)
    kinds = _kinds(connection)
    sizes = {name: sum(counts.values()) for name, counts in kinds.items()}
    summary = PoolSummary(
        items=sum(sizes.values()),
        questions=len(sizes),
        nothing=sum(one.id not in sizes for one in questions),
        types=_types(questions, kinds),
        mark=mark,
        at=now(),
        holistic=holistic,
        citations=citations,
    )
    put_setting(connection, SUMMARY, asdict(summary))
    put_setting(connection, SIZES, sizes)
    note_action(
        connection, "pool", account=account, items=done.items, added=done.added, retired=done.retired, mark=mark
    )
    return done


def pool_summary(connection: Connection) -> PoolSummary | None:
    """What was summed up when the pool was made; None before."""
    kept: dict[str, Any] | None = get_setting(connection, SUMMARY)
    if kept is None:
        return None
    types = [(str(kind), str(way), int(asked), int(items)) for kind, way, asked, items in kept.pop("types")]
    return PoolSummary(types=types, **kept)


def question_sizes(connection: Connection) -> dict[str, int]:
    """How many items each question has, for those that have any."""
    sizes: dict[str, int] = get_setting(connection, SIZES) or {}
    return sizes


def pool_mark(connection: Connection) -> str:
    """What a pool is made of, now: runs and questions."""
    asked = select(func.count(), func.coalesce(func.sum(question.c.version), 0)).where(~question.c.draft)
    count, versions = connection.execute(asked).one()
    return f"{runs_mark(connection)} {count} {versions}"


def later_runs(connection: Connection, summary: PoolSummary) -> list[str]:
    """The first few runs that came after the pool was made: what they returned is in no pool."""
    c = run.c
    late = select(c.tag).where(c.at > summary.at, ~c.withdrawn).order_by(c.tag).limit(NAMED)
    return list(connection.execute(late).scalars())


def _kinds(connection: Connection) -> dict[str, dict[str, int]]:
    """How many items of each kind every question has."""
    c = item.c
    counted = select(c.question, c.kind, func.count()).where(c.active).group_by(c.question, c.kind)
    found: dict[str, dict[str, int]] = {}
    for name, kind, count in connection.execute(counted):
        found.setdefault(name, {})[kind] = count
    return found


def _types(questions: TestSet, found: Mapping[str, Mapping[str, int]]) -> list[tuple[str, str, int, int]]:
    sums: dict[tuple[str, str], list[int]] = {}
    for one in questions:
        for kind, count in found.get(one.id, {}).items():
            both = sums.setdefault((one.type, kind), [0, 0])
            both[0] += 1
            both[1] += count
    return [(kind, way, asked, items) for (kind, way), (asked, items) in sorted(sums.items())]


def _assigned(connection: Connection) -> set[str]:
    return set(connection.execute(select(assignment.c.question).distinct()).scalars())
