"""Names of systems, questions and metrics, from what logs have to name them."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from qassay.formats import fields
from qassay.formats.tables.json_rows import spelled

# The longest name of a system, question or metric; a prompt of a thousand words names nothing that people can read.
LONGEST_NAME = 300

# Characters that turn the direction of writing.
_DIRECTIONS = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))

# Columns that contain what was asked; some tools have a request, or inputs.
ASKED_COLUMNS = (*fields.QUESTION, "request", "inputs")


def name(value: object) -> str:
    """A name for people: on one line, without control characters, and not too long.

    A long text is cut and gets a few digits of its hash, so that two prompts that begin alike stay two.

    >>> name("What is\\n\\tthis?"), len(name("x" * 1000))
    ('What is this?', 300)
    """
    text = value if isinstance(value, str) else _spelled(value)
    text = " ".join("".join(" " if _is_control(character) else character for character in text).split())
    if len(text) <= LONGEST_NAME:
        return text
    import hashlib

    digits = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{text[: LONGEST_NAME - 12]}... {digits}"


def _spelled(value: object) -> str:
    """An object as one line of JSON, with sorted keys where they can be sorted."""
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def _is_control(character: str) -> bool:
    """Whether a character moves the cursor, turns the direction of writing, or is half of one."""
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in _DIRECTIONS


def question_name(value: object) -> str:
    """The name of a question from what was asked: the text alone where that is all.

    >>> question_name("{'question': 'Who?'}"), question_name({"a": "x", "b": 2})
    ('Who?', '{"a":"x","b":2}')
    """
    question = spelled(value) if isinstance(value, str) else value
    if isinstance(question, dict) and len(question) == 1:
        [only] = question.values()
        question = only if isinstance(only, str) else question
    return name(question)


def file_system(path: Path) -> str:
    """The system that a file is named after: its name without the endings of its form and its compression.

    >>> file_system(Path("runs/bm25.v1.tsv.gz"))
    'bm25.v1'
    """
    return name(Path(path.name.removesuffix(".gz").removesuffix(".zst")).stem)


def system_in(cells: Mapping[str, Any], otherwise: str) -> str:
    """The system that a row of a frame names, else the other name."""
    system = next((cells[column] for column in fields.SYSTEM if cells.get(column)), otherwise)
    return name(system)


def question_in(cells: Mapping[str, Any], columns: Sequence[str] = (*fields.QUESTION_ID, *ASKED_COLUMNS)) -> str | None:
    """The question that a row of a frame names, by the first of these columns that has something in it."""
    for column in columns:
        if cells.get(column) not in (None, ""):
            return question_name(cells[column])
    return None


def texts_or_ids(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """A name for each id: the text that was asked where it names one id only, else the id.

    >>> texts_or_ids([("1", "Who?"), ("1", "Who?"), ("2", "When?")])
    {'1': 'Who?', '2': 'When?'}
    """
    texts = dict(pairs)
    distinct = len(set(texts.values())) == len(texts) and all(texts.values())
    return texts if distinct else {key: key for key in texts}
