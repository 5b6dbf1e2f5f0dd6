"""Questions under development, and changes of those in the test set.

A draft is a question that no run has been asked: it may change, move and vanish. It has a name of its own, which
nobody sees, until it is published under the number of its place. A question of the test set keeps its id; what it said
before a change is recorded, and where something was judged, or returned, of it, its type stays.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, func, insert, select, update

from qassay.errors import QassayError, UsageError, unknown
from qassay.formats.questions import question_of_row, question_row
from qassay.formats.times import now
from qassay.questions import Question
from qassay.store.assignment import assignments
from qassay.store.development.answers import forget_answers, known_answers
from qassay.store.schema import assignment, item, nugget, run, standing
from qassay.store.schema import question as table
from qassay.store.settings import forget_settled, note_action
from qassay.tasks import Task

DRAFT = "draft-"
_FIELDS = (*("id", "type", "text", "series", "target", "target_type", "series_type", "definition", "hypothesis"),)


@dataclass(frozen=True, slots=True)
class Stored:
    """A question as the store has it."""

    question: Question
    ordinal: int
    version: int
    draft: bool

    @property
    def group(self) -> str:
        """What moves and is published as a whole: the series, or the question itself."""
        return self.question.series or self.question.id


class ChangedError(QassayError):
    """Somebody else changed the question first: what stands now."""

    def __init__(self, standing: Stored) -> None:
        super().__init__("this question was changed in the meantime; look at what stands and change it again")
        self.standing = standing


def read_drafts(connection: Connection) -> list[Stored]:
    """All drafts in their order; the `other` question of a series is its last."""
    rows = connection.execute(select(table).where(table.c.draft).order_by(table.c.ordinal, table.c.id))
    found = [_read(row) for row in rows]
    return [one for group in grouped(found) for one in group]


def count_drafts(connection: Connection) -> int:
    """How many drafts there are."""
    return int(connection.execute(select(func.count()).select_from(table).where(table.c.draft)).scalar_one())


def grouped(drafts: Sequence[Stored]) -> list[list[Stored]]:
    """Drafts by series, or one by one, in the order in which their groups begin."""
    groups: dict[str, list[Stored]] = {}
    for one in drafts:
        groups.setdefault(one.group, []).append(one)
    return [sorted(group, key=lambda one: one.question.type == "other") for group in groups.values()]


def find_stored(connection: Connection, number: str) -> Stored:
    """One question, draft or not; an error where there is none."""
    row = connection.execute(select(table).where(table.c.id == number)).one_or_none()
    if row is None:
        raise unknown("question", number, ())
    return _read(row)


def hold_question(connection: Connection, number: str) -> Stored:
    """One question, held until the transaction ends; an error where there is none.

    Whoever notes an answer or a nugget of it holds it first: two who do so at the same moment see each other, and it is
    neither published, which gives it another name, nor removed meanwhile. SQLite has one writer anyway.
    """
    if connection.dialect.name == "postgresql":
        # Before the row: whoever locks the table goes on to others, and would wait for the row while we wait for those.
        connection.exec_driver_sql("LOCK TABLE question IN ROW EXCLUSIVE MODE")
    connection.execute(select(table.c.id).where(table.c.id == number).with_for_update())
    return find_stored(connection, number)


def new_series(
    connection: Connection,
    task: Task,
    *,
    target: str,
    target_type: str | None = None,
    series_type: str | None = None,
    account: int | None,
) -> Stored:
    """Begin a series: with its `other` question where the task has that type, else with an empty question."""
    kind = "other" if "other" in task.types else next(iter(task.types))
    series = DRAFT + secrets.token_hex(6)
    begun = Question("", kind, "", series, target, target_type, series_type)
    return _insert(connection, begun, account)


def new_question(connection: Connection, task: Task, asked: Question, *, account: int | None) -> Stored:
    """Add a draft; `asked` has no id yet, and its series lends it its target."""
    _check_type(task, asked.type)
    keep_others_out(connection)  # the target of its series does not change meanwhile
    if task.unit == "series":
        if asked.series is None:
            raise UsageError(f"task {task.name} asks in series: begin one, and add the question to it")
        first = _of_series(connection, asked.series)[0].question
        asked = replace(asked, target=first.target, target_type=first.target_type, series_type=first.series_type)
    return _insert(connection, asked, account)


def change_question(
    connection: Connection, task: Task, number: str, changes: dict[str, Any], *, expected: int, account: int | None
) -> Stored:
    """Change type, text, hypothesis or definition; of a question in the test set it is recorded what it was."""
    before = find_stored(connection, number)
    if before.version != expected:
        raise ChangedError(before)
    after = replace(before.question, **changes)
    if after.type != before.question.type:
        if before.question.type == "other" and task.unit == "series":
            raise UsageError("the other question of a series stays what it is")
        _check_type(task, after.type)
        refuse_where_used(connection, before, "its type stays")
    return _rewrite(connection, before, after, account)


def change_series(connection: Connection, series: str, changes: dict[str, Any], *, account: int | None) -> None:
    """Change the target of a series, with all of its questions."""
    for one in _of_series(connection, series):
        _rewrite(connection, one, replace(one.question, **changes), account)


def remove_question(connection: Connection, number: str, *, account: int | None) -> None:
    """Remove a question with its answers and noted nuggets; one of the test set only where nothing hangs on it."""
    assignments.keep_others_out(connection)  # before the questions, as everybody who locks both
    keep_others_out(connection)
    gone = find_stored(connection, number)
    if gone.draft and gone.question.type == "other" and gone.question.series is not None:
        raise UsageError("the other question closes its series; remove the series instead")
    refuse_where_used(connection, gone, "it stays")
    _remove(connection, gone, account)


def remove_series(connection: Connection, series: str, *, account: int | None) -> None:
    """Remove a series with all its drafts; nothing of it is in the test set."""
    keep_others_out(connection)
    found = _of_series(connection, series)
    if any(not one.draft for one in found):
        raise UsageError(f"series {series} is in the test set; remove its questions one by one")
    for one in found:
        _remove(connection, one, account)


def refuse_where_used(connection: Connection, one: Stored, stays: str) -> None:
    """Stop where judgments or runs hang on a question of the test set."""
    if one.draft:
        return
    number = one.question.id
    judged = select(standing.c.thing).where(standing.c.question == number, standing.c.body.is_not(None)).limit(1)
    if connection.execute(judged).first() is not None:
        raise UsageError(f"question {number} has judgments: {stays}. To leave it out of scores, name it in [drop]")
    runs = connection.execute(select(func.count()).select_from(run).where(~run.c.withdrawn)).scalar_one()
    if runs:
        plural = "a run answers" if runs == 1 else f"{runs} runs answer"
        raise UsageError(f"{plural} question {number}: {stays}. Withdraw the runs first, or name it in [drop]")


def keep_others_out(connection: Connection) -> None:
    """On PostgreSQL, where writers do not wait for each other: one at a time gives out numbers and places."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("LOCK TABLE question IN SHARE ROW EXCLUSIVE MODE")


def body_of(asked: Question) -> str:
    """A question as the text that is kept."""
    return msgspec.json.encode(question_row(asked)).decode()


def _of_series(connection: Connection, series: str) -> list[Stored]:
    """All questions of a series, those of the test set first."""
    # The series stands in the text alone; a part of it finds few rows, which are then looked at.
    part = table.c.body.contains(msgspec.json.encode(series).decode(), autoescape=True)
    likely = select(table).where(part).order_by(table.c.draft, table.c.ordinal, table.c.id)
    found = [one for row in connection.execute(likely) if (one := _read(row)).question.series == series]
    if not found:
        raise unknown("series", series, ())
    return found


def _check_type(task: Task, kind: str) -> None:
    types = writable_types(task)
    if kind not in types:
        raise unknown(f"question type of task {task.name}", kind, types)


def writable_types(task: Task) -> list[str]:
    """The types of question that are written by hand: where questions come in series, `other` comes by itself."""
    return [kind for kind in task.types if not (kind == "other" and task.unit == "series")]


def _insert(connection: Connection, asked: Question, account: int | None) -> Stored:
    keep_others_out(connection)
    made = replace(asked, id=DRAFT + secrets.token_hex(6))
    last = select(func.coalesce(func.max(table.c.ordinal), -1)).where(table.c.draft)
    ordinal = connection.execute(last).scalar_one() + 1
    values = {"id": made.id, "ordinal": ordinal, "body": body_of(made), "draft": True, "account": account, "at": now()}
    connection.execute(insert(table).values(**values))
    return Stored(made, ordinal, 1, draft=True)


def _rewrite(connection: Connection, before: Stored, after: Question, account: int | None) -> Stored:
    if after == before.question:
        return before
    values = {"body": body_of(after), "version": before.version + 1, "account": account, "at": now()}
    as_read = (table.c.id == after.id, table.c.version == before.version)
    if connection.execute(update(table).where(*as_read).values(**values)).rowcount == 0:
        raise ChangedError(find_stored(connection, after.id))  # somebody was faster since it was read
    if not before.draft:
        was = question_row(before.question)
        now_is = question_row(after)
        note_action(connection, "change-question", account=account, question=after.id, before=was, after=now_is)
    return replace(before, question=after, version=before.version + 1)


def _remove(connection: Connection, gone: Stored, account: int | None) -> None:
    number = gone.question.id
    if not gone.draft:
        answers = [
            {"answer": one.answer, "doc": one.doc} for one in known_answers(connection, [number]).get(number, ())
        ]
        was = question_row(gone.question)
        note_action(connection, "remove-question", account=account, question=number, before=was, answers=answers)
    forget_answers(connection, number)
    for hanging in (nugget, item, assignment):
        connection.execute(delete(hanging).where(hanging.c.question == number))
    forget_settled(connection, number)
    connection.execute(delete(table).where(table.c.id == number))


def _read(row: Any) -> Stored:
    """A question that is being written may lack what one of the test set must have: its text, say."""
    said = msgspec.json.decode(row.body)
    asked = question_of_row(said) if not row.draft else Question(**{name: said.get(name) for name in _FIELDS})
    return Stored(asked, row.ordinal, row.version, bool(row.draft))
