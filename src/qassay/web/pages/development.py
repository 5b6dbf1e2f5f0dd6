"""Question development: series and their questions, drafts and published, with what an author should look at."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from qassay.errors import unknown
from qassay.questions import Question
from qassay.store.acts import Act
from qassay.store.development import drafts as store
from qassay.store.development.answers import add_answer, known_answers
from qassay.store.judging.nuggets import DEVELOPMENT, write_nugget
from qassay.store.pool.uploads import count_runs
from qassay.web.questions import NUGGET_TYPES, Group, author_questions, forget, group_view, noted
from qassay.web.routing import ORGANISERS, Context, Done, Input, Router, TheSite, Who
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
    runs: int


class SeriesSent(Input):
    """A series to begin, or to change."""

    target: Target
    target_type: Annotated[str, Field(max_length=100)] | None = None
    series_type: Annotated[str, Field(max_length=100)] | None = None


class SeriesChange(SeriesSent):
    """What a series is about, as it is to be."""

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
    """What is to be published: series, or drafts that are in none."""

    groups: Annotated[list[Name], Field(min_length=1, max_length=10_000)]


class Made(Context):
    """A draft that was made."""

    question: str
    series: str | None


class Published(Context):
    """The ids that drafts were published under."""

    questions: list[str]


@router.page("/development", template="development.html", roles=ORGANISERS)
def development(
    site: TheSite,
    show: Annotated[Literal["all", "drafts"], Query()] = "all",
    page: Annotated[int, Query(ge=1, le=100_000)] = 1,
) -> DevelopmentPage:
    """All questions: drafts first, then the test set."""
    task = site.configuration.task
    in_series = task.unit == "series"
    with site.store.read() as connection:
        questions = author_questions(site, connection)
        runs, withdrawn = count_runs(connection)
        size = SERIES_A_PAGE if in_series else QUESTIONS_A_PAGE
        pages = max(1, -(-questions.groups(0, 0, only_drafts=show == "drafts")[1] // size))
        page = min(page, pages)
        shown, _ = questions.groups((page - 1) * size, size, only_drafts=show == "drafts")
        answers = known_answers(connection, [question.id for group in shown for question in group])
    return DevelopmentPage(
        in_series=in_series,
        types=store.writable_types(task),
        series_types=list(task.series_types),
        groups=[group_view(questions, task, group, answers) for group in shown],
        show=show,
        page=page,
        pages=pages,
        drafts=len(questions.drafts),
        published=len(questions.published),
        has_collection=site.folder.collection.is_dir(),
        runs=runs - withdrawn,
    )


@router.action("POST", "/development/series", roles=ORGANISERS, status=201)
def begin_series(who: Who, site: TheSite, sent: SeriesSent) -> Made:
    """Begin a series of drafts; its `other` question comes with it."""
    with site.store.write() as connection:
        made = store.new_series(
            connection,
            site.configuration.task,
            target=sent.target.strip(),
            target_type=sent.target_type,
            series_type=_series_type(site, sent),
            account=who.id,
        )
    return Made(question=made.question.id, series=made.question.series)


def _series_type(site: Site, sent: SeriesSent) -> str | None:
    """The kind of a series, one of those that the task has."""
    kinds = site.configuration.task.series_types
    if sent.series_type is not None and sent.series_type not in kinds:
        raise unknown("kind of series", sent.series_type, kinds)
    return sent.series_type


@router.action("PUT", "/development/series", roles=ORGANISERS)
def change_series(who: Who, site: TheSite, sent: SeriesChange) -> Done:
    """Change what a series is about, in all of its questions."""
    changes = {"target": sent.target.strip(), "target_type": sent.target_type, "series_type": _series_type(site, sent)}
    with site.store.write() as connection:
        store.change_series(connection, sent.series, changes, account=who.id)
    forget(site)
    return Done()


@router.action("POST", "/development/series/move", roles=ORGANISERS)
def move_series(site: TheSite, sent: DraftMoving) -> Done:
    """Move a series of drafts among the others."""
    with site.store.write() as connection:
        store.move_series(connection, sent.id, sent.places)
    return Done()


@router.action("POST", "/development/series/remove", roles=ORGANISERS)
def remove_series(who: Who, site: TheSite, sent: Named) -> Done:
    """Remove a series of drafts."""
    with site.store.write() as connection:
        store.remove_series(connection, sent.series, account=who.id)
    return Done()


@router.action("POST", "/development/questions", roles=ORGANISERS, status=201)
def add_question(who: Who, site: TheSite, sent: QuestionSent) -> Made:
    """Add a draft, at the end of its series and before the `other` question."""
    question = Question("", sent.type, sent.text.strip(), sent.series, hypothesis=sent.hypothesis)
    with site.store.write() as connection:
        made = store.new_question(connection, site.configuration.task, question, account=who.id)
        if sent.answer is not None and sent.type in NUGGET_TYPES:
            fact = noted(sent.answer, vital=sent.vital, doc=sent.doc)
            act = Act(connection, site.configuration.task, who.assessor())
            write_nugget(act, DEVELOPMENT, made.question.id, None, fact)
        elif sent.answer is not None:
            add_answer(connection, made.question.id, sent.answer, sent.doc, account=who.id)
    return Made(question=made.question.id, series=made.question.series)


@router.action("POST", "/development/questions/move", roles=ORGANISERS)
def move_question(site: TheSite, sent: DraftMoving) -> Done:
    """Move a draft within its series, or among the drafts."""
    with site.store.write() as connection:
        store.move_question(connection, sent.id, sent.places)
    return Done()


@router.action("POST", "/development/publish", roles=ORGANISERS)
def publish_drafts(who: Who, site: TheSite, sent: DraftPublishing) -> Published:
    """Put drafts into the test set; everything or nothing."""
    with site.store.write() as connection:
        names = store.publish(connection, site.configuration.task, sent.groups, account=who.id)
    forget(site)
    return Published(questions=list(names.values()))
