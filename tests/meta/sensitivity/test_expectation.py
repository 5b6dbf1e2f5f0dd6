"""The closed form with ties and score steps, against enumeration and Monte Carlo."""

from __future__ import annotations

import numpy as np
import pytest

from qassay.meta.sensitivity import sensitivity
from qassay.meta.sensitivity.closed_form import PairMoments, plausible, predicted_rates
from qassay.meta.sensitivity.expectation import in_fresh_series, on_dealt_units, on_fresh_units
from qassay.meta.sensitivity.resampling import unit_step
from qassay.meta.simulate import simulate_runs

LIMITS = np.arange(21) / 100
MEANS = np.linspace(0.3, 0.5, 10)


@pytest.mark.parametrize("compiled", [False, True])
def test_without_steps_and_ties_fresh_units_are_the_closed_form(compiled):
    moments = PairMoments(np.array([0.0, 0.03, 0.05, 0.4]), np.array([0.05, 0.02, 0.0, 0.1]))
    expected_counts = on_fresh_units(moments, 12, LIMITS, 0.0, compiled=compiled)
    assert expected_counts.rates("stay") == pytest.approx(predicted_rates(moments, 12, LIMITS), abs=1e-9, nan_ok=True)
    assert expected_counts.comparisons.sum() == pytest.approx(4.0)


@pytest.mark.parametrize("ties", ["stay", "half", "exclude"])
@pytest.mark.parametrize("size", [10, 24, 40])
@pytest.mark.parametrize("scores", ["normal", "binary"])
def test_dealt_units_are_what_the_study_shows(scores, size, ties):
    matrix = simulate_runs(MEANS, 80, scores=scores, seed=4)
    curves = sensitivity(matrix, sizes=[size], trials=4000, intervals=0, ties=ties, bin_width=0.01)
    moments = plausible(matrix, 2, 0).measured
    expected_counts = on_dealt_units(moments, size, 80, LIMITS, unit_step(matrix) / size)
    assert expected_counts.comparisons.sum() == pytest.approx(45.0)
    use = curves.counts.denominators(ties)[0] > 3000
    assert use.sum() >= 2
    assert expected_counts.rates(ties)[use] == pytest.approx(curves.counts.rates(ties)[0][use], abs=0.025)
    assert expected_counts.comparisons * 4000 == pytest.approx(curves.counts.comparisons[0], rel=0.1, abs=900)


@pytest.mark.parametrize("compiled", [False, True])
def test_scores_that_are_often_equal_tie_on_small_sets(compiled):
    # Many units stand for the population: fresh sets of five of them.
    matrix = simulate_runs(MEANS[:6] - 0.1, 20_000, scores="zero-inflated", seed=1)
    moments = plausible(matrix, 2, 0).measured
    counts = sensitivity(matrix, sizes=[5], trials=20_000, intervals=0, ties="exclude").counts
    expected_counts = on_fresh_units(moments, 5, LIMITS, 0.0, compiled=compiled)
    tied = expected_counts.comparisons - expected_counts.swaps - expected_counts.agreements
    assert tied[0] * 20_000 == pytest.approx(counts.ties[0, 0], rel=0.1)
    assert tied[1:].sum() * 20_000 == pytest.approx(counts.ties[0, 1:].sum(), rel=0.1)
    assert expected_counts.rates("stay")[0] == pytest.approx(counts.rates("stay")[0, 0], abs=0.02)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("size", "length"), [(8, 4), (30, 12)])
def test_base_and_test_from_the_same_series_agree_more_often(size, length, compiled):
    units, means, rng = 60, np.array([0.0, 0.06]), np.random.default_rng(6)
    # Two pairs; half of the variance of 0.04 is common to the questions of a series.
    of_series = np.repeat(rng.normal(0, np.sqrt(0.02), (8000, 2, units // length)), length, axis=2)
    differences = means[:, None] + of_series + rng.normal(0, np.sqrt(0.02), (8000, 2, units))
    dealt = np.argsort(rng.random((8000, 1, units)), axis=2)
    base, test = (
        np.take_along_axis(differences, np.broadcast_to(part, (8000, 2, size)), axis=2).mean(axis=2)
        for part in (dealt[:, :, :size], dealt[:, :, size : 2 * size])
    )
    bins = np.minimum(np.abs(base) // 0.01, 20).astype(int)
    seen, swaps = (np.bincount(bins[which], minlength=21) / 8000 for which in (base < 9, base * test < 0))
    # The variance of a unit among those of its set, and that of the mean of all.
    inner, whole = differences.var(axis=2, ddof=1).mean(axis=0), differences.mean(axis=2).var(axis=0)
    moments = PairMoments(means, inner, series=whole * units - inner)
    expected_counts = in_fresh_series(moments, size, units, LIMITS, 0.0, compiled=compiled)
    assert expected_counts.comparisons == pytest.approx(seen, abs=0.02)
    assert expected_counts.swaps == pytest.approx(swaps, abs=0.012)
    alone = on_fresh_units(moments, size, LIMITS, 0.0, compiled=compiled)
    assert expected_counts.swaps.sum() == pytest.approx(swaps.sum(), abs=0.015)
    assert alone.swaps.sum() > expected_counts.swaps.sum() + 0.03


def test_series_add_to_the_variance_of_a_mean(matrix_of):
    rng = np.random.default_rng(8)
    values = np.repeat(rng.normal(0, 1, (6, 200)), 3, axis=1) + rng.normal(0, 1, (6, 600))
    clusters = tuple(str(u // 3) for u in range(600))
    # Three questions a series, correlated by one half: 1 + (3 - 1) / 2 times the variance of single ones.
    assert plausible(matrix_of(values, clusters=clusters), 2, 0).series == pytest.approx(1.0, abs=0.15)
    assert plausible(matrix_of(values), 2, 0).series is None
    assert plausible(matrix_of(rng.random((6, 600)), clusters=clusters), 2, 0).series == pytest.approx(0.0, abs=0.15)
