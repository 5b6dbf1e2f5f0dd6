"""Errors that favour a system, and whether a program finds the differences that people find.

All pairs of runs are one family, with one line for all of them (`qassay.meta.significance.families`): on the errors
J - H, and on the scores by people and by the program. A unit that misses one of a pair counts nothing for that pair.
Two runs alone are one pair, with its own decision.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import TIE, Floats, whole_numbers
from qassay.matrix import ScoreMatrix
from qassay.meta.significance import compare
from qassay.meta.significance.differences import Differences, Systems
from qassay.meta.significance.families import Family, family
from qassay.meta.significance.power import FEWEST_BLOCKS
from qassay.tables import plural

ALPHA = 0.05
# Fewer runs have no family of differences to find again.
FEWEST_RUNS = 3


@dataclass(frozen=True, slots=True)
class PairBias:
    """How far the program shifts the difference a - b; interval and p are corrected for all pairs."""

    a: str
    b: str
    bias: float
    interval: tuple[float, float] | None
    p_adjusted: float | None

    @property
    def is_clear(self) -> bool:
        """Whether chance alone does not explain it."""
        return self.p_adjusted is not None and self.p_adjusted <= ALPHA


@dataclass(frozen=True, slots=True)
class Unevenness:
    """How many pairs of runs the program shifts beyond chance, and the one it shifts most clearly.

    `unseen` is how large an unevenness between two runs can stay unseen: half the width of a typical interval.
    """

    pairs: int
    shifted: int
    favours: str | None
    over: str | None
    by: float | None
    interval: tuple[float, float] | None
    p_adjusted: float | None
    unseen: float | None

    def sentence(self) -> str:
        """Which run it favours, or how much it could favour one without being seen."""
        if self.shifted and self.interval is not None:
            low, high = self.interval
            number = "" if self.pairs == 1 else f", and clearly shifts {self.shifted:,} of {plural(self.pairs, 'pair')}"
            return (
                f"Its errors are uneven: it favours {self.favours} over {self.over} by {self.by:.3f} "
                f"({low:.3f} to {high:.3f}){number}."
            )
        none = "No uneven errors are seen"
        if self.unseen is None:
            return f"{none}."
        return f"{none}; an unevenness of up to {self.unseen:.3f} between two systems can stay unseen."


@dataclass(frozen=True, slots=True)
class SignificanceAgreement:
    """On how many pairs of runs people and the program find a difference, and whether the same (Otero et al. 2025)."""

    same: int
    opposite: int
    people_only: int
    judge_only: int
    neither: int

    def sentences(self) -> Iterator[str]:
        """What the program finds of what people find; that it says the opposite comes first."""
        people = self.same + self.opposite + self.people_only
        total = plural(people + self.judge_only + self.neither, "pair")
        if self.opposite:
            yield f"On {plural(self.opposite, 'pair')} the judge says the opposite, beyond chance."
        alone = f"{self.judge_only:,} that people do not"
        if not people and not self.judge_only:
            yield f"Neither people nor the judge separate any of {total} of systems."
            return
        if not people:
            yield f"People separate none of {total} of systems; the judge separates {alone}."
            return
        other_way = f"{self.opposite:,}" if self.opposite else "none"
        yield (
            f"People separate {people:,} of {total} of systems; the judge separates {self.same:,} of these the same "
            f"way and {other_way} the other way. It separates {alone}."
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """All pairs of runs: how many units both have, the mean difference on these, and the decision on it."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    shared: Floats
    decided: Family

    @property
    def sides(self) -> NDArray[np.int64]:
        """1 where the first run of a pair is ahead beyond chance, -1 where the second is, else 0."""
        return np.where(self.decided.different, np.sign(self.decided.differences), 0).astype(np.int64)

    def on_shared(self, sums: Floats) -> Floats:
        """Sums over the units as means over those that both runs have."""
        return np.asarray(np.divide(sums, self.shared, out=np.full(len(sums), np.nan), where=self.shared > 0))


def shifts_of(runs: Sequence[str], errors: Floats, reach: float, seed: int) -> tuple[PairBias, ...]:
    """The shift of every pair of runs, the largest first. `errors` are runs x units, NaN where one of both is missing.

    `reach` is the range of the scores.
    """
    if len(runs) < 2:
        return ()
    if len(runs) == 2:
        return _of_two(runs, errors, reach, seed)
    pairs = _all_pairs(errors, seed)
    decided = pairs.decided
    columns = (decided.differences, decided.low, decided.high)
    shifts = []
    for i, (bias, low, high) in enumerate(zip(*map(pairs.on_shared, columns), strict=True)):
        if pairs.shared[i]:
            interval = None if np.isnan(low) else (float(low), float(high))
            p = None if np.isnan(decided.p[i]) else float(decided.p[i])
            shifts.append(PairBias(runs[pairs.first[i]], runs[pairs.second[i]], float(bias), interval, p))
    return tuple(sorted(shifts, key=lambda pair: (-abs(pair.bias), pair.a, pair.b)))


def unevenness(pairs: Sequence[PairBias]) -> Unevenness | None:
    """What the shifts come to; None where there are too few questions for a decision."""
    decided = [(pair.p_adjusted, pair) for pair in pairs if pair.p_adjusted is not None]
    if not decided:
        return None
    p, most = min(decided, key=lambda entry: (entry[0], -abs(entry[1].bias)))
    side = 1 if most.bias >= 0 else -1
    favours, over = (most.a, most.b) if side > 0 else (most.b, most.a)
    halves = [(pair.interval[1] - pair.interval[0]) / 2 for _, pair in decided if pair.interval is not None]
    ends = None if most.interval is None else sorted(side * limit for limit in most.interval)
    return Unevenness(
        pairs=len(decided),
        shifted=sum(pair.is_clear for _, pair in decided),
        favours=favours,
        over=over,
        by=abs(most.bias),
        interval=None if ends is None else (ends[0], ends[1]),
        p_adjusted=p,
        unseen=float(np.median(halves)) if halves else None,
    )


def significance_agreement(people: Floats, program: Floats, seed: int) -> SignificanceAgreement | None:
    """The pairs that both separate, and how; None for fewer than three runs, or too few units."""
    if len(people) < FEWEST_RUNS:
        return None
    by_people, by_program = (_all_pairs(scores, seed) for scores in (people, program))
    if np.isnan(by_people.decided.p).all():
        return None
    theirs, its, known = by_people.sides, by_program.sides, by_people.shared > 0
    return SignificanceAgreement(
        same=int((theirs * its == 1).sum()),
        opposite=int((theirs * its == -1).sum()),
        people_only=int(((theirs != 0) & (its == 0)).sum()),
        judge_only=int(((theirs == 0) & (its != 0)).sum()),
        neither=int(((theirs == 0) & (its == 0) & known).sum()),
    )


def _all_pairs(scores: Floats, seed: int) -> _Pairs:
    """The decision on all pairs of rows; cells that are not known are NaN."""
    known = np.isfinite(scores)
    used = known.sum(axis=0) > 1
    scores, known = scores[:, used], known[:, used]
    filled = np.where(known, scores, 0.0)
    are_whole = bool((filled == np.rint(filled)).all())
    whole, scale = whole_numbers(filled, 1 if are_whole else None)
    tolerance = max(0.5, TIE * scale * max(len(filled[0]), 1))
    first, second = np.triu_indices(len(scores), 1)
    both = known[first] & known[second]
    if known.all():
        systems = Systems(whole, np.ones(whole.shape[1]), scale, tolerance)
        return _Pairs(first, second, both.sum(axis=1).astype(float), family(systems, alpha=ALPHA, seed=seed))
    apart = np.where(both, whole[first] - whole[second], 0.0)
    differences = Differences(apart, both.astype(np.float64), scale, tolerance)
    return _Pairs(first, second, both.sum(axis=1).astype(float), family(differences, alpha=ALPHA, seed=seed))


def _of_two(runs: Sequence[str], errors: Floats, reach: float, seed: int) -> tuple[PairBias, ...]:
    """The shift of the only pair there is."""
    shared = errors[:, np.isfinite(errors).all(axis=0)]
    units = shared.shape[1]
    if not units:
        return ()
    names = tuple(map(str, range(units)))
    matrix = ScoreMatrix(tuple(runs), names, shared, scale=(-reach, reach), right_or_wrong=False)
    alone = compare(matrix, *runs, alpha=ALPHA, seed=seed, top=0)
    p = alone.p if units >= FEWEST_BLOCKS else None
    return (PairBias(runs[0], runs[1], alone.difference, alone.interval if p is not None else None, p),)
