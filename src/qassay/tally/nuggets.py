"""Counts by nuggets: those matched in responses, with holistic scores, and those that long answers support."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qassay.arrays import Floats
from qassay.judging.keys import Key
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
    """Count matched nuggets; a nugget counts once per response, a non-empty response without a judgment is unjudged."""
    matches = placed(key.judgments.kind("match"), rows)
    listed = key.nuggets.select("question", nuggets="nugget", vital="vital", weight="weight")
    once = matches.explode("nuggets").drop_nulls("nuggets").unique(["row", "column", "nuggets"])
    matched = once.join(listed, on=["question", "nuggets"], how="inner")
    returned = rows.count(rows.is_item()) > 0
    judged = summed(matches, rows) > 0
    totals = list_totals(listed, rows)
    holistic = placed(key.judgments.kind("holistic"), rows)
    empty = np.where(rows.answered(), 0.0, np.nan)
    counts = NuggetCounts(
        vital=summed(matched.filter(pl.col("vital")), rows).astype(np.int64),
        okay=summed(matched.filter(~pl.col("vital")), rows).astype(np.int64),
        vital_known=totals["vital"].astype(np.int64),
        length=lengths(rows),
        weight=summed(matched, rows, "weight"),
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


CREDIT = {"full": 1.0, "partial": 0.5, "none": 0.0}


@dataclass(frozen=True, eq=False)
class AnswerCounts:
    """Nuggets that an answer supports fully and partially, vital and okay, and those there are, by question.

    `citation_precision` and `citation_recall` are NaN where none of an answer's citations is judged. `length` counts
    characters that are not white space.
    """

    vital_full: Floats
    vital_partial: Floats
    okay_full: Floats
    okay_partial: Floats
    vital_known: Floats
    okay_known: Floats
    citation_precision: Floats
    citation_recall: Floats
    length: NDArray[np.int64]


def count_answers(rows: Rows, key: Key) -> tuple[AnswerCounts, NDArray[np.bool_], pl.DataFrame]:
    """Count supported nuggets; every nugget of a non-empty answer without a support judgment is unjudged."""
    listed = key.nuggets.select("question", "nugget", "vital", "weight")
    support = placed(key.judgments.kind("support"), rows).join(listed, on=["question", "nugget"], how="inner")
    sentences = rows.count(rows.is_item())
    # An empty answer supports nothing, whatever is noted about it.
    support = support.filter(pl.Series(_at(sentences, support) > 0))
    totals = list_totals(listed.rename({"nugget": "nuggets"}), rows)
    vital, full, partial = pl.col("vital"), pl.col("support") == "full", pl.col("support") == "partial"
    precision, recall = _citations(rows, key)
    counts = AnswerCounts(
        vital_full=summed(support.filter(vital & full), rows),
        vital_partial=summed(support.filter(vital & partial), rows),
        okay_full=summed(support.filter(~vital & full), rows),
        okay_partial=summed(support.filter(~vital & partial), rows),
        vital_known=totals["vital"],
        okay_known=totals["nuggets"] - totals["vital"],
        citation_precision=precision,
        citation_recall=recall,
        length=lengths(rows),
    )
    short = (sentences > 0) & (summed(support, rows) < totals["nuggets"])
    return counts, totals["nuggets"] > 0, _lacking(rows, short, listed, support)


def _at(counts: NDArray[np.int64], placed: pl.DataFrame) -> NDArray[np.int64]:
    """The count of the run and question of each row."""
    return np.asarray(counts[placed["row"].to_numpy(), placed["column"].to_numpy()])


def _lacking(rows: Rows, short: NDArray[np.bool_], listed: pl.DataFrame, support: pl.DataFrame) -> pl.DataFrame:
    """The nuggets without support judgment, of the responses that lack any."""
    responses = unjudged_responses(rows, short, "nugget ").select("question", "run", "item")
    pairs = responses.join(listed, on="question", maintain_order="left_right")
    missing = pairs.join(support, on=["question", "run", "nugget"], how="anti", maintain_order="left")
    return missing.select("question", "run", item=pl.col("item") + pl.col("nugget"))


def _citations(rows: Rows, key: Key) -> tuple[Floats, Floats]:
    """Mean support of judged citations; mean over sentences of their best supported citation."""
    judged = placed(key.judgments.kind("citation"), rows).with_columns(
        credit=pl.col("support").replace_strict(CREDIT, return_dtype=pl.Float64)
    )
    precision = np.full(rows.shape, np.nan)
    recall = np.full(rows.shape, np.nan)
    if judged.height:
        number = summed(judged, rows)
        sentences = rows.count(rows.is_item())
        best = judged.group_by("row", "column", "sentence").agg(pl.col("credit").max())
        # A judgment may outlive the sentence it was made for; recall is over those that are there.
        best = best.filter(best["sentence"].is_between(0, pl.Series(_at(sentences, best) - 1)))
        some = number > 0
        precision[some] = summed(judged, rows, "credit")[some] / number[some]
        some &= sentences > 0
        recall[some] = summed(best, rows, "credit")[some] / sentences[some]
    return precision, recall
