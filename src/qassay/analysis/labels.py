"""The labels of an evaluation side by side: one table for each kind of judgment that has labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from qassay.evaluation import Evaluation
from qassay.judging.sets import JudgmentSet, joined


@dataclass(frozen=True, eq=False)
class Labels:
    """What the sets said of the things all of them judged; `about` names the kind of judgment."""

    about: str
    sets: Mapping[str, pl.Series]
    notes: tuple[str, ...] = ()

    @property
    def items(self) -> int:
        """Number of things judged by all."""
        return len(next(iter(self.sets.values())))


def compared_labels(evaluation: Evaluation, names: Sequence[str], *, chosen: bool) -> list[Labels]:
    """The labels of each kind of judgment, those of items and pairs first; kinds that do not occur are absent.

    `chosen` says that the user named the sets: all of them are compared then. Else a set without any label of a kind
    is left out of it.
    """
    found = [_side_by_side("items", evaluation.labels(names), names, chosen=chosen)]
    if evaluation.task.has("set", "answer"):
        read = {name: evaluation.judgment_set(name) for name in names}
        kinds: dict[str, Callable[[str, JudgmentSet], pl.DataFrame]] = {
            "nugget support": lambda name, judged: _support(judged, "support", "run", "nugget"),
            "nugget matches": lambda name, judged: _matches(judged, evaluation.nugget_list(name)),
            "citations": lambda name, judged: _support(judged, "citation", "run", "sentence", "doc"),
        }
        for about, labels_of in kinds.items():
            tables = {name: labels_of(name, judged) for name, judged in read.items()}
            having = [name for name, labels in tables.items() if len(labels)]
            if len(having) > 1:
                found.append(
                    _side_by_side(about, joined({name: tables[name] for name in having}), having, chosen=False)
                )
    return [one for one in found if one.items] or found[:1]


def _side_by_side(about: str, labels: pl.DataFrame, names: Sequence[str], *, chosen: bool) -> Labels:
    """Keep the rows that all sets have, and say how many they do not."""
    having = [name for name in names if labels[name].null_count() < len(labels)]
    notes = []
    if not chosen and 1 < len(having) < len(names):
        notes.append(f"Sets without judgments of these items: {', '.join(n for n in names if n not in having)}.")
        names = having
    complete = labels.drop_nulls(list(names))
    partly = labels.filter(~pl.all_horizontal(pl.col(names).is_null())).height - complete.height
    if partly:
        notes.append(f"Judged by some of the sets only, and not compared: {partly:,} {about}.")
    return Labels(about, {name: complete[name] for name in names}, tuple(notes))


def _support(judged: JudgmentSet, kind: str, *columns: str) -> pl.DataFrame:
    item = pl.concat_str([pl.col(name).cast(pl.String) for name in columns], separator="\t", ignore_nulls=True)
    return judged.kind(kind).select("question", item.alias("item"), label="support")


def _matches(judged: JudgmentSet, nuggets: pl.DataFrame) -> pl.DataFrame:
    """For each judged response and each nugget of its question's list, whether the nugget was found in it.

    A nugget is named by its id and its text: the lists of two assessors need not be the same, and what they share is
    what can be compared.
    """
    rows = judged.kind("match")
    responses = rows.select("question", "run").unique(maintain_order=True)
    pairs = responses.join(nuggets.select("question", "nugget", "text"), on="question", maintain_order="left")
    hits = rows.select("question", "run", nugget="nuggets").explode("nugget").drop_nulls().unique()
    item = pl.concat_str("run", "nugget", "text", separator="\t", ignore_nulls=True)
    return pairs.join(
        hits.with_columns(label=pl.lit("yes")), on=["question", "run", "nugget"], how="left", maintain_order="left"
    ).select("question", item.alias("item"), pl.col("label").fill_null("no"))
