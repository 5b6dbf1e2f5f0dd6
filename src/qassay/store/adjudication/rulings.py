"""Adjudication: the disagreements of a finished question, and the rulings of a person (METHOD 4).

It begins when every assigned assessor has finished the question. A ruling stands until another replaces it; where the
assessors' verdicts have changed since, it is asked for again and stands meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from qassay.errors import InputError, Problem, unknown
from qassay.formats.times import now
from qassay.store.adjudication.adopting import bound_rows
from qassay.store.adjudication.comparing import ADJUDICATED, NEVER_SETTLED, NUGGET_KINDS, compare
from qassay.store.adjudication.settling import adjust, closed_sets, states
from qassay.store.assignment.assignments import Assignment, hold
from qassay.store.assignment.counting import Assessor, nuggets_for, parts_for
from qassay.store.judging import judgments
from qassay.store.judging.appending import Entry, Row, append_entries
from qassay.store.judging.judgments import Saved
from qassay.store.pool.items import Item
from qassay.store.pool.parts import FIELDS, Part, check_verdict, row_of
from qassay.tasks import Task


@dataclass(frozen=True, slots=True)
class _Ruling:
    """What is to be appended: `row` names the part, a body of None takes back what stands, `verdict` is checked."""

    item: Item
    part: Part
    row: Mapping[str, Any]
    body: Mapping[str, Any] | None
    verdict: Mapping[str, Any] | None
    at: str
    expected: int
    key: str

    @property
    def of_response(self) -> bool:
        """Whether it is on a whole response to a nugget question, and so on all its strings."""
        return self.part.kind == "match" and self.part.name == ""


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
    ruling = _Ruling(item, named, row, row, verdict, at, expected, key)
    return _save(connection, ruling, held, task, who, links=lambda _: {})


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
    # It is checked anew: the rules, or the list of nuggets, may have changed since.
    said = None if body is None else {name: body[name] for name in FIELDS[named.kind] if body.get(name) is not None}

    def links(saved: Saved) -> dict[str, Row | None]:
        undone = next(one.id for one in (*history, saved) if one.version > to)
        things = [link.thing for link in _links(connection, item)]
        return {link: judgments.body_before(connection, ADJUDICATED, link, undone) for link in things}

    return _save(connection, _Ruling(item, named, row, body, said, at, expected, key), held, task, who, links=links)


def _save(
    connection: Connection,
    ruling: _Ruling,
    held: Sequence[Assignment],
    task: Task,
    who: Assessor,
    *,
    links: Callable[[Saved], Mapping[str, Row | None]],
) -> Saved:
    """Append under the hold of the question; `links` are what the strings of a response then say."""
    item, part = ruling.item, ruling.part
    sets = closed_sets(held, item.question)
    _check_open_to_rulings(connection, item, part, sets)
    if ruling.verdict is not None:
        check_verdict(part, ruling.verdict, task, nuggets=nuggets_for(connection, ADJUDICATED, item))
    before = _of_part(connection, item, part, sets, task)
    saved = judgments.append(
        connection,
        set_name=ADJUDICATED,
        kind=part.kind,
        row=ruling.row,
        at=ruling.at,
        expected=ruling.expected,
        key=ruling.key,
        account=who.id,
        taken_back=ruling.body is None,
    )
    if ruling.of_response:
        _set_links(connection, item, links(saved), at=ruling.at, account=who.id)
    after = _of_part(connection, item, part, sets, task)
    adjust(connection, item.question, disagreements=after[0] - before[0], left=after[1] - before[1])
    return saved


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


def _links(connection: Connection, item: Item) -> list[Part]:
    return [part for part in parts_for(connection, ADJUDICATED, item, None) if part.name]


def _set_links(connection: Connection, item: Item, wanted: Mapping[str, Row | None], *, at: str, account: int) -> None:
    """Make the strings of an adjudicated response say what goes with its ruling: by thing, else nothing."""
    things = [part.thing for part in _links(connection, item)]
    there = judgments.standing_rows(connection, ADJUDICATED, things)
    entries = []
    for named in things:
        version, old = there.get(named, (0, None))
        if old != (body := wanted.get(named)):
            entries.append(Entry("match", item.question, named, version + 1, body))
    append_entries(connection, ADJUDICATED, entries, at=at, account=account)
