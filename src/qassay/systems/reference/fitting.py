"""How well a candidate suits an expected answer type: from 0 (not at all) to 1."""

from __future__ import annotations

import re

from qassay.systems.reference.answer_types import AnswerType, singular
from qassay.systems.reference.lexicon import CONTINENTS, COUNTRIES
from qassay.systems.reference.quantities import Candidate
from qassay.systems.text import stem, words

_NATIONS = frozenset({"country", "nation", "state", "kingdom", "republic"})
_TOWNS = frozenset({"city", "town", "village", "capital", "port"})
# Places that carry the noun in their own name: Lake Timsah, Red Sea.
_NAMED_BY_NOUN = frozenset({"lake", "river", "sea", "ocean", "mountain", "island", "street", "avenue", "park", "bay"})
_PEOPLE = frozenset({"people", "person", "man", "men", "woman", "women", "inhabitant", "soldier"})
# What stands before one of these has nothing to do with what follows it: `an accelerator in California`.
_APART = re.compile(r"[.;]|\b(?:in|at|on|from|to|by|and|with|near|for)\b")
_ANY = {"person": ("organisation", 0.3), "organisation": ("name", 0.3), "place": ("organisation", 0.3)}


def fit(candidate: Candidate, wanted: AnswerType, sentence: str) -> float:
    """The candidate's own certainty of its kind, changed by the question's noun and unit."""
    kind = wanted.kind
    sure = candidate.kinds.get(kind, 0.0)
    if kind == "measure":
        return sure * _dimension_fit(candidate, wanted)
    if kind == "count":
        return sure * _count_fit(candidate, wanted, sentence)
    if kind in _ANY:
        other, share = _ANY[kind]
        sure = max(sure, share * candidate.kinds.get(other, 0.0))
    if kind == "place":
        return sure * _place_fit(candidate, wanted)
    if wanted.focus is None or kind not in ("person", "organisation", "name", "thing"):
        return sure
    if named_by(wanted.focus, candidate, sentence):
        return max(sure, 0.9 * candidate.kinds.get("name", 0.0), 1.0 if kind == "name" else 0.0)
    return sure * (0.9 if kind in ("person", "thing") else 0.6)


def named_by(noun: str, candidate: Candidate, sentence: str) -> bool:
    """Whether the noun is part of the name, or stands right before or (set off by a comma) right after it."""
    wanted = stem(noun)
    own = [stem(word) for word in words(candidate.text)]
    before = [stem(word) for word in words(_APART.split(sentence[: candidate.start])[-1])[-3:]]
    after = re.match(r", (?:an?|the|his|her|its) ((?:[\w-]+ ?){1,4})", sentence[candidate.end :])
    return wanted in own or wanted in before or bool(after and wanted in map(stem, words(after[1])))


def _dimension_fit(candidate: Candidate, wanted: AnswerType) -> float:
    if wanted.dimension is None:  # how much: a weight or a volume rather than a length, hardly ever a duration
        return {"mass": 1.0, "volume": 1.0, "area": 0.8, "length": 0.3}.get(candidate.dimension or "", 0.1)
    if candidate.dimension == wanted.dimension:
        return 1.0
    # How long is a film, or a bridge?
    return 0.3 if wanted.dimension == "length" and candidate.dimension == "duration" else 0.0


def _count_fit(candidate: Candidate, wanted: AnswerType, sentence: str) -> float:
    """A number counts what the next noun says."""
    following = [singular(word) for word in words(sentence[candidate.end :])[:4]]
    if wanted.focus is None or wanted.focus in ("population", "number"):
        return 1.0
    alike = _PEOPLE if wanted.focus in _PEOPLE else {wanted.focus}
    for distance, word in enumerate(following):
        if word in alike or stem(word) == stem(wanted.focus):
            return (1.0, 0.9, 0.6, 0.4)[distance] / 0.6
    return 0.2


def _place_fit(candidate: Candidate, wanted: AnswerType) -> float:
    text = candidate.text
    own = {singular(word) for word in words(text)}
    if wanted.focus in _NATIONS:
        return 1.0 if text in COUNTRIES else 0.4
    if wanted.focus in _TOWNS:
        return 0.3 if text in COUNTRIES or text in CONTINENTS or len(own) > 3 else 1.0
    if wanted.focus in _NAMED_BY_NOUN:
        return 1.0 if wanted.focus in own else 0.3
    return 1.0
