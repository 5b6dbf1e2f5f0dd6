"""Comparisons, swaps and ties by bin: every path against plain Python with fractions."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qassay.matrix import ScoreMatrix
from qassay.meta.sensitivity.counting import Counts, Study, count
from qassay.meta.sensitivity.trials import Scale, prepare
from qassay.summaries import ConfidenceWeighted, TypeWeighted

PATHS = ("arrays", "compiled")


def cells_of(matrix, sizes, trials, path, *, seed=0, width="0.01", threads=1):
    study = Study(prepare(matrix, Decimal(width)), tuple(sizes), trials, seed, with_ties=True)
    return count(study, path=path, threads=threads).sums


def mean_of(exact):
    return lambda run, units: Fraction(sum(exact[run][u] for u in units), len(units))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("denominator", "choices"),
    [(1, (0, 1)), (60, (0, 12, 15, 20, 30, 60)), (100, tuple(range(101))), (10**6, (333333, 250000, 10000, -5))],
    ids=["0/1 scores", "reciprocal ranks", "decimals", "many digits"],
)
def test_exact_scores_are_counted_as_fractions_are(reference, matrix_of, path, denominator, choices):
    rng = np.random.default_rng(3)
    numerators = rng.choice(choices, (7, 12))
    sizes = range(1, 7)
    matrix = matrix_of(numerators / denominator, denominator=denominator)
    exact = [[Fraction(int(n), denominator) for n in row] for row in numerators]
    expected = reference(7, 12, mean_of(exact), sizes=sizes, trials=25, seed=5, width=Fraction(1, 100))
    assert cells_of(matrix, sizes, 25, path, seed=5).tolist() == expected


@pytest.mark.parametrize("path", PATHS)
def test_doubles_are_binned_as_the_numbers_they_stand_for(reference, matrix_of, path):
    # Multiples of 0.05 whose floating-point means are off in the last digit, on bin limits and in ties all the time.
    numerators = np.random.default_rng(4).integers(0, 21, (8, 16))
    exact = [[Fraction(int(n), 20) for n in row] for row in numerators]
    sizes = range(1, 9)
    expected = reference(8, 16, mean_of(exact), sizes=sizes, trials=20, seed=0, width=Fraction(1, 100))
    assert cells_of(matrix_of(numerators * 0.05), sizes, 20, path).tolist() == expected


@pytest.mark.parametrize("path", PATHS)
def test_confidence_weighted_score_is_recomputed_on_each_subset(reference, matrix_of, path):
    rng = np.random.default_rng(6)
    right = rng.integers(0, 2, (6, 14))
    order = np.argsort(rng.random((6, 14)), axis=1)

    def cws(run, units):
        ranked = [int(right[run][u]) for u in order[run] if u in units]
        return Fraction(sum(Fraction(sum(ranked[:i]), i) for i in range(1, len(ranked) + 1)), len(ranked))

    sizes = range(1, 8)
    expected = reference(6, 14, cws, sizes=sizes, trials=15, seed=1, width=Fraction(1, 100))
    matrix = matrix_of(right, summary=ConfidenceWeighted(order), denominator=1)
    assert cells_of(matrix, sizes, 15, path, seed=1).tolist() == expected


@pytest.mark.parametrize("path", PATHS)
def test_type_weighted_score_shares_out_the_weight_of_a_missing_type(reference, matrix_of, path):
    rng = np.random.default_rng(8)
    right = rng.integers(0, 2, (5, 12))
    types = ("factoid",) * 7 + ("list",) * 3 + ("definition",) * 2
    weights = {"factoid": 0.5, "list": 0.25, "definition": 0.25}

    def final(run, units):
        groups = {kind: [int(right[run][u]) for u in units if types[u] == kind] for kind in weights}
        present = [kind for kind in weights if groups[kind]]
        total = sum(Fraction(weights[kind]) * Fraction(sum(groups[kind]), len(groups[kind])) for kind in present)
        return total / sum(Fraction(weights[kind]) for kind in present)

    sizes = range(1, 7)
    expected = reference(5, 12, final, sizes=sizes, trials=15, seed=2, width=Fraction(1, 100))
    matrix = matrix_of(right, summary=TypeWeighted(types, weights), denominator=1)
    assert cells_of(matrix, sizes, 15, path, seed=2).tolist() == expected


@pytest.mark.parametrize("runs", [2, 3, 63, 64, 65, 130])
@pytest.mark.parametrize("kind", ["binary", "graded", "decimals", "confidence"])
def test_compiled_code_counts_what_array_code_counts(matrix_of, runs, kind):
    rng = np.random.default_rng(runs)
    units = 70
    values = rng.random((runs, units))
    matrix = {
        "binary": lambda: matrix_of(values < 0.4, denominator=1),
        "graded": lambda: matrix_of(values),
        "decimals": lambda: matrix_of(np.rint(values * 10000) / 10000, denominator=10000),
        "confidence": lambda: matrix_of(values < 0.4, summary=ConfidenceWeighted(np.argsort(values, axis=1))),
    }[kind]()
    sizes = (1, 2, 9, 35)
    assert np.array_equal(cells_of(matrix, sizes, 12, "compiled"), cells_of(matrix, sizes, 12, "arrays"))


@settings(max_examples=40)
@given(
    st.integers(2, 9).flatmap(
        lambda units: st.lists(
            st.lists(st.sampled_from([0.0, 1.0, 0.5, 0.1, 0.3, -2.0, 1e6]), min_size=units, max_size=units),
            min_size=2,
            max_size=6,
        )
    ),
    st.integers(0, 2**70),
    st.sampled_from(["0.01", "0.003", "0.5"]),
)
def test_paths_agree_on_any_scores(rows, seed, width):
    values = np.array(rows)
    runs, units = (tuple(map(str, range(n))) for n in values.shape)
    matrix = ScoreMatrix(runs, units, values)
    sizes = range(1, len(units) // 2 + 1)
    arrays = cells_of(matrix, sizes, 4, "arrays", seed=seed, width=width)
    assert np.array_equal(arrays, cells_of(matrix, sizes, 4, "compiled", seed=seed, width=width))
    assert (arrays.sum(axis=(1, 2)) == 4 * len(runs) * (len(runs) - 1) // 2).all()


@pytest.mark.parametrize("path", PATHS)
def test_threads_and_the_order_of_the_work_change_nothing(matrix_of, path):
    matrix = matrix_of(np.random.default_rng(0).random((20, 30)))
    study = Study(prepare(matrix, Decimal("0.01")), (3, 5, 15), 30, 7)
    single, other = (count(study, path=path, threads=threads) for threads in (1, 4))
    assert np.array_equal(single.sums, other.sums)
    assert np.array_equal(single.products, other.products)
    # A size alone gives what it gives among others: chance belongs to (seed, size, trial).
    alone = Study(prepare(matrix, Decimal("0.01")), (5,), 30, 7)
    assert np.array_equal(count(alone, path=path).sums[0], single.sums[1])
    assert np.array_equal(count(alone, path=path).products[0], single.products[1])


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("ties", ["stay", "half", "exclude"])
def test_deviations_of_trials_and_of_comparisons(matrix_of, reference, path, ties):
    rng = np.random.default_rng(2)
    exact = rng.integers(0, 2, (6, 24)).tolist()
    matrix, sizes, trials = matrix_of(exact, denominator=1), (3, 8), 12
    counts = count(Study(prepare(matrix, Decimal("0.01")), sizes, trials, 5, with_ties=True), path=path)
    by_trial, alone, squares = (np.zeros((2, 21)) for _ in range(3))
    swap, comparison = {
        "stay": ((0, 1, 0), (1, 1, 1)),
        "half": ((0, 1, 0.5), (1, 1, 1)),
        "exclude": ((0, 1, 0), (1, 1, 0)),
    }[ties]
    rates = np.nan_to_num(counts.rates(ties))
    args = {"sizes": sizes, "seed": 5, "width": Fraction(1, 100)}
    seen = [np.array(reference(6, 24, mean_of(exact), trials=t, **args)) for t in range(trials + 1)]
    for before, after in pairwise(seen):
        cells = after - before
        swaps, comparisons = np.tensordot(cells, swap, (1, 0)), np.tensordot(cells, comparison, (1, 0))
        by_trial += (swaps - rates * comparisons) ** 2
        squares += comparisons**2
        alone += sum(cells[:, c] * (swap[c] - comparison[c] * rates) ** 2 for c in range(3))
    assert counts.by_trial(ties) == pytest.approx(by_trial)
    assert counts.alone(ties) == pytest.approx(alone)
    assert counts.in_a_trial(ties) == pytest.approx(squares)


def test_int_of_a_quotient_of_doubles_would_bin_otherwise(matrix_of):
    # 0.29 / 0.01 is 28.999999999999996 in doubles: the very mistake that exact binning is there for.
    assert int((0.58 - 0.29) / 0.01) == 28
    better, other = [0.58] * 10, [0.29] * 10
    for denominator in (100, None):
        cells = cells_of(matrix_of([better, other], denominator=denominator), [5], 2, "arrays", width="0.0145")
        assert cells[0, 0, 20] == 2
        cells = cells_of(matrix_of([[0.15] * 10, [0.08] * 10], denominator=denominator), [5], 2, "arrays")
        assert cells[0, 0, 7] == 2


@given(st.floats(1e-6, 1e6), st.sampled_from([0.0, 1e-9]), st.integers(0, 25), st.floats(-3e-9, 3e-9))
def test_thresholds_say_what_the_bin_rule_says(step, slack, k, offset):
    scale = Scale(step=step, slack=slack, tie=1e-9)
    thresholds = scale.thresholds()
    difference = abs(k * step + offset)
    assert int((thresholds[1:] <= difference).sum()) == scale.bin_of(difference)


def test_rates_by_the_three_rules_for_ties():
    cells = np.zeros((1, 3, 21), dtype=np.int64)
    cells[0, :, 0] = 5, 3, 2  # agreements, swaps, ties
    counts = Counts(cells, np.einsum("sak,sbk->sabk", cells, cells))
    assert counts.rates("stay")[0, 0] == 3 / 10
    assert counts.rates("half")[0, 0] == 4 / 10
    assert counts.rates("exclude")[0, 0] == 3 / 8
    assert counts.denominators("exclude")[0, 0] == 8
    assert np.isnan(counts.rates("stay")[0, 1:]).all()


def test_constant_scores_are_ties_in_the_first_bin(matrix_of):
    for path in PATHS:
        cells = cells_of(matrix_of(np.full((4, 10), 0.3)), [2, 5], 3, path)
        assert cells[:, 2, 0].tolist() == [18, 18]
        assert cells.sum() == 36
