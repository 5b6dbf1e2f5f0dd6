"""Sensitivity: how often does a comparison of two runs mislead? [EVAL02, QA03, SERIES05]

The modules in the order of the work:

    presets      the studies of the papers, laid out on the units at hand
    sampling     chance: which units are base and test in a trial
    scale        which bin a difference falls into, exactly
    subsets      scores of all runs on base and test
    counting     comparisons, swaps and ties by bin, in array code
    compiled/    the same for large jobs
    study        runs all trials, on threads where it pays
    fitting      the exponential through the rates of a bin
    closed_form/ the rates from means and variances alone, beside it
    resampling   intervals
    remarks      what a reader has to know before believing the curves
    findings     groups, rank ranges, share of pairs
    bins         the curve of one bin
    display      tables for people
    curves       the result, and the questions it answers
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import get_args

from qassay.errors import UsageError, unknown
from qassay.matrix import ScoreMatrix
from qassay.meta.sensitivity.bins import BinCurve
from qassay.meta.sensitivity.closed_form.predictor import pair_moments
from qassay.meta.sensitivity.counting import Counts, Ties
from qassay.meta.sensitivity.curves import SensitivityCurves, checked_error
from qassay.meta.sensitivity.findings import Both, Findings, RankRange
from qassay.meta.sensitivity.fitting import Fit
from qassay.meta.sensitivity.presets import PRESETS, Preset, Schedule, find_preset, schedule
from qassay.meta.sensitivity.remarks import (
    notes_on_bins,
    notes_on_extended,
    notes_on_runs,
    rests_on,
    why_not_fitted,
    wider_bins,
)
from qassay.meta.sensitivity.resampling import interval_notes, rate_intervals
from qassay.meta.sensitivity.scale import checked_width, prepare, width_for
from qassay.meta.sensitivity.study import Path, Progress, Study, count

__all__ = [
    "PRESETS",
    "BinCurve",
    "Both",
    "Counts",
    "Findings",
    "Fit",
    "Preset",
    "RankRange",
    "Schedule",
    "SensitivityCurves",
    "find_preset",
    "rests_on",
    "sensitivity",
    "why_not_fitted",
    "width_for",
]


def sensitivity(
    matrix: ScoreMatrix,
    *,
    preset: str = "default",
    sizes: Sequence[int] | None = None,
    trials: int | None = None,
    error: float = 0.05,
    bin_width: float | str | Decimal = 0.01,
    intervals: int = 100,
    ties: Ties = "stay",
    seed: int = 0,
    floor: float | None = None,
    progress: Progress | None = None,
    path: Path = "auto",
    threads: int | None = None,
) -> SensitivityCurves:
    """Measure how often two runs compare one way on one set of units and the other way on another.

    For each size S, in each trial: draw 2S units without replacement, deal them into base and test, score every run
    on both; for every pair of runs, the base difference chooses the bin, and d_base * d_test < 0 is a swap. The error
    rate of a bin is swaps / comparisons. `sizes` and `trials` replace the preset's; `intervals` is the number of
    bootstrap resamples of the units (0: no intervals). `floor` is the largest difference between identical responses
    judged separately. `path` and `threads` choose how to compute; they never change a result.
    """
    if ties not in get_args(Ties):
        raise unknown("ties", ties, get_args(Ties))
    if intervals < 0:
        raise UsageError(f"intervals is a number of resamples from 0 up, not {intervals}")
    plan = schedule(find_preset(preset), len(matrix.units), sizes=sizes, trials=trials)
    width, level = checked_width(bin_width), checked_error(error)
    study = Study(prepare(matrix, width), plan.sizes, plan.trials, seed, with_ties=ties != "stay")
    first, then = _two_parts(progress, study.all_trials, intervals * len(plan.sizes))
    counts = Counts(count(study, path=path, threads=threads, progress=first))
    moments, wider = pair_moments(matrix), wider_bins(matrix, counts, width)
    found = (
        rate_intervals(study, counts, ties, resamples=intervals, path=path, threads=threads, progress=then)
        if intervals
        else None
    )
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
        intervals=found,
        moments=moments,
        resamples=intervals,
        floor=floor,
        wider=wider,
        notes=(
            *matrix.notes,
            *notes_on_runs(matrix, moments),
            *notes_on_bins(study, counts, ties, wider),
            *interval_notes(study, counts, ties, found, resamples=intervals),
            *notes_on_extended(study, counts, ties, found),
        ),
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
