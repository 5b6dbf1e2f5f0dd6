"""The store of an evaluation, opened: SQLite in the folder, or the database that is named.

Writers take turns within the process, and each begins with SQLite's write lock in hand: a save waits its turn instead
of finding the database locked. What is answered is on the disk (synchronous FULL). PostgreSQL keeps its writers apart
by itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError

from qassay.errors import InputError, Problem
from qassay.formats.folder import Configuration, Folder, open_folder, read_configuration

DATABASE = "qassay.db"
VARIABLE = "QASSAY_DATABASE"
# How long a writer of another process is waited for.
BUSY_MILLISECONDS = 15_000


@dataclass(frozen=True, eq=False)
class Store:
    """The database of one evaluation."""

    engine: Engine
    # Held while writing, where the database lets in one writer only.
    _turn: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_file(self) -> bool:
        """Whether the store is a SQLite file."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees one state of the store."""
        with self.engine.connect() as connection:
            if not self.is_file:  # SQLite's transactions do so by themselves
                connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A connection that may write: committed when the block ends, rolled back where it fails."""
        with self._turn if self.is_file else nullcontext(), self.engine.connect() as connection:
            connection.execution_options(writes=True)
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()


def now() -> str:
    """This moment in UTC, to the millisecond, as FORMATS writes it (RFC 3339)."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def store_url(folder: Folder, configuration: Configuration) -> str | URL:
    """Where the store of an evaluation is, or would be."""
    named = os.environ.get(VARIABLE) or configuration.database
    return named or sqlite_url(folder.path / DATABASE)


def sqlite_url(path: Path) -> URL:
    """The address of a SQLite file, whatever characters its path holds."""
    return URL.create("sqlite", database=str(path.resolve()))


def has_store(folder: Folder, configuration: Configuration) -> bool:
    """Whether an evaluation has a store: a database is named, or its file is in the folder."""
    named = os.environ.get(VARIABLE) or configuration.database
    return bool(named) or (folder.path / DATABASE).is_file()


def open_store(path: Path | str | Folder, *, create: bool = False) -> Store:
    """Open the store of the evaluation in a folder, its schema brought up to date; with `create`, made where absent."""
    from qassay.store.migrating import migrate

    folder = path if isinstance(path, Folder) else open_folder(path)
    configuration = read_configuration(folder)
    if not create and not has_store(folder, configuration):
        message = "has no store; it is made by: qassay serve FOLDER"
        raise InputError(Problem("configuration", message, folder.name()))
    store = Store(connect(store_url(folder, configuration)))
    try:
        migrate(store.engine)
    except DBAPIError as error:
        store.close()
        message = f"the database cannot be used: {str(error.orig).strip().splitlines()[0]}"
        raise InputError(Problem("configuration", message, folder.name())) from None
    return store


def connect(url: str | URL) -> Engine:
    """An engine for a database; the pragmas of SQLite are set on every connection."""
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite":
            return _sqlite(url)
        if parsed.get_backend_name() == "postgresql":
            return create_engine(url, pool_size=10, max_overflow=30, pool_pre_ping=True)
    except (ArgumentError, ImportError) as error:
        hint = "; install it with: pip install 'qassay[postgres]'" if isinstance(error, ImportError) else ""
        raise InputError(Problem("configuration", f"database: {error}{hint}", "qassay.toml")) from None
    message = f"database: {parsed.get_backend_name()} is not served; it is sqlite or postgresql+psycopg"
    raise InputError(Problem("configuration", message, "qassay.toml"))


def _sqlite(url: str | URL) -> Engine:
    engine = create_engine(url, connect_args={"check_same_thread": False, "timeout": BUSY_MILLISECONDS / 1000})

    @event.listens_for(engine, "connect")
    def _prepare(raw: Any, _: object) -> None:
        raw.isolation_level = None  # transactions begin where we say, not where the driver guesses
        for pragma in (
            "journal_mode = WAL",
            "synchronous = FULL",
            "foreign_keys = ON",
            f"busy_timeout = {BUSY_MILLISECONDS}",
        ):
            raw.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def is_alive(store: Store) -> bool:
    """Whether the store answers."""
    with store.read() as connection:
        return bool(connection.execute(text("SELECT 1")).scalar_one() == 1)
