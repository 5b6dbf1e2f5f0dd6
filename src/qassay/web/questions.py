"""Questions as pages need them: the test set, and the drafts with numbers, known answers and warnings for their author.

The test set is read once, and again when a question has changed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from qassay.questions import Question, TestSet
from qassay.store.development import question_mark, test_set
from qassay.store.development.answers import KnownAnswer
from qassay.store.development.drafts import Stored, grouped, numbered, read_drafts
from qassay.store.judging.nugget_changes import clean_nugget
from qassay.tasks import Task
from qassay.web.errors import Refusal
from qassay.web.routing import Context
from qassay.web.site import Person, Site

Answers = Mapping[str, Sequence[KnownAnswer]]
# Words that ask the same of the same: target and text.
AskedWords = tuple[str, str]
_SHOWN = 60
# Judged by nuggets where the task does not say otherwise: what an author finds for them is a nugget, not an answer.
NUGGET_TYPES = ("definition", "other")


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
        cached = site.memory.get("questions")
        if cached is None or cached[0] != mark:
            cached = (mark, test_set(opened))
            site.memory["questions"] = cached
    questions: TestSet = cached[1]
    return questions


def question_named(site: Site, number: str, connection: Connection | None = None) -> Question:
    """The question with this id."""
    question = questions_of(site, connection).shown.get(number)
    if question is None:
        raise Refusal(404, f"there is no question {number}")
    return question


def earlier_in_series(site: Site, question: Question, connection: Connection | None = None) -> list[Question]:
    """The questions of the same series that come before this one: what they ask is not a nugget of it."""
    if question.series is None:
        return []
    series = next(series for series in questions_of(site, connection).series if series.id == question.series)
    return list(itertools.takewhile(lambda member: member.id != question.id, series.questions))


# ---- drafts ----------------------------------------------------------------------------------------------------------


class AnswerView(Context):
    """A known answer."""

    answer: str
    doc: str | None
    withdrawn: bool
    noted: bool
    reason: str | None


class NumberedQuestion(Context):
    """A question under development; `number` is its id, or the one that it would get."""

    id: str
    number: str
    type: str
    text: str


class QuestionRow(NumberedQuestion):
    """A question in the list."""

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
        return {draft.question.id for draft in self.drafts}

    def groups(self, first: int, size: int, *, only_drafts: bool) -> tuple[list[list[Question]], int]:
        """`size` groups from `first` on, and the number of all: series with drafts, then those of the test set."""
        drafts = [[draft.question for draft in group] for group in grouped(self.drafts)]
        series = {series.id: list(series.questions) for series in self.published.series}
        mixed = [_merged(series.pop(group[0].series or "", []), group) for group in drafts]
        alone: Sequence[Question] = ()
        if not only_drafts:
            mixed += series.values()
            alone = [question for question in self.published if question.series is None]
        begin, end = (max(0, position - len(mixed)) for position in (first, first + size))
        return [*mixed[first : first + size], *([question] for question in alone[begin:end])], len(mixed) + len(alone)

    def series_of(self, question: Question) -> list[Question]:
        """The series of a question, drafts included; the question alone where it is in none."""
        if question.series is None:
            return [question]
        members = [other for other in self.published if other.series == question.series]
        drafts = [draft.question for draft in self.drafts if draft.question.series == question.series]
        return _merged(members, drafts)


def check_author(site: Site, person: Person) -> None:
    """Refuse people who do not write questions: organisers do, and others where the track lets assessors write them."""
    if person.role != "organiser" and not site.configuration.track.authors:
        message = "assessors do not write questions in this evaluation; organisers allow it: authors = true in [track]"
        raise Refusal(403, message)


def author_of(site: Site, person: Person) -> str | None:
    """The name under which a new question is recorded, where questions have authors."""
    return person.name if site.configuration.track.authors else None


def is_own(person: Person, stored: Stored) -> bool:
    """Whether somebody may see and change a question under development: organisers all, authors their own drafts."""
    return person.role == "organiser" or (stored.draft and stored.question.author == person.name)


def own_questions(site: Site, person: Person, connection: Connection) -> AuthorQuestions:
    """The questions that somebody works on: to an organiser all, to an author their own drafts and nothing else."""
    check_author(site, person)
    questions = author_questions(site, connection)
    if person.role == "organiser":
        return questions
    own_drafts = [draft for draft in questions.drafts if is_own(person, draft)]
    same = same_questions(draft.question for draft in own_drafts)
    return AuthorQuestions(TestSet(()), own_drafts, questions.names, same)


def noted(text: str, *, vital: bool, doc: str | None, before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The row of a fact that an author noted; other fields of the row, such as its document, stay."""
    return {**(before or {}), "vital": vital, "text": clean_nugget(text), **({"doc": doc} if doc else {})}


def author_questions(site: Site, connection: Connection) -> AuthorQuestions:
    """The questions of the store."""
    published = questions_of(site, connection)
    drafts = read_drafts(connection)
    new = numbered(published, [[draft.question for draft in group] for group in grouped(drafts)])
    names = {name: question.id for name, question in new.items()}
    names |= {draft.question.series: new[draft.question.id].series or "" for draft in drafts if draft.question.series}
    same = dict(_same(site, published))
    for key, ids in same_questions(draft.question for draft in drafts).items():
        same[key] = [*same.get(key, ()), *ids]
    return AuthorQuestions(published, drafts, names, same)


def forget(site: Site) -> None:
    """Have the test set read again, after a change of it."""
    site.memory.pop("questions", None)


def group_view(
    questions: AuthorQuestions, task: Task, members: Sequence[Question], answers: dict[str, list[KnownAnswer]]
) -> Group:
    """A series with its warnings."""
    first, drafts = members[0], questions.draft_ids
    series = first.series or ""
    rows = [
        question_row(questions, question, members[:at] if question.series is not None else (), answers)
        for at, question in enumerate(members)
    ]
    return Group.build(
        first,
        id=series,
        number=questions.names.get(series, series),
        target=next((question.target for question in members if question.target), None),
        draft=any(question.id in drafts for question in members),
        whole=all(question.id in drafts for question in members),
        questions=rows,
        cautions=series_warnings(members, task.types) if first.series is not None else [],
    )


def question_row(
    questions: AuthorQuestions, question: Question, earlier: Sequence[Question], answers: dict[str, list[KnownAnswer]]
) -> QuestionRow:
    """A question with its warnings."""
    draft = question.id in questions.draft_ids
    key = asked_words(question)
    same = questions.same.get(key, ()) if key is not None else ()
    return QuestionRow.build(
        question,
        number=questions.names.get(question.id, question.id),
        draft=draft,
        answers=answers.get(question.id, ()),
        cautions=question_warnings(question, earlier, answers, same, questions.names, draft=draft),
    )


def _merged(published: list[Question], drafts: Sequence[Question]) -> list[Question]:
    """A series with its drafts where they will be: at its end, before the `other` question."""
    return sorted([*published, *drafts], key=lambda question: question.type == "other" and question.series is not None)


def _same(site: Site, published: TestSet) -> dict[AskedWords, list[str]]:
    """The questions of the test set as text, worked out once for each state of it."""
    cached = site.memory.get("same questions")
    if cached is None or cached[0] is not published:
        cached = site.memory["same questions"] = (published, same_questions(published))
    same: dict[AskedWords, list[str]] = cached[1]
    return same


# ---- warnings --------------------------------------------------------------------------------------------------------


def words(text: str | None) -> str:
    """The words of a text in small letters, one blank around each, so that one text can be looked for in another.

    >>> words("Warsaw, Poland") in words("Was she born in WARSAW, Poland?")
    True
    """
    all_words = re.findall(r"\w+", (text or "").casefold())
    return f" {' '.join(all_words)} "


def asked_words(question: Question) -> AskedWords | None:
    """The words of a question, for finding those that ask the same; nothing where it has no words of its own."""
    if not question.text.strip():
        return None
    return words(question.target), words(f"{question.text} {question.hypothesis or ''}")


def same_questions(questions: TestSet | Iterable[Question]) -> dict[AskedWords, list[str]]:
    """The ids of questions by their words: equal ones ask the same."""
    by_words: dict[AskedWords, list[str]] = {}
    for question in questions:
        if (key := asked_words(question)) is not None:
            by_words.setdefault(key, []).append(question.id)
    return by_words


def question_warnings(
    question: Question,
    earlier: Sequence[Question],
    answers: Answers,
    same: Iterable[str],
    names: Mapping[str, str],
    *,
    draft: bool,
) -> list[str]:
    """Warnings about one question: `earlier` are those before it in its series, `same` others that ask the same.

    None of them stops a publication.
    """
    own_answers = [answer for answer in answers.get(question.id, ()) if not answer.withdrawn]
    warnings = [f"Question {names.get(other, other)} asks the same." for other in same if other != question.id]
    for answer in own_answers:
        answer_words, shown = words(answer.answer), _cut(answer.answer)
        for other in earlier:
            name = names.get(other.id, other.id)
            known_words = [words(known.answer) for known in answers.get(other.id, ()) if not known.withdrawn]
            if answer_words.strip() and answer_words in words(other.text):
                warnings.append(f"The text of question {name} gives the answer “{shown}” away.")
            elif answer_words.strip() and any(answer_words in text for text in known_words):
                warnings.append(f"The answer “{shown}” is in an answer of the earlier question {name}.")
        if answer.doc is None:
            warnings.append(f"The answer “{shown}” has no document.")
    if draft and not own_answers and question.type in ("factoid", "list"):
        nil = "NIL would be right" if question.type == "factoid" else "it would not be scored"
        warnings.append(f"It has no known answer yet: as long as no run finds one, {nil}.")
    return list(dict.fromkeys(warnings))


def series_warnings(questions: Sequence[Question], types: Iterable[str]) -> list[str]:
    """Warnings about a series as a whole."""
    if "factoid" in types and not any(question.type == "factoid" for question in questions):
        return ["The series has no factoid question."]
    return []


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
