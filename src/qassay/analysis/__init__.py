"""The analyses as people call them: on an opened evaluation, on its scores, or on a score matrix from elsewhere.

The work is done by the pure functions of `qassay.meta`; here they get what they need from the evaluation. Each gives
a record that shows itself in a notebook, and has `tables()`, `as_json()`, `to_polars()` and `to_pandas()`.

    leaderboards   the runs with intervals and groups     judged_answers responses with their verdicts, run by run
    rankings       noise of identical responses

Functions that also take scores from elsewhere are here: such scores load no module of evaluations.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast, overload

from qassay.display import enumerated
from qassay.errors import UsageError, few
from qassay.matrix import ScoreMatrix

# A table of scores from elsewhere needs none of these: they load when an evaluation is analysed.
if TYPE_CHECKING:
    from qassay.analysis.leaderboards import Leaderboard
    from qassay.evaluation import Evaluation
    from qassay.formats.scores import ScoreTables
    from qassay.formats.tables.memory import ArrowTable
    from qassay.meta.correction import CorrectedPair, CorrectedPairs
    from qassay.meta.correction.estimates import Target
    from qassay.meta.significance import AllPairs, Method, PairComparison
    from qassay.meta.significance.methods import PairTest
    from qassay.scoring import Scores

# What every analysis of scores takes, beside an evaluation: scores, a score matrix, or what `qassay.scores` reads (a
# path, a data frame, an Arrow table, a dictionary). Modules are loaded where a function needs them.
ScoresLike: TypeAlias = "Scores | ScoreMatrix | ScoreTables | str | Path | Mapping[str, Any] | ArrowTable"

Progress: TypeAlias = Callable[[int, int], None]


def leaderboard(scores: Scores | Evaluation, *, level: float = 0.95, seed: int = 0) -> Leaderboard:
    """The runs by score, each with an interval and with letters: runs that share a letter are not shown to differ.

    >>> import qassay
    >>> board = qassay.leaderboard(qassay.open(qassay.demo_folder()))
    >>> board.letters["hobby"], board.letters["kite"], board.letters["ibis"]
    ('a', 'ab', 'c')
    """
    from qassay.analysis.leaderboards import Leaderboard
    from qassay.meta.intervals import score_intervals
    from qassay.meta.significance import compare_all as all_pairs
    from qassay.scoring import Scores

    scored = scores
    if not isinstance(scored, Scores):
        instead = "For scores from elsewhere: qassay.compare_all(scores)"
        scored = need_evaluation(scores, "leaderboard", instead).score()
    intervals = score_intervals(scored.matrix, level=level, seed=seed)
    return Leaderboard(scored, intervals, all_pairs(scored.matrix, alpha=1 - level, seed=seed))


@overload
def compare(
    scores: ScoresLike | Evaluation,
    a: str | None = None,
    b: str | None = None,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    permutations: int | None = None,
    top: int = 10,
    seed: int = 0,
    key: str | None = None,
    lower_is_better: Collection[str] = (),
    correct_with: None = None,
) -> PairComparison: ...


@overload
def compare(
    scores: Evaluation,
    a: str,
    b: str,
    *,
    key: str,
    correct_with: str,
    target: Target = "new",
    sample: str | Path | None = None,
) -> CorrectedPair: ...


def compare(
    scores: ScoresLike | Evaluation,
    a: str | None = None,
    b: str | None = None,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    permutations: int | None = None,
    top: int = 10,
    seed: int = 0,
    key: str | None = None,
    lower_is_better: Collection[str] = (),
    correct_with: str | None = None,
    target: Target = "new",
    sample: str | Path | None = None,
) -> PairComparison | CorrectedPair:
    """Is run `a` better than run `b`? The verdict is "better", "worse" or "cannot tell".

    Where there are only two runs, their names may be left out: `a` is then the one with the better score.

    The verdict follows from the paired randomisation test at level `alpha`, with `permutations` random sign flips
    (None: enough); the interval contains the differences that this test does not reject. Beside it: the chance that
    as many new units would reverse the difference, the units that a test with this `power` needs, the paired t test,
    and the `top` units that make the difference.

    `lower_is_better` names the metrics of a table, or "all", whose lower scores are better. `key` names the judgments
    that an evaluation is scored with. `correct_with` compares the scores of an automatic assessor (`key`) after
    correction by these labels of people, on the `sample` they judged; the interval is about the
    `target`, "new" questions or "these".

    >>> import qassay
    >>> scores = qassay.open(qassay.demo_folder()).score()
    >>> qassay.compare(scores, "hobby", "ibis")
    PairComparison: hobby is better than ibis on these 16 series: chance alone does not explain the difference
    >>> qassay.compare(scores, "badger", "crane").verdict
    'cannot tell'
    """
    from qassay.meta.significance import compare as two_runs
    from qassay.meta.significance import refuse_itself

    if correct_with is not None:
        evaluation = _corrected_evaluation(scores)
        if a is None or b is None:
            raise UsageError("correct_with compares two runs: name both")
        correction = evaluation.correction(key, correct_with, pair=(a, b), target=target, sample=sample)
        return correction.pair(a, b)
    pair = None
    if a is not None and b is not None:
        refuse_itself(a, b)
        pair = a, b
    matrix = as_matrix(scores, key=key, lower_is_better=lower_is_better, runs=pair)
    a, b = _pair(matrix, a, b)
    return two_runs(matrix, a, b, alpha=alpha, power=power, permutations=permutations, seed=seed, top=top)


@overload
def compare_all(
    scores: ScoresLike | Evaluation,
    *,
    method: Method | None = None,
    alpha: float = 0.05,
    permutations: int | None = None,
    test: PairTest = "randomisation",
    seed: int = 0,
    progress: Progress | None = None,
    key: str | None = None,
    lower_is_better: Collection[str] = (),
    correct_with: None = None,
) -> AllPairs: ...


@overload
def compare_all(
    scores: Evaluation, *, key: str, correct_with: str, target: Target = "new", sample: str | Path | None = None
) -> CorrectedPairs: ...


def compare_all(
    scores: ScoresLike | Evaluation,
    *,
    method: Method | None = None,
    alpha: float = 0.05,
    permutations: int | None = None,
    test: PairTest = "randomisation",
    seed: int = 0,
    progress: Progress | None = None,
    key: str | None = None,
    lower_is_better: Collection[str] = (),
    correct_with: str | None = None,
    target: Target = "new",
    sample: str | Path | None = None,
) -> AllPairs | CorrectedPairs:
    """Which runs differ, corrected for the number of pairs?

    `method` is the correction: "randomised-tukey" (the default; "holm" where systems were run several times), "tukey",
    "holm" or "bh" (Benjamini-Hochberg). With the last two, `test` tests single pairs, by "randomisation" or by "t".
    `permutations=None` draws as many as the method needs.

    `key` names the judgments that an evaluation is scored with. `correct_with` compares the scores of an automatic
    assessor (`key`) after correction by people's labels, as in `compare`; the correction for the number of
    pairs is then Bonferroni's.

    >>> import qassay
    >>> pairs = qassay.compare_all(qassay.open(qassay.demo_folder()), method="holm")
    >>> pairs.different, pairs.runs[:3]
    (26, ('hobby', 'egret', 'badger'))
    """
    from qassay.meta.significance import compare_all as all_pairs

    if correct_with is not None:
        return _corrected_evaluation(scores).correction(key, correct_with, target=target, sample=sample).pairs()
    return all_pairs(
        as_matrix(scores, key=key, lower_is_better=lower_is_better),
        method=method,
        alpha=alpha,
        permutations=permutations,
        test=test,
        seed=seed,
        progress=progress,
    )


def as_matrix(
    scores: ScoresLike | Evaluation,
    *,
    key: str | None = None,
    lower_is_better: Collection[str] = (),
    runs: tuple[str, str] | None = None,
) -> ScoreMatrix:
    """The score matrix behind scores in any form: an evaluation, its scores, a matrix, what `qassay.scores` reads.

    `key` names the judgments that an evaluation is scored with. With `runs` nothing else is read or scored than these.
    """
    evaluation = as_evaluation(scores)
    if evaluation is None and runs is not None and hasattr(scores, "matrix_of"):
        refuse_options(key=key)
        return cast("Scores", scores).matrix_of(runs)
    # A matrix, or the scores of an evaluation or of tables.
    matrix = scores if isinstance(scores, ScoreMatrix) else getattr(scores, "matrix", None)
    if isinstance(matrix, ScoreMatrix):
        refuse_options(key=key)
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
        return evaluation.score(key=key).matrix if runs is None else evaluation.matrix_of(runs, key)
    from qassay.formats.scores import read_scores

    refuse_options(key=key)
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


def _pair(matrix: ScoreMatrix, a: str | None, b: str | None) -> tuple[str, str]:
    """The two runs to compare: those that are named, or the only two, the better one first."""
    if a is not None and b is not None:
        return a, b
    pair = only_pair(matrix)
    if a is not None or b is not None or pair is None:
        names = few(matrix.runs, 20)
        raise UsageError(f"name two of the runs: {names}. To compare all of them: qassay.compare_all(scores)")
    return pair


def only_pair(matrix: ScoreMatrix) -> tuple[str, str] | None:
    """The only two runs in the order of a leaderboard; None where there are more or fewer."""
    from qassay.meta.ranking import rank_runs

    if len(matrix.runs) != 2:
        return None
    first, second = rank_runs(matrix.runs, matrix.scores(), matrix.direction).runs
    return first, second


def _corrected_evaluation(source: object) -> Evaluation:
    """The evaluation whose scores are corrected: scores alone have no judgments."""
    evaluation = as_evaluation(source)
    if evaluation is None:
        raise UsageError("correct_with needs an evaluation, which has the judgments; scores alone do not")
    return evaluation


def as_evaluation(source: object) -> Evaluation | None:
    """The source, where it is an opened evaluation. Such a source has its module loaded; others should not load it."""
    module = sys.modules.get("qassay.evaluation")
    is_evaluation = module is not None and isinstance(source, module.Evaluation)
    return cast("Evaluation", source) if is_evaluation else None
