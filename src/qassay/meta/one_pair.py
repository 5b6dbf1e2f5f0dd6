"""The decision about one pair of runs: p, interval and verdict, the same wherever two systems meet.

    runs that ran several times                                        t, with running again
    blocks of one weight, and one amount by which the runs differ      mid-p (right or wrong)
    fewer than 20 blocks, or blocks of unequal weight                  plain flips
    all others                                                         flips of Hall's t
    scores that are looked at while they come                          the line for any time, but at a planned look

0 lies outside the interval exactly where p <= alpha. (METHOD 6)

The interval of plain flips allows for what no unit shows: the units at hand tell nothing of those on which two runs
differ otherwise, if all that tell them apart do it by one amount. So half a unit is added on which the first run is
ahead by the whole range of the scores, and half a unit on which it is behind by as much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from qassay.arrays import TIE, Floats
from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix
from qassay.meta import hall
from qassay.meta.blocks import Blocks, blocks
from qassay.meta.flips import flip_test
from qassay.meta.looks import ALPHA, Look, Plan
from qassay.meta.normal_and_t import ndtr, two_sided_t_line
from qassay.meta.repeats import Uncertainty, difference_uncertainty
from qassay.meta.right_or_wrong import adjusted_interval, mid_p

# A level is tested with flips that exceed it this many times, where that is more than this number of them; and never
# more flips times blocks than this.
FLIPS_BEYOND = 10
ENOUGH_FLIPS = 20_000
MOST_CELLS = 1_000_000_000

TestOfPair: TypeAlias = Literal["mid-p", "flips", "hall", "t", "any time"]
Limits: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class PairDecision:
    """First run minus second: the difference, its interval, and the p-value of no difference.

    There is no interval where no difference is far enough out to be rejected: too few units. `deviation` is the
    standard deviation of the difference, as the interval takes it. `flips` is the number of sign flips, and `exact`
    says that these are all there are. `look` is this look where the scores are looked at while they come; p is then
    None unless it is the last one that is planned.
    """

    test: TestOfPair
    difference: float
    interval: Limits | None
    p: float | None
    alpha: float
    deviation: float
    flips: int | None = None
    exact: bool = False
    look: Look | None = None

    @property
    def rejects(self) -> bool:
        """Whether no difference at all is ruled out."""
        if self.p is None:
            return self.interval is not None and not self.interval[0] <= 0 <= self.interval[1]
        return self.interval is not None and self.p <= self.alpha

    @property
    def reversal(self) -> float | None:
        """The most that the chance of a reversal can be; None where half or more cannot be ruled out.

        A repetition with as many new units has the other sign with probability Phi(-|true difference|/deviation), and
        the true difference is at least the limit nearer to 0.
        """
        if self.interval is None or not self.rejects:
            return None
        nearer = min(map(abs, self.interval))
        return float(ndtr(np.array([-nearer / self.deviation]))[0])


def decide(pair: ScoreMatrix, *, alpha: float = 0.05, flips: int | None = None, seed: int = 0) -> PairDecision:
    """The decision about the two runs of a matrix at a level; with repeats, running them again is part of it."""
    if pair.repeats is None:
        return decide_blocks(blocks(pair), alpha=alpha, flips=flips, seed=seed)
    between = difference_uncertainty(*pair.repeats.values) if len(pair.units) > 1 else None
    return decide_with(pair, between, alpha=alpha, flips=flips, seed=seed)


def decide_with(
    pair: ScoreMatrix, between: Uncertainty | None, *, alpha: float = 0.05, flips: int | None = None, seed: int = 0
) -> PairDecision:
    """The decision by a t test with this variance of the difference; None where there are too few units for one."""
    parts = blocks(pair)
    difference = float((parts.parts[0] - parts.parts[1]).sum()) / parts.scale
    if between is None:
        return PairDecision("t", difference, None, 1.0, alpha, 0.0)
    p = between.p(difference)
    if between.variance == 0.0:
        # Nothing varies: what the questions alone show.
        alone = decide_blocks(parts, alpha=alpha, flips=flips, seed=seed)
        return _decided(alone.test, difference, alone.interval, p, alpha, alone.deviation, math.inf)
    margin, deviation = between.margin(1 - alpha), math.sqrt(between.variance)
    limits = difference - margin, difference + margin
    values = pair.values[0] - pair.values[1]
    if shows_one_difference(values, np.ones(len(values)), TIE):
        limits, unseen = with_unseen(values, parts.span, alpha=alpha, limits=limits)
        deviation = max(deviation, unseen)
    most = math.inf if pair.bounds is None else parts.span
    return _decided("t", difference, limits, p, alpha, deviation, most)


def decide_now(pair: ScoreMatrix, plan: Plan, *, flips: int | None = None, seed: int = 0) -> PairDecision:
    """The decision at one look of a plan, while scores keep coming; systems that ran once, and blocks of one weight."""
    parts = blocks(pair)
    if pair.repeats is not None:
        raise UsageError(
            "scores of systems that ran several times are looked at once: a plan of looks is for single runs"
        )
    if not (parts.weights == parts.weights[0]).all():
        raise UsageError(
            f"a plan of looks is for {parts.name[1]} that all count the same, and these do not: look at them once"
        )
    look = plan.look(parts.count)
    values = _values(parts)
    difference, deviation = float(values.mean()), float(values.std(ddof=1)) if parts.count > 1 else 0.0
    if plan.planned is not None and look.n < plan.planned:
        last = plan.look(plan.planned).t(plan.planned, max(plan.planned - 1, 1))
        look = replace(look, expected=None if last is None else last * deviation / math.sqrt(plan.planned))
    alpha = ALPHA if look.alpha is None else look.alpha
    if look.is_ordinary:
        # Enough flips for the level of this step, as far as time allows.
        fewest = min(math.ceil(FLIPS_BEYOND / alpha), MOST_CELLS // parts.count)
        flips = fewest if flips is None and fewest > ENOUGH_FLIPS else flips
        decision = decide_blocks(parts, alpha=alpha, flips=flips, seed=seed)
        return replace(decision, p=decision.p if look.n == look.planned else None, look=look)
    line = look.t(look.n, look.n - 1)
    interval = None
    if line is not None:
        half = line * math.sqrt(deviation**2 + 2 * parts.span**2 / (look.n - 1)) / math.sqrt(look.n)
        interval = max(difference - half, -parts.span), min(difference + half, parts.span)
    return PairDecision("any time", difference, interval, None, alpha, deviation / math.sqrt(look.n), look=look)


def _values(pair: Blocks) -> Floats:
    """The difference of every block, whose mean is that of the scores."""
    first, second = pair.values()
    return np.asarray(first - second)


def decide_blocks(pair: Blocks, *, alpha: float = 0.05, flips: int | None = None, seed: int = 0) -> PairDecision:
    """The decision about two runs that ran once."""
    differences = pair.parts[0] - pair.parts[1]
    difference = float(differences.sum()) / pair.scale
    has_equal_weights = bool((pair.weights == pair.weights[0]).all())
    has_one_difference = shows_one_difference(differences, pair.weights, pair.tolerance)
    if has_equal_weights and has_one_difference:
        return _right_or_wrong(pair, difference, alpha)
    values = _values(pair)
    deviation = math.sqrt(float(((values - difference) ** 2).sum()) / max(pair.count - 1, 1) / pair.count)
    if has_equal_weights and pair.count >= hall.ENOUGH:
        name: TestOfPair = "hall"
        test = hall.hall_test(values, alpha=alpha, flips=flips, seed=seed)
    else:
        name, test = "flips", flip_test(pair, alpha=alpha, flips=flips, seed=seed)
    limits = test.low, test.high
    if has_one_difference and all(map(math.isfinite, limits)):
        limits, unseen = with_unseen(values, pair.span, alpha=alpha, limits=limits)
        deviation = max(deviation, unseen)
    decision = _decided(name, difference, limits, test.p, alpha, deviation, pair.span)
    return replace(decision, flips=test.flips, exact=test.exact)


def _right_or_wrong(pair: Blocks, difference: float, alpha: float) -> PairDecision:
    """The decision by mid-p; there is no interval where not even a lead on all units would be rejected."""
    differences = pair.parts[0] - pair.parts[1]
    ahead, behind = (int((sign * differences > pair.tolerance).sum()) for sign in (1, -1))
    step = float(np.abs(differences).max(initial=0.0)) * pair.count / pair.scale
    found = adjusted_interval(ahead, behind, pair.count, step=step, span=pair.span, alpha=alpha)
    limits = (found.low, found.high) if mid_p(pair.count, 0, pair.count) <= alpha else None
    p = mid_p(ahead, behind, pair.count)
    return _decided("mid-p", difference, limits, p, alpha, found.deviation, pair.span)


def _decided(
    test: TestOfPair,
    difference: float,
    limits: Limits | None,
    p: float,
    alpha: float,
    deviation: float,
    most: float,
) -> PairDecision:
    """The decision with its interval inside the range of the scores, around the difference, and on the side of p."""
    if limits is None or not all(map(math.isfinite, limits)):
        return PairDecision(test, difference, None, p, alpha, deviation)
    low, high = min(max(limits[0], -most), difference), max(min(limits[1], most), difference)
    low, high = (0.0 if abs(end) <= TIE else end for end in (low, high))
    if p > alpha:
        low, high = min(low, 0.0), max(high, 0.0)
    elif difference > 0:
        low = max(low, min(TIE, difference))
    else:
        high = min(high, max(-TIE, difference))
    return PairDecision(test, difference, (low, high), p, alpha, deviation)


def shows_one_difference(differences: Floats, weights: Floats, tolerance: float) -> bool:
    """Whether the runs differ by the same amount on all units, or series, on which they differ at all.

    A series differs by as much as another where its part of the difference is larger by its weight.
    """
    size = np.abs(differences)
    step = float((size / weights).max(initial=0.0))
    return bool(((size <= tolerance) | (np.abs(size - step * weights) <= tolerance)).all())


def with_unseen(differences: Floats, span: float, *, alpha: float, limits: Limits) -> tuple[Limits, float]:
    """The limits, widened to contain the t interval of the differences and of what no unit shows; its deviation.

    `span` is the range of the scores. A limit that the widening would move across 0 stays: the decision is that of the
    test. Where the limits are a single number, because the runs differ by it on every unit, one goes as far as the
    decision lets it, to the smallest difference that is not a tie: that one number was seen does not prove it.
    """
    units = len(differences)
    mean = float(differences.sum()) / (units + 1)
    variance = (float((differences**2).sum()) + span**2) / (units + 1) - mean**2
    deviation = math.sqrt(max(variance, 0.0) / units)
    margin = two_sided_t_line(units, alpha) * deviation
    low, high = max(mean - margin, -span), min(mean + margin, span)
    smallest, largest = limits
    is_one_number = largest - smallest <= TIE
    if smallest > 0.0 >= low:
        low = min(smallest, TIE) if is_one_number else smallest
    if largest < 0.0 <= high:
        high = max(largest, -TIE) if is_one_number else largest
    return (min(smallest, low), max(largest, high)), deviation
