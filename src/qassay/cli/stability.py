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
    RunsAsRowsOption,
    ScoringOptions,
    SeriesFromOption,
    SetsOption,
    UnjudgedOption,
    named_sets,
    refuse,
)
from qassay.cli.output import print_json, print_tables, progress
from qassay.errors import InputError, Problem, UsageError, unknown

SUFFIXES = (".gz", ".zst", ".csv", ".tsv", ".parquet")


def command(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="FOLDER|CSV", help="An evaluation, or two score matrices or more (CSV or Parquet)."),
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
    runs_as_rows: RunsAsRowsOption = False,
    series_from: SeriesFromOption = None,
    as_json: JsonOption = False,
) -> None:
    """Rankings under different judgment sets.

    Scores every run of an evaluation under each of its judgment sets and
    compares the rankings: Kendall's tau and tau_AP, the runs that change
    places and how far apart they were, the largest change of a score.
    Or compares the rankings of several score matrices of the same runs,
    named by their files; the first one is the reference then.

    Examples

      qassay stability my-eval
      qassay stability my-eval --sets adjudicated,first,second
      qassay stability my-eval --measure cws --measure accuracy
      qassay stability human.csv model.csv
    """
    from qassay.analysis import stability

    if _is_folder(sources):
        refuse("an evaluation", {"--runs-as-rows": runs_as_rows, "--series-from": series_from})
        from qassay.evaluation import open_evaluation

        evaluation = open_evaluation(sources[0])
        with progress("comparing rankings") as update:
            result = stability(
                evaluation,
                sets=named_sets(sets, [*evaluation.sets, *evaluation.derived_sets]),
                measures=measure or (),
                reference=reference,
                component=component,
                unjudged=unjudged,
                missing=missing,
                progress=update,
            )
    else:
        given = {"--sets": sets, "--measure": measure, "--component": component, "--unjudged": unjudged != "stop"}
        refuse("score matrices", given)
        if len(sources) < 2:
            raise UsageError("one score matrix has one ranking; give two files or more, or an evaluation")
        scoring = ScoringOptions(missing=missing, runs_as_rows=runs_as_rows, series_from=series_from)
        matrices = [scoring.matrix(source) for source in sources]
        names = matrix_names(sources)
        if reference is not None and reference not in names:
            raise unknown("score matrix", reference, names)
        with progress("comparing rankings") as update:
            result = stability(dict(zip(names, matrices, strict=True)), reference=reference, progress=update)
    print_json(result.as_json()) if as_json else print_tables(result.tables())


def _is_folder(sources: Sequence[Path]) -> bool:
    """Whether the one source is an evaluation; an error for what is not there and for a mixture."""
    absent = [Problem("configuration", "does not exist", str(source)) for source in sources if not source.exists()]
    if absent:
        raise InputError(absent)
    folders = [source for source in sources if source.is_dir()]
    if folders and len(sources) > 1:
        raise UsageError("stability takes one evaluation, or several score matrices")
    return bool(folders)


def matrix_names(sources: Sequence[Path]) -> list[str]:
    """What to call each file: its name without extensions, or its path where two would be called the same.

    >>> matrix_names([Path("a/human.csv"), Path("a/model.csv.gz")])
    ['human', 'model']
    >>> matrix_names([Path("2003/scores.csv"), Path("2004/scores.csv")])
    ['2003/scores.csv', '2004/scores.csv']
    >>> matrix_names([Path("a.csv"), Path("a.csv")])
    ['a.csv', 'a.csv#2']
    """
    stems = []
    for source in sources:
        stem = source.name
        for suffix in SUFFIXES:
            stem = stem.removesuffix(suffix)
        stems.append(stem or source.name)
    names = stems if len(set(stems)) == len(stems) else [str(source) for source in sources]
    return [name if name not in names[:i] else f"{name}#{names[: i + 1].count(name)}" for i, name in enumerate(names)]
