"""Who judges what, and how far they are: the pool, the assignments, and the progress."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Query
from pydantic import Field
from sqlalchemy import Connection

from qassay.errors import UsageError
from qassay.formats.tracks import spoken
from qassay.judging.roles import has_authors
from qassay.judging.sets import SLOTS
from qassay.questions import TestSet
from qassay.store.assignment.assignments import assign, assignment_with_number, reassign, withdraw_assignments
from qassay.store.assignment.progress import hand_over, unassigned_questions, workloads
from qassay.store.people import Account, accounts
from qassay.web.errors import Refusal
from qassay.web.judging import acting
from qassay.web.pooling import PoolView, make_pool, pool_view, to_be_judged
from qassay.web.progress import (
    AssignedQuestion,
    Listing,
    PersonRow,
    SlotRow,
    WorkProgress,
    pace_of,
    people_rows,
    progress_of,
    question_page,
    slot_rows,
)
from qassay.web.questions import questions_of
from qassay.web.routing import ORGANISERS, Context, Input, Number, Router, ThePerson, TheSite

router = Router()
JUDGES = ("assessor", "adjudicator", "organiser")
Numbers = Annotated[list[Number], Field(max_length=500)]


class EligibleView(Context):
    """Somebody who may be given work."""

    id: int
    name: str
    role: str


class AssignmentsPage(WorkProgress):
    """The pool, the people and a page of the questions."""

    pool: PoolView
    assessors: list[EligibleView]
    default: int
    most: int
    slots: list[SlotRow]
    people: list[PersonRow]
    # Questions with items that nobody was given.
    unassigned: int
    questions: list[AssignedQuestion]
    found: int
    listing: Listing
    pages: int
    types: list[str]
    # Whether questions name their authors.
    has_authors: bool
    # Until when participants submit runs, where that is not over.
    submissions_until: str | None


class Pooling(Input):
    """Further judgments: holistic scores, support of citations."""

    holistic: bool | None = None
    citations: bool | None = None


class Assigning(Input):
    """Who judges, and how many of them each question; an empty list of accounts: anyone who asks for work."""

    assessors: Annotated[int, Field(ge=1, le=len(SLOTS))]
    accounts: Numbers
    # Whether a question goes to its author first, where the author is among those who judge.
    author_first: bool = False


class Reassigning(Input):
    """Who takes it; None: anyone who asks for work."""

    account: Number | None


class HandingOver(Input):
    """Whose unfinished work goes (None: what is open to all), and to whom; nobody: anyone who asks for work."""

    source: Number | None
    accounts: Numbers = Field(default_factory=list)


class Slot(Input):
    """The last slot, to withdraw where nothing was judged."""

    slot: Annotated[int, Field(ge=1, le=len(SLOTS))]


class Counted(Context):
    """How many assignments were made, given or taken away, and how many were not."""

    done: int
    kept: int = 0


class Assigned(Counted):
    """How many assignments were made, and what could not be done as wanted."""

    # Questions that should have gone to their authors first, who do not judge; and the names of these.
    without_author: int = 0
    absent: list[str] = Field(default_factory=list)


@router.page("/assignments", template="assignments.html", roles=ORGANISERS)
def assignments(site: TheSite, listing: Annotated[Listing, Query()]) -> AssignmentsPage:
    """The whole of the judging."""
    task = site.configuration.task
    if listing.type and listing.type not in task.types:
        raise Refusal(422, f"type: it is one of {', '.join(task.types)}")
    listing.find = listing.find.strip()
    with site.store.read() as connection:
        test_set = questions_of(site, connection)
        questions = to_be_judged(test_set, site.configuration)
        everybody = accounts(connection)
        names = {account.id: account.name for account in everybody}
        pool = pool_view(site, connection)
        work = workloads(connection)
        page = question_page(connection, questions, listing, names, pace_of(work), whole=questions is test_set)
        unassigned = unassigned_questions(connection)
    return AssignmentsPage.build(
        progress_of(work),
        pool=pool,
        assessors=[EligibleView.model_validate(account) for account in everybody if _can_judge(account)],
        default=max(task.assessors, len({workload.slot for workload in work})),
        most=len(SLOTS),
        slots=slot_rows(work, pool.questions),
        people=people_rows(work, everybody),
        unassigned=unassigned,
        questions=page.questions,
        found=page.found,
        listing=page.listing,
        pages=page.pages,
        types=[kind for kind in task.types if any(question.type == kind for question in questions)],
        has_authors=has_authors(questions),
        submissions_until=_open_until(site),
    )


def _open_until(site: TheSite) -> str | None:
    track = site.configuration.track
    if track.deadline is None or track.is_over(datetime.now(UTC)):
        return None
    return spoken(track.deadline)


@router.action("GET", "/assignments/pool", roles=ORGANISERS)
def pool_state(site: TheSite) -> PoolView:
    """The current pool, and whether it is being made."""
    with site.store.read() as connection:
        return pool_view(site, connection)


@router.action("POST", "/assignments/pool", roles=ORGANISERS)
def pool(person: ThePerson, site: TheSite, sent: Pooling) -> PoolView:
    """Make the pool from the runs, or make it again."""
    return make_pool(site, person=person.assessor(), holistic=sent.holistic, citations=sent.citations)


@router.action("POST", "/assignments", roles=ORGANISERS)
def assign_all(person: ThePerson, site: TheSite, sent: Assigning) -> Assigned:
    """Assign every question to this many assessors; earlier assignments stay.

    Where every question has that many assessors already, what is nobody's yet goes to those who are named now.
    """
    with acting(site, person) as act:
        connection = act.connection
        if pool_view(site, connection).made is None:
            raise UsageError("there is no pool yet; make it first, so that there is something to judge")
        _check_people(connection, sent.accounts)
        questions = questions_of(site, connection)
        authors, missing = _authors(connection, questions, sent.accounts) if sent.author_first else ({}, {})
        count = assign(act, questions, assessors=sent.assessors, accounts=sent.accounts, authors=authors)
        if not count and sent.accounts:
            count, _ = hand_over(act, questions, None, sent.accounts)
    return Assigned(done=count, without_author=len(missing), absent=sorted(set(missing.values())))


def _authors(
    connection: Connection, questions: TestSet, account_numbers: Sequence[int]
) -> tuple[dict[str, int], dict[str, str]]:
    """The accounts of the authors who judge, by question; and the names of the others.

    An author judges who has an account that may judge and is chosen, where people are chosen.
    """
    able = {
        account.name: account.id
        for account in accounts(connection)
        if _can_judge(account) and (not account_numbers or account.id in account_numbers)
    }
    author_names = {question.id: question.author for question in questions if question.author}
    if not author_names:
        raise UsageError("no question names its author; let assessors write questions, or import them with an author")
    present = {question: able[name] for question, name in author_names.items() if name in able}
    return present, {question: name for question, name in author_names.items() if name not in able}


@router.action("POST", "/assignments/{number}/reassign", roles=ORGANISERS)
def reassign_one(person: ThePerson, site: TheSite, number: Number, sent: Reassigning) -> Counted:
    """Assign one question of a person to somebody else; judgments stay."""
    with acting(site, person) as act:
        if assignment_with_number(act.connection, number) is None:
            raise Refusal(404, "there is no such assignment")
        _check_people(act.connection, [sent.account] if sent.account is not None else [])
        reassign(act, number, sent.account)
    return Counted(done=1)


@router.action("POST", "/assignments/hand-over", roles=ORGANISERS)
def hand_over_all(person: ThePerson, site: TheSite, sent: HandingOver) -> Counted:
    """Assign all unfinished work of a person to others; judgments stay."""
    with acting(site, person) as act:
        _check_people(act.connection, sent.accounts)
        count, left = hand_over(act, questions_of(site, act.connection), sent.source, sent.accounts)
    return Counted(done=count, kept=left)


@router.action("POST", "/assignments/slots/withdraw", roles=ORGANISERS)
def withdraw_slot(person: ThePerson, site: TheSite, sent: Slot) -> Counted:
    """Withdraw the last slot where nothing is judged in it."""
    with acting(site, person) as act:
        work = workloads(act.connection)
        last = max((workload.slot for workload in work), default=0)
        if sent.slot != last:
            raise UsageError(f"only the last assessor of the questions can be withdrawn, which is {last}")
        total = sum(workload.questions for workload in work if workload.slot == sent.slot)
        count = withdraw_assignments(act, slot=sent.slot)
    return Counted(done=count, kept=total - count)


def _can_judge(account: Account) -> bool:
    return account.active and account.role in JUDGES


def _check_people(connection: Connection, account_numbers: list[int]) -> None:
    by_number = {account.id: account for account in accounts(connection)}
    for number in account_numbers:
        if number not in by_number:
            raise Refusal(422, f"there is no account {number}")
        if not _can_judge(by_number[number]):
            raise Refusal(422, f"{by_number[number].name} cannot judge: the account is not active, or a reader's")
