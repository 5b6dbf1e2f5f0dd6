"""Names in running text: capitalised phrases, and what they are likely to name.

A name is a run of capitalised words, with small words such as `of` and `van` inside. What it names is told by its own
words (`Bergen Museum`), by the word before it (`the physicist Felix Bloch`, `in Warsaw`) and by its form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from qassay.systems.reference.lexicon import (
    CONTINENTS,
    COUNTRIES,
    DAYS,
    DEMONYMS,
    MONTHS,
    NOBLE,
    ORGANISATION_HEADS,
    ORGANISATIONS,
    PERSONS,
    PLACE_HEADS,
    PLACES,
    TITLES,
)
from qassay.systems.reference.quantities import Candidate
from qassay.systems.text import STOPWORDS

_CAPITAL = r"[^\W\d_a-zß-öø-ÿ][\w-]*(?:['’](?!s\b)\w+)*"
_INITIAL = r"[A-Z]\.(?:[A-Z]\.)*"
_NUMERAL = r"(?:[IVX]+|\d{1,3})\b"
_INNER = r"(?:of the|of|de la|de|del|du|da|van der|van|von|der|bin|al|el|la|le|on the|pour la|zu|y)"
_PART = rf"(?:{_INITIAL}|{_CAPITAL})"
_NAME = re.compile(rf"(?<![\w.'’-]){_PART}(?: (?:{_INNER} )?{_PART}| {_NUMERAL})*")
_NAME_WITH_AND = re.compile(rf"^(?P<more> and {_CAPITAL}(?: {_CAPITAL})*)")
_BEFORE = re.compile(r"([\w'-]+)(?:,)? $")
_IN = re.compile(
    r"\b(?i:in|at|near|from|to|outside|through|around|across|towards|of|leave|left|reached|visited)(?: the)? $"
)
_APPOSITIVE = re.compile(r"^, (?:an?|the|his|her|its|their|who|later|former)\b(?: (?:[\w-]+ ){0,3}?([\w-]+))?")
_PERSON_VERBS = re.compile(
    r"^,? (?:who\b|was born|died|married|said|told|wrote|became|studied|invented|discovered|painted|designed|proposed"
    r"|received|won|led|joined|taught|lectured|served|showed|noticed|lost)"
)


def names(sentence: str, *, known: frozenset[str] = frozenset()) -> Iterator[Candidate]:
    """The names in a sentence, with the kinds they are likely to be of.

    `known` holds words that are capitalised elsewhere within a sentence: a single capitalised word that opens a
    sentence is a name only if it is one of them.

    >>> [(one.text, [*one.kinds][1]) for one in names("At Oslo the tenor Enrico Caruso sang.")]
    [('Oslo', 'place'), ('Enrico Caruso', 'person')]
    """
    position = 0
    while found := _NAME.search(sentence, position):
        begin, end = found.span()
        end += _longer(sentence, begin, end)
        position = end
        for first, last in _parts(sentence, begin, end):
            kinds = _kinds(sentence, first, last)
            text = sentence[first:last]
            if not kinds or (first == 0 and " " not in text and text not in known):
                continue
            yield Candidate(text, first, last, kinds)


def inner_capitals(sentence: str) -> Iterator[str]:
    """Capitalised words that do not open the sentence."""
    for found in re.finditer(rf"(?<=[\w,] ){_CAPITAL}", sentence):
        yield found[0]


def _longer(sentence: str, begin: int, end: int) -> int:
    """How much further a name goes over an `and`: `School of Physics and Chemistry`, `Air and Space Museum`."""
    more = _NAME_WITH_AND.match(sentence[end:])
    if more is None:
        return 0
    own, rest = sentence[begin:end].split(), more["more"].split()
    if "of" in own and own[0] in ORGANISATION_HEADS and rest[-1] not in ORGANISATION_HEADS and len(rest) == 2:
        return more.end()
    if rest[-1] in ORGANISATION_HEADS and len(rest) > 2 and len(own) <= 2 and own[-1] not in ORGANISATION_HEADS:
        return more.end()
    return 0


def _parts(sentence: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The name without words that only open the sentence, without titles, days and months, and cut at `X of Y`."""
    text = sentence[begin:end]
    tokens = [(found[0], begin + found.start(), begin + found.end()) for found in re.finditer(r"\S+", text)]
    while tokens and _opening(tokens[0][0], first=tokens[0][1] == 0, alone=len(tokens) == 1):
        tokens.pop(0)
    while tokens and not tokens[0][0][:1].isupper():
        tokens.pop(0)
    while tokens and (not (tokens[-1][0][:1].isupper() or tokens[-1][0].isdigit()) or tokens[-1][0] in MONTHS):
        tokens.pop()
    while len(tokens) > 1 and tokens[-1][0].lower() in STOPWORDS and tokens[-2][0].endswith("."):
        tokens.pop()  # `Ptolemy V. It`: a full stop that the splitter took for an initial's
    if len(tokens) > 2 and tokens[-1][0] in DEMONYMS and tokens[-2][0] in ("the", "of"):
        del tokens[next(place for place, token in enumerate(tokens) if token[0] in ("of", "the")) :]
    if not tokens or all(token in DEMONYMS or token in DAYS or token in MONTHS for token, _, _ in tokens):
        return
    if len(tokens[0][0]) < 2 and len(tokens) == 1:
        return
    first, last = tokens[0][1], tokens[-1][2] - tokens[-1][0].endswith(".")
    whole = sentence[first:last]
    cut = re.match(r"(?P<one>.+?) (?:of the|of) (?P<two>.+)$", whole)
    # `Cornelis Bakker of the Netherlands` is a person and a place, `Institute of Egypt` is one name.
    if cut and whole not in COUNTRIES and not _joined(cut["one"]):
        yield first, first + len(cut["one"])
        yield first + cut.start("two"), last
    else:
        yield first, last


def _joined(head: str) -> bool:
    """Whether `head of X` is one name: an organisation, a place, a title, or a single word."""
    last = head.split()[-1]
    return last in ORGANISATION_HEADS or last in PLACE_HEADS or last in NOBLE or " " not in head


def _opening(token: str, *, first: bool, alone: bool) -> bool:
    """Whether a token in front of a name is no part of it."""
    if token.rstrip(".") in TITLES and not alone:
        return True
    if token in MONTHS or token in DAYS:
        return True
    return first and token.lower() in STOPWORDS | {"beside", "soon", "earlier", "among", "although", "despite", "thus"}


def _kinds(sentence: str, first: int, last: int) -> dict[str, float]:
    """How surely a name is of which kinds."""
    text, before, after = sentence[first:last], sentence[:first], sentence[last:]
    tokens = text.split()
    kinds = {"name": 0.8}
    cue = found[1] if (found := _BEFORE.search(before)) else ""
    appositive = found[1] if (found := _APPOSITIVE.match(after)) else None
    if (
        text in COUNTRIES
        or text in CONTINENTS
        or tokens[0] in ("Cape", "Lake", "Mount", "Port", "Point", "San", "Santa")
    ):
        return kinds | {"place": 1.0}
    if tokens[-1] in PLACE_HEADS:
        return kinds | {"place": 0.9}
    if any(token in ORGANISATION_HEADS for token in tokens):
        return kinds | {"organisation": 1.0, "place": 0.2}
    if cue.lower() in ORGANISATIONS or re.fullmatch(r"[A-Z]{2,6}", text):
        return kinds | {"organisation": 0.9}
    if cue.rstrip(".") in TITLES or cue.lower() in PERSONS or tokens[0] in NOBLE or "Pasha" in tokens:
        return kinds | {"person": 1.0}
    if (appositive and appositive.lower() in PERSONS) or _PERSON_VERBS.match(after):
        return kinds | {"person": 0.95 if len(tokens) > 1 else 0.8}
    if cue.lower() in PLACES or (cue == "of" and re.search(r"\b(?:city|town|village|port) of $", before)):
        return kinds | {"place": 1.0}
    if _IN.search(before) and not before.endswith(("to ", "from ", "of ", "to the ", "from the ", "of the ")):
        return kinds | {"place": 0.85 if len(tokens) == 1 else 0.75, "organisation": 0.4, "person": 0.1}
    if _IN.search(before):
        return kinds | {"place": 0.6, "person": 0.5 if len(tokens) > 1 else 0.2, "organisation": 0.3}
    if 2 <= len(tokens) <= 4 and not text.isupper() and not any(token[0].isdigit() for token in tokens):
        return kinds | {"person": 0.8, "organisation": 0.3, "place": 0.2}
    return kinds | {"person": 0.35, "organisation": 0.35, "place": 0.35}
