"""How far judging is, by assessor and by question: summed up by the database, however many questions there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, case, func, select

from qassay.errors import UsageError
from qassay.questions import TestSet
from qassay.store.assignment.assignments import Assignment, keep_others_out, reassign
from qassay.store.development.answers import in_parts
from qassay.store.schema import assignment as table
from qassay.store.settings import note_action

State = Literal["open", "begun", "waiting", "finished"]


@dataclass(frozen=True, slots=True)
class Share:
    """The work of one account (None: nobody's yet) in one slot, summed up."""

    slot: int
    set: str
    account: int | None
    questions: int
    closed: int
    total: int
    done: int
    left: int
    seconds: int


def shares(connection: Connection) -> list[Share]:
    """All work, by slot and account."""
    c = table.c
    left = func.sum(case((c.closed.is_(None), c.total - c.done), else_=0))
    sums = (func.count(), func.count(c.closed), func.sum(c.total), func.sum(c.done), left, func.sum(c.seconds))
    rows = connection.execute(
        select(c.slot, c.set, c.account, *sums).group_by(c.slot, c.set, c.account).order_by(c.slot)
    )
    return [Share(row[0], row[1], row[2], *(int(value) for value in row[3:])) for row in rows]


def assigned_questions(connection: Connection) -> int:
    """How many questions with items are assigned to somebody, or open to all."""
    c = table.c
    return int(connection.execute(select(func.count(c.question.distinct())).where(c.total > 0)).scalar_one())


def questions_in(connection: Connection, state: State) -> set[str]:
    """The questions in a state: open (not finished), begun, waiting (nothing judged yet), finished."""
    c = table.c
    open_ones = func.count() - func.count(c.closed)
    judged = func.sum(c.done)
    having: Mapping[State, ColumnElement[bool]] = {
        "open": open_ones > 0,
        "begun": (open_ones > 0) & (judged > 0),
        "waiting": (open_ones > 0) & (judged == 0),
        "finished": open_ones == 0,
    }
    return set(connection.execute(select(c.question).group_by(c.question).having(having[state])).scalars())


def questions_with(connection: Connection, account: int | None) -> set[str]:
    """The questions that somebody judges; None: those with a slot that is open to all."""
    c = table.c
    whose = c.account.is_(None) if account is None else c.account == account
    return set(connection.execute(select(c.question).where(whose)).scalars())


def all_assigned(connection: Connection) -> set[str]:
    """The questions with any assignment."""
    return set(connection.execute(select(table.c.question).distinct()).scalars())


def questions_by(connection: Connection, measure: Literal["left", "spent"]) -> list[str]:
    """Assigned questions, those with the most left to judge, or the most time spent on them, first."""
    c = table.c
    left = func.sum(case((c.closed.is_(None), c.total - c.done), else_=0))
    order = left if measure == "left" else func.sum(c.seconds)
    rows = connection.execute(select(c.question).group_by(c.question).order_by(order.desc(), c.question))
    return list(rows.scalars())


def assignments_for(connection: Connection, questions: Sequence[str]) -> dict[str, list[Assignment]]:
    """The assignments of some questions, by slot."""
    names = ("id", "question", "slot", "set", "account", "step", "total", "done", "closed", "seconds")
    found: dict[str, list[Assignment]] = {}
    for some in in_parts(questions):
        query = select(*(table.c[name] for name in names)).where(table.c.question.in_(some)).order_by(table.c.slot)
        for row in connection.execute(query):
            found.setdefault(row.question, []).append(Assignment(*row))
    return found


def hand_over(
    connection: Connection, questions: TestSet, source: int | None, targets: Sequence[int], *, by: int | None
) -> tuple[int, int]:
    """Give the unfinished work of somebody (None: what is open to all) to others; without any, to whoever asks.

    A series stays together; whoever has the least left is next. Returns how many were given, and how many stay because
    everybody else judges the question already.
    """
    c = table.c
    if source in targets:
        raise UsageError("the work would stay with the same person; choose others")
    keep_others_out(connection)
    whose = c.account.is_(None) if source is None else c.account == source
    columns = (c.id, c.question, c.slot, (c.total - c.done).label("left"))
    rows = connection.execute(select(*columns).where(whose, c.closed.is_(None)).order_by(c.id)).all()
    series = {one.id: one.series or one.id for one in questions}
    groups: dict[tuple[int, str], list[Any]] = {}
    for row in rows:
        groups.setdefault((row.slot, series.get(row.question, row.question)), []).append(row)
    on = {name: {one.account for one in found} for name, found in _assigned(connection, rows).items()}
    load = dict.fromkeys(targets, 0)
    for share in shares(connection):
        if share.account in load:
            load[share.account] += share.left
    choose = _chooser(targets, on, load)
    given = 0
    for group in groups.values():
        given += _give(connection, group, choose, on, by=by)
    note_action(connection, "hand-over", account=by, before=source, to=list(targets), assignments=given)
    return given, len(rows) - given


def _assigned(connection: Connection, rows: Sequence[Any]) -> dict[str, list[Assignment]]:
    return assignments_for(connection, list(dict.fromkeys(row.question for row in rows)))


# From rows of assignments to whoever takes them (None: whoever asks); False where nobody can.
Chooser = Callable[[Sequence[Any]], "tuple[bool, int | None]"]


def _chooser(targets: Sequence[int], on: Mapping[str, set[int | None]], load: dict[int, int]) -> Chooser:
    """Choose the one with the least to do who judges none of the questions."""

    def choose(rows: Sequence[Any]) -> tuple[bool, int | None]:
        if not targets:
            return True, None
        free = [one for one in targets if not any(one in on.get(row.question, ()) for row in rows)]
        if not free:
            return False, None
        chosen = min(free, key=lambda one: load[one])
        load[chosen] += sum(row.left for row in rows)
        return True, chosen

    return choose


def _give(
    connection: Connection, group: Sequence[Any], choose: Chooser, on: dict[str, set[int | None]], *, by: int | None
) -> int:
    """Give a series to one person; where nobody can take all of it, its questions one by one."""
    possible, taker = choose(group)
    given = 0
    for row in group:
        able, account = (possible, taker) if possible else choose([row])
        if able:
            reassign(connection, row.id, account, by=by)
            on.setdefault(row.question, set()).add(account)
            given += 1
    return given
