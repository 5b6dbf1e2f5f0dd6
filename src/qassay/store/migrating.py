"""The version of a store, and the way from an older one to the present.

Every version is a file in `migrations/versions`. A store that is up to date is recognised by one short query, so that
opening it costs nothing; the migrations themselves are loaded only where there is something to do.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Engine, column, func, inspect, select, table

from qassay.errors import InputError, Problem

# The version that this release reads and writes: the name of the last file in migrations/versions.
HEAD = "0003"
VERSION_TABLE = "qassay_version"
# Any number of our own: whoever holds it on PostgreSQL is the one that migrates.
_LOCK = 7_117_400_101


def migrate(engine: Engine) -> None:
    """Bring the store to the present version, in one transaction; an empty database becomes an empty store.

    A store of a newer release is refused. On SQLite the file is copied before an older store is changed, to
    `qassay.db.before-NEW-was-OLD`, and the copy stays.
    """
    with engine.connect() as connection:
        version = store_version(connection)
    if version == HEAD:
        return
    if version is not None and engine.dialect.name == "sqlite":
        _copy(engine, version)
    with engine.connect() as connection:
        connection.execution_options(writes=True)  # SQLite: the write lock comes first (engine.py)
        with connection.begin():
            if connection.dialect.name == "postgresql":
                connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            if store_version(connection) != HEAD:  # nobody else was faster
                _upgrade(connection)


def store_version(connection: Connection) -> str | None:
    """The version of the store in this database; None where the database is empty.

    A store of a later release is refused, and so is a database that is somebody else's.
    """
    tables = inspect(connection).get_table_names()
    if VERSION_TABLE in tables:
        version: str = connection.execute(select(column("version_num")).select_from(table(VERSION_TABLE))).scalar_one()
        if version > HEAD:
            message = (
                f"the store has version {version}, made by a newer Qassay; this one knows versions up to {HEAD}:"
                " use the newer Qassay, or restore a backup of that time"
            )
            raise InputError(Problem("configuration", message, _name(connection)))
        return version
    if tables:
        shown = ", ".join(sorted(tables)[:3])
        message = f"holds tables that are not of Qassay ({shown}); give the evaluation a database of its own"
        raise InputError(Problem("configuration", message, _name(connection)))
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
    target = source.with_name(f"{source.name}.before-{HEAD}-was-{version}")
    number = 1
    while target.exists():
        number += 1
        target = source.with_name(f"{source.name}.before-{HEAD}-was-{version}-{number}")
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)


def _upgrade(connection: Connection) -> None:
    """Run the migrations that are missing, on this connection and in its transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "qassay.store:migrations")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
