"""A system of one's own, built on a reference system: the same answers with other boundaries.

    qassay run my-eval --system "boundaries:wide()" --tag wide
    qassay run my-eval --system "boundaries:narrow()" --tag narrow

`wide` takes in a word on either side of an answer, `narrow` keeps only its last word. Whether such strings are exact is
a matter of opinion, which makes them good material for comparing assessors.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from qassay.collections import Collection
from qassay.systems import Answer, Asked, Item, System, make_reference


def wide(collection: Collection) -> System:
    """Every factoid answer with the word before it and the word after it, as they are in its document."""

    def around(item: Item) -> Item:
        text = collection.document(item.doc).text if item.doc else ""
        found = re.search(rf"(?:\S+\s+)?{re.escape(item.text)}(?:\s+\S+)?", text)
        return replace(item, text=found.group() if found else item.text)

    return _changed(make_reference("series(other=definition(limit=6))", collection), around)


def narrow(collection: Collection) -> System:
    """Only the last word of every factoid answer."""

    def last(item: Item) -> Item:
        return replace(item, text=item.text.split()[-1])

    return _changed(make_reference("series(factoid=factoid(passages=10), list=list(limit=3))", collection), last)


def _changed(system: System, change: Callable[[Item], Item]) -> System:
    """The system with its factoid answers changed; all others stay."""

    def answer(asked: Asked) -> Answer:
        given = system(asked)
        if asked.question.type != "factoid":
            return given
        return replace(given, items=tuple(change(item) for item in given.items))

    return answer
