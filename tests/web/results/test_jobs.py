"""The process that computes: it is limited in time and memory, told apart by state, and ends with the application."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from qassay.demo import demo_folder
from qassay.formats.folder import open_folder
from qassay.store.engine import open_store
from qassay.store.folder.importing import import_folder
from qassay.web.results import jobs as module
from qassay.web.results.finding import Finding, StudyRequest, StudyResult
from qassay.web.results.jobs import CrowdedError, Job, JobQueue
from qassay.web.results.views import VIEWS


def request(name: str = "leaderboard", *, folder: str | None = None, **options: object) -> StudyRequest:
    view = next(view for view in VIEWS if view.name == name)
    where = folder or str(demo_folder("rag"))
    return StudyRequest(where, view.study.name, tuple(options.items()), slow=view.study.slow)


def waited(jobs: JobQueue, job: Job) -> Job:
    assert asyncio.run(jobs.wait(job, 120))
    return job


@pytest.fixture
def own() -> Iterator[JobQueue]:
    """A queue that a test may break."""
    queue = JobQueue()
    yield queue
    queue.close()


def ours() -> list[multiprocessing.Process]:
    return [process for process in multiprocessing.active_children() if process.name == "qassay-results"]


def test_the_same_state_is_computed_once(jobs) -> None:
    first = waited(jobs, jobs.submit(request(), "state one"))
    assert first.condition == "found"
    assert jobs.submit(request(), "state one") is first
    assert jobs.find(first.id) is first
    result = first.result()
    assert isinstance(result, StudyResult)
    assert result.finding is not None
    assert result.offer.runs == ("harbor", "lantern", "meadow")


def test_another_state_is_computed_again_unless_the_last_is_young(jobs, monkeypatch) -> None:
    first = waited(jobs, jobs.submit(request("describe"), "a"))
    assert jobs.submit(request("describe"), "b") is first, "while people save, no state lasts as long as a study"
    assert first.state == "a", "and the page can tell that it is not the present one"
    fresh = jobs.submit(request("describe"), "b", fresh=True)
    assert fresh is not first
    waited(jobs, fresh)
    assert jobs.submit(request("describe"), "b", fresh=True) is fresh
    monkeypatch.setattr(module, "FRESH", 0.0)
    assert jobs.submit(request("describe"), "c") is not fresh


@pytest.mark.parametrize("missing", ["run", "folder"])
def test_a_refusal_holds_for_its_state_alone(jobs, tmp_path: Path, missing: str) -> None:
    asked = request("run", run="nobody") if missing == "run" else request(folder=str(tmp_path / "none"))
    first = waited(jobs, jobs.submit(asked, "a"))
    assert jobs.submit(asked, "a") is first
    assert jobs.submit(asked, "b") is not first, "the cause may be gone"


def test_a_page_that_cannot_be_computed_says_why_and_offers_choices(jobs) -> None:
    job = waited(jobs, jobs.submit(request("run", run="nobody"), "a"))
    result = job.result()
    assert result.finding is None
    assert "unknown run 'nobody'" in result.message
    assert result.offer.keys[0] == "adjudicated"


def test_a_folder_that_cannot_be_read_is_a_sentence(jobs, tmp_path: Path) -> None:
    job = waited(jobs, jobs.submit(request(folder=str(tmp_path)), "a"))
    assert (job.refuses, job.result().offer) == (True, None)
    assert "qassay.toml" in job.result().message


@pytest.mark.parametrize(
    ("limit", "value", "says"),
    [("_limit", 0.0, "longer than 0 seconds"), ("_job_memory", 1 << 20, "more than 1 MiB of memory")],
)
def test_a_study_that_takes_too_much_is_interrupted_and_the_next_one_is_not(
    own: JobQueue, monkeypatch: pytest.MonkeyPatch, limit: str, value: float, says: str
) -> None:
    with monkeypatch.context() as small:
        small.setattr(own, limit, value)
        job = waited(own, own.submit(request(), "a"))
    assert job.condition == "broken"
    assert says in job.message
    assert waited(own, own.submit(request(), "b", fresh=True)).condition == "found"


class Killed(StudyRequest):
    """A request whose process is ended from outside."""

    def compute(self, *_: object) -> Finding:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


class Faulty(StudyRequest):
    """A request that meets an error of the program."""

    def compute(self, *_: object) -> Finding:
        raise TypeError


def test_a_process_that_dies_is_a_sentence_and_is_started_again(own: JobQueue) -> None:
    job = waited(own, own.submit(Killed(str(demo_folder("rag")), "score"), "a"))
    assert job.condition == "broken"
    assert "memory" in job.message
    before = {process.pid for process in ours()}
    waited(own, own.submit(request(), "a"))
    (mine,) = [process for process in ours() if process.pid not in before]
    mine.kill()
    mine.join(10)
    assert waited(own, own.submit(request("describe"), "a")).condition == "found", "nobody was waiting when it died"


def test_a_bug_is_a_sentence_too(own: JobQueue, capfd) -> None:
    job = waited(own, own.submit(Faulty(str(demo_folder("rag")), "score"), "a"))
    assert job.condition == "broken"
    assert "error of the program" in job.message
    assert "TypeError" in capfd.readouterr().err, "the log of the server has it"


def test_the_queue_is_limited_and_what_is_quick_goes_first(monkeypatch) -> None:
    crowded = JobQueue()
    done: list[str] = []
    monkeypatch.setattr(module, "QUEUE", 3)
    begun, go_on = threading.Event(), threading.Event()

    def instead(job: Job, process: object) -> None:
        begun.set()
        go_on.wait(10)
        done.append(job.request.study)
        crowded._take(job, None)

    monkeypatch.setattr(crowded, "_do", instead)
    crowded.submit(request("units"), "a")
    assert begun.wait(10)
    waiting = [crowded.submit(request(study), "a") for study in ("sensitivity", "compare", "leaderboard")]
    with pytest.raises(CrowdedError):
        crowded.submit(request("describe"), "a")
    go_on.set()
    for job in waiting:
        waited(crowded, job)
    assert done == ["units", "score", "sensitivity", "compare"]
    crowded.close()


def test_memory_is_bounded() -> None:
    small = JobQueue(memory_limit=10_000)
    for number in range(50):
        job = Job(request(page=number), "a", data=pickle.dumps("x" * 1_000))
        small._jobs[job.request] = job
        small._finish(job, "found")
    assert sum(len(job.data) for job in small._jobs.values()) <= 10_000
    assert request(page=49) in small._jobs
    assert request(page=0) not in small._jobs


def test_closing_ends_the_process_and_leaves_nothing_behind(tmp_path: Path, monkeypatch) -> None:
    """The process reads the store without a file of its own."""
    folder, room = Path(shutil.copytree(demo_folder("rag"), tmp_path / "rag")), tmp_path / "room"
    room.mkdir()
    store = open_store(folder, create=True)
    import_folder(store, open_folder(folder))
    store.close()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    before = {process.pid for process in ours()}
    brief = JobQueue()
    waited(brief, brief.submit(request(folder=str(folder)), "a"))
    (mine,) = [process for process in ours() if process.pid not in before]
    assert [path for path in room.rglob("*") if path.is_file()] == []
    brief.close()
    mine.join(10)
    assert not mine.is_alive()
    assert list(room.iterdir()) == []
    with pytest.raises(CrowdedError):
        brief.submit(request(), "a")


def test_an_idle_process_ends_and_the_next_request_starts_another(monkeypatch) -> None:
    monkeypatch.setattr(module, "IDLE_SECONDS", 0.0)
    lazy = JobQueue()
    try:
        waited(lazy, lazy.submit(request(), "a"))
        deadline = time.monotonic() + 30
        while lazy._driver is not None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert lazy._driver is None
        assert waited(lazy, lazy.submit(request(), "b", fresh=True)).condition == "found"
    finally:
        lazy.close()


def test_the_evaluation_is_read_again_where_it_has_changed(jobs, tmp_path: Path) -> None:
    shutil.copytree(demo_folder("rag"), tmp_path / "rag")
    asked = request(folder=str(tmp_path / "rag"))
    assert waited(jobs, jobs.submit(asked, "a")).result().finding.document["runs"][0]["run"] == "harbor"
    (tmp_path / "rag" / "runs" / "harbor.jsonl").unlink()
    later = waited(jobs, jobs.submit(asked, "b", fresh=True))
    assert later.result().finding.document["runs"][0]["run"] == "lantern"
