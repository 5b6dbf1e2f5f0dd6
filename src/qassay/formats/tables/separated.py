"""Tables of text: CSV, with commas, semicolons or tabs, found by content or named in the first line (`sep=;`).

CSV is read by the csv module, because faster readers rename duplicated columns and fill short rows without a word.
Tables may have millions of rows: equal cells of a column are one object, so that a column of scores costs little more
than a column of numbers.
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from qassay.errors import InputError, Problem, Problems
from qassay.formats.cells import has_number
from qassay.formats.tables.table import RawTable, shared
from qassay.tables import plural

# Tools write whole contexts into a cell; the csv module stops at 128 kilobytes by default.
_LONGEST_CELL = 1 << 27
# Separators, the usual one first, and rows and characters that show which it is.
SEPARATORS = (",", ";", "\t")
_SNIFFED_ROWS = 20
_SNIFFED = 1 << 20
_ROWS_AT_ONCE = 8192
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs"}
# The first line of tables that are written for Excel.
_NAMED_SEPARATOR = re.compile(r"\"?sep=([,;\t|])\"?(?=\r|\n)", re.IGNORECASE)
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def parse_separated(text: str, *, file: str) -> RawTable:
    """A table of text; every row of another width than the header is reported."""
    separator, text = _separator(text)
    try:
        return _table(file, text, separator, quoting=True)
    except InputError:
        # Tables with tabs are often written without quoting: then a quotation mark is a character like any other.
        if separator != "\t" or len({line.count("\t") for line in text.split("\n") if line.strip()}) != 1:
            raise
    return _table(file, text, separator, quoting=False)


def first_rows(text: str, count: int = _SNIFFED_ROWS) -> tuple[list[list[str]], str]:
    """The first rows of what may be a table of text, and its separator.

    >>> first_rows("id;question\\n1;Who?")
    ([['id', 'question'], ['1', 'Who?']], ';')
    """
    separator, text = _separator(text)
    return [[cell.strip() for cell in row] for row in _beginning(text, separator, count)], separator


def _table(file: str, text: str, separator: str, *, quoting: bool) -> RawTable:
    rows = _rows(file, text, separator, quoting=quoting)
    header_line, header = next(rows, (0, []))
    if not header:
        raise InputError(Problem("syntax", "the file is empty", file))
    if len(header) == 1:
        rows = _refuse_other_separators(file, header_line, header[0], rows)
    columns: list[list[str]] = [[] for _ in header]
    known: list[dict[str, str]] = [{} for _ in header]
    lines = array("q")
    problems = Problems()
    way_out = f"Put quotation marks around cells that contain {_NAMES.get(separator, repr(separator))}"
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        for line, row in some:
            if len(row) != len(header):
                message = f"{plural(len(row), 'cell')} where the header has {len(header)}. {way_out}"
                problems.append(Problem("syntax", message, file, line))
        if not problems:
            lines.extend(line for line, _ in some)
            for column, cells, texts in zip(columns, zip(*(row for _, row in some), strict=True), known, strict=True):
                column.extend(shared(list(cells), texts))
    if problems:
        raise InputError(problems)
    names = [name.strip() for name in header]
    return RawTable(file, names, columns, lines, header_line, "CSV", separator)


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


def _rows(file: str, text: str, separator: str, *, quoting: bool) -> Iterator[tuple[int, list[str]]]:
    """The rows with the lines on which they start, from the first that is not blank to the last.

    In a file of one column a blank line is an empty cell; else it is not a row at all, and neither is a row of
    separators, as spreadsheets write them.
    """
    csv.field_size_limit(_LONGEST_CELL)
    texts = (line[0] for line in _LINE.finditer(text))
    if quoting:
        reader = csv.reader(texts, delimiter=separator, strict=True)
    else:
        reader = csv.reader(texts, delimiter=separator, strict=True, quoting=csv.QUOTE_NONE)
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


def _separator(text: str) -> tuple[str, str]:
    """The separator, and the text that it separates.

    It is the one that the first line names, else the one that gives the most columns in every row, else the most in the
    header, if another row has it too.
    """
    if named := _NAMED_SEPARATOR.match(text):
        return named[1], text[named.end() :]  # the end of its line stays, so that lines keep their numbers
    fits = {}
    for separator in SEPARATORS:
        widths = [len(row) for row in _beginning(text, separator, _SNIFFED_ROWS)]
        if widths and max(widths[1:], default=2) > 1:
            fits[separator] = (widths[0] > 1 and len(set(widths)) == 1, widths[0])
    return max(fits, key=lambda separator: fits[separator], default=","), text


def _beginning(text: str, separator: str, count: int) -> list[list[str]]:
    """The first rows that are not blank; none where this separator cannot be."""
    reader = csv.reader(io.StringIO(text[:_SNIFFED], newline=""), delimiter=separator)
    try:
        return list(islice(filter(None, reader), count))
    except csv.Error:
        return []
