"""Search: what people type, taken apart, and what an engine finds, as hits. Every string is a query; none is an error.

    curie radium           either word, both are better
    "Flying University"    the words side by side
    title:curie            in the title; title:"two new elements" too
    +polonium -plutonium   must, and must not, be there

Everything else (question marks, brackets, operators of other engines) separates words.

Hits with tied scores are in the order of the collection, no passage comes twice, and matches are marked. Engines add
up scores in an order that depends on how an index came about, so equal passages may differ in the last digits. Scores
this close count as tied: the same query gives the same hits whatever interrupted the indexing, on any number of
threads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

from qassay.collections.documents import Hit, Stretch
from qassay.collections.store import DocumentStore

Field = Literal["any", "title"]
Occur = Literal["should", "must", "not"]

# More words than this are not a question; the rest is ignored.
MOST_CLAUSES = 200
_LONGEST = 20_000
# What a match in the title is worth beside one in the text.
TITLE_WEIGHT = 0.5
_PART = re.compile(
    r'(?P<sign>(?<!\S)[+-](?=["\w]))?(?P<title>\b(?i:title:))?(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+)|")'
)
_POSSESSIVE = re.compile(r"['’]s\b")

# Words that say nothing about the subject of a search, question words among them. They count within phrases, and where
# a query has nothing else.
_STOP_WORDS = """
    a about above after all also am an and any are as at be because been before being between both but by can could
    did do does doing down during each few for from had has have having he her here hers him his how i if in into is
    it its itself just many me might more most much must my name no nor not of off on once one only or other our out
    over own same shall she should so some such tell than that the their them then there these they this those
    through to too under until up us was we were what when where which while who whom whose why will with would you
    your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


class Clause(NamedTuple):
    """A clause of a query: a word, or several side by side, as the analyser gives them."""

    words: tuple[str, ...]
    field: Field = "any"
    occur: Occur = "should"


class Query(NamedTuple):
    """The clauses of a query, each once."""

    clauses: tuple[Clause, ...]

    @property
    def empty(self) -> bool:
        """Whether there is nothing to look for."""
        return all(clause.occur == "not" for clause in self.clauses)


class Found(NamedTuple):
    """A hit of an engine: where, and how well it matches."""

    score: float
    document: int
    start: int
    length: int


class Engine(Protocol):
    """A search engine behind a collection: everything that Qassay needs of one.

    Units come in the order of the collection, all of a document in one `add`. What `commit` has confirmed survives a
    break; `done` says where to go on.
    """

    def done(self) -> int:
        """How many documents, from the first one on, need not be added again."""

    def add(self, units: Iterable[Stretch]) -> None:
        """Take all units of the next document."""

    def commit(self) -> None:
        """Make everything taken so far last."""

    def finish(self) -> None:
        """Commit; nothing more is added."""

    def search(self, query: Query, limit: int) -> list[Found]:
        """The best units, best first; ties in any order. `query` has something to look for."""


class Analyser:
    """Texts as words for the index: split at everything but letters and digits, lower case, no accents, stemmed."""

    def __init__(self) -> None:
        import tantivy

        builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        steps = (
            tantivy.Filter.remove_long(80),
            tantivy.Filter.lowercase(),
            tantivy.Filter.ascii_fold(),
            tantivy.Filter.stemmer("english"),
        )
        for step in steps:
            builder = builder.filter(step)
        self.analyser = builder.build()

    def words(self, text: str) -> tuple[str, ...]:
        """The words of a text."""
        return tuple(self.analyser.analyze(text))

    def placed(self, text: str) -> list[tuple[str, int, int]]:
        """The words of a text, each with its first and its last character's end."""
        tokens = self.analyser.pre_tokenize(text).tokens
        return [(token.text, token.char_offset_from, token.char_offset_to) for token in tokens]


def parse(text: str, analyser: Analyser) -> Query:
    """The query in a string; stop words are left out where it has other words."""
    text = text[:_LONGEST].encode("utf-8", "replace").decode("utf-8")
    parts = list(_parts(text, analyser))
    content = [clause for clause, stop in parts if not stop]
    has_content = any(clause.occur != "not" for clause in content)
    clauses = content if has_content else [clause for clause, _ in parts]
    return Query(tuple(dict.fromkeys(clauses))[:MOST_CLAUSES])


def _parts(text: str, analyser: Analyser) -> Iterator[tuple[Clause, bool]]:
    """The clauses of the query, each with whether it is a mere stop word."""
    for part in _PART.finditer(text):
        sign, phrase = part["sign"], part["phrase"]
        word: str | None = part["word"]
        if word is None and phrase is None:
            continue
        occur: Occur = "must" if sign == "+" else "should"
        if sign == "-" and not (word and word[0].isdigit()):  # -5 is a number
            occur = "not"
        field: Field = "title" if part["title"] else "any"
        word = None if word is None else _POSSESSIVE.sub("", word)
        words = analyser.words(phrase if word is None else word)
        if not words:
            continue
        plain = not sign and field == "any" and phrase is None
        yield Clause(words, field, occur), plain and (word or "").strip("?!.,;:()[]'’").lower() in STOP_WORDS
        if plain and len(words) > 1:  # London-based: also London, and based
            yield from ((Clause((piece,)), piece in STOP_WORDS) for piece in words if len(piece) > 2)


def highlights(placed: Sequence[tuple[str, int, int]], query: Query) -> Iterator[tuple[int, int]]:
    """First character and end of every word of a text that the query looks for; words of a phrase only together."""
    phrases = [clause.words for clause in query.clauses if clause.occur != "not" and clause.field == "any"]
    single = {words[0] for words in phrases if len(words) == 1}
    marked = {number for number, (word, _, _) in enumerate(placed) if word in single}
    marked.update(_together(placed, (words for words in phrases if len(words) > 1)))
    for number in sorted(marked):
        yield placed[number][1], placed[number][2]


def _together(placed: Sequence[tuple[str, int, int]], phrases: Iterable[tuple[str, ...]]) -> Iterator[int]:
    words = [word for word, _, _ in placed]
    for phrase in phrases:
        for first in range(len(words) - len(phrase) + 1):
            if words[first] == phrase[0] and tuple(words[first : first + len(phrase)]) == phrase:
                yield from range(first, first + len(phrase))


_CLOSE = 1e-5
# Found units after which a tie is cut.
_MOST = 20_000
# Characters of a document in which matches are marked.
_MARKED = 200_000


def best_hits(engine: Engine, store: DocumentStore, query: Query, limit: int, analyser: Analyser) -> list[Hit]:
    """The best hits, best first. A passage whose matches all lie in a better one beside it is left out."""
    depth = limit + limit // 2 + 8
    while True:
        units = engine.search(query, depth)
        settled = len(units) < depth or depth >= _MOST
        groups = list(_ties(units))
        if not settled:
            groups.pop()  # the last tie may go on beyond what was asked for
        hits = _hits((unit for group in groups for unit in group), store, query, limit, analyser)
        if settled or len(hits) == limit:
            return hits
        depth *= 2


def _ties(units: list[Found]) -> Iterator[list[Found]]:
    """Groups of equal scores, best first, each in the order of the collection."""
    group: list[Found] = []
    for unit in sorted(units, key=lambda unit: -unit.score):
        if group and group[-1].score - unit.score > _CLOSE * abs(group[-1].score):
            yield sorted(group, key=lambda unit: unit[1:])
            group = []
        group.append(unit)
    if group:
        yield sorted(group, key=lambda unit: unit[1:])


def _hits(ordered: Iterator[Found], store: DocumentStore, query: Query, limit: int, analyser: Analyser) -> list[Hit]:
    hits: list[Hit] = []
    for unit in ordered:
        if len(hits) == limit:
            break
        document = store.numbered(unit.document)
        if document is None:  # an engine that knows another collection
            continue
        text = document.text[unit.start : unit.start + unit.length]
        score = float(f"{unit.score:.6g}")
        hit = Hit(document.id, unit.start, len(text), text, score, document.title, (), document.markup)
        plain = hit.plain()
        marks = highlights(analyser.placed(plain.text[:_MARKED]), query)
        hit = hit._replace(highlights=tuple(plain.origin(start, end) for start, end in marks))
        if not any(_covers(better, hit) for better in hits):
            hits.append(hit)
    return hits


def _covers(better: Hit, hit: Hit) -> bool:
    """Whether two passages overlap and the better one has every match of the other."""
    if better.doc != hit.doc or better.start >= hit.start + hit.length or hit.start >= better.start + better.length:
        return False
    return all(
        better.start <= hit.start + start and hit.start + start + length <= better.start + better.length
        for start, length in hit.highlights
    )
