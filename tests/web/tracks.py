"""A small track, served: three factoid questions, two organisations with two members, and a clock to set."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from qassay.errors import InputError
from qassay.formats.folder import open_folder
from qassay.store.engine import Store, open_store
from qassay.store.folder.importing import import_folder
from qassay.store.people import add_account
from qassay.store.people.sessions import begin_session, make_token
from qassay.web.application import create_app
from qassay.web.checking import Checked, Upload, check_upload
from qassay.web.pages import submissions as page
from qassay.web.site import Settings

with warnings.catch_warnings():
    # It says that a successor of httpx is available; what it does with httpx is the same.
    warnings.filterwarnings("ignore", message="Using `httpx`")
    from starlette.testclient import TestClient

HERE = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
QUESTIONS = """\
{"id": "1", "type": "factoid", "text": "When was the bridge built?", "definition": "a secret definition"}
{"id": "2", "type": "factoid", "text": "Who built it?"}
{"id": "3", "type": "factoid", "text": "How long is it?"}
"""
# In another time zone: five minutes to noon UTC.
RULES = "deadline = 2026-12-01T20:55:00+09:00\nlimit = 2\n"
BEFORE = datetime(2026, 12, 1, 11, 54, 59, tzinfo=UTC)
AFTER = datetime(2026, 12, 1, 11, 55, 1, tzinfo=UTC)
PEOPLE = {
    "olga": ("organiser", None),
    "nina": ("participant", "North"),
    "nils": ("participant", "North"),
    "sara": ("participant", "South"),
    "ann": ("assessor", None),
    "bob": ("assessor", None),
    "carl": ("adjudicator", None),
    "rita": ("reader", None),
}


def run_text(tag: str, answers: Mapping[str, str] | None = None) -> str:
    """A faultless run."""
    given = {"1": "1901", "2": "Ann Lee", "3": "90 m", **(answers or {})}
    return "".join(f"{question} {tag} D{question} {answer}\n" for question, answer in given.items())


class Here:
    """Checks uploads in this process: starting another takes longer than all the checks of a test."""

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def check(self, upload: Upload) -> Checked:
        """What the process that checks would say."""
        try:
            return check_upload(upload)
        except InputError as error:
            return Checked(None, error.problems, len(error.problems))


@dataclass
class Track:
    """The track, who takes part, and what time it is."""

    folder: Path
    store: Store
    app: FastAPI
    people: dict[str, int] = field(default_factory=dict)

    def client(self, name: str) -> TestClient:
        """A browser in which this person is signed in."""
        client = TestClient(self.app, follow_redirects=False, headers=HERE)
        with self.store.write() as connection:
            secret = begin_session(connection, self.people[name], address="test", agent="test")
        client.cookies.set(self.app.state.site.settings.cookie, secret)
        return client

    def token(self, name: str) -> str:
        """A token of this person."""
        with self.store.write() as connection:
            return make_token(connection, self.people[name], "program")

    def send(self, name: str, *texts: str, **fields: Any) -> list[dict[str, Any]]:
        """Submit runs; what came of each."""
        files = [("files", (f"run-{place}.txt", text.encode())) for place, text in enumerate(texts)]
        answer = self.client(name).post("/api/submissions", files=files, data=fields)
        assert answer.status_code == 200, answer.text
        reports: list[dict[str, Any]] = answer.json()["files"]
        return reports

    def pool(self) -> int:
        """Make the pool, and wait for it: how many items it has."""
        organiser = self.client("olga")
        state = organiser.post("/api/assignments/pool", json={}).json()
        while state["state"] == "running":
            time.sleep(0.02)
            state = organiser.get("/api/assignments/pool").json()
        return int(state["items"])

    def runs(self, name: str) -> dict[str, dict[str, Any]]:
        """The runs that this person sees, by tag."""
        return {run["tag"]: run for run in self.client(name).get("/api/submissions").json()["runs"]}


def make_folder(folder: Path, rules: str = RULES, questions: str = QUESTIONS) -> Path:
    """The evaluation before it is served."""
    folder.mkdir()
    (folder / "qassay.toml").write_text(f'name = "bridges"\ntask = "confidence"\n\n[track]\n{rules}')
    (folder / "questions.jsonl").write_text(questions)
    return folder


@contextmanager
def served(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    at: datetime = BEFORE,
    people: Mapping[str, tuple[str, str | None]] = PEOPLE,
) -> Iterator[Track]:
    """The track in a folder, served, with everybody who takes part."""
    store = open_store(folder, create=True)
    import_folder(store, open_folder(folder))
    track = Track(folder, store, create_app(folder, Settings(more_hosts=("testserver",), log="none"), store=store))
    with store.write() as connection:
        for name, (role, organisation) in people.items():
            track.people[name] = add_account(connection, name, role, organisation=organisation).id
    monkeypatch.setattr(page, "Checker", Here)
    monkeypatch.setattr(page, "_now", lambda: at)
    yield track
    for resource in track.app.state.site.memory.values():
        if callable(close := getattr(resource, "close", None)):
            close()
    store.close()
