"""The material of a report: the results of the analyses, and why some are missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from qassay.matrix import ScoreMatrix
from qassay.meta.agreement.result import Agreement
from qassay.meta.distributions import ScoreDistributions
from qassay.meta.intervals import ScoreIntervals
from qassay.meta.planning import Plan
from qassay.meta.ratings import Ratings
from qassay.meta.sensitivity import SensitivityCurves
from qassay.meta.significance import AllPairs, PairComparison
from qassay.meta.stability import MeasureStability
from qassay.scoring import Scores


@dataclass(frozen=True)
class Material:
    """The results of one measure.

    `scores` are there where an evaluation was scored, `first_two` where there are two runs. `missing` says, in
    sentences, why an analysis is not in the report; `commands` are what reproduces each part. `judged_by` are the
    judgment sets of the evaluation.
    """

    name: str
    matrix: ScoreMatrix
    intervals: ScoreIntervals
    pairs: AllPairs
    spread: ScoreDistributions
    seed: int = 0
    scores: Scores | None = None
    task_title: str = ""
    measure_title: str = ""
    first_two: PairComparison | None = None
    curves: SensitivityCurves | None = None
    plan: Plan | None = None
    agreement: tuple[Agreement, ...] = ()
    ratings: Ratings | None = None
    stability: MeasureStability | None = None
    judged_by: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    commands: Mapping[str, str] = field(default_factory=dict)
    version: str = ""

    @property
    def on_shared_units(self) -> bool:
        """Whether gaps of runs were skipped: the analyses then use the units that all runs have."""
        return self.scores is not None and self.scores.missing is not None and self.scores.missing[0] == "skip"
