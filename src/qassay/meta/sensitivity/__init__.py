"""Sensitivity: how often does a comparison of two runs mislead? [EVAL02, QA03, SERIES05]

The modules in the order of the work:

    presets      the studies of the papers, laid out on the units at hand
    trials       which units are base and test, scores on them, and which bin a difference falls into, exactly
    counting     comparisons, swaps and ties by bin over all trials, on threads where it pays
    compiled/    the same for large jobs
    closed_form  the rates from means and variances alone, and the truths that the runs could have
    expectation  the same with ties and for units dealt from few, for intervals
    resampling   intervals
    prediction   the closed form read at any size: rates, sizes needed, repeatable gaps
    curves       the result: the exponential through the rates of a bin, and the questions it answers
    reading      minimum differences, and what follows from one
    presenting   the answer in plain words, and tables

Here: the analysis itself, and what a reader has to know before believing the curves.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import get_args

import numpy as np

from qassay.arrays import TIE, Floats
from qassay.errors import UsageError, unknown
from qassay.matrix import ScoreMatrix
from qassay.meta.sensitivity.closed_form import PairMoments, pair_moments
from qassay.meta.sensitivity.counting import Counts, Path, Progress, Study, Ties, count
from qassay.meta.sensitivity.curves import FEWEST_FITTED, TOO_FEW_RUNS, SensitivityCurves, checked_error
from qassay.meta.sensitivity.prediction import Prediction, predict, separation
from qassay.meta.sensitivity.presenting import why_withheld
from qassay.meta.sensitivity.presets import PRESETS, find_preset, schedule
from qassay.meta.sensitivity.reading import Both
from qassay.meta.sensitivity.resampling import interval_notes, rate_intervals, unit_step
from qassay.meta.sensitivity.trials import (
    BINS,
    WIDTH,
    bin_limits,
    checked_width,
    prepare,
    rounded_up,
    width_for,
)
from qassay.tables import counted, plural

__all__ = [
    "PRESETS",
    "Both",
    "Prediction",
    "SensitivityCurves",
    "find_preset",
    "predict",
    "rests_on",
    "sensitivity",
    "why_not_fitted",
    "why_withheld",
    "width_for",
]

# Below this many pairs, say so.
FEW_PAIRS = 15

# From this share of the comparisons in the open bin on, bins are too narrow. Scores within [0, 1] have the bins of the
# papers, where much of what is seen may well be larger than what has to be told apart.
MOST = 0.5
MOST_WITHIN_ONE = 0.9

WIDER = "Most differences fall into the open bin: choose wider bins, such as {} (--bin-width)."

# What the rule for ties says of a bin that has ties alone.
ONLY_TIES: dict[Ties, str] = {"stay": "a tie is not a swap", "half": "a tie counts half a swap", "exclude": ""}

# Reasons of the curves, in words of one difference.
REASONS = {
    "first bin": "so small a difference has no curve",
    "open bin": "so large a difference has no curve",
    "fewer than three points": "runs differ by so much at too few of the sizes measured",
    "no swap at any size": "no comparison with such a difference misled",
    TOO_FEW_RUNS: f"a curve takes {FEWEST_FITTED} runs or more",
    "A1 or A2 not positive and finite": "no falling curve fits the rates measured",
}


def sensitivity(
    matrix: ScoreMatrix,
    *,
    preset: str = "default",
    sizes: Sequence[int] | None = None,
    trials: int | None = None,
    error: float = 0.05,
    bin_width: float | str | Decimal | None = None,
    intervals: int = 100,
    ties: Ties = "stay",
    fit: bool | None = None,
    seed: int = 0,
    floor: float | None = None,
    different: int | None = None,
    progress: Progress | None = None,
    path: Path = "auto",
    threads: int | None = None,
) -> SensitivityCurves:
    """Measure how often two runs compare one way on one set of units and the other way on another.

    For each size S, in each trial: draw 2S units without replacement, deal them into base and test, score every run
    on both; for every pair of runs, the base difference chooses the bin, and d_base * d_test < 0 is a swap. The error
    rate of a bin is swaps / comparisons. `sizes` and `trials` replace the preset's; `intervals` is the number of
    bootstrap resamples of the units (0: no intervals). `bin_width` is 0.01 for scores within 0 to 1, else a hundredth
    of their scale, unless given. `fit` asks for the exponential of the papers; by default it is fitted from 20 runs
    up, and where a preset other than "default" repeats one of their studies. `floor` is the largest difference between
    identical responses judged separately, `different` the number of pairs that differ, if it is known. `path` and
    `threads` choose how to compute; they never change a result.
    """
    if ties not in get_args(Ties):
        raise unknown("ties", ties, get_args(Ties))
    if intervals < 0:
        raise UsageError(f"intervals is a number of resamples from 0 up, not {intervals}")
    plan = schedule(find_preset(preset), len(matrix.units), sizes=sizes, trials=trials, name=matrix.unit_name)
    width, level = width_for(matrix) if bin_width is None else checked_width(bin_width), checked_error(error)
    study = Study(prepare(matrix, width), plan.sizes, plan.trials, seed, with_ties=ties != "stay")
    first, then = _two_parts(progress, study.all_trials, intervals * len(plan.sizes))
    counts = count(study, path=path, threads=threads, progress=first)
    moments, wider = pair_moments(matrix), wider_bins(matrix, counts, width)
    limits = None
    if intervals:
        limits = rate_intervals(study, counts, ties, resamples=intervals, path=path, threads=threads, progress=then)
    return SensitivityCurves(
        schedule=plan,
        measure=matrix.measure,
        units=len(matrix.units),
        runs=matrix.runs,
        scores=matrix.scores(),
        seed=seed,
        ties=ties,
        error=level,
        width=width,
        counts=counts,
        intervals=limits,
        moments=moments,
        separation=separation(matrix, moments, different, seed),
        resamples=intervals,
        floor=floor,
        spread=_largest_spread(matrix),
        wider=wider,
        notes=(
            *matrix.notes,
            *notes_on_repeats(matrix),
            *notes_on_runs(matrix, moments),
            *([] if wider is None or matrix.pairs < 2 else [WIDER.format(wider)]),
        ),
        study_notes=(
            *notes_on_bins(study, counts, ties),
            *interval_notes(study, counts, ties, limits, resamples=intervals),
            *notes_on_extended(study, counts, ties, limits),
        ),
        unit_name=matrix.unit_name,
        with_fits=len(matrix.runs) >= FEWEST_FITTED or preset != "default" if fit is None else fit,
        manual=matrix.manual,
        direction=matrix.direction,
    )


def _two_parts(progress: Progress | None, trials: int, closed_forms: int) -> tuple[Progress | None, Progress | None]:
    """One count of progress for both parts of the work: the trials, and the closed forms behind the intervals."""
    if progress is None:
        return None, None
    total = trials + closed_forms
    return (
        lambda done, _: progress(done, total),
        lambda done, of: progress(trials + done * closed_forms // of, total),
    )


def rests_on(pairs: int) -> list[str]:
    """A warning where there are few pairs of runs."""
    if not 0 < pairs < FEW_PAIRS:
        return []
    return [f"The error rates rest on {plural(pairs, 'pair')} of runs only."]


def why_not_fitted(curves: SensitivityCurves, difference: float) -> str | None:
    """Why the bin of a difference has no fitted curve; None where it has one."""
    fit = curves.fits[curves.bin_of(difference)]
    return REASONS.get(fit, fit) if isinstance(fit, str) else None


def wider_bins(matrix: ScoreMatrix, counts: Counts, width: Decimal) -> Decimal | None:
    """A width that suits the scores better, where most comparisons of the largest sets fall into the open bin."""
    last, suiting = counts.comparisons[-1], width_for(matrix)
    most = MOST if suiting > WIDTH else MOST_WITHIN_ONE
    return max(suiting, rounded_up(2 * float(width))) if last[BINS - 1] > most * last.sum() else None


def _largest_spread(matrix: ScoreMatrix) -> float | None:
    """The largest standard deviation of a run's score between its repeats; None where no run has any."""
    spreads = () if matrix.repeats is None else matrix.repeats.spread()
    return max((spread for spread in spreads if spread is not None), default=None)


def notes_on_repeats(matrix: ScoreMatrix) -> list[str]:
    """How far scores move when a system runs again: a floor beside the repeatable gap."""
    return [] if matrix.repeats is None else [matrix.repeats.note(matrix.runs)]


def notes_on_runs(matrix: ScoreMatrix, moments: PairMoments) -> list[str]:
    """Few runs, and runs that are alike."""
    if len(matrix.runs) < 2:
        return ["An error rate needs two runs or more."]
    notes = rests_on(matrix.pairs) if matrix.pairs > 1 else []
    alike = int(np.count_nonzero((moments.variances == 0.0) & (moments.means == 0.0)))
    if alike == matrix.pairs:
        notes.append(f"All runs have the same scores on every {matrix.unit_name[0]}: there is nothing to tell apart.")
    elif alike:
        pairs = "pair of runs has" if alike == 1 else "pairs of runs have"
        notes.append(f"{alike} {pairs} equal scores on every {matrix.unit_name[0]}.")
    return notes


def notes_on_bins(study: Study, counts: Counts, ties: Ties) -> list[str]:
    """A first bin that contains ties alone: it is too narrow for the scores."""
    notes = []
    step, width = unit_step(study.prepared.matrix), float(study.prepared.width)
    # Means of S scores differ by steps of step/S: where that is a bin or more, the first bin has equal means alone.
    seen = counts.denominators(ties)[:, 0] > 0
    tied = [size for size, some in zip(study.sizes, seen, strict=True) if some and step / size > width - TIE]
    if tied and ONLY_TIES[ties]:
        notes.append(
            f"Up to {counted(tied[-1], study.prepared.matrix.unit_name)} all differences below {study.prepared.width} "
            "are ties: scores move in steps; "
            f"{ONLY_TIES[ties]} (--ties {ties}), so that the rate there is the rule's and nothing measured."
        )
    return notes


def notes_on_extended(study: Study, counts: Counts, ties: Ties, intervals: Floats | None) -> list[str]:
    """Intervals of the largest sets that end at the measured rate: they would not contain it on their own."""
    if intervals is None:
        return []
    rates, (low, high) = counts.rates(ties)[-1], intervals[-1].T
    # At 0 and at 1 there is nowhere further to go, and a rate that follows from the rule for ties is not an estimate.
    extended = (low < high) & (((low == rates) & (rates > 0.0)) | ((high == rates) & (rates < 1.0)))
    if not extended.any():
        return []
    limits = bin_limits(study.prepared.width)
    lows = ", ".join(str(limit) for limit, is_extended in zip(limits, extended, strict=True) if is_extended)
    name = study.prepared.matrix.unit_name[1]
    return [
        f"The interval ends at the rate itself in the bins from {lows}: on these {name} the rate is off in a known "
        "direction, and the interval is extended to contain it."
    ]
