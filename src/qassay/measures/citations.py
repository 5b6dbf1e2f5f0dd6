"""Support of what the sentences of long answers cite: TREC RAG 2024 and later."""

from __future__ import annotations

from typing import ClassVar

from qassay.matrix import Floats
from qassay.measures.base import Measure, block
from qassay.tally import AnswerCounts, Block


class CitationPrecision(Measure):
    """Mean support (1, 0.5, 0) of all judged citations of a response; undefined (NaN) where none is judged."""

    name: ClassVar[str] = "citation_precision"
    title: ClassVar[str] = "support of citations"
    source: ClassVar[str] = "TREC RAG 2024"
    needs = AnswerCounts
    optional_kind: ClassVar[str | None] = "citation"

    def per_question(self, counts: Block) -> Floats:
        """Mean support of the judged citations."""
        return block(counts, AnswerCounts).citation_precision


class CitationRecall(Measure):
    """Mean over the sentences of a response of the best support among their citations, 0 for a sentence without any.

    Undefined (NaN) where no citation of the response is judged.
    """

    name: ClassVar[str] = "citation_recall"
    title: ClassVar[str] = "sentences supported by their citations"
    source: ClassVar[str] = "TREC RAG 2024"
    needs = AnswerCounts
    optional_kind: ClassVar[str | None] = "citation"

    def per_question(self, counts: Block) -> Floats:
        """Mean over sentences of the best support."""
        return block(counts, AnswerCounts).citation_recall
