"""The classes of equivalent answers of a list question (METHOD 4), as one assessor makes them.

A class is a string. The known ones are those of question development and those that the assessor has given so far,
over all lists of the question. Renaming a class, or merging it into another, gives every judgment that names it a new
version in one transaction: scores follow, and history stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from qassay.errors import InputError, Problem, QassayError, UsageError
from qassay.formats.times import now
from qassay.store.assignment.assignments import Assignment, hold
from qassay.store.assignment.counting import Assessor, recount_question
from qassay.store.judging import judgments
from qassay.store.judging.judgments import KeyReusedError
from qassay.store.judging.taking_back import check_open, take_back_judgments
from qassay.store.pool.parts import LONGEST_CLASS
from qassay.store.schema import account as people
from qassay.store.schema import answer, standing
from qassay.store.settings import note_action


@dataclass(frozen=True, slots=True)
class KnownClass:
    """A class of answers: whether question development knows it, and how many items the assessor has put into it."""

    name: str
    developed: bool
    items: int


class ClassGoneError(QassayError):
    """A class is not there any more: it was renamed or merged in the meantime."""


def known_classes(connection: Connection, one: Assignment) -> list[KnownClass]:
    """The classes of a question that an assessor may choose from: those of development first, then by name."""
    developed = list(dict.fromkeys(developed_answers(connection, one.question, one.account)))
    counts = Counter(class_of(row) for _, row in _right(connection, one, "list"))
    own = sorted((name for name in counts if name not in developed), key=str.casefold)
    return [
        *(KnownClass(name, True, counts[name]) for name in developed),
        *(KnownClass(name, False, counts[name]) for name in own),
    ]


def class_of(row: Mapping[str, Any]) -> str:
    """The class of a right item; one without is its own, named by its string (FORMATS 4)."""
    return str(row.get("answer") or row.get("text") or "")


def developed_answers(connection: Connection, question: str, account: int | None) -> list[str]:
    """Answers known from question development that are not withdrawn.

    What another assessor noted while judging is left out: it would tell what he judged.
    """
    c = answer.c
    rows = connection.execute(select(c.body, c.account).where(c.question == question).order_by(c.id)).all()
    # What came from a file says whose it is by name alone.
    name = connection.execute(select(people.c.name).where(people.c.id == account)).scalar()
    last: dict[tuple[str, Any], bool] = {}
    for row in rows:
        body = msgspec.json.decode(row.body)
        own = row.account == account if row.account is not None else body.get("assessor") == name
        if "assessor" in body and not own:
            continue
        last[str(body["answer"]), body.get("doc")] = not body.get("withdrawn")
    return [name for (name, _), stands in last.items() if stands]


def right_answers(connection: Connection, one: Assignment) -> list[str]:
    """What the assessor has called correct in answer to a question: strings, and classes of list items."""
    return [class_of(row) for _, row in _right(connection, one, "item", "list")]


def rename_class(connection: Connection, one: Assignment, before: str, after: str, *, who: Assessor, key: str) -> int:
    """Rename a class, or merge it into one that is there; returns how many judgments name it otherwise now.

    Sent again under its key it does nothing more. A class of question development is not an assessor's to rename: it
    would stay among the known answers under its old name.
    """
    name = after.strip()
    if not 1 <= len(name) <= LONGEST_CLASS:
        raise InputError(Problem("bad-label", f"the class of an answer is a text of 1 to {LONGEST_CLASS} characters"))
    hold(connection, one.question)  # the same request sent twice at once waits here, and then finds its key
    if (earlier := judgments.by_key(connection, f"{key}.c0")) is not None:
        if (earlier.set, earlier.account, (earlier.body or {}).get("answer")) != (one.set, who.id, name):
            raise KeyReusedError("this idempotency key belongs to another change; make a new one for every change")
        return 0
    check_open(connection, one, who)
    if before in developed_answers(connection, one.question, one.account):
        raise UsageError("this answer is known from question development; merge the other one into it instead")
    rows = [(version, row) for version, row in _right(connection, one, "list") if class_of(row) == before]
    if not rows:
        raise ClassGoneError(f"there is no class {before!r} any more; it was renamed or merged in the meantime")
    at = now()
    for number, (version, row) in enumerate(rows):
        judgments.append(
            connection,
            set_name=one.set,
            kind="list",
            row={**row, "answer": name, "assessor": who.name, "at": at},
            at=at,
            expected=version,
            key=f"{key}.c{number}",
            account=who.id,
        )
    note_action(
        connection,
        "rename-class",
        account=who.id,
        question=one.question,
        set=one.set,
        before=before,
        after=name,
        judgments=len(rows),
    )
    recount_question(connection, one.question)
    return len(rows)


def take_back_renaming(connection: Connection, one: Assignment, of: str, *, who: Assessor, key: str) -> int:
    """Put back what judgments named before a class was renamed or merged."""
    hold(connection, one.question)
    if judgments.by_key(connection, f"{key}.j0") is not None:
        return 0
    check_open(connection, one, who)
    count = take_back_judgments(connection, set_name=one.set, question=one.question, of=of, key=key, account=who.id)
    if not count:
        raise UsageError("there is no such change of classes")
    note_action(connection, "rename-class-undone", account=who.id, question=one.question, set=one.set, judgments=count)
    recount_question(connection, one.question)
    return count


def _right(connection: Connection, one: Assignment, *kinds: str) -> list[tuple[int, dict[str, Any]]]:
    """The items of a question, of these kinds, that the assessor has called correct: version and row."""
    c = standing.c
    here = (c.set == one.set, c.question == one.question, c.kind.in_(kinds), c.body.is_not(None))
    found = connection.execute(select(c.version, c.body).where(*here).order_by(c.judgment))
    rows = [(row.version, msgspec.json.decode(row.body)) for row in found]
    return [(version, row) for version, row in rows if row.get("judgment") == "R"]
