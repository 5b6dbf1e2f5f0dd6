"""Counts for answers that are judged one by one: factoid and passage items, items of lists, free-text answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qassay.arrays import Floats
from qassay.errors import InputError, Problem
from qassay.judging.context import SUPPORTED
from qassay.judging.keys import Key
from qassay.judging.label import label_values
from qassay.tally.rows import Rows, look_up, placed, unjudged_items, valued
from qassay.tasks import Task


@dataclass(frozen=True, eq=False)
class ItemCounts:
    """The judgments of the items returned, by run and question.

    `first_right` and `first_lenient` are the rank of the first item judged R, and judged R or U; 0 where there is none.
    `nil` shows where NIL was returned, `nil_right` (by question) where NIL is right.
    """

    first_right: NDArray[np.unsignedinteger]
    first_lenient: NDArray[np.unsignedinteger]
    nil: NDArray[np.bool_]
    nil_right: NDArray[np.bool_]

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Whether the response is right: its first item is judged R, or it is NIL and NIL is right."""
        return np.asarray((self.first_right == 1) | (self.nil & self.nil_right))


def count_items(rows: Rows, key: Key) -> tuple[ItemCounts, NDArray[np.bool_], pl.DataFrame]:
    """Count judged items; every returned item without a judgment is unjudged."""
    judged = key.judgments.kind("item").with_columns(
        code=pl.col("judgment").replace_strict(_CODES, return_dtype=pl.UInt8)
    )
    place = ["start", "length"] if "start" in rows.table.columns else ["text"]
    labels = look_up(rows.table, judged.drop_nulls(place), ["question", "doc", *place], "code")
    codes = labels.fill_null(0).to_numpy()
    is_item = rows.is_item()
    counts = ItemCounts(
        first_right=_first(rows, codes == _CODES["R"]),
        first_lenient=_first(rows, (codes == _CODES["R"]) | (codes == _CODES["U"])),
        nil=rows.count(~is_item) > 0,
        nil_right=key.nil_is_right(rows.questions),
    )
    everything = np.ones(len(rows.questions), dtype=bool)
    return counts, everything, unjudged_items(rows, is_item & (codes == 0), pooled=True)


_CODES = {"R": 1, "U": 2, "X": 3, "W": 4}


def _first(rows: Rows, good: NDArray[np.bool_]) -> NDArray[np.unsignedinteger]:
    """Rank of the first good item of each run and question; 0 where there is none."""
    rank = rows.table["rank"].to_numpy()
    if rank.max(initial=0) <= 1:
        # One item per question: a byte for each is all there is to write, and ten million fit into the cache.
        first = np.zeros(rows.shape, dtype=np.uint8)
        first.reshape(-1)[rows.cell] = good
        return first
    # The last to be written stays: write by falling rank.
    rank, cell = rank[good], rows.cell[good]
    order = np.argsort(-rank.astype(np.int64), kind="stable")
    ranks = np.zeros(rows.shape, dtype=np.uint32)
    ranks.reshape(-1)[cell[order]] = rank[order]
    return ranks


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
    """Distinct marks without classes are counted against answers.jsonl, which needs at least that many answers."""
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
    places = look_up(rows.table, right.with_columns(row), ["question", "run", "doc", "text"], "row")
    returned = places.is_not_null().to_numpy()
    place = places.drop_nulls()
    items = pl.DataFrame(
        {
            "run": rows.run[returned],
            "column": rows.column[returned],
            "row": place,
            "class": right["class"].gather(place),
            "distinct": right["distinct"].gather(place),
        }
    )
    in_classes = items.filter(pl.col("class").is_not_null()).unique(["run", "column", "class"])
    counts = np.zeros(rows.shape, dtype=np.int64)
    for part in (in_classes, marked_distinct(items)):
        np.add.at(counts, (part["run"].to_numpy(), part["column"].to_numpy()), 1)
    return counts


def marked_distinct(items: pl.DataFrame) -> pl.DataFrame:
    """The items marked distinct whose classes are unknown; of equal items, which have one judgment, at most one is."""
    return items.filter(pl.col("class").is_null() & pl.col("distinct")).unique(["run", "column", "row"])


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """The value of each answer's label, by run and question; NaN where it is not judged.

    `scale` has the lowest and the highest value of a label, `has_label` where each label was given. A response that is
    `empty` has no label and the lowest value. `supported` is 1 or 0 where the support by the contexts is judged, else
    NaN.
    """

    value: Floats
    scale: tuple[float, float]
    has_label: Mapping[str, NDArray[np.bool_]]
    empty: NDArray[np.bool_]
    supported: Floats


def count_labels(rows: Rows, key: Key, task: Task) -> tuple[LabelCounts, NDArray[np.bool_], pl.DataFrame]:
    """Look up the labels of the answers; every returned answer without a judgment is unjudged."""
    is_item = rows.is_item()
    labels = look_up(rows.table, key.judgments.kind("label"), ["question", "text"], "judgment")
    scale = (min(task.values.values()), max(task.values.values()))
    value = np.full(rows.shape, np.nan)
    values = label_values(labels, task.values).to_numpy()
    value[rows.run[is_item], rows.column[is_item]] = values[is_item]
    empty = rows.count(~is_item) > 0
    value[empty] = scale[0]
    has_label = {label: rows.count((labels == label).fill_null(value=False).to_numpy()) > 0 for label in task.labels}
    contexts = placed(key.judgments.kind("context"), rows).with_columns(supported=pl.col("support") == SUPPORTED)
    supported = valued(contexts, rows, "supported")
    unjudged = unjudged_items(rows, is_item & labels.is_null().to_numpy(), pooled=True)
    counts = LabelCounts(value, scale, has_label, empty, supported)
    return counts, np.ones(len(rows.questions), dtype=bool), unjudged
