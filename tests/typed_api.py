"""A program as users write it, checked by `make types`: every public function has the type that it says.

Run by tests/test_results.py too.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, assert_type

import polars as pl

import qassay
from qassay.meta.agreement import Agreement
from qassay.meta.correction import CorrectedPair, CorrectedPairs, CorrectedScores
from qassay.meta.planning import Plan
from qassay.meta.reuse import Reuse
from qassay.meta.sensitivity import SensitivityCurves
from qassay.meta.significance import AllPairs, PairComparison
from qassay.meta.stability import Stability
from qassay.results import Result
from qassay.studies.agree import AgreementStudy
from qassay.studies.control import ControlComparison
from qassay.studies.describe import Description
from qassay.studies.facts import Facts
from qassay.studies.sample import DrawnSample
from qassay.studies.score import Leaderboard
from qassay.tables import Table


def results(folder: Path, table: Path) -> list[Result]:
    """One result of every analysis."""
    evaluation = assert_type(qassay.open(folder), qassay.Evaluation)
    scores = assert_type(evaluation.score(), qassay.Scores)
    matrix = assert_type(qassay.read_matrix(table), qassay.ScoreMatrix)
    board = assert_type(qassay.leaderboard(scores, level=0.9), Leaderboard)
    verdict = assert_type(qassay.compare(matrix, "new", "old", alpha=0.1, permutations=500), PairComparison)
    pairs = assert_type(qassay.compare_all(scores, method="holm"), AllPairs)
    control = assert_type(qassay.compare_all(scores, control="hobby", margin=0.02), ControlComparison)
    curves = assert_type(qassay.sensitivity(scores, trials=20, intervals=2), SensitivityCurves)
    plan = assert_type(qassay.plan(matrix, differences=[0.1]), Plan)
    description = assert_type(qassay.describe(evaluation), Description)
    facts = assert_type(qassay.facts(evaluation, key="first"), Facts)
    study = assert_type(qassay.agreement(evaluation, sets=["first", "second"], resamples=10), AgreementStudy)
    items = assert_type(study[0], Agreement)
    stability = assert_type(qassay.stability(evaluation, sets=["adjudicated", "first"]), Stability)
    reuse = assert_type(qassay.reuse(evaluation, by="run", component="factoid"), Reuse)
    assert_type(qassay.reuse(evaluation, "match", by="run"), Reuse)
    assert_type(verdict.interval, tuple[float, float] | None)
    assert_type(verdict.tables(), list[Table])
    made: list[Result] = [scores, matrix, board, verdict, pairs, control, curves, plan, description, study, items]
    made += [stability, reuse, facts]
    for result in made:
        assert_type(result.sentence(), str)
        assert_type(result.tables(), Sequence[Table])
        assert_type(result.to_polars(), pl.DataFrame)
        assert_type(result.as_json(), dict[str, Any])
    return made


def corrected(evaluation: qassay.Evaluation) -> list[Result]:
    """Scores of a program, corrected by people; by types alone, since it takes labels."""
    drawn = assert_type(qassay.sample(evaluation, 60, "judge"), DrawnSample)
    scores = assert_type(evaluation.score("judge", correct_with="ada", target="these"), CorrectedScores)
    pair = assert_type(qassay.compare(evaluation, "new", "old", key="judge", correct_with="ada"), CorrectedPair)
    pairs = assert_type(qassay.compare_all(evaluation, key="judge", correct_with="ada"), CorrectedPairs)
    assert_type(scores.runs[0].interval, tuple[float, float] | None)
    return [drawn, scores, pair, pairs]
