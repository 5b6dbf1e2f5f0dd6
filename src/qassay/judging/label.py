"""Free-text answers judged with the labels of the task: correct, partly, incorrect, or whatever its TOML file says.

The subject is the question with the text of the answer: equal answers of two systems are judged once, and the contexts
do not count. A label has a value, which `label_mean` averages, and a key; their order is that of the file (FORMATS 7).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from qassay.judging.kind import Draft, Item, Kind, Label, Part, Row, Verdict, Wanted, digest, label_fault
from qassay.tasks import Task


class LabelledAnswer(Kind):
    """One answer in free text."""

    name = "label"
    nouns = ("answer", "answers")
    counted = "distinct answers"
    shown = "distinct answers"
    compared = "items"
    screen = "labels"
    title = "Answers"
    identity = ("question", "text")
    identified = (("text",),)
    unidentified = "an answer is named by its text"
    pooled = identity
    fields = {"judgment": pl.String}
    blank = {"judgment": ""}
    has_values = True
    options = ("contexts",)

    def labels(self, task: Task) -> tuple[Label, ...]:
        """The labels of the task in their order: the best is coloured good, the worst bad, those between doubtful."""
        best, worst = max(task.values.values()), min(task.values.values())
        tones = {best: "good", worst: "bad"} if best > worst else {best: ""}
        return tuple(
            Label(name, name, task.keys.get(name, str(place)), tone=tones.get(task.values[name], "warn"))
            for place, name in enumerate(task.labels, 1)
        )

    def fault(self, verdict: Verdict, task: Task) -> str | None:
        """The label is one of the task's."""
        return label_fault(verdict, task.labels)

    def drafts(self, rows: pl.DataFrame, wanted: Wanted) -> Iterator[Draft]:
        """Every distinct answer once, with the contexts of all systems that gave it; where asked, their support too."""
        contexts = gathered_contexts(rows, self.pooled)
        answers = rows.select(self.pooled).unique().sort(self.pooled)
        for row in answers.with_columns(place=pl.int_range(pl.len()).over("question")).iter_rows(named=True):
            question, text = row["question"], row["text"]
            body = {"text": text, "contexts": contexts.get((question, text), [])}
            yield Draft(self.name, question, None, body, place=row["place"])
        if wanted.contexts:
            with_contexts = gathered_contexts(rows, ("question", "run"))
            for question, run, text in rows.select("question", "run", "text").iter_rows():
                if with_contexts.get((question, run)):
                    yield Draft("context", question, run, {"text": text, "contexts": with_contexts[question, run]})

    def parts(self, item: Item, nuggets: object, assessor: str | None) -> list[Part]:
        """The answer takes one verdict."""
        return [Part("", self.name, self.subject_of(item) | {"text": item.body["text"]})]


def gathered_contexts(rows: pl.DataFrame, by: tuple[str, ...]) -> dict[tuple[Any, ...], list[Row]]:
    """The contexts of the responses with equal values of some fields: each once, in an order that reveals no run."""
    if "contexts" not in rows.columns:
        return {}
    gathered: dict[tuple[Any, ...], dict[str, Row]] = {}
    with_contexts = rows.filter(pl.col("contexts").list.len() > 0).select(*by, "contexts")
    for *subject, contexts in with_contexts.iter_rows():
        known = gathered.setdefault(tuple(subject), {})
        for context in contexts or ():
            shown = {name: value for name, value in context.items() if value is not None}
            known[digest("context", *subject[:1], shown)] = shown
    return {subject: [known[name] for name in sorted(known)] for subject, known in gathered.items()}


def label_values(labels: pl.Series, values: Mapping[str, float]) -> pl.Series:
    """The value of each label; null where there is no label."""
    return labels.replace_strict(dict(values), default=None, return_dtype=pl.Float64)
