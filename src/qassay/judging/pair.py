"""Entailment: does the hypothesis follow from the text (YES), contradict it (NO), or neither (UNKNOWN)? [RTE08]

A pair is judged once, whatever runs say. Two-way tasks offer YES and NO; three-way labels are read there too, because a
key may fold UNKNOWN into NO.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from qassay.judging.kind import Draft, Kind, Label, Row, Verdict, Wanted, label_fault
from qassay.tasks import Task
from qassay.tasks.responses import DECISION_LABELS


class EntailmentPair(Kind):
    """The label of one text-hypothesis pair."""

    name = "pair"
    nouns = ("entailment label", "entailment labels")
    counted = "pairs"
    shown = "pairs"
    compared = "items"
    screen = "pairs"
    title = "Entailment"
    identity = ("question",)
    pooled = identity
    fields = {"judgment": pl.String}
    blank = {"judgment": ""}
    of_runs = False

    def labels(self, task: Task) -> tuple[Label, ...]:
        """The labels of the task. Three-way, NO is a contradiction; two-way, everything that does not follow."""
        three_way = "UNKNOWN" in task.labels
        meanings = {
            "YES": "follows from the text",
            "NO": "is contradicted" if three_way else "does not follow",
            "UNKNOWN": "is neither supported nor contradicted",
        }
        return tuple(Label(name, name, str(place), meanings[name]) for place, name in enumerate(task.labels, 1))

    def fault(self, verdict: Verdict, task: Task) -> str | None:
        """YES, NO or UNKNOWN."""
        return label_fault(verdict, DECISION_LABELS)

    def drafts(self, rows: pl.DataFrame, wanted: Wanted) -> Iterator[Draft]:
        """Every pair, whether any run decided on it or not."""
        for question in rows["question"]:
            yield Draft(self.name, question, None, {}, place=0)


def label_row(question: str, label: str) -> Row:
    """The row that gives a pair its label."""
    return {"question": question, "run": None, "judgment": label}
