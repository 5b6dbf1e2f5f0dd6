"""Promises about judgments: agreement, people, programs that judge, scores with intervals, corrected scores."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.stats import kendalltau

import qassay
from benchmarks.truth.judged import (
    MANY,
    PROGRAM,
    WORTH,
    Judged,
    Judging,
    Judgments,
    as_judgments,
    by_assessors,
    even_judge,
    hard_questions,
    two_judges,
    write_set,
)
from benchmarks.truth.populations import Generator, matrix_of
from benchmarks.truth.promises import Promise, cases

RESAMPLES = 500


def _within(interval: tuple[float, float] | None, truth: float) -> bool | None:
    return None if interval is None else interval[0] - 1e-9 <= truth <= interval[1] + 1e-9


# ---- agreement ------------------------------------------------------------------------------------------------------


@cache
def true_kappa(judged: Judgments) -> float:
    """Cohen's kappa of the first two sets on many questions."""
    first, second = (labels > 0 for labels in list(judged.sets.values())[:2])
    same = float((first == second).mean())
    chance = first.mean() * second.mean() + (1 - first.mean()) * (1 - second.mean())
    return float((same - chance) / (1 - chance))


def kappa_inside(judged: Judged, _: Generator) -> bool | None:
    """Does the interval of kappa contain that of many questions?"""
    study = qassay.agreement(judged.open(), resamples=RESAMPLES)
    return _within(study[0].pairs[0].intervals["cohen_kappa"], true_kappa(judged.many))


def own_agreement_inside(judged: Judged, _: Generator) -> float | None:
    """How many of the people's intervals contain how far anybody agrees with the others?"""
    sets = list(judged.many.sets.values())
    truth = float(np.mean([sets[0] == other for other in sets[1:]]))
    inside = [_within(person.interval, truth) for person in qassay.people(judged.open(), resamples=0)[0].people]
    known = [one for one in inside if one is not None]
    return float(np.mean(known)) if known else None


def somebody_is_out_of_line(judged: Judged, _: Generator) -> bool:
    """Is anybody of equal people called out of line?"""
    return bool(qassay.people(judged.open(), resamples=0)[0].out_of_line)


# ---- a program ------------------------------------------------------------------------------------------------------


def favours_somebody(judged: Judged, _: Generator) -> bool | None:
    """Is a program that errs alike for all systems said to favour one?"""
    uneven = qassay.trust(judged.open(), assessor=PROGRAM, against="first", resamples=0).uneven
    return None if uneven is None else uneven.shifted > 0


def difference_among_assessors(judged: Judged, _: Generator) -> bool | None:
    """Does the interval for other assessors like these contain the difference of two equal systems, which is 0?"""
    result = qassay.compare(judged.open(), "s0", "s1", over=list(judged.drawn.sets), people="new")
    return _within(result.interval, 0.0)


# ---- scores ---------------------------------------------------------------------------------------------------------


def leader_is_bounded(judged: Judged, _: Generator) -> bool | None:
    """Is the true score of the leader above the lower limit that is printed for it?"""
    board = qassay.leaderboard(judged.open())
    first = board.as_json()["runs"][0]
    if first["interval"] is None:
        return None
    truth = WORTH[judged.many.sets["first"]].mean(axis=1)
    return bool(first["interval"][0] <= truth[int(first["run"][1:])] + 1e-9)


# ---- rankings under two judges --------------------------------------------------------------------------------------


def new_tau_inside(judged: Judged, rng: Generator) -> bool | None:
    """Does the range contain the tau of as many new questions?"""
    sets = judged.drawn.sets
    result = qassay.stability({name: matrix_of(WORTH[labels]) for name, labels in sets.items()})
    (measure,) = result.measures.values()
    new = rng.integers(MANY, size=next(iter(sets.values())).shape[1])
    first, second = (WORTH[labels[:, new]].mean(axis=1).round(9) for labels in judged.many.sets.values())
    return _within(measure.tau_next[0][1], float(kendalltau(first, second).statistic))


# ---- corrected scores -----------------------------------------------------------------------------------------------


def corrected_inside(judged: Judged, rng: Generator) -> bool | None:
    """Does the interval of a corrected difference contain that of new questions, once all of the sample is labelled?"""
    return _corrected(judged, rng, 60, (60,))


def corrected_at_every_look(judged: Judged, rng: Generator) -> bool | None:
    """Does it do so at every look, while the labels are given?"""
    return _corrected(judged, rng, 100, (20, 40, 60, 80, 100))


def _corrected(judged: Judged, rng: Generator, size: int, looks: tuple[int, ...]) -> bool | None:
    """Whether all intervals of the difference contain the truth, at these numbers of labels."""
    drawn = qassay.sample(judged.open(), size, PROGRAM, seed=int(rng.integers(1_000_000)))
    order = [draw.question for draw in drawn.draws]
    many = WORTH[judged.many.sets["first"]].mean(axis=1)
    inside = []
    for labels in looks:
        write_set(judged.place, "first", judged.drawn, frozenset(order[:labels]))
        result = qassay.compare(judged.open(), "s0", "s1", key=PROGRAM, correct_with="first")
        inside.append(_within(result.interval, float(many[0] - many[1])))
    known = [one for one in inside if one is not None]
    return all(known) if known else None


CROWD = {
    size: Judging(name=f"{size} equal people, 3 judge 5 answers of a question", draw=hard_questions(5, 3, crowd=size))
    for size in (6, 20)
}
TWO_JUDGES = {
    answers: Judging(name=f"2 assessors, {answers} answers a question", draw=hard_questions(answers, 2))
    for answers in (4, 10)
}
LEADERS = {
    (systems, deviation): Judging(
        name=f"{systems} {'equal systems' if not deviation else f'systems (sd {deviation})'}, 0/1",
        draw=as_judgments(systems, deviation),
    )
    for systems, deviation in ((3, 0.0), (10, 0.0), (30, 0.0), (10, 0.08))
}
EVEN = {systems: Judging(name=f"even judge of {systems} systems", draw=even_judge(systems)) for systems in (3, 8)}
TWICE = {
    systems: Judging(name=f"{systems} systems (sd .08) under two judges", draw=two_judges(systems, 0.08))
    for systems in (5, 12, 30)
}
PANEL = {
    size: Judging(name=f"2 equal systems, the same {size} assessors", draw=by_assessors(size)) for size in (2, 3, 5)
}
APART = {
    size: Judging(name=f"own: 2 equal systems, {size} assessors far apart", draw=by_assessors(size, bias=0.3), own=True)
    for size in (2, 3)
}
CORRECTED = Judging(name="2 systems, a program errs in both directions", draw=even_judge(2), hidden=("first",))

JUDGES: tuple[Promise, ...] = (
    Promise(
        "leader: its lower limit",
        "lower limit of the leader",
        "at least",
        0.95,
        leader_is_bounded,
        (
            *cases(LEADERS[3, 0.0], {50: 0.97}),
            *cases(LEADERS[10, 0.0], {50: 0.99}),
            *cases(LEADERS[30, 0.0], {50: 0.98}),
            *cases(LEADERS[10, 0.08], {50: 0.98}),
        ),
        share=0.5,
    ),
    Promise(
        "agreement: the interval of kappa",
        "interval of kappa, 95%",
        "at least",
        0.95,
        kappa_inside,
        (*cases(TWO_JUDGES[4], {20: 0.94, 50: 0.95}), *cases(TWO_JUDGES[10], {50: 0.93})),
        share=0.5,
    ),
    Promise(
        "people: the interval of a person's agreement",
        "interval of a person's agreement, 95%",
        "at least",
        0.95,
        own_agreement_inside,
        (*cases(CROWD[6], {40: 0.94, 120: 0.94}),),
        share=0.5,
    ),
    Promise(
        "people: somebody equal is out of line",
        "out of line",
        "at most",
        0.05,
        somebody_is_out_of_line,
        (*cases(CROWD[6], {40: 0.07, 120: 0.07}), *cases(CROWD[20], {100: 0.06})),
        share=0.5,
    ),
    Promise(
        "stability: the range contains tau with new questions",
        "with n new questions tau would lie between A and B in 19 of 20 cases",
        "at least",
        0.95,
        new_tau_inside,
        tuple(
            case
            for systems, low in ((5, 0.9), (12, 0.9), (30, 0.9))
            for case in cases(TWICE[systems], {60: low, 200: low})
        ),
        share=0.5,
    ),
    Promise(
        "trust: a program that errs alike is said to favour somebody",
        "its errors are uneven: it favours X over Y",
        "at most",
        0.05,
        favours_somebody,
        (*cases(EVEN[3], {60: 0.04, 200: 0.04}), *cases(EVEN[8], {60: 0.04, 200: 0.04})),
        share=0.5,
    ),
    Promise(
        "assessors: the interval for others like them",
        "for other assessors like them A - B lies between",
        "at least",
        0.95,
        difference_among_assessors,
        (
            *(case for size in (2, 3, 5) for case in cases(PANEL[size], {100: 0.93})),
            # Two who happen to agree hide how far assessors differ: a known fault.
            *cases(APART[2], {100: 0.88}),
            *cases(APART[3], {100: 0.92}),
        ),
        share=0.5,
    ),
    Promise(
        "corrected: the interval contains the difference, all labels given",
        "corrected difference, 95%",
        "at least",
        0.95,
        corrected_inside,
        (*cases(CORRECTED, {300: 0.94}),),
        share=0.5,
    ),
    Promise(
        "corrected: it does so at every look, five of them",
        "corrected difference, looked at while labels are given",
        "at least",
        0.95,
        corrected_at_every_look,
        (*cases(CORRECTED, {300: 0.94}),),
        share=0.2,
    ),
)
