"""The kind of a file, recognised from its content."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from qassay.errors import InputError, Problem, UsageError, unknown
from qassay.formats import files, lines
from qassay.formats.answers import kind_of_columns
from qassay.formats.nist import (
    ANSWERS_HEADING,
    DISTINCT,
    HEADING,
    LABELS,
    NUGGET,
    TARGET_TYPE,
    WEIGHT,
    looks_like_doc,
)
from qassay.formats.questions import looks_like_xml
from qassay.formats.tables import decode_text, is_binary, parse_table
from qassay.formats.tables.separated import first_rows
from qassay.judging import VERDICT_FIELDS

# Every kind, with what a person calls it.
KINDS: Mapping[str, str] = {
    "questions": "questions",
    "responses": "questions and answers with keys of your own",
    "run": "a run",
    "judgments": "judgments as JSON lines, or as a table",
    "sheet": "what an assessor judged on a sheet",
    "nuggets": "a nugget list as JSON lines",
    "answers": "known answers as JSON lines",
    "patterns": "answer patterns",
    "run-information": "organisations and descriptions of runs",
    "rag-assignments": "the nugget assignments of TREC RAG 2024",
    "rag-nuggets": "nugget lists of nuggetizer",
    "nugget-weights": "nuggets with their weights in the pyramid",
    "target-types": "types of targets, such as #PERSON Fred Durst",
    "nist-factoid": "factoid judgments in NIST's form",
    "nist-list": "list judgments in NIST's form",
    "nist-other": "judgments of definition or other questions in NIST's form",
    "nist-nuggets": "nugget lists in NIST's form",
    "nist-answers": "known answers of list questions in NIST's form",
}
# What each kind may turn out to be where it is asked for but the file is not JSON lines.
_NIST = {
    "judgments": ("nist-factoid", "nist-list", "nist-other"),
    "nuggets": ("nist-nuggets",),
    "answers": ("nist-answers",),
}
# What rows of answers with keys of people's own may be taken for.
_PERHAPS_RESPONSES = ("answers", "run-information", "questions")
# The fields of the lines that are looked at.
Fields = Sequence[Sequence[str]]
# As much of a file as is looked at.
_HEAD = 1 << 20
_LINES = 2000
_RANKED = re.compile(r"ranked[ \t]*:", re.IGNORECASE)
_TABBED = re.compile(r"[^ \t]+\t")
_QUESTION_ID = re.compile(r"[0-9][\w.:-]*")


@dataclass(frozen=True)
class Setting:
    """Help to recognise a file: the ids of the known questions, whether the task takes answers in free text, and
    what the user says that the keys of tables contain, the encoding, and the sheet of a workbook.
    """

    questions: Container[str] = ()
    free_text: bool = False
    keys: Mapping[str, str] = field(default_factory=dict)
    encoding: str | None = None
    sheet: str | None = None


def recognise(path: Path, *, asked: str | None = None, setting: Setting | None = None, file: str | None = None) -> str:
    """The kind of a file; `asked` is what the user says it is: then only the form is looked for."""
    name = file or str(path)
    if asked is not None and asked not in KINDS:
        raise unknown("kind of file", asked, KINDS)
    if asked is not None and asked not in _NIST:
        return asked
    setting = setting or Setting()
    data = in_utf_8(files.read_bytes(path), name, setting.encoding)
    kind = kind_of(data, setting)
    if asked is None:
        if kind is None and files.utf_16(data):
            raise InputError(files.undecodable(data, file=name))
        if kind is None:
            if is_binary(data):
                parse_table(data, file=name, sheet=setting.sheet)  # what is wrong with it is said first
            raise InputError(Problem("syntax", _refusal(data, name), name))
        return kind
    table = asked == "judgments" and (kind == "responses" or is_binary(data))
    if _begins(data).startswith((b"{", b"[")) or kind == asked or table:
        return asked
    if kind in _NIST[asked]:
        return kind
    if len(_NIST[asked]) == 1:
        return _NIST[asked][0]
    raise UsageError(f"{name}: cannot tell the form of these judgments; say --as {', --as '.join(_NIST[asked])}")


def in_utf_8(data: bytes, name: str, encoding: str | None) -> bytes:
    """The bytes of a file, those of a text in UTF-8: it may have another encoding, or the mark of UTF-16."""
    is_other = encoding is not None or (files.utf_16(data) == "utf-16" and not looks_like_xml(data))  # XML says its own
    return decode_text(data, file=name, encoding=encoding).encode() if is_other and not is_binary(data) else data


def kind_of(data: bytes, setting: Setting | None = None) -> str | None:
    """The kind of a file with these bytes; None where they could be several."""
    setting = setting or Setting()
    if is_binary(data) or _begins(data).startswith(b"["):
        return _table_kind(data, setting)
    if looks_like_xml(data):
        return "questions"
    start = _begins(data)
    if start[:5].lower() == b"<top>":
        return "questions"
    # Latin-1 takes every byte: faults of the encoding are reported where the file is read.
    whole = len(data) <= _HEAD
    start_of_file = data[:_HEAD].removeprefix(files.BOM)
    try:
        text = start_of_file.decode("utf-8" if whole else "latin-1")
    except UnicodeDecodeError:
        text = start_of_file.decode("latin-1")
    if "\0" in text:
        return None
    head = [line for _, line in lines.numbered(text)]
    head = head[:_LINES] if whole else head[:-1][:_LINES]
    if not head:
        return None
    if start.startswith(b"{"):
        return _json_kind(head, setting)
    if kind := _header_kind(head, setting):
        return kind
    return None if _is_other_table(head) else _text_kind(head, setting.questions)


def _table_kind(data: bytes, setting: Setting) -> str | None:
    """The kind of a table that is not lines of text: Parquet, a workbook, or a JSON list."""
    try:
        table = parse_table(data, file="", sheet=setting.sheet)
        first = next((row for _, row in table.rows()), {})
    except InputError:
        return None
    kind = row_kind(first) if table.form == "JSON list" else None
    if kind == "judgments":
        return kind
    return _columns_kind(table.names(), first, setting)


def _header_kind(head: Sequence[str], setting: Setting) -> str | None:
    """The kind of CSV, by the names in its first line."""
    rows, _ = first_rows("\n".join(head))
    if len(rows) < 2 or len(rows[0]) < 2:
        return None
    return _columns_kind(rows[0], dict(zip(rows[0], rows[1], strict=False)), setting)


def _columns_kind(columns: Collection[str], row: Mapping[str, Any], setting: Setting) -> str | None:
    return kind_of_columns(columns, row, setting.questions, setting.keys, free_text=setting.free_text)


def _is_other_table(head: Sequence[str]) -> bool:
    """Whether these are lines of CSV with names in the first: their texts may look like fixed fields."""
    rows, separator = first_rows("\n".join(head), len(head))
    if separator == "\t" or len(rows) < 2 or len(rows[0]) < 3 or len(rows[0][0].split()) > 1:
        return False
    return _share(len(row) == len(rows[0]) for row in rows[1:]) > 0.9


def _json_kind(head: Sequence[str], setting: Setting) -> str | None:
    """The kind of the first line that is an object of some kind.

    Questions with answers are known answers, unless the task takes answers in free text: there they are responses.
    """
    for line in head:
        try:
            row = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            continue
        if not isinstance(row, dict):
            continue
        kind = row_kind(row)
        if kind is None or (kind in _PERHAPS_RESPONSES and setting.free_text):
            kind = _columns_kind(row, row, setting) or kind
        if kind in (None, "answers") and {"run", "question"} <= row.keys():
            kind = "run"  # whose answers are in a field that runs do not have
        if kind:
            return kind
    return None


def row_kind(row: Mapping[str, Any]) -> str | None:
    """The kind of one JSON object, recognised from its keys.

    >>> row_kind({"question": "1.3", "answer": "Atlanta"})
    'answers'
    """
    keys = row.keys()
    if "sheet" in keys and keys & {"verdict", "known_answer", "flag"}:
        return "sheet"
    if {"run_id", "nuggets"} <= keys:
        return "rag-assignments"
    if {"run_id", "answer"} <= keys or {"run_id", "topic_id"} <= keys or _has_rag_metadata(row):
        return "run"
    if {"qid", "nuggets"} <= keys:
        return "rag-nuggets"
    if "question" not in keys:
        if {"id", "type"} <= keys:
            return "questions"
        return "run-information" if "run" in keys else None
    if keys & VERDICT_FIELDS:
        return "judgments"
    if "run" in keys and keys & {"items", "nil", "decision"}:
        return "run"
    if {"nugget", "vital"} <= keys:
        return "nuggets"
    return "answers" if "answer" in keys else None


def _has_rag_metadata(row: Mapping[str, Any]) -> bool:
    """Whether a row is one of the TREC RAG output from 2025 on."""
    metadata = row.get("metadata")
    return "answer" in row and isinstance(metadata, dict) and {"run_id", "narrative_id"} <= metadata.keys()


def _text_kind(head: Sequence[str], questions: Container[str]) -> str | None:
    """The kind of lines of fixed fields, the most specific first."""
    if _RANKED.match(head[0]):
        return "run"
    if HEADING.match(head[0]):
        return "nist-nuggets"
    if ANSWERS_HEADING.fullmatch(head[0]):
        return "nist-answers"
    if all(TARGET_TYPE.fullmatch(line) for line in head):
        return "target-types"
    if all(WEIGHT.fullmatch(line) for line in head) and any(line.split("\t")[2] not in LABELS for line in head):
        return "nugget-weights"
    if all(NUGGET.fullmatch(line) or HEADING.match(line) for line in head):
        return "nist-nuggets"
    split = [lines.fields(line, 5) for line in head]
    if _share(len(parts) > 4 and parts[1] == "Q0" for parts in split) > 0.5:
        return "run"
    if all(_TABBED.match(line) for line in head):
        if len(head) > 1 and all(line.count("\t") > 1 for line in head):
            # A table with more columns than a topic has: judgments or a run with tabs for blanks, or a stranger's.
            one_tag = len({p[1] for p in split}) == 1
            labelled = any(all(len(p) > place and p[place] in LABELS for p in split) for place in (2, 3))
            return _field_kind(split, questions) if one_tag or labelled else None
        return "questions"
    return _field_kind(split, questions)


def _field_kind(split: Fields, questions: Container[str]) -> str | None:
    """The kind of lines of blank-separated fields."""
    if _share(len(p) > 5 and p[3] in LABELS and p[4] in DISTINCT for p in split) > 0.5:
        return "nist-list"
    if _is_other(split):
        return "nist-other"
    # Most lines of a run have the same second field: its tag.
    seconds = Counter(p[1] for p in split if len(p) > 1)
    one_tag = bool(seconds) and seconds.most_common(1)[0][1] > len(split) / 2
    if _share(len(p) > 3 and p[2] in LABELS for p in split) >= 0.5:
        # `q1 x 1 Paris`: a run named x, or a document x that was judged. But -1 is not a rank, a document not a tag.
        judged = any(len(p) > 2 and p[2] == "-1" for p in split) or looks_like_doc(split[0][1])
        return "nist-factoid" if judged or not one_tag else None
    pattern = len(split) == 1 and looks_like_doc(split[0][-1])  # a single line that ends with a document
    if one_tag and not pattern and _share(len(p) > 3 or p[2:] == ["NIL"] for p in split) > 0.5:
        return "run"
    has_questions = all(len(p) > 1 and (p[0] in questions or _QUESTION_ID.fullmatch(p[0])) for p in split)
    return "patterns" if has_questions else None


def _is_other(split: Fields) -> bool:
    """Whether the third field counts the items of each question and run from 1."""
    if not all(len(p) > 3 and p[2].isascii() and p[2].isdigit() for p in split):
        return False
    if looks_like_doc(split[0][1]):  # factoids, none of which is judged wrong
        return False
    last: dict[tuple[str, str], int] = {}
    first_part = [p for p in split if len(p) > 4]
    for parts in first_part:
        response = (parts[0], parts[1])
        if int(parts[2][:9]) != last.get(response, 0) + 1:
            return False
        last[response] = int(parts[2][:9])
    if not first_part:
        return all(p[3].isdigit() for p in split)
    # One line `q1 x 1 D1 Paris` could be a run over a collection whose documents are numbered.
    return len(first_part) < len(split) or max(last.values()) > 1


def _share(marks: Iterable[bool]) -> float:
    """How many of the marks are true, as a share."""
    counted = list(marks)
    return sum(counted) / len(counted) if counted else 0.0


def _begins(data: bytes) -> bytes:
    return data.removeprefix(files.BOM).lstrip()[:200]


def _refusal(data: bytes, name: str) -> str:
    """The message about a file that is none of the kinds."""
    start = _begins(data)
    if not start:
        return "is empty"
    if b"\0" in data[:_HEAD] and not is_binary(data):
        return files.not_as_named(name, data) or "is not a text file"
    if start.startswith(b"["):
        return "is a JSON list of objects that are neither answers nor judgments; name their keys with --map"
    if start[:5].lower() == b"<doc>":
        return "contains documents; put them into the folder collection/ of the evaluation"
    return f"its kind cannot be recognised; say it with --as KIND, one of {', '.join(KINDS)}"
