"""What a name is likely to name: told by its own words, by the words around it, and by its form, in this order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from qassay.systems.reference.lexicon import (
    CONTINENTS,
    COUNTRIES,
    NOBLE,
    ORGANISATION_HEADS,
    ORGANISATIONS,
    PERSONS,
    PLACE_HEADS,
    PLACES,
    TITLES,
)

_BEFORE = re.compile(r"([\w'-]+)(?:,)? $")
_IN = re.compile(
    r"\b(?i:in|at|near|from|to|outside|through|around|across|towards|of|leave|left|reached|visited)(?: the)? $"
)
_APPOSITIVE = re.compile(r"^, (?:an?|the|his|her|its|their|who|later|former)\b(?: (?:[\w-]+ ){0,3}?([\w-]+))?")
_PERSON_VERBS = re.compile(
    r"^,? (?:who\b|was born|died|married|said|told|wrote|became|studied|invented|discovered|painted|designed|proposed"
    r"|received|won|led|joined|taught|lectured|served|showed|noticed|lost)"
)
_CITY_OF = re.compile(r"\b(?:city|town|village|port) of $")
_ACRONYM = re.compile(r"[A-Z]{2,6}")
_PLACE_OPENINGS = ("Cape", "Lake", "Mount", "Port", "Point", "San", "Santa")
# After these a name may be a place, and is as often a person or an organisation.
_VAGUE = ("to ", "from ", "of ", "to the ", "from the ", "of the ")


class _Name(NamedTuple):
    """A name in its sentence: its text and words, what stands before and after it, and the word right before it."""

    text: str
    words: list[str]
    before: str
    after: str
    cue: str


def _is_known_place(name: _Name) -> bool:
    return name.text in COUNTRIES or name.text in CONTINENTS or name.words[0] in _PLACE_OPENINGS


def _ends_like_a_place(name: _Name) -> bool:
    return name.words[-1] in PLACE_HEADS


def _has_the_head_of_an_organisation(name: _Name) -> bool:
    return any(word in ORGANISATION_HEADS for word in name.words)


def _is_called_an_organisation(name: _Name) -> bool:
    return name.cue.lower() in ORGANISATIONS or _ACRONYM.fullmatch(name.text) is not None


def _is_titled(name: _Name) -> bool:
    called = name.cue.rstrip(".") in TITLES or name.cue.lower() in PERSONS
    return called or name.words[0] in NOBLE or "Pasha" in name.words


def _is_followed_like_a_person(name: _Name) -> bool:
    """`, the physicist`, or `was born`."""
    apposed = _APPOSITIVE.match(name.after)
    if apposed and apposed[1] and apposed[1].lower() in PERSONS:
        return True
    return _PERSON_VERBS.match(name.after) is not None


def _is_called_a_place(name: _Name) -> bool:
    return name.cue.lower() in PLACES or (name.cue == "of" and _CITY_OF.search(name.before) is not None)


def _is_where_something_is(name: _Name) -> bool:
    return _IN.search(name.before) is not None and not name.before.endswith(_VAGUE)


def _follows_a_vague_preposition(name: _Name) -> bool:
    return _IN.search(name.before) is not None


def _has_the_form_of_a_person(name: _Name) -> bool:
    if not 2 <= len(name.words) <= 4 or name.text.isupper():
        return False
    return not any(word[0].isdigit() for word in name.words)


class _Rule(NamedTuple):
    """How surely a name of several words is of which kinds where a condition holds; `single` is for one word."""

    holds: Callable[[_Name], bool]
    kinds: Mapping[str, float]
    single: Mapping[str, float] | None = None


# The first rule that holds decides.
_RULES = (
    _Rule(_is_known_place, {"place": 1.0}),
    _Rule(_ends_like_a_place, {"place": 0.9}),
    _Rule(_has_the_head_of_an_organisation, {"organisation": 1.0, "place": 0.2}),
    _Rule(_is_called_an_organisation, {"organisation": 0.9}),
    _Rule(_is_titled, {"person": 1.0}),
    _Rule(_is_followed_like_a_person, {"person": 0.95}, single={"person": 0.8}),
    _Rule(_is_called_a_place, {"place": 1.0}),
    _Rule(
        _is_where_something_is,
        {"place": 0.75, "organisation": 0.4, "person": 0.1},
        single={"place": 0.85, "organisation": 0.4, "person": 0.1},
    ),
    _Rule(
        _follows_a_vague_preposition,
        {"place": 0.6, "person": 0.5, "organisation": 0.3},
        single={"place": 0.6, "person": 0.2, "organisation": 0.3},
    ),
    _Rule(_has_the_form_of_a_person, {"person": 0.8, "organisation": 0.3, "place": 0.2}),
)
_ANY_KIND = {"person": 0.35, "organisation": 0.35, "place": 0.35}


def kinds_of(sentence: str, first: int, last: int) -> dict[str, float]:
    """How surely the name from `first` to `last` is of which kinds."""
    text, before = sentence[first:last], sentence[:first]
    cue = found[1] if (found := _BEFORE.search(before)) else ""
    name = _Name(text, text.split(), before, sentence[last:], cue)
    rule = next((rule for rule in _RULES if rule.holds(name)), None)
    if rule is None:
        return {"name": 0.8, **_ANY_KIND}
    chosen = rule.single if rule.single is not None and len(name.words) == 1 else rule.kinds
    return {"name": 0.8, **chosen}
