"""The ways to put a question to a system, behind one small interface: here a Python function and a command.

A caller serves one worker: it is asked one question after the other and never two at a time.

A command reads JSON lines on its standard input and writes one line per question. It is started once per worker (or
once per series, with --isolate). What it writes to standard error is its own affair; the end of it is shown where it
fails. A command that does not answer in time is ended, with everything it has started, so that a late answer cannot be
taken for that of another question. A second line for one question is found at the latest when the command is closed,
before any run is written. (One that answers twice and then crashes or hangs can only be found out if it gives the
question's id with its answers.)
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Sequence
from typing import IO

from qassay.errors import QassayError, UsageError
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


LONGEST_LINE = 16 << 20
_STDERR_LINES = 20
# Nobody asks for this many lines at once: a command that writes on and on is not read to the end of memory.
_MOST_WAITING = 100
# How long a command may take to end after its input has ended.
CLOSING = 5.0


class CommandCaller(Caller):
    """One running command, started when first asked and again after a failure."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = list(arguments)
        self._process: RunningCommand | None = None
        self._over = False

    def ask(self, asked: Asked, timeout: float) -> Answer:
        """Write one line and read one."""
        if self._process is None:
            self._process = RunningCommand(self._arguments)
        process = self._process
        if self._over or process is None:  # ended from another thread, perhaps just before it was started
            self._end()
            raise CallError("crash", "it was ended")
        line = json.dumps(request(asked), ensure_ascii=False).encode() + b"\n"
        try:
            answer = process.exchange(line, timeout)
        except CallError:
            self._end()
            raise
        return read_answer(answer, asked.question)

    def close(self) -> None:
        """End the input, wait for the command to end, and see whether it wrote more than its answers."""
        process, self._process = self._process, None
        if process is not None:
            process.finish()

    def abort(self) -> None:
        """End the command at once, and for good."""
        self._over = True
        self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()


class RunningCommand:
    """A started command with threads that read what it writes."""

    def __init__(self, arguments: list[str]) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603  # the user's own command, without a shell
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=sys.platform != "win32",
            )
        except OSError as error:
            raise UsageError(f"cannot start {arguments[0]}: {error.strerror or error}") from None
        self._lines: queue.Queue[bytes | None] = queue.Queue(_MOST_WAITING)
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._readers = [
            threading.Thread(target=self._read_lines, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._read_errors, args=(self._process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def exchange(self, line: bytes, timeout: float) -> bytes:
        """Send a line and wait for one."""
        deadline = time.monotonic() + timeout
        self._refuse_more()
        # A command that does not read would block a long line for ever, so it is written aside.
        writer = threading.Thread(target=self._write, args=(line,), daemon=True)
        writer.start()
        try:
            answer = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise CallError("timeout", f"no answer within {timeout:g} s{self._last_words()}") from None
        if answer is None:
            raise self._ended()
        if len(answer) >= LONGEST_LINE:
            raise CallError("form", f"its answer has more than {LONGEST_LINE >> 20} MiB and no end of line")
        return answer

    def finish(self) -> None:
        """Close the input and read to the end."""
        self._close_input()
        try:
            self._process.wait(CLOSING)
        except subprocess.TimeoutExpired:
            self.kill()
        for reader in self._readers:
            reader.join(CLOSING)
        self._refuse_more()

    def kill(self) -> None:
        """End the command and whatever it has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._close_input()

    def _close_input(self) -> None:
        with contextlib.suppress(OSError):
            if self._process.stdin:
                self._process.stdin.close()

    def _write(self, line: bytes) -> None:
        # A command that has ended is noticed by reading, which knows how it ended.
        with contextlib.suppress(OSError, ValueError):
            if self._process.stdin:
                self._process.stdin.write(line)
                self._process.stdin.flush()

    def _read_lines(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError, queue.Full):
            while line := stream.readline(LONGEST_LINE):
                if line.strip():
                    self._lines.put_nowait(line)
        stream.close()
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(None)

    def _read_errors(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while line := stream.readline(4096):
                self._stderr.append(line.decode("utf-8", errors="replace").rstrip())
        stream.close()

    def _refuse_more(self) -> None:
        """Stop where a line is waiting that nobody has asked for."""
        with contextlib.suppress(queue.Empty):
            while True:
                line = self._lines.get_nowait()
                if line is None:
                    self._lines.put(None)
                    return
                shown = line[:80].decode("utf-8", errors="replace").strip()
                raise CallError(
                    "twice",
                    f"it wrote a line that answers no question ({shown!r}); one question takes one line"
                    " (write diagnostics to standard error)",
                    again=False,
                    fatal=True,
                )

    def _ended(self) -> CallError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(CLOSING)
        self._readers[1].join(1.0)
        status = self._process.returncode
        ending = (
            f"was ended by signal {-status}" if status is not None and status < 0 else f"ended with status {status}"
        )
        return CallError("crash", f"it {ending} before it answered{self._last_words()}")

    def _last_words(self) -> str:
        """The end of what the command wrote to standard error."""
        last = [line for line in self._stderr if line.strip()][-1:]
        return f"; it last said: {last[0][:300]}" if last else ""
