"""Names with parameters, as people write them: `nugget_f(beta=3)`, `match(normalise=true)`, `series(other=definition)`.

Measures, assessors and systems are spelled alike: one spelling is the Python call, the command line, the configuration
and the log. What the parameters may be, the one who is named says: in the annotations of a function, mostly.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from qassay.errors import UsageError, unknown

_SPELLING = re.compile(r"\s*(?P<name>[\w.:-]+)\s*(?P<given>\(.*\))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Spelled:
    """A name and the parameters given with it, as written; `called` says whether there were brackets."""

    name: str
    parameters: Mapping[str, str]
    called: bool = False

    def __str__(self) -> str:
        parameters = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.name}({parameters})" if parameters or self.called else self.name


def parse(text: str, kind: str, *, example: str, settings: Mapping[str, str] | None = None) -> Spelled:
    """Read the spelling of a measure, a system and so on; `settings` join its parameters and may not repeat one.

    >>> parse("nugget_f( beta = 3 )", "measure", example="nugget_f(beta=5)")
    Spelled(name='nugget_f', parameters={'beta': '3'}, called=True)
    """
    if not isinstance(text, str):
        raise UsageError(f"a {kind} is named by a text, such as {example}, not by a {type(text).__name__}")
    match = _SPELLING.fullmatch(text)
    if match is None:
        raise UsageError(f"cannot read the {kind} {text!r}; write it as in {example}")
    parameters: dict[str, str] = {}
    parts = _parts(text, (match["given"] or "()")[1:-1])
    for part in (*parts, *(f"{name}={value}" for name, value in (settings or {}).items())):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name.isidentifier() or not value:
            raise UsageError(f"{text}: {part.strip()!r} is not a parameter; write name=value, as in {example}")
        if name in parameters:
            raise UsageError(f"{text}: {name} is given twice")
        parameters[name] = value
    return Spelled(match["name"], parameters, match["given"] is not None)


def arguments(parsed: Spelled, factory: Callable[..., Any]) -> dict[str, Any]:
    """The parameters as the annotations of the factory's keyword-only parameters want them."""
    hints = get_type_hints(factory)
    known = inspect.signature(factory).parameters.values()
    taken = [parameter.name for parameter in known if parameter.kind is parameter.KEYWORD_ONLY]
    values = {}
    for name, value in parsed.parameters.items():
        if name not in taken:
            raise unknown(f"parameter of {parsed.name}", name, taken)
        values[name] = _value(parsed.name, name, value, hints.get(name, str))
    return values


def _value(spelled: str, name: str, text: str, kind: Any) -> Any:
    if get_origin(kind) in (Union, UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise unknown(f"value of {name}", text, get_args(kind))
        return text
    if kind is bool:
        if text not in ("true", "false"):
            raise UsageError(f"{spelled}: {name} takes true or false, not {text!r}")
        return text == "true"
    if kind in (int, float):
        return number(f"{spelled}: {name}", text, kind)
    return text


def number(name: str, text: str, kind: type[int] | type[float] = float) -> float:
    """The text as a number from 0: no parameter is negative, infinite or undefined."""
    try:
        value = kind(text)
    except ValueError:
        value = -1
    if not 0 <= value < float("inf"):
        raise UsageError(f"{name} takes a {'whole ' * (kind is int)}number from 0, not {text!r}")
    return value


def _parts(text: str, inner: str) -> list[str]:
    """The parameters between brackets: split at the commas outside of inner brackets."""
    parts, depth, current = [], 0, ""
    for character in inner:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            break
        if character == "," and not depth:
            parts.append(current)
            current = ""
        else:
            current += character
    if depth:
        raise UsageError(f"{text}: the brackets do not match")
    return [part for part in [*parts, current] if part.strip()]
