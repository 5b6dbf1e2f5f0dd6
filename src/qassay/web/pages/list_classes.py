"""The classes of equivalent answers of a list question: those an assessor may choose from, renamed and merged."""

from __future__ import annotations

from pydantic import Field

from qassay.store.judging.classes import (
    ClassGoneError,
    KnownClass,
    known_classes,
    rename_class,
    take_back_renaming,
)
from qassay.web.errors import Refusal
from qassay.web.judging import own_assignment, refusing
from qassay.web.routing import ASSESSORS, Context, Input, Number, Router, TheSite, Who

router = Router()

KEY = Field(min_length=16, max_length=64, pattern=r"^[0-9A-Za-z-]+$")


class ClassView(Context):
    """A class of answers: known from question development or the assessor's own, with the number of his items."""

    name: str
    developed: bool
    items: int


class Classes(Context):
    """The classes of a question, and how many judgments the last change touched."""

    classes: list[ClassView]
    changed: int = 0


class Renaming(Input):
    """A class gets another name; the name of another class merges the two."""

    key: str = KEY
    before: str = Field(min_length=1, max_length=100_000)
    after: str = Field(min_length=1, max_length=500)


class RenamingTakenBack(Input):
    """An earlier renaming, named by its key, is taken back."""

    key: str = KEY
    of: str = KEY


@router.action("GET", "/judge/{assignment}/classes", roles=ASSESSORS)
def show_classes(who: Who, site: TheSite, assignment: Number) -> Classes:
    """The classes that this assessor may choose from: question development's and his own."""
    with site.store.read() as connection:
        one = own_assignment(connection, who, assignment)
        return _view(known_classes(connection, one))


@router.action("POST", "/judge/{assignment}/classes/rename", roles=ASSESSORS)
def rename(who: Who, site: TheSite, assignment: Number, sent: Renaming) -> Classes:
    """Rename a class, or merge it into another: every judgment of this assessor that names it follows."""
    with site.store.write() as connection, refusing():
        one = own_assignment(connection, who, assignment)
        try:
            count = rename_class(connection, one, sent.before, sent.after, who=who.assessor(), key=sent.key)
        except ClassGoneError as error:
            raise Refusal(409, str(error)) from error
        return _view(known_classes(connection, one), count)


@router.action("POST", "/judge/{assignment}/classes/undo", roles=ASSESSORS)
def take_back(who: Who, site: TheSite, assignment: Number, sent: RenamingTakenBack) -> Classes:
    """Take a renaming or merging back."""
    with site.store.write() as connection, refusing():
        one = own_assignment(connection, who, assignment)
        count = take_back_renaming(connection, one, sent.of, who=who.assessor(), key=sent.key)
        return _view(known_classes(connection, one), count)


def _view(found: list[KnownClass], changed: int = 0) -> Classes:
    return Classes(classes=[ClassView.model_validate(one) for one in found], changed=changed)
