"""The errors, as a tree.

    QassayError
    ├── InputError           the data has errors: each with file, line, question and rule (exit status 1)
    ├── UsageError           the call has errors: an unknown measure, task, run or option value (exit status 2)
    └── LimitReachedError    the limit that the caller set was reached before the end (exit status 5)

A message names what is wrong, the place, the rule and the remedy. A remedy that is an option is a `Remedy`: Python
spells it as an argument, the command line as an option, the application in its own words. Nothing here is raised for
a result that is merely undefined: results say so themselves.
"""

from __future__ import annotations

import difflib
import json
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

# Problems of one file that are kept, and characters of each: a few kilobytes can unpack to a million faulty
# lines, and a message quotes its line, which may be as long as the file.
MOST_KEPT: Final = 200
LONGEST_MESSAGE: Final = 1_000
LONGEST_QUESTION: Final = 200

Rule = Literal[
    "missing-question",
    "duplicate-question",
    "unknown-question",
    "unknown-doc",
    "one-answer",
    "too-many-items",
    "extract-too-long",
    "extract-past-end",
    "nil-with-items",
    "second-tag",
    "confidence-order",
    "bad-label",
    "unknown-nugget",
    "unjudged",
    "encoding",
    "syntax",
    "configuration",
]


@dataclass(frozen=True, slots=True)
class Remedy:
    """An option that helps: its name in Python, the value to give it, and what it is for.

    Of a command that helps the name is `qassay`, and the value the rest of its line.
    """

    name: str
    value: str | bool | tuple[str, ...]
    purpose: str
    # Its name on the command line, where that is another one.
    flag: str = ""

    def in_python(self) -> str:
        """The argument of a function.

        >>> Remedy("missing", "skip", "").in_python(), Remedy("question_column", "qid", "").in_python()
        ('missing="skip"', 'columns={"question": "qid"}')
        """
        if self.name == "qassay":
            return self.on_command_line()
        value = str(self.value) if isinstance(self.value, bool) else json.dumps(self.value, ensure_ascii=False)
        role = self.name.removesuffix("_column")
        if role != self.name:
            return f"columns={{{json.dumps(role)}: {value}}}"
        return f"{self.name}={value}"

    def on_command_line(self) -> str:
        """The option of a command.

        >>> Remedy("missing", "skip", "").on_command_line(), Remedy("runs_as_rows", True, "").on_command_line()
        ('--missing skip', '--runs-as-rows')
        >>> Remedy("qassay", "import FOLDER RUN...", "To add them").on_command_line()
        'qassay import FOLDER RUN...'
        """
        if self.name == "qassay":
            return f"qassay {self.value}"
        option = f"--{self.flag or self.name.replace('_', '-')}"
        if isinstance(self.value, bool):
            return option
        return f"{option} {shlex.quote(self.value if isinstance(self.value, str) else ','.join(self.value))}"


# How a door spells an option.
Spelling: TypeAlias = Callable[[Remedy], str]


def with_way_out(message: str, way_out: Iterable[Remedy], spelling: Spelling) -> str:
    """A message and the options that help.

    >>> with_way_out("empty cell", [Remedy("missing", "skip", "To leave it out")], Remedy.on_command_line)
    'empty cell. To leave it out: --missing skip'
    """
    ways = "; ".join(f"{option.purpose}: {spelling(option)}" for option in way_out)
    stop = "" if message.endswith("?") else "."
    return f"{message}{stop} {ways}" if ways else message


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault of the input (or, as a warning, something odd), where it is, and the options that help."""

    rule: Rule
    message: str
    file: str | None = None
    line: int | None = None
    question: str | None = None
    way_out: tuple[Remedy, ...] = ()

    def __str__(self) -> str:
        return self.spelt(Remedy.in_python)

    def spelt(self, spelling: Spelling) -> str:
        """The place, the message and the options that help."""
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}"
        message = with_way_out(self.message, self.way_out, spelling)
        return f"{place}: {message}" if place else message

    def as_json(self) -> dict[str, object]:
        """The row of `check --json`."""
        return {
            "file": self.file,
            "line": self.line,
            "question": self.question,
            "rule": self.rule,
            "message": with_way_out(self.message, self.way_out, Remedy.on_command_line),
        }


class KeptProblems(tuple[Problem, ...]):
    """The first problems of each file; `beyond` is the number of further ones by file."""

    beyond: Mapping[str | None, int]

    def __new__(cls, problems: Iterable[Problem] = (), beyond: Mapping[str | None, int] | None = None) -> KeptProblems:
        """Keep these problems."""
        instance = super().__new__(cls, problems)
        instance.beyond = dict(beyond or {})
        return instance

    @property
    def total(self) -> int:
        """Number of problems, kept or not."""
        return len(self) + sum(self.beyond.values())

    def changed(self, change: Callable[[Problem], Problem]) -> Problems:
        """The same problems, each with a change that leaves it in its file."""
        changed = Problems(map(change, self))
        changed.beyond.update(self.beyond)
        return changed

    def in_file(self, name: str) -> Problems:
        """The same problems, all of them in the file of this name."""
        renamed = Problems(replace(problem, file=name) for problem in self)
        renamed.beyond[name] += sum(self.beyond.values())
        return renamed


class Problems(list[Problem]):
    """Problems as they are found: the first 200 of each file are kept, the others are counted.

    >>> problems = Problems(Problem("syntax", "no number", "scores.csv", line) for line in range(1, 1_001))
    >>> len(problems), problems.total
    (200, 1000)
    """

    def __init__(self, problems: Iterable[Problem] = ()) -> None:
        super().__init__()
        self.beyond: Counter[str | None] = Counter()
        self._of_file: Counter[str | None] = Counter()
        self.extend(problems)

    def append(self, problem: Problem) -> None:
        """Keep a problem, or count it where its file has many."""
        if self._of_file[problem.file] >= MOST_KEPT:
            self.beyond[problem.file] += 1
            return
        self._of_file[problem.file] += 1
        super().append(_shortened(problem))

    def extend(self, problems: Iterable[Problem]) -> None:
        """Keep or count problems; those that another collection only counted are counted here too."""
        for problem in problems:
            self.append(problem)
        if isinstance(problems, Problems | KeptProblems):
            self.beyond.update(problems.beyond)

    def __iadd__(self, problems: Iterable[Problem]) -> Problems:  # type: ignore[misc,override]
        self.extend(problems)
        return self

    @property
    def total(self) -> int:
        """Number of problems, kept or not."""
        return len(self) + sum(self.beyond.values())

    def kept(self) -> KeptProblems:
        """The same problems, unchangeable."""
        return KeptProblems(self, self.beyond)


def _shortened(problem: Problem) -> Problem:
    """A problem whose message and question have a fair length."""
    message, question = problem.message, problem.question
    if len(message) > LONGEST_MESSAGE:
        problem = replace(problem, message=message[:LONGEST_MESSAGE] + "...")
    if question is not None and len(question) > LONGEST_QUESTION:
        problem = replace(problem, question=question[:LONGEST_QUESTION])
    return problem


class QassayError(Exception):
    """Everything Qassay raises on purpose."""

    def spelt(self, spelling: Spelling) -> str:
        """The message, with its options as a door spells them."""
        return str(self)


class InputError(QassayError):
    """The input has errors: `problems` has the first 200 of each file, `problems.total` is the number of all."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        listed = Problems((problems,) if isinstance(problems, Problem) else problems)
        self.problems: Final = listed.kept()
        super().__init__(self.spelt(Remedy.in_python))

    def spelt(self, spelling: Spelling) -> str:
        """All problems that are kept, a line each."""
        return "\n".join(problem.spelt(spelling) for problem in [*self.problems, *more_problems(self.problems.beyond)])

    def __reduce__(self) -> tuple[type[InputError], tuple[KeptProblems]]:
        return type(self), (self.problems,)


class UsageError(QassayError):
    """The call itself is wrong; `way_out` are options that help."""

    def __init__(self, message: str = "", *way_out: Remedy) -> None:
        super().__init__(message, *way_out)
        self.message: Final = message
        self.way_out: Final = way_out

    def __str__(self) -> str:
        return self.spelt(Remedy.in_python)

    def spelt(self, spelling: Spelling) -> str:
        """The message and the options that help."""
        return with_way_out(self.message, self.way_out, spelling)


class LimitReachedError(QassayError):
    """A spending or call limit was reached."""


def more_problems(beyond: Mapping[str | None, int]) -> list[Problem]:
    """A line for every file with problems that were counted and not kept."""
    return [
        Problem("syntax", f"... and {number:,} more errors; the first {MOST_KEPT} of a file are listed", file)
        for file, number in beyond.items()
        if number
    ]


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """An error for an unknown name, with the nearest known one.

    >>> str(unknown("measure", "nuget_f", ["nugget_f", "list_f"]))
    "unknown measure 'nuget_f'; did you mean 'nugget_f'?"
    """
    choices = sorted(known)
    near = difflib.get_close_matches(name, choices, n=1, cutoff=0.65)
    if near:
        hint = f"did you mean {near[0]!r}?"
    elif choices:
        hint = f"there is only {choices[0]!r}" if len(choices) == 1 else f"there are {few(choices, 20)}"
    else:
        hint = "there are none"
    return UsageError(f"unknown {kind} {name!r}; {hint}")


def few(names: Iterable[str], most: int = 5) -> str:
    """The first few names, for a message.

    >>> few(["1.1", "1.2", "1.3"], 2)
    '1.1, 1.2, ...'
    """
    listed = list(names)
    return ", ".join(listed[:most]) + (", ..." if len(listed) > most else "")
