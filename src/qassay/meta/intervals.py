"""How far a score could be off: intervals for the score of a run and for the difference of two.

The score of a run: bias-corrected and accelerated bootstrap over units, over whole series where questions are
scored in series (intervals over single questions of a series can be three times too narrow); Wilson's interval for
proportions of few questions. The difference of two runs: the inverse of the paired randomisation test. If two runs do
not differ, which of them earned which score on a unit is a matter of chance, and the sign of every per-unit difference
could as well be the other one. The interval contains every difference that this test does not reject, so that interval
and p-value cannot contradict each other.

Resampling, sign flips, permutations and variances all act on blocks: units, or whole series of them, whose parts add up
to the score of a run. What the part of a unit is, the summary of the matrix says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import TIE, Floats, Integers, whole_numbers
from qassay.display import enumerated
from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix, too_few_for_intervals
from qassay.meta.repeats import mean_uncertainty
from qassay.meta.right_or_wrong import exact_flips
from qassay.meta.special import ndtr, ndtri, normal_quantiles, two_sided_t_line
from qassay.meta.unseen import limits_with_unseen, shows_one_difference
from qassay.results import document
from qassay.tables import Column, Table, counted, table

# Wilson's interval stands in where the bootstrap sees too little: fewer questions than this, or fewer than
# FEW_EITHER right or wrong answers.
FEW_QUESTIONS = 200
FEW_EITHER = 30
# The method of an interval that includes running a system again.
REPEATED = "t with repeats"
# The methods in words.
WAYS = {"BCa": "bootstrap (BCa)", "Wilson": "Wilson", REPEATED: "t (running again included)"}
_CELLS = 2_000_000  # of a chunk of resamples; bounds the memory

# Random flips by default; all flips where there are no more than this.
FLIPS = 100_000
# Of very many blocks fewer are flipped, so that flips x blocks is no more than this, but never fewer than that.
_MOST_FLIPPED = 10**10
_FEWEST_FLIPS = 10_000
# Bytes of random flips drawn at once: they fit the caches.
_DRAWN = 1 << 20


@dataclass(frozen=True, eq=False)
class Blocks:
    """Runs x blocks; `parts[r].sum() / scale` is the score of run r.

    The parts are whole numbers, so that every sum of them is exact. `sizes[b]` is the number of units of block b,
    `weights[b]` what block b adds to a score when all its units gain the same: its size, unless units weigh by type.
    Two sums closer than `tolerance` are equal. `name` is what people call a block and blocks. `span` is the range of
    the scores (`ScoreMatrix.span`).
    """

    parts: Floats
    sizes: Integers
    weights: Floats
    scale: float
    tolerance: float
    name: tuple[str, str]
    span: float

    @property
    def count(self) -> int:
        """Number of blocks."""
        return len(self.sizes)

    @cached_property
    def shares(self) -> Floats:
        """The share of each block in a score."""
        return np.asarray(self.weights / self.weights.sum())

    def values(self) -> Floats:
        """Runs x blocks, such that the mean of a row is the run's score and its spread the noise of that score.

        A block that counts for more than others has more of every score, which is not spread.
        """
        scores = self.parts.sum(axis=1, keepdims=True) / self.scale
        return np.asarray(self.parts * (self.count / self.scale) - scores * (self.shares * self.count - 1))


def blocks(matrix: ScoreMatrix) -> Blocks:
    """The independent parts of every run's score: series where `matrix.clusters` names them, else units."""
    index, sizes = block_index(matrix)
    units = len(matrix.units)
    weights = np.bincount(index, weights=matrix.summary.unit_weights(np.arange(units)), minlength=len(sizes))
    exact = matrix.denominator if matrix.summary.is_mean else None
    whole, scale = whole_numbers(matrix.summary.parts(matrix.values), exact)
    if matrix.clusters is not None:
        whole = np.stack([np.bincount(index, weights=row, minlength=len(sizes)) for row in whole])
    # Below half a whole number there is no difference; decimals such as 0.333333333333 have smaller ones than a tie is.
    tolerance = max(0.5, TIE * units * scale)
    name = matrix.unit_name if matrix.clusters is None else ("series", "series")
    return Blocks(whole, sizes, weights.astype(np.float64), scale * units, tolerance, name, matrix.span)


def block_index(matrix: ScoreMatrix) -> tuple[Integers, Integers]:
    """The block of every unit, numbered in the order of first appearance, and the size of every block."""
    if matrix.clusters is None:
        return np.arange(len(matrix.units)), np.ones(len(matrix.units), dtype=np.int64)
    number = {name: i for i, name in enumerate(dict.fromkeys(matrix.clusters))}
    index = np.array([number[name] for name in matrix.clusters], dtype=np.int64)
    return index, np.bincount(index, minlength=len(number))


def scores_without(matrix: ScoreMatrix) -> Floats:
    """Jackknife: the score of every run without each block in turn, blocks x runs."""
    return matrix.summary.scores_without(matrix.values, block_index(matrix)[0])


@dataclass(frozen=True)
class ScoreIntervals:
    """The interval of every run's score; a limit is None where it is undefined.

    `reasons` are those of the `notes` that say why runs have no interval.
    """

    runs: tuple[str, ...]
    scores: tuple[float, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    methods: tuple[str, ...]
    level: float
    over: str
    notes: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    def interval(self, run: str) -> tuple[float, float] | None:
        """The interval of one run, or None where it is undefined."""
        at = self.runs.index(run)
        low, high = self.low[at], self.high[at]
        return None if low is None or high is None else (low, high)

    def table(self) -> Table:
        """Runs by decreasing score with their limits."""
        order = sorted(range(len(self.runs)), key=lambda i: (-self.scores[i], self.runs[i]))
        rows = [(self.runs[i], self.scores[i], self.low[i], self.high[i], self.methods[i]) for i in order]
        numbers = [Column(name, ".3f") for name in ("score", "from", "to")]
        title = f"Scores with {self.level:.0%} intervals over {self.over}"
        return table(title, ["run", *numbers, "method"], rows, self.notes)

    def as_json(self) -> dict[str, object]:
        """Level, and score and interval of every run."""
        rows = zip(self.runs, self.scores, self.low, self.high, self.methods, strict=True)
        runs = [
            {"run": run, "score": score, "interval": None if low is None else [low, high], "method": method}
            for run, score, low, high, method in rows
        ]
        return {**document(self, "level", "over"), "runs": runs, **document(self, "notes")}


def score_intervals(
    matrix: ScoreMatrix,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> ScoreIntervals:
    """An interval for the score of every run.

    BCa bootstrap through the summary of the matrix, over series where `matrix.clusters` names them. Where scores
    are 0 or 1, run scores are their means and there are no series, Wilson's interval stands in for a run with
    few questions, or few right or few wrong answers. There is none for too few units (or series), and none for a run
    whose scores are all alike: a bootstrap would give an interval of no width, as if the score were known exactly.
    The score of a system that was run several times has a t interval that includes what running it again would change.
    """
    if not 0 < level < 1:
        raise UsageError(f"the level of an interval lies between 0 and 1, not {level}")
    _, sizes = block_index(matrix)
    scores = matrix.scores() if len(matrix.units) else np.zeros(len(matrix.runs))
    over = counted(len(sizes), matrix.unit_name)
    if matrix.clusters is not None:
        over = f"{len(sizes)} series of {counted(len(matrix.units), matrix.unit_name)}"
    name = matrix.unit_name if matrix.clusters is None else ("series", "series")
    limits: list[tuple[float | None, float | None, str]] = [(None, None, "none")] * len(matrix.runs)
    reason = too_few_for_intervals(len(sizes), name)
    if reason is None:
        limits = _limits(matrix, scores, level, resamples, seed)
        alike = [run for run, (_, _, method) in zip(matrix.runs, limits, strict=True) if method == "none"]
        if alike:
            reason = (
                f"No interval for {enumerated(alike, 3)}: the scores are the same on every {name[0]} and do not show "
                "how far they may vary."
            )
    low, high, methods = zip(*limits, strict=True) if limits else ((), (), ())
    reasons = () if reason is None else (reason,)
    notes = (*matrix.notes, *reasons)
    return ScoreIntervals(matrix.runs, tuple(scores.tolist()), low, high, methods, level, over, notes, reasons)


def _limits(
    matrix: ScoreMatrix, scores: Floats, level: float, resamples: int, seed: int
) -> list[tuple[float | None, float | None, str]]:
    """The limits of every run, and by which method."""
    limits: list[tuple[float | None, float | None, str]] = [(None, None, "none")] * len(matrix.runs)
    few = _few(matrix)
    if not few.all():
        resampled = bootstrap_scores(matrix, resamples=resamples, seed=seed)
        lows, highs = bca_limits(scores, resampled, scores_without(matrix), level=level)
        varies = np.ptp(resampled, axis=0) > TIE * np.maximum(np.abs(scores), 1.0)
        for run in np.flatnonzero(varies):
            limits[run] = (float(lows[run]), float(highs[run]), "BCa")
    for run in np.flatnonzero(few):
        limits[run] = (*wilson(round(float(matrix.values[run].sum())), len(matrix.units), level=level), "Wilson")
    for place, limit in _with_repeats(matrix, level):
        limits[place] = limit
    return limits


def _with_repeats(matrix: ScoreMatrix, level: float) -> Iterator[tuple[int, tuple[float, float, str]]]:
    """The intervals of the runs that answered every question several times, where their scores vary at all.

    Resampling questions would miss what a repeat shifts on all questions at once (METHOD 6, Repeats).
    """
    if matrix.repeats is None or matrix.clusters is not None or not matrix.summary.is_mean or len(matrix.units) < 2:
        return
    for run, values in enumerate(matrix.repeats.values):
        margin = mean_uncertainty(values).margin(level) if values.shape[1] > 1 else 0.0
        if margin > 0:
            score = float(values.mean())
            shares = values.min() >= 0 and values.max() <= 1
            low, high = (0.0, 1.0) if shares else (-math.inf, math.inf)
            yield run, (max(score - margin, low), min(score + margin, high), REPEATED)


def wilson(successes: float, total: int, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a proportion (Wilson 1927).

    (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n); undefined for n = 0.
    """
    if not 0 <= successes <= total or total == 0:
        raise UsageError(f"{successes} of {total} is not a proportion")
    z = ndtri((1 + level) / 2)
    share = successes / total
    centre = share + z * z / (2 * total)
    spread = z * float(np.sqrt(share * (1 - share) / total + (z / (2 * total)) ** 2))
    below, above = (centre - spread) / (1 + z * z / total), (centre + spread) / (1 + z * z / total)
    # At the ends the formula gives 0 and 1 but for rounding.
    return (0.0 if successes == 0 else below), (1.0 if successes == total else above)


def _few(matrix: ScoreMatrix) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which runs have a proportion of few questions for a score."""
    units = len(matrix.units)
    proportions = matrix.summary.is_mean and matrix.clusters is None and units > 0
    if not proportions or not np.isin(matrix.values, (0.0, 1.0)).all():
        return np.zeros(len(matrix.runs), dtype=np.bool_)
    right = matrix.values.sum(axis=1)
    return np.asarray((units < FEW_QUESTIONS) | (np.minimum(right, units - right) < FEW_EITHER))


def bootstrap_scores(matrix: ScoreMatrix, *, resamples: int, seed: int) -> Floats:
    """Scores of every run on resampled units, resamples x runs.

    Units are drawn with replacement, whole series where `matrix.clusters` names them; the summary of the matrix
    is computed again on every draw.
    """
    rng = np.random.default_rng(seed)
    index, sizes = block_index(matrix)
    scores = np.empty((resamples, len(matrix.runs)))
    for start, stop in chunks(resamples, max(len(matrix.units), 1)):
        times = _draw(rng, stop - start, len(sizes))
        scores[start:stop] = matrix.summary.resampled(matrix.values, times[:, index], matrix.denominator)
    return scores


def bca_limits(
    scores: Floats, resampled: Floats, left_out: Floats, *, level: float = 0.95, expand: bool = True
) -> tuple[Floats, Floats]:
    """Limits of bias-corrected and accelerated intervals, one a column of `resampled`.

    Efron (1987): with z0 the normal quantile of the share of resamples below the score (ties half) and a the
    acceleration from the jackknife, the limits are the resamples' quantiles at
    Phi(z0 + (z0 + z)/(1 - a(z0 + z))). `expand` takes z = sqrt(n/(n-1)) t(n-1) in place of the normal quantile
    (Hesterberg 2015), since a bootstrap of few units is too narrow by that factor. Where all resamples agree, both
    limits are the score.
    """
    count = len(left_out)
    if expand and count > 1:
        z = float(np.sqrt(count / (count - 1)) * two_sided_t_line(count - 1, 1.0 - level))
    else:
        z = ndtri((1.0 + level) / 2.0)
    resamples = len(resampled)
    below = ((resampled < scores).sum(axis=0) + (resampled <= scores).sum(axis=0)) / (2 * resamples)
    # A score at the very end of its resamples has no normal quantile; half a resample beyond stands in.
    bias = normal_quantiles(np.clip(below, 0.5 / resamples, 1 - 0.5 / resamples))
    from_mean = left_out.mean(axis=0) - left_out
    spread = (from_mean**2).sum(axis=0) ** 1.5
    acceleration = np.divide((from_mean**3).sum(axis=0), 6 * spread, out=np.zeros(len(scores)), where=spread > 0)
    ordered = np.sort(resampled, axis=0)
    limits = []
    for side in (-z, z):
        shifted = bias + side
        levels = ndtr(bias + shifted / np.maximum(1 - acceleration * shifted, 1e-6))
        limits.append(_quantiles(ordered, levels))
    return limits[0], limits[1]


def chunks(total: int, width: int) -> Iterator[tuple[int, int]]:
    """Spans of rows such that a chunk of `width` columns stays small."""
    step = max(1, _CELLS // max(width, 1))
    for start in range(0, total, step):
        yield start, min(start + step, total)


def _draw(rng: np.random.Generator, rows: int, count: int) -> Integers:
    """How often each of `count` blocks is drawn, in each of `rows` resamples."""
    drawn = rng.integers(count, size=(rows, count)) + count * np.arange(rows)[:, None]
    return np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count)


def _quantiles(ordered: Floats, levels: Floats) -> Floats:
    """One quantile a column of sorted columns, by linear interpolation."""
    place = levels * (len(ordered) - 1)
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, len(ordered) - 1)
    columns = np.arange(ordered.shape[1])
    below, above = ordered[low, columns], ordered[high, columns]
    return np.asarray(below + (above - below) * (place - low))


@dataclass(frozen=True, slots=True)
class FlipTest:
    """The outcome: the difference, its interval, its p-value, and the number of flips.

    A limit is None where no difference is far enough out to be rejected: too few units. `exact` says that every
    flip counts, and not a random part of them; p is their share then, else (1 + hits)/(1 + flips). `flips` is None
    where there are too many to write their number down.
    """

    difference: float
    low: float | None
    high: float | None
    p: float
    flips: int | None
    exact: bool

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both limits; None where there is none on either side."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def rejects(self) -> bool:
        """Whether no difference at all is ruled out: 0 lies outside the interval."""
        return (self.low is not None and self.low > 0) or (self.high is not None and self.high < 0)


def default_flips(count: int) -> int:
    """How many random flips of this number of blocks are drawn unless the caller says otherwise.

    >>> default_flips(500), default_flips(1_000_000)
    (100000, 10000)
    """
    return min(FLIPS, max(_FEWEST_FLIPS, _MOST_FLIPPED // max(count, 1)))


def flip_test(pair: Blocks, *, level: float = 0.95, flips: int | None = None, seed: int = 0) -> FlipTest:
    """The paired randomisation test of two runs, first minus second, and the interval of their difference.

    For a set F of flipped units, the flipped mean of the differences minus delta is at least as far from 0 as the
    observed one exactly where delta lies between the mean difference over F and the mean over the other units.
    So the limits are order statistics of these means, and one set of flips serves every delta. Series are flipped
    as wholes. All flips count where there are no more than `flips` of them, and where every unit tells the runs apart
    by the same amount or not at all, as with answers that are right or wrong. There the limits allow for differences
    that no unit shows (`qassay.meta.unseen`); p and the decision stay those of the flips.
    """
    differences = pair.parts[0] - pair.parts[1]
    flips = default_flips(pair.count) if flips is None else flips
    counts = ahead_and_behind(pair)
    test = _flipped(differences, pair, level, flips, seed) if counts is None else _computed(*counts, pair, level)
    if test.interval is None or not shows_one_difference(differences, pair.weights, pair.tolerance):
        return test
    first, second = pair.values()
    low, high = limits_with_unseen(first - second, pair.span, alpha=1 - level, decided=test.interval)
    return replace(test, low=low, high=high)


def _flipped(differences: Floats, pair: Blocks, level: float, flips: int, seed: int) -> FlipTest:
    """The test by all flips there are, or by random ones."""
    total = float(differences.sum())
    exact = every_flip_fits(pair.count, flips)
    count = 2**pair.count if exact else flips
    lows, highs = np.empty(count), np.empty(count)
    at = 0
    for flipped, weight in flipped_sums(differences, pair.weights, flips, seed):
        share = weight / pair.weights.sum()
        over_flipped = _mean(flipped, share, pair)
        over_rest = _mean(total - flipped, 1.0 - share, pair)
        rows = slice(at, at + len(flipped))
        # A flip of nothing, or of everything, leaves the distance from 0 as it was, whatever delta is.
        trivial = np.isnan(over_flipped) | np.isnan(over_rest)
        lows[rows] = np.where(trivial, -np.inf, np.minimum(over_flipped, over_rest))
        highs[rows] = np.where(trivial, np.inf, np.maximum(over_flipped, over_rest))
        at += len(flipped)
    hits = int(((lows <= 0) & (highs >= 0)).sum())
    needed = hits_needed(count, 1 - level, exact=exact)
    low, high = -np.inf, np.inf
    if 1 <= needed <= count:
        low = float(np.partition(lows, needed - 1)[needed - 1])
        high = -float(np.partition(-highs, needed - 1)[needed - 1])
    return FlipTest(
        difference=total / pair.scale,
        low=low if math.isfinite(low) else None,
        high=high if math.isfinite(high) else None,
        p=hits / count if exact else (1 + hits) / (1 + count),
        flips=count,
        exact=exact,
    )


def ahead_and_behind(pair: Blocks) -> tuple[int, int, float] | None:
    """On how many blocks the first run is ahead, on how many behind, and by how much; None where it is not one amount.

    None too where blocks that differ weigh differently: a sum of them is then no number of blocks.
    """
    differences = pair.parts[0] - pair.parts[1]
    ahead, behind = (int((sign * differences > pair.tolerance).sum()) for sign in (1, -1))
    weigh_the_same = ahead + behind == 0 or bool((pair.weights == pair.weights[0]).all())
    if not weigh_the_same or not shows_one_difference(differences, pair.weights, pair.tolerance):
        return None
    return ahead, behind, float(np.abs(differences).max(initial=0.0))


def _computed(ahead: int, behind: int, step: float, pair: Blocks, level: float) -> FlipTest:
    """The test where the runs differ on a unit by one amount, or not at all: computed, not enumerated or drawn."""
    test = exact_flips(ahead, behind, pair.count - ahead - behind, alpha=1 - level)
    scale = step * pair.count / pair.scale
    return FlipTest(
        difference=float((pair.parts[0] - pair.parts[1]).sum()) / pair.scale,
        low=test.low * scale if math.isfinite(test.low) else None,
        high=test.high * scale if math.isfinite(test.high) else None,
        p=test.p,
        flips=2**pair.count if pair.count < 63 else None,
        exact=True,
    )


def hits_needed(count: int, alpha: float, *, exact: bool) -> int:
    """The least number of hits that makes p larger than alpha."""
    # The small term keeps 0.05 * 20 at 1 whatever its last bit is.
    return math.floor(alpha * count + 1e-9) + 1 if exact else math.floor(alpha * (count + 1) + 1e-9)


def every_flip_fits(count: int, flips: int) -> bool:
    """Whether all flips of this many blocks can be enumerated."""
    return count < 63 and 2**count <= flips


def flip_chunks(count: int, flips: int, seed: int, *, rows: int = 4096) -> Iterator[NDArray[np.uint8]]:
    """Sets of flipped blocks as rows of 0 and 1, some rows at a time: all sets there are, or random ones."""
    if every_flip_fits(count, flips):
        for start in range(0, 2**count, rows):
            numbers = np.arange(start, min(start + rows, 2**count))[:, None]
            yield ((numbers >> np.arange(count)) & 1).astype(np.uint8)
        return
    for packed in _random_flips(count, flips, seed, rows=min(rows, _CELLS // max(count, 1))):
        yield np.unpackbits(packed, axis=1, count=count)


def _random_flips(count: int, flips: int, seed: int, *, rows: int) -> Iterator[NDArray[np.uint8]]:
    """Random sets of flipped blocks as rows of bits, about `rows` at a time; the sets do not depend on `rows`."""
    rng = np.random.default_rng(seed)
    # The generator drops what is left of a word of four bytes when a call ends: with four rows nothing is left.
    step = max(4, rows // 4 * 4)
    for start in range(0, flips, step):
        yield rng.integers(256, size=(min(step, flips - start), -(-count // 8)), dtype=np.uint8)


def flipped_sums(values: Floats, weights: Floats, flips: int, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """Sums of values (whole numbers) and of weights over sets of flipped blocks, those of `flip_chunks`."""
    count = len(values)
    if every_flip_fits(count, flips) or not (weights == weights[0]).all():
        for chosen in flip_chunks(count, flips, seed):
            signs = chosen.astype(np.float64)
            yield signs @ values, signs @ weights
        return
    planes = _BitPlanes(values)
    for packed in _random_flips(count, flips, seed, rows=_DRAWN // -(-count // 8)):
        sums, sizes = planes.sums(packed)
        yield sums, sizes * weights[0]


class _BitPlanes:
    """Whole numbers by their binary digits, so that sums over sets of them are numbers of common ones.

    A set has one bit for each number. Where 2^k is the value of a digit, the sum over a set is the sum over k of
    2^k * (ones that the set and digit k of all numbers have in common): exact, and many times faster than adding.
    """

    def __init__(self, values: Floats) -> None:
        self.lowest = int(values.min())
        above = values.astype(np.int64) - self.lowest
        self.all = self._words(np.packbits(np.ones(len(values), dtype=np.uint8))[None, :])
        digits = range(int(above.max()).bit_length())
        self.planes = [self._words(np.packbits((above >> k & 1).astype(np.uint8))[None, :]) for k in digits]

    def sums(self, packed: NDArray[np.uint8]) -> tuple[Floats, Floats]:
        """The sum over each set (row of bits), and the number of its members."""
        sets = self._words(packed)
        sizes = self._common(sets, self.all)
        totals = self.lowest * sizes
        for k, plane in enumerate(self.planes):
            totals += self._common(sets, plane) << k
        return totals.astype(np.float64), sizes.astype(np.float64)

    @staticmethod
    def _common(sets: NDArray[np.uint64], plane: NDArray[np.uint64]) -> Integers:
        return np.asarray(np.bitwise_count(sets & plane).sum(axis=1, dtype=np.int64))

    @staticmethod
    def _words(packed: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """Rows of bytes as rows of 64-bit words, filled up with zeros."""
        rows, width = packed.shape
        padded = np.zeros((rows, -(-width // 8) * 8), dtype=np.uint8)
        padded[:, :width] = packed
        return padded.view(np.uint64)


def _mean(sums: Floats, share: Floats, pair: Blocks) -> Floats:
    """Mean difference over a part of the units; NaN over none; 0 where it is no more than rounding."""
    sums = np.where(np.abs(sums) < pair.tolerance, 0.0, sums)
    empty = np.abs(share) < 1e-12
    return np.where(empty, np.nan, sums / (pair.scale * np.where(empty, 1.0, share)))
