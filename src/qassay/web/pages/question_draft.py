"""One question under development: what it asks, its known answers with their documents, and the author's nuggets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Query
from pydantic import Field
from sqlalchemy import Connection

from qassay.errors import UsageError
from qassay.store.assignment.assignments import lock_assignments
from qassay.store.assignment.counting import recount_question
from qassay.store.development import drafts as store
from qassay.store.development.answers import LONGEST_ANSWER, add_answer, forget_answer, known_answers, withdraw_answer
from qassay.store.judging.nugget_changes import LONGEST_NUGGET
from qassay.store.judging.nuggets import DEVELOPMENT, Nugget, nuggets_of, write_nugget
from qassay.web.errors import Refusal
from qassay.web.judging import acting
from qassay.web.pages.development import Name, Text
from qassay.web.pages.documents import check_document, titles_of
from qassay.web.questions import (
    NUGGET_TYPES,
    NumberedQuestion,
    QuestionRow,
    check_author,
    forget,
    is_own,
    noted,
    own_questions,
    question_row,
)
from qassay.web.routing import ASSESSORS, Context, Done, Input, Router, ThePerson, TheSite
from qassay.web.site import Site

router = Router()

Doc = Annotated[str, Field(max_length=1_000)]


class NotedNugget(Context):
    """A fact that the author noted."""

    nugget: str
    version: int
    text: str
    vital: bool
    # Where it was found, if it was taken from a document.
    doc: str | None


class Neighbour(NumberedQuestion):
    """Another question of the series."""

    current: bool


class QuestionDraftPage(Context):
    """A question as its author works on it."""

    question: QuestionRow
    version: int
    definition: str | None
    # Gold answers, where the question is answered in free text.
    gold: list[str] | None
    series: str | None
    series_number: str | None
    target: str | None
    neighbours: list[Neighbour]
    types: list[str]
    # Whether type and being may change: nothing was judged of it, and no run answers it.
    fixed: str | None
    nuggets: list[NotedNugget] | None
    has_collection: bool
    # Titles of the documents of known answers and nuggets, by their ids.
    titles: dict[str, str]
    # What the search for an answer starts with: a question of a series often names its target only as "it".
    search: str


class QuestionId(Input):
    """A question."""

    id: Name


class QuestionChange(QuestionId):
    """A question as it is to be; `version` is the one that was seen."""

    version: Annotated[int, Field(ge=1, le=2**31)]
    text: Text = ""
    type: Name | None = None
    hypothesis: Text | None = None
    definition: Text | None = None
    # Gold answers of a free-text question, one per line.
    gold: Text | None = None


class AnswerSent(QuestionId):
    """An answer, and the document that supports it."""

    answer: Annotated[str, Field(min_length=1, max_length=LONGEST_ANSWER)]
    doc: Doc | None = None


class Withdrawal(AnswerSent):
    """An answer to withdraw; a reason is needed where the question is in the test set."""

    reason: Annotated[str, Field(max_length=2_000)] = ""


class NuggetSent(QuestionId):
    """A fact to note, or a change of one."""

    text: Annotated[str, Field(min_length=1, max_length=LONGEST_NUGGET)]
    vital: bool = False
    doc: Doc | None = None
    nugget: Name | None = None
    version: Annotated[int, Field(ge=0, le=2**31)] = 0


class NuggetRemoval(QuestionId):
    """A fact to take off the list."""

    nugget: Name
    version: Annotated[int, Field(ge=0, le=2**31)]


class Changed(Context):
    """The version that a question has now."""

    version: int


@router.page("/development/question", template="question_draft.html", roles=ASSESSORS)
def show(
    person: ThePerson,
    site: TheSite,
    id: Annotated[str, Query(max_length=200, pattern=r"^[^\x00]+$")],  # noqa: A002  # in the address
) -> QuestionDraftPage:
    """One question with the notes of its author."""
    task = site.configuration.task
    with site.store.read() as connection:
        stored = _stored(site, person, connection, id)
        questions = own_questions(site, person, connection)
        series = questions.series_of(stored.question)
        answers = known_answers(connection, [member.id for member in series])
        nuggets = nuggets_of(connection, DEVELOPMENT, id) if stored.question.type in NUGGET_TYPES else None
        fixed = _fixed(connection, stored)
    question = stored.question
    facts = [] if nuggets is None else [_nugget(nugget) for nugget in nuggets]
    docs = [*(answer.doc for answer in answers.get(id, ())), *(nugget.doc for nugget in facts)]
    at = next(position for position, member in enumerate(series) if member.id == id)
    types = store.writable_types(task)
    name = questions.names.get
    return QuestionDraftPage.build(
        question,
        question=question_row(questions, question, series[:at] if question.series is not None else (), answers),
        version=stored.version,
        gold=list(question.gold) if question.type == "qa" else None,
        series_number=None if question.series is None else name(question.series, question.series),
        neighbours=[
            Neighbour.build(member, number=name(member.id, member.id), current=member.id == id)
            for member in series
            if len(series) > 1
        ],
        types=types if question.type in types else [question.type],
        fixed=fixed,
        nuggets=None if nuggets is None else facts,
        has_collection=site.folder.collection.is_dir(),
        titles=titles_of(site, docs),
        search=_search(question.text, question.target),
    )


def _search(text: str, target: str | None) -> str:
    """The target and the question, as one search: a question of a series often says only "it".

    >>> _search("When was it founded?", "AARP"), _search("Who founded the AARP?", "AARP"), _search("", "AARP")
    ('AARP When was it founded?', 'Who founded the AARP?', 'AARP')
    """
    is_named = target is None or target.casefold() in text.casefold()
    return (text if is_named else f"{target} {text}").strip()[:300]


@router.action("PUT", "/development/question", roles=ASSESSORS)
def change(person: ThePerson, site: TheSite, sent: QuestionChange) -> Changed:
    """Change a question; the earlier text of a question in the test set is recorded."""
    changes: dict[str, object] = {
        "text": sent.text.strip(),
        "hypothesis": _or_none(sent.hypothesis),
        "definition": _or_none(sent.definition),
    }
    if sent.type is not None:
        changes["type"] = sent.type
    try:
        with acting(site, person) as act:
            stored = _stored(site, person, act.connection, sent.id)
            if sent.gold is not None:
                changes["gold"] = _gold(sent.gold, stored.question.gold)
            if not stored.draft and not changes["text"] and stored.question.text:
                raise UsageError("a question of the test set needs a text")
            changed = store.change_question(act, sent.id, changes, expected=sent.version)
    except store.ChangedError as error:
        current = error.current
        message = f"{error}. It reads now: {current.question.text[:1000] or '(no text)'}"
        raise Refusal(409, message, stands=current.question.text, version=current.version) from error
    forget(site)
    return Changed(version=changed.version)


@router.action("POST", "/development/question/remove", roles=ASSESSORS)
def remove(person: ThePerson, site: TheSite, sent: QuestionId) -> Done:
    """Remove a question; one of the test set only where no judgment and no run depends on it."""
    with acting(site, person) as act:
        _stored(site, person, act.connection, sent.id)
        store.remove_question(act, sent.id)
    forget(site)
    return Done()


@router.action("POST", "/development/question/answers", roles=ASSESSORS, status=201)
def note_answer(person: ThePerson, site: TheSite, sent: AnswerSent) -> Done:
    """Add a known answer, or accept one that an assessor added."""
    doc = _or_none(sent.doc)
    check_document(site, doc)
    with acting(site, person) as act:
        _locked(site, person, act.connection, sent.id)
        add_answer(act, sent.id, sent.answer, doc)
    return Done()


@router.action("POST", "/development/question/answers/withdraw", roles=ASSESSORS)
def withdraw(person: ThePerson, site: TheSite, sent: Withdrawal) -> Done:
    """Withdraw a known answer: of a draft it vanishes, else it stays with the reason."""
    doc = _or_none(sent.doc)
    with acting(site, person) as act:
        if _locked(site, person, act.connection, sent.id).draft:
            forget_answer(act.connection, sent.id, sent.answer, doc)
        else:
            withdraw_answer(act, sent.id, sent.answer, doc, reason=sent.reason)
    return Done()


@router.action("POST", "/development/question/nuggets", roles=ASSESSORS)
def note_nugget(person: ThePerson, site: TheSite, sent: NuggetSent) -> NotedNugget:
    """Add a fact to the list of question development, or change one."""
    with acting(site, person) as act:
        lock_assignments(act.connection, sent.id)  # before the question, as every change does
        if _locked(site, person, act.connection, sent.id).question.type not in NUGGET_TYPES:
            raise UsageError("only definition and other questions have nuggets")
        bodies = {nugget.nugget: nugget.body for nugget in nuggets_of(act.connection, DEVELOPMENT, sent.id)}
        before = bodies.get(sent.nugget) if sent.nugget is not None else None
        body = noted(sent.text, vital=sent.vital, doc=_or_none(sent.doc), before=before)
        written = write_nugget(act, DEVELOPMENT, sent.id, sent.nugget, body, expected=sent.version)
        recount_question(act, sent.id)  # assessors may judge by this list
        return _nugget(written)


@router.action("POST", "/development/question/nuggets/remove", roles=ASSESSORS)
def remove_nugget(person: ThePerson, site: TheSite, sent: NuggetRemoval) -> Done:
    """Remove a fact from the list of question development."""
    with acting(site, person) as act:
        lock_assignments(act.connection, sent.id)
        _locked(site, person, act.connection, sent.id)
        write_nugget(act, DEVELOPMENT, sent.id, sent.nugget, None, expected=sent.version)
        recount_question(act, sent.id)
    return Done()


def _stored(
    site: Site,
    person: ThePerson,
    connection: Connection,
    number: str,
    find: Callable[[Connection, str], store.Stored] = store.find_stored,
) -> store.Stored:
    """A question that this person may work on; the same refusal where there is none and where it is another's."""
    check_author(site, person)
    try:
        stored = find(connection, number)
    except UsageError:
        stored = None
    if stored is None or not is_own(person, stored):
        raise Refusal(404, f"there is no question {number}")
    return stored


def _locked(site: Site, person: ThePerson, connection: Connection, number: str) -> store.Stored:
    return _stored(site, person, connection, number, store.hold_question)


def _fixed(connection: Connection, stored: store.Stored) -> str | None:
    try:
        store.refuse_where_used(connection, stored, "its type stays, and it cannot be removed")
    except UsageError as error:
        return str(error)
    return None


def _nugget(nugget: Nugget) -> NotedNugget:
    doc = (nugget.body or {}).get("doc")
    return NotedNugget.build(nugget, doc=doc if isinstance(doc, str) else None)


def _gold(text: str, before: tuple[str, ...]) -> tuple[str, ...]:
    """The gold answers of a text with one per line; those from a file that have several lines stay whole."""
    lines = _lines(text)
    return before if lines == _lines("\n".join(before)) else tuple(dict.fromkeys(lines))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _or_none(text: str | None) -> str | None:
    return text.strip() or None if text is not None else None
