"""How much of an item, and of a question, is judged: what the counts of assignments rest on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec
from sqlalchemy import Connection, select, update

from qassay.store import judgments
from qassay.store.assignments import Assignment, hold
from qassay.store.engine import now
from qassay.store.items import Item, items_of
from qassay.store.nuggets import list_for
from qassay.store.parts import Part, parts_of
from qassay.store.schema import assignment as assignment_table
from qassay.store.schema import standing
from qassay.store.settings import forget_settled

# Kinds of items that are judged against a list of nuggets.
NUGGET_KINDS = ("support", "match")


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
    needed = {part.thing for part in parts if part.required}
    if rating := next((part for part in parts if part.kind == "rating"), None):
        return str(rating.row["run"]) in rated_runs(connection, set_name, str(rating.row["question"]))
    return bool(needed) and needed <= judgments.judged(connection, set_name, needed)


def rated_runs(connection: Connection, set_name: str, question: str) -> set[str]:
    """The runs whose justifications a set has rated, by whomever: work that changed hands is not done twice."""
    c = standing.c
    found = select(c.body).where(c.question == question, c.set == set_name, c.kind == "rating", c.body.is_not(None))
    return {str(msgspec.json.decode(body)["run"]) for body in connection.execute(found).scalars()}


def recount(connection: Connection, one: Assignment) -> tuple[int, int, bool]:
    """Count the finished items of an assignment anew, after its nuggets or its pool have changed."""
    here = next((held for held in hold(connection, one.question) if held.id == one.id), one)
    return _recount(connection, here, items_of(connection, one.question), now())


def recount_question(connection: Connection, question: str) -> None:
    """Count all assignments of a question anew."""
    held, at = hold(connection, question), now()
    items = items_of(connection, question)
    for one in held:
        _recount(connection, one, items, at)


def closed_at(one: Assignment, done: int, total: int, at: str) -> str | None:
    """When an assignment was finished, after its counts have changed: it closes with its last item.

    One that was opened again while everything in it was judged stays open until its assessor says so.
    """
    if done < total:
        return None
    return one.closed or (at if one.done < one.total else None)


def _recount(connection: Connection, one: Assignment, items: Sequence[Item], at: str) -> tuple[int, int, bool]:
    done, total = _finished(connection, one.set, one.question, items), len(items)
    closed = closed_at(one, done, total, at)
    if (done, total, closed) != (one.done, one.total, one.closed):
        values = {"done": done, "total": total, "closed": closed}
        connection.execute(update(assignment_table).where(assignment_table.c.id == one.id).values(values))
        forget_settled(connection, one.question)
    return done, total, closed is not None


def _finished(connection: Connection, set_name: str, question: str, items: Iterable[Item]) -> int:
    """How many items of a question a set has finished, in a few queries for all of them."""
    c = standing.c
    here = select(c.thing).where(c.question == question, c.set == set_name, c.body.is_not(None))
    things = set(connection.execute(here).scalars())
    nuggets: Sequence[str] | None = None
    rated: set[str] | None = None
    done = 0
    for item in items:
        if item.kind == "rating":
            rated = rated_runs(connection, set_name, question) if rated is None else rated
            done += str(item.run) in rated
            continue
        if item.kind == "support" and nuggets is None:
            nuggets = nuggets_for(connection, set_name, item)
        done += _all_there(parts_of(item, nuggets=nuggets or ()), things)
    return done


def _all_there(parts: Sequence[Part], things: Collection[str]) -> bool:
    needed = [part.thing for part in parts if part.required]
    return bool(needed) and all(named in things for named in needed)
