"""The cost of calls, and a limit that is never exceeded.

A call that starts reserves the most it can cost: every byte of the prompt as a token, and the whole limit of the
answer. What it really took replaces the reservation. A call that does not fit into what is left waits for those under
way; where none is, the job stops.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from qassay.errors import UsageError

_PRICE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*/\s*(\d+(?:\.\d+)?)\s*|\s*(\d+(?:\.\d+)?)\s*")
PER = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars, or whatever the user counts in, per million tokens of input and output."""

    input: float
    output: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """The price of these numbers of tokens."""
        return (input_tokens * self.input + output_tokens * self.output) / PER


def price_of(price: str | None, host: str, model: str) -> Price | None:
    """The price that is given (`0.15/0.60`, input and output per million tokens), or the list price; None: unknown.

    >>> price_of("0.15/0.60", "localhost", "m")
    Price(input=0.15, output=0.6)
    """
    if price is None:
        return _list_price(host, model)
    match = _PRICE.fullmatch(price)
    if match is None:
        raise UsageError(f"llm: price takes input/output per million tokens, as in 0.15/0.60, not {price!r}")
    first, second = (match[1], match[2]) if match[3] is None else (match[3], match[3])
    return Price(float(first), float(second))


def _list_price(host: str, model: str) -> Price | None:
    """The list price of a model of a known provider, for prompts of ordinary length (tables of genai-prices)."""
    from genai_prices import Usage, calc_price

    def of(**tokens: int) -> float:
        return float(calc_price(Usage(**tokens), model_ref=model, provider_api_url=f"https://{host}").total_price)

    few = 1000
    try:
        return Price(of(input_tokens=few) * PER / few, of(output_tokens=few) * PER / few)
    except LookupError:
        return None


@dataclass
class Spending:
    """The calls of a job and their cost so far."""

    price: Price | None = None
    limit: float | None = None
    # Calls that were answered, and answers that had been paid for before.
    calls: int = 0
    cached: int = 0
    # Decisions without a usable answer, and why the last has none.
    failed: int = 0
    last_failure: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    # Whether any number of tokens is estimated.
    estimated: bool = False
    # Why the job ended before its end.
    stopped: str | None = None
    reserved: float = 0.0

    @property
    def cost(self) -> float | None:
        """The amount spent; None where the price is unknown."""
        return None if self.price is None else self.price.of(self.input_tokens, self.output_tokens)

    def begin(self) -> None:
        """Start a new job: a limit is for each."""
        self.calls = self.cached = self.failed = self.input_tokens = self.output_tokens = 0
        self.last_failure = ""
        self.estimated, self.stopped, self.reserved = False, None, 0.0

    def fits(self, most: float) -> bool:
        """Whether the rest of the limit covers a call that may cost this much."""
        return self.limit is None or (self.cost or 0.0) + self.reserved + most <= self.limit + 1e-12

    def most(self, prompt: int, max_tokens: int) -> float:
        """The most that a call with a prompt of this many bytes can cost."""
        return 0.0 if self.price is None else self.price.of(prompt, max_tokens)

    def paid(self, input_tokens: int, output_tokens: int, *, estimated: bool) -> None:
        """Count a call that was answered."""
        self.calls += 1
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        self.estimated = self.estimated or estimated

    def fail(self, reason: str) -> None:
        """Count a decision without a usable answer."""
        self.failed += 1
        self.last_failure = reason

    def unusable(self, name: str) -> str:
        """The error where no answer could be used."""
        return f"the model {name} gave no usable answer: {self.last_failure}"

    def as_json(self) -> dict[str, object]:
        """The part `model` of `judge --json`."""
        return {
            "calls": self.calls,
            "cached": self.cached,
            "failed": self.failed,
            "tokens": {"input": self.input_tokens, "output": self.output_tokens, "estimated": self.estimated},
            "cost": self.cost,
            "stopped": self.stopped,
        }


def needs_price(limit: float | None, price: Price | None) -> None:
    """A limit without a price would limit nothing."""
    if limit is not None and price is None:
        raise UsageError("--limit needs the price of the model: llm(model=..., price=INPUT/OUTPUT), per million tokens")
