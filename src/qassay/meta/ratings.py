"""Ratings on a scale: justifications (understandability, correctness) and holistic scores (content, organization).

For each scale: how often each value was given, the mean, the mean rank among the runs, and how far the judges agree.
The judge of a justification is its assessor, or the set where no assessor is named; holistic scores are those of the
set, whose assessor may be another person for each question.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from qassay.arrays import Floats
from qassay.errors import InputError, Problem, UsageError
from qassay.meta.agreement.coefficients import (
    Interval,
    Questions,
    bootstrap_intervals,
    coincidences,
    estimate,
    krippendorff_alpha,
)
from qassay.results import UNREPORTED, Figured
from qassay.tables import DASH, MANUAL_RUN, Cell, Column, Table, starred, table

# The values of each scale. Correctness is asked only where a justification is understood; unassigned counts as 0.
SCALES: Mapping[str, tuple[int, ...]] = {
    "understandability": (1, 2, 3, 4, 5),
    "correctness": (0, 1, 2, 3, 4, 5),
    "content": tuple(range(11)),
    "organization": tuple(range(11)),
}
ALPHAS = ("krippendorff_alpha_ordinal", "krippendorff_alpha_interval")


@dataclass(frozen=True, slots=True)
class ScaleRatings(Figured):
    """The ratings on one scale; runs from the best mean down.

    `histogram[run][value]` counts ratings, with 0 for an unassigned correctness. `mean_rank` is the mean over judges
    of `judge_ranks[judge]`, the mean over questions of the run's rank among the runs that the judge rated. An alpha
    is None where judges overlap nowhere or all ratings are equal.
    """

    scale: str
    judges: tuple[str, ...]
    runs: tuple[str, ...]
    questions: int
    ratings: int
    histogram: Mapping[str, Mapping[int, int]]
    mean: Mapping[str, float]
    mean_rank: Mapping[str, float]
    judge_ranks: Mapping[str, Mapping[str, float]]
    krippendorff_alpha_ordinal: float | None
    krippendorff_alpha_interval: float | None
    intervals: Mapping[str, Interval | None]
    notes: tuple[str, ...] = ()
    manual: frozenset[str] = field(default=frozenset(), metadata=UNREPORTED)

    def tables(self) -> tuple[Table, ...]:
        """Means and histograms; mean ranks by judge."""
        return self.table(), self._ranks()

    def table(self) -> Table:
        """Mean, mean rank and number of ratings of each value, one row per run."""
        columns = [Column("run", left=True), Column("mean", ".2f"), Column("mean rank", ".2f")]
        columns += [Column(str(value)) for value in SCALES[self.scale]]
        rows: list[tuple[Cell, ...]] = [
            (starred(run, self.manual), self.mean[run], self.mean_rank[run], *self.histogram[run].values())
            for run in self.runs
        ]
        title = f"{self.scale.capitalize()} (questions: {self.questions}; judges: {', '.join(self.judges)})"
        return table(title, columns, rows, [*self._agreement(), *self.notes, *self._star_note()])

    def _star_note(self) -> list[str]:
        return [MANUAL_RUN] if self.manual.intersection(self.runs) else []

    def _agreement(self) -> list[str]:
        if len(self.judges) < 2:
            return ["One judge: nothing can be said about agreement."]
        alphas = [
            f"{name.rsplit('_', 1)[-1]} {_alpha(getattr(self, name), self.intervals.get(name))}" for name in ALPHAS
        ]
        return [f"Agreement of the judges, Krippendorff's alpha: {'; '.join(alphas)}."]

    def _ranks(self) -> Table:
        columns = [Column("run", left=True), *(Column(judge, ".2f") for judge in self.judges), Column("all", ".2f")]
        rows: list[tuple[Cell, ...]] = [
            (
                starred(run, self.manual),
                *(self.judge_ranks[judge].get(run) for judge in self.judges),
                self.mean_rank[run],
            )
            for run in self.runs
        ]
        return table(f"{self.scale.capitalize()}: mean rank by judge", columns, rows, self._star_note())


def rate(
    frame: pl.DataFrame, *, seed: int = 0, resamples: int = 1000, manual: frozenset[str] = frozenset()
) -> dict[str, ScaleRatings]:
    """Describe ratings given as one row per set, assessor (may be absent or null), question and run, by scale.

    An unassigned correctness (null beside an understandability) counts as 0 in histogram, mean and ranks [RTE08];
    any other null is not a rating. Means are over the questions of the mean over the judges. Ranks: for each question
    and judge the runs by decreasing rating, ties sharing the mean rank, averaged over the questions.
    """
    missing = [name for name in ("set", "question", "run") if name not in frame.columns]
    scales = [name for name in SCALES if name in frame.columns]
    if missing or not scales:
        lacking = missing or ["one of " + ", ".join(SCALES)]
        raise UsageError(f"ratings need the column {lacking[0]}")
    if "correctness" in scales and "understandability" in scales:
        unassigned = pl.col("correctness").is_null() & pl.col("understandability").is_not_null()
        frame = frame.with_columns(pl.when(unassigned).then(0).otherwise("correctness").alias("correctness"))
    result = {}
    for scale in scales:
        rated = frame.select(_judge(frame, scale), "question", "run", pl.col(scale).alias("value")).drop_nulls("value")
        if len(rated):
            described = _scale(_checked(rated, scale), scale, seed=seed, resamples=resamples)
            result[scale] = replace(described, manual=manual)
    return result


def _judge(frame: pl.DataFrame, scale: str) -> pl.Expr:
    """Who rates: the assessor of a justification, or the set; both where an assessor rates in two sets."""
    if "assessor" not in frame.columns or scale not in ("understandability", "correctness"):
        return pl.col("set").alias("judge")
    judge = pl.col("assessor").cast(pl.String).fill_null(pl.col("set"))
    if frame.select(judge.alias("judge"), "question", "run").is_duplicated().any():
        judge = pl.when(judge == pl.col("set")).then(judge).otherwise(pl.col("set") + "/" + judge)
    return judge.alias("judge")


def _checked(rated: pl.DataFrame, scale: str) -> pl.DataFrame:
    """The ratings, or an error for each value that the scale does not have."""
    values = SCALES[scale]
    strange = rated.filter(~pl.col("value").is_in(values))
    if len(strange):
        raise InputError(
            Problem(
                "bad-label",
                f"judge {row['judge']}, run {row['run']}: {scale} {row['value']} is not {values[0]} to {values[-1]}",
                question=str(row["question"]),
            )
            for row in strange.iter_rows(named=True)
        )
    return rated.with_columns(pl.col("value").cast(pl.Int64))


def _scale(rated: pl.DataFrame, scale: str, *, seed: int, resamples: int) -> ScaleRatings:
    # Groups in a fixed order: means of floats then come out the same on any number of threads.
    rated = rated.sort("judge", "question", "run")
    value = pl.col("value").mean()
    each = rated.group_by("question", "run", maintain_order=True).agg(value)
    means = each.group_by("run", maintain_order=True).agg(value).sort(["value", "run"], descending=[True, False])
    place = pl.col("value").rank("average", descending=True).over("judge", "question").alias("rank")
    rank = pl.col("rank").mean()
    ranks = rated.with_columns(place).group_by("judge", "run", maintain_order=True).agg(rank)
    overall = dict(ranks.group_by("run", maintain_order=True).agg(rank).iter_rows())
    judge_ranks: dict[str, dict[str, float]] = {}
    for judge, run, mean in ranks.iter_rows():
        judge_ranks.setdefault(judge, {})[run] = mean
    counts = {(run, value): n for run, value, n in rated.group_by("run", "value").len().iter_rows()}
    runs = tuple(means["run"])
    alphas, intervals, too_few = _agreement(rated, scale, seed=seed, resamples=resamples)
    return ScaleRatings(
        scale=scale,
        judges=tuple(judge_ranks),
        runs=runs,
        questions=rated["question"].n_unique(),
        ratings=len(rated),
        histogram={run: {value: counts.get((run, value), 0) for value in SCALES[scale]} for run in runs},
        mean=dict(means.iter_rows()),
        mean_rank={run: overall[run] for run in runs},
        judge_ranks={judge: {run: ranks[run] for run in runs if run in ranks} for judge, ranks in judge_ranks.items()},
        krippendorff_alpha_ordinal=alphas[ALPHAS[0]],
        krippendorff_alpha_interval=alphas[ALPHAS[1]],
        intervals={name: interval for name, interval in intervals.items() if alphas[name] is not None},
        notes=tuple(
            _notes(rated, len(judge_ranks), len(runs), resamples, too_few, undefined=alphas[ALPHAS[1]] is None)
        ),
    )


def _agreement(
    rated: pl.DataFrame, scale: str, *, seed: int, resamples: int
) -> tuple[dict[str, float | None], dict[str, Interval | None], list[str]]:
    """Krippendorff's alpha over the responses, ordinal and interval; where it has no interval, why."""
    values = SCALES[scale]
    per_value = [(pl.col("value") == value).sum().alias(str(value)) for value in values]
    shapes = rated.group_by("question", "run", maintain_order=True).agg(per_value)
    each = coincidences(shapes.select(map(str, values)).to_numpy().astype(np.float64))
    scale_values = np.array(values, dtype=np.float64)

    def statistics(sums: Floats) -> dict[str, Floats]:
        tables = sums.reshape(len(sums), len(values), len(values))
        ordinal = krippendorff_alpha(tables, "ordinal")
        return dict(zip(ALPHAS, (ordinal, krippendorff_alpha(tables, "interval", scale_values)), strict=True))

    numbered = shapes["question"].rank("dense").to_numpy().astype(np.int64)
    questions = Questions.of(numbered, np.arange(len(shapes)), each.reshape(len(shapes), len(values) ** 2))
    intervals = bootstrap_intervals(questions, statistics, seed=seed, resamples=resamples)
    return estimate(questions, statistics), intervals, questions.too_few()


def _notes(
    rated: pl.DataFrame, judges: int, runs: int, resamples: int, too_few: list[str], *, undefined: bool
) -> list[str]:
    notes = []
    questions = rated["question"].n_unique()
    lacking = judges * runs * questions - len(rated)
    if lacking:
        notes.append(f"Ratings missing: {lacking}. A rank is among the runs that the judge rated for the question.")
    if undefined and judges > 1:
        notes.append("Agreement is undefined: no response has two ratings, or all ratings are the same.")
    elif judges > 1 and not resamples:
        notes.append("No intervals: none were asked for (0 resamples).")
    elif judges > 1:
        notes += too_few
    return notes


def _alpha(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return DASH
    return f"{value:.3f}" + ("" if interval is None else f" ({interval[0]:.3f} to {interval[1]:.3f})")
