"""The completeness gate: nothing is scored while assigned work is open, and what was forgotten is named.

TREC 2004 lost a whole series because one of its questions was never judged.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Table, exists, func, select

from qassay.store.schema import assignment, item, question, standing
from qassay.store.settling import progress

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
    """What of the evaluation is not complete."""
    a = assignment.c
    left = func.sum(a.total - a.done)
    ordered = (
        select(a.question, func.count(), left)
        .join(question, question.c.id == a.question)
        .where(a.closed.is_(None))
        .group_by(a.question, question.c.ordinal)
        .order_by(question.c.ordinal)
    )
    found = [OpenQuestion(row[0], row[1], int(row[2])) for row in connection.execute(ordered)]
    unjudged = _pooled(connection, ~_exists(standing, standing.c.body.is_not(None)))
    given_out = connection.execute(select(a.id).limit(1)).first() is not None
    unassigned = _pooled(connection, ~_exists(assignment)) if given_out else []
    unruled = [one.question for one in progress(connection) if one.settled is not None and one.settled.left]
    return Gate(
        open_items=sum(one.items for one in found),
        open_assignments=sum(one.assessors for one in found),
        open_questions=len(found),
        unassigned_questions=len(unassigned),
        unjudged_questions=len(unjudged),
        unruled_questions=len(unruled),
        open=tuple(found[:NAMED]),
        unassigned=tuple(unassigned[:NAMED]),
        unjudged=tuple(unjudged[:NAMED]),
        unruled=tuple(unruled[:NAMED]),
    )


def is_open(connection: Connection) -> bool:
    """Whether assigned work is open."""
    return connection.execute(select(assignment.c.id).where(assignment.c.closed.is_(None)).limit(1)).first() is not None


def _pooled(connection: Connection, lacking: ColumnElement[bool]) -> list[str]:
    """The questions that have something to judge and lack something, in their order."""
    asked = select(question.c.id).where(~question.c.draft, _exists(item, item.c.active), lacking)
    return list(connection.execute(asked.order_by(question.c.ordinal)).scalars())


def _exists(table: Table, *more: ColumnElement[bool]) -> ColumnElement[bool]:
    """Whether a table has a row of the question: one look into its index, however many rows there are."""
    return exists().where(table.c.question == question.c.id, *more)
