"""The store of a collection: where it is, when it is rebuilt, and how it is filled from the files.

The store and the indexes are a cache in a hidden folder `.qassay` beside the documents: in the evaluation's folder, or
in the folder of documents itself where there is no evaluation. So they move with it, everybody who works in it shares
them, and `rm -r .qassay` is all there is to know. Git and backup programs ignore it.

    .qassay/collection-1f0c.../     named after the names, sizes and times of all files: when one of them changes, a
        documents.db                new one is made and the old one removed
        passages-... documents-...  the indexes, named after the engine's version, each made when it is first needed
        *.complete                  marks what is finished; the rest is continued after a break

A small collection is read into memory, faster than one can ask, and nothing is written. Where the folder cannot be
written, a temporary one is used, for as long as the process lives.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from qassay.collections.documents import Progress
from qassay.collections.reading import OpenFile, files_of, kind_of, read
from qassay.collections.store import DocumentStore, DocumentWriter
from qassay.errors import InputError, Problem, Problems
from qassay.formats.links import stays_inside

# Changes when what is written changes.
VERSION = "1"
# Bytes of files up to which a collection is kept in memory.
SMALL = 16 << 20
_HIDDEN = ".qassay"
_PREFIX = "collection-"
_COMPLETE = ".complete"
_CACHE_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# Made by Qassay from the documents; may be removed.\n"


@dataclass(frozen=True)
class CollectionFolder:
    """A folder for the store and the indexes."""

    path: Path
    # Removed when the process ends.
    temporary: bool = False

    def complete(self, name: str) -> bool:
        """Whether the file or folder of this name is complete."""
        return (self.path / (name + _COMPLETE)).is_file()

    def mark_complete(self, name: str) -> None:
        """Note that the file or folder of this name is complete."""
        (self.path / (name + _COMPLETE)).touch()

    def remove(self, name: str) -> None:
        """Remove the file or folder of this name."""
        (self.path / (name + _COMPLETE)).unlink(missing_ok=True)
        target = self.path / name
        if target.is_dir():
            shutil.rmtree(target, ignore_errors=True)
        else:
            target.unlink(missing_ok=True)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Be the only process that writes here; waits for the other one.

        The lock is a transaction of SQLite: it is portable, and ends with the process that holds it, however that ends.
        """
        connection = sqlite3.connect(self.path / "lock.db", timeout=0.2, isolation_level=None)
        try:
            while True:
                try:
                    connection.execute("BEGIN EXCLUSIVE")
                    break
                except sqlite3.OperationalError as error:
                    if "locked" not in str(error):  # a file system without locks: go on, as on one's own
                        break
                    time.sleep(0.05)  # in small steps, so that an interrupt gets through
            yield
        finally:
            connection.close()


def fingerprint(folder: Path, files: Sequence[Path]) -> str:
    """The state of a collection: names, sizes and times of its files."""
    digest = hashlib.sha256(f"{VERSION}\n".encode())
    for path in files:
        status = path.stat()
        digest.update(f"{path.relative_to(folder)}\0{status.st_size}\0{status.st_mtime_ns}\n".encode(errors="replace"))
    return digest.hexdigest()[:16]


def find_place(folder: Path, mark: str) -> CollectionFolder:
    """The place for a collection in this state; a temporary one where the folder cannot be written.

    Complete files in a folder that we may only read are used as they are.
    """
    home = folder.parent if (folder.parent / "qassay.toml").is_file() else folder
    path = home / _HIDDEN / f"{_PREFIX}{mark}"
    try:
        if not stays_inside(path, home) or any(file.is_symlink() for file in path.rglob("*")):
            return _temporary(None)  # it came with the documents, and leads elsewhere
        path.mkdir(parents=True, exist_ok=True)
        for name, text in ((".gitignore", "*\n"), ("CACHEDIR.TAG", _CACHE_TAG)):
            file = home / _HIDDEN / name
            if not file.exists():
                file.write_text(text, encoding="utf-8")
        if not os.access(path, os.W_OK):
            raise PermissionError(path)
    except OSError:
        return _temporary(path)
    return CollectionFolder(path)


def _temporary(existing: Path | None) -> CollectionFolder:
    """A temporary folder with links to the existing files that are complete."""
    path = Path(tempfile.mkdtemp(prefix="qassay-"))
    if existing is None:
        return CollectionFolder(path, temporary=True)
    for mark in existing.glob(f"*{_COMPLETE}") if existing.is_dir() else ():
        source = existing / mark.name.removesuffix(_COMPLETE)
        # Links to the files, not to the folder: the engine writes its locks beside them.
        for file in [source] if source.is_file() else source.rglob("*"):
            if file.is_file() and not file.name.endswith(".lock"):
                target = path / file.relative_to(existing)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(file.resolve())
        (path / mark.name).touch()
    return CollectionFolder(path, temporary=True)


STORE = "documents.db"
_MOST_PROBLEMS = 1000
_STEP = 1 << 20


def open_store(folder: Path, progress: Progress | None) -> tuple[DocumentStore, CollectionFolder | None, str]:
    """The store of a folder, built if it does not exist yet; its place, if any; and the collection's fingerprint."""
    if not folder.is_dir():
        fault = "is not a folder" if folder.exists() else "does not exist"
        raise InputError(Problem("configuration", f"{fault}; a collection is a folder of documents", str(folder)))
    files = files_of(folder)
    mark = fingerprint(folder, files)
    if sum(path.stat().st_size for path in files) <= SMALL:
        in_memory = DocumentStore()
        _fill(in_memory, folder, files, progress)
        return in_memory, None, mark
    place = find_place(folder, mark)
    store = _existing(place)
    return _build(place, folder, files, progress) if store is None else store, place, mark


def _existing(place: CollectionFolder) -> DocumentStore | None:
    """The existing store, if it is complete and sound."""
    if not place.complete(STORE):
        return None
    try:
        store = DocumentStore(place.path / STORE, read_only=True)
        len(store)
    except sqlite3.Error:
        place.remove(STORE)
        return None
    return store


def _build(place: CollectionFolder, folder: Path, files: Sequence[Path], progress: Progress | None) -> DocumentStore:
    try:
        with place.lock():
            store = _existing(place)  # made by another process while we waited
            if store is not None:
                return store
            store = DocumentStore(place.path / STORE)
            try:
                _fill(store, folder, files, progress)
            finally:
                store.close()
            place.mark_complete(STORE)
            # Remove the files of earlier states of the collection. Another process may still read them: where files in
            # use cannot be removed, the next build removes them.
            for other in place.path.parent.glob(f"{_PREFIX}*") if not place.temporary else ():
                if other != place.path:
                    shutil.rmtree(other, ignore_errors=True)
    except sqlite3.Error as error:
        raise InputError(Problem("configuration", f"cannot be written: {error}", str(place.path))) from None
    return DocumentStore(place.path / STORE, read_only=True)


def _fill(store: DocumentStore, folder: Path, files: Sequence[Path], progress: Progress | None) -> None:
    """Read all files that are not yet in the store; all faults are reported, and no faulty file is kept."""
    problems = Problems()
    writer = DocumentWriter(store)
    total = sum(path.stat().st_size for path in files)
    before = shown = 0  # bytes of the files read to their end, and what was last reported

    def show(position: int, step: int = _STEP) -> None:
        nonlocal shown
        if progress is not None and before + position >= shown + step:
            shown = before + position
            progress(shown, total)

    begun = store.files()
    for number, path in enumerate(files):
        name = str(Path(folder.name or str(folder), path.relative_to(folder)))
        if number >= begun:
            _take(OpenFile(path, name), folder, writer, problems, show)
        before += path.stat().st_size
        show(0, 0 if before == total else _STEP)
        if problems.total + writer.twice.total > _MOST_PROBLEMS:
            break
    writer.flush()
    problems += writer.twice
    if problems:
        raise InputError(problems)
    writer.commit()


def _take(
    source: OpenFile, folder: Path, writer: DocumentWriter, problems: Problems, show: Callable[[int], None]
) -> None:
    """Read one file into the store."""
    try:
        kind = kind_of(source)
    except InputError as error:
        problems.extend(error.problems)
        return
    writer.begin(source.name, skipped=kind is None)
    if kind is not None:
        for row in read(source, kind, folder, problems):
            writer.add(row.document, row.line)
            show(source.bytes_read)
    if not problems:  # else the file must be read again the next time, so that its faults are found again
        writer.end()
