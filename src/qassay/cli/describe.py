"""`qassay describe`: how scores spread over units, and what the ranking owes to weights and aggregation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qassay.cli.by_metric import Answer, give_answers
from qassay.cli.inputs import JsonOption, ScoringOptions, SourcesArgument, is_evaluation, takes_scoring
from qassay.cli.output import print_tables

if TYPE_CHECKING:
    from qassay.matrix import ScoreMatrix


@takes_scoring
def command(
    sources: SourcesArgument,
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
      qassay describe old.jsonl new.jsonl --metric f1
    """
    from qassay.meta.distributions import score_distributions

    parts = None
    tables = scoring.read(sources)
    if is_evaluation(sources) and scoring.measure is None and scoring.component is None:
        from qassay.analysis.rankings import composition
        from qassay.evaluation import open_evaluation

        evaluation = open_evaluation(Path(sources[0]))
        parts = composition(evaluation, scoring.key, unjudged=scoring.unjudged, missing=scoring.missing)

    def answer(matrix: ScoreMatrix) -> Answer:
        boxes = score_distributions(matrix)
        shown = [*(parts.tables() if parts else [boxes.zero_table()]), *([boxes.table(top)] if top else [])]
        document = {"units": boxes.as_json(), **(parts.as_json() if parts else {})}
        return Answer(document, lambda: print_tables(shown))

    give_answers(tables, answer, as_json=as_json, every_metric=scoring.every_metric)
