"""The process that computes: it opens the evaluation itself, and never holds up whoever saves a judgment.

It is started by `laboratory` and talks with it over a pipe: an `Order` comes in, `("progress", done, total)` and then
`("found", ...)`, `("refused", ...)` or `("broken", ...)` go out. It ends when the pipe does.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.web.results.inquiry import Inquiry

# How much the process gives way to the one that serves.
NICENESS = 10
# Progress is told at most so often (seconds).
TELL_EVERY = 0.2


@dataclass(frozen=True)
class Order:
    """What to compute on the evaluation in a folder; with a file, the named table goes there as CSV."""

    folder: str
    inquiry: Inquiry | None
    part: str | None = None
    file: str | None = None
    provisional: str | None = None


def work(pipe: Connection) -> None:
    """Answer orders until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    desk = Desk(pipe)
    # The server is gone where the pipe is: nobody is left to tell.
    with contextlib.suppress(EOFError, OSError):
        while True:
            desk.answer(pickle.loads(pipe.recv_bytes()))  # noqa: S301  # from the process that started this one


class Desk:
    """What the process has open: the evaluation as it was read last."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe
        self.opened: Evaluation | None = None
        self.told = 0.0

    def answer(self, order: Order) -> None:
        """Compute one thing, and say how it went."""
        from qassay.errors import InputError, QassayError

        try:
            self.send("found", self.compute(order))
        except QassayError as error:
            problems = [one.as_json() for one in error.problems[:100]] if isinstance(error, InputError) else []
            first = str(error.problems[0]) if isinstance(error, InputError) else str(error)
            self.send("refused", first, problems)
        except MemoryError:
            self.send("broken", "it takes more memory than there is")
        except Exception as error:  # a bug in a study must not end the process, and is told by its kind alone
            self.send("broken", f"an error of the program ({type(error).__name__})")

    def compute(self, order: Order) -> Any:
        """What was ordered: an offer, a finding, or the number of rows written to a file."""
        from qassay.web.results import choices
        from qassay.web.results.investigate import investigate

        evaluation = self.evaluation(order.folder)
        if order.inquiry is None:
            return choices.offer(evaluation)
        if order.inquiry.choice.changed():
            choices.checked(order.inquiry.choice, choices.offer(evaluation))
        found = investigate(evaluation, order.inquiry, self.progress)
        if order.file is None:
            return found
        return _write(found, order)

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


def _write(found: Any, order: Order) -> int:
    from qassay.errors import unknown
    from qassay.web.results.sheets import lines

    part = found.part(order.part or "")
    if part is None:
        raise unknown("table", order.part or "", [one.name for one in found.parts])
    with Path(order.file or "").open("w", encoding="utf-8", newline="") as target:
        target.writelines(lines(part.table, provisional=order.provisional))
    return len(part.table.rows)


Worker = Callable[[Connection], None]
