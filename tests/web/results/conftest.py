"""What the tests of the results share: the built-in evaluations, served, and one process that computes for all."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from pooling import store_items

from acting import act
from qassay.demo import DEMOS, Demo, demo_folder
from qassay.evaluation import open_evaluation
from qassay.formats.folder import open_folder
from qassay.judging.items import pool_items
from qassay.store.assignment.assignments import assign
from qassay.store.engine import Store, open_store
from qassay.store.folder.importing import import_folder
from qassay.store.people import add_account
from qassay.store.people.sessions import begin_session
from qassay.store.schema import ROLES
from qassay.web.application import create_app
from qassay.web.results.jobs import JobQueue
from qassay.web.site import Settings

with warnings.catch_warnings():
    # It says that a successor of httpx is available; what it does with httpx is the same.
    warnings.filterwarnings("ignore", message="Using `httpx`")
    from starlette.testclient import TestClient

ASSESSOR = 1 + ROLES.index("assessor")


@dataclass(frozen=True)
class Evaluated:
    """An evaluation with a store and an account of every role, served."""

    folder: Path
    store: Store
    app: FastAPI

    def client(self, role: str) -> TestClient:
        """A browser in which this role is signed in."""
        headers = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
        client = TestClient(self.app, follow_redirects=False, headers=headers)
        with self.store.write() as connection:
            secret = begin_session(connection, 1 + ROLES.index(role), address="test", agent="test")
        client.cookies.set(self.app.state.site.settings.cookie, secret)
        return client

    def page(self, path: str, role: str = "organiser", **query: Any) -> dict[str, Any]:
        """The JSON twin of a page, once it is computed."""
        browser = self.client(role)
        answer: dict[str, Any] = {"state": "computing"}
        while answer.get("state") == "computing":
            sent = browser.get(f"/api{path}", params=query or None)
            assert sent.status_code == 200, sent.text
            answer = sent.json()
        return answer

    def html(self, path: str, role: str = "organiser", **query: Any) -> str:
        """A page as people see it, once it is computed."""
        if role == "organiser" and path != "/results/published":
            self.page(path, role, **query)
        sent = self.client(role).get(path, params=query or None)
        assert sent.status_code == 200, sent.text
        return sent.text

    def give_out(self) -> None:
        """Pool the runs and give every question to the assessor."""
        evaluation = open_evaluation(self.folder, store=self.store)
        items = list(pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed="test"))
        with self.store.write() as connection:
            store_items(connection, items)
            assign(act(connection), evaluation.questions, assessors=1, accounts=[ASSESSOR])


def served_from(folder: Path, jobs: JobQueue) -> Evaluated:
    """Make the store of a folder and serve it."""
    store = open_store(folder, create=True)
    import_folder(store, open_folder(folder))
    with store.write() as connection:
        for role in ROLES:
            add_account(connection, f"Some {role}", role, organisation="North" if role == "participant" else None)
    app = create_app(folder, Settings(more_hosts=("testserver",), log="none"), store=store)
    app.state.site.memory["results"] = jobs
    return Evaluated(folder, store, app)


@pytest.fixture(scope="session")
def jobs() -> Iterator[JobQueue]:
    """One process for all tests: starting one takes longer than what it computes."""
    queue = JobQueue()
    yield queue
    queue.close()


@pytest.fixture(scope="session")
def demos(tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], Evaluated]) -> dict[Demo, Evaluated]:
    """The built-in evaluations, served; for tests that change nothing."""
    folder = tmp_path_factory.mktemp("demos")
    made: dict[Demo, Evaluated] = {}
    for name in DEMOS:
        shutil.copytree(demo_folder(name), folder / name)
        made[name] = serve(folder / name)
    return made


@pytest.fixture(scope="session")
def serve(jobs: JobQueue) -> Iterator[Callable[[Path], Evaluated]]:
    """`serve(folder)`: that evaluation with a store, served."""
    made: list[Evaluated] = []

    def start(folder: Path) -> Evaluated:
        made.append(served_from(folder, jobs))
        return made[-1]

    yield start
    for evaluated in made:
        evaluated.store.close()


def copied(folder: Path) -> Path:
    """The smallest demo in this folder; its assessors' sets are called otherwise, so that a slot begins empty."""
    shutil.copytree(demo_folder("rag"), folder)
    for kind in ("judgments", "nuggets"):
        for old, new in (("first", "one"), ("second", "two")):
            (folder / kind / f"{old}.jsonl").rename(folder / kind / f"{new}.jsonl")
    return folder


@pytest.fixture(scope="session")
def at_work(tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], Evaluated]) -> Evaluated:
    """An evaluation whose work is given out and open; for tests that change nothing."""
    evaluated = serve(copied(tmp_path_factory.mktemp("work") / "rag"))
    evaluated.give_out()
    return evaluated


@pytest.fixture
def rag(serve: Callable[[Path], Evaluated], tmp_path: Path) -> Evaluated:
    """A small evaluation of one's own."""
    return serve(copied(tmp_path / "rag"))
