"""How much of an item, and of a question, is judged: what the counts of assignments rest on.

Assignments count decisions and not items: a list of ten elements takes ten, an answer one for each nugget.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select, update

from qassay.judging import KINDS, Item, Part
from qassay.judging.items import parts_of
from qassay.store.acts import Act
from qassay.store.adjudication.settling import settle
from qassay.store.assignment.assignments import Assignment, lock_assignments
from qassay.store.judging.judgments import rows_of_kind, versions
from qassay.store.judging.nuggets import list_for
from qassay.store.pool.items import items_of
from qassay.store.schema import assignment as assignment_table
from qassay.store.schema import current_judgment
from qassay.store.settings import forget_settled


@dataclass(frozen=True, slots=True)
class DecisionCount:
    """The decisions that an item takes, and how many of them are made."""

    needed: int
    made: int

    @property
    def complete(self) -> bool:
        """Whether every part that needs a verdict has one."""
        return self.made == self.needed


@dataclass(frozen=True, slots=True)
class OpenWork:
    """The open work of a set on an item: whether it needs any, subjects without a verdict, a version asked for."""

    needs: bool
    missing: frozenset[str]
    version: int

    @property
    def complete(self) -> bool:
        """Whether every part that needs a verdict has one."""
        return self.needs and not self.missing


def nuggets_for(connection: Connection, set_name: str, item: Item) -> list[str]:
    """Ids of the nuggets that a judgment set has for an item; none where its kind takes none."""
    if not KINDS[item.kind].by_nuggets:
        return []
    return [nugget.nugget for nugget in list_for(connection, set_name, item.question)[1]]


def parts_for(connection: Connection, set_name: str, item: Item, assessor: str | None) -> list[Part]:
    """The parts of an item as a judgment set judges them."""
    return parts_of(item, nuggets=nuggets_for(connection, set_name, item), assessor=assessor)


def is_complete(connection: Connection, set_name: str, parts: Sequence[Part]) -> bool:
    """Whether every part that needs a verdict has one."""
    return look(connection, set_name, parts).complete


def look(connection: Connection, set_name: str, parts: Sequence[Part], also: str | None = None) -> OpenWork:
    """The judgments of a set on the parts of an item, and on one subject besides, in one query."""
    needed = {part.subject for part in parts if part.required}
    found_versions = versions(connection, set_name, needed if also is None else {*needed, also})
    missing = {subject for subject in needed if not found_versions.get(subject, (0, False))[1]}
    version = found_versions.get(also, (0, False))[0] if also is not None else 0
    opinion = next((part for part in parts if KINDS[part.kind].by_assessor), None)
    if opinion is not None and missing:
        question, run = str(opinion.row["question"]), str(opinion.row["run"])
        missing = set() if run in judged_runs(connection, set_name, question, opinion.kind) else missing
    return OpenWork(bool(needed), frozenset(missing), version)


def judged_runs(connection: Connection, set_name: str, question: str, kind: str) -> set[str]:
    """The runs that a set has judged, by any assessor: work that changed hands is not done twice."""
    return {str(row["run"]) for _, row in rows_of_kind(connection, set_name, question, kind)}


def count_decisions(connection: Connection, assignment: Assignment, items: Sequence[Item]) -> list[DecisionCount]:
    """The decisions on each item of an assignment: a few queries for all of them.

    Where a subject names its assessor, what one assessor of a set has judged is done for those who go on with it.
    """
    c = current_judgment.c
    conditions = (c.question == assignment.question, c.set == assignment.set, c.body.is_not(None))
    subjects = set(connection.execute(select(c.subject).where(*conditions)).scalars())
    bound = next((item for item in items if KINDS[item.kind].by_nuggets), None)
    nuggets = nuggets_for(connection, assignment.set, bound) if bound is not None else []
    judged = {
        name: judged_runs(connection, assignment.set, assignment.question, name)
        for name in {item.kind for item in items}
        if KINDS[name].by_assessor
    }
    return [
        DecisionCount(1, int(str(item.run) in judged[item.kind]))
        if item.kind in judged
        else _decisions(parts_of(item, nuggets=nuggets), subjects)
        for item in items
    ]


def completed(connection: Connection, assignment: Assignment, items: Sequence[Item]) -> list[bool]:
    """Which of the items of an assignment need nothing more."""
    return [decisions.complete for decisions in count_decisions(connection, assignment, items)]


def recount(act: Act, assignment: Assignment) -> tuple[int, int, bool]:
    """Count the decisions of an assignment again, after its nuggets have changed, or to close it."""
    assignments = lock_assignments(act.connection, assignment.question)
    current = next((other for other in assignments if other.id == assignment.id), assignment)
    items = items_of(act.connection, assignment.question)
    done, total = _sums(act.connection, current, items)
    closed = (current.closed or act.at) if done >= total else None
    _keep(act.connection, current, done, total, closed)
    others_closed = all(other.closed for other in assignments if other.id != current.id)
    _settle_or_wait(act, assignment.question, is_closed=closed is not None and others_closed)
    return done, total, closed is not None


def recount_question(act: Act, question: str) -> None:
    """Count all assignments of a question again, after its pool has changed."""
    assignments = lock_assignments(act.connection, question)
    items = items_of(act.connection, question)
    closed = []
    for assignment in assignments:
        done, total = _sums(act.connection, assignment, items)
        closed.append(closed_at(assignment, done, total, act.at))
        _keep(act.connection, assignment, done, total, closed[-1])
    _settle_or_wait(act, question, is_closed=bool(closed) and all(closed))


def closed_at(assignment: Assignment, done: int, total: int, at: str) -> str | None:
    """When an assignment was finished, after its counts have changed: it closes with its last item.

    One that was opened again while everything in it was judged stays open until its assessor says so.
    """
    if done < total:
        return None
    return assignment.closed or (at if assignment.done < assignment.total else None)


def _keep(connection: Connection, assignment: Assignment, done: int, total: int, closed: str | None) -> None:
    if (done, total, closed) != (assignment.done, assignment.total, assignment.closed):
        values = {"done": done, "total": total, "closed": closed}
        connection.execute(update(assignment_table).where(assignment_table.c.id == assignment.id).values(values))


def _settle_or_wait(act: Act, question: str, *, is_closed: bool) -> None:
    """Settle again: agreement may have changed with the counts, or with the nuggets."""
    if is_closed:
        settle(act, question)
    else:
        forget_settled(act.connection, question)


def _sums(connection: Connection, assignment: Assignment, items: Sequence[Item]) -> tuple[int, int]:
    """The decisions of an assignment that are made, and all of them."""
    counts = count_decisions(connection, assignment, items)
    return sum(decisions.made for decisions in counts), sum(decisions.needed for decisions in counts)


def _decisions(parts: Sequence[Part], subjects: Collection[str]) -> DecisionCount:
    """The decisions on some parts; an item that waits for its nuggets counts as one to be made."""
    needed = [part.subject for part in parts if part.required]
    return DecisionCount(len(needed) or 1, sum(subject in subjects for subject in needed))
