"""The test set as pages need it: read once, and again when a question has changed."""

from __future__ import annotations

import itertools
from contextlib import nullcontext

from sqlalchemy import Connection

from qassay.questions import Question, TestSet
from qassay.store.development import question_mark, test_set
from qassay.web.errors import Refusal
from qassay.web.routing import Context
from qassay.web.site import Site


class QuestionView(Context):
    """A question as an assessor sees it."""

    id: str
    type: str
    text: str
    series: str | None = None
    target: str | None = None
    target_type: str | None = None
    definition: str | None = None
    hypothesis: str | None = None
    # Answers that are known to be right, of free-text questions.
    gold: tuple[str, ...] = ()


def questions_of(site: Site, connection: Connection | None = None) -> TestSet:
    """The test set of the store.

    A caller with an open connection gives it: if many asked for a second one beside the first, they would wait for each
    other.
    """
    with site.store.read() if connection is None else nullcontext(connection) as opened:
        mark = question_mark(opened)
        kept = site.kept.get("questions")
        if kept is None or kept[0] != mark:
            kept = (mark, test_set(opened))
            site.kept["questions"] = kept
    questions: TestSet = kept[1]
    return questions


def question_named(site: Site, number: str, connection: Connection | None = None) -> Question:
    """The question with this id."""
    question = questions_of(site, connection).by_id.get(number)
    if question is None:
        raise Refusal(404, f"there is no question {number}")
    return question


def earlier_in_series(site: Site, question: Question, connection: Connection | None = None) -> list[Question]:
    """The questions of the same series that come before this one: what they ask is no nugget of it."""
    if question.series is None:
        return []
    series = next(series for series in questions_of(site, connection).series if series.id == question.series)
    return list(itertools.takewhile(lambda member: member.id != question.id, series.questions))
