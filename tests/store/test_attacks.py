"""Attacks on a store and its surroundings (ASSESSING 6): a stranger's folder, others on the machine, a full disk."""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import zstandard

import qassay
from qassay.cli import VERBS, main
from qassay.collections import building, open_collection
from qassay.errors import InputError
from qassay.formats.folder import Folder
from qassay.formats.links import open_inside
from qassay.store import engine
from qassay.store.backups import back_up, restore
from qassay.store.engine import open_store
from qassay.store.folder.importing import import_folder


def fill(folder: Path) -> Path:
    """Make the store of an evaluation from its files, and close it."""
    with closing(open_store(folder, create=True)) as store:
        import_folder(store, Folder(folder))
    return folder / "qassay.db"


# ---- a stranger's qassay.toml ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["absolute", "parent", "link", "query", "server"])
def test_a_database_outside_the_folder_is_not_touched(
    small: Path, tmp_path: Path, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "elsewhere" / "victim.db"
    target.parent.mkdir()
    address = {
        "absolute": f"sqlite:///{target}",
        "parent": f"sqlite:///{small}/../elsewhere/victim.db",
        "link": f"sqlite:///{small}/inside.db",
        "query": f"sqlite:///file:{target}?uri=true",
        "server": "postgresql+psycopg://ada:hush@192.0.2.1/victim",
    }[how]
    if how == "link":
        (small / "inside.db").symlink_to(target)
    toml = small / "qassay.toml"
    toml.write_text(f'database = "{address}"\n' + toml.read_text())
    for command in (
        ["score", str(small)],
        ["check", str(small)],
        ["backup", str(small)],
        ["serve", str(small), "--port", "0"],
    ):
        assert main(command) == 1
        shown = capsys.readouterr().err
        assert "outside the folder" in shown
        assert "--use-database" in shown
        assert "hush" not in shown
    assert list(target.parent.iterdir()) == []
    with pytest.raises(InputError, match="QASSAY_DATABASE"):
        qassay.open(small)


def test_a_database_outside_the_folder_is_used_where_it_is_meant(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "elsewhere.db"
    toml = small / "qassay.toml"
    toml.write_text(f'database = "sqlite:///{target}"\n' + toml.read_text())
    with engine.using_named_database():
        fill(small)
    for command in (["check", str(small), "--use-database"], ["--use-database", "check", str(small)]):
        assert main(command) == 0, capsys.readouterr().err
    assert main(["check", str(small)]) == 1  # said once, meant once
    monkeypatch.setenv("QASSAY_DATABASE", f"sqlite:///{target}")
    assert main(["check", str(small)]) == 0


def test_a_database_in_the_folder_needs_no_leave(small: Path) -> None:
    toml = small / "qassay.toml"
    toml.write_text(f'database = "sqlite:///{small}/own.db"\n' + toml.read_text())
    fill(small)
    assert (small / "own.db").is_file()


@pytest.mark.parametrize(
    "line",
    [
        "x = " + "9" * 5_000,
        ".".join(["a"] * 20_000) + " = 1",
        "x = {" + " . ".join(['"a"'] * 20_000) + " = 1}",
        "x = " + "{a = " * 500 + "1" + "}" * 500,
        'task = "\\u0000.toml"',
        'database = "sqlite:///a\\u0000b"',
        "# " + "x" * (8 << 20),
    ],
    ids=["number", "name", "name in a table", "tables", "task", "database", "long"],
)
def test_keys_that_no_reader_takes_are_errors(small: Path, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A name of 40 kB with as many dots took 1.6 GB, and one of 400 kB a hundred times as much."""
    (small / "qassay.toml").write_text(line + ("" if line.startswith("task") else '\ntask = "series2004"\n'))
    assert main(["score", str(small)]) == 1
    shown = capsys.readouterr().err
    assert "qassay.toml: " in shown
    assert ("is nested too deeply" in shown) == ("a" in line[:8] and not line.startswith(("task", "database")))


# ---- a stranger's links ---------------------------------------------------------------------------------------------

WRITES: dict[str, list[str]] = {
    "judgments": ["judge", "--with", "patterns", "--set", "x"],
    ".judging-x.jsonl": ["judge", "--with", "patterns", "--set", "x"],
    "samples": ["sample", "--size", "1", "--for", "first"],
    "sheets": ["sheet", "--assessor", "ada"],
    "runs": ["import"],
    "logs": ["run", "--system", "cat", "--tag", "x"],
    "logs/x.jsonl": ["run", "--system", "cat", "--tag", "x", "--restart"],
    "qassay.db": ["check"],
    "qassay.db-wal": ["check"],
    "qassay.db-journal": ["check"],
    ".models/answers.db": ["judge", "--with", "llm(model=m, endpoint=http://127.0.0.1:9)"],
    ".models/failures.jsonl": ["judge", "--with", "llm(model=m, endpoint=http://127.0.0.1:9)"],
}


@pytest.mark.parametrize("place", WRITES)
def test_nothing_is_written_through_a_link_out_of_the_folder(
    small: Path, tmp_path: Path, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The attack: the journal of a set linked to any file, which `judge` emptied."""
    verb, *options = WRITES[place]
    outside, link = tmp_path / "outside", small / place
    outside.mkdir()
    (outside / "precious").write_text("precious\n")
    (outside / "collection-photos").mkdir()
    if place.startswith("qassay.db-"):
        fill(small)
    if verb in ("judge", "run"):
        (small / "patterns.txt").write_text("1.1 1901\n")
    link.parent.mkdir(exist_ok=True)
    if link.is_dir():
        shutil.copytree(link, outside, dirs_exist_ok=True)
        shutil.rmtree(link)
    link.symlink_to(outside / "precious" if "." in place else outside)
    before = sorted(outside.rglob("*"))
    if verb == "sheet":
        options += ["--to", str(tmp_path / "ada.html")]
    if verb == "import":
        (tmp_path / "c.txt").write_text("1.1 c D1 1901\n1.2 c NIL\n1.3 c NIL\n")
        options += [str(tmp_path / "c.txt")]
    assert main([verb, str(small), *options]) == 1
    shown = capsys.readouterr().err
    assert "by a link" in shown or "outside the folder" in shown, shown
    assert "Traceback" not in shown
    assert sorted(outside.rglob("*")) == before
    assert (outside / "precious").read_text() == "precious\n"


# Where a link may be, and whether it leads to a file or to a folder.
READS = {
    **dict.fromkeys(("questions.jsonl", "answers.jsonl", "runs.jsonl", "patterns.txt", "qassay.toml"), "secret"),
    **dict.fromkeys(("runs/x.txt", "judgments/x.jsonl", "nuggets/x.jsonl", "samples/x.jsonl"), "secret"),
    **dict.fromkeys(("collection/x.txt", "mine.toml"), "secret"),
    **dict.fromkeys(("runs", "judgments", "nuggets", "samples", "collection", "collection/pub"), "hidden"),
}
SECRET = "swordfish"


@pytest.mark.parametrize("place", READS)
def test_nothing_is_read_through_a_link_out_of_the_folder(
    small: Path, tmp_path: Path, place: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attack: a folder whose parts are links to other files of the server, which its errors and pages quote."""
    monkeypatch.setattr(building, "SMALL", 0)
    # It is an evaluation too: a link into one leads out of this one too.
    outside, link = tmp_path / "outside", small / place
    (outside / "hidden").mkdir(parents=True)
    (outside / "qassay.toml").write_text('task = "series2004"\n')
    for name in ("secret", "hidden/secret.jsonl", "hidden/secret.txt"):
        (outside / name).write_text(f"{SECRET} {SECRET} {SECRET}\n" * 3)
    (small / "collection").mkdir(exist_ok=True)
    if place == "mine.toml":
        (small / "qassay.toml").write_text('task = "mine.toml"\n')
    shutil.rmtree(link) if link.is_dir() else link.unlink(missing_ok=True)
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside / READS[place])
    (tmp_path / "c.txt").write_text("1.1 c D1 1901\n1.2 c NIL\n1.3 c NIL\n")
    for command in (
        ["check", str(small)],
        ["score", str(small)],
        ["report", str(small), "--to", str(tmp_path / "report.html")],
        ["import", str(small), str(tmp_path / "c.txt")],
        ["judge", str(small), "--with", "patterns", "--set", "y"],
        ["score", str(small), "--correct-with", "first"],
        ["export", str(small), "--collection", "--to", str(tmp_path / "export")],
        ["export", str(small), "--to", str(tmp_path / "without")],
        ["check", "--in", str(small), str(small / "runs" / "x.txt")],
    ):
        status = main(command)
        captured = capsys.readouterr()
        shown = captured.out + captured.err
        assert SECRET not in shown, command
        assert "secret" not in shown, command
        assert "Traceback" not in shown, command
        if (
            command == ["check", str(small)]
            and "samples" not in place
            and place not in ("patterns.txt", "answers.jsonl")
        ):
            assert status == 1, command
            assert f"{place}: leads out of the evaluation by a link" in shown or place == "mine.toml", shown
    with suppress(InputError):
        fill(small)
        assert SECRET.encode() not in (small / "qassay.db").read_bytes()
    written = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_relative_to(outside)]
    assert [path for path in written if not path.is_symlink() and SECRET.encode() in path.read_bytes()] == []


def test_links_that_stay_in_the_folder_are_followed(small: Path, tmp_path: Path) -> None:
    before = qassay.open(small).score().as_json()
    linked = tmp_path / "linked"
    linked.symlink_to(small)
    (small / "kept").mkdir()
    for path in [*(small / "runs").iterdir(), *(small / "judgments").iterdir()]:
        path.rename(small / "kept" / path.name)
        path.symlink_to(Path("..") / "kept" / path.name)
    for folder in (small, linked):
        assert qassay.open(folder).score().as_json() == before


def test_a_link_that_takes_the_place_of_a_checked_file_is_not_followed(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text(SECRET)
    path = small / "patterns.txt"
    path.write_text("1.1 1901\n")
    really_open = os.open

    def swapped(*arguments: Any, **options: Any) -> int:
        path.unlink()
        path.symlink_to(tmp_path / "secret")
        return really_open(*arguments, **options)

    monkeypatch.setattr(os, "open", swapped)
    with pytest.raises(OSError, match="symbolic links"):
        open_inside(path)


def test_a_cache_of_documents_that_leads_elsewhere_is_not_used(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attack: building the cache removed the folders beside it whose names begin with collection-."""
    monkeypatch.setattr(building, "SMALL", 0)
    (small / "collection").mkdir(exist_ok=True)
    (small / "collection" / "docs.jsonl").write_text('{"id": "D1", "text": "Some text"}\n')
    photos = tmp_path / "outside" / "collection-photos"
    photos.mkdir(parents=True)
    (small / ".qassay").symlink_to(photos.parent)
    with open_collection(small / "collection") as collection:
        assert len(collection) == 1
    assert list(photos.parent.iterdir()) == [photos]
    (small / ".qassay").unlink()
    mark = building.fingerprint(small / "collection", [small / "collection" / "docs.jsonl"])
    cached = small / ".qassay" / f"collection-{mark}"
    cached.mkdir(parents=True)
    (cached / "documents.db").symlink_to(tmp_path / "outside" / "new.db")
    with open_collection(small / "collection") as collection:
        assert len(collection) == 1
    assert list(photos.parent.iterdir()) == [photos]


# ---- others on the machine ------------------------------------------------------------------------------------------


def test_the_store_and_its_journals_are_for_this_user_alone(small: Path, tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with closing(open_store(small, create=True)) as store:
            import_folder(store, Folder(small))
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in small.glob("qassay.db*")}
        assert set(modes) == {"qassay.db", "qassay.db-wal", "qassay.db-shm"}
        assert set(modes.values()) == {0o600}
        (small / "qassay.db").chmod(0o644)
        with closing(open_store(small)) as store:
            back_up(store, tmp_path / "backup.db")
        moved = restore(Folder(small), tmp_path / "backup.db")
        assert moved is not None
        assert stat.S_IMODE((small / "qassay.db").stat().st_mode) == 0o600
        assert main(["sheet", str(small), "--assessor", "ada", "--to", str(tmp_path / "ada.html")]) == 0
        without = Path(
            shutil.copytree(small, tmp_path / "files", ignore=shutil.ignore_patterns("qassay.db*", "sheets"))
        )
        assert main(["sheet", str(without), "--assessor", "ada", "--to", str(tmp_path / "of-files.html")]) == 0
        assert (without / "sheets" / "order.json").exists()  # numbers and orders can be computed from it
        keys = [path for place in (small, without) for path in (place / "sheets").iterdir()]
        assert len(keys) == 3
        assert {stat.S_IMODE(path.stat().st_mode) for path in keys} == {0o600}
    finally:
        os.umask(before)


def test_another_process_that_holds_the_database_gets_a_clear_message(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In every command that reads or writes a store."""
    path = fill(small)
    with closing(open_store(small)) as store:
        back_up(store, tmp_path / "backup.db")
    monkeypatch.setattr(engine, "BUSY_MILLISECONDS", 20)
    more = {
        "export": ["--to", str(tmp_path / "out")],
        "sheet": ["--assessor", "ada", "--to", str(tmp_path / "a.html")],
        "import": [str(shutil.copy(small / "runs" / "a.txt", tmp_path / "a.txt"))],
        "restore": [str(tmp_path / "backup.db")],
        "serve": ["--port", "0"],
        "trust": ["--assessor", "first"],
        "judge": ["--with", "patterns"],
        "sample": ["--size", "1", "--for", "first"],
        "run": ["--system", "sentence_baseline", "--tag", "x"],
        "report": ["--to", str(tmp_path / "r.html")],
    }
    alone = ("demo", "init", "submit", "schema", "completion", "look")  # these open no store
    with closing(sqlite3.connect(path)) as holder:
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("PRAGMA journal_mode = DELETE")
        holder.execute("BEGIN EXCLUSIVE")
        for verb in VERBS:
            if verb in alone:
                continue
            status = main([verb, str(small), *more.get(verb, [])])
            shown = capsys.readouterr().err
            assert status == 1, (verb, shown)
            assert "another program is using the database" in shown or "is in use" in shown, (verb, shown)
            assert "Traceback" not in shown


# ---- a backup of somebody else's making -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER evil AFTER INSERT ON session BEGIN UPDATE account SET role = 'organiser'; END",
        "CREATE VIEW evil AS SELECT * FROM account",
        "CREATE TABLE evil (x)",
        "CREATE INDEX evil ON account (name)",
        "DROP INDEX ix_item_question_ordinal",
        "ALTER TABLE account ADD COLUMN evil TEXT",
    ],
)
def test_a_backup_with_objects_of_its_own_is_refused(small: Path, tmp_path: Path, statement: str) -> None:
    fill(small)
    with closing(open_store(small)) as store:
        back_up(store, tmp_path / "backup.db")
    with closing(sqlite3.connect(tmp_path / "backup.db")) as database:
        database.execute(statement)
    before = (small / "qassay.db").read_bytes()
    with pytest.raises(InputError, match="not a backup that Qassay made"):
        restore(Folder(small), tmp_path / "backup.db")
    assert (small / "qassay.db").read_bytes() == before


# ---- a full or read-only disk ---------------------------------------------------------------------------------------

# Root without the capabilities that let it write whatever it likes.
WITHOUT_POWERS = """
import ctypes, sys
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
ctypes.CDLL(None).capset(ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))
from qassay.cli import VERBS, main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("left", ["closed", "log"])
def test_a_store_is_scored_where_it_cannot_be_written(small: Path, left: str) -> None:
    path = fill(small)
    writer = None
    if left == "log":  # as after a kill: some of the judgments are in the journal
        writer = sqlite3.connect(path)
        writer.execute("UPDATE setting SET value = value")
        writer.commit()
    for place in (small, *small.rglob("*")):
        place.chmod(0o555 if place.is_dir() else 0o444)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        call = [sys.executable, "-c", WITHOUT_POWERS, *arguments]
        return subprocess.run(call, capture_output=True, text=True, check=False)

    scored = run("score", str(small), "--unjudged", "wrong")
    assert scored.returncode == 0, scored.stderr
    new = small.parent / "c.txt"
    new.write_text("1.1 c D1 1901\n1.2 c NIL\n1.3 c NIL\n")
    changed = run("import", str(small), str(new))
    assert changed.returncode == 1
    assert "read-only" in changed.stderr
    assert "Traceback" not in changed.stderr
    for place in (small, *small.rglob("*")):
        place.chmod(0o755)
    if writer is not None:
        writer.close()


def test_a_full_disk_leaves_the_store_as_it_was(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(small)
    new = tmp_path / "c.txt"
    new.write_text("1.1 c D1 1901\n1.2 c NIL\n1.3 c D1 " + "x" * 200_000 + "\n")
    with closing(open_store(small)) as store, store.read() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    def limit(raw, _):
        raw.execute(f"PRAGMA max_page_count = {pages + 2}")

    event.listen(Engine, "connect", limit)
    try:
        assert main(["import", str(small), str(new)]) == 1
    finally:
        event.remove(Engine, "connect", limit)
    shown = capsys.readouterr().err
    assert "the disk is full, and nothing was changed" in shown
    assert sorted(qassay.open(small).runs.tags) == ["a", "b"]
    assert [leftovers.name for leftovers in small.glob(".part*")] == []


# ---- a stranger's files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["runs", "judgments", "nuggets", "samples", "collection", "."])
def test_a_name_that_is_no_text_is_an_error(small: Path, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    (small / place).mkdir(exist_ok=True)
    name = b"questions.\xff" if place == "." else b"\xff\x9b.jsonl"
    Path(os.fsdecode(bytes(small / place) + b"/" + name)).write_text("{}\n")
    command = ["trust", str(small), "--assessor", "first"] if place == "samples" else ["check", str(small)]
    assert main(command) == 1
    shown = capsys.readouterr().err
    assert "is not UTF-8; rename it" in shown or (place == "samples" and "Traceback" not in shown), shown


def test_files_with_names_that_are_no_text_can_be_named(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores, run = (os.fsdecode(bytes(tmp_path) + end) for end in (b"/\xff.csv", b"/\xff.jsonl"))
    Path(scores).write_text("id,a,b\n1,1,0\n2,0,1\n3,1,0\n")
    Path(run).write_text("{}\n")
    for form in ("html", "markdown", "latex"):
        target = str(tmp_path / f"report.{form}")
        assert main(["report", scores, "--format", form, "--to", target]) == 0, capsys.readouterr().err
    assert main(["compare", scores, "--json"]) == 0
    assert main(["check", run, "--in", str(small)]) == 1
    assert "is not UTF-8; rename it" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["judgments", "nuggets"])
def test_two_files_of_one_name_are_an_error(small: Path, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One of them was read, and nothing said which."""
    (small / place).mkdir(exist_ok=True)
    rows = b'{"question": "1.1", "doc": "D1", "text": "1901", "judgment": "W"}\n' if place == "judgments" else b""
    (small / place / "again.jsonl").write_bytes(rows)
    (small / place / "again.jsonl.gz").write_bytes(gzip.compress(rows))
    assert main(["check", str(small)]) == 1
    assert "is 'again' for a second time: again.jsonl is it too" in capsys.readouterr().err


def test_documents_that_unpack_to_far_more_than_they_are_are_refused(small: Path) -> None:
    """23 kB made ten million documents."""
    (small / "collection").mkdir(exist_ok=True)
    packed = zstandard.compress(b'{"id": "a", "text": "b"}\n' * 4_000_000)
    assert len(packed) < 20_000
    (small / "collection" / "bomb.jsonl.zst").write_bytes(packed)
    with pytest.raises(InputError, match="unpacks to more than 200 times its size"):
        open_collection(small / "collection")
