"""How often intervals contain the truth, in simulated evaluations whose truth is known.

populations   units to draw, and what a study on them is expected to show
rates         the error rates of the sensitivity analysis
intervals     scores, differences, all differences at once, agreement

The figure is a share, beside the nominal 0.95. The tests marked slow assert the same over a thousand simulations.
"""

from __future__ import annotations

import numpy as np

from benchmarks.coverage.intervals import Coverage, interval_coverages
from benchmarks.coverage.rates import FEW_SWAPS, NOMINAL, POPULATIONS, SEED, TOLERANCE, RateCoverage, rate_coverage
from benchmarks.rows import Row

SIMULATIONS = 1000


def coverage_rows() -> list[Row]:
    """Coverage of every kind of interval."""
    rows = [
        Row(
            coverage.name,
            None,
            None,
            coverage.share,
            f"± {coverage.error:.3f}; nominal {promise(coverage)}; {len(coverage.covered)} simulations",
        )
        for coverage in interval_coverages(SIMULATIONS, SEED)
    ]
    return [*rows, *(rate_row(rate_coverage(population, SIMULATIONS)) for population in POPULATIONS)]


def promise(coverage: Coverage) -> str:
    """What an interval says of itself."""
    return f"{'at least ' if coverage.at_least else ''}{NOMINAL}"


def rate_row(coverage: RateCoverage) -> Row:
    """The error rates of one population: the share over all bins and sizes, by size, and how far single bins go."""
    judged = coverage.judged & (coverage.swaps >= FEW_SWAPS)
    share = float(coverage.covered[:, judged].sum() / coverage.defined[:, judged].sum())
    by_bin = coverage.by_bin[judged]
    inside = int((np.abs(by_bin - NOMINAL) <= TOLERANCE).sum())
    sizes = ", ".join(f"size {size}: {mean:.3f} ± {error:.3f}" for size, mean, error in coverage.by_size())
    note = (
        f"{sizes}; nominal {NOMINAL}; {len(coverage.covered)} simulations; "
        f"{inside} of {len(by_bin)} bins within {TOLERANCE:g}, from {by_bin.min():.3f} to {by_bin.max():.3f}"
    )
    return Row(f"error rates, {coverage.population.name}", None, None, share, note)
