"""Populations of questions whose truth is known: systems, how evaluations are drawn, and what is true of them."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np

from qassay.arrays import Floats
from qassay.directions import Direction
from qassay.matrix import Repeats, ScoreMatrix
from qassay.summaries import ConfidenceWeighted

Generator: TypeAlias = np.random.Generator
DATA = Path(os.environ.get("QASSAY_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
# Questions that stand for a population that is not a file.
MANY = 100_000


@dataclass(frozen=True, eq=False)
class Drawn:
    """One evaluation, the true scores of its systems, and many questions of its population (systems x questions)."""

    matrix: ScoreMatrix
    truth: Floats
    pool: Floats

    def difference(self, a: str, b: str) -> float:
        """The true difference of two systems."""
        return float(self.truth[self.matrix.index(a)] - self.truth[self.matrix.index(b)])


@dataclass(frozen=True, eq=False, kw_only=True)
class Population:
    """Systems, and how an evaluation of n questions (or series) of them is drawn.

    `equal` says that all true scores are the same. `own` marks the populations that nobody looked at while the method
    was being corrected.
    """

    name: str
    equal: bool = False
    own: bool = False

    @property
    def is_there(self) -> bool:
        """Whether evaluations can be drawn here."""
        return True

    def evaluation(self, rng: Generator, questions: int) -> Drawn:
        """One evaluation."""
        raise NotImplementedError(self.name)

    def known(self, matrix: ScoreMatrix, pool: Floats, truth: Floats) -> Drawn:
        """An evaluation with what is true in its population."""
        return Drawn(matrix, np.full_like(truth, truth.mean()) if self.equal else truth, pool)


@dataclass(frozen=True, eq=False, kw_only=True)
class Simulated(Population):
    """Questions are drawn by a formula."""

    draw: Callable[[Generator, int], ScoreMatrix]

    def evaluation(self, rng: Generator, questions: int) -> Drawn:
        """One evaluation."""
        return self.known(self.draw(rng, questions), many_questions(self), true_scores(self))


@dataclass(frozen=True, eq=False, kw_only=True)
class FromFile(Population):
    """Systems of a real table of scores, all or some of them; questions are drawn with replacement."""

    file: str
    choose: Callable[[Generator, Floats], Floats] = lambda _, values: values

    @property
    def is_there(self) -> bool:
        """Whether the file is there."""
        return path_of(self.file).exists()

    def evaluation(self, rng: Generator, questions: int) -> Drawn:
        """One evaluation of the chosen systems."""
        pool = self.choose(rng, read_values(self.file))
        pool = pool - pool.mean(axis=1, keepdims=True) + pool.mean() if self.equal else pool
        return self.known(matrix_of(pool[:, rng.integers(pool.shape[1], size=questions)]), pool, pool.mean(axis=1))


def matrix_of(values: Floats) -> ScoreMatrix:
    """A matrix of these scores."""
    is_binary = bool(np.isin(values, (0.0, 1.0)).all())
    systems, questions = (
        tuple(f"{name}{number}" for number in range(size)) for name, size in zip("sq", values.shape, strict=True)
    )
    return ScoreMatrix(systems, questions, np.ascontiguousarray(values), denominator=1 if is_binary else None)


@cache
def many_questions(population: Simulated) -> Floats:
    """Many questions of a population."""
    return population.draw(np.random.default_rng(1), MANY).values


@cache
def true_scores(population: Simulated) -> Floats:
    """The scores on many questions."""
    return population.draw(np.random.default_rng(1), MANY).scores()


def path_of(file: str) -> Path:
    """A file of the user, or one of the public data."""
    return Path(file) if Path(file).exists() else DATA / file


@cache
def read_values(file: str) -> Floats:
    """Systems x questions of a wide table; an empty cell is 0."""
    with path_of(file).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    return np.array([[float(cell or 0) for cell in row[1:]] for row in rows[1:]]).T


# ---- systems that are equal -----------------------------------------------------------------------------------------


def redrawn(*rates: float) -> Callable[[Generator, int], ScoreMatrix]:
    """Right or wrong: each system answers like the first of them, but at this rate afresh: 0.05 is a variant."""

    def draw(rng: Generator, questions: int) -> ScoreMatrix:
        ease = rng.beta(1.2, 0.8, questions)
        first = rng.random(questions) < ease
        again = rng.random((len(rates), questions)) < ease
        afresh = rng.random((len(rates), questions)) < np.array(rates)[:, None]
        return matrix_of(np.where(afresh, again, first).astype(np.float64))

    return draw


def steady(rng: Generator, questions: int) -> ScoreMatrix:
    """Eight systems that score nearly the same on every question, and two that get all or nothing."""
    values = np.clip(0.5 + rng.normal(0, 0.05, (10, questions)), 0, 1)
    values[8:] = rng.random((2, questions)) < 0.5
    return matrix_of(values)


def rare_gains(rng: Generator, questions: int) -> ScoreMatrix:
    """Six ordinary systems, and two that lose a little everywhere and gain much on one question in ten."""
    values = 0.5 + rng.normal(0, 0.1, questions) + rng.normal(0, 0.1, (8, questions))
    values[6:] += np.where(rng.random((2, questions)) < 0.1, 0.45, -0.05)
    return matrix_of(values)


def in_series(rng: Generator, series: int) -> ScoreMatrix:
    """Six systems on series of two to eight questions; half of what sets a system apart is common to a series."""
    sizes = rng.integers(2, 9, size=series)
    which = np.repeat(np.arange(series), sizes)
    own = rng.normal(0, 0.2, (6, series))[:, which]
    values = 0.5 + own + rng.normal(0, 0.2, (6, len(which)))
    return replace(matrix_of(values), clusters=tuple(map(str, which)))


def repeated(rng: Generator, questions: int) -> ScoreMatrix:
    """Six systems that ran three times; a repeat shifts all questions of a system a little."""
    ease = rng.normal(0.5, 0.2, (questions, 1))
    drawn = tuple(
        ease + rng.normal(0, 0.02, (1, 3)) + rng.normal(0, 0.15, (questions, 1)) + rng.normal(0, 0.2, (questions, 3))
        for _ in range(6)
    )
    return replace(matrix_of(np.stack([scores.mean(axis=1) for scores in drawn])), repeats=Repeats(drawn))


def rubric(rng: Generator, questions: int) -> ScoreMatrix:
    """Nine systems of two families, graded in quarters: questions are easy or hard, and a family fails together."""
    ease = np.where(rng.random(questions) < 0.5, 1.0, -0.8)
    family = np.repeat(rng.normal(0, 0.6, (2, questions)), [5, 4], axis=0)
    latent = ease + family + rng.normal(0, 0.5, (9, questions))
    return matrix_of(np.digitize(latent, (-1.0, -0.3, 0.4, 1.1)) / 4.0)


def failures(rng: Generator, questions: int) -> ScoreMatrix:
    """Seven systems that fail on two questions in a hundred, now and then on the same ones."""
    hard = rng.random(questions) < 0.03
    fails = rng.random((7, questions)) < np.where(hard, 0.4, 0.008 / 0.97)
    return matrix_of((~fails).astype(np.float64))


def seconds(rng: Generator, questions: int) -> ScoreMatrix:
    """Six systems by the seconds they take, of which fewer are better: long tails, and time-outs at thirty."""
    length = rng.normal(0, 0.5, questions)
    values = np.minimum(np.round(np.exp(0.8 + length + rng.normal(0, 0.7, (6, questions))), 1), 30.0)
    return replace(matrix_of(values), measure="seconds", direction=Direction(higher_is_better=False))


def nugget_scores(rng: Generator, questions: int) -> ScoreMatrix:
    """Five systems whose answers have no nugget on three questions in ten, and else a share like beta(1.5, 2.5)."""
    return matrix_of(np.where(rng.random((5, questions)) < 0.3, 0.0, rng.beta(1.5, 2.5, (5, questions))))


def by_confidence(rng: Generator, questions: int) -> ScoreMatrix:
    """Two systems that order their answers, right ones a deviation more confident: confidence-weighted scores."""
    right = (rng.random((2, questions)) < 0.6).astype(np.float64)
    order = np.argsort(-(right + rng.normal(size=right.shape)), axis=1)
    return replace(matrix_of(right), summary=ConfidenceWeighted(order))


# ---- pairs ----------------------------------------------------------------------------------------------------------


def by_difference(differences: Callable[[Generator, int], Floats]) -> Callable[[Generator, int], ScoreMatrix]:
    """Two systems whose differences are drawn."""

    def draw(rng: Generator, questions: int) -> ScoreMatrix:
        base = rng.normal(0, 1, questions)
        return matrix_of(np.stack([base + differences(rng, questions), base]))

    return draw


def right_or_wrong(differ: float, ahead: float) -> Callable[[Generator, int], ScoreMatrix]:
    """Two systems that differ on this share of the questions; the first is ahead on this share of these."""

    def draw(rng: Generator, questions: int) -> ScoreMatrix:
        both = rng.random(questions) < 0.6
        lot = rng.random(questions)
        first = np.where(lot < differ, lot < differ * ahead, both)
        second = np.where(lot < differ, lot >= differ * ahead, both)
        return matrix_of(np.stack([first, second]).astype(np.float64))

    return draw


def one_in_ten(rng: Generator, questions: int) -> Floats:
    """A tenth of the questions makes nearly the whole difference."""
    return np.where(rng.random(questions) < 0.1, 1.0, 0.0) + rng.normal(0, 0.05, questions)


def four_in_five_equal(rng: Generator, questions: int) -> Floats:
    """Four questions in five are equal, and the rest skewed."""
    return np.where(rng.random(questions) < 0.2, rng.exponential(1.0, questions), 0.0)


def close_ranks(within: int) -> Callable[[Generator, Floats], Floats]:
    """Two systems whose true ranks are this close."""

    def choose(rng: Generator, values: Floats) -> Floats:
        order = np.argsort(-values.mean(axis=1))
        first = int(rng.integers(len(order) - within))
        return values[order[[first, first + int(rng.integers(1, within + 1))]]]

    return choose


def neighbours(systems: int) -> Callable[[Generator, Floats], Floats]:
    """Systems whose true scores lie within a narrow range; the same ones each time."""

    def choose(_: Generator, values: Floats) -> Floats:
        ordered = values[np.argsort(-values.mean(axis=1))]
        means = ordered.mean(axis=1)
        first = int(np.argmin(means[: -systems + 1] - means[systems - 1 :]))
        return ordered[first : first + systems]

    return choose


def some_of(systems: int) -> Callable[[Generator, Floats], Floats]:
    """Some systems, drawn for every evaluation."""

    def choose(rng: Generator, values: Floats) -> Floats:
        return values[rng.choice(len(values), systems, replace=False)]

    return choose


def spread(systems: int, deviation: float, *, correlation: float = 0.4) -> Callable[[Generator, int], ScoreMatrix]:
    """Right or wrong: systems whose true scores spread like a normal distribution (quantiles) around 0.6."""
    from scipy.special import ndtri

    means = 0.6 + deviation * ndtri((np.arange(systems) + 0.5) / systems)

    def draw(rng: Generator, questions: int) -> ScoreMatrix:
        latent = np.sqrt(correlation) * rng.standard_normal(questions)
        latent = latent + np.sqrt(1 - correlation) * rng.standard_normal((systems, questions))
        return matrix_of((latent > -ndtri(means)[:, None]).astype(np.float64))

    return draw


NQ301, TREC06 = "nq301/matrix.csv", "score_matrices/trec2006_factoid_rr_strict.csv"
ADHOC8, ROBUST04 = "score_matrices/adhoc8_ap.csv", "score_matrices/robust2004_p10.csv"
VARIANTS = Simulated(name="8 variants and 2 others, 0/1", draw=redrawn(*(0.05,) * 8, 1, 1), equal=True)
MORE_VARIANTS = Simulated(name="18 variants and 2 others, 0/1", draw=redrawn(*(0.05,) * 18, 1, 1), equal=True)
STEADY = Simulated(name="8 steady and 2 all-or-nothing", draw=steady, equal=True)
RARE_GAINS = Simulated(name="6 ordinary and 2 with rare gains", draw=rare_gains, equal=True)
SERIES = Simulated(name="6 systems on series of 2-8 questions", draw=in_series, equal=True)
REPEATED = Simulated(name="6 systems that ran three times", draw=repeated, equal=True)
TREC06_EQUAL = FromFile(name="trec06, 20 systems, means equalised", file=TREC06, choose=some_of(20), equal=True)
NQ301_EQUAL = FromFile(name="nq301, 8 systems, means equalised", file=NQ301, choose=some_of(8), equal=True)
NEIGHBOURS = FromFile(name="trec06, 15 neighbours", file=TREC06, choose=neighbours(15))
NQ301_ALL = FromFile(name="nq301, 12 systems", file=NQ301)
EQUAL = Simulated(name="10 equal systems, 0/1", draw=spread(10, 0.0), equal=True)
SIMILAR = Simulated(name="10 similar systems (sd .02), 0/1", draw=spread(10, 0.02))
SPREAD = Simulated(name="10 systems (sd .08), 0/1", draw=spread(10, 0.08))
NUGGETS = Simulated(name="5 equal systems by nugget scores", draw=nugget_scores, equal=True)
CONFIDENT = Simulated(name="2 equal systems by confidence-weighted score", draw=by_confidence, equal=True)
GRADED = Simulated(name="own: 9 equal systems of two families, in quarters", draw=rubric, equal=True, own=True)
FAILURES = Simulated(name="own: 7 equal systems that fail on 1 in 50", draw=failures, equal=True, own=True)
SECONDS = Simulated(name="own: seconds of 6 equal systems, fewer are better", draw=seconds, equal=True, own=True)
