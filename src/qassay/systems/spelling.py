"""The reference systems by their spelling: `factoid(threshold=0.3)`, `series(other=sentence-baseline)`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Final

from qassay import spelling
from qassay.errors import UsageError, unknown
from qassay.spelling import Spelled, arguments
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


def spelled(text: str, settings: Mapping[str, str] | None = None) -> Spelled:
    """Read the spelling of a system; `settings` are added to its parameters and may not repeat one.

    >>> str(spelled("series( other = sentence-baseline(overlap=0.6) , list=list )"))
    'series(other=sentence-baseline(overlap=0.6), list=list)'
    """
    return spelling.parse(text, "system", example="factoid(threshold=0.3)", settings=settings)


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
