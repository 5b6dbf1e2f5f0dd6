"""What tests share: the golden figures, and the real data where it is there."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import postgres

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("QASSAY_DATA", ROOT.parent / "shared" / "data"))
# The store has the disk confirm every change, thousands of times in these tests: a folder in memory confirms at once.
# What a killed process leaves behind there goes when the tests end; the folders of failed tests stay.
MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 2 * 2**30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    os.environ["TMPDIR"] = tempfile.tempdir = tempfile.mkdtemp(prefix="qassay-tests-", dir=MEMORY)
    atexit.register(shutil.rmtree, tempfile.tempdir, ignore_errors=True)


# How long an example takes says more of the machine than of the code.
settings.register_profile("qassay", deadline=None)
settings.load_profile("qassay")


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    """Figures printed in the papers, and figures recomputed from them, each with its source."""
    return json.loads((ROOT / "tests" / "golden" / "papers.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def truth() -> dict[str, Any]:
    """Figures of the method, computed apart from this package."""
    return json.loads((ROOT / "tests" / "golden" / "truth.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def data() -> Callable[[str], Path]:
    """A file of the real data, or a skip that says what is missing."""

    def find(name: str) -> Path:
        path = DATA / name
        if not path.exists():
            pytest.skip(f"real data not here: {name} (set QASSAY_DATA)")
        return path

    return find


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """A PostgreSQL server of this session (tests/postgres.py); a skip, in CI a failure, where it is not installed."""
    with postgres.server() as running:
        yield running


@pytest.fixture
def postgres_url(postgres_server: Any) -> Iterator[str]:
    """The address of a fresh, empty database, as `qassay.toml` takes it; as with --use-database it may name it."""
    from qassay.store.engine import using_named_database

    url: str = postgres_server.new_database()
    with using_named_database():
        yield url
    postgres_server.drop(url)


# As root, and without anything that a browser asks of the world by itself.
CHROMIUM_FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, for the tests of one file: while it runs, no other event loop can run in this thread."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("chromium is not installed (make setup, as root)")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield started
        started.close()
