"""From question scores to units: a unit is a question, or a series."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from qassay.matrix import ConfidenceWeighted, Floats, Mean, Summary, TypeWeighted
from qassay.measures import Measure
from qassay.measures.weighted_types import weights_for
from qassay.scores.keeping import Keeping
from qassay.scores.record import Dropped, Units
from qassay.tally import Tally


def by_question(tally: Tally, values: Mapping[str, Floats], keeping: Keeping, measure: Measure) -> Units:
    """Every kept question is a unit; the run's score is the mean, or for CWS the confidence-weighted score."""
    kept = _questions(tally, values, keeping)
    summary: Summary = Mean()
    if measure.ordered:
        position = np.concatenate([tally.types[kind].position[:, keeping.kept[kind]] for kind in values], axis=1)
        # Questions that a run leaves out stand at the end; the sort is stable, so in the order of the test set.
        summary = ConfidenceWeighted(np.argsort(position[:, kept.order], axis=1, kind="stable"))
    denominator = 1 if measure.ordered else measure.denominator
    return Units(kept.ids, kept.values, summary, denominator, kept.series)


def by_type(tally: Tally, values: Mapping[str, Floats], keeping: Keeping) -> Units:
    """Every kept question of any type is a unit; the run's score is the weighted mean of the means per type."""
    kept = _questions(tally, values, keeping)
    weights = weights_for(frozenset(kept.types), tally.task.weights, {})
    return Units(kept.ids, kept.values, TypeWeighted(kept.types, weights), None, kept.series)


def by_series(tally: Tally, values: Mapping[str, Floats], keeping: Keeping) -> Units:
    """Every series with a kept question is a unit: the weighted mean of its means per type."""
    task = tally.task
    named: list[str] = []
    scores: list[Floats] = []
    dropped: list[Dropped] = []
    already = {one.unit for one in keeping.dropped if one.unit is not None}
    for series in tally.questions.series:
        means: dict[str, Floats] = {}
        for kind, table in values.items():
            columns = [
                column
                for column, question in enumerate(tally.types[kind].questions)
                if question.series == series.id and keeping.kept[kind][column]
            ]
            if columns:
                means[kind] = mean_of_rows(table[:, columns])
        if means:
            named.append(series.id)
            scores.append(combined(means, task.weights, task.without))
        elif series.id not in already:
            dropped.append(Dropped(reason="no question of the series is left", unit=series.id))
    matrix = np.stack(scores, axis=1) if scores else np.empty((len(tally.runs.tags), 0))
    return Units(tuple(named), matrix, Mean(), None, None, tuple(dropped))


@dataclass(frozen=True, eq=False)
class _Kept:
    """The kept questions of all types in the order of the test set; `order` takes them from the order by type."""

    ids: tuple[str, ...]
    types: tuple[str, ...]
    series: tuple[str, ...] | None
    values: Floats
    order: np.ndarray[tuple[int], np.dtype[np.int64]]


def _questions(tally: Tally, values: Mapping[str, Floats], keeping: Keeping) -> _Kept:
    place = {name: number for number, name in enumerate(tally.questions.ids)}
    asked = [q for kind in values for q, k in zip(tally.types[kind].questions, keeping.kept[kind], strict=True) if k]
    table = np.concatenate([values[kind][:, keeping.kept[kind]] for kind in values], axis=1)
    order = np.argsort([place[question.id] for question in asked], kind="stable")
    asked = [asked[number] for number in order]
    in_series = bool(asked) and all(question.series is not None for question in asked)
    return _Kept(
        ids=tuple(question.id for question in asked),
        types=tuple(question.type for question in asked),
        series=tuple(str(question.series) for question in asked) if in_series else None,
        values=table[:, order],
        order=order,
    )


def mean_of_rows(scores: Floats) -> Floats:
    """Mean of each row over what is there; NaN for a row without anything."""
    there = ~np.isnan(scores)
    number = there.sum(axis=1)
    total = np.where(there, scores, 0.0).sum(axis=1)
    return np.asarray(np.divide(total, number, out=np.full(len(scores), np.nan), where=number > 0))


def combined(
    means: Mapping[str, Floats], weights: Mapping[str, float], without: Mapping[str, Mapping[str, float]]
) -> Floats:
    """Weighted mean of the types of a series; a run that skipped all of a type is weighed without it."""
    table = np.stack(list(means.values()))
    kinds = list(means)
    result = np.full(table.shape[1], np.nan)
    there = ~np.isnan(table)
    for pattern in np.unique(there, axis=1).T:
        present = [kind for kind, has in zip(kinds, pattern, strict=True) if has]
        if not present:
            continue
        share = weights_for(frozenset(present), weights, without)
        runs = (pattern == there.T).all(axis=1)
        result[runs] = sum(share[kind] * table[kinds.index(kind), runs] for kind in present)
    return result
