"""What a change of a nugget list carries, and which responses it opens again."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field
from sqlalchemy import Connection

from qassay.store.assignment.assignments import Assignment
from qassay.store.assignment.counting import completed
from qassay.store.judging.nugget_changes import LONGEST_NUGGET, match_rows
from qassay.store.judging.nuggets import Nugget, nuggets_of
from qassay.store.pool.items import Item
from qassay.web.errors import Refusal
from qassay.web.routing import Input
from qassay.web.similar_strings import is_like

Again: TypeAlias = Literal["all", "linked", "similar", "none"]
KEY = Field(min_length=16, max_length=64, pattern=r"^[0-9A-Za-z-]+$")
TEXT = Field(min_length=1, max_length=LONGEST_NUGGET)
NAME = Field(min_length=1, max_length=200)
VERSION = Field(ge=1)


class Sent(Input):
    """What every change carries; `again` says which responses are to be looked at again."""

    key: str = KEY
    again: Again | None = None


class Adding(Sent):
    """A new nugget."""

    text: str = TEXT
    vital: bool


class Rewriting(Sent):
    """A nugget, said otherwise or marked otherwise."""

    nugget: str = NAME
    expected: int = VERSION
    text: str = TEXT
    vital: bool


class Removing(Sent):
    """A nugget that comes off the list."""

    nugget: str = NAME
    expected: int = VERSION


class Splitting(Sent):
    """A nugget that is two; the first text keeps its links."""

    nugget: str = NAME
    expected: int = VERSION
    texts: tuple[str, str]


class Merging(Sent):
    """Two nuggets that are one."""

    nugget: str = NAME
    expected: int = VERSION
    other: str = NAME
    other_expected: int = VERSION
    text: str = TEXT


class Moving(Input):
    """A nugget that goes before another one, or to the end."""

    key: str = KEY
    nugget: str = NAME
    expected: int = VERSION
    before: str | None = Field(default=None, max_length=200)


class TakingBack(Input):
    """An earlier change, named by its key, is taken back."""

    key: str = KEY
    of: str = KEY


def names_in(sent: Input) -> list[str]:
    """The nuggets that a change says something of; one that is moved may keep its number while the others go."""
    names = (getattr(sent, "nugget", None), getattr(sent, "other", None)) if isinstance(sent, Sent) else ()
    return [name for name in names if name is not None]


def texts_in(sent: Input) -> list[str]:
    """What a change says of nuggets."""
    return [text for text in (getattr(sent, "text", ""), *getattr(sent, "texts", ())) if text]


def to_look_at(connection: Connection, one: Assignment, responses: list[Item], sent: Sent) -> list[Item]:
    """The responses that a change opens again; they are asked for where any has been looked through."""
    if not _says_otherwise(connection, one, sent):
        return []
    through = [item for item, done in zip(responses, completed(connection, one, responses), strict=True) if done]
    if not through or sent.again == "none":
        return []
    if sent.again is None:
        message = "responses have been looked through with the list as it was: say which to look at again"
        raise Refusal(409, message, asks="again")
    if sent.again == "all":
        return through
    if sent.again == "linked":
        names = set(names_in(sent))
        runs = {
            row.get("run") for _, row in match_rows(connection, one.set, one.question) if names & set(row["nuggets"])
        }
        return [item for item in through if item.run in runs]
    wanted = _texts(connection, one, sent)
    return [
        item
        for item in through
        if any(is_like(text, element["text"] or "") for text in wanted for element in item.body["elements"])
    ]


def _says_otherwise(connection: Connection, one: Assignment, sent: Sent) -> bool:
    """Whether a change touches what is matched: marking a nugget vital does not, nor does removing an unused one."""
    if isinstance(sent, Rewriting):
        return all(nugget.text != sent.text for nugget in _named(connection, one, sent.nugget))
    if isinstance(sent, Removing):
        return any(sent.nugget in row["nuggets"] for _, row in match_rows(connection, one.set, one.question))
    return True


def _texts(connection: Connection, one: Assignment, sent: Sent) -> list[str]:
    """What the changed nuggets said and say."""
    said = texts_in(sent)
    for name in names_in(sent):
        said += [nugget.text for nugget in _named(connection, one, name)]
    return [text for text in said if text]


def _named(connection: Connection, one: Assignment, name: str) -> list[Nugget]:
    return [nugget for nugget in nuggets_of(connection, one.set, one.question) if nugget.nugget == name]
