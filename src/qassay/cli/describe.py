"""`qassay describe`: how scores spread over units, and what the ranking owes to weights and aggregation."""

from __future__ import annotations

from typing import Annotated

import typer

from qassay.cli.inputs import JsonOption, ScoringOptions, SourceArgument, takes_scoring
from qassay.cli.output import print_json, print_tables


@takes_scoring
def command(
    source: SourceArgument,
    *,
    scoring: ScoringOptions,
    top: Annotated[int, typer.Option("--top", min=0, metavar="N", help="Show the first N units.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """How scores spread over units, and what the ranking owes to weights.

    The units with a median of 0, by question type, and box statistics of the runs' scores on every unit. For an
    evaluation with several question types also: the ranking by series against the ranking by type, and the ranking
    when each weight moves by 0.05.

    Examples

      qassay describe my-eval
      qassay describe my-eval --component list --top 100
      qassay describe scores.csv --json
    """
    from qassay.analysis import describe

    if source.is_dir():
        from qassay.evaluation import open_evaluation

        scoring.check_folder()
        result = describe(
            open_evaluation(source),
            key=scoring.key,
            measure=scoring.measure,
            component=scoring.component,
            unjudged=scoring.unjudged,
            missing=scoring.missing,
        )
    else:
        result = describe(scoring.matrix(source))
    print_json(result.as_json()) if as_json else print_tables(result.tables(top))
