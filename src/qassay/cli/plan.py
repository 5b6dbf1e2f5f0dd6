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
    SeedOption,
    SetsOption,
    is_evaluation,
    named_sets,
    takes_scoring,
)
from qassay.cli.output import print_json, print_tables, progress
from qassay.errors import UsageError

if TYPE_CHECKING:
    from qassay.matrix import ScoreMatrix


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
            "--assume", metavar="SOURCE=VARIANCE", help="Plan without scores: run=V, unit=V, residual=V; repeated."
        ),
    ] = None,
    sets: SetsOption = None,
    *,
    scoring: ScoringOptions,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """How many questions, and assessors, for a wanted difference.

    From the scores of a pilot: the units with which a paired t test finds
    a difference, the units with which the error rate of a comparison is
    low enough, and the units for a stable ranking (generalizability).
    --sets takes several judgment sets of an evaluation as assessors, and
    weighs more assessors against more questions. --assume plans from
    variances alone.

    Examples

      qassay plan pilot.csv
      qassay plan pilot.csv --difference 0.02 --power 0.9
      qassay plan my-eval --sets first,second
      qassay plan --assume run=0.003 --assume unit=0.03 --assume residual=0.01
    """
    from qassay.analysis import plan

    if (not sources) == (not assume):
        raise UsageError("plan takes pilot scores (a folder or a file) or --assume, one of the two")
    with progress("trials") as update:
        wanted = functools.partial(
            plan,
            differences=difference,
            error=error,
            power=power,
            alpha=alpha,
            coefficient=coefficient,
            seed=seed,
            progress=update,
        )
        if not sources:
            result = wanted(assume=_assumed(assume or []))
            print_json(result.as_json()) if as_json else print_tables(result.tables())
            return
        by_assessor = _by_assessor(sources, sets, scoring) if sets else ()

        def answer(matrix: ScoreMatrix) -> Answer:
            planned = wanted(matrix, by_assessor=by_assessor)
            return Answer(planned.as_json(), lambda: print_tables(planned.tables()))

        give_answers(scoring.read(sources), answer, as_json=as_json, every_metric=scoring.every_metric)


def _by_assessor(sources: list[str], given: list[str], scoring: ScoringOptions) -> list[ScoreMatrix]:
    """One score matrix for each judgment set."""
    folder = Path(sources[0])
    if not is_evaluation(sources):
        raise UsageError("--sets names judgment sets of an evaluation; a score matrix has none")
    from qassay.evaluation import open_evaluation

    names = named_sets(given, open_evaluation(folder).sets) or []
    return [replace(scoring, key=name).matrix(folder) for name in names]


def _assumed(given: list[str]) -> dict[str, float]:
    """Variances from `source=number`, separated by commas or given one by one."""
    variances: dict[str, float] = {}
    for part in (piece for text in given for piece in text.split(",")):
        name, _, number = part.partition("=")
        try:
            variances[name.strip()] = float(number)
        except ValueError:
            raise UsageError(f"--assume takes a source and its variance, such as run=0.003, not {part!r}") from None
    return variances
