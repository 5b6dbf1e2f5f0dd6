"""Work in threads: one of a kind at a time, what is asked for meanwhile is done after it, and failures are told."""

from __future__ import annotations

import threading
from typing import Any

from qassay.errors import UsageError
from qassay.web.jobs import Job, job_named, start


def test_what_is_asked_for_meanwhile_is_done_afterwards(place: Any) -> None:
    premises = place.app.state.place
    go, done = threading.Event(), []

    def first(_: Job) -> str:
        go.wait(20)
        done.append("first")
        return "first"

    def saying(word: str) -> Any:
        def work(_: Job) -> str:
            done.append(word)
            return word

        return work

    job = start(premises, "x", "under way", first)
    assert start(premises, "x", "under way", saying("second")) is job
    assert start(premises, "x", "under way", saying("third")) is job
    assert (job.state, job.says) == ("running", "under way")
    go.set()
    assert job.ended.wait(20)
    assert (job.state, job.says, done) == ("done", "third", ["first", "third"])
    assert start(premises, "x", "again", saying("fourth")) is not job


def test_failures_are_told_without_internals(place: Any) -> None:
    premises = place.app.state.place

    def refuse(_: Job) -> str:
        raise UsageError("there is nothing to do")

    def break_down(_: Job) -> str:
        raise RuntimeError("a secret path")

    assert job_named(premises, "y") is None
    job = start(premises, "y", "", refuse)
    assert job.ended.wait(20)
    assert (job.state, job.says) == ("failed", "there is nothing to do")
    job = start(premises, "y", "", break_down)
    assert job.ended.wait(20)
    assert job.state == "failed"
    assert "secret" not in job.says
