"""Counts for text-hypothesis pairs: decisions against the reference answer, and ratings of justifications."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qassay.arrays import Floats
from qassay.errors import Remedy, UsageError
from qassay.judging.keys import Key
from qassay.tally.rows import Rows, placed, summed, unjudged_responses, valued, whole_questions
from qassay.tasks import Task


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Decisions and reference answers as places in `labels` (-1: none), and the mean ratings over judges (or NaN)."""

    labels: tuple[str, ...]
    decision: NDArray[np.int64]
    reference: NDArray[np.int64]
    understandability: Floats
    correctness: Floats


def count_pairs(rows: Rows, key: Key, task: Task, *, rated: bool) -> tuple[PairCounts, NDArray[np.bool_], pl.DataFrame]:
    """Compare decisions with the key, or, for justifications, gather the ratings of all judges."""
    labels = ("YES", "NO") if key.two_way else task.labels
    reference = _reference(rows, key, labels)
    decision = np.full(rows.shape, -1, dtype=np.int64)
    if rows.table.height:
        decisions = rows.table["decision"]
        if key.two_way:
            decisions = decisions.replace("UNKNOWN", "NO")
        codes = decisions.replace_strict({label: code for code, label in enumerate(labels)}, default=-1).to_numpy()
        decision[rows.run, rows.column] = codes
    understandability, correctness, raters = _ratings(rows, key)
    counts = PairCounts(labels, decision, reference, understandability, correctness)
    if rated:
        judged = np.asarray((raters > 0).any(axis=0))
        lacking = rows.answered() & judged & (raters == 0)
        return counts, judged, unjudged_responses(rows, lacking, "justification")
    judged = reference >= 0
    without = [question.id for question, known in zip(rows.questions, judged, strict=True) if not known]
    return counts, judged, whole_questions(without)


def _reference(rows: Rows, key: Key, labels: tuple[str, ...]) -> NDArray[np.int64]:
    codes = {label: code for code, label in enumerate(labels)}
    pair_labels = key.pair_labels()
    if strange := sorted({label for label in pair_labels.values() if label not in codes}):
        way = Remedy("key", "two-way", "To take it as not entailed")
        raise UsageError(f"the key {key.name} has the label {strange[0]}, which this task lacks", way)
    return np.array([codes[pair_labels[q.id]] if q.id in pair_labels else -1 for q in rows.questions], dtype=np.int64)


def _ratings(rows: Rows, key: Key) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Mean ratings over judges; an unassigned correctness counts as 0 [RTE08]."""
    if key.ratings is None or not key.ratings.height:
        unrated = np.full(rows.shape, np.nan)
        return unrated, unrated, np.zeros(rows.shape, dtype=np.int64)
    ratings = placed(key.ratings, rows)
    rating = (pl.col("understandability").mean(), pl.col("correctness").fill_null(0).mean())
    means = ratings.group_by("row", "column").agg(*rating)
    raters = summed(ratings, rows).astype(np.int64)
    return valued(means, rows, "understandability"), valued(means, rows, "correctness"), raters
