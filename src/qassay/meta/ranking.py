"""Rankings of runs, and how far two of them agree.

Runs are ranked from the best score. Two scores closer than `TIE` are equal, and runs tied share the mean of the
ranks they cover. Everything here works on *levels*: 0 for the best score, 1 for the next one, equal for tied runs;
so ties are decided once, in one place, and every count is a count of integers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from qassay.arrays import TIE, Floats, Integers
from qassay.directions import HIGHER, Direction
from qassay.errors import UsageError
from qassay.results import reported
from qassay.tables import Column, Table, table

TOO_FEW_RUNS = "A rank correlation needs three runs or more."
ALL_TIED = "All runs are tied in one of the rankings: a rank correlation means nothing."


@dataclass(frozen=True, slots=True)
class Ranked:
    """One run of a ranking; tied runs share the mean rank."""

    run: str
    score: float
    rank: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """Runs by decreasing score; tied runs are in the order of their tags."""

    rows: tuple[Ranked, ...]

    @property
    def runs(self) -> tuple[str, ...]:
        """The tags from the top."""
        return tuple(row.run for row in self.rows)


@dataclass(frozen=True, slots=True)
class Swap:
    """Two runs that compare one way under the reference and the other way under another condition.

    `better` is the run that the reference prefers. `difference` is its lead there, `other_difference` its (negative)
    lead under the other condition.
    """

    better: str
    worse: str
    difference: float
    other_difference: float


@dataclass(frozen=True, slots=True)
class RankComparison:
    """How far an estimated ranking agrees with the one taken as the truth.

    `tied` counts the pairs that are tied in either ranking; they are neither concordant nor discordant.
    A correlation that means nothing is None, and `notes` says why.
    """

    runs: int
    concordant: int
    # Pairs that the two rankings order differently.
    swaps: int
    tied: int
    tau: float | None
    tau_ap: float | None
    tau_ap_a: float | None
    tau_ap_b: float | None
    notes: tuple[str, ...] = ()

    @reported
    def pairs(self) -> int:
        """Number of pairs of runs."""
        return self.runs * (self.runs - 1) // 2

    def sentence(self) -> str:
        """tau with the counts behind it, or why there is none."""
        if self.tau is None:
            return " ".join(self.notes)
        counts = f"concordant: {self.concordant}, swaps: {self.swaps}, tied: {self.tied}"
        return f"Kendall's tau of the two rankings: {self.tau:.3f} (of {self.pairs} pairs {counts})."

    def table(self) -> Table:
        """One row: the correlations and the counts behind them."""
        columns = [Column(name, ".3f") for name in ("tau", "tau_AP", "tau_AP,a", "tau_AP,b")]
        columns += [Column(name) for name in ("runs", "pairs", "concordant", "swaps", "tied")]
        taus = (self.tau, self.tau_ap, self.tau_ap_a, self.tau_ap_b)
        row = (*taus, self.runs, self.pairs, self.concordant, self.swaps, self.tied)
        return table("Agreement of two rankings", columns, [row], self.notes)


def pairs_of_runs(number: int, total: int) -> str:
    """How many of the pairs of runs, in words.

    >>> pairs_of_runs(0, 15), pairs_of_runs(1, 15), pairs_of_runs(15, 15), pairs_of_runs(1, 1)
    ('no pair of runs', '1 of 15 pairs of runs', 'all 15 pairs of runs', 'the only pair of runs')
    """
    if not number:
        return "no pair of runs"
    if number == total:
        return "the only pair of runs" if total == 1 else f"all {total:,} pairs of runs"
    return f"{number:,} of {total:,} pairs of runs"


def levels(scores: ArrayLike) -> Integers:
    """The place of each score among the distinct scores, 0 for the highest.

    Scores closer than `TIE` are one level, and so are scores that a chain of such neighbours joins: being tied has
    to be transitive for a ranking to exist.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise UsageError("a ranking needs one finite score for each run")
    order = np.argsort(-values, kind="stable")
    drops = -np.diff(values[order]) >= TIE
    result = np.empty(len(values), dtype=np.int64)
    result[order] = np.concatenate([[0], np.cumsum(drops)])[: len(values)]
    return result


def mean_ranks(scores: ArrayLike) -> Floats:
    """Ranks from 1 by decreasing score; ties share the mean of the ranks they cover."""
    places = levels(scores)
    sizes = np.bincount(places)
    before = np.cumsum(sizes) - sizes
    return np.asarray((before + (sizes + 1) / 2)[places])


def places(ranks: Iterable[float]) -> list[int | str]:
    """Mean ranks of all runs as people write places.

    >>> places([1.0, 2.5, 2.5, 4.0])
    [1, '2=', '2=', 4]
    """
    shared = Counter(values := [float(rank) for rank in ranks])
    return [int(rank) if shared[rank] == 1 else f"{int(rank - (shared[rank] - 1) / 2)}=" for rank in values]


def rank_runs(runs: Sequence[str], scores: ArrayLike, direction: Direction = HIGHER) -> Ranking:
    """Runs sorted from the best score, with their ranks."""
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != (len(runs),):
        raise UsageError(f"{len(runs)} runs do not fit scores of shape {values.shape}")
    ranks = mean_ranks(direction.oriented(values))
    rows = [Ranked(run, float(score), float(rank)) for run, score, rank in zip(runs, values, ranks, strict=True)]
    return Ranking(tuple(sorted(rows, key=lambda row: (row.rank, row.run))))


def compare_rankings(truth: ArrayLike, estimate: ArrayLike) -> RankComparison:
    """Kendall's tau and tau_AP between two rankings of the same runs, given by their scores.

    tau = 1 - 2 * swaps / pairs without ties, tau-b with ties: (C - D) / sqrt((pairs - tied in the one) *
    (pairs - tied in the other)). `tau_ap` weighs the top more (Yilmaz et al. 2008); it takes the first ranking as
    the truth and, where there are ties, is the form b (Urbano and Marrero 2017), the sister of tau-b. All are
    undefined for fewer than three runs and where one ranking ties all of them.
    """
    first, second = levels(truth), levels(estimate)
    runs = len(first)
    if len(second) != runs:
        raise UsageError(f"rankings of {runs} and of {len(second)} runs cannot be compared")
    pairs = runs * (runs - 1) // 2
    concordant, discordant, tied_first, tied_second = pair_counts(first, second)
    note = TOO_FEW_RUNS if runs < 3 else ALL_TIED if pairs in (tied_first, tied_second) else None
    tau = ap = ap_a = ap_b = None
    if note is None:
        tau = _tau_b(concordant, discordant, tied_first, tied_second, pairs)
        ap_a, ap_b = tau_ap_a(first, second), tau_ap_b(first, second)
        ap = ap_a if tied_first == tied_second == 0 else ap_b
    return RankComparison(
        runs=runs,
        concordant=concordant,
        swaps=discordant,
        tied=pairs - concordant - discordant,
        tau=tau,
        tau_ap=ap,
        tau_ap_a=ap_a,
        tau_ap_b=ap_b,
        notes=() if note is None else (note,),
    )


def pair_counts(first: Integers, second: Integers) -> tuple[int, int, int, int]:
    """Concordant and discordant pairs, and pairs tied in the first and in the second ranking, from levels."""
    # Narrow integers: comparing all pairs of runs is bound by memory, once for every unit of a matrix.
    truth, estimate = first.astype(np.int32), second.astype(np.int32)
    leads = truth[:, None] < truth[None, :]
    concordant = int(np.count_nonzero(leads & (estimate[:, None] < estimate[None, :])))
    discordant = int(np.count_nonzero(leads & (estimate[:, None] > estimate[None, :])))
    return concordant, discordant, _tied(first), _tied(second)


def tau_ap_a(truth: Integers, estimate: Integers) -> float:
    """tau_AP of levels, as the mean over all orders of the runs tied in the estimate (form a).

    2/(n-1) * sum over ranks i = 2..n of the estimate of C(i)/(i-1), minus 1, where C(i) counts the runs above rank i
    that the truth also puts above it. Over all orders of a group of g tied runs below p-1 others, the expected C at
    its rank p+k is the mean of what each has above the group, plus k/(g-1) of the mean of what each has within it.
    """
    higher = (truth[None, :] < truth[:, None]) & (estimate[None, :] <= estimate[:, None])
    inside = higher & (estimate[None, :] == estimate[:, None])
    total = 0.0
    for level, size in enumerate(np.bincount(estimate)):
        group = estimate == level
        above = int((estimate < level).sum())
        within = float(inside[group].sum()) / size
        outside = float(higher[group].sum()) / size - within
        k = np.arange(1 if above == 0 else 0, size)
        total += float(((outside + within * k / max(size - 1, 1)) / (above + k)).sum())
    return 2 * total / (len(truth) - 1) - 1


def tau_ap_b(first: Integers, second: Integers) -> float:
    """tau_AP of levels with ties in either ranking: the mean of both directions (form b).

    Each direction is 2/(n-t) * sum over the runs outside the first tie group (t runs) of C/(p-1), minus 1, with p-1
    the runs strictly above in the estimate and C those strictly above in both.
    """
    above_first = first[None, :] < first[:, None]
    above_second = second[None, :] < second[:, None]
    both = (above_first & above_second).sum(axis=1)
    directions = []
    for above in (above_first.sum(axis=1), above_second.sum(axis=1)):
        rest = above > 0
        directions.append(2 * float((both[rest] / above[rest]).mean()) - 1)
    return sum(directions) / 2


def mean_unit_tau(truth: Floats, estimate: Floats) -> tuple[float | None, int]:
    """Mean over units of tau-b between the runs' scores on one unit, and the number of units where it is defined.

    Both arrays are runs x units. The tau of a run ranking is regularly high where this one is low. A unit on which
    either side ties all runs has no tau and is left out; None where no unit has one.
    """
    runs, units = truth.shape
    pairs = runs * (runs - 1) // 2
    taus = []
    for unit in range(units if runs >= 3 else 0):
        counts = pair_counts(levels(truth[:, unit]), levels(estimate[:, unit]))
        if pairs not in counts[2:]:
            taus.append(_tau_b(*counts, pairs))
    return (math.fsum(taus) / len(taus) if taus else None), len(taus)


def swapped_pairs(runs: Sequence[str], reference: ArrayLike, other: ArrayLike) -> tuple[Swap, ...]:
    """The swaps between two score lists of the same runs, the largest difference under the reference first."""
    before, after = np.asarray(reference, dtype=np.float64), np.asarray(other, dtype=np.float64)
    first, second = levels(before), levels(after)
    better, worse = np.nonzero((first[:, None] < first[None, :]) & (second[:, None] > second[None, :]))
    swaps = [
        Swap(runs[a], runs[b], float(before[a] - before[b]), float(after[a] - after[b]))
        for a, b in zip(better.tolist(), worse.tolist(), strict=True)
    ]
    return tuple(sorted(swaps, key=lambda swap: (-swap.difference, swap.better, swap.worse)))


def _tau_b(concordant: int, discordant: int, tied_first: int, tied_second: int, pairs: int) -> float:
    return (concordant - discordant) / math.sqrt((pairs - tied_first) * (pairs - tied_second))


def _tied(places: Integers) -> int:
    sizes = np.bincount(places)
    return int((sizes * (sizes - 1) // 2).sum())
