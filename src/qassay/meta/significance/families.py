"""Many differences at once: flips of whole blocks, and the largest difference of each flip over a family of pairs.

Every pair is measured by R = |D| / sqrt(Q + q0), D and Q being the sum and the sum of squares of its differences per
block. The variance of a pair with few or rare differences is too small, so a share q0 of the typical pair's is added.
The same flips serve all pairs: what the largest R of a flip reaches by chance is the line for each of them, and the
interval of a difference contains what this line does not reject.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import Floats
from qassay.meta.flips import every_flip_fits, flip_chunks, hits_needed
from qassay.meta.repeats import pair_uncertainties
from qassay.meta.significance.differences import Differences, Sums, Systems
from qassay.meta.significance.power import FEWEST_BLOCKS

# Pairs and flips that are compared at most, unless these are fewer flips than the least.
_WORK, _LEAST, _MOST = 4e9, 2_000, 20_000
_ROWS = 1_024
Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """The decision on every pair of a family, as arrays: two differ exactly where `p` is at most `alpha`.

    `line` is what R must exceed. Limits are NaN where no difference is ruled out: nothing can differ then. `flips` is
    0 where nothing was tested. `near` is the number of pairs so near the line that other random flips could decide
    otherwise.
    """

    differences: Floats
    p: Floats
    low: Floats
    high: Floats
    different: NDArray[np.bool_]
    line: float
    flips: int
    exact: bool
    alpha: float
    near: int
    # The largest R of each flip, in order, and the relative error of them.
    largest: Floats
    error: float

    @property
    def half_widths(self) -> Floats:
        """Half the width of every interval there is."""
        halves = (self.high - self.low) / 2
        return np.asarray(halves[~np.isnan(halves)])

    def p_of(self, measured: Floats) -> Floats:
        """How often the largest R of a flip is at least this."""
        hits = len(self.largest) - np.searchsorted(self.largest, measured * (1 - self.error))
        return np.asarray(hits / self.flips if self.exact else (1 + hits) / (1 + self.flips))

    def with_decision(self, p: Floats, differences: Floats, low: Floats, high: Floats) -> Family:
        """The same flips with these p-values and intervals."""
        # Twice the standard deviation of a p-value at the level, over other random flips.
        noise = 0.0 if self.exact else 2 * math.sqrt(self.alpha * (1 - self.alpha) / (self.flips + 1))
        near = int((np.abs(p - self.alpha) <= noise).sum()) if noise else 0
        different = p <= self.alpha
        return replace(self, p=p, differences=differences, low=low, high=high, different=different, near=near)


def family(
    pairs: Systems | Differences,
    *,
    alpha: float = 0.05,
    permutations: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Family:
    """Which pairs differ, and their intervals, corrected for all of them."""
    return families([pairs], alpha=alpha, permutations=permutations, seed=seed, progress=progress)[0]


def families(
    several: Sequence[Systems | Differences],
    *,
    alpha: float = 0.05,
    permutations: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[Family]:
    """The same for families over the same blocks, such as several metrics, corrected for the pairs of all together."""
    sums = [pairs.sums() for pairs in several]
    count = several[0].weights.shape[-1]
    shares = [share(each.q, count) for each in sums]
    if count < FEWEST_BLOCKS or not any(shares):
        return [_undecided(each, pairs.scale, alpha, count) for each, pairs in zip(sums, several, strict=True)]
    flips = flips_of(sum(pairs.work for pairs in several)) if permutations is None else permutations
    # A family without differences adds nothing to what a flip reaches.
    deviations = [np.sqrt(each.q + q0) for each, q0 in zip(sums, shares, strict=True)]
    flippers = [pairs.flipper(s) for pairs, s, q0 in zip(several, deviations, shares, strict=True) if q0 > 0]
    exact = every_flip_fits(count, flips)
    flips = 2**count if exact else flips
    parts = []
    done = 0
    for chosen in flip_chunks(count, flips, seed, rows=_ROWS):
        parts.append(np.maximum.reduce([largest(chosen) for largest, _ in flippers]))
        done += len(chosen)
        if progress is not None:
            progress(done, flips)
    largest = np.sort(np.concatenate(parts))
    error = max(error for _, error in flippers)
    needed = hits_needed(flips, alpha, exact=exact)
    line = float(largest[-needed]) if needed >= 1 else math.inf
    empty: Floats = np.empty(0)
    blank = Family(empty, empty, empty, empty, empty > 0, line, flips, exact, alpha, 0, largest, error)
    decided = [_decided(blank, *parts) for parts in zip(several, sums, shares, strict=True)]
    return [
        tested if pairs.repeats is None else _with_repeats(tested, pairs, count)
        for tested, pairs in zip(decided, several, strict=True)
    ]


def flips_of(work: int) -> int:
    """How many random flips are drawn for this many pairs, unless the caller says otherwise.

    >>> flips_of(66), flips_of(499_500), flips_of(12_497_500)
    (20000, 8008, 2000)
    """
    return int(min(_MOST, max(_LEAST, _WORK / max(work, 1))))


def share(squares: Floats, count: int) -> float:
    """What is added to the squares of every pair of a family: a part of the typical pair's."""
    return max(5.0, 800 / count) * float(squares.mean()) / count if len(squares) else 0.0


def _decided(blank: Family, pairs: Systems | Differences, sums: Sums, q0: float) -> Family:
    deviations = np.sqrt(sums.q + q0)
    # A difference that is no more than rounding is none.
    sums = replace(sums, d=np.where(np.abs(sums.d) < pairs.tolerance, 0.0, sums.d))
    measured = np.divide(np.abs(sums.d), deviations, out=np.zeros(len(deviations)), where=deviations > 0)
    p = blank.p_of(measured)
    low, high = _limits(sums, q0, blank.line / (1 - blank.error))
    # Where blocks weigh so unevenly that no difference is ruled out, nothing is said.
    p[np.isnan(low) & (p <= blank.alpha)] = np.nan
    to_scores = sums.w / pairs.scale
    return blank.with_decision(p, sums.d / pairs.scale, low * to_scores, high * to_scores)


def _limits(sums: Sums, q0: float, line: float) -> tuple[Floats, Floats]:
    """The differences per weight that the line does not reject: the roots of a quadratic; NaN where they are all."""
    if q0 == 0.0 or not math.isfinite(line):
        return np.full_like(sums.d, np.nan), np.full_like(sums.d, np.nan)
    a = sums.w**2 - line**2 * sums.v
    b = sums.d * sums.w - line**2 * sums.u
    root = np.sqrt(np.maximum(b**2 - a * (sums.d**2 - line**2 * (sums.q + q0)), 0.0))
    a = np.where(a > 0, a, np.nan)
    return np.asarray((b - root) / a), np.asarray((b + root) / a)


def _undecided(sums: Sums, scale: float, alpha: float, count: int) -> Family:
    """No differences: too few blocks, or the same scores everywhere."""
    unknown = np.full(len(sums.d), np.nan)
    p = unknown if count < FEWEST_BLOCKS else np.ones(len(sums.d))
    none = np.zeros(len(sums.d), np.bool_)
    return Family(sums.d / scale, p, unknown, unknown, none, math.inf, 0, False, alpha, 0, np.empty(0), 0.0)


def _with_repeats(tested: Family, pairs: Systems, count: int) -> Family:
    """The same family with running again included.

    The flips are those of the questions' means. The level of one pair is that of a t test which crosses their line, and
    the variance of its difference is that of questions and repeats together, with a share of the typical pair's added.
    """
    from scipy.special import stdtr, stdtrit

    assert pairs.repeats is not None
    ends = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    uncertainties = pair_uncertainties(pairs.repeats, ends)
    variance = np.array([each.variance for each in uncertainties])
    freedom = np.array([each.freedom for each in uncertainties])
    v0 = share(variance, count)
    line = tested.line / (1 - tested.error)
    if v0 == 0.0 or not line**2 < count:
        return tested
    deviations = np.sqrt(variance + v0)
    point = -stdtrit(count - 1, stdtr(freedom, -np.abs(tested.differences) / deviations))
    with np.errstate(invalid="ignore"):
        measured = np.where(np.isfinite(point), point * np.sqrt(count / (count - 1 + point**2)), math.sqrt(count))
    one_sided = stdtr(count - 1, -math.sqrt((count - 1) * line**2 / (count - line**2)))
    margin = -stdtrit(freedom, one_sided) * deviations
    return tested.with_decision(
        tested.p_of(measured), tested.differences, tested.differences - margin, tested.differences + margin
    )
