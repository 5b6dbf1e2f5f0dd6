"""`qassay agree`: how far do the assessors agree?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from qassay.cli.inputs import FolderArgument, JsonOption, SeedOption
from qassay.cli.output import print_json, print_tables
from qassay.cli.sets import SetsOption, named_sets, two_way_sets
from qassay.errors import InputError, Problem

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.meta.agreement import Agreement

# With more pairs of sets than this their matrices fill pages; --json has them all.
MATRICES_SHOWN = 6


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
    from qassay.evaluation import open_evaluation
    from qassay.meta.ratings import rate

    evaluation = open_evaluation(folder)
    chosen = named_sets(sets, evaluation.sets)
    names = chosen or _assessors(evaluation)
    main, *further = _agreements(evaluation, names, chosen=chosen is not None, seed=seed, resamples=resamples)
    ratings = rate(evaluation.ratings(names), seed=seed, resamples=resamples)
    if as_json:
        extra: dict[str, object] = {found.about.replace(" ", "_"): found.as_json() for found in further}
        extra |= {"ratings": ratings.as_json()} if ratings.scales else {}
        print_json(main.as_json() | extra)
        return
    tables = [] if main.items == 0 and ratings.scales else list(main.tables(matrices=len(main.pairs) <= MATRICES_SHOWN))
    for found in further:
        tables += found.tables(matrices=False)
    print_tables([*tables, *ratings.tables()])


def _agreements(
    evaluation: Evaluation, names: list[str], *, chosen: bool, seed: int, resamples: int
) -> list[Agreement]:
    """One comparison a kind of judgment; the first is the document, the others stand beside it."""
    from qassay.cli.agree_labels import compared_labels
    from qassay.meta.agreement import agreement

    two_way = two_way_sets(evaluation)
    results = []
    for found in compared_labels(evaluation, names, chosen=chosen):
        folded = [name for name in found.sets if name in two_way]
        result = agreement(found.sets, two_way=folded, seed=seed, resamples=resamples)
        results.append(replace(result, about=found.about, notes=(*result.notes, *found.notes)))
    return results


def _assessors(evaluation: Evaluation) -> list[str]:
    """The sets to compare where none are named: all assessors' own, with two-way keys of entailment."""
    wanted = {*evaluation.assessor_sets, *evaluation.configuration.two_way}
    names = [name for name in evaluation.sets if name in wanted]
    if len(names) < 2:
        there = f"there is {', '.join(evaluation.sets)}" if evaluation.sets else "there is no judgment set at all"
        message = f"agreement takes the judgment sets of two assessors or more ({there}); name any two with --sets"
        raise InputError(Problem("configuration", message, evaluation.folder.name()))
    return names
