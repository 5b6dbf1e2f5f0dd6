"""The classes of equivalent answers of a list question (METHOD 4), as one assessor makes them.

A class is a string. The known ones are those of question development and those that the assessor has given so far, over
all lists of the question. Renaming a class, or merging it into another, gives every judgment that names it a new
version in one transaction: scores follow, and history stays.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from qassay.errors import InputError, Problem, QassayError, UsageError
from qassay.judging import ANSWERS, CLASSED, Row
from qassay.judging.list_item import class_of, fault_of_class, is_right, with_class
from qassay.store.acts import Act
from qassay.store.assignment.assignments import Assignment, lock_assignments
from qassay.store.assignment.counting import recount_question
from qassay.store.development.answers import developed_answers
from qassay.store.judging import judgments
from qassay.store.judging.decisions import check_open, undo_judgments
from qassay.store.judging.judgments import KeyReusedError


@dataclass(frozen=True, slots=True)
class KnownClass:
    """A class of answers: whether question development knows it, and how many items the assessor has put into it."""

    name: str
    developed: bool
    items: int


NO_SUCH_CHANGE = "there is no such change of classes"


class ClassGoneError(QassayError):
    """A class is not there any more: it was renamed or merged in the meantime."""


def known_classes(connection: Connection, assignment: Assignment) -> list[KnownClass]:
    """The classes of a question that an assessor may choose from: those of development first, then by name."""
    developed = list(dict.fromkeys(developed_answers(connection, assignment.question, assignment.account)))
    counts = Counter(class_of(row) for _, row in _right(connection, assignment, CLASSED.name))
    undeveloped = sorted((name for name in counts if name not in developed), key=str.casefold)
    return [
        *(KnownClass(name, True, counts[name]) for name in developed),
        *(KnownClass(name, False, counts[name]) for name in undeveloped),
    ]


def right_answers(connection: Connection, assignment: Assignment) -> list[str]:
    """The answers to a question that the assessor judged correct: strings, and classes of list items."""
    return [class_of(row) for _, row in _right(connection, assignment, *ANSWERS)]


def rename_class(act: Act, assignment: Assignment, before: str, after: str) -> int:
    """Rename a class, or merge it into one that is there; returns how many judgments have another name now.

    Sent again under its key it does nothing more. A class of question development is not an assessor's to rename: it
    would stay among the known answers under its old name.
    """
    name = after.strip()
    if fault := fault_of_class(name):
        raise InputError(Problem("bad-label", fault))
    # The same request sent twice at once waits here, and then finds its key.
    lock_assignments(act.connection, assignment.question)
    if (earlier := judgments.by_key(act.connection, f"{act.key}.c0")) is not None:
        same_class = earlier.body is not None and class_of(earlier.body) == name
        if (earlier.set, earlier.account) != (assignment.set, act.account) or not same_class:
            raise KeyReusedError("this idempotency key belongs to another change; make a new one for every change")
        return 0
    check_open(act, assignment)
    if before in developed_answers(act.connection, assignment.question, assignment.account):
        raise UsageError("this answer is known from question development; merge the other one into it instead")
    rows = [row for row in _right(act.connection, assignment, CLASSED.name) if class_of(row[1]) == before]
    if not rows:
        raise ClassGoneError(f"there is no class {before!r} any more; it was renamed or merged in the meantime")
    for number, (version, row) in enumerate(rows):
        renamed = {**with_class(row, name), "assessor": act.name, "at": act.at}
        judgments.append(act.step(f"c{number}"), assignment.set, CLASSED.name, renamed, expected=version)
    _note(act, assignment, "rename-class", before=before, after=name, judgments=len(rows))
    return len(rows)


def undo_renaming(act: Act, assignment: Assignment, of: str) -> int:
    """Put back the classes that judgments named before a class was renamed or merged."""
    lock_assignments(act.connection, assignment.question)
    if judgments.by_key(act.connection, f"{act.key}.j0") is not None:
        return 0
    check_open(act, assignment)
    # Judgments on their own have a key too, and are not a change of classes.
    if judgments.by_key(act.connection, f"{of}.c0") is None:
        raise UsageError(NO_SUCH_CHANGE)
    count = undo_judgments(act, assignment.set, assignment.question, of=of)
    if not count:
        raise UsageError(NO_SUCH_CHANGE)
    _note(act, assignment, "rename-class-undone", judgments=count)
    return count


def _note(act: Act, assignment: Assignment, action: str, **details: Any) -> None:
    act.note(action, question=assignment.question, set=assignment.set, **details)
    recount_question(act, assignment.question)


def _right(connection: Connection, assignment: Assignment, *kinds: str) -> list[tuple[int, Row]]:
    """The items of a question, of these kinds, that the assessor has called correct: version and row."""
    rows = judgments.rows_of_kind(connection, assignment.set, assignment.question, *kinds)
    return [(version, row) for version, row in rows if is_right(row)]
