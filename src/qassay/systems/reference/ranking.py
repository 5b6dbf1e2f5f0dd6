"""Candidates of the wanted kind, ranked by what speaks for them: the second half of factoid and list.

The score of a mention is between 0 and 1:

    fit * (0.45 * coverage + 0.30 * proximity + 0.15 * retrieval + 0.10 * about)

`fit` is how well it suits the expected answer type, `coverage` the share of the question's important words (weighted
by rarity) in its sentence and, for half, in the neighbouring ones, `proximity` the same share weighted by nearness to
the mention. A sentence that has nothing to do with the target of the series counts three quarters. Mentions of one
answer are added up: the best one counts in full, each further one closes a part of the distance to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from qassay.systems.reference.answer_types import AnswerType
from qassay.systems.reference.evidence import Sentence
from qassay.systems.reference.fitting import fit
from qassay.systems.reference.names import inner_capitals, names
from qassay.systems.reference.quantities import Candidate, quantities
from qassay.systems.reference.things import members, nouns
from qassay.systems.text import stem, words

NAMES = ("person", "organisation", "place", "name")
FREQUENCY = 0.15
ASTRAY = 0.75
Finder = Callable[[str], Iterable[Candidate]]


@dataclass(frozen=True, slots=True)
class Ranked:
    """An answer with its score, its best mention and the sentence that holds it."""

    text: str
    score: float
    sentence: Sentence
    mention: Candidate

    @property
    def doc(self) -> str:
        """The document that supports the answer."""
        return self.sentence.doc


def finder(
    wanted: AnswerType, sentences: Iterable[Sentence], further: Finder | None = None, *, several: bool = False
) -> Finder:
    """What looks for candidates of a kind: patterns, and for names whatever else is there (`further`).

    Where several answers are wanted, the members of enumerations are candidates too.
    """
    if wanted.kind == "thing":
        return lambda text: [*nouns(text), *(members(text) if several else ())]
    if wanted.kind not in NAMES:
        return quantities
    known = frozenset(word for sentence in sentences for word in inner_capitals(sentence.text))
    return lambda text: _united([*names(text, known=known), *(further(text) if further else ())])


def _united(found: Iterable[Candidate]) -> list[Candidate]:
    """One candidate for each stretch of text, of each kind as surely as any finder says."""
    by_place: dict[tuple[int, int], Candidate] = {}
    for one in found:
        old = by_place.get((one.start, one.end))
        if old is not None:
            both = {
                kind: max(old.kinds.get(kind, 0.0), one.kinds.get(kind, 0.0)) for kind in {**old.kinds, **one.kinds}
            }
            one = replace(one, kinds=both)
        by_place[one.start, one.end] = one
    return list(by_place.values())


def rank(
    sentences: Sequence[Sentence],
    find: Finder,
    *,
    wanted: AnswerType,
    important: Mapping[str, float],
    exclude: frozenset[str] = frozenset(),
) -> list[Ranked]:
    """The candidates of all sentences, one entry an answer, best first; equal scores keep the order of the text.

    `important` holds the question's words (stems) with their weights; what is made of words of `exclude` alone, those
    of the question and its target, is no answer.
    """
    best: dict[str, Ranked] = {}
    aimed = any(sentence.about for sentence in sentences)
    for sentence in sentences:
        for candidate in find(sentence.text):
            key = " ".join(words(candidate.text))
            if not key or {stem(word) for word in words(candidate.text)} <= exclude:
                continue
            suits = fit(candidate, wanted, sentence.text)
            if suits <= 0:
                continue
            score = suits * support(candidate, sentence, important, aimed=aimed)
            mention = Ranked(candidate.text, score, sentence, candidate)
            best[key] = _added(best[key], mention) if key in best else mention
    return sorted(best.values(), key=lambda one: -one.score)


def support(candidate: Candidate, sentence: Sentence, important: Mapping[str, float], *, aimed: bool = False) -> float:
    """What the sentence says for a candidate, whatever its kind; `aimed`: the question has a target."""
    near = dict(_distances(candidate, sentence.text))
    around = {stem(word) for word in words(f"{sentence.before} {sentence.after}")}
    total = sum(important.values())
    coverage = proximity = 0.0
    if total:
        coverage = sum(w * (1 if k in near else 0.5 if k in around else 0) for k, w in important.items()) / total
        proximity = sum(w / (1 + max(0, near[k] - 1) / 5) for k, w in important.items() if k in near) / total
    total = 0.45 * coverage + 0.30 * proximity + 0.15 * sentence.retrieval + 0.10 * sentence.about
    return total * (1.0 if sentence.about or not aimed else ASTRAY)


def _distances(candidate: Candidate, text: str) -> Iterator[tuple[str, int]]:
    """The stems of a sentence outside the candidate, each with its smallest distance to it in words."""
    before = [stem(word) for word in words(text[: candidate.start])]
    after = [stem(word) for word in words(text[candidate.end :])]
    near: dict[str, int] = {}
    for distance, word in [*enumerate(reversed(before), 1), *enumerate(after, 1)]:
        near[word] = min(distance, near.get(word, distance))
    yield from near.items()


def _added(old: Ranked, new: Ranked) -> Ranked:
    """Two mentions of one answer: the better one, strengthened by the other."""
    better, other = (new, old) if new.score > old.score else (old, new)
    return replace(better, score=better.score + FREQUENCY * other.score * (1 - better.score))


def question_stems(*texts: str) -> frozenset[str]:
    """Stems of all words of some texts, small words included."""
    return frozenset(stem(word) for text in texts for word in words(text))
