"""Bytes of files, piece by piece: unpacked on the way, never whole in memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from qassay.errors import InputError, Problem
from qassay.formats.files import BOM
from qassay.formats.packing import BrokenError, unpacked

# What is read at a time.
_PIECE = 1 << 20
# The largest document, in bytes: larger ones are mistakes, or packed zeros that unpack without end.
LARGEST = 256 << 20
_BOMS = (
    (BOM, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHARSET = re.compile(rb"""<meta\b[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)


class Source:
    """A file being read: where it is, and how far."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        # How messages call it.
        self.name = name
        self.bytes_read = 0

    def pieces(self) -> Iterator[bytes]:
        """The contents, unpacked where they are gzip or zstandard (told by the first bytes, not by the name)."""
        try:
            with self.path.open("rb") as handle:
                yield from unpacked(self._packed(handle))
        except (OSError, BrokenError) as error:
            raise InputError(Problem("encoding", f"cannot be read: {error}", self.name)) from None

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines that hold anything, with their numbers, without their ends; a byte order mark is dropped."""
        for number, line in enumerate(self._lines(), 1):
            if line and not line.isspace():
                yield number, line.removeprefix(BOM) if number == 1 else line

    def _lines(self) -> Iterator[bytes]:
        begun: list[bytes] = []  # parts of a line whose end has not come yet
        size = 0
        number = 1
        for piece in self.pieces():
            first, *others = piece.split(b"\n")
            begun.append(first)
            size += len(first)
            self.limit(size, number)
            if others:
                yield b"".join(begun)
                yield from others[:-1]
                begun, size, number = [others[-1]], len(others[-1]), number + len(others)
        yield b"".join(begun)

    def whole(self) -> bytes:
        """Everything at once, for files that are one document."""
        pieces: list[bytes] = []
        size = 0
        for piece in self.pieces():
            size += len(piece)
            self.limit(size, None)
            pieces.append(piece)
        return b"".join(pieces)

    def limit(self, size: int, line: int | None) -> None:
        """Raise where a document is larger than any may be."""
        if size > LARGEST:
            message = f"holds a document of more than {LARGEST >> 20} MiB; cut it into several"
            raise InputError(Problem("syntax", message, self.name, line))

    def _packed(self, handle: BinaryIO) -> Iterator[bytes]:
        while piece := handle.read(_PIECE):
            self.bytes_read += len(piece)
            yield piece


def decode(data: bytes, *, declared: bool = False) -> str | None:
    """Text of a document: UTF-8, or what its byte order mark or (`declared`) its HTML head says, else Latin-1.

    Nothing where it holds NUL: that is no text. Line ends stay as they are; a byte order mark is no part of the text.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(encoding + ("" if mark == BOM else _endian(mark)), errors="replace")
            return None if "\0" in text else text
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        charset = _CHARSET.search(data[:4096]) if declared else None
    if charset is not None:
        try:
            text = data.decode(charset[1].decode("ascii"))
            text.encode("utf-8")
        except (LookupError, UnicodeError):
            return data.decode("latin-1")
        return text
    return data.decode("latin-1")


def _endian(mark: bytes) -> str:
    return "-be" if mark == codecs.BOM_UTF16_BE else "-le"
