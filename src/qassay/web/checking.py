"""Uploaded runs are read in a process of their own, with limits of time and memory.

A few kilobytes can unpack to a million faulty lines, and a reader can meet a file that makes it abort: neither may take
the server with it. Of the faults of a file the first ones travel back, and how many there are.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

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
_LOOK_SECONDS = 0.05


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


def work(pipe: Connection) -> None:
    """Check one file after the other until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    while True:
        try:
            upload = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            checked = check_upload(upload)
        except InputError as error:
            checked = Checked(None, error.problems, error.problems.total)
        pipe.send(checked)


class Checker:
    """The process that checks; started with the first file, and again after a file that ended it."""

    def __init__(
        self,
        *,
        seconds: float = LIMIT_SECONDS,
        memory: int = LIMIT_BYTES,
        target: Callable[[Connection], None] = work,
    ) -> None:
        self._seconds, self._memory, self._target = seconds, memory, target
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None

    def __enter__(self) -> Checker:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def check(self, upload: Upload) -> Checked:
        """The content of a file; a refusal where reading it takes too long, too much memory, or ends the process."""
        pipe = self._started()
        pipe.send(upload)
        most = self._memory + BYTES_PER_BYTE * upload.path.stat().st_size
        until = time.monotonic() + self._seconds
        reason = f"reading it takes longer than {self._seconds:g} seconds"
        while time.monotonic() < until:
            try:
                if pipe.poll(_LOOK_SECONDS):
                    checked: Checked = pipe.recv()
                    return checked
            except (EOFError, OSError):
                reason = "reading it ends the program that reads"
                break
            if memory_of(self._process) > most:
                reason = f"reading it takes more than {most >> 20:,} MiB of memory"
                break
        self.stop()
        message = f"cannot be checked: {reason}. Look at its first lines, or split it; qassay check has no such limits"
        return refused(Problem("syntax", message, upload.called))

    def stop(self) -> None:
        """End the process."""
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._pipe = None

    def _started(self) -> Connection:
        if self._pipe is None or self._process is None or not self._process.is_alive():
            self.stop()
            # Spawned: a forked copy of a process with threads may hang.
            context: Any = multiprocessing.get_context("spawn")
            self._pipe, other = context.Pipe()
            process: BaseProcess = context.Process(target=self._target, args=(other,), daemon=True)
            self._process = process
            process.start()
            other.close()
        assert self._pipe is not None  # set above
        return self._pipe


def memory_of(process: BaseProcess | None) -> int:
    """Bytes of memory that a process has; 0 where the system does not say."""
    if process is None:
        return 0
    try:
        pages = Path(f"/proc/{process.pid}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
