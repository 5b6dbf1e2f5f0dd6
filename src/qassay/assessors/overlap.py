"""The overlap assessor: a nugget is in a response where enough of its words are, and enough of them close together.

Two shares of the nugget's content words, by weight, decide. The *share* of those that occur anywhere in the response
has to reach `threshold`; the largest share that occurs within `window` consecutive content words of the response has
to reach `near`. A response that is not a text (`word_lists`), a list of frequent words or shuffled ones, has nothing. A
word weighs its rarity in the pool,
ln(1 + responses / (responses that have it + 1/2)), over the responses to all questions: what every response to one
question says still distinguishes it from others. Words are compared by their stems, without stop words (`words`).

The threshold was set on TREC RAG 2024 so that it calls as many nuggets supported as people do; `python -m benchmarks
assessors` prints how it does where the threshold comes from other topics. `partial` is a lower share from which
support is called partial; none unless given, since people rarely call it so.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from qassay.assessors.base import Case, Opinion, spelled
from qassay.assessors.word_lists import Fluency
from qassay.assessors.words import content_words
from qassay.judging import ROW_KINDS, Item

THRESHOLD = 0.545
NEAR = 0.5
WINDOW = 30
JUDGED = tuple(name for name, record in ROW_KINDS.items() if record.by_nuggets)

# The content words of a response, each with the places where it occurs.
Places = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class Shares:
    """The share of a nugget's words that a response has, anywhere and close together."""

    anywhere: float
    close: float


@dataclass(frozen=True)
class Overlap:
    """Judges nugget matches and nugget support by shared words."""

    # In how many responses of the pool a word occurs, and how many responses there are.
    counts: Mapping[str, int] = field(default_factory=dict)
    responses: int = 0
    threshold: float = THRESHOLD
    near: float = NEAR
    window: int = WINDOW
    partial: float | None = None
    fluency: Fluency = field(default_factory=Fluency, repr=False, compare=False)
    # It needs no judgments of people.
    learns: ClassVar[bool] = False
    judges: ClassVar[tuple[str, ...]] = JUDGED
    silence: ClassVar[str] = "no list of nuggets for the question"
    _weights: dict[str, dict[str, float]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The spelling says where it draws the line."""
        fixed = {"threshold": THRESHOLD, "near": NEAR, "window": WINDOW, "partial": None}
        return spelled(
            "overlap", **{name: getattr(self, name) for name, value in fixed.items() if getattr(self, name) != value}
        )

    @classmethod
    def from_items(
        cls,
        items: Iterable[Item],
        *,
        threshold: float = THRESHOLD,
        near: float = NEAR,
        window: int = WINDOW,
        partial: float | None = None,
    ) -> Overlap:
        """The assessor with the rarity of words in the pool."""
        counts: Counter[str] = Counter()
        responses = 0

        def texts() -> Iterator[str]:
            """Each response once, counted on its way: a pool need not fit into memory."""
            nonlocal responses
            for item in items:
                if item.kind in JUDGED:
                    text = text_of(item)
                    counts.update(set(content_words(text)))
                    responses += 1
                    yield text

        fluency = Fluency.of(texts())
        return cls(counts, responses, threshold, near, window, partial, fluency)

    def judge(self, case: Case) -> Opinion | None:
        """The nuggets of a response, or the support of one; nothing without a list of nuggets."""
        return self.judge_together([case])[0]

    def judge_together(self, cases: Sequence[Case]) -> list[Opinion | None]:
        """The same for several parts; the words of a response are looked up once for all of its nuggets."""
        opinions: list[Opinion | None] = []
        item: Item | None = None
        places: Places = {}
        for case in cases:
            if case.kind not in JUDGED or not case.nuggets:
                opinions.append(None)
                continue
            if case.item is not item:
                item, text = case.item, text_of(case.item)
                places = places_of(text) if self.fluency.is_text(text) else {}
            opinions.append(self._matches(case, places) if ROW_KINDS[case.kind].linked else self._support(case, places))
        return opinions

    def shares(self, nugget: str, places: Places) -> Shares:
        """How much of a nugget a response has; 0 for a nugget without words."""
        weights = self.weights(nugget)
        total = sum(weights.values())
        if not total:
            return Shares(0.0, 0.0)
        present = {word: weight for word, weight in weights.items() if word in places}
        return Shares(sum(present.values()) / total, closest(present, places, self.window) / total)

    def weights(self, nugget: str) -> dict[str, float]:
        """The content words of a nugget with their weights."""
        if nugget not in self._weights:
            self._weights[nugget] = {word: self.weight(word) for word in dict.fromkeys(content_words(nugget))}
        return self._weights[nugget]

    def weight(self, word: str) -> float:
        """The rarity of a word in the pool; 1 where there is no pool."""
        return math.log1p(self.responses / (self.counts.get(word, 0) + 0.5)) if self.responses else 1.0

    def level(self, shares: Shares) -> str:
        """Full, partial or no support."""
        if shares.close < self.near:
            return "none"
        if shares.anywhere >= self.threshold:
            return "full"
        return "partial" if self.partial is not None and shares.anywhere >= self.partial else "none"

    def _matches(self, case: Case, places: Places) -> Opinion:
        shares = {str(nugget["nugget"]): self.shares(str(nugget.get("text") or ""), places) for nugget in case.nuggets}
        matched = [name for name, of_nugget in shares.items() if self.level(of_nugget) == "full"]
        rounded = {name: round(of_nugget.anywhere, 3) for name, of_nugget in shares.items()}
        return Opinion({"nuggets": matched}, {"shares": rounded})

    def _support(self, case: Case, places: Places) -> Opinion | None:
        nugget = case.nugget
        if nugget is None:
            return None
        shares = self.shares(str(nugget.get("text") or ""), places)
        trace = {"share": round(shares.anywhere, 3), "close": round(shares.close, 3)}
        return Opinion({"support": self.level(shares)}, trace)


def text_of(item: Item) -> str:
    """All strings of a response."""
    return "\n".join(element.get("text") or "" for element in item.body.get("elements", ()))


def places_of(text: str) -> dict[str, list[int]]:
    """The content words of a text, each with its places among them."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(content_words(text)):
        places.setdefault(word, []).append(place)
    return places


def closest(weights: Mapping[str, float], places: Places, window: int) -> float:
    """The largest weight of different words within `window` consecutive places.

    >>> closest({"a": 1.0, "b": 2.0}, {"a": [0, 40], "b": [10]}, window=11)
    3.0
    >>> closest({"a": 1.0, "b": 2.0}, {"a": [0, 40], "b": [10]}, window=10)
    2.0
    """
    occurrences = sorted((place, word) for word in weights for place in places[word])
    inside: Counter[str] = Counter()
    weight = largest = 0.0
    first = 0
    for place, word in occurrences:
        if not inside[word]:
            weight += weights[word]
        inside[word] += 1
        while occurrences[first][0] <= place - window:
            left = occurrences[first][1]
            inside[left] -= 1
            if not inside[left]:
                weight -= weights[left]
            first += 1
        largest = max(largest, weight)
    return largest
