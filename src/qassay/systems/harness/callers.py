"""The ways to put a question to a system, behind one small interface: a function, a command, one of them on a cluster.

A caller serves one worker: it is asked one question after the other and never two at a time.

A command reads JSON lines on its standard input and writes one line per question. It is started once per worker (or
once per series, with --isolate). A second line for one question is found at the latest when the command is closed,
before any run is written. (One that answers twice and then crashes or hangs can only be found out if it gives the
question's id with its answers.)
"""

from __future__ import annotations

import json
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from qassay.child import CLOSING, ChildError, Command
from qassay.cluster import Actor, Cluster, GoneError
from qassay.errors import QassayError
from qassay.systems import Answer, Asked, System
from qassay.systems.harness.wire import CallError, read_answer, request


class Caller:
    """One connection to a system; one that keeps nothing open has nothing to close or to abort."""

    def ask(self, asked: Asked, timeout: float) -> Answer:
        """The answer, within this many seconds; else a CallError."""
        raise NotImplementedError

    def close(self) -> None:
        """End the connection; a CallError where the system wrote more than its answers."""

    def abort(self) -> None:
        """End whatever is under way, from another thread."""


class LocalCaller(Caller):
    """Calls a Python function in this process. One that hangs is left behind; its late answer goes nowhere."""

    def __init__(self, system: System) -> None:
        self._system = system

    def ask(self, asked: Asked, timeout: float) -> Answer:
        """Call the function on a thread of its own, so that waiting can end."""
        outcome: list[Answer | BaseException] = []

        def call() -> None:
            try:
                outcome.append(self._system(asked))
            except BaseException as error:  # noqa: BLE001  # whatever a system raises is its failure, reported below
                outcome.append(error)

        thread = threading.Thread(target=call, daemon=True)
        thread.start()
        thread.join(timeout)
        if not outcome:
            raise CallError("timeout", f"no answer within {timeout:g} s")
        result = outcome[0]
        if isinstance(result, QassayError):
            raise result
        if isinstance(result, BaseException):
            last = traceback.extract_tb(result.__traceback__)[-1]
            where = f" ({last.filename}:{last.lineno})" if last.filename else ""
            raise CallError("crash", f"it raised {type(result).__name__}: {result}{where}") from result
        if not isinstance(result, Answer):
            raise CallError("form", f"it returned {type(result).__name__}, not an Answer")
        return result


class CommandCaller(Caller):
    """One running command, started when first asked and again after a failure."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._command = Command(arguments)

    def ask(self, asked: Asked, timeout: float) -> Answer:
        """Write one line and read one."""
        line = json.dumps(request(asked), ensure_ascii=False).encode() + b"\n"
        with _as_call_error():
            answer = self._command.exchange(line, timeout)
        return read_answer(answer, asked.question)

    def close(self) -> None:
        """End the input, wait for the command to end, and see whether it wrote more than its answers."""
        with _as_call_error():
            self._command.finish()

    def abort(self) -> None:
        """End the command at once, and for good."""
        self._command.end()


@contextmanager
def _as_call_error() -> Iterator[None]:
    try:
        yield
    except ChildError as error:
        is_twice = error.kind == "twice"
        raise CallError(error.kind, str(error), again=not is_twice, fatal=is_twice) from None


class RayCaller(Caller):
    """A connection on a node of a cluster; a node that dies is a crash, and the next attempt starts on another."""

    def __init__(self, cluster: Cluster, packed: Any) -> None:
        self._cluster = cluster
        # What makes the connection there.
        self._packed = packed
        self._actor: Actor | None = None

    def ask(self, asked: Asked, timeout: float) -> Answer:
        """Ask there."""
        try:
            if self._actor is None:
                # Two calls at a time: one asks, the other one may abort it.
                self._actor = self._cluster.start(self._packed, at_once=2)[0]
            answer: Answer = self._actor.call("ask", asked, timeout, seconds=timeout + CLOSING)
        except GoneError as error:
            self.abort()
            if error.is_late:
                raise CallError("timeout", str(error)) from None
            raise CallError("crash", f"its node failed: {error}") from None
        return answer

    def close(self) -> None:
        """End the connection on its node."""
        actor, self._actor = self._actor, None
        if actor is not None:
            try:
                actor.close()
            except GoneError as error:
                raise CallError("crash", f"its node failed: {error}") from None

    def abort(self) -> None:
        """End the actor, and with it what it has started."""
        actor, self._actor = self._actor, None
        if actor is not None:
            actor.abort()
