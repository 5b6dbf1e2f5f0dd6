"""Reusability: would the judgments have been fair to a run that was not in the pool?

One run, or all runs of one organisation, is left out: pooled items and list items that only it returned become
unjudged (and count as wrong), and answer classes that only it found leave the known answers. It is then scored with
what remains. Responses to nugget questions are judged as wholes and cannot be left out; there an automatic assessor
is the only way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict

import numpy as np
import polars as pl

from qassay.errors import UsageError
from qassay.judging import ROW_KINDS, Kind
from qassay.judging.keys import Key
from qassay.judging.sets import JudgmentSet
from qassay.matrix import document
from qassay.meta.ranking import RankComparison, compare_rankings
from qassay.results import Result
from qassay.runs import Runs
from qassay.scoring import Missing, Scores, Unjudged, score
from qassay.tables import Column, Table, starred, table
from qassay.tally import Tally, tally

By = Literal["run", "organisation"]
READING = (
    "Every row leaves out one {by} only: its rank left out is the place among the others, which keep what they brought."
    " Rows can share such a rank. Tau and swaps compare the columns score and left out."
)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One run scored with and without what it brought to the judgments."""

    run: str
    organisation: str | None
    score: float
    score_without: float
    rank: float
    rank_without: float
    unique_items: int

    @property
    def change(self) -> float:
        """What the run loses (negative) or gains by having been left out."""
        return self.score_without - self.score


@dataclass(frozen=True, repr=False)
class Reuse(Result):
    """The leave-one-out test of the judgments, runs in the order of their scores."""

    by: By
    measure: str
    key: str
    rows: tuple[LeftOut, ...]
    comparison: RankComparison
    notes: tuple[str, ...] = ()
    manual: frozenset[str] = frozenset()

    @property
    def mean_change(self) -> float:
        """Mean change of a run's score."""
        return float(np.mean([row.change for row in self.rows]))

    @property
    def largest(self) -> LeftOut:
        """The run whose score changes most."""
        return max(self.rows, key=lambda row: abs(row.change))

    def sentence(self) -> str:
        """How much a run loses or gains by having been left out."""
        largest, tau = self.largest, self.comparison.tau
        change = f"a run left out changes by {self.mean_change:+.3f} on average, by {largest.change:+.3f} at most"
        return f"{change} ({largest.run})" + ("" if tau is None else f"; tau {tau:.3f}")

    def table(self) -> Table:
        """Score and rank of every run, with and without its own contribution."""
        columns: list[Column | str] = ["run", "organisation", Column("unique items"), Column("score", ".3f")]
        columns += [Column("left out", ".3f"), Column("change", "+.3f")]
        columns += [Column("rank", "g"), Column("rank left out", "g")]
        rows = [
            (
                starred(r.run, self.manual),
                r.organisation,
                r.unique_items,
                r.score,
                r.score_without,
                r.change,
                r.rank,
                r.rank_without,
            )
            for r in self.rows
        ]
        return table(f"Leave out one {self.by}: {self.measure}, judgments: {self.key}", columns, rows, self._reading())

    def as_json(self) -> dict[str, Any]:
        """All figures under their names."""
        names = ("run", "organisation", "unique_items", "score", "score_without", "change", "rank", "rank_without")
        return {
            **document(self, "by", "measure", "key"),
            "runs": [document(row, *names) for row in self.rows],
            "mean_change": self.mean_change,
            "largest_change": document(self.largest, "run", "change"),
            **document(self.comparison, "tau", "swaps", "concordant", "tied"),
            "notes": [*self.notes, *self.comparison.notes],
        }

    def _reading(self) -> tuple[str, ...]:
        changes = f"Mean change {self.mean_change:+.3f}; largest {self.largest.change:+.3f} ({self.largest.run})."
        star = ("* manual run",) if self.manual else ()
        return (f"{changes} {self.comparison.sentence()}", READING.format(by=self.by), *self.notes, *star)


class _Rules(TypedDict):
    """How the runs are scored: the arguments of `score`."""

    measure: str | None
    component: str | None
    missing: Missing
    drop: Mapping[str, str] | None
    drop_from_series: Mapping[str, str] | None
    unjudged: Unjudged


def reuse(
    joined: Tally,
    *,
    by: By = "run",
    measure: str | None = None,
    component: str | None = None,
    missing: Missing = "stop",
    drop: Mapping[str, str] | None = None,
    drop_from_series: Mapping[str, str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Reuse:
    """Leave out every run, or every organisation, in turn.

    `measure`, `component`, `missing`, `drop` and `drop_from_series` are those of `score`. Unjudged items count as wrong
    throughout.
    """
    if joined.task.has("decision", "justified", "answer"):
        raise UsageError(f"task {joined.task.name} has no pool: its judgments do not depend on which runs there were")
    rules: _Rules = {
        "measure": measure,
        "component": component,
        "missing": missing,
        "drop": drop,
        "drop_from_series": drop_from_series,
        "unjudged": "wrong",
    }
    whole = score(joined, **rules)
    groups = _groups(joined.runs, by)
    if len(groups) < 2:
        raise UsageError(f"leaving out one {by} needs two or more; there is {len(groups)}")
    rows: dict[str, LeftOut] = {}
    for number, group in enumerate(groups):
        rows |= _leave_out(joined, whole, group, rules)
        if progress:
            progress(number + 1, len(groups))
    ordered = tuple(rows[row.run] for row in whole.runs if row.run in rows)
    comparison = compare_rankings([row.score for row in ordered], [row.score_without for row in ordered])
    manual = frozenset(row.run for row in ordered if joined.runs.about(row.run).manual)
    return Reuse(by, whole.measure, whole.key, ordered, comparison, _notes(joined), manual)


def without(key: Key, runs: Runs, tags: Sequence[str]) -> tuple[Key, dict[str, int]]:
    """The key without what only these runs brought to it, and how many judged items each had for itself."""
    lists, unique = _lists_without(key.judgments.kind("list"), tags)
    kinds = {**key.judgments.kinds, "list": lists}
    counts = {tag: unique.get(tag, 0) for tag in tags}
    for record in ROW_KINDS.values():
        if record.of_runs and record.pooled and "run" not in record.pooled:
            kinds[record.name], unique = _pooled_without(record, key.judgments.kind(record.name), runs, tags)
            counts = {tag: count + unique.get(tag, 0) for tag, count in counts.items()}
    return replace(key, judgments=JudgmentSet(key.name, kinds)), counts


def _groups(runs: Runs, by: By) -> list[list[str]]:
    """The runs to leave out together; a run without an organisation stands for itself."""
    if by == "run":
        return [[tag] for tag in runs.tags]
    groups: dict[str, list[str]] = {}
    for tag in runs.tags:
        groups.setdefault(runs.about(tag).organisation or f"run {tag}", []).append(tag)
    return list(groups.values())


def _leave_out(joined: Tally, whole: Scores, group: list[str], rules: _Rules) -> dict[str, LeftOut]:
    key, unique = without(joined.key, joined.runs, group)
    rest = score(tally(joined.runs, joined.questions, key, joined.task), **rules)
    before, after = ({row.run: row.score for row in scores.runs} for scores in (whole, rest))
    ranks, ranks_after = whole.ranks(), rest.ranks()
    return {
        tag: LeftOut(
            run=tag,
            organisation=joined.runs.about(tag).organisation,
            score=float(before[tag] or 0.0),
            score_without=float(after[tag] or 0.0),
            rank=float(ranks[tag] or 0.0),
            rank_without=float(ranks_after[tag] or 0.0),
            unique_items=unique[tag],
        )
        for tag in group
        if before[tag] is not None and after[tag] is not None
    }


def _pooled_without(
    record: Kind, judged: pl.DataFrame, runs: Runs, tags: Sequence[str]
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Judgments of pooled items without those that only these runs returned; items that nobody returned stay."""
    same = [name for name in record.identity if name in runs.table.columns]
    if len(same) < 2 or not judged.height:
        return judged, {}
    returned = (
        runs.table.filter(pl.col("rank") > 0)
        .with_columns(pl.col("question", "run").cast(pl.String))
        .select("run", *(pl.col(name).cast(judged.schema[name]) for name in same))
        .unique()
        .join(judged.select(same), on=same, how="semi", nulls_equal=True)
    )
    theirs = pl.col("run").is_in(tags)
    only = returned.filter(theirs).join(returned.filter(~theirs), on=same, how="anti", nulls_equal=True)
    left = judged.join(only, on=same, how="anti", nulls_equal=True, maintain_order="left")
    return left, dict(only.group_by("run").len().iter_rows())


def _lists_without(judged: pl.DataFrame, tags: Sequence[str]) -> tuple[pl.DataFrame, dict[str, int]]:
    """List judgments without these runs' own; an item that another run returned too takes that run's judgment."""
    same = ["question", "doc", "text"]
    theirs, others = judged.filter(pl.col("run").is_in(tags)), judged.filter(~pl.col("run").is_in(tags))
    given = others.unique(same, keep="first", maintain_order=True).drop("run", "line")
    shared = theirs.select("line", "run", *same).join(given, on=same, how="inner", nulls_equal=True)
    only = theirs.join(others, on=same, how="anti", nulls_equal=True)
    return pl.concat([others, shared.select(others.columns)]), dict(only.group_by("run").len().iter_rows())


def _notes(joined: Tally) -> tuple[str, ...]:
    notes = ["What becomes unjudged counts as wrong."]
    whole = [kind for kind in joined.task.types if kind in ("definition", "other") and kind in joined.types]
    if whole:
        notes.append(f"Responses to {whole[0]} questions are judged as wholes and cannot be left out.")
    return tuple(notes)
