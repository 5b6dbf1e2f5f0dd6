"""Who does what, when: the one record that every change of the store is made with.

Some acts are nobody's: `assessor` is None where a rule settles a question, where a command imports, pools or assigns,
and where the server invites its first organiser at its start. Two changes come before any act. A migration makes the
tables; and who signs in (sessions, tokens, passwords, the account that an invitation makes) is not known before.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from sqlalchemy import Connection, insert

from qassay.errors import InputError, Problem
from qassay.formats.times import now
from qassay.store.schema import record
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
    def person(self) -> Assessor:
        """The person; an error where nobody acts."""
        if self.assessor is None:
            raise ValueError("this takes a person, and a rule or a program acts")
        return self.assessor

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

    def note(self, action: str, *, question: str | None = None, **details: Any) -> None:
        """Record the act, with all details."""
        body = msgspec.json.encode(details).decode()
        values = {"at": self.at, "account": self.account, "action": action, "question": question, "body": body}
        self.connection.execute(insert(record).values(values))

    def check_key(self) -> None:
        """Refuse a key that no client should make."""
        key = self.key
        if key is not None and not (1 <= len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()):
            raise InputError(Problem("syntax", f"an idempotency key has 1 to {LONGEST_KEY} printable ASCII characters"))
