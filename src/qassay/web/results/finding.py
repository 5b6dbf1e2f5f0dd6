"""The request to a study and its findings, as plain data that travels between processes; tables as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Field

from qassay.display import as_sentence
from qassay.errors import Problem, UsageError, unknown
from qassay.evaluation import Evaluation
from qassay.measures import MEASURES, Measure
from qassay.measures import measure as parse_measure
from qassay.measures.holistic import Content, Holistic, Organization
from qassay.measures.justification import Correctness, Understandability
from qassay.measures.reciprocal_rank import LenientReciprocalRank, ReciprocalRank
from qassay.measures.weighted_types import FinalScore, SeriesScore
from qassay.pages import About, Exhibit
from qassay.scoring import HowScored, Missing, Scores, Unjudged
from qassay.studies import NothingYetError, study
from qassay.studies.correcting import with_corrected
from qassay.tables import Cell, Column, Table, no_formula, table
from qassay.tally import block_of
from qassay.tasks import Task

if TYPE_CHECKING:
    from qassay.figures import Figure

# Measures with a parameter are offered with these values of it.
BETAS = (1, 3, 5)
Progress: TypeAlias = Callable[[int, int], None]
# Options of studies, as an address may name them.
Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
Names: TypeAlias = Annotated[tuple[Name, ...], Field(max_length=50)]
Page: TypeAlias = Annotated[int, Field(ge=1, le=1_000_000)]
Kind: TypeAlias = Literal["factoid", "list", "definition", "other", "pair", "qa"]
# What a figure can be saved as.
Form: TypeAlias = Literal["svg", "png", "pdf", "csv"]
# Rows of a table and characters of a cell that a page shows at most; its CSV has all.
ROWS_SHOWN = 500
# Characters of a picture: one that is larger is left to the report.
LARGEST_PICTURE = 1_000_000
# Cells of the table of a picture: that of a larger one is left to the tables of its page.
LARGEST_TABLE = 100_000
CHARACTERS_SHOWN = 10_000
_BATCH = 1_000
Study: TypeAlias = Callable[..., "Finding"]
_last: dict[str, tuple[Evaluation, Choice, Scores]] = {}


@dataclass(frozen=True, slots=True)
class Choice:
    """How runs are scored: None is the default of the evaluation or of its task."""

    key: str | None = None
    measure: str | None = None
    component: str | None = None
    unjudged: Unjudged = "stop"
    missing: Missing = "stop"

    @property
    def how(self) -> HowScored:
        """All of them but the key, as the analyses of an evaluation take them."""
        return {
            "measure": self.measure,
            "component": self.component,
            "unjudged": self.unjudged,
            "missing": self.missing,
        }

    @property
    def measures(self) -> tuple[str, ...]:
        """The measure, for a study that takes several."""
        return () if self.measure is None else (self.measure,)

    def changed(self) -> dict[str, str]:
        """The options that differ from the default, for an address."""
        return {
            option.name: value for option in fields(self) if (value := getattr(self, option.name)) != option.default
        }


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """The choices on offer."""

    keys: tuple[str, ...]
    default_key: str | None
    sets: tuple[str, ...]
    measures: tuple[str, ...]
    components: tuple[str, ...]
    runs: tuple[str, ...]
    # The sets of programs.
    automatic: tuple[str, ...] = ()
    # Scores are averaged over series.
    by_series: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """Which part of a longer table is here: `size` of `total`, from `first` (0 is the beginning)."""

    first: int
    size: int
    total: int
    of: str = "rows"


@dataclass(frozen=True, slots=True)
class Part:
    """One table of a finding; `window` is None where all its rows are here.

    `subjects[i]` is what row i is about; the cell in `column` leads there.
    """

    name: str
    table: Table
    about: About | None = None
    subjects: tuple[str, ...] = ()
    column: int = 0
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure as a page shows it: SVG without scripts and styles, in the colours of the page.

    `table` has its numbers; it is left out where there are very many.
    """

    name: str
    title: str
    caption: str
    svg: str
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """The findings of a study: the answer in a sentence, pictures, tables.

    `document` is what the command prints with --json, and `left_out` says what of it is too large for a page.
    `columns` is set where the columns, too, are a window on more.
    """

    parts: tuple[Part, ...]
    document: Mapping[str, Any] = field(default_factory=dict)
    answer: str = ""
    left_out: str | None = None
    columns: Window | None = None
    pictures: tuple[Picture, ...] = ()

    def part(self, name: str) -> Part | None:
        """The table with this name."""
        return next((part for part in self.parts if part.name == name), None)

    def picture(self, name: str) -> Picture | None:
        """The figure with this name."""
        return next((picture for picture in self.pictures if picture.name == name), None)


@dataclass(frozen=True, slots=True)
class StudyPage:
    """The page of a study, as plain data: what computes it in another process."""

    name: str

    def __call__(self, evaluation: Evaluation, choice: Choice, progress: Progress, **options: Any) -> Finding:
        """The record of the study, as its page shows it."""
        chosen = study(self.name)
        how = {
            offered.name: getattr(choice, offered.name) for offered in chosen.options if hasattr(choice, offered.name)
        }
        reporting = {"progress": progress} if chosen.reports_progress else {}
        try:
            result = chosen.compute(evaluation, **how, **options, **reporting)
        except NothingYetError as error:
            return Finding((), answer=as_sentence(error.problems[0].message))
        page, document = chosen.page(result), result.as_json()
        if chosen.corrected is not None:
            corrected = chosen.corrected(evaluation, **how, **options)
            page = with_corrected(page, corrected)
            document |= {} if corrected is None or isinstance(corrected, str) else {"corrected": corrected.as_json()}
        for name in page.left_out.keys if page.left_out is not None else ():
            del document[name]
        parts = tuple(_part(exhibit) for exhibit in page.exhibits if exhibit.table is not None)
        drawn = pictures(*(exhibit.draw for exhibit in page.exhibits if exhibit.draw is not None))
        where = None if page.left_out is None else page.left_out.where
        return Finding(parts, document, " ".join((*page.answer, *page.notes)), where, pictures=drawn)


def _part(exhibit: Exhibit) -> Part:
    assert exhibit.table is not None
    return Part(exhibit.name, exhibit.table, exhibit.links.about, exhibit.links.subjects, exhibit.links.column)


@dataclass(frozen=True, slots=True)
class StudyRequest:
    """A request to the evaluation in a folder: a study, how runs are scored, and the study's own options.

    With `whole`, no table is cut. A request with a file has the table `part` written there as CSV. Questions that are
    `unfinished` are left out, and in tasks that score series the series that they are in.
    """

    folder: str
    study: Study
    choice: Choice = field(default_factory=Choice)
    options: tuple[tuple[str, Any], ...] = ()
    whole: bool = False
    # Whether it gives way to those that take less time.
    slow: bool = False
    part: str | None = None
    file: str | None = None
    provisional: str | None = None
    unfinished: tuple[str, ...] = ()

    def compute(self, evaluation: Evaluation, progress: Progress) -> Finding:
        """The study's finding, its tables cut to what a page shows unless they are wanted whole."""
        finding = self.study(evaluation, self.choice, progress, **dict(self.options))
        if self.whole:
            return finding
        parts = tuple(clipped(part if part.window else cut(part)) for part in finding.parts)
        return replace(finding, parts=parts)


@dataclass(frozen=True, slots=True)
class StudyResult:
    """The options that the evaluation offers (None where it cannot be read), and the finding, or why there is none."""

    offer: ScoringOptions | None
    finding: Finding | None = None
    message: str = ""
    problems: tuple[Problem, ...] = ()


def pictures(*draw: Callable[[], Figure]) -> tuple[Picture, ...]:
    """The pictures of these figures, in order; without those for which the results or the packages are not there."""
    drawn_pictures = []
    for drawing in draw:
        with suppress(UsageError):
            drawn = drawing()
            svg = drawn.svg(alone=False)
            if len(svg) <= LARGEST_PICTURE:
                numbers = drawn.table if len(drawn.table.rows) * len(drawn.table.columns) <= LARGEST_TABLE else None
                drawn_pictures.append(Picture(drawn.name, drawn.title, drawn.caption, svg, numbers))
    return tuple(drawn_pictures)


def restricted(evaluation: Evaluation, unfinished: Iterable[str]) -> Evaluation:
    """The evaluation without questions whose judging is not finished; a series is finished as a whole."""
    by_id = evaluation.questions.by_id
    by_series = evaluation.task.unit == "series"
    names = (by_id[name].series if by_series else name for name in unfinished if name in by_id)
    drop = {name: "not finished" for name in names if name is not None}
    configuration = evaluation.configuration
    return replace(evaluation, configuration=replace(configuration, drop={**drop, **configuration.drop}))


def cut(part: Part, first: int = 0, most: int | None = ROWS_SHOWN) -> Part:
    """The part with some of its rows; all of them without `most`."""
    total = len(part.table.rows)
    if most is None or (first == 0 and total <= most):
        return part
    rows = part.table.rows[first : first + most]
    return replace(
        part,
        table=replace(part.table, rows=rows),
        subjects=part.subjects[first : first + most],
        window=Window(first, len(rows), total),
    )


def clipped(part: Part) -> Part:
    """The part with its longest texts cut short, saying so."""
    rows = tuple(tuple(map(_clip, row)) for row in part.table.rows)
    return part if rows == part.table.rows else replace(part, table=replace(part.table, rows=rows))


def _clip(cell: Cell) -> Cell:
    if not isinstance(cell, str) or len(cell) <= CHARACTERS_SHOWN:
        return cell
    return f"{cell[:CHARACTERS_SHOWN]}… ({len(cell):,} characters in all; the CSV has them)"


def scored(evaluation: Evaluation, choice: Choice) -> Scores:
    """The scores of an evaluation; the last ones are kept, since the next page asks for them again."""
    cached = _last.get("scores")
    if cached is not None and cached[0] is evaluation and cached[1] == choice:
        return cached[2]
    scores = evaluation.score(choice.key, **choice.how)
    _last["scores"] = (evaluation, choice, scores)
    return scores


def contingency_table(title: str, counts: Mapping[str, Mapping[str, int]]) -> Table:
    """Reference answers (rows) against decisions (columns)."""
    labels = list(counts)
    rows: list[tuple[Cell, ...]] = [(label, *row.values(), sum(row.values())) for label, row in counts.items()]
    sums = [sum(counts[row][label] for row in labels) for label in labels]
    columns: list[Column | str] = ["reference", *map(Column, labels), Column("all")]
    return table(f"{title}: reference (rows) and response (columns)", columns, [*rows, ("all", *sums, sum(sums))])


def csv_lines(table: Table, *, provisional: str | None = None) -> Iterator[str]:
    """The CSV of a table in pieces; provisional results say so in a column of their own."""
    marked = [provisional] if provisional else []
    yield _written([[*(_cell(column.header) for column in table.columns), *(["provisional"] if provisional else [])]])
    for start in range(0, len(table.rows), _BATCH):
        yield _written([*map(_cell, row), *marked] for row in table.rows[start : start + _BATCH])


def _cell(cell: Cell) -> str | int | float:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return no_formula(cell) if isinstance(cell, str) else cell


def _written(rows: Iterable[list[str | int | float]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


# ---- what an evaluation offers ---------------------------------------------------------------------------------------


def scoring_options(evaluation: Evaluation) -> ScoringOptions:
    """The choices of an evaluation; runs that cannot be read are left out."""
    used = set(evaluation.questions.types)
    types = tuple(kind for kind in evaluation.task.types if kind in used)
    return ScoringOptions(
        keys=(
            *evaluation.sets,
            *(name for name in evaluation.derived_sets if name not in evaluation.sets),
            *evaluation.role_sets,
            *evaluation.voted_keys,
        ),
        default_key=evaluation.default_key(),
        sets=(*evaluation.sets, *evaluation.role_sets),
        measures=offered_measures(evaluation.task, types),
        components=types if len(types) > 1 else (),
        runs=evaluation.run_files.runs.tags,
        automatic=tuple(sorted(evaluation.automatic_sets)),
        by_series=evaluation.task.unit == "series",
    )


def measures_of(task: Task) -> tuple[str, ...]:
    """The measures that can score the questions of a task, its own first."""
    blocks = {block_of(task, kind) for kind in task.types}
    names = [task.measure, *(rules.score for rules in task.types.values())]
    names += [name for name in task.components if name not in task.types]
    for name, kind in MEASURES.items():
        if kind is SeriesScore:
            names += [name] if task.unit == "series" else []
        elif kind is FinalScore:
            names += [name] if len(task.types) > 1 else []
        elif kind.needs in blocks:
            needs_beta = any(parameter.name == "beta" for parameter in fields(kind))
            names += [f"{name}(beta={beta})" for beta in BETAS] if needs_beta else [name]
    return tuple(dict.fromkeys(str(parse_measure(name)) for name in names))


def offered_measures(task: Task, types: Sequence[str]) -> tuple[str, ...]:
    """The measures that fit the types of the questions; of measures of opinions, those that the task names."""
    blocks = {block_of(task, kind) for kind in types}
    names = {task.measure, *(task.types[kind].score for kind in types), *task.components} - set(task.types)
    task_measures = {str(parse_measure(name)) for name in names}

    def fits(name: str) -> bool:
        measure = parse_measure(name)
        if isinstance(measure, FinalScore):
            return len(types) > 1
        if measure.needs is None:
            return True
        return measure.needs in blocks and (name in task_measures or _says_something(measure, task))

    return tuple(name for name in measures_of(task) if fits(name))


def _says_something(measure: Measure, task: Task) -> bool:
    """Whether a measure that can be computed is more than another one under a second name, or of nothing."""
    if measure.ordered:
        return task.ordered
    if isinstance(measure, ReciprocalRank | LenientReciprocalRank):
        return task.has("ranked")
    if isinstance(measure, Understandability | Correctness):
        return task.has("justified")
    return not isinstance(measure, Content | Organization | Holistic)


def check(choice: Choice, offered: ScoringOptions, task: Task) -> None:
    """An error where a choice is not on its list; an address may name measures that nobody is led to."""
    for kind, value, offered_values in (
        ("key", choice.key, offered.keys),
        ("measure", choice.measure, measures_of(task)),
        ("component", choice.component, offered.components),
    ):
        if value and value not in offered_values:
            raise unknown(kind, value, offered_values)
