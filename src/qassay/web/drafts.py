"""Questions under development as pages show them: in their series, with numbers, known answers and warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from qassay.questions import Question, TestSet
from qassay.store.development.answers import KnownAnswer, known_answers
from qassay.store.development.drafts import Stored, grouped, numbered, read_drafts
from qassay.store.judging.nugget_changes import clean_nugget
from qassay.tasks import Task
from qassay.web.draft_warnings import AskedWords, asked_words, question_warnings, same_questions, series_warnings
from qassay.web.questions import questions_of
from qassay.web.routing import Context
from qassay.web.site import Site

# Judged by nuggets where the task does not say otherwise: what an author finds for them is a nugget, not an answer.
NUGGET_TYPES = ("definition", "other")


class AnswerView(Context):
    """A known answer."""

    answer: str
    doc: str | None
    withdrawn: bool
    reason: str | None


class QuestionRow(Context):
    """A question in the list; `number` is its id, or the one that it would get."""

    id: str
    number: str
    type: str
    text: str
    hypothesis: str | None
    draft: bool
    answers: list[AnswerView]
    cautions: list[str]


class Group(Context):
    """A series, or the questions of a task that has none (then without an id)."""

    id: str
    number: str
    target: str | None
    target_type: str | None
    series_type: str | None
    draft: bool
    # Whether all of it is still under development.
    whole: bool
    questions: list[QuestionRow]
    cautions: list[str]


@dataclass(frozen=True)
class AuthorQuestions:
    """All questions as an author has them: the test set, the drafts, and the numbers that these would get."""

    published: TestSet
    drafts: list[Stored]
    names: dict[str, str]
    same: dict[AskedWords, list[str]]

    @property
    def draft_ids(self) -> set[str]:
        """The names of the drafts."""
        return {one.question.id for one in self.drafts}

    def groups(self, first: int, size: int, *, only_drafts: bool) -> tuple[list[list[Question]], int]:
        """So many groups from one on, and how many there are: series with drafts first, then those of the test set."""
        drafts = [[one.question for one in group] for group in grouped(self.drafts)]
        series = {one.id: list(one.questions) for one in self.published.series}
        mixed = [_merged(series.pop(group[0].series or "", []), group) for group in drafts]
        alone: Sequence[Question] = ()
        if not only_drafts:
            mixed += series.values()
            alone = [one for one in self.published if one.series is None]
        begin, end = (max(0, position - len(mixed)) for position in (first, first + size))
        return [*mixed[first : first + size], *([one] for one in alone[begin:end])], len(mixed) + len(alone)

    def series_of(self, question: Question) -> list[Question]:
        """The series of a question, drafts included; the question alone where it is in none."""
        if question.series is None:
            return [question]
        members = [one for one in self.published if one.series == question.series]
        return _merged(members, [one.question for one in self.drafts if one.question.series == question.series])


def noted(text: str, *, vital: bool, doc: str | None, before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The row of a fact that an author noted; what else stood in it, such as its document, stays."""
    return {**(before or {}), "vital": vital, "text": clean_nugget(text), **({"doc": doc} if doc else {})}


def author_questions(site: Site, connection: Connection) -> AuthorQuestions:
    """What the store has of questions."""
    published = questions_of(site, connection)
    drafts = read_drafts(connection)
    found = numbered(published, [[one.question for one in group] for group in grouped(drafts)])
    names = {name: one.id for name, one in found.items()}
    names |= {one.question.series: found[one.question.id].series or "" for one in drafts if one.question.series}
    same = dict(_same(site, published))
    for key, ids in same_questions(one.question for one in drafts).items():
        same[key] = [*same.get(key, ()), *ids]
    return AuthorQuestions(published, drafts, names, same)


def forget(site: Site) -> None:
    """Have the test set read anew, after a change of it."""
    site.kept.pop("questions", None)


def group_view(
    found: AuthorQuestions, task: Task, questions: Sequence[Question], answers: dict[str, list[KnownAnswer]]
) -> Group:
    """A series with its warnings."""
    first = questions[0]
    drafts = found.draft_ids
    inside = [one.id in drafts for one in questions]
    rows = [
        question_row(found, one, questions[:at] if one.series is not None else (), answers)
        for at, one in enumerate(questions)
    ]
    return Group(
        id=first.series or "",
        number=found.names.get(first.series or "", first.series or ""),
        target=next((one.target for one in questions if one.target), None),
        target_type=first.target_type,
        series_type=first.series_type,
        draft=any(inside),
        whole=all(inside),
        questions=rows,
        cautions=series_warnings(questions, task.types) if first.series is not None else [],
    )


def question_row(
    found: AuthorQuestions, one: Question, earlier: Sequence[Question], answers: dict[str, list[KnownAnswer]]
) -> QuestionRow:
    """A question with its warnings."""
    draft = one.id in found.draft_ids
    key = asked_words(one)
    same = found.same.get(key, ()) if key is not None else ()
    return QuestionRow(
        id=one.id,
        number=found.names.get(one.id, one.id),
        type=one.type,
        text=one.text,
        hypothesis=one.hypothesis,
        draft=draft,
        answers=[AnswerView.model_validate(answer) for answer in answers.get(one.id, ())],
        cautions=question_warnings(one, earlier, answers, same, found.names, draft=draft),
    )


def answers_for(connection: Connection, groups: Sequence[Sequence[Question]]) -> dict[str, list[KnownAnswer]]:
    """The known answers of all questions of some groups."""
    return known_answers(connection, [one.id for group in groups for one in group])


def _merged(published: list[Question], drafts: Sequence[Question]) -> list[Question]:
    """A series with its drafts where they will stand: at its end, before the `other` question."""
    return sorted([*published, *drafts], key=lambda one: one.type == "other" and one.series is not None)


def _same(site: Site, published: TestSet) -> dict[AskedWords, list[str]]:
    """What the test set asks: worked out once for each state of it."""
    kept = site.kept.get("same questions")
    if kept is None or kept[0] is not published:
        kept = site.kept["same questions"] = (published, same_questions(published))
    found: dict[AskedWords, list[str]] = kept[1]
    return found
