"""An assessor's work: what is assigned, how far it is, and how long the rest may take."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from qassay.questions import Question
from qassay.store.assignment.assignments import Assignment, assignments_of, is_work_waiting, take
from qassay.web.errors import Refusal
from qassay.web.questions import questions_of
from qassay.web.routing import ASSESSORS, Context, Place, Router, Who

router = Router()
# Items judged from which a pace can be told.
ENOUGH = 5

PIECES_A_PAGE = 500


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


class WorkPage(Context):
    """An assessor's work: a page of the questions, the sums of all."""

    pieces: list[Piece]
    page: int
    pages: int
    done: int
    total: int
    # Of the time spent on items so far; None before anything is judged.
    minutes_left: int | None
    next: int | None
    waiting: bool


class Taken(Context):
    """The assignment that somebody who asked for work was given."""

    assignment: int


@router.page("/work", template="work.html", roles=ASSESSORS)
def work(who: Who, place: Place, page: Annotated[int, Query(ge=1, le=100_000)] = 1) -> WorkPage:
    """What is assigned to whoever asks."""
    with place.store.read() as connection:
        own = assignments_of(connection, who.id)
        waiting = is_work_waiting(connection, who.id)
    questions = questions_of(place).by_id
    own = [one for one in own if one.question in questions]
    pages = max(1, -(-len(own) // PIECES_A_PAGE))
    page = min(page, pages)
    return WorkPage(
        pieces=[_piece(one, questions[one.question]) for one in own[(page - 1) * PIECES_A_PAGE : page * PIECES_A_PAGE]],
        page=page,
        pages=pages,
        done=sum(one.done for one in own),
        total=sum(one.total for one in own),
        minutes_left=minutes_left(own),
        next=next((one.id for one in own if one.closed is None), None),
        waiting=waiting,
    )


@router.action("POST", "/take", roles=ASSESSORS)
def take_work(who: Who, place: Place) -> Taken:
    """Give whoever asks the next question that nobody has."""
    with place.store.write() as connection:
        given = take(connection, who.id)
    if given is None:
        raise Refusal(404, "no question is waiting for an assessor")
    return Taken(assignment=given.id)


def _piece(one: Assignment, question: Question) -> Piece:
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
    )


def minutes_left(work: list[Assignment]) -> int | None:
    """Minutes that the rest takes at the pace so far; None where too little was judged here to tell it."""
    timed = [one for one in work if one.seconds]  # what came from a file took no time
    done, seconds = sum(one.done for one in timed), sum(one.seconds for one in timed)
    left = sum(one.total - one.done for one in work if one.closed is None)
    return None if done < ENOUGH else round(seconds / done * left / 60)
