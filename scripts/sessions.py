"""Console examples of a page, run from top to bottom in one temporary folder.

A fenced block `console` contains commands after `$ ` (continued after `> `) and, below each, what it prints. A fenced
block with `title="NAME"` is a file: it is written into the folder before the commands that follow. A command that ends
with another status than 0 has to be followed by `$ echo $?`, so that the reader sees it too. Of a long output only a
part is shown where `<!-- show: START ... END -->` stands above the block: from the first line that begins with START to
the next that begins with END. `<!-- files: PAGE -->` writes the files of another page (its path in the repository), so
that a short example can use them without showing them again.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"```(?P<info>[^`]*)")
TITLE = re.compile(r'title="([^"]+)"')
SHOW = re.compile(r"<!-- show: (?P<start>.*?) ?\.\.\. (?P<end>.+) -->")
FILES = re.compile(r"<!-- files: (?P<page>\S+) -->")
ROOT = Path(__file__).resolve().parent.parent
# With any of these a command is the shell's.
SHELL = set("|><;&$*?~`\n")
STATUS = "echo $?"
WIDTH = 100
SECONDS = 300


class SessionError(Exception):
    """An example that does not do what the page says."""


def environment(folder: Path) -> dict[str, str]:
    """What commands of the documentation see: a fixed width, no colours, this Python and this `qassay` first."""
    places = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    return {
        "PATH": os.pathsep.join(places),
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LC_ALL": "C.UTF-8",
        "COLUMNS": str(WIDTH),
        "LINES": "50",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def plain(output: str) -> str:
    """Output without trailing white space, which no page should contain."""
    return "\n".join(line.rstrip() for line in output.rstrip().split("\n"))


@dataclass
class Session:
    """A shell in a folder of its own: the working folder and the last status live on from command to command.

    With `inside`, plain `qassay` commands run within this process: the same output, without the time to start.
    """

    folder: Path
    inside: bool = False
    place: Path = field(init=False)
    status: int = 0

    def __post_init__(self) -> None:
        self.place = self.folder

    def run(self, command: str) -> str:
        """Run one command; its output on both channels, in order."""
        if self.inside and command.startswith("qassay ") and not SHELL & set(command):
            return self._call(shlex.split(command)[1:])
        moved = self.folder / ".place"
        script = f'(exit {self.status})\n{command}\nstatus=$?; pwd > "{moved}"; exit $status'
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.place,
            env=environment(self.folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
        self.status = done.returncode
        if moved.exists():
            self.place = Path(moved.read_text(encoding="utf-8").strip())
            moved.unlink()
        return plain(done.stdout.decode("utf-8"))

    def _call(self, arguments: list[str]) -> str:
        """Run a command of ours within this process."""
        from qassay.cli import main

        output, variables = io.StringIO(), dict(os.environ)
        os.environ.update(environment(self.folder))
        try:
            with chdir(self.place), redirect_stdout(output), redirect_stderr(output):
                self.status = main(arguments)
        finally:
            os.environ.clear()
            os.environ.update(variables)
        return plain(output.getvalue())

    def write(self, name: str, text: str) -> None:
        """Put a file into the folder."""
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def fenced(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """The fenced blocks of a page: lines of the opening and the closing fence, and what the opening says."""
    start: int | None = None
    for number, line in enumerate(lines):
        match = FENCE.fullmatch(line.rstrip())
        if match is None:
            continue
        if start is None:
            start, info = number, match["info"].strip()
        else:
            yield start, number, info
            start = None
    if start is not None:
        raise SessionError(f"line {start + 1}: the block is not closed")


def commands(block: list[str]) -> list[str]:
    """The commands of a console block, each with the lines that continue it."""
    listed: list[str] = []
    open_command = False
    for line in block:
        if line.startswith("$ "):
            listed.append(line[2:])
            open_command = True
        elif open_command and line.startswith("> "):
            listed[-1] += "\n" + line[2:]
        else:
            open_command = False
    return listed


def play(text: str, *, name: str = "page", inside: bool = False) -> str:
    """The page with the output of every command as it is today; `inside` as for a session."""
    lines = text.split("\n")
    played: list[str] = []
    done = 0
    with tempfile.TemporaryDirectory(prefix="qassay-docs-") as folder:
        session = Session(Path(folder).resolve(), inside)
        for start, end, info in fenced(lines):
            played += lines[done : start + 1]
            _borrow(session, lines[done:start], name)
            block = lines[start + 1 : end]
            title = TITLE.search(info)
            if title is not None:
                session.write(title[1], "\n".join(block) + "\n")
            if info.split()[:1] == ["console"]:
                shown = SHOW.fullmatch(lines[start - 1])
                played += _replayed(session, block, f"{name}:{start + 1}", shown)
            else:
                played += block
            done = end
    return "\n".join([*played, *lines[done:]])


def _borrow(session: Session, lines: list[str], name: str) -> None:
    """Write the files of the pages that these lines name."""
    for match in filter(None, map(FILES.fullmatch, lines)):
        page = ROOT / match["page"]
        if not page.is_file():
            raise SessionError(f"{name}: there is no page {match['page']} to take files from")
        own = page.read_text(encoding="utf-8").split("\n")
        for start, end, info in fenced(own):
            if (title := TITLE.search(info)) is not None:
                session.write(title[1], "\n".join(own[start + 1 : end]) + "\n")


def _replayed(session: Session, block: list[str], place: str, shown: re.Match[str] | None) -> list[str]:
    """The lines of a console block with fresh output."""
    replayed: list[str] = []
    listed = commands(block)
    cut = max((number for number, command in enumerate(listed) if command != STATUS), default=0)
    for number, command in enumerate(listed):
        output = session.run(command)
        following = listed[number + 1] if number + 1 < len(listed) else ""
        if session.status and following != STATUS:
            raise SessionError(f"{place}: {command!r} ends with status {session.status}:\n{output}")
        if "Traceback (most recent call last)" in output or str(session.folder) in output:
            raise SessionError(f"{place}: {command!r} prints what no page should show:\n{output}")
        printed = output.split("\n") if output else []
        if shown is not None and number == cut:
            printed = _part(printed, shown["start"], shown["end"], place)
        replayed += ["$ " + command.replace("\n", "\n> "), *printed]
    return replayed


def _part(printed: list[str], start: str, end: str, place: str) -> list[str]:
    """The lines from one that begins with `start` to one that begins with `end`, with dots for the others."""
    first = next((i for i, line in enumerate(printed) if line.startswith(start)), None)
    last = next((i for i, line in enumerate(printed) if line.startswith(end) and i >= (first or 0)), None)
    if first is None or last is None:
        raise SessionError(f"{place}: there is no part from {start!r} to {end!r} in the output")
    before, after = ["..."] * (first > 0), ["..."] * (last + 1 < len(printed))
    return [*before, *printed[first : last + 1], *after]
