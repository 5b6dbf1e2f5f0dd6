"""Shared by the readers of foreign logs: JSON with bounds, tables, numbers, names, and messages that say what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from qassay.errors import InputError, Problem
from qassay.formats import files
from qassay.formats.foreign import _names
from qassay.formats.tables import parse_table
from qassay.formats.tables.json_rows import tolerant
from qassay.formats.tables.separated import first_rows

Record = TypeVar("Record")

# Strings, with the colon behind those that are keys, and brackets; and how much of a file is searched for keys.
_TOKEN = re.compile(rb'"(?P<key>(?:[^"\\]|\\.)*+)"(?P<colon>\s*+:)?+|[{}\[\]]', re.DOTALL)
_KEYS_WITHIN = 1 << 18


def refuse(path: Path, message: str, *, line: int | None = None) -> InputError:
    """The error of a log that cannot be read; the message says what is wrong and what to do."""
    return InputError(Problem("syntax", message, str(path), line))


def warning(path: Path, message: str) -> Problem:
    """A warning about a log that was read."""
    return Problem("syntax", message, str(path))


def decode(content: bytes, kind: type[Record], path: Path, remedy: str) -> Record:
    """JSON as a record of this kind, whose other fields are ignored.

    NaN and Infinity, which are not JSON but which Python's own writer writes, are read too.
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError as error:
        raise refuse(path, f"{_place(error)} {remedy}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return msgspec.convert(tolerant(content.decode("utf-8")), type=kind)
    except UnicodeDecodeError as error:
        raise refuse(path, f"byte {error.start + 1} is not UTF-8. {remedy}") from None
    except (msgspec.ValidationError, RecursionError) as error:
        raise refuse(path, f"{_place(error)} {remedy}") from None
    except ValueError as error:
        raise refuse(path, f"cannot be read as JSON: {error}. {remedy}") from None


_TYPE_FAULT = re.compile(r"Expected `(?P<wanted>.+?)`, got `(?P<given>.+?)`")
_MISSING_KEY = re.compile(r"Object missing required field `(?P<key>.+?)`")
# The types of JSON in words.
_TYPES = {"object": "an object", "array": "a list", "str": "a text", "int": "a whole number", "float": "a number"}
_TYPES |= {"null": "nothing", "bool": "true or false"}


def _place(error: Exception) -> str:
    """The fault of a value and its place: `results[3].score is a text; expected a number.`"""
    message, _, place = str(error).partition(" - at `")
    where = place.removesuffix("`").removeprefix("$").removeprefix(".") or "the outermost value"
    if fault := _TYPE_FAULT.match(message):
        expected = " or ".join(_TYPES.get(part, part) for part in fault["wanted"].split(" | "))
        return f"{where} is {_TYPES.get(fault['given'], fault['given'])}; expected {expected}."
    if missing := _MISSING_KEY.match(message):
        return f"{where} has no {missing['key']!r}."
    return f"{where}: {message}."


@dataclass(frozen=True)
class Line:
    """One row of a table or of JSON lines, with the line on which it starts."""

    number: int
    cells: Mapping[str, Any]


def table_lines(content: bytes, path: Path, remedy: str) -> list[Line]:
    """The rows of a table in any form; those of a JSON list have no lines to name: 0."""
    try:
        table = parse_table(content, file=str(path))
        rows = table.rows(blanks=True)
    except InputError as error:
        advised = error.problems.changed(lambda each: replace(each, message=f"{each.message.rstrip('.')}. {remedy}"))
        raise InputError(advised) from None
    return [Line(number if table.has_lines else 0, row) for number, row in rows]


@lru_cache(maxsize=2)
def table_columns(head: bytes) -> list[str]:
    """The columns of a table of text with these first bytes, which may end anywhere."""
    is_utf_16 = files.utf_16(head)
    if b"\0" in head and not is_utf_16:
        return []
    text = head.removeprefix(files.BOM).decode(is_utf_16 or "utf-8", "ignore")
    if text.lstrip()[:1] in ("{", "["):
        return list(first_object(head))
    rows, _ = first_rows(text)
    return rows[0] if rows else []


@lru_cache(maxsize=2)
def first_object(head: bytes) -> Mapping[str, Any]:
    """The first object of JSON lines or of a JSON list with these first bytes; empty where there is none."""
    text = head.removeprefix(files.BOM).lstrip().removeprefix(b"[").lstrip()
    if not text.startswith(b"{"):
        return {}
    try:
        row, _ = json.JSONDecoder().raw_decode(text.decode("utf-8", "ignore"))
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}


@lru_cache(maxsize=2)
def top_keys(head: bytes) -> tuple[str, ...]:
    """The outermost keys of a JSON object as far as these first bytes go, which may end anywhere.

    >>> top_keys(b'{"a": {"b": 1}, "c": [{"d": "}"}], "e": "x')
    ('a', 'c', 'e')
    """
    keys: list[str] = []
    depth = 0
    text = head.removeprefix(files.BOM).lstrip()[:_KEYS_WITHIN]
    for token in _TOKEN.finditer(text) if text.startswith(b"{") else ():
        mark = token[0][:1]
        if mark == b'"':
            if depth == 1 and token["colon"] is not None:
                keys.append(token["key"].decode("utf-8", "replace"))
        elif mark in (b"{", b"["):
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                break
    return tuple(keys)


def version_warnings(path: Path, tool: str, version: str, tried: Sequence[str]) -> list[Problem]:
    """A warning where a log comes from another series of releases (0.3, 0.4) than those that were tried."""
    series = {tuple(known.split(".")[:2]) for known in tried}
    if not version or tuple(version.split(".")[:2]) in series:
        return []
    message = f"was written by {tool} {_names.name(version)}, which was not tried (tried: {', '.join(tried)})."
    return [warning(path, f"{message} Compare a few scores with what the tool shows.")]
