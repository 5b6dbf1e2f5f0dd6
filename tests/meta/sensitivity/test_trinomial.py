"""Right-or-wrong scores on small sets, against enumeration."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from qassay.meta.sensitivity import sensitivity
from qassay.meta.sensitivity.closed_form import PairMoments, plausible
from qassay.meta.sensitivity.expectation import Expected, Trinomial, in_fresh_series
from qassay.meta.simulate import simulate_runs

LIMITS = tuple(k / 100 for k in range(21))


def tally(counts, d_base, d_test, size, weight):
    k = min(abs(d_base) * 100 // size, 20)
    counts[0, k] += weight
    counts[1, k] += weight * (d_base * d_test < 0)
    counts[2, k] += weight * (d_base * d_test > 0)


def test_fresh_units_by_enumeration():
    size, shares = 3, {1: 0.3, -1: 0.15, 0: 0.55}
    wanted = np.zeros((3, 21))
    for draws in product(shares, repeat=2 * size):
        tally(wanted, sum(draws[:size]), sum(draws[size:]), size, np.prod([shares[value] for value in draws]))
    moments = PairMoments(np.array([0.15]), np.array([0.4]), np.array([0.55]))
    assert Trinomial(size, 1.0, LIMITS).fresh(moments) == pytest.approx(wanted)
    # Half a point for a right answer: the same steps, half as wide, the smallest of them in bin 16.
    halved = Trinomial(size, 0.5, LIMITS).fresh(PairMoments(np.array([0.075]), np.array([0.1]), np.array([0.55])))
    assert halved.sum(axis=1) == pytest.approx(wanted.sum(axis=1))
    assert np.flatnonzero(halved[0]).tolist() == [0, 16, 20]


def test_dealt_units_by_enumeration():
    size, differences = 2, [1, 1, 1, -1, 0, 0, 0]
    wanted, ways = np.zeros((3, 21)), 0
    for base in combinations(range(7), size):
        for test in combinations(sorted(set(range(7)) - set(base)), size):
            ways += 1
            tally(wanted, *(sum(differences[unit] for unit in side) for side in (base, test)), size, 1.0)
    moments = PairMoments(np.array([2 / 7]), np.array([0.5]), np.array([3 / 7]))
    assert Trinomial(size, 1.0, LIMITS).dealt(moments, 7) == pytest.approx(wanted / ways)


@pytest.mark.parametrize("size", [5, 16])
def test_dealt_units_are_what_the_study_shows(size):
    matrix = simulate_runs(np.linspace(0.3, 0.5, 8), 40, scores="binary", seed=4)
    counts = sensitivity(matrix, sizes=[size], trials=4000, intervals=0).counts
    dealt = Trinomial(size, 1.0, LIMITS).dealt(plausible(matrix, 2, 0).measured, 40)
    assert dealt[0] * 4000 == pytest.approx(counts.comparisons[0], rel=0.04, abs=100)
    assert dealt[1] * 4000 == pytest.approx(counts.swaps[0], rel=0.04, abs=100)


def test_pairs_that_never_or_always_differ():
    moments = PairMoments(np.array([0.0, 1.0]), np.zeros(2), np.array([1.0, 0.0]))
    for found in (Trinomial(4, 1.0, LIMITS).fresh(moments), Trinomial(4, 1.0, LIMITS).dealt(moments, 20)):
        assert found[:, [0, 20]] == pytest.approx(np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 1.0]]))


def test_series_make_right_or_wrong_answers_agree_more_often():
    alone = PairMoments(np.array([0.05]), np.array([0.3]), np.array([0.7]))
    series = PairMoments(np.array([0.05]), np.array([0.3]), np.array([0.7]), np.array([0.6]))
    exact = Trinomial(5, 1.0, LIMITS)
    first, other = (
        in_fresh_series(some, 5, 30, np.array(LIMITS), 0.2, compiled=False, exact=exact) for some in (alone, series)
    )
    assert first.swaps == pytest.approx(Expected(*exact.fresh(alone)).swaps)
    assert other.swaps.sum() < 0.95 * first.swaps.sum()
