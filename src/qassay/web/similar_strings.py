"""Strings that say similar things, together: an order that depends on the strings alone, and so tells of no run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from scipy import sparse

from qassay.systems.text import content_words, stem

# A string joins a group from this cosine with the group's sum on.
JOINS = 0.3
# A nugget is like a string that holds this share of its words.
LIKE = 0.5
# Beyond this many strings only their alphabetical order is given: grouping takes time that grows with the square.
MOST = 6_000


def terms(text: str) -> frozenset[str]:
    """The words of a string that tell something, without their endings."""
    return frozenset(stem(word) for word in content_words(text[:20_000]))


def is_like(nugget: str, string: str) -> bool:
    """Whether a string holds at least half of what a nugget says, by its words.

    >>> is_like("discovered radium", "She announced the discovery of radium.")
    True
    """
    wanted = terms(nugget)
    return bool(wanted) and len(wanted & terms(string)) >= LIKE * len(wanted)


def grouped(strings: Iterable[str]) -> list[list[str]]:
    """Each string once, in groups of similar ones.

    >>> grouped(["won a prize", "was born in Warsaw", "the prize that she won", "born: Warsaw"])
    [['born: Warsaw', 'was born in Warsaw'], ['the prize that she won', 'won a prize']]
    """
    distinct = sorted(set(strings), key=lambda one: (" ".join(sorted(terms(one))), one))
    if len(distinct) > MOST or not distinct:
        return [[one] for one in distinct]
    vectors = term_vectors([terms(one) for one in distinct])
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
        groups.append([distinct[one] for one in members])
    return groups


def term_vectors(found: Sequence[frozenset[str]]) -> sparse.csr_array:
    """One row of length 1 for each string: its terms, rare ones weighing more."""
    spread = Counter(term for one in found for term in one)
    places = {term: place for place, term in enumerate(sorted(spread))}
    rows, columns, weights = [], [], []
    for row, one in enumerate(found):
        weighed = {term: math.log(1 + len(found) / spread[term]) for term in one}
        length = math.sqrt(sum(weight**2 for weight in weighed.values()))
        for term in sorted(one):
            rows.append(row)
            columns.append(places[term])
            weights.append(weighed[term] / length)
    return sparse.csr_array((weights, (rows, columns)), shape=(len(found), max(len(places), 1)))
