"""The ways to put a question to a system, behind one small interface.

A caller serves one worker: it is asked one question after the other and never two at a time.
"""

from __future__ import annotations

import threading
import traceback
from typing import Protocol

from qassay.errors import QassayError
from qassay.systems.harness.failures import CallError
from qassay.systems.records import Answer, Asked, System


class Caller(Protocol):
    """One connection to a system."""

    def ask(self, asked: Asked, timeout: float) -> Answer:
        """The answer, within so many seconds; else a CallError."""
        ...

    def close(self) -> None:
        """End the connection; a CallError where the system has said more than it was asked."""
        ...

    def abort(self) -> None:
        """End whatever is under way, from another thread."""
        ...


class LocalCaller:
    """Calls a Python function in this process. One that hangs is left behind; its late answer goes nowhere."""

    def __init__(self, system: System) -> None:
        self._system = system

    def ask(self, asked: Asked, timeout: float) -> Answer:
        """Call the function on a thread of its own, so that waiting can end."""
        outcome: list[Answer | BaseException] = []

        def call() -> None:
            try:
                outcome.append(self._system(asked))
            except BaseException as error:  # noqa: BLE001  # whatever a system raises is its failure, told below
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

    def close(self) -> None:
        """Nothing to close."""

    def abort(self) -> None:
        """Nothing to end."""
