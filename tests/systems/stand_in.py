"""A small collection in memory with the methods of a real one: BM25 over passages of three sentences."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from qassay.collections.passages import sentence_spans
from qassay.collections.records import Document, Hit
from qassay.systems.text import stem, words


class StandIn:
    """Documents in a list; titles count as words of every passage of their document."""

    def __init__(self, documents: list[Document]) -> None:
        self.documents = documents
        self.by_id = {document.id: document for document in documents}
        self.passages = [self._hit(d, begin, end) for d in documents for begin, end in _windows(d.text)]
        self.wholes = [self._hit(d, 0, len(d.text)) for d in documents]

    @classmethod
    def of(cls, *texts: str) -> StandIn:
        """Documents D1, D2, ... with these texts."""
        return cls([Document(f"D{number}", text) for number, text in enumerate(texts, 1)])

    @classmethod
    def read(cls, path: Path) -> StandIn:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return cls([Document(row["id"], row["text"], row.get("title")) for row in rows])

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    def __contains__(self, doc_id: str) -> bool:
        return doc_id in self.by_id

    def document(self, doc_id: str) -> Document:
        return self.by_id[doc_id]

    def lengths(self) -> dict[str, int]:
        return {document.id: len(document.text) for document in self.documents}

    def search(self, query: str, *, limit: int = 10, passages: bool = True) -> list[Hit]:
        pieces = self.passages if passages else self.wholes
        bags = [self._bag(piece) for piece in pieces]
        mean = sum(bag.total() for bag in bags) / max(1, len(bags))
        wanted = {stem(word) for word in words(query)}
        frequency = {word: sum(word in bag for bag in bags) for word in wanted}
        scored = []
        for piece, bag in zip(pieces, bags, strict=True):
            score = sum(
                math.log(1 + (len(bags) - frequency[w] + 0.5) / (frequency[w] + 0.5))
                * bag[w]
                * 2.2
                / (bag[w] + 1.2 * (0.25 + 0.75 * bag.total() / mean))
                for w in wanted
                if w in bag
            )
            if score > 0:
                scored.append(piece._replace(score=score))
        return sorted(scored, key=lambda hit: -hit.score)[:limit]

    def _hit(self, document: Document, begin: int, end: int) -> Hit:
        return Hit(document.id, begin, end - begin, document.text[begin:end], 0.0)

    def _bag(self, hit: Hit) -> Counter[str]:
        title = self.by_id[hit.doc].title or ""
        return Counter(stem(word) for word in words(f"{title} {hit.text}"))


def _windows(text: str) -> Iterator[tuple[int, int]]:
    spans = sentence_spans(text)
    for place in range(0, len(spans), 3):
        part = spans[place : place + 3]
        yield part[0][0], part[-1][1]
