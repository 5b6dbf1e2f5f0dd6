"""What can go wrong between a question and its answer.

A CallError is about one call: the system crashed, hung, answered twice or in the wrong form, or could not be reached.
A DriveError is about the whole run: what the user is told after all attempts (exit status 1).
"""

from __future__ import annotations

from typing import Any, Final, Literal

from qassay.errors import InputError, Problem, Rule

Kind = Literal["crash", "timeout", "twice", "form", "unreachable", "refused"]


class CallError(Exception):
    """One call has failed.

    `again` tells whether another attempt may help; a `fatal` failure ends the run whatever --on-failure says, because
    no answer of this system can be trusted (it answers twice) or none will come (the address refuses us).
    """

    def __init__(
        self,
        kind: Kind,
        message: str,
        *,
        again: bool = True,
        fatal: bool = False,
        wait: float | None = None,
        rule: Rule = "configuration",
        raw: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: Final = kind
        self.message: Final = message
        self.again: Final = again
        self.fatal: Final = fatal
        self.wait: Final = wait
        self.rule: Final[Rule] = rule
        self.raw: Final = raw

    def fields(self) -> dict[str, Any]:
        """Everything that it takes to make the same failure again, elsewhere."""
        return {name: getattr(self, name) for name in ("kind", "message", "again", "fatal", "wait", "rule", "raw")}


class DriveError(InputError):
    """The run cannot be finished; nothing was written but the log."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
