"""A PostgreSQL server for tests: made in a temporary folder, on a free loopback port, and stopped at the end."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

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
        with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self._address(name).replace("postgresql://", "postgresql+psycopg://")

    def drop(self, url: str) -> None:
        """Remove a database, whoever is connected to it."""
        name = url.rsplit("/", 1)[1]
        with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())

    def _address(self, database: str) -> str:
        return f"postgresql://{NAME}@127.0.0.1:{self.port}/{database}"


def binaries() -> Path | None:
    """The folder of PostgreSQL's programs; None where they are not installed."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
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
        _run(initdb, user, place)
        port = _free_port()
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=100"
        if not fsync:
            options += " -c fsync=off -c synchronous_commit=off -c full_page_writes=off"
        control = [programs / "pg_ctl", "-D", data, "-w", "-t", "60"]
        _run([*control, "-l", place / "log", "-o", options, "start"], user, place)
        try:
            yield Server(port)
        finally:
            _run([*control, "-m", "immediate", "stop"], user, place)


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


def _run(command: Sequence[str | Path], user: pwd.struct_passwd | None, place: Path) -> None:
    """Run one of PostgreSQL's programs; what it says is shown where it fails."""
    asked = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": ()}
    # pg_ctl leaves the server running: a pipe that it inherits would never end.
    said = place / "said"
    with said.open("wb") as out:
        done = subprocess.run(
            [str(part) for part in command], stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd=place, **asked
        )
    if done.returncode != 0:
        log = place / "log"
        told = said.read_text(errors="replace") + (log.read_text(errors="replace") if log.exists() else "")
        raise RuntimeError(f"{Path(str(command[0])).name} failed: {told[-2000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
