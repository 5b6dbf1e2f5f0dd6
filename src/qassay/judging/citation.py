"""Citation support: whether a document that a sentence cites supports it, fully, partially or not (TREC RAG 2024)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from qassay.judging.kind import SUPPORT_LABELS, Kind, Label, Lookup, Part, Verdict, support_fault
from qassay.tasks import Task


class CitationSupport(Kind):
    """One citation of one sentence of an answer; it is a part of the answer's item."""

    name = "citation"
    nouns = ("judgment of a citation", "judgments of citations")
    compared = "citations"
    identity = ("question", "run", "sentence", "doc")
    identified = (("run",),)
    fields = {"support": pl.String}
    marks = ("sentence",)
    blank = {"support": ""}

    def labels(self, task: Task) -> tuple[Label, ...]:
        """Full, partial, none."""
        return SUPPORT_LABELS

    def fault(self, verdict: Verdict, task: Task) -> str | None:
        """Full, partial or none."""
        return support_fault(verdict)


def citation_parts(shared: Mapping[str, Any], elements: Sequence[Mapping[str, Any]], *, required: bool) -> list[Part]:
    """A part for each document that each sentence cites."""
    return [
        Part(f"citation:{place}:{doc}", "citation", {**shared, "sentence": place, "doc": doc}, required=required)
        for place, element in enumerate(elements)
        for doc in dict.fromkeys(element.get("citations") or [])
    ]


def citation_words(answer: Mapping[str, Any], lookup: Lookup) -> str | None:
    """How far each document that a sentence cites supports it, in words; None where none is judged."""
    about = {"question": answer["question"], "run": answer["run"], "sentence": answer["rank"] - 1}
    cited = {doc: lookup.row("citation", {**about, "doc": doc}) for doc in answer.get("citations") or ()}
    return ", ".join(f"{doc}: {judged['support']}" for doc, judged in cited.items() if judged is not None) or None
