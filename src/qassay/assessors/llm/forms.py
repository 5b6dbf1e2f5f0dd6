"""The form of a model's answer, from the record of the kind of judgment: asked for, described, read and checked.

An answer is one JSON object. It has the fields of the verdict or, where several decisions are asked for at once, a list
of numbered ones. What does not fit is refused with the reason, which the model is told when it is asked again: nothing
is repaired or guessed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import msgspec
import polars as pl

from qassay.judging import Kind
from qassay.tasks import Task

LONGEST_REASON = 2_000
DECISIONS = "decisions"
_FENCED = re.compile(r"\s*```(?:json)?\s*(.*?)\s*```\s*", re.DOTALL)
# What a reasoning model thinks before it answers, where the endpoint leaves that in the answer.
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
# What a model is asked about one nugget where the verdict is a list of those that are there.
FOUND = "found"
YES, NO = "yes", "no"

Verdict = dict[str, Any]
# From a verdict to what is wrong with it.
Check = Callable[[Verdict], str | None]


class MalformedError(Exception):
    """An answer that is not of the form it was asked for; the message says why."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a verdict: one of some labels, a whole number, or a text; perhaps null."""

    name: str
    labels: tuple[str, ...] = ()
    whole: bool = False
    required: bool = True

    def schema(self) -> dict[str, Any]:
        """Its JSON Schema."""
        if self.labels:
            return {"type": "string", "enum": list(self.labels)}
        kind = "integer" if self.whole else "string"
        return {"type": kind if self.required else [kind, "null"]}

    def in_words(self) -> str:
        """The instructions for the model."""
        if self.labels:
            return " or ".join(f'"{label}"' for label in self.labels)
        words = "a whole number" if self.whole else '"..."'
        return words if self.required else f"{words} or null"

    def fault(self, value: Any) -> str | None:
        """The fault of a value."""
        if value is None and not self.required:
            return None
        if self.labels:
            return None if value in self.labels else f"{self.name} has to be {self.in_words()}"
        expected = int if self.whole else str
        if not isinstance(value, expected) or isinstance(value, bool):
            return f"{self.name} has to be {'a whole number' if self.whole else 'a text'}"
        return None


class AnswerForm(Protocol):
    """How an answer is asked for and read."""

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of each verdict, the main one first."""

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the whole answer."""

    def in_words(self) -> str:
        """The instructions on the form of the answer."""

    def read(self, content: str, check: Check = ...) -> list[Verdict]:
        """The verdicts of an answer; a MalformedError where it is anything else."""

    def chances(self, content: str, tokens: Sequence[tuple[str, float]]) -> list[float | None]:
        """The probability of each verdict, as far as the tokens show it."""


@dataclass(frozen=True)
class Form:
    """The form of one answer; `count` is the number of decisions, None where the object itself is the decision."""

    fields: tuple[Field, ...]
    count: int | None = None
    reason: bool = False

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the whole answer."""
        return self._schema

    @cached_property
    def _schema(self) -> dict[str, Any]:
        properties: dict[str, Any] = {"number": {"type": "integer"}} if self.count is not None else {}
        if self.reason:
            properties["reason"] = {"type": "string"}
        properties |= {field.name: field.schema() for field in self.fields}
        decision = described(properties)
        if self.count is None:
            return decision
        return described({DECISIONS: {"type": "array", "items": decision}})

    def in_words(self) -> str:
        """The instructions on the form of the answer."""
        fields = {"reason": '"one short sentence"'} if self.reason else {}
        fields |= {field.name: field.in_words() for field in self.fields}
        shown = ", ".join(f'"{name}": {words}' for name, words in fields.items())
        opening = "Reply with one JSON object and nothing else: "
        if self.count is None:
            return f"{opening}{{{shown}}}"
        some = f'{opening}{{"{DECISIONS}": [{{"number": 1, {shown}}}, ...]}}'
        return f"{some}, with each number from 1 to {self.count} once and in this order."

    def read(self, content: str, check: Check = lambda _: None) -> list[Verdict]:
        """The verdicts of an answer, in the order of their numbers; a MalformedError where it is anything else."""
        answer = decoded(content)
        if self.count is None:
            return [self._verdict(answer, check)]
        rows = answer.get(DECISIONS)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise MalformedError(f"it has no list {DECISIONS}")
        by_number = {row["number"]: row for row in rows if isinstance(row.get("number"), int | float)}
        if len(rows) != self.count or set(by_number) != set(range(1, self.count + 1)):
            raise MalformedError(f"{DECISIONS} has to have each number from 1 to {self.count} once")
        return [self._verdict(by_number[number], check) for number in range(1, self.count + 1)]

    def _verdict(self, row: Mapping[str, Any], check: Check) -> Verdict:
        for field in self.fields:
            if fault := field.fault(row.get(field.name)):
                raise MalformedError(fault)
        reason = row.get("reason")
        if self.reason and reason is not None and (not isinstance(reason, str) or len(reason) > LONGEST_REASON):
            raise MalformedError("reason has to be one short sentence")
        verdict = {field.name: row[field.name] for field in self.fields if row.get(field.name) is not None}
        if fault := check(verdict):
            raise MalformedError(fault)
        return verdict

    def chances(self, content: str, tokens: Sequence[tuple[str, float]]) -> list[float | None]:
        """The probability of each decision's label, from the log-probabilities of the tokens that spell it.

        None where the tokens do not spell the answer, or its labels cannot be found in it one by one.
        """
        count = self.count or 1
        unknown: list[float | None] = [None] * count
        main = self.fields[0]
        # Tokens around the answer, such as white space and the end of the message, are not part of it.
        before = "".join(text for text, _ in tokens).find(content)
        if not main.labels or before < 0:
            return unknown
        pattern = re.compile(rf'(?<!\\)"{re.escape(main.name)}"\s*:\s*"([^"\\]*)"')
        spans = [(before + match.start(1), before + match.end(1)) for match in pattern.finditer(content)]
        if len(spans) != count:
            return unknown
        ordered = self._order(content)
        chances = [_chance(tokens, start, end) for start, end in spans]
        return [chances[place] for place in ordered] if ordered else unknown

    def _order(self, content: str) -> list[int]:
        """The place of each number in the answer."""
        if self.count is None:
            return [0]
        numbers = [row["number"] for row in decoded(content)[DECISIONS]]
        return [numbers.index(number) for number in range(1, self.count + 1)]


def form_of(record: Kind, task: Task, *, reason: bool, count: int | None) -> Form:
    """The form of verdicts of a kind; a verdict that lists nuggets is asked for nugget by nugget."""
    labels = tuple(label.label for label in record.labels(task))
    fields = []
    for place, (name, column) in enumerate(record.fields.items()):
        if column == pl.List(pl.String):
            fields.append(Field(FOUND, (YES, NO)))
        elif place == 0 and labels:
            fields.append(Field(name, labels))
        else:
            # Only the main field has to be there; what else may be missing, the kind's own rules say.
            fields.append(Field(name, whole=column == pl.Int64, required=place == 0))
    return Form(tuple(fields), count, reason)


def lists_nuggets(record: Kind) -> bool:
    """Whether a verdict of this kind is a list of nuggets."""
    return pl.List(pl.String) in record.fields.values()


def described(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of an object that has these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def decoded(content: str) -> dict[str, Any]:
    """The JSON object of an answer; thoughts before it and a fence around it are taken off, nothing else."""
    content = _THOUGHTS.sub("", content, count=1)
    fenced = _FENCED.fullmatch(content)
    try:
        answer = msgspec.json.decode(fenced[1] if fenced else content)
    except (msgspec.DecodeError, RecursionError):
        raise MalformedError("it is not a JSON object") from None
    if not isinstance(answer, dict):
        raise MalformedError("it is not a JSON object")
    return answer


def _chance(tokens: Sequence[tuple[str, float]], start: int, end: int) -> float | None:
    """The probability of the tokens between two places."""
    place, total = 0, 0.0
    for text, logarithm in tokens:
        if place < end and place + len(text) > start:
            total += logarithm
        place += len(text)
    return round(math.exp(min(total, 0.0)), 4) if math.isfinite(total) else None
