"""The rows of runs for one type of question, and how to count them into arrays of runs x questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qassay.arrays import Floats
from qassay.questions import TestSet

# Unicode White_Space: what the length of a response does not count.
WHITE_SPACE = r"\p{White_Space}+"

# What the key lacks: the question, the run where items are judged run by run, and the item in words.
UNJUDGED: Mapping[str, Any] = {"question": pl.String, "run": pl.String, "item": pl.String}

# Rows looked up at a time: enough to be worth it, few enough to stay small beside the runs themselves.
SLICE = 1_000_000


@dataclass(frozen=True, eq=False)
class Rows:
    """Items of one type of question; `run` and `column` are the row and column of each in the counts."""

    table: pl.DataFrame
    tags: tuple[str, ...]
    questions: TestSet
    run: NDArray[np.int64]
    column: NDArray[np.int64]

    @property
    def shape(self) -> tuple[int, int]:
        """Runs x questions."""
        return len(self.tags), len(self.questions)

    @cached_property
    def cell(self) -> NDArray[np.int64]:
        """Place of each row in the counts, laid out run after run."""
        return self.run * self.shape[1] + self.column

    def is_item(self) -> NDArray[np.bool_]:
        """Which rows have an item; the others are NIL or an empty response."""
        return np.asarray(self.table["rank"].to_numpy() > 0)

    def count(self, which: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Number of rows of each run and question, all or those selected."""
        cell = self.cell if which is None else self.cell[which]
        return np.bincount(cell, minlength=self.shape[0] * self.shape[1]).reshape(self.shape)

    def add(self, amounts: Floats) -> Floats:
        """Sum of an amount per row over each run and question."""
        sums = np.bincount(self.cell, weights=amounts, minlength=self.shape[0] * self.shape[1])
        return np.asarray(sums.reshape(self.shape))

    def answered(self) -> NDArray[np.bool_]:
        """Which run has a response to which question."""
        return self.count() > 0

    def order(self) -> NDArray[np.int64]:
        """Columns of each run in the order of its file; questions without a response come last, in their own order."""
        runs, questions = self.shape
        if len(self.run) == runs * questions and (self.count() == 1).all() and (np.diff(self.run) >= 0).all():
            return self.column.reshape(self.shape)  # as most files are: one line per question, run after run
        places = np.broadcast_to((1 << 32) + np.arange(questions), self.shape).copy()
        if self.table.height:
            # Written backwards, so that of several lines the first one stays.
            places[self.run[::-1], self.column[::-1]] = self.table["line"].to_numpy()[::-1]
        return np.argsort(places, axis=1)


def look_up(rows: pl.DataFrame, known: pl.DataFrame, on: Sequence[str], value: str) -> pl.Series:
    """For each row the value of the known row with equal `on` columns, or null; the known rows are unique.

    Rows are joined by a hash of the columns and then compared with their partners, which is faster than joining
    strings and as exact: a row's true partner has its hash. Where hashes of known rows coincide, strings are joined.
    """
    index = known.select(*(pl.col(name).cast(rows.schema[name], strict=False) for name in on), value=value).drop_nulls(
        on
    )
    hashes = index.select(on).hash_rows(seed=0)
    if hashes.n_unique() < len(hashes):
        return rows.select(on).join(index, on=list(on), how="left", maintain_order="left")["value"]
    table = pl.DataFrame({"hash": hashes, "place": np.arange(len(hashes), dtype=np.uint32)})
    values = [_verified(part, index, table, on) for part in rows.select(on).iter_slices(SLICE)]
    return pl.concat(values) if values else pl.Series(dtype=index.schema["value"])


def _verified(rows: pl.DataFrame, index: pl.DataFrame, table: pl.DataFrame, on: Sequence[str]) -> pl.Series:
    """The value of the known row with the same hash, where it really is the same row."""
    hashes = pl.DataFrame({"hash": rows.hash_rows(seed=0)})
    place = hashes.join(table, on="hash", how="left", maintain_order="left")["place"]
    same = place.is_not_null()
    for name in on:
        same &= rows[name] == index[name].gather(place)
    return index["value"].gather(place).set(~same.fill_null(value=False), None)


def unjudged_items(rows: Rows, which: NDArray[np.bool_], *, pooled: bool) -> pl.DataFrame:
    """The returned items without a judgment; pooled items once for all runs that returned them."""
    if not which.any():
        return pl.DataFrame(schema=dict(UNJUDGED))
    names = [name for name in ("doc", "text", "start", "length") if name in rows.table.columns]
    item = pl.concat_str([pl.col(name).cast(pl.String) for name in names], separator=" ", ignore_nulls=True)
    run = pl.lit(None, dtype=pl.String) if pooled else pl.col("run").cast(pl.String)
    return (
        rows.table.filter(pl.Series(which))
        .select(pl.col("question").cast(pl.String), run=run, item=item)
        .unique(maintain_order=True)
    )


def unjudged_responses(rows: Rows, which: NDArray[np.bool_], item: str) -> pl.DataFrame:
    """The responses (runs x questions) without a judgment."""
    lacking = [(rows.questions.ids[column], rows.tags[run], item) for run, column in np.argwhere(which).tolist()]
    return pl.DataFrame(lacking, schema=dict(UNJUDGED), orient="row")


def whole_questions(questions: Sequence[str]) -> pl.DataFrame:
    """Questions that the key does not know at all."""
    lacking = [(question, None, "the whole question") for question in questions]
    return pl.DataFrame(lacking, schema=dict(UNJUDGED), orient="row")


def placed(judgments: pl.DataFrame, rows: Rows) -> pl.DataFrame:
    """The judgments of runs and questions that are here, with their row and column in the counts."""
    tags = pl.DataFrame({"run": list(rows.tags), "row": np.arange(len(rows.tags))}, schema_overrides={"run": pl.String})
    ids = pl.DataFrame(
        {"question": list(rows.questions.ids), "column": np.arange(len(rows.questions))},
        schema_overrides={"question": pl.String},
    )
    return judgments.join(tags, on="run", how="inner").join(ids, on="question", how="inner")


def summed(table: pl.DataFrame, rows: Rows, of: str | None = None) -> Floats:
    """Number of rows of each run and question, or the sum of a column."""
    total = np.zeros(rows.shape)
    amounts = 1.0 if of is None else table[of].cast(pl.Float64).to_numpy()
    np.add.at(total, (table["row"].to_numpy(), table["column"].to_numpy()), amounts)
    return total


def valued(judged: pl.DataFrame, rows: Rows, name: str) -> Floats:
    """A column of judgments as an array of runs x questions; NaN where nothing is judged."""
    values = np.full(rows.shape, np.nan)
    values[judged["row"].to_numpy(), judged["column"].to_numpy()] = judged[name].cast(pl.Float64).to_numpy()
    return values


def lengths(rows: Rows) -> NDArray[np.int64]:
    """Characters that are not white space, over all items of each response."""
    lengths = rows.table.select(
        pl.col("text").str.replace_all(WHITE_SPACE, "").str.len_chars().fill_null(0)
    ).to_series()
    return rows.add(lengths.cast(pl.Float64).to_numpy()).astype(np.int64)
