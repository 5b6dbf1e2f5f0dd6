"""Judgment sets side by side: what assessors said of the same things."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from qassay.judgments import JudgmentSet

RATINGS = ("understandability", "correctness", "content", "organization")


def labels(sets: Iterable[JudgmentSet]) -> pl.DataFrame:
    """Labels of every judged item: columns question, item and one for each set (null: not judged)."""
    return joined({one.name: _labels(one) for one in sets})


def joined(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Tables of question, item and label as one, with a column of labels for each, named like it."""
    found = pl.DataFrame(schema={"question": pl.String, "item": pl.String})
    for name, table in tables.items():
        named = table.rename({"label": name})
        found = found.join(named, on=["question", "item"], how="full", coalesce=True, maintain_order="left_right")
    return found


def ratings(sets: Iterable[JudgmentSet]) -> pl.DataFrame:
    """Ratings of justifications and holistic scores; the set stands for an unnamed assessor."""
    tables = []
    for one in sets:
        rows = pl.concat([one.kind("rating"), one.kind("holistic")], how="diagonal")
        tables.append(
            rows.select(
                pl.lit(one.name).alias("set"), pl.col("assessor").fill_null(one.name), "question", "run", *RATINGS
            )
        )
    if not tables:
        return pl.DataFrame(schema={"set": pl.String, "assessor": pl.String, "question": pl.String, "run": pl.String})
    return pl.concat(tables).unique(["assessor", "question", "run", "set"], keep="last", maintain_order=True)


def _labels(judgments: JudgmentSet) -> pl.DataFrame:
    """Question, readable item and label of every labelled item of a set."""
    tables = []
    for kind in ("item", "list", "pair"):
        rows = judgments.kind(kind)
        names = [pl.col(name).cast(pl.String) for name in ("run", "doc", "text", "start", "length")]
        if kind == "item":
            names = names[1:]  # pooled: the run does not matter
        item = pl.concat_str(names, separator="\t", ignore_nulls=True) if kind != "pair" else pl.col("question")
        tables.append(rows.select("question", item.alias("item"), label="judgment"))
    return pl.concat(tables)
