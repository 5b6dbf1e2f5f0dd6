"""A table as it was read: a header, columns of cells, and the lines they come from.

Cells of CSV are text; those of JSON, Parquet, Arrow and Excel are values, ABSENT where a row lacks the key. Scores take
all cells as text (`in_text`), because decimals are to be read as they are written; answers and labels take rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, TypeAlias

import msgspec

from qassay.errors import InputError, Problem, Remedy, Rule
from qassay.formats import fields

Row: TypeAlias = dict[str, Any]
# A row with its number: its line, or its position where the source has no lines.
Numbered: TypeAlias = tuple[int, Row]

ABSENT = msgspec.UNSET
# The most cells that a table in memory may have.
MOST_CELLS = 50_000_000
# Columns whose objects have scores as their fields.
NESTED_SCORES = ("scores", "metrics")
# How spreadsheets in German write what is right or wrong.
_GERMAN_WORDS = {"WAHR": "true", "FALSCH": "false"}
_NESTED = (Mapping, bytes, list, tuple, set)
# Types whose values have one text each, so that equal ones are written once.
_PLAIN = frozenset({int, float, type(None)})
# Different cells of a column up to which equal ones are one object.
MOST_SHARED = 1 << 16


@dataclass(frozen=True)
class RawTable:
    """A header and columns of the same length.

    `lines` is None where the source has no lines (a JSON list, Parquet, a frame). `separator` is empty where cells are
    not text. `ids` is the column that has the ids of the questions for sure, as the index of a frame has. `notes` are
    sentences that every output repeats.
    """

    file: str
    header: list[str]
    columns: list[list[Any]]
    lines: Sequence[int] | None = None
    header_line: int | None = None
    form: str = "table"
    separator: str = ""
    ids: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.columns[0])

    @property
    def has_lines(self) -> bool:
        """Whether rows are known by their lines; else they count from 1."""
        return self.lines is not None

    @property
    def decimal_commas(self) -> bool:
        """Whether numbers may have decimal commas."""
        return self.separator == ";"

    @property
    def true_and_false(self) -> Mapping[str, str]:
        """Words of the table's language for true and false."""
        return _GERMAN_WORDS if any(fields.plain_name(name) in fields.GERMAN for name in self.header) else {}

    def line(self, row: int) -> int:
        """The line on which a row starts; its number from 1 where the source has no lines."""
        return row + 1 if self.lines is None else self.lines[row]

    def place(self, number: int) -> str:
        """Where a row is, for messages."""
        return f"{self.file}:{number}" if self.has_lines else f"{self.file}, row {number}"

    def problem(self, message: str, *way_out: Remedy, line: int | None = None) -> Problem:
        """A problem of this table."""
        return Problem("syntax", message, self.file, line if self.has_lines else None, way_out=way_out)

    def row_problem(
        self, rule: Rule, message: str, number: int, question: str | None = None, *way_out: Remedy
    ) -> Problem:
        """A problem of one row."""
        if self.has_lines:
            return Problem(rule, message, self.file, number, question, way_out)
        return Problem(rule, f"row {number}: {message}", self.file, None, question, way_out)

    # ---- as rows

    def names(self) -> list[str]:
        """The names of the columns that have a value in any row, in their order."""
        named = zip(self.header, self.columns, strict=True)
        return [name for name, column in named if name and any(map(self._has_value, column))]

    def _has_value(self, cell: Any) -> bool:
        return bool(cell.strip()) if self.separator else cell is not None and cell is not ABSENT

    def rows(self, *, blanks: bool = False) -> list[Numbered]:
        """The rows as dictionaries, with their numbers; keys without a value are absent, unless `blanks` are wanted."""
        self.refuse_equal_names()
        numbers = range(1, self.size + 1) if self.lines is None else self.lines
        if blanks and self.separator:
            return [
                (n, dict(zip(self.header, row, strict=True)))
                for n, row in zip(numbers, zip(*self.columns, strict=True), strict=True)
            ]
        named = [(name, column) for name, column in zip(self.header, self.columns, strict=True) if name]
        names = [name for name, _ in named]
        cells = zip(*(column for _, column in named), strict=True) if named else repeat((), self.size)
        if self.separator:
            rows = [{name: cell for name, cell in zip(names, row, strict=True) if cell.strip()} for row in cells]
            return [(number, row) for number, row in zip(numbers, rows, strict=True) if row]
        rows = [{name: cell for name, cell in zip(names, row, strict=True) if cell is not ABSENT} for row in cells]
        return list(zip(numbers, rows, strict=True))

    def refuse_equal_names(self, *, unnamed: bool = False) -> None:
        """Stop where two columns have one name, or, if `unnamed` says so, none."""
        counts = Counter(self.header if unnamed else filter(None, self.header))
        name = next((name for name, count in counts.items() if count > 1), None)
        if name is None:
            return
        message = f"two columns are called {name!r}. Give each column a name of its own"
        if not name:
            message = "two columns have no name. The names are in the first line: delete titles above them"
        raise InputError(self.problem(message, line=self.header_line))

    # ---- as text

    def in_text(self) -> RawTable:
        """The table with text in every cell; fields of `scores` and `metrics` are columns of their own."""
        if self.form == "JSON lines" and self.size == 1 and _is_document(self):
            raise InputError(not_rows(self.file, self.header))
        named = _unnested(self)
        words = self.true_and_false
        columns = [_texts(column) for _, column in named]
        notes = self.notes
        for place, column in enumerate(columns):
            if not words.keys().isdisjoint(column):
                columns[place] = [words.get(cell, cell) for cell in column]
                notes = (*self.notes, "WAHR and FALSCH were read as true and false.")
        return replace(self, header=[name.strip() for name, _ in named], columns=columns, notes=notes)

    def column(self, place: int) -> list[str]:
        """The cells of one column."""
        return self.columns[place]

    def with_columns(self, places: Sequence[int]) -> RawTable:
        """The table with these columns, in this order."""
        if list(places) == list(range(len(self.header))):
            return self
        chosen = [self.columns[place] for place in places]
        return replace(self, header=[self.header[place] for place in places], columns=chosen)

    def with_rows(self, rows: Sequence[int]) -> RawTable:
        """The table with these rows, in this order."""
        lines = None if self.lines is None else [self.lines[row] for row in rows]
        return replace(self, columns=[[column[row] for row in rows] for column in self.columns], lines=lines)


def table_of_rows(
    file: str, rows: Sequence[Mapping[Any, Any]], lines: list[int] | None, form: str = "table"
) -> RawTable:
    """Objects with fields as a table."""
    header = list(dict.fromkeys(name for row in rows for name in row))
    if not header:
        raise InputError(Problem("syntax", "the rows have no fields", file))
    if len(header) * len(rows) > MOST_CELLS:
        message = f"{len(rows):,} rows have {len(header):,} different fields. Give every row the same fields"
        raise InputError(Problem("syntax", message, file))
    columns = [[row.get(name, ABSENT) for row in rows] for name in header]
    return RawTable(file, [str(name) for name in header], columns, lines, form=form)


def not_rows(file: str, names: Iterable[str]) -> Problem:
    """The fault of one JSON document where rows are wanted."""
    listed = ", ".join(list(names)[:5])
    message = (
        f"a JSON document (fields: {listed}), not rows. A table in JSON is one object per line, or a list of objects"
    )
    return Problem("syntax", message, file)


def _is_document(table: RawTable) -> bool:
    """Whether a single object is more than one row of scores: a list, or objects within objects."""
    columns = zip(table.header, table.columns, strict=True)
    return any(isinstance(column[0], dict | list) for name, column in columns if name not in NESTED_SCORES)


def _unnested(table: RawTable) -> list[tuple[str, list[Any]]]:
    """The columns with their names; nested scores are columns behind the others, whose names come first."""
    named = list(zip(table.header, table.columns, strict=True))
    nested = [(name, column) for name, column in named if name in NESTED_SCORES and _has_fields(column)]
    named = [(name, column) for name, column in named if (name, column) not in nested]
    names = {name for name, _ in named}
    for name, column in nested:
        cells = [cell if isinstance(cell, Mapping) else {} for cell in column]
        for key in dict.fromkeys(key for cell in cells for key in cell):
            inner = str(key) if str(key) not in names else f"{name}.{key}"
            names.add(inner)
            named.append((inner, [cell.get(key) for cell in cells]))
    return named


def _has_fields(column: Sequence[Any]) -> bool:
    return any(isinstance(cell, Mapping) for cell in column)


def _texts(column: list[Any]) -> list[str]:
    """A column in text."""
    kinds = set(map(type, column))
    if kinds <= {str}:
        return column
    if kinds <= _PLAIN and len(kinds - {type(None)}) == 1:
        known = {cell: cell_text(cell) for cell in set(column)}
        return [known[cell] for cell in column]
    return list(map(cell_text, column))


def cell_text(value: Any) -> str:
    """A value of Python or JSON as the text of a cell; a missing value is empty.

    >>> [cell_text(value) for value in (None, True, 7, 7.0, 0.1, float("nan"), "x", [1])]
    ['', 'true', '7', '7', '0.1', '', 'x', '[...]']
    """
    if value is None or isinstance(value, str):
        return value or ""
    if value is ABSENT:
        return ""
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
    return "[...]" if isinstance(value, _NESTED) else str(value)


def shared(cells: list[Any], known: dict[str, str]) -> list[Any]:
    """Texts, equal ones as one object while there are not too many different ones in `known`."""
    return cells if len(known) > MOST_SHARED else [known.setdefault(cell, cell) for cell in cells]
