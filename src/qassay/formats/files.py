"""Bytes and text of files: encodings, whole replacement, and unpacking on the way in."""

from __future__ import annotations

import codecs
import errno
import os
import shutil
import tempfile
import tomllib
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qassay.errors import InputError, Problem
from qassay.formats.packing import BrokenError, pack, packed_suffix, unpacked

BOM = b"\xef\xbb\xbf"
# Encodings whose decoders give whole characters only.
_WHOLE = frozenset({"utf-8", "ascii", "iso8859-1", "cp1252", "utf-16", "utf-32"})

# A compressed file that unpacks to more than this is refused: a few kilobytes can hold petabytes of zeros.
MOST_BYTES = 16 << 30
# As much of a file as is looked at for a NUL byte.
_HEAD = 1 << 22
_OTHER_ENCODING = "save it as UTF-8, or name its encoding where the command takes one (--encoding {})"


class TemporaryFolder:
    """A folder for this user alone that is removed when nobody holds it any more, at the latest when Python ends."""

    def __init__(self, prefix: str = "qassay-") -> None:
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        self._removal = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def __repr__(self) -> str:
        return f"TemporaryFolder({str(self.path)!r})"


def read_bytes(path: Path) -> bytes:
    """Contents of a file, unpacked where it is gzip or zstandard (told by its first bytes, not by its name)."""
    return unpack(path.read_bytes(), path)


def unpack(data: bytes, path: Path) -> bytes:
    """Bytes as they are meant: those of gzip and zstandard unpacked; `path` is named in messages."""
    if not packed_suffix(data):
        return data
    pieces: list[bytes] = []
    size = 0
    try:
        for piece in unpacked([data]):
            size += len(piece)
            if size > MOST_BYTES:
                message = f"unpacks to more than {MOST_BYTES >> 30} GiB; split it"
                raise InputError(Problem("encoding", message, str(path)))
            pieces.append(piece)
    except BrokenError as error:
        raise InputError(Problem("encoding", str(error), str(path))) from None
    return b"".join(pieces)


def read_text(path: Path, *, encoding: str = "utf-8") -> str:
    """Contents of a text file without a byte order mark; a byte that does not fit is an error with its line."""
    return decode(read_bytes(path), file=str(path), encoding=encoding)


def decode(data: bytes, *, file: str, encoding: str = "utf-8") -> str:
    """Text of these bytes; every line with a byte that does not fit the encoding is reported."""
    data = data.removeprefix(BOM)
    try:
        text = data.decode(encoding)
        if codecs.lookup(encoding).name not in _WHOLE:
            text.encode("utf-8")  # some codecs let half a surrogate pair through, which nothing can write again
    except LookupError:
        raise InputError(Problem("encoding", f"there is no encoding named {encoding!r}", file)) from None
    except UnicodeError:
        raise InputError(undecodable(data, file=file, encoding=encoding)) from None
    return text


def parse_toml(text: str, *, file: str) -> dict[str, Any]:
    """The keys of a TOML text."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(Problem("configuration", f"is not TOML: {error}", file)) from None


def undecodable(data: bytes, *, file: str, encoding: str = "utf-8") -> list[Problem]:
    """One problem for every line that does not decode, or one for a file that has no lines to speak of."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        message = f"is not {encoding.upper()} but, it seems, UTF-16"
        return [Problem("encoding", f"{message}; {_OTHER_ENCODING.format('utf-16')}", file)]
    if b"\0" in data[:_HEAD] or "\n".encode(encoding) != b"\n":
        return [Problem("encoding", f"is not text, or not text in {encoding.upper()}", file)]
    problems = []
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            line.decode(encoding)
        except UnicodeError as error:
            if not isinstance(error, UnicodeDecodeError):
                problems.append(Problem("encoding", f"this line is not {encoding.upper()}", file, number))
                continue
            problems.append(
                Problem(
                    "encoding",
                    f"byte {line[error.start]:#04x} at column {error.start + 1} is not {encoding.upper()}; "
                    + _OTHER_ENCODING.format("latin-1"),
                    file,
                    number,
                )
            )
    return problems or [Problem("encoding", f"is not {encoding.upper()}", file)]


def write_text(path: Path, text: str) -> None:
    """Replace a file whole: readers see the old text or the new one, never a part."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """Replace a file whole; a name that ends in .gz or .zst is written compressed."""
    write_all({path: pack(path, data)})


def write_all(contents: Mapping[Path, bytes]) -> None:
    """Replace several files, each whole and with exactly these bytes.

    Everything is on the disk under other names before the first file is replaced, so that a full disk or a folder
    that cannot be written leaves all of them as they were.
    """
    parts: dict[Path, Path] = {}
    try:
        for path, data in contents.items():
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
            parts[path] = _write_part(path, data)
        for path, part in parts.items():
            part.replace(path)
    except BaseException:
        for part in parts.values():
            part.unlink(missing_ok=True)
        raise


def _write_part(path: Path, data: bytes) -> Path:
    """Write the bytes beside the file, under a name of their own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # The name is short whatever the file is called: names of 255 bytes are as long as they may be.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        # As any new file would be, or as the one that is replaced: judgments may be meant for few eyes.
        part.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return part


def _umask() -> int:
    """What new files keep from others; the only way to ask is to set it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
