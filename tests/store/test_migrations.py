"""The tables as the migrations make them, and stores of earlier releases."""

from __future__ import annotations

import re
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, inspect, select, text
from sums import check_sums

import qassay
from qassay.errors import InputError
from qassay.store.engine import connect, open_store
from qassay.store.migrations import versions
from qassay.store.schema import metadata, question_progress, setting, settled
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
    assert len(files) > 2
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


# A dump of a small store of every release: what was made then is read now.
RELEASES = sorted((Path(__file__).parent / "releases").glob("*.sql"))
# Tables of sums that are no more.
GONE = {"share", "stage"}
# By hand: run a has the factoid, list F 2/3 and other F 1 (0.5 + 0.25 * 2/3 + 0.25), run b list F 1 alone.
SCORE = {"a": 11 / 12, "b": 1 / 4}


def load(release: Path, place: Path) -> Path:
    """The database of a release, in the folder of an evaluation."""
    place.mkdir()
    (place / "qassay.toml").write_text('task = "series2004"\n')
    with closing(sqlite3.connect(place / "qassay.db")) as database:
        database.executescript(release.read_text(encoding="utf-8"))
    return place


def contents(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table but the version's."""
    with closing(sqlite3.connect(path)) as database:
        database.row_factory = sqlite3.Row
        names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        tables = {name: [dict(row) for row in database.execute(f'SELECT * FROM "{name}"')] for name in names}
    return {name: rows for name, rows in tables.items() if name not in (VERSION_TABLE, "sqlite_sequence")}


def test_there_is_a_store_of_every_version() -> None:
    assert RELEASES[-1].stem == HEAD, "dump a small store of the new version to tests/store/releases"


@pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.stem)
def test_a_store_of_an_earlier_release_is_brought_up_to_date(release: Path, tmp_path: Path) -> None:
    folder = load(release, tmp_path / "eval")
    before = contents(folder / "qassay.db")
    assert all(before.values()), "the dump has rows in every table"
    scores = {run.run: run.score for run in qassay.open(folder).score("first").runs}
    assert scores == pytest.approx(SCORE, abs=1e-15)
    after = contents(folder / "qassay.db")
    for name, rows in ((name, before[name]) for name in before.keys() - GONE):
        assert len(after[name]) == len(rows)
        for old, new in zip(rows, after[name], strict=True):
            assert {key: new[key] for key in old if key in new} == {key: old[key] for key in old if key in new}
    assert not GONE & after.keys()
    with closing(sqlite3.connect(folder / "qassay.db")) as database:
        assert database.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchall() == [(HEAD,)]


def test_settled_questions_and_all_sums_are_migrated(tmp_path: Path) -> None:
    folder = load(RELEASES[0], tmp_path / "eval")
    settled_row = '{"question": "1.1", "unanimous": 3, "disagreements": 2, "left": 1}'
    with closing(sqlite3.connect(folder / "qassay.db")) as database:
        database.execute("INSERT INTO setting VALUES ('adjudication:0f', ?)", (settled_row,))
        database.commit()
    store = open_store(folder)
    with store.read() as connection:
        check_sums(connection)
        assert connection.execute(select(settled)).all() == [("1.1", 3, 2, 1)]
        progress = select(question_progress.c.unruled).where(question_progress.c.question == "1.1")
        assert connection.execute(progress).scalar_one() == 1
        assert connection.execute(select(setting).where(setting.c.name.startswith("adjudication"))).all() == []
    store.close()


_MADE = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
    " UNION SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
}


def test_the_sums_of_version_2_give_way_to_progress(engine: Engine) -> None:
    """In both databases, with the triggers that the release of that version made."""
    config = Config()
    config.set_main_option("script_location", "qassay.store:migrations")
    config.set_main_option("path_separator", "os")
    rows = [
        "INSERT INTO account (id, name, role, created) VALUES (1, 'Ann', 'assessor', '2026')",
        *(f"INSERT INTO question (id, ordinal, body, at) VALUES ('q{n}', {n}, '{{}}', '2026')" for n in (1, 2, 3)),
        "UPDATE question SET draft = true WHERE id = 'q3'",
        "INSERT INTO item (id, question, kind, ordinal, body)"
        " VALUES (1, 'q1', 'item', 1, '{}'), (2, 'q4', 'item', 1, '{}')",
        'INSERT INTO assignment (question, slot, "set", account, total, done, closed, seconds)'
        " VALUES ('q1', 1, 'first', 1, 5, 5, '2026', 9), ('q1', 2, 'second', NULL, 5, 2, NULL, 0),"
        " ('q4', 1, 'first', 1, 1, 0, NULL, 0)",
        'INSERT INTO judgment (id, "set", question, kind, thing, version, body, at)'
        " VALUES (1, 'first', 'q1', 'item', 't', 1, '{}', '2026')",
        'INSERT INTO standing ("set", thing, question, kind, judgment, version, body)'
        " VALUES ('first', 't', 'q1', 'item', 1, 1, '{}')",
        "INSERT INTO settled VALUES ('q2', 1, 2, 1)",
    ]
    with engine.connect() as connection:
        connection.execution_options(writes=True)
        with connection.begin():
            config.attributes["connection"] = connection
            command.upgrade(config, "0002")
            for row in rows:
                connection.exec_driver_sql(row)
            before = connection.execute(text("SELECT question, ordinal, first, open, waiting FROM stage")).all()
            changes = connection.execute(text("SELECT changes FROM question ORDER BY id")).all()
    migrate(engine)
    with engine.begin() as connection:
        check_sums(connection)
        assert not GONE & set(inspect(connection).get_table_names())
        c = question_progress.c
        after = connection.execute(select(c.question, c.ordinal, c.first, c.open, c.waiting)).all()
        assert {*after} == {*before, ("q3", None, None, 0, 0)}
        assert connection.execute(text("SELECT changes FROM question ORDER BY id")).all() == changes
        objects = set(connection.execute(text(_MADE[engine.dialect.name])).scalars())
        assert (
            not {"tr_question_change", "tr_assignment", "tr_assignment_update", "tr_item", "tr_item_update"} & objects
        )
        connection.execute(text("UPDATE assignment SET done = 5, closed = '2026' WHERE question = 'q1'"))
        connection.execute(text("DELETE FROM question WHERE id = 'q2'"))
        check_sums(connection)


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
