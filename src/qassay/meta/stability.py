"""Stability: would the ranking be the same under other judgments?

one score matrix a judgment set  ->  tau for all pairs of sets, swaps against the reference, largest change
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qassay.arrays import TIE, Floats
from qassay.directions import HIGHER, Direction
from qassay.display import enumerated
from qassay.errors import InputError, Problem, UsageError, few, unknown
from qassay.frames import frame
from qassay.matrix import ScoreMatrix
from qassay.meta.agreement.coefficients import ticks
from qassay.meta.crossed import OverAssessors
from qassay.meta.noise import Noise
from qassay.meta.ranking import RankComparison, Swap, compare_rankings, mean_ranks, mean_unit_tau, places, swapped_pairs
from qassay.meta.redrawing import Redrawn, drawn_scores, redrawn
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


def stability(
    matrices: Mapping[str, Mapping[str, ScoreMatrix]],
    *,
    reference: str,
    disagreements: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Stability:
    """Compare the rankings of the same runs under several judgment sets [EVAL02, QA03, RTE08].

    `matrices[measure][name]` has the scores under set `name`; every measure has the same sets. Runs that some set
    lacks are left out, and the notes say so. For each pair of sets: tau, tau_AP, swaps and ties between the rankings,
    how far they vary with the questions (`seed`), and the mean of the taus within units. Against the reference: every
    swap with its difference there, and the largest change of a score. `disagreements`, the number of questions on which
    the sets differ, gives the bound of that change where scores are shares of right decisions. One set alone is not
    compared, and the notes say so.
    """
    if not matrices or not all(matrices.values()):
        raise UsageError("stability needs the scores of at least one measure")
    names = tuple(next(iter(matrices.values())))
    if any(set(scored) != set(names) for scored in matrices.values()):
        raise UsageError("every measure needs scores under the same judgment sets")
    if reference not in names:
        raise unknown("reference", reference, names)
    tick = ticks(len(matrices) * len(names) * (len(names) - 1) // 2, progress)
    measured = {
        measure: _measure(
            measure, scored, names, reference=reference, disagreements=disagreements, seed=seed, tick=tick
        )
        for measure, scored in matrices.items()
    }
    return Stability(reference, names, measured)


def _measure(
    measure: str,
    matrices: Mapping[str, ScoreMatrix],
    names: Sequence[str],
    *,
    reference: str,
    disagreements: int | None,
    seed: int,
    tick: Callable[[], None],
) -> MeasureStability:
    """The stability of the ranking by one measure, over the runs that all sets have."""
    runs, notes = _common_runs(matrices, names)
    chosen = {name: matrices[name].select(runs) for name in names}
    scores = {name: matrix.scores() for name, matrix in chosen.items()}
    direction = chosen[reference].direction
    if any(matrix.direction.higher_is_better != direction.higher_is_better for matrix in chosen.values()):
        raise UsageError("higher scores are better under some of the sets, and lower scores under others")
    oriented = {name: direction.oriented(values) for name, values in scores.items()}
    comparisons = tuple(tuple(compare_rankings(oriented[a], oriented[b]) for b in names) for a in names)
    taus = _unit_taus(chosen, names, tick)
    spreads = _redrawn(chosen, names, comparisons, seed)
    again: dict[str, Any] = {
        name: tuple(tuple(getattr(spread, name, None) for spread in row) for row in spreads) for name in REDRAWN
    }
    if len(names) == 1:
        notes.append(f"There is one judgment set, {names[0]}: nothing to compare it with.")
    on_rankings = dict.fromkeys(note for row in comparisons for comparison in row for note in comparison.notes)
    return MeasureStability(
        measure=measure,
        reference=reference,
        sets=tuple(names),
        runs=runs,
        scores={name: dict(zip(runs, values.tolist(), strict=True)) for name, values in scores.items()},
        comparisons=comparisons,
        **{name: tuple(tuple(getattr(ranks, name) for ranks in row) for row in comparisons) for name in SQUARES},
        **again,
        unit_tau=tuple(tuple(tau for tau, _ in row) for row in taus),
        unit_tau_units=tuple(tuple(units for _, units in row) for row in taus),
        swapped=tuple(
            SwapUnder(swap.better, swap.worse, swap.difference, swap.other_difference, name)
            for name in names
            if name != reference
            for swap in swapped_pairs(runs, oriented[reference], oriented[name])
        ),
        largest_change=_largest_change(runs, scores, reference),
        bound=_bound(chosen[reference], disagreements),
        manual=frozenset().union(*(matrix.manual for matrix in chosen.values())).intersection(runs),
        notes=(*notes, *on_rankings, *_unit_notes(chosen, names), *_matrix_notes(chosen)),
        unit_name=chosen[reference].unit_name,
        direction=direction,
        redrawn=spreads,
    )


def _redrawn(
    matrices: Mapping[str, ScoreMatrix],
    names: Sequence[str],
    comparisons: Sequence[Sequence[RankComparison]],
    seed: int,
) -> tuple[tuple[Redrawn | None, ...], ...]:
    """For every set with every other: how far the comparison varies with the questions."""
    scores = drawn_scores([matrices[name] for name in names], seed) if len(names) > 1 else None
    size = range(len(names))
    if scores is None:
        return tuple(tuple(None for _ in size) for _ in size)
    units = len({unit for name in names for unit in matrices[name].units})
    return tuple(
        tuple(None if i == j else redrawn(comparisons[i][j].tau, scores[i], scores[j], units) for j in size)
        for i in size
    )


def _common_runs(matrices: Mapping[str, ScoreMatrix], names: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """The runs that all matrices have, in the order of the first, and a note about the others."""
    everywhere = set.intersection(*(set(matrices[name].runs) for name in names))
    runs = tuple(run for run in matrices[names[0]].runs if run in everywhere)
    others = sorted({run for name in names for run in matrices[name].runs} - everywhere)
    if not runs:
        having = "; ".join(f"{name} has {few(matrices[name].runs, 3)}" for name in names)
        message = f"the rankings have no run in common ({having}). Give the same run the same name everywhere"
        raise InputError(Problem("configuration", message))
    if not others:
        return runs, []
    which = f"{len(others)} {'run that is' if len(others) == 1 else 'runs that are'} not in every set"
    return runs, [f"Left out: {which} ({few(others)})."]


def _unit_taus(
    matrices: Mapping[str, ScoreMatrix], names: Sequence[str], tick: Callable[[], None]
) -> list[list[tuple[float | None, int]]]:
    """For every set with every set: the mean tau within units, and the units that have one. Symmetric."""
    taus: dict[tuple[str, str], tuple[float | None, int]] = {}
    for i, a in enumerate(names):
        for b in names[:i]:
            taus[a, b] = taus[b, a] = mean_unit_tau(*_common_units(matrices[a], matrices[b]))
            tick()
        taus[a, a] = mean_unit_tau(matrices[a].values, matrices[a].values)
    return [[taus[a, b] for b in names] for a in names]


def _common_units(a: ScoreMatrix, b: ScoreMatrix) -> tuple[Floats, Floats]:
    """The unit scores of two matrices on the units that both have."""
    if a.units == b.units:
        return a.values, b.values
    where = {unit: column for column, unit in enumerate(b.units)}
    pairs = [(column, where[unit]) for column, unit in enumerate(a.units) if unit in where]
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return a.values[:, left], b.values[:, right]


def _unit_notes(matrices: Mapping[str, ScoreMatrix], names: Sequence[str]) -> list[str]:
    """A note where the matrices are not about the same units: run scores then differ for that reason too."""
    kinds = {frozenset(matrices[name].units) for name in names}
    if len(kinds) == 1:
        return []
    common = len(frozenset.intersection(*kinds))
    name = matrices[names[0]].unit_name[1]
    return [f"The sets do not score the same {name} (they share {common}): scores differ for that reason too."]


def _matrix_notes(matrices: Mapping[str, ScoreMatrix]) -> list[str]:
    """The notes of the matrices: once where all say it, else under the name of the set."""
    sets: dict[str, list[str]] = {}
    for name, matrix in matrices.items():
        for note in matrix.notes:
            sets.setdefault(note, []).append(name)
    return [note if len(names) == len(matrices) else f"{', '.join(names)}: {note}" for note, names in sets.items()]


def _largest_change(runs: Sequence[str], scores: Mapping[str, Floats], reference: str) -> ScoreChange | None:
    """The run and set whose score differs most from the reference; the first of equals."""
    changes, before = [], scores[reference]
    for name, after in scores.items():
        if name != reference and runs:
            sizes = np.abs(after - before)
            run = int(np.argmax(sizes))
            changes.append(ScoreChange(runs[run], name, float(sizes[run]), float(before[run]), float(after[run])))
    return max(changes, key=lambda change: change.change, default=None)


def _bound(matrix: ScoreMatrix, disagreements: int | None) -> float | None:
    """disagreements / questions, where a score is the share of questions answered right."""
    decisions = matrix.summary.is_mean and bool(np.isin(matrix.values, (0.0, 1.0)).all())
    if disagreements is None or not decisions or not matrix.units:
        return None
    return disagreements / len(matrix.units)
