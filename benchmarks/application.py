"""The application under load, beside a bare FastAPI route on the same machine in the same run.

Forty people without a pause: judgments a second. Forty people who together judge eight times a second: the 95th
percentile of a save and of loading the next item. On SQLite, and on PostgreSQL where it is installed.

There is enough to judge that nobody begins again: to change a decision on a finished question takes longer, because the
question is settled again, and people do it rarely.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks import load
from benchmarks.rows import Row

PEOPLE = 40
QUESTIONS = 2_400
RUNS = 10
CROWD_SECONDS = 20.0
CALM_SECONDS = 30.0
CALM_RATE = 8.0
ROOT = Path(__file__).resolve().parent.parent


def application() -> list[Row]:
    with tempfile.TemporaryDirectory() as place:
        bare_crowd, bare_calm = _bare(Path(place))
        rows = [*_rows("SQLite", Path(place) / "sqlite", bare_crowd, bare_calm)]
        with database_server() as url:
            if url is not None:
                os.environ["QASSAY_DATABASE"] = url
                try:
                    rows += _rows("PostgreSQL", Path(place) / "postgres", bare_crowd, bare_calm)
                finally:
                    del os.environ["QASSAY_DATABASE"]
    return rows


def _rows(name: str, folder: Path, bare_crowd: float, bare_calm: dict[str, float]) -> Iterator[Row]:
    people = load.prepare(load.make_evaluation(folder, questions=QUESTIONS, runs=RUNS), people=PEOPLE)
    port = load.free_port()
    with load.serving(folder, port):
        crowd = _crowd(people, port)
        calm = _calm(people, port)
    outcome = load.examine(folder, people)
    wrong = sum(count for status, count in outcome.statuses.items() if status >= 500)
    faults = f"{outcome.lost} lost, {outcome.doubled} doubled, {wrong} answered 5xx"
    note = f"{crowd:.0f} and {bare_crowd:.0f} a second; {faults}"
    yield Row(
        f"{name}: one judgment, {PEOPLE} people without a pause", 1 / crowd, 1 / bare_crowd, crowd / bare_crowd, note
    )
    for action in ("save", "next item"):
        yield Row(
            f"{name}: {action}, 95th percentile at 8 a second",
            calm[action],
            bare_calm[action],
            bare_calm[action] / calm[action],
            f"median {calm[action + ' median'] * 1000:.1f} ms, 99th {calm[action + ' 99'] * 1000:.1f} ms",
        )


def _bare(place: Path) -> tuple[float, dict[str, float]]:
    port = load.free_port()
    command = [sys.executable, "-m", "benchmarks.bare_route", str(place / "bare.db"), str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        load.wait_for(port, process)
        people = [
            load.Person(f"A{number}", "", [(1, PEOPLE * item + number) for item in range(QUESTIONS * RUNS)])
            for number in range(PEOPLE)
        ]
        return _crowd(people, port), _calm(people, port)
    finally:
        process.terminate()
        process.wait(timeout=30)


def _crowd(people: list[load.Person], port: int) -> float:
    """Judgments per second without pauses."""
    stop = threading.Event()
    before = sum(len(person.saves) for person in people)
    begun = time.perf_counter()
    threads = load.set_to_work(people, port, stop)
    time.sleep(CROWD_SECONDS)
    stop.set()
    for thread in threads:
        thread.join()
    return (sum(len(person.saves) for person in people) - before) / (time.perf_counter() - begun)


def _calm(people: list[load.Person], port: int) -> dict[str, float]:
    """Seconds of a save and of loading an item when all together judge eight times a second, on from where they are."""
    fresh = [load.Person(person.name, person.secret, person.work[len(person.saves) :]) for person in people]
    stop = threading.Event()
    threads = []
    for person in fresh:
        threads += load.set_to_work([person], port, stop, pause=PEOPLE / CALM_RATE, loads=True)
        time.sleep(1 / CALM_RATE)  # so that they do not all come at once
    time.sleep(CALM_SECONDS)
    stop.set()
    for thread in threads:
        thread.join()
    for person, rested in zip(people, fresh, strict=True):
        person.acknowledged |= rested.acknowledged
    measured = {"save": [s for p in fresh for s in p.saves], "next item": [s for p in fresh for s in p.loads]}
    return {
        name + suffix: float(np.percentile(values, share))
        for name, values in measured.items()
        for suffix, share in (("", 95), (" median", 50), (" 99", 99))
    }


@contextmanager
def database_server() -> Iterator[str | None]:
    """The address of a PostgreSQL server that is started for this, or nothing where none is installed."""
    spec = importlib.util.spec_from_file_location("postgres", ROOT / "tests" / "postgres.py")
    if spec is None or spec.loader is None:
        yield None
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["postgres"] = module
    spec.loader.exec_module(module)
    if module.binaries() is None:
        yield None
        return
    with module.server(fsync=True) as running:
        yield running.new_database()
