"""Tables as CSV: numbers as they are, undefined cells empty."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from qassay.tables import Cell, Table

# A spreadsheet takes a text that begins so for a formula, and runs it: answers and tags are other people's strings.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_BATCH = 1_000


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
