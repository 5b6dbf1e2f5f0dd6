"""Strings that say similar things, together: an order that depends on the strings alone, and so reveals no run.

Also the nuggets of several assessors side by side: which say the same, in which words, and which only one has. It is a
help for the eye. What is adopted is one whole list, as its assessor wrote it.
"""

from __future__ import annotations

import difflib
import itertools
import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from scipy import sparse

from qassay.systems.text import content_words, stem
from qassay.web.routing import Context

# A string joins a group from this cosine with the group's sum on.
JOINS = 0.3
# A nugget is like a string that contains this part of its words.
LIKE = 0.5
# Beyond this many strings, characters of them all, or words times strings, only their order is given: grouping takes
# time that grows with the square, and the strings are other people's.
MOST = 6_000
MOST_CHARACTERS = 5_000_000
MOST_STEPS = 1_000_000_000
# Nuggets of two lists correspond from this cosine on: most of what they say, by its words, is the same.
CORRESPONDS = 0.5
# Beyond this many nuggets only equal ones correspond, and beyond this many words a text differs as a whole: files may
# have anything, and both take time that grows with the square.
MOST_NUGGETS = 2_000
MOST_WORDS = 400
_EDGES = re.compile(r"^\W+|\W+$")

# In all lists and the same; in all of them with other words or another importance; not in all of them.
Likeness = Literal["same", "differs", "missing"]


def terms(text: str) -> frozenset[str]:
    """The words of a string that carry its meaning, without their endings."""
    return frozenset(stem(word) for word in content_words(text[:20_000]))


def is_like(nugget: str, string: str) -> bool:
    """Whether a string contains at least half of the words of a nugget.

    >>> is_like("discovered radium", "She announced the discovery of radium.")
    True
    """
    nugget_terms = terms(nugget)
    return bool(nugget_terms) and len(nugget_terms & terms(string)) >= LIKE * len(nugget_terms)


def grouped(strings: Iterable[str]) -> list[list[str]]:
    """Each string once, in groups of similar ones.

    >>> grouped(["won a prize", "was born in Warsaw", "the prize that she won", "born: Warsaw"])
    [['born: Warsaw', 'was born in Warsaw'], ['the prize that she won', 'won a prize']]
    """
    distinct = sorted(set(strings))
    if not distinct or len(distinct) > MOST or sum(map(len, distinct)) > MOST_CHARACTERS:
        return [[string] for string in distinct]
    terms_of = {string: terms(string) for string in distinct}
    distinct.sort(key=lambda string: (" ".join(sorted(terms_of[string])), string))
    vectors = term_vectors([terms_of[string] for string in distinct])
    if len(distinct) * vectors.nnz > MOST_STEPS:
        return [[string] for string in distinct]
    free = np.ones(len(distinct), dtype=bool)
    groups: list[list[str]] = []
    for first in range(len(distinct)):
        if not free[first]:
            continue
        free[first] = False
        members = [first]
        total = vectors[[first]].toarray().ravel()
        while free.any() and (length := float(np.linalg.norm(total))):
            likeness = np.where(free, vectors @ total, -1.0) / length
            nearest = int(likeness.argmax())
            if likeness[nearest] < JOINS:
                break
            free[nearest] = False
            members.append(nearest)
            total = total + vectors[[nearest]].toarray().ravel()
        groups.append([distinct[member] for member in members])
    return groups


def term_vectors(strings: Sequence[frozenset[str]]) -> sparse.csr_array:
    """One row of length 1 for each string: its terms, rare ones weighing more."""
    spread = Counter(term for string in strings for term in string)
    places = {term: place for place, term in enumerate(sorted(spread))}
    rows, columns, weights = [], [], []
    for row, string in enumerate(strings):
        weighed = {term: math.log(1 + len(strings) / spread[term]) for term in string}
        length = math.sqrt(sum(weight**2 for weight in weighed.values()))
        for term in sorted(string):
            rows.append(row)
            columns.append(places[term])
            weights.append(weighed[term] / length)
    return sparse.csr_array((weights, (rows, columns)), shape=(len(strings), max(len(places), 1)))


# ---- lists of nuggets side by side -----------------------------------------------------------------------------------


class Words(Context):
    """A part of a nugget, and whether it is in this list only."""

    text: str
    differs: bool


class NuggetCell(Context):
    """One assessor's wording: `place` is its place on the list (from 0)."""

    place: int
    words: list[Words]
    vital: bool
    responses: int


class NuggetRow(Context):
    """Nuggets that correspond, one cell for each list; None where a list has none."""

    likeness: Likeness
    cells: list[NuggetCell | None]


def compared(verdicts: Sequence[Mapping[str, Any]]) -> list[NuggetRow]:
    """The lists of a disagreement on lists, row by row: in the order of the first, then what it lacks."""
    lists = [verdict["list"] for verdict in verdicts]
    # In how many responses each nugget was found.
    counts = [
        Counter(nugget for row in verdict["responses"].values() for nugget, support in row.items() if support != "none")
        for verdict in verdicts
    ]
    rows = []
    for places in corresponding([[_text(nugget) for nugget in nuggets] for nuggets in lists]):
        marked = differences([None if at is None else _text(lists[i][at]) for i, at in enumerate(places)])
        cells: list[NuggetCell | None] = [None] * len(lists)
        for i, at in enumerate(places):
            if at is not None:
                nugget, count = lists[i][at], counts[i][str(lists[i][at]["nugget"])]
                cells[i] = NuggetCell(place=at, words=marked[i], vital=bool(nugget.get("vital")), responses=count)
        rows.append(NuggetRow(likeness=_likeness(cells), cells=cells))
    return rows


def corresponding(lists: Sequence[Sequence[str]]) -> list[list[int | None]]:
    """Rows of places in the lists whose texts say the same, by their words: the most alike meet first, each once.

    >>> corresponding([["won a prize", "was born"], ["born in Warsaw", "discovered radium", "she won a prize"]])
    [[0, 2], [1, 0], [None, 1]]
    """
    where = [(i, at) for i, texts in enumerate(lists) for at in range(len(texts))]
    rows = {(i, at): {i: at} for i, at in where}
    for first, second in _alike([lists[i][at] for i, at in where], where):
        row, other = rows[where[first]], rows[where[second]]
        if row is not other and not row.keys() & other.keys():
            row |= other
            rows |= dict.fromkeys(other.items(), row)
    distinct = {id(row): row for row in rows.values()}.values()
    return [[row.get(i) for i in range(len(lists))] for row in distinct]


def differences(texts: Sequence[str | None]) -> list[list[Words]]:
    """Each text in parts: marked are the words that not all of the others have. Case and punctuation do not count.

    >>> [[(part.text, part.differs) for part in text] for text in differences(["Won a prize.", "won a Nobel prize"])]
    [[('Won a prize.', False)], [('won a ', False), ('Nobel ', True), ('prize', False)]]
    """
    split = [re.findall(r"\s*\S+\s*", text or "") for text in texts]
    plain = [[_EDGES.sub("", word.strip()).casefold() or word.strip() for word in words] for words in split]
    present = [i for i, text in enumerate(texts) if text is not None]
    marked = []
    for i, words in enumerate(split):
        shared = [True] * len(words)
        for other in present:
            places = _shared_places(plain[i], plain[other])
            shared = [both and place in places for place, both in enumerate(shared)]
        parts = itertools.groupby(zip(words, shared, strict=True), key=lambda pair: pair[1])
        marked.append([Words(text="".join(word for word, _ in pairs), differs=not same) for same, pairs in parts])
    return marked


def _shared_places(words: Sequence[str], other: Sequence[str]) -> Container[int]:
    """The places of the words that the other text has too, in the same order."""
    if words == other:
        return range(len(words))
    if max(len(words), len(other)) > MOST_WORDS:
        return ()
    blocks = difflib.SequenceMatcher(None, words, other, autojunk=False).get_matching_blocks()
    return {place for block in blocks for place in range(block.a, block.a + block.size)}


def _alike(texts: Sequence[str], where: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pairs of texts of different lists that are alike, the most alike first."""
    if not texts:
        return []
    # Words that say nothing count where a text has no others.
    words = [terms(text) or frozenset(text.casefold().split()) for text in texts]
    if len(texts) > MOST_NUGGETS:
        words = [frozenset((text,)) for text in texts]
    vectors = term_vectors(words)
    likeness = sparse.triu(vectors @ vectors.T, 1).tocoo()
    pairs = [
        (texts[i] != texts[j], -round(float(value), 9), int(i), int(j))
        for i, j, value in zip(likeness.row, likeness.col, likeness.data, strict=True)
        if value >= CORRESPONDS and where[i][0] != where[j][0]
    ]
    return [(i, j) for _, _, i, j in sorted(pairs)]


def _text(nugget: Mapping[str, Any]) -> str:
    """The text of a nugget; lists from files may have only its id."""
    return str(nugget.get("text") or f"nugget {nugget['nugget']}")


def _likeness(cells: Sequence[NuggetCell | None]) -> Likeness:
    present = [cell for cell in cells if cell is not None]
    if len(present) < len(cells):
        return "missing"
    same_words = not any(part.differs for cell in present for part in cell.words)
    return "same" if same_words and len({cell.vital for cell in present}) == 1 else "differs"
