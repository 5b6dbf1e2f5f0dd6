"""The documents of a folder, one after the other: JSON lines, TREC SGML, text and HTML files.

Files are read in the order of their paths; hidden ones (and folders) are skipped. The kind of a file is known by
its name and, where that says nothing or `.txt`, by its first characters:

    .jsonl .json .jl      one JSON object per line: a doc-id (`id`, `_id`, `doc`, `docid`, `docno`, `pid`), a text
                          (`text`, `contents`, `body`, `segment`, `passage`), perhaps a `title`
    .sgml .sgm .trec ...  TREC SGML: everything from <DOC> to </DOC>, markup included; the doc-id is the <DOCNO>, or
                          the `id` of <DOC id="...">
    .txt .html .htm       one document; its doc-id is the path below the folder without the extension

any of them also as .gz or .zst. Faulty documents are all reported, each with file and line.

Files are unpacked on the way and read piece by piece, never whole into memory.
"""

from __future__ import annotations

import codecs
import os
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

import msgspec

from qassay.collections.documents import Document, Markup, title
from qassay.errors import InputError, Problem
from qassay.formats.files import BOM, MOST_RATIO, BrokenError, is_bomb, refuse_odd_name, unpacked
from qassay.formats.links import open_inside, refuse_way_out

# What is read at a time.
_PIECE = 1 << 20
# The largest document, in bytes: larger ones are mistakes, or packed zeros that unpack without end.
LARGEST = 256 << 20
_BOMS = (
    (BOM, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CHARSET = re.compile(rb"""<meta\b[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)


class OpenFile:
    """A file being read: where it is, and how far."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        # How messages call it.
        self.name = name
        self.bytes_read = 0

    def pieces(self) -> Iterator[bytes]:
        """The contents, unpacked where they are gzip or zstandard (recognised by the first bytes, not by the name)."""
        size = 0
        try:
            with open_inside(self.path) as handle:
                for piece in unpacked(self._packed(handle)):
                    size += len(piece)
                    if is_bomb(self.bytes_read, size):
                        raise BrokenError(f"it unpacks to more than {MOST_RATIO} times its size")
                    yield piece
        except (OSError, BrokenError) as error:
            raise InputError(Problem("encoding", f"cannot be read: {error}", self.name)) from None

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines that are not blank, with their numbers, without their ends; a byte order mark is dropped."""
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
            message = f"contains a document of more than {LARGEST >> 20} MiB; cut it into several"
            raise InputError(Problem("syntax", message, self.name, line))

    def _packed(self, handle: BinaryIO) -> Iterator[bytes]:
        while piece := handle.read(_PIECE):
            self.bytes_read += len(piece)
            yield piece


def decode(data: bytes, *, declared: bool = False) -> str | None:
    """Text of a document: UTF-8, or what its byte order mark or (`declared`) its HTML head says, else Latin-1.

    None where it contains NUL: that is not text. Line ends stay as they are; the byte order mark is left out.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(encoding, errors="replace")
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


Kind = Literal["json", "sgml", "text", "html"]

_ID_KEYS = ("id", "_id", "doc", "docid", "docno", "pid")
_TEXT_KEYS = ("text", "contents", "body", "segment", "passage")
_KINDS: dict[str, Kind] = {
    **dict.fromkeys((".jsonl", ".json", ".jl", ".ndjson"), "json"),
    **dict.fromkeys((".sgml", ".sgm", ".trec"), "sgml"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    **dict.fromkeys((".txt", ".text"), "text"),
}
_DOCUMENT = re.compile(rb"<(/?)DOC(?:\s[^<>]*)?>")
_NUMBER = re.compile(r"<DOCNO>\s*([^<]*?)\s*</DOCNO>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""<DOC\s[^<>]*?\bid\s*=\s*["']([^"'<>]*)["']""", re.IGNORECASE)
_SNIFF = 1 << 16
# A tag may lie across two pieces; no start tag is longer than this.
_TAG = 1 << 10


class Read(NamedTuple):
    """A document and the line of its file where it begins."""

    document: Document
    line: int


def files_of(folder: Path) -> list[Path]:
    """The visible files below a folder, in the order of their paths; links are followed, once, within an evaluation."""
    paths: list[Path] = []
    seen: set[str] = set()
    for place, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(refuse_way_out(Path(place)))
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [refuse_odd_name(Path(place, name)) for name in names if not name.startswith(".")]
    for path in paths:
        if path.is_symlink():  # before a cache of what it led to is used
            refuse_way_out(path)
    return sorted((path for path in paths if path.is_file()), key=lambda path: path.relative_to(folder).parts)


def kind_of(source: OpenFile) -> Kind | None:
    """The documents of a file; none where it is none of the known kinds."""
    by_name = _KINDS.get(Path(_unpacked_name(source.path.name)).suffix.lower())
    if by_name not in (None, "text"):
        return by_name
    pieces = source.pieces()
    head = next(pieces, b"")
    while len(head) < _SNIFF and (piece := next(pieces, b"")):
        head += piece
    source.bytes_read = 0
    start = head[:_SNIFF].lstrip(b"\xef\xbb\xbf \t\r\n")
    if by_name is None and start.startswith(b"{"):
        return "json"
    tag = _DOCUMENT.search(start)
    if tag is not None and not tag[1] and (by_name is None or tag.start() == 0):
        return "sgml"
    return by_name


def read(source: OpenFile, kind: Kind, folder: Path, problems: list[Problem]) -> Iterator[Read]:
    """The documents of one file; faults of the others are added to `problems`."""
    if kind == "json":
        documents = _json(source, problems)
    elif kind == "sgml":
        documents = _sgml(source, problems)
    else:
        documents = _single(source, kind, folder, problems)
    try:
        for row in documents:
            if not row.document.id.strip():
                problems.append(Problem("syntax", "a document has an empty doc-id", source.name, row.line))
            elif row.document.id == "NIL":
                message = "a document is called NIL, which in a run stands for no answer; give it another doc-id"
                problems.append(Problem("syntax", message, source.name, row.line))
            else:
                yield row
    except InputError as error:
        problems.extend(error.problems)


def _json(source: OpenFile, problems: list[Problem]) -> Iterator[Read]:
    decoder = msgspec.json.Decoder()
    for number, line in source.lines():
        try:
            row = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            problems.append(Problem("syntax", f"this line is not JSON: {error}", source.name, number))
            continue
        document = _from_row(row) if isinstance(row, dict) else None
        if document is None:
            message = 'a document is one JSON object per line with "id" and "text"'
            problems.append(Problem("syntax", message, source.name, number))
        else:
            yield Read(document, number)


def _from_row(row: dict[str, Any]) -> Document | None:
    name = next((row[key] for key in _ID_KEYS if row.get(key) is not None), None)
    text = next((row[key] for key in _TEXT_KEYS if row.get(key) is not None), None)
    heading = row.get("title")
    if isinstance(name, bool) or not isinstance(name, str | int) or not isinstance(text, str):
        return None
    return Document(str(name), text, heading if isinstance(heading, str) and heading.strip() else None)


def _single(source: OpenFile, kind: Kind, folder: Path, problems: list[Problem]) -> Iterator[Read]:
    form: Markup = "html" if kind == "html" else "none"
    text = decode(source.whole(), declared=kind == "html")
    if text is None:
        problems.append(Problem("encoding", "contains NUL bytes: it is not text", source.name))
        return
    yield Read(Document(path_id(source.path, folder), text, title(text, form), form), 1)


def path_id(path: Path, folder: Path) -> str:
    """The doc-id of a file that is one document: its path without extensions, blanks as `_`.

    >>> path_id(Path("c/letters/to my aunt.txt.gz"), Path("c"))
    'letters/to_my_aunt'
    """
    relative = path.relative_to(folder)
    stem = Path(_unpacked_name(relative.name)).stem
    name = "/".join((*relative.parts[:-1], stem)).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    # Some file systems take accents apart: the same name is the same doc-id on all of them.
    return re.sub(r"\s+", "_", unicodedata.normalize("NFC", name))


def _unpacked_name(name: str) -> str:
    return name.removesuffix(".gz").removesuffix(".zst")


def _sgml(source: OpenFile, problems: list[Problem]) -> Iterator[Read]:
    """The documents of a TREC file: UTF-8, or Latin-1 where that does not fit, each by itself."""
    for data, line in _elements(source, problems):
        text = decode(data)
        if text is None:
            problems.append(Problem("encoding", "a document contains NUL bytes: it is not text", source.name, line))
            continue
        number = _NUMBER.search(text) or _ATTRIBUTE.match(text)
        if number is None:
            problems.append(Problem("syntax", "a document has no <DOCNO>", source.name, line))
            continue
        yield Read(Document(number[1], text, title(text, "sgml"), "sgml"), line)


def _elements(source: OpenFile, problems: list[Problem]) -> Iterator[tuple[bytes, int]]:
    """Everything from each <DOC> to its </DOC>, with the line where it begins; no more than one is kept in memory."""
    buffer = bytearray()
    line = 1  # where `kept` begins
    looked = 0  # how far `kept` has no further tag
    inside = False
    unclosed = "a document has no </DOC>"

    def advance(position: int) -> None:
        nonlocal line, looked
        line += buffer.count(b"\n", 0, position)
        looked -= position
        del buffer[:position]

    for piece in source.pieces():
        buffer += piece
        while tag := _DOCUMENT.search(buffer, looked):
            looked, (start, end), closing = tag.end(), tag.span(), bool(tag[1])
            del tag  # bytes that a match looks at cannot be removed
            if closing and inside:
                yield bytes(buffer[:end]), line
                advance(end)
                inside = False
            elif not closing:
                if inside:
                    problems.append(Problem("syntax", unclosed, source.name, line))
                advance(start)
                inside = True
        looked = max(looked, len(buffer) - _TAG)
        if not inside:
            advance(looked)
        source.limit(len(buffer), line)
    if inside:
        problems.append(Problem("syntax", unclosed, source.name, line))
