"""Uploaded runs are read in a process of their own, with limits of time and memory.

A few kilobytes can unpack to a million faulty lines, and a reader can meet a file that makes it abort: neither may take
the server with it. Of the faults of a file the first ones travel back, and how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from qassay.child import ChildError, PythonProcess, Report
from qassay.collections import open_collection
from qassay.errors import InputError, Problem
from qassay.formats.importing.as_runs import read_as_runs
from qassay.questions import TestSet
from qassay.tasks import Task

# A file that takes longer is refused; one of a gigabyte takes about a minute.
LIMIT_SECONDS = 300.0
# Memory that reading may take: so much, and more for a large file.
LIMIT_BYTES = 2 << 30
BYTES_PER_BYTE = 8


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to check, unpacked, and what its run is checked against."""

    path: Path
    called: str
    task: Task
    questions: TestSet
    collection: Path | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """The tag of a faultless run and what is odd in it, or the first faults of another one and how many there are.

    A table of answers has the runs of one system or more: `made` has their contents, by tag.
    """

    tag: str | None
    problems: tuple[Problem, ...] = ()
    faults: int = 0
    made: Mapping[str, bytes] = field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()


def check_upload(upload: Upload) -> Checked:
    """Read and check one file, by the code that imports it."""
    names = {upload.path: upload.called}
    answers = read_as_runs([upload.path], task=upload.task, questions=upload.questions, names=names)
    read = answers.read
    problems = read.faults(None if upload.collection is None else _lengths(upload.collection, upload.called))
    if not problems:
        # The warning that the file is not named after its run says nothing here: the store names it.
        odd = tuple(warning for warning in read.warnings if warning.rule != "configuration")
        return Checked(read.runs.tags[0], made=answers.made, warnings=odd)
    # By line; what is missing has none and comes last.
    problems.sort(key=lambda problem: (problem.line is None, problem.line or 0))
    return Checked(None, problems.kept(), problems.total)


def _lengths(collection: Path, called: str) -> Mapping[str, int]:
    """The lengths of the documents; their faults are the organiser's, and not shown to who sends a run."""
    try:
        return open_collection(collection).lengths()
    except InputError:
        message = "cannot be checked: documents of the evaluation have faults. Its organisers see them: qassay check"
        raise InputError(Problem("configuration", message, called)) from None


def refused(problem: Problem) -> Checked:
    """A file that is not read at all."""
    return Checked(None, (problem,), 1)


def check_or_refuse(upload: Upload, _report: Report) -> Checked:
    """The same, with an error of the file in its place."""
    try:
        return check_upload(upload)
    except InputError as error:
        return Checked(None, error.problems, error.problems.total)


class Checker(PythonProcess):
    """The process that checks; started with the first file, and again after a file that ended it."""

    def __init__(
        self,
        *,
        seconds: float = LIMIT_SECONDS,
        memory: int = LIMIT_BYTES,
        work: Callable[[Upload, Report], Checked] = check_or_refuse,
    ) -> None:
        super().__init__(work, name="qassay-uploads")
        self._seconds, self._most = seconds, memory

    def check(self, upload: Upload) -> Checked:
        """The content of a file; a refusal where reading it takes too long, too much memory, or ends the process."""
        most = self._most + BYTES_PER_BYTE * upload.path.stat().st_size
        try:
            checked: Checked = self.ask(upload, seconds=self._seconds, memory=most)
        except ChildError as error:
            remedy = "Look at its first lines, or split it; qassay check has no such limits"
            return refused(Problem("syntax", f"cannot be checked: reading it {error}. {remedy}", upload.called))
        return checked
