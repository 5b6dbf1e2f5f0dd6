"""The computing of results: one process beside the server, a short queue before it, and the results so far.

    jobs = JobQueue()
    job = jobs.submit(request, state)      # at once: a job that is done, is being done, or waits
    await jobs.wait(job, seconds)

`state` is the fingerprint of the store. Results are kept for as long as they fit, under their request, together with
the state. A request in another state gets a new result, unless the last one is younger than FRESH seconds: while forty
people save, no state lasts as long as a study. The job says when it finished and for which state. A refusal holds for
its state alone: after the cause is fixed, the next request computes at once.

The process opens the evaluation itself, and never delays a request that saves a judgment.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import pickle
import queue
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from qassay.child import ChildError, PythonProcess, Report
from qassay.errors import InputError, Problem, QassayError, Remedy, UsageError, unknown
from qassay.evaluation import Evaluation, open_evaluation
from qassay.formats.times import now
from qassay.web.results.choices import check, choices_of
from qassay.web.results.finding import Finding, StudyRequest, StudyResult, csv_lines, restricted

Condition: TypeAlias = Literal["waiting", "running", "found", "broken"]

FRESH = 60.0
# A study that takes longer is interrupted.
LIMIT_SECONDS = 900.0
# So is one that takes more than this share of the machine's memory: the server and its database need the rest.
MEMORY_SHARE = 0.6
# The process ends when it is idle for this long: it has a whole evaluation in memory.
IDLE_SECONDS = 600.0
QUEUE = 20
KEPT_BYTES = 64 * 1024 * 1024
# How much the process gives way to the one that serves.
NICENESS = 10
# Problems of an input that travel to the page, at most.
PROBLEMS = 100


class CrowdedError(Exception):
    """Too much is waiting to be computed."""


@dataclass(eq=False)
class Job:
    """One request and its result, kept as bytes, so that its size is known."""

    request: StudyRequest
    state: str
    condition: Condition = "waiting"
    done: int = 0
    total: int = 0
    message: str = ""
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

    def result(self) -> StudyResult:
        """The result."""
        result: StudyResult = pickle.loads(self.data)  # noqa: S301  # from the process that this one started
        return result


class Studies:
    """Computes results in the process, and keeps the evaluation that it opened last."""

    def __init__(self) -> None:
        self.opened: Evaluation | None = None
        # The same without questions that are not finished: what was left out, and the evaluation.
        self.part: tuple[Evaluation, tuple[str, ...], Evaluation] | None = None

    def __call__(self, request: StudyRequest, report: Report) -> StudyResult:
        """The result of a request; an error of the study is part of it, beside the options that there are."""
        offered = None
        try:
            evaluation = self.evaluation(request.folder, request.unfinished)
            offered = choices_of(evaluation)
            check(dict(request.options), offered, evaluation.task)
            finding = request.compute(evaluation, report)
            if request.file is not None:
                _write(finding, request)
                return StudyResult(offered)
        except QassayError as error:
            return StudyResult(offered, None, *_sentence_and_problems(error))
        return StudyResult(offered, finding)

    def evaluation(self, folder: str, unfinished: tuple[str, ...] = ()) -> Evaluation:
        """The evaluation without some questions, read again only where its store or its configuration has changed."""
        whole = self.whole(folder)
        if not unfinished:
            return whole
        if self.part is None or self.part[0] is not whole or self.part[1] != unfinished:
            self.part = (whole, unfinished, restricted(whole, unfinished))
        return self.part[2]

    def whole(self, folder: str) -> Evaluation:
        """The evaluation with all its questions."""
        present, last = open_evaluation(folder), self.opened
        same = last is not None and (last.folder, last.configuration) == (present.folder, present.configuration)
        if last is None or not same or present.folder.stored is None:
            self.opened = last = present
        return last


def _sentence_and_problems(error: QassayError) -> tuple[str, tuple[Problem, ...], tuple[Remedy, ...]]:
    """An error as a sentence, its first problems, and the options that help."""
    from qassay.web.errors import for_page, sentence_of  # the framework, which nothing else here needs

    if isinstance(error, InputError):
        problems = tuple(map(for_page, error.problems[:PROBLEMS]))
        return str(problems[0]), problems, error.problems[0].way_out
    return sentence_of(error), (), error.way_out if isinstance(error, UsageError) else ()


def _write(finding: Finding, request: StudyRequest) -> None:
    part = finding.part(request.part or "")
    if part is None:
        raise unknown("table", request.part or "", [part.name for part in finding.parts])
    with Path(request.file or "").open("w", encoding="utf-8", newline="") as target:
        target.writelines(csv_lines(part.table, provisional=request.provisional))


# ---- the server's side -----------------------------------------------------------------------------------------------


class JobQueue:
    """The process that computes, its queue and its memory."""

    def __init__(self, *, memory_limit: int = KEPT_BYTES) -> None:
        self._limit = LIMIT_SECONDS
        self._job_memory = int(MEMORY_SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        self._most = memory_limit
        self._jobs: OrderedDict[StudyRequest, Job] = OrderedDict()
        self._waiting: queue.PriorityQueue[tuple[bool, int, Job]] = queue.PriorityQueue()
        self._submitted = itertools.count()
        self._turn = threading.Lock()
        self._closed = threading.Event()
        self._driver: threading.Thread | None = None

    def submit(self, request: StudyRequest, state: str, *, fresh: bool = False) -> Job:
        """The job for a request: the last one where it is still valid, else a new one.

        With `fresh`, an answer for another state is never good enough.
        """
        with self._turn:
            last = self._jobs.get(request)
            if last is not None and self._holds(last, state, fresh=fresh):
                self._jobs.move_to_end(request)
                return last
            if self._closed.is_set() or self._waiting.qsize() >= QUEUE:
                raise CrowdedError
            job = Job(request, state)
            self._jobs[request] = job
            self._jobs.move_to_end(request)
            # What takes long gives way to what does not.
            self._waiting.put((request.slow, next(self._submitted), job))
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
        """Wait for a job without blocking a thread; returns whether it is over."""
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
        with PythonProcess(Studies(), name="qassay-results", niceness=NICENESS) as process:
            while (job := self._next()) is not None:
                self._do(job, process)

    def _next(self) -> Job | None:
        """The next job; None where it is time to end. A later request starts a new thread."""
        idle = time.monotonic() + IDLE_SECONDS
        while not self._closed.is_set():
            with contextlib.suppress(queue.Empty):
                return self._waiting.get(timeout=0.25)[2]
            with self._turn:
                if time.monotonic() > idle and self._waiting.empty():
                    self._driver = None
                    return None
        return None

    def _do(self, job: Job, process: PythonProcess) -> None:
        """Have one job done."""

        def progress(done: int, total: int) -> None:
            job.done, job.total = done, total

        job.condition = "running"
        limits: dict[str, Any] = {"seconds": self._limit, "memory": self._job_memory}
        try:
            result = process.ask(job.request, **limits, progress=progress, is_stopped=self._closed.is_set)
        except ChildError as error:
            self._finish(job, "broken", _cause(error))
        else:
            self._take(job, result)

    def _take(self, job: Job, result: StudyResult | None) -> None:
        job.data = pickle.dumps(result, protocol=pickle.HIGHEST_PROTOCOL)
        job.refuses = result is not None and bool(result.message)
        self._finish(job, "found")

    def _finish(self, job: Job, condition: Condition, message: str = "") -> None:
        job.condition, job.message, job.at, job.finished = condition, message, now(), time.monotonic()
        job.ended.set()
        with self._turn:
            self._forget()

    def _forget(self) -> None:
        """Drop the results of the oldest requests, until the rest fits; the last result always stays."""
        size = sum(len(job.data) + 1_000 for job in self._jobs.values())
        for request in list(self._jobs)[:-1]:
            if size <= self._most:
                return
            if self._jobs[request].is_over:
                size -= len(self._jobs.pop(request).data) + 1_000


def _cause(error: ChildError) -> str:
    """Why there is no result, as far as the process says."""
    if error.kind == "stopped":
        return "the server is being stopped"
    if error.kind != "crash":
        return f"it {error}"
    if error.status is not None and error.status < 0:
        return "the process that computes was ended from outside, perhaps because it took more memory than there is"
    return "an error of the program ended the process that computes; the log of the server has it"
