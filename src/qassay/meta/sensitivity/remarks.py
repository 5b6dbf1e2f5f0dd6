"""What a reader has to know before believing the curves."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from qassay.matrix import TIE, Floats, ScoreMatrix
from qassay.meta.sensitivity.closed_form.predictor import PairMoments
from qassay.meta.sensitivity.counting import Counts, Ties
from qassay.meta.sensitivity.curves import SensitivityCurves
from qassay.meta.sensitivity.resampling import unit_step
from qassay.meta.sensitivity.scale import BINS, WIDTH, bin_limits, rounded_up, width_for
from qassay.meta.sensitivity.study import Study

# Below this many pairs, say so.
FEW_PAIRS = 15

# From this share of the comparisons in the open bin on, bins are too narrow. Scores within [0, 1] have the bins of the
# papers, where much of what is seen may well be larger than what has to be told apart.
MOST = 0.5
MOST_WITHIN_ONE = 0.9

# What the rule for ties makes of a bin that holds nothing else.
ONLY_TIES: dict[Ties, str] = {"stay": "a tie is no swap", "half": "a tie counts half a swap", "exclude": ""}


# Reasons of the curves, in words of one difference.
REASONS = {
    "first bin": "so small a difference has no curve",
    "open bin": "so large a difference has no curve",
    "fewer than three points": "runs differ by so much at too few of the sizes measured",
    "no swap at any size": "no comparison with such a difference misled",
    "A1 or A2 not positive and finite": "no falling curve fits the rates measured",
}


def rests_on(pairs: int) -> list[str]:
    """A warning where there are few pairs of runs."""
    if not 0 < pairs < FEW_PAIRS:
        return []
    return [f"The error rates rest on {pairs} {'pair' if pairs == 1 else 'pairs'} of runs only."]


def why_not_fitted(curves: SensitivityCurves, difference: float) -> str | None:
    """Why the bin that holds a difference has no fitted curve; None where it has one."""
    fit = curves.fits[curves.bin_of(difference)]
    return REASONS.get(fit, fit) if isinstance(fit, str) else None


def wider_bins(matrix: ScoreMatrix, counts: Counts, width: Decimal) -> Decimal | None:
    """A width that suits the scores better, where most comparisons of the largest sets fall into the open bin."""
    last, suiting = counts.comparisons[-1], width_for(matrix)
    most = MOST if suiting > WIDTH else MOST_WITHIN_ONE
    return max(suiting, rounded_up(2 * float(width))) if last[BINS - 1] > most * last.sum() else None


def notes_on_runs(matrix: ScoreMatrix, moments: PairMoments) -> list[str]:
    """Few runs, and runs that are alike."""
    if len(matrix.runs) < 2:
        return ["An error rate needs two runs or more."]
    notes = rests_on(matrix.pairs)
    alike = int(np.count_nonzero((moments.variances == 0.0) & (moments.means == 0.0)))
    if alike == matrix.pairs:
        notes.append("All runs have the same scores on every unit: there is nothing to tell apart.")
    elif alike:
        notes.append(
            f"{alike} {'pair of runs has' if alike == 1 else 'pairs of runs have'} equal scores on every unit."
        )
    return notes


def notes_on_bins(study: Study, counts: Counts, ties: Ties, wider: Decimal | None) -> list[str]:
    """Bins that are too narrow for the scores: nearly nothing in them, or ties alone."""
    notes = []
    if wider is not None:
        notes.append(f"Most differences fall into the open bin: choose wider bins, such as {wider} (--bin-width).")
    step, width = unit_step(study.prepared.matrix), float(study.prepared.width)
    # Means of S scores differ by steps of step/S: where that is a bin or more, the first bin holds equal means alone.
    seen = counts.denominators(ties)[:, 0] > 0
    tied = [size for size, some in zip(study.sizes, seen, strict=True) if some and step / size > width - TIE]
    if tied and ONLY_TIES[ties]:
        notes.append(
            f"Up to {tied[-1]} units all differences below {study.prepared.width} are ties: scores move in steps; "
            f"{ONLY_TIES[ties]} (--ties {ties}), so that the rate there is the rule's and nothing measured."
        )
    return notes


def notes_on_extended(study: Study, counts: Counts, ties: Ties, intervals: Floats | None) -> list[str]:
    """Intervals of the largest sets that end at the measured rate: they would not hold it on their own."""
    if intervals is None:
        return []
    rates, (low, high) = counts.rates(ties)[-1], intervals[-1].T
    # At 0 and at 1 there is nowhere further to go, and a rate that follows from the rule for ties is no estimate.
    extended = (low < high) & (((low == rates) & (rates > 0.0)) | ((high == rates) & (rates < 1.0)))
    if not extended.any():
        return []
    lows = ", ".join(str(limit) for limit, one in zip(bin_limits(study.prepared.width), extended, strict=True) if one)
    return [
        f"The interval ends at the rate itself in the bins from {lows}: on these units the rate is off in a known "
        "direction, and the interval is extended to hold it."
    ]
