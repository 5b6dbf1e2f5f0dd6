"""Errors that favour a system: figures of NQ-301, missing questions by hand, and how often it is said falsely."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nq301 import judged_alike
from qassay.matrix import ScoreMatrix
from qassay.meta.flips import flip_chunks
from qassay.meta.significance import compare
from qassay.meta.significance.families import flips_of
from qassay.meta.trust import ScoredTwice, Trust, trust
from qassay.meta.trust.unevenness import Unevenness, shifts_of, unevenness
from qassay.summaries import Mean


def beside(program: np.ndarray, people: np.ndarray) -> Trust:
    """A program beside people: runs x questions."""
    runs, units = people.shape
    tags, ids = tuple(f"r{i}" for i in range(runs)), tuple(f"q{i}" for i in range(units))
    return trust("p", "h", [], ScoredTwice(tags, ids, program, people, Mean(), [units] * runs, {}, "accuracy"))


def judged(rng: np.random.Generator, runs: int, units: int, favour: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """People's labels and a judge's, who errs on one answer in ten, and accepts more wrong ones of the first run."""
    people = (rng.random((runs, units)) < 0.6).astype(float)
    program = np.where(rng.random(people.shape) < 0.1, 1 - people, people)
    program[0] = np.maximum(program[0], rng.random(units) < favour)
    return program, people


@pytest.mark.parametrize(
    ("entry", "judge", "people"),
    [("gpt4 beside final", "gpt4", "final"), ("bem beside final", "bem", "final"), ("a1 beside a2", "first", "second")],
)
def test_judges_of_nq301(
    entry: str, judge: str, people: str, data: Callable[[str], Path], truth: dict[str, Any]
) -> None:
    known, scores = truth[entry], judged_alike(data, people, judge)
    matrix = scores[judge]
    twice = ScoredTwice(
        *(matrix.runs, matrix.units, matrix.values, scores[people].values, Mean()), [len(matrix.units)] * 12, {}, "m"
    )
    result = trust(judge, people, [], twice)
    assert result.uneven is not None
    most = (
        f"{result.uneven.favours} over {result.uneven.over} by {result.uneven.by:.4f}, p {result.uneven.p_adjusted:.4f}"
    )
    assert (result.uneven.shifted, most) == (known["uneven_pairs"], known["most"])
    assert result.significance is not None
    names = {"same": "both_same", "opposite": "both_opposite", "people_only": "only_people", "judge_only": "only_judge"}
    for name, key in {**names, "neither": "neither"}.items():
        assert getattr(result.significance, name) == known["significance"][key]
    document = result.as_json()
    assert set(document["significance"]) == {"same", "opposite", "people_only", "judge_only", "neither"}
    assert result.answer()[-1].startswith("No uneven errors are seen; an unevenness of up to 0.07")
    if judge == "gpt4":
        assert result.answer()[1] == (
            "People separate 4 of 66 pairs of systems; the judge separates 3 of these the same way and none the other "
            "way. It separates 0 that people do not."
        )


def test_a_question_that_misses_one_of_a_pair_counts_nothing_for_it() -> None:
    program, people = judged(np.random.default_rng(3), 5, 40, favour=0.5)
    people[1, :9] = program[2, 30:] = program[3, ::4] = np.nan
    result = beside(program, people)
    errors = program - people
    couples = list(itertools.combinations(range(5), 2))
    apart = np.stack([np.nan_to_num(errors[a] - errors[b]) for a, b in couples])
    squares = (apart**2).sum(axis=1)
    q0 = max(5, 800 / 40) * squares.mean() / 40
    largest = np.concatenate(
        [
            (np.abs((1 - 2 * signs.astype(float)) @ apart.T) / np.sqrt(squares + q0)).max(axis=1)
            for signs in flip_chunks(40, flips_of(apart.size), 0)
        ]
    )
    by_pair = {(pair.a, pair.b): pair for pair in result.pairs}
    for (a, b), row, square in zip(couples, apart, squares, strict=True):
        shared = np.isfinite(errors[a] - errors[b])
        reached = abs(row.sum()) / np.sqrt(square + q0)
        pair = by_pair[f"r{a}", f"r{b}"]
        assert pair.bias == pytest.approx((errors[a] - errors[b])[shared].mean())
        assert pair.p_adjusted == pytest.approx((1 + (largest >= reached - 1e-9).sum()) / (1 + len(largest)))
        assert pair.interval is not None
        assert pair.is_clear == (pair.interval[0] > 0 or pair.interval[1] < 0)
    assert result.uneven is not None
    assert (result.uneven.favours, result.uneven.pairs) == ("r0", 10)
    assert result.uneven.interval is not None
    assert 0 < result.uneven.interval[0] < result.uneven.by < result.uneven.interval[1]  # type: ignore[operator]
    assert f"clearly shifts {result.uneven.shifted} of 10 pairs." in result.answer()[-1]


def test_two_systems_are_one_pair_with_its_own_decision() -> None:
    program, people = judged(np.random.default_rng(4), 2, 60, favour=0.5)
    result = beside(program, people)
    alone = compare(ScoreMatrix(("r0", "r1"), tuple(map(str, range(60))), program - people, scale=(-1, 1)), "r0", "r1")
    assert result.uneven is not None
    assert (result.uneven.p_adjusted, result.pairs[0].interval) == (alone.p, alone.interval)
    assert result.significance is None
    assert result.answer()[-1].startswith("Its errors are uneven: it favours r0 over r1 by ")
    assert "pairs" not in result.answer()[-1]


def test_what_is_not_said() -> None:
    rng = np.random.default_rng(5)
    program, people = judged(rng, 4, 5)
    few = beside(program, people)
    assert (few.uneven, few.significance, len(few.answer())) == (None, None, 1)
    # A judge without errors leaves nothing that could be uneven, and one run has no pair.
    program, people = judged(rng, 4, 30)
    assert beside(people, people).answer()[-1] == "No uneven errors are seen."
    alone = beside(program[:1], people[:1])
    assert (alone.uneven, alone.significance) == (None, None)


def test_a_judge_who_says_the_opposite_is_named_first() -> None:
    people = np.zeros((3, 40))
    people[0] = 1
    program = people[::-1].copy()
    said = beside(program, people).answer()
    assert said[1] == "On 1 pair the judge says the opposite, beyond chance."
    assert said[2].startswith(
        "People separate 2 of 3 pairs of systems; the judge separates 0 of these the same way and 1"
    )
    assert beside(np.zeros((3, 40)), np.zeros((3, 40))).answer()[1] == (
        "Neither people nor the judge separate any of 3 pairs of systems."
    )
    equal = beside(program, np.zeros((3, 40))).answer()
    assert equal[1] == "People separate none of 3 pairs of systems; the judge separates 2 that people do not."


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "units"), [(3, 60), (8, 200)])
def test_uneven_errors_are_said_falsely_in_few_cases_and_found(runs: int, units: int) -> None:
    rng = np.random.default_rng(runs + units)
    tags = [f"r{run}" for run in range(runs)]

    def measured(favour: float) -> Unevenness:
        program, people = judged(rng, runs, units, favour)
        found = unevenness(shifts_of(tags, program - people, 1.0, 0))
        assert found is not None
        return found

    said = [measured(0.0).shifted > 0 for _ in range(60)]
    uneven = [measured(0.4) for _ in range(40)]
    assert np.mean(said) <= 0.1
    assert np.mean([each.shifted > 0 and each.favours == "r0" for each in uneven]) >= (0.8 if units == 200 else 0.2)
