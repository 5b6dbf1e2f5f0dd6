"""Load on a served evaluation: people who judge without a pause, a server that may be killed, and what came of it.

Shared by the benchmark of the application and by the tests of faults. Everything talks to the loopback address, for a
bounded time.
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import select

from qassay.formats.folder import open_folder
from qassay.store.assignment.assignments import assignments_of
from qassay.store.engine import open_store
from qassay.store.folder.importing import import_folder
from qassay.store.people import add_account
from qassay.store.people.sessions import begin_session
from qassay.store.pool.items import items_of
from qassay.store.schema import judgment
from qassay.web.demonstration import give_out

LABELS = ("R", "X", "U", "W")
COOKIE = "qassay"


@dataclass
class Person:
    """An assessor: the session, and the items to go through as (assignment, item)."""

    name: str
    secret: str
    work: list[tuple[int, int]]
    # What the server has acknowledged, by key, and what came otherwise.
    acknowledged: dict[str, int] = field(default_factory=dict)
    saves: list[float] = field(default_factory=list)
    loads: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)
    unanswered: int = 0


def make_evaluation(folder: Path, *, questions: int, runs: int) -> Path:
    """An evaluation whose runs all answer otherwise: a pool of questions x runs items."""
    (folder / "runs").mkdir(parents=True)
    (folder / "qassay.toml").write_text('name = "Load"\ntask = "confidence"\n')
    rows = [{"id": f"q{number}", "type": "factoid", "text": f"Question {number}?"} for number in range(questions)]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for run in range(runs):
        lines = [f"q{number} run{run} DOC{run} answer {run} of {number}\n" for number in range(questions)]
        (folder / "runs" / f"run{run}.txt").write_text("".join(lines))
    return folder


def prepare(folder: Path, *, people: int, assessors: int = 1) -> list[Person]:
    """Take the folder into its store, pool, and give the work out."""
    store = open_store(folder, create=True)
    import_folder(store, open_folder(folder))
    with store.write() as connection:
        accounts = [add_account(connection, f"Assessor {number}", "assessor").id for number in range(people)]
    give_out(store, folder, accounts, assessors=assessors)
    workers = []
    with store.write() as connection:
        for number, account in enumerate(accounts):
            secret = begin_session(connection, account, address="127.0.0.1", agent="load")
            work = [
                (assignment.id, item.id)
                for assignment in assignments_of(connection, account)
                for item in items_of(connection, assignment.question)
            ]
            workers.append(Person(f"Assessor {number}", secret, work))
    store.close()
    return workers


def free_port() -> int:
    """A free port of the loopback address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(folder: Path, port: int, **options: Any) -> subprocess.Popen[bytes]:
    """Serve a folder in a process of its own, and wait until it answers; `options` are those of the process."""
    code = "import sys; from qassay.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "serve", str(folder), "--port", str(port), "--log", "none"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": os.environ.copy()}
    process = subprocess.Popen(command, **quiet, **options)
    wait_for(port, process)
    return process


@contextmanager
def serving(folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Serve a folder, and end the server afterwards."""
    process = start(folder, port)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=30)


def wait_for(port: int, process: subprocess.Popen[bytes], path: str = "/health", seconds: float = 90.0) -> None:
    """Wait until the server at this port answers."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with status {process.returncode}")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        try:
            connection.request("GET", path)
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.05)
        finally:
            connection.close()
    raise RuntimeError("the server did not begin to answer")


def judge(person: Person, port: int, stop: threading.Event, *, pause: float = 0.0, loads: bool = False) -> None:
    """Judge one item after the other, again from the start when through; a save is sent until it is answered."""
    versions: dict[tuple[int, int], int] = {}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    count = 0
    while not stop.is_set():
        assignment, item = person.work[count % len(person.work)]
        if loads:
            connection = _load(person, connection, port, assignment, item)
        body = {
            "key": secrets.token_hex(16),
            "item": item,
            "part": "",
            "expected": versions.get((assignment, item), 0),
            "verdict": {"judgment": LABELS[count % 4]},
        }
        connection, answer = _send(person, connection, port, f"/api/judge/{assignment}/decisions", body, stop)
        if answer is not None:
            versions[assignment, item] = answer["version"]
            person.acknowledged[str(body["key"])] = answer["version"]
        count += 1
        if pause:
            stop.wait(pause)
    connection.close()


def _load(
    person: Person, connection: http.client.HTTPConnection, port: int, assignment: int, item: int
) -> http.client.HTTPConnection:
    begun = time.perf_counter()
    try:
        connection.request("GET", f"/api/judge/{assignment}/items/{item}", headers=_headers(person, port))
        connection.getresponse().read()
        person.loads.append(time.perf_counter() - begun)
    except (OSError, http.client.HTTPException):
        return _again(connection, port)
    return connection


def _send(
    person: Person,
    connection: http.client.HTTPConnection,
    port: int,
    path: str,
    body: dict[str, Any],
    stop: threading.Event,
) -> tuple[http.client.HTTPConnection, dict[str, Any] | None]:
    """Send a save until it is answered; under the same key, so that it counts once."""
    data = json.dumps(body)
    until: float | None = None
    while True:
        begun = time.perf_counter()
        try:
            connection.request("POST", path, data, _headers(person, port))
            response = connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException):
            person.unanswered += 1
            connection = _again(connection, port)
            time.sleep(0.02)
            if stop.is_set():
                until = until or time.monotonic() + 60
                if time.monotonic() > until:
                    return connection, None
            continue
        person.statuses[response.status] = person.statuses.get(response.status, 0) + 1
        if response.status == 200:
            person.saves.append(time.perf_counter() - begun)
            return connection, json.loads(answer)
        if response.status == 409:  # judged in an earlier round: go on from the current version
            body["expected"] = json.loads(answer)["version"]
            data = json.dumps(body)
            continue
        if response.status < 500:
            return connection, None
        time.sleep(0.05)


def _headers(person: Person, port: int) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "Cookie": f"{COOKIE}={person.secret}",
        "Origin": f"http://127.0.0.1:{port}",
        "Sec-Fetch-Site": "same-origin",
    }


def _again(connection: http.client.HTTPConnection, port: int) -> http.client.HTTPConnection:
    connection.close()
    return http.client.HTTPConnection("127.0.0.1", port, timeout=30)


def set_to_work(people: list[Person], port: int, stop: threading.Event, **options: Any) -> list[threading.Thread]:
    """Let everybody judge, each in a thread."""
    threads = [threading.Thread(target=judge, args=(person, port, stop), kwargs=options) for person in people]
    for thread in threads:
        thread.start()
    return threads


@dataclass(frozen=True)
class Outcome:
    """The judgments in the store compared with the acknowledged ones."""

    acknowledged: int
    lost: int
    doubled: int
    broken: int
    statuses: dict[int, int]


def examine(folder: Path, people: list[Person]) -> Outcome:
    """Count what was lost, stored twice, or stored out of order."""
    store = open_store(folder)
    c = judgment.c
    with store.read() as connection:
        # Without a key is what the application settles by rule.
        query = select(c.key, c.set, c.subject, c.version).where(c.key.is_not(None)).order_by(c.id)
        rows = connection.execute(query).all()
    store.close()
    stored: dict[str, list[int]] = {}
    last: dict[tuple[str, str], int] = {}
    broken = 0
    for key, set_name, subject, version in rows:
        stored.setdefault(key, []).append(version)
        broken += version != last.get((set_name, subject), 0) + 1
        last[set_name, subject] = version
    acknowledged = {key: version for person in people for key, version in person.acknowledged.items()}
    statuses: dict[int, int] = {}
    for person in people:
        for status, count in person.statuses.items():
            statuses[status] = statuses.get(status, 0) + count
    return Outcome(
        len(acknowledged),
        sum(stored.get(key) != [version] for key, version in acknowledged.items()),
        sum(len(versions) > 1 for versions in stored.values()),
        broken,
        statuses,
    )
