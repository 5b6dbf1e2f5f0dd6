"""The parts of an evaluation: files of its folder, or what its store has in their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from qassay.formats import files


@dataclass(frozen=True, slots=True)
class Part:
    """A file, or bytes in the place of one; `name` is its place in the evaluation, which messages give."""

    name: str
    # Reads the bytes as they are, packed or not.
    stored: Callable[[], bytes] = field(compare=False, repr=False)

    def read(self) -> bytes:
        """The bytes, unpacked where they are packed."""
        return files.unpack(self.stored(), Path(self.name))

    def text(self) -> str:
        """The text."""
        return files.decode(self.read(), file=self.name)


@dataclass(frozen=True, slots=True)
class Contents:
    """Parts by name, in place of the files of an evaluation; equal marks mean equal contents."""

    parts: Mapping[str, Part] = field(compare=False, repr=False)
    mark: str = ""
    # Questions that are still being written are in no part.
    drafts: int = 0


def file_part(path: Path, name: str | None = None) -> Part:
    """A file, which messages call by its path unless it has a name."""
    files.refuse_odd_name(path)
    return Part(str(path) if name is None else name, partial(files.stored_bytes, path))


def part_of(name: str, data: bytes) -> Part:
    """Bytes that are in no file."""
    return Part(name, lambda: data)
