"""Counts for definition and other questions: nuggets matched, and holistic scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qassay.judging.keys import Key
from qassay.matrix import Floats
from qassay.tally.rows import Rows, lengths, placed, summed, unjudged_responses, valued


@dataclass(frozen=True, eq=False)
class NuggetCounts:
    """r, a, R and the length of [DEF03], with the weights of the pyramid and the holistic scores.

    `vital` and `okay` nuggets returned, by run and question; `vital_known` in the list, by question; `length` in
    characters that are not white space. `weight` and `weight_known` are NaN where no weights are given, `content` and
    `organization` where no holistic score is.
    """

    vital: NDArray[np.int64]
    okay: NDArray[np.int64]
    vital_known: NDArray[np.int64]
    length: NDArray[np.int64]
    weight: Floats
    weight_known: Floats
    content: Floats
    organization: Floats


def count_nuggets(rows: Rows, key: Key) -> tuple[NuggetCounts, NDArray[np.bool_], pl.DataFrame]:
    """Count matched nuggets; a nugget counts once a response, a non-empty response without a judgment is unjudged."""
    matches = placed(key.judgments.kind("match"), rows)
    listed = key.nuggets.select("question", nuggets="nugget", vital="vital", weight="weight")
    once = matches.explode("nuggets").drop_nulls("nuggets").unique(["row", "column", "nuggets"])
    found = once.join(listed, on=["question", "nuggets"], how="inner")
    returned = rows.count(rows.is_item()) > 0
    judged = summed(matches, rows) > 0
    totals = list_totals(listed, rows)
    holistic = placed(key.judgments.kind("holistic"), rows)
    empty = np.where(rows.answered(), 0.0, np.nan)
    counts = NuggetCounts(
        vital=summed(found.filter(pl.col("vital")), rows).astype(np.int64),
        okay=summed(found.filter(~pl.col("vital")), rows).astype(np.int64),
        vital_known=totals["vital"].astype(np.int64),
        length=lengths(rows),
        weight=summed(found, rows, "weight"),
        weight_known=totals["weight"],
        # An empty response needs no judgment: there is nothing to be good about it.
        content=np.where(returned, valued(holistic, rows, "content"), empty),
        organization=np.where(returned, valued(holistic, rows, "organization"), empty),
    )
    lacking = unjudged_responses(rows, returned & ~judged, "nuggets of the response")
    return counts, totals["nuggets"] > 0, lacking


def list_totals(listed: pl.DataFrame, rows: Rows) -> dict[str, Floats]:
    """Nuggets, vital nuggets and sum of weights of each question's list; NaN unless every nugget has a weight."""
    sums = listed.group_by("question").agg(
        nuggets=pl.len(),
        vital=pl.col("vital").sum(),
        weight=pl.when(pl.col("weight").null_count() == 0).then(pl.col("weight").sum()),
    )
    ids = pl.DataFrame({"question": list(rows.questions.ids)}, schema={"question": pl.String})
    table = ids.join(sums, on="question", how="left", maintain_order="left")
    return {
        "nuggets": table["nuggets"].fill_null(0).cast(pl.Float64).to_numpy(),
        "vital": table["vital"].fill_null(0).cast(pl.Float64).to_numpy(),
        "weight": table["weight"].cast(pl.Float64).fill_null(float("nan")).to_numpy(),
    }
