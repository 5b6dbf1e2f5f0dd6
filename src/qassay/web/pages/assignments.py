"""Who judges what, and how far they are: the pool, the assignment, progress by assessor and by question."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field
from sqlalchemy import Connection

from qassay.errors import UsageError
from qassay.judging.sets import SLOTS
from qassay.store.acts import Act
from qassay.store.assignment.assignments import assign, assignment_with_number, reassign, withdraw_assignments
from qassay.store.assignment.progress import Sort, State, hand_over, unassigned_questions, workloads
from qassay.store.people import Account, accounts
from qassay.web.errors import Refusal
from qassay.web.pooling import PoolView, make_pool, pool_view, to_be_judged
from qassay.web.progress import (
    AssignedQuestion,
    Listing,
    PersonRow,
    SlotRow,
    listed,
    minutes_left,
    pace_of,
    people_rows,
    slot_rows,
    timed_of,
)
from qassay.web.questions import questions_of
from qassay.web.routing import ORGANISERS, Context, Input, Number, Router, TheSite, Who

router = Router()

JUDGES = ("assessor", "adjudicator", "organiser")

Numbers = Annotated[list[Number], Field(max_length=500)]


class EligibleView(Context):
    """Somebody who may be given work."""

    id: int
    name: str
    role: str


class AssignmentsPage(Context):
    """The pool, the people and a page of the questions."""

    pool: PoolView
    assessors: list[EligibleView]
    default: int
    most: int
    slots: list[SlotRow]
    people: list[PersonRow]
    done: int
    total: int
    minutes_left: int | None
    # Items that the time left is estimated from.
    timed: int
    # Questions with items that nobody was given.
    unassigned: int
    questions: list[AssignedQuestion]
    found: int
    listing: Listing
    pages: int
    types: list[str]


class Pooling(Input):
    """What else is judged."""

    holistic: bool | None = None
    citations: bool | None = None


class Assigning(Input):
    """Who judges, and how many of them each question; nobody: whoever asks for work."""

    assessors: Annotated[int, Field(ge=1, le=len(SLOTS))]
    accounts: Numbers = Field(default_factory=list)


class Reassigning(Input):
    """Who takes it; None: whoever asks for work."""

    account: Number | None


class HandingOver(Input):
    """Whose unfinished work goes (None: what is open to all), and to whom; nobody: whoever asks for work."""

    source: Number | None
    accounts: Numbers = Field(default_factory=list)


class Slot(Input):
    """The last slot, to take back where nothing was judged."""

    slot: Annotated[int, Field(ge=1, le=len(SLOTS))]


class Counted(Context):
    """How many assignments were made, given or taken away, and how many were not."""

    done: int
    kept: int = 0


@router.page("/assignments", template="assignments.html", roles=ORGANISERS)
def assignments(
    site: TheSite,
    show: Annotated[State, Query()] = "all",
    sort: Annotated[Sort, Query()] = "order",
    type: Annotated[str, Query(max_length=50)] = "",  # noqa: A002  # the name in the address
    person: Annotated[str, Query(max_length=15, pattern=r"^(|nobody|[0-9]+)$")] = "",
    find: Annotated[str, Query(max_length=200)] = "",
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> AssignmentsPage:
    """The whole of the judging."""
    task = site.configuration.task
    if type and type not in task.types:
        raise Refusal(422, f"type: it is one of {', '.join(task.types)}")
    listing = Listing(show=show, sort=sort, type=type, person=person, find=find.strip(), page=page)
    with site.store.read() as connection:
        asked = questions_of(site, connection)
        questions = to_be_judged(asked, site.configuration)
        everybody = accounts(connection)
        names = {one.id: one.name for one in everybody}
        pool = pool_view(site, connection)
        work = workloads(connection)
        pace = pace_of(work)
        rows, found, listing, pages = listed(connection, questions, listing, names, pace, whole=questions is asked)
        unassigned = unassigned_questions(connection)
    done, total = sum(one.done for one in work), sum(one.total for one in work)
    return AssignmentsPage(
        pool=pool,
        assessors=[EligibleView(id=one.id, name=one.name, role=one.role) for one in everybody if _can_judge(one)],
        default=max(task.assessors, len({one.slot for one in work})),
        most=len(SLOTS),
        slots=slot_rows(work, pool.questions),
        people=people_rows(work, everybody),
        done=done,
        total=total,
        minutes_left=minutes_left(work),
        timed=timed_of(work),
        unassigned=unassigned,
        questions=rows,
        found=found,
        listing=listing,
        pages=pages,
        types=[kind for kind in task.types if any(one.type == kind for one in questions)],
    )


@router.action("GET", "/assignments/pool", roles=ORGANISERS)
def pool_state(site: TheSite) -> PoolView:
    """The pool as it stands, and whether it is being made."""
    with site.store.read() as connection:
        return pool_view(site, connection)


@router.action("POST", "/assignments/pool", roles=ORGANISERS)
def pool(who: Who, site: TheSite, sent: Pooling) -> PoolView:
    """Make the pool from the runs, or make it anew."""
    return make_pool(site, account=who.id, holistic=sent.holistic, citations=sent.citations)


@router.action("POST", "/assignments", roles=ORGANISERS)
def assign_all(who: Who, site: TheSite, sent: Assigning) -> Counted:
    """Give every question to so many assessors; what is assigned stays so."""
    with site.store.write() as connection:
        if pool_view(site, connection).made is None:
            raise UsageError("there is no pool yet; make it first, so that there is something to judge")
        _check_people(connection, sent.accounts)
        questions = questions_of(site, connection)
        made = assign(
            Act(connection, site.configuration.task, who.assessor()),
            questions,
            assessors=sent.assessors,
            accounts=sent.accounts,
        )
    return Counted(done=made)


@router.action("POST", "/assignments/{number}/reassign", roles=ORGANISERS)
def reassign_one(who: Who, site: TheSite, number: Number, sent: Reassigning) -> Counted:
    """Give one question of somebody to somebody else; what was judged stays."""
    with site.store.write() as connection:
        if assignment_with_number(connection, number) is None:
            raise Refusal(404, "there is no such assignment")
        _check_people(connection, [sent.account] if sent.account is not None else [])
        reassign(connection, number, sent.account, by=who.id)
    return Counted(done=1)


@router.action("POST", "/assignments/hand-over", roles=ORGANISERS)
def hand_over_all(who: Who, site: TheSite, sent: HandingOver) -> Counted:
    """Give all unfinished work of somebody to others; what was judged stays."""
    with site.store.write() as connection:
        _check_people(connection, sent.accounts)
        given, kept = hand_over(connection, questions_of(site, connection), sent.source, sent.accounts, by=who.id)
    return Counted(done=given, kept=kept)


@router.action("POST", "/assignments/slots/withdraw", roles=ORGANISERS)
def withdraw_slot(who: Who, site: TheSite, sent: Slot) -> Counted:
    """Take back the last slot where nothing was judged of it."""
    with site.store.write() as connection:
        there = {one.slot: one.questions for one in workloads(connection)}
        if sent.slot != max(there, default=0):
            raise UsageError(
                f"only the last assessor of the questions can be taken back, which is {max(there, default=0)}"
            )
        total = sum(one.questions for one in workloads(connection) if one.slot == sent.slot)
        gone = withdraw_assignments(Act(connection, site.configuration.task, who.assessor()), slot=sent.slot)
    return Counted(done=gone, kept=total - gone)


def _can_judge(one: Account) -> bool:
    return one.active and one.role in JUDGES


def _check_people(connection: Connection, chosen: list[int]) -> None:
    known = {one.id: one for one in accounts(connection)}
    for number in chosen:
        if number not in known:
            raise Refusal(422, f"there is no account {number}")
        if not _can_judge(known[number]):
            raise Refusal(422, f"{known[number].name} cannot judge: the account is not active, or a reader's")
