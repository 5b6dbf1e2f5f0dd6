"""The sentences found for a question, and the candidates in them, ranked by the evidence for them.

Every reference system begins with the sentences; factoid and list go on with the candidates of the wanted kind. The
score of a mention is between 0 and 1:

    fit * (0.45 * coverage + 0.30 * proximity + 0.15 * retrieval + 0.10 * about)

`fit` is how well it suits the expected answer type, `coverage` the share of the question's important words (weighted
by rarity) in its sentence and, for half, in the neighbouring ones, `proximity` the same share weighted by nearness to
the mention. A sentence that has nothing to do with the target of the series counts three quarters. Mentions of one
answer are added up: the best one counts in full, each further one closes a part of the distance to 1.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from qassay.collections.documents import Document, sentence_spans
from qassay.display import one_line
from qassay.systems import Asked, Documents
from qassay.systems.reference.answer_types import AnswerType, fit
from qassay.systems.reference.candidates import Candidate, members, nouns, quantities
from qassay.systems.reference.names import inner_capitals, names
from qassay.systems.text import content_words, stem, words

_DEFINITION = re.compile(r"^(?:who|what) (?:is|was|are|were) (?:an? |the )?(?P<target>.+?)\s*\??$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a document: its text as one line, where it is in the document, and what speaks for it.

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
    match = _DEFINITION.match(asked.question.text.strip())
    return match["target"] if match and asked.question.type in ("definition", "other") else ""


def important_words(asked: Asked) -> list[str]:
    """The content words of the question beyond its target, as stems, each once."""
    target = {stem(word) for word in words(target_of(asked))}
    stems = [stem(word) for word in content_words(asked.question.text)]
    return list(dict.fromkeys(word for word in stems if word not in target))


def query(asked: Asked) -> str:
    """The search query: the target and the question's important words."""
    return " ".join(dict.fromkeys([*words(target_of(asked)), *content_words(asked.question.text)]))


def gather(collection: Documents, asked: Asked, *, passages: int, documents: int) -> list[Sentence]:
    """The sentences of the best passages, and of the documents that have most to do with the target."""
    about = _target_documents(collection, target_of(asked), documents)
    hits = collection.search(query(asked), limit=passages) if query(asked) else []
    top = max((hit.score for hit in hits), default=0.0) or 1.0
    regions: dict[str, list[tuple[int, int, float]]] = {doc: [] for doc in about}
    for hit in hits:
        regions.setdefault(hit.doc, []).append((hit.start, hit.start + hit.length, hit.score / top))
    target_stems = frozenset(stem(word) for word in content_words(target_of(asked)))
    sentences: list[Sentence] = []
    for doc, parts in regions.items():
        sentences += _sentences(collection.document(doc), parts, about.get(doc, 0.0), target_stems)
    return sentences


def weights(stems: Iterable[str], sentences: Iterable[Sentence]) -> dict[str, float]:
    """How telling each word is: the rarer among the sentences, the more."""
    distinct = set(stems)
    seen: Counter[str] = Counter()
    texts = [{stem(word) for word in words(sentence.text)} for sentence in sentences]
    for text in texts:
        seen.update(distinct & text)
    return {word: math.log(1 + (len(texts) + 1) / (1 + seen[word])) for word in sorted(distinct)}


def _target_documents(collection: Documents, target: str, limit: int) -> Mapping[str, float]:
    """Documents found with the target alone, with their scores as shares of the best."""
    if not target or not limit:
        return {}
    hits = collection.search(" ".join(words(target)), limit=limit, passages=False)
    top = max((hit.score for hit in hits), default=0.0) or 1.0
    return {hit.doc: hit.score / top for hit in hits}


def _sentences(
    document: Document, parts: list[tuple[int, int, float]], about: float, target_stems: frozenset[str]
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
            # The share of the target's words in these lines counts where it is at least half.
            shared = target_stems & question_stems(f"{before} {lines[place]} {after}")
            share = len(shared) / len(target_stems) if target_stems and 2 * len(shared) >= len(target_stems) else 0.0
            best = max(touched, default=0.0)
            yield Sentence(document.id, begin, end, lines[place], best, max(about, share / 2), before, after)


NAMES = ("person", "organisation", "place", "name")
FREQUENCY = 0.15
ASTRAY = 0.75
Finder = Callable[[str], Iterable[Candidate]]


@dataclass(frozen=True, slots=True)
class RankedAnswer:
    """An answer with its score, its best mention and its sentence."""

    text: str
    score: float
    sentence: Sentence
    mention: Candidate

    @property
    def doc(self) -> str:
        """The document that supports the answer."""
        return self.sentence.doc


def finder(
    expected_type: AnswerType, sentences: Iterable[str], further: Finder | None = None, *, several: bool = False
) -> Finder:
    """The finders of candidates of a kind: patterns, and for names a further finder where one is given.

    Where several answers are wanted, the members of enumerations are candidates too.
    """
    if expected_type.kind == "thing":
        return lambda text: [*nouns(text), *(members(text) if several else ())]
    if expected_type.kind not in NAMES:
        return quantities
    known = frozenset(word for sentence in sentences for word in inner_capitals(sentence))
    return lambda text: _united([*names(text, known=known), *(further(text) if further else ())])


def _united(candidates: Iterable[Candidate]) -> list[Candidate]:
    """One candidate for each stretch of text, of each kind as surely as any finder says."""
    by_place: dict[tuple[int, int], Candidate] = {}
    for new in candidates:
        old = by_place.get((new.start, new.end), new)
        kinds = {kind: max(old.kinds.get(kind, 0.0), new.kinds.get(kind, 0.0)) for kind in {**old.kinds, **new.kinds}}
        by_place[new.start, new.end] = replace(new, kinds=kinds)
    return list(by_place.values())


def rank(
    sentences: Sequence[Sentence],
    find: Finder,
    *,
    expected_type: AnswerType,
    important: Mapping[str, float],
    exclude: frozenset[str] = frozenset(),
) -> list[RankedAnswer]:
    """The candidates of all sentences, one entry an answer, best first; equal scores keep the order of the text.

    `important` has the question's words (stems) with their weights; what is made of words of `exclude` alone, those
    of the question and its target, is not an answer.
    """
    best: dict[str, RankedAnswer] = {}
    aimed = any(sentence.about for sentence in sentences)
    for sentence in sentences:
        for candidate in find(sentence.text):
            key = " ".join(words(candidate.text))
            if not key or {stem(word) for word in words(candidate.text)} <= exclude:
                continue
            suits = fit(candidate, expected_type, sentence.text)
            if suits <= 0:
                continue
            score = suits * support(candidate, sentence, important, aimed=aimed)
            better = RankedAnswer(candidate.text, score, sentence, candidate)
            if key in best:  # another mention of one answer: the better one, strengthened by the other
                better, other = (better, best[key]) if score > best[key].score else (best[key], better)
                better = replace(better, score=better.score + FREQUENCY * other.score * (1 - better.score))
            best[key] = better
    return sorted(best.values(), key=lambda answer: -answer.score)


def support(candidate: Candidate, sentence: Sentence, important: Mapping[str, float], *, aimed: bool = False) -> float:
    """The evidence of the sentence for a candidate of any kind; `aimed`: the question has a target."""
    near = _distances(candidate, sentence.text)
    around = {stem(word) for word in words(f"{sentence.before} {sentence.after}")}
    total = sum(important.values())
    coverage = proximity = 0.0
    if total:
        coverage = sum(w * (1 if k in near else 0.5 if k in around else 0) for k, w in important.items()) / total
        proximity = sum(w / (1 + max(0, near[k] - 1) / 5) for k, w in important.items() if k in near) / total
    total = 0.45 * coverage + 0.30 * proximity + 0.15 * sentence.retrieval + 0.10 * sentence.about
    return total * (1.0 if sentence.about or not aimed else ASTRAY)


def _distances(candidate: Candidate, text: str) -> dict[str, int]:
    """The stems of a sentence outside the candidate, each with its smallest distance to it in words."""
    before = [stem(word) for word in words(text[: candidate.start])]
    after = [stem(word) for word in words(text[candidate.end :])]
    near: dict[str, int] = {}
    for distance, word in [*enumerate(reversed(before), 1), *enumerate(after, 1)]:
        near[word] = min(distance, near.get(word, distance))
    return near


def question_stems(*texts: str) -> frozenset[str]:
    """Stems of all words of some texts, small words included."""
    return frozenset(stem(word) for text in texts for word in words(text))
