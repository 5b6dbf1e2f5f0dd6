"""The methods that decide for all pairs of runs at once which of them differ.

Each takes the parts of the runs' scores, in the order of the ranking, and gives one decision per pair: p-values,
adjusted p-values, and who differs, which is where the adjusted p-value is at most alpha.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import Floats
from qassay.errors import unknown
from qassay.matrix import Repeats
from qassay.meta.blocks import Blocks
from qassay.meta.flips import hits_needed
from qassay.meta.repeats import pair_p_values
from qassay.meta.significance.differences import Systems
from qassay.meta.significance.families import Family, families
from qassay.meta.significance.power import FEWEST_BLOCKS, check_test
from qassay.meta.significance.ranges import (
    critical_range,
    exchange_ranges,
    residual_variance,
    studentized_range_sf,
)
from qassay.meta.significance.single_pairs import (
    benjamini_hochberg,
    binomial_p_values,
    flip_p_values,
    flips_for,
    holm,
    t_p_values,
)
from qassay.tables import counted, plural

Method: TypeAlias = Literal["max-t", "randomised-tukey", "tukey", "holm", "bh"]
PairTest: TypeAlias = Literal["randomisation", "t"]
Progress: TypeAlias = Callable[[int, int], None]

NAMES: dict[Method, str] = {
    "max-t": "max-t",
    "randomised-tukey": "randomised Tukey",
    "tukey": "paired Tukey",
    "holm": "Holm",
    "bh": "Benjamini-Hochberg",
}
# Names that say more to people.
IN_WORDS: dict[Method, str] = {"max-t": "flips, largest of all pairs"}
EXCHANGES = 20_000
ONE_RUN = "One run alone: there is nothing to compare."


@dataclass(frozen=True)
class Decision:
    """The result of a method: p-values (runs x runs), who differs, the common line if any, and notes.

    `exact` says that the permutations are all there are. `limits` are those of the interval of every pair in order, and
    `near` is the number of pairs that other random flips could decide otherwise.
    """

    p: Floats
    adjusted: Floats
    different: NDArray[np.bool_]
    margin: float | None
    permutations: int | None
    notes: tuple[str, ...] = ()
    exact: bool = False
    limits: tuple[Floats, Floats] | None = None
    near: int = 0


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

    def decide(self, several: Sequence[Blocks], repeats: Sequence[Repeats | None]) -> list[Decision]:
        """Which runs differ, in each of several tables that are tested together; none where there is one run.

        With `repeats` flips, Holm's and Benjamini-Hochberg's correction take running the systems again into account.
        """
        if self.method == "max-t":
            return self._largest_of_all(several, repeats)
        return [self._alone(*one) for one in zip(several, repeats, strict=True)]

    def _alone(self, parts: Blocks, repeats: Repeats | None) -> Decision:
        if len(parts.parts) < 2:
            return undecided(1, ONE_RUN)
        if self.method == "randomised-tukey":
            return self._randomised_tukey(parts)
        if self.method == "tukey":
            return self._paired_tukey(parts)
        return self._single_pairs(parts, None if repeats is None or parts.count < 2 else pair_p_values(repeats))

    def _largest_of_all(self, several: Sequence[Blocks], repeats: Sequence[Repeats | None]) -> list[Decision]:
        """One line for all pairs of all tables: the largest difference in deviations that flips reach by chance."""
        tested = families(
            [Systems.of(parts, repeats=again) for parts, again in zip(several, repeats, strict=True)],
            alpha=self.alpha,
            permutations=self.permutations,
            seed=self.seed,
            progress=self.progress,
        )
        return [_of_family(*one) for one in zip(tested, several, strict=True)]

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
            return None, out_of_reach(parts, furthest, self.alpha)
        # Whole numbers meet the line exactly; others may stand one tolerance above it.
        return (line + (0.0 if parts.tolerance == 0.5 else parts.tolerance)) / parts.scale, None

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
            return Decision(
                p, adjusted, different, None, None, (out_of_reach(parts, parts.span * parts.scale, self.alpha),)
            )
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


def _of_family(tested: Family, parts: Blocks) -> Decision:
    """The decision about all pairs as tables of runs."""
    runs = len(parts.parts)
    if runs < 2:
        return undecided(1, ONE_RUN)
    upper = np.triu_indices(runs, 1)
    adjusted, different = np.ones((runs, runs)), np.zeros((runs, runs), np.bool_)
    for whole, values in ((adjusted, tested.p), (different, tested.different)):
        whole[upper] = values
        whole.T[upper] = values
    return Decision(
        p=np.broadcast_to(np.nan, (runs, runs)),
        adjusted=adjusted,
        different=different,
        margin=None,
        permutations=tested.flips or None,
        notes=family_notes(tested, parts),
        exact=tested.exact,
        limits=None if np.isnan(tested.low).any() else (tested.low, tested.high),
        near=tested.near,
    )


def family_notes(tested: Family, parts: Blocks) -> tuple[str, ...]:
    """Why no pair can differ, or how many lie so near the line that chance decides."""
    number = counted(parts.count, parts.name)
    if parts.count < FEWEST_BLOCKS:
        fewest = f"it takes {FEWEST_BLOCKS} or more"
        return (f"On {number} no pair can be called different at {tested.alpha:g}: {fewest}.",)
    furthest = float(np.ptp(parts.parts, axis=0).sum())
    if furthest < parts.tolerance:
        return (out_of_reach(parts, furthest, tested.alpha),)
    if not math.isfinite(tested.line):
        return (f"{tested.flips:,} permutations cannot reach {tested.alpha:g}: no pair can be called different.",)
    # An observed difference counts as two of the flips where all of them are looked at.
    is_possible = (2 / tested.flips if tested.exact else 0.0) <= tested.alpha
    if not is_possible or tested.half_widths.min(initial=np.inf) >= parts.span:
        return (out_of_reach(parts, furthest, tested.alpha),)
    if not tested.near:
        return ()
    near = f"{plural(tested.near, 'pair')} {'lies' if tested.near == 1 else 'lie'} so near the line"
    return (f"{near} that other random flips could decide otherwise (--permutations {10 * tested.flips}).",)


def out_of_reach(parts: Blocks, furthest: float, alpha: float) -> str:
    """Why no difference, however large, could be called one."""
    if furthest < parts.tolerance:
        return "All systems have the same scores."
    number = counted(parts.count, parts.name)
    reached = f"On {number} chance alone often reaches the largest difference that these scores allow"
    return f"{reached}: no pair can be called different at {alpha:g}."
