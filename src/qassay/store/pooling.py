"""The pool of the store: made from the runs, summed up once, so that no page counts a million items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import Connection, func, select

from qassay.questions import TestSet
from qassay.store.counting import recount_question
from qassay.store.engine import now
from qassay.store.items import Item, Pooled, store_items
from qassay.store.schema import assignment, item, question
from qassay.store.settings import get_setting, note_action, put_setting
from qassay.store.uploads import runs_mark

SUMMARY = "pool"
SIZES = "pool-sizes"
# Numbers of items are added up to tell whether a question has other ones; small enough that no sum overflows.
_REST = 1_000_003


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


@dataclass(frozen=True, slots=True)
class _Signature:
    """The items of one question: how many of each kind, and a sum that changes with them."""

    kinds: dict[str, int] = field(default_factory=dict)
    sums: dict[str, int] = field(default_factory=dict)


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
    before = _signatures(connection)
    done = store_items(connection, made)
    after = _signatures(connection)
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    for name in _assigned(connection) & changed:
        recount_question(connection, name)
    sizes = {name: sum(one.kinds.values()) for name, one in after.items()}
    summary = PoolSummary(
        items=sum(sizes.values()),
        questions=len(sizes),
        nothing=sum(one.id not in sizes for one in questions),
        types=_types(questions, after),
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


def _signatures(connection: Connection) -> dict[str, _Signature]:
    c = item.c
    counted = (
        select(c.question, c.kind, func.count(), func.sum(c.id % _REST)).where(c.active).group_by(c.question, c.kind)
    )
    found: dict[str, _Signature] = {}
    for name, kind, count, total in connection.execute(counted):
        one = found.setdefault(name, _Signature())
        one.kinds[kind] = count
        one.sums[kind] = int(total)
    return found


def _types(questions: TestSet, found: Mapping[str, _Signature]) -> list[tuple[str, str, int, int]]:
    sums: dict[tuple[str, str], list[int]] = {}
    for one in questions:
        for kind, count in found.get(one.id, _Signature()).kinds.items():
            both = sums.setdefault((one.type, kind), [0, 0])
            both[0] += 1
            both[1] += count
    return [(kind, way, asked, items) for (kind, way), (asked, items) in sorted(sums.items())]


def _assigned(connection: Connection) -> set[str]:
    return set(connection.execute(select(assignment.c.question).distinct()).scalars())
