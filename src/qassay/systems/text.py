"""Words and sentences: what the reference systems see of a text."""

from __future__ import annotations

import re
from functools import lru_cache

from qassay.collections import search
from qassay.collections.documents import sentence_spans

_WORD = re.compile(r"[^\W_]+")

# Words that tell nothing of what a question is about: those of a search, and words that many sentences share.
_COMMON = """
    again among another became become below came come done ever every first further gave get give given go got himself
    last later made make may named near new now others said say see since still take themselves thing things time two
    upon use used very way well went within without year years
"""
STOP_WORDS = search.STOP_WORDS.union(_COMMON.split())
_SUFFIXES = ("ations", "ation", "ments", "ment", "ings", "ing", "ies", "ied", "ers", "ed", "er", "es", "ly", "s", "e")


def words(text: str) -> list[str]:
    """The words of a text, lower-cased: runs of letters and digits.

    >>> words("Nansen's ship, the Fram (1893)")
    ['nansen', 's', 'ship', 'the', 'fram', '1893']
    """
    return _WORD.findall(text.lower())


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """A word without its common endings, so that forms of one word meet. Crude on purpose: it only serves to match.

    >>> [stem(word) for word in ("designed", "designer", "designs", "states", "cities", "city")]
    ['design', 'design', 'design', 'stat', 'cit', 'cit']
    """
    if word.isdigit() or len(word) < 4:
        return word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word.removesuffix(suffix)
            break
    return word.removesuffix("y") if len(word) > 3 else word


def content_words(text: str) -> list[str]:
    """The words of a text that are no stop words, each once, in order."""
    return list(dict.fromkeys(word for word in words(text) if word not in STOP_WORDS and len(word) > 1))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared words over the words of the shorter text; 0 where one has no words.

    >>> overlap(frozenset("abcd"), frozenset("abx"))
    0.6666666666666666
    """
    shorter = min(len(one), len(other))
    return len(one & other) / shorter if shorter else 0.0


def one_line(text: str) -> str:
    """The text with every run of white space as one blank: an answer string is one line."""
    return " ".join(text.split())


def sentences(text: str) -> list[str]:
    """The sentences of a text, each as one line.

    >>> sentences("It met Dr. Smith\\nin Oslo. Then it\\nleft.")
    ['It met Dr. Smith in Oslo.', 'Then it left.']
    """
    return [one_line(text[begin:end]) for begin, end in sentence_spans(text)]
