"""Work in threads: one of a kind at a time, what is asked for meanwhile is done after it, and failures are reported."""

from __future__ import annotations

import threading
from typing import Any

from qassay.errors import UsageError
from qassay.web.background import BackgroundJob, job_named, start


def test_work_requested_meanwhile_is_done_afterwards(site: Any) -> None:
    served = site.app.state.site
    go, done = threading.Event(), []

    def first(_: BackgroundJob) -> str:
        go.wait(20)
        done.append("first")
        return "first"

    def saying(word: str) -> Any:
        def work(_: BackgroundJob) -> str:
            done.append(word)
            return word

        return work

    job = start(served, "x", "under way", first)
    assert start(served, "x", "under way", saying("second")) is job
    assert start(served, "x", "under way", saying("third")) is job
    assert (job.state, job.says) == ("running", "under way")
    go.set()
    assert job.ended.wait(20)
    assert (job.state, job.says, done) == ("done", "third", ["first", "third"])
    assert start(served, "x", "again", saying("fourth")) is not job


def test_failures_are_reported_without_internals(site: Any) -> None:
    served = site.app.state.site

    def refuse(_: BackgroundJob) -> str:
        raise UsageError("there is nothing to do")

    def break_down(_: BackgroundJob) -> str:
        raise RuntimeError("a secret path")

    assert job_named(served, "y") is None
    job = start(served, "y", "", refuse)
    assert job.ended.wait(20)
    assert (job.state, job.says) == ("failed", "there is nothing to do")
    job = start(served, "y", "", break_down)
    assert job.ended.wait(20)
    assert job.state == "failed"
    assert "secret" not in job.says
