"""Scores of a judge corrected by people: the formulas of METHOD 7, computed a second time in plain Python."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from qassay.errors import UsageError
from qassay.meta.correction.estimates import (
    FEWEST_QUESTIONS,
    FEWEST_UNITS,
    Estimate,
    corrected_mean,
    corrected_share,
    corrected_units,
    cross_fitted,
    labels_needed,
    units_needed,
)
from qassay.meta.intervals import wilson

Z = statistics.NormalDist().inv_cdf(0.975)


# ---- a second computation, number by number -------------------------------------------------------------------------


def plain_wilson(share: float, number: float) -> tuple[float, float]:
    centre = share + Z**2 / (2 * number)
    spread = Z * math.sqrt(share * (1 - share) / number + Z**2 / (4 * number**2))
    return (centre - spread) / (1 + Z**2 / number), (centre + spread) / (1 + Z**2 / number)


def plain_share(people, judge, judge_all, *, new: bool) -> tuple[float, float, float]:
    size, total = len(judge_all), 0.0
    below = above = 0.0
    for verdict in (0, 1):
        number = sum(1 for label in judge_all if label == verdict)
        if not number:
            continue
        labels = [label for label, given in zip(people, judge, strict=True) if given == verdict]
        rate = sum(labels) / len(labels) if labels else sum(people) / len(people)
        low, high = 0.0, 1.0
        if len(labels) == number:
            low = high = rate
        elif labels:
            low, high = plain_wilson(rate, len(labels) / (1 - len(labels) / number))
        total += number / size * rate
        below += (number / size * (rate - low)) ** 2
        above += (number / size * (high - rate)) ** 2
    if new:
        low, high = plain_wilson(total, size)
        below += (total - low) ** 2
        above += (high - total) ** 2
    return total, total - math.sqrt(below), total + math.sqrt(above)


def plain_difference(people, judge, judge_all, *, new: bool) -> tuple[float, float, float]:
    n, size = len(people), len(judge_all)
    z = []
    for place in range(n):
        others = [other for other in range(n) if other % 5 != place % 5]
        d, f = [people[other] for other in others], [judge[other] for other in others]
        spread = sum((value - statistics.fmean(f)) ** 2 for value in f)
        both = sum((a - statistics.fmean(d)) * (b - statistics.fmean(f)) for a, b in zip(d, f, strict=True))
        weight = min(1.0, max(0.0, both / spread)) if spread else 0.0
        z.append(people[place] - weight * (judge[place] - statistics.fmean(judge_all)))
    m = sum(z) / (n + 1)
    square = ((sum(value**2 for value in z) + 1) / (n + 1) - m**2) * (n + 1) / n
    v = (1 - n / size) * square / (n + 1)
    if new:
        mean = sum(people) / (n + 1)
        v += ((sum(value**2 for value in people) + 1) / (n + 1) - mean**2) * (n + 1) / n / size
    half = student.ppf(0.975, n) * math.sqrt(v)
    return statistics.fmean(z), m - half, m + half


def binary(seed: int, size: int, labelled: int, *, share: float = 0.6, agree: float = 0.85):
    rng = np.random.default_rng(seed)
    people = (rng.random(size) < share).astype(float)
    judge = np.where(rng.random(size) < agree, people, 1 - people)
    return people[:labelled], judge[:labelled], judge


@pytest.mark.parametrize("target", ["new", "these"])
@pytest.mark.parametrize("seed", range(6))
def test_a_share_is_that_of_the_second_computation(seed: int, target) -> None:
    people, judge, judge_all = binary(seed, 90 + 10 * seed, 25 + seed)
    estimate = corrected_share(people, judge, judge_all, target=target)
    assert estimate.interval is not None
    value, low, high = plain_share(people.tolist(), judge.tolist(), judge_all.tolist(), new=target == "new")
    assert (estimate.value, *estimate.interval) == pytest.approx((value, max(0, low), min(1, high)), abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_a_difference_is_that_of_the_second_computation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = rng.choice([-1.0, 0.0, 0.0, 0.5, 1.0], 120)
    f = np.clip(d + rng.choice([-1.0, 0.0, 0.0, 0.0, 1.0], 120), -1, 1)
    estimate = corrected_mean(d[:31], f[:31], f)
    assert estimate.interval is not None
    wanted = plain_difference(d[:31].tolist(), f[:31].tolist(), f.tolist(), new=True)
    assert (estimate.value, *estimate.interval) == pytest.approx(wanted, abs=1e-12)


def test_these_questions_leave_out_what_new_ones_add() -> None:
    rng = np.random.default_rng(3)
    d = rng.choice([-1.0, 0.0, 1.0], 200)
    f = np.where(rng.random(200) < 0.8, d, 0.0)
    value, low, high = plain_difference(d[:40].tolist(), f[:40].tolist(), f.tolist(), new=False)
    estimate = corrected_mean(d[:40], f[:40], f, target="these")
    assert estimate.interval is not None
    # The half-width is that of METHOD 7; its centre is drawn to 0 by the part that is not labelled.
    assert estimate.half_width == pytest.approx((high - low) / 2)
    m = (low + high) / 2
    assert sum(estimate.interval) / 2 == pytest.approx(value + (1 - 40 / 200) * (m - value))


# ---- properties -----------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(20, 80), st.integers(0, 200))
def test_a_constant_judge_adds_nothing(seed: int, labelled: int, more: int) -> None:
    people, _, _ = binary(seed, labelled, labelled)
    size = labelled + more
    estimate = corrected_share(people, np.ones(labelled), np.ones(size), target="these")
    effective = math.inf if not more else labelled / (1 - labelled / size)
    assert estimate.interval == pytest.approx(plain_wilson(float(people.mean()), effective))
    assert estimate.value == pytest.approx(float(people.mean()))


def test_without_a_judge_and_with_many_questions_it_is_wilsons_interval() -> None:
    people = np.repeat([1.0, 0.0], [37, 23])
    estimate = corrected_share(people, np.ones(60), np.ones(10_000_000))
    assert estimate.interval == pytest.approx(wilson(37, 60), abs=1e-3)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(20, 60))
def test_a_label_for_every_question_leaves_no_doubt_about_these(seed: int, size: int) -> None:
    people, judge, judge_all = binary(seed, size, size, agree=0.7)
    mean = float(people.mean())
    share = corrected_share(people, judge, judge_all, target="these")
    graded = corrected_mean(people, judge, judge_all, scale=(0.0, 1.0), target="these")
    assert share.interval == pytest.approx((mean, mean))
    assert graded.interval == pytest.approx((mean, mean))
    assert (share.value, graded.value) == pytest.approx((mean, mean))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(20, 80), st.floats(0.05, 0.95))
def test_an_interval_contains_its_estimate_and_lies_within_the_scale(seed: int, labelled: int, share: float) -> None:
    people, judge, judge_all = binary(seed, 150, labelled, share=share)
    for target in ("new", "these"):
        for estimate in (
            corrected_share(people, judge, judge_all, target=target),
            corrected_mean(people, judge, judge_all, scale=(0.0, 1.0), target=target),
            corrected_mean(people, judge, judge_all, target=target),
        ):
            assert estimate.interval is not None
            assert estimate.interval[0] <= estimate.value + 1e-9
            assert estimate.value - 1e-9 <= estimate.interval[1]
            assert -1 <= estimate.interval[0] <= estimate.interval[1] <= 1


def test_a_perfect_judge_narrows_and_a_useless_one_does_not() -> None:
    people, _, _ = binary(1, 300, 300)
    rng = np.random.default_rng(2)
    coin = (rng.random(300) < 0.5).astype(float)
    widths = {
        name: corrected_share(people[:60], judge[:60], judge).half_width
        for name, judge in {"perfect": people, "coin": coin, "constant": np.ones(300)}.items()
    }
    assert widths["perfect"] < 0.7 * widths["constant"]
    assert widths["coin"] == pytest.approx(widths["constant"], rel=0.05)


def test_the_judges_bias_is_taken_out() -> None:
    """A judge that calls half of the wrong answers right; people label 200 of 2,000."""
    rng = np.random.default_rng(5)
    people = (rng.random(2000) < 0.4).astype(float)
    judge = np.where(rng.random(2000) < 0.5, 1.0, people)
    estimate = corrected_share(people[:200], judge[:200], judge, target="these")
    assert estimate.judge > 0.65
    assert estimate.interval is not None
    assert estimate.interval[0] < people.mean() < estimate.interval[1]
    assert estimate.judge > estimate.interval[1]


def test_the_weight_of_a_label_never_comes_from_its_own_fold() -> None:
    people, judge, _ = binary(7, 50, 50)
    changed = people.copy()
    changed[0] = 1 - changed[0]
    before, after = cross_fitted(people, judge), cross_fitted(changed, judge)
    own = np.arange(50) % 5 == 0
    assert (before[own] == after[own]).all()
    assert (before[~own] != after[~own]).all()


def test_a_sample_of_the_differing_questions_counts_the_others_as_equal() -> None:
    """100 of 400 questions differ; all of them are labelled: these 400 questions have the mean difference exactly."""
    rng = np.random.default_rng(0)
    d = rng.choice([-1.0, 1.0, 1.0], 100)
    f = np.where(rng.random(100) < 0.8, d, -d)
    estimate = corrected_mean(d, f, f, target="these", among=400)
    assert estimate.interval == pytest.approx((d.sum() / 400, d.sum() / 400))
    whole = corrected_mean(
        np.concatenate([d, np.zeros(300)]), np.concatenate([f, np.zeros(300)]), np.concatenate([f, np.zeros(300)])
    )
    new = corrected_mean(d, f, f, among=400)
    assert new.value == pytest.approx(whole.value, abs=2e-3)
    assert new.half_width == pytest.approx(whole.half_width, rel=0.05)


def test_few_labels_have_no_interval() -> None:
    people, judge, judge_all = binary(0, 100, 60)
    for number in (FEWEST_QUESTIONS - 1, FEWEST_QUESTIONS):
        for estimate in (
            corrected_share(people[:number], judge[:number], judge_all),
            corrected_mean(people[:number], judge[:number], judge_all),
        ):
            assert (estimate.interval is None) == (number < FEWEST_QUESTIONS)
            assert estimate.value is not None
    for units in (FEWEST_UNITS - 1, FEWEST_UNITS):
        estimate = corrected_units(people[:units], judge[:units], judge_all[:units], labels=units)
        assert (estimate.interval is None) == (units < FEWEST_UNITS)


def test_equal_labels_do_not_close_the_interval() -> None:
    ones = np.ones(60)
    for estimate in (
        corrected_share(ones, ones, np.ones(300)),
        corrected_mean(ones, ones, np.ones(300), scale=(0.0, 1.0)),
        corrected_mean(np.zeros(60), np.zeros(60), np.zeros(300)),
    ):
        assert estimate.half_width > 0.01


@pytest.mark.parametrize("labelled", [0, 101])
def test_sizes_that_cannot_be_are_refused(labelled: int) -> None:
    with pytest.raises(UsageError):
        corrected_share(np.ones(labelled), np.ones(labelled), np.ones(100))


# ---- units ----------------------------------------------------------------------------------------------------------


def test_units_are_those_of_the_second_computation() -> None:
    rng = np.random.default_rng(4)
    people, judge, every = rng.random(21), rng.random(21), rng.random(21)
    estimate = corrected_units(people, judge, every, labels=42)
    z = []
    for unit in range(21):
        others = [other for other in range(21) if other != unit]
        apart = [float(judge[other] - every[other]) for other in others]
        weight = statistics.covariance([float(people[other]) for other in others], apart) / statistics.variance(apart)
        z.append(float(people[unit]) - min(1.0, max(0.0, weight)) * float(judge[unit] - every[unit]))
    half = student.ppf(0.975, 20) * statistics.stdev(z) / math.sqrt(21)
    assert estimate.interval == pytest.approx((statistics.fmean(z) - half, statistics.fmean(z) + half))
    assert (estimate.labels, estimate.population) == (42, 21)


def test_units_whose_decisions_are_all_labelled_need_no_judge() -> None:
    rng = np.random.default_rng(6)
    people, judge = rng.random(30), rng.random(30)
    assert corrected_units(people, judge, judge, labels=300).value == pytest.approx(people.mean())


# ---- planning -------------------------------------------------------------------------------------------------------


def test_labels_needed_is_the_formula() -> None:
    estimate = Estimate(0.6, (0.5, 0.7), 0.65, 60, 301, spread=0.24, left=0.1)
    wanted = 0.1 / (0.06**2 / Z**2 - 0.14 / 301)
    assert labels_needed(estimate, 0.06).labels == math.ceil(wanted)
    assert labels_needed(estimate, 0.06, target="these").labels == math.ceil(0.1 / (0.06**2 / Z**2 + 0.1 / 301))
    few = labels_needed(estimate, 0.02)
    assert (few.labels, few.best) == (None, pytest.approx(Z * math.sqrt(0.24 / 301)))
    with pytest.raises(UsageError):
        labels_needed(estimate, 0)


@pytest.mark.parametrize("target", ["new", "these"])
def test_a_plan_is_kept(target) -> None:
    """With as many labels as the plan says, the interval is as wide as was wanted, near enough."""
    people, judge, judge_all = binary(3, 1000, 1000)
    first = corrected_share(people[:150], judge[:150], judge_all, target=target)
    plan = labels_needed(first, 0.05, target=target)
    assert plan.labels is not None
    second = corrected_share(people[: plan.labels], judge[: plan.labels], judge_all, target=target)
    assert second.half_width == pytest.approx(0.05, rel=0.15)
    # METHOD 7: the variance of the labels, with the finite population, and for new questions that of the questions.
    more = first.spread / 1000 if target == "new" else 0.0
    variance = (1 - plan.labels / 1000) * first.left / plan.labels + more
    assert 1.959964 * np.sqrt(variance) == pytest.approx(0.05, rel=0.01)


def test_units_are_planned_from_a_first_batch() -> None:
    """With the spread of the first batch the planned number gives the wanted half-width, and one fewer does not."""
    people, judge = np.random.default_rng(3).uniform(size=(2, 30))
    first = corrected_units(people, judge, judge, labels=60)
    for half_width in (0.2, 0.08, 0.03, 0.01):
        units = units_needed(first, half_width)
        needed = [student.ppf(0.975, n - 1) * np.sqrt(first.left / n) for n in (units - 1, units)]
        assert needed[1] <= half_width
        assert units == FEWEST_UNITS or needed[0] > half_width
    assert units_needed(first, 1e-9) > 1e16
    constant = corrected_units(np.ones(20), np.ones(20), np.ones(20), labels=20)
    assert units_needed(constant, 0.01) == FEWEST_UNITS
    with pytest.raises(UsageError, match="positive"):
        units_needed(first, 0)


# ---- coverage -------------------------------------------------------------------------------------------------------


def test_quick_coverage() -> None:
    """Judges biased for a system, 40 labels of 200 questions; a share of 600 simulations is off by 0.009 by chance."""
    rng = np.random.default_rng(8)
    covered = {"share": 0, "graded": 0, "units": 0, "judge alone": 0}
    for _ in range(600):
        people = (rng.random(200) < 0.6).astype(float)
        judge = np.where(rng.random(200) < 0.35, 1.0, people)
        for name, estimate in (
            ("share", corrected_share(people[:40], judge[:40], judge)),
            ("graded", corrected_mean(people[:40], judge[:40], judge, scale=(0.0, 1.0))),
        ):
            assert estimate.interval is not None
            covered[name] += estimate.interval[0] <= 0.6 <= estimate.interval[1]
        low, high = wilson(int(judge.sum()), 200)
        covered["judge alone"] += low <= 0.6 <= high
        decided = (rng.random((21, 10)) < rng.beta(3, 2, 21)[:, None]).astype(float)
        judged = np.where(rng.random((21, 10)) < 0.8, decided, 1.0)
        units = corrected_units(decided[:, :2].mean(axis=1), judged[:, :2].mean(axis=1), judged.mean(axis=1), labels=42)
        assert units.interval is not None
        covered["units"] += units.interval[0] <= 0.6 <= units.interval[1]
    shares = {name: number / 600 for name, number in covered.items()}
    assert 0.92 < shares["share"] < 0.985
    assert 0.92 < shares["graded"] < 0.985
    assert 0.92 < shares["units"] < 0.985
    assert shares["judge alone"] < 0.2
