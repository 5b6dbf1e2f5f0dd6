"""Nugget lists settled: where assessors wrote their own, one of them is adopted with its matches (METHOD 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, func, select

from qassay.store.adjudication.comparing import ADJUDICATED, NUGGET_KINDS, UNANIMOUS, Stands, said
from qassay.store.judging.appending import Entry, Row, append_entries
from qassay.store.judging.judgments import KeyReusedError, body_before
from qassay.store.judging.nuggets import Nugget, list_for, nuggets_of, write_nugget
from qassay.store.schema import nugget as nugget_table
from qassay.store.schema import record, standing
from qassay.store.settings import note_action

ACTION = "adopt"


@dataclass(frozen=True, slots=True)
class Adopted:
    """What adopting did: nuggets and judgments that are new or changed in the adjudicated ones."""

    nuggets: int
    judgments: int


@dataclass(frozen=True, slots=True)
class Bound:
    """The judgments of one set that name nuggets of a question, by thing."""

    rows: Mapping[str, tuple[str, Stands]]

    @property
    def is_ruled(self) -> bool:
        """Whether a person adopted or ruled, and not the rule."""
        return any(one.body is not None and one.body.get("settled") != UNANIMOUS for _, one in self.rows.values())

    def by_response(self, numbers: Mapping[str | None, int]) -> dict[str, dict[str, Any]]:
        """What was said of each response, by the number of its item: nuggets matched, or the support of each."""
        found: dict[str, dict[str, Any]] = {}
        for kind, one in self.rows.values():
            if one.body is None or one.body["run"] not in numbers:
                continue
            said_here = found.setdefault(str(numbers[one.body["run"]]), {})
            if kind == "match":
                said_here.update(dict.fromkeys(one.body["nuggets"], "full"))
            else:
                said_here[str(one.body["nugget"])] = one.body["support"]
        return found

    @property
    def last(self) -> int:
        """The number of the latest judgment."""
        return max((one.judgment for _, one in self.rows.values()), default=0)


def bound_rows(connection: Connection, question: str, sets: Sequence[str]) -> dict[str, Bound]:
    """What some sets say of a question by naming nuggets."""
    c = standing.c
    query = select(c.set, c.thing, c.kind, c.judgment, c.version, c.body)
    rows: dict[str, dict[str, tuple[str, Stands]]] = {name: {} for name in sets}
    for row in connection.execute(query.where(c.question == question, c.set.in_(sets), c.kind.in_(NUGGET_KINDS))):
        body = None if row.body is None else msgspec.json.decode(row.body)
        rows[row.set][row.thing] = (row.kind, Stands(row.judgment, row.version, body))
    return {name: Bound(things) for name, things in rows.items()}


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


def adoption_under(connection: Connection, question: str, key: str, set_name: str) -> Adopted | None:
    """What adopting under this key did before: the answer to the same request sent again."""
    c = record.c
    for body in connection.execute(select(c.body).where(c.question == question, c.action == ACTION)).scalars():
        done = msgspec.json.decode(body)
        if done.get("key") == key:
            if done["set"] != set_name:
                raise KeyReusedError("this idempotency key belongs to another list; make a new one for every choice")
            return Adopted(done["nuggets"], done["judgments"])
    return None


def take_over(
    connection: Connection, question: str, set_name: str, *, at: str, by: tuple[int, str], key: str
) -> Adopted:
    """Copy a set's list and its judgments by nuggets into the adjudicated ones; what was there becomes history."""
    account, assessor = by
    name, _ = list_for(connection, set_name, question)
    nuggets = mirror_list(connection, name, question, at=at, account=account)
    both = bound_rows(connection, question, (set_name, ADJUDICATED))
    target = {
        named: (kind, {**_bare(one.body), "assessor": assessor, "at": at})
        for named, (kind, one) in both[set_name].rows.items()
        if one.body is not None
    }
    entries = _entries(question, target, both[ADJUDICATED])
    append_entries(connection, ADJUDICATED, entries, at=at, account=account)
    counts = {"nuggets": nuggets, "judgments": len(entries)}
    note_action(connection, ACTION, account=account, question=question, set=set_name, key=key, **counts)
    return Adopted(**counts)


def mirror_list(
    connection: Connection, source: str, question: str, *, at: str, account: int | None, settled: bool = False
) -> int:
    """Make the adjudicated list of a question equal to another; returns how many nuggets changed.

    With `settled` it is done by rule: what a person wrote into the adjudicated list then stays as it is.
    """
    there = {one.nugget: one for one in nuggets_of(connection, ADJUDICATED, question)}
    if source == ADJUDICATED or (settled and any(_by_person(one) for one in there.values())):
        return 0
    marks = {"settled": UNANIMOUS} if settled else {}
    wanted = {one.nugget: one for one in nuggets_of(connection, source, question)}
    count = 0
    for named in [*wanted, *(named for named in there if named not in wanted)]:
        new, old = wanted.get(named), there.get(named)
        body = None if new is None else {**_bare(new.body), **marks}
        same = new is not None and old is not None and (body, new.ordinal) == (dict(old.body or {}), old.ordinal)
        if same:
            continue
        count += 1
        write_nugget(
            connection,
            list_name=ADJUDICATED,
            question=question,
            nugget=named,
            body=body,
            ordinal=None if new is None else new.ordinal,
            account=account,
            at=at,
        )
    return count


def take_back_by_rule(connection: Connection, question: str, *, at: str) -> None:
    """Take back what one assessor's list settled by itself, once there are several."""
    settled = bound_rows(connection, question, (ADJUDICATED,))[ADJUDICATED]
    entries = [
        Entry(kind, question, named, one.version + 1, None)
        for named, (kind, one) in settled.rows.items()
        if one.body is not None and one.body.get("settled") == UNANIMOUS
    ]
    append_entries(connection, ADJUDICATED, entries, at=at)


def lists_changed(connection: Connection, question: str, sets: Sequence[str]) -> bool:
    """Whether an assessor's list, or what was matched with it, is another than when one was adopted."""
    found = bound_rows(connection, question, (*sets, ADJUDICATED))
    ruled = found[ADJUDICATED].last
    adopted = select(func.max(record.c.at)).where(record.c.question == question, record.c.action == ACTION)
    at = connection.execute(adopted).scalar()
    if at is not None:
        c = nugget_table.c
        later = select(c.id).where(c.question == question, c.list.in_(sets), c.at > at).limit(1)
        if connection.execute(later).first() is not None:
            return True
    newer = [
        (name, named, kind, one.body)
        for name in sets
        for named, (kind, one) in found[name].rows.items()
        if one.judgment > ruled
    ]
    return any(
        _compared(kind, body_before(connection, name, named, ruled)) != _compared(kind, body)
        for name, named, kind, body in newer
    )


def _compared(kind: str, body: Mapping[str, Any] | None) -> Any:
    return None if body is None else said(kind, body)


def _bare(body: Mapping[str, Any] | None) -> Row:
    return {name: value for name, value in (body or {}).items() if name not in ("assessor", "at", "note", "settled")}


def _by_person(one: Nugget) -> bool:
    return (one.body or {}).get("settled") != UNANIMOUS


def _entries(question: str, target: Mapping[str, tuple[str, Row]], there: Bound) -> list[Entry]:
    """The rows that make the adjudicated ones what they shall be."""
    made = []
    for named, (kind, body) in target.items():
        old = there.rows.get(named)
        made.append(Entry(kind, question, named, 1 + (old[1].version if old else 0), body))
    gone = [
        Entry(kind, question, named, one.version + 1, None)
        for named, (kind, one) in there.rows.items()
        if named not in target and one.body is not None
    ]
    return made + gone
