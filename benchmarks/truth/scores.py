"""Promises about the scores of several systems: all pairs, ranks, single scores, gaps, numbers of questions."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

import qassay
from benchmarks.truth import populations as of
from benchmarks.truth.populations import Drawn, Generator
from benchmarks.truth.promises import Promise, cases, power_of_t, within
from qassay.arrays import Floats
from qassay.meta.intervals import score_intervals

FLIPS = 2000
# Draws of the study of the papers, and sets of fresh questions behind its expected rates.
TRIALS, SETS = 50, 20_000
CONTROL = "s0"


# ---- all pairs ------------------------------------------------------------------------------------------------------


def some_pair_is_called(drawn: Drawn, _: Generator) -> float:
    """All pairs of equal systems: is any called different?"""
    return bool(qassay.compare_all(drawn.matrix, permutations=FLIPS).is_different.any())


def all_differences_inside(drawn: Drawn, _: Generator) -> float:
    """Do all intervals contain their true difference?"""
    pairs = qassay.compare_all(drawn.matrix, permutations=FLIPS).pairs()
    return all(within(pair.interval, drawn.difference(pair.a, pair.b)) for pair in pairs)


def ranks_inside(drawn: Drawn, _: Generator) -> float:
    """Do all ranges of ranks contain the true rank?"""
    truth = drawn.matrix.direction.oriented(drawn.truth)
    pairs = qassay.compare_all(drawn.matrix, permutations=FLIPS)
    ranges = zip(truth[[drawn.matrix.index(run) for run in pairs.runs]], pairs.rank_ranges, strict=True)
    return all(low <= 1 + (truth > own).sum() and (truth >= own).sum() <= high for own, (low, high) in ranges)


def some_system_differs_from_the_control(drawn: Drawn, _: Generator) -> float:
    """Equal systems against one of them: is any called better or worse?"""
    result = qassay.compare_all(drawn.matrix, control=CONTROL, permutations=FLIPS)
    return any(row.verdict != "cannot tell" for row in result.against)


# ---- single scores, and error rates ---------------------------------------------------------------------------------


def score_inside(drawn: Drawn, _: Generator) -> float:
    """How many of the intervals of scores contain the true one?"""
    intervals = score_intervals(drawn.matrix)
    return float(
        np.mean([within(intervals.interval(run), drawn.truth[drawn.matrix.index(run)]) for run in drawn.matrix.runs])
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


def planned_number_is_enough(drawn: Drawn, _: Generator) -> float | None:
    """Has the number of questions that a pilot gives for a difference of 0.05 the power that it promises?"""
    planned = qassay.plan(drawn.matrix, differences=[0.05])
    (number,) = (row.power for row in planned.differences if row.difference == 0.05)
    if number is None:
        return None
    pairs = combinations(range(len(drawn.pool)), 2)
    variance = float(np.mean([(drawn.pool[a] - drawn.pool[b]).var() for a, b in pairs]))
    return power_of_t(0.05 / math.sqrt(variance), number) >= 0.78


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
