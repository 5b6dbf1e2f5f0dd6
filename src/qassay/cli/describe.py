"""`qassay describe`: how scores spread over units, and what the ranking owes to weights and aggregation."""

from __future__ import annotations

from qassay.cli.inputs import JsonOption, ScoringOptions, SourceArgument, takes_scoring
from qassay.cli.output import print_json, print_tables


@takes_scoring
def command(
    source: SourceArgument,
    *,
    scoring: ScoringOptions,
    as_json: JsonOption = False,
) -> None:
    """How scores spread over units, and what the ranking owes to weights.

    Box statistics of the runs' scores on every unit, and the units with a median of 0, by question type. For an
    evaluation with several question types also: the ranking by series against the ranking by type, and the ranking
    when each weight moves by 0.05.

    Examples

      qassay describe my-eval
      qassay describe my-eval --component list
      qassay describe scores.csv --json
    """
    from qassay.meta.distributions import score_distributions

    matrix = scoring.matrix(source)
    boxes = score_distributions(matrix)
    found = None
    if source.is_dir() and scoring.measure is None and scoring.component is None:
        from qassay.analysis.composition import composition
        from qassay.evaluation import open_evaluation

        evaluation = open_evaluation(source)
        found = composition(evaluation, scoring.key, unjudged=scoring.unjudged, missing=scoring.missing)
    if as_json:
        print_json({"units": boxes.as_json(), **(found.as_json() if found else {})})
    else:
        print_tables([boxes.table(), *(found.tables() if found else [boxes.zero_table()])])
