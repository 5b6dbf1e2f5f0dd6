"""How systems are spelled: `factoid(threshold=0.3)`, `series(other=sentence-baseline)`, as measures are.

One spelling is the Python call, the command line, the log and the description of the run.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from qassay.errors import UsageError, unknown
from qassay.systems.records import Documents, System

_HOME = "qassay.systems.reference."
# Name, and the function that makes the system: imported when first used.
SYSTEMS: Final[Mapping[str, str]] = {
    "sentence-baseline": _HOME + "sentence_baseline:sentence_baseline",
    "frequent-name": _HOME + "frequent_name:frequent_name",
    "factoid": _HOME + "factoid:factoid",
    "passages": _HOME + "factoid:extracts",
    "list": _HOME + "lists:list_answers",
    "definition": _HOME + "definitions:definition",
    "series": _HOME + "series:series",
}
_SPELLING = re.compile(r"\s*(?P<name>[\w.:-]+)\s*(?P<given>\(.*\))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Spelled:
    """A name and the parameters given with it, as written; `called` tells whether there were brackets."""

    name: str
    parameters: Mapping[str, str]
    called: bool = False

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.name}({given})" if given or self.called else self.name


def spelled(text: str, settings: Mapping[str, str] | None = None) -> Spelled:
    """Read a spelling; `settings` are added to its parameters and may not repeat one.

    >>> str(spelled("series( other = sentence-baseline(overlap=0.6) , list=list )"))
    'series(other=sentence-baseline(overlap=0.6), list=list)'
    """
    found = _SPELLING.fullmatch(text)
    if found is None:
        raise UsageError(f"cannot read the system {text!r}; write it as in factoid(threshold=0.3)")
    parameters: dict[str, str] = {}
    for part in _parts(text, (found["given"] or "()")[1:-1]):
        _put(parameters, text, part)
    for name, value in (settings or {}).items():
        _put(parameters, text, f"{name}={value}")
    return Spelled(found["name"], parameters, found["given"] is not None)


def make_reference(text: str | Spelled, collection: Documents) -> System:
    """The reference system that is spelled so, on a collection."""
    wanted = text if isinstance(text, Spelled) else spelled(text)
    if wanted.name not in SYSTEMS:
        raise unknown("system", wanted.name, SYSTEMS)
    factory = load(SYSTEMS[wanted.name])
    made: System = factory(collection, **arguments(wanted, factory))
    return made


def load(place: str) -> Callable[..., Any]:
    """What `module:name` names."""
    module, _, name = place.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"cannot load {place}: {error}") from None
    if not callable(found):
        raise UsageError(f"{place} is {type(found).__name__}, which cannot be called")
    loaded: Callable[..., Any] = found
    return loaded


def arguments(wanted: Spelled, factory: Callable[..., Any]) -> dict[str, Any]:
    """The parameters as the factory's annotations want them."""
    hints = get_type_hints(factory)
    taken = [name for name, one in inspect.signature(factory).parameters.items() if one.kind is one.KEYWORD_ONLY]
    values = {}
    for name, value in wanted.parameters.items():
        if name not in taken:
            raise unknown(f"parameter of {wanted.name}", name, taken)
        values[name] = _value(f"{wanted.name}: {name}", value, hints.get(name, str))
    return values


def _value(what: str, text: str, kind: Any) -> Any:
    """The text as a value of this type."""
    if get_origin(kind) in (Union, UnionType):
        kind = next(one for one in get_args(kind) if one is not type(None))
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise unknown(f"value of {what.split(': ')[-1]}", text, get_args(kind))
        return text
    if kind is bool:
        if text not in ("true", "false"):
            raise UsageError(f"{what} takes true or false, not {text!r}")
        return text == "true"
    if kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            number = -1
        if not 0 <= number < float("inf"):
            raise UsageError(f"{what} takes a {'whole ' * (kind is int)}number from 0, not {text!r}")
        return number
    return text


def _put(parameters: dict[str, str], text: str, part: str) -> None:
    name, equals, value = (piece.strip() for piece in part.partition("="))
    if not equals or not name.isidentifier() or not value:
        raise UsageError(f"{text}: {part.strip()!r} is no parameter; write name=value")
    if name in parameters:
        raise UsageError(f"{text}: {name} is given twice")
    parameters[name] = value


def _parts(text: str, given: str) -> list[str]:
    """The parameters between brackets: split at the commas that no inner brackets hold."""
    parts, depth, current = [], 0, ""
    for character in given:
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
