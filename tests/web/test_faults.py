"""Faults: a server that is killed under load, and forty people at once. No acknowledged judgment is lost or doubled."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _load_module() -> ModuleType:
    """The load of the benchmarks: the same people, put to another use."""
    name = "benchmarks_load"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / "load.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


load = _load_module()


@pytest.fixture(params=["sqlite", "postgresql"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An evaluation whose store is on SQLite, and one on PostgreSQL."""
    if request.param == "postgresql":
        monkeypatch.setenv("QASSAY_DATABASE", request.getfixturevalue("postgres_url"))
    return load.make_evaluation(tmp_path / "eval", questions=40, runs=5)


def check_sound(outcome: Any) -> None:
    """Nothing that was acknowledged is lost, doubled or out of order, and nothing was refused."""
    assert (outcome.lost, outcome.doubled, outcome.broken) == (0, 0, 0)
    assert set(outcome.statuses) == {200}


def _kill_under_load(folder: Path, *, people: int, kills: int) -> Any:
    """Kill the server again and again while everybody judges, then compare what was said with what is stored."""
    judging = load.prepare(folder, people=people)
    port = load.free_port()
    process: subprocess.Popen[bytes] = load.start(folder, port)
    stop = threading.Event()
    threads = load.set_to_work(judging, port, stop)
    try:
        for number in range(kills):
            time.sleep(0.4 + 0.13 * (number % 5))
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            process = load.start(folder, port)
        time.sleep(0.5)
        process.terminate()  # in the middle of the work: what is under way is answered, and it ends well
        assert process.wait(timeout=30) == 0
        process = load.start(folder, port)  # whoever had no answer sends again, instead of trying until it gives up
    finally:
        stop.set()
        for thread in threads:
            thread.join(timeout=120)
        process.terminate()
        process.wait(timeout=30)
    return load.examine(folder, judging)


def test_a_server_that_is_killed_loses_and_doubles_nothing(folder: Path) -> None:
    outcome = _kill_under_load(folder, people=6, kills=2)
    assert outcome.acknowledged > 30
    check_sound(outcome)


@pytest.mark.slow
def test_a_server_that_is_killed_a_hundred_times(folder: Path) -> None:
    outcome = _kill_under_load(folder, people=12, kills=100)
    assert outcome.acknowledged > 1000
    check_sound(outcome)


def _crowd(folder: Path, *, people: int, seconds: float) -> Any:
    judging = load.prepare(folder, people=people)
    port = load.free_port()
    with load.serving(folder, port):
        stop = threading.Event()
        threads = load.set_to_work(judging, port, stop)
        time.sleep(seconds)
        stop.set()
        for thread in threads:
            thread.join(timeout=60)
    return load.examine(folder, judging)


def test_a_crowd_without_a_pause_is_served(folder: Path) -> None:
    outcome = _crowd(folder, people=40, seconds=2)
    assert outcome.acknowledged > 100
    check_sound(outcome)


@pytest.mark.slow
def test_a_crowd_is_served_for_a_minute(folder: Path) -> None:
    outcome = _crowd(folder, people=40, seconds=60)
    assert outcome.acknowledged > 2000
    check_sound(outcome)
