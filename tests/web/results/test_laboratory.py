"""The process that computes: it is limited in time and memory, told apart by state, and ends with the application."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from qassay.demo import demo_folder
from qassay.web.results import laboratory as module
from qassay.web.results.inquiry import Inquiry, Reply
from qassay.web.results.laboratory import CrowdedError, Job, Laboratory
from qassay.web.results.worker import Order


def order(study: str = "leaderboard", *, folder: str | None = None, **options: object) -> Order:
    return Order(folder or str(demo_folder("rag")), Inquiry(study, options=tuple(options.items())))


def waited(laboratory: Laboratory, job: Job) -> Job:
    assert asyncio.run(laboratory.wait(job, 120))
    return job


@pytest.fixture
def own() -> Iterator[Laboratory]:
    """A laboratory that a test may break."""
    made = Laboratory()
    yield made
    made.close()


def ours() -> list[multiprocessing.Process]:
    return [one for one in multiprocessing.active_children() if one.name == "qassay-results"]


def test_the_same_state_is_computed_once(laboratory) -> None:
    first = waited(laboratory, laboratory.ask(order(), "state one"))
    assert first.condition == "found"
    assert laboratory.ask(order(), "state one") is first
    assert laboratory.find(first.id) is first
    reply = first.found()
    assert isinstance(reply, Reply)
    assert reply.finding is not None
    assert reply.offer.runs == ("harbor", "lantern", "meadow")


def test_another_state_is_computed_anew_unless_the_last_is_young(laboratory, monkeypatch) -> None:
    first = waited(laboratory, laboratory.ask(order("spread"), "a"))
    assert laboratory.ask(order("spread"), "b") is first, "while people save, no state lasts as long as a study"
    assert first.state == "a", "and the page can tell that it is not the present one"
    fresh = laboratory.ask(order("spread"), "b", fresh=True)
    assert fresh is not first
    waited(laboratory, fresh)
    assert laboratory.ask(order("spread"), "b", fresh=True) is fresh
    monkeypatch.setattr(module, "FRESH", 0.0)
    assert laboratory.ask(order("spread"), "c") is not fresh


@pytest.mark.parametrize("missing", ["run", "folder"])
def test_a_refusal_holds_for_its_state_alone(laboratory, tmp_path: Path, missing: str) -> None:
    asked = order("run", run="nobody") if missing == "run" else order(folder=str(tmp_path / "none"))
    first = waited(laboratory, laboratory.ask(asked, "a"))
    assert laboratory.ask(asked, "a") is first
    assert laboratory.ask(asked, "b") is not first, "the cause may be gone"


def test_what_cannot_be_computed_is_said_with_what_there_is_to_choose(laboratory) -> None:
    job = waited(laboratory, laboratory.ask(order("run", run="nobody"), "a"))
    reply = job.found()
    assert reply.finding is None
    assert "unknown run 'nobody'" in reply.message
    assert reply.offer.keys[0] == "adjudicated"


def test_a_folder_that_cannot_be_read_is_a_sentence(laboratory, tmp_path: Path) -> None:
    job = waited(laboratory, laboratory.ask(order(folder=str(tmp_path)), "a"))
    assert job.condition == "refused"
    assert "qassay.toml" in job.message


def test_a_study_that_takes_too_long_is_broken_off_and_the_next_one_is_not() -> None:
    hasty = Laboratory(limit=0.0)
    try:
        job = waited(hasty, hasty.ask(order(), "a"))
        assert job.condition == "broken"
        assert "longer than" in job.message
        hasty._limit = 60.0
        assert waited(hasty, hasty.ask(order(), "b", fresh=True)).condition == "found"
    finally:
        hasty.close()


def test_a_process_that_dies_is_a_sentence_and_is_started_again(own: Laboratory) -> None:
    before = {one.pid for one in ours()}
    waited(own, own.ask(order(), "a"))
    (mine,) = [one for one in ours() if one.pid not in before]
    os.kill(mine.pid or 0, signal.SIGKILL)
    job = waited(own, own.ask(order("spread"), "a"))
    assert job.condition == "broken"
    assert "memory" in job.message
    assert waited(own, own.ask(order("spread"), "a", fresh=True)).condition == "found"


def test_a_bug_is_a_sentence_too(own: Laboratory, capfd) -> None:
    job = waited(own, own.ask(order(strange="option"), "a"))
    assert job.condition == "broken"
    assert "error of the program" in job.message
    assert "TypeError" in capfd.readouterr().err, "the log of the server has it"


def test_the_queue_is_limited_and_what_is_quick_goes_first(monkeypatch) -> None:
    crowded = Laboratory()
    done: list[str] = []
    monkeypatch.setattr(module, "QUEUE", 3)
    begun, go_on = threading.Event(), threading.Event()

    def instead(job: Job, process: object, pipe: object) -> bool:
        begun.set()
        go_on.wait(10)
        done.append(job.order.inquiry.study)
        crowded._take(job, "found", [None])
        return True

    monkeypatch.setattr(crowded, "_do", instead)
    monkeypatch.setattr(crowded, "_start", lambda: (multiprocessing.get_context("spawn").Process(), None))
    monkeypatch.setattr(module, "_end", lambda process, pipe: None)
    crowded.ask(order("units"), "a")
    assert begun.wait(10)
    waiting = [crowded.ask(order(study), "a") for study in ("sensitivity", "compare", "leaderboard")]
    with pytest.raises(CrowdedError):
        crowded.ask(order("spread"), "a")
    go_on.set()
    for job in waiting:
        waited(crowded, job)
    assert done == ["units", "leaderboard", "sensitivity", "compare"]
    crowded.close()


def test_memory_is_bounded() -> None:
    small = Laboratory(kept=10_000)
    for number in range(50):
        job = Job(order(page=number), "a", data=pickle.dumps("x" * 1_000))
        small._jobs[job.order] = job
        small._finish(job, "found")
    assert sum(len(job.data) for job in small._jobs.values()) <= 10_000
    assert order(page=49) in small._jobs
    assert order(page=0) not in small._jobs


def test_closing_ends_the_process() -> None:
    before = {one.pid for one in ours()}
    brief = Laboratory()
    waited(brief, brief.ask(order(), "a"))
    (mine,) = [one for one in ours() if one.pid not in before]
    brief.close()
    mine.join(10)
    assert not mine.is_alive()
    with pytest.raises(CrowdedError):
        brief.ask(order(), "a")


def test_an_idle_process_ends_and_the_next_order_starts_another(monkeypatch) -> None:
    monkeypatch.setattr(module, "IDLE_SECONDS", 0.0)
    lazy = Laboratory()
    try:
        waited(lazy, lazy.ask(order(), "a"))
        deadline = time.monotonic() + 30
        while lazy._driver is not None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert lazy._driver is None
        assert waited(lazy, lazy.ask(order(), "b", fresh=True)).condition == "found"
    finally:
        lazy.close()


def test_the_evaluation_is_read_again_where_it_has_changed(laboratory, tmp_path: Path) -> None:
    shutil.copytree(demo_folder("rag"), tmp_path / "rag")
    asked = order(folder=str(tmp_path / "rag"))
    assert waited(laboratory, laboratory.ask(asked, "a")).found().finding.document["runs"][0]["run"] == "harbor"
    (tmp_path / "rag" / "runs" / "harbor.jsonl").unlink()
    later = waited(laboratory, laboratory.ask(asked, "b", fresh=True))
    assert later.found().finding.document["runs"][0]["run"] == "lantern"
