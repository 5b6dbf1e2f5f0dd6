"""Stability: would the ranking be the same under other judgments?

one score matrix a judgment set  ->  tau for all pairs of sets, swaps against the reference, largest change

result    Stability -> the answer in words, tables and JSON
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from qassay.arrays import Floats
from qassay.errors import InputError, Problem, UsageError, few, unknown
from qassay.matrix import ScoreMatrix
from qassay.meta.agreement.coefficients import ticks
from qassay.meta.ranking import RankComparison, compare_rankings, mean_unit_tau, swapped_pairs
from qassay.meta.redrawing import Redrawn, drawn_scores, redrawn
from qassay.meta.stability.result import REDRAWN, SQUARES, MeasureStability, Progress, ScoreChange, Stability, SwapUnder

__all__ = ["MeasureStability", "ScoreChange", "Stability", "SwapUnder", "stability"]


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
