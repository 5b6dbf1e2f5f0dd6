"""The best of many systems: its score was picked as the highest, and is more often too high than too low.

Its own interval contains the true score in .51 to .94 of evaluations of equal systems. So the limit below it moves:
the line is what the largest of all systems' deviations reaches by chance, under flips of whole blocks. Where the score
probably lies nearer to the others, shrinkage says (Efron and Morris 1975). Printed scores and the ranking stay.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from qassay.arrays import TIE, Floats
from qassay.display import enumerated
from qassay.matrix import ScoreMatrix
from qassay.meta.blocks import Blocks, blocks
from qassay.meta.flips import every_flip_fits, flip_chunks, hits_needed
from qassay.meta.intervals import Leader, ScoreIntervals
from qassay.meta.normal_and_t import ndtri, two_sided_t_line
from qassay.meta.repeats import mean_uncertainty
from qassay.meta.significance import residual_variance
from qassay.meta.significance.families import flips_of

# With fewer systems nothing was picked.
FEWEST_RUNS = 3
# Flips x scores that are looked at, at most, unless these are fewer flips than the least.
_CELLS, _LEAST = 2e10, 2_000
# Below this share of the range of scores, a nearer score is not worth a word.
SMALLEST_CHANGE = 0.005


def with_leader(intervals: ScoreIntervals, matrix: ScoreMatrix, *, seed: int = 0) -> ScoreIntervals:
    """The intervals with that of the leader, or of all leaders, such that being picked as the best is allowed for.

    From three systems on. A leader whose scores never vary keeps having none.
    """
    if len(matrix.runs) < FEWEST_RUNS or not any(low is not None for low in intervals.low):
        return intervals
    parts = blocks(matrix)
    values = matrix.direction.oriented(parts.values())
    scores = values.mean(axis=1)
    first = np.flatnonzero(scores >= scores.max() - TIE)
    line = max(chance_line(values, 1 - intervals.level, seed), ndtri((1 + intervals.level) / 2))
    low, high, limits = list(intervals.low), list(intervals.high), []
    for run in first.tolist():
        own = intervals.interval(intervals.runs[run])
        if own is None:
            continue
        nearest = matrix.direction.interval(own)
        moved = min(nearest[0], _limit(matrix, parts, values, run, line, intervals.level))
        low[run], high[run] = matrix.direction.interval((moved, nearest[1]))
        limits.append(matrix.direction.oriented(moved))
    nearer = _nearer(values, scores, float(scores.max()))
    is_nearer = scores.max() - nearer >= SMALLEST_CHANGE * matrix.span
    leader = Leader(
        runs=tuple(intervals.runs[run] for run in first),
        lower=None if not limits else matrix.direction.oriented(min(map(matrix.direction.oriented, limits))),
        nearer=matrix.direction.oriented(nearer) if is_nearer else None,
    )
    note = _note(leader, len(matrix.runs), higher=matrix.direction.higher_is_better)
    return replace(
        intervals,
        low=tuple(low),
        high=tuple(high),
        leader=leader,
        notes=(*intervals.notes, *note),
        reasons=(*intervals.reasons, *note),
    )


def chance_line(values: Floats, alpha: float, seed: int = 0) -> float:
    """What the largest of sum_b s_b e_ib / sqrt(sum e_i^2) exceeds in half of `alpha` of the flips; e: deviations.

    `values` are runs x blocks. Systems whose scores never vary leave the maximum; 0 where none varies.
    """
    apart = values - values.mean(axis=1, keepdims=True)
    size = np.sqrt((apart**2).sum(axis=1))
    varying = size > TIE * np.maximum(np.abs(values).max(axis=1), 1.0)
    if not varying.any():
        return 0.0
    scaled = (apart[varying] / size[varying, None]).T
    count, runs = values.shape[1], len(values)
    flips = int(min(flips_of(runs * (runs - 1) // 2), max(_LEAST, _CELLS / values.size)))
    largest = np.concatenate(
        [((1 - 2 * chosen.astype(np.float64)) @ scaled).max(axis=1) for chosen in flip_chunks(count, flips, seed)]
    )
    needed = hits_needed(len(largest), alpha / 2, exact=every_flip_fits(count, flips))
    return float(np.sort(largest)[-max(needed, 1)])


def _limit(matrix: ScoreMatrix, parts: Blocks, values: Floats, run: int, line: float, level: float) -> float:
    """The limit of a leader on its worse side: Wilson's formula where scores have bounds; more is better."""
    score, count = float(values[run].mean()), parts.count
    is_share = matrix.summary.is_mean and matrix.clusters is None and matrix.is_right_or_wrong
    repeated = None if matrix.repeats is None else matrix.repeats.values[run]
    variance, t = float(values[run].var(ddof=1)) / count, two_sided_t_line(count - 1, 1 - level)
    if repeated is not None and repeated.shape[1] > 1:
        again = mean_uncertainty(repeated)
        variance, t, is_share = again.variance, again.margin(level) / math.sqrt(again.variance), False
    z = line if is_share else line * t / ndtri((1 + level) / 2)
    if matrix.bounds is None:
        return score - z * math.sqrt(variance)
    low, high = matrix.direction.interval(matrix.bounds)
    share = min(max((score - low) / (high - low), 0.0), 1.0)
    worth = float(count) if is_share else share * (1 - share) * (high - low) ** 2 / variance
    spread = z * math.sqrt(share * (1 - share) / worth + (z / (2 * worth)) ** 2) if worth > 0 else 0.0
    lower = (share + z * z / (2 * worth) - spread) / (1 + z * z / worth) if worth > 0 else share
    return low + lower * (high - low)


def _nearer(values: Floats, scores: Floats, best: float) -> float:
    """m + K (score - m), m the mean of all scores, K = t^2/(t^2 + v), v the noise of a score that is its own."""
    noise = residual_variance(values)[0] / values.shape[1]
    true = max(0.0, float(scores.var(ddof=1)) - noise)
    middle = float(scores.mean())
    return middle + (true / (true + noise) if true + noise > 0 else 1.0) * (best - middle)


def _note(leader: Leader, runs: int, *, higher: bool) -> list[str]:
    """What to know of the score of a leader; nothing where there is nothing to say."""
    several = len(leader.runs) > 1
    picked = f"{enumerated(leader.runs, 3)} {'were' if several else 'was'} picked as the "
    picked += f"{'highest' if higher else 'lowest'} of {runs:,}: "
    its, is_, allows = ("their", "scores are", "intervals allow") if several else ("its", "score is", "interval allows")
    parts = []
    if leader.lower is not None:
        parts.append(f"{its} {allows} for that")
    if leader.nearer is not None:
        parts.append(f"{its} {is_} probably nearer {leader.nearer:.3f}")
    return [f"{picked}{'; '.join(parts)}."] if parts else []
