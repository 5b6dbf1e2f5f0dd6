"""A bare score matrix, so that anyone's scores can be put on trial: CSV or Parquet. (FORMATS 5)

One row a unit and one column a run, or the transpose. Every cell that cannot be a score is reported, with its row
and column, before anything is computed; decimals are read as they are written, so that sums of them are exact.

Cells are read as text, because decimals are to be read as they are written; and by the csv module, because faster
readers rename duplicated columns and fill short rows without a word.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qassay.errors import InputError, Problem, UsageError, few
from qassay.formats.files import decode, read_bytes
from qassay.matrix import Floats, ScoreMatrix
from qassay.tables import plural

Missing: TypeAlias = Literal["stop", "zero", "skip"]
Booleans: TypeAlias = NDArray[np.bool_]

UNIT_HEADERS = ("", "unit", "id", "qid", "query_id", "question", "topic", "series")
RUN_HEADERS = ("", "run", "tag", "system")

# Integers up to here, and their sums, are exact in double precision.
EXACT = 2**53

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")


def read_matrix(
    path: str | Path,
    *,
    runs_as_rows: bool = False,
    missing: Missing = "stop",
    series_from: str | None = None,
    measure: str = "score",
) -> ScoreMatrix:
    """Read a score matrix from a CSV file (plain, gzip or zstandard) or a Parquet file.

    A cell that is empty or no number stops the reading, and so all of them are reported; with `missing="zero"`
    it counts as 0, with `"skip"` its unit is left out for every run. A column of text is no run that misses scores,
    and stops the reading whatever `missing` says. `series_from` is a regular expression whose
    first group, found in a unit's id, names its series: the units of the matrix are then the series, each with
    the mean of its units. What was applied stands in the notes of the matrix.
    """
    path = Path(path)
    grid = read_grid(path)
    labelled = _label(grid, runs_as_rows=runs_as_rows)
    values, digits, bad = _parse(grid, labelled)
    _refuse(grid, labelled, bad, stop=missing == "stop", runs_as_rows=runs_as_rows)
    scores, holes = (values, bad) if runs_as_rows else (values.T, bad.T)
    runs, units = labelled.rows, labelled.columns
    if not runs_as_rows:
        runs, units = units, runs
        _refuse_ids(grid, labelled, scores, holes)
    matrix = ScoreMatrix(
        runs=runs,
        units=units,
        values=np.ascontiguousarray(np.where(holes, 0.0, scores)),
        measure=measure,
        denominator=_denominator(values[~bad], digits, units=len(units)),
    )
    if holes.any():
        texts = text_among(grid.rows[i][labelled.first + j] for i, j in np.argwhere(bad).tolist())
        matrix = _fill(matrix, holes, missing, path)
        matrix = replace(matrix, notes=(*matrix.notes, *texts))
    return matrix if series_from is None else average_series(matrix, series_from)


def average_series(matrix: ScoreMatrix, pattern: str) -> ScoreMatrix:
    """The matrix whose units are series: the first group of `pattern` in a unit's id names its series.

    Exactness survives where it can: means over n units are whole numbers of 1/(n * denominator).
    """
    names = _series_names(matrix.units, pattern)
    series = tuple(dict.fromkeys(names))
    index = {name: i for i, name in enumerate(series)}
    which = np.array([index[name] for name in names])
    sizes = np.bincount(which)
    exact = matrix.numerators()
    source = matrix.values if exact is None else exact.astype(np.float64)
    sums: Floats = np.stack([np.bincount(which, weights=row, minlength=len(series)) for row in source])
    denominator = None
    if matrix.denominator is not None:
        denominator = matrix.denominator * math.lcm(*map(int, sizes))
        sums = sums / matrix.denominator
        if denominator * max(1.0, float(np.abs(sums / sizes).max(initial=0.0))) * len(series) >= EXACT:
            denominator = None
    note = f"{len(names)} units averaged into {len(series)} series."
    return replace(
        matrix, units=series, values=sums / sizes, denominator=denominator, notes=(*matrix.notes, note), clusters=None
    )


def format_matrix(matrix: ScoreMatrix) -> str:
    """The matrix as CSV text: one row a unit, every number at full precision."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["unit", *matrix.runs])
    for unit, column in zip(matrix.units, matrix.values.T.tolist(), strict=True):
        writer.writerow([unit, *(int(v) if v.is_integer() else repr(v) for v in column)])
    return text.getvalue()


def write_matrix(matrix: ScoreMatrix, path: str | Path) -> None:
    """Write the matrix as a CSV file that `read_matrix` reads back unchanged."""
    Path(path).write_text(format_matrix(matrix), encoding="utf-8", newline="")


@dataclass(frozen=True)
class _Labelled:
    """Where the names are: labels of rows and columns, and the first column that holds scores."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    first: int


def _label(grid: Grid, *, runs_as_rows: bool) -> _Labelled:
    """Names of rows and columns, checked: none empty, none twice."""
    header = [name.strip() for name in grid.header]
    allowed = RUN_HEADERS if runs_as_rows else UNIT_HEADERS
    named = header[0].lower() in allowed
    if runs_as_rows and not named:
        message = f"the first column is {header[0]!r}; with runs as rows its header is empty, run, tag or system"
        raise InputError(grid.problem(message))
    rows = [row[0].strip() for row in grid.rows] if named else [str(i + 1) for i in range(len(grid.rows))]
    columns = header[1:] if named else header
    problems = [
        *_names(grid, columns, "column", runs=not runs_as_rows),
        *_names(grid, rows, "row", runs=runs_as_rows),
    ]
    if not columns:
        problems.append(grid.problem(f"there are no {'units' if runs_as_rows else 'runs'}: only one column"))
    if not rows:
        problems.append(grid.problem(f"there are no {'runs' if runs_as_rows else 'units'}: only a header"))
    if problems:
        raise InputError(problems)
    return _Labelled(tuple(rows), tuple(columns), int(named))


def _names(grid: Grid, names: Sequence[str], axis: str, *, runs: bool) -> Iterator[Problem]:
    """What is wrong with the names along one axis."""
    kind = "run tag" if runs else "unit id"
    places: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        places.setdefault(name, []).append(i)
    offset = 1 if axis == "row" else 1 + len(grid.header) - len(names)
    for name, where in places.items():
        line = grid.line(where[-1]) if axis == "row" else grid.header_line
        numbers = ", ".join(str(grid.line(i) if axis == "row" else i + offset) for i in where)
        what = "column" if axis == "column" else "row" if grid.lines is None else "line"
        if not name:
            yield grid.problem(f"{what}{'s' * (len(where) > 1)} {numbers}: no {kind}", line=line)
        elif len(where) > 1:
            yield grid.problem(f"{kind} {name!r} stands {len(where)} times, in {what}s {numbers}", line=line)


def _parse(grid: Grid, labelled: _Labelled) -> tuple[Floats, int, Booleans]:
    """The numbers as they stand in the file, the decimal places they need, and which cells are none."""
    known: dict[str, float] = {}
    digits = 0
    for text in {cell for row in grid.rows for cell in row[labelled.first :]}:
        number = _number(text)
        known[text] = number
        if not math.isnan(number):
            digits = max(digits, _places(text.strip()))
    cells = [[known[cell] for cell in row[labelled.first :]] for row in grid.rows]
    values = np.array(cells, dtype=np.float64).reshape(len(labelled.rows), len(labelled.columns))
    return values, digits, np.isnan(values)


def _number(text: str) -> float:
    """The number a cell holds, or NaN. Stricter than float(): no words, no underscores, no infinity."""
    stripped = text.strip()
    number = float(stripped) if _NUMBER.fullmatch(stripped) else math.nan
    return number if math.isfinite(number) else math.nan


def _places(text: str) -> int:
    """Decimal places of a number as written.

    >>> _places("7e-04"), _places("0.50"), _places("1.0"), _places("12")
    (4, 1, 0, 0)
    """
    exponent = Decimal(text).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _denominator(values: Floats, digits: int, *, units: int) -> int | None:
    """The power of ten that makes every value whole, where sums over the units stay exact; else None."""
    if digits > 15:
        return None
    denominator = 10**digits
    largest = float(np.abs(values).max(initial=0.0))
    return denominator if denominator * max(1.0, largest) * units < EXACT else None


def _refuse(grid: Grid, labelled: _Labelled, bad: Booleans, *, stop: bool, runs_as_rows: bool) -> None:
    """Stop at a column that holds text where scores are due and, unless told otherwise, at every bad cell."""
    problems = []
    # Columns without a number in which two cells or more say something, each with the row of the first.
    text: dict[int, int] = {}
    for j in np.flatnonzero(bad.all(axis=0)).tolist():
        saying = [i for i, row in enumerate(grid.rows) if not is_absent(row[labelled.first + j])]
        if len(saying) > 1:
            text[j] = saying[0]
    names = not runs_as_rows and bad[:, 0].all() and any(row[labelled.first].strip() for row in grid.rows)
    if names and labelled.first == 0:
        problems.append(grid.problem(_not_scores(grid.header[0].strip()), line=grid.header_line))
        text[0] = -1
    for i, j in np.argwhere(bad).tolist():
        if (j in text and i != text[j]) or not (stop or j in text):
            continue  # said once, for the whole column
        what = complaint(grid.rows[i][labelled.first + j].strip())
        if j in text:
            what += "; the column holds no number at all: mend it, or leave it out"
        place = f"row {labelled.rows[i]}, column {labelled.columns[j]}"
        problems.append(grid.problem(f"{place}: {what}", line=grid.line(i)))
    if problems:
        raise InputError(problems)


def _refuse_ids(grid: Grid, labelled: _Labelled, scores: Floats, holes: Booleans) -> None:
    """Stop where the first run looks like the ids of the units: all different whole numbers, off the others' scale."""
    first, others = scores[0], scores[1:]
    if len(scores) < 2 or len(first) < 3 or holes.any() or np.abs(others).max() > 1 or first.max() <= 1:
        return
    if (first == np.rint(first)).all() and len(np.unique(first)) == len(first):
        header = labelled.columns[0]
        named = ", ".join(name for name in UNIT_HEADERS if name)
        message = f"the column {header!r} looks like the ids of the units, not like a run; call it one of {named}"
        raise InputError(grid.problem(message, line=grid.header_line))


def _not_scores(header: str) -> str:
    """What to say of a first column without a single number."""
    if header.lower() in RUN_HEADERS:
        return f"column {header!r} holds run tags, not scores; runs as rows are read with --runs-as-rows"
    ids = ", ".join(UNIT_HEADERS[1:])
    return f"column {header!r} holds no numbers; a column of unit ids has an empty header or one of {ids}"


def _fill(matrix: ScoreMatrix, holes: Booleans, missing: Missing, path: Path) -> ScoreMatrix:
    """Apply the rule for missing cells, and say so."""
    cells = int(holes.sum())
    if missing == "zero":
        note = f"{plural(cells, 'cell')} without a score counted as 0 (missing: zero)."
        return replace(matrix, notes=(*matrix.notes, note))
    kept = np.flatnonzero(~holes.any(axis=0))
    if not len(kept):
        raise InputError(Problem("syntax", "every unit has a cell without a score; none is left", str(path)))
    gone = len(matrix.units) - len(kept)
    note = f"{gone} of {plural(len(matrix.units), 'unit')} left out: a run has no score for them (missing: skip)."
    units = tuple(matrix.units[i] for i in kept)
    return replace(matrix, units=units, values=matrix.values[:, kept], notes=(*matrix.notes, note))


def _series_names(units: Sequence[str], pattern: str) -> list[str]:
    """The series of every unit; an error that names the units the pattern does not fit."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"series pattern {pattern!r} is not a regular expression: {error}") from None
    if compiled.groups < 1:
        raise UsageError(f"series pattern {pattern!r} has no group; for ids such as 141.2 write '^([^.]+)'")
    matches = [compiled.search(unit) for unit in units]
    lost = [unit for unit, match in zip(units, matches, strict=True) if match is None or match[1] is None]
    if lost:
        raise UsageError(f"series pattern {pattern!r} finds no series in {len(lost)} unit ids: {few(lost)}")
    return [match[1] for match in matches if match is not None]


@dataclass(frozen=True)
class Grid:
    """A header and rows of the same width. `lines` is None where the file has no lines (Parquet)."""

    path: Path
    header: list[str]
    rows: list[list[str]]
    lines: list[int] | None
    header_line: int | None = None

    def line(self, row: int) -> int:
        """The line on which a row starts; its number from 1 where the file has no lines."""
        return row + 1 if self.lines is None else self.lines[row]

    def problem(self, message: str, *, line: int | None = None) -> Problem:
        """A problem of this file."""
        return Problem("syntax", message, str(self.path), line if self.lines is not None else None)


def read_grid(path: Path) -> Grid:
    """Read a CSV file, plain or compressed, or a Parquet file; told apart by content."""
    content = read_bytes(path)
    if content.startswith(b"PAR1"):
        return _parquet(path, content)
    if content.startswith(b"PK\x03\x04"):
        message = "is no CSV file but an archive, perhaps an Excel workbook; save it as CSV"
        raise InputError(Problem("syntax", message, str(path)))
    return _csv(path, decode(content, file=str(path)))


def _csv(path: Path, text: str) -> Grid:
    """Rows as written; every row of another width than the header is reported."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    start = 1
    try:
        for row in reader:
            rows.append(row)
            lines.append(start)
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(Problem("syntax", f"not CSV: {error}", str(path), start)) from None
    while rows and not rows[-1]:
        rows.pop()
    blank = next((i for i, row in enumerate(rows) if row), len(rows))
    rows, lines = rows[blank:], lines[blank:]
    if not rows:
        raise InputError(Problem("syntax", "the file is empty", str(path)))
    header = rows[0]
    _refuse_separator(path, rows, lines[0])
    # In a file of one column a blank line is an empty cell; else it is no row at all.
    kept = [(row or [""], line) for row, line in zip(rows, lines, strict=False) if row or len(header) == 1]
    problems = [
        Problem("syntax", f"{len(row)} cells where the header has {len(header)}", str(path), line)
        for row, line in kept[1:]
        if len(row) != len(header)
    ]
    if problems:
        raise InputError(problems)
    return Grid(path, header, [row for row, _ in kept[1:]], [line for _, line in kept[1:]], lines[0])


def _refuse_separator(path: Path, rows: list[list[str]], line: int) -> None:
    """Stop at a table that is separated by something else; commas in it are then those of decimals."""
    for separator, name in ((";", "semicolons"), ("\t", "tabs")):
        if len(rows[0]) == 1 and separator in rows[0][0] and any(separator in cell for row in rows[1:] for cell in row):
            message = f"the columns are separated by {name}; a score matrix is separated by commas, with decimal points"
            raise InputError(Problem("syntax", message, str(path), line))


def _parquet(path: Path, content: bytes) -> Grid:
    import polars as pl

    try:
        frame = pl.read_parquet(io.BytesIO(content))
        booleans = [pl.col(name).cast(pl.Int8) for name, kind in frame.schema.items() if kind == pl.Boolean]
        frame = frame.with_columns(booleans).with_columns(pl.all().cast(pl.String)).fill_null("")
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(Problem("syntax", f"not a table of scores: {reason}", str(path))) from None
    if not frame.columns:
        raise InputError(Problem("syntax", "the file has no columns", str(path)))
    return Grid(path, frame.columns, [list(row) for row in frame.iter_rows()], None)


# How tables say that there is no value. What else is no number was meant to say something.
ABSENT = frozenset({"", "-", "–", "na", "n/a", "n-a", "nan", "null", "none"})


def is_absent(cell: str) -> bool:
    """Whether a cell says that there is no score."""
    return cell.strip().lower() in ABSENT


def way_out(cell: str) -> str:
    """What to do about a cell that is no number; empty where there is nothing to say.

    >>> way_out("NA"), way_out("50%"), way_out("0,5"), way_out("Yes"), way_out("who?")
    ('see --missing', 'write 0.5', 'write 0.5', 'write 1 for yes and 0 for no', '')
    """
    if is_absent(cell):
        return "see --missing"
    if cell.lower() in ("true", "false", "yes", "no"):
        return "write 1 for yes and 0 for no"
    if percent := re.fullmatch(r"([+-]?[0-9]+(?:[.,][0-9]+)?) ?%", cell):
        return f"write {float(percent[1].replace(',', '.')) / 100:g}"
    return f"write {cell.replace(',', '.')}" if re.fullmatch(r"[+-]?[0-9]+,[0-9]+", cell) else ""


def complaint(cell: str) -> str:
    """What is wrong with a cell that is no number, and the remedy."""
    what = f"{cell!r} is not a number" if cell else "empty cell"
    advice = way_out(cell)
    return f"{what} ({advice})" if advice else what


def text_among(cells: Iterable[str]) -> list[str]:
    """A note on cells that are taken for missing and yet say something, where there are any.

    >>> text_among(["", "x", "NA", "y"])
    ["2 of the cells without a score hold text, such as 'x', 'y'."]
    """
    texts = [cell for cell in map(str.strip, cells) if not is_absent(cell)]
    if not texts:
        return []
    named = ", ".join(repr(cell) for cell in list(dict.fromkeys(texts))[:3])
    verb = "holds" if len(texts) == 1 else "hold"
    return [f"{len(texts):,} of the cells without a score {verb} text, such as {named}."]
