"""The rows of runs for one type of question, and how to count them into arrays of runs x questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qassay.matrix import Floats
from qassay.questions import TestSet

# Unicode White_Space: what the length of a response does not count.
WHITE_SPACE = r"\p{White_Space}+"

# What the key lacks: the question, the run where the thing is judged run by run, and the thing in words.
UNJUDGED: Mapping[str, Any] = {"question": pl.String, "run": pl.String, "thing": pl.String}

# Rows joined at a time: their joined keys are the largest thing that scoring holds in memory.
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

    def is_item(self) -> NDArray[np.bool_]:
        """Which rows hold an item, as against NIL or an empty response."""
        return np.asarray(self.table["rank"].to_numpy() > 0)

    def count(self, which: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Number of rows of each run and question, all or those selected."""
        cell = self.run * self.shape[1] + self.column
        if which is not None:
            cell = cell[which]
        return np.bincount(cell, minlength=self.shape[0] * self.shape[1]).reshape(self.shape)

    def add(self, amounts: Floats) -> Floats:
        """Sum of an amount per row over each run and question."""
        cell = self.run * self.shape[1] + self.column
        sums = np.bincount(cell, weights=amounts, minlength=self.shape[0] * self.shape[1])
        return np.asarray(sums.reshape(self.shape))

    def answered(self) -> NDArray[np.bool_]:
        """Which run has a response to which question."""
        return self.count() > 0

    def positions(self) -> NDArray[np.int64]:
        """Line of each response in its run's file; responses that are not there stand at the end."""
        last = np.iinfo(np.int64).max
        places = np.full(self.shape, last)
        if self.table.height:
            # Written backwards, so that of several lines the first one stays.
            places[self.run[::-1], self.column[::-1]] = self.table["line"].to_numpy()[::-1]
        return places


def look_up(rows: pl.DataFrame, known: pl.DataFrame, on: Sequence[str], value: str) -> pl.Series:
    """For each row the value of the known row with equal `on` columns, or null.

    The columns are joined as one string with line breaks between them, which doc-ids, ids and tags do not hold, so
    equal strings mean equal columns. The known rows are unique.
    """
    index = known.select(key=_joined(on), value=value)
    found = [
        part.select(key=_joined(on)).join(index, on="key", how="left", maintain_order="left")["value"]
        for part in rows.iter_slices(SLICE)
    ]
    return pl.concat(found) if found else pl.Series(dtype=index.schema["value"])


def unjudged_items(rows: Rows, which: NDArray[np.bool_], *, pooled: bool) -> pl.DataFrame:
    """The returned items without a judgment; pooled items once for all runs that returned them."""
    if not which.any():
        return pl.DataFrame(schema=dict(UNJUDGED))
    names = [name for name in ("doc", "text", "start", "length") if name in rows.table.columns]
    thing = pl.concat_str([pl.col(name).cast(pl.String) for name in names], separator=" ", ignore_nulls=True)
    run = pl.lit(None, dtype=pl.String) if pooled else pl.col("run").cast(pl.String)
    return (
        rows.table.filter(pl.Series(which))
        .select(pl.col("question").cast(pl.String), run=run, thing=thing)
        .unique(maintain_order=True)
    )


def unjudged_responses(rows: Rows, which: NDArray[np.bool_], thing: str) -> pl.DataFrame:
    """The responses (runs x questions) without a judgment."""
    run, column = np.nonzero(which)
    return pl.DataFrame(
        {
            "question": [rows.questions.ids[c] for c in column],
            "run": [rows.tags[r] for r in run],
            "thing": [thing] * len(run),
        },
        schema=dict(UNJUDGED),
    )


def whole_questions(questions: Sequence[str]) -> pl.DataFrame:
    """Questions that the key does not know at all."""
    columns = {
        "question": list(questions),
        "run": [None] * len(questions),
        "thing": ["the whole question"] * len(questions),
    }
    return pl.DataFrame(columns, schema=dict(UNJUDGED))


def placed(judgments: pl.DataFrame, rows: Rows) -> pl.DataFrame:
    """The judgments of runs and questions that are here, with their row and column in the counts."""
    tags = pl.DataFrame({"run": list(rows.tags), "row": np.arange(len(rows.tags))}, schema_overrides={"run": pl.String})
    ids = pl.DataFrame(
        {"question": list(rows.questions.ids), "column": np.arange(len(rows.questions))},
        schema_overrides={"question": pl.String},
    )
    return judgments.join(tags, on="run", how="inner").join(ids, on="question", how="inner")


def summed(found: pl.DataFrame, rows: Rows, of: str | None = None) -> Floats:
    """Number of rows of each run and question, or the sum of a column."""
    total = np.zeros(rows.shape)
    amounts = 1.0 if of is None else found[of].cast(pl.Float64).to_numpy()
    np.add.at(total, (found["row"].to_numpy(), found["column"].to_numpy()), amounts)
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


def _joined(columns: Sequence[str]) -> pl.Expr:
    """The columns as one string; null where any of them is, and null matches nothing."""
    return pl.concat_str([pl.col(name).cast(pl.String) for name in columns], separator="\n")
