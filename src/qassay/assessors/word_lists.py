"""Whether a response is text at all: lists of words and shuffled words have the words of an answer and say nothing.

Long responses, by their fluency. In a text most pairs of neighbouring words occur in other responses too ("of the",
"was born in"); in a list hardly any do. The fluency of a response is the share of its pairs that at least two different
responses of the pool have. Below a third of the pool's median it is not taken for text. On TREC RAG 2024 the median is
0.80, the least fluent real response has 0.29, shuffled ones have 0.26 at most and lists of words 0.10. In a small pool
pairs recur less, and the median with them; with a single response nothing is refused.

Answers with a gold answer (`is_list`). A gold answer of one or two words is found in any list that is long enough. Two
signs give a list away. They are looked at only where an answer of 30 words or more, and at least five times as long as
the gold answer, would be called right.

    no word returns         In running text some word soon returns, in any language. The sign is the mean share of
                            different words in windows of 30 (the moving-average type-token ratio of Covington and
                            McFall 2010), at 0.99 or more: it is 1 in a list, and at most 0.985 in 2,711 real answers
                            (TriviaQA, TREC RAG 2024). A list that is repeated has the same windows.
    it answers everything   The answer has half of the words of a gold answer for a fifth or more of unrelated
                            questions: those that share no word with this question and its gold answers. Real answers
                            of TriviaQA have 0.06 on average where they are long, and 0.174 at most. This needs no order
                            of words, and no language: whatever is said to all questions is called right for a fifth of
                            them at most, as far as they are unrelated.
"""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from qassay.assessors.base import Case
from qassay.assessors.features import Side, known_side, side
from qassay.assessors.gold import Gold
from qassay.assessors.words import words

SHARE_OF_MEDIAN = 1 / 3
# Pairs kept in memory; what comes later is only counted where it is known already.
MOST_PAIRS = 2_000_000
# Responses whose fluency the median is taken of.
SAMPLE = 500
# A few pairs are too little to judge.
FEWEST_PAIRS = 20

Pair = tuple[str, str]


@dataclass(frozen=True)
class Fluency:
    """How often neighbouring words occur in the pool, and the fluency that a text has at least."""

    pairs: Mapping[Pair, int] = field(default_factory=dict)
    least: float = 0.0

    @classmethod
    def of(cls, texts: Iterable[str]) -> Fluency:
        """From the responses of a pool; equal ones count once, so that a list does not vouch for its copy."""
        counts: Counter[Pair] = Counter()
        seen: set[int] = set()
        sample: list[str] = []
        for text in texts:
            if hash(text) in seen:
                continue
            seen.add(hash(text))
            pairs = set(_pairs(text))
            counts.update(pairs if len(counts) < MOST_PAIRS else (pair for pair in pairs if pair in counts))
            # Every response at first, then ever fewer, so that the sample is spread over the pool.
            if len(sample) < SAMPLE or len(seen) % (len(seen) // SAMPLE + 1) == 0:
                sample.append(text)
        measured = cls(counts)
        median = statistics.median(map(measured.share, sample)) if sample else 0.0
        return cls(counts, SHARE_OF_MEDIAN * median)

    def share(self, text: str) -> float:
        """The share of pairs of neighbouring words that two responses or more have; 1 without a pair."""
        pairs = _pairs(text)
        return sum(self.pairs.get(pair, 0) > 1 for pair in pairs) / len(pairs) if pairs else 1.0

    def is_text(self, text: str) -> bool:
        """Whether a response may be taken for text."""
        return not self.least or len(pairs := _pairs(text)) < FEWEST_PAIRS or self._fluent(pairs)

    def _fluent(self, pairs: list[Pair]) -> bool:
        return sum(self.pairs.get(pair, 0) > 1 for pair in pairs) >= self.least * len(pairs)


def _pairs(text: str) -> list[Pair]:
    return list(itertools.pairwise(words(text)))


# ---- answers to short questions -------------------------------------------------------------------------------------


# Answers with fewer words than this are not taken for lists; it is also the width of the windows.
LEAST_WORDS = 30
TIMES_THE_GOLD = 5
DIFFERENT = 0.99
# The share of a gold answer's words, as `recall` has it, and the share of unrelated questions.
HALF = 0.5
EVERYTHING = 0.2
# With fewer unrelated questions than this the check is not made.
FEWEST_QUESTIONS = 20


def is_list(case: Case, gold: Gold, nearest: str) -> bool:
    """Whether an answer that is near to a gold answer is only a list of words."""
    answer_side = side(case.text)
    if len(answer_side.words) < max(LEAST_WORDS, TIMES_THE_GOLD * len(known_side(nearest).words)):
        return False
    return different_words(answer_side.words) >= DIFFERENT or answers_everything(answer_side, case.question.id, gold)


def different_words(words: Sequence[str]) -> float:
    """The mean share of different words in windows of 30."""
    counts: dict[str, int] = {}
    total = 0
    for place, word in enumerate(words):
        counts[word] = counts.get(word, 0) + 1
        if place >= LEAST_WORDS:
            left = words[place - LEAST_WORDS]
            counts[left] -= 1
            if not counts[left]:
                del counts[left]
        if place >= LEAST_WORDS - 1:
            total += len(counts)
    return total / (LEAST_WORDS * max(1, len(words) - LEAST_WORDS + 1))


def answers_everything(answer_side: Side, question: str, gold: Gold) -> bool:
    """Whether the words of an answer fit too many unrelated questions; False where there are too few of them."""
    topic = _topic(question, gold)
    looked_at, hits = 0, 0
    for other in gold.spread:
        if other == question or known_side(gold.texts.get(other, "")).distinct & topic:
            continue
        looked_at += 1
        hits += any(_has(known_side(text), answer_side) for text in gold.answers[other])
    return looked_at >= FEWEST_QUESTIONS and hits >= EVERYTHING * looked_at


def _topic(question: str, gold: Gold) -> frozenset[str]:
    """The words of a question and of its gold answers."""
    texts = (gold.texts.get(question, ""), *gold.answers.get(question, ()))
    return frozenset[str]().union(*(known_side(text).distinct for text in texts))


def _has(known: Side, answer_side: Side) -> bool:
    return bool(known.distinct) and len(known.distinct & answer_side.distinct) >= HALF * len(known.distinct)
