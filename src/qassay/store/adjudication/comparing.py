"""What the assessors of a question said, side by side, and what was made of it.

A response to a nugget question is compared as a whole: which nuggets it holds, not where they stand in it. Everything
else is compared part by part. Notes are no part of a verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from qassay.errors import InputError
from qassay.store.judging.appending import BATCH, Row
from qassay.store.judging.nuggets import list_for
from qassay.store.pool.items import Item
from qassay.store.pool.parts import FIELDS, Part, check_verdict, parts_of
from qassay.store.schema import judgment, standing
from qassay.tasks import Task

ADJUDICATED = "adjudicated"
UNANIMOUS = "unanimous"
# Kinds of items that are judged against a list of nuggets, and the kinds of judgments that name nuggets.
NUGGET_KINDS = ("match", "support")
# Ratings of justifications are opinions: all of them are used together, none is settled (METHOD 4).
NEVER_SETTLED = ("rating",)


@dataclass(frozen=True, slots=True)
class Stands:
    """What stands for one thing in one set."""

    judgment: int
    version: int
    body: Row | None


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing to agree on: a part of an item, with what the sets and the adjudicated set say of it.

    `links` are the further parts of a response to a nugget question: its strings. Rows are by set and by thing.
    """

    item: Item
    part: Part
    links: tuple[Part, ...]
    said: Mapping[str, Mapping[str, Stands]]
    settled: Mapping[str, Stands]

    @property
    def ruling(self) -> Row | None:
        """What stands in the adjudicated set, in one row; None where nothing does."""
        return whole_row(self, {named: one.body for named, one in self.settled.items() if one.body is not None})

    @property
    def is_ruled(self) -> bool:
        """Whether what stands was said by a person, and not by the rule."""
        bodies = [one.body for one in self.settled.values() if one.body is not None]
        return any(body.get("settled") != UNANIMOUS for body in bodies)

    def verdicts(self) -> dict[str, Row]:
        """The row of each set that has judged this."""
        rows = {
            name: whole_row(self, {named: one.body for named, one in things.items() if one.body is not None})
            for name, things in self.said.items()
        }
        return {name: row for name, row in rows.items() if row is not None}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A question: its units, and the one list of nuggets that its sets go by (None: by none, or each by its own).

    With `own_lists` what names nuggets cannot be compared and is no unit: it is settled by adopting one set's.
    """

    question: str
    sets: tuple[str, ...]
    units: tuple[Unit, ...]
    list_name: str | None = None
    nuggets: tuple[str, ...] = ()
    own_lists: bool = False


def compare(
    connection: Connection, question: str, sets: Sequence[str], items: Sequence[Item], *, some: bool = False
) -> Comparison:
    """Lay side by side what some sets say of the items of a question; with `some`, these are not all its items."""
    bound = any(item.kind in NUGGET_KINDS for item in items)
    lists = {name: list_for(connection, name, question) for name in sets} if bound else {}
    own = len({name for name, _ in lists.values()}) > 1
    list_name, found = next(iter(lists.values())) if lists and not own else (None, [])
    nuggets = tuple(nugget.nugget for nugget in found)
    drafts = [
        draft
        for item in items
        if item.kind not in NEVER_SETTLED
        for draft in _units(item, nuggets)
        if not (own and draft[1].kind in NUGGET_KINDS)
    ]
    things = [one.thing for _, part, links in drafts for one in (part, *links)] if some else None
    rows = _standing(connection, question, (*sets, ADJUDICATED), things)
    units = tuple(_filled(draft, sets, rows) for draft in drafts)
    return Comparison(question, tuple(sets), units, list_name, nuggets, own)


def agreed(unit: Unit, sets: Sequence[str], task: Task | None, nuggets: Collection[str]) -> Row | None:
    """The row on which all sets agree, or nothing; a verdict that the rules do not allow (any more) is none.

    A part that needs no verdict is agreed on by those who gave one.
    """
    rows = unit.verdicts()
    if not rows or (unit.part.required and len(rows) < len(sets)):
        return None
    if len({said(unit.part.kind, row) for row in rows.values()}) > 1:
        return None
    row = next((row for row in rows.values() if row.get("answer") is not None), next(iter(rows.values())))
    return row if _is_allowed(unit.part, row, task, nuggets) else None


def _is_allowed(part: Part, row: Mapping[str, Any], task: Task | None, nuggets: Collection[str]) -> bool:
    if task is None:
        return part.kind != "match" or all(nugget in nuggets for nugget in row["nuggets"])
    verdict = {name: row[name] for name in FIELDS[part.kind] if row.get(name) is not None}
    try:
        check_verdict(part, verdict, task, nuggets=nuggets)
    except InputError:
        return False
    return True


def said(kind: str, row: Mapping[str, Any]) -> tuple[Any, ...]:
    """A verdict as it is compared: of lists the label and, for R, the class; of nuggets which, in whatever order."""
    if kind == "list":
        if row.get("judgment") != "R":
            return (row.get("judgment"),)
        named = row.get("answer")
        if named is None:
            named = row.get("text") if row.get("distinct") is None else ("distinct", row["distinct"])
        return ("R", named)
    if kind == "match":
        return tuple(sorted(set(row["nuggets"])))
    return tuple(row.get(name) for name in FIELDS[kind])


def whole_row(unit: Unit, bodies: Mapping[str, Row]) -> Row | None:
    """One row for a unit: of a response to a nugget question, its own with all nuggets of its strings."""
    own = bodies.get(unit.part.thing)
    if unit.part.kind != "match":
        return own
    rows = [bodies[part.thing] for part in unit.links if part.thing in bodies]
    if own is None and not rows:
        return None
    nuggets = dict.fromkeys(nugget for row in (own, *rows) if row is not None for nugget in row["nuggets"])
    # A file may name the nuggets of the strings alone (FORMATS 4): the response is judged all the same.
    first = own if own is not None else {name: value for name, value in rows[0].items() if name != "item"}
    return {**first, "nuggets": list(nuggets)}


def changed_since(connection: Connection, units: Sequence[Unit], sets: Sequence[str]) -> set[str]:
    """Things that a person ruled on and of which the sets say something else now than they did then."""
    older = [unit for unit in units if unit.is_ruled and _is_older(unit)]
    if not older:
        return set()
    names = [part.thing for unit in older for part in (unit.part, *unit.links)]
    c = judgment.c
    history: dict[tuple[str, str], list[tuple[int, Row | None]]] = {}
    for start in range(0, len(names), BATCH):
        rows = select(c.set, c.thing, c.id, c.body).where(c.set.in_(sets), c.thing.in_(names[start : start + BATCH]))
        for row in connection.execute(rows.order_by(c.version)):
            history.setdefault((row.set, row.thing), []).append((row.id, _decoded(row.body)))
    return {unit.part.thing for unit in older if _now(unit) != _then(unit, sets, history)}


def _is_older(unit: Unit) -> bool:
    ruled = max(one.judgment for one in unit.settled.values())
    return any(one.judgment > ruled for things in unit.said.values() for one in things.values())


def _now(unit: Unit) -> list[str]:
    return sorted(repr(said(unit.part.kind, row)) for row in unit.verdicts().values())


def _then(
    unit: Unit, sets: Sequence[str], history: Mapping[tuple[str, str], Sequence[tuple[int, Row | None]]]
) -> list[str]:
    """What the sets said when the unit was ruled on."""
    ruled = max(one.judgment for one in unit.settled.values())
    found = []
    for name in sets:
        bodies: dict[str, Row] = {}
        for part in (unit.part, *unit.links):
            earlier = [body for number, body in history.get((name, part.thing), ()) if number < ruled]
            if earlier and earlier[-1] is not None:
                bodies[part.thing] = earlier[-1]
        row = whole_row(unit, bodies)
        if row is not None:
            found.append(repr(said(unit.part.kind, row)))
    return sorted(found)


Draft = tuple[Item, Part, tuple[Part, ...]]


def _units(item: Item, nuggets: Sequence[str]) -> list[Draft]:
    parts = parts_of(item, nuggets=nuggets)
    if item.kind == "match":
        return [(item, parts[0], tuple(parts[1:]))]
    return [(item, part, ()) for part in parts]


def _filled(draft: Draft, sets: Sequence[str], rows: Mapping[tuple[str, str], Stands]) -> Unit:
    item, part, links = draft
    names = [one.thing for one in (part, *links)]

    def of(set_name: str) -> dict[str, Stands]:
        return {named: rows[set_name, named] for named in names if (set_name, named) in rows}

    return Unit(item, part, links, {name: of(name) for name in sets}, of(ADJUDICATED))


def _standing(
    connection: Connection, question: str, sets: Sequence[str], things: Sequence[str] | None
) -> dict[tuple[str, str], Stands]:
    c = standing.c
    query = select(c.set, c.thing, c.judgment, c.version, c.body).where(c.set.in_(sets))
    # A few things by their own index; many, as all of a question are.
    few = things is not None and len(things) <= BATCH
    query = query.where(c.thing.in_(things or ())) if few else query.where(c.question == question)
    return {
        (row.set, row.thing): Stands(row.judgment, row.version, _decoded(row.body)) for row in connection.execute(query)
    }


def _decoded(body: str | None) -> Row | None:
    return None if body is None else msgspec.json.decode(body)
