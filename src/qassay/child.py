"""Programs in processes of their own, ended when they take too long or too much memory, with all that they started.

Command          a program of the user: one line in, one line out; started again after a failure
PythonProcess    a function of Qassay: messages over a pipe, with limits; started again after a failure
output_of        a program that is run once: bytes in, bytes out
"""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import shutil
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


def program(text: str) -> list[str] | None:
    """The words of a command line; None where there is no such program."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"cannot read the command {text!r}: {error}") from None
    return words if words and shutil.which(words[0]) else None


class Command:
    """A command that answers a line with a line; it runs from the first line on, and again after a failure.

    It is asked one line after the other, never two at a time. What it writes to standard error is its own affair; the
    end of it is shown where it fails. A command that does not answer in time is ended, with everything it has started,
    so that a late answer cannot be taken for that of another line.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = list(arguments)
        self._process: subprocess.Popen[bytes] | None = None
        self._is_over = False

    def exchange(self, line: bytes, timeout: float) -> bytes:
        """Write a line and read one."""
        deadline = time.monotonic() + timeout
        process = self._process or self._started()
        try:
            if self._is_over:  # ended from another thread, perhaps just before it was started
                raise ChildError("stopped", "it was ended")
            self._refuse_more()
            # A command that does not read would block a long line for ever, so it is written aside.
            threading.Thread(target=_write, args=(process, line), daemon=True).start()
            try:
                answer = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise ChildError("timeout", f"no answer within {timeout:g} s{self._last_words()}") from None
            if answer is None:
                raise self._ended(process)
            if len(answer) >= LONGEST_LINE:
                raise ChildError("form", f"its answer has more than {LONGEST_LINE >> 20} MiB and no end of line")
        except ChildError:
            self._kill()
            raise
        return answer

    def finish(self) -> None:
        """End the input, wait for the command to end, and see whether it wrote more than its answers."""
        if self._process is None:
            return
        _close_input(self._process)
        try:
            self._process.wait(CLOSING)
        except subprocess.TimeoutExpired:
            self._kill()
        self._process = None
        for reader in self._readers:
            reader.join(CLOSING)
        self._refuse_more()

    def end(self) -> None:
        """End the command at once and for good; also from another thread."""
        self._is_over = True
        self._kill()

    def _started(self) -> subprocess.Popen[bytes]:
        try:
            process = subprocess.Popen(  # noqa: S603  # the user's own command, without a shell
                self._arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=sys.platform != "win32",
            )
        except OSError as error:
            raise UsageError(f"cannot start {self._arguments[0]}: {error.strerror or error}") from None
        self._process = process
        self._lines: queue.Queue[bytes | None] = queue.Queue(_MOST_WAITING)
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._readers = [
            threading.Thread(target=_read_lines, args=(process.stdout, self._lines), daemon=True),
            threading.Thread(target=_read_errors, args=(process.stderr, self._stderr), daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        return process

    def _kill(self) -> None:
        """End the command and whatever it has started."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        _close_input(process)

    def _refuse_more(self) -> None:
        """Stop where a line is waiting that nobody has asked for."""
        with contextlib.suppress(queue.Empty):
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

    def _ended(self, process: subprocess.Popen[bytes]) -> ChildError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(CLOSING)
        self._readers[1].join(1.0)
        status = process.returncode
        ending = f"was ended by signal {-status}" if (status or 0) < 0 else f"ended with status {status}"
        return ChildError("crash", f"it {ending} before it answered{self._last_words()}", status)

    def _last_words(self) -> str:
        """The end of what the command wrote to standard error."""
        last = [line for line in self._stderr if line.strip()][-1:]
        return f"; it last said: {last[0][:300]}" if last else ""


def _write(process: subprocess.Popen[bytes], line: bytes) -> None:
    # A command that has ended is noticed by reading, which knows how it ended.
    with contextlib.suppress(OSError, ValueError):
        if process.stdin is not None:
            process.stdin.write(line)
            process.stdin.flush()


def _close_input(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()


def _read_lines(stream: IO[bytes], lines: queue.Queue[bytes | None]) -> None:
    with contextlib.suppress(OSError, ValueError, queue.Full):
        while line := stream.readline(LONGEST_LINE):
            if line.strip():
                lines.put_nowait(line)
    stream.close()
    with contextlib.suppress(queue.Full):
        lines.put_nowait(None)


def _read_errors(stream: IO[bytes], last: deque[str]) -> None:
    with contextlib.suppress(OSError, ValueError):
        while line := stream.readline(4096):
            last.append(line.decode("utf-8", errors="replace").rstrip())
    stream.close()


# ---- a function of Qassay: messages ---------------------------------------------------------------------------------


class PythonProcess:
    """Answers messages one after the other in a process of its own; `work` is pickled, and called with each message.

    A bug ends the process, with its traceback on standard error. The process is killed and cannot remove its temporary
    files itself: they are in a folder that is removed here.
    """

    def __init__(self, work: Callable[[Any, Report], Any], *, name: str, niceness: int = 0) -> None:
        self._work, self._name, self._niceness = work, name, niceness
        self._running: tuple[BaseProcess, Connection, tempfile.TemporaryDirectory[str]] | None = None

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
        process, pipe = self._started()
        try:
            pipe.send(message)
            while True:
                if is_stopped():
                    raise ChildError("stopped", "is stopped")
                if time.monotonic() > until:
                    raise ChildError("timeout", f"takes longer than {_spoken(seconds)}")
                if memory is not None and _memory_of(process) > memory:
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
            process.join(CLOSING)
            status = process.exitcode
            self.end()
            raise ChildError("crash", "ends the program that does it", status) from None
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """End the process, whatever it is doing."""
        if self._running is not None:
            process, pipe, folder = self._running
            self._running = None
            pipe.close()
            process.kill()
            process.join(10)
            folder.cleanup()

    def _started(self) -> tuple[BaseProcess, Connection]:
        if self._running is None or not self._running[0].is_alive():
            import multiprocessing

            self.end()
            # Spawned: a forked copy of a process with threads may hang.
            context = multiprocessing.get_context("spawn")
            pipe, other = context.Pipe()
            folder = tempfile.TemporaryDirectory(prefix="qassay-", ignore_cleanup_errors=True)
            arguments = (other, self._work, folder.name, self._niceness)
            process = context.Process(target=_serve, args=arguments, name=self._name, daemon=True)
            process.start()
            other.close()
            self._running = process, pipe, folder
        return self._running[:2]


def _memory_of(process: BaseProcess) -> int:
    """Bytes of memory that a process has; 0 where the system does not say."""
    try:
        pages = Path(f"/proc/{process.pid}/statm").read_text(encoding="ascii").split()[1]
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
