"""How far judging is, by assessor and by question: read from sums that the store keeps, however many questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, case, func, select

from qassay.errors import UsageError
from qassay.questions import TestSet
from qassay.store.assignment.assignments import Assignment, keep_others_out, reassign
from qassay.store.development.answers import in_parts
from qassay.store.schema import ASSIGNED, OPEN, UNASSIGNED, share, stage
from qassay.store.schema import assignment as table
from qassay.store.settings import note_action

State = Literal["all", "open", "begun", "waiting", "finished", "unassigned", "nothing"]
Sort = Literal["order", "left", "spent"]
_STATES: Mapping[State, tuple[ColumnElement[bool], ...]] = {
    "all": (),
    "open": (OPEN,),
    "begun": (OPEN, stage.c.done > 0),
    "waiting": (OPEN, stage.c.done == 0),
    "finished": (ASSIGNED, stage.c.open == 0),
    "unassigned": (UNASSIGNED,),
    "nothing": (~stage.c.pooled,),
}


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
    # What of `done` took those seconds: what came from a file took none.
    timed: int


def shares(connection: Connection, account: int | None = None) -> list[Share]:
    """All work by slot and account, or that of one account."""
    c = share.c
    sums = (c.questions, c.closed, c.total, c.done, c.waiting, c.seconds, c.timed)
    rows = select(c.slot, c.set, c.account, *sums).where(c.questions > 0).order_by(c.slot, c.set, c.account)
    own = (c.account == account,) if account is not None else ()
    return [_share(row) for row in connection.execute(rows.where(*own))]


def _share(row: Any) -> Share:
    slot, set_name, account, *sums = row
    return Share(slot, set_name, account or None, *sums)


def unassigned_questions(connection: Connection) -> int:
    """How many questions with something to judge nobody was given."""
    return int(connection.execute(select(func.count()).select_from(stage).where(UNASSIGNED)).scalar_one())


def find_questions(
    connection: Connection,
    *,
    state: State = "all",
    person: int | Literal["anybody"] | None = "anybody",
    sort: Sort = "order",
    first: int = 0,
    limit: int | None = None,
) -> tuple[list[str], int]:
    """Questions of the test set in a state, in an order, so many from one on; and how many there are in all.

    States are open (not finished), begun, waiting (nothing judged yet), finished, unassigned, and nothing (to judge).
    `person` is somebody who judges them, or None: one slot is open to all. The first are those with the most left to
    judge, or with the most time spent on them.
    """
    c = stage.c
    wanted = [c.ordinal.is_not(None), *_STATES[state]]
    if person != "anybody":
        given = table.c.account.is_(None) if person is None else table.c.account == person
        wanted.append(select(table.c.id).where(table.c.question == c.question, given).exists())
    by = {"left": c.waiting, "spent": c.seconds}
    order = [] if sort == "order" else [case((ASSIGNED, by[sort]), else_=-1).desc(), case((ASSIGNED, c.question))]
    rows = select(c.question).where(*wanted).order_by(*order, c.ordinal, c.question)
    found = list(connection.execute(rows.offset(first).limit(limit)).scalars())
    if limit is None:
        return found, len(found)
    return found, int(connection.execute(select(func.count()).select_from(stage).where(*wanted)).scalar_one())


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
    for one in shares(connection):
        if one.account in load:
            load[one.account] += one.left
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
