"""The history of gates, a file of JSON lines that a pipeline keeps: one line for each look at two systems.

Anybody may have written it: every line is checked, and nothing of it is printed but numbers. A look is added as one
whole line or not at all, and two gates at once wait for each other.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qassay.errors import InputError, Problem, Problems, UsageError
from qassay.formats import files, jsonl
from qassay.meta.looks import Kind, Plan

# A look takes about 300 bytes.
MOST_BYTES = 64 << 20
# Seconds that a gate waits for another one to write its line.
PATIENCE = 10.0
_KINDS: tuple[Kind, ...] = ("planned", "steps", "any time")


@dataclass(frozen=True, slots=True)
class GateLook:
    """One look at two systems by a measure: the SHA-256 of their scores, the number of questions, the decision."""

    systems: tuple[str, str]
    measure: str
    scores: str
    n: int
    decision: str
    plan: Plan

    @property
    def gate(self) -> tuple[frozenset[str], str]:
        """What is looked at: two systems in any order, by a measure."""
        return frozenset(self.systems), self.measure


@dataclass(frozen=True, slots=True)
class Counted:
    """The number of this look among those at the same systems, and that of this gate among all gates of the file."""

    look: int
    gate: int


def keep_look(path: Path, look: GateLook, *, at: str) -> Counted:
    """Add a look, unless the same scores have been looked at; its number among the looks and gates of the file.

    An error where the file has looks at the same systems under another plan.
    """
    with _locked(path) as handle:
        with os.fdopen(os.dup(handle), "rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise _fault(
                path, f"is larger than {MOST_BYTES >> 20} MiB, which no history of gates is. Name another file"
            )
        looks = _looks(data, path)
        same = [earlier for earlier in looks if earlier.gate == look.gate]
        other = next((earlier for earlier in same if earlier.plan != look.plan), None)
        if other is not None:
            a, b = look.systems
            raise UsageError(
                f"{path} has looks at {a} and {b} {_in_words(other.plan)}, and this one is {_in_words(look.plan)}. "
                "A plan stays as it is: use the first one, or name new versions differently"
            )
        gates = list(dict.fromkeys([earlier.gate for earlier in looks] + [look.gate]))
        scores = list(dict.fromkeys([earlier.scores for earlier in same] + [look.scores]))
        if look.scores not in {earlier.scores for earlier in same}:
            _append(handle, data, jsonl.dump_rows([_row(look, at)]))
        return Counted(scores.index(look.scores) + 1, gates.index(look.gate) + 1)


def _append(handle: int, before: bytes, line: str) -> None:
    """Add a line; the file is as it was where that fails."""
    gap = b"" if not before or before.endswith(b"\n") else b"\n"
    added = gap + line.encode()
    try:
        if os.write(handle, added) != len(added):
            raise OSError("the disk is full")
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, len(before))
        raise


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[int]:
    """The file, open for this gate alone; a killed process lets go by itself."""
    # Without waiting, so that a pipe does not stop the gate.
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(files.refuse_odd_name(path), flags, 0o666)
    except IsADirectoryError:
        raise _fault(path, "is a folder; name a file in it") from None
    except OSError as error:
        raise _fault(path, f"cannot be written: {files.refused_by_system(error)}") from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise _fault(path, "is a pipe or a device, not a file")
        _wait_for(handle, path)
        yield handle
    finally:
        os.close(handle)


def _wait_for(handle: int, path: Path) -> None:
    with contextlib.suppress(ImportError):  # no fcntl on Windows: there two gates at a time are the user's affair
        import fcntl

        end = time.monotonic() + PATIENCE
        while True:
            try:
                return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise UsageError(f"{path} is in use: another gate writes to it; try again") from None
                time.sleep(0.02)


def _row(look: GateLook, at: str) -> dict[str, object]:
    plan = {"kind": look.plan.kind, "planned": look.plan.planned, "steps": look.plan.steps}
    systems = list(look.systems)
    found = {"measure": look.measure, "scores": look.scores, "n": look.n, "decision": look.decision}
    return {"time": at, "systems": systems, **found, "plan": plan}


def _looks(data: bytes, path: Path) -> list[GateLook]:
    """The looks in the file; every line that is none is reported."""
    looks, problems = [], Problems()
    for line, row in jsonl.parse_rows(files.decode(data, file=str(path)), file=str(path)):
        try:
            looks.append(_look(row))
        except (KeyError, TypeError, ValueError, UsageError):
            message = "this line is not a look of a gate. Remove it, or name another file"
            problems.append(Problem("syntax", message, str(path), line))
    if problems:
        raise InputError(problems)
    return looks


def _look(row: dict[str, Any]) -> GateLook:
    a, b = row["systems"]
    plan = row["plan"]
    texts = (a, b, row["measure"], row["scores"], row["decision"])
    numbers = [row["n"], *(number for number in (plan["planned"], plan["steps"]) if number is not None)]
    are_whole = all(type(number) is int for number in numbers)
    if not are_whole or not all(isinstance(text, str) for text in texts) or plan["kind"] not in _KINDS:
        raise ValueError
    return GateLook(
        (a, b),
        row["measure"],
        row["scores"],
        row["n"],
        row["decision"],
        Plan(plan["kind"], plan["planned"], plan["steps"]),
    )


def _in_words(plan: Plan) -> str:
    if plan.kind == "any time":
        return "at any time"
    steps = "" if plan.steps is None else f" in {plan.steps} steps"
    return f"with {plan.planned:,} planned{steps}"


def _fault(path: Path, message: str) -> InputError:
    return InputError(Problem("configuration", message, str(path)))
