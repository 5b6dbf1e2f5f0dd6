"""The protocol of OpenAI's chat completions: what is sent, what comes back, and what an endpoint does not take.

Endpoints differ in what they know: answers bound to a JSON Schema, log-probabilities, a temperature, the name of the
limit of tokens. All is asked for at first; what an endpoint refuses is left out from then on, for the whole job.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec

from qassay.assessors.llm.forms import MalformedError
from qassay.net import shown

# The beginning of a reply that messages show, in characters.
SHOWN = 300

AnswerForm = Literal["json_schema", "json_object", "text"]
_FORMS: tuple[AnswerForm, ...] = ("json_schema", "json_object", "text")
_TOO_LONG = ("context_length", "context length", "maximum context", "context size", "too many tokens", "too long")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The parameters that an endpoint takes beyond model and messages."""

    form: AnswerForm = "json_schema"
    logprobs: bool = True
    temperature: bool = True
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"

    def body(
        self, model: str, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], settings: Settings
    ) -> bytes:
        """The request."""
        sent: dict[str, Any] = {"model": model, "messages": messages, self.limit: settings.max_tokens}
        if self.temperature:
            sent["temperature"] = settings.temperature
        if self.logprobs and settings.logprobs:
            sent["logprobs"] = True
        if self.form == "json_schema":
            described = {"name": "verdict", "strict": True, "schema": schema}
            sent["response_format"] = {"type": "json_schema", "json_schema": described}
        elif self.form == "json_object":
            sent["response_format"] = {"type": "json_object"}
        return msgspec.json.encode(sent)

    def without(self, complaint: str) -> Dialect | None:
        """The dialect that an endpoint may take which refused this one; None where nothing is left to leave out.

        >>> Dialect().without("Unsupported parameter: 'logprobs'").logprobs
        False
        """
        words = complaint.lower()
        if "max_completion_tokens" in words and self.limit == "max_tokens":
            return replace(self, limit="max_completion_tokens")
        if "temperature" in words and self.temperature:
            return replace(self, temperature=False)
        simpler = _FORMS[min(_FORMS.index(self.form) + 1, len(_FORMS) - 1)]
        if any(word in words for word in ("response_format", "json_schema", "json_object", "schema")):
            return None if simpler == self.form else replace(self, form=simpler)
        if self.logprobs:
            return replace(self, logprobs=False)
        return None if simpler == self.form else replace(self, form=simpler)


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of a request that change what a model says."""

    temperature: float = 0.0
    max_tokens: int = 1024
    logprobs: bool = True


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer of a model, and its tokens; `estimated` where the endpoint does not count tokens."""

    content: str
    model: str | None
    input_tokens: int
    output_tokens: int
    estimated: bool = False
    # Tokens with their log-probabilities; empty where the endpoint gives none.
    tokens: tuple[tuple[str, float], ...] = ()


# A body that is not JSON, or JSON of another form.
_NO_COMPLETION = (
    *(msgspec.DecodeError, UnicodeDecodeError, RecursionError),
    *(KeyError, IndexError, TypeError, AttributeError),
)


class RefusalError(MalformedError):
    """The model declines to answer, or its answer was withheld."""


def read_completion(body: bytes, sent: int) -> tuple[Completion, MalformedError | None]:
    """The first choice of a completion and, where it cannot be used, why. `sent` is the length of the request.

    A completion that cannot be used was paid for: it comes back with its tokens anyway.
    """
    try:
        answer = msgspec.json.decode(body)
        choice = answer["choices"][0]
        message = choice["message"]
        content = message.get("content")
    except _NO_COMPLETION:
        nothing = Completion("", None, 0, 0, estimated=True)
        words = shown(body[: 4 * SHOWN].decode("utf-8", errors="replace"), SHOWN)
        return nothing, MalformedError(f"the response of the endpoint is not a chat completion: {words}")
    usage = answer.get("usage") if isinstance(answer.get("usage"), dict) else {}
    counts = [_count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens")]
    text = content if isinstance(content, str) else ""
    model = answer.get("model")
    completion = Completion(
        text,
        model if isinstance(model, str) else None,
        estimate(sent) if counts[0] is None else counts[0],
        estimate(len(text)) if counts[1] is None else counts[1],
        None in counts,
        _tokens(choice.get("logprobs")),
    )
    return completion, _fault(choice, message, text)


def _fault(choice: Mapping[str, Any], message: Mapping[str, Any], text: str) -> MalformedError | None:
    finish = choice.get("finish_reason")
    if message.get("refusal") or finish == "content_filter":
        return RefusalError("the model declined to answer")
    if finish == "length":
        return MalformedError("the answer was cut off at the limit of tokens (max_tokens)")
    return None if text.strip() else MalformedError("the answer is empty")


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40 else None


def _tokens(logprobs: Any) -> tuple[tuple[str, float], ...]:
    """The tokens of an answer with their log-probabilities; none where they are not of the usual form."""
    rows = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(rows, list):
        return ()
    tokens = []
    for row in rows:
        text, logarithm = (row.get("token"), row.get("logprob")) if isinstance(row, dict) else (None, None)
        if not isinstance(text, str) or not isinstance(logarithm, int | float) or math.isnan(logarithm):
            return ()
        tokens.append((text, float(logarithm)))
    return tuple(tokens)


def estimate(size: int) -> int:
    """About how many tokens a text of this many bytes has: four bytes each, as English has."""
    return -(-size // 4)


def is_too_long(complaint: str) -> bool:
    """Whether an endpoint complains that one request has more text than the model reads."""
    text = complaint.lower()
    return any(words in text for words in _TOO_LONG)
