"""Settling a finished question: what all its assessors agree on becomes adjudicated by rule, the rest is counted.

What was found is kept by question, and summed up: pages tell how much is left without reading the pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from qassay.errors import QassayError
from qassay.formats.times import now
from qassay.store.adjudication.adopting import bound_rows, lists_changed, mirror_list, take_back_by_rule
from qassay.store.adjudication.comparing import (
    ADJUDICATED,
    UNANIMOUS,
    Comparison,
    Unit,
    agreed,
    changed_since,
    compare,
    said,
)
from qassay.store.assignment.assignments import SLOTS, Assignment, hold
from qassay.store.judging.appending import Entry, Row, append_entries
from qassay.store.judging.nuggets import list_for
from qassay.store.pool.items import items_of
from qassay.store.pool.parts import FIELDS, Part
from qassay.store.schema import ASSIGNED, OPEN, UNRULED, question_progress
from qassay.store.schema import settled as table
from qassay.tasks import Task


class NotClosedError(QassayError):
    """Some assessor has not finished the question: nobody sees what the others said, and nothing is settled."""

    def __init__(self, question: str) -> None:
        super().__init__(f"question {question} is not finished by all its assessors; adjudication waits for them")


@dataclass(frozen=True, slots=True)
class Settled:
    """What settling a question found; `left` are the disagreements that nobody has ruled on as they are now."""

    unanimous: int
    disagreements: int
    left: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a question is; `settled` is None until it is closed and has been settled."""

    question: str
    assessors: int
    closed: bool
    settled: Settled | None


@dataclass(frozen=True, slots=True)
class Overview:
    """Assigned questions, those of them that are still with an assessor, and disagreements to rule on in the others."""

    questions: int
    waiting: int
    left: int


@dataclass(frozen=True, slots=True)
class State:
    """A unit, the row that all sets agree on, and whether it is for an adjudicator, and still to be ruled on."""

    unit: Unit
    row: Row | None
    disagreement: bool
    left: bool


def settle(connection: Connection, question: str, task: Task | None = None) -> Settled:
    """Settle what is unanimous in a question that all its assessors have finished; a person's ruling stays.

    With a task, a verdict that its rules do not allow (any more) is none to agree on.
    """
    sets = closed_sets(hold(connection, question), question)
    comparison = compare(connection, question, sets, items_of(connection, question))
    at = now()
    _settle_list(connection, comparison, at)
    found = states(connection, comparison, task)
    entries = [entry for state in found if not state.unit.is_ruled for entry in _entries(state, at)]
    append_entries(connection, ADJUDICATED, entries, at=at)
    disagreed, left = sum(state.disagreement for state in found), sum(state.left for state in found)
    if comparison.own_lists:
        disagreed, left = disagreed + 1, left + lists_left(connection, comparison)
    settled = Settled(sum(not state.disagreement for state in found), disagreed, left)
    keep(connection, question, settled)
    return settled


def settle_all(connection: Connection, task: Task | None = None) -> int:
    """Settle every question that is closed and not settled: after runs or judgments came from elsewhere."""
    lacking = _PROGRESS.where(question_progress.c.open == 0, table.c.question.is_(None))
    waiting = [row.question for row in connection.execute(lacking)]
    for question in waiting:
        settle(connection, question, task)
    return len(waiting)


def progress(connection: Connection, *, first: int = 0, limit: int | None = None) -> list[Progress]:
    """How far assigned questions are, in the order in which they were assigned: all of them, or so many from one on."""
    return [
        Progress(
            row.question,
            row.assessors,
            row.open == 0,
            None if row.open or row.unanimous is None else Settled(row.unanimous, row.disagreements, row.unruled),
        )
        for row in connection.execute(_PROGRESS.offset(first).limit(limit))
    ]


def overview(connection: Connection) -> Overview:
    """How far all of them are together: counted and summed up over what is few."""
    count = select(func.count()).select_from(question_progress)
    left = select(func.coalesce(func.sum(question_progress.c.unruled), 0)).where(UNRULED)
    asked = (count.where(ASSIGNED), count.where(OPEN), left)
    return Overview(*(int(connection.execute(one).scalar_one()) for one in asked))


def next_to_rule(connection: Connection, *, after: str | None = None) -> str | None:
    """The first question with a disagreement to rule on; after one of them the next, and after the last the first."""
    c = question_progress.c
    waiting = select(c.question).where(UNRULED).order_by(c.first).limit(1)
    if after is None:
        return connection.execute(waiting).scalar()
    here = select(c.first).where(c.question == after).scalar_subquery()
    following: str | None = connection.execute(waiting.where(c.first > here)).scalar()
    return following or connection.execute(waiting.where(c.question != after)).scalar()


def closed_sets(held: Sequence[Assignment], question: str) -> list[str]:
    """The judgment sets of a question whose assessors have all finished; an error where one has not."""
    if not held or any(one.closed is None for one in held):
        raise NotClosedError(question)
    return [one.set for one in held]


def states(connection: Connection, comparison: Comparison, task: Task | None) -> list[State]:
    """Where each unit of a question stands; a part that needs no verdict and has none is left out."""
    changed = changed_since(connection, comparison.units, comparison.sets)
    found = []
    for unit in comparison.units:
        if not unit.part.required and not unit.verdicts() and unit.ruling is None:
            continue
        row = agreed(unit, comparison.sets, task, comparison.nuggets)
        left = unit.part.thing in changed if unit.is_ruled else row is None
        found.append(State(unit, row, row is None or left, left))
    return found


def lists_left(connection: Connection, comparison: Comparison) -> bool:
    """Whether the assessors' own lists wait for one of them to be adopted."""
    ruled = bound_rows(connection, comparison.question, (ADJUDICATED,))[ADJUDICATED].is_ruled
    return not ruled or lists_changed(connection, comparison.question, comparison.sets)


def keep(connection: Connection, question: str, settled: Settled) -> None:
    """Keep what settling found."""
    values = {"unanimous": settled.unanimous, "disagreements": settled.disagreements, "unruled": settled.left}
    statement = (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(table)
    connection.execute(
        statement.values(question=question, **values).on_conflict_do_update(index_elements=["question"], set_=values)
    )


def adjust(connection: Connection, question: str, *, disagreements: int, left: int) -> None:
    """Change what is kept of a question by what one ruling changed."""
    c = table.c
    changes = {
        "unanimous": c.unanimous - disagreements,
        "disagreements": c.disagreements + disagreements,
        "unruled": c.unruled + left,
    }
    if disagreements or left:
        connection.execute(update(table).where(c.question == question).values(changes))


def _settle_list(connection: Connection, comparison: Comparison, at: str) -> None:
    """The nuggets that go with what is settled: the one list there is, copied where the key would not find it."""
    if comparison.own_lists:
        take_back_by_rule(connection, comparison.question, at=at)
    elif comparison.list_name is not None:
        chosen, _ = list_for(connection, ADJUDICATED, comparison.question)
        if comparison.list_name in SLOTS or chosen != comparison.list_name:
            mirror_list(connection, comparison.list_name, comparison.question, at=at, account=None, settled=True)


def _entries(state: State, at: str) -> Iterator[Entry]:
    """The rows that make the adjudicated set say of a unit what all sets say, or nothing."""
    unit = state.unit
    wanted = dict(_wanted(state))
    for part in (unit.part, *unit.links):
        named = part.thing
        old, verdict = unit.settled.get(named), wanted.get(named)
        version = 1 + (old.version if old else 0)
        if verdict is None:
            if old is not None and old.body is not None:
                yield Entry(part.kind, unit.item.question, named, version, None)
            continue
        identity = {name: value for name, value in part.row.items() if value is not None}
        body = {**identity, **verdict, "settled": UNANIMOUS, "at": at}
        if old is None or old.body is None or said(part.kind, old.body) != said(part.kind, body):
            yield Entry(part.kind, unit.item.question, named, version, body)


def _wanted(state: State) -> Iterator[tuple[str, Row]]:
    """The verdicts to settle by thing: of a response with its strings, where all agree on these too."""
    unit, row = state.unit, state.row
    if row is None:
        return
    places = [
        {named: said(unit.part.kind, one.body) for named, one in things.items() if one.body is not None}
        for things in unit.said.values()
    ]
    if unit.links and all(place == places[0] for place in places):
        first = next(iter(unit.said.values()))
        for part in (unit.part, *unit.links):
            one = first.get(part.thing)
            if one is not None and one.body is not None:
                yield part.thing, _verdict(part, one.body)
    else:
        yield unit.part.thing, _verdict(unit.part, row)


def _verdict(part: Part, row: Row) -> Row:
    names = (*FIELDS[part.kind], *(("distinct",) if part.kind == "list" else ()))
    return {name: row[name] for name in names if row.get(name) is not None}


_PROGRESS: Select[Any] = (
    select(
        question_progress.c.question,
        question_progress.c.assessors,
        question_progress.c.open,
        table.c.unanimous,
        table.c.disagreements,
        table.c.unruled,
    )
    .outerjoin(table, table.c.question == question_progress.c.question)
    .where(ASSIGNED)
    .order_by(question_progress.c.first)
)
