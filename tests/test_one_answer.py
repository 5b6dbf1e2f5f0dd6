"""One question, one answer: what `score`, `sensitivity` and `plan` say about the same scores never contradicts.

*Repeatable* (a gap keeps its sign with as many new questions) and *significant* (chance alone does not explain a
difference) are two questions. Each output names the one it answers, and all statements about one of them agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import qassay
from qassay.demo import demo_folder
from qassay.formats.matrix import read_matrix
from qassay.matrix import ScoreMatrix
from qassay.meta.significance import AllPairs, compare_all
from qassay.meta.simulate import simulate_runs

GAP = re.compile(r"With ([\d,]+) new (\w+), a gap of (\S+) or more keeps its sign in 95 of 100 repetitions\.")
NONE = re.compile(r"With ([\d,]+) new (\w+), no gap between these runs keeps its sign in 95 of 100 repetitions\.")
NUMBER = re.compile(r"About ([\d,]+) (\w+) for a difference of (\S+) \(power 0\.8\); you have ([\d,]+)\. ")


def random_matrices() -> list[ScoreMatrix]:
    matrices = []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        runs, units = int(rng.integers(2, 25)), int(rng.integers(12, 120))
        low, high = sorted(rng.uniform(0.1, 0.48, 2))
        kind = ("binary", "normal", "zero-inflated")[seed % 3]
        matrix = simulate_runs(np.linspace(low, high, runs), units, scores=kind, seed=seed)  # type: ignore[arg-type]
        scale = (1.0, 5.0, 100.0)[seed % 4 % 3]
        exact = {"denominator": None} if scale != 1.0 else {}
        matrices.append(replace(matrix, values=matrix.values * scale, unit_name=("question", "questions"), **exact))
    return matrices


def check(matrix: ScoreMatrix) -> None:
    """Every statement about repeatable gaps, and every one about significance, against each other and the numbers."""
    curves, planned = qassay.sensitivity(matrix, intervals=0, trials=2), qassay.plan(matrix, details=True)
    tested = compare_all(matrix, permutations=2000)
    repeatable_gaps_agree(matrix, curves, planned)
    planned_number_agrees(matrix, planned)
    groups_follow_their_own_question(curves, tested)
    said = " ".join([curves.summary(), *map(str, curves.tables()), planned.summary(), *map(str, planned.tables())])
    assert "trust" not in said
    # Each word stands for one question: no sentence of sensitivity calls a gap significant.
    assert "significant" not in curves.summary()


def repeatable_gaps_agree(matrix: ScoreMatrix, curves: qassay.SensitivityCurves, planned: qassay.Plan) -> None:
    units = len(matrix.units)
    (now,) = {row.repeatable for row in planned.shown if row.units == units} or {None}
    if len(matrix.runs) == 2:
        assert "cannot show which gaps are repeatable" in curves.summary()
        assert curves.repeatable_difference is None
        assert now is None
        return
    said = GAP.match(curves.summary()) or NONE.match(curves.summary())
    assert said, curves.summary()
    assert said[1].replace(",", "") == str(units)
    gap = float(said[3]) if said.re is GAP else None
    assert gap == pytest.approx(curves.repeatable_difference)
    assert now == pytest.approx(gap)
    if gap is None:
        assert curves.groups is None
        return
    # Groups, rank ranges and the number of pairs are those of the gap in the sentence.
    scores = dict(zip(curves.runs, curves.scores.tolist(), strict=True))
    for group in curves.groups or ():
        assert all(scores[group[0]] - scores[run] < gap for run in group)
    apart = int((curves.moments.means >= gap - 1e-9).sum())
    assert f"{apart:,} of the {curves.pairs:,} pair" in curves.summary()
    # Every bin from the gap on is within 5%, and the units needed there are no more than there are.
    needed = {float(limit): sizes.predicted for limit, sizes in curves.size_needed().items()}
    for curve in curves.bins[1:]:
        if curve.low >= gap - 1e-9 and curve.predicted_at_target is not None:
            assert curve.predicted_at_target <= 0.05
            if curve.low in needed:
                assert needed[curve.low] is not None
                assert needed[curve.low] <= units  # type: ignore[operator]


def planned_number_agrees(matrix: ScoreMatrix, planned: qassay.Plan) -> None:
    said, best = NUMBER.match(planned.summary()), planned.recommendation
    assert said, planned.summary()
    assert best is not None
    number, difference, at_hand = int(said[1].replace(",", "")), float(said[3]), int(said[4].replace(",", ""))
    assert at_hand == len(matrix.units)
    (row,) = (row for row in planned.differences if row.difference == best.difference)
    assert difference == pytest.approx(best.difference)
    assert row.power is not None
    assert row.power <= number <= 1.1 * row.power
    smallest = float(re.findall(r"show differences of (\S+) or more", planned.summary())[0])
    # More questions than there are: the difference is smaller than what these show. And the other way round.
    assert (row.power > at_hand) == (difference < smallest) or row.power == pytest.approx(at_hand, abs=1)
    detected = [shown.detectable for shown in planned.shown if shown.detectable is not None]
    assert detected == sorted(detected, reverse=True)


def groups_follow_their_own_question(curves: qassay.SensitivityCurves, tested: AllPairs) -> None:
    """Groups are shared exactly by the pairs that the test does not separate, whatever gap is repeatable."""
    for i, first in enumerate(tested.runs):
        for j, second in enumerate(tested.runs[:i]):
            together = any({first, second} <= set(group) for group in tested.groups)
            assert together != bool(tested.is_different[i, j])
    for shown in curves.tables():
        if shown.title.startswith("Groups of runs"):
            assert "not the groups of `qassay score`" in " ".join(shown.notes)


@pytest.mark.parametrize("number", range(24))
def test_random_matrices_are_not_contradicted(number: int) -> None:
    check(random_matrices()[number])


@pytest.mark.parametrize("name", ["nq301/matrix", "score_matrices/adhoc8_ap", "score_matrices/robust2004_p10"])
def test_real_matrices_are_not_contradicted(data: Callable[[str], Path], name: str) -> None:
    matrix = read_matrix(data(f"{name}.csv"), missing="zero")
    check(matrix.select(matrix.runs[:30]))


def test_the_built_in_evaluation_says_which_question_each_number_answers(capsys: pytest.CaptureFixture[str]) -> None:
    from qassay.cli import main

    assert main(["score", str(demo_folder())]) == 0
    board = " ".join(capsys.readouterr().out.split())
    assert "could chance alone explain the difference of two runs?" in board
    assert "(repeatable) is another question" in board
    assert main(["demo"]) == 0
    story = " ".join(capsys.readouterr().out.split())
    first, last = story.index("differ significantly"), story.index("keeps its sign in 95 of 100 repetitions")
    assert first < last
    assert "both are right" in story
    check(qassay.open(demo_folder()).score().matrix)
