"""The methods that decide for all pairs of runs at once which of them differ.

Each takes the parts of the runs' scores, in the order of the ranking, and gives one decision per pair: p-values,
adjusted p-values, and who differs, which is where the adjusted p-value is at most alpha.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import Floats, Integers
from qassay.errors import unknown
from qassay.meta.blocks import Blocks
from qassay.meta.flips import FLIPS, every_flip_fits, flip_chunks, hits_needed
from qassay.meta.right_or_wrong import mid_p
from qassay.meta.significance.power import check_test
from qassay.meta.significance.ranges import (
    critical_range,
    exchange_ranges,
    residual_variance,
    studentized_range_sf,
)
from qassay.tables import counted

Method: TypeAlias = Literal["randomised-tukey", "tukey", "holm", "bh"]
PairTest: TypeAlias = Literal["randomisation", "t"]
Progress: TypeAlias = Callable[[int, int], None]

NAMES: dict[Method, str] = {
    "randomised-tukey": "randomised Tukey",
    "tukey": "paired Tukey",
    "holm": "Holm",
    "bh": "Benjamini-Hochberg",
}
EXCHANGES = 20_000
# More flips than this are not drawn on our own account; the notes then say what they cannot show.
MOST_FLIPS = 1_000_000
# Flips looked at together: rows of this length stay in the processor's cache.
_ROWS = 16_384
# Whole numbers and halves up to here are exact in single precision, which is twice as fast.
_SINGLE = 2.0**22


@dataclass(frozen=True)
class Decision:
    """The result of a method: p-values (runs x runs), who differs, the common line if any, and notes.

    `exact` says that the permutations are all there are.
    """

    p: Floats
    adjusted: Floats
    different: NDArray[np.bool_]
    margin: float | None
    permutations: int | None
    notes: tuple[str, ...] = ()
    exact: bool = False


def undecided(runs: int, note: str) -> Decision:
    """No p-values, no differences, and a note that says why."""
    blank = np.full((runs, runs), np.nan)
    return Decision(blank, blank, np.zeros((runs, runs), np.bool_), None, None, (note,))


@dataclass(frozen=True, slots=True)
class PairTests:
    """How all pairs of runs are tested at once, and corrected for their number."""

    method: Method
    alpha: float
    permutations: int | None
    test: PairTest
    seed: int
    progress: Progress | None

    def __post_init__(self) -> None:
        check_test(self.alpha, self.permutations)
        if self.method not in NAMES:
            raise unknown("method", self.method, NAMES)

    def decide(self, parts: Blocks, p_repeats: Floats | None = None) -> Decision:
        """Which runs differ; none where there is one run.

        `p_repeats` are p-values of the pairs that take running the systems again into account; Holm and
        Benjamini-Hochberg correct them in place of those of a test.
        """
        if len(parts.parts) < 2:
            return undecided(1, "One run alone: there is nothing to compare.")
        if self.method == "randomised-tukey":
            return self._randomised_tukey(parts)
        return self._paired_tukey(parts) if self.method == "tukey" else self._single_pairs(parts, p_repeats)

    def _randomised_tukey(self, parts: Blocks) -> Decision:
        """One line for all pairs: the range that random exchange of runs within units reaches with chance alpha."""
        ranges, singles = map(
            partial(np.sort, axis=None),
            exchange_ranges(parts, permutations=self.permutations or EXCHANGES, seed=self.seed, progress=self.progress),
        )
        # The permutation observed joins the random ones, which keeps p above 0.
        totals = parts.parts.sum(axis=1)
        lines = np.abs(totals[:, None] - totals[None, :]) - parts.tolerance
        hits = len(ranges) - np.searchsorted(ranges, lines)
        p = (1 + len(singles) - np.searchsorted(singles, lines)) / (1 + len(singles))
        needed = hits_needed(len(ranges), self.alpha, exact=False)
        different = hits < needed
        np.fill_diagonal(different, False)
        margin, note = self._common_line(parts, ranges, needed)
        adjusted = (1 + hits) / (1 + len(ranges))
        return Decision(p, adjusted, different, margin, len(ranges), () if note is None else (note,))

    def _common_line(self, parts: Blocks, ranges: Floats, needed: int) -> tuple[float | None, str | None]:
        """The difference that two runs need at least, or a sentence about why there is none."""
        if needed < 1:
            return None, f"{len(ranges):,} permutations cannot reach {self.alpha:g}: no pair can be called different."
        # No exchange of runs within units brings two runs further apart than this.
        furthest = float(np.ptp(parts.parts, axis=0).sum())
        line = float(ranges[-needed])
        if line > furthest - parts.tolerance:
            return None, self._out_of_reach(parts, furthest)
        # Whole numbers meet the line exactly; others may stand one tolerance above it.
        return (line + (0.0 if parts.tolerance == 0.5 else parts.tolerance)) / parts.scale, None

    def _out_of_reach(self, parts: Blocks, furthest: float) -> str:
        """Why no difference, however large, could be called one."""
        if furthest < parts.tolerance:
            return "All runs have the same scores: there is nothing to tell apart."
        number = counted(parts.count, parts.name)
        reached = f"On {number} chance alone often reaches the largest difference that these scores allow"
        return f"{reached}: no pair can be called different at {self.alpha:g}."

    def _paired_tukey(self, parts: Blocks) -> Decision:
        """One line for all pairs, from the studentized range on the two-way residual."""
        from scipy.special import stdtr

        runs, count = parts.parts.shape
        totals = parts.parts.sum(axis=1)
        differences = np.abs(totals[:, None] - totals[None, :])
        differences = np.where(differences < parts.tolerance, 0.0, differences) / parts.scale
        if count < 2:
            return undecided(runs, f"One {parts.name[0]} does not show how differences vary: nothing can be said.")
        variance, freedom = residual_variance(parts.values())
        error = math.sqrt(variance / count)
        if error < 1e-12:
            if not differences.any():
                p = np.ones((runs, runs))
                return Decision(p, p, np.zeros((runs, runs), np.bool_), None, None)
            # p = 0 would make any difference certain, on two units too.
            note = (
                f"Every difference is the same on all {parts.name[1]}, which does not show this test how far chance "
                "reaches: nothing can be said. Another correction, such as Holm's (--method holm), may."
            )
            return undecided(runs, note)
        upper = np.triu_indices(runs, 1)
        adjusted = np.ones((runs, runs))
        adjusted[upper] = studentized_range_sf(differences[upper] / error, runs, freedom)
        adjusted = np.minimum(adjusted, adjusted.T)
        p = np.minimum(2 * stdtr(freedom, -differences / (error * math.sqrt(2))), adjusted)
        different, margin = adjusted <= self.alpha, critical_range(runs, freedom, self.alpha) * error
        if margin > parts.span and not different.any():
            return Decision(p, adjusted, different, None, None, (self._out_of_reach(parts, parts.span * parts.scale),))
        return Decision(p, adjusted, different, margin, None)

    def _single_pairs(self, parts: Blocks, p_repeats: Floats | None) -> Decision:
        """Correct the p-values of single pairs; each pair has a line of its own, so there is no common interval."""
        runs = len(parts.parts)
        upper = np.triu_indices(runs, 1)
        pairs = len(upper[0])
        test = f"{self.test} test" if p_repeats is None else "running again included"
        notes = [f"{NAMES[self.method]} corrects single p-values ({test}); it gives no common interval."]
        drawn: int | None
        if p_repeats is not None:
            p, drawn, exact = p_repeats.copy(), None, False
        elif self.test == "t":
            p, drawn, exact = t_p_values(parts), None, False
            if np.isnan(p[upper]).any():
                notes.append(
                    f"Pairs with the same difference on all {parts.name[1]} have no t test and count as not different."
                )
        elif (computed := binomial_p_values(parts)) is not None:
            p, drawn, exact = computed, 2**parts.count if parts.count < 63 else None, True
        else:
            flips = self.permutations or flips_for(pairs, self.alpha)
            p, drawn, exact = flip_p_values(parts, flips=flips, seed=self.seed, progress=self.progress)
        if drawn is not None:
            least = (2 if exact else 1) / (drawn if exact else drawn + 1)
            if least * pairs > self.alpha:
                reason = counted(parts.count, parts.name) if exact else f"{drawn:,} permutations"
                notes.append(
                    f"{reason} give no p below {least:.2g}: one pair among {pairs:,} cannot reach {self.alpha:g} alone."
                )
        correct = holm if self.method == "holm" else benjamini_hochberg
        adjusted = np.ones((runs, runs))
        adjusted[upper] = correct(np.nan_to_num(p[upper], nan=1.0))
        adjusted = np.minimum(adjusted, adjusted.T)
        different = adjusted <= self.alpha
        np.fill_diagonal(p, 1.0)
        return Decision(p, adjusted, different, None, drawn, tuple(notes), exact)


def flips_for(pairs: int, alpha: float) -> int:
    """As many flips as Holm's correction of this many pairs needs to reach its level, within bounds."""
    return min(max(FLIPS, math.ceil(pairs / alpha)), MOST_FLIPS)


def binomial_p_values(parts: Blocks) -> Floats | None:
    """The mid-p of every pair of runs (runs x runs) where scores are right or wrong; else None.

    It is computed, without drawing a flip, from the units where the two differ.
    """
    values = np.unique(parts.parts)
    if len(values) > 2 or not (parts.weights == parts.weights[0]).all():
        return None
    runs = len(parts.parts)
    right = (parts.parts == values[-1]).astype(np.float64)
    both = right @ right.T
    ahead = np.rint(np.diag(both)[:, None] - both).astype(int).tolist()
    binomial = cache(mid_p)
    p = np.ones((runs, runs))
    for first in range(runs):
        for second in range(first):
            p[first, second] = binomial(*sorted((ahead[first][second], ahead[second][first])), parts.count)
    return np.minimum(p, p.T)


def flip_p_values(
    parts: Blocks, *, flips: int, seed: int, progress: Callable[[int, int], None] | None = None
) -> tuple[Floats, int, bool]:
    """p-values of the sign-flip test for every pair of runs (runs x runs), the flips behind them, and if they are all.

    Flipping the differences of two runs is flipping the scores of both, so the flipped sums of the runs serve every
    pair: the work is one matrix product, and one comparison for each pair and flip.
    """
    runs = len(parts.parts)
    totals = parts.parts.sum(axis=1)
    lines = np.abs(totals[:, None] - totals[None, :]) - parts.tolerance
    single = bool(2 * np.abs(parts.parts).sum(axis=1).max(initial=0.0) < _SINGLE)
    kind: type[np.float32 | np.float64] = np.float32 if single else np.float64
    hits = np.zeros((runs, runs), dtype=np.int64)
    done = 0
    exact = every_flip_fits(parts.count, flips)
    total = 2**parts.count if exact else flips
    signed: NDArray[Any] = parts.parts.astype(kind)
    for chosen in flip_chunks(parts.count, flips, seed, rows=_ROWS):
        signs: NDArray[Any] = 1 - 2 * chosen.astype(kind)
        _count_hits(np.ascontiguousarray(signed @ signs.T), lines, hits)
        done += len(chosen)
        if progress is not None:
            progress(done, total)
    hits += hits.T
    p: Floats = hits / total if exact else (1 + hits) / (1 + total)
    return p, total, exact


def _count_hits(flipped: NDArray[Any], lines: Floats, hits: Integers) -> None:
    """Count, for every pair of rows, the flips whose difference reaches the pair's line."""
    buffer = np.empty(flipped.shape[1], dtype=flipped.dtype)
    for first in range(len(flipped)):
        for second in range(first + 1, len(flipped)):
            np.subtract(flipped[first], flipped[second], out=buffer)
            np.abs(buffer, out=buffer)
            hits[first, second] += np.count_nonzero(buffer >= float(lines[first, second]))


def t_p_values(parts: Blocks) -> Floats:
    """p-values of the paired t test for every pair of runs (runs x runs); NaN where a pair does not vary.

    The variance of a difference follows from the covariances of the runs; series count as wholes, by the share of
    the units they hold.
    """
    from scipy.special import stdtr

    count = parts.count
    totals = parts.parts.sum(axis=1)
    spread = (parts.parts - totals[:, None] * parts.shares) / parts.scale
    products = spread @ spread.T
    squares = np.diag(products)
    variance = np.maximum(squares[:, None] + squares[None, :] - 2 * products, 0.0)
    # Rounding leaves crumbs of the variance of runs that differ by the same amount everywhere.
    variance[variance < 1e-12 * (squares[:, None] + squares[None, :])] = 0.0
    if count < 2:
        return np.full(variance.shape, np.nan)
    error = np.sqrt(variance * count / (count - 1))
    difference = np.abs(totals[:, None] - totals[None, :]) / parts.scale
    t = np.divide(difference, error, out=np.full(error.shape, np.nan), where=error > 0)
    return np.asarray(2 * stdtr(count - 1, -t))


def holm(p: Floats) -> Floats:
    """Holm's step-down adjustment (Holm 1979): the chance of any false difference stays below the level.

    The i-th smallest of m p-values is multiplied by m - i + 1; running maximum, at most 1.
    """
    count = len(p)
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(count, 0, -1)) if count else p
    return _back(np.minimum(raised, 1.0), order)


def holm_levels(p: Mapping[str, float], alpha: float) -> tuple[dict[str, float], dict[str, float]]:
    """The level of each test, and its adjusted p-value, such that both decide as Holm's correction does.

    The i-th smallest of m p-values is tested at alpha/(m - i + 1), and all that follow the first one that is not
    significant at its level. An interval at the level of its test then excludes 0 exactly where the adjusted p-value
    is at most alpha.
    """
    adjusted = dict(zip(p, holm(np.array(list(p.values()))).tolist(), strict=True))
    levels: dict[str, float] = {}
    left = len(p)
    for name in sorted(p, key=lambda name: p[name]):
        levels[name] = alpha / left
        if p[name] <= alpha / left:
            left -= 1
    return {name: levels[name] for name in p}, adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini and Hochberg's step-up adjustment (1995): the expected share of false differences.

    The i-th smallest of m p-values is multiplied by m/i; running minimum from the largest down, at most 1.
    """
    count = len(p)
    order = np.argsort(p, kind="stable")
    raised = p[order] * (count / np.arange(1, count + 1))
    lowered = np.minimum.accumulate(raised[::-1])[::-1] if count else raised
    return _back(np.minimum(lowered, 1.0), order)


def _back(adjusted: Floats, order: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Floats:
    result: Floats = np.empty(len(adjusted))
    result[order] = adjusted
    return result
