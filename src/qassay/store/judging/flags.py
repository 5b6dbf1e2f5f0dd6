"""Flags: an assessor marks an item as doubtful, with a reason. A flag is not a judgment, and changes no score.

Flags are in the record of what people did: the last one of an assessor and an item counts, and one without a reason
removes it.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
from sqlalchemy import Connection, select

from qassay.store.acts import Act
from qassay.store.schema import account as people
from qassay.store.schema import record

ACTION = "flag"


@dataclass(frozen=True, slots=True)
class Flag:
    """A doubt: about which item of which question, why, whose, since when."""

    question: str
    item: int
    reason: str
    account: int
    by: str
    at: str


def put_flag(act: Act, question: str, item: int, reason: str | None) -> None:
    """Flag an item, or remove the flag where there is no reason."""
    act.note(ACTION, question=question, item=item, reason=reason or None)


def flags(connection: Connection, *, account: int | None = None, question: str | None = None) -> list[Flag]:
    """The current flags, the latest first: all of them, an assessor's, or those of a question."""
    c = record.c
    rows = select(c.question, c.body, c.account, people.c.name, c.at).join(people, people.c.id == c.account)
    rows = rows.where(c.action == ACTION).order_by(c.id)
    if account is not None:
        rows = rows.where(c.account == account)
    if question is not None:
        rows = rows.where(c.question == question)
    current: dict[tuple[int, int], Flag] = {}
    for flagged_question, text, number, name, at in connection.execute(rows):
        body = msgspec.json.decode(text)
        current.pop((number, body["item"]), None)
        if body["reason"]:
            current[number, body["item"]] = Flag(flagged_question, body["item"], body["reason"], number, name, at)
    return list(reversed(current.values()))
