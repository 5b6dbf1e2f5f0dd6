"""Backups: made while people work, restored elsewhere, and nothing lost on the way."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, func, insert, select, text

from acting import act
from qassay.errors import InputError
from qassay.formats.folder import Folder
from qassay.formats.times import now
from qassay.store.backups import back_up, check_backup, default_place, restore
from qassay.store.engine import Store, connect, open_store, sqlite_url
from qassay.store.folder.importing import import_folder
from qassay.store.judging.judgments import append
from qassay.store.schema import account, invitation, item, judgment, metadata, session, token

Serve = Callable[[Path], Store]
Scores = Callable[[Path], dict[str, Any]]
ITEM = {"question": "1.1", "doc": "D1", "text": "1901"}


def fill(store: Store) -> None:
    """What only a served evaluation has: people, a session, an item, a judgment that was undone."""
    with store.write() as connection:
        number = connection.execute(
            insert(account).values(name="Ann", role="assessor", created=now()).returning(account.c.id)
        ).scalar_one()
        moments = {"created": now(), "seen": now(), "expires": "2999"}
        connection.execute(insert(session).values(digest="d", account=number, **moments))
        connection.execute(insert(item).values(id=2**51, question="1.1", kind="item", ordinal=1, body="{}"))
        for label in "XU":
            row = {**ITEM, "judgment": label, "assessor": "Ann"}
            append(act(connection, key=f"key-{label}", account=number), "first", "item", row)
        append(act(connection, account=number), "second", "item", {**ITEM, "judgment": "R"})
        append(act(connection), "second", "item", ITEM, undone=True)


def everything(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables; sessions are ended by a restore and the evaluation may be another."""

    def rows(connection: Any, table: Table) -> list[tuple[Any, ...]]:
        columns = [column for column in table.c if column is not session.c.ended]
        rows = [tuple(row) for row in connection.execute(select(*columns))]
        return sorted((row for row in rows if row[0] != "evaluation"), key=repr)

    with store.read() as connection:
        return {table.name: rows(connection, table) for table in metadata.sorted_tables}


def elsewhere(folder: Path, tmp_path: Path) -> Path:
    """A new folder with the configuration alone, and a store in a file."""
    place = tmp_path / "elsewhere"
    place.mkdir()
    lines = (folder / "qassay.toml").read_text().splitlines(keepends=True)
    (place / "qassay.toml").write_text("".join(line for line in lines if not line.startswith("database")))
    return place


def test_a_backup_restored_elsewhere_holds_everything(
    small: Path, served: Serve, scores: Scores, tmp_path: Path
) -> None:
    store = served(small)
    fill(store)
    back_up(store, tmp_path / "backup.db")
    place = elsewhere(small, tmp_path)
    assert restore(Folder(place), tmp_path / "backup.db") is None
    restored = open_store(place)
    assert everything(restored) == everything(store)
    assert scores(place) == scores(small)
    with restored.read() as connection:
        assert connection.execute(select(func.count()).where(session.c.ended.is_(None))).scalar_one() == 0
    restored.close()


def test_a_backup_goes_into_postgresql(small: Path, postgres_url: str, scores: Scores, tmp_path: Path) -> None:
    store = open_store(small, create=True)
    import_folder(store, Folder(small))
    fill(store)
    back_up(store, tmp_path / "backup.db")
    place = elsewhere(small, tmp_path)
    (place / "qassay.toml").write_text(f'database = "{postgres_url}"\n' + (place / "qassay.toml").read_text())
    assert restore(Folder(place), tmp_path / "backup.db") is None
    served = open_store(place)
    assert everything(served) == everything(store)
    assert scores(place) == scores(small)
    with served.write() as connection:  # numbers go on where the backup's end
        saved = append(act(connection), "first", "item", {**ITEM, "judgment": "R"})
        assert (
            saved.id
            == 1 + connection.execute(select(func.max(judgment.c.id)).where(judgment.c.id != saved.id)).scalar_one()
        )
    served.close()
    store.close()


def test_a_database_server_is_overwritten_only_on_request(small: Path, postgres_url: str, tmp_path: Path) -> None:
    (small / "qassay.toml").write_text(f'database = "{postgres_url}"\n' + (small / "qassay.toml").read_text())
    store = open_store(small, create=True)
    import_folder(store, Folder(small))
    back_up(store, tmp_path / "backup.db")
    fill(store)
    before = everything(store)
    with pytest.raises(InputError, match="in use by 1 others; stop the server"):
        restore(Folder(small), tmp_path / "backup.db")
    store.close()
    with pytest.raises(InputError, match=r"already contains an evaluation\. To replace it: force=True"):
        restore(Folder(small), tmp_path / "backup.db")
    moved = restore(Folder(small), tmp_path / "backup.db", force=True)
    assert moved == small / "qassay.db.before-restore-1"
    store = open_store(small)
    assert everything(store)["account"] == []
    store.close()
    restore(Folder(small), moved, force=True)
    store = open_store(small)
    assert everything(store) == before
    store.close()


def test_the_overwritten_store_is_kept(small: Path, tmp_path: Path) -> None:
    store = open_store(small, create=True)
    import_folder(store, Folder(small))
    back_up(store, tmp_path / "backup.db")
    fill(store)
    before = everything(store)
    store.close()
    moved = [restore(Folder(small), tmp_path / "backup.db") for _ in range(2)]
    assert moved == [small / f"qassay.db.before-restore-{number}" for number in (1, 2)]
    assert moved[0] is not None
    restore(Folder(small), moved[0])
    store = open_store(small)
    assert everything(store) == before
    store.close()
    assert not list(small.glob(".part-*"))


def test_nothing_is_restored_while_somebody_uses_the_store(small: Path, tmp_path: Path) -> None:
    store = open_store(small, create=True)
    import_folder(store, Folder(small))
    back_up(store, tmp_path / "backup.db")
    fill(store)
    before = everything(store)
    with pytest.raises(InputError, match=r"the store is in use; stop the server"):
        restore(Folder(small), tmp_path / "backup.db")
    assert everything(store) == before
    assert not list(small.glob("*before-restore*"))
    store.close()


def test_another_process_that_serves_is_noticed(small: Path, tmp_path: Path) -> None:
    store = open_store(small, create=True)
    import_folder(store, Folder(small))
    back_up(store, tmp_path / "backup.db")
    store.close()
    code = (
        "import sys; from qassay.store.engine import open_store, is_alive; "
        "store = open_store(sys.argv[1]); is_alive(store); print('ready', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(small)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == b"ready\n"
        with pytest.raises(InputError, match=r"the store is in use; stop the server"):
            restore(Folder(small), tmp_path / "backup.db")
        other.stdin.close()
    assert restore(Folder(small), tmp_path / "backup.db") is not None


def test_a_backup_holds_one_moment_while_others_write(small: Path, served: Serve, tmp_path: Path) -> None:
    """Every save is two rows of one transaction: a backup has both or neither, and all that was answered before."""
    store = served(small)
    answered = 0
    stop = threading.Event()
    failures: list[Exception] = []

    def save() -> None:
        nonlocal answered
        try:
            while not stop.is_set():
                with store.write() as connection:
                    for part in "ab":
                        row = {**ITEM, "text": f"{answered}-{part}", "judgment": "W"}
                        append(act(connection), "busy", "item", row)
                answered += 1
        except Exception as error:  # noqa: BLE001  # told in the main thread
            failures.append(error)

    writer = threading.Thread(target=save)
    writer.start()
    try:
        for number in range(5):
            before = answered
            path = tmp_path / f"{number}.db"
            back_up(store, path)
            with closing(sqlite3.connect(path)) as database:
                ((rows,),) = database.execute("SELECT count(*) FROM judgment WHERE \"set\" = 'busy'")
            assert rows % 2 == 0
            assert rows >= 2 * before
    finally:
        stop.set()
        writer.join()
    assert failures == []
    assert answered > 0


def test_a_backup_is_one_private_file_and_replaces_none(small: Path, served: Serve, tmp_path: Path) -> None:
    store = served(small)
    place = default_place(Folder(small))
    back_up(store, place)
    assert [path.name for path in place.parent.iterdir()] == [place.name]
    assert place.stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError, match="is there already"):
        back_up(store, place)


@pytest.mark.parametrize("damage", ["absent", "text", "other", "torn"])
def test_unsound_backups_are_refused(damage: str, small: Path, tmp_path: Path) -> None:
    store = open_store(small, create=True)
    import_folder(store, Folder(small))
    fill(store)
    path = tmp_path / "backup.db"
    back_up(store, path)
    before = everything(store)
    store.close()
    if damage == "absent":
        path.unlink()
    elif damage == "text":
        path.write_text("no database" * 1000)
    elif damage == "other":
        path.unlink()
        with closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE customers (id INTEGER)")
    else:
        data = bytearray(path.read_bytes())
        data[4096 * 3 : 4096 * 9] = bytes(4096 * 6)
        path.write_bytes(data)
    with pytest.raises(InputError, match=r"is not there|is not a backup|but no backup|is damaged"):
        restore(Folder(small), path)
    store = open_store(small)
    assert everything(store) == before
    store.close()


def test_a_backup_of_a_newer_release_is_refused(small: Path, tmp_path: Path) -> None:
    store = open_store(small, create=True)
    back_up(store, tmp_path / "backup.db")
    store.close()
    engine = connect(sqlite_url(tmp_path / "backup.db"))
    with engine.begin() as connection:
        connection.execute(text("UPDATE qassay_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(InputError, match="made by a newer Qassay"):
        restore(Folder(small), tmp_path / "backup.db")


def test_folders_of_any_name_can_be_backed_up(small: Path, tmp_path: Path, scores: Scores) -> None:
    folder = Path(shutil.copytree(small, tmp_path / "a?b%20c#d é"))
    before = scores(folder)
    store = open_store(folder, create=True)
    import_folder(store, Folder(folder))
    back_up(store, folder / "b?#%41.db")
    store.close()
    check_backup(folder / "b?#%41.db")
    restore(Folder(folder), folder / "b?#%41.db")
    assert scores(folder) == before


def test_nobody_gets_in_with_what_was_revoked_or_used_since(small: Path, tmp_path: Path) -> None:
    store = open_store(small, create=True)
    import_folder(store, Folder(small))
    fill(store)
    with store.write() as connection:
        who = connection.execute(select(account.c.id)).scalar_one()
        connection.execute(insert(token).values(digest="t", account=who, name="script", created=now()))
        link = {"role": "organiser", "created": now(), "expires": "2999"}
        connection.execute(insert(invitation).values(digest="open", **link))
        connection.execute(insert(invitation).values(digest="used", used="2001", **link))
    back_up(store, tmp_path / "backup.db")
    store.close()
    restore(Folder(small), tmp_path / "backup.db")
    store = open_store(small)
    with store.read() as connection:
        assert connection.execute(select(token.c.ended)).scalar_one() is not None
        links = {row.digest: row.expires for row in connection.execute(select(invitation))}
        assert links["open"] <= now()
        assert links["used"] == "2999"
    store.close()


def test_a_store_elsewhere_is_replaced_from_beside_it(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is renamed into its place: that works within one file system only."""
    store = open_store(small, create=True)
    import_folder(store, Folder(small))
    back_up(store, tmp_path / "backup.db")
    store.close()
    place = elsewhere(small, tmp_path)
    target = tmp_path / "disk" / "deep" / "store.db"
    toml = place / "qassay.toml"
    toml.write_text(f'database = "sqlite:///{target}"\n' + toml.read_text())
    monkeypatch.setenv("QASSAY_DATABASE", f"sqlite:///{target}")
    made: list[Path] = []
    real = tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", lambda **how: made.append(Path(how["dir"])) or real(**how))
    assert restore(Folder(place), tmp_path / "backup.db") is None
    assert target.is_file()
    assert set(made) == {target.parent}
    assert list(target.parent.iterdir()) == [target]
