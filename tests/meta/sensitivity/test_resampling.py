"""Intervals of error rates by resampling units."""

from __future__ import annotations

import numpy as np
import pytest

from qassay.meta.sensitivity import sensitivity
from qassay.meta.sensitivity.resampling import rate_intervals
from qassay.meta.simulate import simulate_runs


def test_intervals_hold_the_rate_and_are_null_where_there_is_none():
    measured = np.array([[0.3, np.nan, 0.0, 0.2]])
    resampled = np.full((100, 1, 4), np.nan)
    rng = np.random.default_rng(0)
    resampled[:, 0, 0] = rng.normal(0.25, 0.02, 100)
    resampled[:, 0, 2] = rng.random(100) * 0.02
    resampled[:40, 0, 3] = 0.2
    low, high = np.moveaxis(rate_intervals(measured, resampled), -1, 0)
    assert low[0, 0] == pytest.approx(0.26, abs=0.02)
    assert high[0, 0] == pytest.approx(0.34, abs=0.02)
    assert np.isnan(low[0, [1, 3]]).all()
    assert low[0, 2] == 0.0 < high[0, 2]


def test_one_resample_gives_an_interval_without_width():
    found = rate_intervals(np.array([[0.3]]), np.array([[[0.2]]]))
    assert found[0, 0].tolist() == [pytest.approx(0.3), pytest.approx(0.3)]


def test_intervals_are_wider_than_binomial_ones():
    matrix = simulate_runs(np.linspace(0.3, 0.5, 25), 60, seed=1)
    curves = sensitivity(matrix, sizes=[30], trials=200, intervals=60)
    curve = curves.bins[5]
    low, high = curve.interval[0]
    rate, comparisons = curve.error_rate[0], curve.comparisons[0]
    assert low < rate < high
    # METHOD 6: the binomial formula is 2 to 4 times too small.
    assert high - low > 2 * 2 * 1.96 * np.sqrt(rate * (1 - rate) / comparisons)


@pytest.mark.slow
@pytest.mark.parametrize("most", [0.06, 0.2])
@pytest.mark.parametrize("scores", ["normal", "binary"])
def test_intervals_hold_the_truth_about_as_often_as_they_say(scores, most):
    """The truth is the mean rate over many sets of units; 95% intervals from one set hold it in most sets."""
    means = 0.3 + np.linspace(0.0, most, 20)
    settings = {"sizes": [8, 25], "trials": 50}
    worlds = [
        sensitivity(simulate_runs(means, 50, scores=scores, seed=seed), intervals=60 if seed < 60 else 0, **settings)
        for seed in range(300)
    ]
    held, of = 0, 0
    for size in range(2):
        for k in (2, 4, 8, 20):
            rates = [world.bins[k].error_rate[size] for world in worlds]
            seen = [rate for rate in rates if rate is not None]
            if len(seen) < 200:
                continue
            truth = np.mean(seen)
            for world in worlds[:60]:
                interval = world.bins[k].interval[size]
                if interval is not None:
                    held += interval[0] <= truth <= interval[1]
                    of += 1
    assert of > 200
    assert held / of > 0.8
