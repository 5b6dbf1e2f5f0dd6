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
    from qassay.meta.distributions import score_distributions

    matrix = scoring.matrix(source)
    boxes = score_distributions(matrix)
    parts = None
    if source.is_dir() and scoring.measure is None and scoring.component is None:
        from qassay.analysis.rankings import composition
        from qassay.evaluation import open_evaluation

        evaluation = open_evaluation(source)
        parts = composition(evaluation, scoring.key, unjudged=scoring.unjudged, missing=scoring.missing)
    if as_json:
        print_json({"units": boxes.as_json(), **(parts.as_json() if parts else {})})
    else:
        print_tables([*(parts.tables() if parts else [boxes.zero_table()]), *([boxes.table(top)] if top else [])])
