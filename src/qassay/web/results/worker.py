"""The process that computes: it opens the evaluation itself, and never holds up whoever saves a judgment.

It is started by `jobs` and talks with it over a pipe: an `Order` comes in, `("progress", done, total)` and then
`("found", ...)`, `("refused", ...)` or `("broken", ...)` go out. It ends when the pipe does.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qassay.errors import QassayError
    from qassay.evaluation import Evaluation
    from qassay.web.results.finding import Finding
    from qassay.web.results.request import Reply, StudyRequest

# How much the process gives way to the one that serves.
NICENESS = 10
# Progress is told at most so often (seconds).
TELL_EVERY = 0.2
# So many problems of an input travel to the page.
PROBLEMS = 100


@dataclass(frozen=True)
class Order:
    """What to compute on the evaluation in a folder; with a file, the named table goes there as CSV."""

    folder: str
    request: StudyRequest
    part: str | None = None
    file: str | None = None
    provisional: str | None = None


def begin(worker: Worker, pipe: Connection, folder: str) -> None:
    """What the process does: all that is temporary goes to a folder that the server removes."""
    tempfile.tempdir = folder
    worker(pipe)


def work(pipe: Connection) -> None:
    """Answer orders until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    handler = OrderHandler(pipe)
    # The server is gone where the pipe is: nobody is left to tell.
    with contextlib.suppress(EOFError, OSError):
        while True:
            handler.answer(pickle.loads(pipe.recv_bytes()))  # noqa: S301  # from the process that started this one


class OrderHandler:
    """Answers orders over a pipe, and keeps the evaluation open as it was read last."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe
        self.opened: Evaluation | None = None
        self.told = 0.0

    def answer(self, order: Order) -> None:
        """Compute one thing, and say how it went. A bug ends the process, with its traceback in the server's log."""
        from qassay.errors import QassayError

        try:
            self.send("found", self.compute(order))
        except QassayError as error:
            self.send("refused", *_told(error))
        except MemoryError:
            self.send("broken", "it takes more memory than there is")

    def compute(self, order: Order) -> Reply:
        """What was ordered; what cannot be computed is said beside what there is to choose from."""
        from qassay.errors import QassayError
        from qassay.web.results import choices
        from qassay.web.results.compute import compute
        from qassay.web.results.request import Reply

        evaluation = self.evaluation(order.folder)
        offered = choices.offer(evaluation)
        try:
            choices.checked(order.request.choice, offered)
            found = compute(evaluation, order.request, self.progress)
            if order.file is not None:
                _write(found, order)
                return Reply(offered)
        except QassayError as error:
            message, problems = _told(error)
            return Reply(offered, None, message, tuple(problems))
        return Reply(offered, found)

    def evaluation(self, folder: str) -> Evaluation:
        """The evaluation, read anew only where its store or its configuration has changed."""
        from qassay.evaluation import open_evaluation

        present = open_evaluation(folder)
        last = self.opened
        same = last is not None and present.folder.written is not None
        if same and last is not None and last.folder == present.folder and last.configuration == present.configuration:
            return last
        self.opened = present
        return present

    def progress(self, done: int, total: int) -> None:
        """Tell how far the work is, now and then."""
        moment = time.monotonic()
        if moment - self.told >= TELL_EVERY:
            self.told = moment
            self.send("progress", done, total)

    def send(self, *message: Any) -> None:
        """Send a message to the server."""
        self.pipe.send_bytes(pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL))


def _told(error: QassayError) -> tuple[str, list[dict[str, Any]]]:
    """An error as a sentence, and its first problems."""
    from qassay.errors import InputError
    from qassay.web.errors import without_path

    if isinstance(error, InputError):
        problems = [without_path(one) for one in error.problems[:PROBLEMS]]
        return str(problems[0]), [one.as_json() for one in problems]
    return str(error), []


def _write(found: Finding, order: Order) -> None:
    from qassay.errors import unknown
    from qassay.web.results.csv_tables import csv_lines

    part = found.part(order.part or "")
    if part is None:
        raise unknown("table", order.part or "", [one.name for one in found.parts])
    with Path(order.file or "").open("w", encoding="utf-8", newline="") as target:
        target.writelines(csv_lines(part.table, provisional=order.provisional))


Worker = Callable[[Connection], None]
