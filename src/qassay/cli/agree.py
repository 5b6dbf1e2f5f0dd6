"""`qassay agree`: how far do the assessors agree?"""

from __future__ import annotations

from typing import Annotated

import typer

from qassay.cli.inputs import FolderArgument, JsonOption, SeedOption, SetsOption, named_sets
from qassay.cli.output import print_json, print_tables, progress


def command(
    folder: FolderArgument,
    sets: SetsOption = None,
    resamples: Annotated[
        int, typer.Option("--resamples", min=0, max=100_000, help="Bootstrap resamples behind the intervals; 0: none.")
    ] = 1000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Disagreement tables and agreement statistics.

    Compares the judgment sets of an evaluation on the items that all of
    them judged: which combinations of labels occur, raw agreement,
    agreement after folding labels (X and U into W; UNKNOWN into NO),
    Cohen's and Fleiss' kappa, Krippendorff's alpha. Nugget judgments and
    ratings are compared where there are any. Unless named with --sets,
    settled sets and those of automatic assessors are left out.

    Examples

      qassay agree my-eval
      qassay agree my-eval --sets adjudicated,llm:gpt
      qassay agree my-eval --json
    """
    from qassay.analysis import agreement
    from qassay.evaluation import open_evaluation

    evaluation = open_evaluation(folder)
    chosen = named_sets(sets, [*evaluation.sets, *evaluation.role_sets])
    with progress("resampling") as update:
        study = agreement(evaluation, sets=chosen, seed=seed, resamples=resamples, progress=update)
    print_json(study.as_json()) if as_json else print_tables(study.tables())
