"""The sources that an analysis takes: an opened evaluation, or scores in any form. The latter load no evaluations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack, cast

from qassay.display import enumerated
from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.formats.scores import ScoreTables
    from qassay.formats.tables.memory import ArrowTable
    from qassay.options import Scoring
    from qassay.scoring import Scores

# What every analysis of scores takes, beside an evaluation: scores, a score matrix, or what `qassay.scores` reads (a
# path, a data frame, an Arrow table, a dictionary). Modules are loaded where a function needs them.
ScoresLike: TypeAlias = "Scores | ScoreMatrix | ScoreTables | str | Path | Mapping[str, Any] | ArrowTable"

Progress: TypeAlias = Callable[[int, int], None]


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
