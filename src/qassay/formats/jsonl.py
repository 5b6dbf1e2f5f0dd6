"""JSON lines: as dictionaries (nothing is lost) or as a table (fast).

`parse_rows` is the careful way: every line becomes a dictionary with all its fields, and every faulty line is
reported. `parse_table` gives typed columns for scoring; it lets Polars parse files that are plainly regular, and
goes the careful way for all others, so that both ways give the same result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from qassay.errors import InputError, Problem, Problems
from qassay.formats import files
from qassay.formats.tables import json_rows
from qassay.formats.tables.json_rows import in_words

Row = json_rows.Row
Numbered = json_rows.Numbered
parse_rows = json_rows.parse_rows

# A value that is not a string, a whole number or null: none in a file, and no field can have a wrong one.
_SUSPECT = re.compile(rb'":\s*(?:[tf\[{]|-?[0-9]+[.eE])')


def parse_table(data: bytes, schema: Mapping[str, Any], *, file: str) -> pl.DataFrame:
    """Typed columns of JSON lines, with the column `line`; fields outside the schema are ignored.

    A whole number stands for its digits where the schema wants a string (`"question": 1894`).
    """
    data = data.removeprefix(files.BOM)
    table = _fast(data, schema)
    if table is None:
        table = rows_table(parse_rows(files.decode(data, file=file), file=file), schema, file=file)
    return table


def rows_table(rows: Iterable[Numbered], schema: Mapping[str, Any], *, file: str) -> pl.DataFrame:
    """Typed columns of parsed rows; every value of another type is reported."""
    problems = Problems()
    columns: dict[str, list[Any]] = {"line": [], **{name: [] for name in schema}}
    for number, row in rows:
        columns["line"].append(number)
        for name, kind in schema.items():
            value = row.get(name)
            try:
                columns[name].append(_typed(value, kind))
            except ValueError:
                message = f"{name!r} is {in_words(value)}; it takes {_wanted(kind)}"
                question = row.get("question")
                problems.append(
                    Problem("syntax", message, file, number, str(question) if question is not None else None)
                )
    if problems:
        raise InputError(problems)
    return pl.DataFrame(columns, schema={"line": pl.UInt32, **schema})


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Replace a file by one JSON object per line."""
    files.write_text(path, dump_rows(rows))


def dump_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """The text of JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _fast(data: bytes, schema: Mapping[str, Any]) -> pl.DataFrame | None:
    """The table as Polars reads it, where it surely equals the careful reading; else None.

    Escaped surrogates are left to the careful way because Polars replaces lone ones silently; so are values other than
    strings and whole numbers where a string is due, because Polars writes them its own way (1.0 becomes "1").
    """
    if b"\\ud" in data or b"\\uD" in data or not data:
        return None
    if _SUSPECT.search(data) and any(pattern.search(data) for pattern in _loose(tuple(schema.items()))):
        return None
    try:
        table = pl.read_ndjson(data, schema=dict(schema))
    except PolarsError:
        return None
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    if table.height != lines:
        return None  # blank lines: the line numbers would not be those of the file
    return table.with_row_index("line", offset=1)


@cache
def _loose(schema: tuple[tuple[str, Any], ...]) -> list[re.Pattern[bytes]]:
    """A search pattern for a field of strings, or of lists of strings, that has something else."""
    strings = "|".join(re.escape(name) for name, kind in schema if kind == pl.String)
    lists = "|".join(re.escape(name) for name, kind in schema if kind == pl.List(pl.String))
    element = r'(?:"(?:[^"\\]|\\.)*+"|null|-?[0-9]++)'
    patterns = [rf'"(?:{strings})"\s*:\s*(?:[tf\[{{]|-?[0-9]+[.eE])'] if strings else []
    if lists:
        patterns.append(rf'"(?:{lists})"\s*+:\s*+(?!null|\[(?:\s*+{element}\s*+,?)*+\s*+\])')
    return [re.compile(pattern.encode()) for pattern in patterns]


def _typed(value: Any, kind: Any) -> Any:
    """The value as the column's type, or a ValueError."""
    if value is None:
        return None
    if kind == pl.String:
        if isinstance(value, str):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    elif kind == pl.Boolean and isinstance(value, bool):
        return value
    elif kind == pl.Float64 and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    elif kind == pl.Int64 and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63:
        return value
    elif isinstance(kind, pl.List) and isinstance(value, list):
        return [_typed(part, kind.inner) for part in value]
    raise ValueError


def _wanted(kind: Any) -> str:
    if isinstance(kind, pl.List):
        return "a list of strings"
    return {pl.String: "a string", pl.Boolean: "true or false", pl.Int64: "a whole number"}.get(kind, "a number")
