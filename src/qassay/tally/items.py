"""Counts for factoid questions: ranked items, one item or NIL, one extract or NIL."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qassay.judging.keys import Key
from qassay.tally.rows import Rows, look_up, unjudged_items


@dataclass(frozen=True, eq=False)
class ItemCounts:
    """What the judgments say of the items returned, by run and question.

    `first_right` and `first_lenient` are the rank of the first item judged R, and judged R or U; 0 where there is none.
    `nil` tells where NIL was returned, `nil_right` (by question) where NIL is right.
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
        # One item a question: a byte for each is all there is to write, and ten million fit into the cache.
        first = np.zeros(rows.shape, dtype=np.uint8)
        first.reshape(-1)[rows.cell] = good
        return first
    # The last to be written stays: write by falling rank.
    rank, cell = rank[good], rows.cell[good]
    order = np.argsort(-rank.astype(np.int64), kind="stable")
    ranks = np.zeros(rows.shape, dtype=np.uint32)
    ranks.reshape(-1)[cell[order]] = rank[order]
    return ranks
