"""Every document with its doc-id, length and place, and its text: one SQLite file, or one in memory.

Texts are packed in frames of some twenty documents: small enough to fetch one document from, large enough to pack
well. The same for every format, packed or not: what was read once is never parsed again.
"""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import zstandard

from qassay.collections.documents import Document, Markup
from qassay.errors import Problem, Problems

_FRAME = 1 << 15
_MOST_ROWS = 4096  # in a frame: texts may be empty
_BATCH = 64  # frames after which a file's end ends a transaction
_TABLES = """
CREATE TABLE IF NOT EXISTS files (file INTEGER PRIMARY KEY, name TEXT, skipped INTEGER);
CREATE TABLE IF NOT EXISTS frames (frame INTEGER PRIMARY KEY, data BLOB);
CREATE TABLE IF NOT EXISTS documents (
    number INTEGER PRIMARY KEY, id TEXT UNIQUE, title TEXT, markup TEXT, length INTEGER,
    file INTEGER, line INTEGER, frame INTEGER, start INTEGER, size INTEGER
);
"""
_COLUMNS = "number, id, title, markup, frame, start, size"


class DocumentStore:
    """Documents on disk (or in memory, without a path), in the order of the collection; read by any thread."""

    def __init__(self, path: Path | None = None, *, read_only: bool = False) -> None:
        if path is None:
            name = ":memory:"
        elif read_only:
            name = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        else:
            name = path.resolve().as_uri()
        self._connection = sqlite3.connect(
            name, uri=path is not None, check_same_thread=False, isolation_level=None, cached_statements=64
        )
        self._lock = threading.Lock()
        self.close = weakref.finalize(self, self._connection.close)
        if not read_only:
            self._connection.executescript("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536;" + _TABLES)
        self._frame = lru_cache(maxsize=64)(self._fetch_frame)

    def __len__(self) -> int:
        return int(self._rows("SELECT COALESCE(MAX(number) + 1, 0) FROM documents")[0][0])

    def __contains__(self, doc_id: object) -> bool:
        if not isinstance(doc_id, str) or not _storable(doc_id):
            return False
        return bool(self._rows("SELECT 1 FROM documents WHERE id = ?", (doc_id,)))

    def document(self, doc_id: str) -> Document | None:
        """The document with this doc-id."""
        if not _storable(doc_id):
            return None
        rows = self._rows(f"SELECT {_COLUMNS} FROM documents WHERE id = ?", (doc_id,))  # noqa: S608
        return self._unpack(rows[0]) if rows else None

    def titles(self, doc_ids: Collection[str]) -> dict[str, str]:
        """The titles of the documents that have one."""
        wanted, step = [doc_id for doc_id in dict.fromkeys(doc_ids) if _storable(doc_id)], 500
        titles: dict[str, str] = {}
        for begin in range(0, len(wanted), step):
            part = wanted[begin : begin + step]
            places = ", ".join("?" * len(part))
            query = f"SELECT id, title FROM documents WHERE id IN ({places}) AND title <> ''"  # noqa: S608
            titles.update(self._rows(query, part))
        return titles

    def numbered(self, number: int) -> Document | None:
        """The document with this number."""
        rows = self._rows(f"SELECT {_COLUMNS} FROM documents WHERE number = ?", (number,))  # noqa: S608
        return self._unpack(rows[0]) if rows else None

    def iterate(self, begin: int = 0) -> Iterator[tuple[int, Document]]:
        """All documents from a number on, with their numbers, in order."""
        step = 256
        while rows := self._rows(
            f"SELECT {_COLUMNS} FROM documents WHERE number >= ? ORDER BY number LIMIT {step}",  # noqa: S608
            (begin,),
        ):
            for row in rows:
                yield row[0], self._unpack(row)
            begin = rows[-1][0] + 1

    def lengths(self) -> dict[str, int]:
        """Characters of every document."""
        return dict(self._rows("SELECT id, length FROM documents ORDER BY number"))

    def place(self, doc_id: str) -> str | None:
        """File and line of a document."""
        rows = self._rows("SELECT name || ':' || line FROM documents JOIN files USING (file) WHERE id = ?", (doc_id,))
        return str(rows[0][0]) if rows else None

    def files(self) -> int:
        """How many files were read to their end."""
        return int(self._rows("SELECT COUNT(*) FROM files")[0][0])

    def skipped(self) -> tuple[str, ...]:
        """Files that are not documents of a known kind."""
        return tuple(row[0] for row in self._rows("SELECT name FROM files WHERE skipped ORDER BY file"))

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._lock:
            return self._connection.execute(statement, values).fetchall()

    def _fetch_frame(self, number: int) -> bytes:
        data = self._rows("SELECT data FROM frames WHERE frame = ?", (number,))[0][0]
        return zstandard.ZstdDecompressor().decompress(data)

    def _unpack(self, row: Sequence[Any]) -> Document:
        _, doc_id, title, markup, frame, start, size = row
        form: Markup = markup
        return Document(doc_id, self._frame(frame)[start : start + size].decode("utf-8"), title, form)


class DocumentWriter:
    """Adds the documents of one file after the other; after a break, each file is there as a whole or not at all."""

    def __init__(self, store: DocumentStore) -> None:
        self._store = store
        self._connection = store._connection
        self._packer = zstandard.ZstdCompressor(level=3)
        self._rows: list[tuple[Any, ...]] = []
        self._texts: list[bytes] = []
        self._size = self._file = self._waiting = 0
        (self._frames,) = self._connection.execute("SELECT COALESCE(MAX(frame) + 1, 0) FROM frames").fetchone()
        self._number = len(store)
        # One problem for each doc-id that was there before.
        self.twice = Problems()
        self._connection.execute("BEGIN IMMEDIATE")

    def begin(self, name: str, *, skipped: bool = False) -> None:
        """Begin a file; a skipped one has no documents."""
        row = self._connection.execute("INSERT INTO files (name, skipped) VALUES (?, ?)", (name, skipped))
        self._file = row.lastrowid or 0

    def add(self, document: Document, line: int) -> None:
        """Take the next document of the file."""
        data = document.text.encode("utf-8")
        self._rows.append(
            (
                *(self._number, document.id, document.title, document.markup, len(document.text)),
                *(self._file, line, self._frames, self._size, len(data)),
            )
        )
        self._texts.append(data)
        self._size += len(data)
        self._number += 1
        if self._size >= _FRAME or len(self._rows) >= _MOST_ROWS:
            self.flush()

    def end(self) -> None:
        """The file was read to its end; now and then, everything up to here is made to last."""
        if self._waiting >= _BATCH:
            self.flush()
            if not self.twice:
                self.commit()
                self._connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Make everything last."""
        self.flush()
        self._connection.execute("COMMIT")
        self._waiting = 0

    def flush(self) -> None:
        """Hand everything to the database; doc-ids that are there already show in `twice`."""
        if not self._rows:
            return
        packed = self._packer.compress(b"".join(self._texts))
        self._connection.execute("INSERT INTO frames VALUES (?, ?)", (self._frames, packed))
        statement = "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        try:
            self._connection.executemany(statement, self._rows)
        except sqlite3.IntegrityError:
            self._connection.execute("DELETE FROM documents WHERE number >= ?", (self._rows[0][0],))
            self._insert_singly(statement)
        self._rows, self._texts, self._size = [], [], 0
        self._frames += 1
        self._waiting += 1

    def _insert_singly(self, statement: str) -> None:
        for row in self._rows:
            try:
                self._connection.execute(statement, row)
            except sqlite3.IntegrityError:
                name, number, line = row[1], row[5], row[6]
                (file,) = self._connection.execute("SELECT name FROM files WHERE file = ?", (number,)).fetchone()
                first = self._store.place(name) or "elsewhere"
                message = f"document {name} is there twice: in {first} and in {file}:{line}"
                self.twice.append(Problem("syntax", message, file, line))


def _storable(text: str) -> bool:
    """Whether a string can be in the store at all: half a surrogate pair cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
