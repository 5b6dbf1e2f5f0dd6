"""What the tests of the application share: a small evaluation with a store, accounts of every role, clients."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import argon2
import pytest
from fastapi import FastAPI

from qassay.demo import demo_folder
from qassay.store.engine import Store, open_store
from qassay.store.people import add_account
from qassay.store.people import sessions as passwords
from qassay.store.people.sessions import begin_session
from qassay.store.schema import ROLES
from qassay.web.application import create_app
from qassay.web.site import Settings

with warnings.catch_warnings():
    # It says that a successor of httpx is available; what it does with httpx is the same.
    warnings.filterwarnings("ignore", message="Using `httpx`")
    from starlette.testclient import TestClient

PASSWORD = "a long enough password"
# Of the participant.
ORGANISATION = "North"
SETTINGS = Settings(more_hosts=("testserver",), log="none")
ORIGIN = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}


@dataclass(frozen=True)
class Served:
    """An evaluation that is served: its folder, its store, and the application."""

    folder: Path
    store: Store
    app: FastAPI

    def with_settings(self, **changes: Any) -> Served:
        """The same evaluation, served in another way."""
        settings = replace(SETTINGS, **changes)
        return Served(self.folder, self.store, create_app(self.folder, settings, store=self.store))

    def client(self, role: str | None = None, **options: Any) -> TestClient:
        """A browser in which the account of this role is signed in (None: nobody)."""
        client = TestClient(self.app, follow_redirects=False, headers=ORIGIN, **options)
        if role is not None:
            with self.store.write() as connection:
                number = 1 + ROLES.index(role)
                secret = begin_session(connection, number, address="test", agent="test")
            client.cookies.set(self.app.state.site.settings.cookie, secret)
        return client


@pytest.fixture(scope="session", autouse=True)
def _cheap_passwords() -> Iterator[None]:
    """Hashes that cost little: what is tested is not how long a guess takes."""
    before = passwords.HASHER
    passwords.HASHER = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    yield
    passwords.HASHER = before


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory, _cheap_passwords: None) -> Path:
    """A folder with an empty store and one account a role, to copy from."""
    folder = tmp_path_factory.mktemp("prepared") / "eval"
    shutil.copytree(demo_folder(), folder)
    store = open_store(folder, create=True)
    with store.write() as connection:
        for role in ROLES:
            organisation = ORGANISATION if role == "participant" else None
            hashed = passwords.hash_password(PASSWORD)
            add_account(connection, f"Some {role}", role, password=hashed, organisation=organisation)
    store.close()
    return folder


@pytest.fixture
def sites(prepared: Path, tmp_path: Path) -> Iterator[Callable[[str], Served]]:
    """`sites("one")`: the demo evaluation in a folder of this name, served."""
    made: list[Served] = []

    def make(name: str) -> Served:
        folder = Path(shutil.copytree(prepared, tmp_path / name))
        store = open_store(folder)
        made.append(Served(folder, store, create_app(folder, SETTINGS, store=store)))
        return made[-1]

    yield make
    for served in made:
        for resource in served.app.state.site.memory.values():
            if callable(close := getattr(resource, "close", None)):
                close()
        served.store.close()


@pytest.fixture
def site(sites: Callable[[str], Served]) -> Served:
    """The demo evaluation, served, with the accounts `Some organiser`, `Some adjudicator`, ..."""
    return sites("eval")


@pytest.fixture
def client(site: Served) -> Callable[..., TestClient]:
    """`client("organiser")`: a browser in which that role is signed in; `client()`: nobody."""
    return site.client


@pytest.fixture
def accounts() -> dict[str, int]:
    """The number of each role's account."""
    return {role: number for number, role in enumerate(ROLES, start=1)}
