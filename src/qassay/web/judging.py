"""Shared by the pages on which people judge: whose assignment it is, an item without its run, refusals of the store.

Everything an assessor can fetch goes through `own_assignment`: somebody else's assignment does not exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import Field
from sqlalchemy import Connection

from qassay.judging import KINDS, Item, Label, Part
from qassay.judging.items import verdict_of
from qassay.judging.kind import REMARKS
from qassay.store.acts import Act
from qassay.store.assignment.assignments import Assignment, assignment_with_number, hold
from qassay.store.judging.decisions import LockedError
from qassay.store.judging.judgments import ConflictError, Judgment, KeyReusedError, by_key, current_rows
from qassay.store.judging.nuggets import Nugget, NuggetConflictError
from qassay.store.pool.items import item_with_number
from qassay.tasks import Task
from qassay.web.errors import Refusal
from qassay.web.routing import Context, Input, Number
from qassay.web.site import Person, Site

# Which screen judges which kind of item; nugget questions begin with writing the list (step 1).
SCREENS = {name: record.screen for name, record in KINDS.items() if record.screen}
TITLES = {"nuggets": "1. Write nuggets"} | {record.screen: record.title for record in KINDS.values() if record.screen}

# The fields of verdicts of all kinds. Rows that were imported may have anything besides, such as the name of a system.
_VERDICT_FIELDS = frozenset(name for record in KINDS.values() for name in record.fields) | set(REMARKS)


Key: TypeAlias = Annotated[str, Field(min_length=16, max_length=100)]


class OnPart(Input):
    """A change of the verdict on one part of an item, under a key of its own.

    `expected` is the version that its sender has seen: where another one is current, nothing is changed.
    """

    key: Key
    item: Number
    part: str = Field(max_length=1000)
    expected: int = Field(ge=0)


class PartView(Context):
    """A part of an item, with this assessor's verdict on it."""

    part: str
    kind: str
    required: bool
    verdict: dict[str, Any] | None
    version: int


class ItemView(Context):
    """An item as it is shown: without its run."""

    id: int
    kind: str
    body: dict[str, Any]
    parts: list[PartView]
    complete: bool
    # Titles of the documents that it names, by their ids.
    titles: dict[str, str] = Field(default_factory=dict)


class Choices(Context):
    """The labels that a verdict of one kind chooses from, and the field of the verdict that takes the label."""

    field: str
    labels: list[Label]


def choices_of(kind: str, task: Task) -> Choices:
    """The choices of assessors who judge items of a kind; no labels where it takes numbers or nuggets."""
    record = KINDS[kind]
    return Choices(field=next(iter(record.fields)), labels=list(record.labels(task)))


NOT_YOURS, NO_ITEM = "this is not assigned to you", "this question has no such item"


def own_assignment(connection: Connection, person: Person, number: int) -> Assignment:
    """An assignment of this person; anybody else's does not exist."""
    assignment = assignment_with_number(connection, number)
    if assignment is None or assignment.account != person.id:
        raise Refusal(404, NOT_YOURS)
    return assignment


def item_of(connection: Connection, question: str, number: int) -> Item:
    """An item of a question that is to be judged."""
    item = item_with_number(connection, number)
    if item is None or item.question != question or not item.active:
        raise Refusal(404, NO_ITEM)
    return item


@dataclass(frozen=True, slots=True)
class HeldItem:
    """The item of a save, the assignment that it belongs to, and all assignments of the question, which are locked."""

    item: Item
    assignment: Assignment
    assignments: list[Assignment]


def held_item(connection: Connection, person: Person, number: int, sent: OnPart) -> HeldItem:
    """The item of a save, in an assignment of this person; anybody else's does not exist.

    A save that was answered is answered again, whatever became of the assignment and the item since.
    """
    assignments, item = hold(connection, number, sent.item)
    assignment = next((held for held in assignments if held.id == number), None)
    if assignment is None:
        raise Refusal(404, NOT_YOURS)
    if assignment.account != person.id and not _saved_before(connection, person, assignment, sent.key):
        raise Refusal(404, NOT_YOURS)
    if item is None or item.question != assignment.question:
        raise Refusal(404, NO_ITEM)
    if not item.active and not _saved_before(connection, person, assignment, sent.key):
        raise Refusal(404, NO_ITEM)
    return HeldItem(item, assignment, assignments)


def _saved_before(connection: Connection, person: Person, assignment: Assignment, key: str) -> bool:
    """Whether this person saved something under this key, in the set of the assignment."""
    saved = by_key(connection, key)
    return saved is not None and (saved.account, saved.set) == (person.id, assignment.set)


def item_view(connection: Connection, set_name: str, item: Item, parts: list[Part]) -> ItemView:
    """An item with the current judgments of its parts in a set."""
    current = current_rows(connection, set_name, [part.subject for part in parts])
    views = []
    for part in parts:
        version, row = current.get(part.subject, (0, None))
        verdict = None if row is None else verdict_of(part, row)
        views.append(PartView(part=part.name, kind=part.kind, required=part.required, verdict=verdict, version=version))
    complete = all(view.verdict is not None for view in views if view.required)
    return ItemView(id=item.id, kind=item.kind, body=dict(item.body), parts=views, complete=complete)


@contextmanager
def acting(site: Site, person: Person, key: str | None = None) -> Iterator[Act]:
    """One act of a person on the store, in one transaction; what the store refuses becomes an answer."""
    with site.store.write() as connection, store_refusals():
        yield act_of(site, person, connection, key)


def act_of(site: Site, person: Person, connection: Connection, key: str | None = None) -> Act:
    """An act of a person in a transaction."""
    return Act(connection, site.configuration.task, person.assessor(), key)


@contextmanager
def store_refusals() -> Iterator[None]:
    """Turn errors of the store into answers: conflicts with both values, locks, keys used twice."""
    try:
        yield
    except ConflictError as error:
        current = error.current
        version = current.version if current else 0
        raise Refusal(409, str(error), standing=_verdict(current), version=version) from error
    except NuggetConflictError as error:
        raise Refusal(409, str(error), standing=_nugget(error.current)) from error
    except LockedError as error:
        raise Refusal(423, str(error)) from error
    except KeyReusedError as error:
        raise Refusal(422, str(error)) from error


def _nugget(current: Nugget | None) -> dict[str, Any] | None:
    if current is None or current.body is None:
        return None
    return {"text": current.text, "vital": current.vital, "version": current.version}


def _verdict(saved: Judgment | None) -> dict[str, Any] | None:
    """The current verdict; an assessor's sets have nobody else's."""
    if saved is None or saved.body is None:
        return None
    return {name: value for name, value in saved.body.items() if name in _VERDICT_FIELDS}
