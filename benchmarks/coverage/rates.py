"""How often the intervals of error rates contain the expected rate of the study."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage.populations import WIDTH, Population
from qassay.arrays import Floats
from qassay.meta.sensitivity import sensitivity

NOMINAL = 0.95
TOLERANCE = 0.02

# Sets of fresh units behind the true rates.
SETS = 40_000
RESAMPLES = 60

# Rates are judged where intervals are defined in this share of the simulations: elsewhere, only sets of units that
# happen to fill the bin would be judged. Where fewer swaps than FEW_SWAPS are expected, an interval may contain the
# truth more often. (For single bins this was fixed beforehand; for the share of a size, after seeing one population.)
DEFINED_SHARE = 0.25
FEW_SWAPS = 3.0

# None of these, and no seed of them, was looked at while the intervals were being developed.
SEED = 40_000_000
POPULATIONS = (
    Population("normal", 5, 64),
    Population("normal", 8, 200),
    Population("normal", 20, 30),
    Population("normal", 60, 64),
    Population("zero-inflated", 5, 200),
    Population("zero-inflated", 8, 64),
    Population("zero-inflated", 20, 200),
    Population("zero-inflated", 60, 30),
    Population("binary", 5, 64),
    Population("binary", 8, 30),
    Population("binary", 20, 200),
    Population("binary", 60, 64),
    Population("normal", 20, 100, correlation=0.7),
    Population("binary", 12, 64, ties="half"),
    Population("binary", 12, 64, ties="exclude"),
    Population("zero-inflated", 12, 30, ties="half"),
    Population("zero-inflated", 12, 30, ties="exclude"),
    Population("binary", 8, 64, kind="confidence", wide=0.08),
    Population("binary", 20, 200, kind="confidence", wide=0.08),
    Population("normal", 12, 60, kind="types"),
    Population("normal", 8, 100, kind="series"),
    Population("zero-inflated", 15, 75, kind="series"),
    Population("normal", 12, 64, trials=10),
    Population("binary", 12, 64, means="even"),
    Population("zero-inflated", 10, 50, means="two groups"),
    Population("normal", 10, 50, means="equal"),
)


@dataclass(frozen=True, eq=False)
class RateCoverage:
    """The simulations of one population; arrays are sizes x bins, `covered` and `defined` by simulation first."""

    population: Population
    truth: Floats
    swaps: Floats
    covered: Floats
    defined: Floats

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Which bins are judged: not those whose rate is certain, all in them being ties."""
        certain = np.isin(self.truth, (0.0, 0.5, 1.0)) | np.isnan(self.truth)
        return np.asarray((self.defined.mean(axis=0) >= DEFINED_SHARE) & ~certain)

    @property
    def by_bin(self) -> Floats:
        """The share of intervals that contain the truth."""
        return np.asarray(self.covered.sum(axis=0) / np.maximum(self.defined.sum(axis=0), 1.0))

    @property
    def errors(self) -> Floats:
        """The Monte-Carlo error of each share, were its expectation at the edge of what is allowed."""
        edge = NOMINAL - TOLERANCE
        return np.asarray(np.sqrt(edge * (1 - edge) / np.maximum(self.defined.sum(axis=0), 1.0)))

    def by_size(self) -> list[tuple[int, float, float]]:
        """For each size: the share over its bins where swaps are to be expected, and its Monte-Carlo error."""
        rows = []
        for row, size in enumerate(self.population.sizes):
            use = self.judged[row] & (self.swaps[row] >= FEW_SWAPS)
            if not use.any():
                continue
            covered, defined = self.covered[:, row, use].sum(axis=1), self.defined[:, row, use].sum(axis=1)
            share = covered.sum() / defined.sum()
            rows.append((size, float(share), float(np.sqrt(((covered - share * defined) ** 2).sum()) / defined.sum())))
        return rows

    def outside(self, deviations: float) -> list[tuple[int, int, float]]:
        """Size, bin and share of the bins that are out of bounds by more than this many Monte-Carlo errors.

        Where hardly a swap is expected, an interval that contains the truth too often is not counted as a fault.
        """
        low, high = NOMINAL - TOLERANCE, NOMINAL + TOLERANCE
        beyond = (self.by_bin < low - deviations * self.errors) | (
            (self.by_bin > high + deviations * self.errors) & (self.swaps >= FEW_SWAPS)
        )
        return [
            (self.population.sizes[row], int(k), float(self.by_bin[row, k]))
            for row, k in np.argwhere(beyond & self.judged)
        ]


def rate_coverage(population: Population, simulations: int, *, seed: int = SEED) -> RateCoverage:
    """Simulate evaluations of one population, and compare their intervals with the truth."""
    comparisons, swaps, ties = population.expected(seed, SETS)
    swaps = swaps + ties / 2 if population.ties == "half" else swaps
    of = comparisons - ties if population.ties == "exclude" else comparisons
    truth = np.divide(swaps, of, out=np.full(of.shape, np.nan), where=of > 0.0)
    covered, defined = [], []
    for number in range(simulations):
        intervals = sensitivity(
            population.matrix(seed + 10_000_000 + number),
            sizes=population.sizes,
            trials=population.trials,
            intervals=RESAMPLES,
            ties=population.ties,
            bin_width=WIDTH,  # that of the truth, also where scores leave 0 to 1
            seed=number,
            path="compiled",
            threads=1,
        ).intervals
        if intervals is None:
            raise ValueError("no intervals were asked for")
        low, high = intervals[..., 0], intervals[..., 1]
        defined.append(np.isfinite(low))
        covered.append((low <= truth) & (truth <= high))
    return RateCoverage(
        population, truth, swaps * population.trials, np.array(covered, float), np.array(defined, float)
    )
