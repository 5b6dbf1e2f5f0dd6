"""Reusability: would the judgments have been fair to a run that was not in the pool?

One run, or all runs of one organisation, is left out: pooled items and list items that only it returned become
unjudged (and count as wrong), and answer classes that only it found leave the known answers. It is then scored with
what remains. Responses to nugget questions are judged as wholes and cannot be left out; there an automatic assessor
is the only way.

With an automatic assessor, everything that was judged for the run alone is left out, responses to nugget questions too,
and the assessor judges it in place of the people: so would a run fare that comes after the judging.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypedDict

import numpy as np
import polars as pl

from qassay.arrays import TIE
from qassay.errors import Remedy, UsageError
from qassay.judging import ROW_KINDS, Kind
from qassay.judging.keys import MIXED, Key, mixed_key
from qassay.judging.sets import JudgmentSet
from qassay.meta.ranking import RankComparison, compare_rankings, pairs_of_runs
from qassay.results import UNREPORTED, Result, reported
from qassay.runs import Runs
from qassay.scoring import Missing, Scores, Unjudged, score
from qassay.tables import MANUAL_RUN, Column, Table, starred, table
from qassay.tally import Tally, tally

By = Literal["run", "organisation"]
READING = (
    "Every row leaves out one {by} only: its rank left out is the place among the others, which keep what they brought."
    " Rows can share such a rank. Tau and swaps compare the columns score and left out."
)
READING_WITH = (
    "Every row leaves out one {by} only; the others keep people's judgments. The program judges what people judged for"
    " it alone. Tau and swaps compare the columns score and program."
)
# Judges what some runs returned and a key does not judge: the runs, the key that is left, the program's judgments.
Assess = Callable[[Sequence[str], Key], JudgmentSet]


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
    # The same with the judgments of an assessor in place of its own, and how many these are.
    score_with: float | None = None
    rank_with: float | None = None
    assessed: int | None = None
    # The ranks as people write them: 2= where runs share the second place.
    places: tuple[int | str | None, ...] = field(default=(), metadata=UNREPORTED)

    @reported
    def change(self) -> float:
        """The loss (negative) or gain of the run when it is left out, or judged by the assessor."""
        return (self.score_without if self.score_with is None else self.score_with) - self.score


@dataclass(frozen=True, slots=True)
class LargestChange:
    """The run whose score changes most, and by how much."""

    run: str
    change: float


@dataclass(frozen=True, slots=True)
class Order:
    """How far the runs keep their order."""

    tau: float | None
    swaps: int
    concordant: int
    tied: int


@dataclass(frozen=True, repr=False)
class Reuse(Result):
    """The leave-one-out test of the judgments, runs in the order of their scores."""

    by: By
    measure: str
    key: str
    runs: tuple[LeftOut, ...]
    comparison: RankComparison = field(metadata=UNREPORTED)
    notes: tuple[str, ...] = ()
    manual: frozenset[str] = field(default=frozenset(), metadata=UNREPORTED)
    # Who judged in place of the people, and the order with nothing in their place.
    assessor: str | None = None
    unassessed: Order | None = None

    @reported
    def mean_change(self) -> float:
        """Mean change of a run's score."""
        return float(np.mean([row.change for row in self.runs]))

    @reported
    def largest_change(self) -> LargestChange:
        """The run whose score changes most."""
        largest = max(self.runs, key=lambda row: abs(row.change))
        return LargestChange(largest.run, largest.change)

    @reported
    def tau(self) -> float | None:
        """Kendall's tau of the runs as they are and left out."""
        return self.comparison.tau

    @reported
    def swaps(self) -> int:
        """Pairs of runs that change places."""
        return self.comparison.swaps

    @reported
    def concordant(self) -> int:
        """Pairs of runs that keep their order."""
        return self.comparison.concordant

    @reported
    def tied(self) -> int:
        """Pairs of runs that are tied either way."""
        return self.comparison.tied

    def sentence(self) -> str:
        """How much a run loses or gains by having been left out."""
        largest, ranks = self.largest_change, self.comparison
        left_out = "a run left out" if self.assessor is None else f"a run left out and judged by {self.assessor}"
        change = f"{left_out} changes by {self.mean_change:+.3f} on average, by {largest.change:+.3f} at most"
        change += f" ({largest.run})"
        if abs(largest.change) < TIE:
            change = f"{left_out} keeps its score"
        swap = "change" if ranks.swaps > 1 else "changes"
        return f"{change}; {pairs_of_runs(ranks.swaps, ranks.pairs)} {swap} places" if ranks.pairs else change

    def table(self) -> Table:
        """Score and rank of every run, with and without its own contribution."""
        if self.assessor is not None:
            return self._table_with(self.assessor)
        columns: list[Column | str] = ["run", "organisation", Column("unique items"), Column("score", ".3f")]
        columns += [Column("left out", ".3f"), Column("change", "+.3f")]
        columns += [Column("rank"), Column("rank left out")]
        names = ("organisation", "unique_items", "score", "score_without", "change")
        rows = [(starred(r.run, self.manual), *(getattr(r, name) for name in names), *r.places) for r in self.runs]
        return table(f"Leave out one {self.by}: {self.measure}, judgments: {self.key}", columns, rows, self._reading())

    def _table_with(self, assessor: str) -> Table:
        """Score and rank of every run by people, with nothing in their place, and by the assessor."""
        columns: list[Column | str] = ["run", Column("judged by program"), Column("score", ".3f")]
        columns += [Column("left out", ".3f"), Column("program", ".3f"), Column("change", "+.3f")]
        columns += [Column("rank"), Column("rank left out"), Column("rank program")]
        names = ("assessed", "score", "score_without", "score_with", "change")
        rows = [(starred(r.run, self.manual), *(getattr(r, name) for name in names), *r.places) for r in self.runs]
        title = f"Leave out one {self.by}, judged by {assessor}: {self.measure}, judgments: {self.key}"
        return table(title, columns, rows, self._reading())

    def to_polars(self) -> pl.DataFrame:
        """One row per run, with the columns of the table and ranks as numbers."""
        shown = self.table()
        ranks = [("rank", "rank_without", "rank_with")[: len(row.places)] for row in self.runs]
        rows = [
            (*cells[: -len(names)], *(getattr(row, name) for name in names))
            for cells, row, names in zip(shown.rows, self.runs, ranks, strict=True)
        ]
        return replace(shown, rows=tuple(rows)).to_polars()

    def _reading(self) -> tuple[str, ...]:
        largest = self.largest_change
        changes = f"Mean change {self.mean_change:+.3f}; largest {largest.change:+.3f} ({largest.run})."
        star = (MANUAL_RUN,) if self.manual else ()
        reading = (READING if self.assessor is None else READING_WITH).format(by=self.by)
        notes = [note for note in self.notes if note not in self.comparison.notes]
        return (f"{changes} {self.comparison.sentence()}", reading, *notes, *star)


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
    assessor: str | None = None,
    assess: Assess | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Reuse:
    """Leave out every run, or every organisation, in turn.

    `measure`, `component`, `missing`, `drop` and `drop_from_series` are those of `score`. Unjudged items count as wrong
    throughout. With `assess`, the judgments of the program `assessor` take the place of those that are left out.
    """
    if joined.task.decides or (joined.task.has_sentences and assess is None):
        message = f"task {joined.task.name} has no pool: its judgments do not depend on which runs there were"
        way = Remedy("assessor", "ASSESSOR", "To let an assessor judge the run left out", "with")
        raise UsageError(message, *([way] if joined.task.has_sentences else []))
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
        rows |= _leave_out(joined, whole, group, rules, assess)
        if progress:
            progress(number + 1, len(groups))
    ordered = tuple(rows[row.run] for row in whole.runs if row.run in rows)
    scores = [row.score for row in ordered]
    comparison = compare_rankings(scores, [row.score_without for row in ordered])
    manual = frozenset(row.run for row in ordered if joined.runs.about(row.run).manual)
    if assess is None:
        notes = (*_notes(joined), *comparison.notes)
        return Reuse(by, whole.measure, whole.key, ordered, comparison, notes, manual)
    judged = compare_rankings(scores, [row.score + row.change for row in ordered])
    notes = ("What the program leaves unjudged counts as wrong.", *judged.notes)
    order = Order(comparison.tau, comparison.swaps, comparison.concordant, comparison.tied)
    return Reuse(by, whole.measure, whole.key, ordered, judged, notes, manual, assessor, order)


def without(
    key: Key, runs: Runs, tags: Sequence[str], *, responses: bool = False, asked: Collection[str] | None = None
) -> tuple[Key, dict[str, int]]:
    """The key without what only these runs brought to it, and how many judged items each had for itself.

    The items of the questions `asked` are counted, or all. With `responses`, the judgments of whole responses of these
    runs (nuggets, citations) are left out too.
    """
    lists, only = _lists_without(key.judgments.kind("list"), tags)
    kinds, counts = {**key.judgments.kinds, "list": lists}, Counter(_runs_of(only, asked))
    for record in ROW_KINDS.values():
        if record.of_runs and record.pooled and "run" not in record.pooled:
            kinds[record.name], only = _pooled_without(record, key.judgments.kind(record.name), runs, tags)
            counts.update(_runs_of(only, asked))
        elif responses and "run" in record.identity and record.name != "list" and record.name in kinds:
            judged = kinds[record.name]
            kinds[record.name] = judged.filter(~pl.col("run").is_in(tags))
            counts.update(_runs_of(judged.filter(pl.col("run").is_in(tags)), asked))
    return replace(key, judgments=JudgmentSet(key.name, kinds)), {tag: counts[tag] for tag in tags}


def _runs_of(rows: pl.DataFrame, asked: Collection[str] | None) -> list[str]:
    """The run of each row about these questions, or about any."""
    if asked is not None:
        rows = rows.filter(pl.col("question").cast(pl.String).is_in(list(asked)))
    return rows["run"].to_list()


def _groups(runs: Runs, by: By) -> list[list[str]]:
    """The runs to leave out together; a run without an organisation is left out alone."""
    if by == "run":
        return [[tag] for tag in runs.tags]
    groups: dict[str, list[str]] = {}
    for tag in runs.tags:
        groups.setdefault(runs.about(tag).organisation or f"run {tag}", []).append(tag)
    return list(groups.values())


def _leave_out(
    joined: Tally, whole: Scores, group: list[str], rules: _Rules, assess: Assess | None
) -> dict[str, LeftOut]:
    asked = {question.id for questions, _ in whole.questions.values() for question in questions}
    key, unique = without(joined.key, joined.runs, group, responses=assess is not None, asked=asked)
    rest = score(tally(joined.runs, joined.questions, key, joined.task), **rules)
    before, after = ({row.run: row.score for row in scores.runs} for scores in (whole, rest))
    ranks, ranks_after = whole.ranks(), rest.ranks()
    places, places_after = whole.places(), rest.places()
    rows = {
        tag: LeftOut(
            run=tag,
            organisation=joined.runs.about(tag).organisation,
            score=float(before[tag] or 0.0),
            score_without=float(after[tag] or 0.0),
            rank=float(ranks[tag] or 0.0),
            rank_without=float(ranks_after[tag] or 0.0),
            unique_items=unique[tag],
            places=(places[tag], places_after[tag]),
        )
        for tag in group
        if before[tag] is not None and after[tag] is not None
    }
    return rows if assess is None else _assessed(joined, rows, key, group, rules, assess, asked)


def _assessed(
    joined: Tally,
    rows: Mapping[str, LeftOut],
    key: Key,
    group: list[str],
    rules: _Rules,
    assess: Assess,
    asked: Collection[str],
) -> dict[str, LeftOut]:
    """The rows with the scores and ranks that the runs have by the judgments of the assessor."""
    judged = assess(group, key)
    both = mixed_key(f"{key.name}{MIXED}{judged.name}", key, key.judgments, [judged])
    scores = score(tally(joined.runs, joined.questions, both, joined.task), **rules)
    score_of, ranks, places = {row.run: row.score for row in scores.runs}, scores.ranks(), scores.places()
    counts = _judgments_of(judged, joined.runs, asked)
    return {
        tag: replace(
            row,
            score_with=float(score_of.get(tag) or 0.0),
            rank_with=float(ranks.get(tag) or 0.0),
            assessed=counts[tag],
            places=(*row.places, places.get(tag)),
        )
        for tag, row in rows.items()
    }


def _judgments_of(judged: JudgmentSet, runs: Runs, asked: Collection[str]) -> Counter[str]:
    """How many judgments are about each run's answers to these questions; a pooled one counts for all its runs."""
    counts: Counter[str] = Counter()
    for kind, table_ in judged.kinds.items():
        if "run" in ROW_KINDS[kind].identity:
            of_runs = table_
        else:
            same = [name for name in ROW_KINDS[kind].identity if name in runs.table.columns]
            returned = runs.table.select("run", *same).with_columns(pl.col("question", "run").cast(pl.String)).unique()
            casted = returned.select("run", *(pl.col(name).cast(table_.schema[name]) for name in same))
            of_runs = casted.join(table_.select(same), on=same, how="semi", nulls_equal=True)
        counts.update(_runs_of(of_runs, asked))
    return counts


def _pooled_without(
    record: Kind, judged: pl.DataFrame, runs: Runs, tags: Sequence[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judgments of pooled items without those that only these runs returned, and these; others all stay."""
    same = [name for name in record.identity if name in runs.table.columns]
    if len(same) < 2 or not judged.height:
        return judged, pl.DataFrame(schema={"run": pl.String, "question": pl.String})
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
    return left, only


def _lists_without(judged: pl.DataFrame, tags: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """List judgments without these runs' own, and what only they returned; others' items take another's judgment."""
    same = ["question", "doc", "text"]
    theirs, others = judged.filter(pl.col("run").is_in(tags)), judged.filter(~pl.col("run").is_in(tags))
    judgments = others.unique(same, keep="first", maintain_order=True).drop("run", "line")
    shared = theirs.select("line", "run", *same).join(judgments, on=same, how="inner", nulls_equal=True)
    only = theirs.join(others, on=same, how="anti", nulls_equal=True)
    return pl.concat([others, shared.select(others.columns)]), only


def _notes(joined: Tally) -> tuple[str, ...]:
    notes = ["What becomes unjudged counts as wrong."]
    whole = [kind for kind in joined.task.types if kind in ("definition", "other") and kind in joined.types]
    if whole:
        notes.append(f"Responses to {whole[0]} questions are judged as wholes and cannot be left out.")
    return tuple(notes)
