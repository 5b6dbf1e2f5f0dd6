"""Support of what the sentences of long answers cite: TREC RAG 2024 and later."""

from __future__ import annotations

from typing import ClassVar

from qassay.measures.base import Measure
from qassay.tally import AnswerCounts


class _Citations(Measure):
    source: ClassVar[str] = "TREC RAG 2024"
    needs = AnswerCounts
    optional_kind: ClassVar[str | None] = "citation"


class CitationPrecision(_Citations):
    """Mean support (1, 0.5, 0) of all judged citations of a response; undefined (NaN) where none is judged."""

    name: ClassVar[str] = "citation_precision"
    title: ClassVar[str] = "support of citations"
    column: ClassVar[str | None] = "citation_precision"


class CitationRecall(_Citations):
    """Mean over the sentences of a response of the best support among their citations, 0 for a sentence without any.

    Undefined (NaN) where no citation of the response is judged.
    """

    name: ClassVar[str] = "citation_recall"
    title: ClassVar[str] = "sentences supported by their citations"
    column: ClassVar[str | None] = "citation_recall"
