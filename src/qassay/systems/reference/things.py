"""Common nouns that may be an answer: what something is said to be, and the members of an enumeration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qassay.systems.reference.quantities import Candidate
from qassay.systems.text import STOP_WORDS

_IS = re.compile(
    r"\b(?:is|was|are|were|be|been|become|became|called|named|known as|made of|made from|of|played|plays)"
    r"(?: (?:an?|the))? (?P<noun>[a-z][\w-]+(?: [a-z][\w-]+){0,2})"
)
_ENUMERATION = re.compile(r"(?:[^,;:.]+, )+[^,;:.]+? and [^,;:.]+|[^,;:.]+ and [^,;:.]+")


def nouns(sentence: str) -> Iterator[Candidate]:
    """What follows a verb of being or naming, without the small words around it.

    >>> [one.text for one in nouns("When it was cleaned in 1999 it proved to be granodiorite.")]
    ['granodiorite']
    """
    for found in _IS.finditer(sentence):
        kept = _without_small(found["noun"])
        if kept:
            begin = found.start("noun")
            yield Candidate(kept, begin, begin + len(kept), {"thing": 0.6})


def _without_small(phrase: str) -> str:
    """The words of a phrase up to the first small word, participle or adverb."""
    kept = []
    for word in phrase.split():
        if word in STOP_WORDS or word.endswith(("ed", "ly", "ing")):
            break
        kept.append(word)
    return " ".join(kept)


def enumerated(sentence: str) -> list[list[tuple[int, int]]]:
    """The enumerations of a sentence, each as the spans of its members.

    >>> text = "They set up a seismometer, a laser reflector and a foil."
    >>> [[text[begin:end] for begin, end in one] for one in enumerated(text)]
    [['They set up a seismometer', 'a laser reflector', 'a foil']]
    """
    found = []
    for one in _ENUMERATION.finditer(sentence):
        spans, position = [], one.start()
        for comma in re.finditer(r", and |, | and ", one[0]):
            spans.append((position, one.start() + comma.start()))
            position = one.start() + comma.end()
        spans.append((position, one.end()))
        if len(spans) > 2 or " and " in one[0]:
            found.append(spans)
    return found


def members(sentence: str) -> Iterator[Candidate]:
    """Members of enumerations of three or more that are common nouns: the words after their article.

    >>> [one.text for one in members("They set up a seismometer, a laser reflector and a foil.")]
    ['seismometer', 'laser reflector', 'foil']
    """
    for spans in enumerated(sentence):
        if len(spans) < 3:
            continue
        for begin, end in spans:
            piece = sentence[begin:end]
            article = list(re.finditer(r"\b(?:an?|the|in|of) (?=[a-z])", piece))
            first = article[0].end() if article else 0
            noun = re.match(r"[a-z][\w-]+(?: [a-z][\w-]+){0,2}", piece[first:])
            if noun is None:
                continue
            kept = _without_small(noun[0])
            if kept:
                yield Candidate(kept, begin + first, begin + first + len(kept), {"thing": 0.8})
