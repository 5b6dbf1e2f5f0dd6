"""`factoid`, `passages`, `frequent-name` and `list`: exact answers of the expected type.

`factoid` gives one exact answer, `passages` one extract that contains it, or NIL:

    question ──> expected answer type ─────────────────────┐
        │                                                  v
        └──> target + important words ──> passages ──> typed candidates ──> ranked ──> above the threshold? ──> answer
                                                                                              └── no ──> NIL

`list` takes the same candidates, cut at a score: an absolute threshold, or a fraction of the best candidate's score:

    question ──> candidates of the expected type, ranked ──> members of one enumeration stand together ──> cut ──> items

`frequent-name` is a floor for `factoid`: the most frequent candidate of the right type in the target's articles.

    question ──> expected answer type ──> candidates of it in the documents found with the target ──> the most frequent
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from qassay.display import one_line
from qassay.errors import UsageError
from qassay.systems import Answer, Asked, Documents, Item, System, nothing
from qassay.systems.reference.answer_types import answer_type, fit
from qassay.systems.reference.candidates import enumerated
from qassay.systems.reference.evidence import (
    Finder,
    RankedAnswer,
    Sentence,
    finder,
    gather,
    important_words,
    query,
    question_stems,
    rank,
    target_of,
    weights,
)
from qassay.systems.reference.names import Entities, entity_finder
from qassay.systems.text import sentences, stem, words

LONGEST_EXTRACT = 250


def factoid(
    collection: Documents,
    *,
    threshold: float = 0.2,
    passages: int = 20,
    documents: int = 5,
    answers: int = 1,
    entities: Entities = "auto",
) -> System:
    """Make the system.

    Parameters: `threshold`, the score below which it says NIL; `passages` and `documents`, how many are read (found
    with the whole question, and with the target alone); `answers`, how many it returns (5 for the ranked5 task);
    `entities`, what finds names besides the patterns: spacy, patterns alone, or auto (spaCy if installed).
    """

    def item(answer: RankedAnswer) -> Item:
        return Item(one_line(answer.text), answer.doc)

    return _best(collection, item, threshold, passages, documents, entities, answers=answers)


def extracts(
    collection: Documents,
    *,
    threshold: float = 0.2,
    passages: int = 20,
    documents: int = 5,
    length: int = LONGEST_EXTRACT,
    entities: Entities = "auto",
) -> System:
    """Make the variant for the passages task: the extract of at most `length` characters around the best answer.

    The other parameters are those of factoid.
    """

    def item(answer: RankedAnswer) -> Item:
        text = collection.document(answer.doc).text
        start, end = extract(text, answer.sentence, answer.text, length)
        return Item(text[start:end], answer.doc, start, end - start)

    return _best(collection, item, threshold, passages, documents, entities, answers=1)


def _best(
    collection: Documents,
    item: Callable[[RankedAnswer], Item],
    threshold: float,
    passages: int,
    documents: int,
    entities: Entities,
    *,
    answers: int,
) -> System:
    """A system that returns the best candidates as items, or NIL where none reaches the threshold."""
    further = entity_finder(entities)

    def answer(asked: Asked) -> Answer:
        if asked.question.type != "factoid":
            return nothing(asked.question)
        ranked = candidates(collection, asked, passages=passages, documents=documents, further=further)
        chosen = [candidate for candidate in ranked if candidate.score >= threshold][:answers]
        if not chosen:
            # The farther the best candidate lies below the threshold, the surer the NIL.
            return Answer(nil=True, confidence=max(0.0, threshold - (ranked[0].score if ranked else 0.0)))
        return Answer(tuple(map(item, chosen)), confidence=chosen[0].score)

    return answer


def candidates(
    collection: Documents,
    asked: Asked,
    *,
    passages: int,
    documents: int,
    further: Finder | None = None,
    several: bool = False,
) -> list[RankedAnswer]:
    """All candidates for a question, best first; `several` where the question asks for a list."""
    expected_type = answer_type(asked.question.text)
    sentences = gather(collection, asked, passages=passages, documents=documents)
    important = weights(important_words(asked), sentences)
    find = finder(expected_type, (sentence.text for sentence in sentences), further, several=several)
    exclude = question_stems(asked.question.text, target_of(asked))
    return rank(sentences, find, expected_type=expected_type, important=important, exclude=exclude)


def extract(text: str, sentence: Sentence, answer: str, length: int) -> tuple[int, int]:
    """Begin and end of the extract: the sentence, or the longest allowed part around the answer, by whole words."""
    begin, end = sentence.start, sentence.end
    if end - begin <= length:
        return begin, end
    pattern = re.compile(r"\s+".join(map(re.escape, answer.split())))
    match = pattern.search(text, begin, end)
    first, last = match.span() if match else (begin, begin)
    middle = (first + last) // 2
    begin = max(begin, min(middle - length // 2, end - length))
    end = min(end, begin + length)
    left = re.compile(r"(?<=\s)\S").search(text, begin, max(first, begin))
    begin = left.start() if left and begin > sentence.start else begin
    right = text.rfind(" ", max(last, begin), end) if end < sentence.end else -1
    return begin, right if right > last else end


def frequent_name(collection: Documents, *, documents: int = 3) -> System:
    """Make the system.

    Parameters: `documents`, how many of those found with the target (or, without one, the question) are read.
    """

    def answer(asked: Asked) -> Answer:
        if asked.question.type != "factoid":
            return nothing(asked.question)
        hits = collection.search(" ".join(words(target_of(asked))) or query(asked), limit=documents, passages=False)
        counts, places = count(collection, [hit.doc for hit in hits], asked)
        if not counts:
            return Answer(nil=True)
        text, _ = max(counts.items(), key=lambda pair: pair[1])
        return Answer((Item(one_line(text), places[text]),))

    return answer


def count(collection: Documents, docs: list[str], asked: Asked) -> tuple[Counter[str], dict[str, str]]:
    """How often each candidate of the right type occurs, and the document where it first does."""
    expected_type = answer_type(asked.question.text)
    exclude = question_stems(asked.question.text, target_of(asked))
    texts = [(doc, sentence) for doc in docs for sentence in sentences(collection.document(doc).plain().text)]
    find = finder(expected_type, (sentence for _, sentence in texts))
    counts: Counter[str] = Counter()
    places: dict[str, str] = {}
    for doc, sentence in texts:
        for candidate in find(sentence):
            if fit(candidate, expected_type, sentence) < 0.5 or {stem(w) for w in words(candidate.text)} <= exclude:
                continue
            counts[candidate.text] += 1
            places.setdefault(candidate.text, doc)
    return counts, places


TOGETHER = 0.95


def list_answers(
    collection: Documents,
    *,
    threshold: float | None = None,
    fraction: float | None = None,
    limit: int = 25,
    passages: int = 20,
    documents: int = 5,
    entities: Entities = "auto",
) -> System:
    """Make the system.

    Parameters: `threshold`, the score from which on candidates are returned, or else `fraction`, the share of the best
    score that they must reach (0.7 by default); `limit`, the most items; the others are those of factoid.
    """
    if threshold is not None and fraction is not None:
        raise UsageError("list takes a threshold or a fraction of the top score, not both")
    further = entity_finder(entities)

    def answer(asked: Asked) -> Answer:
        if asked.question.type != "list":
            return nothing(asked.question)
        ranked = candidates(collection, asked, passages=passages, documents=documents, further=further, several=True)
        best = cut(merged(together(ranked)), threshold=threshold, fraction=fraction)[:limit]
        return Answer(tuple(Item(one_line(candidate.text), candidate.doc) for candidate in best))

    return answer


def together(ranked: Sequence[RankedAnswer]) -> list[RankedAnswer]:
    """The same candidates, those of one enumeration raised to (nearly) the best among them."""
    raised = {candidate.text: candidate.score for candidate in ranked}
    for sentence in dict.fromkeys(candidate.sentence for candidate in ranked):
        in_sentence = [candidate for candidate in ranked if candidate.sentence == sentence]
        for spans in enumerated(sentence.text):
            inside = [
                candidate
                for candidate in in_sentence
                if any(a <= candidate.mention.start and candidate.mention.end <= b for a, b in spans)
            ]
            if len(inside) > 1:
                best = max(candidate.score for candidate in inside)
                raised |= {candidate.text: max(raised[candidate.text], TOGETHER * best) for candidate in inside}
    return sorted(
        (replace(candidate, score=raised[candidate.text]) for candidate in ranked),
        key=lambda candidate: -candidate.score,
    )


def merged(ranked: Sequence[RankedAnswer]) -> list[RankedAnswer]:
    """Without names that are part of a longer one further up or down: `Astor` beside `John Jacob Astor`."""
    words_of_name = {name.text: set(words(name.text)) for name in ranked}
    last = {name.text: words(name.text)[-1:] for name in ranked}
    best: dict[str, RankedAnswer] = {}
    for name in ranked:
        # A short name is the end of a long one, as a surname is.
        longer = (
            o for o in ranked if words_of_name[name.text] < words_of_name[o.text] and last[name.text] == last[o.text]
        )
        whole = next(longer, name)
        shown = replace(whole, score=max(whole.score, name.score))
        if whole.text not in best or best[whole.text].score < shown.score:
            best[whole.text] = shown
    return sorted(best.values(), key=lambda name: -name.score)


def cut(ranked: Sequence[RankedAnswer], *, threshold: float | None, fraction: float | None) -> list[RankedAnswer]:
    """The candidates that reach the threshold, or the fraction of the top score."""
    if not ranked:
        return []
    least = threshold if threshold is not None else (0.7 if fraction is None else fraction) * ranked[0].score
    return [candidate for candidate in ranked if candidate.score >= least]
