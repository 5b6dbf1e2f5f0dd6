"""Which of many runs differ? All pairs at once, corrected for their number, under one named method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import Floats
from qassay.errors import Remedy, UsageError
from qassay.matrix import ScoreMatrix
from qassay.meta.blocks import Blocks, blocks
from qassay.meta.ranking import rank_runs
from qassay.meta.significance.all_pairs import AllPairs
from qassay.meta.significance.methods import Decision, Method, PairTest, PairTests, Progress
from qassay.meta.significance.pair import PairComparison
from qassay.meta.significance.single_pairs import flips_for, holm
from qassay.meta.significance.two_runs import NOT_RUN_AGAIN, compare
from qassay.tables import counted

# Pairs grow with the square: more runs than these take hours and fill memory.
MOST_RUNS = 5_000


def compare_all(
    matrix: ScoreMatrix,
    *,
    method: Method | None = None,
    alpha: float = 0.05,
    permutations: int | None = None,
    test: PairTest = "randomisation",
    seed: int = 0,
    progress: Progress | None = None,
) -> AllPairs:
    """Compare all pairs of runs, corrected for their number; of two runs alone, `compare` is the answer.

    `max-t`, the default, flips the signs of all differences together, whole units or series, and takes the largest
    standardised difference of each flip as the line for every pair (`families`). `randomised-tukey` exchanges the runs
    within each unit at random and takes the range of all runs (Carterette 2012); `tukey` takes it from the studentized
    range distribution on the residual of runs and units. `holm` and `bh` correct the p-values of single pairs, by sign
    flips or, with `test="t"`, by the paired t test; they draw as many flips as the correction needs to reach its level.
    Adjusted p, interval, letters, groups and ranks come from one decision for each pair: adjusted p <= alpha. With
    repeats `max-t`, `holm` and `bh` take running the systems again into account.
    """
    tests = PairTests(method or "max-t", alpha, permutations, test, seed, progress)
    return _compared([matrix], tests)[0]


def compare_metrics(
    matrices: Sequence[ScoreMatrix],
    *,
    method: Method | None = None,
    alpha: float = 0.05,
    permutations: int | None = None,
    test: PairTest = "randomisation",
    seed: int = 0,
    progress: Progress | None = None,
) -> list[AllPairs]:
    """All pairs under several metrics, corrected for the pairs of all of them together.

    Metrics over the same units share their flips (`max-t`); p-values of others, and of two runs, are corrected by Holm.
    """
    one_family = has_same_blocks(matrices) and any(len(matrix.runs) > 2 for matrix in matrices)
    method = method or ("max-t" if one_family else "holm")
    if method not in ("max-t", "holm"):
        raise UsageError("all metrics together are corrected by the methods max-t and holm")
    if method == "max-t" and not has_same_blocks(matrices):
        raise UsageError("the metrics are on different questions: the method holm corrects them together")
    if method == "holm":
        permutations = permutations or flips_for(sum(matrix.pairs for matrix in matrices), alpha)
    tests = PairTests(method, alpha, permutations, test, seed, progress)
    if method == "holm":
        return holm_over([_compared([matrix], tests)[0] for matrix in matrices])
    pairs = sum(matrix.pairs for matrix in matrices)
    return [replace(result, metrics=len(matrices), corrected_pairs=pairs) for result in _compared(matrices, tests)]


def has_same_blocks(matrices: Sequence[ScoreMatrix]) -> bool:
    """Whether all are about the same units, in the same series."""
    return len({(matrix.units, matrix.clusters) for matrix in matrices}) == 1


def _compared(matrices: Sequence[ScoreMatrix], tests: PairTests) -> list[AllPairs]:
    """The results of one correction over all of these."""
    for matrix in matrices:
        if len(matrix.runs) > MOST_RUNS:
            raise UsageError(
                f"{len(matrix.runs):,} runs make {matrix.pairs:,} pairs, too many to compare",
                Remedy("systems", ("A", "B", "..."), "To choose some of them"),
                Remedy("runs_as_rows", True, "if each row of the table is a system"),
            )
    rankings = [rank_runs(matrix.runs, matrix.scores(), matrix.direction) for matrix in matrices]
    if len(matrices) == 1 and len(matrices[0].runs) == 2 and tests.method != "tukey" and tests.test == "randomisation":
        ((first, second),) = (ranking.runs for ranking in rankings)
        alone = compare(matrices[0], first, second, alpha=tests.alpha, permutations=tests.permutations, seed=tests.seed)
        return [of_pair(alone, tests.method)]
    ordered = [matrix.select(ranking.runs) for matrix, ranking in zip(matrices, rankings, strict=True)]
    parts = [blocks(matrix) for matrix in ordered]
    decisions = tests.decide(parts, [matrix.repeats for matrix in ordered])
    return [_decided(*one, tests) for one in zip(matrices, ordered, parts, decisions, strict=True)]


def _decided(
    matrix: ScoreMatrix, ordered: ScoreMatrix, parts: Blocks, decision: Decision, tests: PairTests
) -> AllPairs:
    totals = parts.parts.sum(axis=1)
    notes = (*decision.notes, *kind_notes(matrix, parts), *repeat_notes(matrix, tests.method))
    return AllPairs(
        runs=ordered.runs,
        scores=tuple(ordered.scores().tolist()),
        units=len(matrix.units),
        measure=matrix.measure,
        method=tests.method,
        alpha=tests.alpha,
        permutations=decision.permutations,
        exact=decision.exact,
        margin=decision.margin,
        differences=(totals[:, None] - totals[None, :]) / parts.scale,
        p=decision.p,
        p_adjusted=decision.adjusted,
        is_different=decision.different,
        limits=decision.limits,
        near_line=decision.near,
        notes=(*matrix.notes, *notes),
        repeats={} if ordered.repeats is None else ordered.repeats.as_json(ordered.runs),
        unit_name=matrix.unit_name,
        manual=matrix.manual.intersection(matrix.runs),
        direction=matrix.direction,
    )


def of_pair(result: PairComparison, method: Method = "max-t") -> AllPairs:
    """The comparison of two runs in the form of all pairs."""
    ranking = rank_runs((result.a, result.b), [result.score_a, result.score_b], result.direction)
    upper = np.array([[0.0, result.difference], [-result.difference, 0.0]])
    limits = result.interval
    if limits is not None and result.a != ranking.runs[0]:
        limits = (-limits[1], -limits[0])
    apart = ~np.eye(2, dtype=np.bool_)
    different = apart & (result.verdict != "cannot tell")
    return AllPairs(
        runs=ranking.runs,
        scores=tuple(row.score for row in ranking.rows),
        units=result.units,
        measure=result.measure,
        method=method,
        alpha=result.alpha,
        permutations=result.permutations,
        exact=result.exact,
        margin=None,
        differences=upper if ranking.runs[0] == result.a else upper.T,
        p=np.where(apart, result.p_of_one_look, 1.0),
        p_adjusted=np.where(apart, result.p_of_one_look if result.p_adjusted is None else result.p_adjusted, 1.0),
        is_different=different,
        limits=None if limits is None else (np.array(limits[:1]), np.array(limits[1:])),
        notes=(*result.notes, *(result.remarks if result.interval is None else ())),
        repeats=result.repeats,
        unit_name=result.unit_name,
        manual=result.manual,
        direction=result.direction,
        pair=result,
    )


def holm_over(results: Sequence[AllPairs]) -> list[AllPairs]:
    """The same comparisons under several metrics, corrected over all pairs of all of them together."""
    upper = [np.triu_indices(len(result.runs), 1) for result in results]
    p = [np.nan_to_num(result.p[where], nan=1.0) for result, where in zip(results, upper, strict=True)]
    together = holm(np.concatenate(p))
    adjusted = np.split(together, np.cumsum([len(part) for part in p])[:-1])
    corrected = [_adjusted(*parts) for parts in zip(results, upper, adjusted, strict=True)]
    return [replace(result, metrics=len(results), corrected_pairs=len(together)) for result in corrected]


def _adjusted(result: AllPairs, upper: tuple[NDArray[np.intp], ...], p: Floats) -> AllPairs:
    """The result with these adjusted p-values, and what follows from them."""
    count = len(result.runs)
    adjusted = np.ones((count, count))
    adjusted[upper] = p
    adjusted = np.minimum(adjusted, adjusted.T)
    # An interval of a single pair would contradict a verdict that is corrected for others.
    return replace(result, p_adjusted=adjusted, is_different=adjusted <= result.alpha, limits=None, pair=None)


def repeat_notes(matrix: ScoreMatrix, method: Method) -> list[str]:
    """Whether running the systems again is part of the answer."""
    if matrix.repeats is None:
        return [NOT_RUN_AGAIN] if matrix.read else []
    if method in ("max-t", "holm", "bh"):
        return []
    return ["This method is about questions alone. The methods max-t and holm include running the systems again."]


def kind_notes(matrix: ScoreMatrix, parts: Blocks) -> list[str]:
    """What the differences are made of, where they are not those of single questions."""
    notes = []
    if matrix.clusters is not None:
        inside = counted(len(matrix.units), matrix.unit_name)
        notes.append(f"Whole series are exchanged: {parts.count} of them contain {inside}.")
    if matrix.summary.order is not None:
        notes.append("The part of a question in a confidence-weighted score: right or wrong, and how early.")
    return notes
