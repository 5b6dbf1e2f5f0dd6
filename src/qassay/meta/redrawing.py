"""How far two rankings would agree on new questions: a bootstrap of tau, tau_AP and swaps over questions (or series).

A draw adds the noise of drawing to the noise of the questions, so that percentiles of the draws are too low. The range
for as many new questions is tau +- 1.96 * sqrt(2) * deviation, within -1 and 1: both evaluations vary.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from qassay.arrays import TIE, Floats, Integers
from qassay.matrix import ScoreMatrix
from qassay.meta.blocks import chunks
from qassay.tables import counted

DRAWS = 1000
# With fewer runs or blocks the deviation itself is a matter of chance.
FEWEST_RUNS = 4
FEWEST_BLOCKS = 10


@dataclass(frozen=True, slots=True)
class Redrawn:
    """How far tau, tau_AP and the number of swaps of two rankings vary between draws of `units` questions."""

    tau: float
    units: int
    tau_sd: float
    tau_ap_sd: float
    swaps_sd: float

    @property
    def tau_next(self) -> tuple[float, float]:
        """Where tau lies for as many new questions, in 19 of 20 cases."""
        half = 1.96 * math.sqrt(2) * self.tau_sd
        return max(-1.0, self.tau - half), min(1.0, self.tau + half)

    def sentence(self, unit_name: tuple[str, str]) -> str:
        """tau and its range."""
        low, high = self.tau_next
        new = counted(self.units, (f"new {unit_name[0]}", f"new {unit_name[1]}"))
        return f"tau {self.tau:.2f}; with {new} it would lie between {low:.2f} and {high:.2f} in 19 of 20 cases"


def drawn_times(blocks: int, width: int, seed: int) -> Iterator[Integers]:
    """How often each block is drawn, draws x blocks, some draws at a time: few where a draw makes `width` numbers."""
    rng = np.random.default_rng(seed)
    for start, stop in chunks(DRAWS, max(blocks, width)):
        yield rng.multinomial(blocks, np.full(blocks, 1 / blocks), size=stop - start)


def drawn_scores(matrices: Sequence[ScoreMatrix], seed: int) -> list[Floats] | None:
    """The scores of every matrix on the same draws of questions, or of whole series, draws x runs.

    Matrices of other questions take part with those they have. None where there are too few runs or blocks.
    """
    block_of = {unit: unit for matrix in matrices for unit in matrix.units}
    for matrix in matrices:
        block_of.update(zip(matrix.units, matrix.clusters or (), strict=False))
    number = {name: place for place, name in enumerate(dict.fromkeys(block_of.values()))}
    if len(number) < FEWEST_BLOCKS or len(matrices[0].runs) < FEWEST_RUNS:
        return None
    indices = [np.array([number[block_of[unit]] for unit in matrix.units], dtype=np.int64) for matrix in matrices]
    scores: list[list[Floats]] = [[] for _ in matrices]
    for times in drawn_times(len(number), max(map(len, indices)), seed):
        for parts, matrix, index in zip(scores, matrices, indices, strict=True):
            drawn = matrix.summary.resampled(matrix.values, times[:, index], matrix.denominator)
            parts.append(matrix.direction.oriented(drawn))
    return [np.concatenate(parts) for parts in scores]


def redrawn(tau: float | None, truth: Floats, estimate: Floats, units: int) -> Redrawn | None:
    """The deviations between draws, given the scores of two rankings on the same draws (draws x runs).

    None where tau is undefined, or is the same in all draws. Draws that tie all runs do not count.
    """
    if tau is None:
        return None
    runs = truth.shape[1]
    parts = [_statistics(truth[a:b], estimate[a:b]) for a, b in chunks(len(truth), runs * runs)]
    taus, aps, swaps = (np.concatenate(part) for part in zip(*parts, strict=True))
    known = np.isfinite(taus)
    if known.sum() < len(taus) / 2:
        return None
    deviation = float(taus[known].std(ddof=1))
    if deviation <= TIE:
        return None
    return Redrawn(tau, units, deviation, float(aps[known].std(ddof=1)), float(swaps[known].std(ddof=1)))


def _statistics(truth: Floats, estimate: Floats) -> tuple[Floats, Floats, Floats]:
    """tau-b, tau_AP (form b where there are ties) and swaps of each draw, as `meta.ranking` has them of one."""
    leads, leads_too = (scores[:, :, None] - scores[:, None, :] >= TIE for scores in (truth, estimate))
    both = (leads & leads_too).sum(axis=1)
    concordant = both.sum(axis=1)
    swaps = (leads & leads_too.transpose(0, 2, 1)).sum(axis=(1, 2))
    above, above_too = leads.sum(axis=1), leads_too.sum(axis=1)
    ordered, ordered_too = above.sum(axis=1), above_too.sum(axis=1)
    pairs = truth.shape[1] * (truth.shape[1] - 1) // 2
    with np.errstate(divide="ignore", invalid="ignore"):
        taus = (concordant - swaps) / np.sqrt(ordered * ordered_too)
        shares = [np.nanmean(np.where(n > 0, both / n, np.nan), axis=1) for n in (above, above_too)]
    tied = (ordered < pairs) | (ordered_too < pairs)
    ap = np.where(tied, shares[0] + shares[1] - 1, 2 * shares[1] - 1)
    return taus, ap, swaps.astype(np.float64)
