"""Spreading the work of judging: who takes which questions, so that everybody has about as much to do."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from qassay.errors import InputError, Problem
from qassay.questions import TestSet

if TYPE_CHECKING:
    from qassay.store.assignment.assignments import Assignment


def check_number(assessors: int, accounts: Sequence[int], most: int) -> None:
    """Stop where the people do not suffice for so many assessors a question."""
    if not 1 <= assessors <= most:
        raise InputError(Problem("configuration", f"a question goes to 1 to {most} assessors, not {assessors}"))
    if accounts and len(set(accounts)) < assessors:
        message = f"{assessors} assessors a question need as many people; {len(set(accounts))} are chosen"
        raise InputError(Problem("configuration", message))


def groups(questions: TestSet, sizes: Mapping[str, int]) -> list[list[str]]:
    """Questions that stay together (a series, or one question), the largest first; only those with items."""
    found: dict[str, list[str]] = {}
    for one in questions:
        if one.id in sizes:
            found.setdefault(f"series {one.series}" if one.series is not None else f"question {one.id}", []).append(
                one.id
            )
    return sorted(found.values(), key=lambda group: -sum(sizes[question] for question in group))


def loads(
    existing: Mapping[tuple[str, int], Assignment], accounts: Sequence[int]
) -> tuple[dict[int, int], dict[int, int]]:
    """How many items everybody has to judge, and how often they are a first assessor."""
    load, firsts = dict.fromkeys(accounts, 0), dict.fromkeys(accounts, 0)
    for (_, slot), one in existing.items():
        if one.account in load:
            load[one.account] += one.total
            firsts[one.account] += slot == 1
    return load, firsts


def kept_slots(
    group: Sequence[str], assessors: int, existing: Mapping[tuple[str, int], Assignment]
) -> dict[int, int | None]:
    """Who has which slot of a group already; nobody two of them, though single questions may have changed hands."""
    kept: dict[int, int | None] = {}
    for slot in range(1, assessors + 1):
        for question in group:
            one = existing.get((question, slot))
            if one is not None and (one.account is None or one.account not in kept.values()):
                kept.setdefault(slot, one.account)
    return kept


def least_loaded(accounts: Sequence[int], others: Collection[int | None], load: Mapping[int, int]) -> int | None:
    """Who takes a slot of a question instead of somebody who judges it in another; None: whoever asks for work."""
    return min((one for one in accounts if one not in others), key=lambda one: load[one], default=None)


def choose(
    assessors: int,
    accounts: Sequence[int],
    kept: Mapping[int, int | None],
    load: Mapping[int, int],
    firsts: Mapping[int, int],
) -> dict[int, int | None]:
    """Who takes which slot of a group; who has one already keeps it."""
    slots = [slot for slot in range(1, assessors + 1) if slot not in kept]
    chosen: dict[int, int | None] = dict(kept)
    if not accounts:
        return chosen | dict.fromkeys(slots)
    free = sorted((one for one in dict.fromkeys(accounts) if one not in kept.values()), key=lambda one: load[one])
    order = sorted(free[: len(slots)], key=lambda one: firsts[one])
    return chosen | dict(zip(slots, order, strict=False))
