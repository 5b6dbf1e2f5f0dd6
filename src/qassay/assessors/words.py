"""Words as the assessors compare them: folded, without stop words, cut to their stems.

    fold            lower case, without accents and other marks; forms of one character are one
    words           all words in order; digits stay together, as in 1,000 and U.S.
    content_words   the same without stop words, cut to their stems
    normalised      a string for comparing whole answers

Endings are English; other languages are compared by their words as written. Chinese and Japanese, which put no blanks
between words, are compared by characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_NO_BLANKS = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_NO_BLANKS}]|[^\W_{_NO_BLANKS}]+")
# What would tear one word into several: 1,000 and U.S.; and what adds a word: Poe's.
_COMMA = re.compile(r"(?<=\d),(?=\d{3})")
_POINT = re.compile(r"\b(\w)\.(?=\w\b)")
_POSSESSIVE = re.compile(r"['’]s\b")
_ARTICLE = re.compile(r"^(?:a|an|the) (?=.)")


def vocabulary(text: str) -> tuple[str, ...]:
    """The words of a list that is written down as one text."""
    return tuple(text.split())


STOP_WORDS = frozenset(
    vocabulary("""
    a about above after again against all also am an and any are as at be because been before being below between both
    but by can could did do does doing down during each few for from further had has have having he her here hers
    herself him himself his how i if in into is it its itself just may me might more most must my myself no nor not now
    of off on once only or other our ours out over own per same shall she should so some such than that the their
    theirs them themselves then there these they this those through to too under until up upon very via was we were
    what when where which while who whom why will with would you your yours
    """)
)
_ENDINGS = vocabulary(
    "ational ization ations ation ments ment ness ingly edly ities ity ives ive ings ing ies ied ers er ors or ions "
    "ion als al ed es s ly e"
)
_SHORTEST_STEM = 3
_VOWELS_AND_L = "aeioul"


def fold(text: str) -> str:
    """The text in lower case without accents.

    >>> fold("Café Zürich")
    'cafe zurich'
    """
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(mark for mark in apart if not unicodedata.combining(mark)))


def words(text: str) -> list[str]:
    """The words of a text in order.

    >>> words("Poe's 1,000 books in the U.S.")
    ['poe', '1000', 'books', 'in', 'the', 'us']
    """
    folded = _POINT.sub(r"\1", _COMMA.sub("", _POSSESSIVE.sub("", fold(text))))
    return _WORD.findall(folded)


def content_words(text: str) -> list[str]:
    """The stems of the words that carry meaning, in order; of a text of stop words alone, all of them.

    >>> content_words("The bridges were opened in 1937"), content_words("The Who")
    (['bridg', 'open', '1937'], ['the', 'who'])
    """
    return without_stop_words(words(text))


def without_stop_words(tokens: Sequence[str]) -> list[str]:
    """The same for a text that is cut into words already."""
    return [stem(word) for word in tokens if word not in STOP_WORDS] or [stem(word) for word in tokens]


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """A word without the commonest English ending it has.

    >>> [stem(word) for word in ("bridges", "opening", "stopped", "city", "cities", "1937")]
    ['bridg', 'open', 'stop', 'cit', 'cit', '1937']
    """
    if len(word) <= _SHORTEST_STEM or word.isdigit():
        return word
    ending = next((end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= _SHORTEST_STEM), "")
    word = word.removesuffix(ending)
    if len(word) > _SHORTEST_STEM + 1 and word[-1] == word[-2] and word[-1] not in _VOWELS_AND_L:
        word = word[:-1]
    return word.rstrip("y") or word if len(word) > _SHORTEST_STEM else word


def normalised(text: str) -> str:
    """A string as it is compared where spelling is not the point; one without a word stays what it is.

    >>> normalised("The  Eiffel-Tower."), normalised("Vitamin A"), normalised("?!")
    ('eiffel tower', 'vitamin a', '?!')
    """
    return _ARTICLE.sub("", " ".join(words(text))) or text.casefold().strip()
