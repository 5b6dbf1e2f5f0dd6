"""NIL precision and recall: how well a run knows that there is no answer [QA03]."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def nil_precision(nil: NDArray[np.bool_], right: NDArray[np.bool_]) -> float | None:
    """NIL returned and right / NIL returned, over the questions of one run.

    Undefined (None) where the run never returned NIL.
    """
    returned = int(nil.sum())
    return float((nil & right).sum() / returned) if returned else None


def nil_recall(nil: NDArray[np.bool_], right: NDArray[np.bool_]) -> float | None:
    """NIL returned and right / questions where NIL is right, over the questions of one run.

    Undefined (None) where the run never returned NIL, as table 1 of [QA03] has it, and where NIL is right for no
    question.
    """
    total = int(right.sum())
    return float((nil & right).sum() / total) if total and nil.any() else None
