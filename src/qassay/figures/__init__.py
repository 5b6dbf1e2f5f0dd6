"""Figures: result records -> charts, one function per figure.

    rankings     leaderboard  differences_to_control  ranks_by_set  tau_heat_map  score_by_beta  score_by_length
    decisions    top_runs  conditioned_accuracy
    comparisons  differences_by_unit  error_rate_by_difference  error_curves  power_by_units
    units        scores_by_unit  boxes_by_unit  run_by_unit  unit_by_run
    judges       agreement_matrix  contingency  rating_histogram  mean_rank_by_judge  bias_by_run  judging_progress
                 corrected_leaderboard  agreement_by_person
    drawing      letters, colours and axes that all share
    figure       the record: a chart with its table; SVG, PNG, PDF, CSV

Each takes a record and gives a `Figure`. Numbers come from the record alone. Packages: the extra `figures`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from qassay.errors import UsageError
from qassay.figures.comparisons import differences_by_unit, error_curves, error_rate_by_difference, power_by_units
from qassay.figures.decisions import conditioned_accuracy, top_runs
from qassay.figures.figure import Figure
from qassay.figures.judges import (
    agreement_by_person,
    agreement_matrix,
    bias_by_run,
    contingency,
    corrected_leaderboard,
    judging_progress,
    mean_rank_by_judge,
    rating_histogram,
)
from qassay.figures.rankings import (
    differences_to_control,
    leaderboard,
    ranks_by_set,
    score_by_beta,
    score_by_length,
    tau_heat_map,
)
from qassay.figures.units import boxes_by_unit, run_by_unit, scores_by_unit, unit_by_run

__all__ = [
    "Figure",
    "agreement_by_person",
    "agreement_matrix",
    "bias_by_run",
    "boxes_by_unit",
    "conditioned_accuracy",
    "contingency",
    "corrected_leaderboard",
    "differences_by_unit",
    "differences_to_control",
    "error_curves",
    "error_rate_by_difference",
    "figure_of",
    "judging_progress",
    "leaderboard",
    "mean_rank_by_judge",
    "power_by_units",
    "ranks_by_set",
    "rating_histogram",
    "run_by_unit",
    "score_by_beta",
    "score_by_length",
    "scores_by_unit",
    "tau_heat_map",
    "top_runs",
    "unit_by_run",
]


def figure_of(result: object) -> Figure:
    """The figure of a result; an error where this kind of result has none."""
    draw = _figures().get(type(result))
    if draw is None:
        raise UsageError(f"{type(result).__name__} has no figure; its tables show all of it")
    return draw(result)


@cache
def _figures() -> Mapping[type, Callable[[Any], Figure]]:
    """The figure of each kind of result."""
    from qassay.matrix import ScoreMatrix
    from qassay.meta.agreement.people import PeopleAgreement
    from qassay.meta.agreement.result import Agreement, PairAgreement
    from qassay.meta.correction import CorrectedScores
    from qassay.meta.distributions import ScoreDistributions
    from qassay.meta.fidelity import BetaSweep
    from qassay.meta.planning import Plan
    from qassay.meta.progress import JudgingProgress
    from qassay.meta.ratings import ScaleRatings
    from qassay.meta.sensitivity import SensitivityCurves
    from qassay.meta.significance import AllPairs, PairComparison
    from qassay.meta.stability import MeasureStability, Stability
    from qassay.meta.trust import Trust
    from qassay.scoring import Scores

    return {
        AllPairs: leaderboard,
        Agreement: lambda result: agreement_matrix(result.pairs[0]),
        BetaSweep: score_by_beta,
        CorrectedScores: corrected_leaderboard,
        JudgingProgress: judging_progress,
        MeasureStability: ranks_by_set,
        PairAgreement: agreement_matrix,
        PairComparison: differences_by_unit,
        PeopleAgreement: agreement_by_person,
        Plan: power_by_units,
        ScaleRatings: rating_histogram,
        ScoreDistributions: boxes_by_unit,
        ScoreMatrix: scores_by_unit,
        Scores: lambda result: scores_by_unit(result.matrix),
        SensitivityCurves: error_rate_by_difference,
        Stability: lambda result: ranks_by_set(next(iter(result.measures.values()))),
        Trust: bias_by_run,
    }
