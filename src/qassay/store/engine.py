"""The store of an evaluation, opened: SQLite in the folder, or the database that is named.

Writers take turns within the process, and each begins with SQLite's write lock in hand: a save waits its turn instead
of finding the database locked. What is answered is on the disk (synchronous FULL). PostgreSQL keeps its writers apart
by itself.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError

from qassay.errors import InputError, Problem
from qassay.extras import install_line
from qassay.formats.folder import (
    DATABASE,
    VARIABLE,
    Configuration,
    Folder,
    may_have_store,
    named_database,
    open_folder,
    read_configuration,
)
from qassay.formats.links import CONFIGURATION, stays_inside
from qassay.store.settings import EVALUATION, get_setting
from qassay.store.versions import migrate

# How long a writer of another process is waited for.
BUSY_MILLISECONDS = 15_000
# Pages of SQLite's log before they are copied into the file, which a save waits for: 32 MiB, or about 500 saves.
LOG_PAGES = 8_000
_FAULTS = {
    "is locked": (
        "another program is using the database (a server, a backup, a database browser). Wait until it is done, or stop"
        " it, and run the command again"
    ),
    "readonly": (
        "the database cannot be changed: its file, its folder or the disk is read-only. Scoring still works;"
        " commands that change the evaluation need a folder that can be written"
    ),
    "disk is full": "the disk is full, and nothing was changed. Free some space and run the command again",
}


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


# What SQLite keeps beside a database, by the ends of the names.
_JOURNALS = ("-wal", "-shm", "-journal")
# Set by --use-database: the processes that a server starts must know it too.
_MEANT = "QASSAY_USE_DATABASE"


@contextmanager
def using_named_database() -> Iterator[None]:
    """Use databases outside the folder that `qassay.toml` names (`--use-database`)."""
    before = os.environ.get(_MEANT)
    os.environ[_MEANT] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_MEANT]


def store_url(folder: Folder, configuration: Configuration) -> str | URL:
    """The address of the store of an evaluation, whether or not it exists.

    `qassay.toml` may be a stranger's: a database outside the folder is an error unless the person who runs the command
    means it, and nothing connects to it before.
    """
    address = named_database(configuration)
    place = folder.path / DATABASE
    is_meant = os.environ.get(VARIABLE) or os.environ.get(_MEANT)
    if not is_meant and not (_is_within(address, folder.path) if address else _all_inside(place, folder.path)):
        shown = f"database: {_shown(address)}" if address else f"{place}: what it links to"
        message = (
            f"{shown} is outside the folder, and is not opened because a file says so. To use it:"
            f" --use-database, or the same address in the variable {VARIABLE}"
        )
        raise InputError(Problem("configuration", message, CONFIGURATION))
    return address or sqlite_url(place)


def _is_within(address: str, folder: Path) -> bool:
    """Whether an address is that of a SQLite file in the folder."""
    try:
        url = make_url(address)
    except ArgumentError:
        return False
    if url.get_backend_name() != "sqlite" or not url.database or url.query or url.host:
        return False
    return _all_inside(Path(url.database), folder)


def _all_inside(database: Path, folder: Path) -> bool:
    """Whether a SQLite file and its journals, which SQLite writes over, are in the folder and do not link out of it."""
    return all(stays_inside(database.with_name(database.name + end), folder) for end in ("", *_JOURNALS))


def _shown(address: str) -> str:
    """An address without its password."""
    try:
        return make_url(address).render_as_string(hide_password=True)
    except ArgumentError:
        return "the address"


def sqlite_url(path: Path) -> URL:
    """The address of a SQLite file, whatever characters its path contains."""
    return URL.create("sqlite", database=str(path.resolve()))


def open_store(path: Path | str | Folder, *, create: bool = False) -> Store:
    """Open the store of the evaluation in a folder, its schema brought up to date; with `create`, made where absent.

    A database that is named may be another evaluation's: that is an error, since either may be meant.
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
    """Open the database that an evaluation names, whatever it contains; its schema is brought up to date."""
    with connected(folder, configuration) as engine:
        migrate(engine)
    return Store(engine)


@contextmanager
def connected(folder: Folder, configuration: Configuration) -> Iterator[Engine]:
    """An engine for the database of an evaluation; closed again where the database cannot be used."""
    engine = connect(store_url(folder, configuration))
    try:
        yield engine
    except BaseException as error:
        engine.dispose()
        if not isinstance(error, DBAPIError):
            raise
        raise InputError(Problem("configuration", database_fault(error), folder.name())) from None


def database_fault(error: DBAPIError) -> str:
    """The message of a database that refused, with advice."""
    reason = (str(error.orig).strip().splitlines() or [type(error.orig).__name__])[0]
    for sign, message in _FAULTS.items():
        if sign in reason:
            return message
    return f"the database cannot be used: {reason}"


def _check_owner(store: Store, folder: Folder, configuration: Configuration) -> None:
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
        hint = f". Install its driver: {install_line('postgres')}" if isinstance(error, ImportError) else ""
        raise InputError(Problem("configuration", f"database: {error}{hint}", "qassay.toml")) from None
    message = f"database: {parsed.get_backend_name()} is not served; it is sqlite or postgresql+psycopg"
    raise InputError(Problem("configuration", message, "qassay.toml"))


def _sqlite(url: str | URL) -> Engine:
    url, writable = _opened_as(make_url(url))
    engine = create_engine(
        url,
        # More connections than a server has threads: a request never waits for one that another request uses.
        poolclass=QueuePool,
        pool_size=20,
        max_overflow=60,
        connect_args={"check_same_thread": False, "timeout": BUSY_MILLISECONDS / 1000},
    )

    @event.listens_for(engine, "do_connect")
    def _private(*_: object) -> None:
        """A new file is for this user alone, and its journals with it: SQLite gives them the same permissions."""
        place = engine.url.database
        if place and place != ":memory:" and not place.startswith("file:") and not Path(place).exists():
            with suppress(OSError):  # SQLite says what is wrong
                os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))

    @event.listens_for(engine, "connect")
    def _prepare(raw: Any, _: object) -> None:
        raw.isolation_level = None  # transactions begin where we say, not where the driver guesses
        if writable:
            _write_ahead(raw)
        for pragma in (
            *("synchronous = FULL", "foreign_keys = ON", f"busy_timeout = {BUSY_MILLISECONDS}"),
            f"wal_autocheckpoint = {LOG_PAGES}",
        ):
            raw.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("writes", False) else "BEGIN")

    return engine


def _opened_as(url: URL) -> tuple[URL, bool]:
    """The address of a SQLite file, and whether it can be written.

    A store in a folder that cannot be written is read as it is: SQLite would have to make a file beside it.
    """
    if not url.database or url.database == ":memory:" or url.query:
        return url, True
    path = Path(url.database)
    if not path.exists() or (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        return url, True
    log = path.with_name(path.name + "-wal")
    how = {"mode": "ro", "uri": "true"}
    if not log.exists() or log.stat().st_size == 0:
        how["immutable"] = "1"
    return URL.create("sqlite", database=path.resolve().as_uri(), query=how), False


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
