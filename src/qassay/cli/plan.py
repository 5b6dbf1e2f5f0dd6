"""`qassay plan`: how many questions, and assessors, for a wanted difference."""

from __future__ import annotations

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
from qassay.errors import QassayError, UsageError

if TYPE_CHECKING:
    from qassay.matrix import ScoreMatrix
    from qassay.meta.generalizability import Generalizability
    from qassay.meta.planning import Plan, Wanted
    from qassay.meta.sensitivity import SensitivityCurves

# Fewer runs make a single pair, whose curve says nothing of another one.
FEWEST_RUNS = 3


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
    from qassay.meta.planning import DIFFERENCES, Wanted, differences_for

    wanted = Wanted(tuple(difference or DIFFERENCES), error, power, alpha, coefficient)
    if (not sources) == (not assume):
        raise UsageError("plan takes pilot scores (a folder or a file) or --assume, one of the two")
    if not sources:
        from qassay.meta.planning import plan_from_variances

        result = plan_from_variances(_assumed(assume or []), wanted=wanted)
        print_json(result.as_json()) if as_json else print_tables(result.tables())
        return

    def answer(matrix: ScoreMatrix) -> Answer:
        asked = replace(wanted, differences=tuple(difference or differences_for(matrix)))
        matrices = _by_assessor(sources or [], sets, scoring) if sets else [matrix]
        planned = _from_pilot(matrix, matrices, asked, seed)
        return Answer(planned.as_json(), lambda: print_tables(planned.tables()))

    give_answers(scoring.read(sources), answer, as_json=as_json, every_metric=scoring.every_metric)


def _from_pilot(matrix: ScoreMatrix, matrices: list[ScoreMatrix], wanted: Wanted, seed: int) -> Plan:
    """The plan, with what the curves and the variances add; what they cannot say is said."""
    from qassay.meta.generalizability import generalizability
    from qassay.meta.planning import notes_on_curves, plan
    from qassay.meta.sensitivity import sensitivity, width_for

    notes: list[str] = []
    study: Generalizability | None = None
    curves: SensitivityCurves | None = None
    try:
        study = generalizability(matrices)
    except QassayError as failure:
        notes.append(f"No variances: {failure}.")
    try:
        if len(matrix.runs) < FEWEST_RUNS:
            raise UsageError("they need three runs or more; the curve of a single pair says nothing of other runs")
        with progress("trials") as update:
            width = width_for(matrix)
            curves = sensitivity(matrix, error=wanted.error, intervals=0, seed=seed, bin_width=width, progress=update)
    except QassayError as failure:
        notes.append(f"No error rates: {failure}.")
    sizes = {} if curves is None else {limit: both._asdict() for limit, both in curves.size_needed(every=True).items()}
    result = plan(matrix, wanted=wanted, size_needed=sizes, bin_width=float(width_for(matrix)), study=study)
    if curves is not None:
        notes += notes_on_curves(curves, result)
    return replace(result, notes=(*result.notes, *notes))


def _by_assessor(sources: list[str], given: list[str], scoring: ScoringOptions) -> list[ScoreMatrix]:
    """One score matrix for each judgment set, on the units they share."""
    folder = Path(sources[0])
    if not is_evaluation(sources):
        raise UsageError("--sets names judgment sets of an evaluation; a score matrix has none")
    from qassay.evaluation import open_evaluation

    names = named_sets(given, open_evaluation(folder).sets) or []
    matrices = [replace(scoring, key=name).matrix(folder) for name in names]
    shared = set.intersection(*(set(matrix.units) for matrix in matrices))
    if not shared:
        raise UsageError(f"the sets {', '.join(names)} have no unit in common")
    return [_on_units(matrix, shared) for matrix in matrices]


def _on_units(matrix: ScoreMatrix, units: set[str]) -> ScoreMatrix:
    """The matrix with the parts that these units have in its scores."""
    from qassay.matrix import Mean

    kept = [i for i, unit in enumerate(matrix.units) if unit in units]
    if len(kept) == len(matrix.units):
        return matrix
    note = f"{len(kept)} of {len(matrix.units)} units are scored under every set."
    return replace(
        matrix,
        units=tuple(matrix.units[i] for i in kept),
        values=matrix.summary.contributions(matrix.values)[:, kept],
        summary=Mean(),
        denominator=None,
        clusters=None if matrix.clusters is None else tuple(matrix.clusters[i] for i in kept),
        repeats=None,
        notes=(*matrix.notes, note),
    )


def _assumed(given: list[str]) -> Generalizability:
    """Variances from `source=number`, separated by commas or given one by one."""
    from qassay.meta.generalizability import assumed

    variances: dict[str, float] = {}
    for part in (piece for text in given for piece in text.split(",")):
        name, _, number = part.partition("=")
        try:
            variances[name.strip()] = float(number)
        except ValueError:
            raise UsageError(f"--assume takes a source and its variance, such as run=0.003, not {part!r}") from None
    return assumed(variances)
