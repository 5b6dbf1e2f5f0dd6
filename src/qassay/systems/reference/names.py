"""Names in running text: runs of capitalised words, with small words such as `of` and `van` inside.

The kind of a name follows from its words (`Bergen Museum`), from the words around it (`the physicist Felix Bloch`, `in
Warsaw`) and by its form, in this order. Where spaCy and any English model are installed, a model finds further names;
the patterns work without them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import takewhile
from typing import Any, Literal, NamedTuple

from qassay.errors import UsageError
from qassay.systems.reference.candidates import Candidate
from qassay.systems.text import (
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
    STOP_WORDS,
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


def _kinds(text: str, before: str, after: str) -> dict[str, float]:
    """The kinds of a name, by itself and by the text before and after it; the first condition that is true decides."""
    words = text.split()
    cue = word[1] if (word := _BEFORE.search(before)) else ""  # the word right before the name
    single = len(words) == 1
    if text in COUNTRIES or text in CONTINENTS or words[0] in _PLACE_OPENINGS:
        return {"place": 1.0}
    if words[-1] in PLACE_HEADS:
        return {"place": 0.9}
    if not ORGANISATION_HEADS.isdisjoint(words):
        return {"organisation": 1.0, "place": 0.2}
    if cue.lower() in ORGANISATIONS or _ACRONYM.fullmatch(text):
        return {"organisation": 0.9}
    if cue.rstrip(".") in TITLES or cue.lower() in PERSONS or words[0] in NOBLE or "Pasha" in words:
        return {"person": 1.0}
    apposed = _APPOSITIVE.match(after)  # `, the physicist`
    if (apposed and apposed[1] and apposed[1].lower() in PERSONS) or _PERSON_VERBS.match(after):
        return {"person": 0.8 if single else 0.95}
    if cue.lower() in PLACES or (cue == "of" and _CITY_OF.search(before)):
        return {"place": 1.0}
    if _IN.search(before) and not before.endswith(_VAGUE):
        return {"place": 0.85 if single else 0.75, "organisation": 0.4, "person": 0.1}
    if _IN.search(before):
        return {"place": 0.6, "person": 0.2 if single else 0.5, "organisation": 0.3}
    if 2 <= len(words) <= 4 and not text.isupper() and not any(word[0].isdigit() for word in words):
        return {"person": 0.8, "organisation": 0.3, "place": 0.2}
    return {"person": 0.35, "organisation": 0.35, "place": 0.35}


_CAPITAL = r"[^\W\d_a-zß-öø-ÿ][\w-]*(?:['’](?!s\b)\w+)*"
_INITIAL = r"[A-Z]\.(?:[A-Z]\.)*"
_NUMERAL = r"(?:[IVX]+|\d{1,3})\b"
_INNER = r"(?:of the|of|de la|de|del|du|da|van der|van|von|der|bin|al|el|la|le|on the|pour la|zu|y)"
_PART = rf"(?:{_INITIAL}|{_CAPITAL})"
_NAME = re.compile(rf"(?<![\w.'’-]){_PART}(?: (?:{_INNER} )?{_PART}| {_NUMERAL})*")
_NAME_WITH_AND = re.compile(rf"^(?P<more> and {_CAPITAL}(?: {_CAPITAL})*)")
_OF = re.compile(r"(?P<one>.+?) (?:of the|of) (?P<two>.+)$")
# Capitalised words that are not a name by themselves.
_NO_NAMES = DEMONYMS.union(DAYS, MONTHS)
# Words that open a sentence in front of a name.
_OPENINGS = STOP_WORDS | {"beside", "soon", "earlier", "among", "although", "despite", "thus"}


def names(sentence: str, *, known: frozenset[str] = frozenset()) -> Iterator[Candidate]:
    """The names in a sentence, with the kinds they are likely to be of.

    `known` has words that are capitalised elsewhere within a sentence: a single capitalised word that opens a
    sentence is a name only if it is one of them.

    >>> [(name.text, [*name.kinds][1]) for name in names("At Oslo the tenor Enrico Caruso sang.")]
    [('Oslo', 'place'), ('Enrico Caruso', 'person')]
    """
    position = 0
    while match := _NAME.search(sentence, position):
        begin, end = match.span()
        end += _longer(sentence, begin, end)
        position = end
        for first, last in _parts(sentence, begin, end):
            text = sentence[first:last]
            if first or " " in text or text in known:
                kinds = {"name": 0.8, **_kinds(text, sentence[:first], sentence[last:])}
                yield Candidate(text, first, last, kinds)


def inner_capitals(sentence: str) -> Iterator[str]:
    """Capitalised words that do not open the sentence."""
    for match in re.finditer(rf"(?<=[\w,] ){_CAPITAL}", sentence):
        yield match[0]


def _longer(sentence: str, begin: int, end: int) -> int:
    """How much further a name goes over an `and`: `School of Physics and Chemistry`, `Air and Space Museum`."""
    more = _NAME_WITH_AND.match(sentence[end:])
    if more is None:
        return 0
    first_words, rest = sentence[begin:end].split(), more["more"].split()
    if rest[-1] in ORGANISATION_HEADS:
        goes_on = len(rest) > 2 and len(first_words) <= 2 and first_words[-1] not in ORGANISATION_HEADS
    else:
        goes_on = len(rest) == 2 and "of" in first_words and first_words[0] in ORGANISATION_HEADS
    return more.end() if goes_on else 0


class _Token(NamedTuple):
    """A word of a name, and where it is in the sentence."""

    text: str
    begin: int
    end: int

    @property
    def bears(self) -> bool:
        """Whether a name can begin and end with it: `of` and `van` only join."""
        return self.text[:1].isupper()


def _parts(sentence: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The name without words that only open the sentence, without titles, days and months, and cut at `X of Y`."""
    matches = re.finditer(r"\S+", sentence[begin:end])
    tokens = _trimmed([_Token(match[0], begin + match.start(), begin + match.end()) for match in matches])
    if not tokens or all(token.text in _NO_NAMES for token in tokens):
        return
    if len(tokens) == 1 and len(tokens[0].text) < 2:
        return
    first, last = tokens[0].begin, tokens[-1].end - tokens[-1].text.endswith(".")
    whole = sentence[first:last]
    cut = _OF.match(whole)
    # `Cornelis Bakker of the Netherlands` is a person and a place, `Institute of Egypt` is one name.
    if cut and whole not in COUNTRIES and not _joined(cut["one"]):
        yield first, first + len(cut["one"])
        yield first + cut.start("two"), last
    else:
        yield first, last


def _trimmed(tokens: list[_Token]) -> list[_Token]:
    """The tokens that are the name's own."""
    while tokens and _opening(tokens[0].text, first=tokens[0].begin == 0, alone=len(tokens) == 1):
        tokens = tokens[1:]
    while tokens and not tokens[0].bears:
        tokens = tokens[1:]
    # A name can end with a number, `Apollo 11`, but not with a month, `Oslo in March`.
    while tokens and (not (tokens[-1].bears or tokens[-1].text.isdigit()) or tokens[-1].text in MONTHS):
        tokens = tokens[:-1]
    # `Ptolemy V. It`: a full stop that the splitter took for an initial's.
    while len(tokens) > 1 and tokens[-1].text.lower() in STOP_WORDS and tokens[-2].text.endswith("."):
        tokens = tokens[:-1]
    # `Louis Philippe of the French`: the people is not part of the name.
    if len(tokens) > 2 and tokens[-1].text in DEMONYMS and tokens[-2].text in ("the", "of"):
        tokens = list(takewhile(lambda token: token.text not in ("of", "the"), tokens))
    return tokens


def _joined(head: str) -> bool:
    """Whether `head of X` is one name: an organisation, a place, a title, or a single word."""
    last = head.split()[-1]
    return last in ORGANISATION_HEADS or last in PLACE_HEADS or last in NOBLE or " " not in head


def _opening(token: str, *, first: bool, alone: bool) -> bool:
    """Whether a token in front of a name is not part of it."""
    title = token.rstrip(".") in TITLES and not alone
    return title or token in MONTHS or token in DAYS or (first and token.lower() in _OPENINGS)


Entities = Literal["auto", "patterns", "spacy"]
_KINDS = {
    "PERSON": {"person": 1.0, "name": 0.8},
    "ORG": {"organisation": 1.0, "name": 0.8},
    "GPE": {"place": 1.0, "name": 0.8},
    "LOC": {"place": 1.0, "name": 0.8},
    "FAC": {"place": 0.8, "organisation": 0.4, "name": 0.8},
    "PRODUCT": {"name": 0.9},
    "EVENT": {"name": 0.9},
    "WORK_OF_ART": {"name": 0.9},
}


def entity_finder(entities: Entities) -> Callable[[str], Iterable[Candidate]] | None:
    """A finder of further names; None where only patterns are wanted, or where auto finds no model."""
    if entities == "patterns":
        return None
    model = english_model()
    if model is None:
        if entities == "spacy":
            raise UsageError(
                "entities=spacy needs spaCy and an English model; install them"
                " (python -m spacy download en_core_web_sm), or use entities=patterns"
            )
        return None
    return lambda sentence: _entities(model, sentence)


@lru_cache(maxsize=1)
def english_model() -> Any:
    """The first English model that is installed, or nothing."""
    if find_spec("spacy") is None:
        return None
    spacy: Any = import_module("spacy")
    installed = sorted(name for name in spacy.util.get_installed_models() if name.startswith("en"))
    return spacy.load(installed[0]) if installed else None


@lru_cache(maxsize=1 << 14)
def _entities(model: Any, sentence: str) -> tuple[Candidate, ...]:
    candidates = []
    for entity in model(sentence).ents:
        if entity.label_ in _KINDS:
            text = entity.text.removeprefix("the ").removeprefix("The ").removesuffix("'s")
            start = sentence.index(text, entity.start_char)
            candidates.append(Candidate(text, start, start + len(text), _KINDS[entity.label_]))
    return tuple(candidates)
