"""A PostgreSQL server for tests: made in a temporary folder, on a free loopback port, and stopped at the end."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import IO, Any

import psycopg
import pytest

# Where Debian keeps what is not meant for everybody's path.
PLACES = "/usr/lib/postgresql"
NAME = "tests"


@dataclass
class Server:
    """A running server and the databases made in it."""

    port: int
    numbers: Iterator[int] = field(default_factory=count)

    def new_database(self) -> str:
        """The address of a fresh, empty database, as `qassay.toml` takes it."""
        name = f"evaluation_{next(self.numbers)}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.address(name).replace("postgresql://", "postgresql+psycopg://")

    def drop(self, url: str) -> None:
        """Remove a database, whoever is connected to it."""
        name = url.rsplit("/", 1)[1]
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())

    def address(self, database: str) -> str:
        """The address of a database, as psycopg takes it."""
        return f"postgresql://{NAME}@127.0.0.1:{self.port}/{database}"


def binaries() -> Path | None:
    """The folder of PostgreSQL's programs; None where they are not installed."""
    initdb = shutil.which("initdb")
    if initdb:
        return Path(initdb).resolve().parent
    versions = sorted(Path(PLACES).glob("*/bin/initdb"), key=lambda path: float(path.parent.parent.name))
    return versions[-1].parent if versions else None


@contextmanager
def server(*, fsync: bool = False) -> Iterator[Server]:
    """A server for as long as the block lasts; without `fsync` nothing of it would survive a power cut."""
    programs = binaries()
    if programs is None:
        _absent()
    user = _other_user()
    with tempfile.TemporaryDirectory(prefix="qassay-postgres-", dir="/tmp") as folder:
        place = Path(folder)
        if user is not None:
            os.chown(place, user.pw_uid, user.pw_gid)
        data = place / "data"
        initdb = [programs / "initdb", "-D", data, "-U", NAME, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        with (place / "made").open("w+b") as output:
            if _as_user(initdb, user, place, output).wait() != 0:
                output.seek(0)
                raise RuntimeError(f"initdb failed: {output.read().decode(errors='replace')[-2000:]}")
        port = _free_port()
        settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "max_connections": "100"}
        if not fsync:
            settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        # It goes with whoever started it, also where that is killed.
        mortal = ["setpriv", "--pdeathsig", "QUIT", "--"] if shutil.which("setpriv") else []
        command = [*mortal, programs / "postgres", "-D", data, "-p", str(port), *options]
        with (place / "log").open("wb") as log, _as_user(command, user, place, log) as process:
            running = Server(port)
            try:
                _wait_for(running, process, place / "log")
                yield running
            finally:
                process.send_signal(signal.SIGQUIT)  # at once: nothing in it is to be kept


def _wait_for(running: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when the server answers."""
    patience = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(running.address("postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > patience:
                raise RuntimeError(f"PostgreSQL does not start: {log.read_text(errors='replace')[-2000:]}") from None
            time.sleep(0.05)
        else:
            return


def _absent() -> None:
    reason = "PostgreSQL is not installed: initdb is not found"
    if os.environ.get("CI"):
        pytest.fail(f"{reason}, and CI has to test it")
    pytest.skip(reason)


def _other_user() -> pwd.struct_passwd | None:
    """Who runs the server: PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return pytest.skip("PostgreSQL refuses root, and there is no other user to run it")


def _as_user(
    command: Sequence[str | Path], user: pwd.struct_passwd | None, place: Path, out: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start one of PostgreSQL's programs."""
    asked: dict[str, Any] = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": ()}
    words = [str(part) for part in command]
    return subprocess.Popen(words, stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd=place, **asked)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
