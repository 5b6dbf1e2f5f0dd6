"""Accuracy of entailment decisions, and contingency tables [RTE08]."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import Floats
from qassay.measures.base import Measure, block
from qassay.tally import Block, PairCounts


def contingency(decision: NDArray[np.int64], reference: NDArray[np.int64], labels: int) -> NDArray[np.int64]:
    """Table of labels x labels: rows are reference answers, columns responses; pairs without either do not count."""
    both = (decision >= 0) & (reference >= 0)
    cells = reference[both] * labels + decision[both]
    return np.bincount(cells, minlength=labels * labels).reshape(labels, labels)


class EntailmentAccuracy(Measure):
    """Share of the pairs on which decision and reference answer are the same.

    Undefined (NaN) for a pair without a reference answer: it is unjudged.
    """

    name: ClassVar[str] = "entailment_accuracy"
    title: ClassVar[str] = "accuracy of entailment decisions"
    source: ClassVar[str] = "RTE08"
    needs = PairCounts
    denominator: ClassVar[int | None] = 1

    def per_question(self, counts: Block) -> Floats:
        """1 where the decision is right, else 0; NaN without a reference answer."""
        c = block(counts, PairCounts)
        return np.where(c.reference >= 0, (c.decision == c.reference).astype(float), np.nan)
