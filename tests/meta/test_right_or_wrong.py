"""The exact test of right-or-wrong scores: equal to looking at every flip, and to the binomial test."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binomtest, multinomial

from qassay.matrix import ScoreMatrix
from qassay.meta import right_or_wrong
from qassay.meta.intervals import blocks, flip_test
from qassay.meta.right_or_wrong import ExactFlips, exact_flips, two_sided_binomial, with_unseen


def _share_as_far(differences: np.ndarray, shift: float) -> float:
    """The share of all sign flips whose mean is at least as far from 0 as the mean itself, after a shift."""
    shifted = differences - shift
    flips = np.array(list(itertools.product((1.0, -1.0), repeat=len(differences))))
    return float((np.abs(flips @ shifted) >= abs(shifted.sum()) - 1e-9).mean())


@pytest.mark.parametrize("units", range(1, 11))
def test_limits_and_p_are_those_of_every_flip(units: int) -> None:
    rng = np.random.default_rng(units)
    for values in rng.integers(0, 2, (6, 2, units)).astype(float):
        differences = values[0] - values[1]
        ahead, behind = int((differences > 0).sum()), int((differences < 0).sum())
        for alpha in (0.05, 0.2, 0.5):
            exact = exact_flips(ahead, behind, units - ahead - behind, alpha=alpha)
            assert exact.p == pytest.approx(_share_as_far(differences, 0.0), abs=1e-12)
            for limit, outside in ((exact.low, -1e-6), (exact.high, 1e-6)):
                if math.isfinite(limit):
                    assert _share_as_far(differences, limit) > alpha
                    assert _share_as_far(differences, limit + outside) <= alpha
                else:
                    assert _share_as_far(differences, math.copysign(5.0, outside)) > alpha


def test_the_general_test_takes_the_exact_road_for_right_or_wrong_scores_on_any_scale() -> None:
    values = np.random.default_rng(3).integers(0, 2, (2, 400)).astype(float)
    units = tuple(map(str, range(400)))
    test = flip_test(blocks(ScoreMatrix(("a", "b"), units, values * 5, denominator=1)))
    ahead, behind = int((values[0] > values[1]).sum()), int((values[0] < values[1]).sum())
    flips = exact_flips(ahead, behind, 400 - ahead - behind, alpha=0.05)
    exact = with_unseen(flips, ahead, behind, 400, alpha=0.05)
    assert (test.exact, test.flips, test.p) == (True, None, exact.p)
    assert test.interval == pytest.approx((5 * exact.low, 5 * exact.high))
    assert test.difference == pytest.approx(5 * (ahead - behind) / 400)
    graded = values * 5
    graded[0, 0] = 2.5
    graded[1, 0] = 0.0
    assert not flip_test(blocks(ScoreMatrix(("a", "b"), units, graded, denominator=2)), flips=500).exact


@pytest.mark.parametrize(("ahead", "behind"), [(0, 0), (1, 0), (5, 5), (12, 3), (3, 12), (700, 640), (5000, 4000)])
def test_p_is_that_of_the_binomial_test(ahead: int, behind: int) -> None:
    expected = 1.0 if ahead + behind == 0 else binomtest(ahead, ahead + behind).pvalue
    assert two_sided_binomial(ahead, behind) == pytest.approx(expected, rel=1e-9)


def test_the_interval_excludes_0_exactly_where_p_rejects() -> None:
    rng = np.random.default_rng(0)
    for ahead, behind, level in rng.integers(0, 120, (300, 3)).tolist():
        exact = exact_flips(ahead, behind, level, alpha=0.05)
        assert (exact.low > 0 or exact.high < 0) == (exact.p <= 0.05)


def test_limits_of_many_units_are_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within one unit, and on the same side of 0, where p is close to the line too."""
    rng = np.random.default_rng(1)
    cases = [tuple(rng.multinomial(4000, rng.dirichlet([1, 1, 3])).tolist()) for _ in range(20)]
    cases += [(1000 + more, 1000, 2000) for more in range(70, 110)]
    for ahead, behind, level in cases:
        monkeypatch.setattr(right_or_wrong, "_MANY", 10_000)
        exact = exact_flips(ahead, behind, level, alpha=0.05)
        monkeypatch.setattr(right_or_wrong, "_MANY", 1000)
        many = exact_flips(ahead, behind, level, alpha=0.05)
        units = ahead + behind + level
        assert (many.low * units, many.high * units) == pytest.approx((exact.low * units, exact.high * units), abs=1.0)
        assert (many.p, many.low > 0, many.high < 0) == (exact.p, exact.low > 0, exact.high < 0)


def test_a_difference_that_never_varies_is_a_point_with_many_units() -> None:
    assert exact_flips(30_000, 0, 0, alpha=0.05) == ExactFlips(p=pytest.approx(0.0), low=1.0, high=1.0)


@pytest.mark.parametrize("units", [10, 20, 50])
@pytest.mark.parametrize(
    ("ahead", "behind"),
    [(0.0, 0.0), (0.01, 0.01), (0.03, 0.001), (0.045, 0.005), (0.1, 0.0), (0.3, 0.3), (0.4, 0.2), (0.98, 0.0)],
)
def test_intervals_contain_the_truth_also_where_hardly_a_unit_differs(ahead: float, behind: float, units: int) -> None:
    """The exact coverage: every outcome with its probability. By the flips alone it goes down to 0.1."""
    covered = 0.0
    for a in range(units + 1):
        for b in range(units + 1 - a):
            share = multinomial.pmf([a, b, units - a - b], units, [ahead, behind, 1 - ahead - behind])
            if share < 1e-9:
                continue
            exact = exact_flips(a, b, units - a - b, alpha=0.05)
            wide = with_unseen(exact, a, b, units, alpha=0.05)
            covered += share * (wide.low - 1e-9 <= ahead - behind <= wide.high + 1e-9)
            # The verdict stays that of the test.
            assert (wide.low > 0, wide.high < 0, wide.p) == (exact.low > 0, exact.high < 0, exact.p)
    assert covered > 0.89


def test_two_runs_that_are_equal_on_few_units_may_differ_on_others() -> None:
    matrix = ScoreMatrix(("a", "b"), tuple("1234567890"), np.tile(np.array([1.0, 0.0] * 5), (2, 1)), denominator=1)
    low, high = flip_test(blocks(matrix)).interval or (0.0, 0.0)
    assert -0.25 < low < -0.15
    assert high == -low
