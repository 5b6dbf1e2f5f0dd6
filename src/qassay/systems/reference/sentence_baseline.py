"""`sentence-baseline`: every sentence that names the target, once. [QA03] 4.1

    collection ──> sentences that contain the target ──> those unlike every sentence kept so far ──> items

SENT-BASE of TREC 2003: all sentences of the collection, in its order, that contain the target (case-insensitive), each
kept only if its overlap with every sentence kept so far is below a limit. It is for definition and other questions,
has high recall and no precision to speak of, and is the floor that a definition system has to beat.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from qassay.collections.documents import Document, sentence_spans
from qassay.systems.records import Answer, Asked, Documents, Item, System, nothing
from qassay.systems.reference.evidence import target_of
from qassay.systems.text import one_line, overlap, words


def sentence_baseline(collection: Documents, *, overlap: float = 0.7) -> System:
    """Make the system.

    Parameters: `overlap`, from which on a sentence repeats another (shared words / words of the shorter).
    """

    def answer(asked: Asked) -> Answer:
        if asked.question.type not in ("definition", "other"):
            return nothing(asked.question)
        target = target_of(asked) or asked.question.text
        return Answer(tuple(distinct(naming(collection, target), limit=overlap)))

    return answer


def naming(documents: Iterable[Document], target: str) -> Iterator[Item]:
    """Sentences that contain the target, in the order of the collection; a line break counts as a blank."""
    if not target.strip():
        return
    pattern = re.compile(r"\s+".join(map(re.escape, target.split())), re.IGNORECASE)
    for document in documents:
        if pattern.search(document.text) is None:  # splitting into sentences costs far more than looking
            continue
        text = document.plain().text
        for begin, end in sentence_spans(text):
            if pattern.search(text, begin, end):
                yield Item(one_line(text[begin:end]), document.id)


def distinct(items: Iterable[Item], *, limit: float) -> Iterator[Item]:
    """Items whose overlap with each one kept before is below the limit."""
    kept: list[frozenset[str]] = []
    for item in items:
        own = frozenset(words(item.text))
        if all(overlap(own, other) < limit for other in kept):
            kept.append(own)
            yield item
