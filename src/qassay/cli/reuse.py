"""`qassay reuse`: leave-one-out test of the judgments."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from qassay.cli.inputs import ComponentOption, FolderArgument, JsonOption, KeyOption, MeasureOption, MissingOption
from qassay.cli.output import print_json, print_tables, progress
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
    as_json: JsonOption = False,
) -> None:
    """Would the judgments be fair to a system that was not in the pool?

    Leaves out each run in turn, with the items and answers that only it brought to the judgments, and scores it with
    what remains. A large fall means that the judgments cannot be used for new systems without judging more.

    Examples

      qassay reuse my-eval
      qassay reuse my-eval --by organisation
      qassay reuse my-eval --component list --json
    """
    from qassay.analysis import reuse

    evaluation = open_evaluation(folder)
    with progress("leaving out") as update:
        result = reuse(
            evaluation, by=by, key=key, measure=measure, component=component, missing=missing, progress=update
        )
    print_json(result.as_json()) if as_json else print_tables(result.tables())
