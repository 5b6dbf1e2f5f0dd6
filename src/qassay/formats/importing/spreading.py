"""Several rows of one item by different people, as crowds give them: each person's row goes into a set of its own.

The sets are first, second, third, ...: the first person to judge an item is in the first set. A person
who has judged the item before stays in the same set, so that importing a file again adds nothing. (FORMATS 7)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

from qassay.errors import InputError, Problem, Problems
from qassay.formats.importing.plan import Plan, Source
from qassay.formats.importing.rows import judgment_identity
from qassay.formats.jsonl import Numbered, Row
from qassay.judging.sets import MOST_SLOTS, slot_name

_Subject: TypeAlias = Callable[[Row], Hashable]


def spread(plan: Plan, source: Source, rows: Sequence[Numbered]) -> dict[str, list[Numbered]]:
    """The rows by the set that each belongs to; an error for rows that name no assessor."""
    identity = judgment_identity(plan.test_set(source), plan.configuration.task)

    def subject(row: Row) -> Hashable:
        return identity({name: value for name, value in row.items() if name != "assessor"})

    seats = _taken(plan, subject)
    sets: dict[str, list[Numbered]] = {}
    problems = Problems()
    for line, row in rows:
        person = row.get("assessor")
        if person is None or str(person).strip() == "":
            message = '--spread puts each assessor\'s row into a set of its own, and this row has no "assessor"'
            problems.append(_problem(source, line, row, message))
            continue
        taken = seats.setdefault(subject(row), {})
        place = next((seat for seat, holder in taken.items() if holder == str(person)), None)
        if place is None:
            place = next(seat for seat in range(len(taken) + 1) if seat not in taken)
        if place >= MOST_SLOTS:
            message = f"more than {MOST_SLOTS} people judge one item; is the assessor of each row a person?"
            raise InputError(_problem(source, line, row, message))
        taken[place] = str(person)
        sets.setdefault(slot_name(place), []).append((line, row))
    if problems:
        raise InputError(problems)
    return {name: sets[name] for name in map(slot_name, range(MOST_SLOTS)) if name in sets}


def _taken(plan: Plan, subject: _Subject) -> dict[Hashable, dict[int, str | None]]:
    """Who has judged each item in each of the sets already; None where the row does not say."""
    seats: dict[Hashable, dict[int, str | None]] = {}
    known = plan.folder.judgment_sets()
    for place in range(MOST_SLOTS):
        name = slot_name(place)
        path = known.get(name) or plan.folder.judgment_file(name)
        if name in known or path in plan.appended:
            for _, row in plan.rows(path):
                person = row.get("assessor")
                seats.setdefault(subject(row), {})[place] = None if person is None else str(person)
    return seats


def _problem(source: Source, line: int, row: Row, message: str) -> Problem:
    question = row.get("question")
    return Problem("syntax", message, source.name, line or None, None if question is None else str(question))
