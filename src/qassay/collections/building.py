"""Making the store of a collection: in memory for a small one, else on disk, gone on with after a break."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from qassay.collections.place import SMALL, Place, find_place, fingerprint, remove_old
from qassay.collections.reading import files_of, kind_of, read
from qassay.collections.records import Progress
from qassay.collections.store import Store, Writer
from qassay.collections.streams import Source
from qassay.errors import InputError, Problem

STORE = "documents.db"
_MOST_PROBLEMS = 1000
_STEP = 1 << 20


def open_store(folder: Path, progress: Progress | None) -> tuple[Store, Place | None, str]:
    """The store of a folder, made where it is not there yet; its place, if any; and the collection's fingerprint."""
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise InputError(Problem("configuration", f"{what}; a collection is a folder of documents", str(folder)))
    files = files_of(folder)
    mark = fingerprint(folder, files)
    if sum(path.stat().st_size for path in files) <= SMALL:
        in_memory = Store()
        _fill(in_memory, folder, files, progress)
        return in_memory, None, mark
    place = find_place(folder, mark)
    store = _existing(place)
    return _made(place, folder, files, progress) if store is None else store, place, mark


def _existing(place: Place) -> Store | None:
    """The store that is there, where it is complete and sound."""
    if not place.complete(STORE):
        return None
    try:
        store = Store(place.path / STORE, read_only=True)
        len(store)
    except sqlite3.Error:
        place.remove(STORE)
        return None
    return store


def _made(place: Place, folder: Path, files: Sequence[Path], progress: Progress | None) -> Store:
    try:
        with place.lock():
            store = _existing(place)  # made by another process while we waited
            if store is not None:
                return store
            store = Store(place.path / STORE)
            try:
                _fill(store, folder, files, progress)
            finally:
                store.close()
            place.mark_complete(STORE)
            remove_old(place)
    except sqlite3.Error as error:
        raise InputError(Problem("configuration", f"cannot be written: {error}", str(place.path))) from None
    return Store(place.path / STORE, read_only=True)


def _fill(store: Store, folder: Path, files: Sequence[Path], progress: Progress | None) -> None:
    """Read all files that are not yet in the store; all faults are reported, and no faulty file is kept."""
    problems: list[Problem] = []
    writer = Writer(store)
    meter = _Meter(files, progress)
    begun = store.files()
    for number, path in enumerate(files):
        name = str(Path(folder.name or str(folder), path.relative_to(folder)))
        if number >= begun:
            _take(Source(path, name), folder, writer, problems, meter)
        meter.file_done(path)
        if len(problems) + len(writer.twice) > _MOST_PROBLEMS:
            break
    writer.flush()
    for twice in writer.twice:
        message = f"document {twice.id} is there twice: in {twice.first} and in {twice.again}"
        file, _, line = twice.again.rpartition(":")
        problems.append(Problem("syntax", message, file, int(line)))
    if problems:
        raise InputError(problems[:_MOST_PROBLEMS])
    writer.commit()


def _take(source: Source, folder: Path, writer: Writer, problems: list[Problem], meter: _Meter) -> None:
    """Read one file into the store."""
    try:
        kind = kind_of(source)
    except InputError as error:
        problems.extend(error.problems)
        return
    writer.begin(source.name, skipped=kind is None)
    if kind is not None:
        for one in read(source, kind, folder, problems):
            writer.add(one.document, one.line)
            meter.show(source.bytes_read)
    if not problems:  # else the file must be read again the next time, so that its faults are found again
        writer.end()


class _Meter:
    """Tells how many bytes of all files are read, a mebibyte at a time."""

    def __init__(self, files: Sequence[Path], progress: Progress | None) -> None:
        self._progress = progress
        self._total = sum(path.stat().st_size for path in files)
        self._before = self._shown = 0

    def show(self, position: int) -> None:
        """So many bytes of the file at hand are read."""
        if self._progress is not None and self._before + position >= self._shown + _STEP:
            self._shown = self._before + position
            self._progress(self._shown, self._total)

    def file_done(self, path: Path) -> None:
        """This file is read to its end."""
        self._before += path.stat().st_size
        if self._progress is not None and (self._before == self._total or self._before >= self._shown + _STEP):
            self._shown = self._before
            self._progress(self._before, self._total)
