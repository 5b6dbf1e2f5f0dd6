"""Logs of other evaluation tools, read as scores: one file per tool.

A module here is one tool. It has

    NAME                      what people call it: "Inspect"
    VERSIONS                  the released versions whose files were tried
    FILES                     how to get the file, for the documentation
    READS                     what is read of it, for the documentation
    looks_like(path, head)    whether a file with this name and these first bytes is one of its logs
    read(path, content)       its scores, as `ScoreRows`; an InputError with place and remedy where it is broken

A new tool is a new module and nothing else: readers are found by listing this package, and, for plug-ins, the entry
points of the group `qassay.formats`. Modules that begin with an underscore are what the readers share.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

from qassay.errors import InputError, Problem
from qassay.formats import files
from qassay.formats.links import open_inside
from qassay.formats.score_rows import ScoreRows
from qassay.plugins import broken, load_plugin, plugins

# As much of a file as is looked at to recognise it, and the most that is read of one.
HEAD = 1 << 20
MOST_BYTES = 2 << 30


class Reader(Protocol):
    """The module of one tool."""

    NAME: str
    VERSIONS: Sequence[str]
    FILES: str
    READS: str

    def looks_like(self, path: Path, head: bytes) -> bool:
        """Whether a file with this name and these first bytes is one of the tool's logs."""

    def read(self, path: Path, content: bytes) -> ScoreRows:
        """The scores of a log."""


def read_log(path: Path) -> ScoreRows | None:
    """The scores of a log of another tool; None where the file is not one."""
    if path.is_dir():
        return None
    files.refuse_pipe(path)
    head = _content(path, HEAD, whole=False)
    for reader in (*tools(), *_plug_ins()):
        if reader.looks_like(path, head):
            return reader.read(path, _content(path, MOST_BYTES, whole=True))
    return None


@cache
def tools() -> tuple[Reader, ...]:
    """The readers of this package, in the order of their modules."""
    names = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
    return tuple(_reader(importlib.import_module(f"{__name__}.{name}")) for name in names)


@cache
def _plug_ins() -> tuple[Reader, ...]:
    """The readers of other packages."""
    readers = []
    for name in plugins("format"):
        try:
            readers.append(_reader(load_plugin("format", name)))
        except TypeError as error:
            raise broken("format", name, str(error)) from error
    return tuple(readers)


def _reader(module: Reader) -> Reader:
    """The module, where it has what a reader needs."""
    missing = [name for name in ("NAME", "VERSIONS", "looks_like", "read") if not hasattr(module, name)]
    if missing:
        raise TypeError(f"a reader of logs has {', '.join(missing)}, this one has not")
    return module


def _content(path: Path, most: int, *, whole: bool) -> bytes:
    """The first bytes of a file, unpacked; an error where the whole file is asked for and is larger."""
    pieces: list[bytes] = []
    size = 0
    packed = path.stat().st_size
    try:
        with open_inside(path) as file:
            for piece in files.unpacked(iter(lambda: file.read(HEAD), b"")):
                pieces.append(piece)
                size += len(piece)
                if size > most or files.is_bomb(packed, size):
                    break
    except files.BrokenError as error:
        if whole:
            raise InputError(Problem("encoding", f"{error}. Copy the file again.", str(path))) from None
    if whole and (size > most or files.is_bomb(packed, size)):
        message = f"is larger than {most >> 30} GiB. Split the log, or export its scores as a table."
        raise InputError(Problem("encoding", message, str(path)))
    return b"".join(pieces)[:most]
