"""The methods that decide for all pairs of runs at once which of them differ.

Each takes the parts of the runs' scores, in the order of the ranking, and gives one decision a pair: p-values,
adjusted p-values, and who differs, which is where the adjusted p-value is at most alpha.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qassay.matrix import Floats
from qassay.meta.intervals import FLIPS, Blocks, every_flip_fits, hits_needed
from qassay.meta.significance.corrections import benjamini_hochberg, holm
from qassay.meta.significance.flipped_pairs import flip_p_values, t_p_values
from qassay.meta.significance.ranges import (
    critical_range,
    exchange_ranges,
    flip_ranges,
    residual_variance,
    studentized_range_sf,
)

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


@dataclass(frozen=True)
class Decision:
    """What a method gives: p-values (runs x runs), who differs, the common line if any, and what to say.

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
    """No p-values, nobody differs, and a note that says why."""
    blank = np.full((runs, runs), np.nan)
    return Decision(blank, blank, np.zeros((runs, runs), np.bool_), None, None, (note,))


def randomised_tukey(
    parts: Blocks, alpha: float, permutations: int | None, seed: int, progress: Progress | None
) -> Decision:
    """One line for all pairs: the range that random exchange of runs within units reaches with probability alpha."""
    ranges, singles, exact = _under_chance(parts, permutations, seed, progress)
    # Random permutations are joined by the one observed, which keeps p above 0; all there are hold it already.
    observed = int(not exact)
    totals = parts.parts.sum(axis=1)
    lines = np.abs(totals[:, None] - totals[None, :]) - parts.tolerance
    hits = len(ranges) - np.searchsorted(ranges, lines)
    p = (observed + len(singles) - np.searchsorted(singles, lines)) / (observed + len(singles))
    needed = hits_needed(len(ranges), alpha, exact=exact)
    different = hits < needed
    np.fill_diagonal(different, False)
    margin, note = _common_line(parts, ranges, needed, alpha)
    adjusted = (observed + hits) / (observed + len(ranges))
    return Decision(p, adjusted, different, margin, len(ranges), () if note is None else (note,), exact)


def _under_chance(
    parts: Blocks, permutations: int | None, seed: int, progress: Progress | None
) -> tuple[Floats, Floats, bool]:
    """Sorted ranges of all runs and differences of single pairs, and whether they come from all permutations."""
    if len(parts.parts) == 2:
        flips = permutations or FLIPS
        ranges = np.sort(flip_ranges(parts, permutations=flips, seed=seed))
        return ranges, ranges, every_flip_fits(parts.count, flips)
    ranges, singles = exchange_ranges(parts, permutations=permutations or EXCHANGES, seed=seed, progress=progress)
    return np.sort(ranges), np.sort(singles, axis=None), False


def _common_line(parts: Blocks, ranges: Floats, needed: int, alpha: float) -> tuple[float | None, str | None]:
    """The difference that two runs need at least, or a sentence about why there is none."""
    if needed < 1:
        return None, f"{len(ranges):,} permutations cannot reach {alpha:g}: no pair can be called different."
    # No exchange of runs within units brings two runs further apart than this.
    furthest = float(np.ptp(parts.parts, axis=0).sum())
    line = float(ranges[-needed])
    if line > furthest - parts.tolerance:
        return None, _out_of_reach(parts, alpha, furthest)
    # Whole numbers meet the line exactly; others may stand one tolerance above it.
    return (line + (0.0 if parts.tolerance == 0.5 else parts.tolerance)) / parts.scale, None


def _out_of_reach(parts: Blocks, alpha: float, furthest: float) -> str:
    """Why no difference, however large, could be called one."""
    if furthest < parts.tolerance:
        return "All runs are equal on every unit: there is nothing to tell apart."
    units = f"{parts.count} {'unit' if parts.count == 1 else 'units'}"
    reached = f"On {units} chance alone often reaches the largest difference that these scores allow"
    return f"{reached}: no pair can be called different at {alpha:g}."


def paired_tukey(parts: Blocks, alpha: float) -> Decision:
    """One line for all pairs, from the studentized range on the two-way residual."""
    from scipy.special import stdtr

    runs, count = parts.parts.shape
    totals = parts.parts.sum(axis=1)
    differences = np.abs(totals[:, None] - totals[None, :])
    differences = np.where(differences < parts.tolerance, 0.0, differences) / parts.scale
    if count < 2:
        return undecided(runs, "One unit alone does not show how differences vary: nothing can be said.")
    variance, freedom = residual_variance(parts.values())
    error = math.sqrt(variance / count)
    if error < 1e-12:
        p = np.where(differences > 0, 0.0, 1.0)
        note = "Every difference is the same on all units: no chance is left, and every difference counts."
        return Decision(p, p, differences > 0, 0.0, None, (note,))
    upper = np.triu_indices(runs, 1)
    adjusted = np.ones((runs, runs))
    adjusted[upper] = studentized_range_sf(differences[upper] / error, runs, freedom)
    adjusted = np.minimum(adjusted, adjusted.T)
    p = np.minimum(2 * stdtr(freedom, -differences / (error * math.sqrt(2))), adjusted)
    return Decision(p, adjusted, adjusted <= alpha, critical_range(runs, freedom, alpha) * error, None)


def single_pairs(
    parts: Blocks,
    method: Method,
    alpha: float,
    permutations: int | None,
    test: PairTest,
    seed: int,
    progress: Progress | None,
) -> Decision:
    """Correct the p-values of single pairs; each pair has a line of its own, so there is no common interval."""
    runs = len(parts.parts)
    upper = np.triu_indices(runs, 1)
    pairs = len(upper[0])
    notes = [f"{NAMES[method]} corrects single p-values ({test} test); it gives no common interval."]
    drawn: int | None
    if test == "t":
        p, drawn, exact = t_p_values(parts), None, False
        if np.isnan(p[upper]).any():
            notes.append(
                "Pairs whose difference is the same on every unit have no t test; they count as not different."
            )
    else:
        wanted = permutations or min(max(FLIPS, math.ceil(pairs / alpha)), MOST_FLIPS)
        p, drawn, exact = flip_p_values(parts, flips=wanted, seed=seed, progress=progress)
        least = (2 if exact else 1) / (drawn if exact else drawn + 1)
        if least * pairs > alpha:
            reason = f"{parts.count} units" if exact else f"{drawn:,} permutations"
            notes.append(
                f"{reason} give no p below {least:.2g}: one pair among {pairs:,} cannot reach {alpha:g} alone."
            )
    correct = holm if method == "holm" else benjamini_hochberg
    adjusted = np.ones((runs, runs))
    adjusted[upper] = correct(np.nan_to_num(p[upper], nan=1.0))
    adjusted = np.minimum(adjusted, adjusted.T)
    different = adjusted <= alpha
    np.fill_diagonal(p, 1.0)
    return Decision(p, adjusted, different, None, drawn, tuple(notes), exact)
