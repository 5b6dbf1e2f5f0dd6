"""The kind of a file, recognised from its content."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from qassay.errors import InputError, Problem, UsageError, unknown
from qassay.formats import files, lines
from qassay.formats.nist import ANSWERS_HEADING, DISTINCT, HEADING, LABELS, NUGGET, looks_like_doc
from qassay.formats.questions import looks_like_xml

# Every kind, with what a person calls it.
KINDS: Mapping[str, str] = {
    "questions": "questions",
    "run": "a run",
    "judgments": "judgments as JSON lines",
    "sheet": "what an assessor judged on a sheet",
    "nuggets": "a nugget list as JSON lines",
    "answers": "known answers as JSON lines",
    "patterns": "answer patterns",
    "run-information": "organisations and descriptions of runs",
    "rag-assignments": "the nugget assignments of TREC RAG 2024",
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
# The fields of the lines that are looked at.
Fields = Sequence[Sequence[str]]
# As much of a file as is looked at.
_HEAD = 1 << 20
_LINES = 2000
_RANKED = re.compile(r"ranked[ \t]*:", re.IGNORECASE)
_TABBED = re.compile(r"[^ \t]+\t")
_QUESTION_ID = re.compile(r"[0-9][\w.:-]*")


def recognise(path: Path, *, asked: str | None = None, questions: Container[str] = (), file: str | None = None) -> str:
    """The kind of a file.

    `asked` is what the user says it is: then only the form is looked for. `questions` are the ids of the questions
    that are known, which tell patterns from any other text.
    """
    name = file or str(path)
    if asked is not None and asked not in KINDS:
        raise unknown("kind of file", asked, KINDS)
    if asked is not None and asked not in _NIST:
        return asked
    data = files.read_bytes(path)
    kind = kind_of(data, questions=questions)
    if asked is None:
        if kind is None:
            raise InputError(Problem("syntax", _refusal(data), name))
        return kind
    if _begins(data).startswith(b"{") or kind == asked:
        return asked
    if kind in _NIST[asked]:
        return kind
    if len(_NIST[asked]) == 1:
        return _NIST[asked][0]
    raise UsageError(f"{name}: cannot tell the form of these judgments; say --as {', --as '.join(_NIST[asked])}")


def kind_of(data: bytes, *, questions: Container[str] = ()) -> str | None:
    """The kind of a file with these bytes; None where they could be several."""
    if looks_like_xml(data):
        return "questions"
    start = _begins(data)
    if start[:5].lower() == b"<top>":
        return "questions"
    # Latin-1 takes every byte: faults of the encoding are reported where the file is read.
    whole = len(data) <= _HEAD
    text = data[:_HEAD].removeprefix(files.BOM).decode("utf-8" if whole and _is_utf8(data) else "latin-1")
    if "\0" in text:
        return None
    head = [line for _, line in lines.numbered(text)]
    head = head[:_LINES] if whole else head[:-1][:_LINES]
    if not head:
        return None
    return _json_kind(head) if start.startswith(b"{") else _text_kind(head, questions)


def _json_kind(head: Sequence[str]) -> str | None:
    """The kind of the first line that is an object of some kind."""
    for line in head:
        try:
            row = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            continue
        if isinstance(row, dict) and (kind := row_kind(row)):
            return kind
    return None


def row_kind(row: Mapping[str, Any]) -> str | None:
    """The kind of one JSON object, recognised from its keys.

    >>> row_kind({"question": "1.3", "answer": "Atlanta"})
    'answers'
    """
    has = row.keys()
    if "sheet" in has and has & {"verdict", "known_answer"}:
        return "sheet"
    if {"run_id", "nuggets"} <= has:
        return "rag-assignments"
    if {"run_id", "answer"} <= has or {"run_id", "topic_id"} <= has:
        return "run"
    if "question" not in has:
        if {"id", "type"} <= has:
            return "questions"
        return "run-information" if "run" in has else None
    if has & {"judgment", "nuggets", "support", "content", "organization", "understandability"}:
        return "judgments"
    if "run" in has and has & {"items", "nil", "decision"}:
        return "run"
    if {"nugget", "vital"} <= has:
        return "nuggets"
    return "answers" if "answer" in has else None


def _text_kind(head: Sequence[str], questions: Container[str]) -> str | None:
    """The kind of lines of fixed fields, the most telling first."""
    if _RANKED.match(head[0]):
        return "run"
    if HEADING.match(head[0]):
        return "nist-nuggets"
    if ANSWERS_HEADING.fullmatch(head[0]):
        return "nist-answers"
    if all(NUGGET.fullmatch(line) or HEADING.match(line) for line in head):
        return "nist-nuggets"
    split = [lines.fields(line, 5) for line in head]
    if _share(len(parts) > 4 and parts[1] == "Q0" for parts in split) > 0.5:
        return "run"
    if all(_TABBED.match(line) for line in head):
        if len(head) > 1 and all(line.count("\t") > 1 for line in head):
            # A table with more columns than a topic has: judgments or a run with tabs for blanks, or a stranger's.
            return _field_kind(split, questions) if _is_fixed(split) else None
        return "questions"
    return _field_kind(split, questions)


def _field_kind(split: Fields, questions: Container[str]) -> str | None:
    """The kind of lines of blank-separated fields."""
    if _share(len(p) > 5 and p[3] in LABELS and p[4] in DISTINCT for p in split) > 0.5:
        return "nist-list"
    if _is_other(split):
        return "nist-other"
    one_tag = _has_one_tag(split)
    if _share(len(p) > 3 and p[2] in LABELS for p in split) >= 0.5:
        # `q1 x 1 Paris`: a run named x, or a document x that was judged; nobody can tell.
        return "nist-factoid" if not one_tag or _is_surely_judged(split) else None
    if one_tag and _is_run(split):
        return "run"
    return "patterns" if _are_patterns(split, questions) else None


def _has_one_tag(split: Fields) -> bool:
    """Whether most lines have the same second field, as those of a run have its tag."""
    seconds = Counter(parts[1] for parts in split if len(parts) > 1)
    return bool(seconds) and seconds.most_common(1)[0][1] > len(split) / 2


def _is_surely_judged(split: Fields) -> bool:
    """Whether lines with labels cannot be those of a run: -1 is no rank, and a document is no tag."""
    return any(len(p) > 2 and p[2] == "-1" for p in split) or looks_like_doc(split[0][1])


def _is_run(split: Fields) -> bool:
    """Whether lines with one tag are responses; a single line that ends with a document is a pattern."""
    alone = len(split) == 1 and looks_like_doc(split[0][-1])
    return not alone and _share(len(p) > 3 or p[2:] == ["NIL"] for p in split) > 0.5


def _are_patterns(split: Fields, questions: Container[str]) -> bool:
    """Whether every line has a question and something after it."""
    return all(len(p) > 1 and (p[0] in questions or _QUESTION_ID.fullmatch(p[0])) for p in split)


def _is_other(split: Fields) -> bool:
    """Whether the third field counts the items of each question and run from 1."""
    if not all(len(p) > 3 and p[2].isascii() and p[2].isdigit() for p in split):
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


def _is_fixed(split: Fields) -> bool:
    """Whether tab-separated lines are those of one run, or have NIST's labels in their place."""
    seconds = {parts[1] for parts in split}
    return len(seconds) == 1 or any(all(len(p) > place and p[place] in LABELS for p in split) for place in (2, 3))


def _share(marks: Iterable[bool]) -> float:
    """How many of the marks are true, as a share."""
    counted = list(marks)
    return sum(counted) / len(counted) if counted else 0.0


def _begins(data: bytes) -> bytes:
    return data.removeprefix(files.BOM).lstrip()[:200]


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _refusal(data: bytes) -> str:
    """What to say of a file that is none of the kinds."""
    start = _begins(data)
    if not start:
        return "is empty"
    if b"\0" in data[:_HEAD]:
        return "is not a text file"
    if start.startswith(b"["):
        return "is a JSON list; write one object a line (with jq: jq -c '.[]')"
    if start[:5].lower() == b"<doc>":
        return "holds documents; put them into the folder collection/ of the evaluation"
    return f"cannot tell what it holds; say it with --as KIND, one of {', '.join(KINDS)}"
