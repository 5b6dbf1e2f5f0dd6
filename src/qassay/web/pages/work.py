"""An assessor's work: what is assigned, how far it is, and how long the rest may take."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

from fastapi import Query

from qassay.questions import Question
from qassay.store.assignment.assignments import Assignment, assignments_of, first_open, is_work_waiting, take
from qassay.store.assignment.progress import workloads
from qassay.store.judging.decisions import locked_among
from qassay.web.errors import Refusal
from qassay.web.progress import minutes_left, timed_of
from qassay.web.questions import questions_of
from qassay.web.routing import ASSESSORS, Context, Router, TheSite, Who

router = Router()
PIECES_A_PAGE = 100


class Piece(Context):
    """One assigned question."""

    assignment: int
    question: str
    type: str
    text: str
    series: str | None
    target: str | None
    done: int
    total: int
    closed: bool
    # An adjudicator has ruled on it: it takes no decisions.
    locked: bool


class WorkPage(Context):
    """An assessor's work: a page of the questions, the sums of all."""

    pieces: list[Piece]
    page: int
    pages: int
    done: int
    total: int
    # At the pace of the items timed so far; None where they are too few to tell.
    minutes_left: int | None
    timed: int
    next: int | None
    waiting: bool


class Taken(Context):
    """The assignment that somebody who asked for work was given."""

    assignment: int


@router.page("/work", template="work.html", roles=ASSESSORS)
def work(who: Who, site: TheSite, page: Annotated[int, Query(ge=1, le=100_000)] = 1) -> WorkPage:
    """What is assigned to whoever asks."""
    with site.store.read() as connection:
        work = workloads(connection, who.id)
        pages = max(1, -(-sum(one.questions for one in work) // PIECES_A_PAGE))
        page = min(page, pages)
        own = assignments_of(connection, who.id, first=(page - 1) * PIECES_A_PAGE, limit=PIECES_A_PAGE)
        following = first_open(connection, who.id)
        waiting = is_work_waiting(connection, who.id)
        questions = questions_of(site, connection).by_id
        locked = locked_among(connection, [one.question for one in own if one.closed is not None])
    return WorkPage(
        pieces=[_piece(one, questions[one.question], locked) for one in own if one.question in questions],
        page=page,
        pages=pages,
        done=sum(one.done for one in work),
        total=sum(one.total for one in work),
        minutes_left=minutes_left(work),
        timed=timed_of(work),
        next=following,
        waiting=waiting,
    )


@router.action("POST", "/take", roles=ASSESSORS)
def take_work(who: Who, site: TheSite) -> Taken:
    """Give whoever asks the next question that nobody has."""
    with site.store.write() as connection:
        given = take(connection, who.id)
    if given is None:
        raise Refusal(404, "no question is waiting for an assessor")
    return Taken(assignment=given.id)


def _piece(one: Assignment, question: Question, locked: Collection[str]) -> Piece:
    return Piece(
        assignment=one.id,
        question=one.question,
        type=question.type,
        text=question.text,
        series=question.series,
        target=question.target,
        done=one.done,
        total=one.total,
        closed=one.closed is not None,
        locked=one.question in locked,
    )
