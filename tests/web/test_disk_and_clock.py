"""A disk that is full or read-only under the server, and a clock that jumps back: nothing half-made, nothing lost."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from qassay.demo import demo_folder
from qassay.formats import times
from qassay.formats.folder import open_folder
from qassay.formats.jsonl import parse_rows
from qassay.store.assignment.assignments import assignments_of
from qassay.store.engine import open_store
from qassay.store.folder.importing import import_folder
from qassay.store.folder.snapshot import snapshot
from qassay.store.people import add_account, sessions
from qassay.store.pool.items import items_of
from qassay.store.schema import ROLES
from qassay.web.application import create_app
from qassay.web.demonstration import give_out
from qassay.web.errors import _as_refusal

Decide = Callable[..., Any]


@pytest.fixture(params=["sqlite", "postgresql"])
def anywhere(request: pytest.FixtureRequest, site: Any, tmp_path: Path, monkeypatch: Any) -> Iterator[Any]:
    """The evaluation, without judgments, served from either database; the assessor has all questions."""
    if request.param == "sqlite":
        served_site = site
    else:
        folder = Path(shutil.copytree(demo_folder(), tmp_path / "other"))
        monkeypatch.setenv("QASSAY_DATABASE", request.getfixturevalue("postgres_url"))
        store = open_store(folder, create=True)
        with store.write() as connection:
            for role in ROLES:
                add_account(connection, f"Some {role}", role, organisation="North" if role == "participant" else None)
        served_site = type(site)(folder, store, create_app(folder, site.app.state.site.settings, store=store))
    for name in ("judgments", "nuggets"):
        shutil.rmtree(served_site.folder / name)
    import_folder(served_site.store, open_folder(served_site.folder))
    give_out(served_site.store, served_site.folder, [1 + ROLES.index("assessor")], assessors=1)
    yield served_site
    if served_site is not site:
        served_site.store.close()


@pytest.fixture
def decide(anywhere: Any) -> Decide:
    """`decide(place, label)`: the answer to a verdict of the assessor on an item of question 1.1."""
    client = anywhere.client("assessor")
    with anywhere.store.read() as connection:
        work = {
            assignment.question: assignment.id for assignment in assignments_of(connection, 1 + ROLES.index("assessor"))
        }
        items = [item.id for item in items_of(connection, "1.1")]

    def send(place: int, label: str, *, expected: int = 0, key: str | None = None) -> Any:
        sent = {"key": key or secrets.token_hex(16), "item": items[place], "part": "", "expected": expected}
        return client.post(f"/api/judge/{work['1.1']}/decisions", json={**sent, "verdict": {"judgment": label}})

    return send


def judged(site: Any) -> list[str]:
    """The labels that stand, as an export has them: the last of each item's rows."""
    current: dict[Any, str] = {}
    folder = snapshot(site.store, open_folder(site.folder))
    part = folder.judgment_sets()["first"]
    for _, row in parse_rows(part.text(), file=part.name):
        current[row["doc"], row["text"]] = row["judgment"]
    return sorted(current.values())


def make_full(site: Any, *, full: bool) -> None:
    """Let the store grow by nothing, or again by all it likes; a write-protected database for PostgreSQL."""
    url = site.store.engine.url
    if url.get_backend_name() == "sqlite":
        for listening in _listening:
            event.remove(site.store.engine, "connect", listening)
        _listening.clear()
        site.store.engine.dispose()
        if full:
            event.listen(site.store.engine, "connect", _no_room)
            _listening.append(_no_room)
        return
    plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as connection:
        state = "on" if full else "off"
        connection.execute("SET default_transaction_read_only = off")
        connection.execute(f'ALTER DATABASE "{url.database}" SET default_transaction_read_only = {state}'.encode())
    site.store.engine.dispose()


_listening: list[Any] = []


def _no_room(raw: Any, _: Any) -> None:
    (pages,) = raw.execute("PRAGMA page_count").fetchone()
    raw.execute(f"PRAGMA max_page_count = {pages}")


def test_a_server_that_cannot_write_says_so_and_goes_on_when_it_can(
    anywhere: Any, decide: Decide, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert decide(0, "R").status_code == 200
    key = secrets.token_hex(16)
    reader = anywhere.client("assessor")
    monkeypatch.setattr(sessions, "NOTED_EVERY", timedelta(0))  # the use of every session should be noted
    make_full(anywhere, full=True)
    try:
        # What fits into the pages that are there may still be saved; of many saves some do not.
        answers = [decide(1, "W", key=key)]
        while answers[-1].status_code == 200 and len(answers) < 400:
            answers.append(decide(0, "RW"[len(answers) % 2], expected=len(answers)))
        refused = answers[-1]
        assert refused.status_code == 507, refused.text
        assert "Nothing was changed" in refused.json()["message"]
        assert reader.get("/work").status_code == 200  # what is there can be read
    finally:
        make_full(anywhere, full=False)
    again = decide(1, "W", key=key)  # under the same key: saved now, or known to be saved
    assert again.status_code == 200
    assert decide(1, "X", expected=again.json()["version"]).status_code == 200
    assert len(judged(anywhere)) == 2


@pytest.mark.parametrize("anywhere", ["postgresql"], indirect=True)
def test_a_database_server_that_restarts_is_waited_for(
    anywhere: Any, decide: Decide, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = anywhere.store.engine.url.set(drivername="postgresql").render_as_string(hide_password=False)

    def end_connections() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    assert decide(0, "R").status_code == 200
    end_connections()
    assert decide(0, "W", expected=1).status_code == 200  # a connection is asked before it is used
    monkeypatch.setattr(anywhere.store.engine.pool, "_pre_ping", False)
    end_connections()
    refused = decide(0, "X", expected=2)  # closed after it was asked
    assert refused.status_code == 503
    assert refused.headers["Retry-After"]
    assert "does not answer" in refused.json()["message"]
    assert decide(0, "X", expected=2).status_code == 200
    assert judged(anywhere) == ["X"]


@pytest.mark.parametrize("error", [psycopg.errors.DiskFull(), psycopg.errors.ReadOnlySqlTransaction()])
def test_a_full_disk_of_the_database_server_is_one_too(error: Exception) -> None:
    refusal = _as_refusal(OperationalError("", {}, error))
    assert refusal is not None
    assert refusal.status == 507


# ---- the clock ------------------------------------------------------------------------------------------------------


class Clock:
    """The time of day, which can be set."""

    def __init__(self) -> None:
        self.shift = timedelta(0)

    def class_of(self) -> type[datetime]:
        clock = self

        class Shifted(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
                return datetime.now(tz) + clock.shift

        return Shifted


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    fake_clock = Clock()
    for module in (times, sessions):
        monkeypatch.setattr(module, "datetime", fake_clock.class_of())
    return fake_clock


def test_a_clock_that_jumps_back_changes_no_order(anywhere: Any, decide: Decide, clock: Clock) -> None:
    """The last decision is the one that was made last, whatever the clock said."""
    assert decide(0, "R").json()["version"] == 1
    assert decide(1, "R").json()["version"] == 1
    clock.shift = timedelta(days=-2)
    assert datetime.fromisoformat(times.now()) < datetime.now(UTC) - timedelta(days=1)
    changed = decide(0, "W", expected=1)
    assert (changed.status_code, changed.json()["version"]) == (200, 2)  # and the session is still good
    assert decide(0, "X", expected=1).status_code == 409  # a stale save is one, whenever it is made
    clock.shift = timedelta(days=-30)
    assert decide(1, "U", expected=1).json()["version"] == 2
    assert judged(anywhere) == ["U", "W"]
    history = anywhere.client("organiser").get("/api/history", params={"question": "1.1"}).json()["changes"]
    assert [(row["before"], row["after"]) for row in history] == [("R", "U"), ("R", "W"), (None, "R"), (None, "R")]
    assert anywhere.client("reader").get("/api/account").status_code == 200  # a new session is good
    clock.shift = timedelta(0)
    assert decide(0, "R", expected=2).json()["version"] == 3
    assert judged(anywhere) == ["R", "U"]
