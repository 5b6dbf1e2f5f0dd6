"""Show the test set and its judgments in numbers, as the overview of a shared task prints them.

Questions by type, series and questions per series, targets by type,
questions for which NIL ("there is no answer") is right, answers per
list question, nuggets per list and how many of them are vital, runs,
and how much each assessor judged. An unknown number is shown as a dash
(null), not as 0. Questions that are left out of scoring are listed with
the reason. No runs are needed.

Examples

  qassay facts my-eval
  qassay facts my-eval --key first
  qassay facts my-eval --json
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypedDict

import polars as pl

from qassay.evaluation import Evaluation
from qassay.judging import ADJUDICATED, kind_of_type
from qassay.judging.keys import Key, no_nuggets
from qassay.judging.sets import DEVELOPMENT, JudgmentSet
from qassay.options import Key as KeyOption
from qassay.pages import Exhibit, Page
from qassay.questions import Question
from qassay.results import UNREPORTED, Result, reported
from qassay.sources import need_evaluation
from qassay.studies import BEST, Study
from qassay.tables import Cell, Column, Table, plural, table

# A table of the questions where NIL is right names at most this many.
QUESTIONS_NAMED = 40


@dataclass(frozen=True, slots=True)
class Range:
    """A number per question or series: the mean, the fewest and the most."""

    mean: float
    min: int
    max: int


class _Numbers(TypedDict):
    mean: float
    min: int
    max: int


@dataclass(frozen=True, slots=True)
class SeriesFacts:
    """The series, and the questions of each."""

    count: int
    questions: Range


@dataclass(frozen=True, slots=True)
class ListAnswers(Range):
    """The known answers of each list question, and how many such questions have some."""

    questions: int


@dataclass(frozen=True, slots=True)
class NuggetFacts(Range):
    """The nuggets of each list, how many of them are vital on average, and how many lists there are."""

    vital: float
    lists: int


@dataclass(frozen=True, slots=True)
class AssessorFacts:
    """The current judgments of one person, in all and by set."""

    judgments: int
    sets: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Scored:
    """The questions to score, by type, the number of series, and the questions left out with the reason."""

    questions: Mapping[str, int]
    series: int | None
    left_out: Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Facts(Result):
    """The test set and its key in numbers; None where something is not known, never 0.

    `nil` names the questions where NIL is right, and `sets` counts all judgments of each set of people, by anyone.
    """

    name: str
    key: str | None
    questions: Mapping[str, int]
    series: SeriesFacts | None
    target_types: Mapping[str, int]
    nil: tuple[str, ...] | None
    list_answers: ListAnswers | None
    nuggets: NuggetFacts | None
    pair_labels: Mapping[str, int]
    assessors: Mapping[str, AssessorFacts]
    sets: Mapping[str, int]
    runs: int
    organisations: int
    scored: Scored
    notes: tuple[str, ...] = ()
    # The vital nuggets of each list.
    vital: Range | None = field(default=None, metadata=UNREPORTED)

    @reported
    def nil_questions(self) -> int | None:
        """How many questions NIL is right for."""
        return None if self.nil is None else len(self.nil)

    def sentence(self) -> str:
        """Questions, series, and how much there is to know about them."""
        by_type = ", ".join(f"{count:,} {kind}" for kind, count in self.questions.items())
        types_in_words = f"of type {next(iter(self.questions))}" if len(self.questions) == 1 else f"({by_type})"
        total = plural(sum(self.questions.values()), "question")
        parts = [f"{total} {types_in_words}" + ("" if self.series is None else f" in {self.series.count:,} series")]
        if self.nil is not None:
            parts.append(f"NIL is right for {len(self.nil):,}")
        if self.list_answers is not None:
            parts.append(f"{self.list_answers.mean:.1f} answers per list question")
        if self.nuggets is not None:
            nuggets = f"{self.nuggets.mean:.1f} nuggets per question that has them"
            parts.append(f"{nuggets}, {self.nuggets.vital:.1f} of them vital")
        return "; ".join(parts)

    def table(self) -> Table:
        """One row per fact: how many there are and, where they differ between questions, mean, fewest and most."""
        rows: list[tuple[Cell, ...]] = [(f"{kind} questions", n, None, None, None) for kind, n in self._questions()]
        if self.series is not None:
            rows.append(_range_row("series, with questions each", self.series.count, self.series.questions))
        rows += [(f"targets: {kind}", count, None, None, None) for kind, count in self.target_types.items()]
        if self.nil is not None or "factoid" in self.questions:
            rows.append(("NIL questions", None if self.nil is None else len(self.nil), None, None, None))
        if self.list_answers is not None:
            rows.append(_range_row("list questions, with answers each", self.list_answers.questions, self.list_answers))
        if self.nuggets is not None and self.vital is not None:
            rows.append(_range_row("nugget lists, with nuggets each", self.nuggets.lists, self.nuggets))
            rows.append(_range_row("nugget lists, with vital nuggets each", self.nuggets.lists, self.vital))
        rows += [(f"pairs: {label}", count, None, None, None) for label, count in self.pair_labels.items()]
        rows += [("runs", self.runs, None, None, None), ("organisations", self.organisations, None, None, None)]
        columns = [Column("", left=True), Column("number"), Column("mean", ".1f"), Column("min"), Column("max")]
        judged = "no judgments" if self.key is None else f"judgments: {self.key}"
        return table(f"{self.name} in numbers, {judged}", columns, rows, self.notes)

    def tables(self) -> list[Table]:
        """The facts; what is left for scoring, where it is not everything; NIL questions; who judged how much."""
        shown = [self.table()]
        if self.scored.left_out:
            shown.append(self._scored_table())
        if self.nil:
            more = f" and {len(self.nil) - QUESTIONS_NAMED:,} more" if len(self.nil) > QUESTIONS_NAMED else ""
            questions_in_words = ", ".join(self.nil[:QUESTIONS_NAMED]) + more
            note = "NIL is right where no answer is known and no answer of a run is judged R."
            shown.append(table("Questions for which NIL is right", ["questions"], [(questions_in_words,)], [note]))
        if self.sets:
            shown.append(self._assessors_table())
        return shown

    def _questions(self) -> Iterator[tuple[str, int]]:
        yield from self.questions.items()
        if len(self.questions) > 1:
            yield "all", sum(self.questions.values())

    def _scored_table(self) -> Table:
        rows: list[tuple[Cell, ...]] = [
            (f"{kind} questions", count, self.scored.questions.get(kind, 0)) for kind, count in self.questions.items()
        ]
        if self.series is not None:
            rows.append(("series", self.series.count, self.scored.series))
        left_out = [f"Left out: {name} ({reason})." for name, reason in list(self.scored.left_out.items())[:10]]
        more = len(self.scored.left_out) - len(left_out)
        notes = [*left_out, *([f"... and {more:,} more."] if more > 0 else [])]
        return table("Left for scoring", [Column("", left=True), Column("all"), Column("scored")], rows, notes)

    def _assessors_table(self) -> Table:
        names = list(self.sets)
        columns = [Column("assessor", left=True), Column("judgments"), *map(Column, names)]
        rows: list[tuple[Cell, ...]] = []
        for person, judged in sorted(self.assessors.items(), key=lambda item: (-item[1].judgments, item[0])):
            rows.append((person, judged.judgments, *(judged.sets.get(name, 0) for name in names)))
        signed = {name: sum(judged.sets.get(name, 0) for judged in self.assessors.values()) for name in names}
        unnamed = [self.sets[name] - signed[name] for name in names]
        if any(unnamed):
            rows.append(("not named", sum(unnamed), *unnamed))
        return table("Judgments by assessor and set", columns, rows)


def facts(evaluation: Evaluation, *, key: KeyOption = None) -> Facts:
    """The test set and its key in numbers, as a track overview prints them; no runs are needed.

    `key` names the judgments that answers, nuggets and NIL questions follow from (default: as in scoring).

    >>> import qassay
    >>> facts = qassay.facts(qassay.open(qassay.demo_folder()))
    >>> facts.questions, facts.series.count, facts.target_types["PERSON"], len(facts.nil)
    ({'factoid': 77, 'list': 16, 'other': 16}, 16, 4, 9)
    """
    need_evaluation(evaluation, "facts")
    chosen = _key(evaluation, key)
    questions = evaluation.questions
    known = chosen.answer_classes()
    answers = _per_question(known["question"], questions.of_type("list"))
    nuggets = _per_question(chosen.nuggets["question"], questions)
    vital_ids = chosen.nuggets.filter(pl.col("vital"))["question"]
    vital = _per_question(vital_ids, questions)
    vital_of_lists = [vital.get(question, 0) for question in nuggets]
    nil, notes = _nil(evaluation, chosen)
    sets = {name: evaluation.judgment_set(name) for name in evaluation.human_sets}
    has_key = key is not None or evaluation.default_key() is not None
    if not has_key and evaluation.human_sets:
        several = ", ".join(evaluation.human_sets)
        notes.append(f"Several judgment sets and none is adjudicated: choose one with --key ({several}).")
    labels = Counter(chosen.pair_labels().values())
    people = _assessors(sets)
    return Facts(
        name=evaluation.name,
        key=chosen.name if has_key else None,
        questions=questions.counts(),
        series=_series([len(series.questions) for series in questions.series]),
        target_types=_target_types(questions),
        nil=nil,
        list_answers=ListAnswers(**_range(answers.values()), questions=len(answers)) if answers else None,
        nuggets=_nuggets(nuggets, vital_of_lists),
        pair_labels={label: labels[label] for label in evaluation.task.labels if label in labels},
        assessors={name: AssessorFacts(sum(counts.values()), counts) for name, counts in people.items()},
        sets={name: sum(table.height for table in judged.kinds.values()) for name, judged in sets.items()},
        runs=len(evaluation.folder.runs()),
        organisations=len({about.organisation for about in evaluation.information.values()} - {None}),
        scored=_scored(evaluation, answers, nuggets, vital),
        notes=tuple(notes),
        vital=Range(**_range(vital_of_lists)) if nuggets else None,
    )


def page(result: Facts) -> Page:
    """The test set in a sentence, and its tables."""
    return Page(
        (f"{result.sentence()}.",),
        tuple(Exhibit(f"facts-{place}", shown) for place, shown in enumerate(result.tables(), 1)),
    )


STUDY = Study(
    name="facts",
    compute=facts,
    page=page,
    documents=(Facts,),
    heading="The test set in numbers",
    label="Numbers",
    tab=BEST,
)


def _range(numbers: Iterable[int]) -> _Numbers:
    known = list(numbers)
    return {"mean": sum(known) / len(known), "min": min(known), "max": max(known)}


def _series(questions: list[int]) -> SeriesFacts | None:
    return SeriesFacts(len(questions), Range(**_range(questions))) if questions else None


def _nuggets(nuggets: Mapping[str, int], vital: list[int]) -> NuggetFacts | None:
    """The nuggets of each list, and how many of them are vital; None where there is no list."""
    if not nuggets:
        return None
    return NuggetFacts(**_range(nuggets.values()), vital=sum(vital) / len(vital), lists=len(nuggets))


def _key(evaluation: Evaluation, name: str | None) -> Key:
    """The key, or what is known without one: answers of question development, and the existing nugget list."""
    chosen = name or evaluation.default_key()
    if chosen is not None:
        return evaluation.key(chosen)
    lists = evaluation.folder.nugget_lists()
    settled_list = next((list_name for list_name in (ADJUDICATED, DEVELOPMENT) if list_name in lists), ADJUDICATED)
    nuggets = evaluation.nugget_list(settled_list) if lists else no_nuggets()
    return Key(JudgmentSet(ADJUDICATED, {}), nuggets, evaluation.answers)


def _per_question(ids: pl.Series, questions: Iterable[Question]) -> dict[str, int]:
    """How often each of these questions occurs, for those that occur."""
    counts = Counter(ids.to_list())
    return {question.id: counts[question.id] for question in questions if question.id in counts}


def _target_types(questions: Iterable[Question]) -> dict[str, int]:
    """The targets of each type: one for each series, or for each target of questions without a series."""
    types: dict[tuple[str, str], str] = {}
    for question in questions:
        if question.target_type is not None:
            place = ("series", question.series) if question.series else ("target", question.target or question.id)
            types.setdefault(place, question.target_type)
    return dict(Counter(types.values()).most_common())


def _nil(evaluation: Evaluation, key: Key) -> tuple[tuple[str, ...] | None, list[str]]:
    """The questions where NIL is right; None where no question takes NIL, or nothing is known of any that does."""
    kinds = [kind for kind, rules in evaluation.task.types.items() if rules.nil]
    nil_questions = {question.id for question in evaluation.questions.of_type(*kinds)}
    judged = set(key.judgments.kind("item")["question"]).intersection(nil_questions)
    known = judged | nil_questions.intersection(key.developed_answers()["question"])
    if not known:
        unknown = ["NIL questions: not known, because factoids have neither judgments nor known answers."]
        return None, unknown if nil_questions else []
    right = key.nil_is_right(evaluation.questions)
    nil = tuple(
        q.id for q, is_right in zip(evaluation.questions, right, strict=True) if is_right and q.id in nil_questions
    )
    bare = len(nil_questions - known)
    if not bare:
        return nil, []
    return nil, [f"Among the NIL questions are {bare:,} without any judged answer."]


def _assessors(sets: Mapping[str, JudgmentSet]) -> dict[str, dict[str, int]]:
    """How many current judgments each person gave in each set, by name of the person."""
    people: dict[str, Counter[str]] = {}
    for name, judged in sets.items():
        for rows in judged.kinds.values():
            for person, count in rows.drop_nulls("assessor").group_by("assessor").len().sort("assessor").iter_rows():
                people.setdefault(person, Counter())[name] += count
    return {person: dict(people[person]) for person in sorted(people)}


def _scored(
    evaluation: Evaluation, answers: Mapping[str, int], nuggets: Mapping[str, int], vital: Mapping[str, int]
) -> Scored:
    """The questions that are left when the organiser's decisions and the rules of the method are applied (METHOD 4)."""
    configuration, task = evaluation.configuration, evaluation.task
    left_out: dict[str, str] = {}
    scored: Counter[str] = Counter()
    for question in evaluation.questions:
        rules = task.types[question.type]
        by_nuggets = kind_of_type(question.type, rules).by_nuggets
        reason = configuration.drop.get(question.id)
        if reason is None and question.series is not None and question.series in configuration.drop:
            left_out[f"series {question.series}"] = configuration.drop[question.series]
            continue
        if reason is None and question.type == "list" and answers and question.id not in answers:
            reason = "no known answer"
        if reason is None and by_nuggets and nuggets and not vital.get(question.id):
            reason = "no vital nugget" if question.id in nuggets else "no nuggets"
        if reason is None:
            scored[question.type] += 1
        else:
            left_out[question.id] = reason
    series = [s.id for s in evaluation.questions.series if s.id not in configuration.drop]
    left_out |= {f"series {name} (series scores only)": why for name, why in configuration.drop_from_series.items()}
    units = [name for name in series if name not in configuration.drop_from_series]
    counted = {kind: scored[kind] for kind in evaluation.questions.counts()}
    return Scored(counted, len(units) if evaluation.questions.series else None, left_out)


def _range_row(title: str, count: int, numbers: Range) -> tuple[Cell, ...]:
    return (title, count, numbers.mean, numbers.min, numbers.max)
