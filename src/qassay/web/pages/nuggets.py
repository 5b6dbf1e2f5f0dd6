"""Nuggets: writing the list (step 1), what it is written from, and what matching (step 2) needs.

Every change names the version it has seen and carries a key: a second tab gets a conflict, and a change sent twice is
one. As soon as a response is done, a change of what the list says has to say which responses are to be judged again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from pydantic import Field
from sqlalchemy import Connection

from qassay.judging import KINDS, Item, digest
from qassay.judging.match import matched_nuggets
from qassay.store.assignment.assignments import Assignment, own_on
from qassay.store.assignment.counting import completed
from qassay.store.development.answers import developed_answers
from qassay.store.judging.classes import right_answers
from qassay.store.judging.nugget_changes import LONGEST_NUGGET, NuggetChange, begin_list, begin_matching, match_rows
from qassay.store.judging.nuggets import nuggets_of
from qassay.store.pool.items import items_of
from qassay.web.errors import Refusal
from qassay.web.judging import acting, own_assignment
from qassay.web.questions import earlier_in_series, question_named
from qassay.web.routing import ASSESSORS, Context, Input, Number, Router, ThePerson, TheSite
from qassay.web.similar_strings import grouped, is_like
from qassay.web.site import Person, Site

router = Router()

# Questions whose groups of strings are kept at hand.
KEPT = 50

Again: TypeAlias = Literal["all", "linked", "similar", "none"]
KEY = Field(min_length=16, max_length=64, pattern=r"^[0-9A-Za-z-]+$")
TEXT = Field(min_length=1, max_length=LONGEST_NUGGET)
NAME = Field(min_length=1, max_length=200)
VERSION = Field(ge=1)


class Sent(Input):
    """The fields of every change; `again` says which responses are to be looked at again."""

    key: str = KEY
    again: Again | None = None


class Adding(Sent):
    """A new nugget."""

    text: str = TEXT
    vital: bool


class Rewriting(Sent):
    """A nugget, with another text or another mark."""

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
    texts: tuple[str, str] = Field(strict=False)  # JSON has no tuples


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


class UndoneChange(Input):
    """An earlier change, named by its key, is undone."""

    key: str = KEY
    of: str = KEY


class NuggetView(Context):
    """A nugget of the assessor's list, with the number of responses that have it."""

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
def show_nuggets(person: ThePerson, site: TheSite, assignment: Number) -> NuggetList:
    """The assessor's own list."""
    with site.store.read() as connection:
        return _view(connection, person, assignment)


@router.action("POST", "/judge/{assignment}/nuggets/begin", roles=ASSESSORS)
def begin(person: ThePerson, site: TheSite, assignment: Number) -> NuggetList:
    """The assessor's own list; the first time, a copy of the one from question development."""
    with acting(site, person) as act:
        assigned = own_assignment(act.connection, person, assignment)
        _responses(act.connection, assigned)
        begin_list(act, assigned)
        return _view(act.connection, person, assignment)


@router.action("POST", "/judge/{assignment}/nuggets/add", roles=ASSESSORS)
def add(person: ThePerson, site: TheSite, assignment: Number, sent: Adding) -> NuggetList:
    """Write a nugget."""
    return _change(person, site, assignment, sent, lambda change: change.add(sent.text, vital=sent.vital))


@router.action("POST", "/judge/{assignment}/nuggets/change", roles=ASSESSORS)
def rewrite(person: ThePerson, site: TheSite, assignment: Number, sent: Rewriting) -> NuggetList:
    """Change the text of a nugget, or mark it vital or okay."""
    return _change(
        person,
        site,
        assignment,
        sent,
        lambda change: change.rewrite(sent.nugget, sent.text, vital=sent.vital, expected=sent.expected),
    )


@router.action("POST", "/judge/{assignment}/nuggets/remove", roles=ASSESSORS)
def remove(person: ThePerson, site: TheSite, assignment: Number, sent: Removing) -> NuggetList:
    """Remove a nugget from the list, with its links."""
    return _change(person, site, assignment, sent, lambda change: change.remove(sent.nugget, expected=sent.expected))


@router.action("POST", "/judge/{assignment}/nuggets/split", roles=ASSESSORS)
def split(person: ThePerson, site: TheSite, assignment: Number, sent: Splitting) -> NuggetList:
    """Split a nugget into two."""
    return _change(
        person, site, assignment, sent, lambda change: change.split(sent.nugget, sent.texts, expected=sent.expected)
    )


@router.action("POST", "/judge/{assignment}/nuggets/merge", roles=ASSESSORS)
def merge(person: ThePerson, site: TheSite, assignment: Number, sent: Merging) -> NuggetList:
    """Merge two nuggets."""
    return _change(
        person,
        site,
        assignment,
        sent,
        lambda change: change.merge(sent.nugget, sent.other, sent.text, expected=(sent.expected, sent.other_expected)),
    )


@router.action("POST", "/judge/{assignment}/nuggets/move", roles=ASSESSORS)
def move(person: ThePerson, site: TheSite, assignment: Number, sent: Moving) -> NuggetList:
    """Move a nugget within the list."""
    return _change(
        person, site, assignment, sent, lambda change: change.move(sent.nugget, sent.before, expected=sent.expected)
    )


@router.action("POST", "/judge/{assignment}/nuggets/undo", roles=ASSESSORS)
def undo(person: ThePerson, site: TheSite, assignment: Number, sent: UndoneChange) -> NuggetList:
    """Undo a change of the list, with everything that depended on it."""
    return _change(person, site, assignment, sent, lambda change: change.undo(sent.of))


@router.action("POST", "/judge/{assignment}/matching", roles=ASSESSORS)
def go_on(person: ThePerson, site: TheSite, assignment: Number) -> NuggetList:
    """Go on to step 2."""
    with acting(site, person) as act:
        assigned = own_assignment(act.connection, person, assignment)
        _responses(act.connection, assigned)
        begin_matching(act, assigned)
        return _view(act.connection, person, assignment)


def _change(
    person: Person,
    site: Site,
    assignment: int,
    sent: Sent | Moving | UndoneChange,
    do: Callable[[NuggetChange], object],
) -> NuggetList:
    """Make a change once, open the responses that are to be judged again, and show the list."""
    with acting(site, person, sent.key) as act:
        assigned = own_assignment(act.connection, person, assignment)
        responses = _responses(act.connection, assigned)
        change = NuggetChange(act, assigned, _names_in(sent), _texts_in(sent))
        if change.is_new():
            again = _to_judge_again(act.connection, assigned, responses, sent) if isinstance(sent, Sent) else []
            do(change)
            change.judge_again(again)
            change.finish()
        return _view(act.connection, person, assignment)


def _responses(connection: Connection, assigned: Assignment) -> list[Item]:
    responses = [item for item in items_of(connection, assigned.question) if KINDS[item.kind].linked]
    if not responses:
        raise Refusal(404, "this question takes no nuggets")
    return responses


def _view(connection: Connection, person: Person, assignment: int) -> NuggetList:
    assigned = own_assignment(connection, person, assignment)
    responses = _responses(connection, assigned)
    linked: dict[str, set[str | None]] = {}
    for _, row in match_rows(connection, assigned.set, assigned.question):
        for name in matched_nuggets(row):
            linked.setdefault(name, set()).add(row.get("run"))
    return NuggetList.build(
        assigned,
        nuggets=[
            NuggetView.build(nugget, linked=len(linked.get(nugget.nugget, ())))
            for nugget in nuggets_of(connection, assigned.set, assigned.question)
        ],
        looked_through=sum(completed(connection, assigned, responses)),
        closed=assigned.closed is not None,
    )


# ---- which responses a change opens again ---------------------------------------------------------------------------


def _names_in(sent: Input) -> list[str]:
    """The nuggets that a change is about; one that is moved may keep its number while the others go."""
    names = (getattr(sent, "nugget", None), getattr(sent, "other", None)) if isinstance(sent, Sent) else ()
    return [name for name in names if name is not None]


def _texts_in(sent: Input) -> list[str]:
    """The texts of nuggets that a change sends."""
    return [text for text in (getattr(sent, "text", ""), *getattr(sent, "texts", ())) if text]


def _to_judge_again(connection: Connection, assigned: Assignment, responses: list[Item], sent: Sent) -> list[Item]:
    """The responses that a change opens again; the assessor is asked for them where any response is done."""
    if not _changes_matches(connection, assigned, sent):
        return []
    done = [
        item for item, is_done in zip(responses, completed(connection, assigned, responses), strict=True) if is_done
    ]
    if not done or sent.again == "none":
        return []
    if sent.again is None:
        message = "some responses are done with the earlier list: say which to look at again"
        raise Refusal(409, message, asks="again")
    if sent.again == "all":
        return done
    if sent.again == "linked":
        names = set(_names_in(sent))
        rows = match_rows(connection, assigned.set, assigned.question)
        runs = {row.get("run") for _, row in rows if names & set(matched_nuggets(row))}
        return [item for item in done if item.run in runs]
    texts = [
        *_texts_in(sent),
        *(text for name in _names_in(sent) for text in _texts_of(connection, assigned, name) if text),
    ]
    return [
        item
        for item in done
        if any(is_like(text, element["text"] or "") for text in texts for element in item.body["elements"])
    ]


def _changes_matches(connection: Connection, assigned: Assignment, sent: Sent) -> bool:
    """Whether a change touches matches: marking a nugget vital does not, nor does removing an unused one."""
    if isinstance(sent, Rewriting):
        return all(text != sent.text for text in _texts_of(connection, assigned, sent.nugget))
    if isinstance(sent, Removing):
        rows = match_rows(connection, assigned.set, assigned.question)
        return any(sent.nugget in matched_nuggets(row) for _, row in rows)
    return True


def _texts_of(connection: Connection, assigned: Assignment, name: str) -> list[str]:
    nuggets = nuggets_of(connection, assigned.set, assigned.question)
    return [nugget.text for nugget in nuggets if nugget.nugget == name]


# ---- what nuggets are written from ----------------------------------------------------------------------------------


class StringView(Context):
    """A string of some response, and a document that it came from."""

    text: str
    doc: str | None


class Strings(Context):
    """The strings of all responses of a question, each once, in groups of similar ones."""

    groups: list[list[StringView]]


class EarlierView(Context):
    """An earlier question of the series and what is known to answer it: nothing of this is a nugget."""

    id: str
    type: str
    text: str
    answers: list[str]


class Earlier(Context):
    """The questions of a series that come before this one."""

    questions: list[EarlierView]


@router.action("GET", "/judge/{assignment}/strings", roles=ASSESSORS)
def strings(person: ThePerson, site: TheSite, assignment: Number) -> Strings:
    """All strings of all responses; their order depends on the strings alone."""
    with site.store.read() as connection:
        assigned = own_assignment(connection, person, assignment)
        items = [item for item in items_of(connection, assigned.question) if KINDS[item.kind].linked]
    docs: dict[str, str | None] = {}
    for item in items:
        for element in item.body["elements"]:
            text, doc = str(element.get("text") or ""), element.get("doc")
            if text.strip():
                docs[text] = min(filter(None, (docs.get(text), doc)), default=None)
    cache: dict[str, list[list[str]]] = site.memory.setdefault("strings", {})
    mark = digest(assigned.question, sorted(docs))
    # What another request throws out of the kept ones meanwhile is still here.
    groups = cache.get(mark)
    if groups is None:
        groups = grouped(docs)
        for old in list(cache)[: max(0, len(cache) + 1 - KEPT)]:
            cache.pop(old, None)
        cache[mark] = groups
    return Strings(groups=[[StringView(text=text, doc=docs[text]) for text in group] for group in groups])


@router.action("GET", "/judge/{assignment}/earlier", roles=ASSESSORS)
def earlier(person: ThePerson, site: TheSite, assignment: Number) -> Earlier:
    """The earlier questions of the series, each with its known answers and what the assessor called right."""
    with site.store.read() as connection:
        assigned = own_assignment(connection, person, assignment)
        before = earlier_in_series(site, question_named(site, assigned.question, connection), connection)
        assignments = own_on(connection, person.id, [question.id for question in before])
        views = [
            EarlierView.build(
                question, answers=_answers(connection, question.id, assignments.get(question.id), person.id)
            )
            for question in before
        ]
    return Earlier(questions=views)


def _answers(connection: Connection, question: str, assigned: Assignment | None, account: int) -> list[str]:
    answers = [
        *developed_answers(connection, question, account),
        *(right_answers(connection, assigned) if assigned is not None else ()),
    ]
    return list(dict.fromkeys(answer for answer in answers if answer))
