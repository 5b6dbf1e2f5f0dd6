"""Who judged, inside the interval of a pair: the same answers, judged by several assessors.

The differences of the pair are a table of questions (or series) x assessors, as those of a system that ran several
times. For these assessors, the variance of their mean is MSq/(QA). For other assessors like them it is
max(MSq, MSq + MSa - MSe)/(QA). Two assessors hardly show how far assessors differ. From five systems on, what all
systems show of that is pooled: MSq/(QA) + 2 max(MSsa - MSres, 0)/(QA), with the mean squares of systems x assessors and
of the three-way residual.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from qassay.arrays import Floats
from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix
from qassay.meta.blocks import blocks
from qassay.meta.one_pair import PairDecision, decide_with
from qassay.meta.repeats import Uncertainty, combined, mean_squares, mean_uncertainty

People: TypeAlias = Literal["new", "these"]
# Two assessors are pooled over this many systems.
FEWEST_SYSTEMS = 5


@dataclass(frozen=True, slots=True)
class OverAssessors:
    """The difference a - b under each set of judgments, and its intervals for these assessors and for new ones.

    `people` is the target of the verdict. `pooled` says that all systems show how far two assessors differ; `units` is
    the number of questions that all of them judged.
    """

    a: str
    b: str
    people: People
    units: int
    differences: Mapping[str, float]
    these: tuple[float, float] | None
    new: tuple[float, float] | None
    pooled: bool

    @property
    def sets(self) -> tuple[str, ...]:
        """The sets of judgments."""
        return tuple(self.differences)


def averaged(matrices: Sequence[ScoreMatrix]) -> ScoreMatrix:
    """The mean of the scores of the same runs on the same units."""
    first = matrices[0]
    denominators = {matrix.denominator for matrix in matrices}
    same = denominators.pop() if len(denominators) == 1 else None
    return replace(
        first,
        values=np.mean([matrix.values for matrix in matrices], axis=0),
        denominator=None if same is None else same * len(matrices),
        notes=tuple(dict.fromkeys(note for matrix in matrices for note in matrix.notes)),
        right_or_wrong=False,
    )


def over_assessors(
    pair: Mapping[str, ScoreMatrix],
    *,
    everyone: Sequence[ScoreMatrix] = (),
    people: People = "these",
    alpha: float = 0.05,
) -> tuple[OverAssessors, PairDecision]:
    """The two runs of `pair`, which has their scores under each set on the same units; and the decision about them.

    `everyone` has the scores of all runs under each set, on units of their own: two assessors are pooled over them.
    """
    matrices = list(pair.values())
    if len(matrices) < 2:
        raise UsageError("the scores of two assessors or more show how far assessors differ")
    a, b = matrices[0].runs
    apart = np.stack([np.subtract(*blocks(matrix).values()) for matrix in matrices], axis=1)
    mean = averaged(matrices)
    these = decide_with(mean, mean_uncertainty(apart.mean(axis=1)[:, None]) if len(apart) > 1 else None, alpha=alpha)
    pooled = _pooled(apart, everyone) if len(matrices) == 2 and len(apart) > 1 else None
    own = mean_uncertainty(apart) if len(apart) > 1 else None
    new = decide_with(mean, pooled or own, alpha=alpha)
    result = OverAssessors(
        a=a,
        b=b,
        people=people,
        units=len(mean.units),
        differences={name: float(difference) for name, difference in zip(pair, apart.mean(axis=0), strict=True)},
        these=these.interval,
        new=new.interval,
        pooled=pooled is not None,
    )
    return result, these if people == "these" else new


def _pooled(apart: Floats, everyone: Sequence[ScoreMatrix]) -> Uncertainty | None:
    """The variance for other assessors, with what all systems show of how far assessors differ; None for too few."""
    if not everyone or len(everyone[0].runs) < FEWEST_SYSTEMS:
        return None
    scores = np.stack([blocks(matrix).values() for matrix in everyone], axis=2)
    runs, units, assessors = scores.shape
    if units < 2:
        return None
    between, rest = _systems_and_assessors(scores)
    squares = mean_squares(apart)
    freedom = (runs - 1) * (assessors - 1)
    parts = [(squares.questions / apart.size, float(len(apart) - 1))]
    if between > rest:
        total = units * assessors
        parts += [(2 * between / total, float(freedom)), (-2 * rest / total, float(freedom * (units - 1)))]
    return combined(parts, float((apart**2).mean()))


def _systems_and_assessors(scores: Floats) -> tuple[float, float]:
    """The mean squares of systems x assessors, and of the residual, of systems x units x assessors."""
    runs, units, assessors = scores.shape
    freedom = (runs - 1) * (assessors - 1)
    by_both = scores.mean(axis=1)
    shift = by_both - by_both.mean(axis=1, keepdims=True) - by_both.mean(axis=0) + by_both.mean()
    rest = scores - scores.mean(axis=2, keepdims=True) - scores.mean(axis=0) + scores.mean(axis=(0, 2))[:, None]
    rest = rest - shift[:, None, :]
    return units * float((shift**2).sum()) / freedom, float((rest**2).sum()) / (freedom * (units - 1))
