"""Keys that follow from others, and from what several assessors said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import polars as pl

from qassay.judgments import JudgmentSet, Key, disagreement_unknown, folded, no_answers, no_nuggets
from qassay.nuggets import pyramid_weights

# Keys that entailment tasks derive from their sets.
TWO_WAY = "two-way"
DISAGREEMENT_UNKNOWN = "disagreement-unknown"


def two_way_key(base: Key) -> Key:
    """The key of entailment in which UNKNOWN is NO."""
    return replace(base, judgments=JudgmentSet(TWO_WAY, {}), pairs=folded(base.pair_labels()), two_way=True)


def disagreement_key(assessors: Iterable[JudgmentSet], two_way: Iterable[JudgmentSet]) -> Key:
    """The key of entailment in which what assessors disagree on is UNKNOWN."""
    pairs = disagreement_unknown([one.pair_labels() for one in assessors], [one.pair_labels() for one in two_way])
    return Key(JudgmentSet(DISAGREEMENT_UNKNOWN, {}), no_nuggets(), no_answers(), pairs=pairs)


def voted(key: Key, lists: Mapping[str, pl.DataFrame]) -> Key:
    """The key with the votes of these nugget lists as weights, in the questions that any of them votes on."""
    weights = pyramid_weights(lists)
    joined = key.nuggets.drop("weight").join(weights, on=["question", "nugget"], how="left", maintain_order="left")
    has_votes = pl.col("weight").is_not_null().any().over("question")
    return replace(key, nuggets=joined.with_columns(weight=pl.when(has_votes).then(pl.col("weight").fill_null(0.0))))
