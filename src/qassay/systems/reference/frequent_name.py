"""`frequent-name`: the most frequent candidate of the right type in the target's articles. A floor for `factoid`.

question ──> expected answer type ──> candidates of it in the documents found with the target ──> the most frequent
"""

from __future__ import annotations

from collections import Counter

from qassay.systems.records import Answer, Asked, Documents, Item, System, nothing
from qassay.systems.reference.answer_types import answer_type
from qassay.systems.reference.evidence import query, target_of
from qassay.systems.reference.fitting import fit
from qassay.systems.reference.names import inner_capitals, names
from qassay.systems.reference.quantities import quantities
from qassay.systems.reference.ranking import NAMES, question_stems
from qassay.systems.reference.things import nouns
from qassay.systems.text import one_line, sentences, stem, words


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
        text, _ = max(counts.items(), key=lambda one: one[1])
        return Answer((Item(one_line(text), places[text]),))

    return answer


def count(collection: Documents, docs: list[str], asked: Asked) -> tuple[Counter[str], dict[str, str]]:
    """How often each candidate of the right type occurs, and the document where it first does."""
    wanted = answer_type(asked.question.text)
    exclude = question_stems(asked.question.text, target_of(asked))
    texts = [(doc, sentence) for doc in docs for sentence in sentences(collection.document(doc).plain().text)]
    known = frozenset(word for _, sentence in texts for word in inner_capitals(sentence))
    counts: Counter[str] = Counter()
    places: dict[str, str] = {}
    for doc, sentence in texts:
        if wanted.kind in NAMES:
            found = list(names(sentence, known=known))
        else:
            found = list(nouns(sentence) if wanted.kind == "thing" else quantities(sentence))
        for candidate in found:
            if fit(candidate, wanted, sentence) < 0.5 or {stem(w) for w in words(candidate.text)} <= exclude:
                continue
            counts[candidate.text] += 1
            places.setdefault(candidate.text, doc)
    return counts, places
