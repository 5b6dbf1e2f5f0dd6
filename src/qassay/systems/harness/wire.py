"""How a question goes out to a system and an answer comes back: one JSON object each.

    out   {"question": {"id": "1.2", "type": "factoid", "text": "...", "series": "1", "target": "..."},
           "history": [{"question": {...}, "answer": {...}}]}
    back  {"items": [{"doc": "NYT1", "text": "Atlanta"}]}      or {"nil": true}, or {"decision": "YES"}

An answer may also contain `confidence`, `justification`, `note` (ignored) and `question` (the id; where it is
given, it must be that of the question asked). An unknown key is an error: a misspelled `items` is not an empty answer.

A CallError is about one call: the system crashed, hung, answered twice or in the wrong form, or could not be reached.
A DriveError is about the whole run: what the user reads after all attempts (exit status 1).
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import msgspec

from qassay import child
from qassay.errors import InputError, Rule
from qassay.formats.questions import question_row
from qassay.questions import Question
from qassay.systems import Answer, Asked, Item

Kind = Literal[child.Kind, "unreachable", "refused"]


@dataclass(eq=False)
class CallError(Exception):
    """One call has failed.

    `again` says whether another attempt may help; a `fatal` failure ends the run whatever --on-failure says, because
    no answer of this system can be trusted (it answers twice) or none will come (the address refuses us).
    """

    kind: Kind
    message: str
    _: KW_ONLY
    again: bool = True
    fatal: bool = False
    wait: float | None = None
    rule: Rule = "configuration"
    raw: str | None = None

    def __str__(self) -> str:
        return self.message


class DriveError(InputError):
    """The run cannot be finished; nothing was written but the log."""


MOST_SHOWN = 300


class _Item(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One item as written."""

    doc: str | None = None
    text: str = ""
    start: int | None = None
    length: int | None = None
    citations: list[str] = []


class _Answer(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One answer as written."""

    items: list[_Item] = []
    nil: bool = False
    confidence: float | None = None
    decision: str | None = None
    justification: str | None = None
    question: str | int | None = None
    note: Any = None


_DECODER = msgspec.json.Decoder(_Answer)


def request(asked: Asked) -> dict[str, Any]:
    """The message to a system."""
    return {
        "question": question_row(asked.question),
        "history": [{"question": question_row(q), "answer": answer_row(a)} for q, a in asked.history],
    }


def answer_row(answer: Answer) -> dict[str, Any]:
    """An answer as a JSON object, without empty fields."""
    items = [_Item(item.doc, item.text, item.start, item.length, list(item.citations)) for item in answer.items]
    row: dict[str, Any] = msgspec.to_builtins(
        _Answer(items, answer.nil, answer.confidence, answer.decision, answer.justification)
    )
    return row if row else {"items": []}


def read_answer(data: bytes | str, question: Question) -> Answer:
    """The answer in a line or body; whatever is not one is a failure that shows how it begins."""
    try:
        return _answer(_DECODER.decode(data), question)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        shown = data if isinstance(data, str) else data.decode("utf-8", errors="replace")
        raise CallError("form", f"its answer is not one: {error}; it begins {shown[:80]!r}", raw=shown) from None


def from_row(row: Any, question: Question) -> Answer:
    """The answer in a JSON object that is already decoded."""
    try:
        return _answer(msgspec.convert(row, _Answer), question)
    except msgspec.ValidationError as error:
        raise CallError("form", f"its answer is not one: {error}", raw=repr(row)[:MOST_SHOWN]) from None


def _answer(read: _Answer, question: Question) -> Answer:
    if read.question is not None and str(read.question) != question.id:
        raise CallError("form", f"it answered question {read.question}, but was asked question {question.id}")
    if read.confidence is not None and not math.isfinite(read.confidence):
        raise CallError("form", "its confidence is not a finite number")
    items = tuple(Item(item.text, item.doc, item.start, item.length, tuple(item.citations)) for item in read.items)
    return Answer(items, read.nil, read.confidence, read.decision, read.justification)
