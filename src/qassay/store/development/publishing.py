"""Drafts on their way into the test set: their numbers, what stops them, and the publishing itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec
from sqlalchemy import Connection, bindparam, select, update

from qassay.errors import InputError, Problem, UsageError
from qassay.formats.importing.questions import check_types
from qassay.formats.times import now
from qassay.questions import Question, TestSet, gather
from qassay.store.assignment import assignments
from qassay.store.development.answers import rename_answers
from qassay.store.development.drafts import Stored, body_of, grouped, keep_others_out, read_drafts
from qassay.store.development.questions import test_set
from qassay.store.schema import nugget
from qassay.store.schema import question as table
from qassay.store.settings import note_action
from qassay.tasks import Task


def numbered(published: TestSet, groups: Sequence[Sequence[Question]]) -> dict[str, Question]:
    """Drafts by their own name, with the ids that they get: the next numbers that nobody has.

    >>> drafts = [[Question("draft-a", "factoid", "Who?", "draft-s"), Question("draft-b", "other", "", "draft-s")]]
    >>> [one.id for one in numbered(TestSet((Question("3.1", "factoid", "When?", "3"),)), drafts).values()]
    ['4.1', '4.2']
    """
    if not groups:
        return {}
    taken = set(published.ids)
    series = {one.id: one for one in published.series}
    last = max((int(name) for name in (*taken, *series) if name.isdecimal()), default=0)
    found: dict[str, Question] = {}
    for group in groups:
        of = group[0].series
        if of is None:
            last += 1
            found[group[0].id] = replace(group[0], id=str(last))
            continue
        if of not in series:
            last += 1
        name, place = (of, len(series[of].questions)) if of in series else (str(last), 0)
        for one in group:
            place += 1
            while f"{name}.{place}" in taken:
                place += 1
            taken.add(f"{name}.{place}")
            found[one.id] = replace(one, id=f"{name}.{place}", series=name)
    return found


def faults(drafts: Iterable[Question], names: Mapping[str, str], *, in_series: bool) -> Iterator[Problem]:
    """What stops drafts from being published: texts that are not there. `names` says how messages call them."""
    for one in drafts:
        called = f"question {names.get(one.id, one.id)}"
        if not one.text.strip() and not (one.type == "other" and in_series):
            yield Problem("syntax", f"{called} has no text; write it, or remove the draft", None, None, one.id)
        if one.type == "pair" and not (one.hypothesis or "").strip():
            yield Problem(
                "syntax", f"{called} has no hypothesis; a pair is a text and a hypothesis", None, None, one.id
            )
        if in_series and not (one.target or "").strip():
            yield Problem("syntax", f"{called}: the series has no target; name it", None, None, one.id)


def publish(connection: Connection, task: Task, wanted: Sequence[str], *, account: int | None) -> dict[str, str]:
    """Put drafts into the test set, whole series at a time; returns the id that each of them got.

    `wanted` are series, or drafts that are in none. Everything or nothing is published.
    """
    assignments.keep_others_out(connection)  # before the questions: their places are kept with how far they are
    keep_others_out(connection)
    published = test_set(connection)
    groups = [group for group in grouped(read_drafts(connection)) if group[0].group in set(wanted)]
    if missing := set(wanted) - {group[0].group for group in groups}:
        raise UsageError(f"{len(missing)} of the drafts are not there any more; look at the page again")
    if not groups:
        raise UsageError("nothing is chosen that could be published")
    found = numbered(published, [[one.question for one in group] for group in groups])
    names = {draft: one.id for draft, one in found.items()}
    drafts = [one for group in groups for one in group]
    if problems := list(faults((one.question for one in drafts), names, in_series=task.unit == "series")):
        raise InputError(problems)
    together = gather(_laid_in(published, list(found.values())))
    check_types(together, task, "the drafts")
    _rename(connection, drafts, found, account)
    _set_order(connection, together)
    note_action(connection, "publish", account=account, questions=list(names.values()))
    return names


def _laid_in(published: TestSet, new: Sequence[Question]) -> list[Question]:
    """The test set with new questions at its end, or at the end of their series and before its `other` question."""
    order = list(published.questions)
    for one in new:
        places = [at for at, other in enumerate(order) if one.series is not None and other.series == one.series]
        if not places:
            order.append(one)
            continue
        last = places[-1]
        order.insert(last if order[last].type == "other" and one.type != "other" else last + 1, one)
    return order


def _rename(
    connection: Connection, drafts: Sequence[Stored], found: Mapping[str, Question], account: int | None
) -> None:
    for one in drafts:
        old, new = one.question.id, found[one.question.id]
        values = {"id": new.id, "body": body_of(new), "draft": False, "version": one.version + 1}
        connection.execute(update(table).where(table.c.id == old).values(**values, account=account, at=now()))
        rename_answers(connection, old, new.id)
        rows = connection.execute(select(nugget.c.id, nugget.c.body).where(nugget.c.question == old)).all()
        for number, body in rows:
            text = None
            if body is not None:
                text = msgspec.json.encode({**msgspec.json.decode(body), "question": new.id}).decode()
            connection.execute(update(nugget).where(nugget.c.id == number).values(question=new.id, body=text))


def _set_order(connection: Connection, questions: TestSet) -> None:
    rows = connection.execute(select(table.c.id, table.c.ordinal).where(~table.c.draft))
    there = {row.id: row.ordinal for row in rows}
    moved = [{"which": one, "to": at} for at, one in enumerate(questions.ids) if there[one] != at]
    if moved:
        connection.execute(update(table).where(table.c.id == bindparam("which")).values(ordinal=bindparam("to")), moved)
