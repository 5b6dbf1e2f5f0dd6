"""Pieces of a sentence that may be an answer, but for names: dates, numbers and quantities, and common nouns.

Common nouns are what something is said to be, and the members of an enumeration.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from qassay.systems.text import CURRENCIES, MONTHS, STOP_WORDS, UNITS


@dataclass(frozen=True, slots=True)
class Candidate:
    """A piece of a sentence that may be an answer: where it is, and how surely it is of which kinds (0 to 1)."""

    text: str
    start: int
    end: int
    kinds: Mapping[str, float] = field(hash=False)
    dimension: str | None = None


_ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SMALL = rf"(?:{'|'.join(_TENS)})(?:-(?:{'|'.join(_ONES)}))?|{'|'.join([*_TEENS, *_ONES])}"
_SCALE = r"(?:hundred|thousand|million|billion|trillion)"
NUMBER = rf"(?:(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?|(?:{_SMALL})(?: and a half)?|a (?={_SCALE}\b))(?: ?{_SCALE}\b)*"
_MONTH = rf"(?:{'|'.join(MONTHS)})"
_YEAR = r"(?:1\d{3}|20\d{2})"
_UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
_CURRENCY = "|".join(sorted(CURRENCIES, key=len, reverse=True))

# In this order: what an earlier pattern has taken, a later one does not take apart, but for the year of a date.
_PATTERNS: tuple[tuple[str, str, dict[str, float]], ...] = (
    ("time", r"\b\d{1,2}[:.]\d{2}(?: in the (?:morning|afternoon|evening)| ?[ap]\.?m\b\.?| o'clock)?", {"time": 1.0}),
    ("time", rf"\b(?:{NUMBER}) o['’]clock(?: in the (?:morning|afternoon|evening))?", {"time": 1.0}),
    ("time", r"\b\d{1,2} ?[ap]\.?m\b\.?", {"time": 1.0}),
    ("date", rf"\b\d{{1,2}}(?:st|nd|rd|th)? {_MONTH},? {_YEAR}\b", {"date": 1.0}),
    ("date", rf"\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? {_YEAR}\b", {"date": 1.0}),
    ("date", rf"\b{_MONTH} {_YEAR}\b", {"date": 0.8}),
    ("date", rf"\b\d{{1,2}} {_MONTH}\b|\b{_MONTH} \d{{1,2}}\b", {"date": 0.7}),
    ("money", rf"(?:US)?[$£€] ?(?:{NUMBER})", {"money": 1.0}),
    ("money", rf"\b(?:{NUMBER}) (?:{_CURRENCY})\b", {"money": 1.0}),
    ("percent", rf"\b(?:{NUMBER}) ?(?:per ?cent\b|%)", {"percent": 1.0}),
    ("measure", rf"\b(?:{NUMBER})[ -]?(?:square |cubic )?(?:{_UNIT})\b(?: per (?:hour|second))?", {"measure": 1.0}),
    ("year", r"\b\d{1,4} (?:BC|AD|BCE|CE)\b", {"year": 1.0, "date": 0.7}),
    ("year", rf"\b{_YEAR}\b(?!s|,\d)", {"year": 1.0, "date": 0.6}),
    ("count", rf"\b(?:{NUMBER})(?![\w-])", {"count": 0.6}),
)
_COMPILED = tuple((name, re.compile(pattern), kinds) for name, pattern, kinds in _PATTERNS)
_AGE = re.compile(
    rf"\b(?:aged|age of) (?P<age>{NUMBER})(?![\w%-])"
    rf"|\bwas (?P<was>{NUMBER})(?=[,.;]| when| at the time| years)"
    rf"|\b(?P<old>{NUMBER})[ -]years?[ -](?:old|of age)"
)


def quantities(sentence: str) -> Iterator[Candidate]:
    """Everything in a sentence that is a date, a number or a quantity.

    >>> [(date.text, *date.kinds) for date in quantities("The mirror, 2.4 metres wide, left on 24 April 1990.")]
    [('24 April 1990', 'date'), ('2.4 metres', 'measure'), ('1990', 'year', 'date')]
    """
    taken: list[tuple[int, int]] = []
    for name, pattern, kinds in _COMPILED:
        for match in pattern.finditer(sentence):
            begin, end = match.span()
            inside = any(first < end and begin < last for first, last in taken)
            if inside and name != "year":
                continue
            if not inside:
                taken.append((begin, end))
            yield Candidate(match[0], begin, end, kinds, _dimension(match[0]) if name == "measure" else None)
    for match in _AGE.finditer(sentence):
        group = str(match.lastgroup)
        yield Candidate(match[group], match.start(group), match.end(group), {"age": 1.0})


def _dimension(text: str) -> str | None:
    if "square" in text:
        return "area"
    if " per " in text:
        return "speed"
    return next((UNITS[word] for word in reversed(re.split(r"[ -]", text)) if word in UNITS), None)


_IS = re.compile(
    r"\b(?:is|was|are|were|be|been|become|became|called|named|known as|made of|made from|of|played|plays)"
    r"(?: (?:an?|the))? (?P<noun>[a-z][\w-]+(?: [a-z][\w-]+){0,2})"
)
_ENUMERATION = re.compile(r"(?:[^,;:.]+, )+[^,;:.]+? and [^,;:.]+|[^,;:.]+ and [^,;:.]+")


def nouns(sentence: str) -> Iterator[Candidate]:
    """The words after a verb of being or naming, without the small words around it.

    >>> [noun.text for noun in nouns("When it was cleaned in 1999 it proved to be granodiorite.")]
    ['granodiorite']
    """
    for match in _IS.finditer(sentence):
        if noun := _without_small(match["noun"]):
            begin = match.start("noun")
            yield Candidate(noun, begin, begin + len(noun), {"thing": 0.6})


def _without_small(phrase: str) -> str:
    """The words of a phrase up to the first small word, participle or adverb."""
    words = []
    for word in phrase.split():
        if word in STOP_WORDS or word.endswith(("ed", "ly", "ing")):
            break
        words.append(word)
    return " ".join(words)


def enumerated(sentence: str) -> list[list[tuple[int, int]]]:
    """The enumerations of a sentence, each as the spans of its members.

    >>> text = "They set up a seismometer, a laser reflector and a foil."
    >>> [[text[begin:end] for begin, end in spans] for spans in enumerated(text)]
    [['They set up a seismometer', 'a laser reflector', 'a foil']]
    """
    enumerations = []
    for match in _ENUMERATION.finditer(sentence):
        spans, position = [], match.start()
        for comma in re.finditer(r", and |, | and ", match[0]):
            spans.append((position, match.start() + comma.start()))
            position = match.start() + comma.end()
        spans.append((position, match.end()))
        if len(spans) > 2 or " and " in match[0]:
            enumerations.append(spans)
    return enumerations


def members(sentence: str) -> Iterator[Candidate]:
    """Members of enumerations of three or more that are common nouns: the words after their article.

    >>> [member.text for member in members("They set up a seismometer, a laser reflector and a foil.")]
    ['seismometer', 'laser reflector', 'foil']
    """
    for spans in enumerated(sentence):
        if len(spans) < 3:
            continue
        for begin, end in spans:
            piece = sentence[begin:end]
            article = re.search(r"\b(?:an?|the|in|of) (?=[a-z])", piece)
            first = article.end() if article else 0
            noun = re.match(r"[a-z][\w-]+(?: [a-z][\w-]+){0,2}", piece[first:])
            if noun and (name := _without_small(noun[0])):
                yield Candidate(name, begin + first, begin + first + len(name), {"thing": 0.8})
