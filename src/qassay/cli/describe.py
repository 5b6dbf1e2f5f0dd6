"""`qassay describe`: how scores spread over units, and what the ranking owes to weights and aggregation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from qassay.cli.by_metric import Answer, give_answers
from qassay.cli.inputs import JsonOption, ScoringOptions, SourcesArgument, is_evaluation, refuse, takes_scoring
from qassay.cli.output import print_answer, print_json, print_tables

if TYPE_CHECKING:
    from qassay.analysis.descriptions import Description
    from qassay.matrix import ScoreMatrix


@takes_scoring
def command(
    sources: SourcesArgument,
    *,
    scoring: ScoringOptions,
    question: Annotated[
        str | None,
        typer.Option("--question", metavar="ID", help="One question: every response to it, and what judges said."),
    ] = None,
    top: Annotated[
        int, typer.Option("--top", min=0, metavar="N", help="Show the first N questions, series or topics.")
    ] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show how scores spread over the questions, and how weights change the ranking.

    The hardest and the easiest question, the questions (or series) with a median score of 0, by question type, and how
    the scores of the runs spread on each. For an evaluation with several question types also: the ranking by series
    compared with the ranking by type, and the ranking when each weight changes by 0.05. If targets have types, the
    scores by type; if responses have holistic scores, the ranking by them compared with the ranking by F, and content
    compared with organization.

    With --question: every run's response to one question, with the verdicts of all judgment sets; for a pair all its
    justifications, with the scores of all judges.

    Examples

      qassay describe my-eval
      qassay describe my-eval --component list --top 100
      qassay describe my-eval --question 75
      qassay describe scores.csv --json
      qassay describe old.jsonl new.jsonl --metric f1
    """
    from qassay.analysis import describe

    if is_evaluation(sources):
        from qassay.evaluation import open_evaluation

        refuse("a folder", scoring.given_options())
        if question is not None:
            refuse("one question", {"--component": scoring.component})
            _one_question(sources[0], question, scoring, as_json=as_json)
            return
        result = describe(open_evaluation(sources[0]), key=scoring.key, **scoring.how)
        print_json(result.as_json()) if as_json else _show(result, top)
        return

    refuse("a table of scores", {"--question": question})

    def answer(matrix: ScoreMatrix) -> Answer:
        spread = describe(matrix)
        return Answer(spread.as_json(), lambda: _show(spread, top))

    give_answers(scoring.read(sources), answer, as_json=as_json, every_metric=scoring.every_metric)


def _show(described: Description, top: int) -> None:
    """The answer and the tables, for people."""
    print_answer(described.sentence())
    print_tables(described.tables(top))


def _one_question(folder: str, question: str, scoring: ScoringOptions, *, as_json: bool) -> None:
    """Every response to one question; of a pair all justifications, with the scores of all judges."""
    from qassay.analysis.one_question import one_question
    from qassay.evaluation import open_evaluation

    result = one_question(open_evaluation(folder), question, scoring.key, **scoring.how)
    print_json(result.as_json()) if as_json else print_tables(result.tables())
