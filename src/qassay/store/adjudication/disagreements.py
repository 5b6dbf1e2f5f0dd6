"""What the assessors of a finished question disagree on, laid out for an adjudicator without names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from qassay.errors import unknown
from qassay.store.adjudication.adopting import adopted_set, adoptions, bound_rows
from qassay.store.adjudication.comparing import ADJUDICATED, NUGGET_KINDS, Comparison, Unit, compare
from qassay.store.adjudication.settling import closed_sets, lists_left, states
from qassay.store.assignment.assignments import assignments_on
from qassay.store.judging.nuggets import list_for
from qassay.store.pool.items import Item, items_of, order_seed
from qassay.store.pool.parts import FIELDS, verdict_of
from qassay.store.pool.things import digest
from qassay.tasks import Task

# The kind of a disagreement on whole lists of nuggets.
LISTS = "lists"

# What an adjudicator sees of a nugget: an imported list may hold more, such as who wrote it.
SHOWN_OF_NUGGETS = ("question", "nugget", "text", "vital", "weight")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What assessors disagree on: their verdicts in a drawn order, which tells nobody's name or set.

    `ruling` is what stands in the adjudicated set and `version` its version, as `rule` and `adopt` expect it. Of whole
    lists (kind `lists`) there is no item, and a verdict holds `list`, the nuggets, and `responses`, the nuggets
    matched by the number of the item; `adopted` in the ruling is the place of the verdict that was adopted.
    """

    item: Item | None
    part: str
    kind: str
    verdicts: tuple[Mapping[str, Any], ...]
    ruling: Mapping[str, Any] | None
    version: int
    left: bool


def disagreements(connection: Connection, question: str, task: Task, *, only_left: bool = False) -> list[Disagreement]:
    """What the assessors of a finished question disagree on, ruled on or not."""
    sets = closed_sets(assignments_on(connection, question), question)
    items = items_of(connection, question)
    comparison = compare(connection, question, sets, items)
    seed = order_seed(connection)
    found = [*_whole_lists(connection, comparison, items, seed)]
    for state in states(connection, comparison, task):
        if state.disagreement:
            found.append(_shown(state.unit, left=state.left, seed=seed))
    return [one for one in found if one.left or not only_left]


def choice(connection: Connection, question: str, place: int) -> str:
    """The set whose list of nuggets stands at this place (from 0) of the disagreement on lists."""
    sets = closed_sets(assignments_on(connection, question), question)
    if not 0 <= place < len(sets):
        raise unknown("list", str(place + 1), [str(one + 1) for one in range(len(sets))])
    return _drawn(sets, order_seed(connection), LISTS, question)[place]


def _shown(unit: Unit, *, left: bool, seed: str) -> Disagreement:
    rows = unit.verdicts()
    names = (*FIELDS[unit.part.kind], "note")
    verdicts = tuple(
        {name: rows[one][name] for name in names if rows[one].get(name) is not None}
        for one in _drawn(list(rows), seed, unit.part.name, unit.item.id)
    )
    ruling = unit.ruling
    old = unit.settled.get(unit.part.thing)
    return Disagreement(
        unit.item,
        unit.part.name,
        unit.part.kind,
        verdicts,
        None if ruling is None else verdict_of(unit.part, ruling),
        old.version if old else 0,
        left,
    )


def _drawn(sets: Sequence[str], seed: str, *place: str | int) -> list[str]:
    """Sets in an order drawn for one place: who stands first here says nothing of who stands first there."""
    return sorted(sets, key=lambda name: digest(seed, "verdicts", *place, name))


def _whole_lists(
    connection: Connection, comparison: Comparison, items: Sequence[Item], seed: str
) -> Iterator[Disagreement]:
    """The disagreement of assessors who wrote their own lists of nuggets."""
    if not comparison.own_lists:
        return
    question = comparison.question
    rows = bound_rows(connection, question, (*comparison.sets, ADJUDICATED))
    numbers = {item.run: item.id for item in items if item.kind in NUGGET_KINDS}

    def laid_out(name: str) -> dict[str, Any]:
        bodies = (one.body or {} for one in list_for(connection, name, question)[1])
        listed = [{field: body[field] for field in SHOWN_OF_NUGGETS if field in body} for body in bodies]
        return {"list": listed, "responses": rows[name].by_response(numbers)}

    drawn = _drawn(comparison.sets, seed, LISTS, question)
    ruling = None
    if rows[ADJUDICATED].is_ruled:
        adopted = adopted_set(connection, question)
        ruling = {**laid_out(ADJUDICATED), "adopted": drawn.index(adopted) if adopted in drawn else None}
    yield Disagreement(
        None,
        "",
        LISTS,
        tuple(laid_out(name) for name in drawn),
        ruling,
        adoptions(connection, question),
        lists_left(connection, comparison),
    )
