"""`qassay stability`: would the ranking be the same under other judgments?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from qassay.cli.inputs import (
    ComponentOption,
    JsonOption,
    MissingOption,
    SetsOption,
    TableOptions,
    UnjudgedOption,
    about,
    named_sets,
    refuse,
    refuse_measure,
    takes_scoring,
    warn,
)
from qassay.cli.output import print_answer, print_json, print_tables, progress, visible
from qassay.errors import InputError, Problem, UsageError, unknown


@takes_scoring
def command(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="SOURCE...", help="An evaluation, or two tables or logs of scores, or more."),
    ],
    sets: SetsOption = None,
    measure: Annotated[
        list[str] | None,
        typer.Option("--measure", metavar="NAME", help="Measure to rank by; may be repeated (an evaluation)."),
    ] = None,
    reference: Annotated[
        str | None, typer.Option("--reference", metavar="SET", help="What swaps and changes are measured from.")
    ] = None,
    component: ComponentOption = None,
    unjudged: UnjudgedOption = "stop",
    missing: MissingOption = "stop",
    *,
    reading: TableOptions,
    as_json: JsonOption = False,
) -> None:
    """Compare the rankings under different judgment sets.

    Scores every run of an evaluation under each of its judgment sets and
    compares the rankings: Kendall's tau and tau_AP, the runs that change
    places and how far apart they were, the largest change of a score.
    Or compares the rankings of several tables of scores of the same
    systems, named by their files; the first one is the reference then.

    Examples

      qassay stability my-eval
      qassay stability my-eval --sets adjudicated,first,second
      qassay stability my-eval --measure cws --measure accuracy
      qassay stability human.csv model.csv
    """
    from qassay.analysis import stability

    described: list[str] = []
    repeats: dict[str, object] = {}
    if _is_folder(sources):
        refuse("an evaluation", reading.given_options())
        from qassay.evaluation import open_evaluation

        evaluation = open_evaluation(sources[0])
        with progress("comparing rankings") as update:
            result = stability(
                evaluation,
                sets=named_sets(
                    sets,
                    [*evaluation.sets, *evaluation.derived_sets, *evaluation.role_sets, *evaluation.voted_keys],
                ),
                measures=measure or (),
                reference=reference,
                component=component,
                unjudged=unjudged,
                missing=missing,
                progress=update,
            )
    else:
        refuse_measure(measure)
        options = {"--sets": sets, "--component": component, "--unjudged": unjudged != "stop"}
        refuse("tables of scores", options | {"--metric all": reading.every_metric})
        if len(sources) < 2:
            raise UsageError("one table of scores has one ranking; give two files or more, or an evaluation")
        tables = [reading.read_tables([source], missing) for source in sources]
        matrices = [table.matrix for table in tables]
        names = matrix_names(sources)
        if reference is not None and reference not in names:
            raise unknown("score matrix", reference, names)
        with progress("comparing rankings") as update:
            result = stability(dict(zip(names, matrices, strict=True)), reference=reference, progress=update)
        several = {name: matrix for name, matrix in zip(names, matrices, strict=True) if matrix.repeats is not None}
        if several:
            repeats = {"repeats": {name: about(matrix)["repeats"] for name, matrix in several.items()}}
        described = [f"{name}: {table.read}" for name, table in zip(names, tables, strict=True)]
        for warning in (warning for table in tables for warning in table.warnings):
            warn(warning)
    read = "; ".join(described)
    if as_json:
        print_json(({"read": read} if read else {}) | repeats | result.as_json())
        return
    if read:
        print(visible(f"{read}.\n"))
    print_answer(result.sentence())
    print_tables(result.tables())


def _is_folder(sources: Sequence[Path]) -> bool:
    """Whether the one source is an evaluation; an error for missing sources and for a mixture."""
    absent = [source for source in sources if not source.exists()]
    if absent:
        from qassay.formats.files import near_file

        message = "does not exist"
        raise InputError(Problem("configuration", f"{message}{near_file(source)}", str(source)) for source in absent)
    folders = [source for source in sources if source.is_dir()]
    if folders and len(sources) > 1:
        raise UsageError("stability takes one evaluation, or several tables of scores")
    return bool(folders)


def matrix_names(sources: Sequence[Path]) -> list[str]:
    """A name for each file: its name without extensions, or its path where two would be called the same.

    >>> matrix_names([Path("a/human.csv"), Path("a/model.csv.gz")])
    ['human', 'model']
    >>> matrix_names([Path("2003/scores.csv"), Path("2004/scores.csv")])
    ['2003/scores.csv', '2004/scores.csv']
    >>> matrix_names([Path("a.csv"), Path("a.csv")])
    ['a.csv', 'a.csv#2']
    """
    from qassay.formats.sources import stem_of

    stems = [stem_of(source) for source in sources]
    names = stems if len(set(stems)) == len(stems) else [str(source) for source in sources]
    return [name if name not in names[:i] else f"{name}#{names[: i + 1].count(name)}" for i, name in enumerate(names)]
