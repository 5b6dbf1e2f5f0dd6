"""Programs in processes of their own, ended when they take too long or too much memory, with all that they started.

Command          a program of the user: one line in, one line out; started again after a failure
PythonProcess    a function of Qassay: messages over a pipe, with limits; started again after a failure
output_of        a program that is run once: bytes in, bytes out
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, Self, TypeAlias

from qassay.errors import UsageError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

LONGEST_LINE = 16 << 20
_STDERR_LINES = 20
# Nobody asks for this many lines at once: a command that writes on and on is not read to the end of memory.
_MOST_WAITING = 100
# How long a command may take to end after its input has ended.
CLOSING = 5.0
# Seconds between two looks at a process, and between two reports of its progress.
_LOOK_SECONDS = 0.05
_REPORT_SECONDS = 0.2

Kind: TypeAlias = Literal["crash", "timeout", "twice", "form", "memory", "stopped"]
Report: TypeAlias = Callable[[int, int], None]


class ChildError(Exception):
    """A process gave no answer; it has ended. `status` is that of a crash: a negative one is the number of a signal."""

    def __init__(self, kind: Kind, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.kind, self.status = kind, status


# ---- a program of the user: lines -----------------------------------------------------------------------------------


class Command:
    """A command that answers a line with a line; it runs from the first line on, and again after a failure.

    It is asked one line after the other, never two at a time. What it writes to standard error is its own affair; the
    end of it is shown where it fails. A command that does not answer in time is ended, with everything it has started,
    so that a late answer cannot be taken for that of another line.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = list(arguments)
        self._running: _RunningCommand | None = None
        self._is_over = False

    def exchange(self, line: bytes, timeout: float) -> bytes:
        """Write a line and read one."""
        if self._running is None:
            self._running = _RunningCommand(self._arguments)
        running = self._running
        if self._is_over or running is None:  # ended from another thread, perhaps just before it was started
            self._kill()
            raise ChildError("stopped", "it was ended")
        try:
            return running.exchange(line, timeout)
        except ChildError:
            self._kill()
            raise

    def finish(self) -> None:
        """End the input, wait for the command to end, and see whether it wrote more than its answers."""
        running, self._running = self._running, None
        if running is not None:
            running.finish()

    def end(self) -> None:
        """End the command at once and for good; also from another thread."""
        self._is_over = True
        self._kill()

    def _kill(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.kill()


class _RunningCommand:
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
        process = self._process
        assert process.stdin and process.stdout and process.stderr  # noqa: PT018  # all three are pipes
        self._input = process.stdin
        self._lines: queue.Queue[bytes | None] = queue.Queue(_MOST_WAITING)
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._readers = [
            threading.Thread(target=self._read_lines, args=(process.stdout,), daemon=True),
            threading.Thread(target=self._read_errors, args=(process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def exchange(self, line: bytes, timeout: float) -> bytes:
        deadline = time.monotonic() + timeout
        self._refuse_more()
        # A command that does not read would block a long line for ever, so it is written aside.
        writer = threading.Thread(target=self._write, args=(line,), daemon=True)
        writer.start()
        try:
            answer = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise ChildError("timeout", f"no answer within {timeout:g} s{self._last_words()}") from None
        if answer is None:
            raise self._ended()
        if len(answer) >= LONGEST_LINE:
            raise ChildError("form", f"its answer has more than {LONGEST_LINE >> 20} MiB and no end of line")
        return answer

    def finish(self) -> None:
        self._close_input()
        try:
            self._process.wait(CLOSING)
        except subprocess.TimeoutExpired:
            self.kill()
        for reader in self._readers:
            reader.join(CLOSING)
        self._refuse_more()

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._close_input()

    def _close_input(self) -> None:
        with contextlib.suppress(OSError):
            self._input.close()

    def _write(self, line: bytes) -> None:
        # A command that has ended is noticed by reading, which knows how it ended.
        with contextlib.suppress(OSError, ValueError):
            self._input.write(line)
            self._input.flush()

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
                raise ChildError(
                    "twice",
                    f"it wrote a line that answers no question ({shown!r}); one question takes one line"
                    " (write diagnostics to standard error)",
                )

    def _ended(self) -> ChildError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(CLOSING)
        self._readers[1].join(1.0)
        status = self._process.returncode
        ending = (
            f"was ended by signal {-status}" if status is not None and status < 0 else f"ended with status {status}"
        )
        return ChildError("crash", f"it {ending} before it answered{self._last_words()}", status)

    def _last_words(self) -> str:
        """The end of what the command wrote to standard error."""
        last = [line for line in self._stderr if line.strip()][-1:]
        return f"; it last said: {last[0][:300]}" if last else ""


# ---- a function of Qassay: messages ---------------------------------------------------------------------------------


class PythonProcess:
    """Answers messages one after the other in a process of its own; `work` is pickled, and called with each message.

    A bug ends the process, with its traceback on standard error. The process is killed and cannot remove its temporary
    files itself: they are in a folder that is removed here.
    """

    def __init__(self, work: Callable[[Any, Report], Any], *, name: str, niceness: int = 0) -> None:
        self._work, self._name, self._niceness = work, name, niceness
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def ask(
        self,
        message: Any,
        *,
        seconds: float,
        memory: int | None = None,
        progress: Report = lambda done, total: None,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> Any:
        """The answer to a message, within these seconds and bytes of memory; a ChildError says what the work does."""
        until = time.monotonic() + seconds
        try:
            pipe = self._started()
            pipe.send(message)
            while True:
                if is_stopped():
                    raise ChildError("stopped", "is stopped")
                if time.monotonic() > until:
                    raise ChildError("timeout", f"takes longer than {_spoken(seconds)}")
                if memory is not None and self._memory() > memory:
                    raise ChildError("memory", f"takes more than {memory >> 20:,} MiB of memory")
                if not pipe.poll(_LOOK_SECONDS):
                    continue
                kind, content = pipe.recv()
                if kind == "memory":
                    raise ChildError("memory", "takes more memory than there is")
                if kind == "answer":
                    return content
                progress(*content)
        except (EOFError, OSError):
            raise ChildError("crash", "ends the program that does it", self.end(5.0)) from None
        except BaseException:
            self.end()
            raise

    def end(self, patience: float = 0.0) -> int | None:
        """End the process, whatever it is doing; its exit status, where it ended by itself within the patience."""
        status = None
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None:
            if patience:
                self._process.join(patience)
                status = self._process.exitcode
            self._process.kill()
            self._process.join(10)
        if self._folder is not None:
            self._folder.cleanup()
        self._process = self._pipe = self._folder = None
        return status

    def _started(self) -> Connection:
        if self._pipe is None or self._process is None or not self._process.is_alive():
            import multiprocessing

            self.end()
            # Spawned: a forked copy of a process with threads may hang.
            context = multiprocessing.get_context("spawn")
            self._pipe, other = context.Pipe()
            self._folder = tempfile.TemporaryDirectory(prefix="qassay-", ignore_cleanup_errors=True)
            arguments = (other, self._work, self._folder.name, self._niceness)
            self._process = context.Process(target=_serve, args=arguments, name=self._name, daemon=True)
            self._process.start()
            other.close()
        return self._pipe

    def _memory(self) -> int:
        """Bytes of memory that the process has; 0 where the system does not say."""
        try:
            pages = Path(f"/proc/{self._process and self._process.pid}/statm").read_text(encoding="ascii").split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _serve(pipe: Connection, work: Callable[[Any, Report], Any], folder: str, niceness: int) -> None:
    """The other end: answer messages until the pipe ends, which means that the process that asked is gone."""
    tempfile.tempdir = folder
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks, which ends this one
    with contextlib.suppress(OSError):
        os.nice(niceness)
    reported = 0.0

    def report(done: int, total: int) -> None:
        nonlocal reported
        if time.monotonic() - reported >= _REPORT_SECONDS:
            reported = time.monotonic()
            send("progress", (done, total))

    def send(kind: str, content: Any) -> None:
        try:
            pipe.send((kind, content))
        except OSError:
            raise SystemExit from None

    while True:
        try:
            message = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer = work(message, report)
        except MemoryError:
            send("memory", None)
        else:
            send("answer", answer)


def _spoken(seconds: float) -> str:
    return f"{seconds / 60:.3g} minutes" if seconds >= 120 else f"{seconds:.3g} seconds"


# ---- a program that is run once -------------------------------------------------------------------------------------


def output_of(arguments: Sequence[str], content: bytes, *, seconds: float, environment: Mapping[str, str]) -> bytes:
    """What a program writes that gets this on its standard input; a ChildError says what the work does."""
    try:
        done = subprocess.run(  # noqa: S603  # a program of ours, without a shell
            arguments, input=content, capture_output=True, check=False, timeout=seconds, env=environment
        )
    except subprocess.TimeoutExpired:
        raise ChildError("timeout", f"takes longer than {_spoken(seconds)}") from None
    if done.returncode != 0:
        raise ChildError("crash", "ends the program", done.returncode)
    return done.stdout


def limit_memory(most: int) -> None:
    """Leave no core file, and take no more memory than this, from now on and in this process."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    allowed = resource.getrlimit(resource.RLIMIT_AS)[1]
    if allowed == resource.RLIM_INFINITY or allowed > most:
        resource.setrlimit(resource.RLIMIT_AS, (most, allowed))
