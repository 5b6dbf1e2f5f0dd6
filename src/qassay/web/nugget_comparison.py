"""Several assessors' nuggets of one question side by side: which say the same, in which words, and which stand alone.

It is a help for the eye. What is adopted is one whole list, as its assessor wrote it.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Container, Mapping, Sequence
from typing import Any, Literal

from scipy import sparse

from qassay.web.routing import Context
from qassay.web.similar_strings import term_vectors, terms

# Nuggets of two lists correspond from this cosine on: most of what they say, by its words, is the same.
CORRESPONDS = 0.5
# Beyond so many nuggets only equal ones correspond, and beyond so many words a text differs as a whole: files may hold
# anything, and both take time that grows with the square.
MOST_NUGGETS = 2_000
MOST_WORDS = 400
_EDGES = re.compile(r"^\W+|\W+$")

# In all lists and the same; in all of them with other words or another importance; not in all of them.
Likeness = Literal["same", "differs", "missing"]


class Words(Context):
    """A part of a nugget, and whether it stands so in this list only."""

    text: str
    differs: bool


class NuggetCell(Context):
    """One assessor's wording: `place` is where it stands on the list (from 0)."""

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
    counts = [_responses(verdict["responses"]) for verdict in verdicts]
    rows = []
    for places in corresponding([[_text(one) for one in nuggets] for nuggets in lists]):
        found = [None if at is None else lists[i][at] for i, at in enumerate(places)]
        marked = differences([None if one is None else _text(one) for one in found])
        cells = [
            None
            if one is None
            else NuggetCell(
                place=places[i] or 0,
                words=marked[i],
                vital=bool(one.get("vital")),
                responses=counts[i].get(str(one["nugget"]), 0),
            )
            for i, one in enumerate(found)
        ]
        rows.append(NuggetRow(likeness=_likeness(cells), cells=cells))
    return rows


def corresponding(lists: Sequence[Sequence[str]]) -> list[list[int | None]]:
    """Rows of places in the lists whose texts say the same, by their words: the most alike meet first, each once.

    >>> corresponding([["won a prize", "was born"], ["born in Warsaw", "discovered radium", "she won a prize"]])
    [[0, 2], [1, 0], [None, 1]]
    """
    where = [(i, at) for i, texts in enumerate(lists) for at in range(len(texts))]
    rows = {one: {one[0]: one[1]} for one in where}
    for first, second in _alike([lists[i][at] for i, at in where], where):
        one, other = rows[where[first]], rows[where[second]]
        if one is not other and not one.keys() & other.keys():
            one |= other
            rows |= dict.fromkeys(other.items(), one)
    distinct = {id(row): row for row in rows.values()}.values()
    return [[row.get(i) for i in range(len(lists))] for row in distinct]


def differences(texts: Sequence[str | None]) -> list[list[Words]]:
    """Each text in parts: marked are the words that not all of the others have. Case and punctuation do not count.

    >>> [[(one.text, one.differs) for one in text] for text in differences(["Won a prize.", "won a Nobel prize"])]
    [[('Won a prize.', False)], [('won a ', False), ('Nobel ', True), ('prize', False)]]
    """
    split = [re.findall(r"\s*\S+\s*", text or "") for text in texts]
    plain = [[_EDGES.sub("", one.strip()).casefold() or one.strip() for one in words] for words in split]
    present = [i for i, text in enumerate(texts) if text is not None]
    found = []
    for i, words in enumerate(split):
        shared = [True] * len(words)
        for other in present:
            held = _held(plain[i], plain[other]) if other != i else range(len(words))
            shared = [both and place in held for place, both in enumerate(shared)]
        parts = itertools.groupby(zip(words, shared, strict=True), key=lambda one: one[1])
        found.append([Words(text="".join(word for word, _ in some), differs=not same) for same, some in parts])
    return found


def _held(words: Sequence[str], other: Sequence[str]) -> Container[int]:
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
    found = [terms(text) or frozenset(text.casefold().split()) for text in texts]
    if len(texts) > MOST_NUGGETS:
        found = [frozenset((text,)) for text in texts]
    vectors = term_vectors(found)
    likeness = sparse.triu(vectors @ vectors.T, 1).tocoo()
    pairs = [
        (texts[i] != texts[j], -round(float(value), 9), int(i), int(j))
        for i, j, value in zip(likeness.row, likeness.col, likeness.data, strict=True)
        if value >= CORRESPONDS and where[i][0] != where[j][0]
    ]
    return [(i, j) for _, _, i, j in sorted(pairs)]


def _text(nugget: Mapping[str, Any]) -> str:
    """What a nugget says; lists from files may have nothing but its id."""
    return str(nugget.get("text") or f"nugget {nugget['nugget']}")


def _likeness(cells: Sequence[NuggetCell | None]) -> Likeness:
    there = [cell for cell in cells if cell is not None]
    if len(there) < len(cells):
        return "missing"
    same_words = not any(part.differs for cell in there for part in cell.words)
    return "same" if same_words and len({cell.vital for cell in there}) == 1 else "differs"


def _responses(said: Mapping[str, Mapping[str, str]]) -> dict[str, int]:
    """In how many responses each nugget was found."""
    found: dict[str, int] = {}
    for supports in said.values():
        for nugget, support in supports.items():
            if support != "none":
                found[nugget] = found.get(nugget, 0) + 1
    return found
