"""`qassay describe`: how scores spread over units, and what the ranking owes to weights and aggregation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from qassay.cli.by_metric import Answer, give_answers
from qassay.cli.inputs import JsonOption, ScoringOptions, SourcesArgument, is_evaluation, refuse, takes_scoring
from qassay.cli.output import print_json, print_tables

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
    from qassay.analysis import describe

    if is_evaluation(sources):
        from qassay.evaluation import open_evaluation

        refuse("a folder", scoring.given())
        result = describe(
            open_evaluation(sources[0]),
            key=scoring.key,
            measure=scoring.measure,
            component=scoring.component,
            unjudged=scoring.unjudged,
            missing=scoring.missing,
        )
        print_json(result.as_json()) if as_json else print_tables(result.tables(top))
        return

    def answer(matrix: ScoreMatrix) -> Answer:
        spread = describe(matrix)
        return Answer(spread.as_json(), lambda: print_tables(spread.tables(top)))

    give_answers(scoring.read(sources), answer, as_json=as_json, every_metric=scoring.every_metric)
