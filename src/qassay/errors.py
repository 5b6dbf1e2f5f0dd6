"""The errors, as a tree.

    QassayError
    ├── InputError           the data has errors: each with file, line, question and rule (exit status 1)
    ├── UsageError           the call has errors: an unknown measure, task, run or option value (exit status 2)
    └── LimitReachedError    the limit that the caller set was reached before the end (exit status 5)

A message names what is wrong, the place, the rule and the remedy. Nothing here is raised for a result that is
merely undefined: results say so themselves.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

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
class Problem:
    """A fault of the input (or, as a warning, something odd), and where it is."""

    rule: Rule
    message: str
    file: str | None = None
    line: int | None = None
    question: str | None = None

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}"
        return f"{place}: {self.message}" if place else self.message

    def as_json(self) -> dict[str, object]:
        """The row of `check --json`."""
        return {
            "file": self.file,
            "line": self.line,
            "question": self.question,
            "rule": self.rule,
            "message": self.message,
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


class InputError(QassayError):
    """The input has errors: `problems` has the first 200 of each file, `problems.total` is the number of all."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        listed = Problems((problems,) if isinstance(problems, Problem) else problems)
        self.problems: Final = listed.kept()
        super().__init__("\n".join(map(str, [*listed, *more_problems(listed.beyond)])))

    def __reduce__(self) -> tuple[type[InputError], tuple[KeptProblems]]:
        return type(self), (self.problems,)


class UsageError(QassayError):
    """The call itself is wrong."""


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
