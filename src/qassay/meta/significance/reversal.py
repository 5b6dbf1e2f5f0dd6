"""Would a repetition with the same number of new questions put the other run ahead?

The observed difference d of two runs is the true one plus the noise of the questions. Similar systems are common and
very different ones rare, so the true difference is likely to be smaller than d: with true differences spread like t and
the noise of the mean like sqrt(v/S), the best guess is k*d with k = t^2/(t^2 + v/S). A repetition has noise of its own,

    P(reversal) = Phi(-k*|d| / sqrt((1 + k) * v/S)),

v being the variance of the per-unit differences (of whole series, where there are series) and S their number. t is 0.1
of the range of scores, whatever other runs there are. Where the systems ran several times, v/S is the variance of the
difference with running again (`qassay.meta.repeats`). Without k the figure is badly optimistic: 3% where the truth is
24%, with 20 questions. (METHOD 6)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from qassay.matrix import ScoreMatrix
from qassay.meta.blocks import blocks
from qassay.meta.repeats import difference_uncertainty

# True differences spread like this share of the range of scores.
USUAL_SPREAD = 0.1
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


def chance_of_reversal(pair: ScoreMatrix) -> Reversal | None:
    """The chance that a repetition with as many new units puts the other of two runs ahead.

    None with fewer than two units (or series), which do not show how scores vary.
    """
    first, second = blocks(pair).values()
    if len(first) < 2:
        return None
    difference = float(first.mean() - second.mean())
    noise = float(np.var(first - second, ddof=1)) / len(first)
    if pair.repeats is not None:
        noise = difference_uncertainty(*pair.repeats.values).variance
    chance = _chance(difference, noise, (USUAL_SPREAD * pair.span) ** 2)
    rough = len(pair.units) < ENOUGH_UNITS
    return Reversal(max(chance, ROUGH_LIMIT) if rough else chance, rough)


def _chance(difference: float, noise: float, spread: float) -> float:
    """Phi(-k*|d| / sqrt((1 + k) * v/S)); half where the runs do not differ."""
    if difference == 0.0:
        return 0.5
    if noise <= 0.0:
        return 0.0
    k = spread / (spread + noise)
    return 0.5 * math.erfc(k * abs(difference) / math.sqrt((1 + k) * noise) / math.sqrt(2))
