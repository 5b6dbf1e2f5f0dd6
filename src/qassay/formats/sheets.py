"""Judging sheets: the key that stays with the organiser, and the rows that come back from an assessor.

A sheet shows items under numbers, without their runs. What a number stands for is in `sheets/NAME.json` of the
evaluation's folder, one entry for every part of an item that takes a verdict. The answer is one JSON object per
line: `{"sheet": NAME, "item": number, "part": "...", "verdict": {...}, "at": "..."}`, with a verdict of null where one
was removed; and `{"sheet": NAME, "question": "1.1", "known_answer": "...", "doc": "...", "at": "..."}` for an answer
that the assessor knows of; and `{"sheet": NAME, "item": number, "flag": "...", "at": "..."}` for an item that the
assessor is not sure of, with an empty text where the flag was removed.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from qassay.errors import InputError, Problem, Problems, Rule
from qassay.formats import files, jsonl
from qassay.formats.folder import Folder
from qassay.formats.links import refuse_way_out
from qassay.formats.names import LONGEST_FILE_NAME, file_name
from qassay.judging import KINDS, Part
from qassay.judging.items import check_verdict
from qassay.tasks import Task

FOLDER = "sheets"
# The longest reason of a flag.
LONGEST_REASON = 500
# Names of sheets end in a digest, so this is none of theirs.
_SEED = "order.json"


class SheetPart(msgspec.Struct, frozen=True):
    """A part of an item that takes a verdict: its kind of judgment, and the fields of a row that say what is judged."""

    kind: str
    row: dict[str, Any]


class SheetKey(msgspec.Struct, frozen=True):
    """The meaning of the numbers on a sheet."""

    sheet: str
    evaluation: str
    assessor: str
    # The nuggets that the sheet shows: a judgment set that has no list of its own goes by them.
    nuggets: list[dict[str, Any]]
    items: dict[str, dict[str, SheetPart]]


@dataclass(frozen=True, slots=True)
class SheetResult:
    """What a sheet's file has: judgment rows and known answers with their lines, parts left open again, doubts."""

    rows: Sequence[jsonl.Numbered]
    known: Sequence[jsonl.Numbered]
    taken_back: Sequence[tuple[int, SheetPart]]
    # Of each flagged item the fields of a row that name it, and the reason.
    flagged: Sequence[tuple[Mapping[str, Any], str]] = ()


def key_file(folder: Folder, sheet: str) -> Path:
    """Where the key of a sheet is."""
    return folder.path / FOLDER / f"{file_name(sheet)}.json"


def write_key(folder: Folder, key: SheetKey) -> Path:
    """Keep the key of a sheet."""
    path = key_file(folder, key.sheet)
    _write_secret(path, key)
    return path


def _write_secret(path: Path, content: Any) -> None:
    """Write a file that this user alone can read, from its first moment on."""
    refuse_way_out(path).parent.mkdir(mode=0o700, exist_ok=True)
    path.touch(mode=0o600)
    files.write_bytes(path, msgspec.json.encode(content))


def read_key(folder: Folder, sheet: str, *, file: str, line: int) -> SheetKey:
    """The key of a sheet that was made from this evaluation."""
    path = key_file(folder, sheet)
    if len(path.name.encode()) > LONGEST_FILE_NAME or not path.is_file():
        message = (
            f"the sheet {sheet!r} was not made from this evaluation: there is no {folder.name(path)[:300]}; import it "
            "into the folder that it was made from, or put that file back"
        )
        raise InputError(Problem("configuration", message, file, line))
    try:
        key = msgspec.json.decode(files.stored_bytes(path), type=SheetKey)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(Problem("syntax", f"is not the key of a sheet: {error}", folder.name(path))) from None
    if fault := _key_fault(key):
        message = f"is not the key of a sheet as it was written: {fault}. Put the file back as it was"
        raise InputError(Problem("syntax", message, folder.name(path)))
    return key


def _key_fault(key: SheetKey) -> str:
    """What keeps a key from being used: a part or a nugget without what names it."""
    for item, parts in key.items.items():
        for part in parts.values():
            if part.kind not in KINDS or not isinstance(part.row.get("question"), str):
                return f"item {item} has a part without a question, or of an unknown kind"
    if not all(isinstance(nugget.get(name), str) for nugget in key.nuggets for name in ("question", "nugget")):
        return "a nugget has no question, or no name"
    return ""


def kept_seed(folder: Folder) -> str:
    """The secret that numbers and orders are drawn from where there is no store: made once, the same for all sheets."""
    path = folder.path / FOLDER / _SEED
    if path.is_file():
        try:
            return msgspec.json.decode(files.stored_bytes(path), type=dict[str, str])["seed"]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError):
            message = "does not contain the seed of the sheets; restore the file, or remove it to draw a new seed"
            raise InputError(Problem("configuration", message, folder.name(path))) from None
    seed = secrets.token_hex(16)
    _write_secret(path, {"seed": seed})
    return seed


def read_result(rows: Sequence[jsonl.Numbered], key: SheetKey, task: Task, *, file: str) -> SheetResult:
    """The rows of one sheet as judgments, or everything that is wrong with them."""
    problems = Problems()
    judged: list[jsonl.Numbered] = []
    known: list[jsonl.Numbered] = []
    open_again: list[tuple[int, SheetPart]] = []
    flags: dict[str, tuple[str, str]] = {}
    for line, row in rows:
        faults = list(_faults(row, key, task))
        if faults:
            problems += [Problem(*fault, file=file, line=line) for fault in faults]
        elif "known_answer" in row:
            fields = {"question": row["question"], "answer": row["known_answer"], "doc": row.get("doc")}
            answer = {name: value for name, value in fields.items() if value is not None}
            known.append((line, {**answer, "assessor": key.assessor}))
        elif "flag" in row:
            before = flags.get(str(row["item"]), ("", ""))
            flags[str(row["item"])] = max(before, (row["at"], row["flag"].strip()), key=lambda flag: flag[0])
        else:
            part = key.items[str(row["item"])][row["part"]]
            if row["verdict"] is None:
                open_again.append((line, part))
            else:
                judged.append((line, {**part.row, **row["verdict"], "assessor": key.assessor, "at": row["at"]}))
    if problems:
        raise InputError(problems)
    flagged = [(next(iter(key.items[item].values())).row, reason) for item, (_, reason) in flags.items() if reason]
    return SheetResult(judged, known, open_again, flagged)


def _faults(row: jsonl.Row, key: SheetKey, task: Task) -> Iterator[tuple[Rule, str]]:
    """The fault of a row: rule and message."""
    if not _is_moment(row.get("at")):
        yield "syntax", f"'at' is {row.get('at')!r}; it takes a moment such as 2004-07-21T09:30:00Z"
    if "known_answer" in row:
        for name in ("known_answer", "question"):
            if not isinstance(row.get(name), str) or not row[name].strip():
                yield "syntax", f"{name!r} is {row.get(name)!r}; it takes a text"
        return
    item = key.items.get(str(row.get("item")))
    part = None if item is None else item.get(str(row.get("part", "")))
    if item is None:
        yield "syntax", f"the sheet {key.sheet} has no item {row.get('item')!r}"
    elif "flag" in row:
        if not isinstance(row["flag"], str) or len(row["flag"]) > LONGEST_REASON:
            yield "syntax", f"'flag' takes a text of at most {LONGEST_REASON} characters"
    elif part is None or not isinstance(row.get("part"), str):
        yield "syntax", f"item {row['item']} of the sheet {key.sheet} has no part {row.get('part')!r}"
    elif row.get("verdict", 0) is not None:
        yield from _verdict_faults(row.get("verdict"), part, key, task)


def _verdict_faults(verdict: object, part: SheetPart, key: SheetKey, task: Task) -> Iterator[tuple[Rule, str]]:
    """The fault of a verdict: the rules are those of the application."""
    question = part.row["question"]
    if not isinstance(verdict, Mapping):
        yield "syntax", f"question {question}: 'verdict' is {verdict!r}; it takes an object, or null"
        return
    nuggets = {str(nugget["nugget"]) for nugget in key.nuggets if nugget["question"] == question}
    try:
        check_verdict(Part("", part.kind, part.row), verdict, task, nuggets=nuggets)
    except InputError as error:
        yield from ((problem.rule, problem.message) for problem in error.problems)


def _is_moment(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False
