"""The analyses as people call them: on an opened evaluation, on its scores, or on a score matrix from elsewhere.

The work is done by the pure functions of `qassay.meta`; here they get what they need from the evaluation. Each gives
a record that shows itself in a notebook, and has `tables()`, `as_json()`, `to_polars()` and `to_pandas()`.

    plans          how many questions a difference needs  judged_answers responses with their verdicts, run by run
    agreements     how far judgment sets agree            by_person      who is out of line
    rankings       rankings under other judgments         trusting       a program's judgments beside people's
    sampling       what people judge to correct a program pace           when judgments were given
    reporting      all of them in one document

Functions that also take scores from elsewhere are here: such scores load no module of evaluations.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack, cast

from qassay.display import enumerated
from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix

# A table of scores from elsewhere needs none of these: they load when an evaluation is analysed.
if TYPE_CHECKING:
    from qassay.analysis.agreements import AgreementStudy
    from qassay.analysis.by_person import PeopleStudy
    from qassay.evaluation import Evaluation
    from qassay.formats.frames import ArrowTable
    from qassay.formats.scores import ScoreTables
    from qassay.meta.sensitivity import SensitivityCurves
    from qassay.meta.sensitivity.counting import Ties
    from qassay.meta.stability import Stability
    from qassay.options import Scoring
    from qassay.scoring import Missing, Scores, Unjudged

# What every analysis of scores takes, beside an evaluation: scores, a score matrix, or what `qassay.scores` reads (a
# path, a data frame, an Arrow table, a dictionary). Modules are loaded where a function needs them.
ScoresLike: TypeAlias = "Scores | ScoreMatrix | ScoreTables | str | Path | Mapping[str, Any] | ArrowTable"

Progress: TypeAlias = Callable[[int, int], None]


def sensitivity(
    scores: ScoresLike | Evaluation,
    *,
    preset: str = "default",
    sizes: Sequence[int] | None = None,
    trials: int | None = None,
    error: float = 0.05,
    bin_width: float | str | Decimal | None = None,
    intervals: int = 100,
    ties: Ties = "stay",
    fit: bool | None = None,
    floor: float | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    lower_is_better: Collection[str] = (),
) -> SensitivityCurves:
    """Which gaps between runs are repeatable, and how often is a comparison wrong?

    The answer is expected from the spread of the differences: with as many new units, a gap of
    `repeatable_difference` or more keeps its sign in 95 of 100 repetitions (`error` 0.05). Beside it: the study of the
    TREC papers: two disjoint sets of units are drawn again and again; a comparison is wrong where the sets prefer
    different runs. `preset` repeats one of their studies, `sizes` and `trials` replace its own, `fit` asks for their
    curves (None: from 20 runs up, or with a preset). `bin_width` is the width of a range of differences (None: 0.01, or
    1/100 of the scale of scores outside 0 to 1), `intervals` the number of bootstrap resamples (0: no intervals). A tie
    is not a swap ("stay"), counts half a swap ("half"), or is left out ("exclude"). `floor` is the largest difference
    between identical responses that were judged separately; from an evaluation it is measured.

    >>> import qassay
    >>> scores = qassay.open(qassay.demo_folder()).score()
    >>> qassay.sensitivity(scores, intervals=0)
    SensitivityCurves: with 16 new series, a gap of 0.07 or more keeps its sign in 95 of 100 repetitions
    """
    from qassay.meta.sensitivity import find_preset
    from qassay.meta.sensitivity import sensitivity as study

    evaluation = as_evaluation(scores)
    if evaluation is not None:
        from qassay.analysis.rankings import noise_floor

        component = find_preset(preset).component
        floor = noise_floor(evaluation, None, component) if floor is None else floor
        scores = evaluation.score(component=component)
    return study(
        as_matrix(scores, lower_is_better=lower_is_better),
        preset=preset,
        sizes=sizes,
        trials=trials,
        error=error,
        bin_width=bin_width,
        intervals=intervals,
        ties=ties,
        fit=fit,
        seed=seed,
        floor=floor,
        progress=progress,
    )


def agreement(
    evaluation: Evaluation,
    *,
    sets: Sequence[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> AgreementStudy:
    """How far do the assessors agree? One result per kind of judgment, labels of items or pairs first.

    Without `sets` all assessors' own sets are compared, and two-way keys of entailment. `resamples` bootstrap resamples
    give the intervals (0: none).

    >>> import qassay
    >>> study = qassay.agreement(qassay.open(qassay.demo_folder()), sets=["first", "second"], resamples=0)
    >>> study[0]
    Agreement: the sets first and second agree on 92.8% of 1,135 items
    """
    from qassay.analysis.agreements import agreement_study

    return agreement_study(
        need_evaluation(evaluation, "agreement"), sets, resamples=resamples, seed=seed, progress=progress
    )


def people(
    evaluation: Evaluation, *, sets: Sequence[str] | None = None, resamples: int = 1000, seed: int = 0
) -> PeopleStudy:
    """Which assessor is out of line, and on what? Everyone is compared with the others on the same items.

    Takes all judgments that name their assessor, from the assessors' sets or from those named in `sets`. One result
    per kind of judgment, labels of items or pairs first.
    """
    from qassay.analysis.by_person import people_study

    return people_study(need_evaluation(evaluation, "people"), sets, resamples=resamples, seed=seed)


def stability(
    scores: Evaluation | Mapping[str, ScoresLike],
    *,
    sets: Sequence[str] | None = None,
    measures: Sequence[str] = (),
    reference: str | None = None,
    component: str | None = None,
    unjudged: Unjudged = "stop",
    missing: Missing = "stop",
    progress: Progress | None = None,
    lower_is_better: Collection[str] = (),
) -> Stability:
    """Would the ranking be the same under other judgments?

    An evaluation is scored under each of its judgment sets, or under those named in `sets`. A mapping names the scores
    of the same runs from different judges, such as `{"people": ..., "model": ...}`. Swaps and changes are measured
    from `reference`: by default the settled judgments, or the first entry of a mapping.

    >>> import qassay
    >>> evaluation = qassay.open(qassay.demo_folder())
    >>> qassay.stability(evaluation, sets=["adjudicated", "first"])  # doctest: +NORMALIZE_WHITESPACE
    Stability: compared with adjudicated, first reverses 1 of 45 pairs of runs;
    the largest difference that is reversed is 0.041
    """
    evaluation = as_evaluation(scores)
    if evaluation is not None:
        from qassay.analysis.rankings import compare_sets

        return compare_sets(
            evaluation,
            sets,
            measures=measures,
            reference=reference,
            component=component,
            unjudged=unjudged,
            missing=missing,
            progress=progress,
        )
    refuse_options(sets=sets, measures=measures, component=component, unjudged=unjudged, missing=missing)
    from qassay.meta.stability import stability as compare_rankings

    if not isinstance(scores, Mapping) or len(scores) < 2:
        raise UsageError("stability compares the scores of two judges or more, {name: scores, ...}, or an evaluation")
    matrices = {name: as_matrix(source, lower_is_better=lower_is_better) for name, source in scores.items()}
    first = next(iter(matrices))
    return compare_rankings({matrices[first].measure: matrices}, reference=reference or first, progress=progress)


def as_matrix(
    scores: ScoresLike | Evaluation,
    *,
    lower_is_better: Collection[str] = (),
    runs: tuple[str, str] | None = None,
    **how: Unpack[Scoring],
) -> ScoreMatrix:
    """The score matrix behind scores in any form: an evaluation, its scores, a matrix, what `qassay.scores` reads.

    `how` says how an evaluation is scored. With `runs` nothing else is read or scored than these.
    """
    evaluation = as_evaluation(scores)
    if evaluation is None and runs is not None and hasattr(scores, "matrix_of"):
        refuse_options(**how)
        return cast("Scores", scores).matrix_of(runs)
    # A matrix, or the scores of an evaluation or of tables.
    matrix = scores if isinstance(scores, ScoreMatrix) else getattr(scores, "matrix", None)
    if isinstance(matrix, ScoreMatrix):
        refuse_options(**how)
        if not lower_is_better:
            return matrix
        scores = matrix
    evaluation = as_evaluation(scores)
    if evaluation is None and isinstance(scores, (str, Path)) and Path(scores).is_dir():
        from qassay.evaluation import open_evaluation

        evaluation = open_evaluation(Path(scores))
    if evaluation is not None:
        if lower_is_better:
            raise UsageError("lower_is_better is for scores; the measures of an evaluation have their direction")
        return evaluation.score(**how).matrix if runs is None else evaluation.matrix_of(runs, **how)
    from qassay.formats.scores import read_scores

    refuse_options(**how)
    return read_scores(scores, systems=runs, lower_is_better=lower_is_better).matrix


def need_evaluation(source: object, function: str, instead: str = "") -> Evaluation:
    """The evaluation that a function takes; an error that says so for anything else."""
    evaluation = as_evaluation(source)
    if evaluation is None:
        message = f"{function} takes an evaluation, as qassay.open(folder) gives one, not a {type(source).__name__}"
        raise UsageError(". ".join(filter(None, (message, instead))))
    return evaluation


def refuse_options(**options: object) -> None:
    """Stop at options of an evaluation that come with scores; None, "stop" and empty ones were not chosen."""
    if any(value and value != "stop" for value in options.values()):
        raise UsageError(
            f"{enumerated(options)} {'is' if len(options) == 1 else 'are'} for an evaluation, not for scores"
        )


def only_pair(matrix: ScoreMatrix) -> tuple[str, str] | None:
    """The only two runs in the order of a leaderboard; None where there are more or fewer."""
    from qassay.meta.ranking import rank_runs

    if len(matrix.runs) != 2:
        return None
    first, second = rank_runs(matrix.runs, matrix.scores(), matrix.direction).runs
    return first, second


def as_evaluation(source: object) -> Evaluation | None:
    """The source, where it is an opened evaluation. Such a source has its module loaded; others should not load it."""
    module = sys.modules.get("qassay.evaluation")
    is_evaluation = module is not None and isinstance(source, module.Evaluation)
    return cast("Evaluation", source) if is_evaluation else None
