"""The analyses as a user calls them: on an opened evaluation, on its scores, or on a bare score matrix.

The work is done by the pure functions of `qassay.meta`; here it is fetched from the evaluation what they need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from qassay.errors import InputError, Problem, QassayError
from qassay.evaluation import Evaluation
from qassay.judging import ROW_KINDS
from qassay.judging.sets import JudgmentSet, joined
from qassay.judging.sets import labels as labels_of_sets
from qassay.matrix import ScoreMatrix
from qassay.scoring import Missing, Scores, Unjudged
from qassay.tables import Table

if TYPE_CHECKING:
    from qassay.meta.agreement import Agreement
    from qassay.meta.sensitivity import SensitivityCurves
    from qassay.meta.significance import AllPairs, PairComparison
    from qassay.meta.stability import Stability
    from qassay.meta.trust import Trust


Progress = Callable[[int, int], None]


def leaderboard(scores: Scores, *, level: float = 0.95, seed: int = 0) -> Table:
    """The leaderboard with an interval for every score, and letters: runs that share one cannot be told apart."""
    from qassay.meta.intervals import score_intervals
    from qassay.meta.significance import compare_all as all_pairs

    intervals = score_intervals(scores.matrix, level=level, seed=seed)
    pairs = all_pairs(scores.matrix, alpha=1 - level, seed=seed)
    limits = {run: intervals.interval(run) for run in intervals.runs}
    shown = scores.leaderboard(
        {
            f"{level:.0%} interval": {run: f"{i[0]:.3f}–{i[1]:.3f}" if i else None for run, i in limits.items()},
            "same": dict(zip(pairs.runs, pairs.letters, strict=True)),
        }
    )
    methods = " and ".join(sorted(set(intervals.methods)))
    note = f"Intervals: {methods}, over {intervals.over}."
    # What was left out is said by both, and once is enough.
    return replace(shown, notes=tuple(dict.fromkeys((note, *pairs.table().notes, *shown.notes))))


def sensitivity(scores: Scores | ScoreMatrix, *, preset: str = "default", **options: Any) -> SensitivityCurves:
    """How often does a comparison mislead, and which difference can be trusted?

    See `qassay.meta.sensitivity.sensitivity` for the options.
    """
    from qassay.meta.sensitivity import sensitivity as study

    return study(as_matrix(scores), preset=preset, **options)


def compare(
    scores: Scores | ScoreMatrix, a: str, b: str, *, seed: int = 0, progress: Progress | None = None, **options: Any
) -> PairComparison:
    """Is run `a` better than run `b`? The verdict is better, worse or cannot tell.

    With the error rate that the sensitivity curves of all runs give for such a difference. See
    `qassay.meta.significance.compare` for the options.
    """
    from qassay.meta.significance import compare as two_runs

    matrix = as_matrix(scores)
    comparison = two_runs(matrix, a, b, seed=seed, **options)
    rates, notes = _error_rate(matrix, abs(comparison.difference), seed, progress)
    return replace(comparison, error_rate=rates, notes=(*comparison.notes, *notes))


def compare_all(scores: Scores | ScoreMatrix, **options: Any) -> AllPairs:
    """Which runs differ, corrected for the number of pairs? See `qassay.meta.significance.compare_all`."""
    from qassay.meta.significance import compare_all as all_pairs

    return all_pairs(as_matrix(scores), **options)


def stability(
    evaluation: Evaluation,
    *,
    sets: Sequence[str] | None = None,
    measures: Sequence[str] = (),
    reference: str | None = None,
    unjudged: Unjudged = "stop",
    missing: Missing = "stop",
) -> Stability:
    """Would the ranking be the same under other judgments? All sets, or those named."""
    from qassay.analysis.rankings import compare_sets

    result, _ = compare_sets(
        evaluation, sets, measures=measures, reference=reference, unjudged=unjudged, missing=missing
    )
    return result


def agreement(
    evaluation: Evaluation,
    *,
    sets: Sequence[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[Agreement]:
    """How far do the assessors agree? One result a kind of judgment, labels of items or pairs first.

    Without `sets` all assessors' own sets are compared, and two-way keys of entailment.
    """
    from qassay.meta.agreement import agreement as compare_labels

    names = list(sets) if sets is not None else _assessors(evaluation)
    results = []
    for labels in compared_labels(evaluation, names, chosen=sets is not None):
        folded = [name for name in labels.sets if name in evaluation.two_way_sets]
        # A task's own labels stand in its order, which the labels alone do not tell.
        own = evaluation.task.labels if evaluation.task.values and labels.about == "items" else None
        result = compare_labels(
            labels.sets, order=own, two_way=folded, seed=seed, resamples=resamples, progress=progress
        )
        results.append(replace(result, about=labels.about, notes=(*result.notes, *labels.notes)))
    return results


def trust(evaluation: Evaluation, assessor: str, against: str | None = None, **options: Any) -> Trust:
    """How far can an automatic assessor be trusted, measured against people? See `qassay.analysis.trusting.trust`."""
    from qassay.analysis.trusting import trust as study

    return study(evaluation, assessor, against, **options)


def as_matrix(scores: Scores | ScoreMatrix) -> ScoreMatrix:
    """The score matrix behind scores, or the matrix itself."""
    return scores.matrix if isinstance(scores, Scores) else scores


def _assessors(evaluation: Evaluation) -> list[str]:
    wanted = {*evaluation.assessor_sets, *evaluation.two_way_sets}
    names = [name for name in evaluation.sets if name in wanted]
    if len(names) < 2:
        sets = f"there is {', '.join(evaluation.sets)}" if evaluation.sets else "there is no judgment set at all"
        message = f"agreement takes the judgment sets of two assessors or more ({sets}); name any two with --sets"
        raise InputError(Problem("configuration", message, evaluation.folder.name()))
    return names


def _error_rate(
    matrix: ScoreMatrix, difference: float, seed: int, progress: Progress | None
) -> tuple[dict[str, float | None], list[str]]:
    """What the sensitivity curves say of such a difference, or why they say nothing."""
    from qassay.meta.sensitivity import rests_on, why_not_fitted, width_for
    from qassay.meta.sensitivity import sensitivity as study

    try:
        curves = study(matrix, intervals=0, seed=seed, bin_width=width_for(matrix), progress=progress)
    except QassayError as error:
        return {"fit": None, "predicted": None}, [f"No error rate: {error}."]
    rates = curves.error_rate_at(difference)._asdict()
    if rates["fit"] is None and rates["predicted"] is None:
        return rates, ["No error rate: no two runs are expected to differ by so much at this size."]
    notes = [f"The error rate at {len(matrix.units)} units is extrapolated from sizes up to {max(curves.sizes)}."]
    reason = why_not_fitted(curves, difference)
    if reason is not None:
        notes.append(f"No fitted error rate: {reason}.")
    return rates, [*notes, *rests_on(matrix.pairs)]


@dataclass(frozen=True, eq=False)
class Labels:
    """What the sets said of the things all of them judged; `about` names the kind of judgment."""

    about: str
    sets: Mapping[str, pl.Series]
    notes: tuple[str, ...] = ()


def compared_labels(evaluation: Evaluation, names: Sequence[str], *, chosen: bool) -> list[Labels]:
    """The labels of each kind of judgment, those of items and pairs first; kinds that do not occur are absent.

    `chosen` says that the user named the sets: all of them are compared then. Else a set without any label of a kind
    is left out of it.
    """
    judged = {name: evaluation.judgment_set(name) for name in names}
    (about, items), *others = label_tables(evaluation, judged)
    compared = [_side_by_side(about, items, names, chosen=chosen)]
    for about, labels in others:
        compared.append(_side_by_side(about, labels, labels.columns[2:], chosen=False))
    return [labels for labels in compared if len(next(iter(labels.sets.values())))] or compared[:1]


def label_tables(evaluation: Evaluation, judged: Mapping[str, JudgmentSet]) -> list[tuple[str, pl.DataFrame]]:
    """Labels of every judged subject side by side, one table per kind: question, item, and a column for each set.

    Items and pairs come first, with a column for all sets; of another kind only the sets that have it.
    """
    side_by_side = [("items", labels_of_sets(judged.values()))]
    for record in ROW_KINDS.values():
        if record.compared in ("", "items"):
            continue
        tables = {
            name: record.labels_of(own.kind(record.name), evaluation.nugget_list(name))
            for name, own in judged.items()
            if record.name in own.kinds
        }
        having = {name: labels for name, labels in tables.items() if len(labels)}
        if len(having) > 1:
            side_by_side.append((record.compared, joined(having)))
    return side_by_side


def _side_by_side(about: str, labels: pl.DataFrame, names: Sequence[str], *, chosen: bool) -> Labels:
    """Keep the rows that all sets have, and say how many they do not."""
    having = [name for name in names if labels[name].null_count() < len(labels)]
    notes = []
    if not chosen and 1 < len(having) < len(names):
        notes.append(f"Sets without judgments of these items: {', '.join(n for n in names if n not in having)}.")
        names = having
    complete = labels.drop_nulls(list(names))
    partly = labels.filter(~pl.all_horizontal(pl.col(names).is_null())).height - complete.height
    if partly:
        notes.append(f"Judged by some of the sets only, and not compared: {partly:,} {about}.")
    return Labels(about, {name: complete[name] for name in names}, tuple(notes))
