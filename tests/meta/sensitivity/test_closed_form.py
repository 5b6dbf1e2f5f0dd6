"""The closed form against Monte Carlo."""

from __future__ import annotations

import numpy as np
import pytest

from qassay.meta.sensitivity.closed_form import PairMoments, pair_moments, predicted_rates
from qassay.summaries import ConfidenceWeighted, TypeWeighted

LIMITS = np.arange(21) / 100


def test_prediction_is_what_independent_normal_means_give():
    rng = np.random.default_rng(0)
    moments = PairMoments(np.array([0.0, 0.03, 0.08]), np.array([0.05, 0.02, 0.04]))
    draws = 400_000
    for size in (5, 40):
        seen, swaps = np.zeros(21), np.zeros(21)
        for m, v in zip(moments.means, moments.variances, strict=True):
            base, test = rng.normal(m, np.sqrt(v / size), (2, draws))
            k = np.minimum(np.abs(base) // 0.01, 20).astype(int)
            seen += np.bincount(k, minlength=21)
            swaps += np.bincount(k[base * test < 0], minlength=21)
        enough = seen > 1000
        rates = predicted_rates(moments, size, LIMITS)
        error = 5 * np.sqrt(0.25 / seen[enough])
        assert (np.abs(rates[enough] - swaps[enough] / seen[enough]) < error).all()


def test_pairs_that_never_vary_stay_where_they_are_and_never_swap():
    moments = PairMoments(np.array([0.0, 0.05, 0.3]), np.zeros(3))
    rates = predicted_rates(moments, 10, LIMITS)
    assert np.flatnonzero(np.isfinite(rates)).tolist() == [0, 5, 20]
    assert (rates[[0, 5, 20]] == 0.0).all()


def test_compiled_predictions_are_the_same():
    rng = np.random.default_rng(0)
    moments = PairMoments(np.abs(rng.normal(0, 0.1, 500)), rng.random(500) * (rng.random(500) < 0.9))
    for size in (1, 30, 1000, 1e6):
        plain, compiled = (predicted_rates(moments, size, LIMITS, compiled=flag) for flag in (False, True))
        assert compiled == pytest.approx(plain, abs=1e-9, nan_ok=True)


def test_no_pairs_give_no_rates():
    assert np.isnan(predicted_rates(PairMoments(np.zeros(0), np.zeros(0)), 10, LIMITS)).all()


def test_moments_are_those_of_the_differences(matrix_of):
    values = np.random.default_rng(1).random((5, 30))
    values[4] = values[3]
    moments = pair_moments(matrix_of(values))
    at = 0
    for a in range(5):
        for b in range(a + 1, 5):
            differences = values[a] - values[b]
            assert moments.means[at] == pytest.approx(abs(differences.mean()), abs=1e-12)
            assert moments.variances[at] == pytest.approx(differences.var(ddof=1), abs=1e-12)
            at += 1
    assert moments.variances[-1] == 0.0


@pytest.mark.parametrize("kind", ["confidence", "types"])
def test_contributions_are_the_jackknifes_pseudo_values(matrix_of, kind):
    rng = np.random.default_rng(2)
    right = rng.integers(0, 2, (4, 15))
    summary = ConfidenceWeighted(np.argsort(rng.random((4, 15)), axis=1))
    if kind == "types":
        summary = TypeWeighted(("a", "b", "b") * 5, {"a": 0.75, "b": 0.25})
    matrix = matrix_of(right, summary=summary)
    pseudo_values = matrix.summary.pseudo_values(matrix.values)
    everyone = np.arange(15)
    for unit in everyone:
        without = matrix.scores_on(np.delete(everyone, unit))
        assert pseudo_values[:, unit] == pytest.approx(15 * matrix.scores() - 14 * without)
    if kind == "types":
        # Of a weighted mean of means the pseudo-values have the score as their mean, up to the jackknife's bias.
        assert pseudo_values.mean(axis=1) == pytest.approx(matrix.scores(), abs=0.01)
