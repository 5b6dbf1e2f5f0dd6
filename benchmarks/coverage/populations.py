"""Simulated evaluations whose truth is known: populations of units, and what a study on them is expected to show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from qassay.arrays import Floats, Integers
from qassay.matrix import ScoreMatrix
from qassay.meta.sensitivity.counting import Ties
from qassay.meta.simulate import Scores, simulate_runs
from qassay.summaries import ConfidenceWeighted, Mean, Summary, TypeWeighted

Kind: TypeAlias = Literal["mean", "confidence", "types", "series"]
Means: TypeAlias = Literal["spread", "even", "equal", "two groups"]

# Scores simulated at once.
# How wide a bin of differences is, in the true rates and in the analyses compared with them.
WIDTH = 0.01
AT_ONCE = 2_000_000

# Question types as [QA03] has them: for each twenty questions, and what a type weighs.
TYPES = ("factoid",) * 12 + ("list",) * 4 + ("definition",) * 4
WEIGHTS = {"factoid": 0.5, "list": 0.25, "definition": 0.25}
SERIES_LENGTH = 5


@dataclass(frozen=True)
class Population:
    """Runs with known true means, and units to draw for them.

    `wide` is the standard deviation of the true means. Confidence-weighted: answers that are right are a deviation
    more confident than wrong ones, on average. Types: the runs differ more on one type than on another. Series: half
    of what sets a run apart on a question is common to the five questions of a series.
    """

    scores: Scores
    runs: int
    units: int
    means: Means = "spread"
    wide: float = 0.06
    correlation: float = 0.3
    kind: Kind = "mean"
    ties: Ties = "stay"
    trials: int = 100

    @property
    def name(self) -> str:
        """What is simulated, in a few words."""
        more = [f"true means: {self.means}"] if self.means != "spread" else []
        more += [f"correlation {self.correlation:g}"] if self.correlation != 0.3 else []
        more += [f"ties {self.ties}"] if self.ties != "stay" else []
        more += [f"{self.trials} trials"] if self.trials != 100 else []
        kinds = {"mean": "", "confidence": " confidence-weighted", "types": " type-weighted", "series": " in series"}
        return ", ".join([f"{self.scores}{kinds[self.kind]}, {self.runs} x {self.units}", *more])

    @property
    def sizes(self) -> tuple[int, ...]:
        """The smallest size of the default preset, a quarter and half of the units."""
        return (5, self.units // 4, self.units // 2)

    def true_means(self) -> Floats:
        """Means around 0.3, the same in every simulation."""
        shape: dict[Means, Floats] = {
            "spread": np.random.default_rng([self.runs, self.units]).standard_normal(self.runs),
            "even": np.linspace(-1.7, 1.7, self.runs),
            "equal": np.zeros(self.runs),
            "two groups": np.repeat([-1.0, 1.0], [self.runs // 2, self.runs - self.runs // 2]),
        }
        return np.clip(0.3 + self.wide * shape[self.means], 0.05, 0.48)

    def draw(self, seed: int, sets: int) -> tuple[Floats, Floats]:
        """Scores on this many sets of fresh units (sets x runs x units), and the confidence of the runs."""
        means = self.true_means()
        scores = simulate_runs(
            means, sets * self.units, scores=self.scores, correlation=self.correlation, seed=seed
        ).values
        values = np.moveaxis(scores.reshape(self.runs, sets, self.units), 1, 0)
        rng = np.random.default_rng([seed, 1])
        confidence = values + rng.standard_normal(values.shape) if self.kind == "confidence" else values
        if self.kind == "types":
            # Better runs are better on factoids, by half as much again, and hardly on the rest.
            factor = np.where(np.array(self._types()) == "factoid", 1.5, 0.5)
            values = values + ((means - 0.3)[:, None] * (factor - 1))[None]
        if self.kind == "series":
            of_series = rng.standard_normal((sets, self.runs, -(-self.units // SERIES_LENGTH)))
            values = values + 0.25 * np.repeat(of_series, SERIES_LENGTH, axis=2)[:, :, : self.units]
        return values, confidence

    def matrix(self, seed: int) -> ScoreMatrix:
        """One evaluation."""
        values, confidence = self.draw(seed, 1)
        summary: Summary = Mean()
        if self.kind == "confidence":
            summary = ConfidenceWeighted(np.argsort(-confidence[0], axis=1))
        elif self.kind == "types":
            summary = TypeWeighted(self._types(), WEIGHTS)
        return ScoreMatrix(
            tuple(f"run{number}" for number in range(self.runs)),
            tuple(map(str, range(self.units))),
            np.ascontiguousarray(values[0]),
            summary=summary,
            denominator=1 if self.scores == "binary" and self.kind == "mean" else None,
            clusters=tuple(str(u // SERIES_LENGTH) for u in range(self.units)) if self.kind == "series" else None,
        )

    def expected(self, seed: int, sets: int) -> Floats:
        """Comparisons, swaps and ties of one trial, by size and bin: 3 x sizes x bins.

        Each set of fresh units is dealt into base and test once. Plain code of its own: the analysis has no part in it.
        """
        rng = np.random.default_rng([seed, 2])
        at_once = max(1, AT_ONCE // (self.runs * max(self.units, self.runs)))
        counts = np.zeros((3, len(self.sizes), 21))
        for start in range(0, sets, at_once):
            number = min(at_once, sets - start)
            values, confidence = self.draw(seed + 1 + start, number)
            dealt = np.argsort(rng.random((number, self.units)), axis=1)
            for row, size in enumerate(self.sizes):
                base = self._scores(values, confidence, dealt[:, :size])
                test = self._scores(values, confidence, dealt[:, size : 2 * size])
                counts[:, row] += tally(base, test)
        return counts / sets

    def _scores(self, values: Floats, confidence: Floats, units: Integers) -> Floats:
        """Scores of the runs (columns) on one subset of the units of each set (rows)."""
        chosen = np.take_along_axis(values, units[:, None, :], axis=2)
        if self.kind == "confidence":
            order = np.argsort(-np.take_along_axis(confidence, units[:, None, :], axis=2), axis=2)
            right = np.cumsum(np.take_along_axis(chosen, order, axis=2), axis=2)
            return np.asarray((right / np.arange(1, units.shape[1] + 1)).mean(axis=2))
        if self.kind == "types":
            kinds = np.array(self._types())[units]
            top, bottom = np.zeros(chosen.shape[:2]), np.zeros((len(units), 1))
            for kind, weight in WEIGHTS.items():
                of_kind = (kinds == kind)[:, None, :]
                numbers = of_kind.sum(axis=2)
                top += weight * (chosen * of_kind).sum(axis=2) / np.maximum(numbers, 1)
                bottom += weight * (numbers > 0)
            return np.asarray(top / bottom)
        return np.asarray(chosen.mean(axis=2))

    def _types(self) -> tuple[str, ...]:
        return tuple(TYPES[u % len(TYPES)] for u in range(self.units))


def tally(base: Floats, test: Floats) -> Floats:
    """Comparisons, swaps and ties by bin over all pairs of columns."""
    first, second = np.triu_indices(base.shape[1], 1)
    d_base, d_test = base[:, first] - base[:, second], test[:, first] - test[:, second]
    bins = np.minimum((np.abs(d_base) + 1e-9) // WIDTH, 20).astype(np.int64)
    tied = (np.abs(d_base) < 1e-9) | (np.abs(d_test) < 1e-9)
    swapped = (d_base * d_test < 0.0) & ~tied
    return np.stack([np.bincount(bins[which], minlength=21) for which in (np.ones_like(tied), swapped, tied)]).astype(
        np.float64
    )
