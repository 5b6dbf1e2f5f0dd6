"""Aids of a judging screen, next to the item: nuggets to look for, the reference of a pair, classes of answers."""

from __future__ import annotations

from pydantic import Field
from sqlalchemy import Connection

from qassay.judging import PAIRS, SETTLED_SETS, subject
from qassay.store.judging.classes import ClassGoneError, KnownClass, known_classes, rename_class, undo_renaming
from qassay.store.judging.judgments import current_rows
from qassay.store.judging.nuggets import list_for
from qassay.store.settings import count_actions
from qassay.web.errors import Refusal
from qassay.web.judging import acting, own_assignment
from qassay.web.routing import ASSESSORS, Context, Input, Number, Router, ThePerson, TheSite
from qassay.web.site import BY_PERSON

router = Router()
# Summaries of impressions that one judge may send: of 20,000 characters each.
MOST_IMPRESSIONS = 50


class NuggetToFind(Context):
    """A nugget to look for; whether it is vital is not shown, since that does not matter for finding it."""

    nugget: str
    text: str


class Aids(Context):
    """Further data of a question, besides its items."""

    nuggets: list[NuggetToFind]
    reference: str | None


class Impressions(Input):
    """A judge's summary after rating justifications."""

    text: str = Field(min_length=1, max_length=20_000)


class Kept(Context):
    """Says that something was kept."""

    kept: bool


@router.action("GET", "/judge/{assignment}/aids", roles=ASSESSORS)
def aids(person: ThePerson, site: TheSite, assignment: Number) -> Aids:
    """The nuggets that answers are judged against; where justifications are rated, the reference answer."""
    with site.store.read() as connection:
        assigned = own_assignment(connection, person, assignment)
        nuggets = [
            NuggetToFind(nugget=nugget.nugget, text=nugget.text)
            for nugget in list_for(connection, assigned.set, assigned.question)[1]
        ]
        rated = site.configuration.task.is_rated
        return Aids(nuggets=nuggets, reference=_reference(connection, assigned.question) if rated else None)


@router.action("POST", "/impressions", roles=ASSESSORS)
def keep_impressions(person: ThePerson, site: TheSite, sent: Impressions) -> Kept:
    """Keep a judge's summary of impressions with the evaluation (METHOD 4, justifications)."""
    site.limits.count(BY_PERSON, "impressions of", str(person.id))
    with acting(site, person) as act:
        if count_actions(act.connection, "impressions", account=person.id) >= MOST_IMPRESSIONS:
            raise Refusal(409, f"you have sent {MOST_IMPRESSIONS} summaries, which is the limit; ask the organiser")
        act.note("impressions", text=sent.text)
    return Kept(kept=True)


def _reference(connection: Connection, question: str) -> str | None:
    """The label of a pair in the key."""
    pair = subject(PAIRS.name, {"question": question})
    for key in SETTLED_SETS:
        _, row = current_rows(connection, key, [pair]).get(pair, (0, None))
        if row is not None:
            return PAIRS.in_words(row)
    return None


# ---- classes of equivalent answers of a list question ---------------------------------------------------------------

KEY = Field(min_length=16, max_length=64, pattern=r"^[0-9A-Za-z-]+$")


class Classes(Context):
    """The classes of a question, and how many judgments the last change touched."""

    classes: list[KnownClass]
    changed: int = 0


class Renaming(Input):
    """A class gets another name; the name of another class merges the two."""

    key: str = KEY
    before: str = Field(min_length=1, max_length=100_000)
    after: str = Field(min_length=1, max_length=500)


class UndoneRenaming(Input):
    """An earlier renaming, named by its key, is undone."""

    key: str = KEY
    of: str = KEY


@router.action("GET", "/judge/{assignment}/classes", roles=ASSESSORS)
def show_classes(person: ThePerson, site: TheSite, assignment: Number) -> Classes:
    """The classes that this assessor may choose from: those of question development and their own."""
    with site.store.read() as connection:
        assigned = own_assignment(connection, person, assignment)
        return _view(known_classes(connection, assigned))


@router.action("POST", "/judge/{assignment}/classes/rename", roles=ASSESSORS)
def rename(person: ThePerson, site: TheSite, assignment: Number, sent: Renaming) -> Classes:
    """Rename a class, or merge it into another: every judgment of this assessor that names it follows."""
    with acting(site, person, sent.key) as act:
        assigned = own_assignment(act.connection, person, assignment)
        try:
            count = rename_class(act, assigned, sent.before, sent.after)
        except ClassGoneError as error:
            raise Refusal(409, str(error)) from error
        return _view(known_classes(act.connection, assigned), count)


@router.action("POST", "/judge/{assignment}/classes/undo", roles=ASSESSORS)
def undo(person: ThePerson, site: TheSite, assignment: Number, sent: UndoneRenaming) -> Classes:
    """Undo a renaming or merging."""
    with acting(site, person, sent.key) as act:
        assigned = own_assignment(act.connection, person, assignment)
        count = undo_renaming(act, assigned, sent.of)
        return _view(known_classes(act.connection, assigned), count)


def _view(classes: list[KnownClass], changed: int = 0) -> Classes:
    return Classes(classes=classes, changed=changed)
