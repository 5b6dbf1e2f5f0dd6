"""Rows in JSON: one object per line, or one list of objects."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from qassay.errors import InputError, Problem, Problems
from qassay.formats.tables import table
from qassay.formats.tables.table import RawTable, not_rows, table_of_rows

Row = table.Row
Numbered = table.Numbered
# The longest cell that is read as Python prints an object, which takes a second per megabyte.
LONGEST_LITERAL = 1 << 20


def parse_json(text: str, *, file: str) -> RawTable:
    """The rows of a JSON text; any other JSON is an error, never a table of something else."""
    if text.lstrip().startswith("["):
        return table_of_rows(file, _list(text, file), None, "JSON list")
    try:
        rows = parse_rows(text, file=file, decode=tolerant)
    except InputError:
        document = None
        with suppress(ValueError):
            document = tolerant(text)
        if document is None:
            raise
        raise InputError(not_rows(file, document)) from None
    return table_of_rows(file, [row for _, row in rows], [number for number, _ in rows], "JSON lines")


def parse_rows(text: str, *, file: str, decode: Callable[[str], Any] = msgspec.json.decode) -> list[Numbered]:
    """The objects of JSON lines with their line numbers, or all faults of the text; blank lines are skipped."""
    rows: list[Numbered] = []
    problems = Problems()
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip(" \t\r"):
            continue
        try:
            row = decode(line)
        except (ValueError, RecursionError) as error:
            problems.append(Problem("syntax", f"this line is not JSON: {error}", file, number))
            continue
        if isinstance(row, dict):
            rows.append((number, row))
        else:
            message = f"this line is {in_words(row)}; every line is one JSON object"
            problems.append(Problem("syntax", message, file, number))
    if problems:
        raise InputError(problems)
    return rows


def _list(text: str, file: str) -> list[Row]:
    try:
        rows: list[Row] = tolerant(text)
    except ValueError as error:
        raise InputError(Problem("syntax", f"this is not JSON: {error}", file)) from None
    if not rows:
        raise InputError(Problem("syntax", "there is nothing in it: an empty JSON list", file))
    for place, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            message = f"row {place} is not an object; each element of the list is one JSON object"
            raise InputError(Problem("syntax", message, file))
    return rows


def tolerant(text: str) -> Any:
    """The value of a JSON text; NaN and Infinity, which Python writes, are read too: NaN is a missing value."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        fault = str(error)
    try:
        value = json.loads(text, parse_constant=lambda name: None if name == "NaN" else float(name))
        json.dumps(value, ensure_ascii=False).encode()  # nobody can write half a character again
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) - 1 or error.msg.startswith("Unterminated"):
            raise ValueError("the text ends too early") from None
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        raise ValueError(f"{error.msg} at {line}column {error.colno}") from None
    except UnicodeEncodeError:
        raise ValueError("a text has half a character (a lone surrogate)") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError:
        raise ValueError(fault) from None
    return value


def spelled(text: str) -> Any:
    """The object that a text spells, as JSON or as Python prints it; the text itself where it spells none.

    >>> spelled("{'a': 1}"), spelled('{"a": null}'), spelled("Paris"), spelled("[1] see above")
    ({'a': 1}, {'a': None}, 'Paris', '[1] see above')
    """
    if text.strip()[:1] not in ("{", "["):
        return text
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    if len(text) > LONGEST_LITERAL:
        return text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a backslash that Python would write in another way
        try:
            value = ast.literal_eval(text.strip())
            msgspec.json.encode(value)  # Python spells out what no file can contain
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return text
    return value


def in_words(value: Any) -> str:
    """The type of a JSON value, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    names = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)
