"""Assessors side by side: what all of them agree on, what is left to an adjudicator, and the rows that follow (METHOD
4).

A response to a nugget question is compared as a whole: which nuggets it has, not where they are in it. Everything
else is compared part by part. Notes are not a part of a verdict. Everything here is rows in, rows out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from qassay.judging import ADJUDICATED, KINDS, Item, Part, Row, subject
from qassay.judging.items import is_allowed, parts_of
from qassay.judging.list_item import class_of, is_right, with_class
from qassay.tasks import Task

UNANIMOUS = "unanimous"


@dataclass(frozen=True, slots=True)
class Current:
    """The current judgment of one subject in one set; a body of None says that it was undone."""

    judgment: int
    version: int
    body: Row | None


# Current judgments by set and subject.
Judged: TypeAlias = Mapping[tuple[str, str], Current]


@dataclass(frozen=True, slots=True)
class NewJudgment:
    """A judgment to be appended under a version; a body of None undoes the current one."""

    kind: str
    question: str
    subject: str
    version: int
    body: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Matter:
    """Something to agree on: a part of an item, with what the sets and the adjudicated set say about it.

    `links` are the further parts of a response to a nugget question: its strings. Judgments are by set and by subject.
    """

    item: Item
    part: Part
    links: tuple[Part, ...]
    judged: Mapping[str, Mapping[str, Current]]
    adjudicated: Mapping[str, Current]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The part and its links."""
        return (self.part, *self.links)

    @property
    def ruling(self) -> Row | None:
        """The adjudicated judgment, in one row; None where there is none."""
        return self.row(_bodies(self.adjudicated))

    @property
    def is_ruled(self) -> bool:
        """Whether a person ruled, and not the rule of unanimity."""
        return any(body.get("settled") != UNANIMOUS for body in _bodies(self.adjudicated).values())

    @property
    def ruled_at(self) -> int:
        """The number of the last adjudicated judgment."""
        return max((current.judgment for current in self.adjudicated.values()), default=0)

    def rows(self) -> dict[str, Row]:
        """The row of each set that has judged this."""
        rows = {name: self.row(_bodies(subjects)) for name, subjects in self.judged.items()}
        return {name: row for name, row in rows.items() if row is not None}

    def row(self, bodies: Mapping[str, Row]) -> Row | None:
        """One row for the unit, from the rows of its subjects."""
        links = [bodies[part.subject] for part in self.links if part.subject in bodies]
        return KINDS[self.part.kind].combined(bodies.get(self.part.subject), links)

    def says(self, row: Row) -> tuple[Any, ...]:
        """A verdict as it is compared."""
        return KINDS[self.part.kind].says(row)


@dataclass(frozen=True, slots=True)
class State:
    """A unit, the row that all sets agree on, whether it is for an adjudicator, and whether a ruling is needed."""

    unit: Matter
    row: Row | None
    disagreement: bool
    left: bool


def units_of(
    items: Sequence[Item], nuggets: Sequence[str], *, own_lists: bool = False
) -> list[tuple[Item, list[Part]]]:
    """The parts to agree on: each part, and with a response to a nugget question its strings.

    Opinions are not settled. With `own_lists`, what assessors judged against lists of their own cannot be compared.
    """
    units: list[tuple[Item, list[Part]]] = []
    for item in items:
        record = KINDS[item.kind]
        parts = parts_of(item, nuggets=nuggets) if record.settles else []
        comparable = [part for part in parts if not (own_lists and KINDS[part.kind].by_nuggets)]
        units += [(item, comparable)] if record.linked and comparable else [(item, [part]) for part in comparable]
    return units


def laid_out(units: Sequence[tuple[Item, Sequence[Part]]], sets: Sequence[str], judged: Judged) -> tuple[Matter, ...]:
    """The units with what the sets, and the adjudicated set, say about them."""

    def of(set_name: str, parts: Sequence[Part]) -> dict[str, Current]:
        return {part.subject: judged[set_name, part.subject] for part in parts if (set_name, part.subject) in judged}

    return tuple(
        Matter(item, parts[0], tuple(parts[1:]), {name: of(name, parts) for name in sets}, of(ADJUDICATED, parts))
        for item, parts in units
    )


def common_classes(rows: Mapping[str, Sequence[Row]], known: Collection[str]) -> dict[tuple[str, str], str]:
    """Names of answer classes that differ from set to set although they contain the same items: by set and name.

    `rows` are all list judgments of a question by set. Compared are the items that every set calls correct; the first
    set's name is the common one. Whether a list counts twice depends on which items are together, not on their name.
    A class with the name of a `known` answer is that answer, and differs from any other.
    """
    classes: dict[str, dict[str, set[str]]] = {}
    members = [{subject("list", row) for row in rows_of_set if is_right(row)} for rows_of_set in rows.values()]
    shared = set.intersection(*members) if members else set()
    for name, rows_of_set in rows.items():
        for row in rows_of_set:
            if is_right(row) and class_of(row) not in known and (item := subject("list", row)) in shared:
                classes.setdefault(name, {}).setdefault(class_of(row), set()).add(item)
    first = classes.get(next(iter(rows), ""), {})
    names = {frozenset(items): name for name, items in first.items()}
    return {
        (set_name, name): names[frozenset(items)]
        for set_name, class_names in classes.items()
        for name, items in class_names.items()
        if frozenset(items) in names and names[frozenset(items)] != name
    }


def with_common_classes(judged: Judged, names: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], Current]:
    """The judgments, with the common name of each class."""
    renamed = dict(judged)
    for (set_name, item), current in judged.items():
        if current.body is not None and is_right(current.body):
            name = names.get((set_name, class_of(current.body)))
            if name is not None:
                renamed[set_name, item] = replace(current, body=with_class(current.body, name))
    return renamed


def states(
    units: Sequence[Matter], sets: Sequence[str], task: Task, nuggets: Collection[str], changed: Collection[str]
) -> list[State]:
    """The state of each unit; `changed` are the subjects whose verdicts changed since a person ruled on them.

    A part that needs no verdict and has none is left out.
    """
    unit_states = []
    for unit in units:
        if not unit.part.required and not unit.rows() and unit.ruling is None:
            continue
        row = agreed(unit, sets, task, nuggets)
        left = unit.part.subject in changed if unit.is_ruled else row is None
        unit_states.append(State(unit, row, row is None or left, left))
    return unit_states


def agreed(unit: Matter, sets: Sequence[str], task: Task, nuggets: Collection[str]) -> Row | None:
    """The row on which all sets agree, or None; a verdict that the rules do not allow (any more) does not count.

    On a part that needs no verdict, those agree who gave one.
    """
    rows = unit.rows()
    if not rows or (unit.part.required and len(rows) < len(sets)):
        return None
    if len({unit.says(row) for row in rows.values()}) > 1:
        return None
    fields = KINDS[unit.part.kind].fields
    row = max(rows.values(), key=lambda row: sum(row.get(name) is not None for name in fields))
    return row if is_allowed(unit.part, row, task, nuggets) else None


def needs_history(units: Sequence[Matter]) -> list[Matter]:
    """Units that a person ruled on and that a set judged again since."""
    return [
        unit
        for unit in units
        if unit.is_ruled
        and any(current.judgment > unit.ruled_at for subjects in unit.judged.values() for current in subjects.values())
    ]


# From set, subject and the number of a judgment to the body that was current before it.
Before: TypeAlias = Callable[[str, str, int], Row | None]


def changed_since(units: Sequence[Matter], sets: Sequence[str], before: Before) -> set[str]:
    """Subjects that a person ruled on and about which the sets say something else now than they did then."""
    changed = set()
    for unit in units:
        then = []
        for name in sets:
            bodies = {part.subject: before(name, part.subject, unit.ruled_at) for part in unit.parts}
            then.append(unit.row({subject: body for subject, body in bodies.items() if body is not None}))
        now = sorted(repr(unit.says(row)) for row in unit.rows().values())
        if now != sorted(repr(unit.says(row)) for row in then if row is not None):
            changed.add(unit.part.subject)
    return changed


def new_judgments(states: Sequence[State], at: str) -> Iterator[NewJudgment]:
    """The rows that make the adjudicated set say what all sets say; a person's ruling stays."""
    for state in states:
        if not state.unit.is_ruled:
            yield from _of_unit(state, at)


def _of_unit(state: State, at: str) -> Iterator[NewJudgment]:
    unit = state.unit
    verdicts = dict(_settled_verdicts(state))
    for part in unit.parts:
        old, verdict = unit.adjudicated.get(part.subject), verdicts.get(part.subject)
        version = 1 + (old.version if old else 0)
        if verdict is None:
            if old is not None and old.body is not None:
                yield NewJudgment(part.kind, unit.item.question, part.subject, version, None)
            continue
        identity = {name: value for name, value in part.row.items() if value is not None}
        body = {**identity, **verdict, "settled": UNANIMOUS, "at": at}
        if old is None or old.body is None or unit.says(old.body) != unit.says(body):
            yield NewJudgment(part.kind, unit.item.question, part.subject, version, body)


def _settled_verdicts(state: State) -> Iterator[tuple[str, Row]]:
    """The verdicts to settle by subject: of a response with its strings, where all agree on these too."""
    unit, row = state.unit, state.row
    if row is None:
        return
    places = [
        {subject: unit.says(body) for subject, body in _bodies(subjects).items()} for subjects in unit.judged.values()
    ]
    if unit.links and all(place == places[0] for place in places):
        first = _bodies(next(iter(unit.judged.values())))
        for part in unit.parts:
            if part.subject in first:
                yield part.subject, _verdict(part, first[part.subject])
    else:
        yield unit.part.subject, _verdict(unit.part, row)


def _verdict(part: Part, row: Row) -> Row:
    record = KINDS[part.kind]
    return record.verdict(row, *record.file_fields)


def _bodies(judged: Mapping[str, Current]) -> dict[str, Row]:
    return {subject: current.body for subject, current in judged.items() if current.body is not None}
