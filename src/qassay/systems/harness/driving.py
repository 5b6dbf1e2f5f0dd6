"""Drive a system over the questions of a test set.

Every series is asked in order, with its own history and nothing else; series run side by side, one per worker. A worker
has one connection to the system. Answers go to the log at once.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from qassay.errors import Problem, QassayError, UsageError
from qassay.questions import Question, TestSet
from qassay.systems import Answer, Asked, Documents, handed, nothing
from qassay.systems.harness.callers import Caller
from qassay.systems.harness.log import Log
from qassay.systems.harness.opening import UnderTest
from qassay.systems.harness.wire import CallError, DriveError
from qassay.systems.harness.writing import check_answer
from qassay.tasks import Task

OnFailure: TypeAlias = Literal["stop", "nil"]
Progress: TypeAlias = Callable[[int, int], None]
Unit: TypeAlias = tuple[Question, ...]
LONGEST_WAIT = 60.0


@dataclass(frozen=True, slots=True)
class DriveOptions:
    """How a system is driven.

    `workers` series are asked at a time; an answer may take `timeout` seconds; a call that fails is tried again
    `retries` times, after `backoff` seconds, then twice as many, and so on; `on_failure` says what then: stop, or
    NIL in its place. `isolate`: a connection of its own (for a command, a new process) for every series.
    """

    workers: int = 1
    timeout: float = 60.0
    retries: int = 2
    backoff: float = 0.5
    on_failure: OnFailure = "stop"
    isolate: bool = False


def units(questions: TestSet) -> list[Unit]:
    """The parts that are asked in order: each series, and each question without one; in the order of their first."""
    members: dict[str, list[Question]] = {}
    for question in questions:
        # Ids of series and of questions may be equal, so that they are kept apart.
        key = f"series {question.series}" if question.series is not None else f"question {question.id}"
        members.setdefault(key, []).append(question)
    return [tuple(group) for group in members.values()]


def drive(
    system: UnderTest,
    questions: TestSet,
    *,
    task: Task,
    log: Log,
    collection: Documents | None = None,
    options: DriveOptions = DriveOptions(),  # noqa: B008  # frozen
    progress: Progress | None = None,
) -> dict[str, Answer]:
    """Ask every question that the log has no answer for; the answers to all questions, in their order."""
    for kind, rules in task.types.items() if options.on_failure == "nil" else ():
        if not rules.may_be_empty:
            raise UsageError(f"--on-failure nil does not apply: in task {task.name} a {kind} has no empty response")
    crew = _Crew(system, task, log, collection, options)
    for unit in units(questions):
        missing = [question for question in unit if question.id not in log.answers]
        if missing and system.remembers:
            log.void([question.id for question in unit], "the series was interrupted and is asked again")
        if missing:
            crew.waiting.put(unit)
    crew.run(len(questions), progress)
    return {question.id: log.answers[question.id] for question in questions}


@dataclass(frozen=True, eq=False)
class _Crew:
    """The workers of one run and what they share."""

    system: UnderTest
    task: Task
    log: Log
    collection: Documents | None
    options: DriveOptions
    waiting: queue.Queue[Unit] = field(default_factory=queue.Queue)
    stop: threading.Event = field(default_factory=threading.Event)
    news: queue.Queue[str | BaseException | None] = field(default_factory=queue.Queue)
    callers: set[Caller] = field(default_factory=set)

    def run(self, total: int, progress: Progress | None) -> None:
        """Start the workers and wait for them; the first failure ends all of them."""
        number = min(self.options.workers, self.waiting.qsize())
        threads = [threading.Thread(target=_Worker(self).run, daemon=True) for _ in range(number)]
        for thread in threads:
            thread.start()
        busy = number
        try:
            while busy:
                try:
                    news = self.news.get(timeout=0.2)  # in short turns, which let an interruption through
                except queue.Empty:
                    continue
                if isinstance(news, BaseException):
                    raise news
                busy -= news is None
                if progress is not None:
                    progress(len(self.log.answers), total)
        finally:
            self.stop.set()
            if busy:
                for caller in list(self.callers):
                    caller.abort()
            for thread in threads:
                thread.join(1.0)


class _Worker:
    """Asks one unit after the other over a connection of its own."""

    def __init__(self, crew: _Crew) -> None:
        self.crew = crew
        self.caller: Caller | None = None
        # Answered over the connection as it is: what becomes doubtful if it turns out to answer twice.
        self.over_this: list[str] = []

    def run(self) -> None:
        """Work until no question is waiting or a worker has failed."""
        crew = self.crew
        try:
            while not crew.stop.is_set():
                try:
                    unit = crew.waiting.get_nowait()
                except queue.Empty:
                    break
                self._ask_all(unit)
                if crew.options.isolate:
                    self._close(unit[-1])
            if not crew.stop.is_set():
                self._close(None)
            crew.news.put(None)
        except BaseException as error:  # noqa: BLE001  # handed to the thread that waits, which raises it
            crew.news.put(error)

    def _ask_all(self, unit: Unit) -> None:
        """Ask the questions of a unit in order; each sees the ones before it and no other."""
        history: list[tuple[Question, Answer]] = []
        for question in unit:
            if self.crew.stop.is_set():
                return
            shown = handed(question)
            answer = self.crew.log.answers.get(question.id)
            if answer is None:
                answer = self._ask(Asked(shown, tuple(history)))
                self.crew.news.put(question.id)
            history.append((shown, answer))

    def _ask(self, asked: Asked) -> Answer:
        """One question, with all its attempts."""
        crew, options, question = self.crew, self.crew.options, asked.question
        failure: CallError | None = None
        for attempt in range(1, options.retries + 2):
            begun = time.monotonic()
            try:
                answer = self._connection().ask(asked, options.timeout)
                check_answer(answer, question, crew.task, crew.collection)
            except CallError as error:
                failure = self._examined(error)
                if crew.stop.is_set():
                    break
                crew.log.erred(question.id, failure, attempt=attempt, seconds=time.monotonic() - begun)
                if failure.fatal:
                    self._distrust(failure)
                if failure.fatal or not failure.again or attempt > options.retries:
                    break
                wait = failure.wait if failure.wait is not None else options.backoff * 2 ** (attempt - 1)
                crew.stop.wait(min(wait, LONGEST_WAIT))
            else:
                crew.log.answered(question.id, answer, attempt=attempt, seconds=time.monotonic() - begun)
                self.over_this.append(question.id)
                return answer
        return self._given_up(question, failure)

    def _examined(self, failure: CallError) -> CallError:
        """The failure, or the one behind it.

        An answer in the wrong form may be a second one to an earlier question. A system that is sent no more has then
        still the right one to say, so the connection is closed and what comes is looked at.
        """
        caller = self.caller
        if failure.kind != "form" or caller is None:
            return failure
        self.caller = None
        try:
            caller.close()
        except CallError as behind:
            return behind
        self.crew.callers.discard(caller)
        self.over_this.clear()
        return failure

    def _given_up(self, question: Question, failure: CallError | None) -> Answer:
        """NIL where that was asked for, else the end of the run."""
        crew = self.crew
        message = failure.message if failure else "it was stopped"
        # A call that was ended because another one failed says nothing about the system.
        given_up = failure is not None and not failure.fatal and not crew.stop.is_set()
        if given_up and crew.options.on_failure == "nil":
            answer = nothing(question)
            crew.log.gave_up(question.id, answer)
            return answer
        raise _failed(crew, question, message, failure)

    def _connection(self) -> Caller:
        if self.caller is None:
            self.caller = self.crew.system.connect()
            self.crew.callers.add(self.caller)
        return self.caller

    def _close(self, question: Question | None) -> None:
        """End the connection; a system that wrote too much fails here at the latest."""
        caller, self.caller = self.caller, None
        if caller is None:
            return
        try:
            caller.close()
        except CallError as error:
            self._distrust(error)
            raise _failed(self.crew, question, error.message, error) from None
        self.crew.callers.discard(caller)
        self.over_this.clear()

    def _distrust(self, error: CallError) -> None:
        if error.kind == "twice":
            self.crew.log.void(self.over_this, error.message)
            self.over_this.clear()


def _failed(crew: _Crew, question: Question | None, message: str, failure: CallError | None) -> QassayError:
    attempts = crew.options.retries + 1 if failure is not None and failure.again and not failure.fatal else 1
    tried = f" ({attempts} attempts)" if attempts > 1 else ""
    where = f"question {question.id}: " if question is not None else ""
    text = message if message.startswith(where.strip()) and where else where + message
    count = len(crew.log.answers)
    rest = "; no run is written" + (f", {count} answers are kept: the same command goes on from there" if count else "")
    rule = failure.rule if failure is not None else "configuration"
    return DriveError(
        Problem(rule, f"{text}{tried}{rest}", crew.system.spelling, None, question.id if question else None)
    )
