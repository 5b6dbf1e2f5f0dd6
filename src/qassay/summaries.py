"""Summaries: how the scores of the units become the score of a run.

Most measures average the units; two do not, and analyses that score subsets of the units have to know. They ask the
summary of a matrix.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import TIE, Floats, Integers, whole_numbers

# Scores gathered at once for sums: small enough for the caches.
_GATHERED_AT_ONCE = 500_000


class Summary(ABC):
    """How the scores of the units become the score of a run, and what that means for parts of the units.

    Analyses ask these methods and never which kind of summary a matrix has. `order` are the unit indices in each
    run's order of confidence, where the score depends on it; `types` the question type of each unit, where units weigh
    by type. Values are runs x units.
    """

    is_mean: ClassVar[bool] = False
    order: Integers | None
    types: tuple[str, ...] | None

    @abstractmethod
    def __call__(self, values: Floats, units: Integers) -> Floats:
        """Scores of all runs on the units with these indices; a unit that is named twice counts twice."""

    @abstractmethod
    def resampled(self, values: Floats, times: Integers, denominator: int | None = None) -> Floats:
        """Scores of all runs where unit u counts `times[., u]` times, resamples x runs.

        `denominator` is that of the values, where they are whole numbers of 1/denominator.
        """

    @abstractmethod
    def on_subsets(self, values: Floats, chosen: NDArray[np.bool_], size: int) -> Floats:
        """Scores of all runs (rows) on subsets of one size (columns); `chosen` is subsets x units."""

    @abstractmethod
    def scores_without(self, values: Floats, block: Integers) -> Floats:
        """Jackknife: the score of every run without each block of units in turn, blocks x runs."""

    @abstractmethod
    def contributions(self, values: Floats) -> Floats:
        """Runs x units, such that the mean of a row is the run's score."""

    def scores(self, values: Floats) -> Floats:
        """Scores of all runs on all units."""
        return self(values, np.arange(values.shape[1]))

    def deviations(self, values: Floats) -> Floats:
        """Runs x units: what each unit contributes beyond its share in the score, which is what chance acts on."""
        return np.asarray(self.contributions(values) - self.scores(values)[:, None])

    def parts(self, values: Floats) -> Floats:
        """Share and deviation of each unit: the mean of a row is the run's score, its spread the noise of the score."""
        return self.contributions(values)

    def pseudo_values(self, values: Floats) -> Floats:
        """The jackknife's n * score - (n - 1) * score without the unit; the unit scores where the score is a mean."""
        units = values.shape[1]
        without = self.scores_without(values, np.arange(units)).T
        return np.asarray(units * self.scores(values)[:, None] - (units - 1) * without)

    def unit_weights(self, units: Integers) -> Floats:
        """The weight of each of these units; 1 unless units weigh by type."""
        return np.ones(len(units))

    def for_runs(self, rows: Integers) -> Summary:
        """The summary of the matrix with these runs only."""
        return self

    def on_units(self, units: Integers) -> Summary:
        """The summary of the matrix with these units only."""
        return self


@dataclass(frozen=True)
class Mean(Summary):
    """A run's score is the mean of its unit scores."""

    is_mean: ClassVar[bool] = True
    order = None
    types = None

    def __call__(self, values: Floats, units: Integers) -> Floats:
        """Means over the units."""
        return np.asarray(values[:, units].mean(axis=1))

    def resampled(self, values: Floats, times: Integers, denominator: int | None = None) -> Floats:
        """In whole numbers, whose sums are exact."""
        whole, scale = whole_numbers(values, denominator)
        return np.asarray(times.astype(np.float64) @ whole.T / (scale * times.sum(axis=1)[:, None]))

    def on_subsets(self, values: Floats, chosen: NDArray[np.bool_], size: int) -> Floats:
        """Means, summed in the order of the units."""
        members = np.nonzero(chosen)[1].reshape(len(chosen), size)
        units_first = np.ascontiguousarray(values.T)
        sums = np.empty((len(chosen), len(values)))
        at_once = max(1, _GATHERED_AT_ONCE // max(size * len(values), 1))
        for start in range(0, len(chosen), at_once):
            rows = slice(start, start + at_once)
            # Summing over a middle axis adds one unit after the other, in the order of the units: one fixed order.
            sums[rows] = units_first[members[rows]].sum(axis=1)
        return np.ascontiguousarray((sums / size).T)

    def scores_without(self, values: Floats, block: Integers) -> Floats:
        """Means without each block in turn."""
        sizes = np.bincount(block)
        sums = np.stack([np.bincount(block, weights=row, minlength=len(sizes)) for row in values])
        rest = sums.sum(axis=1, keepdims=True) - sums
        return np.asarray((rest / (values.shape[1] - sizes)).T)

    def contributions(self, values: Floats) -> Floats:
        """The unit scores."""
        return values

    def pseudo_values(self, values: Floats) -> Floats:
        """The unit scores."""
        return values


def confidence_weighted_score(correct: Sequence[float] | Floats) -> float:
    """CWS of one run whose questions stand in the order of its confidence, most confident first. [EVAL02]

    CWS = (1/Q) * sum for i = 1..Q of (number correct in the first i) / i

    >>> round(confidence_weighted_score([1, 0, 0]), 6), round(confidence_weighted_score([0, 0, 1]), 6)
    (0.611111, 0.111111)
    """
    right = np.cumsum(np.asarray(correct, dtype=float))
    return float(np.mean(right / np.arange(1, len(right) + 1)))


def cws_weights(size: int) -> Floats:
    """The contribution of a right answer at each place of the confidence order to the score of `size` questions.

    CWS = 1/Q * sum over i of (number correct in the first i) / i: an answer at place k counts in every i >= k, so it
    adds 1/Q * (1/k + ... + 1/Q).
    """
    return np.asarray(np.cumsum(1.0 / np.arange(size, 0, -1))[::-1] / size)


@dataclass(frozen=True, eq=False)
class ConfidenceWeighted(Summary):
    """A run's score is its confidence-weighted score [EVAL02].

    `order[r]` has the unit indices in the order of confidence of run r, most confident first. On a subset
    the order is the run's order restricted to it. The score is not a sum over units: the part of a unit is its
    influence, so that exchanging two runs on a unit exchanges its correctness together with its place in the order.
    """

    order: Integers
    types = None

    def __call__(self, values: Floats, units: Integers) -> Floats:
        """Scores in each run's own order."""
        times = np.bincount(units, minlength=values.shape[1])
        scores = np.empty(len(values))
        for run, order in enumerate(self.order):
            scores[run] = confidence_weighted_score(values[run, np.repeat(order, times[order])])
        return scores

    def resampled(self, values: Floats, times: Integers, denominator: int | None = None) -> Floats:
        """Every resample in each run's own order."""
        drawn = times.sum(axis=1)
        ends = np.cumsum(drawn)
        starts = ends - drawn
        scores = np.empty((len(times), len(values)))
        for run, order in enumerate(self.order):
            # The drawn answers of all resamples, one resample after the other.
            right = np.repeat(np.tile(values[run, order], len(times)), times[:, order].ravel())
            correct = np.cumsum(right)
            before = np.repeat(correct[starts] - right[starts], drawn)
            place = np.arange(1, len(right) + 1) - np.repeat(starts, drawn)
            scores[:, run] = np.add.reduceat((correct - before) / place, starts) / drawn
        return scores

    def on_subsets(self, values: Floats, chosen: NDArray[np.bool_], size: int) -> Floats:
        """Every subset in each run's own order."""
        weights = cws_weights(size)
        scores = np.empty((len(values), len(chosen)))
        for run, order in enumerate(self.order):
            places = np.nonzero(chosen[:, order])[1].reshape(len(chosen), size)
            gains = values[run, order][places] * weights
            scores[run] = np.cumsum(gains, axis=1)[:, -1]
        return scores

    def scores_without(self, values: Floats, block: Integers) -> Floats:
        """Scores without each block in turn; without each unit by one formula."""
        count = int(block.max(initial=-1)) + 1
        if count < len(block):
            return np.stack([self(values, np.flatnonzero(block != left_out)) for left_out in range(count)])
        return self._without_each_unit(values).T

    def _without_each_unit(self, values: Floats) -> Floats:
        """Scores without each unit in turn, runs x units.

        Leaving out place j keeps the terms before it; the terms after it lose one place, and one right answer where
        the answer at j was right.
        """
        right = np.take_along_axis(values, self.order, axis=1)
        total = right.shape[1]
        correct = np.cumsum(right, axis=1)
        place = np.arange(1, total + 1)
        before = np.cumsum(correct / place, axis=1) - correct / place
        earlier = np.where(place > 1, 1.0 / np.maximum(place - 1, 1), 0.0)
        terms = correct * earlier
        after = terms.sum(axis=1, keepdims=True) - np.cumsum(terms, axis=1)
        lost = right * (earlier.sum() - np.cumsum(earlier))
        ranked = (before + after - lost) / (total - 1)
        scores: Floats = np.empty(ranked.shape)
        np.put_along_axis(scores, self.order, ranked, axis=1)
        return scores

    def contributions(self, values: Floats) -> Floats:
        """The score plus the jackknife influence of the unit, centred."""
        units, scores = values.shape[1], self.scores(values)[:, None]
        if units < 2:
            return scores
        left_out = self._without_each_unit(values)
        return np.asarray(scores + (units - 1) * (left_out.mean(axis=1, keepdims=True) - left_out))

    def for_runs(self, rows: Integers) -> ConfidenceWeighted:
        """The orders of these runs."""
        return ConfidenceWeighted(self.order[rows])

    def on_units(self, units: Integers) -> ConfidenceWeighted:
        """The orders restricted to these units, numbered among them."""
        number = np.full(self.order.shape[1], -1)
        number[units] = np.arange(len(units))
        renumbered = number[self.order]
        return ConfidenceWeighted(renumbered[renumbered >= 0].reshape(len(self.order), -1))


@dataclass(frozen=True, eq=False)
class TypeWeighted(Summary):
    """A run's score is the weighted mean of its means per question type [QA03].

    `types[u]` is the type of unit u. The weight of a type that a subset lacks is shared out among the others
    in proportion. The types are not drawn by chance: what sets them apart is not noise, and units vary around the mean
    of their type.
    """

    types: tuple[str, ...]
    weights: Mapping[str, float]
    order = None

    def __call__(self, values: Floats, units: Integers) -> Floats:
        """Unit scores times their weights."""
        return np.asarray(values[:, units] @ self.unit_weights(units))

    def unit_weights(self, units: Integers) -> Floats:
        """The contribution of each unit of the subset: weight of its type / number of its type, normalised."""
        present, type_of_unit, counts = np.unique(np.array(self.types)[units], return_inverse=True, return_counts=True)
        shares = np.array([self.weights[type_] for type_ in present])
        shares = shares / shares.sum()
        return np.asarray((shares / counts)[type_of_unit])

    def resampled(self, values: Floats, times: Integers, denominator: int | None = None) -> Floats:
        """A type that a resample lacks shares out its weight."""
        weighted_sums, weights_present = np.zeros((len(times), len(values))), np.zeros((len(times), 1))
        for weight, columns in self._columns(dict.fromkeys(self.types)):
            of_type = times[:, columns]
            drawn = of_type.sum(axis=1, keepdims=True)
            # Whole numbers of 2**-32 add up exactly, whatever the order in which threads add them.
            sums = of_type.astype(np.float64) @ np.rint(values[:, columns] * 2.0**32).T / 2.0**32
            weighted_sums += weight * np.where(drawn > 0, sums / np.maximum(drawn, 1), 0.0)
            weights_present += weight * (drawn > 0)
        return weighted_sums / weights_present

    def on_subsets(self, values: Floats, chosen: NDArray[np.bool_], size: int) -> Floats:
        """A type that a subset lacks shares out its weight."""
        weighted_sums, weights_present = np.zeros((len(values), len(chosen))), np.zeros(len(chosen))
        for weight, columns in self._columns(sorted(set(self.types))):
            of_type = chosen[:, columns].astype(np.float64)
            number = of_type.sum(axis=1)
            weighted_sums += weight * (np.einsum("ru,tu->rt", values[:, columns], of_type) / np.maximum(number, 1.0))
            weights_present += weight * (number > 0)
        return np.asarray(weighted_sums / weights_present)

    def scores_without(self, values: Floats, block: Integers) -> Floats:
        """A type that has nothing left shares out its weight."""
        count = int(block.max(initial=-1)) + 1
        weighted_sums, weights_present = np.zeros((count, len(values))), np.zeros((count, 1))
        for weight, columns in self._columns(dict.fromkeys(self.types)):
            blocks = block[columns]
            sums = np.stack([np.bincount(blocks, weights=row, minlength=count) for row in values[:, columns]])
            number = (len(columns) - np.bincount(blocks, minlength=count))[:, None]
            means = (sums.sum(axis=1, keepdims=True) - sums).T / np.maximum(number, 1)
            weighted_sums += weight * np.where(number > 0, means, 0.0)
            weights_present += weight * (number > 0)
        return weighted_sums / weights_present

    def _columns(self, types: Iterable[str]) -> Iterator[tuple[float, Integers]]:
        """Weight and units of each of these types."""
        type_of_unit = np.array(self.types)
        return ((self.weights[type_], np.flatnonzero(type_of_unit == type_)) for type_ in types)

    def contributions(self, values: Floats) -> Floats:
        """Unit scores times weight times number of units."""
        return np.asarray(values * self._relative_weights())

    def _relative_weights(self) -> Floats:
        """The weight of each unit times the number of units: 1 where all weigh the same."""
        return self.unit_weights(np.arange(len(self.types))) * len(self.types)

    def deviations(self, values: Floats) -> Floats:
        """A unit deviates from the mean of its type.

        Means of few units are nearer to them than the true one; the deviations of n units are stretched by
        sqrt(n/(n-1)), so that their squares are right on average. A unit that is alone of its type deviates from the
        score of the run.
        """
        weights = self.unit_weights(np.arange(len(self.types)))
        _, type_of_unit, counts = np.unique(np.array(self.types), return_inverse=True, return_counts=True)
        sums = np.stack([np.bincount(type_of_unit, weights=row, minlength=len(counts)) for row in values])
        several = (counts > 1)[type_of_unit]
        stretch = np.sqrt(counts / np.maximum(counts - 1, 1))[type_of_unit]
        alone = values - self.scores(values)[:, None]
        # What units alone of their type deviate by, the others share with the opposite sign: scores stay what they are.
        rest = -(alone * (weights * ~several)).sum(axis=1, keepdims=True) / max(float(weights[several].sum()), TIE)
        within = (values - (sums / counts)[:, type_of_unit]) * stretch + rest
        return np.asarray(np.where(several, within, alone) * self._relative_weights())

    def parts(self, values: Floats) -> Floats:
        """The score in proportion to the weight of the unit, and its deviation."""
        return np.asarray(self.deviations(values) + self.scores(values)[:, None] * self._relative_weights())

    def on_units(self, units: Integers) -> TypeWeighted:
        """The types of these units."""
        return TypeWeighted(tuple(self.types[unit] for unit in units), self.weights)
