"""Shared by the commands on scores: where the scores come from, and the options that say how.

A folder is an evaluation, and its scores are computed; files are scores in any of the forms of FORMATS 7.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from qassay.cli.output import visible
from qassay.errors import InputError, Problem, Remedy, UsageError
from qassay.matrix import ScoreMatrix

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.formats.scores import ScoreTables
    from qassay.scoring import HowScored, Scores

SOURCES = "An evaluation, or scores: tables, logs, one file per system (NAME=FILE names the system)."
SourcesArgument: TypeAlias = Annotated[list[str], typer.Argument(metavar="SOURCE...", help=SOURCES)]
JUDGES = "An evaluation, or two tables or logs of scores, or more, one per judge (NAME=FILE names the judge)."
JudgesArgument: TypeAlias = Annotated[list[str], typer.Argument(metavar="SOURCE...", help=JUDGES)]
FolderArgument: TypeAlias = Annotated[Path, typer.Argument(metavar="FOLDER", help="An evaluation.")]
KeyOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--key", metavar="SET", help="The judgment set that scores are computed from (an evaluation)."),
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
    typer.Option("--missing", help="What to do where a run has no score: stop, count 0, or skip (leave it out)."),
]
UnjudgedOption: TypeAlias = Annotated[
    Literal["stop", "wrong", "drop"],
    typer.Option(
        "--unjudged",
        help="What to do with unjudged items: stop, count them wrong, or drop questions with no judgment at all.",
    ),
]
MetricOption: TypeAlias = Annotated[
    str | None, typer.Option("--metric", metavar="NAME", help="Metric to take from the scores, or all.")
]
SystemsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--systems", metavar="A,B,...", help="Systems to take from the scores, separated by commas."),
]
RepeatsOption: TypeAlias = Annotated[
    Literal["column", "rows"],
    typer.Option("--repeats", help="Repeats are named by a column, or are several rows of one question and system."),
]
QuestionColumnOption: TypeAlias = Annotated[
    str | None, typer.Option("--question-column", metavar="NAME", help="Column of a table: ids of the questions.")
]
SystemColumnOption: TypeAlias = Annotated[
    str | None, typer.Option("--system-column", metavar="NAME", help="Column of a long table: names of systems.")
]
ScoreColumnOption: TypeAlias = Annotated[
    str | None, typer.Option("--score-column", metavar="NAME", help="Column of a long table: scores.")
]
RepeatColumnOption: TypeAlias = Annotated[
    str | None, typer.Option("--repeat-column", metavar="NAME", help="Column of a long table: epochs, seeds.")
]
MetricColumnOption: TypeAlias = Annotated[
    str | None, typer.Option("--metric-column", metavar="NAME", help="Column of a long table: names of metrics.")
]
RunsAsRowsOption: TypeAlias = Annotated[
    bool, typer.Option("--runs-as-rows", help="The table has one row per system, its name in the first column.")
]
SheetOption: TypeAlias = Annotated[
    str | None, typer.Option("--sheet", metavar="NAME", help="Sheet of an Excel workbook; without it, the first.")
]
LowerIsBetterOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--lower-is-better", metavar="METRIC", help="Lower scores of this metric are better (or all); repeated."
    ),
]
SeriesFromOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--series-from",
        metavar="REGEX",
        help="Average questions into series, named by the first brackets of REGEX in their ids; for 141.2 '^([^.]+)'.",
    ),
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

    @property
    def how(self) -> HowScored:
        """All of them but the key, as the analyses of an evaluation take them."""
        return {
            "measure": self.measure,
            "component": self.component,
            "unjudged": self.unjudged,
            "missing": self.missing,
        }

    def scores(self, evaluation: Evaluation) -> Scores:
        """The scores of an evaluation."""
        return evaluation.score(self.key, **self.how)


@dataclass(frozen=True)
class TableOptions:
    """How tables and logs of scores are read."""

    metric: MetricOption = None
    systems: SystemsOption = None
    repeats: RepeatsOption = "column"
    question_column: QuestionColumnOption = None
    system_column: SystemColumnOption = None
    score_column: ScoreColumnOption = None
    repeat_column: RepeatColumnOption = None
    metric_column: MetricColumnOption = None
    runs_as_rows: RunsAsRowsOption = False
    series_from: SeriesFromOption = None
    lower_is_better: LowerIsBetterOption = None
    sheet: SheetOption = None

    @property
    def system_names(self) -> list[str] | None:
        """The systems that the option names; None where it was not given."""
        return names_in(self.systems) if self.systems else None

    @property
    def every_metric(self) -> bool:
        """Whether each metric is analysed."""
        return self.metric == "all"

    def given_options(self) -> dict[str, object]:
        """The options that were given, by their names."""
        names = [field for field in TableOptions.__dataclass_fields__ if field != "repeats"]
        values = {f"--{name.replace('_', '-')}": getattr(self, name) for name in names}
        return {**values, "--repeats": self.repeats != "column"}

    def read_tables(
        self,
        sources: Sequence[str | Path],
        missing: Literal["stop", "zero", "skip"],
        systems: Sequence[str] | None = None,
    ) -> ScoreTables:
        """The scores of files, of these systems or of those that the option names."""
        from qassay.formats.columns import Columns
        from qassay.formats.scores import read_scores

        columns = Columns(
            self.question_column, self.system_column, self.score_column, self.repeat_column, self.metric_column
        )
        return read_scores(
            list(sources),
            metric=self.metric,
            systems=systems or self.system_names,
            missing=missing,
            repeats=self.repeats,
            columns=columns,
            runs_as_rows=self.runs_as_rows,
            series_from=self.series_from,
            lower_is_better=self.lower_is_better or (),
            sheet=self.sheet,
        )


@dataclass(frozen=True)
class ScoringOptions(TableOptions, EvaluationOptions):
    """How the runs of a source, an evaluation or tables of scores, are scored.

    Options that do not apply to the source are an error, not ignored.
    """

    def read(self, sources: Sequence[str | Path], pair: tuple[str, str] | None = None) -> ScoreTables:
        """The score matrices of an evaluation (a folder) or of files, one per metric; those of a `pair` alone."""
        if is_evaluation(sources):
            refuse("a folder", self.given_options())
            from qassay.evaluation import open_evaluation
            from qassay.formats.scores import ScoreTables

            evaluation = open_evaluation(Path(sources[0]))
            matrix = (
                self.scores(evaluation).matrix if pair is None else evaluation.matrix_of(pair, self.key, **self.how)
            )
            return ScoreTables({matrix.measure: matrix})
        refuse_measure(self.measure)
        options = {"--key": self.key is not None, "--component": self.component is not None}
        refuse("a table of scores", options | {"--unjudged": self.unjudged != "stop"})
        return self.read_tables(sources, self.missing, pair)


def is_evaluation(sources: Sequence[str | Path]) -> bool:
    """Whether the source is an evaluation; an error where it is one among others."""
    folders = [source for source in sources if Path(source).is_dir()]
    if folders and len(sources) > 1:
        from qassay.formats.folder import NOT_AN_EVALUATION
        from qassay.formats.links import CONFIGURATION

        if not (Path(folders[0]) / CONFIGURATION).is_file():
            message = f"{NOT_AN_EVALUATION}. A folder is a source where it is an evaluation; name the files in this one"
            raise InputError(Problem("configuration", message, str(folders[0])))
        raise UsageError(f"{folders[0]} is an evaluation: it is analysed alone, without other sources")
    return bool(folders)


def announce(tables: ScoreTables, *, as_json: bool) -> None:
    """Say what was read in the first line, and warn of what is odd in the files."""
    for warning in tables.warnings:
        warn(warning)
    if tables.read and not as_json:
        print(visible(f"{tables.read[0].upper()}{tables.read[1:]}."))
        print()


def warn(warning: Problem) -> None:
    """Print a warning for people on stderr."""
    print(visible(f"warning: {warning.spelt(Remedy.on_command_line)}"), file=sys.stderr)


def about(matrix: ScoreMatrix) -> dict[str, object]:
    """The part of every JSON document about the scores: what they are, and their repeats."""
    facts: dict[str, object] = {"read": matrix.read} if matrix.read else {}
    return facts if matrix.repeats is None else facts | {"repeats": matrix.repeats.as_json(matrix.runs)}


def need_two_systems(matrix: ScoreMatrix, sources: Sequence[str | Path]) -> None:
    """Stop at scores of one system where two are compared."""
    if matrix.read and len(matrix.runs) < 2:
        message = (
            f"there is only one system, {matrix.runs[0]}. Give one file per system, or a table with two systems or more"
        )
        notes = " ".join(note for note in matrix.notes if "left out" in note)
        raise InputError(Problem("configuration", f"{message}. {notes}".rstrip(), ", ".join(map(str, sources))))


def takes_scoring(command: Callable[..., None]) -> Callable[..., None]:
    """Offer the fields of a record, such as `ScoringOptions`, as options of a command that has it as a parameter.

    The parser reads options off the signature of a function, one parameter each.
    """
    signature = inspect.signature(command, eval_str=True)
    annotations: dict[str, Any] = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    records = {name: kind for name, kind in annotations.items() if isinstance(kind, type) and is_dataclass(kind)}
    options = {name: inspect.signature(record, eval_str=True).parameters for name, record in records.items()}
    spelled_out: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        spelled_out += options[name].values() if name in options else [parameter]

    @functools.wraps(command)
    def called(**values: Any) -> None:
        built = {
            name: record(**{option: values.pop(option) for option in options[name]}) for name, record in records.items()
        }
        command(**built, **values)

    keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in spelled_out]
    called.__signature__ = signature.replace(parameters=keywords)  # type: ignore[attr-defined]
    return called


def refuse_measure(measure: object) -> None:
    """Stop at a measure of an evaluation where there is a table of scores."""
    if measure:
        raise UsageError("--measure is for an evaluation; a metric of a table is chosen with --metric NAME")


def refuse(kind: str, options: Mapping[str, object]) -> None:
    """Stop at options that mean nothing for this kind of source."""
    names = [name for name, value in options.items() if value]
    if names:
        instead = ". A metric of a table is chosen with --metric NAME" if "--measure" in names else ""
        raise UsageError(f"{' and '.join(names)} {'do' if len(names) > 1 else 'does'} not apply to {kind}{instead}")


def names_in(texts: Sequence[str]) -> list[str]:
    """The names in options that take several, separated by commas, each once."""
    return list(dict.fromkeys(part.strip() for text in texts for part in text.split(",") if part.strip()))
