"""The test set and its key in numbers, as every track overview prints them: questions, series, answers, nuggets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from qassay.evaluation import Evaluation
from qassay.judging import ADJUDICATED, kind_of_type
from qassay.judging.keys import Key, no_nuggets
from qassay.judging.sets import DEVELOPMENT, JudgmentSet
from qassay.questions import Question
from qassay.results import Result, document
from qassay.tables import Cell, Column, Table, plural, table

# A table of the questions where NIL is right names at most this many.
QUESTIONS_NAMED = 40


@dataclass(frozen=True, slots=True)
class Spread:
    """A number per question (or series), such as its nuggets: how many there are, the mean, the fewest and the most."""

    count: int
    mean: float
    min: int
    max: int

    @staticmethod
    def of(numbers: Iterable[int]) -> Spread | None:
        """The spread of these numbers; None where there are none."""
        known = list(numbers)
        return Spread(len(known), sum(known) / len(known), min(known), max(known)) if known else None


@dataclass(frozen=True, slots=True)
class Scored:
    """The questions to score, by type, the number of series, and the questions left out with the reason."""

    questions: Mapping[str, int]
    series: int | None
    left_out: Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Facts(Result):
    """The test set and its key in numbers; None where something is not known, never 0.

    `nil` names the questions where NIL is right. `vital` are the vital nuggets of each list. `assessors[name]` counts
    the person's current judgments by set, and `sets` all judgments of each set of people, by anyone.
    """

    name: str
    key: str | None
    questions: Mapping[str, int]
    series: Spread | None
    target_types: Mapping[str, int]
    nil: tuple[str, ...] | None
    list_answers: Spread | None
    nuggets: Spread | None
    vital: Spread | None
    pair_labels: Mapping[str, int]
    assessors: Mapping[str, Mapping[str, int]]
    sets: Mapping[str, int]
    runs: int
    organisations: int
    scored: Scored
    notes: tuple[str, ...] = ()

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
        if self.nuggets is not None and self.vital is not None:
            parts.append(
                f"{self.nuggets.mean:.1f} nuggets per question that has them, {self.vital.mean:.1f} of them vital"
            )
        return "; ".join(parts)

    def table(self) -> Table:
        """One row per fact: how many there are and, where they differ between questions, mean, fewest and most."""
        rows: list[tuple[Cell, ...]] = [(f"{kind} questions", n, None, None, None) for kind, n in self._questions()]
        rows += _spread_rows("series, with questions each", self.series)
        rows += [(f"targets: {kind}", count, None, None, None) for kind, count in self.target_types.items()]
        if self.nil is not None or "factoid" in self.questions:
            rows.append(("NIL questions", None if self.nil is None else len(self.nil), None, None, None))
        rows += _spread_rows("list questions, with answers each", self.list_answers)
        rows += _spread_rows("nugget lists, with nuggets each", self.nuggets)
        rows += _spread_rows("nugget lists, with vital nuggets each", self.vital)
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
        for person, counts in sorted(
            self.assessors.items(), key=lambda person_counts: (-sum(person_counts[1].values()), person_counts[0])
        ):
            rows.append((person, sum(counts.values()), *(counts.get(name, 0) for name in names)))
        signed = {name: sum(counts.get(name, 0) for counts in self.assessors.values()) for name in names}
        unnamed = [self.sets[name] - signed[name] for name in names]
        if any(unnamed):
            rows.append(("not named", sum(unnamed), *unnamed))
        return table("Judgments by assessor and set", columns, rows)

    def as_json(self) -> dict[str, Any]:
        """The document of `facts --json`."""
        series, nuggets, vital = self.series, self.nuggets, self.vital
        per_series = None if series is None else {"min": series.min, "mean": series.mean, "max": series.max}
        lists = None
        if nuggets is not None and vital is not None:
            numbers = {"mean": nuggets.mean, "vital": vital.mean, "lists": nuggets.count}
            lists = {**numbers, "min": nuggets.min, "max": nuggets.max}
        return {
            **document(self, "name", "key", "questions"),
            "series": None if series is None else {"count": series.count, "questions": per_series},
            **document(self, "target_types"),
            "nil_questions": None if self.nil is None else len(self.nil),
            "nil": None if self.nil is None else list(self.nil),
            "list_answers": None if self.list_answers is None else _spread_json(self.list_answers),
            "nuggets": lists,
            **document(self, "pair_labels"),
            "assessors": {
                person: {"judgments": sum(counts.values()), "sets": dict(counts)}
                for person, counts in self.assessors.items()
            },
            **document(self, "sets", "runs", "organisations", "scored"),
            "notes": list(self.notes),
        }


def facts_of(evaluation: Evaluation, key: str | None = None) -> Facts:
    """The facts of an evaluation under a key (the default one unless named); without any key those of the test set."""
    chosen = _key(evaluation, key)
    questions = evaluation.questions
    known = chosen.answer_classes()
    answers = _per_question(known["question"], questions.of_type("list"))
    nuggets = _per_question(chosen.nuggets["question"], questions)
    vital_ids = chosen.nuggets.filter(pl.col("vital"))["question"]
    vital = _per_question(vital_ids, questions)
    nil, notes = _nil(evaluation, chosen)
    sets = {name: evaluation.judgment_set(name) for name in evaluation.human_sets}
    has_key = key is not None or evaluation.default_key() is not None
    if not has_key and evaluation.human_sets:
        several = ", ".join(evaluation.human_sets)
        notes.append(f"Several judgment sets and none is adjudicated: choose one with --key ({several}).")
    labels = Counter(chosen.pair_labels().values())
    return Facts(
        name=evaluation.name,
        key=chosen.name if has_key else None,
        questions=questions.counts(),
        series=Spread.of(len(series.questions) for series in questions.series),
        target_types=_target_types(questions),
        nil=nil,
        list_answers=Spread.of(answers.values()),
        nuggets=Spread.of(nuggets.values()),
        vital=Spread.of(vital.get(question, 0) for question in nuggets),
        pair_labels={label: labels[label] for label in evaluation.task.labels if label in labels},
        assessors=_assessors(sets),
        sets={name: sum(table.height for table in judged.kinds.values()) for name, judged in sets.items()},
        runs=len(evaluation.folder.runs()),
        organisations=len({about.organisation for about in evaluation.information.values()} - {None}),
        scored=_scored(evaluation, answers, nuggets, vital),
        notes=tuple(notes),
    )


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


def _spread_rows(title: str, spread: Spread | None) -> list[tuple[Cell, ...]]:
    return [] if spread is None else [(title, spread.count, spread.mean, spread.min, spread.max)]


def _spread_json(spread: Spread) -> dict[str, object]:
    return {"mean": spread.mean, "min": spread.min, "max": spread.max, "questions": spread.count}
