"""Adjudication: the disagreements of a finished question, and the rulings of a person (METHOD 4).

It begins when every assigned assessor has finished the question. A ruling stands until another replaces it; where the
assessors' verdicts have changed since, it is asked for again and stands meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from qassay.errors import InputError, Problem, unknown
from qassay.store.adjudication.adopting import Adopted, adoption_under, adoptions, bound_rows, take_over
from qassay.store.adjudication.comparing import ADJUDICATED, NEVER_SETTLED, NUGGET_KINDS, compare
from qassay.store.adjudication.settling import (
    adjust,
    closed_sets,
    lists_left,
    states,
)
from qassay.store.assignment.assignments import hold
from qassay.store.assignment.counting import Assessor, nuggets_for, parts_for
from qassay.store.engine import now
from qassay.store.judging import judgments
from qassay.store.judging.appending import Entry, append_entries
from qassay.store.judging.judgments import ConflictError, Saved
from qassay.store.pool.items import Item, items_of
from qassay.store.pool.parts import FIELDS, Part, check_verdict, row_of
from qassay.tasks import Task


def rule(
    connection: Connection,
    item: Item,
    part: Part | str,
    verdict: Mapping[str, Any],
    *,
    task: Task,
    who: Assessor,
    expected: int,
    key: str,
) -> Saved:
    """Save an adjudicator's verdict on a part of an item; on a response to a nugget question, on all its strings."""
    held, at = hold(connection, item.question), now()
    named = part if isinstance(part, Part) else part_named(connection, item, part)
    row = row_of(named, verdict, assessor=who.name, at=at)
    if earlier := judgments.repeated(connection, key, ADJUDICATED, named.kind, row, row, who.id):
        return earlier
    sets = closed_sets(held, item.question)
    _check_open_to_rulings(connection, item, named, sets)
    check_verdict(named, verdict, task, nuggets=nuggets_for(connection, ADJUDICATED, item))
    before = _of_part(connection, item, named, sets, task)
    saved = judgments.append(
        connection,
        set_name=ADJUDICATED,
        kind=named.kind,
        row=row,
        at=at,
        expected=expected,
        key=key,
        account=who.id,
    )
    if named.kind == "match" and named.name == "":
        _set_links(connection, item, {}, at=at, account=who.id)
    _adjust(connection, item, before, _of_part(connection, item, named, sets, task))
    return saved


def undo_ruling(
    connection: Connection,
    item: Item,
    part: Part | str,
    *,
    task: Task,
    who: Assessor,
    expected: int,
    to: int,
    key: str,
) -> Saved:
    """Put back what stood in the adjudicated set at an earlier version (0: nothing); itself recorded."""
    held, at = hold(connection, item.question), now()
    named = part if isinstance(part, Part) else part_named(connection, item, part)
    history = judgments.history(connection, ADJUDICATED, named.thing)
    body = judgments.body_at(history, to, item.question)
    row = dict(named.row) if body is None else dict(body)
    if earlier := judgments.repeated(connection, key, ADJUDICATED, named.kind, row, body, who.id):
        return earlier
    sets = closed_sets(held, item.question)
    _check_open_to_rulings(connection, item, named, sets)
    if body is not None:  # the rules, or the list of nuggets, may have changed since
        said = {name: body[name] for name in FIELDS[named.kind] if body.get(name) is not None}
        check_verdict(named, said, task, nuggets=nuggets_for(connection, ADJUDICATED, item))
    before = _of_part(connection, item, named, sets, task)
    saved = judgments.append(
        connection,
        set_name=ADJUDICATED,
        kind=named.kind,
        row=row,
        at=at,
        expected=expected,
        key=key,
        account=who.id,
        taken_back=body is None,
    )
    if named.kind == "match" and named.name == "":
        undone = next(one.id for one in (*history, saved) if one.version > to)
        links = [link.thing for link in _links(connection, item)]
        then = {link: judgments.body_before(connection, ADJUDICATED, link, undone) for link in links}
        _set_links(connection, item, then, at=at, account=who.id)
    _adjust(connection, item, before, _of_part(connection, item, named, sets, task))
    return saved


def adopt(
    connection: Connection, question: str, set_name: str, *, who: Assessor, key: str, expected: int | None = None
) -> Adopted:
    """Take one assessor's list of nuggets, and what was matched with it, as adjudicated; recorded.

    `expected` is the version of the disagreement that the adjudicator saw.
    """
    held = hold(connection, question)
    if earlier := adoption_under(connection, question, key, set_name):
        return earlier
    sets = closed_sets(held, question)
    if set_name not in sets:
        raise unknown("judgment set of the question", set_name, sets)
    comparison = compare(connection, question, sets, items_of(connection, question))
    if not comparison.own_lists:
        message = f"question {question}: all its assessors go by one list; rule on its responses one by one"
        raise InputError(Problem("configuration", message, None, None, question))
    if expected is not None and expected != adoptions(connection, question):
        raise ConflictError(None)
    before = lists_left(connection, comparison)
    adopted = take_over(connection, question, set_name, at=now(), by=(who.id, who.name), key=key)
    adjust(connection, question, disagreements=0, left=-before)
    return adopted


def part_named(connection: Connection, item: Item, name: str) -> Part:
    """The part of an item with this name, as rulings name it."""
    parts = {part.name: part for part in parts_for(connection, ADJUDICATED, item, None)}
    if name not in parts:
        raise unknown("part", name, parts)
    return parts[name]


def _check_open_to_rulings(connection: Connection, item: Item, part: Part, sets: Sequence[str]) -> None:
    if part.kind in NEVER_SETTLED:
        message = f"question {item.question}: ratings are not adjudicated; those of all judges are used together"
        raise InputError(Problem("configuration", message, None, None, item.question))
    if part.kind not in NUGGET_KINDS or not compare(connection, item.question, sets, [item], some=True).own_lists:
        return
    if not bound_rows(connection, item.question, (ADJUDICATED,))[ADJUDICATED].is_ruled:
        message = f"question {item.question}: its assessors wrote their own nuggets; adopt one of the lists first"
        raise InputError(Problem("configuration", message, None, None, item.question))


def _of_part(connection: Connection, item: Item, part: Part, sets: Sequence[str], task: Task) -> tuple[bool, bool]:
    """Whether a part is disagreed on, and left to be ruled on."""
    comparison = compare(connection, item.question, sets, [item], some=True)
    for state in states(connection, comparison, task):
        if part.thing in {one.thing for one in (state.unit.part, *state.unit.links)}:
            return state.disagreement, state.left
    return False, False


def _adjust(connection: Connection, item: Item, before: tuple[bool, bool], after: tuple[bool, bool]) -> None:
    adjust(connection, item.question, disagreements=after[0] - before[0], left=after[1] - before[1])


def _links(connection: Connection, item: Item) -> list[Part]:
    return [part for part in parts_for(connection, ADJUDICATED, item, None) if part.name]


def _set_links(
    connection: Connection, item: Item, wanted: Mapping[str, Mapping[str, Any] | None], *, at: str, account: int
) -> None:
    """Make the strings of an adjudicated response say what goes with its ruling: by thing, else nothing."""
    things = [part.thing for part in _links(connection, item)]
    there = judgments.standing_rows(connection, ADJUDICATED, things)
    entries = []
    for named in things:
        version, old = there.get(named, (0, None))
        if old != (body := wanted.get(named)):
            entries.append(Entry("match", item.question, named, version + 1, body))
    append_entries(connection, ADJUDICATED, entries, at=at, account=account)
