"""The same runs scored in two ways, and the scores by type of target: tables that overviews set side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from qassay.matrix import document
from qassay.meta.fidelity import TwoRankings, two_rankings
from qassay.tables import Cell, Column, Table, starred, table

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.scoring import Scores

# The pairs of components that [DEF03] compares: F against what assessors think of the whole, and its two halves.
HOLISTIC = "holistic"
HALVES = ("content", "organization")


def holistic_rankings(scores: Scores) -> tuple[TwoRankings, ...]:
    """The ranking by F against the one by holistic scores, and content against organization; none where not judged.

    A run without holistic scores is not in them.
    """
    kinds = [name for name in scores.questions if any(name in row.components for row in scores.runs)]
    pairs = [(kind, HOLISTIC) for kind in kinds[:1]] + [HALVES]
    return tuple(rankings for a, b in pairs if (rankings := _two(scores, a, b)) is not None)


def _two(scores: Scores, a: str, b: str) -> TwoRankings | None:
    both = [row for row in scores.runs if row.components.get(a) is not None and row.components.get(b) is not None]
    if len(both) < 2:
        return None
    first, second = (np.array([row.components[name] for row in both], dtype=float) for name in (a, b))
    runs = [row.run for row in both]
    manual = frozenset(run for run in runs if scores.information[run].manual)
    title = f"{a} F" if a in scores.questions else a
    return two_rankings(runs, (title, first), (b, second), manual=manual)


@dataclass(frozen=True, slots=True)
class TargetTypes:
    """Mean score of every run over the units (series, or questions) of each type of target."""

    measure: str
    unit_name: tuple[str, str]
    units: Mapping[str, int]
    runs: tuple[str, ...]
    # By type, then by run.
    scores: Mapping[str, Mapping[str, float | None]]
    manual: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def mean(self, kind: str) -> float | None:
        """The mean over the runs."""
        known = [score for score in self.scores[kind].values() if score is not None]
        return sum(known) / len(known) if known else None

    def table(self) -> Table:
        """One row per run, one column per type; the mean over the runs last."""
        columns = [Column("run", left=True), *(Column(f"{kind} ({n})", ".3f") for kind, n in self.units.items())]
        rows: list[tuple[Cell, ...]] = [
            (starred(run, self.manual), *(self.scores[kind][run] for kind in self.units)) for run in self.runs
        ]
        rows.append(("all runs", *(self.mean(kind) for kind in self.units)))
        notes = [f"In brackets: the number of {self.unit_name[1]}.", *self.notes]
        notes += ["* manual run"] if self.manual else []
        return table(f"{self.measure} by type of target", columns, rows, notes)

    def as_json(self) -> dict[str, Any]:
        """By type: how many units, the mean over the runs, and the score of every run."""
        return {
            "measure": self.measure,
            "types": {
                kind: {"units": count, "mean": self.mean(kind), "runs": dict(self.scores[kind])}
                for kind, count in self.units.items()
            },
            **document(self, "notes"),
        }


def target_types(evaluation: Evaluation, scores: Scores) -> TargetTypes | None:
    """Scores by type of target; None where no target has a type, or a run's score is not the mean of its units."""
    kinds = dict(_types(evaluation))
    if not scores.units.summary.is_mean or not any(unit in kinds for unit in scores.units.ids):
        return None
    columns: dict[str, list[int]] = {}
    for place, unit in enumerate(scores.units.ids):
        if unit in kinds:
            columns.setdefault(kinds[unit], []).append(place)
    by_type: dict[str, dict[str, float | None]] = {}
    row_of = {tag: place for place, tag in enumerate(scores.tags)}
    runs = tuple(row.run for row in scores.runs)
    for kind, places in columns.items():
        values = scores.units.values[:, places]
        by_type[kind] = {run: _mean(values[row_of[run]]) for run in runs}
    untyped = len(scores.units.ids) - sum(map(len, columns.values()))
    notes = (f"Without a type, and left out: {untyped:,} {scores.unit_name[1]}.",) if untyped else ()
    return TargetTypes(
        measure=scores.measure,
        unit_name=scores.unit_name,
        units={kind: len(places) for kind, places in columns.items()},
        runs=runs,
        scores=by_type,
        manual=frozenset(run for run in runs if scores.information[run].manual),
        notes=notes,
    )


def _types(evaluation: Evaluation) -> Iterator[tuple[str, str]]:
    """The type of target of every question and of every series that has one."""
    for question in evaluation.questions:
        if question.target_type is not None:
            yield question.id, question.target_type
            if question.series is not None:
                yield question.series, question.target_type


def _mean(values: np.ndarray[Any, np.dtype[np.float64]]) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None
