"""The overlap assessor: a nugget is in a response where enough of its words are.

The share of the nugget's words that occur in the response decides: from `threshold` on the nugget is matched, or fully
supported. A word weighs its rarity in the question's own responses: the logarithm of responses / responses that have
it, at least a little. Words are lower-cased and cut to their stems by a few endings; words of three letters or fewer
count only where they are numbers or the nugget has no others.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from qassay.assessors.base import Case, Opinion
from qassay.judging import Item

THRESHOLD = 0.56
_WORD = re.compile(r"\w+")
_ENDING = re.compile(r"(?:ings?|edly|ed|es|s|ly)$")
# A word that every response has still counts a little: a nugget of common words must be found in them.
_LEAST = 0.1


def words(text: str) -> set[str]:
    """The words of a text that carry its meaning, cut to their stems.

    >>> sorted(words("The bridges were opened in 1937"))
    ['1937', 'bridg', 'open', 'were']
    """
    spoken = _WORD.findall(text.lower())
    content = [word for word in spoken if len(word) > 3 or word.isdigit()] or spoken
    return {_ENDING.sub("", word).rstrip("e") if len(word) > 4 else word for word in content}


@dataclass(frozen=True)
class Overlap:
    """Judges nugget matches and nugget support by shared words."""

    # For each question, in how many of its responses a word occurs, and how many responses there are.
    counts: Mapping[str, Counter[str]] = field(default_factory=dict)
    responses: Mapping[str, int] = field(default_factory=dict)
    threshold: float = THRESHOLD

    @property
    def name(self) -> str:
        """The spelling says where it draws the line."""
        return "overlap" if self.threshold == THRESHOLD else f"overlap(threshold={self.threshold:g})"

    @classmethod
    def from_items(cls, items: Iterable[Item], *, threshold: float = THRESHOLD) -> Overlap:
        """The assessor with the rarity of words in the pool."""
        counts: dict[str, Counter[str]] = {}
        responses: Counter[str] = Counter()
        for item in items:
            if item.kind in ("match", "support"):
                texts = (element.get("text") or "" for element in item.body["elements"])
                counts.setdefault(item.question, Counter()).update(words(" ".join(texts)))
                responses[item.question] += 1
        return cls(counts, responses, threshold)

    def judge(self, case: Case) -> Opinion | None:
        """The nuggets of a response, or the support of one; nothing without a list of nuggets."""
        if case.kind not in ("match", "support") or not case.nuggets:
            return None
        answer = words(case.text)
        if case.kind == "match":
            shares = {
                str(nugget["nugget"]): self.share(case.question.id, str(nugget.get("text") or ""), answer)
                for nugget in case.nuggets
            }
            matched = [name for name, share in shares.items() if share >= self.threshold]
            return Opinion({"nuggets": matched}, {"shares": {name: round(share, 3) for name, share in shares.items()}})
        if case.nugget is None:
            return None
        share = self.share(case.question.id, str(case.nugget.get("text") or ""), answer)
        return Opinion({"support": "full" if share >= self.threshold else "none"}, {"share": round(share, 3)})

    def share(self, question: str, nugget: str, answer: set[str]) -> float:
        """The share of a nugget's words, by weight, that an answer has; 0 for a nugget without words."""
        total, counts = self.responses.get(question, 0), self.counts.get(question, Counter())
        weights = {
            word: max(math.log((total + 1) / (counts[word] + 0.5)), _LEAST) if total else 1.0 for word in words(nugget)
        }
        shared = sum(weight for word, weight in weights.items() if word in answer)
        return shared / sum(weights.values()) if weights else 0.0
