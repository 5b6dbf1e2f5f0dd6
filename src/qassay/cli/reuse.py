"""`qassay reuse`: leave-one-out test of the judgments."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from qassay.cli.inputs import ComponentOption, FolderArgument, JsonOption, KeyOption, MeasureOption, MissingOption
from qassay.cli.output import print_answer, print_json, print_tables, progress
from qassay.evaluation import open_evaluation


def command(
    folder: FolderArgument,
    by: Annotated[
        Literal["run", "organisation"], typer.Option("--by", help="Leave out one run, or all runs of one organisation.")
    ] = "run",
    key: KeyOption = None,
    measure: MeasureOption = None,
    component: ComponentOption = None,
    missing: MissingOption = "stop",
    assessor: Annotated[
        str | None,
        typer.Option("--with", metavar="ASSESSOR", help="Let this assessor (as in judge) judge the run left out."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Would the judgments be fair to a system that was not in the pool?

    Leaves out each run in turn, as if it had come after the judging: judgments of items that only this run returned are
    not used. If its score falls much, the judgments are not fair to new systems, and their answers must be judged too.

    --with lets an automatic assessor judge the run that is left out, in place of people. The table then shows the score
    and rank of each run by people, with nothing in their place, and by the assessor. An assessor that learns from
    people's judgments does not see those of the run. Responses to nugget questions can be left out only this way.

    Examples

      qassay reuse my-eval
      qassay reuse my-eval --by organisation
      qassay reuse my-eval --component list --json
      qassay reuse my-rag-eval --with overlap
      qassay reuse my-rag-eval --with "learned(hits=true)" --by organisation
    """
    evaluation = open_evaluation(folder)
    with progress("leaving out") as update:
        rules: dict[str, Any] = {"by": by, "key": key, "measure": measure, "component": component, "missing": missing}
        if assessor is None:
            from qassay.analysis import reuse as leave_out

            result = leave_out(evaluation, progress=update, **rules)
        else:
            from qassay.assessors.reusing import reuse

            result = reuse(evaluation, assessor, progress=update, **rules)
    if as_json:
        print_json(result.as_json())
        return
    print_answer(result.sentence())
    print_tables(result.tables())
