"""Ratings of justifications: understandability and correctness, 1 to 5 [RTE08]."""

from __future__ import annotations

from typing import ClassVar

from qassay.matrix import Floats
from qassay.measures.base import Measure, block
from qassay.tally import Block, PairCounts


class Correctness(Measure):
    """Mean correctness over judges and judged pairs.

    Correctness is judged only from understandability 3 up; an unassigned one counts as 0. NaN where nobody judged.
    """

    name: ClassVar[str] = "correctness"
    title: ClassVar[str] = "mean correctness of justifications"
    source: ClassVar[str] = "RTE08"
    needs = PairCounts
    high: ClassVar[float] = 5.0

    def per_question(self, counts: Block) -> Floats:
        """Mean over judges."""
        return block(counts, PairCounts).correctness


class Understandability(Measure):
    """Mean understandability over judges and judged pairs; NaN where nobody judged."""

    name: ClassVar[str] = "understandability"
    title: ClassVar[str] = "mean understandability of justifications"
    source: ClassVar[str] = "RTE08"
    needs = PairCounts
    high: ClassVar[float] = 5.0

    def per_question(self, counts: Block) -> Floats:
        """Mean over judges."""
        return block(counts, PairCounts).understandability
