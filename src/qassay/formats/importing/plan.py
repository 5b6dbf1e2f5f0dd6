"""The plan of an import: nothing is written before everything is known to be right.

The rows of the sources are kept once (`Incoming`). A folder gets those that its files lack, appended; a store gets
all of them, and compares them with its own rows within its transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from qassay.errors import InputError, Problem, Problems, Remedy
from qassay.formats import files, jsonl
from qassay.formats.files import pack
from qassay.formats.folder import Configuration, Folder
from qassay.formats.judgments import RowKind
from qassay.formats.names import LONGEST_FILE_NAME
from qassay.formats.parts import Part
from qassay.formats.questions import QuestionFile, question_row
from qassay.questions import Question, TestSet

REPLACE = Remedy("replace", True, "To replace it")
ANOTHER_SET = Remedy("set", "NAME", "To name another set")
ZERO_OR_SKIP = (
    Remedy("qassay", "score --missing zero", "To count 0"),
    Remedy("qassay", "score --missing skip", "to leave them out"),
)


@dataclass(frozen=True, slots=True)
class IncomingFile:
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
class IncomingRows:
    """Rows that one source brings to one part of the evaluation: JSON texts, and the kinds of judgments.

    There may be millions of judgments, so rows are not kept parsed. `name` is that of the set or list, and `new` are
    the places of the rows that the part lacks.
    """

    kind: RowKind
    name: str
    file: str
    texts: Sequence[str]
    kinds: Sequence[str] = ()
    new: Sequence[int] = ()

    def lines(self) -> str:
        """The rows that the part lacks, as lines."""
        return "".join(f"{self.texts[place]}\n" for place in self.new)


@dataclass
class Incoming:
    """Checked contents of files on their way into an evaluation."""

    questions: dict[str, Question] = field(default_factory=dict)
    questions_file: str = ""
    # Whether these are all questions of a file, which then gives their order.
    whole: bool = False
    runs: dict[str, Part] = field(default_factory=dict)
    batches: list[IncomingRows] = field(default_factory=list)

    def of_kind(self, kind: RowKind) -> list[IncomingRows]:
        """The batches of one kind of rows, in order."""
        return [batch for batch in self.batches if batch.kind == kind]


@dataclass
class ImportPlan:
    """The content of the sources, gathered while they are read."""

    folder: Folder
    configuration: Configuration
    options: Options
    questions: TestSet | None = None
    # What the evaluation's own file of questions contains beside them.
    carried: QuestionFile | None = None
    incoming: Incoming = field(default_factory=Incoming)
    # New texts of `qassay.toml` and of the patterns, which are files of the folder also where there is a store.
    own_files: dict[Path, str] = field(default_factory=dict)
    added: dict[IncomingFile, Added] = field(default_factory=dict)
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
        """The text of `qassay.toml` or of the patterns as it will be; empty where there is none."""
        if path in self.own_files:
            return self.own_files[path]
        return files.decode(files.read_bytes(path), file=self.folder.name(path)) if path.exists() else ""

    def rows(self, name: str) -> list[jsonl.Numbered]:
        """The rows of a part of the evaluation as they will be; those to be added have no line yet."""
        self.refuse_long_name(name)
        part = self.folder.part(name)
        rows = [] if part is None else jsonl.parse_rows(part.text(), file=name)
        for batch in self.incoming.batches:
            if batch.file == name:
                rows += ((0, row) for _, row in jsonl.parse_rows(batch.lines(), file=""))
        return rows

    def refuse_long_name(self, name: str) -> None:
        """Stop at a tag or set name that is allowed but, with its %XX, longer than a file's name may be."""
        place, _, own = name.rpartition("/")
        if len(own.encode()) > LONGEST_FILE_NAME:
            message = f"the name is too long for a file: {own[:60]}... has {len(own.encode())} bytes"
            raise InputError(Problem("configuration", message, place))

    def report(self, source: IncomingFile, message: str, *, count: int = 0, to: str | None = None) -> None:
        """Note what a source adds; several reports on a source become one."""
        before = self.added[source]
        message = f"{before.message}; {message}" if before.message else message
        places = before.to if to is None else (*before.to, to)
        self.added[source] = replace(before, message=message, count=before.count + count, to=places)

    def test_set(self, source: IncomingFile) -> TestSet:
        """The questions that the sources are about; an error where there are none yet."""
        if self.questions_unknown:
            raise InputError(())
        if self.questions is None:
            message = "the evaluation has no questions yet; import them first, or together with this file"
            raise InputError(Problem("configuration", message, source.name))
        return self.questions

    def changes(self) -> dict[str, bytes | None]:
        """The parts of a folder that change: their new bytes; None for those that go."""
        folder, incoming = self.folder, self.incoming
        changed: dict[str, bytes | None] = {}
        if incoming.questions and self.questions is not None:
            changed = dict.fromkeys(part.name for part in folder.question_files())
            text = jsonl.dump_rows(map(question_row, self.questions))
            changed[incoming.questions_file] = pack(Path(incoming.questions_file), text.encode())
        for tag in incoming.runs:
            changed |= dict.fromkeys(part.name for part in folder.files_of_run(tag))
        changed |= {run.name: run.stored() for run in incoming.runs.values()}
        added: dict[str, list[str]] = {}
        for batch in incoming.batches:
            added.setdefault(batch.file, []).append(batch.lines())
        for name, lines in added.items():
            part = folder.part(name)
            changed[name] = pack(Path(name), "".join(["" if part is None else ended(part.text()), *lines]).encode())
        return changed

    def write_files(self) -> None:
        """Import into the folder: all new files are on the disk before the first old one is replaced."""
        changed = {self.folder.path / name: data for name, data in self.changes().items()}
        self.write_own_files({path: data for path, data in changed.items() if data is not None})
        for path, data in changed.items():
            if data is None:
                path.unlink(missing_ok=True)

    def write_own_files(self, others: Mapping[Path, bytes] | None = None) -> None:
        """Write `qassay.toml` and the patterns, together with other files."""
        own = {path: pack(path, text.encode()) for path, text in self.own_files.items()}
        files.write_all({**(others or {}), **own})


def line_of(row: Mapping[str, Any]) -> str:
    """A row as a line of a file, without its end."""
    return jsonl.dump_rows([row]).removesuffix("\n")


def ended(text: str) -> str:
    """A text whose last line is ended, so that lines can follow."""
    return text if not text or text.endswith("\n") else f"{text}\n"
