"""Evaluations of a size, made quickly: a pool, three assessors per question, judgments of the first questions.

Shared by the benchmark of large pools and by the tests that count what a page asks of the database. The rows are those
that the application would have made; SQLite multiplies them, because a million of them take a minute otherwise.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from sqlalchemy import Connection, event, insert

from qassay.formats.times import now
from qassay.judging import subject
from qassay.judging.sets import SLOTS
from qassay.questions import Question
from qassay.store.adjudication.settling import Settled, keep
from qassay.store.development.drafts import body_of
from qassay.store.engine import Store, open_store
from qassay.store.people import add_account
from qassay.store.pool.pooling import SUMMARY, PoolSummary, pool_mark
from qassay.store.schema import question, record
from qassay.store.settings import put_setting

PEOPLE = ("organiser", "adjudicator", "assessor", "assessor", "assessor", "reader")
ASSESSORS = (3, 4, 5)


@dataclass(frozen=True)
class Size:
    """How large an evaluation is: questions, items of each, and how many questions are judged."""

    questions: int
    items: int
    judged: int

    @property
    def pool(self) -> int:
        return self.questions * self.items


# Every page is full from the first on: what grows after that grows with the pool.
SMALL = Size(170, 32, 120)
MIDDLE = Size(500, 32, 400)  # 16,000 items, three assessors: TREC 2002
DEEP = Size(170, 200, 120)
LARGE = Size(10_000, 100, 2_000)  # 1,000,000 items


def make(folder: Path, size: Size) -> Store:
    """An evaluation of a size in a new folder, and its store."""
    folder.mkdir()
    (folder / "qassay.toml").write_text('name = "Large"\ntask = "confidence"\n')
    (folder / "questions.jsonl").write_text("")
    store = open_store(folder, create=True)
    event.listen(store.engine, "connect", _hurry)
    store.close()  # connections from here on are quick to write
    with store.write() as connection:
        fill(connection, size)
    store.close()
    return store


def _hurry(raw: sqlite3.Connection, _: object) -> None:
    for pragma in ("synchronous = OFF", "cache_size = -500000"):
        raw.execute(f"PRAGMA {pragma}")


def fill(connection: Connection, size: Size) -> None:
    """Everything that the size says, into an empty store."""
    at = now()
    for number, role in enumerate(PEOPLE):
        add_account(connection, f"Person {number}", role)
    questions = [Question(f"q{number}", "factoid", f"What is {number}?") for number in range(size.questions)]
    rows = [
        {"id": entry.id, "ordinal": place, "body": body_of(entry), "at": at} for place, entry in enumerate(questions)
    ]
    connection.execute(insert(question), rows)
    _pool(connection, size, at)
    _assign(connection, size, at)
    _judge(connection, size, at)
    for number in range(size.judged):
        keep(connection, f"q{number}", Settled(size.items - 1, 1, 1))
    connection.execute(insert(record), [{"at": at, "action": "test", "account": 1} for _ in range(300)])


def _pool(connection: Connection, size: Size, at: str) -> None:
    connection.exec_driver_sql(
        "INSERT INTO item (id, question, kind, ordinal, body, parts) SELECT 1 + q.ordinal * ? + n.value, q.id, 'item',"
        """ n.value, '{"doc":"D' || n.value || '","text":"answer ' || n.value || ' of ' || q.ordinal || '"}', 1"""
        " FROM question AS q, (WITH RECURSIVE n(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n"
        " WHERE value + 1 < ?) SELECT value FROM n) AS n ORDER BY q.ordinal, n.value",
        (size.items, size.items),
    )
    types = [("factoid", "item", size.questions, size.pool)]
    summary = PoolSummary(size.pool, size.questions, 0, types, pool_mark(connection), at)
    put_setting(connection, SUMMARY, asdict(summary))


def _assign(connection: Connection, size: Size, at: str) -> None:
    for number in range(size.questions):
        done = number < size.judged
        counts = (size.items, size.items if done else 0, at if done else None, 60)
        connection.exec_driver_sql(
            'INSERT INTO assignment (question, slot, "set", account, total, done, closed, seconds)'
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(f"q{number}", slot + 1, SLOTS[slot], person, *counts) for slot, person in enumerate(ASSESSORS)],
        )


def _judge(connection: Connection, size: Size, at: str) -> None:
    """The third assessor disagrees about the first item of every question."""
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    raw.execute("CREATE TEMP TABLE verdicts (question TEXT, thing TEXT, place INTEGER, body TEXT)")
    raw.executemany("INSERT INTO verdicts VALUES (?, ?, ?, ?)", _verdicts(size))
    for slot, person in enumerate(ASSESSORS):
        label = "CASE WHEN place = 0 THEN 'W' ELSE 'R' END" if slot == 2 else "'R'"
        raw.execute(
            'INSERT INTO judgment ("set", question, kind, thing, version, body, account, at)'
            f""" SELECT ?, question, 'item', thing, 1, body || {label} || '"}}', ?, ? FROM verdicts ORDER BY rowid""",
            (SLOTS[slot], person, at),
        )
    raw.execute(
        'INSERT INTO standing ("set", thing, question, kind, judgment, version, body)'
        ' SELECT "set", thing, question, kind, id, version, body FROM judgment'
    )
    raw.execute("DROP TABLE verdicts")


def _verdicts(size: Size) -> Iterator[tuple[str, str, int, str]]:
    for number in range(size.judged):
        for place in range(size.items):
            row = {"question": f"q{number}", "doc": f"D{place}", "text": f"answer {place} of {number}"}
            body = f'{{"question":"q{number}","doc":"D{place}","text":"{row["text"]}","judgment":"'
            yield row["question"], subject("item", row), place, body
