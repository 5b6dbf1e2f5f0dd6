"""The kind of answer that a question asks for, from its wording, and how well a candidate suits it.

>>> answer_type("In what city was Marie Curie born?")
AnswerType(kind='place', focus='city', dimension=None)
>>> answer_type("How wide is its main mirror?")
AnswerType(kind='measure', focus=None, dimension='length')
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from qassay.systems.reference.candidates import Candidate
from qassay.systems.text import CONTINENTS, COUNTRIES, ORGANISATIONS, PERSONS, PLACES, STOP_WORDS, stem, words


@dataclass(frozen=True, slots=True)
class AnswerType:
    """The expected kind, the noun that names it (`focus`), and for measures what is measured."""

    kind: str
    focus: str | None = None
    dimension: str | None = None


# The first pattern that is found decides. Groups named `focus` give the noun.
_RULES: tuple[tuple[str, str, str | None], ...] = (
    (r"\bhow old\b|\b(?:what|which) age\b", "age", None),
    (r"\bhow many (?P<focus>years|months|weeks|days|hours|minutes)\b", "measure", "duration"),
    (r"\bhow many (?P<focus>.+)", "count", None),
    (r"\bhow much\b.*\b(?:weigh|weighs|weighed)\b|\bhow heavy\b|\bwhat (?:\w+ )*weight\b", "measure", "mass"),
    (r"\bhow much\b.*\b(?:cost|costs|pay|paid|spend|spent|earn|earned|worth|money|charge)\b", "money", None),
    (r"\b(?:what|which) (?:\w+ ){0,3}(?:cost|price|salary|budget|amount of money|prize money)\b", "money", None),
    (r"\bhow much\b", "measure", None),
    (r"\bhow long (?:did|has|had|have|does|do|will|was (?:he|she|it|the \w+) \w+(?:ed|ing)\b)", "measure", "duration"),
    (r"\bhow long\b", "measure", "length"),
    (r"\bhow (?:wide|tall|high|deep|far|thick|broad|big)\b", "measure", "length"),
    (r"\bwhat (?:\w+ ){0,3}(?:distance|length|height|width|depth|diameter|altitude|elevation)\b", "measure", "length"),
    (r"\bhow large\b|\bwhat (?:\w+ ){0,3}area\b", "measure", "area"),
    (r"\bhow fast\b|\bwhat (?:\w+ ){0,3}speed\b", "measure", "speed"),
    (r"\bhow (?:hot|cold|warm)\b|\bwhat (?:\w+ ){0,3}temperature\b", "measure", "temperature"),
    (r"\b(?:what|which) (?:percentage|per ?cent|proportion|share)\b", "percent", None),
    (r"\bwhat (?:\w+ ){0,3}(?P<focus>population|number)\b", "count", None),
    (r"\b(?:what|which) time\b", "time", None),
    (r"\b(?:what|which) (?:\w+ )?year\b", "year", None),
    (r"^when\b|\b(?:what|which) (?:\w+ )?(?:date|day|month)\b|, when\b", "date", None),
    (r"\bmaiden name\b|\breal name\b|\bbirth name\b|\bnickname\b", "person", None),
    (r"\b(?:what|which) (?:kind|type|sort|species) of (?P<focus>\w+)", "thing", None),
    (
        r"\b(?:what|which) (?:\w+ )?(?P<focus>colou?r|language|nationality|instrument|material|disease|animal)s?\b",
        "thing",
        None,
    ),
    (r"\bwhere\b", "place", None),
    (r"\b(?:who|whom|whose)\b", "person", None),
)
_COMPILED = tuple((re.compile(pattern), kind, dimension) for pattern, kind, dimension in _RULES)
_NAME_OF = re.compile(r"\bname of (?:the |an? |his |her |its |their )?(?P<rest>.+)")
_WHICH = re.compile(
    r"\b(?:which|what|name)\b(?: (?:of|the|a|an|are|is|was|were|be|its|his|her|their|those|all))* (?P<rest>.+)"
)
# Where the noun phrase of a question ends: at a verb, a preposition, a pronoun.
_VERBS = frozenset(
    """
    flew won took gave wrote led built made held found had became began ran left sank sold bought shot sang met fought
    came went saw grew drew set sent kept stood struck broke rose fell taught told brought thought lost spoke spent hit
    have has lie lies lay does do did can could may might will would should must is are was were be been also
    """.split()  # noqa: SIM905
)


def answer_type(question: str) -> AnswerType:
    """The kind of answer that the question asks for; `name` where nothing more is known."""
    lowered = " ".join(question.lower().split())
    for pattern, kind, dimension in _COMPILED:
        if match := pattern.search(lowered):
            focus = match.groupdict().get("focus")
            return AnswerType(kind, _head(focus) if focus else None, dimension)
    match = _NAME_OF.search(lowered) or _WHICH.search(lowered)
    return _by_focus(noun_phrase(match["rest"]) if match else [])


def noun_phrase(text: str) -> list[str]:
    """The words up to the first verb, preposition or pronoun.

    >>> noun_phrase("opera singer was in the city")
    ['opera', 'singer']
    """
    phrase: list[str] = []
    for word in words(text):
        ordinal = word in ("first", "last", "new", "other", "two")
        past = word.endswith("ed") and phrase
        if (word in STOP_WORDS or word in _VERBS or past) and not ordinal:
            if phrase:
                break
            continue
        if not ordinal:
            phrase.append(word)
    return phrase


def _head(text: str) -> str | None:
    """The noun that a phrase begins with: its first known one (`people live there`), else the last of the phrase."""
    phrase = noun_phrase(text) or words(text)
    known = next((word for word in phrase if singular(word) in PERSONS | PLACES | ORGANISATIONS), None)
    return singular(known or phrase[-1]) if phrase else None


def singular(noun: str) -> str:
    """A noun without its plural ending.

    >>> [singular(noun) for noun in ("cities", "lakes", "bus", "churches")]
    ['city', 'lake', 'bus', 'church']
    """
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if noun.endswith(("ches", "shes", "sses", "xes")):
        return noun[:-2]
    if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) and len(noun) > 3:
        return noun[:-1]
    return noun


def _by_focus(phrase: list[str]) -> AnswerType:
    """The kind that the noun of a question names: its last word where that is known, else any word of it."""
    if not phrase:
        return AnswerType("name")
    for word in reversed(phrase):
        for kind, nouns in (("person", PERSONS), ("place", PLACES), ("organisation", ORGANISATIONS)):
            if word in nouns or singular(word) in nouns:
                return AnswerType(kind, singular(word))
    return AnswerType("name", singular(phrase[-1]))


_NATIONS = frozenset({"country", "nation", "state", "kingdom", "republic"})
_TOWNS = frozenset({"city", "town", "village", "capital", "port"})
# Places that carry the noun in their own name: Lake Timsah, Red Sea.
_NAMED_BY_NOUN = frozenset({"lake", "river", "sea", "ocean", "mountain", "island", "street", "avenue", "park", "bay"})
_PEOPLE = frozenset({"people", "person", "man", "men", "woman", "women", "inhabitant", "soldier"})
# Text before one of these has nothing to do with what follows it: `an accelerator in California`.
_APART = re.compile(r"[.;]|\b(?:in|at|on|from|to|by|and|with|near|for)\b")
_ANY = {"person": ("organisation", 0.3), "organisation": ("name", 0.3), "place": ("organisation", 0.3)}


def fit(candidate: Candidate, expected_type: AnswerType, sentence: str) -> float:
    """The candidate's own certainty of its kind, changed by the question's noun and unit."""
    kind = expected_type.kind
    sure = candidate.kinds.get(kind, 0.0)
    if kind == "measure":
        return sure * _dimension_fit(candidate, expected_type)
    if kind == "count":
        return sure * _count_fit(candidate, expected_type, sentence)
    if kind in _ANY:
        other, share = _ANY[kind]
        sure = max(sure, share * candidate.kinds.get(other, 0.0))
    if kind == "place":
        return sure * _place_fit(candidate, expected_type)
    if expected_type.focus is None or kind not in ("person", "organisation", "name", "thing"):
        return sure
    if named_by(expected_type.focus, candidate, sentence):
        return max(sure, 0.9 * candidate.kinds.get("name", 0.0), 1.0 if kind == "name" else 0.0)
    return sure * (0.9 if kind in ("person", "thing") else 0.6)


def named_by(noun: str, candidate: Candidate, sentence: str) -> bool:
    """Whether the noun is part of the name, or stands right before or (set off by a comma) right after it."""
    noun_stem = stem(noun)
    stems = [stem(word) for word in words(candidate.text)]
    before = [stem(word) for word in words(_APART.split(sentence[: candidate.start])[-1])[-3:]]
    after = re.match(r", (?:an?|the|his|her|its) ((?:[\w-]+ ?){1,4})", sentence[candidate.end :])
    return noun_stem in stems or noun_stem in before or bool(after and noun_stem in map(stem, words(after[1])))


def _dimension_fit(candidate: Candidate, expected_type: AnswerType) -> float:
    if expected_type.dimension is None:  # how much: a weight or a volume rather than a length, hardly ever a duration
        return {"mass": 1.0, "volume": 1.0, "area": 0.8, "length": 0.3}.get(candidate.dimension or "", 0.1)
    if candidate.dimension == expected_type.dimension:
        return 1.0
    # How long is a film, or a bridge?
    return 0.3 if expected_type.dimension == "length" and candidate.dimension == "duration" else 0.0


def _count_fit(candidate: Candidate, expected_type: AnswerType, sentence: str) -> float:
    """A number counts what the next noun says."""
    following = [singular(word) for word in words(sentence[candidate.end :])[:4]]
    if expected_type.focus is None or expected_type.focus in ("population", "number"):
        return 1.0
    alike = _PEOPLE if expected_type.focus in _PEOPLE else {expected_type.focus}
    for distance, word in enumerate(following):
        if word in alike or stem(word) == stem(expected_type.focus):
            return (1.0, 0.9, 0.6, 0.4)[distance] / 0.6
    return 0.2


def _place_fit(candidate: Candidate, expected_type: AnswerType) -> float:
    text = candidate.text
    singulars = {singular(word) for word in words(text)}
    if expected_type.focus in _NATIONS:
        return 1.0 if text in COUNTRIES else 0.4
    if expected_type.focus in _TOWNS:
        return 0.3 if text in COUNTRIES or text in CONTINENTS or len(singulars) > 3 else 1.0
    if expected_type.focus in _NAMED_BY_NOUN:
        return 1.0 if expected_type.focus in singulars else 0.3
    return 1.0
