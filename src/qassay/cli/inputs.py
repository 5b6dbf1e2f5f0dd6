"""What the commands on scores share: where the scores come from, and the options that say how.

A folder is an evaluation, and its scores are computed; a file is a bare score matrix, and is read as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix

Missing: TypeAlias = Literal["stop", "zero", "skip"]
Unjudged: TypeAlias = Literal["stop", "wrong", "drop"]

SourceArgument: TypeAlias = Annotated[
    Path, typer.Argument(metavar="FOLDER|CSV", help="An evaluation, or a score matrix (CSV or Parquet).")
]
FolderArgument: TypeAlias = Annotated[Path, typer.Argument(metavar="FOLDER", help="An evaluation.")]
KeyOption: TypeAlias = Annotated[
    str | None, typer.Option("--key", metavar="SET", help="Judgment set to score with (an evaluation).")
]
MeasureOption: TypeAlias = Annotated[
    str | None, typer.Option("--measure", metavar="NAME", help='Measure, such as "nugget_f(beta=5)" (an evaluation).')
]
ComponentOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--component", metavar="TYPE", help="Only the questions of this type: factoid, list, definition, other."
    ),
]
MissingOption: TypeAlias = Annotated[
    Missing, typer.Option("--missing", help="What to do where a run has no score: stop, count 0, or skip.")
]
UnjudgedOption: TypeAlias = Annotated[
    Unjudged, typer.Option("--unjudged", help="What to do with unjudged items: stop, count them wrong, or drop.")
]
RunsAsRowsOption: TypeAlias = Annotated[
    bool, typer.Option("--runs-as-rows", help="The score matrix has one row a run, its tag in the first column.")
]
SeriesFromOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--series-from",
        metavar="REGEX",
        help="Average units into series named by the first group of their ids; for ids like 141.2 '^([^.]+)'.",
    ),
]
SeedOption: TypeAlias = Annotated[int, typer.Option("--seed", min=0, help="Seed of the random draws.")]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]


def load_matrix(
    source: Path,
    *,
    key: str | None = None,
    measure: str | None = None,
    component: str | None = None,
    missing: Missing = "stop",
    unjudged: Unjudged = "stop",
    runs_as_rows: bool = False,
    series_from: str | None = None,
) -> ScoreMatrix:
    """The score matrix of an evaluation (a folder) or of a file.

    An option that does not apply to what is there is an error, not ignored.
    """
    if source.is_dir():
        refuse("a folder", {"--runs-as-rows": runs_as_rows, "--series-from": series_from is not None})
        from qassay.evaluation import open_evaluation

        evaluation = open_evaluation(source)
        return evaluation.score(
            key=key, measure=measure, component=component, unjudged=unjudged, missing=missing
        ).matrix
    refuse(
        "a score matrix",
        {"--key": key is not None, "--component": component is not None, "--unjudged": unjudged != "stop"},
    )
    from qassay.formats.matrix import read_matrix

    return read_matrix(
        source, runs_as_rows=runs_as_rows, missing=missing, series_from=series_from, measure=measure or "score"
    )


def refuse(kind: str, given: Mapping[str, object]) -> None:
    """Stop at options that mean nothing for this kind of source."""
    names = [name for name, value in given.items() if value]
    if names:
        raise UsageError(f"{' and '.join(names)} {'do' if len(names) > 1 else 'does'} not apply to {kind}")
