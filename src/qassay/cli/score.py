"""`qassay score`: scores and leaderboard."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from qassay.cli.inputs import (
    CorrectWithOption,
    EvaluationOptions,
    FolderArgument,
    JsonOption,
    SampleOption,
    TargetOption,
    refuse_without_correction,
    takes_scoring,
)
from qassay.cli.output import headline, print_json, print_tables, visible
from qassay.errors import UsageError
from qassay.evaluation import open_evaluation
from qassay.matrix import ScoreMatrix
from qassay.scoring import Scores

if TYPE_CHECKING:
    from qassay.analysis.leaderboards import Leaderboard
    from qassay.meta.correction import CorrectedScores

# Up to this many scores (runs x units) intervals and tests of all pairs take less than a second.
QUICK_CELLS = 50_000


@takes_scoring
def command(
    folder: FolderArgument,
    *,
    scoring: EvaluationOptions,
    beta: Annotated[
        str | None,
        typer.Option("--beta", metavar="A-B", help="Mean nugget F for every whole beta from A to B, with ranks."),
    ] = None,
    best_per_organisation: Annotated[
        bool, typer.Option("--best-per-organisation", help="Only the best run of each organisation.")
    ] = False,
    above: Annotated[
        float | None, typer.Option("--above", metavar="SCORE", help="Only the runs that score above this.")
    ] = None,
    intervals: Annotated[
        bool | None,
        typer.Option(
            "--intervals/--no-intervals",
            help="Intervals, and groups of runs that do not differ significantly (default: where it takes no time).",
        ),
    ] = None,
    correct_with: CorrectWithOption = None,
    target: TargetOption = None,
    sample: SampleOption = None,
    half_width: Annotated[
        float | None,
        typer.Option(
            "--half-width",
            metavar="H",
            help="How many labels corrected intervals of ±H take (or topics, series).",
        ),
    ] = None,
    as_csv: Annotated[
        bool,
        typer.Option(
            "--csv", help="The score matrix as CSV: one row per question, series or topic, one column per run."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Score every run of an evaluation and show the leaderboard.

    The scores are computed from the judgment set that --key names; by default from `adjudicated`, else `reference`,
    else the only set that people made. `--key majority` takes the label that most assessors gave (ties are unjudged),
    `--key dawid-skene` a statistical model's guess from all their labels; `dawid-skene:first,second,third` names the
    sets. Notes below the table name everything that is left out, counted as wrong or skipped.

    Runs that share a group do not differ significantly: chance alone could explain the difference. Which gaps new
    questions would show again (repeatable) is another question, which qassay sensitivity answers.

    --correct-with corrects the scores of an automatic assessor (--key) with labels that people gave to a random sample
    (qassay sample): this removes its bias, and the intervals include its errors.

    Examples

      qassay score my-eval
      qassay score my-eval --key first --measure "nugget_f(beta=1)"
      qassay score my-eval --key majority
      qassay score my-eval --beta 1-5
      qassay score my-eval --above 0.2 --best-per-organisation
      qassay score my-eval --unjudged wrong --json
      qassay score my-eval --key gpt-4 --correct-with ada
      qassay score my-eval --key gpt-4 --correct-with ada --half-width 0.05
    """
    refuse_without_correction(correct_with, {"--target": target, "--sample": sample, "--half-width": half_width})
    evaluation = open_evaluation(folder)
    if correct_with is not None:
        if beta is not None or best_per_organisation or intervals is not None or as_csv:
            raise UsageError(
                "--correct-with gives corrected scores with intervals; use it without --beta, "
                "--best-per-organisation, --intervals and --csv"
            )
        corrected = scoring.corrected(evaluation, correct_with, target, sample).scores(half_width=half_width)
        print_json(corrected.as_json()) if as_json else _show(corrected)
        return
    if beta is not None:
        if scoring.measure is not None or scoring.component is not None or as_csv or above is not None:
            others = "--measure, --component, --above and --csv"
            raise UsageError(f"--beta is a measure of its own: use it without {others}")
        from qassay.meta.fidelity import beta_sweep

        matrices: dict[float, ScoreMatrix] = {
            value: _means(replace(scoring, measure=f"nugget_f(beta={value})").scores(evaluation))
            for value in _range(beta)
        }
        sweep = beta_sweep(matrices)
        print_json(sweep.as_json()) if as_json else print_tables([sweep.table()])
        return
    scores = scoring.scores(evaluation)
    for name, fault in evaluation.unreadable_sets(scores.key).items():
        message = (
            f"warning: the judgment set {name} cannot be read ({fault}). These scores do not need it; qassay check"
        )
        print(visible(f"{message} lists all faults."), file=sys.stderr)
    if best_per_organisation:
        scores = scores.best_per_organisation()
    shown = scores if above is None else _above(scores, above)
    if as_json:
        print_json(shown.as_json())
    elif as_csv:
        from qassay.formats.matrix import format_matrix

        for note in shown.matrix.notes:
            print(visible(note), file=sys.stderr)
        print(format_matrix(shown.matrix), end="")
    else:
        board = _leaderboard(scores, intervals)
        _show(board if above is None else _only_above(board, above))


def _above(scores: Scores, limit: float) -> Scores:
    """The runs above a score; an error where there are none, with the best score."""
    above = scores.above(limit)
    if not above.runs:
        best = next((f"{row.run} with {row.score:.3f}" for row in scores.runs if row.score is not None), "none")
        raise UsageError(f"no run scores above {limit:g}; the best is {best}")
    return above


def _only_above(board: Scores | Leaderboard, limit: float) -> Scores | Leaderboard:
    """The leaderboard with these runs; intervals and groups stay those among all runs."""
    return _above(board, limit) if isinstance(board, Scores) else replace(board, scores=_above(board.scores, limit))


def _show(result: Scores | Leaderboard | CorrectedScores) -> None:
    """Who is ahead, and the tables."""
    print(visible(headline(f"{result.sentence()}.")))
    print()
    print_tables(result.tables())


def _leaderboard(scores: Scores, intervals: bool | None) -> Scores | Leaderboard:
    """The scores, with intervals and groups where they are asked for or quick."""
    quick = len(scores.runs) > 1 and scores.units.values.size <= QUICK_CELLS
    skipped = scores.missing is not None and scores.missing[0] == "skip"
    if skipped and intervals:
        raise UsageError(
            "--intervals needs runs scored on the same questions; --missing skip averages over different ones"
        )
    if scores.judged_by is not None:
        if intervals:
            raise UsageError(
                "--intervals does not apply to a key with judgments of programs: their errors are not in the interval"
            )
        return scores
    if few := scores.too_few_for_intervals():
        return replace(scores, notes=(*scores.notes, few))
    if intervals is False or skipped or (intervals is None and not quick):
        return scores
    from qassay.analysis import leaderboard

    return leaderboard(scores)


def _means(scores: Scores) -> ScoreMatrix:
    """A matrix whose run scores are these: with --missing skip every run is averaged over the questions it has."""
    if scores.missing is None or scores.missing[0] != "skip":
        return scores.matrix
    means = {row.run: row.score for row in scores.runs if row.score is not None}
    if len(means) < len(scores.runs):
        empty = next(row.run for row in scores.runs if row.score is None)
        raise UsageError(f"run {empty} answers none of the questions; leave it out, or use --missing zero")
    notes = tuple(note for note in scores.notes_for_output() if not note.startswith("*"))
    values = np.array([[mean] for mean in means.values()])
    manual = frozenset(run for run in means if scores.information[run].manual)
    return ScoreMatrix(tuple(means), ("mean",), values, notes=notes, manual=manual)


def _range(text: str) -> range:
    first, _, last = text.partition("-")
    try:
        betas = range(int(first), int(last or first) + 1)
    except ValueError:
        betas = range(0)
    if not betas or betas[0] < 0 or len(betas) > 100:
        raise UsageError(f"--beta takes a range of whole numbers such as 1-5, not {text!r}")
    return betas
