"""The items of the pool in the store: read, and brought up to date with a new pool.

The changes of a new pool are found first, and then stored. Items are numbered by a digest that reveals neither run nor
order.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, insert, select, update

from qassay.judging import Item
from qassay.judging.items import unique_numbers
from qassay.store.schema import item
from qassay.store.settings import get_setting, put_once

BATCH = 5_000
_SEED = "order-seed"
# A row of the table, but for whether it is active: in this order.
_NAMES = ("id", "question", "kind", "run", "ordinal", "body", "parts")
Row = tuple[int, str, str, str | None, int, str, int]


def order_seed(connection: Connection) -> str:
    """The secret that numbers and orders are drawn from: made once, then the same for everybody."""
    seed = get_setting(connection, _SEED)
    return str(seed if seed is not None else put_once(connection, _SEED, secrets.token_hex(16)))


def item_with_number(connection: Connection, number: int) -> Item | None:
    """The item with this number, or None."""
    row = connection.execute(select(item).where(item.c.id == number)).first()
    return None if row is None else as_item(row)


def items_of(connection: Connection, question: str) -> list[Item]:
    """The items of a question in their order."""
    rows = select(item).where(item.c.question == question, item.c.active)
    return [as_item(row) for row in connection.execute(rows.order_by(item.c.kind, item.c.ordinal, item.c.id))]


def pooled_after(connection: Connection, number: int, *, limit: int) -> list[Item]:
    """Items of the pool in the order of their numbers, from the one after this on."""
    rows = connection.execute(select(item).where(item.c.active, item.c.id > number).order_by(item.c.id).limit(limit))
    return [as_item(row) for row in rows]


def as_item(row: Sequence[Any]) -> Item:
    """A row of the table as an item."""
    number, question, kind, run, ordinal, body, parts, active = row
    return Item(number, question, kind, run, ordinal, msgspec.json.decode(body), parts, bool(active))


# ---- bringing them up to date ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ItemChanges:
    """The changes to the items of one question."""

    fresh: list[Row] = field(default_factory=list)
    # Numbers that are known, with something else to them.
    moved: list[Row] = field(default_factory=list)
    retired: list[int] = field(default_factory=list)
    # Questions that had one of these numbers before.
    others: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Pooled:
    """The result of pooling: items now, new ones, and those that no run returns any more; the changed questions."""

    items: int
    added: int
    retired: int
    touched: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of a new pool, by question, and how many items of each kind every question has then."""

    by_question: Mapping[str, ItemChanges]
    kinds: Mapping[str, Mapping[str, int]]

    def sizes(self) -> dict[str, int]:
        """How many items each question has then, for those that have any."""
        return {name: sum(counts.values()) for name, counts in self.kinds.items()}

    def summary(self) -> Pooled:
        """The result when everything is stored."""
        added = sum(len(change.fresh) for change in self.by_question.values())
        retired = sum(len(change.retired) for change in self.by_question.values())
        return Pooled(sum(self.sizes().values()), added, retired, self.touched(self.by_question))

    def touched(self, questions: Iterable[str]) -> frozenset[str]:
        """The questions whose items change with those of some questions."""
        return frozenset(name for question in questions for name in (question, *self.by_question[question].others))


def numbered(items: Iterable[Item]) -> dict[int, Row]:
    """Items as rows, by their numbers."""
    return {pooled.id: _row(pooled) for pooled in unique_numbers(items)}


def find_changes(connection: Connection, rows: Mapping[int, Row]) -> Changes:
    """Compare the rows that are wanted with those in the store, in one pass over both."""
    columns = (item.c[name] for name in (*_NAMES, "active"))
    stored = connection.execute(select(*columns).execution_options(yield_per=BATCH))
    changes: dict[str, ItemChanges] = {}
    stored_numbers: set[int] = set()
    for number, question, *rest, active in stored:
        stored_numbers.add(number)
        row = rows.get(number)
        if row is None:
            if active:
                changes.setdefault(question, ItemChanges()).retired.append(number)
        elif not active or row != (number, question, *rest):
            change = changes.setdefault(row[1], ItemChanges())
            change.moved.append(row)
            change.others.add(question)
    kinds: dict[str, Counter[str]] = {}
    for number, row in rows.items():
        _, question, kind, *_ = row
        kinds.setdefault(question, Counter())[kind] += 1
        if number not in stored_numbers:
            changes.setdefault(question, ItemChanges()).fresh.append(row)
    return Changes(changes, kinds)


def store_changes(connection: Connection, changes: Iterable[ItemChanges]) -> None:
    """Store the changes of some questions."""
    c, listed = item.c, list(changes)
    fresh = [row for change in listed for row in change.fresh]
    for start in range(0, len(fresh), BATCH):
        connection.execute(insert(item), [_values(row) for row in fresh[start : start + BATCH]])
    moved = [_values(row, "new_") for change in listed for row in change.moved]
    if moved:
        changed: dict[str, Any] = {name: bindparam(f"new_{name}") for name in _NAMES[1:]}
        connection.execute(update(item).where(c.id == bindparam("new_id")).values(active=True, **changed), moved)
    retired = [{"which": number} for change in listed for number in change.retired]
    if retired:
        connection.execute(update(item).where(c.id == bindparam("which")).values(active=False), retired)


def _row(pooled: Item) -> Row:
    body = msgspec.json.encode(pooled.body).decode()
    return (pooled.id, pooled.question, pooled.kind, pooled.run, pooled.ordinal, body, pooled.parts)


def _values(row: Row, prefix: str = "") -> dict[str, Any]:
    return {prefix + name: value for name, value in zip(_NAMES, row, strict=True)}
