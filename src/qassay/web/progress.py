"""Progress as the page shows it: filters and orders from closed lists, a page of questions at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection

from qassay.questions import Question, TestSet
from qassay.store.assignment.assignments import Assignment
from qassay.store.assignment.progress import Sort, State, Workload, assignments_for, find_questions
from qassay.store.people import Account
from qassay.web.routing import Context

QUESTIONS_A_PAGE = 50
LONGEST_TEXT = 300
# Items judged here from which on a pace is told: the first few are slow, and vary.
ENOUGH = 10


class Listing(Context):
    """Which questions are shown, and how."""

    show: State
    sort: Sort
    type: str
    person: str
    find: str
    page: int


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
    """One assessor's work; without an account, what is open to whoever asks."""

    account: int | None
    name: str
    active: bool
    questions: int
    closed: int
    done: int
    total: int
    left: int
    minutes_left: int | None


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


def timed_of(work: Sequence[Workload]) -> int:
    """How many items were judged here, and so took a time that is known."""
    return sum(one.timed for one in work)


def pace_of(work: Sequence[Workload]) -> float | None:
    """Seconds an item takes, of all that was judged here so far; None where that is too little to tell."""
    timed = timed_of(work)
    return sum(one.seconds for one in work) / timed if timed >= ENOUGH else None


def minutes_left(work: Sequence[Workload]) -> int | None:
    """Minutes that the rest takes at the pace so far; None where it cannot be told."""
    pace = pace_of(work)
    return None if pace is None else round(pace * sum(one.left for one in work) / 60)


def slot_rows(work: Sequence[Workload], questions: int) -> list[SlotRow]:
    """The judgment sets, in order."""
    slots: dict[tuple[int, str], list[Workload]] = {}
    for one in work:
        slots.setdefault((one.slot, one.set), []).append(one)
    return [
        SlotRow(
            slot=slot,
            set=name,
            questions=sum(one.questions for one in parts),
            of=questions,
            closed=sum(one.closed for one in parts),
            done=sum(one.done for one in parts),
            total=sum(one.total for one in parts),
        )
        for (slot, name), parts in sorted(slots.items())
    ]


def people_rows(work: Sequence[Workload], everybody: Sequence[Account]) -> list[PersonRow]:
    """The work by person, by name, what nobody has at the end.

    Whoever has judged too little yet is taken to go at the pace of all.
    """
    known = {one.id: one for one in everybody}
    common = pace_of(work)
    found: dict[int | None, list[Workload]] = {}
    for one in work:
        found.setdefault(one.account, []).append(one)
    rows = []
    for account, parts in found.items():
        person = known.get(account) if account is not None else None
        own = pace_of(parts)
        pace = own if own is not None else common
        left = sum(one.left for one in parts)
        rows.append(
            PersonRow(
                account=account,
                name=person.name if person else "open to whoever asks",
                active=person.active if person else True,
                questions=sum(one.questions for one in parts),
                closed=sum(one.closed for one in parts),
                done=sum(one.done for one in parts),
                total=sum(one.total for one in parts),
                left=left,
                minutes_left=None if pace is None else round(pace * left / 60),
            )
        )
    return sorted(rows, key=lambda row: (row.account is None, row.name.casefold()))


def listed(
    connection: Connection,
    questions: TestSet,
    listing: Listing,
    names: Mapping[int, str],
    pace: float | None,
    *,
    whole: bool,
) -> tuple[list[AssignedQuestion], int, Listing, int]:
    """A page of the questions that are wanted, how many there are, the page itself, and how many pages.

    `whole` says that they are all of the test set.
    """
    shown, count = _chosen(connection, questions, listing, whole=whole)
    pages = max(1, -(-count // QUESTIONS_A_PAGE))
    if listing.page > pages:
        listing = listing.model_copy(update={"page": pages})
        shown, count = _chosen(connection, questions, listing, whole=whole)
    found = assignments_for(connection, [one.id for one in shown])
    rows = [_row(one, found.get(one.id, []), names, pace) for one in shown]
    return rows, count, listing, pages


def _chosen(connection: Connection, questions: TestSet, listing: Listing, *, whole: bool) -> tuple[list[Question], int]:
    """The wanted questions of the page, and how many there are on all.

    The database finds the page. Only what it cannot know is looked for here: what a question asks.
    """
    known, first = questions.by_id, (listing.page - 1) * QUESTIONS_A_PAGE
    person: Any = int(listing.person) if listing.person.isdigit() else None if listing.person else "anybody"
    find = partial(find_questions, connection, state=listing.show, person=person, sort=listing.sort)
    if whole and not (listing.type or listing.find):
        shown, count = find(first=first, limit=QUESTIONS_A_PAGE)
        return [known[name] for name in shown if name in known], count
    every = (listing.show, listing.person, listing.sort) == ("all", "", "order")
    names: Sequence[str] = questions.ids if every else find()[0]
    there = (known[name] for name in names if name in known)
    wanted = listing.find.casefold()
    found = [one for one in there if listing.type in ("", one.type) and _matches(one, wanted)]
    return found[first : first + QUESTIONS_A_PAGE], len(found)


def _matches(question: Question, wanted: str) -> bool:
    texts = (question.id, question.text, question.target or "")
    return any(wanted in text.casefold() for text in texts)


def _row(
    question: Question, found: Sequence[Assignment], names: Mapping[int, str], pace: float | None
) -> AssignedQuestion:
    parts = [
        AssignmentRow(
            number=one.id,
            slot=one.slot,
            set=one.set,
            account=one.account,
            name=None if one.account is None else names.get(one.account),
            done=one.done,
            total=one.total,
            closed=one.closed is not None,
        )
        for one in found
    ]
    left = sum(one.total - one.done for one in found if one.closed is None)
    return AssignedQuestion(
        id=question.id,
        type=question.type,
        text=question.text[:LONGEST_TEXT],
        target=question.target,
        assignments=parts,
        done=sum(one.done for one in found),
        total=sum(one.total for one in found),
        closed=bool(found) and all(one.closed is not None for one in found),
        minutes_left=None if pace is None or not found else round(pace * left / 60),
    )
