"""The store of an evaluation, opened: SQLite in the folder, or the database that is named.

Writers take turns within the process, and each begins with SQLite's write lock in hand: a save waits its turn instead
of finding the database locked. What is answered is on the disk (synchronous FULL). PostgreSQL keeps its writers apart
by itself.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError

from qassay.errors import InputError, Problem
from qassay.formats.folder import (
    CONFIGURATION,
    DATABASE,
    VARIABLE,
    Configuration,
    Folder,
    may_have_store,
    named_database,
    open_folder,
    read_configuration,
)

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


def store_url(folder: Folder, configuration: Configuration) -> str | URL:
    """Where the store of an evaluation is, or would be."""
    return named_database(configuration) or sqlite_url(folder.path / DATABASE)


def sqlite_url(path: Path) -> URL:
    """The address of a SQLite file, whatever characters its path holds."""
    return URL.create("sqlite", database=str(path.resolve()))


def open_store(path: Path | str | Folder, *, create: bool = False) -> Store:
    """Open the store of the evaluation in a folder, its schema brought up to date; with `create`, made where absent.

    A database that is named may be another evaluation's: that is an error, nobody can tell which of the two is meant.
    """
    folder = path if isinstance(path, Folder) else open_folder(path)
    configuration = read_configuration(folder)
    if not create and not may_have_store(folder, configuration):
        message = "has no store; it is made by: qassay serve FOLDER"
        raise InputError(Problem("configuration", message, folder.name()))
    store = open_database(folder, configuration)
    try:
        _check_owner(store, folder, configuration)
    except BaseException:
        store.close()
        raise
    return store


def open_database(folder: Folder, configuration: Configuration) -> Store:
    """Open the database that an evaluation names, whatever it holds; its schema is brought up to date."""
    from qassay.store.migrating import migrate

    store = Store(connect(store_url(folder, configuration)))
    try:
        migrate(store.engine)
    except DBAPIError as error:
        store.close()
        message = f"the database cannot be used: {str(error.orig).strip().splitlines()[0]}"
        raise InputError(Problem("configuration", message, folder.name())) from None
    return store


def _check_owner(store: Store, folder: Folder, configuration: Configuration) -> None:
    from qassay.store.fingerprint import EVALUATION
    from qassay.store.settings import get_setting  # it builds on this module

    if named_database(configuration) is None:
        return  # the file in the folder is its own, whatever the evaluation was called
    with store.read() as connection:
        owner = get_setting(connection, EVALUATION)
    if owner is not None and owner != configuration.name:
        message = (
            f"the database that is named holds the evaluation {owner!r}, not {configuration.name!r}: name another"
            f' database (or unset {VARIABLE}), or say name = "{owner}" in {CONFIGURATION}'
        )
        raise InputError(Problem("configuration", message, folder.name()))


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
    engine = create_engine(
        url,
        # More connections than a server has threads: a request never waits for one that another request holds.
        poolclass=QueuePool,
        pool_size=20,
        max_overflow=60,
        connect_args={"check_same_thread": False, "timeout": BUSY_MILLISECONDS / 1000},
    )

    @event.listens_for(engine, "connect")
    def _prepare(raw: Any, _: object) -> None:
        raw.isolation_level = None  # transactions begin where we say, not where the driver guesses
        _write_ahead(raw)
        for pragma in (
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


def _write_ahead(raw: Any) -> None:
    """Have the file keep a log; SQLite itself does not wait here for others who open or close a new file."""
    until = time.monotonic() + BUSY_MILLISECONDS / 1000
    while True:
        try:
            raw.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def is_alive(store: Store) -> bool:
    """Whether the store answers."""
    with store.read() as connection:
        return bool(connection.execute(text("SELECT 1")).scalar_one() == 1)
