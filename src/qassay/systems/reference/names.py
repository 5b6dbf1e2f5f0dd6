"""Names in running text: runs of capitalised words, with small words such as `of` and `van` inside.

What a name names is told by its own words (`Bergen Museum`), by the word before it (`the physicist Felix Bloch`, `in
Warsaw`) and by its form: see `name_kinds`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from qassay.systems.reference.lexicon import (
    COUNTRIES,
    DAYS,
    DEMONYMS,
    MONTHS,
    NOBLE,
    ORGANISATION_HEADS,
    PLACE_HEADS,
    TITLES,
)
from qassay.systems.reference.name_kinds import kinds_of
from qassay.systems.reference.quantities import Candidate
from qassay.systems.text import STOP_WORDS

_CAPITAL = r"[^\W\d_a-zß-öø-ÿ][\w-]*(?:['’](?!s\b)\w+)*"
_INITIAL = r"[A-Z]\.(?:[A-Z]\.)*"
_NUMERAL = r"(?:[IVX]+|\d{1,3})\b"
_INNER = r"(?:of the|of|de la|de|del|du|da|van der|van|von|der|bin|al|el|la|le|on the|pour la|zu|y)"
_PART = rf"(?:{_INITIAL}|{_CAPITAL})"
_NAME = re.compile(rf"(?<![\w.'’-]){_PART}(?: (?:{_INNER} )?{_PART}| {_NUMERAL})*")
_NAME_WITH_AND = re.compile(rf"^(?P<more> and {_CAPITAL}(?: {_CAPITAL})*)")
_OF = re.compile(r"(?P<one>.+?) (?:of the|of) (?P<two>.+)$")
# Capitalised words that are no name by themselves.
_NO_NAMES = DEMONYMS.union(DAYS, MONTHS)
# Words that open a sentence in front of a name.
_OPENINGS = STOP_WORDS | {"beside", "soon", "earlier", "among", "although", "despite", "thus"}


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
            kinds = kinds_of(sentence, first, last)
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


class _Token(NamedTuple):
    """A word of a name, and where it stands in the sentence."""

    text: str
    begin: int
    end: int

    @property
    def bears(self) -> bool:
        """Whether a name can begin and end with it: `of` and `van` only join."""
        return self.text[:1].isupper()


def _parts(sentence: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The name without words that only open the sentence, without titles, days and months, and cut at `X of Y`."""
    found = re.finditer(r"\S+", sentence[begin:end])
    tokens = _trimmed([_Token(one[0], begin + one.start(), begin + one.end()) for one in found])
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
    while tokens and not _closing(tokens[-1]):
        tokens = tokens[:-1]
    # `Ptolemy V. It`: a full stop that the splitter took for an initial's.
    while len(tokens) > 1 and tokens[-1].text.lower() in STOP_WORDS and tokens[-2].text.endswith("."):
        tokens = tokens[:-1]
    # `Louis Philippe of the French`: the people is no part of the name.
    if len(tokens) > 2 and tokens[-1].text in DEMONYMS and tokens[-2].text in ("the", "of"):
        tokens = list(takewhile(lambda token: token.text not in ("of", "the"), tokens))
    return tokens


def _closing(token: _Token) -> bool:
    """Whether a name can end with a token: `Apollo 11` can, `Oslo in March` cannot."""
    return (token.bears or token.text.isdigit()) and token.text not in MONTHS


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
    return first and token.lower() in _OPENINGS
