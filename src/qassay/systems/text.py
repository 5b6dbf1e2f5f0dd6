"""Words and sentences: what the reference systems see of a text."""

from __future__ import annotations

import re
from functools import lru_cache

from qassay.collections.passages import sentence_spans

_WORD = re.compile(r"[^\W_]+")

# Words that carry the grammar of a question, not its subject.
STOPWORDS = frozenset(
    """
    a about above after again all also am among an and another any are as at be became because become been before being
    below between both but by came can come could did do does doing done down during each ever every few first for from
    further gave get give given go got had has have having he her here hers him himself his how i if in into is it its
    itself just last later made make many may me more most much must my name named near new no nor not now of off on
    once one only or other others our out over own said same say see she should since so some still such take
    than that the their them themselves then there these they thing things this those through time to too two under
    until up upon us use used very was way we well went were what when where which while who whom whose why will with
    within without would year years you your
    """.split()  # noqa: SIM905  # a list of words reads better as words
)
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
    return list(dict.fromkeys(word for word in words(text) if word not in STOPWORDS and len(word) > 1))


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
