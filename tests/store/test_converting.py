"""Stores and backups that were made before the first release, converted by the script of the repository."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from qassay.formats.folder import DATABASE, Folder
from qassay.store.backups import back_up, restore
from qassay.store.engine import open_store
from qassay.store.folder.importing import import_folder
from qassay.store.schema import KEPT_BY_TRIGGERS, metadata
from qassay.store.versions import VERSION_TABLE

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "convert_store.py"


def convert(old: Path, new: Path) -> str:
    """Run the script; it needs the history of the repository."""
    done = subprocess.run([sys.executable, SCRIPT, old, new], capture_output=True, text=True, check=False)
    if "history of the repository is needed" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(path: Path) -> dict[str, list[Any]]:
    """The rows of all tables that no trigger fills."""
    names = [table.name for table in metadata.sorted_tables if table not in KEPT_BY_TRIGGERS]
    with closing(sqlite3.connect(path)) as database:
        return {name: sorted(database.execute(f'SELECT * FROM "{name}"'), key=repr) for name in names}


@pytest.mark.slow
def test_a_store_and_a_backup_are_converted_in_a_copy(
    small: Path, scores: Callable[[Path], dict[str, Any]], tmp_path: Path
) -> None:
    with closing(open_store(small, create=True)) as store:
        import_folder(store, Folder(small))
        back_up(store, tmp_path / "backup.db")
    expected = scores(small), rows(small / DATABASE)
    for path in (small / DATABASE, tmp_path / "backup.db"):  # the tables are those of the last version before
        with closing(sqlite3.connect(path)) as database:
            database.execute(f"UPDATE {VERSION_TABLE} SET version_num = '0005'")
            database.commit()
    before = (small / DATABASE).read_bytes(), (tmp_path / "backup.db").read_bytes()
    assert "and the scores of before" in convert(small, tmp_path / "new")
    assert (scores(tmp_path / "new"), rows(tmp_path / "new" / DATABASE)) == expected
    convert(tmp_path / "backup.db", tmp_path / "converted.db")
    assert rows(tmp_path / "converted.db") == expected[1]
    restore(Folder(tmp_path / "new"), tmp_path / "converted.db")
    assert scores(tmp_path / "new") == expected[0]
    assert before == ((small / DATABASE).read_bytes(), (tmp_path / "backup.db").read_bytes())
