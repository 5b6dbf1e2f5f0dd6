"""Question development: series and their questions, drafts and published, with what an author should look at."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field
from sqlalchemy import Connection

from qassay.errors import UsageError, unknown
from qassay.questions import Question
from qassay.store.development import drafts as store
from qassay.store.development.answers import add_answer, known_answers
from qassay.store.judging.nuggets import DEVELOPMENT, write_nugget
from qassay.store.pool.uploads import count_runs
from qassay.web.errors import Refusal
from qassay.web.judging import acting
from qassay.web.pages.documents import titles_of
from qassay.web.questions import (
    NUGGET_TYPES,
    Group,
    author_of,
    check_author,
    forget,
    group_view,
    is_own,
    noted,
    own_questions,
)
from qassay.web.routing import ASSESSORS, ORGANISERS, Context, Done, Input, Router, ThePerson, TheSite
from qassay.web.site import Site

router = Router()

SERIES_A_PAGE = 20
QUESTIONS_A_PAGE = 50

Text = Annotated[str, Field(max_length=20_000)]
# No database takes a NUL in a name.
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]+$")]
Target = Annotated[str, Field(min_length=1, max_length=500)]


class DevelopmentPage(Context):
    """The questions of an evaluation, a page of them."""

    in_series: bool
    # Types that a question may be given; `other` comes by itself where questions come in series.
    types: list[str]
    # Kinds of series, where the task has several.
    series_types: list[str]
    groups: list[Group]
    show: str
    page: int
    pages: int
    drafts: int
    published: int
    has_collection: bool
    # Titles of the documents of known answers, by their ids.
    titles: dict[str, str]
    runs: int
    # Whether all questions are here, and can be put in order and published; an author has their own drafts.
    organises: bool


class SeriesSent(Input):
    """A series to begin, or to change."""

    target: Target
    target_type: Annotated[str, Field(max_length=100)] | None = None
    series_type: Annotated[str, Field(max_length=100)] | None = None


class SeriesChange(SeriesSent):
    """The target of a series, as it should become."""

    series: Name


class QuestionSent(Input):
    """A draft to add, with an answer where one was found first; of a definition question that is a nugget."""

    type: Name
    text: Text = ""
    hypothesis: Text | None = None
    series: Name | None = None
    answer: Text | None = None
    vital: bool = False
    doc: Annotated[str, Field(max_length=1_000)] | None = None


class DraftMoving(Input):
    """A series or a draft to move, and by how many places."""

    id: Name
    places: Annotated[int, Field(ge=-10_000, le=10_000)]


class Named(Input):
    """A series."""

    series: Name


class DraftPublishing(Input):
    """The series to publish, or drafts that are in none."""

    groups: Annotated[list[Name], Field(min_length=1, max_length=10_000)]


class Made(Context):
    """A draft that was made."""

    question: str
    series: str | None


class Published(Context):
    """The ids that drafts were published under."""

    questions: list[str]


@router.page("/development", template="development.html", roles=ASSESSORS)
def development(
    person: ThePerson,
    site: TheSite,
    show: Annotated[Literal["all", "drafts"], Query()] = "all",
    page: Annotated[int, Query(ge=1, le=100_000)] = 1,
) -> DevelopmentPage:
    """All questions, drafts first, then the test set; to an author, their own drafts."""
    task = site.configuration.task
    in_series = task.unit == "series"
    with site.store.read() as connection:
        questions = own_questions(site, person, connection)
        runs, withdrawn = count_runs(connection)
        size = SERIES_A_PAGE if in_series else QUESTIONS_A_PAGE
        pages = max(1, -(-questions.groups(0, 0, only_drafts=show == "drafts")[1] // size))
        page = min(page, pages)
        page_groups, _ = questions.groups((page - 1) * size, size, only_drafts=show == "drafts")
        answers = known_answers(connection, [question.id for group in page_groups for question in group])
    return DevelopmentPage(
        in_series=in_series,
        types=store.writable_types(task),
        series_types=list(task.series_types),
        groups=[group_view(questions, task, group, answers) for group in page_groups],
        show=show,
        page=page,
        pages=pages,
        drafts=len(questions.drafts),
        published=len(questions.published),
        has_collection=site.folder.collection.is_dir(),
        titles=titles_of(site, (answer.doc for known in answers.values() for answer in known)),
        runs=runs - withdrawn if person.role == "organiser" else 0,
        organises=person.role == "organiser",
    )


@router.action("POST", "/development/series", roles=ASSESSORS, status=201)
def begin_series(person: ThePerson, site: TheSite, sent: SeriesSent) -> Made:
    """Begin a series of drafts; its `other` question comes with it."""
    check_author(site, person)
    with acting(site, person) as act:
        stored = store.new_series(
            act,
            target=sent.target.strip(),
            target_type=sent.target_type,
            series_type=_series_type(site, sent),
            author=author_of(site, person),
        )
    return Made(question=stored.question.id, series=stored.question.series)


def _series_type(site: Site, sent: SeriesSent) -> str | None:
    """The kind of a series, one of those that the task has."""
    kinds = site.configuration.task.series_types
    if sent.series_type is not None and sent.series_type not in kinds:
        raise unknown("kind of series", sent.series_type, kinds)
    return sent.series_type


@router.action("PUT", "/development/series", roles=ASSESSORS)
def change_series(person: ThePerson, site: TheSite, sent: SeriesChange) -> Done:
    """Change what a series is about, in all of its questions."""
    changes = {"target": sent.target.strip(), "target_type": sent.target_type, "series_type": _series_type(site, sent)}
    with acting(site, person) as act:
        _check_series(site, person, act.connection, sent.series)
        store.change_series(act, sent.series, changes)
    forget(site)
    return Done()


@router.action("POST", "/development/series/move", roles=ORGANISERS)
def move_series(site: TheSite, sent: DraftMoving) -> Done:
    """Move a series of drafts among the others."""
    with site.store.write() as connection:
        store.move_series(connection, sent.id, sent.places)
    return Done()


@router.action("POST", "/development/series/remove", roles=ASSESSORS)
def remove_series(person: ThePerson, site: TheSite, sent: Named) -> Done:
    """Remove a series of drafts."""
    with acting(site, person) as act:
        _check_series(site, person, act.connection, sent.series)
        store.remove_series(act, sent.series)
    return Done()


@router.action("POST", "/development/questions", roles=ASSESSORS, status=201)
def add_question(person: ThePerson, site: TheSite, sent: QuestionSent) -> Made:
    """Add a draft, at the end of its series and before the `other` question."""
    check_author(site, person)
    author = author_of(site, person)
    question = Question("", sent.type, sent.text.strip(), sent.series, hypothesis=sent.hypothesis, author=author)
    with acting(site, person) as act:
        if sent.series is not None:
            _check_series(site, person, act.connection, sent.series)
        stored = store.new_question(act, question)
        if sent.answer is not None and sent.type in NUGGET_TYPES:
            fact = noted(sent.answer, vital=sent.vital, doc=sent.doc)
            write_nugget(act, DEVELOPMENT, stored.question.id, None, fact)
        elif sent.answer is not None:
            add_answer(act, stored.question.id, sent.answer, sent.doc)
    return Made(question=stored.question.id, series=stored.question.series)


@router.action("POST", "/development/questions/move", roles=ASSESSORS)
def move_question(person: ThePerson, site: TheSite, sent: DraftMoving) -> Done:
    """Move a draft within its series, or among the drafts, which only organisers do."""
    check_author(site, person)
    with site.store.write() as connection:
        if person.role != "organiser":
            own_drafts = (
                draft for draft in store.read_drafts(connection) if is_own(person, draft) and draft.question.series
            )
            if sent.id not in {draft.question.id for draft in own_drafts}:
                raise Refusal(404, f"you have no series with a draft {sent.id}")
        store.move_question(connection, sent.id, sent.places)
    return Done()


def _check_series(site: Site, person: ThePerson, connection: Connection, series: str) -> None:
    """Refuse a series that is not the author's own, in the same words as one that is not there."""
    check_author(site, person)
    if person.role == "organiser":
        return
    try:
        is_author = all(is_own(person, stored) for stored in store.questions_of_series(connection, series))
    except UsageError:
        is_author = False
    if not is_author:
        raise Refusal(404, f"you have no series {series}")


@router.action("POST", "/development/publish", roles=ORGANISERS)
def publish_drafts(person: ThePerson, site: TheSite, sent: DraftPublishing) -> Published:
    """Put drafts into the test set; everything or nothing."""
    with acting(site, person) as act:
        names = store.publish(act, sent.groups)
    forget(site)
    return Published(questions=list(names.values()))
