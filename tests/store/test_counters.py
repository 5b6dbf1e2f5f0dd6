"""The progress of questions that triggers keep: it is that of the rows, by whatever statement they change."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import desk
import pytest
from sqlalchemy import Connection, delete, func, insert, select, update
from sums import check_sums

from qassay.formats.times import now
from qassay.store.assignment.progress import finished_questions, read_gate, unfinished_questions, workloads
from qassay.store.engine import Store
from qassay.store.schema import (
    account,
    assignment,
    current_judgment,
    item,
    judgment,
    question,
    question_progress,
    settled,
)

store = desk.store
NAMES = ("q1", "q2", "q3", "q4")


def add_people(connection: Connection) -> None:
    rows = [{"id": number, "name": f"P{number}", "role": "assessor", "created": now()} for number in (1, 2, 3)]
    connection.execute(insert(account), rows)


def ask(connection: Connection, chance: random.Random) -> None:
    name = chance.choice(NAMES)
    row = connection.execute(select(question.c.id).where(question.c.id == name)).first()
    if row is None:
        body = {"ordinal": chance.randrange(9), "body": "{}", "at": now(), "draft": chance.random() < 0.3}
        connection.execute(insert(question).values(id=name, **body))
    elif chance.random() < 0.3:
        connection.execute(delete(question).where(question.c.id == name))
    else:
        changed = {"ordinal": chance.randrange(9), "draft": chance.random() < 0.3}
        connection.execute(update(question).where(question.c.id == name).values(**changed))


def rename(connection: Connection, chance: random.Random) -> None:
    ids = set(connection.execute(select(question.c.id)).scalars())
    if ids and (free := sorted(set(NAMES) - ids)):
        old = chance.choice(sorted(ids))
        connection.execute(update(question).where(question.c.id == old).values(id=free[0], draft=False))


def give(connection: Connection, chance: random.Random) -> None:
    slots = {tuple(row) for row in connection.execute(select(assignment.c.question, assignment.c.slot))}
    free = [(name, slot) for name in NAMES for slot in (1, 2) if (name, slot) not in slots]
    rows = [
        {"question": name, "slot": slot, "set": "first" if slot == 1 else "second", "account": None, "total": 5}
        for name, slot in chance.sample(free, min(2, len(free)))
    ]
    if rows:
        connection.execute(insert(assignment), rows)


def work(connection: Connection, chance: random.Random) -> None:
    values = {
        "done": chance.randrange(6),
        "total": chance.randrange(5, 8),
        "seconds": chance.choice((0, 30)),
        "closed": chance.choice((None, now())),
    }
    where = chance.choice((assignment.c.slot == 1, assignment.c.question == chance.choice(NAMES)))
    connection.execute(update(assignment).where(where).values(**values))


def hand_over(connection: Connection, chance: random.Random) -> None:
    name = chance.choice(NAMES)
    values: dict[str, Any] = {"account": chance.choice((None, 1)), "done": assignment.c.done + chance.randrange(2)}
    connection.execute(update(assignment).where(assignment.c.question == name, assignment.c.slot == 1).values(**values))
    values["account"] = chance.choice((None, 2, 3))
    connection.execute(update(assignment).where(assignment.c.question == name, assignment.c.slot == 2).values(**values))


def take_away(connection: Connection, chance: random.Random) -> None:
    where = (assignment.c.question == chance.choice(NAMES), assignment.c.slot <= chance.choice((1, 2)))
    connection.execute(delete(assignment).where(*where))


def pool(connection: Connection, chance: random.Random) -> None:
    name = chance.choice(NAMES)
    if chance.random() < 0.5:
        number = 1 + (connection.execute(select(func.max(item.c.id))).scalar() or 0)
        values = {"id": number, "kind": "item", "ordinal": 1, "body": "{}", "active": chance.random() < 0.8}
        connection.execute(insert(item).values(question=name, **values))
    elif chance.random() < 0.5:
        connection.execute(update(item).where(item.c.question == name).values(active=chance.random() < 0.5))
    else:
        connection.execute(delete(item).where(item.c.question == name))


def judge(connection: Connection, chance: random.Random) -> None:
    name = chance.choice(NAMES)
    if chance.random() < 0.4:
        body = chance.choice((None, "{}"))
        connection.execute(update(current_judgment).where(current_judgment.c.question == name).values(body=body))
        return
    if chance.random() < 0.3:
        connection.execute(delete(current_judgment).where(current_judgment.c.question == name))
        return
    number = 1 + (connection.execute(select(func.max(judgment.c.id))).scalar() or 0)
    row = {"set": "first", "question": name, "kind": "item", "subject": f"t{number}", "version": 1, "body": "{}"}
    connection.execute(insert(judgment).values(id=number, at=now(), **row))
    connection.execute(insert(current_judgment).values(judgment=number, **row))


def settle(connection: Connection, chance: random.Random) -> None:
    name = chance.choice(NAMES)
    gone = connection.execute(delete(settled).where(settled.c.question == name)).rowcount
    if not gone:
        values = {"unanimous": 1, "disagreements": 1, "unruled": chance.randrange(3)}
        connection.execute(insert(settled).values(question=name, **values))
    connection.execute(update(settled).values(unruled=settled.c.unruled + 1))


STEPS: tuple[Callable[[Connection, random.Random], None], ...] = (
    *(ask, rename, give, work, hand_over, take_away, pool, judge, settle),
)


def check_finished(connection: Connection) -> None:
    """The number of finished questions, which is a difference of counts, is that of the questions one by one."""
    gate = read_gate(connection)
    if gate.is_open:
        published = connection.execute(select(func.count()).select_from(question).where(~question.c.draft)).scalar_one()
        finished = published - len(unfinished_questions(connection))
        assert finished_questions(connection, gate) == finished


@pytest.mark.parametrize("seed", range(3))
def test_sums_are_those_of_the_rows(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    with store.write() as connection:
        add_people(connection)
        for _ in range(120):
            chance.choice(STEPS)(connection, chance)
            check_sums(connection)
            check_finished(connection)
        assert connection.execute(select(question_progress)).first() is not None


def test_nothing_is_left_of_a_store_that_is_emptied(store: Store) -> None:
    chance = random.Random(1)
    with store.write() as connection:
        add_people(connection)
        for step in STEPS * 5:
            step(connection, chance)
        for table in (question_progress, settled, current_judgment, judgment, item, assignment, question):
            connection.execute(delete(table))
        check_sums(connection)


def test_any_change_of_a_question_is_counted(store: Store) -> None:
    changes = select(question.c.changes)
    with store.write() as connection:
        connection.execute(insert(question).values(id="q1", ordinal=1, body="{}", at=now()))
        for number, values in enumerate(({"ordinal": 2}, {"body": "{ }"}, {"draft": True}, {"version": 2}), start=1):
            connection.execute(update(question).values(**values))
            assert connection.execute(changes).scalar_one() == number


def test_the_work_of_each_person_is_summed_up(store: Store) -> None:
    chance = random.Random(2)
    with store.write() as connection:
        add_people(connection)
        for _ in range(60):
            chance.choice((give, work, hand_over, take_away))(connection, chance)
            expected: dict[tuple[Any, ...], Counter[str]] = {}
            for row in connection.execute(select(assignment)):
                sums = expected.setdefault((row.slot, row.set, row.account), Counter())
                left = row.total - row.done if row.closed is None else 0
                sums.update(questions=1, closed=row.closed is not None, total=row.total, done=row.done, left=left)
                sums.update(seconds=row.seconds, timed=row.done if row.seconds else 0)
            counted = workloads(connection)
            assert {(workload.slot, workload.set, workload.account) for workload in counted} == expected.keys()
            for workload in counted:
                sums = expected[workload.slot, workload.set, workload.account]
                assert all(getattr(workload, name) == sums[name] for name in (*sums, "left", "timed"))
            assert workloads(connection, 1) == [workload for workload in counted if workload.account == 1]
        assert connection.execute(select(assignment)).first() is not None
