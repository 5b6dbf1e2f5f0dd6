"""What a question is looked for with, and the sentences that are found: the first half of every reference system."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from qassay.collections.documents import Document, sentence_spans
from qassay.systems.records import Asked, Documents
from qassay.systems.text import content_words, one_line, stem, words

_DEFINITION = re.compile(r"^(?:who|what) (?:is|was|are|were) (?:an? |the )?(?P<target>.+?)\s*\??$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a document: its text as one line, where it stands in the document, and what speaks for it.

    `retrieval` is the score of the passage it was found in, as a share of the best one; `about` is how much it has to
    do with the target: its document's share of the best score for the target, or half the share of the target's
    words in it and its neighbours. `before` and `after` are these neighbours, which pronouns point to.
    """

    doc: str
    start: int
    end: int
    text: str
    retrieval: float
    about: float
    before: str = ""
    after: str = ""


def target_of(asked: Asked) -> str:
    """The target of the series, or what a definition question names.

    >>> from qassay.questions import Question
    >>> target_of(Asked(Question("1905", "definition", "What is a golden parachute?")))
    'golden parachute'
    """
    if asked.target:
        return asked.target
    found = _DEFINITION.match(asked.question.text.strip())
    return found["target"] if found and asked.question.type in ("definition", "other") else ""


def important_words(asked: Asked) -> list[str]:
    """What the question says beyond its target and its grammar, as stems, each once."""
    target = {stem(word) for word in words(target_of(asked))}
    found = [stem(word) for word in content_words(asked.question.text)]
    return list(dict.fromkeys(word for word in found if word not in target))


def query(asked: Asked) -> str:
    """What is searched for: the target and the question's important words."""
    return " ".join(dict.fromkeys([*words(target_of(asked)), *content_words(asked.question.text)]))


def gather(collection: Documents, asked: Asked, *, passages: int, documents: int) -> list[Sentence]:
    """The sentences of the best passages, and of the documents that have most to do with the target."""
    about = _target_documents(collection, target_of(asked), documents)
    hits = collection.search(query(asked), limit=passages) if query(asked) else []
    top = max((hit.score for hit in hits), default=0.0) or 1.0
    regions: dict[str, list[tuple[int, int, float]]] = {doc: [] for doc in about}
    for hit in hits:
        regions.setdefault(hit.doc, []).append((hit.start, hit.start + hit.length, hit.score / top))
    telling = frozenset(stem(word) for word in content_words(target_of(asked)))
    found: list[Sentence] = []
    for doc, parts in regions.items():
        found += _sentences(collection.document(doc), parts, about.get(doc, 0.0), telling)
    return found


def weights(stems: Iterable[str], sentences: Iterable[Sentence]) -> dict[str, float]:
    """How telling each word is: the rarer among the sentences, the more."""
    wanted = set(stems)
    seen: Counter[str] = Counter()
    found = [{stem(word) for word in words(sentence.text)} for sentence in sentences]
    for own in found:
        seen.update(wanted & own)
    return {word: math.log(1 + (len(found) + 1) / (1 + seen[word])) for word in sorted(wanted)}


def _target_documents(collection: Documents, target: str, limit: int) -> Mapping[str, float]:
    """Documents found with the target alone, with their scores as shares of the best."""
    if not target or not limit:
        return {}
    hits = collection.search(" ".join(words(target)), limit=limit, passages=False)
    top = max((hit.score for hit in hits), default=0.0) or 1.0
    return {hit.doc: hit.score / top for hit in hits}


def _sentences(
    document: Document, parts: list[tuple[int, int, float]], about: float, telling: frozenset[str]
) -> Iterator[Sentence]:
    """The sentences of a document that touch a found passage, or all of them where the document itself was found."""
    plain = document.plain()
    spans = sentence_spans(plain.text)
    lines = [one_line(plain.text[begin:end]) for begin, end in spans]
    for place, span in enumerate(spans):
        begin, length = plain.origin(*span)
        end = begin + length
        touched = [score for first, last, score in parts if first < end and begin < last]
        if touched or about:
            before = lines[place - 1] if place else ""
            after = lines[place + 1] if place + 1 < len(lines) else ""
            named = _named(telling, f"{before} {lines[place]} {after}")
            best = max(touched, default=0.0)
            yield Sentence(document.id, begin, end, lines[place], best, max(about, named / 2), before, after)


def _named(telling: frozenset[str], text: str) -> float:
    """The share of the target's words in a text, where it is at least half; else 0."""
    if not telling:
        return 0.0
    share = len(telling & {stem(word) for word in words(text)}) / len(telling)
    return share if share >= 0.5 else 0.0
