"""Make a copy of an evaluation, or of a backup, that was stored before the first release, for the code of today.

    python scripts/convert_store.py OLD NEW

OLD is a folder, or a backup made by `qassay backup`; it is not changed. NEW is made, and must not exist. The last code
before the first release, which is taken from the history of this repository, brings a copy of the store to the last
version of then; its rows are written into a new store, table by table. The result is kept only if every table has as
many rows, and if `score --json` prints the same before, by the code of then, and after, with every judgment set. An
evaluation in a database server becomes one with its store in the folder; `qassay backup` and `qassay restore` bring it
into a server again.

It stays until version 0.1.0 is released.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from sqlalchemy import func, insert, select, text

from qassay.formats.folder import DATABASE, named_database, open_folder, read_configuration
from qassay.formats.links import CONFIGURATION
from qassay.store.engine import connect, sqlite_url
from qassay.store.schema import KEPT_BY_TRIGGERS, metadata
from qassay.store.versions import VERSION_TABLE, migrate

ROOT = Path(__file__).resolve().parent.parent
# The last commit with the versions before the first release, and the last of these versions.
LAST_COMMIT = "09c2680007b1b5a8d453ed8ed6a0c597c2125e62"
LAST_VERSION = "0005"
RUN = "import sys; from qassay.cli import main; sys.exit(main(sys.argv[1:]))"
UPGRADE = """
import sys
from pathlib import Path
from qassay.store.engine import connect, sqlite_url
from qassay.store.versions import migrate
migrate(connect(sqlite_url(Path(sys.argv[1]))))
"""
LENIENT = ("--unjudged", "wrong", "--missing", "zero")


class ConversionError(Exception):
    """What keeps a store from being converted."""


def code_of_then(place: Path) -> Path:
    """Unpack the sources of the last commit before the first release."""
    packed = subprocess.run(["git", "-C", ROOT, "archive", LAST_COMMIT, "src"], capture_output=True, check=False)
    if packed.returncode:
        raise ConversionError(f"the history of the repository is needed: {packed.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(place, filter="data")
    return place / "src"


def run(sources: Path, program: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program with the package of some sources."""
    environment = {**os.environ, "PYTHONPATH": str(sources)}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def succeed(sources: Path, program: str, *arguments: str | Path) -> None:
    """Run a program that must not fail."""
    if (done := run(sources, program, *arguments)).returncode:
        raise ConversionError(done.stderr.strip().splitlines()[-1])


def scores(sources: Path, folder: Path, sets: Sequence[str]) -> list[object]:
    """What `score --json` prints, as it is and leniently with every judgment set."""
    options = [(), *(("--key", name, *LENIENT) for name in sets)]
    outputs = [run(sources, RUN, "score", folder, "--json", *option).stdout for option in options]
    return [json.loads(output) if output else None for output in outputs]


def copy_database(source: Path, target: Path) -> None:
    """Copy a SQLite file, which others may be using."""
    address = f"{source.resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)


def write_anew(source: Path, target: Path) -> int:
    """Write the rows of a store of the last version before into a new store; how many there are."""
    old, new = connect(sqlite_url(source)), connect(sqlite_url(target))
    try:
        migrate(new)
        with old.connect() as origin, new.begin() as copy:
            for table in metadata.sorted_tables:
                rows = [dict(zip(table.c.keys(), row, strict=True)) for row in origin.execute(select(table))]
                if rows and table not in KEPT_BY_TRIGGERS:
                    copy.execute(insert(table), rows)
        with old.connect() as origin, new.connect() as copy:
            counts = {
                table.name: [c.execute(select(func.count()).select_from(table)).scalar_one() for c in (origin, copy)]
                for table in metadata.sorted_tables
            }
    finally:
        old.dispose()
        new.dispose()
    differing = [f"{name} ({before}, {after})" for name, (before, after) in counts.items() if before != after]
    if differing:
        raise ConversionError(f"tables with other numbers of rows before and after: {', '.join(differing)}")
    return sum(after for _, after in counts.values())


def check_server(address: str) -> None:
    """Stop where the code of then would change the database of a server by opening it."""
    engine = connect(address)
    with engine.connect() as connection:
        version = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one()
    engine.dispose()
    if version != LAST_VERSION:
        raise ConversionError(f"the database has version {version}; only {LAST_VERSION} is converted from a server")


def convert_database(before: Path, source: Path, target: Path, work: Path) -> int:
    """Convert a SQLite file into a new one."""
    copy_database(source, work / "store.db")
    succeed(before, UPGRADE, work / "store.db")
    return write_anew(work / "store.db", target)


def convert_folder(before: Path, source: Path, target: Path, work: Path) -> int:
    """Convert an evaluation: its files as they are, its store into a new one in the folder."""
    address = named_database(read_configuration(open_folder(source)))
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(f"{DATABASE}*"))
    database = source / DATABASE
    if address is not None:
        database = work / "backup.db"
        check_server(address)
        succeed(before, RUN, "backup", source, "--to", database, "--use-database")
        configuration = target / CONFIGURATION
        lines = configuration.read_text(encoding="utf-8")
        configuration.write_text(re.sub(r"(?m)^\s*database\s*=.*\n?", "", lines), encoding="utf-8")
    if not database.exists():
        return 0
    copy_database(database, target / DATABASE)
    with closing(sqlite3.connect(target / DATABASE)) as copy:
        sets = [name for (name,) in copy.execute('SELECT DISTINCT "set" FROM judgment ORDER BY 1')]
    scored = scores(before, target, sets)
    for path in target.glob(f"{DATABASE}*"):
        path.unlink()
    rows = convert_database(before, database, target / DATABASE, work)
    if scores(ROOT / "src", target, sets) != scored:
        raise ConversionError("score --json differs after the conversion")
    return rows


def main(arguments: Sequence[str]) -> int:
    """Convert, and say how many rows the new store has."""
    if len(arguments) != 2:
        print(__doc__)
        return 2
    source, target = (Path(argument).resolve() for argument in arguments)
    if target.exists() or not source.exists():
        print(f"error: {target if target.exists() else source}: {'exists' if target.exists() else 'does not exist'}")
        return 2
    convert = convert_folder if source.is_dir() else convert_database
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        try:
            rows = convert(code_of_then(work), source, target, work)
        except BaseException as error:
            shutil.rmtree(target, ignore_errors=True)
            target.unlink(missing_ok=True)
            if not isinstance(error, ConversionError):
                raise
            print(f"error: {error}", file=sys.stderr)
            return 1
    print(f"{target}: {rows} rows, and the scores of before" if source.is_dir() else f"{target}: {rows} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
