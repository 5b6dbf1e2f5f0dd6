"""The score matrix: runs x units under one measure, the one input of every analysis.

Every analysis takes any matrix, ours or a stranger's. Most measures average the units; two do not, and
analyses that score subsets of the units have to know. So a matrix carries its *summary*: how unit scores become
the score of a run.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qassay.display import enumerated
from qassay.errors import UsageError, unknown
from qassay.frames import frame
from qassay.results import Result
from qassay.tables import Column, Table, counted, plural, table

if TYPE_CHECKING:
    import polars as pl

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

# Two scores closer than this are equal: in rankings, tau, groups, bins. (METHOD 6)
TIE = 1e-9

# Scores gathered at once for sums: small enough for the caches.
_GATHERED_AT_ONCE = 500_000


def defined(value: float) -> float | None:
    """A number as results have it: None where it is undefined."""
    return None if math.isnan(value) else float(value)


def none_for_nan(values: Floats) -> list[float | None]:
    """Many numbers as results have them."""
    return [defined(value) for value in values]


def document(record: object, *names: str) -> dict[str, object]:
    """These fields and properties of a result as JSON has them, or all its fields; records within it likewise."""
    if not names and is_dataclass(record):
        names = tuple(field.name for field in fields(record))
    return {name: _plain(getattr(record, name)) for name in names}


def _plain(value: Any) -> object:
    if hasattr(value, "as_json"):
        return value.as_json()
    if is_dataclass(value):
        return document(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def confidence_weighted_score(correct: Sequence[float] | Floats) -> float:
    """CWS of one run whose questions stand in the order of its confidence, most confident first. [EVAL02]

    CWS = (1/Q) * sum for i = 1..Q of (number correct in the first i) / i

    >>> round(confidence_weighted_score([1, 0, 0]), 6), round(confidence_weighted_score([0, 0, 1]), 6)
    (0.611111, 0.111111)
    """
    right = np.cumsum(np.asarray(correct, dtype=float))
    return float(np.mean(right / np.arange(1, len(right) + 1)))


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
        kinds = np.array(self.types)[units]
        present, which, counts = np.unique(kinds, return_inverse=True, return_counts=True)
        share = np.array([self.weights[kind] for kind in present])
        share = share / share.sum()
        return np.asarray((share / counts)[which])

    def resampled(self, values: Floats, times: Integers, denominator: int | None = None) -> Floats:
        """A type that a resample lacks shares out its weight."""
        top, bottom = np.zeros((len(times), len(values))), np.zeros((len(times), 1))
        for weight, columns in self._columns(dict.fromkeys(self.types)):
            of_type = times[:, columns]
            drawn = of_type.sum(axis=1, keepdims=True)
            # Whole numbers of 2**-32 add up exactly, whatever the order in which threads add them.
            sums = of_type.astype(np.float64) @ np.rint(values[:, columns] * 2.0**32).T / 2.0**32
            top += weight * np.where(drawn > 0, sums / np.maximum(drawn, 1), 0.0)
            bottom += weight * (drawn > 0)
        return top / bottom

    def on_subsets(self, values: Floats, chosen: NDArray[np.bool_], size: int) -> Floats:
        """A type that a subset lacks shares out its weight."""
        total, present = np.zeros((len(values), len(chosen))), np.zeros(len(chosen))
        for weight, columns in self._columns(sorted(set(self.types))):
            of_type = chosen[:, columns].astype(np.float64)
            number = of_type.sum(axis=1)
            total += weight * (np.einsum("ru,tu->rt", values[:, columns], of_type) / np.maximum(number, 1.0))
            present += weight * (number > 0)
        return np.asarray(total / present)

    def scores_without(self, values: Floats, block: Integers) -> Floats:
        """A type that has nothing left shares out its weight."""
        count = int(block.max(initial=-1)) + 1
        top, bottom = np.zeros((count, len(values))), np.zeros((count, 1))
        for weight, columns in self._columns(dict.fromkeys(self.types)):
            where = block[columns]
            sums = np.stack([np.bincount(where, weights=row, minlength=count) for row in values[:, columns]])
            left = (len(columns) - np.bincount(where, minlength=count))[:, None]
            means = (sums.sum(axis=1, keepdims=True) - sums).T / np.maximum(left, 1)
            top += weight * np.where(left > 0, means, 0.0)
            bottom += weight * (left > 0)
        return top / bottom

    def _columns(self, types: Iterable[str]) -> Iterator[tuple[float, Integers]]:
        """Weight and units of each of these types."""
        kinds = np.array(self.types)
        return ((self.weights[kind], np.flatnonzero(kinds == kind)) for kind in types)

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
        _, which, counts = np.unique(np.array(self.types), return_inverse=True, return_counts=True)
        sums = np.stack([np.bincount(which, weights=row, minlength=len(counts)) for row in values])
        several = (counts > 1)[which]
        stretch = np.sqrt(counts / np.maximum(counts - 1, 1))[which]
        alone = values - self.scores(values)[:, None]
        # What units alone of their type deviate by, the others share with the opposite sign: scores stay what they are.
        rest = -(alone * (weights * ~several)).sum(axis=1, keepdims=True) / max(float(weights[several].sum()), TIE)
        within = (values - (sums / counts)[:, which]) * stretch + rest
        return np.asarray(np.where(several, within, alone) * self._relative_weights())

    def parts(self, values: Floats) -> Floats:
        """The score in proportion to the weight of the unit, and its deviation."""
        return np.asarray(self.deviations(values) + self.scores(values)[:, None] * self._relative_weights())

    def on_units(self, units: Integers) -> TypeWeighted:
        """The types of these units."""
        return TypeWeighted(tuple(self.types[unit] for unit in units), self.weights)


def whole_numbers(values: Floats, denominator: int | None = None) -> tuple[Floats, float]:
    """Values (runs x units) as whole numbers, and their scale: every sum over the units is exact.

    Sums of whole numbers up to 2^52 are exact in double precision, in any order and on any number of threads. Values
    that are whole numbers of 1/denominator keep it as their scale; others are rounded to the finest one that fits.
    """
    if denominator is not None:
        return np.rint(values * denominator), float(denominator)
    largest = max(float(np.abs(values).max(initial=0.0)), 1.0)
    scale = 2.0 ** np.floor(np.log2(2.0**52 / (largest * max(values.shape[1], 1))))
    return np.rint(values * scale), scale


@dataclass(frozen=True, eq=False)
class Repeats:
    """The scores of every repeat of runs that answered each unit several times (epochs, seeds).

    `values[i]` belongs to run i of a matrix: units x repeats. Two runs may have different numbers of repeats; one run
    has the same number on every unit. The scores of the matrix are the means over the repeats.
    """

    values: tuple[Floats, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The number of repeats of each run."""
        return tuple(scores.shape[1] for scores in self.values)

    def for_runs(self, rows: Integers) -> Repeats:
        """The repeats of these runs."""
        return Repeats(tuple(self.values[row] for row in rows.tolist()))

    def on_units(self, units: Integers) -> Repeats:
        """The repeats on these units."""
        return Repeats(tuple(scores[units] for scores in self.values))

    def spread(self) -> tuple[float | None, ...]:
        """The standard deviation of each run's mean over its repeats; None for a run without repeats."""
        means = [scores.mean(axis=0) for scores in self.values]
        return tuple(float(mean.std(ddof=1)) if len(mean) > 1 else None for mean in means)

    def note(self, runs: Sequence[str]) -> str:
        """A sentence about the spread of the scores over their repeats, which no smaller difference rises above."""
        spread = zip(runs, self.spread(), strict=True)
        listed = ", ".join(f"{run} {value:.3f}" for run, value in spread if value is not None)
        return f"Standard deviation of a score between repeats: {listed}. Smaller differences are within that."

    def as_json(self, runs: Sequence[str]) -> dict[str, object]:
        """The key `repeats` of a result: one number per question where all runs have the same."""
        numbers = dict(zip(runs, self.numbers, strict=True))
        same = len(set(self.numbers)) == 1
        return {
            "per_question": self.numbers[0] if same else numbers,
            "spread": dict(zip(runs, self.spread(), strict=True)),
        }


@dataclass(frozen=True, eq=False, repr=False)
class ScoreMatrix(Result):
    """Scores of runs on units; finite everywhere, since units that cannot be scored are not units.

    `denominator` is set where every value is a whole number of 1/denominator (0/1 scores, reciprocal ranks,
    decimals of a file): comparisons are then made on integers and are exact. `clusters[u]` names the series of
    unit u where units are questions of series: intervals resample whole series then. `notes` are the sentences
    every output repeats: which rule for missing or unjudged responses was applied, and to how many. `repeats` are
    there where runs answered the units several times. `unit_name` is what people call a unit and units. `read` says
    what was read, where the scores come from a table or a log; it is empty where they were computed. `scale` is the
    lowest and highest score that the task allows, where it is known.
    """

    runs: tuple[str, ...]
    units: tuple[str, ...]
    values: Floats
    measure: str = "score"
    summary: Summary = field(default_factory=Mean)
    denominator: int | None = None
    clusters: tuple[str, ...] | None = None
    manual: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    repeats: Repeats | None = None
    unit_name: tuple[str, str] = ("question", "questions")
    read: str = ""
    scale: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.runs), len(self.units)):
            raise UsageError(
                f"{len(self.runs)} runs x {len(self.units)} units do not fit scores of shape {self.values.shape}"
            )
        if len(set(self.runs)) < len(self.runs):
            raise UsageError("two runs of a score matrix have the same tag")
        if not np.isfinite(self.values).all():
            raise UsageError("a score matrix contains only finite numbers")
        if self.repeats is not None and [len(scores) for scores in self.repeats.values] != [len(self.units)] * len(
            self.runs
        ):
            raise UsageError("the repeats of a score matrix do not fit its runs and units")

    def sentence(self) -> str:
        """How many runs and units there are, and which run scores best."""
        size = f"{plural(len(self.runs), 'run')} x {counted(len(self.units), self.unit_name)}, {self.measure}"
        if not self.runs or not self.units:
            return size
        scores = self.scores()
        best = [run for run, score in zip(self.runs, scores, strict=True) if scores.max() - score < TIE]
        are = "is" if len(best) == 1 else "are"
        return f"{size}; the best {are} {enumerated(best, 3)} with {scores.max():.3f}"

    def table(self) -> Table:
        """The runs by decreasing score."""
        scores = self.scores() if self.units else np.full(len(self.runs), np.nan)
        order = sorted(range(len(self.runs)), key=lambda run: (-scores[run], self.runs[run]))
        columns: list[Column | str] = ["run", Column(self.measure, ".3f")]
        rows = [(self.runs[run], defined(scores[run])) for run in order]
        title = f"{plural(len(self.runs), 'run')} on {counted(len(self.units), self.unit_name)}"
        return table(title, columns, rows, self.notes)

    def to_polars(self) -> pl.DataFrame:
        """One row per unit: its name, and the score of every run."""
        name = self.unit_name[0]
        while name in self.runs:
            name += "_"
        return frame(
            {name: str, **dict.fromkeys(self.runs, float)}, zip(self.units, *self.values.tolist(), strict=True)
        )

    def as_json(self) -> dict[str, Any]:
        """Units, and the scores of every run on them."""
        scores = self.scores().tolist() if self.units else [None] * len(self.runs)
        return {
            **document(self, "measure", "units"),
            "scores": dict(zip(self.runs, scores, strict=True)),
            "matrix": dict(zip(self.runs, self.values.tolist(), strict=True)),
            **document(self, "notes"),
        }

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The lowest and the highest score there can be: those of the task, else 0 and 1 where all scores lie within.

        None where neither is known. A scale that the scores do not keep to is none.
        """
        if not self.values.size:
            return self.scale
        low, high = float(self.values.min()), float(self.values.max())
        known = [scale for scale in (self.scale, (0.0, 1.0)) if scale is not None]
        return next((scale for scale in known if scale[0] - TIE <= low and high <= scale[1] + TIE), None)

    @property
    def span(self) -> float:
        """The range of the scores: of all there can be, else of those there are, else from 0 to the one there is."""
        if self.bounds is not None:
            return self.bounds[1] - self.bounds[0]
        return float(np.ptp(self.values)) or float(np.abs(self.values).max())

    @property
    def pairs(self) -> int:
        """Number of pairs of runs."""
        return len(self.runs) * (len(self.runs) - 1) // 2

    def scores(self) -> Floats:
        """The score of every run over all units."""
        return self.scores_on(np.arange(len(self.units)))

    def scores_on(self, units: Integers) -> Floats:
        """The score of every run over the units with these indices (repeats allowed, for resampling)."""
        return self.summary(self.values, units)

    def numerators(self) -> Integers | None:
        """The values times `denominator`, as integers, where run scores are exact: means of such values."""
        if self.denominator is None or not self.summary.is_mean:
            return None
        return np.rint(self.values * self.denominator).astype(np.int64)

    def index(self, run: str) -> int:
        """Row of a run; an error that suggests the nearest tag where there is none."""
        try:
            return self.runs.index(run)
        except ValueError:
            raise unknown("run", run, self.runs) from None

    def select(self, runs: Sequence[str]) -> ScoreMatrix:
        """The same matrix with these runs only, in this order."""
        rows = np.array([self.index(run) for run in runs], dtype=np.int64)
        repeats = None if self.repeats is None else self.repeats.for_runs(rows)
        summary = self.summary.for_runs(rows)
        return replace(self, runs=tuple(runs), values=self.values[rows], summary=summary, repeats=repeats)
