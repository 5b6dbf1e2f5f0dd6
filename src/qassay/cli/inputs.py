"""What the commands on scores share: where the scores come from, and the options that say how.

A folder is an evaluation, and its scores are computed; a file is a bare score matrix, and is read as it is.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from qassay.errors import UsageError, unknown
from qassay.matrix import ScoreMatrix

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.scoring import Scores

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
    Literal["stop", "zero", "skip"],
    typer.Option("--missing", help="What to do where a run has no score: stop, count 0, or skip."),
]
UnjudgedOption: TypeAlias = Annotated[
    Literal["stop", "wrong", "drop"],
    typer.Option("--unjudged", help="What to do with unjudged items: stop, count them wrong, or drop."),
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
SetsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--sets", metavar="A,B,...", help="Judgment sets to compare, separated by commas."),
]
SeedOption: TypeAlias = Annotated[int, typer.Option("--seed", min=0, help="Seed of the random draws.")]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]


@dataclass(frozen=True)
class EvaluationOptions:
    """How the runs of an evaluation are scored, as the options of a command say it."""

    key: KeyOption = None
    measure: MeasureOption = None
    component: ComponentOption = None
    unjudged: UnjudgedOption = "stop"
    missing: MissingOption = "stop"

    def scores(self, evaluation: Evaluation) -> Scores:
        """The scores of an evaluation."""
        return evaluation.score(
            self.key, measure=self.measure, component=self.component, unjudged=self.unjudged, missing=self.missing
        )


@dataclass(frozen=True)
class ScoringOptions(EvaluationOptions):
    """How the runs of a source, an evaluation or a score matrix, are scored.

    Options that do not apply to the source are an error, not ignored.
    """

    runs_as_rows: RunsAsRowsOption = False
    series_from: SeriesFromOption = None

    def check_folder(self) -> None:
        """Stop at options that are for files only."""
        refuse("a folder", {"--runs-as-rows": self.runs_as_rows, "--series-from": self.series_from is not None})

    def matrix(self, source: Path) -> ScoreMatrix:
        """The score matrix of an evaluation (a folder) or of a file."""
        if source.is_dir():
            self.check_folder()
            from qassay.evaluation import open_evaluation

            return self.scores(open_evaluation(source)).matrix
        given = {"--key": self.key is not None, "--component": self.component is not None}
        refuse("a score matrix", given | {"--unjudged": self.unjudged != "stop"})
        from qassay.formats.matrix import read_matrix

        return read_matrix(
            source,
            runs_as_rows=self.runs_as_rows,
            missing=self.missing,
            series_from=self.series_from,
            measure=self.measure or "score",
        )


def takes_scoring(command: Callable[..., None]) -> Callable[..., None]:
    """Offer the options of a record, `EvaluationOptions` or `ScoringOptions`, as the parameter `scoring` of a command.

    The parser reads options off the signature of a function, one parameter each.
    """
    own = inspect.signature(command, eval_str=True)
    record = own.parameters["scoring"].annotation
    options = inspect.signature(record, eval_str=True).parameters
    spelled_out: list[inspect.Parameter] = []
    for name, parameter in own.parameters.items():
        spelled_out += options.values() if name == "scoring" else [parameter]

    @functools.wraps(command)
    def called(**given: Any) -> None:
        scoring = record(**{name: given.pop(name) for name in options})
        command(scoring=scoring, **given)

    keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in spelled_out]
    called.__signature__ = own.replace(parameters=keywords)  # type: ignore[attr-defined]
    return called


def refuse(kind: str, given: Mapping[str, object]) -> None:
    """Stop at options that mean nothing for this kind of source."""
    names = [name for name, value in given.items() if value]
    if names:
        raise UsageError(f"{' and '.join(names)} {'do' if len(names) > 1 else 'does'} not apply to {kind}")


def named_sets(given: Sequence[str] | None, known: Iterable[str]) -> list[str] | None:
    """The sets that the option names, in its order, each once; None where it was not given."""
    if not given:
        return None
    names = list(dict.fromkeys(part.strip() for text in given for part in text.split(",") if part.strip()))
    everything = list(known)
    for name in names:
        if name not in everything:
            raise unknown("judgment set", name, everything)
    if len(names) < 2:
        raise UsageError("--sets takes two judgment sets or more, such as --sets first,second")
    return names
