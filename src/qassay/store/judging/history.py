"""The history of an evaluation: every judgment, from what to what, and what organisers did; the newest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, and_, func, or_, select, union_all

from qassay.store.schema import account, current_judgment, judgment, record

PAGE = 100


@dataclass(frozen=True, slots=True)
class JudgmentChange:
    """One judgment and the one before it; None is: not judged."""

    id: int
    at: str
    who: str | None
    set: str
    question: str
    kind: str
    version: int
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Action:
    """Something an organiser or adjudicator did."""

    id: int
    at: str
    who: str | None
    action: str
    question: str | None
    details: Mapping[str, Any]


def changes(
    connection: Connection,
    *,
    question: str | None = None,
    set_name: str | None = None,
    person: int | None = None,
    before: int | None = None,
    limit: int = PAGE,
) -> list[JudgmentChange]:
    """The newest judgments, those before a certain one where it is given."""
    c = judgment.c
    conditions = [
        *([c.question == question] if question else []),
        *([c.account == person] if person else []),
        *([c.id < before] if before else []),
    ]
    newest = select(c.id).where(*conditions).order_by(c.id.desc()).limit(limit)
    if set_name:
        newest = newest.where(c.set == set_name)
    elif person and not question:
        newest = _of_all_sets(newest, set_names(connection)).limit(limit)
    numbers = connection.execute(newest).scalars().all()
    query = (
        select(c.id, c.at, account.c.name, c.set, c.question, c.kind, c.subject, c.version, c.body)
        .outerjoin(account, account.c.id == c.account)
        .where(c.id.in_(numbers))
        .order_by(c.id.desc())
    )
    rows = connection.execute(query).all()
    earlier = _earlier(connection, rows)
    return [
        JudgmentChange(
            row.id,
            row.at,
            row.name,
            row.set,
            row.question,
            row.kind,
            row.version,
            earlier.get((row.set, row.subject, row.version - 1)),
            _decoded(row.body),
        )
        for row in rows
    ]


def _of_all_sets(newest: Select[Any], names: Sequence[str]) -> Select[Any]:
    """The newest of a person: of each set by the index, which goes from one person's set to the next."""
    parts = [select(newest.where(judgment.c.set == name).subquery().c.id) for name in names]
    if not parts:
        return newest
    numbers = union_all(*parts).subquery()
    return select(numbers.c.id).order_by(numbers.c.id.desc())


def set_names(connection: Connection) -> list[str]:
    """The sets with judgments, from one name to the next: a list of all distinct ones would read every judgment."""
    c = current_judgment.c
    names = select(func.min(c.set).label("name")).cte("names", recursive=True)
    following = select(func.min(c.set)).where(c.set > names.c.name).scalar_subquery()
    names = names.union_all(select(following).where(names.c.name.is_not(None)))
    return list(connection.execute(select(names.c.name).where(names.c.name.is_not(None))).scalars())


def actions(connection: Connection, *, question: str | None = None, limit: int = PAGE) -> list[Action]:
    """The last actions of organisers and adjudicators."""
    c = record.c
    query = (
        select(c.id, c.at, account.c.name, c.action, c.question, c.body)
        .outerjoin(account, account.c.id == c.account)
        .where(*([c.question == question] if question else []))
        .order_by(c.id.desc())
        .limit(limit)
    )
    return [
        Action(row.id, row.at, row.name, row.action, row.question, msgspec.json.decode(row.body))
        for row in connection.execute(query)
    ]


def _earlier(connection: Connection, rows: Sequence[Any]) -> dict[tuple[str, str, int], Mapping[str, Any] | None]:
    """The judgments before these, with one query."""
    c = judgment.c
    conditions = [
        and_(c.set == row.set, c.subject == row.subject, c.version == row.version - 1)
        for row in rows
        if row.version > 1
    ]
    if not conditions:
        return {}
    stored = connection.execute(select(c.set, c.subject, c.version, c.body).where(or_(*conditions)))
    return {(row.set, row.subject, row.version): _decoded(row.body) for row in stored}


def _decoded(body: str | None) -> Mapping[str, Any] | None:
    return None if body is None else dict(msgspec.json.decode(body))
