"""`qassay agree`: how far do the assessors agree?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from qassay.cli.inputs import FolderArgument, JsonOption, ResamplesOption, SeedOption, SetsOption, named_sets, names_in
from qassay.cli.output import headline, print_answer, print_json, print_tables, progress, visible
from qassay.display import as_sentence
from qassay.errors import unknown

if TYPE_CHECKING:
    from qassay.analysis.by_person import PeopleStudy


def command(
    folder: FolderArgument,
    sets: SetsOption = None,
    by: Annotated[
        Literal["set", "person"], typer.Option("--by", help="Compare judgment sets, or the people who judged.")
    ] = "set",
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Show how far assessors agree, and where they disagree.

    Compares the judgment sets of an evaluation on the items that all of
    them judged: which combinations of labels occur, raw agreement,
    agreement after folding labels (X and U into W; UNKNOWN into NO),
    Cohen's and Fleiss' kappa, Krippendorff's alpha. Nugget judgments and
    ratings are compared too, if there are any. The adjudicated and
    reference sets and those of automatic assessors are left out, unless you
    name them with --sets.

    With --by person every assessor is compared with all others on the
    same items: who is out of line, and on what. For this, the rows must
    name their assessor.

    Examples

      qassay agree my-eval
      qassay agree my-eval --by person
      qassay agree my-eval --sets adjudicated,llm:gpt
      qassay agree my-eval --json
    """
    from qassay.analysis import agreement, people
    from qassay.evaluation import open_evaluation

    evaluation = open_evaluation(folder)
    if by == "person":
        _by_person(people(evaluation, sets=_sets(sets, evaluation.sets), resamples=resamples, seed=seed), as_json)
        return
    set_names = named_sets(sets, [*evaluation.sets, *evaluation.role_sets])
    with progress("resampling") as update:
        study = agreement(evaluation, sets=set_names, seed=seed, resamples=resamples, progress=update)
    if as_json:
        print_json(study.as_json())
        return
    print_answer(study.sentence())
    print_tables(study.tables())


def _by_person(study: PeopleStudy, as_json: bool) -> None:
    """Who is out of line first, then the tables."""
    if as_json:
        print_json(study.as_json())
        return
    for kind in study:
        print(visible(headline(as_sentence(kind.sentence()))))
    print()
    print_tables(study.tables())


def _sets(texts: Sequence[str] | None, all_sets: Iterable[str]) -> list[str] | None:
    """The sets that the option names; one is enough where people are compared."""
    if not texts:
        return None
    names, everything = names_in(texts), list(all_sets)
    for name in names:
        if name not in everything:
            raise unknown("judgment set", name, everything)
    return names
