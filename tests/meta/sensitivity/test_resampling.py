"""Intervals of error rates: what they hold, when there are none, and that threads change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from qassay.matrix import ConfidenceWeighted, TypeWeighted
from qassay.meta.sensitivity import sensitivity
from qassay.meta.sensitivity.plausible import plausible
from qassay.meta.sensitivity.resampling import around, unit_step
from qassay.meta.simulate import simulate_runs


def ends(measured, comparisons, expected, rates):
    """One interval from plain numbers."""
    one = [np.array([[float(number)]]) for number in (measured, comparisons, expected)]
    return around(*one, np.array(rates, dtype=float)[:, None, None], np.ones((1, 1)))[0, 0]


def test_plausible_rates_set_the_width_and_the_measured_rate_the_place():
    rates = np.random.default_rng(0).normal(0.3, 0.02, 200)
    low, high = ends(0.3, 10**6, 0.3, rates)
    assert (low, high) == pytest.approx((0.26, 0.34), abs=0.006)
    # A study that shows more swaps than the closed form expects of it: so will fresh units.
    low, high = ends(0.4, 10**6, 0.3, rates)
    assert (low, high) == pytest.approx((0.358, 0.443), abs=0.01)
    # A hundred comparisons alone are off by 0.09 either way.
    low, high = ends(0.3, 100, 0.3, rates)
    assert 0.17 < high - low < 0.22


def test_an_interval_holds_its_rate_and_few_comparisons_have_none():
    rates = np.random.default_rng(1).normal(0.3, 0.01, 50)
    assert ends(0.0, 40, 0.3, rates)[0] == 0.0
    assert ends(0.0, 40, 0.3, rates)[1] > 0.1
    assert np.isnan(ends(0.3, 19, 0.3, rates)).all()
    assert np.isnan(ends(np.nan, 0, 0.3, rates)).all()
    assert np.isnan(ends(0.3, 100, np.nan, rates)).all()


def test_where_no_swap_is_possible_the_rate_is_certain():
    assert ends(0.0, 500, 0.0, np.zeros(10)).tolist() == [0.0, 0.0]
    curves = sensitivity(simulate_runs(np.linspace(0.3, 0.5, 8), 40, scores="binary"), sizes=[10], intervals=10)
    # Steps of 0.1: all differences in the first bin are ties.
    assert curves.bins[0].interval == ((0.0, 0.0),)
    assert curves.bins[5].interval == (None,)
    assert curves.bins[10].interval[0][0] < curves.bins[10].error_rate[0] < curves.bins[10].interval[0][1]


def test_plausible_means_are_pulled_together_and_spread_like_the_truth():
    means = np.linspace(0.3, 0.4, 30)
    spreads, measured = [], []
    for seed in range(40):
        matrix = simulate_runs(means, 50, seed=seed)
        spreads.append(plausible(matrix, 40, seed).means.var(axis=1, ddof=1).mean())
        measured.append(matrix.scores().var(ddof=1))
    truth = means.var(ddof=1)
    assert np.mean(measured) > 1.7 * truth
    assert np.mean(spreads) == pytest.approx(truth, rel=0.12)


def test_plausible_variances_are_those_of_the_units_on_average():
    matrix = simulate_runs(np.linspace(0.3, 0.4, 5), 40, seed=3)
    truths = plausible(matrix, 2000, 0)
    found = np.mean([truths.moments(b).variances for b in range(2000)], axis=0)
    assert found == pytest.approx(truths.measured.variances, rel=0.03)


def test_runs_that_never_vary_against_each_other_do_so_in_no_resample(matrix_of):
    values = np.random.default_rng(0).random((4, 30))
    values[3] = values[0] + 0.1
    truths = plausible(matrix_of(values), 20, 0)
    fixed = [int(np.count_nonzero(truths.moments(b).variances == 0.0)) for b in range(20)]
    assert fixed == [1] * 20
    curves = sensitivity(matrix_of(np.tile(values[:1], (5, 1))), intervals=20)
    assert curves.bins[0].interval[0] == (0.0, 0.0)


def test_clusters_make_intervals_wider(matrix_of):
    rng = np.random.default_rng(5)
    values = np.repeat(rng.random((12, 10)), 6, axis=1) + 0.05 * rng.random((12, 60)) + np.linspace(0, 0.2, 12)[:, None]

    def width(**fields):
        curves = sensitivity(matrix_of(values, **fields), sizes=[15], intervals=60)
        return np.mean([high - low for low, high in (curve.interval[0] for curve in curves.bins[3:15])])

    assert width(clusters=tuple(str(u // 6) for u in range(60))) > 1.4 * width()


def test_step_of_the_scores(matrix_of):
    right = np.eye(4)
    assert unit_step(matrix_of(right, denominator=1)) == 1.0
    assert unit_step(matrix_of(right * 0.5, denominator=60)) == 0.5
    assert unit_step(matrix_of(right)) == 0.0
    assert unit_step(matrix_of(right, denominator=1, summary=TypeWeighted(("a", "b") * 2, {"a": 1, "b": 2}))) == 0.0


@pytest.mark.parametrize("ties", ["stay", "half", "exclude"])
@pytest.mark.parametrize("kind", ["binary", "confidence", "types", "many runs"])
def test_intervals_do_not_depend_on_threads(matrix_of, kind, ties):
    runs = 70 if kind == "many runs" else 12
    values = simulate_runs(np.linspace(0.3, 0.6, runs), 40, scores="binary", seed=1).values
    order = np.argsort(np.random.default_rng(0).random((runs, 40)), axis=1)
    fields = {
        "confidence": {"summary": ConfidenceWeighted(order)},
        "types": {"summary": TypeWeighted(("a", "b") * 20, {"a": 0.5, "b": 0.5})},
    }.get(kind, {"denominator": 1})
    one, other, another = (
        sensitivity(matrix_of(values, **fields), trials=20, intervals=30, ties=ties, threads=threads, seed=seed)
        for threads, seed in ((1, 0), (5, 0), (1, 1))
    )
    assert np.array_equal(one.intervals, other.intervals, equal_nan=True)
    assert not np.array_equal(one.intervals, another.intervals, equal_nan=True)
    rates = one.counts.rates(ties)
    with_one = np.isfinite(one.intervals[..., 0])
    assert with_one.sum() > 40
    assert (one.intervals[..., 0] <= rates)[with_one].all()
    assert (one.intervals[..., 1] >= rates)[with_one].all()


@pytest.mark.parametrize(("runs", "resamples", "said"), [(2, 50, "two runs"), (5, 1, "two resamples")])
def test_where_there_are_no_intervals_a_note_says_so(runs, resamples, said):
    curves = sensitivity(simulate_runs(np.linspace(0.3, 0.5, runs), 30), intervals=resamples)
    assert {interval for curve in curves.bins for interval in curve.interval} == {None}
    assert any(said in note for note in curves.notes)


def test_sparse_bins_are_noted():
    curves = sensitivity(simulate_runs(np.linspace(0.3, 0.5, 6), 60), trials=20, intervals=10)
    pairs = [pair for curve in curves.bins for pair in zip(curve.comparisons, curve.interval, strict=True)]
    assert all((interval is None) == (comparisons < 20) for comparisons, interval in pairs)
    assert any("fewer than 20 comparisons" in note for note in curves.notes)


def test_intervals_are_wider_than_binomial_ones():
    matrix = simulate_runs(np.linspace(0.3, 0.5, 25), 60, seed=1)
    curves = sensitivity(matrix, sizes=[30], trials=200, intervals=60)
    curve = curves.bins[5]
    low, high = curve.interval[0]
    rate, comparisons = curve.error_rate[0], curve.comparisons[0]
    assert low < rate < high
    # METHOD 6: the binomial formula is far too small.
    assert high - low > 1.5 * 2 * 1.96 * np.sqrt(rate * (1 - rate) / comparisons)


def true_rates(means, scores, size, sets):
    """Comparisons a trial and error rate of each bin with base and test sets of fresh units."""
    seen, swaps = np.zeros(21), np.zeros(21)
    first, second = np.triu_indices(len(means), 1)
    at_once = 2000
    for number in range(sets // at_once):
        units = simulate_runs(means, 2 * size * at_once, scores=scores, seed=10**6 + number).values
        base, test = np.moveaxis(units.reshape(len(means), at_once, 2, size).mean(axis=3), 2, 0)
        d_base, d_test = base[first] - base[second], test[first] - test[second]
        k = np.minimum((np.abs(d_base) + 1e-9) // 0.01, 20).astype(int)
        seen += np.bincount(k.ravel(), minlength=21)
        swaps += np.bincount(k[d_base * d_test < -1e-12], minlength=21)
    return seen / sets, np.divide(swaps, seen, out=np.full(21, np.nan), where=seen > 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scores", "runs", "units", "most", "highest"),
    [
        ("normal", 12, 40, 0.15, 0.97),
        ("zero-inflated", 20, 50, 0.15, 0.97),
        ("binary", 6, 100, 0.2, 0.97),
        ("binary", 16, 60, 0.1, 0.97),
    ],
)
def test_intervals_hold_the_truth_as_often_as_they_say(scores, runs, units, most, highest):
    """The truth is the rate with fresh units; 95% intervals from one set of units hold it in 95% of a thousand."""
    means, sizes, trials, worlds = 0.2 + np.linspace(0.0, most, runs), (5, units // 4, units // 2), 100, 1000
    seen, truth = (np.array(part) for part in zip(*(true_rates(means, scores, s, 60_000) for s in sizes), strict=True))
    held, of = np.zeros(truth.shape), np.zeros(truth.shape)
    for seed in range(worlds):
        matrix = simulate_runs(means, units, scores=scores, seed=seed)
        found = sensitivity(matrix, sizes=sizes, trials=trials, intervals=60, seed=seed).intervals
        of += np.isfinite(found[..., 0])
        held += (found[..., 0] <= truth) & (truth <= found[..., 1])
    use = (seen * trials >= 20) & (of > worlds / 4)
    coverage = held[use] / of[use]
    assert use.sum() > 6
    assert 0.93 <= coverage.mean() <= highest
    assert coverage.min() >= 0.9
