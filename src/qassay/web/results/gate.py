"""The completeness gate: nothing is scored while assigned work is open, and what was forgotten is named.

TREC 2004 lost a whole series because one of its questions was never judged.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, exists, func, select

from qassay.store.adjudication.settling import progress
from qassay.store.schema import assignment, item, question, standing

# So many questions are named; the others are counted.
NAMED = 30


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question on which somebody's work is open: how many assessors', and how many items in all."""

    question: str
    assessors: int
    items: int


@dataclass(frozen=True, slots=True)
class Gate:
    """What is not complete: work that is open, questions that nobody was given, nobody judged, nobody ruled on.

    Lists name the first few; the numbers count all. Only open work keeps numbers back: what a key lacks stops scoring
    by itself.
    """

    open_items: int
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
        """What every number says while assigned work is open."""
        if not self.is_open:
            return None
        return f"{self.open_items:,} {'item' if self.open_items == 1 else 'items'} open"


def look(connection: Connection) -> Gate:
    """What of the evaluation is not complete; the database counts, and names the first few."""
    a = assignment.c
    sums = select(func.coalesce(func.sum(a.total - a.done), 0), func.count(), func.count(a.question.distinct()))
    items, assignments, questions = connection.execute(sums.where(a.closed.is_(None))).one()
    ordered = (
        select(a.question, func.count(), func.sum(a.total - a.done))
        .join(question, question.c.id == a.question)
        .where(a.closed.is_(None))
        .group_by(a.question, question.c.ordinal)
        .order_by(question.c.ordinal)
        .limit(NAMED)
    )
    found = [OpenQuestion(row[0], row[1], int(row[2])) for row in connection.execute(ordered)]
    said = exists().where(standing.c.question == question.c.id, standing.c.body.is_not(None))
    unjudged, first_unjudged = _pooled(connection, ~said)
    unassigned, first_unassigned = 0, tuple[str, ...]()
    if connection.execute(select(a.id).limit(1)).first() is not None:
        unassigned, first_unassigned = _pooled(connection, ~exists().where(a.question == question.c.id))
    unruled = [one.question for one in progress(connection) if one.settled is not None and one.settled.left]
    return Gate(
        open_items=int(items),
        open_assignments=assignments,
        open_questions=questions,
        unassigned_questions=unassigned,
        unjudged_questions=unjudged,
        unruled_questions=len(unruled),
        open=tuple(found),
        unassigned=first_unassigned,
        unjudged=first_unjudged,
        unruled=tuple(unruled[:NAMED]),
    )


def is_open(connection: Connection) -> bool:
    """Whether assigned work is open."""
    return connection.execute(select(assignment.c.id).where(assignment.c.closed.is_(None)).limit(1)).first() is not None


def _pooled(connection: Connection, lacking: ColumnElement[bool]) -> tuple[int, tuple[str, ...]]:
    """How many questions have something to judge and lack something, and the first of them in their order."""
    # Asked question by question, one look at an index each: a list of all distinct ones would read every item.
    pooled = exists().where(item.c.question == question.c.id, item.c.active)
    wanted = (~question.c.draft, lacking, pooled)
    count = connection.execute(select(func.count()).select_from(question).where(*wanted)).scalar_one()
    first = select(question.c.id).where(*wanted).order_by(question.c.ordinal).limit(NAMED)
    return count, tuple(connection.execute(first).scalars()) if count else ()
