"""`factoid` and `passages`: one exact answer, or one extract that holds it, or NIL.

question ──> expected answer type ─────────────────────┐
    │                                                  v
    └──> target + important words ──> passages ──> typed candidates ──> ranked ──> above the threshold? ──> answer
                                                                                          └── no ──> NIL
"""

from __future__ import annotations

import re

from qassay.systems.records import Answer, Asked, Documents, Item, System, nothing
from qassay.systems.reference.answer_types import answer_type
from qassay.systems.reference.entities import Entities, entity_finder
from qassay.systems.reference.evidence import Sentence, gather, important_words, target_of, weights
from qassay.systems.reference.ranking import Finder, Ranked, finder, question_stems, rank
from qassay.systems.text import one_line

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
    `entities`, what finds names besides the patterns: spacy, patterns alone, or auto (spaCy where a model is there).
    """
    further = entity_finder(entities)

    def answer(asked: Asked) -> Answer:
        if asked.question.type != "factoid":
            return nothing(asked.question)
        ranked = candidates(collection, asked, passages=passages, documents=documents, further=further)
        chosen = [one for one in ranked if one.score >= threshold][:answers]
        if not chosen:
            return Answer(nil=True, confidence=doubt(ranked, threshold))
        return Answer(tuple(Item(one_line(one.text), one.doc) for one in chosen), confidence=chosen[0].score)

    return answer


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
    further = entity_finder(entities)

    def answer(asked: Asked) -> Answer:
        if asked.question.type != "factoid":
            return nothing(asked.question)
        ranked = candidates(collection, asked, passages=passages, documents=documents, further=further)
        if not ranked or ranked[0].score < threshold:
            return Answer(nil=True, confidence=doubt(ranked, threshold))
        best = ranked[0]
        text = collection.document(best.doc).text
        start, end = extract(text, best.sentence, best.text, length)
        return Answer((Item(text[start:end], best.doc, start, end - start),), confidence=best.score)

    return answer


def candidates(
    collection: Documents,
    asked: Asked,
    *,
    passages: int,
    documents: int,
    further: Finder | None = None,
    several: bool = False,
) -> list[Ranked]:
    """All candidates for a question, best first; `several` where the question asks for a list."""
    wanted = answer_type(asked.question.text)
    sentences = gather(collection, asked, passages=passages, documents=documents)
    important = weights(important_words(asked), sentences)
    find = finder(wanted, sentences, further, several=several)
    exclude = question_stems(asked.question.text, target_of(asked))
    return rank(sentences, find, wanted=wanted, important=important, exclude=exclude)


def doubt(ranked: list[Ranked], threshold: float) -> float:
    """How sure a NIL is: the farther the best candidate lies below the threshold, the more."""
    best = ranked[0].score if ranked else 0.0
    return max(0.0, threshold - best)


def extract(text: str, sentence: Sentence, answer: str, length: int) -> tuple[int, int]:
    """Where the extract begins and ends: the sentence, or as much of it around the answer as may be, by whole words."""
    begin, end = sentence.start, sentence.end
    if end - begin <= length:
        return begin, end
    pattern = re.compile(r"\s+".join(map(re.escape, answer.split())))
    found = pattern.search(text, begin, end)
    first, last = found.span() if found else (begin, begin)
    middle = (first + last) // 2
    begin = max(begin, min(middle - length // 2, end - length))
    end = min(end, begin + length)
    left = re.compile(r"(?<=\s)\S").search(text, begin, max(first, begin))
    begin = left.start() if left and begin > sentence.start else begin
    right = text.rfind(" ", max(last, begin), end) if end < sentence.end else -1
    return begin, right if right > last else end
