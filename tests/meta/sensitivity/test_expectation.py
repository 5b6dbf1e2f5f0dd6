"""The closed form with ties and score steps, against enumeration and Monte Carlo."""

from __future__ import annotations

import numpy as np
import pytest

from qassay.meta.sensitivity import sensitivity
from qassay.meta.sensitivity.expectation import on_dealt_units, on_fresh_units
from qassay.meta.sensitivity.plausible import plausible
from qassay.meta.sensitivity.predictor import PairMoments, predicted_rates
from qassay.meta.sensitivity.resampling import unit_step
from qassay.meta.simulate import simulate_runs

LIMITS = np.arange(21) / 100
MEANS = np.linspace(0.3, 0.5, 10)


@pytest.mark.parametrize("compiled", [False, True])
def test_without_steps_and_ties_fresh_units_are_the_closed_form(compiled):
    moments = PairMoments(np.array([0.0, 0.03, 0.05, 0.4]), np.array([0.05, 0.02, 0.0, 0.1]))
    found = on_fresh_units(moments, 12, LIMITS, 0.0, compiled=compiled)
    assert found.rates("stay") == pytest.approx(predicted_rates(moments, 12, LIMITS), abs=1e-9, nan_ok=True)
    assert found.comparisons.sum() == pytest.approx(4.0)


@pytest.mark.parametrize("ties", ["stay", "half", "exclude"])
@pytest.mark.parametrize("size", [10, 24, 40])
@pytest.mark.parametrize("scores", ["normal", "binary"])
def test_dealt_units_are_what_the_study_shows(scores, size, ties):
    matrix = simulate_runs(MEANS, 80, scores=scores, seed=4)
    curves = sensitivity(matrix, sizes=[size], trials=4000, intervals=0, ties=ties)
    moments = plausible(matrix, 2, 0).measured
    found = on_dealt_units(moments, size, 80, LIMITS, unit_step(matrix) / size)
    assert found.comparisons.sum() == pytest.approx(45.0)
    use = curves.counts.denominators(ties)[0] > 3000
    assert use.sum() >= 2
    assert found.rates(ties)[use] == pytest.approx(curves.counts.rates(ties)[0][use], abs=0.025)
    assert found.comparisons * 4000 == pytest.approx(curves.counts.comparisons[0], rel=0.1, abs=900)


@pytest.mark.parametrize("compiled", [False, True])
def test_scores_that_are_often_equal_tie_on_small_sets(compiled):
    # Many units stand for the population: fresh sets of five of them.
    matrix = simulate_runs(MEANS[:6] - 0.1, 20_000, scores="zero-inflated", seed=1)
    moments = plausible(matrix, 2, 0).measured
    counts = sensitivity(matrix, sizes=[5], trials=20_000, intervals=0, ties="exclude").counts
    found = on_fresh_units(moments, 5, LIMITS, 0.0, compiled=compiled)
    tied = found.comparisons - found.swaps - found.agreements
    assert tied[0] * 20_000 == pytest.approx(counts.ties[0, 0], rel=0.1)
    assert tied[1:].sum() * 20_000 == pytest.approx(counts.ties[0, 1:].sum(), rel=0.1)
    assert found.rates("stay")[0] == pytest.approx(counts.rates("stay")[0, 0], abs=0.02)
