"""Where the store and the indexes of a collection stand, and when they are made anew.

They are a cache in a hidden folder `.qassay` beside the documents: in the evaluation's folder, or in the folder of
documents itself where there is no evaluation. So they move with it, everybody who works in it shares them, and
`rm -r .qassay` is all there is to know. Git and backup programs are told to pass over it.

    .qassay/collection-1f0c.../     named after the names, sizes and times of all files: when one of them changes, a
        documents.db                new one is made and the old one removed
        passages-... documents-...  the indexes, named after the engine's version, each made when it is first needed
        *.complete                  marks what is finished; the rest is gone on with after a break

A small collection is read into memory, faster than one can ask, and nothing is written. Where the folder cannot be
written, a temporary one stands in, for as long as the process lives.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# Changes when what is written changes.
VERSION = "1"
# Bytes of files up to which a collection is kept in memory.
SMALL = 16 << 20
_HIDDEN = ".qassay"
_PREFIX = "collection-"
_COMPLETE = ".complete"
_CACHE_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# Made by Qassay from the documents; may be removed.\n"


@dataclass(frozen=True)
class Place:
    """A folder for the store and the indexes."""

    path: Path
    # Removed when the process ends.
    temporary: bool = False

    def complete(self, name: str) -> bool:
        """Whether the file or folder of this name was made to its end."""
        return (self.path / (name + _COMPLETE)).is_file()

    def mark_complete(self, name: str) -> None:
        """Note that the file or folder of this name is there to its end."""
        (self.path / (name + _COMPLETE)).touch()

    def remove(self, name: str) -> None:
        """Remove what was made under this name."""
        (self.path / (name + _COMPLETE)).unlink(missing_ok=True)
        made = self.path / name
        if made.is_dir():
            shutil.rmtree(made, ignore_errors=True)
        else:
            made.unlink(missing_ok=True)

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
    """What tells one state of a collection from another: names, sizes and times of its files."""
    digest = hashlib.sha256(f"{VERSION}\n".encode())
    for path in files:
        status = path.stat()
        digest.update(f"{path.relative_to(folder)}\0{status.st_size}\0{status.st_mtime_ns}\n".encode(errors="replace"))
    return digest.hexdigest()[:16]


def find_place(folder: Path, mark: str) -> Place:
    """The place for a collection in this state; a temporary one where the folder cannot be written.

    What others made in a folder that we may only read is used as it is.
    """
    home = folder.parent if (folder.parent / "qassay.toml").is_file() else folder
    path = home / _HIDDEN / f"{_PREFIX}{mark}"
    try:
        path.mkdir(parents=True, exist_ok=True)
        for name, text in ((".gitignore", "*\n"), ("CACHEDIR.TAG", _CACHE_TAG)):
            file = home / _HIDDEN / name
            if not file.exists():
                file.write_text(text, encoding="utf-8")
        if not os.access(path, os.W_OK):
            raise PermissionError(path)
    except OSError:
        return _temporary(path)
    return Place(path)


def remove_old(place: Place) -> None:
    """Remove what was made of earlier states of the collection."""
    if place.temporary:
        return
    for other in place.path.parent.glob(f"{_PREFIX}*"):
        if other != place.path:
            # Another process may still read it: where files in use cannot be removed, the next time will do.
            shutil.rmtree(other, ignore_errors=True)


def _temporary(made: Path) -> Place:
    """A folder of our own, with links to what is there already and complete."""
    path = Path(tempfile.mkdtemp(prefix="qassay-"))
    for mark in made.glob(f"*{_COMPLETE}") if made.is_dir() else ():
        source = made / mark.name.removesuffix(_COMPLETE)
        # Links to the files, not to the folder: the engine writes its locks beside them.
        for file in [source] if source.is_file() else source.rglob("*"):
            if file.is_file() and not file.name.endswith(".lock"):
                target = path / file.relative_to(made)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(file.resolve())
        (path / mark.name).touch()
    return Place(path, temporary=True)
