"""The figures beside a run's score: what each track's overview prints.

Every function here gives one value a run, for all runs at once; NaN is what nothing was judged for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from qassay.matrix import Floats
from qassay.measures import measure as spelled
from qassay.measures.confidence_weighted import confidence_weighted_score
from qassay.measures.entailment import contingency
from qassay.measures.nil import nil_precision, nil_recall
from qassay.scores.keeping import Keeping
from qassay.scores.units import by_series, combined, mean_of_rows, restricted_order
from qassay.tally import AnswerCounts, ItemCounts, NuggetCounts, PairCounts, Tally

PerRun = list[float | None]
# Kinds of judgment without which a component has nothing to say.
_MADE_OF = {
    "content": "holistic",
    "organization": "holistic",
    "holistic": "holistic",
    "citation_precision": "citation",
    "citation_recall": "citation",
}


def components(tally: Tally, keeping: Keeping, totals: Mapping[str, Floats]) -> dict[str, PerRun]:
    """Named means over the questions kept; a component that nothing was judged for is absent.

    `totals` are run scores that are computed already, by measure.
    """
    found: dict[str, PerRun] = {}
    own = _own_scores(tally, keeping) if set(tally.task.components) & set(keeping.kept) else {}
    for name in tally.task.components:
        if name in _MADE_OF and _MADE_OF[name] not in tally.key.judgments.kinds:
            continue
        if name in totals:
            found[name] = _plain(totals[name])
        elif name in own:
            found[name] = _plain(mean_of_rows(own[name][:, keeping.kept[name]]))
        elif name not in tally.task.types:
            for kind in _scored_by(tally, name, keeping):
                found[name] = _component(tally, kind, name, keeping)
    if tally.task.unit == "series" and any(series.type for series in tally.questions.series):
        found |= _by_series_type(tally, own, keeping)
    for kind in keeping.kept:
        found |= _accuracies(tally, kind, keeping)
    return found


def extras(tally: Tally, keeping: Keeping) -> dict[str, list[Any]]:
    """NIL precision and recall, mean length, the score by type and contingency tables, where a task has them."""
    found: dict[str, list[Any]] = {}
    lengths: list[Floats] = []
    for kind, kept in keeping.kept.items():
        one = tally.types[kind]
        counts = one.counts
        if isinstance(counts, ItemCounts) and tally.task.types[kind].nil:
            right = counts.nil_right[kept]
            found["nil_precision"] = [nil_precision(nil, right) for nil in counts.nil[:, kept]]
            found["nil_recall"] = [nil_recall(nil, right) for nil in counts.nil[:, kept]]
        elif isinstance(counts, NuggetCounts | AnswerCounts):
            lengths.append(np.where(one.answered, counts.length, np.nan))
        elif tally.task.types[kind].response == "decision" and isinstance(counts, PairCounts):
            found["contingency"] = [_contingency(counts, run, kept) for run in range(len(one.answered))]
    if lengths:
        found["mean_length"] = _plain(mean_of_rows(np.concatenate(lengths, axis=1)))
    if tally.task.unit == "series" and len(keeping.kept) > 1:
        means = {
            kind: mean_of_rows(values[:, keeping.kept[kind]]) for kind, values in _own_scores(tally, keeping).items()
        }
        found["by_type"] = _plain(combined(means, tally.task.weights, {}))
    return found


def _own_scores(tally: Tally, keeping: Keeping) -> dict[str, Floats]:
    """Scores of every question under the measure that the task gives its type."""
    return {kind: _scores(tally, kind, tally.task.types[kind].score, keeping) for kind in keeping.kept}


def _scores(tally: Tally, kind: str, name: str, keeping: Keeping) -> Floats:
    one = tally.types[kind]
    # Holistic scores and citations are optional: what was not judged is not there, and never wrong.
    return keeping.apply(kind, spelled(name).per_question(one.counts), one.answered, needed=name not in _MADE_OF)


def _scored_by(tally: Tally, name: str, keeping: Keeping) -> list[str]:
    """The question types that a measure can score."""
    needs = spelled(name).needs
    return [kind for kind in keeping.kept if needs is not None and isinstance(tally.types[kind].counts, needs)]


def _component(tally: Tally, kind: str, name: str, keeping: Keeping) -> PerRun:
    kept = keeping.kept[kind]
    values = _scores(tally, kind, name, keeping)[:, kept]
    if not spelled(name).ordered:
        return _plain(mean_of_rows(values))
    ranked = np.take_along_axis(values, restricted_order(tally.types[kind].order, kept), axis=1)
    return [confidence_weighted_score(there) if len(there := row[~np.isnan(row)]) else None for row in ranked]


def _accuracies(tally: Tally, kind: str, keeping: Keeping) -> dict[str, PerRun]:
    """Accuracy conditioned on the reference answer; for justifications, accuracy over all pairs with a key."""
    counts = tally.types[kind].counts
    if not isinstance(counts, PairCounts) or not (counts.reference >= 0).any():
        return {}
    one = tally.types[kind]
    if tally.task.types[kind].response == "justified":
        right = (counts.decision == counts.reference).astype(float)
        if keeping.missing_rule == "skip":
            right[~one.answered] = np.nan
        out = np.array([question.id in keeping.decided for question in one.questions])
        return {"accuracy": _plain(mean_of_rows(right[:, (counts.reference >= 0) & ~out]))}
    # Over question scores, not over the contingency table, which has no place for a missing response that counts 0.
    values = _scores(tally, kind, "entailment_accuracy", keeping)
    return {
        label: _plain(mean_of_rows(values[:, keeping.kept[kind] & (counts.reference == place)]))
        for place, label in enumerate(counts.labels)
    }


def _contingency(counts: PairCounts, run: int, kept: Any) -> dict[str, dict[str, int]]:
    rows = contingency(counts.decision[run, kept], counts.reference[kept], len(counts.labels)).tolist()
    return {label: dict(zip(counts.labels, row, strict=True)) for label, row in zip(counts.labels, rows, strict=True)}


def _by_series_type(tally: Tally, own: Mapping[str, Floats], keeping: Keeping) -> dict[str, PerRun]:
    """Mean over the series of each type (gathering, browsing) of the score of the series."""
    units = by_series(tally, own, keeping)
    types = {series.id: series.type for series in tally.questions.series}
    found = {}
    for name in dict.fromkeys(kind for kind in types.values() if kind):
        columns = [place for place, unit in enumerate(units.ids) if types[unit] == name]
        found[name] = _plain(mean_of_rows(units.values[:, columns]))
    return found


def _plain(values: Floats) -> PerRun:
    return [None if np.isnan(value) else float(value) for value in values]
