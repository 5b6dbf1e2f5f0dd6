"""The files of a folder on their way into a store: read by the code that reads any evaluation, and checked.

Nothing is written here. Every fault of every file is reported at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import polars as pl

from qassay.errors import InputError, Problem
from qassay.formats import files, jsonl
from qassay.formats import judgments as reading
from qassay.formats.folder import Configuration, Folder
from qassay.formats.importing.questions import check_types
from qassay.formats.names import LONGEST_NAME, name_fault
from qassay.formats.questions import QuestionFile, read_questions, reference_rows
from qassay.formats.runs import read_runs
from qassay.judging import JUDGMENT_COLUMNS
from qassay.judging.sets import check_nuggets, judgment_set, with_kinds
from qassay.nuggets import NUGGET_COLUMNS
from qassay.questions import Question, TestSet, gather


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a file: its text to the byte, and what it says."""

    text: str
    row: jsonl.Row


@dataclass(frozen=True, slots=True)
class RunFile:
    """One run: how messages call its file, and the file's bytes."""

    called: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Known:
    """What the store has that incoming files are checked against: questions, and the nuggets of each list."""

    questions: Mapping[str, Question]
    nuggets: Mapping[str, set[tuple[str, str]]]


@dataclass
class Incoming:
    """What the files of a folder hold. Lists and sets are (file, rows) by name; judgments are kind and text alone,
    because there may be millions.
    """

    questions_file: str = ""
    found: QuestionFile | None = None
    # What the other files may refer to: the questions of the file laid over those of the store.
    questions: TestSet = field(default_factory=lambda: TestSet(()))
    answers: tuple[str, list[Line]] = ("", [])
    information: tuple[str, list[Line]] = ("", [])
    runs: dict[str, RunFile] = field(default_factory=dict)
    nuggets: dict[str, tuple[str, list[Line]]] = field(default_factory=dict)
    judgments: dict[str, tuple[str, list[tuple[str, str]]]] = field(default_factory=dict)


def read_incoming(folder: Folder, configuration: Configuration, known: Known) -> Incoming:
    """Read and check every file of a folder; an error lists everything that is wrong."""
    reader = _Reader(folder, configuration, known)
    reader.attempt(reader.read_questions)
    # Without its questions nothing can be said of what refers to them.
    if not reader.problems:
        reader.attempt(reader.read_information)
        reader.attempt(reader.read_answers)
        reader.attempt(reader.read_runs)
        for name, path in folder.nugget_lists().items():
            reader.attempt(partial(reader.read_nuggets, name, path))
        for name, path in folder.judgment_sets().items():
            reader.attempt(partial(reader.read_judgments, name, path))
        reader.attempt(reader.read_labels)
    if reader.problems:
        raise InputError(reader.problems)
    return reader.incoming


def laid_over(known: Mapping[str, Question], given: TestSet, file: str) -> TestSet:
    """The questions of a file laid over those that are there.

    A file with all of them gives the order too; questions that only the store has stay.
    """
    new = given.by_id
    return gather((new if new.keys() >= known.keys() else {**known, **new}).values(), file=file)


class _Reader:
    """The files of one folder, read one kind after the other."""

    def __init__(self, folder: Folder, configuration: Configuration, known: Known) -> None:
        self.folder = folder
        self.configuration = configuration
        self.known = known
        self.incoming = Incoming()
        self.problems: list[Problem] = []

    def attempt(self, step: Callable[[], None]) -> None:
        """Take a step, and gather what is wrong instead of stopping at it."""
        try:
            step()
        except InputError as error:
            self.problems += error.problems

    def read_questions(self) -> None:
        """Lay the questions of the file over those that are there, for what refers to them."""
        incoming, known = self.incoming, self.known.questions
        if known:
            incoming.questions = gather(known.values())
        if any(path.is_file() for path in self.folder.contents.glob("questions.*")):
            path = self.folder.questions()
            name = incoming.questions_file = self.folder.name(path)
            found = incoming.found = read_questions(path, file=name)
            check_types(found.questions, self.configuration.task, name)
            if problems := list(_strange_names(found.questions.by_id, "question", name)):
                raise InputError(problems)
            incoming.questions = laid_over(known, found.questions, name)

    def read_information(self) -> None:
        """What runs say of themselves."""
        path = self.folder.run_information
        if path.exists():
            file = self.folder.name(path)
            reading.read_run_information(path, file=file)
            self.incoming.information = (file, self._lines(path, file))

    def read_answers(self) -> None:
        """Answers known from question development."""
        path = self.folder.answers
        if path.exists():
            file = self.folder.name(path)
            reading.read_answers(path, self.incoming.questions, file=file)
            self.incoming.answers = (file, self._lines(path, file))

    def read_runs(self) -> None:
        """Runs; one that leaves questions out is kept, as it is in a folder: scoring is told what to do with it."""
        paths = self.folder.runs()
        names = {path: self.folder.name(path) for path in paths}
        task = self.configuration.task
        if not paths:
            return
        found = read_runs(paths, task=task, questions=self.incoming.questions, names=names)
        if found.problems:
            raise InputError(found.problems)
        places = {name: path for path, name in names.items()}
        for tag, name in found.files.items():
            self.incoming.runs[tag] = RunFile(name, places[name].read_bytes())

    def read_nuggets(self, name: str, path: Path) -> None:
        """One nugget list."""
        file = self._named(name, path)
        table = reading.read_nuggets(path, self.incoming.questions, file=file)
        if problems := list(_strange_names(table["nugget"].unique(maintain_order=True), "nugget", file)):
            raise InputError(problems)
        self.incoming.nuggets[name] = (file, self._lines(path, file))

    def read_judgments(self, name: str, path: Path) -> None:
        """One judgment set, checked against questions, task and nuggets."""
        file = self._named(name, path)
        table = jsonl.read_table(path, JUDGMENT_COLUMNS, file=file)
        self._check_judgments(name, table, file)
        kinds = with_kinds(table, self.incoming.questions, self.configuration.task)["kind"].to_list()
        lines = files.decode(files.read_bytes(path), file=file).split("\n")
        texts = (lines[number - 1].strip(" \t\r") for number in table["line"])
        self.incoming.judgments[name] = (file, list(zip(kinds, texts, strict=True)))

    def read_labels(self) -> None:
        """The labels that a file of pairs carries, where no set of that name has come or will come."""
        found = self.incoming.found
        if found is None or not found.reference or "reference" in self.incoming.judgments:
            return
        file = self.incoming.questions_file
        rows = reference_rows(found)
        self._check_judgments(
            "reference", jsonl.rows_table([(0, row) for row in rows], JUDGMENT_COLUMNS, file=file), file
        )
        texts = jsonl.dump_rows(rows).splitlines()
        self.incoming.judgments["reference"] = (file, [("pair", text) for text in texts])

    def _check_judgments(self, name: str, table: pl.DataFrame, file: str) -> None:
        judged = judgment_set(name, table, self.incoming.questions, self.configuration.task, file=file)
        nuggets = self._nuggets_for(name)
        if problems := list(check_nuggets(judged, nuggets, file=file)):
            raise InputError(problems)

    def _nuggets_for(self, name: str) -> pl.DataFrame:
        """The nuggets that a set may name: those of its list, or of the only one there is."""
        lists = {one: set(pairs) for one, pairs in self.known.nuggets.items()}
        for one, (_, rows) in self.incoming.nuggets.items():
            lists.setdefault(one, set()).update((str(row.row["question"]), str(row.row["nugget"])) for row in rows)
        chosen = lists.get(name) or (next(iter(lists.values())) if len(lists) == 1 else set())
        columns = {"question": [pair[0] for pair in chosen], "nugget": [pair[1] for pair in chosen]}
        return pl.DataFrame(columns, schema={column: NUGGET_COLUMNS[column] for column in columns})

    def _lines(self, path: Path, file: str) -> list[Line]:
        lines = files.decode(files.read_bytes(path), file=file).split("\n")
        rows = jsonl.parse_rows("\n".join(lines), file=file)
        return [Line(lines[number - 1].strip(" \t\r"), row) for number, row in rows]

    def _named(self, name: str, path: Path) -> str:
        """How messages call the file of a set; a name that no set may have is an error."""
        file = self.folder.name(path)
        if fault := name_fault(name):
            raise InputError(Problem("configuration", f"the name {name!r} {fault}", file))
        return file


def _strange_names(names: Mapping[str, object] | pl.Series, kind: str, file: str) -> Iterator[Problem]:
    """Ids that not every database can hold."""
    for name in names:
        if len(name) > LONGEST_NAME or "\0" in name:
            message = f"the {kind} id {name[:40]!r} is longer than {LONGEST_NAME} characters, or holds a NUL"
            yield Problem("syntax", message, file)
