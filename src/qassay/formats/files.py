"""Bytes and text of files: encodings, whole replacement, and gzip and zstandard, recognised by their first bytes.

Unpacking gives piece after piece, so that the reader can stop at a limit: a few kilobytes can unpack to petabytes.
"""

from __future__ import annotations

import codecs
import difflib
import errno
import gzip
import os
import re
import shutil
import stat
import tempfile
import tomllib
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

from qassay.errors import InputError, Problem, Problems, UsageError
from qassay.formats.links import open_inside, refuse_way_out

GZIP = b"\x1f\x8b"
ZSTANDARD = b"\x28\xb5\x2f\xfd"
ZIP = b"PK\x03\x04"
_SUFFIXES = {GZIP: ".gz", ZSTANDARD: ".zst"}

# The most that is unpacked of a gzip file at a time, and the packed bytes that it comes from.
_PIECE = 1 << 20
_PACKED = 1 << 16
# Zstandard knows no limit for what it unpacks at a time, and three bytes may stand for 128 kilobytes.
_SIP = 1 << 12


class BrokenError(ValueError):
    """A packed file that ends too early, or contains what it should not."""


def packed_suffix(data: bytes) -> str:
    """The ending of the name of a file with these bytes: `.gz`, `.zst`, or nothing where it is not packed."""
    return next((suffix for magic, suffix in _SUFFIXES.items() if data.startswith(magic)), "")


def pack(path: Path, data: bytes) -> bytes:
    """The bytes as the file of this name contains them: compressed where the name ends in .gz or .zst."""
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
    """The members of a gzip file, one after the other; zeros that tapes leave behind a member are ignored."""
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


BOM = b"\xef\xbb\xbf"
# Encodings whose decoders give whole characters only.
_WHOLE = frozenset({"utf-8", "ascii", "iso8859-1", "cp1252", "utf-16", "utf-32"})

# A compressed file that unpacks to more than this is refused: a few kilobytes can unpack to petabytes of zeros.
MOST_BYTES = 16 << 30
# Texts and tables rarely shrink to a fiftieth of their size. What unpacks to far more than that is made to fill memory.
MOST_RATIO = 200
_ALWAYS_UNPACKED = 64 << 20
# As much of a file as is looked at for a NUL byte.
_HEAD = 1 << 22
# As much of a file as shows whether it is UTF-16 without a mark.
_SEEN_OF_UTF_16 = 256
# What the endings of binary tables promise.
_FORMS = {
    **{".parquet": "a Parquet file", ".xlsx": "an Excel workbook", ".xls": "an Excel workbook"},
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "an Arrow file"),
}
# Names in a folder that are compared with the name of a file that does not exist.
_MOST_NEIGHBOURS = 10_000
# How workbooks begin: an archive, or the older form.
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
# Far more than anybody writes by hand.
LONGEST_TOML = 8 << 20
# A name in TOML of very many parts, each bare or in quotes.
_DEEP_NAME = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){100}""")
# How pickles begin, from protocol 2 on.
_PICKLE = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
_OTHER_ENCODING = (
    "save it as UTF-8 (in Excel: CSV UTF-8), or name its encoding where the command takes one (--encoding {})"
)


def read_bytes(path: Path) -> bytes:
    """Contents of a file, unpacked where it is gzip or zstandard (recognised by its first bytes, not by its name)."""
    return unpack(stored_bytes(path), path)


def stored_bytes(path: Path) -> bytes:
    """Contents of a file as they are, packed or not."""
    refuse_pipe(path)
    with open_inside(path) as file:
        return file.read()


def refuse_pipe(path: Path) -> None:
    """Stop at a pipe or a device: it can be read only once, and may wait or go on without end."""
    mode = refuse_way_out(path).stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        message = "is a pipe or a device, not a file. Save its contents to a file first"
        raise InputError(Problem("encoding", message, str(path)))


def refuse_odd_name(path: Path) -> Path:
    """The path; an error where its name is not text: no table and no database takes it."""
    try:
        path.name.encode()
    except UnicodeEncodeError:
        raise InputError(Problem("encoding", "the name of this file is not UTF-8; rename it", str(path))) from None
    return path


def path_of(source: object, function: str, instead: str = "") -> Path:
    """The path that a function takes; an error that says so for anything else."""
    if isinstance(source, str | Path):
        return Path(source)
    message = f"{function} takes the path of what it reads, not a {type(source).__name__}"
    raise UsageError(". ".join(filter(None, (message, instead))))


def is_bomb(packed: int, unpacked_size: int) -> bool:
    """Whether the unpacked bytes are too many for the packed ones: such a file is not meant to be read."""
    return unpacked_size > max(_ALWAYS_UNPACKED, MOST_RATIO * packed)


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
            if is_bomb(len(data), size):
                message = f"unpacks to more than {MOST_RATIO} times its size. If it is meant to, unpack it first"
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
    if encoding == "utf-8" and utf_16(data):
        raise InputError(undecodable(data, file=file))
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
        # The reader takes the square of the length of a name such as a.b.c, in time and in memory.
        if _DEEP_NAME.search(text):
            raise RecursionError
        if len(text) > LONGEST_TOML:
            raise ValueError(f"it has more than {LONGEST_TOML >> 20} MiB")
        return tomllib.loads(text)
    except ValueError as error:  # not TOML, or a number with thousands of digits
        raise InputError(Problem("configuration", f"is not TOML: {error}", file)) from None
    except RecursionError:
        raise InputError(Problem("configuration", "is nested too deeply", file)) from None


def named_form(file: str) -> str | None:
    """The binary form that the name of a file promises; None where it promises none."""
    return _FORMS.get(Path(file).suffix.lower())


def near_file(path: Path) -> str:
    """What may be meant by the name of a file that does not exist, to add to a message; empty where nothing is near."""
    if str(path) == "-":
        return "; a pipe is not read: save what comes through it to a file first"
    try:
        names = [neighbour.name for neighbour in islice(path.parent.iterdir(), _MOST_NEIGHBOURS)]
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.75)
    return f"; did you mean {str(path.with_name(near[0]))!r}?" if near else ""


def refused_by_system(error: OSError) -> str:
    """What the operating system refused, in words."""
    message = error.strerror or str(error)
    is_absent = error.errno == errno.ENOENT and isinstance(error.filename, str | os.PathLike)
    return f"{message}{near_file(Path(os.fsdecode(error.filename)))}" if is_absent else message


def not_as_named(file: str, data: bytes) -> str | None:
    """The fault of a file that is not text, where text is wanted; None where its name says nothing."""
    form = named_form(file)
    if form == _FORMS[".xlsx"] and data.startswith(_WORKBOOKS):
        return f"is {form}, which is read where answers, labels or scores are wanted; save its sheet as text"
    return None if form is None else f"is not {form}, though its name says so; write the table again, or as CSV"


def undecodable(data: bytes, *, file: str, encoding: str = "utf-8") -> Problems:
    """One problem for every line that does not decode, or one for a file that has no lines to speak of."""
    if (seems := utf_16(data)) and not encoding.lower().startswith(("utf-16", "utf_16")):
        message = f"is not {encoding.upper()} but, it seems, UTF-16"
        return Problems([Problem("encoding", f"{message}; {_OTHER_ENCODING.format(seems)}", file)])
    if data.startswith(_PICKLE) and data.rstrip(b"\n").endswith(b"."):
        message = "is a pickle of Python, which may run any program when it is read. Write the table as CSV or Parquet"
        return Problems([Problem("encoding", message, file)])
    if b"\0" in data[:_HEAD] or "\n".encode(encoding) != b"\n" or named_form(file):
        message = not_as_named(file, data) or f"is not text, or not text in {encoding.upper()}"
        return Problems([Problem("encoding", message, file)])
    problems = Problems()
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
    return problems or Problems([Problem("encoding", f"is not {encoding.upper()}", file)])


def utf_16(data: bytes) -> str:
    """The encoding of a text in UTF-16, by its mark or because every other byte of its beginning is NUL; else empty.

    >>> utf_16("id,A".encode("utf-16-le")), utf_16(b"id,A"), utf_16(b"PAR1\\0\\0\\0")
    ('utf-16-le', '', '')
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    head = data[:_SEEN_OF_UTF_16]
    if b"\0" not in head:
        return ""
    even, odd = head[::2], head[1::2]
    for encoding, characters, zeros in (("utf-16-le", even, odd), ("utf-16-be", odd, even)):
        if zeros.count(0) * 2 > len(zeros) and not characters.count(0):
            return encoding
    return ""


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


def append_file(path: Path, more: Path) -> None:
    """Add the bytes of a file, which goes, to another; readers see it without them or with all of them.

    Where there is nothing to add to, the file only gets another name. Neither is read into memory.
    """
    refuse_way_out(path.parent)
    with more.open("rb") as added:
        os.fsync(added.fileno())
        if path.exists():
            part = _write_part(path, b"")
            try:
                with part.open("r+b") as out, open_inside(path) as old:
                    shutil.copyfileobj(old, out, 1 << 20)
                    if out.tell():
                        out.seek(-1, os.SEEK_END)
                        out.write(b"" if out.read(1) == b"\n" else b"\n")
                    shutil.copyfileobj(added, out, 1 << 20)
                    out.flush()
                    os.fsync(out.fileno())
                part.replace(path)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            more.replace(path)
    more.unlink(missing_ok=True)


def _write_part(path: Path, data: bytes) -> Path:
    """Write the bytes beside the file, under a name of their own; where the file is a link, it will be no more."""
    refuse_way_out(path.parent)
    path.parent.mkdir(parents=True, exist_ok=True)
    # The name is short whatever the file is called: names of 255 bytes are as long as they may be.
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
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
    """The permissions that new files do not get; the only way to read them is to set them."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
