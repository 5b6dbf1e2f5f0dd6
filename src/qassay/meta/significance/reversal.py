"""Would a repetition with the same number of new questions put the other run ahead?

The observed difference d of two runs is the true one plus the noise of the questions. Similar systems are common and
very different ones rare, so the true difference is likely to be smaller than d: with true differences spread like t and
the noise of the mean like sqrt(v/S), the best guess is k*d with k = t^2/(t^2 + v/S). A repetition has noise of its own,

    P(reversal) = Phi(-k*|d| / sqrt((1 + k) * v/S)),

v being the variance of the per-unit differences (of whole series, where there are series) and S their number. t is 0.1
of the range of scores; on a leaderboard of ten runs or more it is read from the runs themselves,
t^2 = mean d^2 - mean v/S over all pairs. Where the systems ran several times, v/S is the variance of the difference
with running again (`qassay.meta.repeats`). Without k the figure is badly optimistic: 3% where the truth is 24%, with
20 questions. (METHOD 6)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from qassay.arrays import Floats
from qassay.matrix import Repeats, ScoreMatrix
from qassay.meta.blocks import blocks
from qassay.meta.repeats import difference_uncertainty, mean_squares

# True differences spread like this share of the range of scores, where there are too few runs to see it.
USUAL_SPREAD = 0.1
ENOUGH_RUNS = 10
# With fewer units the figure is rough, and is not shown smaller than this.
ENOUGH_UNITS = 100
ROUGH_LIMIT = 0.05
# A chance below this is not called 0%.
SMALLEST_SHOWN = 0.01


@dataclass(frozen=True, slots=True)
class Reversal:
    """The chance that as many new units reverse the sign of a difference; `rough` below 100 units."""

    chance: float
    rough: bool

    def __str__(self) -> str:
        if self.rough and self.chance <= ROUGH_LIMIT:
            return f"{ROUGH_LIMIT:.0%} or less (rough)"
        if self.chance < SMALLEST_SHOWN:
            return f"less than {SMALLEST_SHOWN:.0%}"
        return f"{self.chance:.0%}" + (" (rough)" if self.rough else "")


def chance_of_reversal(matrix: ScoreMatrix, a: str, b: str) -> Reversal | None:
    """The chance that a repetition with as many new units puts the other of two runs ahead.

    None with fewer than two units (or series), which do not show how scores vary.
    """
    values = blocks(matrix).values()
    count = values.shape[1]
    if count < 2:
        return None
    first, second = values[matrix.index(a)], values[matrix.index(b)]
    difference = float(first.mean() - second.mean())
    noise = float(np.var(first - second, ddof=1)) / count
    if matrix.repeats is not None:
        repeated = matrix.repeats.values
        noise = difference_uncertainty(repeated[matrix.index(a)], repeated[matrix.index(b)]).variance
    many = len(matrix.runs) >= ENOUGH_RUNS
    spread = _spread_of_leaderboard(values, matrix.repeats) if many else (USUAL_SPREAD * matrix.span) ** 2
    chance = _chance(difference, noise, spread)
    rough = len(matrix.units) < ENOUGH_UNITS
    return Reversal(max(chance, ROUGH_LIMIT) if rough else chance, rough)


def _chance(difference: float, noise: float, spread: float) -> float:
    """Phi(-k*|d| / sqrt((1 + k) * v/S)); half where nothing tells the runs apart, or the runs do not differ."""
    if difference == 0.0 or spread <= 0.0:
        return 0.5
    if noise <= 0.0:
        return 0.0
    k = spread / (spread + noise)
    return 0.5 * math.erfc(k * abs(difference) / math.sqrt((1 + k) * noise) / math.sqrt(2))


def _spread_of_leaderboard(values: Floats, repeats: Repeats | None) -> float:
    """t^2 = mean d^2 - mean v/S over all pairs of runs, at least 0; sums over pairs by |x - y|^2 summed at once.

    What repeats shift on all questions at once is not in v/S, and is subtracted too.
    """
    runs, count = values.shape
    means = values.mean(axis=1)
    noise = values - means[:, None]
    pairs = runs * (runs - 1) / 2
    squares = runs * float((means**2).sum()) - float(means.sum()) ** 2
    variances = (runs * float((noise**2).sum()) - float((noise.sum(axis=0) ** 2).sum())) / (count - 1)
    squares_of_repeats = () if repeats is None else map(mean_squares, repeats.values)
    shifts = sum(parts.repeat_variance / parts.repeat_count for parts in squares_of_repeats)
    # Each run is in runs - 1 of the pairs.
    return float(max(0.0, (squares - variances / count - (runs - 1) * shifts) / pairs))
