"""Who does what, when: the one record that every change of the store is made with."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from qassay.errors import InputError, Problem
from qassay.formats.times import now
from qassay.tasks import Task

LONGEST_KEY = 100


@dataclass(frozen=True, slots=True)
class Assessor:
    """A person who judges, or rules."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Act:
    """One act of somebody, within its transaction: the task with its rules, the person, the moment.

    `key` is the idempotency key that the client made: an act that is sent twice under one key is done once.
    """

    connection: Connection
    task: Task
    assessor: Assessor | None = None
    key: str | None = None
    at: str = field(default_factory=now)

    @property
    def account(self) -> int | None:
        """The account of the person; None where a rule or a program acts."""
        return None if self.assessor is None else self.assessor.id

    @property
    def name(self) -> str:
        """The name of the person."""
        return "" if self.assessor is None else self.assessor.name

    def step(self, suffix: str) -> Act:
        """One of the several changes that an act makes, under a key of its own."""
        return replace(self, key=f"{self.key}.{suffix}")

    def by_rule(self) -> Act:
        """The automatic consequence of the act: by nobody, and under no key."""
        return replace(self, assessor=None, key=None)

    def check_key(self) -> None:
        """Refuse a key that no client should make."""
        key = self.key
        if key is not None and not (1 <= len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()):
            raise InputError(Problem("syntax", f"an idempotency key has 1 to {LONGEST_KEY} printable ASCII characters"))
