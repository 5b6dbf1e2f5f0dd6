"""The result of `stability`: rankings under several judgment sets, in words, tables and JSON."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from qassay.arrays import TIE
from qassay.directions import HIGHER, Direction
from qassay.display import enumerated
from qassay.frames import frame
from qassay.meta.crossed import OverAssessors
from qassay.meta.noise import Noise
from qassay.meta.ranking import RankComparison, Swap, mean_ranks, places
from qassay.meta.redrawing import Redrawn
from qassay.results import UNREPORTED, Figured, Result, reported
from qassay.tables import MANUAL_RUN, Cell, Column, Table, decimals, plural, starred, table

if TYPE_CHECKING:
    import polars as pl

# Thresholds of the swap counts: steps of 0.01, at least up to 0.20, beyond that while there are swaps.
STEPS_SHOWN = 20
STEPS_MOST = 100
SWAPS_SHOWN = 10
RUNS_SHOWN = 40
TAU = (
    "tau (Kendall): 1 where two sets rank the runs alike, 0 where the rankings have nothing in common, -1 where one "
    "reverses the other; tau_AP counts changes near the top more. Swaps are pairs of runs that change places."
)
# The answer names the sets up to this number.
SETS_NAMED = 3
BOUND = "bound of that change"
# What two rankings are compared by, for every set with every set.
SQUARES = ("tau", "tau_ap", "tau_ap_a", "tau_ap_b", "swaps", "tied", "concordant")
# What becomes of them with new questions.
REDRAWN = ("tau_sd", "tau_ap_sd", "swaps_sd", "tau_next")

Progress = Callable[[int, int], None]
# A number for every set with every set.
Square: TypeAlias = tuple[tuple[float | None, ...], ...]
Counts: TypeAlias = tuple[tuple[int, ...], ...]
Ranges: TypeAlias = tuple[tuple[tuple[float, float] | None, ...], ...]


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """The largest change of one run's score from the reference set to another; `change` is its size."""

    run: str
    set: str
    change: float
    reference_score: float
    score: float


@dataclass(frozen=True, slots=True)
class SwapUnder(Swap):
    """A swap with the reference, and the set that has the other order."""

    set: str


@dataclass(frozen=True, slots=True)
class MeasureStability(Figured):
    """The rankings of the same runs under several judgment sets, by one measure.

    `tau[i][j]`, like the other squares and `comparisons`, takes set i as the truth. `unit_tau[i][j]` is the mean tau
    over the units that both matrices have and that rank the runs at all (`unit_tau_units[i][j]` of them). `tau_sd`,
    `tau_ap_sd` and `swaps_sd` are deviations between draws of questions, `tau_next` is the range for new ones.
    `swapped` lists the swaps of each set with the reference, `scores` those of every run under each set, and `bound`
    is the most that a score can change: disagreements / questions.
    """

    measure: str
    reference: str = field(metadata=UNREPORTED)
    sets: tuple[str, ...] = field(metadata=UNREPORTED)
    runs: tuple[str, ...] = field(metadata=UNREPORTED)
    scores: Mapping[str, Mapping[str, float]]
    comparisons: tuple[tuple[RankComparison, ...], ...] = field(metadata=UNREPORTED)
    tau: Square
    tau_ap: Square
    tau_ap_a: Square
    tau_ap_b: Square
    swaps: Counts
    tied: Counts
    concordant: Counts
    tau_sd: Square
    tau_ap_sd: Square
    swaps_sd: Square
    tau_next: Ranges
    unit_tau: Square
    unit_tau_units: Counts
    swapped: tuple[SwapUnder, ...]
    largest_change: ScoreChange | None
    bound: float | None
    manual: frozenset[str] = field(default=frozenset(), metadata=UNREPORTED)
    notes: tuple[str, ...] = ()
    unit_name: tuple[str, str] = field(default=("question", "questions"), metadata=UNREPORTED)
    direction: Direction = HIGHER
    redrawn: tuple[tuple[Redrawn | None, ...], ...] = field(default=(), metadata=UNREPORTED)

    @reported
    def runs_(self) -> int:
        """Number of runs."""
        return len(self.runs)

    @reported
    def pairs(self) -> int:
        """Number of pairs of runs."""
        return self.comparisons[0][0].pairs

    @reported
    def ranks(self) -> dict[str, dict[str, float]]:
        """The rank of every run under each set."""
        return {name: dict(zip(self.runs, self._ranks(name), strict=True)) for name in self.sets}

    def _ranks(self, name: str) -> list[float]:
        ranks: list[float] = mean_ranks(self.direction.oriented(np.array([*self.scores[name].values()]))).tolist()
        return ranks

    @reported
    def mean_tau(self) -> float | None:
        """Mean tau over all pairs of sets."""
        size = range(len(self.sets))
        return _mean(self.comparisons[i][j].tau for i, j in itertools.combinations(size, 2))

    @reported
    def mean_tau_with_reference(self) -> float | None:
        """Mean tau of each other set with the reference."""
        return _mean(comparison.tau for _, comparison in self.with_reference())

    @reported
    def swaps_with_reference(self) -> int:
        """Swaps summed over the comparisons of each other set with the reference."""
        return len(self.swapped)

    @reported
    def largest_swapped_difference(self) -> float | None:
        """The largest difference, under the reference, of a pair that some other set orders the other way."""
        return max((swap.difference for swap in self.swapped), default=None)

    @reported
    def swaps_at_least(self) -> dict[str, int]:
        """Number of swaps whose difference under the reference is at least 0.00, 0.01, 0.02, ..."""
        differences = np.sort([swap.difference for swap in self.swapped])
        last = math.ceil(100 * differences[-1]) + 1 if len(differences) else 0
        steps = np.arange(min(max(last, STEPS_SHOWN), STEPS_MOST) + 1)
        reached = len(differences) - np.searchsorted(differences, steps / 100 - TIE)
        return {f"{step / 100:.2f}": int(number) for step, number in zip(steps, reached, strict=True)}

    def with_reference(self) -> Iterator[tuple[str, RankComparison]]:
        """Every other set with its comparison, the reference being the truth."""
        row = self.comparisons[self.sets.index(self.reference)]
        return ((name, comparison) for name, comparison in zip(self.sets, row, strict=True) if name != self.reference)

    def with_new_units(self, called: Callable[[str], str] = str) -> str:
        """Where tau with the reference would lie with new questions; of several sets, the one that ranks least alike.

        Empty where no range can be given.
        """
        row = zip(self.sets, self.redrawn[self.sets.index(self.reference)], strict=True)
        ranges = [(spread, name) for name, spread in row if spread is not None and name != self.reference]
        if not ranges:
            return ""
        least, name = min(ranges, key=lambda entry: entry[0].tau)
        lead = "" if len(ranges) == 1 else f"lowest under {called(name)}: "
        return f"{lead}{least.sentence(self.unit_name)}"

    def changes(self, called: Callable[[str], str] = str) -> str:
        """Which sets put runs in another order than the reference, in plain words; `called` writes their names."""
        pairs, than = self.comparisons[0][0].pairs, f"compared with {called(self.reference)}"
        if not pairs:
            return "there is one run: no judgments change its place"
        swaps = {called(name): comparison.swaps for name, comparison in self.with_reference()}
        if not any(swaps.values()):
            return f"{than}, no two runs change places under {enumerated(swaps, SETS_NAMED)}"
        if len(swaps) <= SETS_NAMED:
            who = enumerated(f"{name} reverses {number:,}" for name, number in swaps.items())
        else:
            who = f"{len(swaps):,} sets reverse {min(swaps.values()):,} to {max(swaps.values()):,}"
        largest = self.largest_swapped_difference
        width = "" if largest is None else f"; the largest difference that is reversed is {largest:.3f}"
        return f"{than}, {who} of {plural(pairs, 'pair')} of runs{width}"

    def summary(self) -> dict[str, Cell]:
        """The figures of the summary under their titles."""
        change = self.largest_change
        figures: dict[str, Cell] = {
            "runs": len(self.runs),
            "mean tau, all pairs of sets": self.mean_tau,
            f"mean tau with {self.reference}": self.mean_tau_with_reference,
            f"swaps with {self.reference}": self.swaps_with_reference,
            "largest difference of swapped runs": self.largest_swapped_difference,
            "largest change of a score": None if change is None else change.change,
            "  of run": None if change is None else self._star(change.run),
            "  under": None if change is None else change.set,
        }
        return figures if self.bound is None else figures | {BOUND: self.bound}

    def table(self) -> Table:
        """All pairs of sets: correlations and counts."""
        columns = [Column("set (truth)", left=True), Column("other set", left=True), Column("tau", ".3f")]
        columns += [Column("tau, new " + self.unit_name[1])] if self._has_ranges() else []
        columns += [Column("tau_AP", ".3f"), Column("concordant"), Column("swaps"), Column("tied")]
        columns += [Column(f"mean tau per {self.unit_name[0]}", ".3f"), Column(self.unit_name[1])]
        rows = [self._with_range(row) for row in self.pair_rows()]
        size = f"{plural(len(self.runs), 'run')}, {plural(self.comparisons[0][0].pairs, 'pair')}"
        title = f"Rankings by {self.measure} ({size})"
        return table(title, columns, rows, [*self.notes, *self._reading_notes()])

    def pair_rows(self) -> Iterator[tuple[Cell, ...]]:
        """Every pair of sets, those with the reference first: both sets, correlations, counts, tau within units."""
        first = self.sets.index(self.reference)
        order = [first, *(i for i in range(len(self.sets)) if i != first)]
        for i, j in itertools.combinations(order, 2):
            ranks = self.comparisons[i][j]
            counts = (ranks.concordant, ranks.swaps, ranks.tied)
            unit = (self.unit_tau[i][j], self.unit_tau_units[i][j])
            yield (self.sets[i], self.sets[j], ranks.tau, ranks.tau_ap, *counts, *unit)

    def _has_ranges(self) -> bool:
        return any(spread is not None for row in self.redrawn for spread in row)

    def _with_range(self, row: tuple[Cell, ...]) -> tuple[Cell, ...]:
        """The row of a pair of sets, with the range of tau for new questions after it where any pair has one."""
        if not self._has_ranges():
            return row
        spread = self.redrawn[self.sets.index(str(row[0]))][self.sets.index(str(row[1]))]
        between = None if spread is None else "{:.2f} to {:.2f}".format(*spread.tau_next)
        return (*row[:3], between, *row[3:])

    def _reading_notes(self) -> Iterator[str]:
        comparisons = [self.comparisons[i][j] for i, j in itertools.combinations(range(len(self.sets)), 2)]
        if any(comparison.tau is not None for comparison in comparisons):
            yield TAU
        if self._has_ranges():
            yield (
                f"tau, new {self.unit_name[1]}: where tau would lie with as many new {self.unit_name[1]}, in 19 of 20 "
                "cases. By custom a ranking with tau of 0.9 or more is called stable: read the range, not tau alone."
            )
        if any(comparison.tied and comparison.tau is not None for comparison in comparisons):
            yield "With ties: tau-b, and tau_AP in the form b, which takes neither ranking as the truth."

    def largest_swaps(self) -> Table:
        """The swaps of the largest difference under the reference."""
        columns = [Column("set", left=True), Column("better", left=True), Column("worse", left=True)]
        swaps = sorted(self.swapped, key=lambda swap: -swap.difference)
        shown = swaps[:SWAPS_SHOWN]
        rows = [(s.set, self._star(s.better), self._star(s.worse), s.difference, s.other_difference) for s in shown]
        columns.append(Column(f"difference ({self.reference})", f".{decimals(s.difference for s in shown)}f"))
        columns.append(Column("difference (set)", f".{decimals(s.other_difference for s in shown)}f"))
        notes = [f"The {SWAPS_SHOWN} largest of {len(swaps)}."] if len(swaps) > SWAPS_SHOWN else []
        notes += [] if swaps else ["No two runs change places."]
        notes += [MANUAL_RUN] if any(run.endswith("*") for row in rows for run in row[1:3]) else []
        return table(f"Swaps against {self.reference}, by {self.measure}", columns, rows, notes)

    def rankings(self) -> Table:
        """The score and the rank of each run under every set, side by side, the reference first."""
        ranks = self.ranks
        names = [self.reference, *(name for name in self.sets if name != self.reference)]
        columns = [Column("run", left=True)]
        for name in names:
            columns += [Column(name, ".3f"), Column("rank")]
        shown = {name: dict(zip(self.runs, places(ranks[name].values()), strict=True)) for name in names}
        order = sorted(self.runs, key=lambda run: (ranks[self.reference][run], run))
        rows: list[tuple[Cell, ...]] = []
        for run in order[:RUNS_SHOWN]:
            pairs = ((self.scores[name][run], shown[name][run]) for name in names)
            rows.append((self._star(run), *(figure for pair in pairs for figure in pair)))
        notes = [f"The first {RUNS_SHOWN} of {len(order)} runs."] if len(order) > RUNS_SHOWN else []
        notes += [MANUAL_RUN] if self.manual else []
        return table(f"Scores and ranks under each set, by {self.measure}", columns, rows, notes)

    def _star(self, run: str) -> str:
        return starred(run, self.manual)


@dataclass(frozen=True, slots=True, repr=False)
class Stability(Result):
    """The stability of an evaluation under its judgment sets, by one or more measures.

    `noise` is what separate judging of identical responses does to scores, by type of question; None where bare scores
    were compared. `over` is the largest swap by the first measure, with who judged inside its interval, where several
    assessors judged the same.
    """

    reference: str
    sets: tuple[str, ...]
    measures: Mapping[str, MeasureStability]
    notes: tuple[str, ...] = ()
    noise: Mapping[str, Noise] | None = None
    over: OverAssessors | None = None

    def sentence(self) -> str:
        """Which runs change places under the other sets, by the first measure; without a term of statistics."""
        if len(self.sets) == 1:
            return f"there is one judgment set, {self.reference}: nothing to compare it with"
        measure = next(iter(self.measures.values()))
        return measure.changes() + (f" ({measure.measure})" if len(self.measures) > 1 else "")

    def to_polars(self) -> pl.DataFrame:
        """One row per measure and pair of sets; the first set of a pair is taken as the truth."""
        columns = {"measure": str, "set": str, "other_set": str, "tau": float, "tau_ap": float, "concordant": int}
        rows = [(name, *row) for name, measure in self.measures.items() for row in measure.pair_rows()]
        return frame({**columns, "swaps": int, "tied": int, "mean_unit_tau": float, "units": int}, rows)

    def tables(self) -> tuple[Table, ...]:
        """Summary; per measure the pairs of sets, ranks and swaps; the swaps by difference; judging noise."""
        return (*self._ranking_tables(), *(part.table() for part in (self.noise or {}).values() if part.pairs))

    def _ranking_tables(self) -> tuple[Table, ...]:
        if len(self.sets) == 1:
            alone = [(measure.rankings(), measure.notes) for measure in self.measures.values()]
            return tuple(replace(shown, notes=(*shown.notes, *notes, *self.notes)) for shown, notes in alone)
        tables: list[Table] = [self.table()]
        for measure in self.measures.values():
            tables += [measure.table(), measure.rankings(), measure.largest_swaps()]
        swaps = any(measure.swaps_with_reference for measure in self.measures.values())
        return (*tables, self._at_least()) if swaps else tuple(tables)

    def table(self) -> Table:
        """One column a measure."""
        shown = [measure.summary() for measure in self.measures.values()]
        titles = dict.fromkeys(title for column in shown for title in column)
        rows: list[tuple[Cell, ...]] = [(title, *(column.get(title) for column in shown)) for title in titles]
        columns = [Column("", left=True), *(Column(name, ".3f") for name in self.measures)]
        notes = [*self.notes, f"Differences and changes are measured from the reference, {self.reference}."]
        if BOUND in titles:
            notes.append("Bound: the share of questions on which the sets disagree.")
        return table(f"Stability under {', '.join(self.sets)}", columns, rows, notes)

    def _at_least(self) -> Table:
        """How many swaps reach each difference, down to the first that none reaches."""
        counts = {name: measure.swaps_at_least for name, measure in self.measures.items()}
        steps = max(counts.values(), key=len, default={})
        columns = [Column("difference of at least"), *(Column(name) for name in counts)]
        rows: list[tuple[Cell, ...]] = []
        for step in steps:
            rows.append((step, *(swaps.get(step, 0) for swaps in counts.values())))
            if not any(swaps.get(step, 0) for swaps in counts.values()):
                break
        return table(f"Number of swaps against {self.reference}", columns, rows)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None
