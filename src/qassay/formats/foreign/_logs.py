"""What the readers of foreign logs share: JSON with bounds, tables, numbers, names, and messages with a way out."""

from __future__ import annotations

import ast
import csv
import hashlib
import io
import json
import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from qassay.errors import InputError, Problem, few
from qassay.formats import files
from qassay.formats.score_rows import ScoreRows
from qassay.tables import plural

Record = TypeVar("Record")

# The longest name of a system, question or metric; a prompt of a thousand words names nothing that people can read.
LONGEST_NAME = 300
# Larger numbers are no scores: their squares and sums would not be numbers.
LARGEST = 1e100

# The longest cell that is read as an object; explanations of a model are longer.
LONGEST_CELL = 1 << 20

# Characters that turn the direction of writing.
_DIRECTIONS = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
_WORDS = {"true": 1.0, "false": 0.0}
_ABSENT = frozenset({"", "nan", "none", "null", "na", "n/a", "<na>"})


def refuse(path: Path, message: str, *, line: int | None = None) -> InputError:
    """The error of a log that cannot be read; the message says what is wrong and what to do."""
    return InputError(Problem("syntax", message, str(path), line))


def warning(path: Path, message: str) -> Problem:
    """A warning about a log that was read."""
    return Problem("syntax", message, str(path))


def decode(content: bytes, kind: type[Record], path: Path, remedy: str, *, line: int | None = None) -> Record:
    """JSON as a record of this kind, whose other fields are passed over.

    NaN and Infinity, which are not JSON but which Python's own writer writes, are read too.
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError as error:
        raise refuse(path, f"{_place(error)} {remedy}", line=line) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = _tolerant(content, path, remedy, line)
    try:
        return msgspec.convert(value, type=kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise refuse(path, f"{_place(error)} {remedy}", line=line) from None


def _tolerant(content: bytes, path: Path, remedy: str, line: int | None) -> Any:
    try:
        return json.loads(content.decode("utf-8"))
    except json.JSONDecodeError as error:
        place = f"column {error.colno}" if line is not None else f"line {error.lineno}, column {error.colno}"
        cut = error.pos >= len(error.doc.rstrip()) - 1 or error.msg.startswith("Unterminated")
        reason = "the text ends too early" if cut else error.msg
        raise refuse(path, f"is not JSON at {place}: {reason}. {remedy}", line=line) from None
    except UnicodeDecodeError as error:
        raise refuse(path, f"byte {error.start + 1} is not UTF-8. {remedy}", line=line) from None
    except (RecursionError, ValueError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else "it contains a number too large"
        raise refuse(path, f"cannot be read as JSON: {reason}. {remedy}", line=line) from None


def _place(error: Exception) -> str:
    """Where a value has the wrong type, in words: `results.results[3].score: ...`."""
    message, _, place = str(error).partition(" - at `")
    if not place:
        return f"{message}."
    where = place.removesuffix("`").removeprefix("$").removeprefix(".")
    return f"{where}: {message[:1].lower()}{message[1:]}." if where else f"{message}."


@dataclass(frozen=True)
class Line:
    """One row of a table or of JSON lines, with the line on which it starts."""

    number: int
    cells: Mapping[str, Any]


def json_lines(content: bytes, path: Path, remedy: str) -> Iterator[Line]:
    """The objects of JSON lines, or of one JSON list, which has no lines to name: its objects are counted from 1."""
    text = content.removeprefix(files.BOM)
    if text.lstrip()[:1] == b"[":
        for number, row in enumerate(decode(text, list[dict[str, Any]], path, remedy), 1):
            yield Line(number, row)
        return
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.strip():
            yield Line(number, decode(line, dict[str, Any], path, remedy, line=number))


def table_lines(content: bytes, path: Path, remedy: str) -> list[Line]:
    """The rows of a CSV or TSV file with a header; a row of another width than the header is an error."""
    text = files.decode(content, file=str(path))
    header_line = text[: text.find("\n")] if "\n" in text else text
    delimiter = max(",\t;", key=header_line.count)
    # Tools write whole contexts into a cell; the limit of the csv module is 131,072 characters.
    previous = csv.field_size_limit(1 << 27)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        return list(_records(reader, path, remedy))
    except csv.Error as error:
        raise refuse(path, f"is not a table: {error}. {remedy}") from None
    finally:
        csv.field_size_limit(previous)


def _records(reader: Any, path: Path, remedy: str) -> Iterator[Line]:
    header: list[str] = next(reader, [])
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise refuse(path, f"column {twice!r} occurs twice. {remedy}", line=1)
    start: int = reader.line_num + 1
    for row in reader:
        if row and len(row) != len(header):
            message = f"has {plural(len(row), 'cell')}, the header {len(header)}. {remedy}"
            raise refuse(path, message, line=start)
        if row:
            yield Line(start, dict(zip(header, row, strict=True)))
        start = reader.line_num + 1


def header_of(head: bytes) -> list[str]:
    """The column names of a CSV or TSV file with these first bytes; empty where its first line is not a header."""
    line = head.removeprefix(files.BOM).split(b"\n", 1)[0]
    try:
        text = line.decode("utf-8").rstrip("\r")
    except UnicodeDecodeError:
        return []
    if not text or text[0] in "{[" or "\0" in text:
        return []
    try:
        return next(csv.reader([text], delimiter=max(",\t;", key=text.count)), [])
    except csv.Error:
        return []


def first_object(head: bytes) -> Mapping[str, Any]:
    """The first object of JSON lines or of a JSON list with these first bytes; empty where there is none."""
    text = head.removeprefix(files.BOM).lstrip()
    text = text[1:].lstrip() if text.startswith(b"[") else text
    if not text.startswith(b"{"):
        return {}
    line = text.split(b"\n", 1)[0]
    try:
        row = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        try:
            row, _ = json.JSONDecoder().raw_decode(text.decode("utf-8", "ignore"))
        except (ValueError, RecursionError):
            return {}
    return row if isinstance(row, dict) else {}


def top_keys(head: bytes) -> list[str]:
    """The outermost keys of a JSON object as far as these first bytes go, which may end anywhere.

    >>> top_keys(b'{"a": {"b": 1}, "c": [{"d": "}"}], "e": "x')
    ['a', 'c', 'e']
    """
    keys: list[str] = []
    depth = 0
    text = head.removeprefix(files.BOM).decode("utf-8", "replace")
    place = 0
    while place < len(text):
        character = text[place]
        if character == '"':
            end = _closing_quote(text, place)
            if depth == 1 and text[end + 1 : end + 40].lstrip()[:1] == ":":
                keys.append(text[place + 1 : end])
            place = end
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth <= 0:
                break
        elif depth == 0 and not character.isspace():
            break
        place += 1
    return keys


def _closing_quote(text: str, start: int) -> int:
    end = text.find('"', start + 1)
    while end > 0:
        slashes = len(text[:end]) - len(text[start:end].rstrip("\\")) - start if text[end - 1] == "\\" else 0
        if slashes % 2 == 0:
            return end
        end = text.find('"', end + 1)
    return len(text)


def number(value: object) -> float | None:
    """A score as a number: true is 1, false 0; None where there is none. A ValueError where it says something else.

    >>> number(True), number("0.5"), number(None), number(float("nan"))
    (1.0, 0.5, None, None)
    """
    if value is None:
        return None
    if isinstance(value, str):
        text = value.strip().lower()
        if text in _ABSENT:
            return None
        value = _WORDS[text] if text in _WORDS else float(text.replace("_", "x"))
    if not isinstance(value, int | float):
        raise ValueError
    if math.isnan(value):
        return None
    if abs(value) > LARGEST:
        raise ValueError
    return float(value)


def name(value: object) -> str:
    """A name for people: on one line, without control characters, and not too long.

    A long text is cut and gets a few digits of its hash, so that two prompts that begin alike stay two.

    >>> name("What is\\n\\tthis?"), len(name("x" * 1000))
    ('What is this?', 300)
    """
    text = value if isinstance(value, str) else msgspec.json.encode(value, order="sorted").decode()
    text = " ".join("".join(" " if _is_control(character) else character for character in text).split())
    if len(text) <= LONGEST_NAME:
        return text
    digits = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{text[: LONGEST_NAME - 12]}... {digits}"


def _is_control(character: str) -> bool:
    """Whether a character moves the cursor, turns the direction of writing, or is half of one."""
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in _DIRECTIONS


def parsed(value: object) -> object:
    """A cell as the object that it spells, as JSON or as Python prints it; the text itself where it spells none.

    >>> parsed("{'a': 1}"), parsed('{"a": null}'), parsed("Paris")
    ({'a': 1}, {'a': None}, 'Paris')
    """
    if not isinstance(value, str) or value[:1] not in ("{", "[") or len(value) > LONGEST_CELL:
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return value


def question_name(value: object) -> str:
    """The name of a question from what was asked: the text alone where that is all.

    >>> question_name("{'question': 'Who?'}"), question_name({"a": "x", "b": 2})
    ('Who?', '{"a":"x","b":2}')
    """
    asked = parsed(value)
    if isinstance(asked, dict) and len(asked) == 1:
        [only] = asked.values()
        asked = only if isinstance(only, str) else asked
    return name(asked)


def version_warnings(path: Path, tool: str, version: str, tried: Sequence[str]) -> list[Problem]:
    """A warning where a log comes from another series of releases (0.3, 0.4) than those that were tried."""
    series = {tuple(known.split(".")[:2]) for known in tried}
    if not version or tuple(version.split(".")[:2]) in series:
        return []
    message = f"was written by {tool} {name(version)}, which was not tried (tried: {', '.join(tried)})."
    return [warning(path, f"{message} Compare a few scores with what the tool shows.")]


class Scores:
    """Scores of one log on their way into `ScoreRows`: values become numbers, failed samples become missing scores."""

    def __init__(self, form: str, path: Path, *, remedy: str) -> None:
        self._rows = ScoreRows(form=form, file=str(path))
        self._path = path
        self._remedy = remedy
        self._raw: list[tuple[str, str, str, str, object, int]] = []
        self._failed: list[tuple[str, str, str, int]] = []

    def add(
        self, system: str, question: str, value: object, *, metric: str = "", repeat: str = "", line: int = 0
    ) -> None:
        """One score as the log has it."""
        self._raw.append((system, question, metric, repeat, value, line))

    def failed(self, system: str, question: str, *, repeat: str = "", line: int = 0) -> None:
        """A sample without scores: each metric of its system is missing there."""
        self._failed.append((system, question, repeat, line))

    def note(self, *sentences: str) -> None:
        """Sentences that every output repeats."""
        self._rows.notes.extend(sentences)

    def warn(self, *warnings: Problem) -> None:
        """Warnings for people to act on."""
        self._rows.warnings.extend(warnings)

    def rows(self, *, default: str | None = None, repeated: bool = False) -> ScoreRows:
        """Everything that was added; an error where a metric has numbers and text, or where no score is left.

        `default` is the metric that the tool itself puts first. The names of repeats are kept where there are several,
        or where the log says that several were meant.
        """
        kept = self._numeric()
        metrics: dict[str, dict[str, None]] = {}
        for system, _, metric, *_ in kept:
            metrics.setdefault(system, {})[metric] = None
        for system, question, repeat, line in self._failed:
            kept += [(system, question, metric, repeat, None, line) for metric in metrics.get(system, {})]
        if not any(number(entry[4]) is not None for entry in kept):
            raise refuse(self._path, f"contains no scores. {self._remedy}")
        several = repeated or len({entry[3] for entry in kept}) > 1
        for system, question, metric, repeat, value, _ in kept:
            self._rows.add(system, question, number(value), metric=metric, repeat=repeat if several else "")
        if any(entry[5] for entry in kept):
            self._rows.lines = [entry[5] for entry in kept]
        if any(isinstance(entry[4], bool) or _is_word(entry[4]) for entry in kept):
            self.note("True counts as 1, false as 0.")
        if default in self._rows.metrics:
            self._rows.default_metric = default
        return self._rows

    def _numeric(self) -> list[tuple[str, str, str, str, object, int]]:
        """The scores of metrics that have numbers; metrics that have only text are named as left out."""
        texts: dict[str, list[tuple[str, str, str, str, object, int]]] = {}
        numeric: set[str] = set()
        for entry in self._raw:
            if not _is_number(entry[4]):
                texts.setdefault(entry[2], []).append(entry)
            elif number(entry[4]) is not None:
                numeric.add(entry[2])
        problems = [
            Problem(
                "syntax",
                f"question {entry[1]!r}, metric {metric}: {name(_shown(entry[4]))!r} is not a number. {self._remedy}",
                str(self._path),
                entry[5] or None,
                entry[1],
            )
            for metric, entries in texts.items()
            if metric in numeric
            for entry in entries
        ]
        if problems:
            raise InputError(problems)
        if texts:
            self.note(f"Left out because {'they have' if len(texts) > 1 else 'it has'} no numbers: {few(texts)}.")
        return [entry for entry in self._raw if entry[2] not in texts]


def _is_number(value: object) -> bool:
    try:
        number(value)
    except (ValueError, OverflowError):
        return False
    return True


def _is_word(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower() in _WORDS


def _shown(value: object) -> str:
    return value if isinstance(value, str) else repr(value)
