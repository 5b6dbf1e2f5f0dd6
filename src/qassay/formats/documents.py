"""Documents of a collection, one after the other: JSON lines, TREC SGML, plain text and HTML files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from qassay.errors import InputError, Problem
from qassay.formats import files, jsonl

_DOCUMENT = re.compile(r"<DOC>.*?</DOC>", re.DOTALL)
_NUMBER = re.compile(r"<DOCNO>\s*(.*?)\s*</DOCNO>", re.DOTALL)
_ID_KEYS = ("id", "doc", "docid", "docno")


class Document(NamedTuple):
    """A doc-id and the text that offsets of extracts count in."""

    id: str
    text: str


def read_documents(folder: Path) -> Iterator[Document]:
    """Every document below a folder, file by file in the order of their names."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")):
        names = path.name.removesuffix(".gz").removesuffix(".zst")
        if names.endswith((".jsonl", ".json", ".jl")):
            yield from _json_documents(path)
        elif names.endswith((".sgml", ".sgm")) or names == path.stem != path.name:
            yield from _sgml_documents(path)
        elif names.endswith((".txt", ".html", ".htm")):
            yield Document(Path(names).stem, files.read_text(path))


def document_lengths(folder: Path) -> dict[str, int]:
    """Length of every document in characters; two documents with one doc-id are an error."""
    lengths: dict[str, int] = {}
    twice = [Problem("syntax", f"document {one.id} is there twice", str(folder)) for one in _sized(folder, lengths)]
    if twice:
        raise InputError(twice)
    return lengths


def _sized(folder: Path, lengths: dict[str, int]) -> Iterator[Document]:
    """Note the length of each document; give those that were there before."""
    for document in read_documents(folder):
        if document.id in lengths:
            yield document
        lengths[document.id] = len(document.text)


def _json_documents(path: Path) -> Iterator[Document]:
    for line, row in jsonl.read_rows(path):
        name = next((row[key] for key in _ID_KEYS if key in row), None)
        text = row.get("text", row.get("contents"))
        if not isinstance(name, str | int) or not isinstance(text, str):
            raise InputError(Problem("syntax", 'a document has "id" and "text"', str(path), line))
        yield Document(str(name), text)


def _sgml_documents(path: Path) -> Iterator[Document]:
    """The text is everything from <DOC> to </DOC>, markup included; real files are Latin-1 where not UTF-8."""
    data = files.read_bytes(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    for found in _DOCUMENT.finditer(text):
        number = _NUMBER.search(found.group())
        if number is None:
            line = text.count("\n", 0, found.start()) + 1
            raise InputError(Problem("syntax", "a document has no <DOCNO>", str(path), line))
        yield Document(number.group(1), found.group())
