"""F of a list question: instance precision and recall, weighted equally [QA03]."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import Floats
from qassay.measures.base import Measure, block
from qassay.tally import Block, ListCounts


def list_f(distinct: NDArray[Any] | int, returned: NDArray[Any] | int, known: NDArray[Any] | int) -> Floats:
    """F of D correct distinct items among N returned, with S known answers.

    IP = D/N, IR = D/S, F = 2*IP*IR / (IP + IR), which is 2*D / (N + S); 0 where D = 0.
    Undefined (NaN) where S = 0.

    >>> float(list_f(2, 4, 6))
    0.4
    """
    d, n, s = (np.asarray(x, dtype=float) for x in np.broadcast_arrays(distinct, returned, known))
    f = np.divide(2 * d, n + s, out=np.zeros(d.shape), where=d > 0)
    return np.where(s > 0, f, np.nan)


class ListF(Measure):
    """IP = D/N, IR = D/S, F = 2*IP*IR / (IP + IR); 0 where D = 0, an empty list included.

    D: correct distinct items, N: items returned, S: known answers (from question development and from all runs,
    merged into equivalence classes). A question for which S is empty is left out, and reports say so. The run's score
    is the mean over the questions kept.
    """

    name: ClassVar[str] = "list_f"
    title: ClassVar[str] = "F of list questions"
    source: ClassVar[str] = "QA03"
    needs = ListCounts

    def per_question(self, counts: Block) -> Floats:
        """F of every list; NaN where nothing is known."""
        c = block(counts, ListCounts)
        return list_f(c.distinct, c.returned, c.known)
