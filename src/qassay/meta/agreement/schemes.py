"""The labels of each kind of judgment: their order in tables, and how they fold.

Factoid and list items are judged W, R, U or X and fold into right and wrong; entailment pairs are YES, UNKNOWN or NO
and fold into entailed or not; nugget and citation support folds as the strict measures do; a nugget matches or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Scheme:
    """Labels in their order, what each folds into (itself where absent), and which of them means wrong.

    `ordinal` where the order is one of degree, so that a distance between labels has a meaning.
    """

    order: tuple[str, ...]
    fold: Mapping[str, str] = field(default_factory=dict)
    wrong: str | None = None
    ordinal: bool = False


FACTOID = Scheme(("W", "R", "U", "X"), {"X": "W", "U": "W"}, wrong="W")
ENTAILMENT = Scheme(("YES", "UNKNOWN", "NO"), {"UNKNOWN": "NO"}, ordinal=True)
SUPPORT = Scheme(("none", "partial", "full"), {"partial": "none"}, wrong="none", ordinal=True)
MATCH = Scheme(("no", "yes"), wrong="no")


def scheme_of(labels: Iterable[str]) -> Scheme:
    """The scheme that has all these labels; for labels of no known scheme, their alphabet and no folding."""
    found = set(labels)
    for scheme in (FACTOID, ENTAILMENT, SUPPORT, MATCH):
        if found and found <= set(scheme.order):
            return scheme
    return Scheme(tuple(sorted(found)))
