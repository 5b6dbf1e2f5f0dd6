"""What follows from a minimum difference: share of pairs, groups, rank ranges. (METHOD 6, "From the curves")"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from qassay.matrix import TIE, Floats
from qassay.meta.ranking import rank_runs
from qassay.tables import Column, Table, plural, table

Way: TypeAlias = Literal["fit", "predicted"]

# Rank ranges shown; machines get all.
RUNS_SHOWN = 20


class Both(NamedTuple):
    """One figure by the two ways of reading the curves: the fitted exponential and the closed form."""

    fit: float | None
    predicted: float | None

    @property
    def chosen(self) -> float | None:
        """The fit's, or the prediction's where the fit gives none."""
        return self.predicted if self.fit is None else self.fit

    def as_json(self) -> dict[str, float | None]:
        """Both under their names."""
        return {"fit": self.fit, "predicted": self.predicted}


@dataclass(frozen=True, slots=True)
class RankRange:
    """The ranks a run would take with the minimum difference added to and subtracted from its score [QA03]."""

    run: str
    score: float
    rank: float
    best: float
    worst: float

    def as_json(self) -> dict[str, object]:
        """The row of `rank_ranges`."""
        return {"run": self.run, "score": self.score, "rank": self.rank, "best": self.best, "worst": self.worst}


@dataclass(frozen=True, slots=True)
class Findings:
    """What follows from a minimum difference.

    `pairs_at_least_minimum` is the share of pairs whose observed difference reaches it; None without a pair.
    """

    minimum: float
    pairs_at_least_minimum: float | None
    groups: tuple[tuple[str, ...], ...]
    rank_ranges: tuple[RankRange, ...]

    def table(self, most: int = RUNS_SHOWN) -> Table:
        """The rank of every run, and the ranks it could as well have."""
        columns: list[Column | str] = ["run", Column("score", ".3f"), Column("rank", "g")]
        columns += [Column("best rank", "g"), Column("worst rank", "g")]
        rows = [(row.run, row.score, row.rank, row.best, row.worst) for row in self.rank_ranges[:most]]
        left = len(self.rank_ranges) - len(rows)
        notes = [f"{plural(left, 'more run')}: --json lists all of them."] if left > 0 else []
        title = f"Ranks with {self.minimum:g}, the minimum difference, added to and taken from a score"
        return table(title, columns, rows, notes)

    def as_json(self) -> dict[str, object]:
        """All of it under its names."""
        return {
            "minimum_difference": self.minimum,
            "pairs_at_least_minimum": self.pairs_at_least_minimum,
            "groups": [list(group) for group in self.groups],
            "rank_ranges": [row.as_json() for row in self.rank_ranges],
        }


def findings(runs: Sequence[str], scores: Floats, differences: Floats, minimum: float) -> Findings:
    """Share of pairs, groups and rank ranges for a minimum difference."""
    return Findings(
        minimum,
        share_of_pairs(differences, minimum),
        groups(runs, scores, minimum),
        rank_ranges(runs, scores, minimum),
    )


def first_trusted(limits: Sequence[float], rates: Sequence[float | None], error: float) -> float | None:
    """The lower limit of the first bin from which on every rate there is stays within the error; None if none."""
    found = None
    for limit, rate in zip(reversed(limits), reversed(rates), strict=True):
        if rate is None:
            continue
        if rate > error:
            break
        found = limit
    return found


def above_again(limits: Sequence[float], rates: Sequence[float | None], error: float) -> tuple[float, float] | None:
    """The last bin whose rate is above the error, and the rate, where a bin before it is within; None else."""
    there = [(limit, rate) for limit, rate in zip(limits, rates, strict=True) if rate is not None]
    above = [(limit, rate) for limit, rate in there if rate > error]
    if not above or not any(rate <= error for limit, rate in there if limit < above[-1][0]):
        return None
    return above[-1]


def share_of_pairs(differences: Floats, minimum: float) -> float | None:
    """The share of pairs whose difference reaches the minimum; None without a pair."""
    if len(differences) == 0:
        return None
    return float(np.count_nonzero(differences >= minimum - TIE) / len(differences))


def groups(runs: Sequence[str], scores: Floats, minimum: float) -> tuple[tuple[str, ...], ...]:
    """Walk down the ranking: a run joins the group while it is less than the minimum below the group's first run."""
    found: list[list[str]] = []
    first = 0.0
    for row in rank_runs(runs, scores).rows:
        if found and first - row.score < minimum - TIE:
            found[-1].append(row.run)
        else:
            found.append([row.run])
            first = row.score
    return tuple(map(tuple, found))


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


def _rank_among(scores: Floats, own: float, moved: float) -> float:
    """The rank of a moved score among the others; ties share the mean rank."""
    above = int(np.count_nonzero(scores - moved >= TIE)) - (own - moved >= TIE)
    level = int(np.count_nonzero(np.abs(scores - moved) < TIE)) - (abs(own - moved) < TIE)
    return 1 + above + level / 2
