"""The test set as pages need it: read once, and again when a question has changed."""

from __future__ import annotations

from qassay.questions import Question, TestSet
from qassay.store.questions import question_mark, test_set
from qassay.web.errors import Refusal
from qassay.web.place import Premises
from qassay.web.routing import Context


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


def questions_of(place: Premises) -> TestSet:
    """The test set of the store."""
    with place.store.read() as connection:
        mark = question_mark(connection)
        kept = place.kept.get("questions")
        if kept is None or kept[0] != mark:
            kept = (mark, test_set(connection))
            place.kept["questions"] = kept
    found: TestSet = kept[1]
    return found


def question_named(place: Premises, number: str) -> Question:
    """The question with this id."""
    found = questions_of(place).by_id.get(number)
    if found is None:
        raise Refusal(404, f"there is no question {number}")
    return found


def earlier_in_series(place: Premises, question: Question) -> list[Question]:
    """The questions of the same series that come before this one: what they ask is no nugget of it."""
    if question.series is None:
        return []
    series = next(one for one in questions_of(place).series if one.id == question.series)
    before: list[Question] = []
    for one in series.questions:
        if one.id == question.id:
            break
        before.append(one)
    return before
