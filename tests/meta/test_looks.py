"""Looking again and again: golden lines, what they promise, and how often they break it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from qassay.errors import UsageError
from qassay.meta.correction.estimates import corrected_mean, corrected_share, corrected_units
from qassay.meta.looks import STEPS, Look, Plan, line

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "truth.json").read_text(encoding="utf-8"))
ANY_TIME = Plan("any time")


def test_the_golden_lines() -> None:
    golden = GOLDEN["lines for looking at any time: n: r(.05), t(.05), r(.005), t(.005)"]
    for text, wanted in golden.items():
        n = int(text)
        before = Plan("planned", n + 1).look(n)
        lines = [ANY_TIME.look(n).normal(n), ANY_TIME.look(n).t(n, n), before.normal(n), before.t(n, n)]
        assert lines == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(("alpha", "width"), [(0.05, 8.2), (0.005, 12.0)])
def test_the_line_is_where_the_mixture_of_likelihoods_reaches_its_level(alpha: float, width: float) -> None:
    """The mean over normal effects of exp(effect S - effect^2 n / 2), by quadrature, is 1/alpha on the line."""
    for n in (20, 60, 333):
        deviation = math.sqrt(width / 60)
        effects = np.linspace(-12 * deviation, 12 * deviation, 200_001)
        total = line(n, alpha) * math.sqrt(n)
        likelihood = np.exp(effects * total - effects**2 * n / 2) * scipy.stats.norm.pdf(effects, scale=deviation)
        # Normalised by the root of the sum of squares, the mixture follows the spread that is seen.
        assert math.log(np.trapezoid(likelihood, effects) * alpha) == pytest.approx(0.0, abs=1e-6)


@given(n=st.integers(1, 3000), planned=st.integers(20, 1000))
def test_looks_are_wider_than_one_and_none_is_before_twenty(n: int, planned: int) -> None:
    one, plan = Look("one look", n), Plan("planned", planned)
    for look in (plan.look(n), ANY_TIME.look(n)):
        if look.is_ordinary:
            assert (n, look.alpha) == (planned, 0.045)
        elif n < 20:
            assert look.alpha is None
            assert look.t(n, n) is None
        if look.alpha is not None:
            assert look.t(n, n) > one.t(n, n)
            assert look.normal(n) > one.normal(n)


def test_steps_are_those_of_obrien_and_fleming() -> None:
    """All steps together err in 5% of cases: normal sums, by simulation."""
    draws = np.random.default_rng(0).standard_normal((200_000, 5))
    for count, constant in STEPS.items():
        plan = Plan("steps", 60 * count, count)
        assert plan.stops == tuple(60 * step for step in range(1, count + 1))
        sums = np.cumsum(draws[:, :count], axis=1) / np.sqrt(np.arange(1, count + 1))
        lines = [plan.look(stop).normal(stop) for stop in plan.stops]
        assert lines == pytest.approx([constant * math.sqrt(count / step) for step in range(1, count + 1)])
        assert (np.abs(sums) > lines).any(axis=1).mean() == pytest.approx(0.05, abs=0.0025)
        assert [plan.look(n).alpha for n in (59, 61, 60 * count + 1)] == [None] * 3
    assert Plan("steps", 100, 3).stops == (34, 67, 100)
    assert Plan("steps", 30, 3).look(10).alpha is None


@pytest.mark.parametrize("units", [15, 19, 20, 60])
def test_units_take_the_line_of_their_number(units: int) -> None:
    """Of means over topics or series c of their number takes the place of t; fewer than twenty wait for the plan."""
    drawn = np.random.default_rng(1)
    people, judge, every = drawn.random((3, units))
    planned, before = (
        corrected_units(people, judge, every, labels=n, look=Plan("planned", 200).look(n)) for n in (200, 120)
    )
    error = math.sqrt(planned.left / units)
    assert planned.half_width == pytest.approx(scipy.stats.t.ppf(0.9775, units - 1) * error)
    if units < 20:
        assert before.interval is None
    else:
        r = line(units, 0.005)
        assert before.half_width == pytest.approx(math.sqrt((units - 1) * r**2 / (units - r**2)) * error)


@pytest.mark.parametrize("plan", [("steps", 100, 6), ("steps", None, 2), ("planned", 0, None)])
def test_plans_that_cannot_be(plan) -> None:
    with pytest.raises(UsageError, match=r"2 to 5 steps, not 6|1 or more"):
        Plan(*plan)


# ---- how often some look is wrong -----------------------------------------------------------------------------------


def false_labels(plan: Plan, *, is_share: bool, trials: int, seed: int) -> float:
    """How often some look at labels of 20 to 150 of 300 questions excludes the truth."""
    drawn = np.random.default_rng(seed)
    wrong = 0
    for _ in range(trials):
        people = drawn.choice([-1.0, 0.0, 1.0], 300, p=[0.15, 0.7, 0.15])
        judge = np.where(drawn.random(300) < 0.8, people, drawn.choice([-1.0, 0.0, 1.0], 300))
        truth = people.mean()
        if is_share:
            people, judge = (people >= 0) * 1.0, (judge >= 0) * 1.0
            truth = people.mean()
        for n in range(20, 151, 5):
            look = plan.look(n)
            if look.alpha is None:
                continue
            estimate = corrected_share if is_share else corrected_mean
            interval = estimate(people[:n], judge[:n], judge, target="these", look=look).interval
            if interval is not None and not interval[0] <= truth <= interval[1]:
                wrong += 1
                break
    return wrong / trials


@pytest.mark.slow
@pytest.mark.parametrize("is_share", [False, True])
@pytest.mark.parametrize(
    ("plan", "most"),
    [(Plan("planned", 100), 0.065), (ANY_TIME, 0.06), (Plan("steps", 150, 5), 0.065)],
)
def test_some_look_at_labels_is_wrong_as_often_as_promised(plan: Plan, most: float, is_share: bool) -> None:
    by_chance = 2 * math.sqrt(0.05 * 0.95 / 600)
    assert false_labels(plan, is_share=is_share, trials=600, seed=5) <= most + by_chance


@pytest.mark.slow
def test_looking_without_a_plan_is_wrong_more_often() -> None:
    """What the plans are for."""
    assert false_labels(Plan(), is_share=False, trials=300, seed=6) > 0.1
