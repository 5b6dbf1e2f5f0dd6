"""Where tau lies with new questions: figures of NQ-301, counted draw by draw, and how often the range is right."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nq301 import judged_alike
from qassay.matrix import ScoreMatrix
from qassay.meta.ranking import compare_rankings
from qassay.meta.redrawing import DRAWS, drawn_scores, redrawn
from qassay.meta.stability import MeasureStability, stability
from qassay.meta.trust import ScoredTwice, trust
from qassay.summaries import Mean


def matrix(values: Any, **more: Any) -> ScoreMatrix:
    array = np.array(values, dtype=float)
    runs, units = array.shape
    return ScoreMatrix(tuple(f"r{i}" for i in range(runs)), tuple(f"q{u}" for u in range(units)), array, **more)


def under(**matrices: ScoreMatrix) -> MeasureStability:
    return stability({"m": matrices}, reference=next(iter(matrices))).measures["m"]


@pytest.mark.parametrize(
    ("entry", "judge", "people"),
    [
        ("gpt4 beside final", "gpt4", "final"),
        ("bem beside final", "bem", "final"),
        ("a1 beside a2", "first", "second"),
    ],
)
def test_judges_of_nq301(
    entry: str, judge: str, people: str, data: Callable[[str], Path], truth: dict[str, Any]
) -> None:
    known = truth[entry]
    matrices = judged_alike(data, people, judge)
    measured = under(**matrices)
    assert len(matrices[judge].units) == known["questions"]
    assert measured.tau[0][1] == pytest.approx(known["tau"], abs=5e-5)
    assert measured.tau_sd[0][1] == pytest.approx(known["tau_sd"], abs=5e-5)
    assert measured.tau_next[0][1] == pytest.approx(known["tau_next"], abs=5e-4)
    scored = ScoredTwice(
        *(matrices[judge].runs, matrices[judge].units, matrices[judge].values, matrices[people].values),
        *(Mean(), [known["questions"]] * 12, {}, "accuracy"),
    )
    beside = trust(judge, people, [], scored)
    assert (beside.runs.tau_sd, beside.runs.tau_next) == (measured.tau_sd[0][1], measured.tau_next[0][1])


def test_deviations_are_those_of_the_draws_compared_one_by_one() -> None:
    rng = np.random.default_rng(1)
    truth = matrix(rng.random((5, 12)), clusters=tuple(f"s{u // 1}" for u in range(12)))
    estimate = matrix(np.round(truth.values + rng.normal(0, 0.3, (5, 12)), 1))
    scores = drawn_scores([truth, estimate], 0)
    assert scores is not None
    compared = [compare_rankings(a, b) for a, b in zip(*scores, strict=True)]
    known = [each for each in compared if each.tau is not None]
    assert len(compared) == DRAWS
    spread = redrawn(0.5, *scores, 12)
    assert spread is not None
    for name, deviation in (("tau", spread.tau_sd), ("tau_ap", spread.tau_ap_sd), ("swaps", spread.swaps_sd)):
        assert deviation == pytest.approx(np.std([getattr(each, name) for each in known], ddof=1), abs=1e-12)
    half = 1.96 * math.sqrt(2) * spread.tau_sd
    assert spread.tau_next == (max(-1, 0.5 - half), min(1, 0.5 + half))


def test_whole_series_are_drawn_and_other_orders_of_questions_change_nothing() -> None:
    rng = np.random.default_rng(2)
    values, judged = (rng.integers(0, 2, (6, 10)).astype(float) for _ in range(2))
    single = under(a=matrix(values), b=matrix(judged))
    series = tuple(f"s{u // 3}" for u in range(30))
    repeated = (np.repeat(scores, 3, axis=1) for scores in (values, judged))
    whole = under(**{name: matrix(scores, clusters=series) for name, scores in zip("ab", repeated, strict=True)})
    assert whole.tau_sd == single.tau_sd
    order = rng.permutation(10)
    other = ScoreMatrix(single.runs, tuple(f"q{u}" for u in order), judged[:, order])
    assert under(a=matrix(values), b=other).tau_sd[0][1] == pytest.approx(single.tau_sd[0][1])


def test_where_there_is_no_range_nothing_is_called_stable() -> None:
    rng = np.random.default_rng(3)
    few = [(rng.random((3, 40)), rng.random((3, 40))), (rng.random((6, 9)), rng.random((6, 9)))]
    steady = np.repeat(np.arange(5.0)[:, None], 30, axis=1)
    for first, second in (*few, (steady, steady)):
        measured = under(a=matrix(first), b=matrix(second))
        assert measured.tau[0][1] is not None
        assert measured.tau_next == ((None, None), (None, None))
        assert measured.with_new_units() == ""
        assert "stable" not in str(measured.table())
    measured = under(a=matrix(rng.random((6, 40))), b=matrix(rng.random((6, 40))), c=matrix(rng.random((6, 40))))
    assert measured.with_new_units().startswith("lowest under ")
    assert "40 new questions" in measured.with_new_units()
    assert "called stable" in str(measured.table())


def test_the_ranking_of_a_program_says_where_tau_would_lie() -> None:
    rng = np.random.default_rng(4)
    people = rng.integers(0, 2, (5, 30)).astype(float)
    program = np.where(rng.random((5, 30)) < 0.2, 1 - people, people)
    people[0, :20] = program[1, 25:] = np.nan
    scored = ScoredTwice(tuple("abcde"), tuple(map(str, range(30))), program, people, Mean(), [30] * 5, {}, "accuracy")
    result = trust("p", "h", [], scored)
    assert result.runs.tau_next is not None
    assert "With as many new questions, tau would lie between" in str(result.tables()[1])
