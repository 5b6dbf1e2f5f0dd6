"""`qassay plan`: how many questions, and assessors, for a wanted difference."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qassay.cli.by_metric import Answer, give_answers
from qassay.cli.inputs import (
    JsonOption,
    ScoringOptions,
    SetsOption,
    is_evaluation,
    named_sets,
    takes_scoring,
)
from qassay.cli.output import headline, print_json, print_tables, visible
from qassay.errors import UsageError

if TYPE_CHECKING:
    from qassay.matrix import ScoreMatrix
    from qassay.meta.planning import Plan


@takes_scoring
def command(
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOURCE...", help="Pilot scores: an evaluation, or tables, logs, one file per system."),
    ] = None,
    difference: Annotated[
        list[float] | None,
        typer.Option("--difference", "-d", metavar="D", help="Wanted difference; may be repeated."),
    ] = None,
    error: Annotated[float, typer.Option("--error", help="Wanted error rate of a comparison.")] = 0.05,
    power: Annotated[float, typer.Option("--power", help="Wanted power of the paired t test.")] = 0.8,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of the paired t test.")] = 0.05,
    coefficient: Annotated[float, typer.Option("--coefficient", help="Wanted generalizability coefficient.")] = 0.95,
    assume: Annotated[
        list[str] | None,
        typer.Option(
            "--assume", metavar="SOURCE=VARIANCE", help="Plan without scores: run=V, question=V, residual=V; repeated."
        ),
    ] = None,
    sets: SetsOption = None,
    cost_question: Annotated[
        float | None,
        typer.Option("--cost-question", metavar="C", help="What a question costs; for the best number of repeats."),
    ] = None,
    cost_answer: Annotated[
        float | None,
        typer.Option(
            "--cost-answer", metavar="C", help="What one more answer to a question costs, from all systems together."
        ),
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Show the alternatives, and where the scores vary.")
    ] = False,
    *,
    scoring: ScoringOptions,
    # Nothing is drawn here; scripts that give every analysis a seed may go on doing so.
    seed: Annotated[int, typer.Option("--seed", min=0, hidden=True)] = 0,
    as_json: JsonOption = False,
) -> None:
    """Find how many questions, and assessors, a difference needs.

    The first sentence recommends one number from the scores of a pilot:
    the questions with which a test finds a difference that the present ones
    do not show yet, or the one named with --difference. Below it: what
    more or fewer questions can show: which differences are significant
    (a test finds them), and which gaps are repeatable (new questions show
    them again). Where systems ran several times, more repeats are weighed
    against more questions.

    --details adds the alternatives: questions for other differences, for
    repeatable gaps, and for a stable ranking (generalizability). --sets
    takes several judgment sets of an evaluation as assessors, and weighs
    more assessors against more questions. --assume plans from variances
    alone.

    Examples

      qassay plan pilot.csv
      qassay plan pilot.csv --difference 0.02 --power 0.9 --details
      qassay plan epochs.jsonl --cost-question 5 --cost-answer 0.1
      qassay plan my-eval --sets first,second
      qassay plan --assume run=0.003 --assume question=0.03 --assume residual=0.01
    """
    from qassay.analysis.plans import plan

    if (not sources) == (not assume):
        raise UsageError("plan takes pilot scores (a folder or a file) or --assume, one of the two")
    make_plan = functools.partial(
        plan,
        differences=difference,
        error=error,
        power=power,
        alpha=alpha,
        coefficient=coefficient,
        cost_question=cost_question,
        cost_answer=cost_answer,
        details=details or len(difference or ()) > 1,
    )
    if not sources:
        result = make_plan(assume=_assumed(assume or []))
        print_json(result.as_json()) if as_json else _show(result)
        return
    by_assessor = _by_assessor(sources, sets, scoring) if sets else ()

    def answer(matrix: ScoreMatrix) -> Answer:
        planned = make_plan(matrix, by_assessor=by_assessor)
        return Answer(planned.as_json(), lambda: _show(planned))

    give_answers(scoring.read(sources), answer, as_json=as_json, every_metric=scoring.every_metric)


def _show(planned: Plan) -> None:
    """The recommendation and the tables, for people."""
    print(visible(headline(planned.summary())))
    print()
    print_tables(planned.tables())


def _by_assessor(sources: list[str], texts: list[str], scoring: ScoringOptions) -> list[ScoreMatrix]:
    """One score matrix for each judgment set."""
    folder = Path(sources[0])
    if not is_evaluation(sources):
        raise UsageError("--sets names judgment sets of an evaluation; a score matrix has none")
    from qassay.evaluation import open_evaluation

    names = named_sets(texts, open_evaluation(folder).sets) or []
    return [replace(scoring, key=name).matrix(folder) for name in names]


def _assumed(texts: list[str]) -> dict[str, float]:
    """Variances from `source=number`, separated by commas or given one by one."""
    variances: dict[str, float] = {}
    for part in (piece for text in texts for piece in text.split(",")):
        name, _, number = part.partition("=")
        try:
            variances[name.strip()] = float(number)
        except ValueError:
            raise UsageError(f"--assume takes a source and its variance, such as run=0.003, not {part!r}") from None
    return variances
