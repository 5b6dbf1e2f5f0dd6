"""Members of a zip file, also those packed with zstandard, which Python's own reader learns in 3.14, with a bound."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from qassay.formats import files
from qassay.formats.foreign import _logs, _names

# The most that all members that are read unpack to, and the most members that a log may have.
MOST_UNPACKED = 1 << 30
MOST_MEMBERS = 1_000_000

_ZSTANDARD = 93
_ENCRYPTED = 1
_PIECE = 1 << 20
_LOCAL_HEADER = 30


class Archive:
    """A zip file in memory; what is read of it in all is bounded."""

    def __init__(self, content: bytes, path: Path, remedy: str) -> None:
        self._content = content
        self._path = path
        self._remedy = remedy
        self._room = MOST_UNPACKED
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
            self._members = {member.filename: member for member in self._zip.infolist()}
        except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, struct.error, OverflowError) as error:
            message = f"is a broken zip file, perhaps only a part of one: {error}."
            raise _logs.refuse(path, f"{message} {remedy}") from None
        if len(self._members) > MOST_MEMBERS:
            raise _logs.refuse(path, f"has more than {MOST_MEMBERS:,} members. Split the log.")

    @property
    def names(self) -> list[str]:
        """The names of the members, in the order of the file."""
        return list(self._members)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def read(self, name: str) -> bytes:
        """The contents of a member."""
        member = self._members[name]
        pieces: list[bytes] = []
        size = 0
        try:
            for piece in self._pieces(member):
                self._room -= len(piece)
                size += len(piece)
                if self._room < 0:
                    message = f"{_names.name(name)}: unpacks to more than {MOST_UNPACKED >> 20:,} MiB."
                    raise _logs.refuse(self._path, f"{message} Split the log.")
                if files.is_bomb(member.compress_size, size):
                    message = f"{_names.name(name)}: unpacks to more than {files.MOST_RATIO} times its size."
                    raise _logs.refuse(self._path, f"{message} {self._remedy}")
                pieces.append(piece)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            RuntimeError,
            NotImplementedError,
            files.BrokenError,
        ) as error:
            raise self._broken(name, str(error)) from None
        content = b"".join(pieces)
        if zlib.crc32(content) != member.CRC:
            raise self._broken(name, "its checksum is wrong")
        return content

    def _pieces(self, member: zipfile.ZipInfo) -> Iterator[bytes]:
        if member.compress_type == _ZSTANDARD and not member.flag_bits & _ENCRYPTED:
            yield from files.unpacked([self._packed(member)])
            return
        with self._zip.open(member) as file:
            while piece := file.read(_PIECE):
                yield piece

    def _packed(self, member: zipfile.ZipInfo) -> bytes:
        """The packed bytes of a member: behind a header of its own, which repeats its name."""
        start = member.header_offset
        header = self._content[start : start + _LOCAL_HEADER]
        if len(header) < _LOCAL_HEADER or not header.startswith(files.ZIP):
            raise zipfile.BadZipFile("a member is not where the directory says")
        name_length, extra_length = struct.unpack("<HH", header[26:30])
        start += _LOCAL_HEADER + name_length + extra_length
        packed = self._content[start : start + member.compress_size]
        if not packed.startswith(files.ZSTANDARD):
            raise zipfile.BadZipFile("a member is not packed as the directory says")
        return packed

    def _broken(self, name: str, reason: str) -> Exception:
        return _logs.refuse(self._path, f"member {_names.name(name)} is broken: {reason}. {self._remedy}")
