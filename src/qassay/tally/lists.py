"""Counts for list questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qassay.errors import InputError, Problem
from qassay.judging.keys import Key
from qassay.tally.rows import Rows, look_up, unjudged_items


@dataclass(frozen=True, eq=False)
class ListCounts:
    """D, N and S of [QA03]: correct distinct items and items returned by run and question; known answers."""

    distinct: NDArray[np.int64]
    returned: NDArray[np.int64]
    known: NDArray[np.int64]


def count_lists(rows: Rows, key: Key) -> tuple[ListCounts, NDArray[np.bool_], pl.DataFrame]:
    """Count judged lists; a question without known answers and without judgments is unjudged as a whole."""
    judgments = key.judgments.kind("list")
    is_item = rows.is_item()
    label = look_up(rows.table, judgments, ["question", "run", "doc", "text"], "judgment")
    counts = ListCounts(
        distinct=_distinct(rows, key),
        returned=rows.count(is_item),
        known=key.known_answers(rows.questions),
    )
    _check_marks(rows, counts)
    mentioned = set(judgments["question"]) | set(key.answers["question"])
    judged = np.array([question.id in mentioned for question in rows.questions])
    return counts, judged, unjudged_items(rows, is_item & label.is_null().to_numpy(), pooled=False)


def _check_marks(rows: Rows, counts: ListCounts) -> None:
    """Distinct marks without classes are counted against answers.jsonl, which has to hold as many answers."""
    too_many = (counts.distinct > counts.known) & (counts.known > 0)
    if too_many.any():
        raise InputError(
            Problem(
                "configuration",
                f"question {rows.questions.ids[column]}: run {rows.tags[run]} has {counts.distinct[run, column]} items"
                f" marked distinct, but only {counts.known[column]} answers are known; complete answers.jsonl",
                question=rows.questions.ids[column],
            )
            for run, column in zip(*np.nonzero(too_many), strict=True)
        )


def _distinct(rows: Rows, key: Key) -> NDArray[np.int64]:
    """D: the classes of the run's R items, and its R items that are marked distinct where classes are unknown.

    Only items that the run returned count: a judgment may outlive the list it was made for.
    """
    right = key.right_list_items()
    row = pl.Series("row", np.arange(right.height, dtype=np.uint32))
    found = look_up(rows.table, right.with_columns(row), ["question", "run", "doc", "text"], "row")
    returned = found.is_not_null().to_numpy()
    place = found.drop_nulls()
    items = pl.DataFrame(
        {
            "run": rows.run[returned],
            "column": rows.column[returned],
            "class": right["class"].gather(place),
            "distinct": right["distinct"].gather(place),
        }
    )
    named = items.filter(pl.col("class").is_not_null()).unique(["run", "column", "class"])
    marked = items.filter(pl.col("class").is_null() & pl.col("distinct"))
    counts = np.zeros(rows.shape, dtype=np.int64)
    for part in (named, marked):
        np.add.at(counts, (part["run"].to_numpy(), part["column"].to_numpy()), 1)
    return counts
