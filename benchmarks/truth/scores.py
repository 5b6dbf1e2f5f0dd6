"""Promises about the scores of systems: single pairs, all pairs, gaps, numbers of questions, repeated looks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtrit

import qassay
from benchmarks.truth import populations as of
from benchmarks.truth.populations import Drawn, Generator, Simulated
from benchmarks.truth.promises import Promise, cases
from qassay.arrays import Floats
from qassay.meta.intervals import score_intervals

FLIPS = 2000
# Draws of the study of the papers, and sets of fresh questions behind its expected rates.
TRIALS, SETS = 50, 20_000
A, B = "s0", "s1"


def _within(interval: tuple[float, float] | None, truth: float) -> bool:
    """Whether an interval contains the truth; where there is none, nothing is said that is wrong."""
    return interval is None or interval[0] - 1e-9 <= truth <= interval[1] + 1e-9


# ---- all pairs ------------------------------------------------------------------------------------------------------


def some_pair_is_called(drawn: Drawn, _: Generator) -> float:
    """All pairs of equal systems: is any called different?"""
    return bool(qassay.compare_all(drawn.matrix, permutations=FLIPS).is_different.any())


def all_differences_inside(drawn: Drawn, _: Generator) -> float:
    """Do all intervals contain their true difference?"""
    pairs = qassay.compare_all(drawn.matrix, permutations=FLIPS).pairs()
    return all(_within(pair.interval, drawn.difference(pair.a, pair.b)) for pair in pairs)


def ranks_inside(drawn: Drawn, _: Generator) -> float:
    """Do all ranges of ranks contain the true rank?"""
    truth = drawn.matrix.direction.oriented(drawn.truth)
    pairs = qassay.compare_all(drawn.matrix, permutations=FLIPS)
    ranges = zip(truth[[drawn.matrix.index(run) for run in pairs.runs]], pairs.rank_ranges, strict=True)
    return all(low <= 1 + (truth > own).sum() and (truth >= own).sum() <= high for own, (low, high) in ranges)


def some_system_differs_from_the_control(drawn: Drawn, _: Generator) -> float:
    """Equal systems against one of them: is any called better or worse?"""
    result = qassay.compare_all(drawn.matrix, control=A, permutations=FLIPS)
    return any(row.verdict != "cannot tell" for row in result.against)


# ---- a pair that was named beforehand -------------------------------------------------------------------------------


def difference_inside(drawn: Drawn, _: Generator) -> float:
    """Does the interval of A - B contain the true difference?"""
    return _within(qassay.compare(drawn.matrix, A, B).interval, drawn.difference(A, B))


def pair_is_called(drawn: Drawn, _: Generator) -> float:
    """Is one of two equal systems called better?"""
    return qassay.compare(drawn.matrix, A, B).verdict != "cannot tell"


def reversal_is_bounded(drawn: Drawn, _: Generator) -> float | None:
    """Do as many new questions put the other system ahead at most as often as is said?"""
    result = qassay.compare(drawn.matrix, A, B)
    said = result.reversal
    deviation = float((drawn.pool[0] - drawn.pool[1]).std())
    if deviation == 0:
        return None
    ahead = math.copysign(1, result.difference) * drawn.difference(A, B)
    return said is None or float(ndtr(-ahead / deviation * math.sqrt(len(drawn.matrix.units)))) <= said + 1e-9


def wrongly_allowed(drawn: Drawn, _: Generator) -> float:
    """Does a gate allow a system that is worse by exactly its margin?"""
    return qassay.compare(drawn.matrix, A, B).gate(-drawn.difference(A, B)) == "ALLOW"


def wrongly_equal(drawn: Drawn, _: Generator) -> float:
    """Are two systems called equal within exactly what they differ by?"""
    within = qassay.compare(drawn.matrix, A, B, equal_within=abs(drawn.difference(A, B))).equal_within
    return within is not None and bool(within["shown"])


# ---- looking again and again ----------------------------------------------------------------------------------------


def _wrong_at_some_look(drawn: Drawn, numbers: Sequence[int], **plan: Any) -> float:
    """Whether some interval of the first so many questions excludes the true difference."""
    truth = drawn.difference(A, B)
    for number in numbers:
        part = replace(drawn.matrix, units=drawn.matrix.units[:number], values=drawn.matrix.values[:, :number])
        if not _within(qassay.compare(part, A, B, **plan).interval, truth):
            return True
    return False


def wrong_while_planned(drawn: Drawn, _: Generator) -> float:
    """Looked at from 20 questions on, ten times, where all of them were planned."""
    size = len(drawn.matrix.units)
    return _wrong_at_some_look(drawn, np.linspace(20, size, 10).astype(int).tolist(), planned=size)


def wrong_in_steps(drawn: Drawn, _: Generator) -> float:
    """Looked at in five planned steps."""
    size = len(drawn.matrix.units)
    return _wrong_at_some_look(drawn, [-(-size * step // 5) for step in range(1, 6)], planned=size, looks=5)


def wrong_at_any_time(drawn: Drawn, _: Generator) -> float:
    """Looked at from 20 questions on, ten times, without a plan."""
    return _wrong_at_some_look(drawn, np.linspace(20, len(drawn.matrix.units), 10).astype(int).tolist(), anytime=True)


# ---- single scores, and error rates ---------------------------------------------------------------------------------


def score_inside(drawn: Drawn, _: Generator) -> float:
    """How many of the intervals of scores contain the true one?"""
    intervals = score_intervals(drawn.matrix)
    return float(
        np.mean([_within(intervals.interval(run), drawn.truth[drawn.matrix.index(run)]) for run in drawn.matrix.runs])
    )


def rates_inside(drawn: Drawn, rng: Generator) -> float | None:
    """How many of the intervals of measured error rates, with half of the questions, contain the expected rate?"""
    half = len(drawn.matrix.units) // 2
    rates, swaps = expected_rates(drawn, half)
    curves = qassay.sensitivity(
        drawn.matrix, sizes=[half], trials=TRIALS, intervals=60, bin_width=0.01, fit=True, seed=int(rng.integers(2**31))
    )
    assert curves.intervals is not None
    low, high = curves.intervals[0].T
    judged = np.isfinite(low) & (swaps * TRIALS >= 3)
    return float(((low <= rates) & (rates <= high))[judged].mean()) if judged.any() else None


_RATES: dict[tuple[int, int], tuple[Floats, Floats]] = {}


def expected_rates(drawn: Drawn, half: int) -> tuple[Floats, Floats]:
    """Error rate and swaps of a trial in each bin of 0.01, from pairs of disjoint sets of fresh questions."""
    known = id(drawn.pool), half
    if known not in _RATES:
        rng = np.random.default_rng(2)
        counts = np.zeros((2, 21))
        one, two = np.triu_indices(len(drawn.pool), 1)
        for _ in range(SETS):
            base, test = (drawn.pool[:, rng.integers(drawn.pool.shape[1], size=half)].mean(axis=1) for _ in "ab")
            first, again = base[one] - base[two], test[one] - test[two]
            bins = np.minimum((np.abs(first) + 1e-9) // 0.01, 20).astype(np.int64)
            swapped = (first * again < 0) & (np.minimum(np.abs(first), np.abs(again)) > 1e-9)
            counts += np.bincount(bins, minlength=21), np.bincount(bins[swapped], minlength=21)
        _RATES[known] = counts[1] / np.maximum(counts[0], 1), counts[1] / SETS
    return _RATES[known]


# ---- gaps, and numbers of questions ---------------------------------------------------------------------------------


def gap_is_printed(drawn: Drawn, _: Generator) -> float:
    """Is a gap called repeatable?"""
    return qassay.sensitivity(drawn.matrix, intervals=0, trials=1).repeatable_difference is not None


def gap_is_reversed(drawn: Drawn, rng: Generator) -> float | None:
    """Of the gaps of this size and more that are seen here, how many do as many new questions reverse?"""
    gap = qassay.sensitivity(drawn.matrix, intervals=0, trials=1).repeatable_difference
    if gap is None:
        return None
    again = drawn.pool[:, rng.integers(drawn.pool.shape[1], size=len(drawn.matrix.units))].mean(axis=1)
    first = drawn.matrix.values.mean(axis=1)
    one, two = np.triu_indices(len(first), 1)
    seen, new = first[one] - first[two], again[one] - again[two]
    large = np.abs(seen) >= gap - 1e-9
    return float((seen[large] * new[large] < 0).mean()) if large.any() else None


def named_difference_is_found(drawn: Drawn, _: Generator) -> float | None:
    """Have these questions the power that is printed, for the difference that they are said to find?"""
    result = qassay.compare(drawn.matrix, A, B)
    deviation = float((drawn.pool[0] - drawn.pool[1]).std())
    if result.found_with is None or deviation == 0:
        return None
    return _power(result.found_with / deviation, len(drawn.matrix.units)) >= 0.78


def _power(effect: float, questions: int) -> float:
    """The power of a t test at 0.05, for a difference in deviations."""
    return float(ndtr(effect * math.sqrt(questions) - stdtrit(questions - 1, 0.975)))


def planned_number_is_enough(drawn: Drawn, _: Generator) -> float | None:
    """Has the number of questions that a pilot gives for a difference of 0.05 the power that it promises?"""
    planned = qassay.plan(drawn.matrix, differences=[0.05])
    (number,) = (row.power for row in planned.differences if row.difference == 0.05)
    if number is None:
        return None
    pairs = combinations(range(len(drawn.pool)), 2)
    variance = float(np.mean([(drawn.pool[a] - drawn.pool[b]).var() for a, b in pairs]))
    return _power(0.05 / math.sqrt(variance), number) >= 0.78


TWO = {
    name: Simulated(name=f"differences: {name}", draw=of.by_difference(differences))
    for name, differences in {
        "one in ten gains": of.one_in_ten,
        "four in five equal": of.four_in_five_equal,
        "lognormal": lambda rng, questions: rng.lognormal(0, 1, questions),
        "exponential": lambda rng, questions: rng.exponential(1, questions),
        "t3 and a half": lambda rng, questions: 0.5 + rng.standard_t(3, questions),
        "t3": lambda rng, questions: rng.standard_t(3, questions),
    }.items()
}
CLOSE = {
    name: of.FromFile(name=f"{name}, two systems within 5 ranks", file=file, choose=of.close_ranks(5))
    for name, file in (("robust04", of.ROBUST04), ("trec06", of.TREC06), ("adhoc8", of.ADHOC8))
}
RATES = {
    rate: Simulated(
        name=f"0/1, two equal systems that differ on {rate:g}", draw=of.right_or_wrong(rate, 0.5), equal=True
    )
    for rate in (0.02, 0.05, 0.2, 0.6)
}
AHEAD = Simulated(name="0/1, differ on 0.2, A ahead on 0.7 of these", draw=of.right_or_wrong(0.2, 0.7))
BEHIND = Simulated(name="0/1, differ on 0.15, A behind on 2/3 of these", draw=of.right_or_wrong(0.15, 1 / 3))
WORSE = Simulated(
    name="own: differences of minus exponential", draw=of.by_difference(lambda rng, n: -rng.exponential(1, n)), own=True
)
NEAR = Simulated(name="0/1, differ on 0.1, A ahead on 3/4 of these", draw=of.right_or_wrong(0.1, 0.75))
TWEAK = Simulated(name="0/1, differ on 0.1, A ahead on 0.55 of these", draw=of.right_or_wrong(0.1, 0.55))

SCORES: tuple[Promise, ...] = (
    Promise(
        "all pairs: an equal pair is called different",
        "different, corrected for all pairs (p adjusted 0.05 or less)",
        "at most",
        0.05,
        some_pair_is_called,
        (
            *cases(of.VARIANTS, {20: 0.03, 100: 0.04, 500: 0.03}),
            *cases(of.MORE_VARIANTS, {20: 0.04, 100: 0.05, 500: 0.04}),
            *cases(of.STEADY, {20: 0.05, 100: 0.06, 500: 0.07}),
            *cases(of.RARE_GAINS, {20: 0.07, 50: 0.08, 100: 0.06}),
            *cases(of.TREC06_EQUAL, {20: 0.08, 50: 0.08, 100: 0.10, 200: 0.06}),
            *cases(of.NQ301_EQUAL, {20: 0.06, 50: 0.05, 200: 0.07}),
            *cases(of.NEIGHBOURS, {20: 0.07, 50: 0.07, 100: 0.07}),
            *cases(of.SERIES, {8: 0.04, 12: 0.05, 20: 0.05, 50: 0.04}),
            *cases(of.REPEATED, {20: 0.07, 50: 0.07, 200: 0.07}),
            *cases(of.GRADED, {20: None, 100: None}),
            *cases(of.FAILURES, {100: None, 400: None}),
            *cases(of.SECONDS, {30: None, 200: None}),
        ),
    ),
    Promise(
        "all pairs: all intervals contain their differences",
        "intervals of all pairs, 95% for all together",
        "at least",
        0.95,
        all_differences_inside,
        (
            *cases(of.NQ301_ALL, {50: 0.92, 200: 0.92}),
            *cases(of.SPREAD, {50: 0.92, 200: 0.92}),
            *cases(of.GRADED, {50: None}),
            *cases(of.SECONDS, {50: None}),
        ),
    ),
    Promise(
        "all pairs: the true ranks are within their ranges",
        "ranks A to B, true for all systems at once",
        "at least",
        0.95,
        ranks_inside,
        (*cases(of.SPREAD, {50: None, 200: None}), *cases(of.NQ301_ALL, {100: None})),
    ),
    Promise(
        "control: an equal system is called different",
        "differs from the control, corrected for all comparisons with it",
        "at most",
        0.05,
        some_system_differs_from_the_control,
        (
            *cases(of.VARIANTS, {60: 0.05, 400: 0.05}),
            *cases(of.STEADY, {60: 0.05}),
            *cases(of.NQ301_EQUAL, {100: 0.05}),
            *cases(of.GRADED, {60: None}),
            *cases(of.SECONDS, {60: None}),
        ),
    ),
    Promise(
        "pair: the interval contains the difference",
        "interval of A - B, 95%",
        "at least",
        0.95,
        difference_inside,
        (
            *cases(TWO["four in five equal"], {20: 0.94, 50: 0.98, 100: 0.98}),
            *cases(TWO["lognormal"], {20: 0.91, 50: 0.96, 100: 0.96}),
            *cases(TWO["one in ten gains"], {20: 0.86, 50: 0.98, 100: 0.99}),
            *cases(TWO["exponential"], {20: 0.95, 50: 0.95}),
            *cases(TWO["t3"], {20: 0.92, 100: 0.92}),
            *cases(CLOSE["adhoc8"], {30: 0.94}),
            *cases(CLOSE["trec06"], {100: 0.94}),
            *cases(AHEAD, {20: 0.93, 60: 0.93, 300: 0.943}),
            *cases(RATES[0.02], {60: 0.938, 300: 0.943}),
            *cases(of.GRADED, {20: None, 60: None}),
            *cases(of.FAILURES, {100: None, 400: None}),
            *cases(of.SECONDS, {30: None, 100: None}),
        ),
    ),
    Promise(
        "pair: one of two equal systems is called better",
        "better or worse (p 0.05 or less)",
        "at most",
        0.05,
        pair_is_called,
        (
            *cases(RATES[0.05], {100: 0.049, 400: 0.049}),
            *cases(RATES[0.2], {60: 0.049, 400: 0.049}),
            *cases(RATES[0.6], {20: 0.049, 150: 0.049}),
            *cases(of.GRADED, {20: None, 100: None}),
            *cases(of.SECONDS, {30: None, 100: None}),
        ),
    ),
    Promise(
        "pair: a gate allows what is worse by its margin",
        "ALLOW (not worse than the margin)",
        "at most",
        0.025,
        wrongly_allowed,
        (*cases(BEHIND, {60: 0.025, 200: 0.025}), *cases(WORSE, {50: None})),
    ),
    Promise(
        "pair: called equal within what they differ by",
        "equal within E",
        "at most",
        0.025,
        wrongly_equal,
        (*cases(NEAR, {400: 0.025, 1500: 0.025}), *cases(TWO["t3 and a half"], {300: None})),
    ),
    Promise(
        "pair: the chance of a reversal is bounded",
        "chance of a reversal, at most",
        "at least",
        0.95,
        reversal_is_bounded,
        (
            *cases(RATES[0.2], {100: 0.954}),
            *cases(TWEAK, {100: 0.947, 400: 0.951}),
            *cases(CLOSE["robust04"], {100: 0.944}),
            *cases(CLOSE["trec06"], {100: 0.955}),
            *cases(CLOSE["adhoc8"], {100: 0.960}),
            *cases(of.GRADED, {100: None}),
        ),
    ),
    *(
        Promise(
            f"looks: an interval is wrong at some look, {name}",
            f"interval of A - B, {name}",
            "at most",
            0.05,
            outcome,
            (
                *cases(RATES[0.2], {100: seen[0], 300: seen[0]}),
                *cases(TWO["exponential"], {200: seen[1]}),
                *cases(of.GRADED, {200: None}),
            ),
        )
        for name, outcome, seen in (
            ("all questions planned", wrong_while_planned, (0.05, 0.06)),
            ("five planned looks", wrong_in_steps, (0.05, 0.05)),
            ("without a plan", wrong_at_any_time, (0.01, 0.02)),
        )
    ),
    Promise(
        "score: the interval contains the true score",
        "interval of a score, 95%",
        "at least",
        0.95,
        score_inside,
        (
            *cases(of.NUGGETS, {25: 0.94, 200: 0.94}),
            *cases(of.SPREAD, {30: 0.94, 150: 0.94}),
            *cases(of.SERIES, {15: 0.93, 40: 0.94}),
            *cases(of.CONFIDENT, {100: 0.94}),
            *cases(of.REPEATED, {60: 0.94}),
            *cases(of.GRADED, {50: None}),
        ),
    ),
    Promise(
        "error rates: the interval contains the expected rate",
        "interval of a measured error rate, 95%",
        "at least",
        0.95,
        rates_inside,
        (*cases(of.SPREAD, {64: 0.93, 200: 0.93}), *cases(of.NUGGETS, {64: 0.86})),
        share=0.5,
    ),
    Promise(
        "gap: one is printed for equal systems",
        "a gap of about G or more keeps its sign in 95 of 100 repetitions",
        "at most",
        0.05,
        gap_is_printed,
        (*cases(of.EQUAL, {100: 0.03, 400: 0.03}), *cases(of.GRADED, {100: None}), *cases(of.FAILURES, {400: None})),
    ),
    Promise(
        "gap: such gaps are reversed, where it is printed",
        "a gap of about G or more keeps its sign in 95 of 100 repetitions",
        "at most",
        0.05,
        gap_is_reversed,
        (
            *cases(of.SIMILAR, {400: 0.05}),
            *cases(of.SPREAD, {100: 0.05, 400: 0.01}),
            *cases(of.NQ301_ALL, {100: 0.10, 400: 0.01}),
        ),
    ),
    Promise(
        "pair: these questions find the difference that is named",
        "found with these questions: D or more, with 80% assurance",
        "at least",
        0.8,
        named_difference_is_found,
        (*cases(AHEAD, {60: 0.78, 300: 0.78}), *cases(CLOSE["adhoc8"], {50: 0.78}), *cases(of.GRADED, {40: None})),
    ),
    Promise(
        "plan: a pilot gives a number that is large enough",
        "four of five pilots give a number of questions that is large enough",
        "at least",
        0.8,
        planned_number_is_enough,
        (*cases(of.SPREAD, {20: 0.81, 60: 0.78}), *cases(of.NQ301_ALL, {100: 0.78}), *cases(of.GRADED, {20: None})),
    ),
)

# Those that a table of one's own can answer, and whether its means are made equal first.
_BY_NAME = {promise.name: promise for promise in SCORES}
OWN_SCORES = (
    (_BY_NAME["all pairs: an equal pair is called different"], True),
    (_BY_NAME["all pairs: all intervals contain their differences"], False),
    (_BY_NAME["gap: one is printed for equal systems"], True),
    (_BY_NAME["gap: such gaps are reversed, where it is printed"], False),
    (_BY_NAME["plan: a pilot gives a number that is large enough"], False),
)
