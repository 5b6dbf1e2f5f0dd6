"""What an import is going to do: nothing is written before everything is known to be right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from qassay.errors import InputError, Problem
from qassay.formats import files
from qassay.formats.files import pack
from qassay.formats.folder import Configuration, Folder
from qassay.formats.names import LONGEST_FILE_NAME
from qassay.formats.questions import QuestionFile
from qassay.questions import TestSet


@dataclass(frozen=True, slots=True)
class Source:
    """One file to be imported: where it is, how messages call it, and what it holds."""

    path: Path
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Options:
    """What the user says of the files: name of the set, encoding, type of untyped questions, leave to replace.

    `lengths` gives the length of every document of the collection, where there is one to check runs against.
    """

    set_name: str | None = None
    encoding: str | None = None
    default_type: str | None = None
    replace: bool = False
    lengths: Callable[[], Mapping[str, int]] | None = None


@dataclass(frozen=True, slots=True)
class Added:
    """What one file adds: a sentence for people, the number of new things for machines."""

    file: str
    kind: str
    message: str
    count: int = 0
    to: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """The row of `import --json`."""
        return {"file": self.file, "kind": self.kind, "count": self.count, "to": list(self.to), "message": self.message}


@dataclass
class Plan:
    """The files as they will be, gathered while the sources are read."""

    folder: Folder
    configuration: Configuration
    options: Options
    questions: TestSet | None = None
    # What the evaluation's own file of questions carries beside them.
    carried: QuestionFile | None = None
    contents: dict[Path, bytes] = field(default_factory=dict)
    removed: set[Path] = field(default_factory=set)
    added: list[Added] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    # Whether the questions to come are unknown, because their file has faults.
    questions_unknown: bool = False

    def text(self, path: Path) -> str:
        """The text of a file of the evaluation as it will be; empty where there is none."""
        self._refuse_long_name(path)
        if path in self.contents:
            return files.decode(files.unpack(self.contents[path], path), file=self.folder.name(path))
        if path in self.removed or not path.exists():
            return ""
        return files.decode(files.read_bytes(path), file=self.folder.name(path))

    def write(self, path: Path, text: str) -> None:
        """Have a text written, compressed where the file's name says so."""
        self.write_bytes(path, pack(path, text.encode("utf-8")))

    def write_bytes(self, path: Path, data: bytes) -> None:
        """Have bytes written as they are."""
        self._refuse_long_name(path)
        self.contents[path] = data

    def _refuse_long_name(self, path: Path) -> None:
        """Stop at a tag or set name that is allowed but, with its %XX, longer than a file's name may be."""
        if len(path.name.encode()) > LONGEST_FILE_NAME:
            message = f"the name is too long for a file: {path.name[:60]}... has {len(path.name.encode())} bytes"
            raise InputError(Problem("configuration", message, self.folder.name(path.parent)))

    def report(self, source: Source, message: str, *, count: int = 0, to: Path | None = None) -> None:
        """Note what a source adds."""
        places = () if to is None else (self.folder.name(to),)
        self.added.append(Added(source.name, source.kind, message, count, places))

    def test_set(self, source: Source) -> TestSet:
        """The questions that the sources are about; an error where there are none yet."""
        if self.questions_unknown:
            raise InputError(())
        if self.questions is None:
            message = "the evaluation has no questions yet; import them first, or together with this file"
            raise InputError(Problem("configuration", message, source.name))
        return self.questions

    def carry_out(self) -> None:
        """Write everything: all new files are on the disk before the first old one is replaced."""
        files.write_all(self.contents)
        for path in self.removed - set(self.contents):
            path.unlink(missing_ok=True)
