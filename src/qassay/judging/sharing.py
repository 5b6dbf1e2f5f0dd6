"""Who judges which questions: every question goes to k assessors, a series to the same ones, the work spread evenly."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from qassay.errors import InputError, Problem
from qassay.judging.sets import SLOTS
from qassay.questions import TestSet


class AssignedQuestion(Protocol):
    """A question that is given to an account (None: to anyone who asks for work), and how many items it has."""

    @property
    def account(self) -> int | None:
        """The account that has the question."""

    @property
    def total(self) -> int:
        """Items to judge."""


def check_number(assessors: int, accounts: Sequence[int]) -> None:
    """Stop where the people do not suffice for this number of assessors per question."""
    most = len(SLOTS)
    if not 1 <= assessors <= most:
        raise InputError(Problem("configuration", f"a question goes to 1 to {most} assessors, not {assessors}"))
    if accounts and len(set(accounts)) < assessors:
        message = f"{assessors} assessors per question need as many people; {len(set(accounts))} are chosen"
        raise InputError(Problem("configuration", message))


def groups(questions: TestSet, sizes: Mapping[str, int]) -> list[list[str]]:
    """Questions that stay together (a series, or one question), the largest first; only those with items."""
    together: dict[tuple[str, str], list[str]] = {}
    for question in questions:
        if question.id in sizes:
            key = ("question", question.id) if question.series is None else ("series", question.series)
            together.setdefault(key, []).append(question.id)
    return sorted(together.values(), key=lambda group: -sum(sizes[question] for question in group))


def loads(
    existing: Mapping[tuple[str, int], AssignedQuestion], accounts: Sequence[int]
) -> tuple[dict[int, int], dict[int, int]]:
    """How many items each account has to judge, and how often it is a first assessor."""
    load, firsts = dict.fromkeys(accounts, 0), dict.fromkeys(accounts, 0)
    for (_, slot), assignment in existing.items():
        if assignment.account in load:
            load[assignment.account] += assignment.total
            firsts[assignment.account] += slot == 1
    return load, firsts


def kept_slots(
    group: Sequence[str], assessors: int, existing: Mapping[tuple[str, int], AssignedQuestion]
) -> dict[int, int | None]:
    """The present holders of the slots of a group; nobody has two, even if single questions were reassigned."""
    holders: dict[int, int | None] = {}
    for slot in range(1, assessors + 1):
        for question in group:
            assignment = existing.get((question, slot))
            if assignment is not None and (assignment.account is None or assignment.account not in holders.values()):
                holders.setdefault(slot, assignment.account)
    return holders


def with_author(
    holders: Mapping[int, int | None], group: Sequence[str], authors: Mapping[str, int]
) -> dict[int, int | None]:
    """The slots with the author of the group in the first, unless the slot or the author is taken already."""
    author = next((authors[question] for question in group if question in authors), None)
    if author is None or 1 in holders or author in holders.values():
        return dict(holders)
    return {1: author, **holders}


def least_loaded(accounts: Sequence[int], others: Collection[int | None], load: Mapping[int, int]) -> int | None:
    """The person with the least work who does not judge the question yet; None: anyone who asks."""
    return min(
        (account for account in accounts if account not in others), key=lambda account: load[account], default=None
    )


def choose(
    assessors: int,
    accounts: Sequence[int],
    holders: Mapping[int, int | None],
    load: Mapping[int, int],
    firsts: Mapping[int, int],
) -> dict[int, int | None]:
    """The people for the slots of a group; a person who has a slot already keeps it."""
    slots = [slot for slot in range(1, assessors + 1) if slot not in holders]
    chosen: dict[int, int | None] = dict(holders)
    if not accounts:
        return chosen | dict.fromkeys(slots)
    free = sorted(
        (account for account in dict.fromkeys(accounts) if account not in holders.values()),
        key=lambda account: load[account],
    )
    order = sorted(free[: len(slots)], key=lambda account: firsts[account])
    return chosen | dict(zip(slots, order, strict=False))
