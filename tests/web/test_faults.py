"""Faults under load: kills, forty people at once, two servers, a full disk, a restored backup.

No acknowledged judgment is lost or doubled.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from qassay.cli import main

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
        process = load.start(folder, port)  # people without an answer send again, instead of trying until it gives up
    finally:
        stop.set()
        for thread in threads:
            thread.join(timeout=120)
        process.terminate()
        process.wait(timeout=30)
    return load.examine(folder, judging)


@pytest.mark.parametrize(
    ("people", "kills", "acknowledged"), [(6, 1, 30), pytest.param(12, 100, 1000, marks=pytest.mark.slow)]
)
def test_a_server_that_is_killed_loses_and_doubles_nothing(
    folder: Path, people: int, kills: int, acknowledged: int
) -> None:
    outcome = _kill_under_load(folder, people=people, kills=kills)
    print(f"{kills} kills: {outcome}")
    assert outcome.acknowledged > acknowledged
    check_sound(outcome)


@pytest.mark.parametrize(("seconds", "acknowledged"), [(1, 100), pytest.param(60, 2000, marks=pytest.mark.slow)])
def test_a_crowd_without_a_pause_is_served(folder: Path, seconds: int, acknowledged: int) -> None:
    judging = load.prepare(folder, people=40)
    port = load.free_port()
    with load.serving(folder, port):
        stop = threading.Event()
        threads = load.set_to_work(judging, port, stop)
        time.sleep(seconds)
        stop.set()
        for thread in threads:
            thread.join(timeout=60)
    outcome = load.examine(folder, judging)
    print(f"40 people for {seconds} s: {outcome}")
    assert outcome.acknowledged > acknowledged
    check_sound(outcome)


@pytest.mark.slow
def test_two_servers_on_one_folder_lose_and_double_nothing(folder: Path) -> None:
    """A second server on the folder, perhaps by mistake: both serve the same store, and saves take turns."""
    judging = load.prepare(folder, people=12)
    ports = load.free_port(), load.free_port()
    with load.serving(folder, ports[0]), load.serving(folder, ports[1]):
        stop = threading.Event()
        threads = load.set_to_work(judging[::2], ports[0], stop) + load.set_to_work(judging[1::2], ports[1], stop)
        time.sleep(20)
        stop.set()
        for thread in threads:
            thread.join(timeout=60)
    outcome = load.examine(folder, judging)
    print(f"two servers: {outcome}")
    assert min(len(person.acknowledged) for person in judging) > 5
    check_sound(outcome)


def _limit_files(most: int) -> None:
    """Let this process write no file larger than this: as on a full disk, writing fails."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


@pytest.mark.slow
def test_a_disk_that_fills_up_under_load(tmp_path: Path) -> None:
    folder = load.make_evaluation(tmp_path / "eval", questions=40, runs=5)
    judging = load.prepare(folder, people=12)
    port = load.free_port()
    stop = threading.Event()
    room = (folder / "qassay.db").stat().st_size + 200_000
    process = load.start(folder, port, preexec_fn=lambda: _limit_files(room))
    threads = load.set_to_work(judging, port, stop)
    try:
        until = time.monotonic() + 60
        while not any(507 in person.statuses for person in judging) and time.monotonic() < until:
            time.sleep(0.1)
        time.sleep(2)  # everybody tries again and again
        process.terminate()
        assert process.wait(timeout=30) == 0
        process = load.start(folder, port)  # there is room again
        time.sleep(5)
    finally:
        stop.set()
        for thread in threads:
            thread.join(timeout=120)
        process.terminate()
        process.wait(timeout=30)
    outcome = load.examine(folder, judging)
    print(f"full disk: {outcome}")
    assert (outcome.lost, outcome.doubled, outcome.broken) == (0, 0, 0)
    assert set(outcome.statuses) == {200, 507}
    assert outcome.acknowledged > 100


@pytest.mark.slow
def test_a_backup_made_under_load_has_everything_that_was_saved_before(folder: Path, tmp_path: Path) -> None:
    judging = load.prepare(folder, people=12)
    port = load.free_port()
    stop = threading.Event()
    with load.serving(folder, port):
        threads = load.set_to_work(judging, port, stop)
        time.sleep(5)
        before = [dict(person.acknowledged) for person in judging]
        assert main(["backup", str(folder), "--to", str(tmp_path / "backup.db")]) == 0
        time.sleep(3)
        stop.set()
        for thread in threads:
            thread.join(timeout=60)
    after = sum(len(person.acknowledged) for person in judging)
    assert main(["restore", str(folder), str(tmp_path / "backup.db"), "--force"]) == 0
    for person, acknowledged in zip(judging, before, strict=True):
        person.acknowledged = acknowledged
    outcome = load.examine(folder, judging)
    print(f"restored backup: {outcome} of {after}")
    assert 100 < outcome.acknowledged < after
    check_sound(outcome)
