"""Reading the curves: what follows from a minimum difference. (METHOD 6, "From the curves")"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from qassay.arrays import TIE, Floats
from qassay.directions import HIGHER, Direction
from qassay.meta.ranking import rank_runs

Way: TypeAlias = Literal["fit", "predicted"]


@dataclass(frozen=True, slots=True)
class Both:
    """One figure by both ways of reading the curves.

    `predicted` is what the closed form expects, and the figure to use; `fit` is that of the exponential of the papers,
    None where no exponential was fitted.
    """

    fit: float | None
    predicted: float | None


@dataclass(frozen=True, slots=True)
class RankRange:
    """The ranks a run would take with the minimum difference added to and subtracted from its score [QA03]."""

    run: str
    score: float
    rank: float
    best: float
    worst: float


@dataclass(frozen=True, slots=True)
class Findings:
    """The consequences of a minimum difference [QA03]."""

    minimum_difference: float
    groups: tuple[tuple[str, ...], ...]
    rank_ranges: tuple[RankRange, ...]


def findings(runs: Sequence[str], scores: Floats, minimum: float, direction: Direction = HIGHER) -> Findings:
    """Groups and rank ranges for a minimum difference."""
    oriented = direction.oriented(scores)
    ranges = (replace(row, score=direction.oriented(row.score)) for row in rank_ranges(runs, oriented, minimum))
    return Findings(minimum, groups(runs, oriented, minimum), tuple(ranges))


def first_within(limits: Sequence[float], rates: Sequence[float | None], error: float) -> float | None:
    """The lower limit of the first bin from which on every rate there is stays within the error; None if none."""
    first = None
    for limit, rate in zip(reversed(limits), reversed(rates), strict=True):
        if rate is not None and rate > error:
            break
        first = first if rate is None else limit
    return first


def above_again(limits: Sequence[float], rates: Sequence[float | None], error: float) -> tuple[float, float] | None:
    """The last bin whose rate is above the error, and the rate, where a bin before it is within; None else."""
    known = [(limit, rate) for limit, rate in zip(limits, rates, strict=True) if rate is not None]
    above = [(limit, rate) for limit, rate in known if rate > error]
    if not above or not any(rate <= error for limit, rate in known if limit < above[-1][0]):
        return None
    return above[-1]


def share_of_pairs(differences: Floats, minimum: float) -> float | None:
    """The share of pairs whose difference reaches the minimum; None without a pair."""
    if len(differences) == 0:
        return None
    return float(np.count_nonzero(differences >= minimum - TIE) / len(differences))


def groups(runs: Sequence[str], scores: Floats, minimum: float) -> tuple[tuple[str, ...], ...]:
    """Walk down the ranking: a run joins the group while it is less than the minimum below the group's first run."""
    members: list[list[str]] = []
    first = 0.0
    for row in rank_runs(runs, scores).rows:
        if members and first - row.score < minimum - TIE:
            members[-1].append(row.run)
        else:
            members.append([row.run])
            first = row.score
    return tuple(map(tuple, members))


def rank_ranges(runs: Sequence[str], scores: Floats, minimum: float) -> tuple[RankRange, ...]:
    """For each run from the top: its rank, and the ranks it would take when moved up and down."""
    return tuple(
        RankRange(
            row.run,
            row.score,
            row.rank,
            best=_rank_among(scores, row.score, row.score + minimum),
            worst=_rank_among(scores, row.score, row.score - minimum),
        )
        for row in rank_runs(runs, scores).rows
    )


def place_among(scores: Floats, score: float, moved: float) -> int | str:
    """The place of a moved score among the others as people write it: 2= where others share the second place."""
    above, level = _above_and_level(scores, score, moved)
    return f"{1 + above}=" if level else 1 + above


def _rank_among(scores: Floats, score: float, moved: float) -> float:
    """The rank of a moved score among the others; ties share the mean rank."""
    above, level = _above_and_level(scores, score, moved)
    return 1 + above + level / 2


def _above_and_level(scores: Floats, score: float, moved: float) -> tuple[int, int]:
    """How many of the other runs score more than a run whose score is moved, and how many the same."""
    above = int(np.count_nonzero(scores - moved >= TIE)) - (score - moved >= TIE)
    level = int(np.count_nonzero(np.abs(scores - moved) < TIE)) - (abs(score - moved) < TIE)
    return above, level
