"""Features that an answer and a gold answer share: thirteen numbers, from words alone.

    recall              share of the gold's content words that the answer has
    recall_new          the same for those that the question does not have already
    precision_new       share of the answer's content words, without the question's, that the gold has
    contains            the answer has the gold's words in a row
    contained           the gold has the answer's words in a row
    trigram_recall      share of the gold's character trigrams that the answer has
    trigram_precision   share of the answer's character trigrams that the gold has
    numbers_missing     the gold has a number that the answer lacks
    numbers_other       the gold has a number, and the answer has one that neither gold nor question has
    last_word           the answer has the gold's last content word, often a surname or the head of a phrase
    length              logarithm of the answer's words
    negation            the answer says no or does not know, and the gold does not
    gold_length         logarithm of the gold's content words

Of several gold answers the one closest to the answer counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from qassay.assessors.words import vocabulary, without_stop_words, words

FEATURES = (
    *("recall", "recall_new", "precision_new", "contains", "contained", "trigram_recall", "trigram_precision"),
    *("numbers_missing", "numbers_other", "last_word", "length", "negation", "gold_length"),
)
_PLACE = {name: place for place, name in enumerate(FEATURES)}
_CLOSENESS = ("recall", "recall_new", "contains", "trigram_recall")

_NUMBERS = vocabulary(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_DIGITS = {word: str(value) for value, word in enumerate(_NUMBERS)}
_NEGATIONS = frozenset(
    vocabulary("""
    not no never none neither nor cannot without isn wasn aren weren don doesn didn unknown unclear unable sorry
    incorrect
    """)
)
# Words that come and go without changing what a name means.
_LOOSE = frozenset(("the", "a", "an", "of", "and"))


@dataclass(frozen=True, slots=True)
class Side:
    """A text cut up once, to be compared with many others."""

    words: tuple[str, ...]
    content: tuple[str, ...]
    distinct: frozenset[str]
    phrase: str
    trigrams: frozenset[str]
    numbers: frozenset[str]
    negated: bool


def side(text: str) -> Side:
    """Cut up a question, a gold answer or an answer."""
    tokens = [_DIGITS.get(word, word) for word in words(text)]
    content = without_stop_words(tokens)
    phrase = " ".join([word for word in tokens if word not in _LOOSE] or tokens)
    framed = f" {phrase} "
    return Side(
        tuple(tokens),
        tuple(content),
        frozenset(content),
        framed,
        frozenset(framed[start : start + 3] for start in range(len(framed) - 2)),
        frozenset(word for word in tokens if any(sign.isdigit() for sign in word)),
        any(word in _NEGATIONS for word in tokens),
    )


# Questions and gold answers are compared with the answers of many systems.
known_side: Callable[[str], Side] = lru_cache(maxsize=1 << 14)(side)


def compare(question: Side, gold: Side, answer: Side) -> list[float]:
    """The features of an answer beside one gold answer, in the order of `FEATURES`."""
    shared = gold.distinct & answer.distinct
    new = gold.distinct - question.distinct
    words_of_answer = answer.distinct - question.distinct
    recall = len(shared) / max(1, len(gold.distinct))
    common = len(gold.trigrams & answer.trigrams)
    has_words = bool(gold.words and answer.words)
    return [
        recall,
        len(new & shared) / len(new) if new else recall,
        len(gold.distinct & words_of_answer) / len(words_of_answer) if words_of_answer else 0.0,
        float(has_words and gold.phrase in answer.phrase),
        float(has_words and answer.phrase in gold.phrase),
        common / max(1, len(gold.trigrams)),
        common / max(1, len(answer.trigrams)),
        float(bool(gold.numbers) and not gold.numbers <= answer.numbers),
        float(bool(gold.numbers) and not answer.numbers <= gold.numbers | set(question.words)),
        float(bool(gold.content) and gold.content[-1] in answer.distinct),
        math.log1p(len(answer.words)),
        float(answer.negated and not gold.negated),
        math.log1p(len(gold.content)),
    ]


def closest(question: str, golds: Iterable[str], answer: str) -> tuple[str, list[float]]:
    """The gold answer that an answer is closest to, and the features beside it."""
    question_side, answer_side = known_side(question), side(answer)
    compared = [(gold, compare(question_side, known_side(gold), answer_side)) for gold in golds]
    return max(compared, key=lambda pair: sum(pair[1][_PLACE[name]] for name in _CLOSENESS))
