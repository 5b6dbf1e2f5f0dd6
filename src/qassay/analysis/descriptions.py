"""How scores spread over units, and what the ranking owes to weights and aggregation [SERIES05]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from qassay.arrays import Floats
from qassay.meta.distributions import ScoreDistributions, score_distributions
from qassay.meta.fidelity import MovedWeights, TwoRankings, moved_weights, two_rankings
from qassay.results import Result, document
from qassay.tables import MANUAL_RUN, Cell, Column, Table, starred, table

if TYPE_CHECKING:
    import polars as pl

    from qassay.evaluation import Evaluation
    from qassay.figures import Figure
    from qassay.scoring import HowScored, Scores


@dataclass(frozen=True, repr=False)
class Description(Result):
    """The scores of all runs on each unit; for an evaluation with several question types also what they add up to."""

    units: ScoreDistributions
    composition: Composition | None = None
    # Where judged: F against holistic scores, content against organization; scores by type of target.
    rankings: tuple[TwoRankings, ...] = ()
    targets: TargetTypes | None = None

    def sentence(self) -> str:
        """On how many units at least half of the runs score 0."""
        return self.units.sentence()

    def table(self, most: int | None = None) -> Table:
        """One row per unit, for the first units where `most` is given."""
        return self.units.table(most)

    def tables(self, most: int | None = None) -> list[Table]:
        """Zero medians, rankings by other rules, scores by type of target, the scores on each unit (none with 0)."""
        composed = [] if self.composition is None else self.composition.tables()
        if self.composition is None or self.composition.questions.unit_name != self.units.unit_name:
            composed = [*composed[:1], self.units.zero_table(), *composed[1:]]
        composed = [*composed, *(two.table() for two in self.rankings)]
        composed += [] if self.targets is None else [self.targets.table()]
        return composed if most == 0 else [*composed, self.table(most)]

    def figure(self) -> Figure:
        """How the runs spread on each unit."""
        drawn: Figure = self.units.figure()
        return drawn

    def to_polars(self) -> pl.DataFrame:
        """One row per unit."""
        return self.units.to_polars()

    def as_json(self) -> dict[str, Any]:
        """The document of `describe --json`."""
        return {
            "units": self.units.as_json(),
            **(self.composition.as_json() if self.composition else {}),
            **({"rankings": [two.as_json() for two in self.rankings]} if self.rankings else {}),
            **({"target_types": self.targets.as_json()} if self.targets else {}),
        }


def describe_evaluation(evaluation: Evaluation, key: str | None, **options: Unpack[HowScored]) -> Description:
    """How the scores of an evaluation spread; with its composition where neither measure nor component is named."""
    scores = evaluation.score(key, **options)
    main = options.get("measure") is None
    composed = composition(evaluation, key, **options) if main and options.get("component") is None else None
    rankings = holistic_rankings(scores) if main else ()
    units = replace(score_distributions(scores.matrix), titles=unit_titles(evaluation, scores))
    return Description(units, composed, rankings, target_types(evaluation, scores))


def unit_titles(evaluation: Evaluation, scores: Scores) -> dict[str, str]:
    """What the units of these scores are about, where they are series: a question has an id of the same form."""
    return evaluation.questions.titles if scores.matrix.unit_name[0] == "series" else {}


@dataclass(frozen=True)
class Composition:
    """Scores of single questions by type, the ranking by series against by type, and the one under moved weights."""

    questions: ScoreDistributions
    aggregation: TwoRankings | None
    weights: MovedWeights

    def tables(self) -> list[Table]:
        """Zero medians by type, both rankings, moved weights."""
        both = [] if self.aggregation is None else [self.aggregation.table()]
        return [self.questions.zero_table(), *both, self.weights.table()]

    def as_json(self) -> dict[str, Any]:
        """All parts under their names."""
        both = {} if self.aggregation is None else {"aggregation": self.aggregation.as_json()}
        return {"questions": self.questions.as_json(), **both, "weights": self.weights.as_json()}


def composition(evaluation: Evaluation, key: str | None, **options: Unpack[HowScored]) -> Composition | None:
    """How far the ranking depends on weights and aggregation; None where all questions are of one type."""
    scores = evaluation.score(key, **options)
    names = list(scores.questions)
    if len(names) < 2:
        return None
    by_type = evaluation.score(key, **options | {"measure": "final_score"})
    both = None
    if evaluation.task.unit == "series":
        manual = scores.matrix.manual
        both = two_rankings(scores.tags, ("by series", _totals(scores)), ("by type", _totals(by_type)), manual=manual)
    parts = {row.run: row.components for row in by_type.runs}
    means = {name: np.array([parts[tag][name] for tag in scores.tags], dtype=float) for name in names}
    moved = moved_weights(means, {name: evaluation.task.weights[name] for name in names})
    return Composition(score_distributions(by_type.matrix), both, moved)


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
class TargetTypes:
    """Mean score of every run over the units (series, or questions) of each type of target."""

    measure: str
    unit_name: tuple[str, str]
    units: Mapping[str, int]
    runs: tuple[str, ...]
    # By type, then by run.
    scores: Mapping[str, Mapping[str, float | None]]
    manual: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def mean(self, kind: str) -> float | None:
        """The mean over the runs."""
        known = [score for score in self.scores[kind].values() if score is not None]
        return sum(known) / len(known) if known else None

    def table(self) -> Table:
        """One row per run, one column per type; the mean over the runs last."""
        columns = [Column("run", left=True), *(Column(f"{kind} ({n})", ".3f") for kind, n in self.units.items())]
        rows: list[tuple[Cell, ...]] = [
            (starred(run, self.manual), *(self.scores[kind][run] for kind in self.units)) for run in self.runs
        ]
        rows.append(("all runs", *(self.mean(kind) for kind in self.units)))
        notes = [f"In brackets: the number of {self.unit_name[1]}.", *self.notes]
        notes += [MANUAL_RUN] if self.manual else []
        return table(f"{self.measure} by type of target", columns, rows, notes)

    def as_json(self) -> dict[str, Any]:
        """By type: how many units, the mean over the runs, and the score of every run."""
        return {
            **document(self, "measure"),
            "types": {
                kind: {"units": count, "mean": self.mean(kind), "runs": dict(self.scores[kind])}
                for kind, count in self.units.items()
            },
            **document(self, "notes"),
        }


def target_types(evaluation: Evaluation, scores: Scores) -> TargetTypes | None:
    """Scores by type of target; None where no target has a type, or a run's score is not the mean of its units."""
    kinds = dict(_types(evaluation))
    if not scores.units.summary.is_mean or not any(unit in kinds for unit in scores.units.ids):
        return None
    columns: dict[str, list[int]] = {}
    for place, unit in enumerate(scores.units.ids):
        if unit in kinds:
            columns.setdefault(kinds[unit], []).append(place)
    by_type: dict[str, dict[str, float | None]] = {}
    row_of = {tag: place for place, tag in enumerate(scores.tags)}
    runs = tuple(row.run for row in scores.runs)
    for kind, places in columns.items():
        values = scores.units.values[:, places]
        by_type[kind] = {run: _mean(values[row_of[run]]) for run in runs}
    untyped = len(scores.units.ids) - sum(map(len, columns.values()))
    notes = (f"Without a type, and left out: {untyped:,} {scores.unit_name[1]}.",) if untyped else ()
    return TargetTypes(
        measure=scores.measure,
        unit_name=scores.unit_name,
        units={kind: len(places) for kind, places in columns.items()},
        runs=runs,
        scores=by_type,
        manual=frozenset(run for run in runs if scores.information[run].manual),
        notes=notes,
    )


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
