"""How far the judging is: of all work, by judgment set, by person, and a page of the questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from pydantic import ConfigDict, Field
from sqlalchemy import Connection

from qassay.questions import Question, TestSet
from qassay.store.assignment.assignments import Assignment
from qassay.store.assignment.progress import Sort, State, Workload, assignments_for, find_questions
from qassay.store.people import Account
from qassay.web.routing import Context

QUESTIONS_A_PAGE = 50
LONGEST_TEXT = 300
# Decisions made here from which on a pace is estimated: the first few are slow, and vary.
ENOUGH = 10
SUMMED = ("questions", "closed", "done", "total")


class WorkProgress(Context):
    """How far the work is, in decisions, and the time that the rest takes; None where too few are timed to say."""

    done: int
    total: int
    minutes_left: int | None
    # Decisions that were made here, and so took a time that is known.
    timed: int


def progress_of(work: Sequence[Workload]) -> WorkProgress:
    """How far some work is."""
    return WorkProgress(minutes_left=minutes_left(work), **_sums(work, "done", "total", "timed"))


def _sums(work: Sequence[Workload], *names: str) -> dict[str, int]:
    return {name: sum(getattr(workload, name) for workload in work) for name in names}


def pace_of(work: Sequence[Workload]) -> float | None:
    """Seconds per decision, of all that were made here so far; None where that is too little to estimate from."""
    timed = sum(workload.timed for workload in work)
    return sum(workload.seconds for workload in work) / timed if timed >= ENOUGH else None


def minutes_left(work: Sequence[Workload], otherwise: float | None = None) -> int | None:
    """Minutes that the rest takes at the pace so far, or at another where that is not known; None without any."""
    own_pace = pace_of(work)
    pace = own_pace if own_pace is not None else otherwise
    return None if pace is None else round(pace * sum(workload.left for workload in work) / 60)


class SlotRow(Context):
    """One judgment set: the first assessor of every question, the second, ..."""

    slot: int
    set: str
    questions: int
    of: int
    closed: int
    done: int
    total: int


class PersonRow(Context):
    """One assessor's work; without an account, the questions open to anyone."""

    account: int | None
    name: str
    active: bool
    questions: int
    closed: int
    done: int
    total: int
    left: int
    minutes_left: int | None


def slot_rows(work: Sequence[Workload], questions: int) -> list[SlotRow]:
    """The judgment sets, in order."""
    slots: dict[tuple[int, str], list[Workload]] = {}
    for workload in work:
        slots.setdefault((workload.slot, workload.set), []).append(workload)
    return [
        SlotRow(slot=slot, set=name, of=questions, **_sums(parts, *SUMMED))
        for (slot, name), parts in sorted(slots.items())
    ]


def people_rows(work: Sequence[Workload], everybody: Sequence[Account]) -> list[PersonRow]:
    """The work by person, by name, what nobody has at the end.

    The estimate for a person who has judged too little yet uses the pace of all.
    """
    by_number = {account.id: account for account in everybody}
    pace_of_all = pace_of(work)
    by_account: dict[int | None, list[Workload]] = {}
    for workload in work:
        by_account.setdefault(workload.account, []).append(workload)
    rows = []
    for number, parts in by_account.items():
        person = by_number.get(number) if number is not None else None
        rows.append(
            PersonRow(
                account=number,
                name=person.name if person else "open to anyone who asks",
                active=person.active if person else True,
                minutes_left=minutes_left(parts, pace_of_all),
                **_sums(parts, *SUMMED, "left"),
            )
        )
    return sorted(rows, key=lambda row: (row.account is None, row.name.casefold()))


class Listing(Context):
    """Which questions are shown, and how; other words of the address are not looked at."""

    model_config = ConfigDict(extra="ignore", json_schema_serialization_defaults_required=True)

    show: State = "all"
    sort: Sort = "order"
    type: Annotated[str, Field(max_length=50)] = ""
    person: Annotated[str, Field(max_length=15, pattern=r"^(|nobody|[0-9]+)$")] = ""
    find: Annotated[str, Field(max_length=200)] = ""
    page: Annotated[int, Field(ge=1, le=1_000_000)] = 1


class AssignmentRow(Context):
    """One assessor's part of a question."""

    number: int
    slot: int
    set: str
    account: int | None
    name: str | None
    done: int
    total: int
    closed: bool


class AssignedQuestion(Context):
    """How far a question is."""

    id: str
    type: str
    text: str
    target: str | None
    assignments: list[AssignmentRow]
    done: int
    total: int
    closed: bool
    minutes_left: int | None


@dataclass(frozen=True)
class QuestionPage:
    """A page of the questions that a listing asks for, and which; with the number of questions and pages in all."""

    questions: list[AssignedQuestion]
    found: int
    listing: Listing
    pages: int


def question_page(
    connection: Connection,
    questions: TestSet,
    listing: Listing,
    names: Mapping[int, str],
    pace: float | None,
    *,
    whole: bool,
) -> QuestionPage:
    """The page that a listing asks for, or the last one; `whole` says that the questions are all of the test set."""
    page_questions, count = _page_questions(connection, questions, listing, whole=whole)
    pages = max(1, -(-count // QUESTIONS_A_PAGE))
    if listing.page > pages:
        listing = listing.model_copy(update={"page": pages})
        page_questions, count = _page_questions(connection, questions, listing, whole=whole)
    assignments = assignments_for(connection, [question.id for question in page_questions])
    rows = [_row(question, assignments.get(question.id, []), names, pace) for question in page_questions]
    return QuestionPage(rows, count, listing, pages)


def _page_questions(
    connection: Connection, questions: TestSet, listing: Listing, *, whole: bool
) -> tuple[list[Question], int]:
    """The wanted questions of the page, and how many there are on all.

    The database finds the page. Only what it does not know is searched here: the texts of the questions.
    """
    by_id, first = questions.by_id, (listing.page - 1) * QUESTIONS_A_PAGE
    person: Any = int(listing.person) if listing.person.isdigit() else None if listing.person else "anybody"
    find = partial(find_questions, connection, state=listing.show, person=person, sort=listing.sort)
    if whole and not (listing.type or listing.find):
        names_shown, count = find(first=first, limit=QUESTIONS_A_PAGE)
        return [by_id[name] for name in names_shown if name in by_id], count
    every = (listing.show, listing.person, listing.sort) == ("all", "", "order")
    names: Sequence[str] = questions.ids if every else find()[0]
    candidates = (by_id[name] for name in names if name in by_id)
    text_wanted = listing.find.casefold()
    matching = [
        question
        for question in candidates
        if listing.type in ("", question.type)
        and any(text_wanted in text.casefold() for text in (question.id, question.text, question.target or ""))
    ]
    return matching[first : first + QUESTIONS_A_PAGE], len(matching)


def _row(
    question: Question, assignments: Sequence[Assignment], names: Mapping[int, str], pace: float | None
) -> AssignedQuestion:
    parts = [
        AssignmentRow.build(
            assignment,
            number=assignment.id,
            name=None if assignment.account is None else names.get(assignment.account),
            closed=assignment.closed is not None,
        )
        for assignment in assignments
    ]
    left = sum(part.total - part.done for part in parts if not part.closed)
    return AssignedQuestion.build(
        question,
        text=question.text[:LONGEST_TEXT],
        assignments=parts,
        done=sum(part.done for part in parts),
        total=sum(part.total for part in parts),
        closed=bool(parts) and all(part.closed for part in parts),
        minutes_left=None if pace is None or not parts else round(pace * left / 60),
    )
