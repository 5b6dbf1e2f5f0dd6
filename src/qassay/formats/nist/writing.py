"""Lines of fixed fields, and what cannot be put on one."""

from __future__ import annotations

from collections.abc import Sequence

from qassay.errors import InputError, Problem
from qassay.formats import lines


class Writer:
    """Gathers the lines of one file, and the faults of strings that no line can hold."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._lines: list[str] = []
        self._problems: list[Problem] = []

    def line(self, question: str, fields: Sequence[str], string: str | None = None) -> None:
        """Add a line: fields separated by one blank, then the string, which runs to the end of the line."""
        self.check_fields(question, fields)
        if string is not None:
            self.check(question, string)
        self.raw(" ".join([*fields, *([] if string is None else [string])]))

    def check_fields(self, question: str, fields: Sequence[str]) -> None:
        """Note fields that would not be read back as one."""
        for part in fields:
            if not part or any(c in part for c in " \t\r\n\0"):
                self.fault(question, f"{part[:60]!r} is empty or holds white space; a NIST form cannot hold it")

    def check(self, question: str, string: str) -> None:
        """Note a string that would not be read back as it is."""
        if not string or not lines.is_one_line(string) or "\0" in string:
            what = "is empty" if not string else "has line ends in it or blanks around it"
            self.fault(question, f"{string[:60]!r} {what}; a NIST form cannot hold it")

    def raw(self, line: str) -> None:
        """Add a line as it is."""
        self._lines.append(line + "\n")

    def fault(self, question: str, message: str) -> None:
        """Note something that cannot be written."""
        self._problems.append(Problem("syntax", f"question {question}: {message}", self.file, None, question))

    def text(self) -> str:
        """The text of the file, or all that keeps it from being written."""
        if self._problems:
            raise InputError(self._problems)
        return "".join(self._lines)
