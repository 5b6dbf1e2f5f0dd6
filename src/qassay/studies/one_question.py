"""One question: what is known of it, every answer with what every set says of it, and the scores of the runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, Unpack, get_args

import numpy as np
import polars as pl

from qassay.arrays import TIE
from qassay.display import as_sentence, called, enumerated, listed, one_line
from qassay.errors import InputError, UsageError, unknown
from qassay.judging import OPINIONS, ROW_KINDS
from qassay.matrix import ScoreMatrix
from qassay.options import Option, Scoring
from qassay.pages import Exhibit, Links, Page
from qassay.questions import Question
from qassay.results import UNREPORTED, Result, reported
from qassay.studies import Study
from qassay.studies.judged_answers import (
    Outcome,
    outcome_of,
    question_scores,
    response_rows,
)
from qassay.studies.question_tables import ANSWERS_SHOWN, all_answers, known_answers, nugget_lists, star
from qassay.tables import Column, Table, plural, starred, table

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.figures import Figure
    from qassay.judging.sets import JudgmentSet

# The characters of a question that the sentence about it repeats.
MOST_ASKED = 300
_IN_WORDS = {"right": "right", "partly": "partly right", "wrong": "wrong", "not-scored": "not scored"}
# The fields of an item that a judgment may name.
_ITEM = ("doc", "text", "start", "length")


@dataclass(frozen=True, slots=True)
class Rating:
    """One judge's scores of a justification, by scale; None where a score was not asked for."""

    judge: str
    scores: Mapping[str, int | None]

    def as_json(self) -> dict[str, object]:
        """The judge, and the scores by scale."""
        return {"judge": self.judge, **self.scores}

    def __str__(self) -> str:
        return "/".join(map(_dash, self.scores.values()))


@dataclass(frozen=True, slots=True)
class ResponseItem:
    """One item of a response, with the verdict of every set on it."""

    doc: str | None
    text: str | None
    judgments: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class JudgedResponse:
    """One run's response: its score, its items or its decision and justification, and the judgments of the whole."""

    run: str
    score: float | None
    items: tuple[ResponseItem, ...] = ()
    judgments: Mapping[str, str] = field(default_factory=dict)
    decision: str | None = None
    justification: str | None = None
    ratings: tuple[Rating, ...] = ()

    @reported
    def mean(self) -> dict[str, float | None]:
        """The mean over the judges by scale; a score that was not asked for counts as 0 [RTE08]."""
        known = {scale: [rating.scores[scale] or 0 for rating in self.ratings] for scale in OPINIONS.fields}
        return {scale: sum(scores) / len(scores) if scores else None for scale, scores in known.items()}


@dataclass(frozen=True, slots=True, repr=False)
class OneQuestion(Result):
    """A question with all responses and all judgments; the best response first."""

    asked: Question = field(metadata=UNREPORTED)
    # None where the evaluation cannot be scored yet; `reasons` say why.
    key: str | None
    measure: str | None
    sets: tuple[str, ...]
    responses: tuple[JudgedResponse, ...]
    # Of a pair, the reference answer of each set.
    answers: Mapping[str, str]
    outcomes: Counter[Outcome] = field(metadata=UNREPORTED)
    judged: tuple[Exhibit, ...] = field(metadata=UNREPORTED)
    reasons: tuple[str, ...] = field(default=(), metadata=UNREPORTED)
    manual: frozenset[str] = field(default=frozenset(), metadata=UNREPORTED)

    @reported
    def question(self) -> dict[str, str]:
        """The question: what it has of id, type, text, hypothesis, series and target."""
        names = ("id", "type", "text", "hypothesis", "series", "target")
        return {name: value for name in names if (value := getattr(self.asked, name)) is not None}

    @property
    def scores(self) -> dict[str, float | None]:
        """The score of every run, the highest first; empty where nothing is scored."""
        return {} if self.key is None else {response.run: response.score for response in self.responses}

    def sentence(self) -> str:
        """How many runs got the question right, partly right and wrong, and which are the best of several."""
        number, where = self.outcomes.total(), f"on question {self.asked.id}"
        if not number:
            return f"question {self.asked.id} has {plural(len(self.responses), 'response')} and no scores"
        given = [name for name in get_args(Outcome) if self.outcomes[name]]
        if len(given) == 1 or number == 1:
            every = "the only run is" if number == 1 else "both runs are" if number == 2 else f"all {number:,} runs are"
            return f"{every} {_IN_WORDS[given[0]]} {where}"
        parts = [f"{n:,} {'is' if n == 1 else 'are'} {_IN_WORDS[name]}" for name in given if (n := self.outcomes[name])]
        known = {run: score for run, score in self.scores.items() if score is not None}
        first = next(iter(known.values()))
        best = [run for run, score in known.items() if abs(first - score) < TIE]
        return f"of {number:,} runs, {listed(parts)} {where}; best: {enumerated(best, 3)} with {first:.3f}"

    def table(self) -> Table:
        """Each answer with the judgments of every set; for pairs every justification, with the judges' scores."""
        return next(exhibit.numbers for exhibit in self.judged if exhibit.name == "answers")

    def tables(self) -> list[Table]:
        """The question, what is known of it, the answers, and the scores of the runs."""
        return page(self).tables

    def about(self) -> Table:
        """What the question is, and its right answers."""
        names = ("type", "series", "target", "target_type", "text", "hypothesis", "definition")
        rows = [(name.replace("_", " "), value) for name in names if (value := getattr(self.asked, name))]
        rows += [("gold answer", answer) for answer in self.asked.gold]
        rows += [(f"answer ({name})", label) for name, label in self.answers.items()]
        return table(f"Question {self.asked.id}", ["", Column("value", left=True)], rows)

    def figure(self) -> Figure:
        """The scores of the runs on the question."""
        from qassay.figures import unit_by_run

        known = {run: score for run, score in self.scores.items() if score is not None}
        if not known:
            raise UsageError(f"no run has a score on question {self.asked.id}: there is nothing to draw")
        values = np.array([[score] for score in known.values()])
        unit_name = ("question", "questions")
        matrix = ScoreMatrix(tuple(known), (self.asked.id,), values, measure="score", unit_name=unit_name)
        return unit_by_run(matrix, self.asked.id)


def one_question(
    evaluation: Evaluation,
    question: Annotated[str, Option("The question.", on_pages=True)],
    **how: Unpack[Scoring],
) -> OneQuestion:
    """Every response to one question, scored where that is possible, with the verdicts of all sets."""
    if question not in evaluation.questions.by_id:
        raise unknown("question", question, evaluation.questions.ids)
    asked, scores = evaluation.questions.by_id[question], None
    reasons: tuple[str, ...] = ()
    try:
        scores = evaluation.score(**how)
    except InputError as error:  # answers and their judgments are there anyway
        reasons = (f"Nothing is scored: {error.problems[0].message}.",)
    by_run = {} if scores is None else {run: question_scores(scores, run).get(question) for run in scores.tags}
    ratings = _ratings(evaluation, question)
    verdicts = {name: _Verdicts(evaluation.judgment_set(name), question) for name in evaluation.sets}
    rows = response_rows(evaluation, [question])
    responses = []
    for run, grouped in groupby(rows, key=lambda row: row["run"]):
        own = list(grouped)
        whole = {name: words for name, set_verdicts in verdicts.items() if (words := set_verdicts.of_response(run))}
        responses.append(
            JudgedResponse(
                run=run,
                score=by_run.get(run),
                items=tuple(_items(own, run, verdicts)),
                judgments=whole,
                decision=own[0].get("decision"),
                justification=own[0].get("justification"),
                ratings=tuple(ratings.get(run, ())),
            )
        )
    responses.sort(key=lambda response: (-1.0 if response.score is None else -response.score, response.run))
    shown = tuple(name for name, set_verdicts in verdicts.items() if set_verdicts.any)
    labels = {name: evaluation.judgment_set(name).pair_labels().get(question) for name in evaluation.sets}
    is_scored = scores is not None and any(question in scores.asked for _ in by_run)
    return OneQuestion(
        asked=asked,
        key=scores.key if scores is not None else None,
        measure=scores.measure if scores is not None else None,
        sets=shown,
        responses=tuple(responses),
        answers={name: label for name, label in labels.items() if label is not None},
        outcomes=Counter(outcome_of(score, scores) for score in by_run.values()) if scores and is_scored else Counter(),
        judged=(
            *known_answers(evaluation, question),
            *nugget_lists(evaluation, question),
            *all_answers(evaluation, asked, responses, rows, shown),
        ),
        reasons=reasons,
        manual=evaluation.manual_runs,
    )


def page(result: OneQuestion) -> Page:
    """How many got it right, what it asks, what is known of it, all answers, and the scores of the runs."""
    words = one_line(result.asked.asked)
    words = words if len(words) <= MOST_ASKED else f"{words[:MOST_ASKED]}…"
    target = result.asked.target
    about = f" about {called(target)}" if target and target not in words else ""
    exhibits = [Exhibit("about", result.about()), *result.judged]
    if any(score is not None for score in result.scores.values()):
        rows = [(starred(run, result.manual), score) for run, score in result.scores.items()]
        title, notes = (
            f"Scores of the runs on this question, judgments: {result.key}",
            star(result.manual, list(result.scores)),
        )
        shown = table(title, ["run", Column("score", ".3f")], rows, notes)
        links = Links("run", tuple(result.scores))
        exhibits.append(Exhibit("scores", shown, result.figure, links=links, at_once=ANSWERS_SHOWN))
    answer = (as_sentence(result.sentence()), f"It asks{about}: {words}")
    return Page(answer, tuple(exhibits), notes=result.reasons)


STUDY = Study(
    name="one_question",
    compute=one_question,
    page=page,
    documents=(OneQuestion,),
    page_name="question",
    heading="Question {question}",
    label="Question",
)


class _Verdicts:
    """The judgments of one set on one question: of items, and of responses as a whole."""

    def __init__(self, judged: JudgmentSet, question: str) -> None:
        self.items: dict[tuple[Any, ...], str] = {}
        self.responses: dict[str, list[str]] = {}
        for kind, table_ in judged.kinds.items():
            record = ROW_KINDS[kind]
            if not record.of_runs or record.by_assessor:
                continue
            for row in table_.filter(pl.col("question") == question).iter_rows(named=True):
                words = record.in_words(row)
                if "text" in record.identity:
                    run = row["run"] if "run" in record.identity else None
                    self.items[run, *(row[name] for name in _ITEM)] = words
                elif row.get("item") is None:
                    place = next(
                        (f"{name} {row[name]}: " for name in ("nugget", "sentence") if row[name] is not None), ""
                    )
                    self.responses.setdefault(row["run"], []).append(f"{place}{words}")

    @property
    def any(self) -> bool:
        return bool(self.items or self.responses)

    def of_item(self, run: str, item: Mapping[str, Any]) -> str | None:
        """The verdict on an item: pooled with those of all runs, or this run's own."""
        place = tuple(item.get(name) for name in _ITEM)
        texts = [(tag, *place) for tag in (run, None)] + [(None, None, item.get("text"), None, None)]
        return next((self.items[where] for where in texts if where in self.items), None)

    def of_response(self, run: str) -> str:
        return "; ".join(self.responses.get(run, ()))


def _items(rows: Sequence[Mapping[str, Any]], run: str, verdicts: Mapping[str, _Verdicts]) -> Iterator[ResponseItem]:
    for row in rows:
        if row.get("text") is None and row.get("start") is None:
            continue
        judgments = {
            name: words
            for name, set_verdicts in verdicts.items()
            if (words := set_verdicts.of_item(run, row)) is not None
        }
        text = row.get("text") or f"{row.get('length')} characters from {row.get('start')}"
        yield ResponseItem(row.get("doc"), text, judgments)


def _ratings(evaluation: Evaluation, question: str) -> dict[str, list[Rating]]:
    """The ratings of each run's justification by every judge."""
    rows = OPINIONS.given(evaluation.ratings(evaluation.sets))
    ratings_of: dict[str, list[Rating]] = {}
    for row in rows.filter(pl.col("question") == question).iter_rows(named=True):
        rating = Rating(row["assessor"], {scale: row[scale] for scale in OPINIONS.fields})
        ratings_of.setdefault(row["run"], []).append(rating)
    return ratings_of


def _dash(value: int | None) -> str:
    return "–" if value is None else str(value)
