"""From score matrices under several judgment sets to the stability of their rankings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from qassay.errors import UsageError, few, unknown
from qassay.matrix import Floats, ScoreMatrix
from qassay.meta.ranking import compare_rankings, mean_unit_tau, swapped_pairs
from qassay.meta.stability.result import MeasureStability, ScoreChange, Stability

Progress = Callable[[int, int], None]


def stability(
    matrices: Mapping[str, Mapping[str, ScoreMatrix]],
    *,
    reference: str,
    disagreements: int | None = None,
    progress: Progress | None = None,
) -> Stability:
    """Compare the rankings of the same runs under several judgment sets [EVAL02, QA03, RTE08].

    `matrices[measure][name]` holds the scores under set `name`; every measure has the same sets. Runs that some set
    lacks are left out, and the notes say so. For each pair of sets: tau, tau_AP, swaps and ties between the rankings,
    and the mean of the taus within units. Against the reference: every swap with its difference there, and the
    largest change of a score. `disagreements`, the number of questions on which the sets differ, gives the bound of
    that change where scores are shares of right decisions. One set alone is not compared, and the notes say so.
    """
    if not matrices or not all(matrices.values()):
        raise UsageError("stability needs the scores of at least one measure")
    names = tuple(next(iter(matrices.values())))
    if any(set(found) != set(names) for found in matrices.values()):
        raise UsageError("every measure needs scores under the same judgment sets")
    if reference not in names:
        raise unknown("reference", reference, names)
    steps = len(matrices) * len(names) * (len(names) - 1) // 2
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, steps)

    one = partial(_measure, names=names, reference=reference, disagreements=disagreements, tick=tick)
    return Stability(reference, names, {measure: one(measure, found) for measure, found in matrices.items()})


def _measure(
    measure: str,
    matrices: Mapping[str, ScoreMatrix],
    *,
    names: Sequence[str],
    reference: str,
    disagreements: int | None,
    tick: Callable[[], None],
) -> MeasureStability:
    """The stability of the ranking by one measure, over the runs that all sets have."""
    runs, notes = _common_runs(matrices, names)
    chosen = {name: matrices[name].select(runs) for name in names}
    scores = {name: found.scores() for name, found in chosen.items()}
    comparisons = tuple(tuple(compare_rankings(scores[a], scores[b]) for b in names) for a in names)
    taus = _unit_taus(chosen, names, tick)
    if len(names) == 1:
        notes.append(f"There is one judgment set, {names[0]}: nothing to compare it with.")
    on_rankings = dict.fromkeys(note for row in comparisons for comparison in row for note in comparison.notes)
    return MeasureStability(
        measure=measure,
        reference=reference,
        sets=tuple(names),
        runs=runs,
        scores={name: tuple(found.tolist()) for name, found in scores.items()},
        comparisons=comparisons,
        unit_tau=tuple(tuple(tau for tau, _ in row) for row in taus),
        unit_tau_units=tuple(tuple(units for _, units in row) for row in taus),
        swapped={name: swapped_pairs(runs, scores[reference], scores[name]) for name in names if name != reference},
        largest_change=_largest_change(runs, scores, reference),
        bound=_bound(chosen[reference], disagreements),
        manual=frozenset().union(*(found.manual for found in chosen.values())).intersection(runs),
        notes=(*notes, *on_rankings, *_unit_notes(chosen, names), *_matrix_notes(chosen)),
    )


def _common_runs(matrices: Mapping[str, ScoreMatrix], names: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """The runs that all matrices have, in the order of the first, and a note about the others."""
    everywhere = set.intersection(*(set(matrices[name].runs) for name in names))
    runs = tuple(run for run in matrices[names[0]].runs if run in everywhere)
    others = sorted({run for name in names for run in matrices[name].runs} - everywhere)
    if not others:
        return runs, []
    which = f"{len(others)} {'run that is' if len(others) == 1 else 'runs that are'} not in every set"
    return runs, [f"Left out: {which} ({few(others)})."]


def _unit_taus(
    matrices: Mapping[str, ScoreMatrix], names: Sequence[str], tick: Callable[[], None]
) -> list[list[tuple[float | None, int]]]:
    """For every set with every set: the mean tau within units, and the units that have one. Symmetric."""
    found: dict[tuple[str, str], tuple[float | None, int]] = {}
    for i, a in enumerate(names):
        for b in names[:i]:
            found[a, b] = found[b, a] = mean_unit_tau(*_common_units(matrices[a], matrices[b]))
            tick()
        found[a, a] = mean_unit_tau(matrices[a].values, matrices[a].values)
    return [[found[a, b] for b in names] for a in names]


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
    return [f"The sets do not score the same units (they share {common}): scores differ for that reason too."]


def _matrix_notes(matrices: Mapping[str, ScoreMatrix]) -> list[str]:
    """What the matrices say of themselves: once where all say it, else under the name of the set."""
    said: dict[str, list[str]] = {}
    for name, found in matrices.items():
        for note in found.notes:
            said.setdefault(note, []).append(name)
    return [note if len(who) == len(matrices) else f"{', '.join(who)}: {note}" for note, who in said.items()]


def _largest_change(runs: Sequence[str], scores: Mapping[str, Floats], reference: str) -> ScoreChange | None:
    """The run and set whose score differs most from the reference; the first of equals."""
    best: ScoreChange | None = None
    for name, found in scores.items():
        if name == reference or not runs:
            continue
        sizes = np.abs(found - scores[reference])
        run = int(np.argmax(sizes))
        change = ScoreChange(runs[run], name, float(sizes[run]), float(scores[reference][run]), float(found[run]))
        if best is None or change.change > best.change:
            best = change
    return best


def _bound(matrix: ScoreMatrix, disagreements: int | None) -> float | None:
    """disagreements / questions, where a score is the share of questions answered right."""
    decisions = matrix.summary.is_mean and bool(np.isin(matrix.values, (0.0, 1.0)).all())
    if disagreements is None or not decisions or not matrix.units:
        return None
    return disagreements / len(matrix.units)
