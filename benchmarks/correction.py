"""Corrected scores (METHOD 7): how often their intervals contain the truth, and how many labels a judge is worth.

Populations are real: NQ-301 (12 systems, 301 questions, people's final labels) and TREC RAG 2024 (21 topics, NIST's
nugget decisions). Every simulation draws the same number of new questions, or topics, with replacement; labels some of
them; and asks whether the interval contains the mean of the population (new questions) or of the drawn set (these
questions). Judges are stored ones (gpt-4, BEM), automatic assessors of the project, and people's labels spoilt for one
system. The gain is the number of labels that would give the same interval without the judge, as a multiple.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.assessors import ASSIGNMENTS, NQ, nq301, rag24
from qassay.arrays import Floats, Integers
from qassay.meta.correction.estimates import (
    Estimate,
    Target,
    corrected_mean,
    corrected_share,
    corrected_units,
)
from qassay.tables import Cell, Column, Table, table

SIMULATIONS = 1000
SIZES = (20, 30, 60, 100)
PER_TOPIC = (1, 2, 4)
SEED = 11
NOMINAL = 0.95
# Synthetic judges: how often they say right of a right answer, and wrong of a wrong one.
JUDGES = {"good": (0.92, 0.9), "fair": (0.8, 0.75), "useless": (0.6, 0.4)}
SHARES = (0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99)


@dataclass(frozen=True, eq=False)
class Covered:
    """Whether intervals contain the truth, simulations x systems (or pairs); the gain over labels without a judge."""

    name: str
    labels: int
    target: Target
    covered: Floats
    gain: float
    # How often people give the rarer verdict, in the labels that are expected of the system for which it is rarest.
    rarer: float | None = None

    @property
    def share(self) -> float:
        """The share of intervals that contain the truth."""
        return float(self.covered.mean())

    @property
    def error(self) -> float:
        """Its Monte-Carlo error, simulation by simulation."""
        rows = self.covered.mean(axis=1)
        return float(rows.std(ddof=1) / np.sqrt(len(rows)))


def correction() -> list[Table]:
    """Coverage and gain; real data only where they are there."""
    tables = [_shown("Corrected scores, synthetic systems and judges", synthetic(SIMULATIONS))]
    if NQ.exists():
        tables.append(_shown("Corrected scores, NQ-301", real_scores(SIMULATIONS)))
        tables.append(_shown("Corrected differences of all pairs, NQ-301", real_differences(SIMULATIONS // 4)))
        tables.append(_shown("Corrected graded scores, NQ-301 (mean of two systems)", graded_scores(SIMULATIONS)))
    if ASSIGNMENTS.exists():
        tables.append(_shown("Corrected nugget scores by topic, TREC RAG 2024", topics(SIMULATIONS // 4)))
    return tables


def _shown(title: str, cases: Iterator[Covered]) -> Table:
    columns: list[Column | str] = ["judge", "target", Column("labels"), Column("coverage", ".3f")]
    columns += [Column("± by chance", ".3f"), Column("rarer verdict", ".1f"), Column("gain", ".2f")]
    rows: list[list[Cell]] = [
        [case.name, case.target, case.labels, case.share, case.error, case.rarer, case.gain] for case in cases
    ]
    note = f"Nominal {NOMINAL}. Rarer verdict: how often people are expected to give it, for the most one-sided system."
    return table(title, columns, rows, [note, "Gain: labels without the judge for the same width, as a multiple."])


# ---- scores ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Judged:
    """Systems x questions by people and by a judge: the population that questions are drawn from."""

    people: Floats
    judge: Floats


def simulate(
    name: str,
    population: Judged,
    labels: int,
    target: Target,
    simulations: int,
    *,
    questions: int,
    estimate: Callable[[Floats, Floats, Floats, Target], Estimate],
) -> Covered:
    """Draw questions, label some, correct every system, and check whether the interval contains the truth."""
    rng = np.random.default_rng([SEED, labels, questions, len(population.people)])
    systems, size = population.people.shape
    covered = np.zeros((simulations, systems))
    squares = np.zeros((2, systems))
    for number in range(simulations):
        drawn = rng.integers(size, size=questions)
        people, judge = population.people[:, drawn], population.judge[:, drawn]
        truth = (population.people if target == "new" else people).mean(axis=1)
        for system in range(systems):
            own = people[system, :labels]
            corrected = estimate(own, judge[system, :labels], judge[system], target)
            alone = estimate(own, np.zeros(labels), np.zeros(questions), target)
            covered[number, system] = _within(corrected, float(truth[system]))
            squares[:, system] += _square(alone), _square(corrected)
    gain = _gain(squares.sum(axis=1), labels, questions, target)
    right = population.people.mean(axis=1)
    is_share = bool(np.isin(population.people, (0.0, 1.0)).all())
    return Covered(
        name, labels, target, covered, gain, labels * float(np.minimum(right, 1 - right).min()) if is_share else None
    )


def _within(corrected: Estimate, truth: float) -> bool:
    return corrected.interval is not None and corrected.interval[0] - 1e-12 <= truth <= corrected.interval[1] + 1e-12


def _square(corrected: Estimate) -> float:
    return (corrected.half_width or 0.0) ** 2


def _gain(squares: Floats, labels: int, questions: int, target: Target) -> float:
    """n'/n, where n' labels without the judge have the half-width that n have with it."""
    alone, judged = squares
    if target == "new":
        return float(alone / judged)
    return float(1 / (judged / alone * (1 / labels - 1 / questions) + 1 / questions) / labels)


def share_estimate(people: Floats, judge: Floats, judge_all: Floats, target: Target) -> Estimate:
    """Right or wrong."""
    return corrected_share(people, judge, judge_all, target=target)


def mean_estimate(people: Floats, judge: Floats, judge_all: Floats, target: Target) -> Estimate:
    """Graded scores from 0 to 1."""
    return corrected_mean(people, judge, judge_all, scale=(0.0, 1.0), target=target)


def difference_estimate(people: Floats, judge: Floats, judge_all: Floats, target: Target) -> Estimate:
    """Differences of two systems."""
    return corrected_mean(people, judge, judge_all, target=target)


def real_scores(simulations: int) -> Iterator[Covered]:
    """The twelve systems under stored judges and under people's labels spoilt for one system."""
    for name, population in judges().items():
        for target in ("new", "these"):
            for labels in SIZES:
                yield simulate(name, population, labels, target, simulations, questions=301, estimate=share_estimate)


def real_differences(simulations: int) -> Iterator[Covered]:
    """All pairs of the twelve systems: the sample is the same for all."""
    for name, population in judges().items():
        first, second = np.triu_indices(len(population.people), 1)
        pairs = Judged(
            population.people[first] - population.people[second], population.judge[first] - population.judge[second]
        )
        for labels in SIZES:
            yield simulate(name, pairs, labels, "new", simulations, questions=301, estimate=difference_estimate)


def graded_scores(simulations: int) -> Iterator[Covered]:
    """Scores of 0, 0.5 and 1: the mean of two neighbouring systems, by people and by the judge."""
    for name, population in judges().items():
        halves = Judged(
            (population.people[:-1] + population.people[1:]) / 2, (population.judge[:-1] + population.judge[1:]) / 2
        )
        for labels in SIZES:
            yield simulate(name, halves, labels, "new", simulations, questions=301, estimate=mean_estimate)


def synthetic(simulations: int) -> Iterator[Covered]:
    """Systems of known quality under judges of known quality, 300 questions."""
    rng = np.random.default_rng(SEED)
    size = 100_000
    for share in SHARES:
        for name, (sensitivity, specificity) in JUDGES.items():
            people = np.zeros((1, size))
            people[0, : round(share * size)] = 1.0
            called = rng.random(size) < np.where(people[0] > 0, sensitivity, 1 - specificity)
            population = Judged(people, called[None].astype(np.float64))
            for labels in SIZES:
                yield simulate(
                    f"{name}, score {share:g}",
                    population,
                    labels,
                    "new",
                    simulations,
                    questions=300,
                    estimate=share_estimate,
                )


def judges() -> dict[str, Judged]:
    """NQ-301 by people and by each judge; unlabelled answers count as wrong."""
    import qassay

    evaluation = qassay.open(nq301("nq301-correction"))
    scores = {name: evaluation.score(name, unjudged="wrong") for name in ("adjudicated", "gpt-4", "BEM")}
    people = scores["adjudicated"].units.values
    judged = {name: Judged(people, scores[name].units.values) for name in ("gpt-4", "BEM")}
    rng = np.random.default_rng(SEED)
    slips = np.where(rng.random(people.shape) < 0.08, 1 - people, people)
    favoured = slips.copy()
    favoured[0] = np.where(rng.random(people.shape[1]) < 0.6, 1.0, slips[0])
    judged["8% errors, favours one system"] = Judged(people, favoured)
    judged["no errors"] = Judged(people, people.copy())
    judged["always right"] = Judged(people, np.ones_like(people))
    return judged


# ---- nuggets --------------------------------------------------------------------------------------------------------


def topics(simulations: int) -> Iterator[Covered]:
    """Share of nuggets with full support, by topic: some nuggets of every topic are labelled, the same for all runs."""
    decided = decisions()
    people = decided.pop("adjudicated")
    for name, judge in decided.items():
        for labels in PER_TOPIC:
            yield _topics(name, people, judge, labels, simulations)


def decisions() -> dict[str, list[Floats]]:
    """For people and for each judge, one table of runs x nuggets per topic; the runs that answered every topic."""
    import qassay

    folder = rag24("rag24-correction")
    for name in ("overlap", "learned"):
        qassay.judge(qassay.open(folder), name)
    evaluation = qassay.open(folder)
    tables: dict[str, dict[tuple[str, str, str], float]] = {}
    for name in ("adjudicated", "overlap", "learned"):
        rows = evaluation.judgment_set(name).kind("support").iter_rows(named=True)
        tables[name] = {(row["question"], row["run"], row["nugget"]): float(row["support"] == "full") for row in rows}
    subjects = sorted(set.intersection(*(set(own) for own in tables.values())))
    by_topic: dict[str, dict[str, set[str]]] = {}
    for question, run, nugget in subjects:
        by_topic.setdefault(question, {}).setdefault(nugget, set()).add(run)
    whole = set.intersection(*(runs for nuggets in by_topic.values() for runs in nuggets.values()))
    return {
        name: [
            np.array([[own[question, run, nugget] for nugget in sorted(nuggets)] for run in sorted(whole)])
            for question, nuggets in by_topic.items()
        ]
        for name, own in tables.items()
    }


def _topics(name: str, people: Sequence[Floats], judge: Sequence[Floats], labels: int, simulations: int) -> Covered:
    rng = np.random.default_rng([SEED, labels])
    runs, count = len(people[0]), len(people)
    truth = np.mean([topic.mean(axis=1) for topic in people], axis=0)
    covered, squares = np.zeros((simulations, runs)), np.zeros(2)
    for number in range(simulations):
        means = np.zeros((3, count, runs))
        for place, topic in enumerate(rng.integers(count, size=count)):
            chosen: Integers = rng.permutation(people[topic].shape[1])[:labels]
            means[:, place] = (
                people[topic][:, chosen].mean(axis=1),
                judge[topic][:, chosen].mean(axis=1),
                judge[topic].mean(axis=1),
            )
        for run in range(runs):
            own = means[:, :, run]
            corrected = corrected_units(own[0], own[1], own[2], labels=labels * count)
            alone = corrected_units(own[0], np.zeros(count), np.zeros(count), labels=labels * count)
            covered[number, run] = _within(corrected, float(truth[run]))
            squares += _square(alone), _square(corrected)
    gain = float(squares[0] / squares[1])
    return Covered(f"{name}, {labels} per topic", labels * count, "new", covered, gain)
