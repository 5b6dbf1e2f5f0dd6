"""Items in the store, brought up to date: what a new pool changes is found first, and then stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, insert, select, update

from qassay.store.pool.items import NUMBER_BITS, Item
from qassay.store.schema import item

BATCH = 5_000
# A row of the table, but for whether it is active: in this order.
_NAMES = ("id", "question", "kind", "run", "ordinal", "body", "parts")
Row = tuple[int, str, str, str | None, int, str, int]


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be done to the items of one question."""

    fresh: list[Row] = field(default_factory=list)
    # Numbers that are known, with something else to them.
    moved: list[Row] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)
    # Questions that had one of these numbers before.
    others: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Pooled:
    """What pooling did: items now there, new, and no longer returned by any run; the questions whose items changed."""

    items: int
    added: int
    retired: int
    touched: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Changes:
    """What a new pool changes, by question, and how many items of each kind every question has then."""

    by_question: Mapping[str, Change]
    kinds: Mapping[str, Mapping[str, int]]

    def sizes(self) -> dict[str, int]:
        """How many items each question has then, for those that have any."""
        return {name: sum(counts.values()) for name, counts in self.kinds.items()}

    def summary(self) -> Pooled:
        """What is done when all of it is stored."""
        added = sum(len(one.fresh) for one in self.by_question.values())
        retired = sum(len(one.gone) for one in self.by_question.values())
        return Pooled(sum(self.sizes().values()), added, retired, self.touched(self.by_question))

    def touched(self, questions: Iterable[str]) -> frozenset[str]:
        """The questions whose items change with those of some questions."""
        return frozenset(name for question in questions for name in (question, *self.by_question[question].others))


def store_items(connection: Connection, made: Iterable[Item]) -> Pooled:
    """Bring the table of items up to date: new ones are added, those that no run returns any more are set aside."""
    changes = find_changes(connection, numbered(made))
    store_changes(connection, changes.by_question.values())
    return changes.summary()


def numbered(made: Iterable[Item]) -> dict[int, Row]:
    """Items as rows, by number. One that was drawn twice goes to the first; the other gets the next free one."""
    rows: dict[int, Row] = {}
    for one in made:
        number = one.id
        while number in rows:
            number = (number + 1) % (1 << NUMBER_BITS)
        body = msgspec.json.encode(one.body).decode()
        rows[number] = (number, one.question, one.kind, one.run, one.ordinal, body, one.parts)
    return rows


def find_changes(connection: Connection, wanted: Mapping[int, Row]) -> Changes:
    """Compare the rows that are wanted with those in the store, in one pass over both."""
    columns = (item.c[name] for name in (*_NAMES, "active"))
    stored = connection.execute(select(*columns).execution_options(yield_per=BATCH))
    found: dict[str, Change] = {}
    known: set[int] = set()
    for number, question, *rest, active in stored:
        known.add(number)
        row = wanted.get(number)
        if row is None:
            if active:
                found.setdefault(question, Change()).gone.append(number)
        elif not active or row != (number, question, *rest):
            change = found.setdefault(row[1], Change())
            change.moved.append(row)
            change.others.add(question)
    kinds: dict[str, Counter[str]] = {}
    for number, row in wanted.items():
        _, question, kind, *_ = row
        kinds.setdefault(question, Counter())[kind] += 1
        if number not in known:
            found.setdefault(question, Change()).fresh.append(row)
    return Changes(found, kinds)


def store_changes(connection: Connection, changes: Iterable[Change]) -> None:
    """Store what was found to have changed of some questions."""
    c, listed = item.c, list(changes)
    fresh = [row for one in listed for row in one.fresh]
    for start in range(0, len(fresh), BATCH):
        connection.execute(insert(item), [_values(row) for row in fresh[start : start + BATCH]])
    moved = [_values(row, "new_") for one in listed for row in one.moved]
    if moved:
        changed: dict[str, Any] = {name: bindparam(f"new_{name}") for name in _NAMES[1:]}
        connection.execute(update(item).where(c.id == bindparam("new_id")).values(active=True, **changed), moved)
    gone = [{"which": number} for one in listed for number in one.gone]
    if gone:
        connection.execute(update(item).where(c.id == bindparam("which")).values(active=False), gone)


def _values(row: Row, prefix: str = "") -> dict[str, Any]:
    return {prefix + name: value for name, value in zip(_NAMES, row, strict=True)}
