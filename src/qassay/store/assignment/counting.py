"""How much of an item, and of a question, is judged: what the counts of assignments rest on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import msgspec
from sqlalchemy import Connection, select, update

from qassay.formats.times import now
from qassay.store.adjudication.comparing import NUGGET_KINDS
from qassay.store.adjudication.settling import settle
from qassay.store.assignment.assignments import Assignment, hold
from qassay.store.judging.looking import versions
from qassay.store.judging.nuggets import list_for
from qassay.store.pool.items import Item, items_of
from qassay.store.pool.parts import Part, parts_of
from qassay.store.schema import assignment as assignment_table
from qassay.store.schema import standing
from qassay.store.settings import forget_settled


@dataclass(frozen=True, slots=True)
class Assessor:
    """Who judges, or rules."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Look:
    """What a set lacks of an item: whether it needs anything, the things without a verdict, a version asked for."""

    needs: bool
    missing: frozenset[str]
    version: int

    @property
    def complete(self) -> bool:
        """Whether every part that needs a verdict has one."""
        return self.needs and not self.missing


def nuggets_for(connection: Connection, set_name: str, item: Item) -> list[str]:
    """Ids of the nuggets that a judgment set has for an item; none where its kind takes none."""
    if item.kind not in NUGGET_KINDS:
        return []
    return [nugget.nugget for nugget in list_for(connection, set_name, item.question)[1]]


def parts_for(connection: Connection, one: Assignment | str, item: Item, assessor: str | None) -> list[Part]:
    """The parts of an item as an assignment (or a judgment set) judges them."""
    set_name = one if isinstance(one, str) else one.set
    return parts_of(item, nuggets=nuggets_for(connection, set_name, item), assessor=assessor)


def is_complete(connection: Connection, set_name: str, parts: Sequence[Part]) -> bool:
    """Whether every part that needs a verdict has one."""
    return look(connection, set_name, parts).complete


def look(connection: Connection, set_name: str, parts: Sequence[Part], also: str | None = None) -> Look:
    """What a set has of the parts of an item, and of one thing besides, in one query."""
    needed = {part.thing for part in parts if part.required}
    found = versions(connection, set_name, needed if also is None else {*needed, also})
    missing = {named for named in needed if not found.get(named, (0, False))[1]}
    version = found.get(also, (0, False))[0] if also is not None else 0
    rating = next((part for part in parts if part.kind == "rating"), None)
    if rating is not None and missing:
        question, run = str(rating.row["question"]), str(rating.row["run"])
        missing = set() if run in rated_runs(connection, set_name, question) else missing
    return Look(bool(needed), frozenset(missing), version)


def rated_runs(connection: Connection, set_name: str, question: str) -> set[str]:
    """The runs whose justifications a set has rated, by whomever: work that changed hands is not done twice."""
    c = standing.c
    found = select(c.body).where(c.question == question, c.set == set_name, c.kind == "rating", c.body.is_not(None))
    return {str(msgspec.json.decode(body)["run"]) for body in connection.execute(found).scalars()}


def completed(connection: Connection, one: Assignment, items: Sequence[Item]) -> list[bool]:
    """Which of the items of an assignment need nothing more: a few looks at the store for all of them.

    What one judge of a set has rated is done, whoever goes on with it.
    """
    c = standing.c
    said = select(c.thing).where(c.question == one.question, c.set == one.set, c.body.is_not(None))
    things = set(connection.execute(said).scalars())
    kinds = {item.kind: item for item in items}
    nuggets = nuggets_for(connection, one.set, kinds["support"]) if "support" in kinds else []
    rated = rated_runs(connection, one.set, one.question) if "rating" in kinds else set()
    return [
        str(item.run) in rated if item.kind == "rating" else _all_there(parts_of(item, nuggets=nuggets), things)
        for item in items
    ]


def recount(connection: Connection, one: Assignment) -> tuple[int, int, bool]:
    """Count the finished items of an assignment anew, after its nuggets have changed, or to close it."""
    held = hold(connection, one.question)
    here = next((other for other in held if other.id == one.id), one)
    items = items_of(connection, one.question)
    done, total = sum(completed(connection, here, items)), len(items)
    closed = (here.closed or now()) if done >= total else None
    _keep(connection, here, done, total, closed)
    _settle_or_wait(connection, one.question, closed and all(other.closed for other in held if other.id != here.id))
    return done, total, closed is not None


def recount_question(connection: Connection, question: str) -> None:
    """Count all assignments of a question anew, after its pool has changed."""
    held, at = hold(connection, question), now()
    items = items_of(connection, question)
    closed = []
    for one in held:
        done, total = sum(completed(connection, one, items)), len(items)
        closed.append(closed_at(one, done, total, at))
        _keep(connection, one, done, total, closed[-1])
    _settle_or_wait(connection, question, closed and all(closed))


def closed_at(one: Assignment, done: int, total: int, at: str) -> str | None:
    """When an assignment was finished, after its counts have changed: it closes with its last item.

    One that was opened again while everything in it was judged stays open until its assessor says so.
    """
    if done < total:
        return None
    return one.closed or (at if one.done < one.total else None)


def _keep(connection: Connection, one: Assignment, done: int, total: int, closed: str | None) -> None:
    if (done, total, closed) != (one.done, one.total, one.closed):
        values = {"done": done, "total": total, "closed": closed}
        connection.execute(update(assignment_table).where(assignment_table.c.id == one.id).values(values))


def _settle_or_wait(connection: Connection, question: str, is_closed: object) -> None:
    """What the assessors agree on may have changed with the counts, or with the nuggets."""
    if is_closed:
        settle(connection, question)
    else:
        forget_settled(connection, question)


def _all_there(parts: Sequence[Part], things: Collection[str]) -> bool:
    needed = [part.thing for part in parts if part.required]
    return bool(needed) and all(named in things for named in needed)
