"""Systems that answered every question several times: what running them again would change. (METHOD 6, Repeats)

Resampling questions alone misses what a repeat shifts on all questions at once. The variance of a mean over Q
questions and R repeats has three parts: questions (s_q^2/Q), repeats (s_r^2/R) and the rest (s_e^2/(Q*R)). They are
estimated from the mean squares of the two-way table of questions and repeats.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from qassay.arrays import Floats
from qassay.errors import UsageError
from qassay.matrix import Repeats

# A variance below this share of the squared scores is what rounding leaves of none.
_ROUNDING = 1e-24


@dataclass(frozen=True, slots=True)
class MeanSquares:
    """The mean squares of one system's scores, questions x repeats.

    `repeats` and `rest` are 0 where there is a single repeat, which does not show them.
    """

    questions: float
    repeats: float
    rest: float
    question_count: int
    repeat_count: int

    @property
    def question_variance(self) -> float:
        """s_q^2: how much questions differ, beyond the noise of single answers."""
        return max(self.questions - self.rest, 0.0) / self.repeat_count

    @property
    def repeat_variance(self) -> float:
        """s_r^2: how much a repeat shifts all questions at once."""
        return max(self.repeats - self.rest, 0.0) / self.question_count

    @property
    def rest_variance(self) -> float:
        """s_e^2: how much the answers to one question differ between repeats."""
        return self.rest


def mean_squares(scores: Floats) -> MeanSquares:
    """The mean squares of scores, questions x repeats, of two questions or more."""
    questions, repeats = scores.shape
    if questions < 2:
        raise UsageError("the spread of scores takes two questions or more")
    mean = scores.mean()
    by_question, by_repeat = scores.mean(axis=1), scores.mean(axis=0)
    between = repeats * float(((by_question - mean) ** 2).sum()) / (questions - 1)
    if repeats < 2:
        return MeanSquares(between, 0.0, 0.0, questions, repeats)
    shift = questions * float(((by_repeat - mean) ** 2).sum()) / (repeats - 1)
    rest = scores - by_question[:, None] - by_repeat[None, :] + mean
    return MeanSquares(between, shift, float((rest**2).sum()) / ((questions - 1) * (repeats - 1)), questions, repeats)


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """The variance of a mean, or of a difference of means, and the degrees of freedom behind it (Satterthwaite)."""

    variance: float
    freedom: float

    def margin(self, level: float) -> float:
        """Half the width of the interval of this level."""
        from scipy.special import stdtrit

        return float(stdtrit(self.freedom, (1 + level) / 2)) * math.sqrt(self.variance)

    def p(self, difference: float) -> float:
        """The two-sided p-value of a difference from 0.

        A difference that is the same on every question, in every repeat, has the p-value of the sign test: a fair coin
        that falls on one side for each of the questions.
        """
        from scipy.special import stdtr

        if self.variance == 0:
            return 1.0 if difference == 0 else 2.0**-self.freedom
        return float(2 * stdtr(self.freedom, -abs(difference) / math.sqrt(self.variance)))


def mean_uncertainty(scores: Floats) -> Uncertainty:
    """The uncertainty of one system's mean: max(MSq, MSq + MSr - MSe)/(Q*R)."""
    squares = mean_squares(scores)
    total = squares.question_count * squares.repeat_count
    first = (squares.questions / total, float(squares.question_count - 1))
    return combined([first, *_running_again(squares)], float((scores**2).sum()) / total)


def difference_uncertainty(a: Floats, b: Floats) -> Uncertainty:
    """The uncertainty of the difference of two systems' means on the same questions, each questions x repeats.

    The differences of the questions' means vary by questions and by single answers; what a repeat shifts on all
    questions at once cancels out of them, and is added for each of the systems.
    """
    if len(a) != len(b):
        raise UsageError("two systems are compared on the same questions")
    return pair_uncertainties(Repeats((a, b)), [(0, 1)])[0]


def pair_uncertainties(repeats: Repeats, pairs: Iterable[tuple[int, int]]) -> list[Uncertainty]:
    """The same of many pairs of systems, each by its two places."""
    means = [scores.mean(axis=1) for scores in repeats.values]
    shifts = [_running_again(mean_squares(scores)) for scores in repeats.values]
    scales = [float((scores**2).mean()) for scores in repeats.values]
    found = []
    for i, j in pairs:
        squares = mean_squares((means[i] - means[j])[:, None])
        first = (squares.questions / squares.question_count, float(squares.question_count - 1))
        found.append(combined([first, *shifts[i], *shifts[j]], scales[i] + scales[j]))
    return found


def _running_again(squares: MeanSquares) -> list[tuple[float, float]]:
    """The shift of a whole repeat, s_r^2/R, as its two mean squares over Q*R with their degrees of freedom."""
    if squares.repeat_count < 2 or squares.repeats <= squares.rest:
        return []
    total = squares.question_count * squares.repeat_count
    freedom = squares.repeat_count - 1
    return [
        (squares.repeats / total, float(freedom)),
        (-squares.rest / total, float((squares.question_count - 1) * freedom)),
    ]


def combined(parts: list[tuple[float, float]], scale: float) -> Uncertainty:
    """A sum of mean squares as one variance; its degrees of freedom by Satterthwaite's formula, and at least 1.

    Where one mean square is subtracted from another of nearly its size, the formula goes towards 0, and an interval
    towards millions of times the range of the scores.
    """
    variance = sum(part for part, _ in parts)
    if variance <= _ROUNDING * max(scale, 1.0):
        return Uncertainty(0.0, parts[0][1])
    return Uncertainty(variance, max(1.0, variance**2 / sum(part**2 / freedom for part, freedom in parts)))


def pair_p_values(repeats: Repeats) -> Floats:
    """p-values of every pair of runs, running again included (runs x runs)."""
    runs = len(repeats.values)
    p: Floats = np.ones((runs, runs))
    means = [float(scores.mean()) for scores in repeats.values]
    pairs = list(combinations(range(runs), 2))
    for (i, j), between in zip(pairs, pair_uncertainties(repeats, pairs), strict=True):
        p[i, j] = p[j, i] = between.p(_difference(means[i], means[j]))
    return p


def _difference(a: float, b: float) -> float:
    """The difference of two means; 0 where it is no more than rounding."""
    return 0.0 if math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12) else a - b
