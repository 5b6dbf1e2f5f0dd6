"""The exact test of right-or-wrong scores: equal to looking at every flip, and to the binomial test."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from qassay.meta.unseen import limits_with_unseen
from scipy.stats import binomtest, multinomial

from qassay.cli.gate import gate_line
from qassay.matrix import Repeats, ScoreMatrix
from qassay.meta import right_or_wrong
from qassay.meta.blocks import blocks
from qassay.meta.flips import flip_test
from qassay.meta.right_or_wrong import ExactFlips, exact_flips, two_sided_binomial
from qassay.meta.significance import PairComparison, compare


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
    exact = exact_flips(ahead, behind, 400 - ahead - behind, alpha=0.05)
    limits = limits_with_unseen(values[0] - values[1], 1.0, alpha=0.05, decided=(exact.low, exact.high))
    assert (test.exact, test.flips, test.p) == (True, None, exact.p)
    assert test.interval == pytest.approx((5 * limits[0], 5 * limits[1]))
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


def two_runs(both: int, first: int, second: int, neither: int) -> ScoreMatrix:
    """Two runs by the number of questions on which both are right, one of them, and neither."""
    a, b = ([1.0] * both + [1.0] * first, [1.0] * both + [0.0] * first)
    values = np.array([a + [0.0] * (second + neither), b + [1.0] * second + [0.0] * neither])
    return ScoreMatrix(("a", "b"), tuple(map(str, range(values.shape[1]))), values, denominator=1)


# Shares of the questions on which the first run alone, the second alone, and neither is right.
SHARES = [
    (0.0, 0.0, 0.3),
    (0.01, 0.01, 0.01),
    (0.05, 0.01, 0.0),
    (0.03, 0.001, 0.0),
    (0.02, 0.0, 0.98),
    (0.045, 0.005, 0.4),
    (0.1, 0.0, 0.0),
    (0.1, 0.0, 0.9),
    (0.3, 0.3, 0.2),
    (0.4, 0.2, 0.2),
    (0.98, 0.0, 0.0),
]


@pytest.mark.parametrize("units", [6, 10, 20])
@pytest.mark.parametrize("shares", SHARES)
def test_intervals_contain_the_truth_also_where_hardly_a_unit_differs(
    shares: tuple[float, float, float], units: int
) -> None:
    """The exact coverage: every outcome with its probability, and the interval of its scores.

    By the flips alone it goes down to 0.1, and so it does where both runs are right throughout, or wrong.
    """
    first, second, neither = shares
    both = 1 - sum(shares)
    covered, limits = 0.0, {}
    for counts in outcomes(units):
        share = multinomial.pmf(counts, units, [both, first, second, neither])
        if share < 1e-7:
            continue
        # How many questions both answer changes nothing, unless they answer all of them, or none.
        alike = (*counts[1:3], counts[0] == 0, counts[3] == 0)
        if alike not in limits:
            test = flip_test(blocks(two_runs(*counts)))
            assert test.interval is not None
            assert test.rejects == (test.p <= 0.05)
            limits[alike] = test.interval
        low, high = limits[alike]
        covered += share * (low - 1e-9 <= first - second <= high + 1e-9)
    assert covered > 0.89


def outcomes(units: int) -> Iterator[tuple[int, int, int, int]]:
    for first in range(units + 1):
        for second in range(units + 1 - first):
            for neither in range(units + 1 - first - second):
                yield units - first - second - neither, first, second, neither


@pytest.mark.parametrize("both", [0, 4, 10])
def test_two_runs_that_are_equal_on_few_units_may_differ_on_others(both: int) -> None:
    low, high = flip_test(blocks(two_runs(both, 0, 0, 10 - both))).interval or (0.0, 0.0)
    assert -0.25 < low < -0.15
    assert high == -low


@pytest.mark.parametrize(
    ("score", "scale", "range_"), [(0.5, None, 1.0), (3.0, (1.0, 5.0), 4.0), (3.0, None, 3.0), (-2.0, None, 2.0)]
)
def test_graded_scores_that_are_equal_throughout_may_differ_by_their_range(
    score: float, scale: tuple[float, float] | None, range_: float
) -> None:
    names = tuple("1234567890")
    matrix = ScoreMatrix(("a", "b"), names, np.full((2, 10), score), scale=scale)
    low, high = compare(matrix, "a", "b").interval or (0.0, 0.0)
    expected = flip_test(blocks(two_runs(5, 0, 0, 5))).interval or (0.0, 0.0)
    assert (low, high) == pytest.approx((expected[0] * range_, expected[1] * range_))
    # A system that scores a quarter more on each question is better, and not by exactly a quarter.
    apart = replace(matrix, values=matrix.values + np.array([[0.25], [0.0]]))
    result = compare(apart, "a", "b")
    assert (result.verdict, result.p) == ("better", 2.0**-9)
    assert result.interval is not None
    assert 0.0 < result.interval[0] <= 0.25 <= result.interval[1]
    assert result.interval[0] < result.interval[1]


def test_series_of_unequal_size_on_which_two_runs_are_equal_are_no_proof() -> None:
    values, series = np.tile(np.linspace(0.1, 0.9, 30), (2, 1)), tuple("a" * 8 + "bcdefgh" * 3 + "z")
    matrix = ScoreMatrix(("x", "y"), tuple(map(str, range(30))), values, clusters=series)
    result = compare(matrix, "x", "y")
    assert result.interval is not None
    assert result.interval[0] < -0.1
    assert result.gate(0.01) == "INCONCLUSIVE"


@pytest.mark.parametrize(("questions", "step"), [(6, 0.05), (6, 0.25), (7, 0.05), (30, 0.05)])
def test_the_same_lead_on_every_question_is_no_proof_of_its_size(questions: int, step: float) -> None:
    """The interval went from the difference itself: as if no question could ever show a smaller one."""
    lower = np.linspace(0.1, 0.7, questions).round(2)
    matrix = ScoreMatrix(("x", "y"), tuple(map(str, range(questions))), np.stack([lower + step, lower]))
    ahead, behind = compare(matrix, "x", "y"), compare(matrix, "y", "x")
    assert ahead.verdict == "better"
    assert ahead.interval is not None
    # The decision stays, and the interval says no more than it.
    assert 0.0 < ahead.interval[0] < step / 1000
    assert ahead.interval[1] > step
    assert behind.interval == (-ahead.interval[1], -ahead.interval[0])
    assert "95% interval just above 0 to +0." in str(ahead.table())
    assert (ahead.gate(), behind.gate()) == ("ALLOW", "REJECT")
    # Whether it is behind by less than half of what was seen is not known.
    assert behind.gate(step / 2) == "INCONCLUSIVE"
    assert "to just below 0, contains" in gate_line(behind, behind.gate(step / 2), step / 2)


@pytest.mark.parametrize("questions", [2, 5, 6, 10])
def test_repeats_that_never_vary_are_no_proof_either(questions: int) -> None:
    names = tuple(map(str, range(questions)))

    def compared(first: float, second: float) -> PairComparison:
        scores = tuple(np.full((questions, 3), score) for score in (first, second))
        means = np.stack([score.mean(axis=1) for score in scores])
        return compare(ScoreMatrix(("x", "y"), names, means, repeats=Repeats(scores)), "x", "y")

    equal, apart = compared(1.0, 1.0), compared(1.0, 0.0)
    assert equal.p == 1.0
    assert equal.gate(0.01) == "INCONCLUSIVE"
    # All of a few questions say the same: a coin says so too, as without repeats.
    assert apart.p == 2.0 ** (1 - questions)
    assert apart.verdict == ("better" if questions > 5 else "cannot tell")
    assert (apart.interval is None) == (questions < 6)
