"""The confidence-weighted score of TREC 2002 [EVAL02]; the sum itself is `matrix.confidence_weighted_score`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from qassay.arrays import Floats, Integers
from qassay.errors import UsageError
from qassay.measures.base import Measure, block
from qassay.summaries import ConfidenceWeighted, Summary
from qassay.tally import Block, ItemCounts


class ConfidenceWeightedScore(Measure):
    """CWS = (1/Q) * sum for i = 1..Q of (number correct in the first i) / i.

    The questions stand in the order of the run's confidence. A question scores 1 or 0 as in accuracy; the run's score
    is not the mean of these, and on a subset of questions the order is the run's order restricted to it. It lies
    between 0 and 1 and is 1 only where everything is correct.
    """

    name: ClassVar[str] = "cws"
    title: ClassVar[str] = "confidence-weighted score"
    source: ClassVar[str] = "EVAL02"
    needs = ItemCounts
    denominator: ClassVar[int | None] = 1
    ordered: ClassVar[bool] = True

    def per_question(self, counts: Block) -> Floats:
        """1 where the response is correct, else 0; the summary weighs them by confidence."""
        return block(counts, ItemCounts).correct.astype(float)

    def summary(self, types: Sequence[str], weights: Mapping[str, float], order: Integers | None) -> Summary:
        """The confidence-weighted score in each run's own order."""
        if order is None:
            raise UsageError(f"{self} needs the order of confidence")
        return ConfidenceWeighted(order)
