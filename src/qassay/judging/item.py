"""Answers to factoid and passage questions, pooled: equal answers of different runs are judged once (METHOD 4).

The decisions in their order [QA03]: incorrect (W), not supported by the document (U), not exact (X), correct (R). A
task uses some of them; passages have no X. The subject is the document with the string, or with the place of an
extract.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import polars as pl

from qassay.judging.kind import Draft, Item, Kind, Label, Marked, Part, Verdict, Wanted, label_fault
from qassay.tasks import Task

LABELS = (
    Label("W", "Incorrect", "1", tone="bad"),
    Label("U", "Not supported", "2", tone="warn"),
    Label("X", "Not exact", "3", tone="warn"),
    Label("R", "Correct", "4", tone="good"),
)


def labels_of_items(task: Task) -> tuple[Label, ...]:
    """The task's labels of items in the order of decision, numbered from 1."""
    used = [label for label in LABELS if label.label in task.labels]
    return tuple(
        Label(label.label, label.name, str(place), label.meaning, label.tone) for place, label in enumerate(used, 1)
    )


class AnswerItem(Kind):
    """A string with its document."""

    name = "item"
    nouns = ("answer", "answers")
    counted = "distinct items"
    shown = "distinct items"
    compared = "items"
    screen = "items"
    title = "Answers"
    identity = ("question", "doc", "text", "start", "length")
    identified = (("doc", "text"), ("doc", "start", "length"))
    unidentified = "an item is named by doc and text (or start and length)"
    pooled: ClassVar[tuple[str, ...]] = ("question", "doc", "text")
    fields = {"judgment": pl.String}
    blank = {"judgment": ""}
    has_answers = True

    def labels(self, task: Task) -> tuple[Label, ...]:
        """W, U, X, R, as far as the task has them."""
        return labels_of_items(task)

    def fault(self, verdict: Verdict, task: Task) -> str | None:
        """The label is one of the task's."""
        return label_fault(verdict, task.labels)

    def drafts(self, rows: pl.DataFrame, wanted: Wanted) -> Iterator[Draft]:
        """Every distinct answer once, similar strings together; extracts by document and place."""
        answers = self.in_order(rows.select(self.pooled).unique())
        for row in answers.with_columns(place=pl.int_range(pl.len()).over("question")).iter_rows(named=True):
            place, question = row.pop("place"), row.pop("question")
            yield Draft(self.name, question, None, row, place=place)

    def in_order(self, answers: pl.DataFrame) -> pl.DataFrame:
        """Similar strings next to each other, so that they are judged alike: by their words in lower case."""
        similar = (
            pl.col("text")
            .str.to_lowercase()
            .str.replace_all(r"[^\p{L}\p{N}]+", " ")
            .str.strip_chars()
            .str.replace(r"^(?:the|a|an) ", "")
        )
        return answers.with_columns(group=similar).sort("question", "group", "text", "doc", nulls_last=True)

    def parts(self, item: Item, nuggets: object, assessor: str | None) -> list[Part]:
        """The answer takes one verdict."""
        subject = {name: item.body[name] for name in self.pooled if name != "question"}
        return [Part("", self.rows, self.subject_of(item) | subject)]

    def places(self, item: Item) -> list[Marked]:
        """The document, with the string marked."""
        return [Marked(item.body["doc"], item.body["text"])]


class ExtractItem(AnswerItem):
    """A stretch of a document, by its first character and its length: the passages task."""

    name = "extract"
    row_kind = "item"
    counted = "distinct extracts"
    shown = "distinct extracts"
    pooled = ("question", "doc", "start", "length")

    def in_order(self, answers: pl.DataFrame) -> pl.DataFrame:
        """By document and place."""
        return answers.sort(self.pooled)

    def places(self, item: Item) -> list[Marked]:
        """The document, with the extract marked."""
        return [Marked(item.body["doc"], start=item.body["start"], length=item.body["length"])]
