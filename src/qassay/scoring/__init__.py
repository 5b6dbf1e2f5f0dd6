"""Scores: from question to unit to run, and what was left out on the way and why.

`score` takes a tally and gives `Scores`: the score of every run on every question and unit, the components that each
overview prints, and a `ScoreMatrix` for the analyses. Nothing is left out, counted as wrong or skipped silently:
`dropped`, `unjudged` and `missing` say what was.

    selection    which questions are scored, and what unjudged and missing responses count
    units        from questions to units: a question, or a series
    components   the figures beside a run's score
    record       the result
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, TypedDict

import numpy as np

from qassay.arrays import Floats, none_for_nan
from qassay.errors import InputError, Problem, UsageError, unknown
from qassay.measures import Measure
from qassay.measures import measure as parse_measure
from qassay.scoring.components import components, extras
from qassay.scoring.record import Dropped, RunScore, Scores, Units, ranked
from qassay.scoring.selection import Judged, Selection, select
from qassay.scoring.units import by_question, by_series, measure_of
from qassay.tally import LabelCounts, Tally

Unjudged = Literal["stop", "wrong", "drop"]
Missing = Literal["stop", "zero", "skip"]

__all__ = ["Dropped", "HowScored", "Missing", "RunScore", "Scores", "Unjudged", "score"]


class HowScored(TypedDict, total=False):
    """The options of `score` that people choose, as everything takes them that scores an evaluation on the way."""

    measure: str | None
    component: str | None
    unjudged: Unjudged
    missing: Missing


def score(
    tally: Tally,
    *,
    measure: str | None = None,
    component: str | None = None,
    unjudged: Unjudged = "stop",
    missing: Missing = "stop",
    drop: Mapping[str, str] | None = None,
    drop_from_series: Mapping[str, str] | None = None,
    justified: Collection[str] = (),
    judged_by_assessors: Judged = frozenset,
) -> Scores:
    """Score every run of a tally.

    `measure` is another than the task's main one, `component` the measure of one question type. `drop` are questions
    and series that the organiser leaves out, with reasons; the series of `drop_from_series` leave the series scores
    only, and their questions stay in the means by type. `justified` are the pairs whose justifications are judged.
    `judged_by_assessors` gives the questions that were judged, whether or not the key has them.
    """
    chosen = _chosen_measure(tally, measure, component)
    types = _types(tally, chosen, component)
    selection = select(
        tally,
        types,
        by_series=chosen.by_series,
        unjudged=unjudged,
        missing=missing,
        drop=drop or {},
        drop_from_series=drop_from_series or {},
        justified=justified,
        judged_by_assessors=judged_by_assessors,
    )
    values = {}
    for kind in types:
        scored = measure_of(tally, kind, chosen).per_question(tally.types[kind].counts)
        values[kind] = selection.apply(kind, scored, tally.types[kind].answered)
    selection.check_defined(tally, values, chosen)
    units = by_series(tally, values, selection) if chosen.by_series else by_question(tally, values, selection, chosen)
    if not units.ids:
        reasons = ", ".join(sorted({dropped.reason for dropped in selection.dropped}))
        raise InputError(Problem("unjudged", f"nothing is left to score with the key {tally.key.name}: {reasons}"))
    return _record(tally, chosen, values, units, selection)


def _chosen_measure(tally: Tally, measure: str | None, component: str | None) -> Measure:
    task = tally.task
    if measure is not None and component is not None:
        raise UsageError("give a measure or a component, not both")
    if component is not None:
        if component not in task.types:
            raise unknown(f"component of task {task.name}", component, task.types)
        if component not in tally.types:
            raise UsageError(f"the test set has no {component} questions")
        return parse_measure(task.types[component].score)
    chosen = parse_measure(measure or task.measure)
    if chosen.by_series and not tally.questions.series:
        raise UsageError(f"{chosen} needs questions in series; these have none")
    return chosen


def _types(tally: Tally, measure: Measure, component: str | None) -> list[str]:
    """The question types that the measure scores."""
    if component is not None:
        return [component]
    if measure.needs is None:
        return list(tally.types)
    types = [kind for kind, counted in tally.types.items() if isinstance(counted.counts, measure.needs)]
    if not types:
        raise UsageError(f"{measure} does not fit the questions of task {tally.task.name}")
    return types


def _record(tally: Tally, measure: Measure, values: Mapping[str, Floats], units: Units, selection: Selection) -> Scores:
    scores = units.scores()
    totals = none_for_nan(scores)
    means, more = components(tally, selection, {str(measure): scores}), extras(tally, selection)
    rows = [
        RunScore(
            run=tag,
            score=totals[place],
            components={name: values[place] for name, values in means.items()},
            **{name: values[place] for name, values in more.items()},
        )
        for place, tag in enumerate(tally.runs.tags)
    ]
    return Scores(
        task=tally.task.name,
        key=tally.key.name,
        measure=str(measure),
        runs=ranked(rows),
        units=units,
        questions={kind: (tally.types[kind].questions, values[kind]) for kind in values},
        asked=tally.questions.ids,
        figures=tuple(more),
        information={tag: tally.runs.about(tag) for tag in tally.runs.tags},
        dropped=(*selection.dropped, *units.dropped),
        unjudged=selection.unjudged,
        missing=selection.missing,
        empty=_empty_answers(tally, selection),
        better=_better(tally),
        unit_name=_unit_name(tally, measure),
        scale=_scale(tally, measure),
        right_or_wrong=bool(np.isin(units.values[~np.isnan(units.values)], (0.0, 1.0)).all()),
        judges=_judges(tally, measure),
    )


def _empty_answers(tally: Tally, selection: Selection) -> dict[str, int]:
    """How many scored answers of each run are empty, where answers have labels."""
    numbers = np.zeros(len(tally.runs.tags), dtype=int)
    for kind, scored in selection.scored.items():
        counts = tally.types[kind].counts
        if isinstance(counts, LabelCounts):
            numbers += counts.empty[:, scored].sum(axis=1)
    return {tag: int(number) for tag, number in zip(tally.runs.tags, numbers, strict=True) if number}


def _better(tally: Tally) -> dict[str, int]:
    """Of which labels a smaller share is better (-1), or neither (0), where answers have labels."""
    values = tally.task.values
    if not any(isinstance(counted.counts, LabelCounts) for counted in tally.types.values()):
        return {}
    lowest, highest = min(values.values()), max(values.values())
    return {label: -1 if value == lowest else 0 for label, value in values.items() if value < highest}


def _judges(tally: Tally, measure: Measure) -> tuple[str, ...]:
    """The judges of justifications, where the measure is a mean of ratings: those of all sets, whatever the key."""
    ratings = tally.key.ratings
    if ratings is None or measure.name not in ("correctness", "understandability"):
        return ()
    return tuple(sorted(ratings["assessor"].unique()))


def _unit_name(tally: Tally, measure: Measure) -> tuple[str, str]:
    """The name of the units of this measure: as the task says, else series, pairs or questions."""
    task = tally.task
    if task.unit_name is not None and measure.by_series == (task.unit == "series"):
        return task.unit_name
    if measure.by_series:
        return ("series", "series")
    return ("pair", "pairs") if set(task.types) == {"pair"} else ("question", "questions")


def _scale(tally: Tally, measure: Measure) -> tuple[float, float]:
    """The lowest and the highest score of a question: those of the labels, or of the measure."""
    scales = [counted.counts.scale for counted in tally.types.values() if isinstance(counted.counts, LabelCounts)]
    return scales[0] if scales and measure.needs is LabelCounts else (0.0, measure.high)
