"""What the commands on scores share: where the scores come from, and the options that say how.

A folder is an evaluation, and its scores are computed; a file is a bare score matrix, and is read as it is.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

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


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """How the runs of a source are scored, as the options of a command say it.

    What does not apply to the source that is there is an error, not ignored.
    """

    key: KeyOption = None
    measure: MeasureOption = None
    component: ComponentOption = None
    unjudged: UnjudgedOption = "stop"
    missing: MissingOption = "stop"
    runs_as_rows: RunsAsRowsOption = False
    series_from: SeriesFromOption = None

    def matrix(self, source: Path) -> ScoreMatrix:
        """The score matrix of an evaluation (a folder) or of a file."""
        return self._of_evaluation(source) if source.is_dir() else self._of_file(source)

    def _of_evaluation(self, folder: Path) -> ScoreMatrix:
        refuse("a folder", {"--runs-as-rows": self.runs_as_rows, "--series-from": self.series_from is not None})
        from qassay.evaluation import open_evaluation

        scores = open_evaluation(folder).score(
            self.key, measure=self.measure, component=self.component, unjudged=self.unjudged, missing=self.missing
        )
        return scores.matrix

    def _of_file(self, path: Path) -> ScoreMatrix:
        given = {"--key": self.key is not None, "--component": self.component is not None}
        refuse("a score matrix", given | {"--unjudged": self.unjudged != "stop"})
        from qassay.formats.matrix import read_matrix

        return read_matrix(
            path,
            runs_as_rows=self.runs_as_rows,
            missing=self.missing,
            series_from=self.series_from,
            measure=self.measure or "score",
        )


def takes_scoring(command: Callable[..., None]) -> Callable[..., None]:
    """Offer the options of `ScoringOptions` where a command has its parameter `scoring`.

    The parser reads options off the signature of a function, one parameter each.
    """
    own = inspect.signature(command, eval_str=True)
    options = inspect.signature(ScoringOptions, eval_str=True).parameters
    spelled_out: list[inspect.Parameter] = []
    for name, parameter in own.parameters.items():
        spelled_out += options.values() if name == "scoring" else [parameter]

    @functools.wraps(command)
    def called(**given: Any) -> None:
        scoring = ScoringOptions(**{name: given.pop(name) for name in options})
        command(scoring=scoring, **given)

    keywords = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in spelled_out]
    called.__signature__ = own.replace(parameters=keywords)  # type: ignore[attr-defined]
    return called


def refuse(kind: str, given: Mapping[str, object]) -> None:
    """Stop at options that mean nothing for this kind of source."""
    names = [name for name, value in given.items() if value]
    if names:
        raise UsageError(f"{' and '.join(names)} {'do' if len(names) > 1 else 'does'} not apply to {kind}")
