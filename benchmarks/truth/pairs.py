"""Promises about two systems that were named beforehand: their difference, gates, reversals, and repeated looks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtr

import qassay
from benchmarks.truth import populations as of
from benchmarks.truth.populations import Drawn, Generator, Simulated
from benchmarks.truth.promises import Promise, cases, power_of_t, within

A, B = "s0", "s1"


def difference_inside(drawn: Drawn, _: Generator) -> float:
    """Does the interval of A - B contain the true difference?"""
    return within(qassay.compare(drawn.matrix, A, B).interval, drawn.difference(A, B))


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


def named_difference_is_found(drawn: Drawn, _: Generator) -> float | None:
    """Have these questions the power that is printed, for the difference that they are said to find?"""
    result = qassay.compare(drawn.matrix, A, B)
    deviation = float((drawn.pool[0] - drawn.pool[1]).std())
    if result.found_with is None or deviation == 0:
        return None
    return power_of_t(result.found_with / deviation, len(drawn.matrix.units)) >= 0.78


def _wrong_at_some_look(drawn: Drawn, numbers: Sequence[int], **plan: Any) -> float:
    """Whether some interval of the first n questions excludes the true difference."""
    truth = drawn.difference(A, B)
    for number in numbers:
        part = replace(drawn.matrix, units=drawn.matrix.units[:number], values=drawn.matrix.values[:, :number])
        if not within(qassay.compare(part, A, B, **plan).interval, truth):
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

PAIRS: tuple[Promise, ...] = (
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
        "pair: these questions find the difference that is named",
        "found with these questions: D or more, with 80% assurance",
        "at least",
        0.8,
        named_difference_is_found,
        (*cases(AHEAD, {60: 0.78, 300: 0.78}), *cases(CLOSE["adhoc8"], {50: 0.78}), *cases(of.GRADED, {40: None})),
    ),
)
