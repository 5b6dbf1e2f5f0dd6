"""What is asked of a study and what it finds, as plain data that travels between processes; tables as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from qassay.errors import Problem
from qassay.evaluation import Evaluation
from qassay.scores import Scores
from qassay.tables import Cell, Column, Table, table
from qassay.web.results.choices import Choice, Offer

Progress: TypeAlias = Callable[[int, int], None]

# What the rows of a table are about, so that a page can lead there.
About: TypeAlias = Literal["run", "question", "series"]

# A page shows at most so many rows of a table, and characters of a cell; its CSV has all.
ROWS_SHOWN = 500
CHARACTERS_SHOWN = 10_000

# A spreadsheet takes a text that begins so for a formula, and runs it: answers and tags are other people's strings.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
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
class Finding:
    """What a study found.

    `document` is what the command prints with --json, and `left_out` says what of it is too large for a page.
    `columns` is set where the columns, too, are a window on more.
    """

    parts: tuple[Part, ...]
    document: Mapping[str, Any] = field(default_factory=dict)
    answer: str = ""
    left_out: str | None = None
    columns: Window | None = None

    def part(self, name: str) -> Part | None:
        """The table with this name."""
        return next((one for one in self.parts if one.name == name), None)


Study: TypeAlias = Callable[..., Finding]


@dataclass(frozen=True, slots=True)
class StudyRequest:
    """What is asked of the evaluation in a folder: a study, how runs are scored, and the study's own options.

    With `whole`, no table is cut. A request with a file has the table `part` written there as CSV.
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

    def compute(self, evaluation: Evaluation, progress: Progress) -> Finding:
        """The study's finding, its tables cut to what a page shows unless they are wanted whole."""
        finding = self.study(evaluation, self.choice, progress, **dict(self.options))
        if self.whole:
            return finding
        parts = tuple(clipped(part if part.window else cut(part)) for part in finding.parts)
        return replace(finding, parts=parts)


@dataclass(frozen=True, slots=True)
class StudyResult:
    """The options that the evaluation offers, and the finding, or the reason why there is none."""

    offer: Offer
    finding: Finding | None = None
    message: str = ""
    problems: tuple[Problem, ...] = ()


def parts_of(tables: Sequence[Table], name: str) -> tuple[Part, ...]:
    """Tables as parts that are named by their order."""
    return tuple(Part(f"{name}-{number}", one) for number, one in enumerate(tables, start=1))


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
    rows = part.table.rows
    if not any(_is_long(cell) for row in rows for cell in row):
        return part
    shorter = tuple(tuple(_clip(cell) if isinstance(cell, str) else cell for cell in row) for row in rows)
    return replace(part, table=replace(part.table, rows=shorter))


def _is_long(cell: Cell) -> bool:
    return isinstance(cell, str) and len(cell) > CHARACTERS_SHOWN


def _clip(text: str) -> str:
    if len(text) <= CHARACTERS_SHOWN:
        return text
    return f"{text[:CHARACTERS_SHOWN]}… ({len(text):,} characters in all; the CSV has them)"


def scored(evaluation: Evaluation, choice: Choice) -> Scores:
    """The scores of an evaluation; the last ones are kept, since the next page asks for them again."""
    kept = _last.get("scores")
    if kept is not None and kept[0] is evaluation and kept[1] == choice:
        return kept[2]
    scores = evaluation.score(**choice.as_options())
    _last["scores"] = (evaluation, choice, scores)
    return scores


_last: dict[str, tuple[Evaluation, Choice, Scores]] = {}


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
    if isinstance(cell, str) and cell.startswith(_FORMULA):
        return f"'{cell}"
    return cell


def _written(rows: Iterable[list[str | int | float]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
