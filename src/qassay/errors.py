"""The errors, as a tree.

    QassayError
    ├── InputError    the data has errors: all of them, each with file, line, question and rule (exit status 1)
    └── UsageError    the call has errors: an unknown measure, task, run or option value (exit status 2)

A message names what is wrong, the place, the rule and the remedy. Nothing here is raised for a result that is
merely undefined: results say so themselves.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

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
    """One thing wrong (or, as a warning, odd) in the input, and where."""

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


class QassayError(Exception):
    """Everything Qassay raises on purpose."""


class InputError(QassayError):
    """The input has errors; `problems` holds all of them."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems: Final = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class UsageError(QassayError):
    """The call itself is wrong."""


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """An error for a name that is not there, with the nearest one that is.

    >>> str(unknown("measure", "nuget_f", ["nugget_f", "list_f"]))
    "unknown measure 'nuget_f'; did you mean 'nugget_f'?"
    """
    choices = sorted(known)
    near = difflib.get_close_matches(name, choices, n=1)
    if near:
        hint = f"did you mean {near[0]!r}?"
    elif choices:
        hint = f"there is {few(choices, 20)}"
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
