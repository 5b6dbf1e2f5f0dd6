"""How far the error rate printed for a repeatable gap lies from the true one, on populations and samples of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.coverage.populations import Population, tally
from qassay.arrays import Floats
from qassay.meta.sensitivity.prediction import predict
from qassay.tables import Column, Table, table

ERROR = 0.05
WITHIN = 0.02
SAMPLES = 100
# None of these populations, and no seed of them, was looked at while the closed form was being developed.
SEED = 70_000_000
# Comparisons of a pair of runs behind the true rates, each on two sets of fresh questions; fewer where runs are many.
COMPARISONS = {5: 6_000, 50: 1_000}
POPULATIONS = tuple(
    Population(scores, runs, units)
    for scores in ("binary", "zero-inflated")
    for runs in COMPARISONS
    for units in (100, 200, 400, 1000)
)


@dataclass(frozen=True, eq=False)
class Gaps:
    """What samples of a population say, and what is true.

    `printed` and `true` are rates of the bin at the gap, `larger` is the true rate of that bin and all above together.
    """

    population: Population
    true_gap: float | None
    gaps: Floats
    printed: Floats
    true: Floats
    larger: Floats
    samples: int

    @property
    def close(self) -> float:
        """The share of the samples with a gap whose printed rate is within 0.02 of the true one."""
        return float((np.abs(self.printed - self.true) <= WITHIN).mean())

    @property
    def kept(self) -> float:
        """The share of the samples with a gap from which on, as they say, at most one order in twenty is reversed."""
        return float((self.larger <= ERROR).mean())

    @property
    def near(self) -> float:
        """The share of all samples that have a gap, within 0.02 of the true one."""
        if self.true_gap is None:
            return 1 - len(self.gaps) / self.samples
        return float((np.abs(self.gaps - self.true_gap) <= WITHIN + 1e-9).sum() / self.samples)


def gaps_of(population: Population, *, samples: int = SAMPLES, seed: int = SEED) -> Gaps:
    """Draw evaluations of a population and compare what the closed form says of each with the true error rate."""
    rates, larger = true_rates(population, seed)
    within = [k for k in range(1, 21) if np.nanmax(rates[k:], initial=0.0) <= ERROR and not np.isnan(rates[k])]
    rows = []
    for number in range(samples):
        prediction = predict(population.matrix(seed + 1_000_000 + number))
        gap = prediction.repeatable(population.units, ERROR)
        if gap is not None:
            k = prediction.bin_of(gap)
            rows.append((gap, prediction.rates_at(population.units)[k], rates[k], larger[k]))
    gaps, printed, true, larger = np.array(rows).reshape(-1, 4).T
    return Gaps(population, within[0] / 100 if within else None, gaps, printed, true, larger, samples)


def true_rates(population: Population, seed: int) -> tuple[Floats, Floats]:
    """The error rates of each bin, and of it and all above, when comparisons are repeated with as many questions."""
    repetitions = COMPARISONS[population.runs]
    at_once = max(1, 2_000_000 // (population.runs * population.units))
    counts = np.zeros((3, 21))
    for start in range(0, repetitions, at_once):
        number = min(at_once, repetitions - start)
        values, _ = population.draw(seed + start, 2 * number)
        means = values.mean(axis=2)
        counts += tally(means[:number], means[number:])
    pairs, swaps, _ = counts
    from_there = [np.cumsum(numbers[::-1])[::-1] for numbers in (swaps, pairs)]
    larger = from_there[0] / np.maximum(from_there[1], 1)
    return np.asarray(np.where(pairs >= 50, swaps / np.maximum(pairs, 1), np.nan)), np.asarray(larger)


def gap_tables() -> Iterator[Table]:
    """The repeatable gap of samples beside the true one, one row per population."""
    columns: list[Column | str] = [
        *("population", Column("true gap", ".2f"), "printed gaps, middle 80%"),
        *(Column("gap within 0.02", ".2f"), Column("printed rate", ".3f"), Column("true rate", ".3f")),
        *(Column("rate within 0.02", ".2f"), Column("true rate of all larger", ".3f"), Column("at most 0.05", ".2f")),
        "samples with a gap",
    ]
    rows = []
    for gaps in map(gaps_of, POPULATIONS):
        low, high = np.quantile(gaps.gaps, [0.1, 0.9])
        printed, true, larger = (float(rates.mean()) for rates in (gaps.printed, gaps.true, gaps.larger))
        found = (gaps.true_gap, f"{low:.2f} to {high:.2f}", gaps.near, printed, true, gaps.close, larger, gaps.kept)
        rows.append((gaps.population.name, *found, f"{len(gaps.gaps)} of {gaps.samples}"))
    yield table("error rate at the repeatable gap: what is printed, and what is true", columns, rows)
