"""The score matrix: runs x units under one measure, the one input of every analysis.

Ours or a stranger's, every matrix can be put on trial. Most measures average the units; two do not, and
analyses that score subsets of the units have to know. So a matrix carries its *summary*: how unit scores become
the score of a run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from qassay.errors import UsageError, unknown

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

# Two scores closer than this are equal: in rankings, tau, groups, bins. (METHOD 6)
TIE = 1e-9


def defined(value: float) -> float | None:
    """A number as results hold it: what is undefined is None."""
    return None if math.isnan(value) else float(value)


def none_for_nan(values: Floats) -> list[float | None]:
    """Many numbers as results hold them."""
    return [defined(value) for value in values]


def confidence_weighted_score(correct: Sequence[float] | Floats) -> float:
    """CWS of one run whose questions stand in the order of its confidence, most confident first. [EVAL02]

    CWS = (1/Q) * sum for i = 1..Q of (number correct in the first i) / i

    >>> round(confidence_weighted_score([1, 0, 0]), 6), round(confidence_weighted_score([0, 0, 1]), 6)
    (0.611111, 0.111111)
    """
    right = np.cumsum(np.asarray(correct, dtype=float))
    return float(np.mean(right / np.arange(1, len(right) + 1)))


@dataclass(frozen=True)
class Mean:
    """A run's score is the mean of its unit scores."""

    def __call__(self, values: Floats, units: Integers) -> Floats:
        """Scores of all runs on the units with these indices."""
        return np.asarray(values[:, units].mean(axis=1))


@dataclass(frozen=True, eq=False)
class ConfidenceWeighted:
    """A run's score is its confidence-weighted score [EVAL02].

    `order[r]` holds the unit indices in the order of confidence of run r, most confident first. On a subset
    the order is the run's order restricted to it.
    """

    order: Integers

    def __call__(self, values: Floats, units: Integers) -> Floats:
        """Scores of all runs on the units with these indices; a unit drawn twice counts twice."""
        times = np.bincount(units, minlength=values.shape[1])
        scores = np.empty(len(values))
        for run, order in enumerate(self.order):
            scores[run] = confidence_weighted_score(values[run, np.repeat(order, times[order])])
        return scores


@dataclass(frozen=True, eq=False)
class TypeWeighted:
    """A run's score is the weighted mean of its means per question type [QA03].

    `types[u]` is the type of unit u. The weight of a type that a subset lacks is shared out among the others
    in proportion.
    """

    types: tuple[str, ...]
    weights: Mapping[str, float]

    def __call__(self, values: Floats, units: Integers) -> Floats:
        """Scores of all runs on the units with these indices."""
        return np.asarray(values[:, units] @ self.unit_weights(units))

    def unit_weights(self, units: Integers) -> Floats:
        """What each unit of the subset contributes: weight of its type / number of its type, normalised."""
        kinds = np.array(self.types)[units]
        found, which, counts = np.unique(kinds, return_inverse=True, return_counts=True)
        share = np.array([self.weights[kind] for kind in found])
        share = share / share.sum()
        return np.asarray((share / counts)[which])


Summary: TypeAlias = Mean | ConfidenceWeighted | TypeWeighted


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """Scores of runs on units; finite everywhere, since units that cannot be scored are not units.

    `denominator` is set where every value is a whole number of 1/denominator (0/1 scores, reciprocal ranks,
    decimals of a file): comparisons are then made on integers and are exact. `clusters[u]` names the series of
    unit u where units are questions of series: intervals resample whole series then. `notes` are the sentences
    every output repeats: which rule for missing or unjudged responses was applied, and to how many.
    """

    runs: tuple[str, ...]
    units: tuple[str, ...]
    values: Floats
    measure: str = "score"
    summary: Summary = field(default_factory=Mean)
    denominator: int | None = None
    clusters: tuple[str, ...] | None = None
    organisations: Mapping[str, str] = field(default_factory=dict)
    manual: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.runs), len(self.units)):
            raise UsageError(
                f"{len(self.runs)} runs x {len(self.units)} units do not fit scores of shape {self.values.shape}"
            )
        if len(set(self.runs)) < len(self.runs):
            raise UsageError("two runs of a score matrix have the same tag")
        if not np.isfinite(self.values).all():
            raise UsageError("a score matrix holds finite numbers only")

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
        """The values times `denominator`, as integers, where the matrix is exact."""
        if self.denominator is None:
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
        summary = self.summary
        if isinstance(summary, ConfidenceWeighted):
            summary = ConfidenceWeighted(summary.order[rows])
        return replace(self, runs=tuple(runs), values=self.values[rows], summary=summary)
