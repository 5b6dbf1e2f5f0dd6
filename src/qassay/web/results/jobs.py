"""Where results are computed: one process beside the server, a short queue before it, and what was found before.

    jobs = JobQueue()
    job = jobs.submit(order, state)      # at once: a job that is done, is being done, or waits
    await jobs.wait(job, seconds)

`state` is the fingerprint of the store. What was found is kept for as long as it fits, under what was asked, together
with the state; whoever asks in another state gets a new answer, unless the last one is younger than FRESH seconds:
while forty people save, no state lasts as long as a study. The answer tells when it was found and for which state. That
something cannot be computed holds for its state alone: whoever has mended the cause asks at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import multiprocessing
import pickle
import queue
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Literal, TypeAlias

from qassay.formats.files import TemporaryFolder
from qassay.formats.times import now
from qassay.web.results.request import Reply
from qassay.web.results.worker import Order, Worker, begin, work

Condition: TypeAlias = Literal["waiting", "running", "found", "refused", "broken"]

FRESH = 60.0
# A study that takes longer is broken off.
LIMIT_SECONDS = 900.0
# The process ends when nothing was asked for so long: it holds a whole evaluation.
IDLE_SECONDS = 600.0
QUEUE = 20
SLOW = ("sensitivity", "stability", "agreement", "compare")
KEPT_BYTES = 64 * 1024 * 1024


class CrowdedError(Exception):
    """Too much is waiting to be computed."""


@dataclass(eq=False)
class Job:
    """One thing to compute. What was found is kept as bytes, so that it is known how much there is."""

    order: Order
    state: str
    condition: Condition = "waiting"
    done: int = 0
    total: int = 0
    message: str = ""
    problems: list[dict[str, Any]] = field(default_factory=list)
    at: str = ""
    finished: float = 0.0
    data: bytes = b""
    # Whether it says why there is no result.
    refuses: bool = False
    ended: threading.Event = field(default_factory=threading.Event)
    id: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def is_over(self) -> bool:
        """Whether there is an answer, of whatever kind."""
        return self.ended.is_set()

    def found(self) -> Any:
        """What was found."""
        return pickle.loads(self.data)  # noqa: S301  # from the process that this one started


class JobQueue:
    """The process that computes, its queue and its memory."""

    def __init__(self, *, worker: Worker = work, limit: float = LIMIT_SECONDS, kept: int = KEPT_BYTES) -> None:
        self._worker = worker
        self._limit = limit
        self._most = kept
        self._jobs: OrderedDict[Order, Job] = OrderedDict()
        self._waiting: queue.PriorityQueue[tuple[bool, int, Job]] = queue.PriorityQueue()
        self._submitted = itertools.count()
        self._turn = threading.Lock()
        self._closed = threading.Event()
        self._driver: threading.Thread | None = None

    def submit(self, order: Order, state: str, *, fresh: bool = False) -> Job:
        """The job for an order: the last one where it still holds, else a new one.

        With `fresh`, an answer for another state is never good enough.
        """
        with self._turn:
            last = self._jobs.get(order)
            if last is not None and self._holds(last, state, fresh=fresh):
                self._jobs.move_to_end(order)
                return last
            if self._closed.is_set() or self._waiting.qsize() >= QUEUE:
                raise CrowdedError
            job = Job(order, state)
            self._jobs[order] = job
            self._jobs.move_to_end(order)
            # What takes long gives way to what does not.
            self._waiting.put((order.request.study in SLOW, next(self._submitted), job))
            if self._driver is None or not self._driver.is_alive():
                self._driver = threading.Thread(target=self._drive, name="qassay-results", daemon=True)
                self._driver.start()
            return job

    def _holds(self, last: Job, state: str, *, fresh: bool) -> bool:
        if not last.is_over:
            return last.state == state or not fresh
        if last.condition == "broken":
            return not fresh and time.monotonic() - last.finished < FRESH
        if last.refuses:
            return last.state == state
        return last.state == state or (not fresh and time.monotonic() - last.finished < FRESH)

    def find(self, number: str) -> Job | None:
        """The job with this id, while it is remembered."""
        with self._turn:
            return next((job for job in self._jobs.values() if job.id == number), None)

    async def wait(self, job: Job, seconds: float) -> bool:
        """Wait for a job without holding a thread; tells whether it is over."""
        deadline = time.monotonic() + seconds
        pause = 0.01
        while not job.is_over and time.monotonic() < deadline:
            await asyncio.sleep(pause)
            pause = min(0.1, pause * 1.5)
        return job.is_over

    def close(self) -> None:
        """End the process and forget everything."""
        self._closed.set()
        with self._turn:
            driver = self._driver
            self._jobs.clear()
        if driver is not None:
            driver.join(timeout=10)

    # ---- the thread that drives the process --------------------------------------------------------------------------

    def _drive(self) -> None:
        running: ResultsProcess | None = None
        try:
            while (job := self._next()) is not None:
                if running is None:
                    running = ResultsProcess(self._worker)
                if not self._do(job, running.process, running.pipe):
                    running.end()
                    running = None
        finally:
            if running is not None:
                running.end()

    def _next(self) -> Job | None:
        """The next job; None where it is time to end. Whoever asks after that starts a new thread."""
        idle = time.monotonic() + IDLE_SECONDS
        while not self._closed.is_set():
            with contextlib.suppress(queue.Empty):
                return self._waiting.get(timeout=0.25)[2]
            with self._turn:
                if time.monotonic() > idle and self._waiting.empty():
                    self._driver = None
                    return None
        return None

    def _do(self, job: Job, process: BaseProcess, pipe: Connection) -> bool:
        """Have one job done; False where the process is of no use any more."""
        deadline = time.monotonic() + self._limit
        job.condition = "running"
        try:
            pipe.send_bytes(pickle.dumps(job.order))
            while not self._closed.is_set():
                if time.monotonic() > deadline:
                    self._finish(job, "broken", f"it took longer than {self._limit / 60:.3g} minutes")
                    return False
                if not pipe.poll(0.25):
                    continue
                data = pipe.recv_bytes()
                kind, *rest = pickle.loads(data)  # noqa: S301  # from the process that this one started
                if kind == "progress":
                    job.done, job.total = rest
                    continue
                self._take(job, kind, rest)
                return True
        except (EOFError, OSError):
            self._finish(job, "broken", _cause(process))
            return False
        self._finish(job, "broken", "the server is being stopped")
        return False

    def _take(self, job: Job, kind: Condition, rest: list[Any]) -> None:
        if kind == "found":
            job.data = pickle.dumps(rest[0], protocol=pickle.HIGHEST_PROTOCOL)
            job.refuses = isinstance(rest[0], Reply) and bool(rest[0].message)
            self._finish(job, "found")
        else:
            job.problems = rest[1] if len(rest) > 1 else []
            job.refuses = kind == "refused"
            self._finish(job, kind, rest[0])

    def _finish(self, job: Job, condition: Condition, message: str = "") -> None:
        job.condition, job.message, job.at, job.finished = condition, message, now(), time.monotonic()
        job.ended.set()
        with self._turn:
            self._forget()

    def _forget(self) -> None:
        """Let go of what was asked for longest ago, until the rest fits; the last answer always stays."""
        size = sum(len(job.data) + 1_000 for job in self._jobs.values())
        for order in list(self._jobs)[:-1]:
            if size <= self._most:
                return
            if self._jobs[order].is_over:
                size -= len(self._jobs.pop(order).data) + 1_000


class ResultsProcess:
    """The process, the pipe to it, and the folder in which it keeps what is temporary.

    The folder is ours, and goes with the last who holds it: the process is killed and cannot tidy up behind itself.
    """

    def __init__(self, worker: Worker) -> None:
        context = multiprocessing.get_context("spawn")
        self.folder = TemporaryFolder()
        self.pipe, theirs = context.Pipe()
        given = (worker, theirs, str(self.folder.path))
        self.process: BaseProcess = context.Process(target=begin, args=given, name="qassay-results", daemon=True)
        self.process.start()
        theirs.close()

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self.pipe.close()
        self.process.kill()
        self.process.join(timeout=10)


def _cause(process: BaseProcess) -> str:
    """Why the process is gone, as far as its end tells."""
    process.join(timeout=5)
    if process.exitcode is not None and process.exitcode < 0:
        return "the process that computes was ended from outside, perhaps because it took more memory than there is"
    return "an error of the program ended the process that computes; the log of the server has it"
