"""What triggers keep (`question_progress`, `workload`), beside plain queries: an evaluation with a million items.

Each read is made by the store's own function and by the best plain SQL over assignments, items, judgments and what is
settled, in turn, and both must agree. Then the other side of it: what the triggers cost a save and a pool. On SQLite,
and on PostgreSQL where it is installed.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, insert, select, text

from benchmarks.application import database_server
from benchmarks.pools import LARGE, make
from benchmarks.rows import Row
from qassay.store.adjudication.settling import next_to_rule, overview, progress
from qassay.store.assignment.progress import (
    NAMED,
    find_questions,
    is_open,
    read_gate,
    unassigned_questions,
    workloads,
)
from qassay.store.engine import Store, open_store, using_named_database
from qassay.store.schema import KEPT_BY_TRIGGERS, item, metadata

ROUNDS = 50
SAVES = 300
ITEMS = 100_000
PAGE = 50
ANSWERS = {"first": 5_000, "limit": 100}

ASKED = "FROM question AS q WHERE NOT q.draft"
POOLED = "EXISTS (SELECT 1 FROM item AS i WHERE i.question = q.id AND i.active)"
JUDGED = "EXISTS (SELECT 1 FROM standing AS s WHERE s.question = q.id AND s.body IS NOT NULL)"
ASSIGNED = "EXISTS (SELECT 1 FROM assignment AS a WHERE a.question = q.id)"
OPEN = "EXISTS (SELECT 1 FROM assignment AS a WHERE a.question = q.id AND a.closed IS NULL)"
UNRULED = (
    "SELECT a.question, count(*) OVER () FROM settled AS s JOIN assignment AS a ON a.question = s.question"
    " WHERE s.unruled > 0 GROUP BY a.question HAVING count(*) = count(a.closed) ORDER BY min(a.id) LIMIT "
)


def _listed(connection: Connection, sql: str) -> tuple[list[str], int]:
    """Names, and how many there are in all."""
    rows = connection.execute(text(sql)).all()
    return [row[0] for row in rows], rows[0][1] if rows else 0


def _questions(connection: Connection, condition: str, limit: int = PAGE) -> tuple[list[str], int]:
    """The first questions of the test set that meet a condition, and how many do."""
    return _listed(
        connection, f"SELECT q.id, count(*) OVER () {ASKED} AND {condition} ORDER BY q.ordinal, q.id LIMIT {limit}"
    )


def _plain_gate(connection: Connection) -> Any:
    sums = "SELECT sum(total - done), count(*), count(DISTINCT question) FROM assignment WHERE closed IS NULL"
    rows = connection.execute(
        text(
            "SELECT q.id, count(*), sum(a.total - a.done) FROM question AS q JOIN assignment AS a ON a.question = q.id"
            f" WHERE NOT q.draft AND a.closed IS NULL GROUP BY q.ordinal, q.id ORDER BY q.ordinal LIMIT {NAMED}"
        )
    )
    return (
        [tuple(row) for row in rows],
        *connection.execute(text(sums)).one(),
        _questions(connection, f"NOT {ASSIGNED} AND {POOLED}", NAMED),
        _questions(connection, f"NOT {JUDGED} AND {POOLED}", NAMED),
        _listed(connection, f"{UNRULED}{NAMED}"),
    )


def _gate_by_counters(connection: Connection) -> Any:
    gate = read_gate(connection)
    return (
        [(question.question, question.assessors, question.decisions) for question in gate.open],
        *(gate.open_decisions, gate.open_assignments, gate.open_questions),
        (list(gate.unassigned), gate.unassigned_questions),
        (list(gate.unjudged), gate.unjudged_questions),
        (list(gate.unruled), gate.unruled_questions),
    )


def _plain_overview(connection: Connection) -> Any:
    counts = (
        "SELECT count(*), sum(CASE WHEN left_open > 0 THEN 1 ELSE 0 END) FROM"
        " (SELECT count(*) - count(closed) AS left_open FROM assignment GROUP BY question) AS q"
    )
    left = (
        "SELECT sum(s.unruled) FROM settled AS s WHERE s.unruled > 0 AND NOT EXISTS"
        " (SELECT 1 FROM assignment AS a WHERE a.question = s.question AND a.closed IS NULL)"
        " AND EXISTS (SELECT 1 FROM assignment AS a WHERE a.question = s.question)"
    )
    return (*connection.execute(text(counts)).one(), connection.execute(text(left)).scalar_one())


def _overview_by_counters(connection: Connection) -> Any:
    whole = overview(connection)
    return whole.questions, whole.waiting, whole.left


def _plain_progress(connection: Connection) -> Any:
    page = (
        "SELECT a.question, a.assessors, a.left_open = 0 FROM (SELECT question, min(id) AS first,"
        " count(*) AS assessors, count(*) - count(closed) AS left_open FROM assignment GROUP BY question"
        f" ORDER BY min(id) LIMIT {ANSWERS['limit']} OFFSET {ANSWERS['first']}) AS a"
        " LEFT JOIN settled AS s ON s.question = a.question ORDER BY a.first"
    )
    return [tuple(row) for row in connection.execute(text(page))]


def _plain_left(connection: Connection) -> Any:
    return _listed(
        connection,
        "SELECT q.id, count(*) OVER () FROM question AS q LEFT JOIN (SELECT question,"
        " sum(CASE WHEN closed IS NULL THEN total - done ELSE 0 END) AS waiting FROM assignment GROUP BY question)"
        " AS a ON a.question = q.id WHERE NOT q.draft ORDER BY coalesce(a.waiting, -1) DESC, a.question, q.ordinal"
        f" LIMIT {PAGE}",
    )


def _plain_work(connection: Connection, account: int | None = None) -> list[tuple[Any, ...]]:
    own = "" if account is None else f"WHERE account = {account}"
    rows = connection.execute(
        text(
            'SELECT slot, "set", account, count(*), count(closed), sum(total), sum(done),'
            " sum(CASE WHEN closed IS NULL THEN total - done ELSE 0 END), sum(seconds),"
            f" sum(CASE WHEN seconds > 0 THEN done ELSE 0 END) FROM assignment {own}"
            ' GROUP BY slot, "set", account ORDER BY slot, "set", coalesce(account, 0)'
        )
    )
    return [tuple(row) for row in rows]


Read = Callable[[Connection], Any]
# What is read, how the store reads it, and how a plain query would.
READS: tuple[tuple[str, Read, Read], ...] = (
    ("workloads()", lambda c: [astuple(workload) for workload in workloads(c)], _plain_work),
    ("workloads(account)", lambda c: [astuple(workload) for workload in workloads(c, 3)], lambda c: _plain_work(c, 3)),
    ("overview()", _overview_by_counters, _plain_overview),
    (
        "progress(page)",
        lambda c: [(row.question, row.assessors, row.closed) for row in progress(c, **ANSWERS)],
        _plain_progress,
    ),
    ("next_to_rule()", next_to_rule, lambda c: _listed(c, f"{UNRULED}1")[0][0]),
    ("is_open()", is_open, lambda c: c.execute(text(f"SELECT 1 {ASKED} AND {OPEN} LIMIT 1")).first() is not None),
    ("read_gate()", _gate_by_counters, _plain_gate),
    ("unassigned_questions()", unassigned_questions, lambda c: _questions(c, f"NOT {ASSIGNED} AND {POOLED}")[1]),
    ("find_questions()", lambda c: find_questions(c, limit=PAGE), lambda c: _questions(c, "q.id = q.id")),
    ("find_questions(open)", lambda c: find_questions(c, state="open", limit=PAGE), lambda c: _questions(c, OPEN)),
    (
        "find_questions(nothing)",
        lambda c: find_questions(c, state="nothing", limit=PAGE),
        lambda c: _questions(c, f"NOT {POOLED}"),
    ),
    ("find_questions(sort=left)", lambda c: find_questions(c, sort="left", limit=PAGE), _plain_left),
)


def counters() -> list[Row]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "sqlite"
        store = make(folder, LARGE)
        rows = list(_rows("SQLite", open_store(folder)))
        with database_server() as url:
            if url is not None:
                server = Path(place) / "postgresql"
                server.mkdir()
                (server / "qassay.toml").write_text(f'database = "{url}"\nname = "Large"\ntask = "confidence"\n')
                (server / "questions.jsonl").write_text("")
                with using_named_database():
                    rows += _rows("PostgreSQL", _copied(store, open_store(server, create=True)))
        store.close()
    return rows


def _rows(name: str, store: Store) -> Iterator[Row]:
    with store.read() as connection:
        for title, by_counters, plain in READS:
            yield _read(connection, f"{name}: {title}", by_counters, plain)
    with_triggers, without = [], []
    for _ in range(2):
        with_triggers.append(_writes(store))
        with _no_triggers(store):
            without.append(_writes(store))
    for title, place in (("a save", 0), (f"{ITEMS:,} new items", 1)):
        ours, peer = (min(times[place] for times in measured) for measured in (with_triggers, without))
        yield Row(f"{name}: {title}, peer without triggers", ours, peer, peer / ours, f"{(ours - peer) * 1000:.2f} ms")
    store.close()


def _read(connection: Connection, name: str, by_counters: Read, plain: Read) -> Row:
    """The median of some rounds, one after the other; the 95th percentile is the note."""
    if by_counters(connection) != plain(connection):
        raise RuntimeError(f"{name}: the plain query gives another answer")
    times: dict[Read, list[float]] = {by_counters: [], plain: []}
    for _ in range(ROUNDS):
        for read, seconds in times.items():
            begun = time.perf_counter()
            read(connection)
            seconds.append(time.perf_counter() - begun)
    ours, peer = (statistics.median(seconds) for seconds in times.values())
    least = " / ".join(f"{min(seconds) * 1000:.1f}" for seconds in times.values())
    high = " / ".join(f"{np.percentile(seconds, 95) * 1000:.1f}" for seconds in times.values())
    note = f"least {least} ms, 95th percentile {high} ms"
    return Row(name, ours, peer, peer / ours, note)


def _writes(store: Store) -> tuple[float, float]:
    """The median of a save, and the time of a pool that is given up again."""
    saves = []
    for number in range(SAVES):
        begun = time.perf_counter()
        with store.write() as connection:
            _save(connection, f"q{LARGE.judged + number}")
        saves.append(time.perf_counter() - begun)
    rows = [
        {"id": 10_000_000 + number, "question": f"q{number % LARGE.questions}", "kind": "item", "ordinal": number}
        | {"body": '{"doc":"D1","text":"an answer"}', "parts": 1}
        for number in range(ITEMS)
    ]
    begun = time.perf_counter()
    with store.engine.connect() as connection:
        connection.execution_options(writes=True)
        for start in range(0, ITEMS, 5_000):
            connection.execute(insert(item), rows[start : start + 5_000])
        connection.rollback()
    return statistics.median(saves), time.perf_counter() - begun


def _save(connection: Connection, question: str) -> None:
    """What a decision writes: a judgment, that it is the current one, and the counts of its assignment."""
    values = {"question": question, "subject": f"{time.perf_counter_ns()}"}
    connection.execute(
        text(
            'INSERT INTO judgment ("set", question, kind, thing, version, body, account, at)'
            " VALUES ('first', :question, 'item', :subject, 1, '{}', 3, '2026')"
        ),
        values,
    )
    connection.execute(
        text(
            'INSERT INTO standing ("set", thing, question, kind, judgment, version, body)'
            ' SELECT "set", thing, question, kind, id, version, body FROM judgment'
            " WHERE \"set\" = 'first' AND thing = :subject"
        ),
        values,
    )
    counts = "UPDATE assignment SET done = done + 1, seconds = seconds + 9 WHERE question = :question AND slot = 1"
    connection.execute(text(counts), values)


@contextmanager
def _no_triggers(store: Store) -> Iterator[None]:
    if store.is_file:
        with store.write() as connection:
            triggers = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")).all()
            for name, _ in triggers:
                connection.exec_driver_sql(f"DROP TRIGGER {name}")
        off: list[str] = []
        on = [sql for _, sql in triggers]
    else:
        tables = ("question", "item", "standing", "assignment", "settled")
        off, on = ([f"ALTER TABLE {name} {verb} TRIGGER USER" for name in tables] for verb in ("DISABLE", "ENABLE"))
    for statements in (off, on):
        with store.write() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)
        if statements is off:
            yield


def _copied(source: Store, target: Store) -> Store:
    """The rows of a store, copied to that of a database server."""
    with source.read() as origin, target.write() as connection:
        raw: Any = connection.connection.driver_connection
        for table in metadata.sorted_tables:
            if table in (*KEPT_BY_TRIGGERS, metadata.tables["setting"]):
                continue
            names = ", ".join(f'"{column.name}"' for column in table.c)
            with raw.cursor().copy(f'COPY "{table.name}" ({names}) FROM STDIN') as copy:
                for row in origin.execute(select(table).execution_options(yield_per=5_000)):
                    copy.write_row(row)
            if "id" in table.c and table.c["id"].type.python_type is int:
                last = f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), max(id)) FROM \"{table.name}\""
                connection.exec_driver_sql(last)
    with target.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM ANALYZE")
    return target
