"""The plan of an import: nothing is written before everything is known to be right.

The rows of the sources are kept as rows (`Incoming`). A folder gets those that its files lack, appended; a store gets
all of them, and compares them with its own rows within its transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from qassay.errors import InputError, Problem, Problems
from qassay.formats import files, jsonl
from qassay.formats.files import pack
from qassay.formats.folder import Configuration, Folder
from qassay.formats.names import LONGEST_FILE_NAME
from qassay.formats.questions import QuestionFile
from qassay.questions import Question, TestSet

RowKind: TypeAlias = Literal["answers", "run-information", "nuggets", "judgments"]


@dataclass(frozen=True, slots=True)
class Source:
    """One file to be imported: where it is, how messages call it, and what it contains."""

    path: Path
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Options:
    """The user's options for the files: name of the set, encoding, sheet, type of untyped questions, leave to replace.

    For people's own tables: the name of the `run`, which `keys` contain what, and the task's label for each of the
    file's `labels`. `automatic` says that a program gave the judgments. `spread` puts the rows of several people
    about one item into sets of their own. `new_questions` lets answers add questions to a test set that has some.
    `lengths` gives the length of every document of the collection, where there
    is one to check runs against.
    """

    set_name: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    default_type: str | None = None
    replace: bool = False
    run: str | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    automatic: bool = False
    spread: bool = False
    new_questions: bool = False
    lengths: Callable[[], Mapping[str, int]] | None = None


@dataclass(frozen=True, slots=True)
class Added:
    """The additions from one file: a sentence for people, the number of new rows for programs."""

    file: str
    kind: str
    message: str
    count: int = 0
    to: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """The row of `import --json`."""
        return {"file": self.file, "kind": self.kind, "count": self.count, "to": list(self.to), "message": self.message}


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that one source brings to one file of the evaluation: JSON texts, and the kinds of judgments.

    There may be millions of judgments, so rows are not kept parsed. `name` is that of the set or list.
    """

    kind: RowKind
    name: str
    file: str
    texts: Sequence[str]
    kinds: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class RunFile:
    """The file of a run: its place in the folder, and its bytes."""

    file: str
    data: bytes


@dataclass
class Incoming:
    """Checked contents of files on their way into an evaluation."""

    questions: dict[str, Question] = field(default_factory=dict)
    questions_file: str = ""
    # Whether these are all questions of a file, which then gives their order.
    whole: bool = False
    runs: dict[str, RunFile] = field(default_factory=dict)
    batches: list[Batch] = field(default_factory=list)

    def of_kind(self, kind: RowKind) -> list[Batch]:
        """The batches of one kind of rows, in order."""
        return [batch for batch in self.batches if batch.kind == kind]


@dataclass
class Plan:
    """The content of the sources, gathered while they are read."""

    folder: Folder
    configuration: Configuration
    options: Options
    questions: TestSet | None = None
    # What the evaluation's own file of questions contains beside them.
    carried: QuestionFile | None = None
    incoming: Incoming = field(default_factory=Incoming)
    # For a folder: lines to append to files of rows, files to replace, and files to remove.
    appended: dict[Path, list[str]] = field(default_factory=dict)
    replaced: dict[Path, str] = field(default_factory=dict)
    removed: set[Path] = field(default_factory=set)
    added: dict[Source, Added] = field(default_factory=dict)
    warnings: Problems = field(default_factory=Problems)
    problems: Problems = field(default_factory=Problems)
    # Whether the questions to come are unknown, because their file has faults.
    questions_unknown: bool = False

    def attempt(self, step: Callable[..., None], *arguments: object) -> None:
        """Run a step on the plan, and gather its problems instead of stopping at them."""
        try:
            step(self, *arguments)
        except InputError as error:
            # Rows that were made from a larger one have no line of their own.
            self.problems += error.problems.changed(lambda problem: replace(problem, line=problem.line or None))

    def text(self, path: Path) -> str:
        """The text of a file of the evaluation as it will be; empty where there is none."""
        if path in self.replaced:
            return self.replaced[path]
        return files.decode(files.read_bytes(path), file=self.folder.name(path)) if path.exists() else ""

    def rows(self, path: Path) -> list[jsonl.Numbered]:
        """The rows of a file of the evaluation as they will be; those to be appended have no line yet."""
        self.refuse_long_name(path)
        appended = jsonl.parse_rows("\n".join(self.appended.get(path, ())), file="")
        return [*jsonl.parse_rows(self.text(path), file=self.folder.name(path)), *((0, row) for _, row in appended)]

    def append(self, path: Path, lines: Iterable[str]) -> None:
        """Have lines appended to a file."""
        self.appended.setdefault(path, []).extend(lines)

    def refuse_long_name(self, path: Path) -> None:
        """Stop at a tag or set name that is allowed but, with its %XX, longer than a file's name may be."""
        if len(path.name.encode()) > LONGEST_FILE_NAME:
            message = f"the name is too long for a file: {path.name[:60]}... has {len(path.name.encode())} bytes"
            raise InputError(Problem("configuration", message, self.folder.name(path.parent)))

    def report(self, source: Source, message: str, *, count: int = 0, to: Path | None = None) -> None:
        """Note what a source adds; several reports on a source become one."""
        before = self.added[source]
        message = f"{before.message}; {message}" if before.message else message
        places = before.to if to is None else (*before.to, self.folder.name(to))
        self.added[source] = replace(before, message=message, count=before.count + count, to=places)

    def test_set(self, source: Source) -> TestSet:
        """The questions that the sources are about; an error where there are none yet."""
        if self.questions_unknown:
            raise InputError(())
        if self.questions is None:
            message = "the evaluation has no questions yet; import them first, or together with this file"
            raise InputError(Problem("configuration", message, source.name))
        return self.questions

    def write_files(self) -> None:
        """Import into the folder: all new files are on the disk before the first old one is replaced."""
        contents = {self.folder.contents / run.file: run.data for run in self.incoming.runs.values()}
        contents |= {path: pack(path, text.encode()) for path, text in self.replaced.items()}
        for path, lines in self.appended.items():
            contents[path] = pack(path, joined(self.text(path), lines).encode())
        files.write_all(contents)
        for path in self.removed - contents.keys():
            path.unlink(missing_ok=True)

    def write_own_files(self) -> None:
        """Write configuration and patterns, which are files of the folder also where there is a store."""
        outside = {path: text for path, text in self.replaced.items() if not path.is_relative_to(self.folder.contents)}
        files.write_all({path: pack(path, text.encode()) for path, text in outside.items()})


def line_of(row: Mapping[str, Any]) -> str:
    """A row as a line of a file, without its end."""
    return jsonl.dump_rows([row]).removesuffix("\n")


def joined(text: str, lines: Iterable[str]) -> str:
    """A text with lines appended; its last line is ended first."""
    return (text if not text or text.endswith("\n") else text + "\n") + "".join(line + "\n" for line in lines)
