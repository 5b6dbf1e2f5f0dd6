"""Is one run better than another? One decision answers (`qassay.meta.one_pair`).

Beside it the chance that as many new units would reverse the difference, the number of units that would show it, and
the paired t test as a second opinion.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np

from qassay.arrays import TIE, Floats
from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix
from qassay.meta.blocks import Blocks, blocks
from qassay.meta.hall import ENOUGH, rests_on_few
from qassay.meta.looks import Plan
from qassay.meta.normal_and_t import two_sided_t
from qassay.meta.one_pair import PairDecision, decide, decide_now
from qassay.meta.significance.pair import PairComparison, UnitDifference, Verdict
from qassay.meta.significance.power import assured_variance, check_test, detectable, fewest_units, units_for_power
from qassay.meta.significance.with_repeats import variances
from qassay.tables import counted

NOT_RUN_AGAIN = "Each system ran once: the variation from run to run is not included."
# Fewer repeats than this leave one or two degrees of freedom for what running again changes.
FEW_REPEATS = 4
# The number of units is for a difference of this share of the range of scores, unless another one is asked for.
USUAL_DIFFERENCE = 0.05


def compare(
    matrix: ScoreMatrix,
    a: str,
    b: str,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    permutations: int | None = None,
    seed: int = 0,
    top: int = 10,
    wanted: float | None = None,
    within: float | None = None,
    plan: Plan | None = None,
    decision: PairDecision | None = None,
) -> PairComparison:
    """Compare two runs on their common units; other runs of the matrix change nothing.

    A run is better or worse exactly where the interval excludes 0, which is where p <= `alpha`. `permutations` is the
    number of random sign flips where the test draws some; there are enough of them unless it is given. The paired t
    test is a second opinion. With a `plan`, scores are looked at while they come, and `alpha` is that of this look.
    `decision` replaces the one that the scores alone give. `wanted` is the difference that the number of units is for,
    0.05 of the range of the scores unless it is given, and never the measured one: planned from that, most tests miss
    their power.
    """
    check_test(alpha, permutations)
    for number, asked in (("the difference to find", wanted), ("the difference to be equal within", within)):
        if asked is not None and not 0 < asked < math.inf:
            raise UsageError(f"{number} is more than 0, not {asked:g}")
    refuse_itself(a, b)
    pair = matrix.select([a, b])
    parts = blocks(pair)
    if plan is None:
        test = decision or decide(pair, alpha=alpha, flips=permutations, seed=seed)
    else:
        test = decide_now(pair, plan, flips=permutations, seed=seed)
        alpha = plan.last_level
    verdict: Verdict = "cannot tell"
    if test.rejects:
        verdict = "better" if pair.direction.oriented(test.difference) > 0 else "worse"
    p_t = paired_t(parts)
    if test.p is None:
        # It would be another look.
        p_t = None
    by_unit = pair.summary.contributions(pair.values)
    difference = np.asarray(by_unit[0] - by_unit[1])
    lead = matrix.direction.oriented(difference)
    score_a, score_b = pair.scores().tolist()
    wanted = float(f"{USUAL_DIFFERENCE * pair.span:.2g}") if wanted is None else wanted
    found_with, needed = _power(pair, parts, wanted, power, alpha)
    return PairComparison(
        a=a,
        b=b,
        units=len(pair.units),
        score_a=score_a,
        score_b=score_b,
        difference=test.difference,
        interval=test.interval,
        p=test.p,
        test=test.test,
        effect_size=_effect_size(pair, test.difference),
        reversal=test.reversal,
        found_with=found_with,
        wanted_difference=wanted,
        units_needed=needed,
        verdict=verdict,
        measure=pair.measure,
        alpha=test.alpha,
        power=power,
        permutations=test.flips,
        exact=test.exact,
        units_better=int((lead > TIE).sum()),
        units_worse=int((lead < -TIE).sum()),
        deciding=_top(pair, difference, top),
        notes=(*pair.notes, *_notes(pair, parts, test), *_repeat_notes(pair)),
        remarks=tuple(_remarks(pair, parts, test, p_t, test.alpha)),
        p_t=p_t,
        within=within,
        repeats={} if pair.repeats is None else pair.repeats.as_json(pair.runs),
        unit_name=pair.unit_name,
        manual=pair.manual.intersection(pair.runs),
        direction=pair.direction,
        looks=test.look,
        digest="" if plan is None else _digest(pair),
    )


def _digest(pair: ScoreMatrix) -> str:
    """The SHA-256 of the scores of both runs, whichever is first and in whatever order their units come."""
    rows = pair.values[np.argsort(pair.runs)][:, np.argsort(pair.units)]
    return hashlib.sha256(np.ascontiguousarray(rows, dtype="<f8").tobytes()).hexdigest()


def refuse_itself(a: str, b: str) -> None:
    """Stop where both runs are the same one."""
    if a == b:
        raise UsageError(f"run {a!r} cannot be compared with itself")


def _repeat_notes(pair: ScoreMatrix) -> list[str]:
    """Whether running the systems again is part of the answer."""
    if pair.repeats is None:
        return [NOT_RUN_AGAIN] if pair.read else []
    numbers = dict(zip(pair.runs, pair.repeats.numbers, strict=True))
    once = [run for run, number in numbers.items() if number == 1]
    counts = " and ".join(f"{run} {number}" for run, number in numbers.items())
    notes = [f"Repeats per question: {counts}. Interval and verdict include running the systems again."]
    if once:
        notes = [f"Repeats per question: {counts}. For {once[0]}, running again is not included."]
    if max(numbers.values()) < FEW_REPEATS:
        notes.append("Few repeats show little of what running again changes, which makes the interval wide.")
    return notes


def paired_t(parts: Blocks) -> float | None:
    """p-value of the paired t test over blocks; None with fewer than two, or where the difference is always the same.

    Blocks of unequal size enter with the units they hold, as in a cluster-robust variance.
    """
    first, second = parts.values()
    differences = first - second
    if parts.count < 2 or float(differences.std()) < TIE:
        return None
    error = float(differences.std(ddof=1)) / math.sqrt(parts.count)
    return two_sided_t(parts.count - 1, float(differences.mean()) / error)


def _effect_size(pair: ScoreMatrix, difference: float) -> float | None:
    """The difference in standard deviations of what single units add to it; within types where units weigh by type."""
    apart = pair.summary.deviations(pair.values)
    spread = float(np.sqrt(((apart[0] - apart[1]) ** 2).sum() / max(len(pair.units) - 1, 1)))
    return difference / spread if spread > TIE else None


def _power(
    pair: ScoreMatrix, parts: Blocks, wanted: float, power: float, alpha: float
) -> tuple[float | None, int | None]:
    """The difference that these units find with this power, and the units that find the wanted one.

    The variance is its upper limit, as in `plan`. With repeats, running again is included, as often as each system ran.
    """
    units = len(pair.units)
    if pair.repeats is not None:
        between = variances(pair.repeats) if units > 1 else None
        if between is None:
            return None, None
        often = max(pair.repeats.numbers)
        return (
            between.detectable(units, often, power=power, alpha=alpha),
            between.units_for(wanted, often, power=power, alpha=alpha),
        )
    assured = assured_variance(parts.values())
    if assured is None or parts.count < fewest_units(alpha):
        return None, None
    deviation = math.sqrt(assured.upper)
    smallest = detectable(parts.count, power=power, alpha=alpha)
    needed = units_for_power(wanted / deviation, power=power, alpha=alpha)
    assert smallest is not None
    assert needed is not None
    # The t test behind the number may ask for fewer than the test that decides can do with.
    return smallest * deviation, math.ceil(max(needed, fewest_units(alpha)) * units / parts.count)


def _top(pair: ScoreMatrix, difference: Floats, top: int) -> tuple[UnitDifference, ...]:
    """The units with the largest parts in the difference, those that differ at all."""
    order = np.argsort(-np.abs(difference), kind="stable")[:top]
    most = [u for u in order.tolist() if abs(difference[u]) > TIE]
    a, b = pair.values[:, most].tolist()
    parts = (difference[most] / len(difference)).tolist()
    return tuple(map(UnitDifference, (pair.units[u] for u in most), a, b, parts))


def _notes(pair: ScoreMatrix, parts: Blocks, test: PairDecision) -> list[str]:
    """Notes for a reader of the answer."""
    notes = []
    if test.interval is not None and test.test in ("flips", "hall"):
        first, second = parts.values()
        if rests_on_few(first - second):
            notes.append(
                f"A few {parts.name[1]} make most of the difference: chance may reach further than the interval."
            )
        if parts.count < ENOUGH:
            # What makes up 3/n of all questions is missing from n of them with probability 0.05.
            notes.append(
                f"On {counted(parts.count, parts.name)} a kind of {parts.name[0]} that makes up to "
                f"{3 / parts.count:.0%} can be missing."
            )
    if test.rejects and pair.others:
        notes.append(
            "This is the test of one pair, chosen beforehand. To pick a pair by its scores among several runs, compare "
            "all of them: that corrects for their number."
        )
    return notes


def _remarks(pair: ScoreMatrix, parts: Blocks, test: PairDecision, p_t: float | None, alpha: float) -> list[str]:
    """Notes for a reader of the tests."""
    unit, units = pair.unit_name
    remarks: list[str] = []
    if test.look is not None and test.p is None:
        return remarks
    if test.interval is None and pair.repeats is None:
        number = counted(parts.count, parts.name)
        remarks.append(f"With {number} no test reaches {alpha:g}: there is no interval.")
    if p_t is None and parts.count > 1:
        remarks.append(
            f"The difference is the same on every {unit}: there is no t test, no effect size and no number of {units}."
        )
    elif p_t is None:
        remarks.append(f"One {unit} does not show how differences vary: no t test, effect size or number of {units}.")
    if pair.clusters is not None:
        remarks.append(
            f"Tests and interval exchange whole series: {parts.count} series with {len(pair.units)} {units}."
        )
    if pair.summary.order is not None:
        remarks.append(
            f"The part of a {unit} in a confidence-weighted score is its influence: right or wrong, and how early."
        )
    return remarks
