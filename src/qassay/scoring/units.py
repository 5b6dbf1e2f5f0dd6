"""From question scores to units: a unit is a question, or a series."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import Floats, Integers
from qassay.measures import Measure
from qassay.measures import measure as parse_measure
from qassay.measures.weighted_types import weights_for
from qassay.scoring.record import Dropped, Units
from qassay.scoring.selection import Selection
from qassay.summaries import Mean
from qassay.tally import Tally


def by_question(tally: Tally, values: Mapping[str, Floats], selection: Selection, measure: Measure) -> Units:
    """Every scored question of any type is a unit, in the order of the test set."""
    questions = [
        q for kind in values for q, k in zip(tally.types[kind].questions, selection.scored[kind], strict=True) if k
    ]
    tables = [
        scores if selection.scored[kind].all() else scores[:, selection.scored[kind]] for kind, scores in values.items()
    ]
    table = tables[0]
    if len(tables) > 1:
        place = {name: number for number, name in enumerate(tally.questions.ids)}
        by_place = np.argsort([place[question.id] for question in questions], kind="stable")
        questions = [questions[number] for number in by_place]
        table = np.concatenate(tables, axis=1)[:, by_place]
    order = None
    if measure.ordered:
        (kind,) = values  # only tasks with one type of question rank them by confidence
        order = restricted_order(tally.types[kind].order, selection.scored[kind])
    types = tuple(question.type for question in questions)
    denominators = {measure_of(tally, kind, measure).denominator for kind in set(types)}
    in_series = bool(questions) and all(question.series is not None for question in questions)
    return Units(
        ids=tuple(question.id for question in questions),
        values=table,
        summary=measure.summary(types, tally.task.weights, order),
        denominator=denominators.pop() if len(denominators) == 1 else None,
        series=tuple(str(question.series) for question in questions) if in_series else None,
    )


def measure_of(tally: Tally, kind: str, measure: Measure) -> Measure:
    """The measure that scores questions of one type: the type's own where the measure combines types."""
    return measure if measure.needs is not None else parse_measure(tally.task.types[kind].score)


def by_series(tally: Tally, values: Mapping[str, Floats], selection: Selection) -> Units:
    """Every series with a scored question is a unit: the weighted mean of its means per type."""
    task = tally.task
    ids: list[str] = []
    scores: list[Floats] = []
    dropped: list[Dropped] = []
    already = {left_out.unit for left_out in selection.dropped if left_out.unit is not None}
    columns = {kind: _columns_by_series(tally, kind, selection) for kind in values}
    for series in tally.questions.series:
        means = {
            kind: mean_of_rows(table[:, columns[kind][series.id]])
            for kind, table in values.items()
            if series.id in columns[kind]
        }
        if means and series.id not in selection.not_units:
            ids.append(series.id)
            scores.append(combined(means, task.weights, task.without))
        elif series.id not in already:
            dropped.append(Dropped(reason="no question of the series is left", unit=series.id))
    matrix = np.stack(scores, axis=1) if scores else np.empty((len(tally.runs.tags), 0))
    return Units(tuple(ids), matrix, Mean(), None, None, tuple(dropped))


def _columns_by_series(tally: Tally, kind: str, selection: Selection) -> dict[str | None, list[int]]:
    """The scored columns of one type of question, by their series."""
    columns: dict[str | None, list[int]] = {}
    for column in np.flatnonzero(selection.scored[kind]):
        columns.setdefault(tally.types[kind].questions[column].series, []).append(int(column))
    return columns


def restricted_order(order: Integers, scored: NDArray[np.bool_]) -> Integers:
    """The order of each run restricted to the scored columns, numbered among these.

    >>> restricted_order(np.array([[2, 0, 1]]), np.array([True, False, True])).tolist()
    [[1, 0]]
    """
    if scored.all():
        return order
    number = np.cumsum(scored) - 1
    return number[order[scored[order]]].reshape(len(order), -1)


def mean_of_rows(scores: Floats) -> Floats:
    """Mean of each row over its defined scores; NaN for a row without any."""
    scored = ~np.isnan(scores)
    number = scored.sum(axis=1)
    total = np.where(scored, scores, 0.0).sum(axis=1)
    return np.asarray(np.divide(total, number, out=np.full(len(scores), np.nan), where=number > 0))


def combined(
    means: Mapping[str, Floats], weights: Mapping[str, float], without: Mapping[str, Mapping[str, float]]
) -> Floats:
    """Weighted mean of the types of a series; a run that skipped all of a type is weighed without it."""
    table = np.stack(list(means.values()))
    kinds = list(means)
    result = np.full(table.shape[1], np.nan)
    scored = ~np.isnan(table)
    for pattern in np.unique(scored, axis=1).T:
        present = [kind for kind, is_present in zip(kinds, pattern, strict=True) if is_present]
        if not present:
            continue
        share = weights_for(frozenset(present), weights, without)
        runs = (pattern == scored.T).all(axis=1)
        result[runs] = sum(share[kind] * table[kinds.index(kind), runs] for kind in present)
    return result
