"""One question with every run's response to it, and every judge's verdict: for a pair, all its justifications."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from qassay.arrays import TIE
from qassay.display import enumerated
from qassay.errors import UsageError, unknown
from qassay.judging import OPINIONS, ROW_KINDS
from qassay.matrix import ScoreMatrix
from qassay.options import Scoring
from qassay.questions import Question
from qassay.results import UNREPORTED, Result, reported
from qassay.tables import MANUAL_RUN, Cell, Column, Table, plural, starred, table

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.figures import Figure
    from qassay.judging.sets import JudgmentSet
    from qassay.scoring import Scores

# A longer text is cut in tables; JSON has it whole.
LONGEST_TEXT = 200
LONGEST_VERDICT = 40
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
    key: str
    measure: str
    sets: tuple[str, ...]
    responses: tuple[JudgedResponse, ...]
    # Of a pair, the reference answer of each set.
    answers: Mapping[str, str]
    manual: frozenset[str] = field(default=frozenset(), metadata=UNREPORTED)

    @reported
    def question(self) -> dict[str, str]:
        """The question: what it has of id, type, text, hypothesis, series and target."""
        names = ("id", "type", "text", "hypothesis", "series", "target")
        return {name: value for name in names if (value := getattr(self.asked, name)) is not None}

    def sentence(self) -> str:
        """The question, and who answers it best."""
        scored = [response for response in self.responses if response.score is not None]
        best = ""
        if scored:
            first = scored[0].score or 0.0
            runs = [response.run for response in scored if abs(first - (response.score or 0.0)) < TIE]
            best = f"; best: {enumerated(runs, 3)} with {first:.3f}"
            if len(runs) == len(scored) > 1:
                best = f"; all score {first:.3f}"
        return f"question {self.asked.id}: {plural(len(self.responses), 'response')}{best}"

    def table(self) -> Table:
        """One row per item of a response; for pairs one row per justification, with the judges' scores."""
        decided = any(response.decision is not None for response in self.responses)
        return self._justifications() if decided else self._items()

    def tables(self) -> list[Table]:
        """The question in words, and the responses."""
        shown = {"text": self.asked.text, "hypothesis": self.asked.hypothesis, "target": self.asked.target}
        rows = [(name, _cut(text)) for name, text in shown.items() if text]
        rows += [(f"answer ({name})", label) for name, label in self.answers.items()]
        return [table(f"Question {self.asked.id} ({self.asked.type})", ["", ""], rows), self.table()]

    def figure(self) -> Figure:
        """The scores of the runs on the question."""
        from qassay.figures import unit_by_run

        known = {response.run: response.score for response in self.responses if response.score is not None}
        if not known:
            raise UsageError(f"no run has a score on question {self.asked.id}: there is nothing to draw")
        values = np.array([[score] for score in known.values()])
        unit_name = ("question", "questions")
        matrix = ScoreMatrix(tuple(known), (self.asked.id,), values, measure=self.measure, unit_name=unit_name)
        return unit_by_run(matrix, self.asked.id)

    def _justifications(self) -> Table:
        judges = list(dict.fromkeys(rating.judge for response in self.responses for rating in response.ratings))
        columns = [Column("run", left=True), Column("decision", left=True), *(Column(j, left=True) for j in judges)]
        columns += [Column(f"mean {scale}", ".2f") for scale in OPINIONS.fields] if judges else []
        rows: list[tuple[Cell, ...]] = []
        for response in self.responses:
            rating_of = {rating.judge: str(rating) for rating in response.ratings}
            means = response.mean.values() if judges else ()
            rows.append(
                (
                    starred(response.run, self.manual),
                    response.decision,
                    *map(rating_of.get, judges),
                    *means,
                    _cut(response.justification),
                )
            )
        note = f"Judges: {OPINIONS.scales}."
        title = f"All responses to pair {self.asked.id}, with the scores of all judges"
        notes = [note] if judges else ["No judge rated the justifications of this pair."]
        return table(title, [*columns, Column("justification", left=True)], rows, [*notes, *self._star()])

    def _star(self) -> list[str]:
        return [MANUAL_RUN] if self.manual.intersection(response.run for response in self.responses) else []

    def _items(self) -> Table:
        columns = [Column("run", left=True), Column("score", ".3f"), *(Column(s, left=True) for s in self.sets)]
        columns += [Column("doc", left=True), Column("text", left=True)]
        rows: list[tuple[Cell, ...]] = []
        for response in self.responses:
            whole = response.judgments
            items = response.items or (ResponseItem(None, response.decision or "NIL or empty", {}),)
            for place, item in enumerate(items):
                verdicts = [item.judgments.get(name) or (whole.get(name) if place == 0 else None) for name in self.sets]
                shown = [_cut(verdict, LONGEST_VERDICT) for verdict in verdicts]
                rows.append(
                    (starred(response.run, self.manual), response.score, *shown, item.doc or "", _cut(item.text))
                )
        note = f"Scores: judgments {self.key}. What is judged of a response as a whole is in its first row."
        return table(f"Responses to question {self.asked.id}", columns, rows, [note, *self._star()])


def one_question(evaluation: Evaluation, question: str, **how: Unpack[Scoring]) -> OneQuestion:
    """Every response to one question, scored, with the verdicts of all sets."""
    if question not in evaluation.questions.by_id:
        raise unknown("question", question, evaluation.questions.ids)
    record = evaluation.questions.by_id[question]
    scores = evaluation.score(**how)
    rows = evaluation.runs.table.filter(pl.col("question").cast(pl.String) == question)
    ratings = _ratings(evaluation, question)
    verdicts = {name: _Verdicts(evaluation.judgment_set(name), question) for name in evaluation.sets}
    by_run = _scores(scores, question)
    responses = []
    for (tag,), group in rows.partition_by("run", as_dict=True, maintain_order=True).items():
        run = str(tag)
        items = list(_items(group, run, verdicts))
        whole = {name: words for name, set_verdicts in verdicts.items() if (words := set_verdicts.of_response(run))}
        first = group.row(0, named=True)
        responses.append(
            JudgedResponse(
                run=run,
                score=by_run.get(run),
                items=tuple(items),
                judgments=whole,
                decision=first.get("decision"),
                justification=first.get("justification"),
                ratings=tuple(ratings.get(run, ())),
            )
        )
    responses.sort(key=lambda response: (-1.0 if response.score is None else -response.score, response.run))
    shown = tuple(name for name, set_verdicts in verdicts.items() if set_verdicts.any)
    labels = {name: evaluation.judgment_set(name).pair_labels().get(question) for name in evaluation.sets}
    answers = {name: label for name, label in labels.items() if label is not None}
    manual = evaluation.manual_runs
    return OneQuestion(record, scores.key, scores.measure, shown, tuple(responses), answers, manual)


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


def _items(group: pl.DataFrame, run: str, verdicts: Mapping[str, _Verdicts]) -> Iterator[ResponseItem]:
    for row in group.iter_rows(named=True):
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


def _scores(scores: Scores, question: str) -> dict[str, float | None]:
    """The score of every run on the question; absent where it is left out."""
    document_ = scores.as_json()["questions"]
    return {run: values.get(question) for run, values in document_.items()}


def _cut(text: str | None, most: int = LONGEST_TEXT) -> str:
    flat = " ".join((text or "").split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def _dash(value: int | None) -> str:
    return "–" if value is None else str(value)
