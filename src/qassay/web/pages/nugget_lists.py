"""Writing nuggets (step 1) and what matching them (step 2) needs: the list, the strings, what the series has asked.

Every change names the version it has seen and carries a key: a second tab is told, and a change sent twice is one. As
soon as a response has been looked through, a change of what the list says has to say which responses are to be looked
at again.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection

from qassay.store.assignment.assignments import Assignment
from qassay.store.assignment.counting import completed
from qassay.store.judging.nugget_changes import NuggetChange, begin_list, begin_matching, match_rows
from qassay.store.judging.nuggets import nuggets_of
from qassay.store.pool.items import Item, items_of
from qassay.web.errors import Refusal
from qassay.web.judging import own_assignment, refusing
from qassay.web.nugget_input import (
    Adding,
    Merging,
    Moving,
    Removing,
    Rewriting,
    Sent,
    Splitting,
    TakingBack,
    names_in,
    texts_in,
    to_look_at,
)
from qassay.web.routing import ASSESSORS, Context, Number, Router, TheSite, Who
from qassay.web.site import Person, Site

router = Router()


class NuggetView(Context):
    """A nugget of the assessor's list, with the number of responses that he has found it in."""

    nugget: str
    text: str
    vital: bool
    version: int
    ordinal: int
    linked: int


class NuggetList(Context):
    """The assessor's list for a question, and how far matching is."""

    nuggets: list[NuggetView]
    step: int
    looked_through: int
    done: int
    total: int
    closed: bool


@router.action("GET", "/judge/{assignment}/nuggets", roles=ASSESSORS)
def show_nuggets(who: Who, site: TheSite, assignment: Number) -> NuggetList:
    """The assessor's own list."""
    with site.store.read() as connection:
        return _view(connection, who, assignment)


@router.action("POST", "/judge/{assignment}/nuggets/begin", roles=ASSESSORS)
def begin(who: Who, site: TheSite, assignment: Number) -> NuggetList:
    """The assessor's own list; the first time, a copy of the one from question development."""
    with site.store.write() as connection:
        one = own_assignment(connection, who, assignment)
        _responses(connection, one)
        begin_list(connection, one, who.id)
        return _view(connection, who, assignment)


@router.action("POST", "/judge/{assignment}/nuggets/add", roles=ASSESSORS)
def add(who: Who, site: TheSite, assignment: Number, sent: Adding) -> NuggetList:
    """Write a nugget."""
    return _change(
        who, site, assignment, sent, lambda connection, change: change.add(connection, sent.text, vital=sent.vital)
    )


@router.action("POST", "/judge/{assignment}/nuggets/change", roles=ASSESSORS)
def rewrite(who: Who, site: TheSite, assignment: Number, sent: Rewriting) -> NuggetList:
    """Say a nugget otherwise, or mark it vital or okay."""

    def do(connection: Connection, change: NuggetChange) -> None:
        change.rewrite(connection, sent.nugget, sent.text, vital=sent.vital, expected=sent.expected)

    return _change(who, site, assignment, sent, do)


@router.action("POST", "/judge/{assignment}/nuggets/remove", roles=ASSESSORS)
def remove(who: Who, site: TheSite, assignment: Number, sent: Removing) -> NuggetList:
    """Take a nugget off the list, and its links with it."""

    def do(connection: Connection, change: NuggetChange) -> None:
        change.remove(connection, sent.nugget, expected=sent.expected)

    return _change(who, site, assignment, sent, do)


@router.action("POST", "/judge/{assignment}/nuggets/split", roles=ASSESSORS)
def split(who: Who, site: TheSite, assignment: Number, sent: Splitting) -> NuggetList:
    """Make two nuggets of one."""

    def do(connection: Connection, change: NuggetChange) -> None:
        change.split(connection, sent.nugget, sent.texts, expected=sent.expected)

    return _change(who, site, assignment, sent, do)


@router.action("POST", "/judge/{assignment}/nuggets/merge", roles=ASSESSORS)
def merge(who: Who, site: TheSite, assignment: Number, sent: Merging) -> NuggetList:
    """Make one nugget of two."""

    def do(connection: Connection, change: NuggetChange) -> None:
        expected = (sent.expected, sent.other_expected)
        change.merge(connection, sent.nugget, sent.other, sent.text, expected=expected)

    return _change(who, site, assignment, sent, do)


@router.action("POST", "/judge/{assignment}/nuggets/move", roles=ASSESSORS)
def move(who: Who, site: TheSite, assignment: Number, sent: Moving) -> NuggetList:
    """Put a nugget elsewhere in the list."""

    def do(connection: Connection, change: NuggetChange) -> None:
        change.move(connection, sent.nugget, sent.before, expected=sent.expected)

    return _change(who, site, assignment, sent, do)


@router.action("POST", "/judge/{assignment}/nuggets/undo", roles=ASSESSORS)
def take_back(who: Who, site: TheSite, assignment: Number, sent: TakingBack) -> NuggetList:
    """Take a change of the list back, with everything that hung on it."""
    return _change(who, site, assignment, sent, lambda connection, change: change.take_back(connection, sent.of))


@router.action("POST", "/judge/{assignment}/matching", roles=ASSESSORS)
def go_on(who: Who, site: TheSite, assignment: Number) -> NuggetList:
    """Go on to step 2."""
    with site.store.write() as connection:
        one = own_assignment(connection, who, assignment)
        _responses(connection, one)
        begin_matching(connection, one)
        return _view(connection, who, assignment)


def _change(
    who: Person,
    site: Site,
    assignment: int,
    sent: Sent | Moving | TakingBack,
    do: Callable[[Connection, NuggetChange], object],
) -> NuggetList:
    """Do a change once, open the responses that are to be looked at again, and show the list."""
    with site.store.write() as connection, refusing():
        one = own_assignment(connection, who, assignment)
        responses = _responses(connection, one)
        change = NuggetChange(one, who.assessor(), sent.key, names_in(sent), texts_in(sent))
        if change.is_new(connection):
            again: list[Item] = []
            if isinstance(sent, Sent):
                again = to_look_at(connection, one, responses, sent)
            do(connection, change)
            change.look_again(connection, again)
            change.finish(connection)
        return _view(connection, who, assignment)


def _responses(connection: Connection, one: Assignment) -> list[Item]:
    found = [item for item in items_of(connection, one.question) if item.kind == "match"]
    if not found:
        raise Refusal(404, "this question takes no nuggets")
    return found


def _view(connection: Connection, who: Person, assignment: int) -> NuggetList:
    one = own_assignment(connection, who, assignment)
    responses = _responses(connection, one)
    found: dict[str, set[str | None]] = {}
    for _, row in match_rows(connection, one.set, one.question):
        for name in row["nuggets"]:
            found.setdefault(name, set()).add(row.get("run"))
    return NuggetList(
        nuggets=[
            NuggetView(
                nugget=nugget.nugget,
                text=nugget.text,
                vital=nugget.vital,
                version=nugget.version,
                ordinal=nugget.ordinal,
                linked=len(found.get(nugget.nugget, ())),
            )
            for nugget in nuggets_of(connection, one.set, one.question)
        ],
        step=one.step,
        looked_through=sum(completed(connection, one, responses)),
        done=one.done,
        total=one.total,
        closed=one.closed is not None,
    )
