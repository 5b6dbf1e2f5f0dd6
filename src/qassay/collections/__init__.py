"""The documents that answers come from: read once, found by doc-id, searched.

    files --reading--> Document --store--> the store --passages--> Unit --engine--> the index
                                              |                                        |
                             document(), lengths(), iteration            search() --> Hit

`open_collection` reads a folder of documents (JSON lines, TREC SGML, text, HTML). The store keeps every text,
compressed, with its doc-id, length and place; an index is made when something is first searched for. Both are a
cache: see `building` for where it is and when it is rebuilt.
"""

from __future__ import annotations

import os
import shutil
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Self

from qassay.collections.building import CollectionFolder, open_store
from qassay.collections.documents import Document, Hit, Progress, UnitKind, units
from qassay.collections.search import Analyser, Engine, best_hits, parse
from qassay.collections.store import DocumentStore
from qassay.errors import InputError, Problem
from qassay.extras import require

__all__ = ["Collection", "Document", "Hit", "open_collection"]

# Characters of text after which an index is committed: so much is lost by a break.
_COMMIT = 256 << 20
_STEP = 500


def open_collection(folder: Path | str, *, progress: Progress | None = None, server: str | None = None) -> Collection:
    """The collection in a folder: the `collection/` of an evaluation, or any folder of documents.

    Everything is read (once: see `building`), so that faults show here: all of them in one InputError. `progress` is
    called with the bytes read and, at the first search, with the documents indexed. With `server`, or the variable
    QASSAY_OPENSEARCH, the URL of an OpenSearch or Elasticsearch server, that one searches.
    """
    path = Path(folder)
    store, place, mark = open_store(path, progress)
    return Collection(path, store, place, mark, progress=progress, server=server or os.environ.get("QASSAY_OPENSEARCH"))


class Collection:
    """The documents of a folder. Made by `open_collection`; any thread may use it, and copies reopen the folder."""

    def __init__(
        self,
        folder: Path,
        store: DocumentStore,
        place: CollectionFolder | None,
        mark: str,
        *,
        progress: Progress | None,
        server: str | None,
    ) -> None:
        self.folder = folder
        self._store, self._place, self._mark = store, place, mark
        self._progress, self._server = progress, server
        self._engines: dict[UnitKind, Engine] = {}
        self._lock = threading.Lock()
        if place is not None and place.temporary:
            weakref.finalize(self, shutil.rmtree, place.path, ignore_errors=True)

    def __len__(self) -> int:
        return len(self._store)

    def __iter__(self) -> Iterator[Document]:
        return (document for _, document in self._store.iterate())

    def __contains__(self, doc_id: object) -> bool:
        return doc_id in self._store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[object, ...]:
        return partial(open_collection, self.folder, server=self._server), ()

    def __repr__(self) -> str:
        return f"<Collection {str(self.folder)!r}>"

    def document(self, doc_id: str) -> Document:
        """The document with this doc-id; a KeyError where there is none."""
        document = self._store.document(doc_id)
        if document is None:
            raise KeyError(doc_id)
        return document

    def titles(self, doc_ids: Iterable[str]) -> dict[str, str]:
        """The titles of some documents by their doc-ids, where they have one; no text is read."""
        return self._store.titles(list(doc_ids))

    def lengths(self) -> Mapping[str, int]:
        """Characters of every document, in the order of the collection."""
        return self._store.lengths()

    def place(self, doc_id: str) -> str:
        """File and line of a document."""
        place = self._store.place(doc_id)
        if place is None:
            raise KeyError(doc_id)
        return place

    @property
    def skipped(self) -> tuple[str, ...]:
        """Files in the folder that are not documents of a known kind."""
        return self._store.skipped()

    def search(self, query: str, *, limit: int = 10, passages: bool = True) -> list[Hit]:
        """The passages (or whole documents) that match best, best first; the index is built if it does not exist yet.

        Any string is a query; `search` explains its form. A hit's text is that of the document, markup included:
        `hit.text == document.text[hit.start : hit.start + hit.length]`; `hit.plain()` is without.
        """
        parsed = parse(query, _analyser())
        if parsed.empty or limit < 1:
            return []
        engine = self._engine("passages" if passages else "documents")
        return best_hits(engine, self._store, parsed, limit, _analyser())

    def index(self, *, passages: bool = True) -> None:
        """Make the index now, rather than at the first search."""
        self._engine("passages" if passages else "documents")

    def close(self) -> None:
        """Let go of files; nothing can be asked afterwards."""
        self._engines.clear()
        self._store.close()

    def _engine(self, kind: UnitKind) -> Engine:
        with self._lock:
            if kind not in self._engines:
                self._engines[kind] = self._opened(kind)
            return self._engines[kind]

    def _opened(self, kind: UnitKind) -> Engine:
        """The index on the server, in memory, or in its place: made to its end where it is not yet complete."""
        if self._server:
            from qassay.collections.opensearch import OpenSearchEngine

            return self._filled(OpenSearchEngine(self._server, f"qassay-{self._mark}-{kind}"), kind)
        from qassay.collections.tantivy_engine import TantivyEngine

        place = self._place
        if place is None:
            return self._filled(TantivyEngine(None, _analyser()), kind)
        from importlib.metadata import version

        name = f"{kind}-{version('tantivy')}"
        path = place.path / name
        try:
            if place.complete(name):
                with suppress(ValueError):  # what the engine raises for everything; a broken index is rebuilt
                    return TantivyEngine(path, _analyser())
                place.remove(name)
            place.path.mkdir(parents=True, exist_ok=True)
            with place.lock():
                if not place.complete(name):
                    self._filled(TantivyEngine(path, _analyser()), kind)
                    place.mark_complete(name)
            return TantivyEngine(path, _analyser())
        except (ValueError, OSError) as error:
            raise InputError(Problem("configuration", f"cannot be indexed: {error}", str(path))) from None

    def _filled(self, engine: Engine, kind: UnitKind) -> Engine:
        """Index the documents that are not in the index yet."""
        total, waiting = len(self._store), 0
        for number, document in self._store.iterate(engine.done()):
            engine.add(units(number, document, kind))
            waiting += len(document.text)
            if waiting >= _COMMIT:
                engine.commit()
                waiting = 0
            if self._progress is not None and (number + 1) % _STEP == 0:
                self._progress(number + 1, total)
        engine.finish()
        if self._progress is not None:
            self._progress(total, total)
        return engine


@cache
def _analyser() -> Analyser:
    require("search", "searching documents")
    return Analyser()
