"""`qassay trust`: how far can an automatic assessor be trusted?"""

from __future__ import annotations

from typing import Annotated

import typer

from qassay.cli.inputs import ComponentOption, FolderArgument, JsonOption, MeasureOption, ResamplesOption, SeedOption
from qassay.cli.output import fold, print_json, print_tables, visible


def command(
    folder: FolderArgument,
    assessor: Annotated[
        str, typer.Option("--assessor", metavar="SET", help="The judgment set of the automatic assessor.")
    ],
    against: Annotated[
        str | None, typer.Option("--against", metavar="SET", help="The judgments of people (default: adjudicated).")
    ] = None,
    measure: MeasureOption = None,
    component: ComponentOption = None,
    two_people: Annotated[
        bool, typer.Option("--two-people", help="Ask with two people, too, whom the assessor resembles.")
    ] = False,
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """How far can an automatic assessor be trusted?

    Compares its judgments with those of people, on the answers that both
    judged: how often they agree beyond chance, whether the runs come in the
    same order, and which runs it favours. With the sets of three or more
    people, also whether it could replace one of them.

    Examples

      qassay judge my-eval --with overlap
      qassay trust my-eval --assessor overlap
      qassay trust my-eval --assessor gpt-4 --against first --json
    """
    from qassay.analysis.trusting import trust
    from qassay.evaluation import open_evaluation

    evaluation = open_evaluation(folder)
    result = trust(
        evaluation,
        assessor,
        against,
        measure=measure,
        component=component,
        two_people=two_people,
        seed=seed,
        resamples=resamples,
    )
    if as_json:
        print_json(result.as_json())
        return
    print(fold(visible(result.sentence())))
    for note in (result.caution(), *result.notes):
        if note:
            print(fold(visible(note)))
    print()
    print_tables(result.tables())
