"""What the assessors of a finished question disagree on, laid out for an adjudicator without names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from qassay.store.adjudication.comparing import Comparison, Unit, compare
from qassay.store.adjudication.own_lists import LISTS, side_by_side
from qassay.store.adjudication.settling import closed_sets, lists_left, states
from qassay.store.assignment.assignments import assignments_on
from qassay.store.pool.items import Item, items_of, order_seed
from qassay.store.pool.parts import FIELDS, verdict_of
from qassay.store.pool.things import digest
from qassay.tasks import Task


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What assessors disagree on: their verdicts in a drawn order, which tells nobody's name or set.

    `ruling` is what stands in the adjudicated set and `version` its version, as `rule` expects it. Of whole lists (kind
    `lists`) there is no item; its verdicts and `seen`, as `adopt` expects it, are those of own_lists.
    """

    item: Item | None
    part: str
    kind: str
    verdicts: tuple[Mapping[str, Any], ...]
    ruling: Mapping[str, Any] | None
    version: int
    left: bool
    seen: str = ""


def disagreements(connection: Connection, question: str, task: Task, *, only_left: bool = False) -> list[Disagreement]:
    """What the assessors of a finished question disagree on, ruled on or not."""
    sets = closed_sets(assignments_on(connection, question), question)
    items = items_of(connection, question)
    comparison = compare(connection, question, sets, items)
    seed = order_seed(connection)
    found = [_on_lists(connection, comparison, items)] if comparison.own_lists else []
    for state in states(connection, comparison, task):
        if state.disagreement:
            found.append(_shown(state.unit, left=state.left, seed=seed))
    return [one for one in found if one.left or not only_left]


def _on_lists(connection: Connection, comparison: Comparison, items: Sequence[Item]) -> Disagreement:
    """The disagreement of assessors who wrote their own lists of nuggets."""
    left = lists_left(connection, comparison)
    found = side_by_side(connection, comparison, items)
    return Disagreement(None, "", LISTS, found.verdicts, found.ruling, found.adoptions, left, found.seen)


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
