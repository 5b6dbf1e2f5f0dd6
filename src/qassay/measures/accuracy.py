"""Accuracy: the share of questions answered correctly [EVAL02, QA03]."""

from __future__ import annotations

from typing import ClassVar

from qassay.arrays import Floats
from qassay.measures.base import Measure, block
from qassay.tally import Block, ItemCounts


class Accuracy(Measure):
    """Correct responses / questions.

    A question scores 1 where the item is judged R, or where NIL is returned and NIL is right; else 0. Unsupported (U)
    and inexact (X) answers are wrong. Never undefined: a run answers every question.
    """

    name: ClassVar[str] = "accuracy"
    title: ClassVar[str] = "share of questions answered correctly"
    source: ClassVar[str] = "EVAL02, QA03"
    needs = ItemCounts
    denominator: ClassVar[int | None] = 1

    def per_question(self, counts: Block) -> Floats:
        """1 where the response is correct, else 0."""
        return block(counts, ItemCounts).correct.astype(float)
