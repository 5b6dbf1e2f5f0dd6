"""`definition` and `sentence-baseline`: what is worth knowing about a target, for definition and other questions.

    target ──> many passages ──> sentences about it ──> scored by patterns ──> those that say something new ──> items
                                 (its name, or a          copular, appositive,      (unlike what is kept, and unlike
                                  pronoun that follows)    events of a life           what was asked before)

`sentence-baseline` returns every sentence that names the target, once. [QA03] 4.1

    collection ──> sentences that contain the target ──> those unlike every sentence kept so far ──> items

It is SENT-BASE of TREC 2003: all sentences of the collection, in its order, that contain the target (case-insensitive),
each kept only if its overlap with every sentence kept so far is below a limit. It has high recall and no precision to
speak of, and is the floor that a definition system has to beat.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from qassay.collections.documents import Document, sentence_spans
from qassay.display import one_line
from qassay.systems import Answer, Asked, Documents, Item, System, nothing
from qassay.systems.reference.evidence import Sentence, gather, target_of
from qassay.systems.text import STOP_WORDS, content_words, overlap, stem, words

_PRONOUN = re.compile(
    r"^(?:In \d{4} |In \w+ \d{4} |On [\w ]+? \d{4} )?(?:He|She|It|They|His|Her|Its|Their|he|she|it)\b"
)
_EVENTS = re.compile(
    r"\b(?:born|died|founded|established|created|invented|discovered|designed|built|opened|won|received|awarded"
    r"|elected|appointed|published|wrote|known|famous|called|named|celebrated|became|killed|buried)\b"
)
_CLAUSE = re.compile(
    r",? (?:which|who|where|when|because|so that|while|although|until|but|and (?:he|she|it|they|the|was|is|had|in))\b|;"
)
_EXTREMES = re.compile(r"\b(?:first|last|only|largest|longest|oldest|highest|best|most|greatest|never)\b")


def definition(
    collection: Documents,
    *,
    limit: int = 12,
    length: int = 2000,
    overlap: float = 0.6,
    fragments: bool = False,
    passages: int = 60,
    documents: int = 10,
) -> System:
    """Make the system.

    Parameters: `limit`, the most sentences, and `length`, the most characters it returns; `overlap`, from which on a
    sentence repeats another (shared stems over those of the shorter); `fragments`, whether it is cut down to its main
    clause, which gains precision and loses recall; `passages` and `documents`, how many are read.
    """

    def answer(asked: Asked) -> Answer:
        if asked.question.type not in ("definition", "other"):
            return nothing(asked.question)
        target = target_of(asked) or asked.question.text
        sentences = gather(collection, asked, passages=passages, documents=documents)
        ranked = rank(about(sentences, target), target, answered=list(_answered(asked)))
        items = take(ranked, limit=limit, length=length, most=overlap)
        return Answer(tuple(replace(item, text=main_clause(item.text)) if fragments else item for item in items))

    return answer


def about(sentences: Iterable[Sentence], target: str) -> Iterator[Sentence]:
    """Sentences that name the target, and those of its documents that begin with a pronoun."""
    pattern = naming(target)
    for sentence in sentences:
        if pattern.search(sentence.text) or (sentence.about >= 0.4 and _PRONOUN.match(sentence.text)):
            yield sentence


def naming(target: str) -> re.Pattern[str]:
    """A pattern for the target by any telling word of its name: a capitalised one, else its last.

    >>> bool(naming("sinking of the Titanic").search("The Titanic was built in Belfast."))
    True
    """
    content = [word for word in re.findall(r"[\w-]+", target) if word.lower() not in STOP_WORDS and not word.isdigit()]
    capital = [word for word in content if word[:1].isupper()] or content[-1:] or target.split()
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, capital))})\b", re.IGNORECASE)


def rank(sentences: Iterable[Sentence], target: str, *, answered: Sequence[frozenset[str]] = ()) -> list[Sentence]:
    """The sentences by their score, best first; `answered` has the stems of earlier questions and answers."""
    pattern = naming(target)
    scored = [(score(sentence, pattern, answered), place, sentence) for place, sentence in enumerate(sentences)]
    return [sentence for _, _, sentence in sorted(scored, key=lambda row: (-row[0], row[1]))]


def score(sentence: Sentence, target: re.Pattern[str], answered: Sequence[frozenset[str]]) -> float:
    """How much a sentence looks like a definition: patterns first, then what retrieval says.

    A copula after the target counts 1, an appositive 0.8, the target as the subject 0.4, events 0.3, extremes 0.3;
    what repeats an earlier answer of the series loses 0.6.
    """
    text = sentence.text
    name = target.search(text)
    total = 0.2 * sentence.retrieval + 0.4 * sentence.about
    if name:
        after, before = text[name.end() :], text[: name.start()]
        total += 1.0 * bool(re.match(r"(?: [\w-]+){0,3} (?:is|was|are|were)(?: also)? (?:an?|the|one)\b", after))
        total += 0.8 * bool(re.match(r"(?: [A-Z][\w-]+)?, (?:an?|the|one|who|which|former)\b", after))
        total += 0.4 * (len(words(before)) < 4)
    total += 0.3 * bool(_EVENTS.search(text)) + 0.3 * bool(_EXTREMES.search(text))
    stems = frozenset(stem(word) for word in words(text))
    return total - 0.6 * any(earlier <= stems for earlier in answered)


def take(ranked: Iterable[Sentence], *, limit: int, length: int, most: float) -> Iterator[Item]:
    """The best sentences that say something new and fit into the length."""
    taken: list[frozenset[str]] = []
    size = 0
    for sentence in ranked:
        stems = frozenset(stem(word) for word in content_words(sentence.text))
        if any(overlap(stems, other) >= most for other in taken) or size + len(sentence.text) > length:
            continue
        if len(taken) == limit:
            return
        taken.append(stems)
        size += len(sentence.text)
        yield Item(sentence.text, sentence.doc)


def main_clause(sentence: str) -> str:
    """The sentence up to its first subordinate or further main clause, where enough is left of it.

    >>> main_clause("Nansen landed on the empty east coast, so that there was no line of retreat.")
    'Nansen landed on the empty east coast'
    """
    next_clause = _CLAUSE.search(sentence, 25)
    return sentence[: next_clause.start()] if next_clause else sentence


def _answered(asked: Asked) -> Iterator[frozenset[str]]:
    """The stems of every earlier answer of the series together with the telling words of its question."""
    for question, answer in asked.history:
        first_stem = [stem(word) for word in content_words(question.text)][:1]
        for item in answer.items:
            yield frozenset([*(stem(word) for word in words(item.text)), *first_stem])


def sentence_baseline(collection: Documents, *, overlap: float = 0.7) -> System:
    """Make the system.

    Parameters: `overlap`, from which on a sentence repeats another (shared words / words of the shorter).
    """

    def answer(asked: Asked) -> Answer:
        if asked.question.type not in ("definition", "other"):
            return nothing(asked.question)
        target = target_of(asked) or asked.question.text
        return Answer(tuple(distinct(sentences_with(collection, target), limit=overlap)))

    return answer


def sentences_with(documents: Iterable[Document], target: str) -> Iterator[Item]:
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
    taken: list[frozenset[str]] = []
    for item in items:
        words_of_item = frozenset(words(item.text))
        if all(overlap(words_of_item, other) < limit for other in taken):
            taken.append(words_of_item)
            yield item
