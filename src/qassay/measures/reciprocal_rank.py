"""Mean reciprocal rank of the first right answer among five [EVAL02]."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import Floats
from qassay.measures.base import Measure, block
from qassay.tally import Block, ItemCounts

# Only this many items of a response are looked at.
DEPTH = 5


def reciprocal_rank(first: NDArray[Any]) -> Floats:
    """1 / rank of the first right item, 0 where there is none (rank 0) among the first five.

    >>> reciprocal_rank(np.array([1, 4, 0, 6])).tolist()
    [1.0, 0.25, 0.0, 0.0]
    """
    return np.asarray(np.divide(1.0, first, out=np.zeros(first.shape), where=(first > 0) & (first <= DEPTH)))


class ReciprocalRank(Measure):
    """RR = 1 / rank of the first item judged R among the first five, else 0; the run's score is its mean, MRR.

    Strict: an unsupported answer (U) is wrong. Never undefined: without a right item it is 0.
    """

    name: ClassVar[str] = "mrr"
    title: ClassVar[str] = "mean reciprocal rank, strict"
    source: ClassVar[str] = "EVAL02"
    needs = ItemCounts
    denominator: ClassVar[int | None] = 60  # of 1, 1/2, 1/3, 1/4 and 1/5

    def per_question(self, counts: Block) -> Floats:
        """Reciprocal rank of the first R."""
        return reciprocal_rank(block(counts, ItemCounts).first_right)


class LenientReciprocalRank(Measure):
    """The same with unsupported answers (U) counted as right, as TREC-9 and TREC 2001 reported beside it."""

    name: ClassVar[str] = "mrr_lenient"
    title: ClassVar[str] = "mean reciprocal rank, lenient"
    source: ClassVar[str] = "EVAL02"
    needs = ItemCounts
    denominator: ClassVar[int | None] = 60

    def per_question(self, counts: Block) -> Floats:
        """Reciprocal rank of the first R or U."""
        return reciprocal_rank(block(counts, ItemCounts).first_lenient)
