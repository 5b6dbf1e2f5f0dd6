"""How often the intervals of scores, of differences and of agreement contain the truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.coverage.populations import SERIES_LENGTH, Kind, Population
from qassay.arrays import Floats
from qassay.matrix import ScoreMatrix
from qassay.meta.agreement import Agreement, agreement
from qassay.meta.blocks import blocks
from qassay.meta.flips import flip_test
from qassay.meta.intervals import score_intervals
from qassay.meta.significance import compare_all
from qassay.meta.significance.methods import Method
from qassay.meta.simulate import Scores

FLIPS = 2000
EXCHANGES = 2000
RESAMPLES = 1000

# Units of the set that stands for the population where a score is not a mean.
LARGE = 400_000

# The labels of answers, how often they are true, and how often an assessor gives another one.
LABELS = ("W", "R", "U", "X")
TRUE_SHARES = (0.6, 0.3, 0.05, 0.05)
SLIPS = 0.15


@dataclass(frozen=True, eq=False)
class Coverage:
    """Whether the interval contains the truth, per simulation; `at_least` where it promises no more than that."""

    name: str
    covered: Floats
    at_least: bool = False

    @property
    def share(self) -> float:
        """The share of intervals that contain the truth."""
        return float(self.covered.mean())

    @property
    def error(self) -> float:
        """Its Monte-Carlo error; rows may be whole families of intervals."""
        rows = self.covered.reshape(len(self.covered), -1).mean(axis=1)
        return float(rows.std(ddof=1) / np.sqrt(len(rows)))


def interval_coverages(simulations: int, seed: int) -> Iterator[Coverage]:
    """Every kind of interval but those of error rates."""
    yield from score_coverages(simulations, seed)
    yield from difference_coverages(simulations, seed)
    yield from simultaneous_coverages(simulations, seed)
    yield from agreement_coverages(simulations, seed)


def _within(low: float | None, high: float | None, truth: float) -> bool:
    return low is not None and high is not None and low <= truth <= high


def _one_run(scores: Scores, units: int, *, kind: Kind = "mean") -> Population:
    return Population(scores, 1, units, means="equal", kind=kind)


def score_coverages(simulations: int, seed: int) -> Iterator[Coverage]:
    """The score of one run: BCa over units and over series, and Wilson's interval."""
    graded: tuple[Scores, ...] = ("normal", "zero-inflated")
    for scores in graded:
        for units in (30, 64, 200):
            yield _means(f"score, BCa, {scores}, {units} units", _one_run(scores, units), simulations, seed)
    for units in (30, 64, 150, 300):
        yield _proportions(units, simulations, seed)
    for units in (60, 150):
        name = f"score, BCa over {units // SERIES_LENGTH} series, {units} units"
        yield _means(name, _one_run("normal", units, kind="series"), simulations, seed)
    for units in (64, 200):
        population = _one_run("binary", units, kind="confidence")
        truth = float(replace(population, units=LARGE).matrix(seed).scores()[0])
        yield _each(f"score, BCa, confidence-weighted, {units} units", population, truth, simulations, seed)
    for units in (60, 120):
        population = _one_run("zero-inflated", units, kind="types")
        yield _each(f"score, BCa, type-weighted, {units} units", population, 0.3, simulations, seed)


def _means(name: str, population: Population, simulations: int, seed: int) -> Coverage:
    """Rows of one matrix stand for simulated test sets: all are resampled alike, which changes no coverage."""
    values = population.draw(seed, simulations)[0][:, 0]
    names = tuple(map(str, range(simulations)))
    intervals = score_intervals(replace(population.matrix(seed), runs=names, values=values), seed=seed)
    return Coverage(
        name, np.array([_within(*limits, 0.3) for limits in zip(intervals.low, intervals.high, strict=True)])
    )


def _proportions(units: int, simulations: int, seed: int) -> Coverage:
    """True shares from 0.1 to 0.9: at a single one, coverage depends on how the few possible counts happen to lie."""
    rng = np.random.default_rng([seed, units])
    true = rng.uniform(0.1, 0.9, simulations)
    values = (rng.random((simulations, units)) < true[:, None]).astype(np.float64)
    names = tuple(map(str, range(simulations)))
    intervals = score_intervals(ScoreMatrix(names, tuple(map(str, range(units))), values, denominator=1), seed=seed)
    limits = zip(intervals.low, intervals.high, true.tolist(), strict=True)
    method = " and ".join(sorted(set(intervals.methods)))
    return Coverage(f"share, {method}, {units} questions", np.array([_within(*three) for three in limits]))


def _each(name: str, population: Population, truth: float, simulations: int, seed: int) -> Coverage:
    covered = []
    for number in range(1, simulations + 1):
        intervals = score_intervals(population.matrix(seed + number), resamples=RESAMPLES, seed=number)
        covered.append(_within(intervals.low[0], intervals.high[0], truth))
    return Coverage(name, np.array(covered))


def difference_coverages(simulations: int, seed: int) -> Iterator[Coverage]:
    """The difference of two runs, a tenth in truth, by sign flips."""
    two = Population("normal", 2, 30, means="two groups", wide=0.05)
    for population in (
        two,
        replace(two, scores="zero-inflated"),
        replace(two, scores="zero-inflated", units=64),
        replace(two, scores="binary", units=64),
        replace(two, scores="binary", units=200),
        replace(two, units=60, kind="series"),
        replace(two, units=150, kind="series"),
        replace(two, scores="binary", units=64, kind="confidence"),
        replace(two, scores="zero-inflated", units=60, kind="types"),
        replace(two, units=60, kind="types", wide=0.2),
    ):
        low, high = population.true_means().tolist()
        if population.kind == "confidence":
            low, high = replace(population, units=LARGE).matrix(seed).scores().tolist()
        covered = []
        for number in range(1, simulations + 1):
            pair = population.matrix(seed + number)
            test = flip_test(blocks(pair.select(pair.runs[::-1])), flips=FLIPS, seed=number)
            covered.append(_within(test.low, test.high, high - low))
        more = ", a difference by type" if population.wide > 0.1 else ""
        yield Coverage(f"difference, {population.name.split(', true')[0]}{more}", np.array(covered))


def simultaneous_coverages(simulations: int, seed: int) -> Iterator[Coverage]:
    """All differences of several runs at once.

    Exchanging runs at random takes their true differences for chance: the more runs differ, the wider the line.
    """
    methods: tuple[Method, ...] = ("tukey", "randomised-tukey")
    for method in methods:
        for population in (
            Population("normal", 6, 40),
            Population("zero-inflated", 12, 60),
            Population("normal", 6, 60, kind="types"),
        ):
            true = dict(zip(population.matrix(seed).runs, population.true_means().tolist(), strict=True))
            covered = []
            for number in range(1, simulations + 1):
                matrix = population.matrix(seed + number)
                comparisons = compare_all(matrix, method=method, permutations=EXCHANGES, seed=number)
                covered.append(
                    all(
                        pair.interval is not None and _within(*pair.interval, true[pair.a] - true[pair.b])
                        for pair in comparisons.pairs()
                    )
                )
            name = f"all differences, {method}, {population.name}"
            yield Coverage(name, np.array(covered), at_least=method == "randomised-tukey")


def agreement_coverages(simulations: int, seed: int) -> Iterator[Coverage]:
    """Agreement of two and of three assessors who slip now and then; the truth is that of very many items."""
    for assessors, items in ((2, 100), (2, 400), (3, 100), (3, 400)):
        truth = _statistics(agreement(_judged(seed, assessors, LARGE), resamples=0))
        covered: dict[str, list[bool]] = {}
        for number in range(1, simulations + 1):
            study = agreement(_judged(seed + number, assessors, items), resamples=RESAMPLES, seed=number)
            for name, limits in _intervals(study).items():
                covered.setdefault(name, []).append(limits is not None and _within(*limits, truth[name]))
        for name, each in covered.items():
            yield Coverage(f"{name}, {assessors} assessors, {items} items", np.array(each))


def _judged(seed: int, assessors: int, items: int) -> dict[str, list[str]]:
    rng = np.random.default_rng([seed, assessors, items])
    true = rng.choice(len(LABELS), items, p=TRUE_SHARES)
    names = np.array(LABELS)
    labels = {}
    for number in range(assessors):
        slips = rng.random(items) < SLIPS
        labels[f"assessor {number}"] = names[np.where(slips, rng.choice(len(LABELS), items), true)].tolist()
    return labels


def _statistics(study: Agreement) -> dict[str, float]:
    """The statistics of all sets, and Cohen's kappa of the first two."""
    values = {name: getattr(study, name) for name in study.intervals}
    return {**values, "cohen_kappa": study.pairs[0].cohen_kappa}


def _intervals(study: Agreement) -> dict[str, tuple[float, float] | None]:
    return {**study.intervals, "cohen_kappa": study.pairs[0].intervals["cohen_kappa"]}
