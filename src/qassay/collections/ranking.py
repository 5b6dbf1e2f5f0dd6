"""From what an engine finds to hits: ties in the order of the collection, no passage twice, matches marked.

Engines add up scores in an order that depends on how an index came about, so equal passages may differ in the last
digits. Scores this close count as tied, and ties stand in the order of the collection: the same query gives the same
hits whatever interrupted the indexing, on any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator

from qassay.collections.query import Analyser, Query, highlights
from qassay.collections.records import Document, Engine, Found, Hit
from qassay.collections.store import Store

_CLOSE = 1e-5
# Found units after which a tie is cut where it stands.
_MOST = 20_000
# Characters of a document in which matches are marked.
_MARKED = 200_000


def search(engine: Engine, store: Store, query: Query, limit: int, analyser: Analyser) -> list[Hit]:
    """The best hits, best first. A passage whose matches all lie in a better one beside it is left out."""
    wanted = limit + limit // 2 + 8
    while True:
        found = engine.search(query, wanted)
        settled = len(found) < wanted or wanted >= _MOST
        groups = list(_ties(found))
        if not settled:
            groups.pop()  # the last tie may go on beyond what was asked for
        hits = _hits((one for group in groups for one in group), store, query, limit, analyser)
        if settled or len(hits) == limit:
            return hits
        wanted *= 2


def _ties(found: list[Found]) -> Iterator[list[Found]]:
    """Groups of equal scores, best first, each in the order of the collection."""
    group: list[Found] = []
    for one in sorted(found, key=lambda one: -one.score):
        if group and group[-1].score - one.score > _CLOSE * abs(group[-1].score):
            yield sorted(group, key=lambda one: one[1:])
            group = []
        group.append(one)
    if group:
        yield sorted(group, key=lambda one: one[1:])


def _hits(ordered: Iterator[Found], store: Store, query: Query, limit: int, analyser: Analyser) -> list[Hit]:
    hits: list[Hit] = []
    for one in ordered:
        if len(hits) == limit:
            break
        document = store.documents([one.document]).get(one.document)
        if document is None:  # an engine that knows another collection
            continue
        hit = _hit(one, document, query, analyser)
        if not any(_covers(better, hit) for better in hits):
            hits.append(hit)
    return hits


def _hit(one: Found, document: Document, query: Query, analyser: Analyser) -> Hit:
    text = document.text[one.start : one.start + one.length]
    hit = Hit(document.id, one.start, len(text), text, float(f"{one.score:.6g}"), document.title, (), document.markup)
    plain = hit.plain()
    placed = analyser.placed(plain.text[:_MARKED])
    return hit._replace(highlights=tuple(plain.origin(start, end) for start, end in highlights(placed, query)))


def _covers(better: Hit, hit: Hit) -> bool:
    """Whether two passages overlap and the better one has every match of the other."""
    if better.doc != hit.doc or better.start >= hit.start + hit.length or hit.start >= better.start + better.length:
        return False
    return all(
        better.start <= hit.start + start and hit.start + start + length <= better.start + better.length
        for start, length in hit.highlights
    )
