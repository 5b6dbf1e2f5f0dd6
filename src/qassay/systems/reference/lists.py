"""`list`: the candidates of the factoid system, cut at a score.

    question ──> candidates of the expected type, ranked ──> members of one enumeration stand together ──> cut ──> items

There are two ways to cut: an absolute threshold, or a fraction of the score of the best candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qassay.errors import UsageError
from qassay.systems.records import Answer, Asked, Documents, Item, System, nothing
from qassay.systems.reference.entities import Entities, entity_finder
from qassay.systems.reference.factoid import candidates
from qassay.systems.reference.ranking import Ranked
from qassay.systems.reference.things import enumerated
from qassay.systems.text import one_line, words

FRACTION = 0.7
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
    score that they must reach (0.7 unless told); `limit`, the most items; the others are those of factoid.
    """
    if threshold is not None and fraction is not None:
        raise UsageError("list takes a threshold or a fraction of the top score, not both")
    further = entity_finder(entities)

    def answer(asked: Asked) -> Answer:
        if asked.question.type != "list":
            return nothing(asked.question)
        found = candidates(collection, asked, passages=passages, documents=documents, further=further, several=True)
        kept = cut(merged(together(found)), threshold=threshold, fraction=fraction)[:limit]
        return Answer(tuple(Item(one_line(one.text), one.doc) for one in kept))

    return answer


def together(ranked: Sequence[Ranked]) -> list[Ranked]:
    """The same candidates, those of one enumeration raised to (nearly) the best among them."""
    raised = {one.text: one.score for one in ranked}
    for sentence in dict.fromkeys(one.sentence for one in ranked):
        here = [one for one in ranked if one.sentence == sentence]
        for spans in enumerated(sentence.text):
            inside = [one for one in here if any(a <= one.mention.start and one.mention.end <= b for a, b in spans)]
            if len(inside) > 1:
                best = max(one.score for one in inside)
                raised |= {one.text: max(raised[one.text], TOGETHER * best) for one in inside}
    return sorted((replace(one, score=raised[one.text]) for one in ranked), key=lambda one: -one.score)


def merged(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Without names that are part of a longer one further up or down: `Astor` beside `John Jacob Astor`."""
    own = {one.text: set(words(one.text)) for one in ranked}
    longer = {
        one.text: next((o for o in ranked if own[one.text] < own[o.text] and _same_end(one.text, o.text)), None)
        for one in ranked
    }
    best: dict[str, Ranked] = {}
    for one in ranked:
        whole = longer[one.text]
        text = whole.text if whole else one.text
        shown = replace(whole, score=max(whole.score, one.score)) if whole else one
        if text not in best or best[text].score < shown.score:
            best[text] = shown
    return sorted(best.values(), key=lambda one: -one.score)


def cut(ranked: Sequence[Ranked], *, threshold: float | None, fraction: float | None) -> list[Ranked]:
    """The candidates that reach the threshold, or the fraction of the top score."""
    if not ranked:
        return []
    least = threshold if threshold is not None else (FRACTION if fraction is None else fraction) * ranked[0].score
    return [one for one in ranked if one.score >= least]


def _same_end(short: str, long: str) -> bool:
    """Whether a short name is the end of a long one, as a surname is."""
    return words(long)[-1] == words(short)[-1]
