"""Tables as columns of text: CSV, TSV, Parquet, Arrow, Excel, JSON lines and JSON arrays, recognised by content.

Cells are text, because decimals are to be read as they are written. CSV is read by the csv module, because faster
readers rename duplicated columns and fill short rows without a word. Tables may have millions of rows: equal cells of a
column are one object, so that a column of scores costs little more than a column of numbers.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import math
import re
import zipfile
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from qassay.errors import InputError, Problem, Problems, Remedy
from qassay.formats.binary import binary_grid
from qassay.formats.cells import has_number
from qassay.formats.files import decode, read_bytes
from qassay.tables import plural

if TYPE_CHECKING:
    import polars as pl


# Contexts of an answer in one cell may be long.
_LONGEST_CELL = 1 << 27
# Rows that show how a text is separated.
_SNIFFED = 20
# The most cells that rows of JSON may fill, and the most bytes of an unpacked workbook.
MOST_CELLS = 50_000_000
MOST_WORKBOOK = 1 << 30
# Rows read at once, and different cells of a column up to which equal ones are shared.
_ROWS_AT_ONCE = 8192
_MOST_SHARED = 1 << 16
# The first line of tables that are written for Excel.
_NAMED_SEPARATOR = re.compile(r"\"?sep=([,;\t|])\"?(?=\r|\n)", re.IGNORECASE)
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
# Fields of JSON rows whose own fields are scores.
NESTED_SCORES = ("scores", "metrics")
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_FEATHER_1 = b"FEA1"
_ARROW_FILE = b"ARROW1"
_ARROW_STREAM = b"\xff\xff\xff\xff"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class Grid:
    """A header and columns of the same length.

    `lines` is None where the source has no lines (Parquet, a frame). `decimal_commas`: numbers may have them. `ids` is
    the column that has the ids of the questions for sure, as the index of a frame has. `notes` are sentences that every
    output repeats.
    """

    file: str
    header: list[str]
    columns: list[list[str]]
    lines: Sequence[int] | None
    header_line: int | None = None
    decimal_commas: bool = False
    ids: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.columns[0])

    def line(self, row: int) -> int:
        """The line on which a row starts; its number from 1 where the source has no lines."""
        return row + 1 if self.lines is None else self.lines[row]

    def problem(self, message: str, *way_out: Remedy, line: int | None = None) -> Problem:
        """A problem of this table."""
        place = line if self.lines is not None else None
        return Problem("syntax", message, self.file, place, way_out=way_out)

    def column(self, place: int) -> list[str]:
        """The cells of one column."""
        return self.columns[place]

    def with_columns(self, places: Sequence[int]) -> Grid:
        """The table with these columns, in this order."""
        if list(places) == list(range(len(self.header))):
            return self
        chosen = [self.columns[place] for place in places]
        return replace(self, header=[self.header[place] for place in places], columns=chosen)

    def with_rows(self, rows: Sequence[int]) -> Grid:
        """The table with these rows, in this order."""
        lines = None if self.lines is None else [self.lines[row] for row in rows]
        return replace(self, columns=[[column[row] for row in rows] for column in self.columns], lines=lines)


@dataclass
class _SharedCells:
    """A column in the making, whose equal cells are one object while there are not too many different ones."""

    cells: list[str] = field(default_factory=list)
    known: dict[str, str] = field(default_factory=dict)

    def extend(self, cells: Iterable[str]) -> None:
        if len(self.known) <= _MOST_SHARED:
            known = self.known
            self.cells.extend([known.setdefault(cell, cell) for cell in cells])
        else:
            self.cells.extend(cells)


def shared_cells(cells: Sequence[str]) -> list[str]:
    """A column whose equal cells are one object."""
    column = _SharedCells()
    for start in range(0, len(cells), _ROWS_AT_ONCE):
        column.extend(cells[start : start + _ROWS_AT_ONCE])
    return column.cells


def read_grid(path: Path) -> Grid:
    """Read a table from a file, plain or compressed."""
    content = read_bytes(path)
    file = str(path)
    if content.startswith(b"PAR1"):
        return binary_grid(file, content, "parquet")
    if content.startswith(_ARROW_FILE):
        return binary_grid(file, content, "ipc")
    if content.startswith(_ARROW_STREAM):
        return binary_grid(file, content, "ipc_stream")
    if content.startswith(b"PK\x03\x04"):
        return _workbook(file, content)
    if content.startswith((_OLD_EXCEL, _FEATHER_1)):
        message = "an old Excel workbook (.xls)" if content.startswith(_OLD_EXCEL) else "a Feather file of version 1"
        raise InputError(Problem("syntax", f"{message} cannot be read. Save the table as CSV or Parquet", file))
    # Excel saves "Unicode text" as UTF-16; its mark leaves no doubt.
    text = decode(content, file=file, encoding="utf-16" if content.startswith(_UTF_16) else "utf-8")
    if text.lstrip()[:1] in ("{", "["):
        return _json_rows(text, file)
    return _separated(file, text)


def _separated(file: str, text: str) -> Grid:
    """A table separated by commas, semicolons or tabs; every row of another width than the header is reported."""
    named = _NAMED_SEPARATOR.match(text)
    separator = named[1] if named else _separator(text)
    # The end of its line stays, so that lines keep their numbers.
    rows = _csv_rows(file, text[named.end() :] if named else text, separator)
    header_line, header = next(rows, (0, []))
    if not header:
        raise InputError(Problem("syntax", "the file is empty", file))
    if len(header) == 1:
        rows = _refuse_other_separators(file, header_line, header[0], rows)
    columns = [_SharedCells() for _ in header]
    lines = array("q")
    problems = Problems()
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        for line, row in some:
            if len(row) != len(header):
                message = f"{plural(len(row), 'cell')} where the header has {len(header)}"
                problems.append(Problem("syntax", message, file, line))
        if not problems:
            lines.extend(line for line, _ in some)
            for column, cells in zip(columns, zip(*(row for _, row in some), strict=True), strict=True):
                column.extend(cells)
    if problems:
        raise InputError(problems)
    return Grid(file, header, [column.cells for column in columns], lines, header_line, decimal_commas=separator == ";")


def _refuse_other_separators(
    file: str, header_line: int, header: str, rows: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table of one column; an error where the first line is a title, or where blanks or | separate it."""
    first = next(rows, None)
    if first is None:
        return rows
    line, row = first
    if len(row) > 1:
        message = f"this line has 1 cell, and line {line} has {len(row)}. The names are in the first line: delete lines"
        raise InputError(Problem("syntax", f"{message} above them", file, header_line))
    for separator, noun in (("|", "'|'"), (None, "blanks")):
        cells = row[0].split(separator)
        if 1 < len(header.split(separator)) == len(cells) and has_number(cells):
            message = f"its columns are separated by {noun}. Write commas, semicolons or tabs between them"
            raise InputError(Problem("syntax", message, file, header_line))
    return chain([first], rows)


def _csv_rows(file: str, text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows with the lines on which they start, from the first that is not blank to the last.

    In a file of one column a blank line is an empty cell; else it is not a row at all, and neither is a row of
    separators, as spreadsheets write them.
    """
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader((line[0] for line in _LINE.finditer(text)), delimiter=separator, strict=True)
    start, width = 1, 0
    blank: list[int] = []
    try:
        for row in reader:
            if row and (width == 1 or _says_something(row)):
                if blank:
                    yield from ((line, [""]) for line in blank)
                    blank = []
                yield start, row
                width = width or len(row)
            elif width == 1:
                blank.append(start)
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(Problem("syntax", f"not CSV: {error}", file, start)) from None


def _says_something(row: Sequence[str]) -> bool:
    return any(cell.strip() for cell in row)


def _separator(text: str) -> str:
    """The separator of the columns: of comma, semicolon and tab the one that gives the most columns, in every row."""
    head = text[: 1 << 20]
    columns = {}
    for separator in (",", ";", "\t"):
        rows = []
        try:
            for row in csv.reader(io.StringIO(head, newline=""), delimiter=separator):
                if row:
                    rows.append(row)
                if len(rows) == _SNIFFED:
                    break
        except csv.Error:
            continue
        if rows and len({len(row) for row in rows}) == 1:
            columns[separator] = len(rows[0])
    best = max(columns, key=lambda separator: columns[separator], default=",")
    return best if columns.get(best, 1) > 1 else ","


def polars_grid(file: str, frame: pl.DataFrame) -> Grid:
    """A polars frame as text; nested columns keep their names and say nothing that could be a score."""
    if not frame.columns:
        raise InputError(Problem("syntax", "the table has no columns", file))
    columns = [shared_cells(_text_column(frame[name]).fill_null("").to_list()) for name in frame.columns]
    return Grid(file, frame.columns, columns, None)


def _text_column(column: pl.Series) -> pl.Series:
    import polars as pl

    kind = column.dtype
    if kind.is_nested() or kind in (pl.Binary, pl.Object):
        return pl.Series(column.name, ["[...]"] * len(column), dtype=pl.String)
    if kind.is_float() and not (column.is_nan() | column.is_infinite()).any() and (column == column.floor()).all():
        # 7.0 is 7: tables with a hole keep whole numbers as floats.
        whole = column.cast(pl.Float64)
        if whole.abs().max() is None or float(whole.abs().max() or 0) < 2**53:  # type: ignore[arg-type]
            return whole.cast(pl.Int64).cast(pl.String)
    return column.cast(pl.String)


def _workbook(file: str, content: bytes) -> Grid:
    """The first sheet of an Excel workbook."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = set(archive.namelist())
            size = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise InputError(Problem("syntax", f"a broken archive: {error}", file)) from None
    if "xl/workbook.xml" not in names:
        message = "an archive that is neither an Excel workbook nor a log of a known tool. Unpack it first"
        raise InputError(Problem("syntax", message, file))
    if size > MOST_WORKBOOK:
        message = f"this workbook unpacks to more than {MOST_WORKBOOK >> 30} GiB. Save the table as CSV"
        raise InputError(Problem("syntax", message, file))
    return binary_grid(file, content, "excel")


def rows_grid(file: str, rows: Sequence[Mapping[str, Any]], lines: list[int] | None) -> Grid:
    """Objects with fields as a table; fields of `scores` and `metrics` are columns of their own."""
    flat = [_flat(row) for row in rows]
    header = list(dict.fromkeys(name for row in flat for name in row))
    if not header:
        raise InputError(Problem("syntax", "the rows have no fields", file))
    if len(header) * len(rows) > MOST_CELLS:
        message = f"{len(rows):,} rows have {len(header):,} different fields. Give every row the same fields"
        raise InputError(Problem("syntax", message, file))
    return Grid(file, header, [[cell_text(row.get(name)) for row in flat] for name in header], lines)


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose nested scores are fields of its own; a field of the row itself comes first."""
    flat = {str(name): value for name, value in row.items()}
    for name in NESTED_SCORES:
        if isinstance(flat.get(name), Mapping):
            nested = flat.pop(name)
            for inner, value in nested.items():
                flat[str(inner) if str(inner) not in flat else f"{name}.{inner}"] = value
    return flat


def cell_text(value: Any) -> str:
    """A value of Python or JSON as the text of a cell; a missing value is empty.

    >>> [cell_text(value) for value in (None, True, 7, 7.0, 0.1, float("nan"), "x", [1])]
    ['', 'true', '7', '7', '0.1', '', 'x', '[...]']
    """
    if value is None or isinstance(value, str):
        return value or ""
    if hasattr(value, "dtype") and hasattr(value, "item"):
        if value.ndim:
            return "[...]"
        # A float of 32 bits is the decimal that it is shown as.
        value = float(str(value)) if value.dtype.kind == "f" and value.dtype.itemsize < 8 else value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return "[...]" if isinstance(value, (Mapping, bytes, list, tuple, set)) else str(value)


# ---- JSON: one object per line, or one array of objects -------------------------------------------------------------

_WAY_OUT = "Scores in JSON are one object per line, or an array of objects, each with a question and its scores"


def _json_rows(text: str, file: str) -> Grid:
    """The rows of a JSON text; any other JSON is an error, never a table of something else."""
    if text.lstrip().startswith("["):
        return _array(text, file)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    try:
        first = _decode(lines[0][1])
    except ValueError:
        first = None
    if first is None or (len(lines) == 1 and _is_document(first)):
        raise InputError(_not_rows(text, file, lines[0][0]))
    rows: list[dict[str, Any]] = []
    problems = Problems()
    for number, line in lines:
        try:
            row = _decode(line)
        except ValueError as error:
            problems.append(Problem("syntax", f"this line is not JSON: {error}", file, number))
            continue
        if isinstance(row, dict):
            rows.append(row)
        else:
            problems.append(Problem("syntax", f"this line is not a JSON object. {_WAY_OUT}", file, number))
    if problems:
        raise InputError(problems)
    return rows_grid(file, rows, [number for number, _ in lines])


def _array(text: str, file: str) -> Grid:
    try:
        rows = _decode(text)
    except ValueError as error:
        raise InputError(Problem("syntax", f"this is not JSON: {error}", file)) from None
    if not rows or not all(isinstance(row, dict) for row in rows):
        content = "an empty JSON array" if not rows else "a JSON array that has other things than objects"
        raise InputError(Problem("syntax", f"{content}. {_WAY_OUT}", file))
    return rows_grid(file, rows, None)


def _decode(text: str) -> Any:
    """The value of a JSON text; NaN and Infinity, which Python writes, are missing values."""
    try:
        return msgspec.json.decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except msgspec.DecodeError as error:
        if "NaN" not in text and "Infinity" not in text:
            raise ValueError(str(error)) from None
        try:
            return json.loads(text, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            raise ValueError(str(error)) from None


def _is_document(row: Any) -> bool:
    """Whether a single object is more than one row of scores: a list, or objects within objects."""
    nested = (value for name, value in row.items() if name not in NESTED_SCORES)
    return isinstance(row, dict) and any(isinstance(value, (dict, list)) for value in nested)


def _not_rows(text: str, file: str, line: int) -> Problem:
    """The fault of JSON that is not rows: it is broken, or it is one document."""
    try:
        document = _decode(text)
    except ValueError as error:
        return Problem("syntax", f"this is not JSON: {error}", file, line)
    fields = ", ".join(list(document)[:5]) if isinstance(document, dict) else ""
    return Problem("syntax", f"a JSON document (fields: {fields}), not rows of scores. {_WAY_OUT}", file)
