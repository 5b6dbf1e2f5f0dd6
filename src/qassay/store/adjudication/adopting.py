"""Nugget lists settled: where assessors wrote their own, one of them is adopted with its matches (METHOD 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, func, select

from qassay.judging import ADJUDICATED, KINDS, Row
from qassay.judging.settling import UNANIMOUS, Current, NewJudgment
from qassay.store.acts import Act
from qassay.store.judging.judgments import KeyReusedError, append_judgments, body_before, decoded
from qassay.store.judging.nuggets import Nugget, list_for, nuggets_of, write_nugget
from qassay.store.schema import current_judgment, record
from qassay.store.schema import nugget as nugget_table

ACTION = "adopt"
_BOUND = [name for name, kind in KINDS.items() if kind.by_nuggets]


@dataclass(frozen=True, slots=True)
class Adopted:
    """The result of adopting a list: nuggets and judgments that are new or changed in the adjudicated ones."""

    nuggets: int
    judgments: int


@dataclass(frozen=True, slots=True)
class NuggetJudgments:
    """The judgments of one set that name nuggets of a question, with their kinds, by subject."""

    rows: Mapping[str, tuple[str, Current]]

    @property
    def is_ruled(self) -> bool:
        """Whether a person adopted or ruled, and not the rule."""
        bodies = [current.body for _, current in self.rows.values() if current.body is not None]
        return any(body.get("settled") != UNANIMOUS for body in bodies)

    def by_response(self, numbers: Mapping[str | None, int]) -> dict[str, dict[str, Any]]:
        """How far each response, by the number of its item, has each nugget."""
        levels: dict[str, dict[str, Any]] = {}
        for kind, current in self.rows.values():
            if current.body is not None and current.body["run"] in numbers:
                response = levels.setdefault(str(numbers[current.body["run"]]), {})
                response.update(KINDS[kind].levels(current.body))
        return levels

    @property
    def last(self) -> int:
        """The number of the latest judgment."""
        return max((current.judgment for _, current in self.rows.values()), default=0)


def bound_judgments(connection: Connection, question: str, sets: Sequence[str]) -> dict[str, NuggetJudgments]:
    """The judgments of some sets on a question that name nuggets."""
    c = current_judgment.c
    query = select(c.set, c.subject, c.kind, c.judgment, c.version, c.body)
    rows: dict[str, dict[str, tuple[str, Current]]] = {name: {} for name in sets}
    for row in connection.execute(query.where(c.question == question, c.set.in_(sets), c.kind.in_(_BOUND))):
        rows[row.set][row.subject] = (row.kind, Current(row.judgment, row.version, decoded(row.body)))
    return {name: NuggetJudgments(subjects) for name, subjects in rows.items()}


def adoptions(connection: Connection, question: str) -> int:
    """How often a list was adopted for a question: what a second adjudicator has not seen."""
    c = record.c
    return connection.execute(
        select(func.count()).select_from(record).where(c.question == question, c.action == ACTION)
    ).scalar_one()


def adopted_set(connection: Connection, question: str) -> str | None:
    """The set whose list was adopted last; None where none was."""
    c = record.c
    query = select(c.body).where(c.question == question, c.action == ACTION).order_by(c.id.desc()).limit(1)
    body = connection.execute(query).scalar_one_or_none()
    return None if body is None else str(msgspec.json.decode(body)["set"])


def adoption_under(act: Act, question: str, set_name: str) -> Adopted | None:
    """The earlier result of adopting under this key: the answer to the same request sent again."""
    c = record.c
    for body in act.connection.execute(select(c.body).where(c.question == question, c.action == ACTION)).scalars():
        done = msgspec.json.decode(body)
        if done.get("key") == act.key:
            if done["set"] != set_name:
                raise KeyReusedError("this idempotency key belongs to another list; make a new one for every choice")
            return Adopted(*(done[count] for count in ("nuggets", "judgments")))
    return None


def take_over(act: Act, question: str, set_name: str) -> Adopted:
    """Copy a set's list and its judgments by nuggets into the adjudicated ones; those before become history."""
    name, _ = list_for(act.connection, set_name, question)
    nuggets = mirror_list(act, name, question)
    by_set = bound_judgments(act.connection, question, (set_name, ADJUDICATED))
    target = {
        subject: (kind, {**_bare(current.body), "assessor": act.name, "at": act.at})
        for subject, (kind, current) in by_set[set_name].rows.items()
        if current.body is not None
    }
    new = _new_judgments(question, target, by_set[ADJUDICATED])
    append_judgments(act, ADJUDICATED, new)
    counts = {"nuggets": nuggets, "judgments": len(new)}
    act.note(ACTION, question=question, set=set_name, key=act.key, **counts)
    return Adopted(**counts)


def mirror_list(act: Act, source: str, question: str, *, settled: bool = False) -> int:
    """Make the adjudicated list of a question equal to another; returns how many nuggets changed.

    With `settled` it is done by rule: what a person wrote into the adjudicated list then stays as it is.
    """
    adjudicated = {nugget.nugget: nugget for nugget in nuggets_of(act.connection, ADJUDICATED, question)}
    if source == ADJUDICATED or (settled and any(_by_person(nugget) for nugget in adjudicated.values())):
        return 0
    marks = {"settled": UNANIMOUS} if settled else {}
    source_nuggets = {nugget.nugget: nugget for nugget in nuggets_of(act.connection, source, question)}
    plain = Act(act.connection, act.task, act.assessor, at=act.at)
    count = 0
    for name in [*source_nuggets, *(name for name in adjudicated if name not in source_nuggets)]:
        new, old = source_nuggets.get(name), adjudicated.get(name)
        body = None if new is None else {**_bare(new.body), **marks}
        same = new is not None and old is not None and (body, new.ordinal) == (dict(old.body or {}), old.ordinal)
        if not same:
            count += 1
            write_nugget(plain, ADJUDICATED, question, name, body, ordinal=None if new is None else new.ordinal)
    return count


def undo_by_rule(act: Act, question: str) -> None:
    """Undo what one assessor's list settled by itself, once there are several."""
    settled = bound_judgments(act.connection, question, (ADJUDICATED,))[ADJUDICATED]
    new = [
        NewJudgment(kind, question, subject, current.version + 1, None)
        for subject, (kind, current) in settled.rows.items()
        if current.body is not None and current.body.get("settled") == UNANIMOUS
    ]
    append_judgments(act, ADJUDICATED, new)


def lists_changed(connection: Connection, question: str, sets: Sequence[str]) -> bool:
    """Whether an assessor's list, or what was matched with it, has changed since one was adopted."""
    judged = bound_judgments(connection, question, (*sets, ADJUDICATED))
    ruled = judged[ADJUDICATED].last
    adopted = select(func.max(record.c.at)).where(record.c.question == question, record.c.action == ACTION)
    at = connection.execute(adopted).scalar()
    if at is not None:
        c = nugget_table.c
        later = select(c.id).where(c.question == question, c.list.in_(sets), c.at > at).limit(1)
        if connection.execute(later).first() is not None:
            return True
    return any(
        _compared(kind, body_before(connection, name, subject, ruled)) != _compared(kind, current.body)
        for name in sets
        for subject, (kind, current) in judged[name].rows.items()
        if current.judgment > ruled
    )


def _compared(kind: str, body: Row | None) -> Any:
    return None if body is None else KINDS[kind].says(body)


def _bare(body: Mapping[str, Any] | None) -> Row:
    return {name: value for name, value in (body or {}).items() if name not in ("assessor", "at", "note", "settled")}


def _by_person(nugget: Nugget) -> bool:
    return (nugget.body or {}).get("settled") != UNANIMOUS


def _new_judgments(
    question: str, target: Mapping[str, tuple[str, Row]], adjudicated: NuggetJudgments
) -> list[NewJudgment]:
    """The rows that make the adjudicated judgments equal to the target."""
    new = []
    for subject, (kind, body) in target.items():
        old = adjudicated.rows.get(subject)
        new.append(NewJudgment(kind, question, subject, 1 + (old[1].version if old else 0), body))
    removed = [
        NewJudgment(kind, question, subject, current.version + 1, None)
        for subject, (kind, current) in adjudicated.rows.items()
        if subject not in target and current.body is not None
    ]
    return new + removed
