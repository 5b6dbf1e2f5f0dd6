"""Assessors of one's own: a Python function, a command, or a plug-in of the entry point group `qassay.assessors`.

    module:callable    called with a Case, returns an Opinion, a verdict (a dictionary), a label, or None
    a command          reads one JSON line per decision, writes one: a verdict, perhaps with `trace`, or null
    a plug-in          called with the evaluation and its parameters, returns an assessor or such a function

A command gets what a person sees: the question, the kind of judgment, the string or the strings of the response, its
document, the contexts, the nuggets, the nugget in question, gold answers, and the labels it may give. It is started
once per worker and never asked two questions at a time.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgspec

from qassay.assessors.base import AutomaticAssessor, Case, Opinion
from qassay.child import ChildError, Command, program
from qassay.errors import InputError, Problem, UsageError
from qassay.formats.questions import question_row
from qassay.judging import KINDS
from qassay.systems import load
from qassay.tasks import Task

TIMEOUT = 120.0
WORKERS = 4
_SHOWN = 200


@dataclass(frozen=True)
class FunctionAssessor:
    """A function from a case to an opinion, a verdict, a label or None."""

    name: str
    function: Callable[[Case], Any]
    under_way: int = 1
    learns: ClassVar[bool] = False

    def judge(self, case: Case) -> Opinion | None:
        """The function's answer; an exception is shown with its name."""
        try:
            answer = self.function(case)
        except Exception as error:
            message = f"the assessor {self.name} raised {type(error).__name__}: {error}"
            raise _failed(case, f"{message} (judgments made so far are kept; judge again to go on)") from error
        return opinion_of(answer, case, self.name)


@dataclass(frozen=True)
class CommandAssessor:
    """A command that reads decisions and writes verdicts, one process for each worker."""

    name: str
    arguments: tuple[str, ...]
    task: Task
    under_way: int = WORKERS
    timeout: float = TIMEOUT
    learns: ClassVar[bool] = False
    _local: threading.local = field(default_factory=threading.local, repr=False, compare=False)
    _started: list[Command] = field(default_factory=list, repr=False, compare=False)

    def judge(self, case: Case) -> Opinion | None:
        """One line out, one line back."""
        command = getattr(self._local, "command", None)
        if command is None:
            command = self._local.command = Command(self.arguments)
            self._started.append(command)
        line = msgspec.json.encode(as_request(case, self.task)) + b"\n"
        try:
            answer = command.exchange(line, self.timeout)
        except ChildError as error:
            message = f"the assessor {self.name}: {error}"
            raise _failed(case, f"{message} (judgments made so far are kept; judge again to go on)") from error
        try:
            decoded = msgspec.json.decode(answer)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            shown = answer[:_SHOWN].decode("utf-8", errors="replace").strip()
            message = f"the assessor {self.name} wrote {shown!r}; it has to write one JSON value per line"
            raise _failed(case, message) from None
        return opinion_of(decoded, case, self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Sent to another process it starts its own commands there."""
        return CommandAssessor, (self.name, self.arguments, self.task, self.under_way, self.timeout)

    def close(self) -> None:
        """End the commands."""
        while self._started:
            self._started.pop().end()


def as_request(case: Case, task: Task) -> dict[str, Any]:
    """The input of a command for one decision."""
    request = {
        "question": question_row(case.question),
        "kind": case.kind,
        "about": {name: value for name, value in case.part.row.items() if value is not None and name != "run"},
        "text": case.text,
        "document": case.document,
        "contexts": case.shown.get("contexts") or None,
        "nuggets": [{"nugget": nugget["nugget"], "text": nugget.get("text")} for nugget in case.nuggets] or None,
        "gold": list(case.question.gold) or None,
        "labels": [label.label for label in KINDS[case.kind].labels(task)] or None,
    }
    return {name: value for name, value in request.items() if value is not None}


def opinion_of(answer: Any, case: Case, name: str) -> Opinion | None:
    """The opinion in an answer: a label alone is the main field of the verdict."""
    if answer is None or isinstance(answer, Opinion):
        return answer
    main = next(iter(KINDS[case.kind].fields))
    if isinstance(answer, str) or (main == "nuggets" and isinstance(answer, list)):
        return Opinion({main: answer})
    if not isinstance(answer, Mapping):
        message = f"the assessor {name} gave {type(answer).__name__}; it gives a label, a verdict or nothing"
        raise _failed(case, message)
    verdict = dict(answer)
    trace = verdict.pop("trace", None)
    if trace is not None and not isinstance(trace, Mapping):
        raise _failed(case, f"the assessor {name} gave a trace that is not an object")
    extra = {"probability": verdict.pop("probability")} if "probability" in verdict else {}
    return Opinion(verdict, {**(trace or {}), **extra}) if verdict else None


def as_assessor(candidate: Any, name: str, workers: int | None = None) -> AutomaticAssessor:
    """The object of a plug-in or a module as an assessor: it is one already, or a function."""
    if callable(getattr(candidate, "judge", None)) and isinstance(getattr(candidate, "name", None), str):
        assessor: AutomaticAssessor = candidate
        return assessor
    if not callable(candidate):
        raise UsageError(f"{name} is neither a function nor an assessor with a name and a method judge")
    return FunctionAssessor(name, candidate, workers or 1)


def from_module(spelling: str, workers: int | None = None) -> AutomaticAssessor:
    """The function or assessor `module:callable`; modules of the current folder are found too."""
    before = list(sys.path)
    sys.path.insert(0, "")
    try:
        return as_assessor(load(spelling), spelling, workers)
    finally:
        sys.path[:] = before


def from_command(
    text: str, task: Task, *, workers: int | None = None, timeout: float | None = None
) -> CommandAssessor | None:
    """The command in a text; None where there is no such program."""
    arguments = program(text)
    if arguments is None:
        return None
    return CommandAssessor(text, tuple(arguments), task, workers or WORKERS, timeout or TIMEOUT)


def _failed(case: Case, message: str) -> InputError:
    question = case.question.id
    return InputError(Problem("configuration", f"question {question}: {message}", None, None, question))


__all__ = ["CommandAssessor", "FunctionAssessor", "as_request", "from_command", "from_module"]
