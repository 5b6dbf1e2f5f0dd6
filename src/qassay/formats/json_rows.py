"""Rows of scores in JSON: one object per line, or one array of objects."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from qassay.errors import InputError, Problem, Problems
from qassay.formats.grid import NESTED_SCORES, Grid, rows_grid

_WAY_OUT = "Scores in JSON are one object per line, or an array of objects, each with a question and its scores"


def json_grid(text: str, file: str) -> Grid:
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
