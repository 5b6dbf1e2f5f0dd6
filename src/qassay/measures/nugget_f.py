"""F(beta) of definition and other questions: recall of vital nuggets against length [DEF03, QA03, SERIES05]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import Floats
from qassay.measures.base import Measure, block
from qassay.tally import Block, NuggetCounts


def length_precision(length: NDArray[Any] | int, matched: NDArray[Any] | int, allowance: float = 100) -> Floats:
    """Precision by length: 1 up to `allowance` characters for each matched nugget, falling beyond.

    >>> round(float(length_precision(1139, 5)), 6), float(length_precision(171, 3))
    (0.438982, 1.0)
    """
    size, allowed = np.broadcast_arrays(np.asarray(length, dtype=float), np.asarray(matched, dtype=float) * allowance)
    beyond = np.divide(size - allowed, size, out=np.zeros(size.shape), where=size > 0)
    return np.where(size < allowed, 1.0, 1.0 - beyond)


def f_measure(precision: Floats, recall: Floats, beta: float) -> Floats:
    """F(beta) = (beta^2 + 1) * P * R / (beta^2 * P + R); 0 where P and R are both 0.

    [QA03] prints beta^2 * P * R / ((beta^2 + 1) * P + R), a misprint: its own figure 3 and [DEF03] use this one.
    """
    below = beta**2 * precision + recall
    return np.divide((beta**2 + 1) * precision * recall, below, out=np.zeros(np.shape(below)), where=below > 0)


@dataclass(frozen=True)
class NuggetF(Measure):
    """F(beta) of matched nuggets, with precision approximated by length.

    r vital and a okay nuggets returned, R vital nuggets in the list, len = characters that are not white space:

        recall    = r / R
        allowance = 100 * (r + a)
        precision = 1 if len < allowance, else 1 - (len - allowance) / len
        F         = (beta^2 + 1) * precision * recall / (beta^2 * precision + recall)

    beta is 5 in the pilot and in TREC 2003, 3 in TREC 2004. An empty response scores 0. A question whose list has no
    vital nugget has no recall (NaN) and is left out. Okay nuggets add allowance and nothing else: where [SERIES05] and
    [QA03] 2.3 speak of all matched nuggets in recall, figure 3 of [QA03] and the don't-care rule of [DEF03] count vital
    ones alone.
    """

    name: ClassVar[str] = "nugget_f"
    title: ClassVar[str] = "F(beta) of nuggets"
    source: ClassVar[str] = "DEF03, QA03, SERIES05"
    needs = NuggetCounts

    beta: float
    allowance: float = 100

    def per_question(self, counts: Block) -> Floats:
        """F of every response; NaN where the list has no vital nugget."""
        c = block(counts, NuggetCounts)
        known = c.vital_known.astype(float)
        recall = np.divide(c.vital, known, out=np.zeros(c.vital.shape), where=known > 0)
        precision = length_precision(c.length, c.vital + c.okay, self.allowance)
        # An empty response has no length to be imprecise about, and no nugget either.
        f = np.where(c.length > 0, f_measure(precision, recall, self.beta), 0.0)
        return np.where(known > 0, f, np.nan)
