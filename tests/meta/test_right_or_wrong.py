"""Two systems that differ by one amount only: golden figures, scipy, and exact sums over all outcomes."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, multinomial, t

from qassay.cli.gate import gate_line
from qassay.matrix import Repeats, ScoreMatrix
from qassay.meta.one_pair import PairDecision, decide
from qassay.meta.right_or_wrong import mid_p
from qassay.meta.significance import PairComparison, compare

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "truth.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("counts", GOLDEN["0/1 pairs (ahead, behind, questions): mid-p, low, high"])
def test_golden_figures(counts: str) -> None:
    ahead, behind, units = map(int, counts.split(","))
    found = decided(ahead, behind, units)
    wanted = GOLDEN["0/1 pairs (ahead, behind, questions): mid-p, low, high"][counts]
    assert (found.p, *(found.interval or ())) == pytest.approx(wanted, abs=1e-6)
    assert (found.test, found.flips, found.exact) == ("mid-p", None, False)
    if counts == "12,4,60":
        assert found.interval is not None
        assert found.interval[0] == 1e-9


@pytest.mark.parametrize(("ahead", "behind"), [(0, 0), (1, 0), (5, 5), (12, 3), (3, 12), (700, 640), (8000, 7800)])
def test_p_is_that_of_scipy(ahead: int, behind: int) -> None:
    fewer, coin = min(ahead, behind), binom(ahead + behind, 0.5)
    assert mid_p(ahead, behind, 20_000) == pytest.approx(2 * coin.cdf(fewer) - coin.pmf(fewer), rel=1e-9)
    assert mid_p(ahead, behind, 5) == pytest.approx(min(1.0, 2 * coin.cdf(fewer)), rel=1e-9)


def test_the_interval_on_any_scale() -> None:
    """Each half of a scale from 0 to 5 is one amount; the questions that may come could differ by all of it."""
    values = np.random.default_rng(3).integers(0, 2, (2, 80)) * 2.5
    found = decide(ScoreMatrix(("a", "b"), tuple(map(str, range(80))), values, scale=(0.0, 5.0)))
    differences = np.append(values[0] - values[1], [5.0, -5.0])
    mean, deviation = differences.mean(), differences.std() / 82**0.5
    margin = t.ppf(0.975, 81) * deviation
    assert found.interval == pytest.approx((mean - margin, mean + margin))
    assert (found.test, found.deviation) == ("mid-p", pytest.approx(deviation))


@cache
def decided(ahead: int, behind: int, units: int) -> PairDecision:
    return decide(two_runs(0, ahead, behind, units - ahead - behind))


def errors(units: int, rate: float, share: float, margin: float = 0.0) -> dict[str, float]:
    """The chance of each error and of each finding, over all outcomes: A is ahead on this share of what differs."""
    truth = rate * (2 * share - 1)
    seen = dict.fromkeys(("covered", "verdict", "allow", "reject"), 0.0)
    every = [(a, b) for a in range(units + 1) for b in range(units + 1 - a)]
    counts = np.array([(a, b, units - a - b) for a, b in every])
    chances = multinomial.pmf(counts, units, [rate * share, rate * (1 - share), 1 - rate])
    for (ahead, behind), chance in zip(every, chances.tolist(), strict=True):
        if chance > 1e-9:
            found = decided(ahead, behind, units)
            low, high = found.interval or (-1.0, 1.0)
            seen["covered"] += chance * (low - 1e-8 <= truth <= high + 1e-8)
            seen["verdict"] += chance * found.rejects
            seen["allow"] += chance * (low > -margin)
            seen["reject"] += chance * (high < -margin)
    return seen


@pytest.mark.parametrize("units", [8, 20, 50])
def test_intervals_contain_the_truth_and_verdicts_keep_their_level(units: int) -> None:
    """Exact sums; the interval of the flips alone goes down to 0.88, and to 0.1 where hardly a question differs."""
    for rate in (0.002, 0.02, 0.05, 0.1, 0.3, 0.6, 1.0):
        often = rate > 0.6
        for share in (0.5, 0.6, 0.75, 0.9, 1.0):
            assert errors(units, rate, share)["covered"] >= (0.929 if often else 0.938)
        assert errors(units, rate, 0.5)["verdict"] <= (0.0705 if often else 0.049)
        # A gate whose margin is exactly by how much A is worse.
        at_margin = errors(units, rate, 0.25, margin=rate / 2)
        assert (at_margin["allow"] <= 0.026, at_margin["reject"] <= 0.058) == (True, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("units", "rate", "difference", "power"), [(60, 0.2, 0.1, 0.40), (100, 0.2, 0.1, 0.62), (200, 0.2, 0.07, 0.61)]
)
def test_power(units: int, rate: float, difference: float, power: float) -> None:
    assert errors(units, rate, (1 + difference / rate) / 2)["verdict"] == pytest.approx(power, abs=0.01)


def two_runs(both: int, first: int, second: int, neither: int) -> ScoreMatrix:
    """Two runs by the number of questions on which both are right, one of them, and neither."""
    a, b = ([1.0] * both + [1.0] * first, [1.0] * both + [0.0] * first)
    values = np.array([a + [0.0] * (second + neither), b + [1.0] * second + [0.0] * neither])
    return ScoreMatrix(("a", "b"), tuple(map(str, range(values.shape[1]))), values, denominator=1)


@pytest.mark.parametrize("both", [0, 4, 10])
def test_two_runs_that_are_equal_on_few_units_may_differ_on_others(both: int) -> None:
    low, high = decide(two_runs(both, 0, 0, 10 - both)).interval or (0.0, 0.0)
    assert (low, high) == pytest.approx((-0.259389, 0.259389), abs=1e-6)


@pytest.mark.parametrize(
    ("score", "scale", "range_"), [(0.5, None, 1.0), (3.0, (1.0, 5.0), 4.0), (3.0, None, 3.0), (-2.0, None, 2.0)]
)
def test_graded_scores_that_are_equal_throughout_may_differ_by_their_range(
    score: float, scale: tuple[float, float] | None, range_: float
) -> None:
    names = tuple("1234567890")
    matrix = ScoreMatrix(("a", "b"), names, np.full((2, 10), score), scale=scale)
    low, high = compare(matrix, "a", "b").interval or (0.0, 0.0)
    expected = decide(two_runs(5, 0, 0, 5)).interval or (0.0, 0.0)
    assert (low, high) == pytest.approx((expected[0] * range_, expected[1] * range_))
    # A system that scores a quarter more on each question is better, and not by exactly a quarter.
    apart = replace(matrix, values=matrix.values + np.array([[0.25], [0.0]]))
    result = compare(apart, "a", "b")
    assert (result.verdict, result.p) == ("better", 2.0**-10)
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
