"""Show how scores spread over the questions, and how weights change the ranking.

The hardest and the easiest question, the questions (or series) with a median score of 0, by question type, and how
the scores of the runs spread on each. For an evaluation with several question types also: the ranking by series
compared with the ranking by type, and the ranking when each weight changes by 0.05. If targets have types, the
scores by type; if responses have holistic scores, the ranking by them compared with the ranking by F, and content
compared with organization.

With --question: one question, every answer to it with the verdicts of all judgment sets (for a pair all justifications,
with the scores of all judges), and the score of every run. With --run: one run, its place, its scores by type of
question, and each of its answers with its judgment.

Examples

  qassay describe my-eval
  qassay describe my-eval --component list --top 100
  qassay describe my-eval --question 75
  qassay describe my-eval --run hobby
  qassay describe scores.csv --json
  qassay describe old.jsonl new.jsonl --metric f1
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import numpy as np

from qassay.arrays import Floats
from qassay.display import as_sentence
from qassay.errors import UsageError
from qassay.meta.distributions import ScoreDistributions, score_distributions
from qassay.meta.fidelity import MovedWeights, TwoRankings, moved_weights, two_rankings
from qassay.options import Option, Scoring, Top
from qassay.pages import About, Exhibit, Links, Page
from qassay.results import UNREPORTED, Result
from qassay.sources import as_evaluation, as_matrix, refuse_options
from qassay.studies import WHERE, Study
from qassay.studies import one_question as question_study
from qassay.studies import one_run as run_study
from qassay.studies.one_question import OneQuestion
from qassay.studies.one_run import OneRun
from qassay.tables import MANUAL_RUN, Cell, Column, Table, starred, table

if TYPE_CHECKING:
    import polars as pl

    from qassay.evaluation import Evaluation
    from qassay.figures import Figure
    from qassay.scoring import Scores
    from qassay.sources import ScoresLike


@dataclass(frozen=True, repr=False)
class Description(Result):
    """The scores of all runs on each unit; for an evaluation with several question types also what they add up to."""

    units: ScoreDistributions
    # For an evaluation with several types of question: single questions, by series and by type, moved weights.
    questions: ScoreDistributions | None = None
    aggregation: TwoRankings | None = None
    weights: MovedWeights | None = None
    # Where judged: F against holistic scores, content against organization; scores by type of target.
    rankings: tuple[TwoRankings, ...] = ()
    target_types: TargetTypes | None = None

    def sentence(self) -> str:
        """On how many units at least half of the runs score 0."""
        return self.units.sentence()

    def table(self, most: int | None = None) -> Table:
        """One row per unit, for the first units where `most` is given."""
        return self.units.table(most)

    def tables(self, most: int | None = None) -> list[Table]:
        """Zero medians, rankings by other rules, scores by type of target, the scores on each unit (none with 0)."""
        zeros = [self.units.zero_table()]
        if self.questions is not None:
            by_question = self.questions.unit_name == self.units.unit_name
            zeros = [self.questions.zero_table(), *([] if by_question else zeros)]
        others = [self.aggregation, self.weights, *self.rankings, self.target_types]
        shown = [*zeros, *(other.table() for other in others if other is not None)]
        return shown if most == 0 else [*shown, self.table(most)]

    def figure(self) -> Figure:
        """How the runs spread on each unit."""
        drawn: Figure = self.units.figure()
        return drawn

    def to_polars(self) -> pl.DataFrame:
        """One row per unit."""
        return self.units.to_polars()


def describe(
    scores: ScoresLike | Evaluation, *, lower_is_better: Collection[str] = (), **how: Unpack[Scoring]
) -> Description:
    """How do the scores spread over the units, and what does the ranking owe to weights and aggregation?

    The keyword arguments say how an evaluation is scored, as in `Evaluation.score`. An evaluation with several types
    of questions also gets its ranking by series and by type, and under other weights.

    >>> import qassay
    >>> qassay.describe(qassay.open(qassay.demo_folder()), component="list")  # doctest: +NORMALIZE_WHITESPACE
    Description: the hardest questions are 9.6 and 13.6 (mean 0.000), the easiest 5.6 (mean 0.886);
    more than half of the 10 runs score 0 on 4 of 16 questions
    """
    evaluation = as_evaluation(scores)
    if evaluation is None:
        refuse_options(**how)
        return Description(score_distributions(as_matrix(scores, lower_is_better=lower_is_better)))
    scored = evaluation.score(**how)
    main = how.get("measure") is None
    composed = _composition(evaluation, scored, how) if main and how.get("component") is None else {}
    rankings = holistic_rankings(scored) if main else ()
    units = replace(score_distributions(scored.matrix), titles=evaluation.unit_titles(scored))
    return Description(units, rankings=rankings, target_types=target_types(evaluation, scored), **composed)


def describe_any(
    scores: ScoresLike | Evaluation,
    *,
    question: Annotated[
        str | None,
        Option("One question: every answer to it, and what judges said.", metavar="ID", of_evaluation=True),
    ] = None,
    run: Annotated[
        str | None, Option("One run: each of its answers, and what judges said.", metavar="RUN", of_evaluation=True)
    ] = None,
    **how: Unpack[Scoring],
) -> Description | OneQuestion | OneRun:
    """The scores of all questions, one question, or one run."""
    if question is None and run is None:
        return describe(scores, **how)
    if question is not None and run is not None:
        raise UsageError("it is about one question or one run: leave out one of question and run")
    evaluation = as_evaluation(scores)
    if evaluation is None:
        raise UsageError("questions and runs are shown from an evaluation; scores alone have no answers")
    if run is not None:
        return run_study.one_run(evaluation, run=run, **how)
    return question_study.one_question(evaluation, question or "", **how)


def page(result: Description | OneQuestion | OneRun, *, top: Top = 20) -> Page:
    """How scores spread, and the rankings by other rules; or one question, or one run."""
    if isinstance(result, OneQuestion):
        return question_study.page(result)
    if isinstance(result, OneRun):
        return run_study.page(result)
    *others, boxes = result.tables(top) if top else [*result.tables(0), None]
    exhibits = [Exhibit(f"spread-{place}", shown) for place, shown in enumerate(others, 1)]
    figure = result.figure if result.units.runs > 1 else None
    names = tuple(box.unit for box in result.units.units[:top])
    about: About = "series" if result.units.unit_name[0] == "series" else "question"
    exhibits.append(Exhibit("boxes", boxes, figure, links=Links(about, names)))
    answer = filter(None, (result.sentence(), result.units.furthest_apart()))
    return Page((" ".join(map(as_sentence, answer)),), tuple(exhibits))


STUDY = Study(
    name="describe",
    compute=describe_any,
    page=page,
    documents=(Description, OneQuestion, OneRun),
    source="scores",
    heading="How scores spread",
    label="Spread",
    tab=WHERE,
)


def _composition(evaluation: Evaluation, scores: Scores, how: Scoring) -> dict[str, Any]:
    """How far the ranking depends on weights and aggregation; nothing where all questions are of one type."""
    names = list(scores.questions)
    if len(names) < 2:
        return {}
    by_type = evaluation.score(**how | {"measure": "final_score"})
    both = None
    if evaluation.task.unit == "series":
        manual = scores.matrix.manual
        both = two_rankings(scores.tags, ("by series", _totals(scores)), ("by type", _totals(by_type)), manual=manual)
    parts = {row.run: row.components for row in by_type.runs}
    means = {name: np.array([parts[tag][name] for tag in scores.tags], dtype=float) for name in names}
    moved = moved_weights(means, {name: evaluation.task.weights[name] for name in names})
    return {"questions": score_distributions(by_type.matrix), "aggregation": both, "weights": moved}


def _totals(scores: Scores) -> Floats:
    totals = {row.run: row.score for row in scores.runs}
    return np.array([totals[tag] for tag in scores.tags], dtype=float)


# ---- the same runs scored in two ways, and by type of target --------------------------------------------------------


# The pairs of components that [DEF03] compares: F against what assessors think of the whole, and its two halves.
HOLISTIC = "holistic"
HALVES = ("content", "organization")


def holistic_rankings(scores: Scores) -> tuple[TwoRankings, ...]:
    """The ranking by F against the one by holistic scores, and content against organization; none where not judged.

    A run without holistic scores is not in them.
    """
    kinds = [name for name in scores.questions if any(name in row.components for row in scores.runs)]
    pairs = [(kind, HOLISTIC) for kind in kinds[:1]] + [HALVES]
    return tuple(rankings for a, b in pairs if (rankings := _two(scores, a, b)) is not None)


def _two(scores: Scores, a: str, b: str) -> TwoRankings | None:
    both = [row for row in scores.runs if row.components.get(a) is not None and row.components.get(b) is not None]
    if len(both) < 2:
        return None
    first, second = (np.array([row.components[name] for row in both], dtype=float) for name in (a, b))
    runs = [row.run for row in both]
    manual = frozenset(run for run in runs if scores.information[run].manual)
    title = f"{a} F" if a in scores.questions else a
    return two_rankings(runs, (title, first), (b, second), manual=manual)


@dataclass(frozen=True, slots=True)
class TargetType:
    """The units of one type of target, the mean score over the runs, and that of each run."""

    units: int
    mean: float | None
    runs: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class TargetTypes:
    """Mean score of every run over the units (series, or questions) of each type of target."""

    measure: str
    types: Mapping[str, TargetType]
    notes: tuple[str, ...] = ()
    unit_name: tuple[str, str] = field(default=("question", "questions"), metadata=UNREPORTED)
    manual: frozenset[str] = field(default=frozenset(), metadata=UNREPORTED)

    def table(self) -> Table:
        """One row per run, one column per type; the mean over the runs last."""
        types = self.types.values()
        columns = [Column("run", left=True)]
        columns += [Column(f"{kind} ({part.units})", ".3f") for kind, part in self.types.items()]
        runs = next(iter(types)).runs
        rows: list[tuple[Cell, ...]] = [
            (starred(run, self.manual), *(kind.runs[run] for kind in types)) for run in runs
        ]
        rows.append(("all runs", *(part.mean for part in types)))
        notes = [f"In brackets: the number of {self.unit_name[1]}.", *self.notes]
        notes += [MANUAL_RUN] if self.manual else []
        return table(f"{self.measure} by type of target", columns, rows, notes)


def target_types(evaluation: Evaluation, scores: Scores) -> TargetTypes | None:
    """Scores by type of target; None where no target has a type, or a run's score is not the mean of its units."""
    kinds = dict(_types(evaluation))
    if not scores.units.summary.is_mean or not any(unit in kinds for unit in scores.units.ids):
        return None
    columns: dict[str, list[int]] = {}
    for place, unit in enumerate(scores.units.ids):
        if unit in kinds:
            columns.setdefault(kinds[unit], []).append(place)
    row_of = {tag: place for place, tag in enumerate(scores.tags)}
    types = {}
    for kind, places in columns.items():
        values = scores.units.values[:, places]
        runs = {row.run: _mean(values[row_of[row.run]]) for row in scores.runs}
        known = [score for score in runs.values() if score is not None]
        types[kind] = TargetType(len(places), sum(known) / len(known) if known else None, runs)
    untyped = len(scores.units.ids) - sum(map(len, columns.values()))
    notes = (f"Without a type, and left out: {untyped:,} {scores.unit_name[1]}.",) if untyped else ()
    manual = frozenset(row.run for row in scores.runs if scores.information[row.run].manual)
    return TargetTypes(scores.measure, types, notes, scores.unit_name, manual)


def _types(evaluation: Evaluation) -> Iterator[tuple[str, str]]:
    """The type of target of every question and of every series that has one."""
    for question in evaluation.questions:
        if question.target_type is not None:
            yield question.id, question.target_type
            if question.series is not None:
                yield question.series, question.target_type


def _mean(values: np.ndarray[Any, np.dtype[np.float64]]) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None
