"""Nuggets: atomic facts about a target, vital or okay."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

# The written schema of a nugget list. `weight` is given where several assessors voted on what is vital.
NUGGET_COLUMNS: Mapping[str, Any] = {
    "question": pl.String,
    "nugget": pl.String,
    "vital": pl.Boolean,
    "text": pl.String,
    "weight": pl.Float64,
}


def list_of_key(key: str, lists: Collection[str]) -> str | None:
    """The nugget list that a key goes by: the one of its name, else the only one there is (FORMATS 4).

    >>> list_of_key("first", ["first", "second"]), list_of_key("third", ["first"]), list_of_key("third", ["a", "b"])
    ('first', 'first', None)
    """
    if key in lists:
        return key
    return next(iter(lists)) if len(lists) == 1 else None


def known_by_text(nuggets: pl.DataFrame) -> pl.DataFrame:
    """Question and id of each nugget, and `text`, by which it is known in any list: blanks and capitals do not count.

    A nugget without a text goes by its id; of equal texts in one list, the first is that of another list's first.
    """
    text = pl.col("text").str.replace_all(r"\s+", " ").str.strip_chars().str.to_lowercase()
    known = nuggets.select("question", "nugget", text=pl.coalesce(text, "nugget"))
    place = pl.int_range(pl.len()).over("question", "text")
    return known.with_columns(text=pl.concat_str("text", place, separator="\t"))


def pyramid_weights(lists: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Weights of nuggets that several assessors judged: votes for vital / the largest number of votes of the question.

    The lists must name the same nuggets by the same ids; a nugget that nobody calls vital weighs 0. Where no nugget of
    a question is vital to anybody, no weight is defined and the question is absent.
    """
    votes = (
        pl.concat([nugget_list.select("question", "nugget", "vital") for nugget_list in lists.values()])
        .group_by("question", "nugget", maintain_order=True)
        .agg(votes=pl.col("vital").sum())
    )
    most = pl.col("votes").max().over("question")
    return votes.filter(most > 0).select("question", "nugget", weight=pl.col("votes") / most)
