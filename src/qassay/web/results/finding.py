"""The request to a study and its findings, as plain data that travels between processes; tables as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Field

from qassay.display import as_sentence
from qassay.errors import Problem, Remedy, UsageError
from qassay.evaluation import Evaluation
from qassay.pages import About, Links
from qassay.studies import NothingYetError, study
from qassay.studies.correcting import with_corrected
from qassay.tables import Cell, Table, no_formula
from qassay.web.results.choices import ScoringChoices

if TYPE_CHECKING:
    from qassay.figures import Figure

Progress: TypeAlias = Callable[[int, int], None]
# Options of studies, as an address may name them.
Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
Names: TypeAlias = Annotated[tuple[Name, ...], Field(max_length=50)]
Number: TypeAlias = Annotated[int, Field(ge=1, le=1_000_000)]
# What a figure can be saved as.
Form: TypeAlias = Literal["svg", "png", "pdf", "csv"]
# Characters of a cell that a page shows at most, and columns of a table that has many runs; its CSV has all.
CHARACTERS_SHOWN = 10_000
COLUMNS_SHOWN = 20
NOUNS: Mapping[About, str] = {"run": "runs", "question": "questions", "series": "series"}
# Characters of a picture: one that is larger is left to the report.
LARGEST_PICTURE = 1_000_000
# Cells of the table of a picture: that of a larger one is left to the tables of its page.
LARGEST_TABLE = 100_000
_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Window:
    """Which part of a longer table is here: `size` of `total`, from `first` (0 is the beginning)."""

    first: int
    size: int
    total: int
    of: str = "rows"


@dataclass(frozen=True, slots=True)
class Part:
    """One table of a finding, with what its exhibit says of it; a window is None where all its rows are here."""

    name: str
    table: Table
    links: Links = field(default_factory=Links)
    at_once: int = 500
    fixed: int = 0
    window: Window | None = None
    across: Window | None = None
    # Whether the table is here as it is: nothing of it is left to the CSV.
    is_whole: bool = True


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
    """

    parts: tuple[Part, ...]
    document: Mapping[str, Any] = field(default_factory=dict)
    answer: str = ""
    left_out: str | None = None
    pictures: tuple[Picture, ...] = ()

    def part(self, name: str) -> Part | None:
        """The table with this name."""
        return next((part for part in self.parts if part.name == name), None)

    def picture(self, name: str) -> Picture | None:
        """The figure with this name."""
        return next((picture for picture in self.pictures if picture.name == name), None)


def find(
    name: str,
    evaluation: Evaluation,
    chosen: Mapping[str, Any] = MappingProxyType({}),
    progress: Progress = lambda done, total: None,
    *,
    with_pictures: bool = True,
) -> Finding:
    """The record of a study with these options, as its page shows it."""
    asked = study(name)
    options, shown = (
        {option.name: chosen[option.name] for option in offered if option.name in chosen}
        for offered in (asked.options, asked.shown_options)
    )
    reporting = {"progress": progress} if asked.reports_progress else {}
    try:
        result = asked.compute(evaluation, **options, **reporting)
    except NothingYetError as error:
        return Finding((), answer=as_sentence(error.problems[0].message))
    page, document = asked.page(result, **shown), result.as_json()
    if asked.corrected is not None:
        corrected = asked.corrected(evaluation, **options)
        page = with_corrected(page, corrected)
        document |= {} if corrected is None or isinstance(corrected, str) else {"corrected": corrected.as_json()}
    for key in page.left_out.keys if page.left_out is not None else ():
        del document[key]
    parts = tuple(
        Part(exhibit.name, exhibit.table, exhibit.links, exhibit.at_once, exhibit.fixed)
        for exhibit in page.exhibits
        if exhibit.table is not None
    )
    drawn = pictures(*(exhibit.draw for exhibit in page.exhibits if exhibit.draw is not None and with_pictures))
    where = None if page.left_out is None else page.left_out.where
    return Finding(parts, document, " ".join((*page.answer, *page.notes)), where, pictures=drawn)


@dataclass(frozen=True, slots=True)
class StudyRequest:
    """A request to the evaluation in a folder: a study and its options, which say how runs are scored too.

    Of long tables `page` is the part that is wanted, and `across` that of many columns; figures are on the first. A
    request with a file has the whole table `part` written there as CSV. Questions that are `unfinished` are left out,
    and in tasks that score series the series that they are in.
    """

    folder: str
    study: str
    options: tuple[tuple[str, Any], ...] = ()
    page: int = 1
    across: int = 1
    # Whether it gives way to those that take less time.
    slow: bool = False
    part: str | None = None
    file: str | None = None
    provisional: str | None = None
    unfinished: tuple[str, ...] = ()

    def compute(self, evaluation: Evaluation, progress: Progress) -> Finding:
        """The study's finding, its tables cut to what a page shows unless one is wanted whole."""
        whole = self.file is not None
        first = self.page == self.across == 1 and not whole
        finding = find(self.study, evaluation, dict(self.options), progress, with_pictures=first)
        if whole:
            return finding
        return replace(finding, parts=tuple(cut(part, self.page, self.across) for part in finding.parts))


@dataclass(frozen=True, slots=True)
class StudyResult:
    """The options that the evaluation offers (None where it cannot be read), and the finding, or why there is none."""

    offer: ScoringChoices | None
    finding: Finding | None = None
    message: str = ""
    problems: tuple[Problem, ...] = ()
    way_out: tuple[Remedy, ...] = ()


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


def cut(part: Part, page: int = 1, across: int = 1) -> Part:
    """This page of the part and of its columns; its longest texts are cut short, saying so."""
    table, links, window, over = part.table, part.links, None, None
    if len(table.rows) > part.at_once:
        here = slice(part.at_once * (page - 1), part.at_once * page)
        # A question may have several rows.
        each = links.about is not None and len(set(links.subjects)) == len(links.subjects)
        rows = table.rows[here]
        window = Window(here.start, len(rows), len(table.rows), NOUNS[links.about] if each and links.about else "rows")
        table, links = replace(table, rows=rows), replace(links, subjects=links.subjects[here])
    if part.fixed and len(table.columns) - part.fixed > COLUMNS_SHOWN:
        begin = part.fixed + COLUMNS_SHOWN * (across - 1)
        places = [*range(part.fixed), *range(len(table.columns))[begin : begin + COLUMNS_SHOWN]]
        over = Window(begin - part.fixed, len(places) - part.fixed, len(table.columns) - part.fixed, "runs")
        rows = tuple(tuple(row[place] for place in places) for row in table.rows)
        table = replace(table, columns=tuple(table.columns[place] for place in places), rows=rows)
    shown = replace(table, rows=tuple(tuple(map(_clip, row)) for row in table.rows))
    return replace(part, table=shown, links=links, window=window, across=over, is_whole=shown == part.table)


def _clip(cell: Cell) -> Cell:
    if not isinstance(cell, str) or len(cell) <= CHARACTERS_SHOWN:
        return cell
    return f"{cell[:CHARACTERS_SHOWN]}… ({len(cell):,} characters in all; the CSV has them)"


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
