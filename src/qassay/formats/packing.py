"""Gzip and zstandard files, packed and unpacked; told by their first bytes, not by their names.

Unpacking gives piece after piece, so that whoever reads can stop at a limit: a few kilobytes can hold petabytes of
zeros.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

GZIP = b"\x1f\x8b"
ZSTANDARD = b"\x28\xb5\x2f\xfd"
_SUFFIXES = {GZIP: ".gz", ZSTANDARD: ".zst"}

# What is unpacked of a gzip file at a time, from so many packed bytes.
_PIECE = 1 << 20
_PACKED = 1 << 16
# Zstandard knows no limit for what it unpacks at a time, and three bytes may stand for 128 kilobytes.
_SIP = 1 << 12


class BrokenError(ValueError):
    """A packed file that ends too early, or holds what it should not."""


def packed_suffix(data: bytes) -> str:
    """What the name of a file with these bytes ends in: `.gz`, `.zst`, or nothing where it is not packed."""
    return next((suffix for magic, suffix in _SUFFIXES.items() if data.startswith(magic)), "")


def pack(path: Path, data: bytes) -> bytes:
    """The bytes as the file of this name holds them: compressed where the name ends in .gz or .zst."""
    if path.suffix == ".gz":
        return gzip.compress(data, mtime=0)
    if path.suffix == ".zst":
        import zstandard

        return bytes(zstandard.compress(data))
    return data


def unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The contents of a file that comes in pieces, the first of which has its first bytes; as it is where not packed.

    A BrokenError where the file cannot be unpacked.
    """
    source = iter(pieces)
    first = next(source, b"")
    whole = chain([first], source)
    if first.startswith(GZIP):
        yield from _ungzip(_cut(whole, _PACKED))
    elif first.startswith(ZSTANDARD):
        yield from _unzstandard(_cut(whole, _SIP))
    else:
        yield from whole


def _cut(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    for piece in pieces:
        for start in range(0, len(piece), size):
            yield piece[start : start + size]


def _ungzip(packed: Iterator[bytes]) -> Iterator[bytes]:
    """The members of a gzip file, one after the other; zeros that tapes leave behind a member are passed over."""
    waiting = next(packed, b"")
    try:
        while waiting:
            unpacker = zlib.decompressobj(wbits=31)
            while not unpacker.eof:
                waiting = waiting or next(packed, b"")
                piece = unpacker.decompress(waiting, _PIECE)
                if not piece and not waiting:
                    raise zlib.error("it ends too early")
                waiting = unpacker.unconsumed_tail
                yield piece
            waiting = unpacker.unused_data.lstrip(b"\0")
            while not waiting and (piece := next(packed, b"")):
                waiting = piece.lstrip(b"\0")
    except zlib.error as error:
        raise BrokenError(f"broken gzip file: {error}") from None


def _unzstandard(packed: Iterator[bytes]) -> Iterator[bytes]:
    """The frames of a zstandard file, one after the other."""
    import zstandard

    waiting = next(packed, b"")
    try:
        while waiting:
            unpacker = zstandard.ZstdDecompressor().decompressobj()
            while not unpacker.eof:
                waiting = waiting or next(packed, b"")
                if not waiting:
                    raise zstandard.ZstdError("it ends too early")
                yield unpacker.decompress(waiting)
                waiting = b""
            waiting = unpacker.unused_data or next(packed, b"")
    except zstandard.ZstdError as error:
        raise BrokenError(f"broken zstandard file: {error}") from None
