"""Runs with known true means."""

from __future__ import annotations

import numpy as np
import pytest

from qassay.errors import UsageError
from qassay.meta.simulate import simulate_runs

MEANS = (0.1, 0.25, 0.4)


@pytest.mark.parametrize("scores", ["normal", "zero-inflated", "binary"])
def test_means_are_the_true_ones(scores):
    matrix = simulate_runs(MEANS, 200_000, scores=scores, seed=3)
    # Five standard errors of a mean of scores with a deviation of at most 0.5.
    assert matrix.scores() == pytest.approx(MEANS, abs=5 * 0.5 / np.sqrt(200_000))
    assert matrix.runs == ("run1", "run2", "run3")
    assert matrix.units[:2] == ("1", "2")


def test_runs_are_correlated_through_the_units():
    matrix = simulate_runs(MEANS, 100_000, correlation=0.6, spread=0.2)
    assert np.corrcoef(matrix.values)[0, 1] == pytest.approx(0.6, abs=0.02)
    assert matrix.values.std(axis=1) == pytest.approx([0.2] * 3, abs=0.005)
    apart = simulate_runs(MEANS, 100_000, correlation=0.0)
    assert np.corrcoef(apart.values)[0, 1] == pytest.approx(0.0, abs=0.02)


def test_shapes_of_the_scores():
    inflated = simulate_runs(MEANS, 50_000, scores="zero-inflated", zeros=0.4).values
    assert (inflated == 0).mean() == pytest.approx(0.4, abs=0.01)
    assert inflated.min() == 0.0
    assert inflated.max() <= 1.0
    binary = simulate_runs(MEANS, 1000, scores="binary")
    assert set(np.unique(binary.values)) == {0.0, 1.0}
    assert binary.denominator == 1


@pytest.mark.parametrize("scores", ["zero-inflated", "binary"])
def test_extreme_means(scores):
    values = simulate_runs([0.0, 0.5], 100, scores=scores, zeros=0.5).values
    assert (values[0] == 0.0).all()
    assert set(np.unique(simulate_runs([0.0, 1.0], 50, scores="binary").values[1])) == {1.0}


def test_same_seed_same_scores():
    first, again, other = (simulate_runs(MEANS, 50, seed=seed).values for seed in (5, 5, 6))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    "fields",
    [
        {"scores": "gamma"},
        {"means": []},
        {"units": 0},
        {"correlation": 1.5},
        {"spread": -1.0},
        {"zeros": 1.0},
        {"scores": "binary", "means": [1.2]},
        {"scores": "zero-inflated", "means": [0.6]},
    ],
)
def test_impossible_simulations_are_errors(fields):
    given = {"means": MEANS, "units": 10} | fields
    with pytest.raises(UsageError):
        simulate_runs(given.pop("means"), given.pop("units"), **given)
