"""Questions under development, from the first draft to their publication, and changes of those in the test set.

A draft is a question that no run has been asked: it may change, move and vanish. It has a name of its own, which
nobody sees, until it is published under the number of its place. A question of the test set keeps its id; its earlier
form is recorded when it changes, and its type stays once it was judged or a run answers it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from qassay.errors import InputError, Problem, QassayError, UsageError, unknown
from qassay.formats.importing.questions import check_types
from qassay.formats.questions import question_of_row, question_row
from qassay.questions import Question, TestSet, gather
from qassay.store.acts import Act
from qassay.store.assignment import assignments
from qassay.store.development import test_set
from qassay.store.development.answers import forget_answers, known_answers, rename_answers
from qassay.store.schema import assignment, current_judgment, item, nugget, run
from qassay.store.schema import question as table
from qassay.store.settings import forget_settled
from qassay.tasks import Task

Draft = TypeVar("Draft")
DRAFT = "draft-"
_FIELDS = ("id", "type", "text", "series", "target", "target_type", "series_type", "definition", "hypothesis", "author")


@dataclass(frozen=True, slots=True)
class Stored:
    """A question of the store."""

    question: Question
    ordinal: int
    version: int
    draft: bool

    @property
    def group(self) -> str:
        """The group that moves and is published as a whole: the series, or the question itself."""
        return self.question.series or self.question.id


class ChangedError(QassayError):
    """Somebody else changed the question first: its current form."""

    def __init__(self, current: Stored) -> None:
        super().__init__("this question was changed in the meantime; look at the current text and change it again")
        self.current = current


def read_drafts(connection: Connection) -> list[Stored]:
    """All drafts in their order; the `other` question of a series is its last."""
    rows = connection.execute(select(table).where(table.c.draft).order_by(table.c.ordinal, table.c.id))
    return [draft for group in grouped([_read(row) for row in rows]) for draft in group]


def count_drafts(connection: Connection) -> int:
    """How many drafts there are."""
    return int(connection.execute(select(func.count()).select_from(table).where(table.c.draft)).scalar_one())


def grouped(drafts: Sequence[Stored]) -> list[list[Stored]]:
    """Drafts by series, or one by one, in the order in which their groups begin."""
    groups: dict[str, list[Stored]] = {}
    for draft in drafts:
        groups.setdefault(draft.group, []).append(draft)
    return [sorted(group, key=lambda draft: draft.question.type == "other") for group in groups.values()]


def find_stored(connection: Connection, number: str) -> Stored:
    """One question, draft or not; an error where there is none."""
    row = connection.execute(select(table).where(table.c.id == number)).one_or_none()
    if row is None:
        raise unknown("question", number, ())
    return _read(row)


def hold_question(connection: Connection, number: str) -> Stored:
    """One question, locked until the transaction ends; an error where there is none.

    Every writer of its answers and nuggets locks it first: two at the same moment see each other's rows, and it is
    neither published, which gives it another name, nor removed meanwhile. SQLite has one writer anyway.
    """
    if connection.dialect.name == "postgresql":
        # Before the row: a writer that locks the table goes on to others, and would wait for the row while we wait.
        connection.exec_driver_sql("LOCK TABLE question IN ROW EXCLUSIVE MODE")
    connection.execute(select(table.c.id).where(table.c.id == number).with_for_update())
    return find_stored(connection, number)


def new_series(
    act: Act,
    *,
    target: str,
    target_type: str | None = None,
    series_type: str | None = None,
    author: str | None = None,
) -> Stored:
    """Begin a series: with its `other` question where the task has that type, else with an empty question."""
    types = act.task.types
    kind = "other" if "other" in types else next(iter(types))
    series = DRAFT + secrets.token_hex(6)
    begun = Question("", kind, "", series, target, target_type, series_type, author=author)
    return _insert(act, begun)


def new_question(act: Act, question: Question) -> Stored:
    """Add a draft; `question` has no id yet, and its series lends it its target."""
    task = act.task
    _check_type(task, question.type)
    keep_others_out(act.connection)  # the target of its series does not change meanwhile
    if task.unit == "series":
        if question.series is None:
            raise UsageError(f"task {task.name} asks in series: begin one, and add the question to it")
        first = questions_of_series(act.connection, question.series)[0].question
        question = replace(question, target=first.target, target_type=first.target_type, series_type=first.series_type)
    return _insert(act, question)


def change_question(act: Act, number: str, changes: dict[str, Any], *, expected: int) -> Stored:
    """Change what a question says or its type; the earlier form of a question in the test set is recorded."""
    before = find_stored(act.connection, number)
    if before.version != expected:
        raise ChangedError(before)
    after = replace(before.question, **changes)
    if after.type != before.question.type:
        if before.question.type == "other" and act.task.unit == "series":
            raise UsageError("the other question of a series stays what it is")
        _check_type(act.task, after.type)
        refuse_where_used(act.connection, before, "its type stays")
    return _rewrite(act, before, after)


def change_series(act: Act, series: str, changes: dict[str, Any]) -> None:
    """Change the target of a series, with all of its questions."""
    for stored in questions_of_series(act.connection, series):
        _rewrite(act, stored, replace(stored.question, **changes))


def remove_question(act: Act, number: str) -> None:
    """Remove a question with its answers and noted nuggets, also from the test set while nothing depends on it."""
    assignments.keep_others_out(act.connection)  # before the questions, as everybody who locks both
    keep_others_out(act.connection)
    stored = find_stored(act.connection, number)
    if stored.draft and stored.question.type == "other" and stored.question.series is not None:
        raise UsageError("the other question closes its series; remove the series instead")
    refuse_where_used(act.connection, stored, "it stays")
    _remove(act, stored)


def remove_series(act: Act, series: str) -> None:
    """Remove a series with all its drafts; nothing of it is in the test set."""
    keep_others_out(act.connection)
    drafts = questions_of_series(act.connection, series)
    if any(not stored.draft for stored in drafts):
        raise UsageError(f"series {series} is in the test set; remove its questions one by one")
    for draft in drafts:
        _remove(act, draft)


def refuse_where_used(connection: Connection, stored: Stored, stays: str) -> None:
    """Stop where a question of the test set was judged, or a run answers it."""
    if stored.draft:
        return
    number = stored.question.id
    judged = (
        select(current_judgment.c.subject)
        .where(current_judgment.c.question == number, current_judgment.c.body.is_not(None))
        .limit(1)
    )
    if connection.execute(judged).first() is not None:
        left_out = "To leave it out of scores, name it under [drop] in qassay.toml"
        raise UsageError(f"question {number} has judgments: {stays}. {left_out}")
    runs = connection.execute(select(func.count()).select_from(run).where(~run.c.withdrawn)).scalar_one()
    if runs:
        plural = "a run answers" if runs == 1 else f"{runs} runs answer"
        ways = "Withdraw the runs first, or name it under [drop] in qassay.toml"
        raise UsageError(f"{plural} question {number}: {stays}. {ways}")


def keep_others_out(connection: Connection) -> None:
    """On PostgreSQL, where writers do not wait for each other: one at a time gives out numbers and places."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("LOCK TABLE question IN SHARE ROW EXCLUSIVE MODE")


def body_of(question: Question) -> str:
    """A question as the text that is kept."""
    return msgspec.json.encode(question_row(question)).decode()


def questions_of_series(connection: Connection, series: str) -> list[Stored]:
    """All questions of a series, those of the test set first; an error where there is none."""
    # The series is in the text alone; a part of it finds few rows, which are then checked.
    part = table.c.body.contains(msgspec.json.encode(series).decode(), autoescape=True)
    likely = select(table).where(part).order_by(table.c.draft, table.c.ordinal, table.c.id)
    questions = [stored for row in connection.execute(likely) if (stored := _read(row)).question.series == series]
    if not questions:
        raise unknown("series", series, ())
    return questions


def _check_type(task: Task, kind: str) -> None:
    types = writable_types(task)
    if kind not in types:
        raise unknown(f"question type of task {task.name}", kind, types)


def writable_types(task: Task) -> list[str]:
    """The types of question that are written by hand: where questions come in series, `other` comes by itself."""
    return [kind for kind in task.types if not (kind == "other" and task.unit == "series")]


def _insert(act: Act, question: Question) -> Stored:
    keep_others_out(act.connection)
    draft = replace(question, id=DRAFT + secrets.token_hex(6))
    last = select(func.coalesce(func.max(table.c.ordinal), -1)).where(table.c.draft)
    ordinal = act.connection.execute(last).scalar_one() + 1
    values = {"id": draft.id, "ordinal": ordinal, "body": body_of(draft), "draft": True}
    act.connection.execute(insert(table).values(**values, account=act.account, at=act.at))
    return Stored(draft, ordinal, 1, draft=True)


def _rewrite(act: Act, before: Stored, after: Question) -> Stored:
    if after == before.question:
        return before
    values = {"body": body_of(after), "version": before.version + 1, "account": act.account, "at": act.at}
    as_read = (table.c.id == after.id, table.c.version == before.version)
    if act.connection.execute(update(table).where(*as_read).values(**values)).rowcount == 0:
        raise ChangedError(find_stored(act.connection, after.id))  # somebody was faster since it was read
    if not before.draft:
        details = {"before": question_row(before.question), "after": question_row(after)}
        act.note("change-question", question=after.id, **details)
    return replace(before, question=after, version=before.version + 1)


def _remove(act: Act, stored: Stored) -> None:
    connection, number = act.connection, stored.question.id
    if not stored.draft:
        known_list = known_answers(connection, [number]).get(number, ())
        answers = [{"answer": answer.answer, "doc": answer.doc} for answer in known_list]
        was = question_row(stored.question)
        act.note("remove-question", question=number, before=was, answers=answers)
    forget_answers(connection, number)
    for dependent in (nugget, item, assignment):
        connection.execute(delete(dependent).where(dependent.c.question == number))
    forget_settled(connection, number)
    connection.execute(delete(table).where(table.c.id == number))


def _read(row: Any) -> Stored:
    """A question that is being written may lack what one of the test set must have: its text, say."""
    body = msgspec.json.decode(row.body)
    if not row.draft:
        return Stored(question_of_row(body), row.ordinal, row.version, draft=False)
    question = Question(**{name: body.get(name) for name in _FIELDS}, gold=tuple(body.get("gold", ())))
    return Stored(question, row.ordinal, row.version, draft=True)


# ---- order ----------------------------------------------------------------------------------------------------------


def move_question(connection: Connection, number: str, places: int) -> None:
    """Move a draft within its series, or among all drafts; the `other` question stays last."""
    keep_others_out(connection)
    moving = find_stored(connection, number)
    groups = grouped(read_drafts(connection))
    if moving.question.series is None:
        groups = _moved(groups, lambda group: group[0].group == moving.group, places)
    else:
        for place, group in enumerate(groups):
            if group[0].group == moving.group:
                movable = [draft for draft in group if draft.question.type != "other"]
                moved = _moved(movable, lambda draft: draft.question.id == number, places)
                groups[place] = [*moved, *(draft for draft in group if draft.question.type == "other")]
    _arrange(connection, groups)


def move_series(connection: Connection, series: str, places: int) -> None:
    """Move a series of drafts among the others."""
    keep_others_out(connection)
    groups = grouped(read_drafts(connection))
    _arrange(connection, _moved(groups, lambda group: group[0].group == series, places))


def _arrange(connection: Connection, groups: Sequence[Sequence[Stored]]) -> None:
    """Set the order of the drafts; the caller keeps the others out."""
    drafts = [draft for group in groups for draft in group]
    _set_order(connection, {draft.question.id: draft.ordinal for draft in drafts})


def _set_order(connection: Connection, ordinals: Mapping[str, int]) -> None:
    """Number questions in this order; the mapping says which number each of them has now."""
    moved = [{"which": number, "to": place} for place, number in enumerate(ordinals) if ordinals[number] != place]
    if moved:
        connection.execute(update(table).where(table.c.id == bindparam("which")).values(ordinal=bindparam("to")), moved)


def _moved(drafts: Sequence[Draft], is_it: Callable[[Draft], bool], places: int) -> list[Draft]:
    """The drafts, or groups, with one of them moved by some places, as far as it goes."""
    order = list(drafts)
    at = next((place for place, draft in enumerate(order) if is_it(draft)), None)
    if at is not None:
        moving = order.pop(at)
        order.insert(max(0, min(len(order), at + places)), moving)
    return order


# ---- publication ----------------------------------------------------------------------------------------------------


def numbered(published: TestSet, groups: Sequence[Sequence[Question]]) -> dict[str, Question]:
    """Drafts by their own name, with the ids that they get: the next numbers that nobody has.

    >>> drafts = [[Question("draft-a", "factoid", "Who?", "draft-s"), Question("draft-b", "other", "", "draft-s")]]
    >>> [question.id for question in numbered(TestSet((Question("3.1", "factoid", "When?", "3"),)), drafts).values()]
    ['4.1', '4.2']
    """
    if not groups:
        return {}
    taken = set(published.ids)
    series = {group.id: group for group in published.series}
    last = max((int(name) for name in (*taken, *series) if name.isdecimal()), default=0)
    renamed: dict[str, Question] = {}
    for group in groups:
        of = group[0].series
        if of is None:
            last += 1
            renamed[group[0].id] = replace(group[0], id=str(last))
            continue
        if of not in series:
            last += 1
        name, place = (of, len(series[of].questions)) if of in series else (str(last), 0)
        for draft in group:
            place += 1
            while f"{name}.{place}" in taken:
                place += 1
            taken.add(f"{name}.{place}")
            renamed[draft.id] = replace(draft, id=f"{name}.{place}", series=name)
    return renamed


def faults(drafts: Iterable[Question], names: Mapping[str, str], *, in_series: bool) -> Iterator[Problem]:
    """The reasons why drafts cannot be published: missing texts. `names` says how messages call them."""
    for draft in drafts:
        called = f"question {names.get(draft.id, draft.id)}"
        messages = []
        if not draft.text.strip() and not (draft.type == "other" and in_series):
            messages.append(f"{called} has no text; write it, or remove the draft")
        if draft.type == "pair" and not (draft.hypothesis or "").strip():
            messages.append(f"{called} has no hypothesis; a pair is a text and a hypothesis")
        if in_series and not (draft.target or "").strip():
            messages.append(f"{called}: the series has no target; name it")
        yield from (Problem("syntax", message, None, None, draft.id) for message in messages)


def publish(act: Act, group_names: Sequence[str]) -> dict[str, str]:
    """Put drafts into the test set, whole series at a time; returns the id that each of them got.

    `group_names` are series, or drafts that are in none. Everything or nothing is published.
    """
    connection, task = act.connection, act.task
    assignments.keep_others_out(connection)  # before the questions: their places are kept with how far they are
    keep_others_out(connection)
    published = test_set(connection)
    groups = [group for group in grouped(read_drafts(connection)) if group[0].group in set(group_names)]
    if missing := set(group_names) - {group[0].group for group in groups}:
        raise UsageError(f"{len(missing)} of the drafts are not there any more; look at the page again")
    if not groups:
        raise UsageError("nothing is chosen that could be published")
    renamed = numbered(published, [[draft.question for draft in group] for group in groups])
    names = {draft: question.id for draft, question in renamed.items()}
    drafts = [draft for group in groups for draft in group]
    if problems := list(faults((draft.question for draft in drafts), names, in_series=task.unit == "series")):
        raise InputError(problems)
    together = gather(_laid_in(published, list(renamed.values())))
    check_types(together, task, "the drafts")
    _rename(act, drafts, renamed)
    rows = connection.execute(select(table.c.id, table.c.ordinal).where(~table.c.draft))
    ordinals = {row.id: row.ordinal for row in rows}
    _set_order(connection, {number: ordinals[number] for number in together.ids})
    act.note("publish", questions=list(names.values()))
    return names


def _laid_in(published: TestSet, new: Sequence[Question]) -> list[Question]:
    """The test set with new questions at its end, or at the end of their series and before its `other` question."""
    order = list(published.questions)
    for question in new:
        places = [
            at for at, other in enumerate(order) if question.series is not None and other.series == question.series
        ]
        if not places:
            order.append(question)
            continue
        last = places[-1]
        order.insert(last if order[last].type == "other" and question.type != "other" else last + 1, question)
    return order


def _rename(act: Act, drafts: Sequence[Stored], renamed: Mapping[str, Question]) -> None:
    """Give drafts their ids, with their answers and nuggets."""
    connection = act.connection
    for draft in drafts:
        old, new = draft.question.id, renamed[draft.question.id]
        values = {"id": new.id, "body": body_of(new), "draft": False, "version": draft.version + 1}
        connection.execute(update(table).where(table.c.id == old).values(**values, account=act.account, at=act.at))
        rename_answers(connection, old, new.id)
        rows = connection.execute(select(nugget.c.id, nugget.c.body).where(nugget.c.question == old)).all()
        for number, body in rows:
            text = None
            if body is not None:
                text = msgspec.json.encode({**msgspec.json.decode(body), "question": new.id}).decode()
            connection.execute(update(nugget).where(nugget.c.id == number).values(question=new.id, body=text))
