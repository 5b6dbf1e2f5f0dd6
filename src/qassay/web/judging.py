"""What the pages on which people judge share: whose assignment it is, an item without its run, refusals of the store.

Everything an assessor can fetch goes through `own_assignment`: somebody else's assignment does not exist.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

from pydantic import Field
from sqlalchemy import Connection

from qassay.store.assignment.assignments import Assignment, assignment_with_number
from qassay.store.judging.decisions import LockedError
from qassay.store.judging.judgments import ConflictError, KeyReusedError, Saved, by_key, standing_rows
from qassay.store.judging.nuggets import Nugget, NuggetConflictError
from qassay.store.pool.items import Item, item_with_number
from qassay.store.pool.parts import FIELDS, Part, verdict_of
from qassay.web.errors import Refusal
from qassay.web.routing import Context, Input, Number
from qassay.web.site import Person

# Which screen judges which kind of item; nugget questions begin with writing the list (step 1).
SCREENS = {
    "item": "items",
    "extract": "items",
    "list": "lists",
    "match": "matches",
    "support": "support",
    "holistic": "holistic",
    "pair": "pairs",
    "rating": "ratings",
}
TITLES = {
    "items": "Answers",
    "lists": "Lists",
    "nuggets": "1. Write nuggets",
    "matches": "2. Match nuggets",
    "support": "Nugget support",
    "holistic": "Content and organization",
    "pairs": "Entailment",
    "ratings": "Justifications",
}

LONGEST_LABEL = 80
# What a row says, of whatever kind. Rows that were imported may hold anything besides, such as the name of a system.
SAID = frozenset(name for names in FIELDS.values() for name in names) | {"note", "settled"}


Key: TypeAlias = Annotated[str, Field(min_length=16, max_length=100)]


class OnPart(Input):
    """A change of what is said of one part of an item, under a key of its own.

    `expected` is the version that its sender has seen: where another one stands, nothing is changed.
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


def own_assignment(connection: Connection, who: Person, number: int, *, key: str | None = None) -> Assignment:
    """An assignment of this person; anybody else's does not exist.

    With the key of a save that was answered, also one that was theirs when they saved: it is answered again.
    """
    one = assignment_with_number(connection, number)
    if one is None or (one.account != who.id and not _saved_before(connection, who, one, key)):
        raise Refusal(404, "this is not assigned to you")
    return one


def item_of(connection: Connection, question: str, number: int, *, again: Callable[[], bool] = lambda: False) -> Item:
    """An item of a question that is to be judged, or that was when the same save came before (`again`)."""
    found = item_with_number(connection, number)
    if found is None or found.question != question or not (found.active or again()):
        raise Refusal(404, "this question has no such item")
    return found


def saved_item(connection: Connection, who: Person, one: Assignment, number: int, key: str) -> Item:
    """The item of a save: one to be judged, or the one that was judged under this key, whatever became of it."""
    return item_of(connection, one.question, number, again=lambda: _saved_before(connection, who, one, key))


def _saved_before(connection: Connection, who: Person, one: Assignment, key: str | None) -> bool:
    """Whether this person saved something under this key, in the set of the assignment."""
    saved = None if key is None else by_key(connection, key)
    return saved is not None and (saved.account, saved.set) == (who.id, one.set)


def item_view(connection: Connection, set_name: str, item: Item, parts: list[Part]) -> ItemView:
    """An item with what stands for its parts in a judgment set."""
    found = standing_rows(connection, set_name, [part.thing for part in parts])
    views = []
    for part in parts:
        version, row = found.get(part.thing, (0, None))
        verdict = None if row is None else verdict_of(part, row)
        views.append(PartView(part=part.name, kind=part.kind, required=part.required, verdict=verdict, version=version))
    complete = all(view.verdict is not None for view in views if view.required)
    return ItemView(id=item.id, kind=item.kind, body=dict(item.body), parts=views, complete=complete)


def label_of(item: Item) -> str:
    """What an item is found by among the others of its question; an extract by its place."""
    if item.run is not None:
        return ""
    text = str(item.body.get("text") or item.body.get("doc") or "")[:LONGEST_LABEL]
    return f"{text}, from character {item.body['start'] + 1:,}" if item.kind == "extract" else text


class refusing:  # noqa: N801  # reads as a statement: with refusing()
    """Turn what the store says no to into answers: conflicts with both values, locks, keys used twice."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, ConflictError):
            standing = error.standing
            raise Refusal(
                409, str(error), standing=_said(standing), version=standing.version if standing else 0
            ) from error
        if isinstance(error, NuggetConflictError):
            raise Refusal(409, str(error), standing=_nugget(error.standing)) from error
        if isinstance(error, LockedError):
            raise Refusal(423, str(error)) from error
        if isinstance(error, KeyReusedError):
            raise Refusal(422, str(error)) from error


def _nugget(standing: Nugget | None) -> dict[str, Any] | None:
    if standing is None or standing.body is None:
        return None
    return {"text": standing.text, "vital": standing.vital, "version": standing.version}


def _said(saved: Saved | None) -> dict[str, Any] | None:
    """The verdict of what stands; an assessor's sets hold nobody else's."""
    if saved is None or saved.body is None:
        return None
    return {name: value for name, value in saved.body.items() if name in SAID}
