"""Rows of people's own tables, with whatever keys they have: JSON lines, a JSON list, CSV (also TSV, `;`), Parquet.

Every row becomes a dictionary. Empty cells of CSV are absent. A cell that contains a list, as JSON or as Python prints
it, becomes that list only where a list is asked for (`as_list`).
"""

from __future__ import annotations

import ast
import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from qassay.errors import InputError, Problem, Problems, Rule
from qassay.formats import files, jsonl
from qassay.formats.binary import read_frame, refuse_damaged
from qassay.formats.jsonl import Numbered

PARQUET = b"PAR1"
# The separators of CSV, the usual one first.
SEPARATORS = (",", "\t", ";")
# The longest cell that is read as a list: Python's own parser takes much memory for long texts.
LONGEST_LIST = 1 << 20
# A cell may be as long as a document; the csv module stops at 128 kilobytes by default.
_LONGEST_CELL = 1 << 26


@dataclass(frozen=True)
class Records:
    """The rows of one file. Their numbers are lines where the file has lines, else they count from 1."""

    file: str
    form: str
    rows: list[Numbered]
    has_lines: bool = True

    def columns(self) -> list[str]:
        """The keys that have a value in any row, in the order in which they occur."""
        return list(dict.fromkeys(name for _, row in self.rows for name, value in row.items() if value is not None))

    def place(self, number: int) -> str:
        """Where a row is, for messages."""
        return f"{self.file}:{number}" if self.has_lines else f"{self.file}, row {number}"

    def problem(self, rule: Rule, message: str, number: int, question: str | None = None) -> Problem:
        """A problem of one row."""
        if self.has_lines:
            return Problem(rule, message, self.file, number, question)
        return Problem(rule, f"row {number}: {message}", self.file, None, question)


def parse_records(data: bytes, *, file: str, encoding: str = "utf-8") -> Records:
    """The rows of a table; an error with its place where it is not one."""
    if data.startswith(PARQUET):
        return Records(file, "Parquet", list(enumerate(_parquet(data, file), 1)), has_lines=False)
    start = data[: 1 << 12].removeprefix(files.BOM).lstrip()
    text = files.decode(data, file=file, encoding=encoding)
    if start.startswith(b"["):
        return Records(file, "JSON list", list(enumerate(_json_list(text, file), 1)), has_lines=False)
    if start.startswith(b"{"):
        return Records(file, "JSON lines", jsonl.parse_rows(text, file=file))
    return Records(file, "CSV", list(_csv(text, file)))


def header_of(line: str) -> tuple[list[str], str]:
    """The cells of the first line of a CSV file, and its separator: the one that gives the most cells.

    >>> header_of("id;question;answer")
    (['id', 'question', 'answer'], ';')
    """
    cells = {separator: cells_of(line, separator) for separator in SEPARATORS}
    separator = max(SEPARATORS, key=lambda mark: len(cells[mark]))
    return [cell.strip() for cell in cells[separator]], separator


def cells_of(line: str, separator: str) -> list[str]:
    """The cells of one line of CSV; the line as it is where it is none."""
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return [line]


def as_list(value: Any) -> list[Any]:
    """A value as a list: absent is empty, a text that is written as a list is that list, all else is one element.

    >>> as_list("['a', 'b']"), as_list('["a"]'), as_list("[1] see above"), as_list(None)
    (['a', 'b'], ['a'], ['[1] see above'], [])
    """
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, str) and len(value) <= LONGEST_LIST:
        written = value.strip()
        if written.startswith("[") and written.endswith("]"):
            listed = _written_list(written)
            return listed if listed is not None else [value]
    return [value]


def _written_list(text: str) -> list[Any] | None:
    """The list that a text spells out, in JSON or in Python; None where it is only a text in brackets."""
    try:
        listed = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        try:
            listed = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            return None
    if not isinstance(listed, list) or not all(isinstance(part, str | dict) for part in listed):
        return None
    try:
        msgspec.json.encode(listed)
    except (TypeError, UnicodeEncodeError, RecursionError):  # Python spells out what no file can contain
        return None
    return listed


def _json_list(text: str, file: str) -> list[dict[str, Any]]:
    try:
        listed = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(Problem("syntax", f"is not JSON: {error}", file)) from None
    for place, row in enumerate(listed, 1):
        if not isinstance(row, dict):
            message = f"row {place} is not an object; each element of the list is one JSON object"
            raise InputError(Problem("syntax", message, file))
    rows: list[dict[str, Any]] = listed
    return rows


def _csv(text: str, file: str) -> Iterator[Numbered]:
    """Rows by the names in the first line; a row of another width is an error."""
    first = text.split("\n", 1)[0]
    header, separator = header_of(first.removesuffix("\r"))
    csv.field_size_limit(_LONGEST_CELL)
    # Tables with tabs are often written without quoting: then a quotation mark is a character like any other.
    plain = separator == "\t" and len({line.count("\t") for line in text.split("\n") if line.strip()}) == 1
    lines = io.StringIO(text, newline="")
    if plain and not _is_quoted(text):
        reader = csv.reader(lines, strict=True, delimiter=separator, quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(lines, strict=True, delimiter=separator)
    problems = Problems()
    start = 1
    twice = sorted(name for name, count in Counter(header).items() if name and count > 1)
    if twice:
        message = f"two columns are called {twice[0]!r}; rename one of them"
        raise InputError(Problem("syntax", message, file, 1))
    try:
        for row in reader:
            number, start = start, reader.line_num + 1
            if number == 1 or not any(cell.strip() for cell in row):
                continue
            if len(row) != len(header):
                message = f"this row has {len(row)} cells, the header {len(header)}; put cells with a comma in quotes"
                problems.append(Problem("syntax", message, file, number))
                continue
            yield number, {name: cell for name, cell in zip(header, row, strict=True) if name and cell.strip()}
    except csv.Error as error:
        raise InputError(Problem("syntax", f"is not CSV: {error}", file, start)) from None
    if problems:
        raise InputError(problems)


def _is_quoted(text: str) -> bool:
    """Whether the cells of a table with tabs are quoted: every quotation mark at the start of a cell has its end."""
    try:
        return all(csv.reader(io.StringIO(text, newline=""), strict=True, delimiter="\t"))
    except csv.Error:
        return False


def _parquet(data: bytes, file: str) -> list[dict[str, Any]]:
    """The rows of a Parquet file; a child reads it first, because a damaged one may end the process."""
    refuse_damaged(file, data, "parquet")
    return read_frame(file, data, "parquet").rows(named=True)


def without_absent(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without the keys that have no value; not-a-number is how frames write that."""
    return {name: value for name, value in row.items() if value is not None and value == value}
