"""Backups of a store: one SQLite file, whatever the store is kept in.

A backup is made while people work: it is the store at one moment. It is checked before it is given its name.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, func, insert, make_url, select, update
from sqlalchemy.exc import DBAPIError

from qassay.errors import InputError, Problem, Remedy, few
from qassay.formats.folder import DATABASE, Configuration, Folder, read_configuration
from qassay.formats.links import refuse_way_out
from qassay.formats.times import now
from qassay.store.engine import Store, connect, open_database, sqlite_url, store_url
from qassay.store.people import end
from qassay.store.schema import KEPT_BY_TRIGGERS, invitation, metadata, session, token
from qassay.store.settings import EVALUATION, put_setting
from qassay.store.versions import foreign_objects, migrate, store_version

# Rows copied at once.
_MANY = 2_000


def default_place(folder: Folder) -> Path:
    """The default file of a backup: named by the moment, so that none replaces another."""
    moment = now().replace("-", "").replace(":", "").replace(".", "")
    return folder.path / "backups" / f"qassay-{moment}.db"


def back_up(store: Store, target: Path) -> None:
    """Copy the store into a new file; people who work with it meanwhile do not wait."""
    if target.exists():
        raise InputError(Problem("configuration", "is there already; name another file", str(target)))
    target.parent.mkdir(parents=True, exist_ok=True)
    with _part(target) as part:
        if store.is_file:
            _copy_file(Path(store.engine.url.database or ""), part)
        else:
            _copy_tables_out(store, part)
        check_backup(part)
        part.chmod(0o600)  # accounts and judgments are in it
        _to_disk(part)
        os.link(part, target)  # unlike a rename, this never replaces a file


def check_backup(path: Path) -> None:
    """Stop at a file that is not a sound backup."""
    if not refuse_way_out(path).is_file():
        raise InputError(Problem("configuration", "is not there", str(path)))
    try:
        with closing(sqlite3.connect(_read_only(path), uri=True)) as database:
            faults = [row[0] for row in database.execute("PRAGMA integrity_check(5)") if row[0] != "ok"]
            faults += [f"a row of {row[0]} points at nothing" for row in database.execute("PRAGMA foreign_key_check")]
            tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # names in a damaged schema may not be text
        raise InputError(Problem("configuration", f"is not a backup of a store: {error}", str(path))) from None
    if not tables >= {"question", "judgment"}:
        raise InputError(Problem("configuration", "is a database, but no backup of a store", str(path)))
    if faults:
        raise InputError(Problem("configuration", f"is damaged: {faults[0]}", str(path)))


def restore(folder: Folder, backup: Path, *, force: bool = False) -> Path | None:
    """Put a backup in the place of the store and return where the store that was there is kept, if there was one.

    Nobody may be using the store. A backup of an earlier version is brought up to date. All sessions and tokens are
    ended, and invitations that were open expire: some may have been ended, or used, since. A database server's store is
    replaced only where it is empty, or with `force`.
    """
    check_backup(backup)
    configuration = read_configuration(folder)
    url = make_url(store_url(folder, configuration))
    is_file = url.get_backend_name() == "sqlite"
    place = Path(url.database or "") if is_file else folder.path / DATABASE
    place.parent.mkdir(parents=True, exist_ok=True)
    with _part(place) as part:
        _copy_file(backup, part)
        engine = connect(sqlite_url(part))
        try:
            _refuse_foreign(engine, backup)
            migrate(engine)
            with engine.begin() as connection:
                _end_access(connection)
                put_setting(connection, EVALUATION, configuration.name)
            if not is_file:
                return _into_server(folder, configuration, engine, force=force)
        finally:
            engine.dispose()
        _alone(part)
        _to_disk(part)
        return _into_file(place, part)


def _refuse_foreign(engine: Engine, backup: Path) -> None:
    """Stop at a backup with tables, views or triggers that Qassay did not make: they would act in the store."""
    try:
        with engine.connect() as connection:
            version = store_version(connection, str(backup))
            foreign = foreign_objects(connection, version) if version is not None else []
    except DBAPIError as error:
        raise InputError(Problem("configuration", f"is a damaged backup: {error.orig}", str(backup))) from None
    if foreign:
        message = f"is not a backup that Qassay made: it has, or lacks, {few(foreign, 3)}. Restore another backup"
        raise InputError(Problem("configuration", message, str(backup)))


def _end_access(connection: Connection) -> None:
    """Revoke sessions, tokens and invitations, which may have changed since the backup."""
    for table in (session, token):
        end(connection, table)
    at = now()
    usable = (invitation.c.used.is_(None), invitation.c.expires > at)
    connection.execute(update(invitation).where(*usable).values(expires=at))


def _into_file(place: Path, part: Path) -> Path | None:
    """Put a file in the place of the store's; the old one keeps a name."""
    old_file = None
    part.chmod(0o600)
    if place.exists():
        _alone(place)
        old_file = _free_name(place)
        os.link(place, old_file)
    for rest in ("-wal", "-shm"):  # left by the earlier store: beside another file they would damage it
        place.with_name(place.name + rest).unlink(missing_ok=True)
    part.replace(place)
    return old_file


def _into_server(folder: Folder, configuration: Configuration, source: Engine, *, force: bool) -> Path | None:
    """Fill the tables of a database server, in one transaction, from a SQLite file of the same version."""
    store = open_database(folder, configuration)
    old_file = None
    try:
        with store.write() as connection, source.connect() as origin:
            _refuse_company(connection, folder)
            if _holds_something(connection):
                if not force:
                    message, ways = (
                        "the database already contains an evaluation",
                        (Remedy("force", True, "To replace it"),),
                    )
                    raise InputError(Problem("configuration", message, folder.name(), way_out=ways))
                old_file = _free_name(folder.path / DATABASE)
                back_up(store, old_file)
            for table in reversed(metadata.sorted_tables):
                connection.execute(table.delete())
            _copy_tables(origin, connection)
            for table in metadata.sorted_tables:
                _continue_numbers(connection, table.name)
    except DBAPIError as error:
        message = f"the database does not take the backup: {str(error.orig).strip().splitlines()[0]}"
        raise InputError(Problem("configuration", message, folder.name())) from None
    finally:
        store.close()
    return old_file


def _copy_file(source: Path, target: Path) -> None:
    """SQLite's own way to copy a database that is in use."""
    with closing(sqlite3.connect(_read_only(source), uri=True)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)
        new.execute("PRAGMA journal_mode = DELETE")  # one file, without others beside it


def _copy_tables_out(store: Store, target: Path) -> None:
    """Copy the tables of a database server into a new SQLite file, as they are at one moment."""
    engine = connect(sqlite_url(target))
    try:
        migrate(engine)
        with store.engine.connect() as origin, engine.begin() as copy:
            origin.execution_options(isolation_level="REPEATABLE READ")
            with origin.begin():
                _copy_tables(origin, copy)
    finally:
        engine.dispose()
    _alone(target)


def _copy_tables(origin: Connection, target: Connection) -> None:
    for table in metadata.sorted_tables:
        if table in KEPT_BY_TRIGGERS:  # which triggers fill from the others
            continue
        rows = origin.execution_options(yield_per=_MANY).execute(select(table))
        keys = table.columns.keys()
        for part in rows.partitions():
            target.execute(insert(table), [dict(zip(keys, row, strict=True)) for row in part])


def _continue_numbers(connection: Connection, table: str) -> None:
    """Rows came with their numbers: the next row continues from there."""
    columns = metadata.tables[table].c
    if "id" not in columns or columns["id"].type.python_type is not int:
        return
    sequence = connection.execute(select(func.pg_get_serial_sequence(table, "id"))).scalar()
    last = connection.execute(select(func.max(columns["id"]))).scalar()
    if sequence is not None and last is not None:
        connection.execute(select(func.setval(sequence, last)))


def _holds_something(connection: Connection) -> bool:
    return any(connection.execute(select(table).limit(1)).first() is not None for table in metadata.sorted_tables)


def _refuse_company(connection: Connection, folder: Folder) -> None:
    """Stop where anybody else is connected to the database: a server, most likely."""
    others = connection.exec_driver_sql(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    ).scalar_one()
    if others:
        message = f"the database is in use by {others} others; stop the server (qassay serve) first"
        raise InputError(Problem("configuration", message, folder.name()))


def _alone(path: Path) -> None:
    """Make one file of a SQLite database and its log, which needs the only connection to it."""
    try:
        with closing(sqlite3.connect(path, timeout=1.0)) as database:
            database.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError:
        message = "the store is in use; stop the server (qassay serve) first"
        raise InputError(Problem("configuration", message, path.name)) from None


def _free_name(place: Path) -> Path:
    number = 1
    while (path := place.with_name(f"{DATABASE}.before-restore-{number}")).exists():
        number += 1
    return path


def _read_only(path: Path) -> str:
    return f"{path.resolve().as_uri()}?mode=ro"


def _to_disk(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


@contextmanager
def _part(target: Path) -> Iterator[Path]:
    """A path beside the target for an incomplete file; for this user alone."""
    folder = Path(tempfile.mkdtemp(dir=target.parent, prefix=".part-"))
    try:
        yield folder / "store.db"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
