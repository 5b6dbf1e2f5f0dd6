"""Nugget support: how far a long answer supports each nugget of the list, fully, partially or not (TREC RAG 2024)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from qassay.judging.citation import citation_parts, citation_words
from qassay.judging.kind import (
    SUPPORT_LABELS,
    Draft,
    Item,
    Kind,
    Label,
    Lookup,
    Marked,
    Part,
    Row,
    Verdict,
    Wanted,
    responses,
    support_fault,
)
from qassay.nuggets import known_by_text
from qassay.tasks import Task


class NuggetSupport(Kind):
    """The support of one nugget in one answer."""

    name = "support"
    nouns = ("judgment of nugget support", "judgments of nugget support")
    counted = "nuggets of each answer"
    shown = "answers, for nuggets"
    compared = "support judgments"
    screen = "support"
    title = "Nugget support"
    identity = ("question", "run", "nugget")
    identified = (("run",),)
    pooled = identity
    fields = {"support": pl.String}
    marks = ("nugget",)
    blank = {"support": ""}
    by_nuggets = True
    options = ("citations",)

    def labels(self, task: Task) -> tuple[Label, ...]:
        """Full, partial, none."""
        return SUPPORT_LABELS

    def fault(self, verdict: Verdict, task: Task) -> str | None:
        """Full, partial or none."""
        return support_fault(verdict)

    def nuggets_named(self, row: Mapping[str, Any]) -> Sequence[str]:
        """The nugget that is judged."""
        return [row["nugget"]] if row.get("nugget") is not None else []

    def levels(self, row: Mapping[str, Any]) -> dict[str, str]:
        """The level of the nugget that the row names."""
        return {str(row["nugget"]): row["support"]}

    def found_words(self, answer: Mapping[str, Any], lookup: Lookup) -> str | None:
        """The support of a sentence by its citations; the support of nuggets is about the whole answer."""
        return citation_words(answer, lookup)

    def drafts(self, rows: pl.DataFrame, wanted: Wanted) -> Iterator[Draft]:
        """One item for each answer, with its sentences and what they cite."""
        for question, run, elements in responses(rows):
            yield Draft(self.name, question, run, {"elements": elements, "citations": wanted.citations})

    def parts(self, item: Item, nuggets: Sequence[str], assessor: str | None) -> list[Part]:
        """A verdict on each nugget of the list and, where they are asked for, on each citation."""
        shared = self.subject_of(item)
        return [
            *(Part(f"nugget:{nugget}", self.name, {**shared, "nugget": nugget}) for nugget in nuggets),
            *citation_parts(shared, item.body.get("elements", []), required=bool(item.body["citations"])),
        ]

    def part_shown(self, item: Item, part: str) -> Row:
        """The whole answer; of a citation its sentence and the document."""
        if not part.startswith("citation:"):
            return dict(item.body)
        _, sentence, doc = part.split(":", 2)
        elements = item.body.get("elements")
        return {"doc": doc, "text": elements[int(sentence)]["text"] if elements else ""}

    def places(self, item: Item) -> list[Marked]:
        """The citations of each sentence, where citations are judged."""
        return [
            Marked(doc, element["text"])
            for element in (item.body["elements"] if item.body["citations"] else ())
            for doc in element.get("citations") or ()
        ]

    def labels_of(self, table: pl.DataFrame, nuggets: pl.DataFrame) -> pl.DataFrame:
        """The support of each nugget, which is known by its text as in matches."""
        subjects = table.select("question", "run", "nugget", label="support")
        known = subjects.join(known_by_text(nuggets), on=["question", "nugget"], how="left", maintain_order="left")
        item = pl.concat_str("run", pl.coalesce("text", "nugget"), separator="\t")
        return known.select("question", item.alias("item"), "label")
