"""What a collection hands out, and what it hands to a search engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple, Protocol

from qassay.collections.markup import Markup, Plain, plain
from qassay.collections.query import Query

# Called with (done, total): bytes while files are read, documents while they are indexed.
Progress = Callable[[int, int], None]
# What an index ranks.
UnitKind = Literal["passages", "documents"]


class Document(NamedTuple):
    """A doc-id and the text that offsets of extracts count in, markup included."""

    id: str
    text: str
    title: str | None = None
    markup: Markup = "none"

    def plain(self) -> Plain:
        """The text as a reader sees it, with the way back to the offsets of `text`."""
        return plain(self.text, self.markup)


class Hit(NamedTuple):
    """A passage, or a whole document, that was found: `text` is `document.text[start : start + length]`."""

    doc: str
    start: int
    length: int
    text: str
    score: float
    title: str | None = None
    # (start, length) of every word that matched, counted in `text`.
    highlights: tuple[tuple[int, int], ...] = ()
    markup: Markup = "none"

    def plain(self) -> Plain:
        """The text as a reader sees it, with the way back to the offsets of `text`."""
        return plain(self.text, self.markup)


class Unit(NamedTuple):
    """What an engine indexes: a stretch of a document, as plain text."""

    # Place of the document in the collection, from 0; `start` and `length` count in its stored text.
    document: int
    start: int
    length: int
    text: str
    title: str | None


class Found(NamedTuple):
    """What an engine finds: where, and how well it matches."""

    score: float
    document: int
    start: int
    length: int


class Engine(Protocol):
    """A search engine behind a collection: everything that Qassay needs of one.

    Units come in the order of the collection, all of a document in one `add`. What `commit` has confirmed survives a
    break; `done` tells from where to go on.
    """

    def done(self) -> int:
        """How many documents, from the first one on, need not be added again."""

    def add(self, units: Iterable[Unit]) -> None:
        """Take all units of the next document."""

    def commit(self) -> None:
        """Make everything taken so far last."""

    def finish(self) -> None:
        """Commit; nothing more is added."""

    def search(self, query: Query, limit: int) -> list[Found]:
        """The best units, best first; ties in any order. `query` has something to look for."""
