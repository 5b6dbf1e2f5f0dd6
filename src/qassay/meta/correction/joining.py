"""The decisions of a judge about every run, and those of people: arrays of runs x decisions.

A decision is a question, or a nugget of one. It is a unit of its own, or one of several of its unit: the nuggets of a
topic, the questions of a series. The score of a unit is the mean of its decisions, each times its weight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from qassay.arrays import Floats
from qassay.errors import Remedy, UsageError
from qassay.judging import kind_of_type
from qassay.judging.pool import judged_responses, rows_to_judge
from qassay.judging.sets import JudgmentSet
from qassay.measures import measure as parse_measure
from qassay.measures.nugget_support import nugget_values
from qassay.measures.weighted_types import weights_for
from qassay.meta.correction.sampling import Draw
from qassay.runs import Runs
from qassay.scoring import Scores
from qassay.tally import Tally

_ANSWER = ("doc", "text", "start", "length", "decision")


@dataclass(frozen=True, eq=False)
class Decisions:
    """A judge's value of every decision, runs x decisions; NaN where a run has no response.

    `units` has the unit of each decision, or is None where each is its own; `weights` are such that the score of a unit
    is the mean of its weighted decisions, and the score of a run the mean over units.
    """

    runs: tuple[str, ...]
    draws: tuple[Draw, ...]
    units: tuple[str, ...] | None
    weights: Floats
    values: Floats
    scale: tuple[float, float]
    measure: str
    unit_name: tuple[str, str]
    # What is counted when labels are: questions, nuggets.
    drawn_name: tuple[str, str] = ("question", "questions")

    def place(self) -> dict[Draw, int]:
        """The column of each decision."""
        return {draw: column for column, draw in enumerate(self.draws)}


def judge_decisions(scores: Scores, joined: Tally, *, whole: bool = False) -> Decisions:
    """The decisions behind a judge's scores; an error where the score is not a mean that labels can correct.

    `whole` draws whole questions where single nuggets could be.
    """
    if joined.task.is_rated:
        raise UsageError("ratings of justifications are not corrected: they are opinions, and every set counts")
    measure = parse_measure(scores.measure)
    if not scores.units.summary.is_mean:
        way = Remedy("measure", "accuracy", "To correct accuracy")
        if len(joined.types) > 1:
            way = Remedy("component", "TYPE", "To correct one type of question")
        raise UsageError(f"{scores.measure} is not a mean over questions, which labels of some could correct", way)
    if (by_nugget := nugget_values(measure)) is not None and not whole:
        return _by_nugget(scores, joined, *by_nugget)
    ids, values = question_values(scores)
    if not measure.by_series and scores.units.series is None:
        return _decisions(scores, ids, values, None, np.ones(len(ids)))
    if np.isnan(values).any():
        message = "runs that leave questions of a series out cannot be corrected"
        raise UsageError(message, Remedy("missing", "zero", "To count these as 0"))
    series = tuple(str(joined.questions.by_id[name].series) for name in ids)
    weights = _series_weights(joined, ids, series) if measure.by_series else _equal_questions(series)
    units = set(scores.units.ids if measure.by_series else series)
    columns = [place for place, name in enumerate(series) if name in units]
    return _decisions(
        scores,
        [ids[place] for place in columns],
        values[:, columns],
        tuple(series[place] for place in columns),
        weights[columns],
    )


def question_values(scores: Scores) -> tuple[list[str], Floats]:
    """The scored questions in the order of the test set, and the score of every run on each."""
    columns = {
        question.id: values[:, column]
        for questions, values in scores.questions.values()
        for column, question in enumerate(questions)
        if not np.isnan(values[:, column]).all()
    }
    ids = [name for name in scores.asked if name in columns]
    return ids, np.stack([columns[name] for name in ids], axis=1) if ids else np.empty((len(scores.tags), 0))


def _decisions(
    scores: Scores, ids: Sequence[str], values: Floats, units: tuple[str, ...] | None, weights: Floats
) -> Decisions:
    return Decisions(
        runs=scores.tags,
        draws=tuple(Draw(name) for name in ids),
        units=units,
        weights=weights,
        values=values,
        scale=scores.scale,
        measure=scores.measure,
        unit_name=("series", "series") if units is not None else scores.unit_name,
        drawn_name=("question", "questions") if units is not None else scores.unit_name,
    )


def _equal_questions(series: Sequence[str]) -> Floats:
    """Weights of a mean over questions that come in series: a longer series counts for more."""
    sizes = Counter(series)
    return np.array([len(sizes) * sizes[name] / len(series) for name in series], dtype=np.float64)


def _series_weights(joined: Tally, ids: Sequence[str], series: Sequence[str]) -> Floats:
    """Weights of questions in the score of their series: the share of their type, over the questions of that type."""
    types = [joined.questions.by_id[name].type for name in ids]
    members: dict[str, list[int]] = {}
    for place, name in enumerate(series):
        members.setdefault(name, []).append(place)
    weights = np.zeros(len(ids))
    for places in members.values():
        types_there = [types[place] for place in places]
        share = weights_for(frozenset(types_there), joined.task.weights, joined.task.without)
        for place in places:
            weights[place] = len(places) * share[types[place]] / types_there.count(types[place])
    return weights


# ---- nuggets --------------------------------------------------------------------------------------------------------


def _by_nugget(scores: Scores, joined: Tally, okay: float, partial: float) -> Decisions:
    """The nuggets that count, each a decision of its question."""
    scored = set(scores.units.ids)
    listed = [
        (row["question"], row["nugget"], 1.0 if row["vital"] else okay)
        for row in joined.key.nuggets.iter_rows(named=True)
        if row["question"] in scored and (row["vital"] or okay > 0)
    ]
    place = {name: number for number, name in enumerate(scores.asked)}
    listed.sort(key=lambda row: place[row[0]])
    draws = tuple(Draw(question, nugget) for question, nugget, _ in listed)
    sums: dict[str, list[float]] = {}
    for question, _, weight in listed:
        sums.setdefault(question, []).append(weight)
    weights = np.array([len(sums[question]) * weight / sum(sums[question]) for question, _, weight in listed])
    values = nugget_decisions(joined.runs, joined.key.judgments, draws, partial=partial)
    values[np.isnan(values)] = 0.0  # what the judge left open counts as not supported, where the caller allows it
    lacking = _no_response(scores, draws)
    values[lacking] = np.nan
    return Decisions(
        runs=scores.tags,
        draws=draws,
        units=tuple(draw.question for draw in draws),
        weights=weights,
        values=values,
        scale=scores.scale,
        measure=scores.measure,
        unit_name=scores.unit_name,
        drawn_name=("nugget", "nuggets"),
    )


def _no_response(scores: Scores, draws: Sequence[Draw]) -> np.ndarray:
    """Runs x decisions: where a run has no score for the question."""
    column = {name: number for number, name in enumerate(scores.units.ids)}
    return np.isnan(scores.units.values[:, [column[draw.question] for draw in draws]])


def nugget_decisions(runs: Runs, judged: JudgmentSet, draws: Sequence[Draw], *, partial: float) -> Floats:
    """The support of nuggets, runs x decisions: NaN where it is not judged, 0 for an empty answer."""
    credit = {"full": 1.0, "partial": partial, "none": 0.0}
    questions = list(dict.fromkeys(draw.question for draw in draws))
    returned = set(rows_to_judge(runs, questions).select("question", "run").iter_rows())
    credit_of = {
        (row["question"], row["run"], row["nugget"]): credit[row["support"]]
        for row in judged.kind("support").iter_rows(named=True)
    }
    return np.array(
        [
            [
                credit_of.get((draw.question, tag, draw.nugget), np.nan) if (draw.question, tag) in returned else 0.0
                for draw in draws
            ]
            for tag in runs.tags
        ],
        dtype=np.float64,
    ).reshape(len(runs.tags), len(draws))


# ---- people ---------------------------------------------------------------------------------------------------------


def whole_responses(joined: Tally, questions: Sequence[str]) -> set[tuple[str, str]]:
    """The responses to some questions of which people judged everything, by question and run."""
    chosen = set(questions)
    key = joined.key
    rows = judged_responses(joined.runs, joined.questions, joined.task, key.judgments, key.nuggets)
    return {(question, run) for question, run in rows.iter_rows() if question in chosen}


def people_decisions(decisions: Decisions, joined: Tally, whole: set[tuple[str, str]], scores: Scores | None) -> Floats:
    """The decisions of people, runs x decisions: NaN where they have not judged all that a decision takes.

    `scores` are those of the responses in `whole`; None where decisions are about nuggets, or there are none.
    """
    by_nugget = nugget_values(parse_measure(decisions.measure))
    if by_nugget is not None and any(draw.nugget is not None for draw in decisions.draws):
        values = nugget_decisions(joined.runs, joined.key.judgments, decisions.draws, partial=by_nugget[1])
        return _as_the_judge(values, decisions, joined)
    values = np.full(decisions.values.shape, np.nan)
    if scores is not None:
        place = {draw.question: column for column, draw in enumerate(decisions.draws)}
        ids, question_scores = question_values(scores)
        for column, name in enumerate(ids):
            if name in place:
                judged = [row for row, tag in enumerate(decisions.runs) if (name, tag) in whole]
                values[judged, place[name]] = question_scores[judged, column]
    return _as_the_judge(values, decisions, joined)


def _as_the_judge(values: Floats, decisions: Decisions, joined: Tally) -> Floats:
    """A question that a run left out counts as with the judge: not at all, or 0."""
    answered = set(joined.runs.table.select(pl.col("question", "run").cast(pl.String)).iter_rows())
    for row, tag in enumerate(decisions.runs):
        for column, draw in enumerate(decisions.draws):
            if (draw.question, tag) not in answered:
                values[row, column] = decisions.values[row, column]
    return values


def questions_begun(judged: JudgmentSet) -> set[Draw]:
    """The questions, and nuggets of questions, that have any judgment."""
    begun = {Draw(name) for table in judged.kinds.values() for name in table["question"]}
    support = judged.kind("support")
    return begun | {Draw(question, nugget) for question, nugget in support.select("question", "nugget").iter_rows()}


def equal_answers(joined: Tally, a: str, b: str) -> set[str]:
    """The questions to which two runs return the same, where equal answers are judged once."""
    names = [name for name in _ANSWER if name in joined.runs.table.columns]
    table = joined.runs.table.with_columns(pl.col("question", "run").cast(pl.String))
    answers: Mapping[str, dict[str, list[tuple[object, ...]]]] = {tag: {} for tag in (a, b)}
    for question, run, *answer in table.select("question", "run", *names).iter_rows():
        if run in answers:
            answers[run].setdefault(question, []).append(tuple(answer))
    pooled = {
        type_
        for type_, rules in joined.task.types.items()
        if "run" not in kind_of_type(type_, rules, has_nuggets=joined.key.nuggets.height > 0).pooled
    }
    return {
        question.id
        for question in joined.questions
        if question.type in pooled
        and question.id in answers[a]
        and answers[a][question.id] == answers[b].get(question.id)
    }
