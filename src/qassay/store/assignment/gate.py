"""The completeness gate: nothing is scored while assigned work is open, and what was forgotten is named.

TREC 2004 lost a whole series because one of its questions was never judged.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Column, ColumnElement, Connection, func, select

from qassay.store.schema import OPEN, UNASSIGNED, UNJUDGED, UNRULED, share, stage

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
    """What of the evaluation is not complete, of sums that the store keeps; the first few are named."""
    sums = select(func.sum(share.c.waiting), func.sum(share.c.questions - share.c.closed), func.sum(share.c.questions))
    items, assignments, assigned = (int(value or 0) for value in connection.execute(sums).one())
    asked = stage.c.ordinal.is_not(None)
    ordered = select(stage.c.question, stage.c.open, stage.c.waiting).where(OPEN, asked).order_by(stage.c.ordinal)
    found = [OpenQuestion(*row) for row in connection.execute(ordered.limit(NAMED))] if assignments else []
    unjudged, first_unjudged = _lacking(connection, UNJUDGED, stage.c.ordinal)
    unassigned, first_unassigned = 0, tuple[str, ...]()
    if assigned:
        unassigned, first_unassigned = _lacking(connection, UNASSIGNED, stage.c.ordinal)
    unruled, first_unruled = _lacking(connection, UNRULED, stage.c.first)
    return Gate(
        open_items=items,
        open_assignments=assignments,
        open_questions=_count(connection, OPEN) if assignments else 0,
        unassigned_questions=unassigned,
        unjudged_questions=unjudged,
        unruled_questions=unruled,
        open=tuple(found),
        unassigned=first_unassigned,
        unjudged=first_unjudged,
        unruled=first_unruled,
    )


def is_open(connection: Connection) -> bool:
    """Whether assigned work is open."""
    return connection.execute(select(stage.c.question).where(OPEN).limit(1)).first() is not None


def is_assigned(connection: Connection, set_name: str) -> bool:
    """Whether a judgment set is that of people who judge here."""
    given = select(share.c.slot).where(share.c.set == set_name, share.c.questions > 0)
    return connection.execute(given.limit(1)).first() is not None


def _lacking(connection: Connection, what: ColumnElement[bool], order: Column[int]) -> tuple[int, tuple[str, ...]]:
    """How many questions lack something, and the first of them."""
    count = _count(connection, what)
    first = select(stage.c.question).where(what).order_by(order).limit(NAMED)
    return count, tuple(connection.execute(first).scalars()) if count else ()


def _count(connection: Connection, what: ColumnElement[bool]) -> int:
    """Counted over an index that holds nothing else."""
    return int(connection.execute(select(func.count()).select_from(stage).where(what)).scalar_one())
