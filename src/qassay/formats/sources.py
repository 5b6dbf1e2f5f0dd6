"""Where scores come from: files, NAME=FILE, and tables in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qassay.errors import UsageError
from qassay.formats.names import TABLE_SUFFIXES
from qassay.formats.tables.memory import FILE, is_rows

# Extensions that are not part of the name of a system.
SUFFIXES = (".gz", ".zst", ".txt", ".eval", *TABLE_SUFFIXES)


@dataclass(frozen=True)
class Source:
    """One source: what it is, the name that was given to its system, and the name of its file."""

    content: Any
    name: str | None
    stem: str


def is_source(text: str) -> bool:
    """Whether an argument of a command is a file, or NAME=FILE."""
    return Path(text).exists() or ("=" in text and Path(text.partition("=")[2]).is_file())


def split_source(text: str | Path) -> tuple[str | None, Path]:
    """The name and the path of a source: a path that exists, NAME=FILE, or a path that does not exist."""
    path = Path(text)
    name, equals, file = str(text).partition("=")
    if not path.exists() and equals and name and Path(file).exists():
        return name, Path(file)
    return None, path


def stem_of(path: Path) -> str:
    """The name of a file without its extensions.

    >>> stem_of(Path("runs/new.jsonl.gz"))
    'new'
    """
    stem = path.name
    for suffix in SUFFIXES:
        stem = stem.removesuffix(suffix)
    return stem or path.name


def named_sources(texts: Sequence[str]) -> dict[str, Path]:
    """Files by name: the one given, that of the file, or its path where two would be called the same.

    >>> list(named_sources(["a/human.csv", "a/model.csv.gz"]))
    ['human', 'model']
    >>> list(named_sources(["2003/scores.csv", "2004/scores.csv"]))
    ['2003/scores.csv', '2004/scores.csv']
    >>> list(named_sources(["a.csv", "a.csv"]))
    ['a.csv', 'a.csv#2']
    """
    split = [split_source(text) for text in texts]
    names = [name or stem_of(path) for name, path in split]
    if len(set(names)) < len(names):
        names = [name or str(path) for name, path in split]
    files: dict[str, Path] = {}
    for place, (name, (_, path)) in enumerate(zip(names, split, strict=True), 1):
        files[name if name not in files else f"{name}#{names[:place].count(name)}"] = path
    return files


def listed_sources(sources: Any) -> list[Source]:
    """The sources as a list, whether there is one or several."""
    several = isinstance(sources, (list, tuple)) and not is_rows(sources)
    entries = list(sources) if several else [sources]
    if not entries:
        raise UsageError("scores take a source: a file, a frame or a dictionary")
    listed = []
    for number, source in enumerate(entries, 1):
        if isinstance(source, (str, Path)):
            name, path = split_source(source)
            listed.append(Source(path, name, stem_of(path)))
        else:
            listed.append(Source(source, None, FILE if len(entries) == 1 else f"{FILE} {number}"))
    return listed
