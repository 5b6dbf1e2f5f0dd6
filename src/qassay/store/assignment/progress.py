"""How far judging is: the work of each assessor, the state of each question, and what is not complete.

`question_progress` is kept by the store, so that no page counts the pool. The work of an assessor is summed up when it
is asked for. Why: see `qassay.store.schema`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Column, ColumnElement, Connection, case, func, not_, or_, select

from qassay.errors import UsageError
from qassay.questions import TestSet
from qassay.store.acts import Act
from qassay.store.assignment.assignments import Assignment, keep_others_out, reassign
from qassay.store.development.answers import in_parts
from qassay.store.schema import ASSIGNED, OPEN, UNASSIGNED, UNJUDGED, UNRULED, question_progress, workload
from qassay.store.schema import assignment as table
from qassay.tables import plural

# What a question lacks that is not finished.
_UNFINISHED = or_(OPEN, UNASSIGNED, UNRULED)

# ---- the work of each assessor --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Workload:
    """The work of one account (None: nobody's yet) in one slot, summed up: `total`, `done` and `left` are decisions."""

    slot: int
    set: str
    account: int | None
    questions: int
    closed: int
    total: int
    done: int
    # Decisions still to be made in assignments that are not closed.
    left: int
    seconds: int
    # The decisions of `done` that took those seconds: judgments from a file took none.
    timed: int


def workloads(connection: Connection, account: int | None = None) -> list[Workload]:
    """All work by slot and account, or that of one account."""
    c = workload.c
    query = select(workload).where(c.questions > 0).order_by(c.slot, c.set, c.account)
    conditions = (c.account == account,) if account is not None else ()
    rows = connection.execute(query.where(*conditions))
    return [Workload(row.slot, row.set, row.account or None, *row[3:]) for row in rows]


def is_assigned(connection: Connection, set_name: str) -> bool:
    """Whether people judge for this judgment set here."""
    return connection.execute(select(table.c.id).where(table.c.set == set_name).limit(1)).first() is not None


def hand_over(act: Act, questions: TestSet, source: int | None, targets: Sequence[int]) -> tuple[int, int]:
    """Give the unfinished work of an account (None: work open to all) to others; without any, to anyone who asks.

    A series stays together; the person with the least left is next. Returns how many assignments were given, and how
    many stay because all others already judge the question.
    """
    connection, c = act.connection, table.c
    if source in targets:
        raise UsageError("the work would stay with the same person; choose others")
    keep_others_out(connection)
    whose = c.account.is_(None) if source is None else c.account == source
    columns = (c.id, c.question, c.slot, (c.total - c.done).label("left"))
    rows = connection.execute(select(*columns).where(whose, c.closed.is_(None)).order_by(c.id)).all()
    series = {question.id: question.series or question.id for question in questions}
    groups: dict[tuple[int, str], list[Any]] = {}
    for row in rows:
        groups.setdefault((row.slot, series.get(row.question, row.question)), []).append(row)
    assigned = assignments_for(connection, list(dict.fromkeys(row.question for row in rows)))
    judges = {
        question: {assignment.account for assignment in assignments} for question, assignments in assigned.items()
    }
    load = dict.fromkeys(targets, 0)
    for work in workloads(connection):
        if work.account in load:
            load[work.account] += work.left
    choose = _chooser(targets, judges, load)
    count = 0
    for group in groups.values():
        count += _give(act, group, choose, judges)
    act.note("hand-over", before=source, to=list(targets), assignments=count)
    return count, len(rows) - count


# From rows of assignments to the person who takes them (None: anyone who asks); False where nobody can.
Chooser = Callable[[Sequence[Any]], "tuple[bool, int | None]"]


def _chooser(targets: Sequence[int], judges: Mapping[str, set[int | None]], load: dict[int, int]) -> Chooser:
    """Choose the person with the least to do who judges none of the questions."""

    def choose(rows: Sequence[Any]) -> tuple[bool, int | None]:
        if not targets:
            return True, None
        free = [target for target in targets if not any(target in judges.get(row.question, ()) for row in rows)]
        if not free:
            return False, None
        chosen = min(free, key=lambda target: load[target])
        load[chosen] += sum(row.left for row in rows)
        return True, chosen

    return choose


def _give(act: Act, group: Sequence[Any], choose: Chooser, judges: dict[str, set[int | None]]) -> int:
    """Give a series to one person; where nobody can take all of it, its questions one by one."""
    possible, taker = choose(group)
    count = 0
    for row in group:
        able, account = (possible, taker) if possible else choose([row])
        if able:
            reassign(act, row.id, account)
            judges.setdefault(row.question, set()).add(account)
            count += 1
    return count


# ---- the state of each question -------------------------------------------------------------------------------------

State = Literal["all", "open", "begun", "waiting", "finished", "unassigned", "nothing"]
Sort = Literal["order", "left", "spent"]
_STATES: Mapping[State, tuple[ColumnElement[bool], ...]] = {
    "all": (),
    "open": (OPEN,),
    "begun": (OPEN, question_progress.c.done > 0),
    "waiting": (OPEN, question_progress.c.done == 0),
    "finished": (ASSIGNED, question_progress.c.open == 0),
    "unassigned": (UNASSIGNED,),
    "nothing": (~question_progress.c.pooled,),
}


def find_questions(
    connection: Connection,
    *,
    state: State = "all",
    person: int | Literal["anybody"] | None = "anybody",
    sort: Sort = "order",
    first: int = 0,
    limit: int | None = None,
) -> tuple[list[str], int]:
    """Questions of the test set in a state and an order, `limit` of them from `first` on; and the number of all.

    States are open (not finished), begun, waiting (nothing judged yet), finished, unassigned, and nothing (to judge).
    `person` is an account that judges them, or None: one slot is open to all. The first are those with the most left to
    judge, or with the most time spent on them.
    """
    c = question_progress.c
    conditions = [c.ordinal.is_not(None), *_STATES[state]]
    if person != "anybody":
        by_person = table.c.account.is_(None) if person is None else table.c.account == person
        conditions.append(select(table.c.id).where(table.c.question == c.question, by_person).exists())
    by = {"left": c.waiting, "spent": c.seconds}
    order = [] if sort == "order" else [case((ASSIGNED, by[sort]), else_=-1).desc(), case((ASSIGNED, c.question))]
    rows = select(c.question).where(*conditions).order_by(*order, c.ordinal, c.question)
    names = list(connection.execute(rows.offset(first).limit(limit)).scalars())
    return names, len(names) if limit is None else _count(connection, *conditions)


def unassigned_questions(connection: Connection) -> int:
    """How many questions have items to judge and no assessor."""
    return _count(connection, UNASSIGNED)


def assignments_for(connection: Connection, questions: Sequence[str]) -> dict[str, list[Assignment]]:
    """The assignments of some questions, by slot."""
    names = ("id", "question", "slot", "set", "account", "step", "total", "done", "closed", "seconds")
    by_question: dict[str, list[Assignment]] = {}
    for part in in_parts(questions):
        query = select(*(table.c[name] for name in names)).where(table.c.question.in_(part)).order_by(table.c.slot)
        for row in connection.execute(query):
            by_question.setdefault(row.question, []).append(Assignment(*row))
    return by_question


def _count(connection: Connection, *conditions: ColumnElement[bool]) -> int:
    """How many questions meet the conditions: most have an index of just those questions."""
    return int(connection.execute(select(func.count()).select_from(question_progress).where(*conditions)).scalar_one())


# ---- what is not complete -------------------------------------------------------------------------------------------

# This number of questions is named; the others are counted.
NAMED = 30


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question on which somebody's work is open: how many assessors', and how many decisions in all."""

    question: str
    assessors: int
    decisions: int


@dataclass(frozen=True, slots=True)
class Completeness:
    """The completeness gate: open work, and questions that nobody was given, nobody judged, or nobody ruled on.

    Nothing is scored while assigned work is open, and forgotten questions are named: TREC 2004 lost a whole series
    because one of its questions was never judged. Lists name the first few; the numbers count all. Only open work keeps
    numbers back: what a key lacks stops scoring by itself.
    """

    open_decisions: int
    open_assignments: int
    open_questions: int
    unassigned_questions: int
    unjudged_questions: int
    unruled_questions: int
    open: tuple[OpenQuestion, ...] = ()
    unassigned: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    unruled: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether assigned work is open."""
        return self.open_assignments > 0

    @property
    def mark(self) -> str | None:
        """The mark of every number while assigned work is open."""
        if not self.is_open:
            return None
        return f"{plural(self.open_decisions, 'decision')} open"


def read_gate(connection: Connection) -> Completeness:
    """Read what is not complete in the evaluation; the first few questions are named."""
    c = question_progress.c
    sums = select(func.sum(c.waiting), func.sum(c.open), func.sum(c.assessors))
    waiting, assignments, assigned = (int(value or 0) for value in connection.execute(sums).one())
    rows = select(c.question, c.open, c.waiting).where(OPEN, c.ordinal.is_not(None)).order_by(c.ordinal).limit(NAMED)
    unjudged, first_unjudged = _lacking(connection, UNJUDGED, c.ordinal)
    unassigned, first_unassigned = _lacking(connection, UNASSIGNED, c.ordinal) if assigned else (0, ())
    unruled, first_unruled = _lacking(connection, UNRULED, c.first)
    return Completeness(
        open_decisions=waiting,
        open_assignments=assignments,
        open_questions=_count(connection, OPEN) if assignments else 0,
        unassigned_questions=unassigned,
        unjudged_questions=unjudged,
        unruled_questions=unruled,
        open=tuple(OpenQuestion(*row) for row in connection.execute(rows)) if assignments else (),
        unassigned=first_unassigned,
        unjudged=first_unjudged,
        unruled=first_unruled,
    )


def finished_questions(connection: Connection, gate: Completeness) -> int:
    """How many questions are finished: without open work, assigned, and without disagreements to rule on.

    A question lacks at most one of these, and the gate has counted what lacks each. The others are finished, except for
    those outside the test set, which an index finds.
    """
    unfinished = gate.open_questions + gate.unassigned_questions + gate.unruled_questions
    outside = _count(connection, question_progress.c.ordinal.is_(None), not_(_UNFINISHED))
    return _count(connection) - unfinished - outside


def unfinished_questions(connection: Connection) -> tuple[str, ...]:
    """The questions that are not finished."""
    c = question_progress.c
    in_test_set = c.ordinal.is_not(None)
    return tuple(connection.execute(select(c.question).where(in_test_set, _UNFINISHED).order_by(c.ordinal)).scalars())


def is_open(connection: Connection) -> bool:
    """Whether assigned work is open."""
    return connection.execute(select(question_progress.c.question).where(OPEN).limit(1)).first() is not None


def _lacking(connection: Connection, condition: ColumnElement[bool], order: Column[int]) -> tuple[int, tuple[str, ...]]:
    """How many questions lack something, and the first of them."""
    count = _count(connection, condition)
    first = select(question_progress.c.question).where(condition).order_by(order).limit(NAMED)
    return count, tuple(connection.execute(first).scalars()) if count else ()
