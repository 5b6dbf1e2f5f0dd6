"""Adjudication: the disagreements of a finished question, laid out without names, and the rulings of a person (METHOD
4).

It begins when every assigned assessor has finished the question. A ruling is valid until another replaces it; where the
assessors' verdicts have changed since, it is asked for again and stays valid meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from qassay.errors import InputError, Problem, unknown
from qassay.judging import ADJUDICATED, KINDS, Item, Part, Row, Verdict, digest
from qassay.judging.items import check_verdict, row_of, verdict_of
from qassay.judging.settling import UNANIMOUS, Matter, NewJudgment
from qassay.store.acts import Act
from qassay.store.adjudication.adopting import bound_judgments
from qassay.store.adjudication.own_lists import LISTS, side_by_side
from qassay.store.adjudication.settling import Comparison, adjust, closed_sets, compare, lists_left, states
from qassay.store.assignment.assignments import Assignment, assignments_on, lock_assignments
from qassay.store.assignment.counting import nuggets_for, parts_for
from qassay.store.judging import judgments
from qassay.store.judging.judgments import Judgment, append_judgments
from qassay.store.pool.items import items_of, order_seed


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A disagreement: the verdicts in a random order, which reveals no name and no set.

    `ruling` is the adjudicated verdict and `version` its version, as `rule` expects it. Of whole lists (kind `lists`)
    there is no item; its verdicts and `seen`, as `adopt` expects it, are those of own_lists.
    """

    item: Item | None
    part: str
    kind: str
    verdicts: tuple[Verdict, ...]
    ruling: Verdict | None
    version: int
    left: bool
    seen: str = ""


def disagreements(act: Act, question: str, *, only_left: bool = False) -> list[Disagreement]:
    """The disagreements of the assessors of a finished question, ruled on or not."""
    connection = act.connection
    sets = closed_sets(assignments_on(connection, question), question)
    items = items_of(connection, question)
    comparison = compare(connection, question, sets, items)
    seed = order_seed(connection)
    listed = [_on_lists(connection, comparison, items)] if comparison.own_lists else []
    for state in states(act, comparison):
        if state.disagreement:
            listed.append(_disagreement(state.unit, left=state.left, seed=seed))
    return [disagreement for disagreement in listed if disagreement.left or not only_left]


def _on_lists(connection: Connection, comparison: Comparison, items: Sequence[Item]) -> Disagreement:
    """The disagreement of assessors who wrote their own lists of nuggets."""
    left = lists_left(connection, comparison)
    lists = side_by_side(connection, comparison, items)
    return Disagreement(None, "", LISTS, lists.verdicts, lists.ruling, lists.adoptions, left, lists.seen)


def _disagreement(unit: Matter, *, left: bool, seed: str) -> Disagreement:
    rows, record = unit.rows(), KINDS[unit.part.kind]
    # In an order drawn for this place: whose verdict is first here says nothing of whose is first elsewhere.
    drawn = sorted(rows, key=lambda name: digest(seed, "verdicts", unit.part.name, unit.item.id, name))
    ruling, old = unit.ruling, unit.adjudicated.get(unit.part.subject)
    return Disagreement(
        unit.item,
        unit.part.name,
        unit.part.kind,
        tuple(record.verdict(rows[name], "note") for name in drawn),
        None if ruling is None else verdict_of(unit.part, ruling),
        old.version if old else 0,
        left,
    )


# ---- rulings --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Ruling:
    """A ruling to append: `row` names the part, a body of None undoes the ruling, `verdict` is checked."""

    item: Item
    part: Part
    row: Mapping[str, Any]
    body: Mapping[str, Any] | None
    verdict: Verdict | None
    expected: int


def rule(act: Act, item: Item, part: Part | str, verdict: Verdict, *, expected: int) -> Judgment:
    """Save an adjudicator's verdict on a part of an item; on a response to a nugget question, on all its strings."""
    assignments = lock_assignments(act.connection, item.question)
    ruled = part if isinstance(part, Part) else part_named(act.connection, item, part)
    row = row_of(ruled, verdict, assessor=act.name, at=act.at)
    if earlier := judgments.repeated(act, ADJUDICATED, ruled.kind, row, row):
        return earlier
    if same := _same_ruling(act, ruled, verdict, expected):
        return same
    return _save(act, _Ruling(item, ruled, row, row, verdict, expected), assignments, links=lambda _: {})


def _same_ruling(act: Act, part: Part, verdict: Verdict, expected: int) -> Judgment | None:
    """The current ruling, where a person gave the same verdict with the same note: ruling so again changes nothing."""
    last = next(reversed(judgments.history(act.connection, ADJUDICATED, part.subject)), None)
    if last is None or last.body is None or last.version != expected or last.body.get("settled") == UNANIMOUS:
        return None
    beside = {*part.row, "assessor", "at", "settled"}
    current = {name: value for name, value in last.body.items() if name not in beside}
    new = {name: value for name, value in verdict.items() if name != "note" or value is not None}
    return last if new == current else None


def undo_ruling(act: Act, item: Item, part: Part | str, *, expected: int, to: int) -> Judgment:
    """Put back the adjudicated judgment of an earlier version (0: none); itself recorded."""
    assignments = lock_assignments(act.connection, item.question)
    ruled = part if isinstance(part, Part) else part_named(act.connection, item, part)
    history = judgments.history(act.connection, ADJUDICATED, ruled.subject)
    body = judgments.body_at(history, to, item.question)
    row = dict(ruled.row) if body is None else dict(body)
    if earlier := judgments.repeated(act, ADJUDICATED, ruled.kind, row, body):
        return earlier
    # It is checked again: the rules, or the list of nuggets, may have changed since.
    verdict = None if body is None else KINDS[ruled.kind].verdict(body)

    def links(saved: Judgment) -> dict[str, Row | None]:
        undone = next(version.id for version in (*history, saved) if version.version > to)
        subjects = [link.subject for link in _links(act.connection, item)]
        return {link: judgments.body_before(act.connection, ADJUDICATED, link, undone) for link in subjects}

    return _save(act, _Ruling(item, ruled, row, body, verdict, expected), assignments, links=links)


def part_named(connection: Connection, item: Item, name: str) -> Part:
    """The part of an item with this name, as rulings name it."""
    parts = {part.name: part for part in parts_for(connection, ADJUDICATED, item, None)}
    if name not in parts:
        raise unknown("part", name, parts)
    return parts[name]


def _save(
    act: Act,
    ruling: _Ruling,
    assignments: Sequence[Assignment],
    *,
    links: Callable[[Judgment], Mapping[str, Row | None]],
) -> Judgment:
    """Append while the question is locked; `links` are the verdicts on the strings of a response after it."""
    item, part = ruling.item, ruling.part
    sets = closed_sets(assignments, item.question)
    _check_open_to_rulings(act.connection, item, part, sets)
    if ruling.verdict is not None:
        nuggets = nuggets_for(act.connection, ADJUDICATED, item)
        check_verdict(part, ruling.verdict, act.task, nuggets=nuggets)
    before = _of_part(act, item, part, sets)
    saved = judgments.append(
        act, ADJUDICATED, part.kind, ruling.row, expected=ruling.expected, undone=ruling.body is None
    )
    if KINDS[part.kind].linked and part.name == "":
        _set_links(act, item, links(saved))
    after = _of_part(act, item, part, sets)
    more, left = after[0] - before[0], after[1] - before[1]
    adjust(act.connection, item.question, unanimous=-more, disagreements=more, left=left)
    return saved


def _check_open_to_rulings(connection: Connection, item: Item, part: Part, sets: Sequence[str]) -> None:
    record = KINDS[part.kind]
    if not record.settles:
        message = f"question {item.question}: {record.nouns[1]} are not adjudicated; all of them are used together"
        raise InputError(Problem("configuration", message, None, None, item.question))
    if not record.by_nuggets or not compare(connection, item.question, sets, [item], some=True).own_lists:
        return
    if not bound_judgments(connection, item.question, (ADJUDICATED,))[ADJUDICATED].is_ruled:
        message = f"question {item.question}: its assessors wrote their own nuggets; adopt one of the lists first"
        raise InputError(Problem("configuration", message, None, None, item.question))


def _of_part(act: Act, item: Item, part: Part, sets: Sequence[str]) -> tuple[bool, bool]:
    """Whether a part is disagreed on, and left to be ruled on."""
    comparison = compare(act.connection, item.question, sets, [item], some=True)
    for state in states(act, comparison):
        if part.subject in {link.subject for link in state.unit.parts}:
            return state.disagreement, state.left
    return False, False


def _links(connection: Connection, item: Item) -> list[Part]:
    return [part for part in parts_for(connection, ADJUDICATED, item, None) if part.name]


def _set_links(act: Act, item: Item, bodies: Mapping[str, Row | None]) -> None:
    """Make the strings of an adjudicated response say what goes with its ruling: by subject, else nothing."""
    parts = _links(act.connection, item)
    current = judgments.current_rows(act.connection, ADJUDICATED, [part.subject for part in parts])
    new = []
    for part in parts:
        version, old = current.get(part.subject, (0, None))
        if old != (body := bodies.get(part.subject)):
            new.append(NewJudgment(part.kind, item.question, part.subject, version + 1, body))
    append_judgments(act, ADJUDICATED, new)
