"""One judgment of an assessor: checked, appended, counted; all of it in the transaction that is answered. And its
undoing.

An act that changes several subjects writes each under its idempotency key and a suffix. Undoing it puts every one of
them back to what was current before, in new rows. Where one of them says something else by now, nothing is undone; what
was changed and put back in the meantime is as it was, so that one act after the other can be undone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, or_, select, update

from qassay.errors import QassayError
from qassay.judging import ADJUDICATED, KINDS, Item, Part, Verdict
from qassay.judging.items import check_verdict, parts_of, row_of
from qassay.store.acts import Act
from qassay.store.adjudication.settling import item_states, settle_item
from qassay.store.assignment.assignments import Assignment, is_closed, lock_assignments
from qassay.store.assignment.counting import OpenWork, closed_at, is_complete, look, nuggets_for
from qassay.store.judging import judgments
from qassay.store.judging.judgments import Judgment
from qassay.store.judging.nuggets import NuggetConflictError, as_nugget, write_nugget
from qassay.store.schema import assignment as assignment_table
from qassay.store.schema import judgment, nugget

# A pause at the desk is not time spent judging.
LONGEST_SECONDS = 300


class LockedError(QassayError):
    """The question is not open to this assessor: an adjudicator has ruled on it, or somebody else judges it now."""


@dataclass(frozen=True, slots=True)
class SavedJudgment:
    """The result of a save: the judgment, and where its item and its question now are."""

    saved: Judgment
    complete: bool
    done: int
    total: int
    closed: bool


def decide(
    act: Act,
    assignment: Assignment,
    item: Item,
    part: Part,
    verdict: Verdict,
    *,
    expected: int,
    seconds: int = 0,
    held: Sequence[Assignment] | None = None,
) -> SavedJudgment:
    """Save a verdict on a part of an item; `expected` is the version that the assessor has seen.

    `held` are the assignments of the question, where the caller has locked them.
    """
    assignments = lock_assignments(act.connection, assignment.question) if held is None else held
    row = row_of(part, verdict, assessor=act.name, at=act.at)
    save = _Save(item, part, verdict, row, row, expected, min(max(seconds, 0), LONGEST_SECONDS))
    return _save(act, save, assignments, assignment)


def undo(
    act: Act,
    assignment: Assignment,
    item: Item,
    part: Part,
    *,
    expected: int,
    to: int,
    held: Sequence[Assignment] | None = None,
) -> SavedJudgment:
    """Put back the judgment of an earlier version (0: none); the undoing is itself recorded."""
    assignments = lock_assignments(act.connection, assignment.question) if held is None else held
    history = judgments.history(act.connection, assignment.set, part.subject)
    body = judgments.body_at(history, to, assignment.question)
    row = dict(part.row) if body is None else body
    verdict = None if body is None else KINDS[part.kind].verdict(body)  # the rules may have changed since
    return _save(act, _Save(item, part, verdict, row, body, expected), assignments, assignment)


def is_locked(connection: Connection, question: str) -> bool:
    """Whether every assessor has finished the question and an adjudicator has ruled on something of it."""
    return is_closed(connection, question) and _is_ruled(connection, question)


def _is_ruled(connection: Connection, question: str) -> bool:
    return connection.execute(_RULED, {"asked": question}).first() is not None


def locked_among(connection: Connection, questions: Sequence[str]) -> set[str]:
    """Which of a page of questions are locked."""
    c = judgment.c
    ruled = select(c.question).where(c.question.in_(questions), c.set == ADJUDICATED, c.account.is_not(None)).distinct()
    a = assignment_table.c
    open_ = select(a.question).where(a.question.in_(questions), a.closed.is_(None))
    return {*connection.execute(ruled).scalars()} - {*connection.execute(open_).scalars()} if questions else set()


def check_open(act: Act, assignment: Assignment) -> None:
    """Hold the question, and refuse where it is not open to this assessor."""
    _own(lock_assignments(act.connection, assignment.question), assignment, act)
    if is_locked(act.connection, assignment.question):
        raise LockedError(_ruled(assignment.question))


@dataclass(frozen=True, slots=True)
class _Save:
    """A judgment to append: a body of None, which has no verdict, undoes the judgment of the subject in `row`."""

    item: Item
    part: Part
    verdict: Verdict | None
    row: Mapping[str, Any]
    body: Mapping[str, Any] | None
    expected: int
    seconds: int = 0


def _save(act: Act, save: _Save, assignments: Sequence[Assignment], assignment: Assignment) -> SavedJudgment:
    """Append while the question is locked; the save that completes the last item of the last assessor settles it."""
    nuggets = nuggets_for(act.connection, assignment.set, save.item)
    parts = parts_of(save.item, nuggets=nuggets, assessor=act.name)
    before = look(act.connection, assignment.set, parts, also=save.part.subject)
    place = (assignment.set, save.part.kind, save.row, save.body)
    # A save that was made before has made the version that it expects an old one.
    if before.version != save.expected and (earlier := judgments.repeated(act, *place)):
        return _again(act, earlier, assignments, assignment, save.item, nuggets)
    act.check_key()
    if save.verdict is not None:
        check_verdict(save.part, save.verdict, act.task, nuggets=nuggets)
    current = _own(assignments, assignment, act)
    sets = [other.set for other in assignments]
    is_settled = all(other.closed for other in assignments)
    if is_settled and _is_ruled(act.connection, assignment.question):
        raise LockedError(_ruled(assignment.question))
    states = item_states(act, save.item, sets) if is_settled else None
    saved = judgments.append_next(act, *place, current=before.version, expected=save.expected)
    if saved.version <= before.version:  # sent again as if it had seen what it saved
        return _again(act, saved, assignments, assignment, save.item, nuggets)
    missing = _missing_after(act.connection, assignment.set, parts, before, save)
    done = current.done + len(before.missing) - len(missing)
    closed = closed_at(current, done, current.total, act.at)
    counts = {"new_done": done, "new_closed": closed, "new_seconds": current.seconds + save.seconds}
    act.connection.execute(_COUNTS, {"number": current.id, **counts})
    if closed and all(other.closed for other in assignments if other.id != current.id):
        settle_item(act, save.item, sets, states)
    return SavedJudgment(saved, before.needs and not missing, done, current.total, closed is not None)


def _missing_after(
    connection: Connection, set_name: str, parts: Sequence[Part], before: OpenWork, save: _Save
) -> frozenset[str]:
    """The subjects of the item that have no verdict now."""
    if save.body is not None:
        return before.missing - {save.part.subject}
    return look(connection, set_name, parts).missing if save.part.required else before.missing


_c = assignment_table.c
_COUNTS = (
    update(assignment_table)
    .where(_c.id == bindparam("number"))
    .values(done=bindparam("new_done"), closed=bindparam("new_closed"), seconds=bindparam("new_seconds"), leased=None)
)
_RULED = (
    select(judgment.c.id)
    .where(judgment.c.question == bindparam("asked"), judgment.c.set == ADJUDICATED, judgment.c.account.is_not(None))
    .limit(1)
)


def _ruled(question: str) -> str:
    return f"an adjudicator has decided question {question}; ask an organiser to open it again"


def _own(assignments: Sequence[Assignment], assignment: Assignment, act: Act) -> Assignment:
    """The assignment as it is now that nobody else can change it."""
    current = next((other for other in assignments if other.id == assignment.id), None)
    if current is None or current.account != act.account:
        raise LockedError(f"question {assignment.question} is not assigned to you any more; nothing was saved")
    return current


def _again(
    act: Act,
    earlier: Judgment,
    assignments: Sequence[Assignment],
    assignment: Assignment,
    item: Item,
    nuggets: Sequence[str],
) -> SavedJudgment:
    """The answer to a save that was sent again; it does not say how far another person is who judges it now."""
    current = next((other for other in assignments if other.id == assignment.id), assignment)
    if current.account != earlier.account:
        return SavedJudgment(earlier, complete=True, done=0, total=current.total, closed=False)
    complete = is_complete(act.connection, assignment.set, parts_of(item, nuggets=nuggets))
    return SavedJudgment(earlier, complete, current.done, current.total, current.closed is not None)


# ---- undoing acts that changed several subjects ---------------------------------------------------------------------


def undo_judgments(act: Act, set_name: str, question: str, *, of: str) -> int:
    """Put the judgments that an act wrote (by its key `of`) back to what was current before; returns how many rows."""
    c = judgment.c
    rows = act.connection.execute(
        select(judgment).where(c.set == set_name, c.question == question, _written_by(c.key, of)).order_by(c.id)
    ).all()
    # An act may write a subject twice: a link that went, and a response that is to be judged again.
    written: dict[str, tuple[Any, Any]] = {}
    for row in rows:
        written[row.subject] = (written[row.subject][0] if row.subject in written else row, row)
    for number, (subject, (first, last)) in enumerate(written.items()):
        history = judgments.history(act.connection, set_name, subject)
        past = {saved.version: saved.body for saved in history}
        before = past.get(first.version - 1)
        if history[-1].body != past[last.version]:
            raise judgments.ConflictError(history[-1])
        # A row names its subject even where it is undone: any row of its history does.
        naming = before or next(body for body in past.values() if body is not None)
        step = act.step(f"j{number}")
        judgments.append(step, set_name, first.kind, naming, expected=history[-1].version, undone=before is None)
    return len(rows)


def undo_nuggets(act: Act, list_name: str, question: str, *, of: str) -> int:
    """Put the nuggets that an act wrote (by its key `of`) back to what they were before; returns how many rows."""
    c = nugget.c
    conditions = (c.list == list_name, c.question == question)
    rows = act.connection.execute(select(nugget).where(*conditions, _written_by(c.key, of)).order_by(c.id)).all()
    # An act may write a nugget twice: what it made of it, and its place.
    written: dict[str, tuple[Any, Any]] = {}
    for row in rows:
        written[row.nugget] = (written[row.nugget][0] if row.nugget in written else row, row)
    for number, (name, (first, last)) in enumerate(written.items()):
        past = {row.version: row for row in act.connection.execute(select(nugget).where(*conditions, c.nugget == name))}
        now_there, before = past[max(past)], past.get(first.version - 1)
        if (_body(now_there), now_there.ordinal) != (_body(last), last.ordinal):
            raise NuggetConflictError(as_nugget(now_there))
        write_nugget(
            act.step(f"n{number}"),
            list_name,
            question,
            name,
            _body(before),
            ordinal=before.ordinal if before is not None else first.ordinal,
            expected=now_there.version,
        )
    return len(rows)


def _body(row: Any) -> dict[str, Any] | None:
    return None if row is None else judgments.decoded(row.body)


def _written_by(column: Any, key: str) -> ColumnElement[bool]:
    return or_(column == key, column.startswith(f"{key}.", autoescape=True))
