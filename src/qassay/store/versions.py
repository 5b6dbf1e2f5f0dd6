"""The versions of the store: which one a database has, how an older one is brought up to date, what a stranger put in.

Every version of the tables is a file in `migrations/versions`. A store that is up to date is recognised by one short
query, so that opening it costs nothing; the migrations themselves are loaded only where there is something to do.
"""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, inspect, select, text

from qassay.errors import InputError, Problem

# The version that this release reads and writes: the name of the last file in migrations/versions.
HEAD = "0100"
# The version of the first release; smaller ones are of stores that were made before it.
FIRST = "0100"
VERSION_TABLE = "qassay_version"
# Any number of our own: the connection that has this lock on PostgreSQL is the one that migrates.
_LOCK = 7_117_400_101


def migrate(engine: Engine) -> None:
    """Bring the store to the present version, in one transaction; an empty database becomes an empty store.

    A store of a newer release, or of before the first one, is refused. On SQLite the file is copied before an older
    store is changed, to `qassay.db.before-NEW-was-OLD`, and the copy stays.
    """
    with engine.connect() as connection:
        version = store_version(connection)
    if version == HEAD:
        return
    if version is not None and engine.dialect.name == "sqlite":
        _copy(engine, version)
    with engine.connect() as connection:
        connection.execution_options(writes=True)  # SQLite: the write lock comes first
        with connection.begin():
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
            before = store_version(connection)
            if before != HEAD:  # nobody else was faster
                _upgrade(connection)


def store_version(connection: Connection, place: str | None = None) -> str | None:
    """The version of the store in this database; None where the database is empty.

    A store of a later release is refused, one that was made before the first release, and a database with other tables.
    """
    place = place or _name(connection)
    tables = inspect(connection).get_table_names()
    if VERSION_TABLE in tables:
        version: str = connection.execute(select(text("version_num")).select_from(text(VERSION_TABLE))).scalar_one()
        if version > HEAD:
            message = (
                f"the store has version {version}, made by a newer Qassay; this one knows versions up to {HEAD}:"
                " use the newer Qassay, or restore a backup of that time"
            )
            raise InputError(Problem("configuration", message, place))
        if version < FIRST:
            message = (
                f"the store has version {version}, of before the first release, and stays as it is. Make a converted"
                " copy, in a checkout of Qassay: python scripts/convert_store.py OLD NEW"
            )
            raise InputError(Problem("configuration", message, place))
        return version
    if tables:
        names = ", ".join(sorted(tables)[:3])
        message = f"contains tables that are not of Qassay ({names}); give the evaluation a database of its own"
        raise InputError(Problem("configuration", message, place))
    return None


def _name(connection: Connection) -> str:
    """How messages call the database: the file's name, or the address without its password."""
    url = connection.engine.url
    return Path(url.database).name if url.database and url.get_backend_name() == "sqlite" else str(url)


def _copy(engine: Engine, version: str) -> None:
    """A copy of the SQLite file as it is before the migration; an earlier copy is never overwritten."""
    if not engine.url.database or engine.url.database == ":memory:":
        return
    source = Path(engine.url.database)
    target = first = source.with_name(f"{source.name}.before-{HEAD}-was-{version}")
    number = 1
    while target.exists():
        number += 1
        target = first.with_name(f"{first.name}-{number}")
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))  # accounts and judgments are in it
    try:
        with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
    except BaseException:
        target.unlink(missing_ok=True)  # half a copy is worse than none
        raise


def _upgrade(connection: Connection, to: str = "head") -> None:
    """Run the migrations that are missing, on this connection and in its transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "qassay.store:migrations")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def foreign_objects(connection: Connection, version: str) -> list[str]:
    """Tables, views, indexes and triggers of a SQLite store that Qassay of this version did not make, and missing ones.

    Anyone who can put a trigger or a view into a file can have it act whenever the store is used.
    """
    plain = create_engine("sqlite://")
    try:
        with plain.begin() as fresh:
            _upgrade(fresh, version)
            expected = _objects(fresh)
    finally:
        plain.dispose()
    present = _objects(connection)
    differing = {name for name in {*expected, *present} if expected.get(name) != present.get(name)}
    return sorted(f"{kind} {name}" for kind, name in differing)


def _objects(connection: Connection) -> dict[tuple[str, str], str]:
    """The structure of a SQLite database: the statement that made each object, in one spelling."""
    rows = connection.exec_driver_sql(
        "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    )
    return {(kind, name): re.sub(r"[\s\"]+", "", sql or "").lower() for kind, name, sql in rows}
