"""The tables as the migrations make them, and stores of other versions."""

from __future__ import annotations

import re
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, inspect, text

import qassay
from qassay.errors import InputError
from qassay.formats.folder import Folder
from qassay.store.backups import restore
from qassay.store.engine import connect
from qassay.store.migrations import versions
from qassay.store.schema import metadata
from qassay.store.versions import HEAD, VERSION_TABLE, migrate


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    url = f"sqlite:///{tmp_path / 'qassay.db'}"
    engine = connect(request.getfixturevalue("postgres_url") if request.param == "postgresql" else url)
    yield engine
    engine.dispose()


def test_the_schema_of_the_migrations_is_that_of_the_tables(engine: Engine) -> None:
    migrate(engine)
    with engine.connect() as connection:
        options = {
            "compare_type": True,
            "compare_server_default": True,
            "include_name": lambda name, kind, _: (kind, name) != ("table", VERSION_TABLE),
        }
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []


def test_the_statements_of_the_migrations_are_those_of_the_tables(tmp_path: Path) -> None:
    """Names of constraints, checks and defaults too, which a comparison of catalogues skips."""
    migrated, made = (create_engine(f"sqlite:///{tmp_path / name}") for name in ("migrated.db", "made.db"))
    migrate(migrated)
    metadata.create_all(made)

    def statements(engine: Engine) -> dict[str, list[str]]:
        with engine.connect() as connection:
            rows = connection.execute(
                text("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND type <> 'trigger'")
            ).all()
        engine.dispose()
        # A column that came later stands on the last line.
        split = {name: sql.replace(", ", "\n").splitlines() for name, sql in rows}
        return {
            name: sorted(definition for part in parts if (definition := part.strip(" ,\t)")))
            for name, parts in split.items()
        }

    migrated_tables = statements(migrated)
    del migrated_tables[VERSION_TABLE]
    assert migrated_tables == statements(made)


# What PostgreSQL makes of constraints and indexes; only migrations make triggers.
_DEFINITIONS = """
  SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
"""


def test_postgresql_migrations_make_the_tables_of_the_schema(postgres_url: str) -> None:
    engine = connect(postgres_url)

    def definitions() -> dict[str, str]:
        with engine.connect() as connection:
            return {name: sql for name, sql in connection.execute(text(_DEFINITIONS)) if VERSION_TABLE not in name}

    migrate(engine)
    migrated = definitions()
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    metadata.create_all(engine)
    made = definitions()
    engine.dispose()
    assert migrated == made


def test_migrations_rest_on_nothing_that_may_change() -> None:
    """What brought a store from one version to the next then does so now, whatever became of the tables since."""
    files = sorted(Path(versions.__path__[0]).glob("*.py"))
    assert files
    for path in files:
        assert not re.search(r"^\s*(from|import) qassay", path.read_text(encoding="utf-8"), re.MULTILINE), path.name


def test_the_head_is_the_last_version() -> None:
    config = Config()
    config.set_main_option("script_location", "qassay.store:migrations")
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_current_head() == HEAD


def test_migrating_again_changes_nothing(engine: Engine) -> None:
    migrate(engine)
    before = sorted(inspect(engine).get_table_names())
    migrate(engine)
    assert sorted(inspect(engine).get_table_names()) == before


def test_a_store_of_a_newer_release_is_refused(engine: Engine) -> None:
    migrate(engine)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(InputError, match="version 9999, made by a newer Qassay; this one knows versions up to"):
        migrate(engine)


def test_the_database_of_somebody_else_is_refused(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE customers (id INTEGER)"))
    with pytest.raises(InputError, match=r"not of Qassay \(customers\); give the evaluation a database of its own"):
        migrate(engine)
    assert inspect(engine).get_table_names() == ["customers"]


def test_many_may_open_a_new_store_at_once(engine: Engine) -> None:
    failures: list[Exception] = []
    together = threading.Barrier(6)

    def open_it() -> None:
        other = connect(engine.url.render_as_string(hide_password=False))
        together.wait()
        try:
            migrate(other)
        except Exception as error:  # noqa: BLE001  # told in the main thread
            failures.append(error)
        finally:
            other.dispose()

    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with engine.connect() as connection:
        assert connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalars().all() == [HEAD]


def test_a_store_of_before_the_first_release_is_refused_unchanged(engine: Engine, tmp_path: Path) -> None:
    """At every door: opened, served or restored from a backup."""
    migrate(engine)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '0005'"))
    engine.dispose()
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    refused = (
        r"qassay\.db: the store has version 0005, of before the first .*: python scripts/convert_store\.py OLD NEW"
    )
    with pytest.raises(InputError, match=refused.removeprefix(r"qassay\.db: ")):
        migrate(engine)
    if engine.dialect.name == "sqlite":
        (tmp_path / "qassay.toml").write_text('task = "series2004"\n')
        with pytest.raises(InputError, match=refused):
            qassay.open(tmp_path).score()
        (tmp_path / "new").mkdir()
        (tmp_path / "new" / "qassay.toml").write_text('task = "series2004"\n')
        with pytest.raises(InputError, match=refused):
            restore(Folder(tmp_path / "new"), tmp_path / "qassay.db")
        assert [path.name for path in (tmp_path / "new").iterdir()] == ["qassay.toml"]
    engine.dispose()
    assert {path: path.read_bytes() for path in before} == before
    with engine.connect() as connection:
        assert connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalars().all() == ["0005"]


def test_the_file_is_copied_before_it_is_changed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A migration that fails changes nothing; on SQLite there is a copy besides."""
    migrate(engine)
    before = sorted(inspect(engine).get_table_names())

    def fail(connection: Any) -> None:
        connection.execute(text("CREATE TABLE half_done (id INTEGER)"))
        raise RuntimeError("the migration fails")

    monkeypatch.setattr("qassay.store.versions.HEAD", "0999")
    monkeypatch.setattr("qassay.store.versions._upgrade", fail)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="the migration fails"):
            migrate(engine)
    assert sorted(inspect(engine).get_table_names()) == before
    copies = sorted(path.name for path in tmp_path.glob("qassay.db.before*"))
    is_file = engine.dialect.name == "sqlite"
    assert copies == [f"qassay.db.before-0999-was-{HEAD}", f"qassay.db.before-0999-was-{HEAD}-2"] * is_file
    for name in copies:
        with closing(sqlite3.connect(tmp_path / name)) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
