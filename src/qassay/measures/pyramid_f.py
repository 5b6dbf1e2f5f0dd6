"""F with nugget weights from several assessors' votes: TREC 2006 and later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from qassay.arrays import Floats
from qassay.measures.base import Measure, block
from qassay.measures.nugget_f import f_measure, length_precision
from qassay.tally import Block, NuggetCounts


@dataclass(frozen=True)
class PyramidF(Measure):
    """F(3) with weighted recall: a nugget weighs the assessors who call it vital / the largest such number.

        recall = weights of matched nuggets / all weights

    Precision and F as in nugget_f. Beyond the papers of the method: it softens the vital/okay line, on which assessors
    differ. Undefined (NaN, left out) where a question's nuggets have no weights or all weigh 0.
    """

    name: ClassVar[str] = "pyramid_f"
    title: ClassVar[str] = "F(beta) of nuggets weighted by assessors' votes"
    source: ClassVar[str] = "TREC 2006"
    needs = NuggetCounts

    beta: float = 3
    allowance: float = 100

    def per_question(self, counts: Block) -> Floats:
        """F of every response; NaN where there are no weights."""
        c = block(counts, NuggetCounts)
        some = c.weight_known > 0
        recall = np.divide(c.weight, c.weight_known, out=np.zeros(c.weight.shape), where=some)
        precision = length_precision(c.length, c.vital + c.okay, self.allowance)
        f = np.where(c.length > 0, f_measure(precision, recall, self.beta), 0.0)
        return np.where(some, f, np.nan)
