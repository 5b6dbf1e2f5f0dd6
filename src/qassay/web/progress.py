"""Progress as the page shows it: filters and orders from closed lists, a page of questions at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from sqlalchemy import Connection

from qassay.questions import Question, TestSet
from qassay.store.assignment.assignments import Assignment
from qassay.store.assignment.progress import (
    Share,
    all_assigned,
    assignments_for,
    questions_by,
    questions_in,
    questions_with,
)
from qassay.store.people.accounts import Account
from qassay.store.pool.pooling import question_sizes
from qassay.web.routing import Context

QUESTIONS_A_PAGE = 50
LONGEST_TEXT = 300

Show = Literal["all", "open", "begun", "waiting", "finished", "unassigned", "nothing"]
Sort = Literal["order", "left", "spent"]


class Listing(Context):
    """Which questions are shown, and how."""

    show: Show
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


class QuestionProgress(Context):
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


def pace_of(work: Sequence[Share]) -> float | None:
    """Seconds an item takes, of all that was judged so far; None before anything was."""
    done, seconds = sum(one.done for one in work), sum(one.seconds for one in work)
    return seconds / done if done and seconds else None


def slot_rows(work: Sequence[Share], questions: int) -> list[SlotRow]:
    """The judgment sets, in order."""
    slots: dict[tuple[int, str], list[Share]] = {}
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


def people_rows(work: Sequence[Share], everybody: Sequence[Account]) -> list[PersonRow]:
    """The work by person, by name, what nobody has at the end.

    Whoever has judged nothing yet is taken to go at the pace of all.
    """
    known = {one.id: one for one in everybody}
    common = pace_of(work)
    found: dict[int | None, list[Share]] = {}
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
    connection: Connection, questions: TestSet, listing: Listing, names: Mapping[int, str], pace: float | None
) -> tuple[list[QuestionProgress], int, Listing, int]:
    """A page of the questions that are wanted, how many there are, the page itself, and how many pages."""
    chosen = _chosen(connection, questions, listing)
    pages = max(1, -(-len(chosen) // QUESTIONS_A_PAGE))
    listing = listing.model_copy(update={"page": min(listing.page, pages)})
    first = (listing.page - 1) * QUESTIONS_A_PAGE
    shown = chosen[first : first + QUESTIONS_A_PAGE]
    found = assignments_for(connection, [one.id for one in shown])
    rows = [_row(one, found.get(one.id, []), names, pace) for one in shown]
    return rows, len(chosen), listing, pages


def _chosen(connection: Connection, questions: TestSet, listing: Listing) -> Sequence[Question]:
    """The wanted questions in the wanted order; the database is asked only for what the filters need."""
    chosen: Sequence[Question] = questions.questions
    if listing.type:
        chosen = [one for one in chosen if one.type == listing.type]
    if listing.find:
        wanted = listing.find.casefold()
        chosen = [one for one in chosen if _matches(one, wanted)]
    if listing.person:
        account = None if listing.person == "nobody" else int(listing.person)
        own = questions_with(connection, account)
        chosen = [one for one in chosen if one.id in own]
    if listing.show == "nothing":
        sizes = question_sizes(connection)
        chosen = [one for one in chosen if one.id not in sizes]
    elif listing.show == "unassigned":
        waiting = question_sizes(connection).keys() - all_assigned(connection)
        chosen = [one for one in chosen if one.id in waiting]
    elif listing.show != "all":
        within = questions_in(connection, listing.show)
        chosen = [one for one in chosen if one.id in within]
    if listing.sort != "order":
        place = {name: at for at, name in enumerate(questions_by(connection, listing.sort))}
        chosen = sorted(chosen, key=lambda one: place.get(one.id, len(place)))
    return chosen


def _matches(question: Question, wanted: str) -> bool:
    texts = (question.id, question.text, question.target or "")
    return any(wanted in text.casefold() for text in texts)


def _row(
    question: Question, found: Sequence[Assignment], names: Mapping[int, str], pace: float | None
) -> QuestionProgress:
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
    return QuestionProgress(
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
