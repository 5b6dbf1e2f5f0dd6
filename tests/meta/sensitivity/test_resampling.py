"""Intervals of error rates: what they hold, when there are none, and that threads change nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from qassay.meta.sensitivity import sensitivity
from qassay.meta.sensitivity.closed_form import plausible
from qassay.meta.sensitivity.counting import counts_of_trials
from qassay.meta.sensitivity.resampling import around, effective, unit_step
from qassay.meta.simulate import simulate_runs
from qassay.summaries import ConfidenceWeighted, TypeWeighted


def ends(measured, comparisons, expected, rates):
    """One interval from plain numbers, each comparison being a draw of its own."""
    cells = [np.array([[float(number)]]) for number in (measured, comparisons, comparisons, expected)]
    return around(*cells, np.array(rates, dtype=float)[:, None, None])[0, 0]


def counts_of(trials):
    """Counts of one size from cells trial by trial: (neither, swaps, ties) by bin."""
    cells = np.zeros((len(trials), 3, 21), dtype=np.int64)
    cells[:, :, : np.shape(trials)[2]] = trials
    return counts_of_trials(cells)


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


@pytest.mark.parametrize(("swaps", "comparisons"), [(0, 40), (3, 25), (30, 60), (12, 12)])
def test_without_noise_of_the_units_it_is_the_interval_of_jeffreys(swaps, comparisons):
    rate = swaps / comparisons
    low, high = ends(rate, comparisons, 0.3, np.full(20, 0.3))
    wanted = stats.beta(swaps + 0.5, comparisons - swaps + 0.5).interval(0.95)
    assert low == pytest.approx(min(wanted[0], rate), abs=1e-9)
    assert high == pytest.approx(max(wanted[1], rate), abs=1e-9)


def test_the_distances_of_both_parts_add_up_as_squares():
    rates = stats.norm.cdf(np.random.default_rng(3).normal(-0.6, 0.1, 400))
    low, high = ends(0.2, 80, 0.25, rates)
    beta = stats.beta(16.5, 64.5)
    below, place, above = (stats.norm.ppf(beta.ppf(tail)) for tail in (0.025, 0.5, 0.975))
    draws = stats.norm.ppf(rates)
    centre = draws.mean() + place - stats.norm.ppf(0.25)
    reach = stats.t(399).ppf(0.975) * draws.std(ddof=1)
    assert low == pytest.approx(stats.norm.cdf(centre - math.sqrt((place - below) ** 2 + reach**2)))
    assert high == pytest.approx(stats.norm.cdf(centre + math.sqrt((above - place) ** 2 + reach**2)))


def test_an_interval_holds_its_rate_and_few_comparisons_have_none():
    rates = np.random.default_rng(1).normal(0.3, 0.01, 50)
    assert ends(0.0, 40, 0.3, rates)[0] == 0.0
    assert 0.03 < ends(0.0, 40, 0.3, rates)[1] < 0.1
    assert np.isnan(ends(0.3, 9, 0.3, rates)).all()
    assert np.isfinite(ends(0.3, 10, 0.3, rates)).all()
    assert np.isnan(ends(np.nan, 0, 0.3, rates)).all()
    assert np.isnan(ends(0.3, 100, np.nan, rates)).all()


def test_comparisons_that_swap_together_are_worth_one_a_trial():
    rng = np.random.default_rng(0)
    swapped = rng.random(400) < 0.3
    together = counts_of([[[10 * (not is_swap)], [10 * is_swap], [0]] for is_swap in swapped])
    assert effective(together, "stay", 400)[0, 0] == pytest.approx(400, rel=0.01)
    swaps = rng.binomial(10, 0.3, 400)
    apart = counts_of([[[10 - swap], [swap], [0]] for swap in swaps])
    assert effective(apart, "stay", 400)[0, 0] == pytest.approx(4000, rel=0.1)
    assert effective(apart, "stay", 400)[0, 0] <= 4000


def test_effective_comparisons_follow_from_the_squares_of_whole_trials():
    rng = np.random.default_rng(4)
    trials = rng.integers(0, 6, (30, 3, 4))
    for ties, weight in (("stay", 0.0), ("half", 0.5)):
        effective_counts = effective(counts_of(trials), ties, 30)[0, :4]
        for k in range(4):
            neither, swaps, tied = trials[:, :, k].T.astype(float)
            s, n = swaps + weight * tied, neither + swaps + tied
            rate = s.sum() / n.sum()
            whole = ((s - rate * n) ** 2).sum() * 30 / 29
            values = np.repeat([0.0, 1.0, weight], [int(x.sum()) for x in (neither, swaps, tied)])
            single = ((values - rate) ** 2).sum()
            assert effective_counts[k] == pytest.approx(n.sum() ** 2 * rate * (1 - rate) / max(whole, single))


def test_a_bin_without_swaps_varies_as_the_others_do():
    rng = np.random.default_rng(0)
    swapped = rng.random(200) < 0.5
    counts = counts_of([[[8 * (not is_swap), 5], [8 * is_swap, 0], [0, 0]] for is_swap in swapped])
    # In the first bin all comparisons of a trial go together: then those of the second may, too.
    assert effective(counts, "stay", 200)[0, 1] == pytest.approx(200, rel=0.02)


@pytest.mark.parametrize(("ties", "rate"), [("stay", 0.0), ("half", 0.5)])
def test_where_no_swap_is_possible_the_rate_is_certain(ties, rate):
    assert ends(rate, 500, rate, np.full(10, rate)).tolist() == [rate, rate]
    matrix = simulate_runs(np.linspace(0.3, 0.5, 8), 40, scores="binary")
    curves = sensitivity(matrix, sizes=[10], intervals=10, ties=ties)
    # Steps of 0.1: all differences in the first bin are ties.
    assert curves.bins[0].interval == ((rate, rate),)
    assert curves.bins[5].interval == (None,)
    assert curves.bins[10].interval[0][0] < curves.bins[10].error_rate[0] <= curves.bins[10].interval[0][1]


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


def test_plausible_shares_of_equal_units_spread_like_the_truth():
    many = simulate_runs(np.linspace(0.1, 0.6, 12), 40_000, scores="binary", seed=1)
    truth = plausible(many, 2, 0).measured.equal
    few = [simulate_runs(np.linspace(0.1, 0.6, 12), 60, scores="binary", seed=seed) for seed in range(30)]
    moments = [plausible(matrix, 30, 0) for matrix in few]
    assert np.mean([truths.measured.equal.var() for truths in moments]) > 1.2 * truth.var()
    assert np.mean([truths.equal.var(axis=1).mean() for truths in moments]) == pytest.approx(truth.var(), rel=0.12)
    # What all pairs have in common varies as it does from one set of units to another.
    levels = np.std([truths.measured.equal.mean() for truths in moments])
    assert np.mean([truths.equal.mean(axis=1).std() for truths in moments]) == pytest.approx(levels, rel=0.3)


def test_plausible_variances_are_those_of_the_units_on_average():
    matrix = simulate_runs(np.linspace(0.3, 0.4, 5), 40, seed=3)
    truths = plausible(matrix, 2000, 0)
    mean_variances = np.mean([truths.moments(b).variances for b in range(2000)], axis=0)
    assert mean_variances == pytest.approx(truths.measured.variances, rel=0.03)


def test_runs_that_never_vary_against_each_other_do_so_in_no_resample(matrix_of):
    values = np.random.default_rng(0).random((4, 30))
    values[3] = values[0] + 0.1
    truths = plausible(matrix_of(values), 20, 0)
    fixed = [int(np.count_nonzero(truths.moments(b).variances == 0.0)) for b in range(20)]
    assert fixed == [1] * 20
    curves = sensitivity(matrix_of(np.tile(values[:1], (5, 1))), intervals=20)
    assert curves.bins[0].interval[0] == (0.0, 0.0)
    right = simulate_runs(np.linspace(0.3, 0.5, 4), 30, scores="binary").values
    truths = plausible(matrix_of(np.vstack([right, right[:1]]), denominator=1), 20, 0)
    assert (truths.equal == 1.0).sum(axis=1).tolist() == [1] * 20


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
    first, other, another = (
        sensitivity(matrix_of(values, **fields), trials=20, intervals=30, ties=ties, threads=threads, seed=seed)
        for threads, seed in ((1, 0), (5, 0), (1, 1))
    )
    assert np.array_equal(first.intervals, other.intervals, equal_nan=True)
    assert not np.array_equal(first.intervals, another.intervals, equal_nan=True)
    rates = first.counts.rates(ties)
    with_one = np.isfinite(first.intervals[..., 0])
    assert with_one.sum() > 20
    assert (first.intervals[..., 0] <= rates)[with_one].all()
    assert (first.intervals[..., 1] >= rates)[with_one].all()


@pytest.mark.parametrize("scores", ["normal", "binary"])
def test_compiled_intervals_are_the_same(scores):
    matrix = simulate_runs(np.linspace(0.3, 0.5, 9), 80, scores=scores, seed=2)
    first, other = (
        sensitivity(matrix, sizes=[5, 40], trials=20, intervals=20, path=path).intervals
        for path in ("arrays", "compiled")
    )
    assert np.isfinite(first).any(axis=(1, 2)).all()
    assert first == pytest.approx(other, abs=1e-8, nan_ok=True)


@pytest.mark.parametrize(
    ("runs", "resamples", "trials", "said"),
    [(2, 50, 20, "two runs"), (5, 1, 20, "two resamples"), (5, 50, 1, "a single trial")],
)
def test_where_there_are_no_intervals_a_note_says_so(runs, resamples, trials, said):
    curves = sensitivity(simulate_runs(np.linspace(0.3, 0.5, runs), 30), intervals=resamples, trials=trials)
    assert {interval for curve in curves.bins for interval in curve.interval} == {None}
    assert any(said in note for note in curves.study_notes)


def test_sparse_bins_are_noted():
    curves = sensitivity(simulate_runs(np.linspace(0.3, 0.5, 6), 60), trials=20, intervals=10)
    pairs = [pair for curve in curves.bins for pair in zip(curve.comparisons, curve.interval, strict=True)]
    # What counts is how many are to be expected, which is near what is seen where that is much or little.
    assert all(interval is None for comparisons, interval in pairs if comparisons < 3)
    assert all(interval is not None for comparisons, interval in pairs if comparisons > 30)
    assert any(interval is not None for comparisons, interval in pairs if comparisons < 10)
    assert any("fewer than 10 comparisons are to be expected" in note for note in curves.study_notes)


def test_few_ranked_answers_have_no_interval(matrix_of):
    values = simulate_runs(np.linspace(0.3, 0.6, 8), 40, scores="binary", seed=1).values
    order = np.argsort(np.random.default_rng(0).random((8, 40)), axis=1)
    curves = sensitivity(matrix_of(values, summary=ConfidenceWeighted(order)), sizes=[5, 20], intervals=20, trials=50)
    assert {curve.interval[0] for curve in curves.bins} == {None}
    assert all(curve.interval[1] is not None for curve in curves.bins[:10])
    assert any("ranked answers" in note for note in curves.study_notes)


def test_intervals_are_wider_than_binomial_ones():
    matrix = simulate_runs(np.linspace(0.3, 0.5, 25), 60, seed=1)
    curves = sensitivity(matrix, sizes=[30], trials=200, intervals=60)
    curve = curves.bins[5]
    low, high = curve.interval[0]
    rate, comparisons = curve.error_rate[0], curve.comparisons[0]
    assert low < rate < high
    # METHOD 6: the binomial formula is far too small.
    assert high - low > 1.5 * 2 * 1.96 * np.sqrt(rate * (1 - rate) / comparisons)
