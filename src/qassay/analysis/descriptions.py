"""How scores spread over units, and what the ranking owes to weights and aggregation [SERIES05]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from qassay.analysis.side_by_side import TargetTypes, holistic_rankings, target_types
from qassay.matrix import Floats
from qassay.meta.distributions import ScoreDistributions, score_distributions
from qassay.meta.fidelity import MovedWeights, TwoRankings, moved_weights, two_rankings
from qassay.results import Result
from qassay.tables import Table

if TYPE_CHECKING:
    import polars as pl

    from qassay.evaluation import Evaluation
    from qassay.figures import Figure
    from qassay.scoring import Missing, Scores, Unjudged


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


def describe_evaluation(
    evaluation: Evaluation,
    *,
    key: str | None = None,
    measure: str | None = None,
    component: str | None = None,
    unjudged: Unjudged = "stop",
    missing: Missing = "stop",
) -> Description:
    """How the scores of an evaluation spread; with its composition where neither measure nor component is named."""
    scores = evaluation.score(key, measure=measure, component=component, unjudged=unjudged, missing=missing)
    composed = None
    if measure is None and component is None:
        composed = composition(evaluation, key, unjudged=unjudged, missing=missing)
    rankings = holistic_rankings(scores) if measure is None else ()
    return Description(score_distributions(scores.matrix), composed, rankings, target_types(evaluation, scores))


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


def composition(
    evaluation: Evaluation, key: str | None = None, *, unjudged: Unjudged = "stop", missing: Missing = "stop"
) -> Composition | None:
    """How far the ranking depends on weights and aggregation; None where all questions are of one type."""
    scores = evaluation.score(key, unjudged=unjudged, missing=missing)
    names = list(scores.questions)
    if len(names) < 2:
        return None
    by_type = evaluation.score(key, measure="final_score", unjudged=unjudged, missing=missing)
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
