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
from qassay.meta.intervals import Blocks, hits_needed
from qassay.meta.significance.corrections import benjamini_hochberg, holm
from qassay.meta.significance.flipped_pairs import flip_p_values, t_p_values
from qassay.meta.significance.ranges import critical_range, exchange_ranges, residual_variance, studentized_range_sf

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
FLIPS = 100_000
# More flips than this are not drawn on our own account; the notes then say what they cannot show.
MOST_FLIPS = 1_000_000


@dataclass(frozen=True)
class Decision:
    """What a method gives: p-values (runs x runs), who differs, the common line if any, and what to say."""

    p: Floats
    adjusted: Floats
    different: NDArray[np.bool_]
    margin: float | None
    permutations: int | None
    notes: tuple[str, ...] = ()


def undecided(runs: int, note: str) -> Decision:
    """No p-values, nobody differs, and a note that says why."""
    blank = np.full((runs, runs), np.nan)
    return Decision(blank, blank, np.zeros((runs, runs), np.bool_), None, None, (note,))


def randomised_tukey(parts: Blocks, alpha: float, permutations: int, seed: int, progress: Progress | None) -> Decision:
    """One line for all pairs: the range that random exchange of runs within units reaches with probability alpha."""
    ranges, singles = exchange_ranges(parts, permutations=permutations, seed=seed, progress=progress)
    totals = parts.parts.sum(axis=1)
    lines = np.abs(totals[:, None] - totals[None, :]) - parts.tolerance
    hits = len(ranges) - np.searchsorted(np.sort(ranges), lines)
    alone = np.sort(singles, axis=None)
    p = (1 + len(alone) - np.searchsorted(alone, lines)) / (1 + len(alone))
    needed = hits_needed(permutations, alpha, exact=False)
    different = hits < needed
    np.fill_diagonal(different, False)
    margin, notes = None, []
    # No exchange of runs within units brings two runs further apart than this.
    furthest = float(np.ptp(parts.parts, axis=0).sum())
    if needed >= 1 and np.sort(ranges)[-needed] > furthest - parts.tolerance:
        notes.append(_out_of_reach(parts, alpha, furthest))
    elif needed >= 1:
        # Whole numbers meet the line exactly; others may stand one tolerance above it.
        margin = float(np.sort(ranges)[-needed]) + (0.0 if parts.tolerance == 0.5 else parts.tolerance)
    else:
        notes.append(f"{permutations:,} permutations cannot reach {alpha:g}: no pair can be called different.")
    return Decision(
        p,
        (1 + hits) / (1 + permutations),
        different,
        None if margin is None else margin / parts.scale,
        permutations,
        tuple(notes),
    )


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
    if test == "t":
        p, drawn = t_p_values(parts), None
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
    return Decision(p, adjusted, different, None, drawn, tuple(notes))
