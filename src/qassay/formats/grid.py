"""Cells of a CSV or Parquet file as text, with the lines they stand on.

Text, because decimals are to be read as they are written; and by the csv module, because faster readers rename
duplicated columns and fill short rows without a word.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from qassay.errors import InputError, Problem
from qassay.formats.files import decode, read_bytes

_PARQUET = b"PAR1"
_ZIP = b"PK\x03\x04"


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
    if content.startswith(_PARQUET):
        return _parquet(path, content)
    if content.startswith(_ZIP):
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
