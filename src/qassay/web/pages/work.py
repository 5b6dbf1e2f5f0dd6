"""An assessor's work: what is assigned, how far it is, and how long the rest may take."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from qassay.store.assignment.assignments import assignments_of, first_open, is_work_waiting, own_on, take
from qassay.store.assignment.progress import workloads
from qassay.store.judging.decisions import locked_among
from qassay.store.judging.flags import flags
from qassay.web.errors import Refusal
from qassay.web.judging import acting
from qassay.web.pages.flags import FlagView, flag_views, flagged_items
from qassay.web.progress import WorkProgress, progress_of
from qassay.web.questions import questions_of
from qassay.web.routing import ASSESSORS, Context, Router, ThePerson, TheSite

router = Router()
PIECES_A_PAGE = 100
MOST_FLAGS = 100


class Piece(Context):
    """One assigned question."""

    assignment: int
    question: str
    type: str
    text: str
    series: str | None
    target: str | None
    hypothesis: str | None
    done: int
    total: int
    closed: bool
    # An adjudicator has ruled on it: it takes no decisions.
    locked: bool


class OwnFlag(FlagView):
    """An answer that the assessor flagged, and where it is judged; None where it is no longer theirs."""

    assignment: int | None


class WorkPage(WorkProgress):
    """An assessor's work: a page of the questions, the sums of all."""

    pieces: list[Piece]
    page: int
    pages: int
    next: int | None
    waiting: bool
    # Answers that the assessor flagged, with the assignments that they are in.
    flags: list[OwnFlag]


class Taken(Context):
    """The assignment that somebody who asked for work was given."""

    assignment: int


@router.page("/work", template="work.html", roles=ASSESSORS)
def work(person: ThePerson, site: TheSite, page: Annotated[int, Query(ge=1, le=100_000)] = 1) -> WorkPage:
    """The questions assigned to the person who asks."""
    with site.store.read() as connection:
        work = workloads(connection, person.id)
        pages = max(1, -(-sum(workload.questions for workload in work) // PIECES_A_PAGE))
        page = min(page, pages)
        first = (page - 1) * PIECES_A_PAGE
        assigned = assignments_of(connection, person.id, first=first, limit=PIECES_A_PAGE, open_first=True)
        following = first_open(connection, person.id)
        waiting = is_work_waiting(connection, person.id)
        questions = questions_of(site, connection).shown
        doubts = flags(connection, account=person.id)[:MOST_FLAGS]
        places = own_on(connection, person.id, {flag.question for flag in doubts})
        items = flagged_items(connection, doubts)
        locked = locked_among(connection, [part.question for part in assigned if part.closed is not None])
    pieces = [
        Piece.build(
            part,
            questions[part.question],
            assignment=part.id,
            closed=part.closed is not None,
            locked=part.question in locked,
        )
        for part in assigned
        if part.question in questions
    ]
    flagged = [
        OwnFlag.build(view, assignment=places[view.question].id if view.question in places else None)
        for view in flag_views(site, doubts, items)
    ]
    progress = progress_of(work)
    return WorkPage.build(
        progress, pieces=pieces, page=page, pages=pages, next=following, waiting=waiting, flags=flagged
    )


@router.action("POST", "/take", roles=ASSESSORS)
def take_work(person: ThePerson, site: TheSite) -> Taken:
    """Assign the next free question to the person who asks."""
    with acting(site, person) as act:
        assigned = take(act)
    if assigned is None:
        raise Refusal(404, "no question is waiting for an assessor")
    return Taken(assignment=assigned.id)
