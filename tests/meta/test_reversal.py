"""The chance of a reversal: against its formula pair by pair, and against populations that are repeated."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from qassay.matrix import Repeats, ScoreMatrix
from qassay.meta.significance.reversal import Reversal, chance_of_reversal


def _matrix(values: np.ndarray) -> ScoreMatrix:
    runs, units = values.shape
    return ScoreMatrix(tuple(f"r{run}" for run in range(runs)), tuple(map(str, range(units))), values)


def _by_hand(values: np.ndarray, t2: float) -> float:
    difference = values[0] - values[1]
    noise = difference.var(ddof=1) / len(difference)
    k = t2 / (t2 + noise)
    return float(norm.cdf(-k * abs(difference.mean()) / np.sqrt((1 + k) * noise)))


def test_two_runs_follow_the_formula_on_any_scale() -> None:
    values = np.random.default_rng(0).random((2, 150))
    assert chance_of_reversal(_matrix(values)).chance == pytest.approx(_by_hand(values, 0.01))
    scaled = 1 + 4 * values
    spread = (0.1 * (scaled.max() - scaled.min())) ** 2
    assert chance_of_reversal(_matrix(scaled)).chance == pytest.approx(_by_hand(scaled, spread))


def test_few_units_are_rough_and_never_below_5_percent() -> None:
    values = np.vstack([np.full(20, 1.0), np.linspace(0, 0.1, 20)])
    few = chance_of_reversal(_matrix(values))
    assert (few.chance, few.rough, str(few)) == (0.05, True, "5% or less (rough)")
    assert chance_of_reversal(_matrix(np.ones((2, 1)))) is None
    assert chance_of_reversal(_matrix(np.ones((2, 50)))).chance == 0.5


@pytest.mark.parametrize("units", [100, 400])
def test_it_is_the_share_of_repetitions_that_reverse(units: int) -> None:
    """Pairs of systems whose true means differ like normal numbers with deviation 0.1: said and seen agree."""
    rng = np.random.default_rng(units)
    chances, seen = [], []
    for _ in range(1500):
        true = rng.normal(0, 0.1)
        first, again = (rng.normal([[0.5 + true], [0.5]], 0.1, (2, units)).clip(0, 1) for _ in range(2))
        chances.append(chance_of_reversal(_matrix(first)).chance)
        seen.append(np.prod([part[0].mean() - part[1].mean() for part in (first, again)]) < 0)
    assert np.mean(chances) == pytest.approx(np.mean(seen), abs=0.012)


@pytest.mark.parametrize(
    ("chance", "rough", "shown"),
    [
        (0.0004, False, "less than 1%"),
        (0.124, False, "12%"),
        (0.05, True, "5% or less (rough)"),
        (0.124, True, "12% (rough)"),
    ],
)
def test_a_small_chance_is_not_called_none(chance: float, rough: bool, shown: str) -> None:
    assert str(Reversal(chance, rough)) == shown


def test_running_again_is_part_of_the_noise() -> None:
    """As many new questions, and both systems run again: repeated in simulations, the formula's share is reversed."""
    rng = np.random.default_rng(1)
    true = rng.normal(0, 0.1, 2000)
    foretold, reversed_ = [], 0
    for difference in true.tolist():
        first, again = (evaluation_with_repeats(difference, rng) for _ in range(2))
        chance = chance_of_reversal(first)
        assert chance is not None
        foretold.append(chance.chance)
        sign, then = (float(np.diff(matrix.scores())[0]) for matrix in (first, again))
        reversed_ += sign * then < 0
    assert np.mean(foretold) == pytest.approx(reversed_ / len(true), abs=0.04)


def evaluation_with_repeats(difference: float, rng: np.random.Generator) -> ScoreMatrix:
    """Two systems on 100 questions with 4 repeats; a repeat shifts all questions at once."""
    scores = [
        0.5 + side * difference / 2 + rng.normal(0, 0.1, (1, 4)) + rng.normal(0, 0.1, (100, 4)) for side in (1, -1)
    ]
    values = np.stack([repeated.mean(axis=1) for repeated in scores])
    return ScoreMatrix(("A", "B"), tuple(map(str, range(100))), values, repeats=Repeats(tuple(scores)))
