"""What the ranking of an evaluation owes to how its question types are put together. [SERIES05]"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qassay.evaluation import Evaluation
from qassay.matrix import Floats
from qassay.meta.distributions import ScoreDistributions, score_distributions
from qassay.meta.fidelity import MovedWeights, TwoRankings, moved_weights, two_rankings
from qassay.scores import Missing, Scores, Unjudged
from qassay.tables import Table


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
        both = two_rankings(scores.tags, ("by series", _totals(scores)), ("by type", _totals(by_type)))
    parts = {row.run: row.components for row in by_type.runs}
    means = {name: np.array([parts[tag][name] for tag in scores.tags], dtype=float) for name in names}
    moved = moved_weights(means, {name: evaluation.task.weights[name] for name in names})
    return Composition(score_distributions(by_type.matrix), both, moved)


def _totals(scores: Scores) -> Floats:
    found = {row.run: row.score for row in scores.runs}
    return np.array([found[tag] for tag in scores.tags], dtype=float)
