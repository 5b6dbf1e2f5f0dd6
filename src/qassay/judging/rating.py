"""Ratings of justifications: understandability 1-5, and correctness 1-5 where understandability is 3 or more [RTE08].

They are opinions: those of all judges are used together, none is adjudicated, and each names its judge.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from qassay.judging.kind import Draft, Item, Kind, Part, Verdict, Wanted, is_whole
from qassay.tasks import Task

LOWEST, HIGHEST = 1, 5
# Correctness is asked from this understandability up.
UNDERSTOOD = 3


class JustificationRating(Kind):
    """One judge's rating of one run's justification of one pair."""

    name = "rating"
    nouns = ("rating of a justification", "ratings of justifications")
    counted = "justifications"
    shown = "justifications"
    screen = "ratings"
    title = "Justifications"
    identity = ("question", "run", "assessor")
    identified = (("run",),)
    pooled = ("question", "run")
    fields = {"understandability": pl.Int64, "correctness": pl.Int64}
    marks = ("understandability",)
    blank = {"understandability": None, "correctness": None}
    settles = False
    by_assessor = True
    ranked_by = "correctness"
    scales = (
        f"understandability/correctness, {LOWEST} to {HIGHEST}; correctness is asked from an understandability of "
        f"{UNDERSTOOD}"
    )

    def fault(self, verdict: Verdict, task: Task) -> str | None:
        """Both lie within 1-5; correctness is given only from understandability 3 up.

        A judge who leaves it unassigned there says so: it counts as 0 (METHOD 4).
        """
        understood, correct = verdict.get("understandability"), verdict.get("correctness")
        if understood is None or not is_whole(understood, LOWEST, HIGHEST):
            return f"understandability is a whole number from {LOWEST} to {HIGHEST}"
        if understood < UNDERSTOOD:
            judged = f"correctness is judged only from understandability {UNDERSTOOD} up, not at {understood}"
            return None if correct is None else judged
        if correct is not None and not is_whole(correct, LOWEST, HIGHEST):
            return f"correctness is a whole number from {LOWEST} to {HIGHEST}"
        return None

    def averaged(self, table: pl.DataFrame) -> pl.DataFrame:
        """An unassigned correctness counts as 0 [RTE08]."""
        return self.given(table).with_columns(pl.col("correctness").fill_null(0))

    def drafts(self, rows: pl.DataFrame, wanted: Wanted) -> Iterator[Draft]:
        """One item for each justification."""
        if "justification" not in rows.columns:
            return
        for row in rows.filter(pl.col("justification").is_not_null()).iter_rows(named=True):
            yield Draft(self.name, row["question"], row["run"], {"justification": row["justification"]})

    def parts(self, item: Item, nuggets: object, assessor: str | None) -> list[Part]:
        """The justification takes one verdict of each judge."""
        return [Part("", self.name, self.subject_of(item) | {"assessor": assessor})]
