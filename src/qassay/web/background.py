"""Work that takes longer than a page may: done in a thread, one of each kind at a time, and looked at meanwhile."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from qassay.errors import QassayError
from qassay.web.errors import MESSAGES, Refusal, words_of
from qassay.web.site import Site

log = logging.getLogger("qassay.web")
_turn = threading.Lock()

State = Literal["running", "done", "failed"]


@dataclass(eq=False)
class BackgroundJob:
    """One piece of work: what it is doing, how it ended."""

    says: str
    state: State = "running"
    # What was asked for while it was running: what it read at its beginning may be old.
    following: Callable[[BackgroundJob], str] | None = None
    ended: threading.Event = field(default_factory=threading.Event)


def job_named(site: Site, name: str) -> BackgroundJob | None:
    """The job of this kind that runs, or ran last."""
    job: BackgroundJob | None = site.memory.get(f"job {name}")
    return job


def start(site: Site, name: str, says: str, work: Callable[[BackgroundJob], str]) -> BackgroundJob:
    """Do the work in a thread; while one of the kind runs, have this done after it (of several, the last).

    `work` returns the sentence that says what was done.
    """
    with _turn:
        running = job_named(site, name)
        if running is not None and running.state == "running":
            running.following = work
            return running
        job = BackgroundJob(says)
        site.memory[f"job {name}"] = job
    threading.Thread(target=_run, args=(job, work), name=f"qassay {name}", daemon=True).start()
    return job


def _run(job: BackgroundJob, work: Callable[[BackgroundJob], str]) -> None:
    following: Callable[[BackgroundJob], str] | None = work
    while following is not None:
        state: State = "failed"
        try:
            sentence, state = following(job), "done"
        except (QassayError, Refusal) as error:
            sentence = words_of(error)
        except Exception as error:  # nothing catches an error of a thread: the page and the log show it
            log.error("unforeseen error", exc_info=error)
            sentence = MESSAGES[500]
        with _turn:
            following, job.following = job.following, None
            if following is None:
                job.says, job.state = sentence, state
    job.ended.set()
