"""The figures beside a run's score: what each track's overview prints.

Every function here gives one value per run, for all runs at once; NaN is what nothing was judged for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from qassay.arrays import Floats, none_for_nan
from qassay.judging.context import SUPPORTED
from qassay.measures import measure as parse_measure
from qassay.measures.entailment import contingency
from qassay.measures.nil import nil_precision, nil_recall
from qassay.scoring.selection import Selection
from qassay.scoring.units import by_series, combined, mean_of_rows, restricted_order
from qassay.summaries import confidence_weighted_score
from qassay.tally import AnswerCounts, ItemCounts, LabelCounts, NuggetCounts, PairCounts, Tally

PerRun = list[float | None]


def components(tally: Tally, selection: Selection, totals: Mapping[str, Floats]) -> dict[str, PerRun]:
    """Named means over the scored questions; a component that nothing was judged for is absent.

    `totals` are run scores that are computed already, by measure.
    """
    means: dict[str, PerRun] = {}
    by_type = _own_scores(tally, selection) if set(tally.task.components) & set(selection.scored) else {}
    for name in tally.task.components:
        measure = None if name in tally.task.types else parse_measure(name)
        # A measure that rests on optional judgments is absent where there are none.
        if measure is not None and measure.optional_kind not in (None, *tally.key.judgments.kinds):
            continue
        if name in totals:
            means[name] = none_for_nan(totals[name])
        elif name in by_type:
            means[name] = none_for_nan(mean_of_rows(by_type[name][:, selection.scored[name]]))
        elif measure is not None and measure.needs is not None:
            for kind in selection.scored:
                if isinstance(tally.types[kind].counts, measure.needs):
                    means[name] = _component(tally, kind, name, selection)
    if tally.task.unit == "series" and any(series.type for series in tally.questions.series):
        means |= _by_series_type(tally, by_type, selection)
    for kind in selection.scored:
        means |= _accuracies(tally, kind, selection)
        means |= _label_shares(tally, kind, selection)
    return means


def extras(tally: Tally, selection: Selection) -> dict[str, list[Any]]:
    """NIL precision and recall, mean length, the score by type and contingency tables, where a task has them."""
    figures: dict[str, list[Any]] = {}
    lengths: list[Floats] = []
    for kind, scored in selection.scored.items():
        type_tally = tally.types[kind]
        counts = type_tally.counts
        if isinstance(counts, ItemCounts) and tally.task.types[kind].nil:
            right = counts.nil_right[scored]
            figures["nil_precision"] = [nil_precision(nil, right) for nil in counts.nil[:, scored]]
            figures["nil_recall"] = [nil_recall(nil, right) for nil in counts.nil[:, scored]]
        elif isinstance(counts, NuggetCounts | AnswerCounts):
            lengths.append(np.where(type_tally.answered, counts.length, np.nan))
        elif tally.task.types[kind].form.is_decision and isinstance(counts, PairCounts):
            figures["contingency"] = [_contingency(counts, run, scored) for run in range(len(type_tally.answered))]
    if lengths:
        figures["mean_length"] = none_for_nan(mean_of_rows(np.concatenate(lengths, axis=1)))
    if tally.task.unit == "series" and len(selection.scored) > 1:
        means = {
            kind: mean_of_rows(values[:, selection.scored[kind]])
            for kind, values in _own_scores(tally, selection).items()
        }
        figures["by_type"] = none_for_nan(combined(means, tally.task.weights, {}))
    return figures


def _own_scores(tally: Tally, selection: Selection) -> dict[str, Floats]:
    """Scores of every question under the measure that the task gives its type."""
    return {kind: _scores(tally, kind, tally.task.types[kind].score, selection) for kind in selection.scored}


def _scores(tally: Tally, kind: str, name: str, selection: Selection) -> Floats:
    type_tally = tally.types[kind]
    measure = parse_measure(name)
    # Holistic scores and citations are optional: what was not judged is missing, and never wrong.
    needed = measure.optional_kind is None
    return selection.apply(kind, measure.per_question(type_tally.counts), type_tally.answered, needed=needed)


def _component(tally: Tally, kind: str, name: str, selection: Selection) -> PerRun:
    scored = selection.scored[kind]
    values = _scores(tally, kind, name, selection)[:, scored]
    if not parse_measure(name).ordered:
        return none_for_nan(mean_of_rows(values))
    ranked = np.take_along_axis(values, restricted_order(tally.types[kind].order, scored), axis=1)
    return [confidence_weighted_score(scores) if len(scores := row[~np.isnan(row)]) else None for row in ranked]


def _accuracies(tally: Tally, kind: str, selection: Selection) -> dict[str, PerRun]:
    """Accuracy conditioned on the reference answer; for justifications, accuracy over all pairs with a key."""
    counts = tally.types[kind].counts
    if not isinstance(counts, PairCounts) or not (counts.reference >= 0).any():
        return {}
    type_tally = tally.types[kind]
    if tally.task.types[kind].form.is_rated:
        right = (counts.decision == counts.reference).astype(float)
        if selection.missing_rule == "skip":
            right[~type_tally.answered] = np.nan
        out = np.array([question.id in selection.decided for question in type_tally.questions])
        return {"accuracy": none_for_nan(mean_of_rows(right[:, (counts.reference >= 0) & ~out]))}
    # Over question scores, not over the contingency table, which has no place for a missing response that counts 0.
    values = _scores(tally, kind, "entailment_accuracy", selection)
    return {
        label: none_for_nan(mean_of_rows(values[:, selection.scored[kind] & (counts.reference == place)]))
        for place, label in enumerate(counts.labels)
    }


def _label_shares(tally: Tally, kind: str, selection: Selection) -> dict[str, PerRun]:
    """The share of each label among the scored questions; where judged, of answers that their contexts support."""
    type_tally = tally.types[kind]
    counts, scored = type_tally.counts, selection.scored[kind]
    if not isinstance(counts, LabelCounts):
        return {}
    answered = type_tally.answered if selection.missing_rule == "skip" else np.ones_like(type_tally.answered)
    shares = {
        label: none_for_nan(mean_of_rows(np.where(answered, has_label, np.nan)[:, scored]))
        for label, has_label in counts.has_label.items()
    }
    if "context" in tally.key.judgments.kinds:
        shares[SUPPORTED] = none_for_nan(mean_of_rows(counts.supported[:, scored]))
    return shares


def _contingency(counts: PairCounts, run: int, scored: Any) -> dict[str, dict[str, int]]:
    rows = contingency(counts.decision[run, scored], counts.reference[scored], len(counts.labels)).tolist()
    return {label: dict(zip(counts.labels, row, strict=True)) for label, row in zip(counts.labels, rows, strict=True)}


def _by_series_type(tally: Tally, by_type: Mapping[str, Floats], selection: Selection) -> dict[str, PerRun]:
    """Mean over the series of each type (gathering, browsing) of the score of the series."""
    units = by_series(tally, by_type, selection)
    types = {series.id: series.type for series in tally.questions.series}
    means = {}
    for name in dict.fromkeys(kind for kind in types.values() if kind):
        columns = [place for place, unit in enumerate(units.ids) if types[unit] == name]
        means[name] = none_for_nan(mean_of_rows(units.values[:, columns]))
    return means
