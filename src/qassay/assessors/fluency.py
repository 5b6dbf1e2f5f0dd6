"""Whether a response is text at all: lists of words and shuffled words have the words of an answer and say nothing.

In a text most pairs of neighbouring words occur in other responses too ("of the", "was born in"); in a list hardly any
do. The fluency of a response is the share of its pairs that at least two different responses of the pool have. Below a
third of the pool's median it is not taken for text. On TREC RAG 2024 the median is 0.80, the least fluent real response
has 0.29, shuffled ones have 0.26 at most and lists of words 0.10. In a small pool pairs recur less, and the median with
them; with a single response nothing is refused.
"""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from qassay.assessors.words import words

SHARE_OF_MEDIAN = 1 / 3
# Pairs kept in memory; what comes later is only counted where it is known already.
MOST_PAIRS = 2_000_000
# Responses whose fluency the median is taken of.
SAMPLE = 500
# A few words are too little to judge.
LEAST_WORDS = 20

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
        return not self.least or len(pairs := _pairs(text)) < LEAST_WORDS or self._fluent(pairs)

    def _fluent(self, pairs: list[Pair]) -> bool:
        return sum(self.pairs.get(pair, 0) > 1 for pair in pairs) >= self.least * len(pairs)


def _pairs(text: str) -> list[Pair]:
    return list(itertools.pairwise(words(text)))
