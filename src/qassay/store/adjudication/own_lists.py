"""Assessors who wrote their own lists of nuggets: laid side by side without names, and one of them adopted (METHOD 4).

A list is named by a digest that only the store can make, and so is all that an adjudicator saw: a choice from a page
that was left open while a list changed, or an assessor joined or left, is refused instead of adopting another list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from qassay.errors import InputError, Problem, unknown
from qassay.judging import ADJUDICATED, KINDS, Item, digest
from qassay.store.acts import Act
from qassay.store.adjudication.adopting import (
    Adopted,
    NuggetJudgments,
    adopted_set,
    adoption_under,
    adoptions,
    bound_judgments,
    take_over,
)
from qassay.store.adjudication.settling import Comparison, adjust, closed_sets, compare, lists_left
from qassay.store.assignment.assignments import assignments_on, lock_assignments
from qassay.store.judging.judgments import ConflictError
from qassay.store.judging.nuggets import list_for
from qassay.store.pool.items import items_of, order_seed

# The kind of a disagreement on whole lists of nuggets.
LISTS = "lists"
# What an adjudicator sees of a nugget: an imported list may contain more, such as who wrote it.
SHOWN_OF_NUGGETS = ("question", "nugget", "text", "vital", "weight")
CHANGED = "the lists of this question have changed since they were shown; look at them again and choose"


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The lists of a question in a drawn order, what of them was adopted, and `seen`, a digest of all of it.

    A verdict has `name`, by which it is adopted, `list`, the nuggets, and `responses`, the nuggets matched by the
    number of the item; `adopted` in the ruling is the place of the verdict that was adopted.
    """

    verdicts: tuple[Mapping[str, Any], ...]
    ruling: Mapping[str, Any] | None
    adoptions: int
    seen: str


def side_by_side(connection: Connection, comparison: Comparison, items: Sequence[Item]) -> SideBySide:
    """Lay out the lists of assessors who wrote their own."""
    question, seed = comparison.question, order_seed(connection)
    rows = bound_judgments(connection, question, (*comparison.sets, ADJUDICATED))
    numbers = {item.run: item.id for item in items if KINDS[item.kind].by_nuggets}
    names = _names(comparison.sets, seed, question)
    verdicts = tuple(
        {"name": name, **_laid_out(connection, set_name, question, rows[set_name], numbers)}
        for name, set_name in names.items()
    )
    ruling = None
    if rows[ADJUDICATED].is_ruled:
        drawn, adopted = list(names.values()), adopted_set(connection, question)
        ruling = {
            **_laid_out(connection, ADJUDICATED, question, rows[ADJUDICATED], numbers),
            "adopted": drawn.index(adopted) if adopted in drawn else None,
        }
    count = adoptions(connection, question)
    return SideBySide(verdicts, ruling, count, digest(seed, "seen", question, verdicts, ruling, count))


def set_of_list(connection: Connection, question: str, name: str) -> str:
    """The set whose list of nuggets has this name."""
    sets = closed_sets(assignments_on(connection, question), question)
    set_name = _names(sets, order_seed(connection), question).get(name)
    if set_name is None:
        raise ConflictError(None, CHANGED)
    return set_name


def adopt(act: Act, question: str, set_name: str, *, seen: str | None = None) -> Adopted:
    """Make one assessor's list of nuggets, and what was matched with it, the adjudicated one; recorded.

    `seen` is the digest of what the adjudicator chose from; None takes whatever there is.
    """
    connection = act.connection
    assignments = lock_assignments(connection, question)
    if earlier := adoption_under(act, question, set_name):
        return earlier
    sets = closed_sets(assignments, question)
    if set_name not in sets:
        raise unknown("judgment set of the question", set_name, sets)
    items = items_of(connection, question)
    comparison = compare(connection, question, sets, items)
    if not comparison.own_lists:
        message = f"question {question}: all its assessors use one list; decide its responses one by one"
        raise InputError(Problem("configuration", message, None, None, question))
    if seen is not None and seen != side_by_side(connection, comparison, items).seen:
        raise ConflictError(None, CHANGED)
    before = lists_left(connection, comparison)
    adopted = take_over(act, question, set_name)
    adjust(connection, question, left=-before)
    return adopted


def _names(sets: Sequence[str], seed: str, question: str) -> dict[str, str]:
    """The sets by a name that does not reveal which they are, in the order of these names."""
    return dict(sorted((digest(seed, "verdicts", LISTS, question, name), name) for name in sets))


def _laid_out(
    connection: Connection, set_name: str, question: str, bound: NuggetJudgments, numbers: Mapping[str | None, int]
) -> dict[str, Any]:
    bodies = (nugget.body or {} for nugget in list_for(connection, set_name, question)[1])
    listed = [{field: body[field] for field in SHOWN_OF_NUGGETS if field in body} for body in bodies]
    return {"list": listed, "responses": bound.by_response(numbers)}
