"""Adjudication: only what assessors disagree on, their verdicts side by side without names, and a ruling.

A question is here when every assigned assessor has finished it, and not before: neither its verdicts nor how many
differ can be fetched earlier.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import Field

from qassay.errors import UsageError
from qassay.judging import ADJUDICATED, KINDS
from qassay.store.acts import Act
from qassay.store.adjudication.own_lists import LISTS, adopt, set_of_list
from qassay.store.adjudication.rulings import Disagreement, disagreements, rule, undo_ruling
from qassay.store.adjudication.settling import NotClosedError, next_to_rule, overview, progress
from qassay.store.assignment.assignments import reopen
from qassay.store.development.answers import known_answers
from qassay.store.judging.nuggets import list_for
from qassay.web.errors import Refusal
from qassay.web.judging import Choices, Key, OnPart, acting, choices_of, item_of
from qassay.web.pages.documents import documents_shown, titles_of
from qassay.web.questions import QuestionView, earlier_in_series, question_named, questions_of
from qassay.web.routing import ADJUDICATORS, Context, Done, Input, Router, ThePerson, TheSite
from qassay.web.similar_strings import NuggetRow, compared

router = Router()

QUESTIONS_A_PAGE = 100

Id = Annotated[str, Query(max_length=200)]


class QuestionProgress(Context):
    """How far a question is on its way to an adjudicated one; counts are there only once it is closed."""

    question: str
    text: str
    # What it is about, where its text does not say so.
    target: str | None = None
    closed: bool
    # None while assessors still judge it.
    unanimous: int | None = None
    disagreements: int | None = None
    left: int | None = None


class AdjudicationPage(Context):
    """The questions that are assigned, a page of them, and the first to rule on."""

    questions: list[QuestionProgress]
    page: int
    pages: int
    next: str | None
    left: int
    waiting: int


class KnownAnswerView(Context):
    """A known answer, and a document that has it; `noted` while no organiser has accepted it."""

    answer: str
    doc: str | None
    noted: bool


class DisagreementView(Context):
    """A disagreement of assessors; `shown` is what they saw, without the run, and `rows` lays their own nuggets out."""

    item: int | None
    part: str
    kind: str
    left: bool
    verdicts: list[dict[str, Any]]
    ruling: dict[str, Any] | None
    version: int
    seen: str
    shown: dict[str, Any]
    rows: list[NuggetRow] = Field(default_factory=list)


class NuggetText(Context):
    """A nugget by its id."""

    nugget: str
    text: str


class AdjudicationSheet(Context):
    """The disagreements of one question."""

    question: QuestionView
    earlier: list[QuestionView]
    labels: list[str]
    # What a ruling chooses from, by the kind of judgment.
    choices: dict[str, Choices]
    disagreements: list[DisagreementView]
    nuggets: list[NuggetText]
    next: str | None
    assessor: int
    has_collection: bool
    known: list[KnownAnswerView]
    # Titles of the documents that the page names, by their ids.
    titles: dict[str, str]


class OnQuestionPart(OnPart):
    """A change of the ruling on a part of an item of this question."""

    question: str = Field(max_length=200)


class Ruling(OnQuestionPart):
    """An adjudicator's verdict."""

    verdict: dict[str, Any]


class RulingUndone(OnQuestionPart):
    """Put back the judgment of version `to`."""

    to: int = Field(ge=0)


class Adoption(Input):
    """Take the list of nuggets with this name, with its matches; `seen` names all that was there to choose from."""

    key: Key
    question: str = Field(max_length=200)
    list: str = Field(max_length=100)
    seen: str = Field(max_length=100)


class Reopening(Input):
    """Give a question back to its assessors."""

    question: str = Field(max_length=200)
    reason: str = Field(min_length=1, max_length=2000)


class Ruled(Context):
    """The result of a ruling."""

    version: int
    at: str


@router.page("/adjudication", template="adjudication.html", roles=ADJUDICATORS)
def adjudication(site: TheSite, page: Annotated[int, Query(ge=1, le=100_000)] = 1) -> AdjudicationPage:
    """Which questions are finished by their assessors, and how much of each is left to rule on."""
    with site.store.read() as connection:
        questions = questions_of(site, connection).shown
        all_of_it = overview(connection)
        pages = max(1, -(-all_of_it.questions // QUESTIONS_A_PAGE))
        page = min(page, pages)
        progress_rows = progress(connection, first=(page - 1) * QUESTIONS_A_PAGE, limit=QUESTIONS_A_PAGE)
        following = next_to_rule(connection)
    rows = []
    for row in progress_rows:
        question = questions.get(row.question)
        text = question.asked if question else ""
        target = question.target if question and question.target and question.target not in text else None
        rows.append(QuestionProgress.build(row, row.settled, text=text, target=target))
    return AdjudicationPage.build(all_of_it, questions=rows, page=page, pages=pages, next=following)


@router.page("/adjudication/question", template="adjudicate.html", roles=ADJUDICATORS, data=True)
def sheet(person: ThePerson, site: TheSite, id: Id) -> AdjudicationSheet:  # noqa: A002  # the name in the address
    """The disagreements of the assessors of a finished question."""
    question = question_named(site, id)
    with site.store.read() as connection:
        try:
            found_disagreements = disagreements(Act(connection, site.configuration.task), id)
        except NotClosedError as error:
            raise Refusal(409, str(error)) from error
        nuggets = list_for(connection, ADJUDICATED, id)[1]
        following = next_to_rule(connection, after=id)
        answers = [answer for answer in known_answers(connection, [id]).get(id, ()) if not answer.withdrawn]
    views = [_view(disagreement) for disagreement in found_disagreements]
    docs = [doc for view in views for doc in (view.shown.get("doc"), *documents_shown(view.shown))]
    return AdjudicationSheet(
        question=QuestionView.model_validate(question),
        earlier=[QuestionView.model_validate(earlier) for earlier in earlier_in_series(site, question)],
        labels=list(site.configuration.task.labels),
        choices={
            kind: choices_of(kind, site.configuration.task)
            for kind in dict.fromkeys(disagreement.kind for disagreement in found_disagreements)
            if kind != LISTS
        },
        disagreements=views,
        nuggets=[NuggetText(nugget=nugget.nugget, text=nugget.text) for nugget in nuggets],
        next=following,
        assessor=person.id,
        has_collection=site.folder.collection.is_dir(),
        known=[KnownAnswerView.build(answer) for answer in answers],
        titles=titles_of(site, [*docs, *(answer.doc for answer in answers)]),
    )


@router.action("POST", "/adjudication/rulings", roles=ADJUDICATORS)
def save_ruling(person: ThePerson, site: TheSite, sent: Ruling) -> Ruled:
    """Rule on a part of an item."""
    with acting(site, person, sent.key) as act:
        item = item_of(act.connection, sent.question, sent.item)
        saved = rule(act, item, sent.part, sent.verdict, expected=sent.expected)
    return Ruled(version=saved.version, at=saved.at)


@router.action("POST", "/adjudication/undo", roles=ADJUDICATORS)
def undo_saved_ruling(person: ThePerson, site: TheSite, sent: RulingUndone) -> Ruled:
    """Undo a ruling; the undoing is kept as well."""
    with acting(site, person, sent.key) as act:
        item = item_of(act.connection, sent.question, sent.item)
        saved = undo_ruling(act, item, sent.part, expected=sent.expected, to=sent.to)
    return Ruled(version=saved.version, at=saved.at)


@router.action("POST", "/adjudication/adopt", roles=ADJUDICATORS)
def adopt_list(person: ThePerson, site: TheSite, sent: Adoption) -> Done:
    """Adopt one assessor's nuggets and matches for a question."""
    with acting(site, person, sent.key) as act:
        set_name = set_of_list(act.connection, sent.question, sent.list)
        adopt(act, sent.question, set_name, seen=sent.seen)
    return Done()


@router.action("POST", "/adjudication/reopen", roles=ADJUDICATORS)
def reopen_question(person: ThePerson, site: TheSite, sent: Reopening) -> Done:
    """Open a question again for its assessors; recorded with the reason."""
    reason = sent.reason.strip()
    if not reason:
        raise UsageError("say why the question is opened again: the reason is recorded")
    question_named(site, sent.question)
    with acting(site, person) as act:
        reopen(act, sent.question, reason=reason)
    return Done()


def _view(disagreement: Disagreement) -> DisagreementView:
    item = disagreement.item
    return DisagreementView.build(
        disagreement,
        item=item.id if item else None,
        verdicts=[dict(verdict) for verdict in disagreement.verdicts],
        ruling=None if disagreement.ruling is None else dict(disagreement.ruling),
        shown={} if item is None else KINDS[item.kind].part_shown(item, disagreement.part),
        rows=compared(disagreement.verdicts) if disagreement.kind == LISTS else [],
    )
