"""Judgment sets for programs: the evaluation, its pool and its sets through the API (used by `qassay.client`).

Organisers only: a program that judges the pool sees runs, as an assessor never does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import polars as pl
from fastapi import Query
from pydantic import Field
from sqlalchemy import Connection

from qassay.errors import InputError, Problems
from qassay.formats.jsonl import rows_table
from qassay.formats.names import name_fault
from qassay.formats.questions import question_row
from qassay.judging import JUDGMENT_COLUMNS, KINDS, SETTLED_SETS, subject
from qassay.judging.sets import JudgmentSet, check_nuggets, judgment_set, with_kinds
from qassay.questions import TestSet
from qassay.store.assignment.assignments import keep_others_out
from qassay.store.assignment.progress import is_assigned
from qassay.store.judging.judgments import append_many, current_rows, subjects_after
from qassay.store.judging.nuggets import give_list, list_for
from qassay.store.pool.items import pooled_after
from qassay.tasks import Task
from qassay.web.errors import Refusal
from qassay.web.judging import acting
from qassay.web.questions import questions_of
from qassay.web.routing import ORGANISERS, Context, Input, Number, Router, ThePerson, TheSite

router = Router()
MOST_ROWS = 1_000


class EvaluationView(Context):
    """The evaluation: the task as a definition, and the questions as rows."""

    name: str
    task: dict[str, Any]
    questions: list[dict[str, Any]]


class PooledView(Context):
    """An item of the pool, with its run."""

    id: int
    question: str
    kind: str
    run: str | None
    ordinal: int
    body: dict[str, Any]
    parts: int


class PoolPart(Context):
    """Some items of the pool in the order of their numbers; `after` asks for the rest, None where there is none."""

    items: list[PooledView]
    after: int | None


class Things(Context):
    """The things that a set has judged, by digest; `after` asks for the rest."""

    things: list[str]
    after: str | None


class Rows(Input):
    """Rows of a judgment set, as FORMATS writes them."""

    rows: list[dict[str, Any]] = Field(max_length=MOST_ROWS)


class Appended(Context):
    """How many rows are new; rows that the set already has are skipped."""

    added: int


@router.action("GET", "/evaluation", roles=ORGANISERS)
def evaluation(site: TheSite) -> EvaluationView:
    """The task and the questions."""
    return EvaluationView(
        name=site.configuration.name,
        task=site.configuration.task.definition(),
        questions=[question_row(question) for question in questions_of(site)],
    )


@router.action("GET", "/pool", roles=ORGANISERS)
def pool(
    site: TheSite, after: Annotated[Number, Query()] = 0, limit: Annotated[int, Query(ge=1, le=1_000)] = 500
) -> PoolPart:
    """The items to judge, a part at a time."""
    with site.store.read() as connection:
        items = [PooledView.model_validate(item) for item in pooled_after(connection, after, limit=limit)]
    return PoolPart(items=items, after=items[-1].id if len(items) == limit else None)


@router.action("GET", "/sets/{name}/things", roles=ORGANISERS)
def judged_things(
    site: TheSite,
    name: str,
    after: Annotated[str, Query(max_length=64)] = "",
    limit: Annotated[int, Query(ge=1, le=20_000)] = 10_000,
) -> Things:
    """The judgments that a set has already."""
    with site.store.read() as connection:
        things = subjects_after(connection, name, after, limit=limit)
    return Things(things=things, after=things[-1] if len(things) == limit else None)


@router.action("POST", "/sets/{name}/judgments", roles=ORGANISERS)
def append_judgments(person: ThePerson, site: TheSite, name: str, sent: Rows) -> Appended:
    """Append rows to a set of a program's own; all of them are checked first, and one fault refuses all."""
    if fault := name_fault(name):
        raise Refusal(422, f"the set name {name!r} {fault}")
    judged, typed = _checked(name, sent.rows, questions_of(site), site.configuration.task)
    with acting(site, person) as act:
        connection = act.connection
        # Before the current rows are read: the same rows sent twice at a time are appended once.
        keep_others_out(connection)
        _refuse_assessors_sets(connection, name)
        if any(KINDS[kind].by_nuggets for kind in judged.kinds):
            give_list(act, name)
        _check_nuggets(connection, judged)
        new = _news(connection, name, typed)
        rows = [(kind, msgspec.json.encode(row).decode()) for kind, row in new]
        added = append_many(connection, set_name=name, rows=rows, at=act.at, account=person.id)
        if added:
            act.note("append-judgments", set=name, rows=added)
    return Appended(added=added)


def _checked(
    name: str, rows: list[dict[str, Any]], questions: TestSet, task: Task
) -> tuple[JudgmentSet, list[tuple[str, Mapping[str, Any]]]]:
    """The rows as a judgment set, and with their kinds; the rules are those of files."""
    table = rows_table(list(enumerate(rows, 1)), JUDGMENT_COLUMNS, file=_file(name))
    judged = judgment_set(name, table, questions, task, file=_file(name))
    kinds = with_kinds(table, questions, task)["kind"].to_list()
    return judged, list(zip(kinds, rows, strict=True))


def _check_nuggets(connection: Connection, judged: JudgmentSet) -> None:
    """Refuse judgments of nuggets that the list of the set does not have."""
    bound = {
        question for kind, table in judged.kinds.items() if KINDS[kind].by_nuggets for question in table["question"]
    }
    listed = [
        (question, nugget.nugget) for question in bound for nugget in list_for(connection, judged.name, question)[1]
    ]
    nuggets = pl.DataFrame(listed, schema={"question": pl.String, "nugget": pl.String}, orient="row")
    if problems := Problems(check_nuggets(judged, nuggets, file=_file(judged.name))):
        raise InputError(problems)


def _file(name: str) -> str:
    return f"judgments/{name}.jsonl"


def _refuse_assessors_sets(connection: Connection, name: str) -> None:
    if name in SETTLED_SETS or is_assigned(connection, name):
        raise Refusal(409, f"the set {name} belongs to the people who judge here; name another")


def _news(
    connection: Connection, name: str, rows: list[tuple[str, Mapping[str, Any]]]
) -> list[tuple[str, Mapping[str, Any]]]:
    """The rows that differ from the current ones."""
    subjects = [subject(kind, row) for kind, row in rows]
    current = current_rows(connection, name, subjects)
    return [
        typed for typed, digest in zip(rows, subjects, strict=True) if current.get(digest, (0, None))[1] != typed[1]
    ]
