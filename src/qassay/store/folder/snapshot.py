"""A store, written out as the files of an evaluation.

Reading a store is writing it out and reading the files: there is one way of reading, so that the scores of a store and
those of its export are the same by construction.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import DBAPIError

from qassay.errors import InputError, Problem
from qassay.formats.files import TemporaryFolder
from qassay.formats.folder import Configuration, Folder, may_have_store, named_database
from qassay.formats.names import file_name
from qassay.store.engine import Store, connect, open_store, store_url
from qassay.store.fingerprint import WAITING, fingerprint
from qassay.store.migrating import store_version
from qassay.store.schema import answer, judgment, nugget, question, run
from qassay.store.settings import get_setting

# Rows fetched at once.
_MANY = 10_000
# Questions that are not in the test set: what was noted of them is not in the evaluation either.
_DRAFTS = select(question.c.id).where(question.c.draft)

_latest: dict[str, tuple[str, TemporaryFolder]] = {}
_turn = threading.Lock()


def write_out(store: Store, target: Path, folder: Folder) -> None:
    """Write the store out as an evaluation of its own: a folder that is not there yet, or is empty.

    Configuration, the evaluation's own task file and patterns are copied from its folder; the documents are not.
    """
    from qassay.formats.exporting import own_task

    target.mkdir(parents=True, exist_ok=True)
    for path in (folder.configuration, *own_task(folder), folder.patterns):
        if path.is_file():
            place = target / path.relative_to(folder.path)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    with store.read() as connection:
        write_contents(connection, target)


def snapshot(store: Store, folder: Folder) -> Folder:
    """The folder, with the files of its store written out in a temporary place.

    Within a process the files are written again only where the store has changed.
    """
    name = store.engine.url.render_as_string(hide_password=True)
    with _turn, store.read() as connection:
        present = fingerprint(connection)
        earlier = _latest.get(name)
        drafts = connection.execute(select(func.count()).where(question.c.draft)).scalar_one()
        if earlier is not None and earlier[0] == present and earlier[1].path.is_dir():
            return Folder(folder.path, earlier[1], drafts)
        written = TemporaryFolder()
        write_contents(connection, written.path)
        # Whoever still reads the one before holds it; it goes when they are done.
        _latest[name] = (present, written)
        return Folder(folder.path, written, drafts)


def stored_folder(folder: Folder, configuration: Configuration, store: Store | None = None) -> Folder:
    """The folder as its store holds it; as it is where there is none, or nothing in it yet."""
    opened = store or existing_store(folder, configuration)
    if opened is None:
        return folder
    try:
        return folder if is_new(opened) else snapshot(opened, folder)
    finally:
        if store is None:
            opened.close()


def is_new(store: Store) -> bool:
    """Whether nothing has come into a store yet: until then the files are the evaluation."""
    with store.read() as connection:
        tables = (question, run, judgment)
        return all(connection.execute(select(table).limit(1)).first() is None for table in tables)


def existing_store(folder: Folder, configuration: Configuration) -> Store | None:
    """The store of an evaluation, opened; None where there is none, and nothing is made.

    A named database may be empty yet.
    """
    if not may_have_store(folder, configuration) or not _is_made(folder, configuration):
        return None
    return open_store(folder)


def _is_made(folder: Folder, configuration: Configuration) -> bool:
    """Whether the database holds a store; only a named one may hold nothing."""
    if named_database(configuration) is None:
        return True
    engine = connect(store_url(folder, configuration))
    try:
        if engine.dialect.name == "sqlite" and not Path(engine.url.database or "").is_file():
            return False  # looking would make the file
        with engine.connect() as connection:
            return store_version(connection) is not None
    except DBAPIError as error:
        message = f"the database cannot be used: {str(error.orig).strip().splitlines()[0]}"
        raise InputError(Problem("configuration", message, folder.name())) from None
    finally:
        engine.dispose()


def write_contents(connection: Connection, target: Path) -> None:
    """Write questions, answers, runs, nuggets and judgments below a folder; what there is none of has no file."""
    places = Folder(target)
    asked = select(question.c.body).where(~question.c.draft).order_by(question.c.ordinal, question.c.id)
    _write_lines(target / "questions.jsonl", connection.execute(asked).scalars())
    known = select(answer.c.body).where(answer.c.question.not_in(_DRAFTS)).order_by(answer.c.id)
    _write_lines(places.answers, connection.execute(known).scalars())
    _write_runs(connection, places)
    for name, lines in nugget_lines(connection).items():
        _write_lines(places.nugget_file(name), lines)
    _write_judgments(connection, places)


def nugget_lines(connection: Connection) -> dict[str, list[str]]:
    """The rows of every nugget list: question by question, nuggets in their order, each with its history.

    What was taken off a list, and what was said of it before, is left out: the last row of a file stands.
    """
    c = nugget.c
    asked = connection.execute(select(question.c.id, question.c.ordinal))
    places: dict[str, int] = {row.id: row.ordinal for row in asked}
    found: dict[tuple[str, str, str], tuple[int, list[str]]] = {}
    columns = (c.list, c.question, c.nugget, c.ordinal, c.body)
    for row in connection.execute(select(*columns).where(c.question.not_in(_DRAFTS)).order_by(c.id)):
        key = (row.list, row.question, row.nugget)
        if row.body is None:
            found.pop(key, None)
        else:
            _, earlier = found.get(key, (0, []))
            found[key] = (row.ordinal, [*earlier, row.body])

    def order(key: tuple[str, str, str]) -> tuple[str, int, str, int]:
        return (key[0], places.get(key[1], len(places)), key[1], found[key][0])

    lists: dict[str, list[str]] = {}
    for key in sorted(found, key=order):
        lists.setdefault(key[0], []).extend(found[key][1])
    return lists


def information_lines(connection: Connection) -> dict[str, str]:
    """The rows of runs.jsonl by tag: those of the runs that are there, and those that wait for theirs."""
    rows: dict[str, str] = get_setting(connection, WAITING) or {}
    described = select(run.c.tag, run.c.information).where(~run.c.withdrawn, run.c.information.is_not(None))
    rows |= {row.tag: row.information for row in connection.execute(described.order_by(run.c.tag))}
    return rows


def _write_runs(connection: Connection, places: Folder) -> None:
    _write_lines(places.run_information, information_lines(connection).values())
    used: set[str] = set()
    # One at a time: a run may be large.
    for tag in connection.execute(select(run.c.tag).where(~run.c.withdrawn).order_by(run.c.tag)).scalars().all():
        row = connection.execute(select(run.c.file, run.c.data).where(run.c.tag == tag)).one()
        # A name out of a database is not trusted with a path, nor to be there once.
        name = Path(row.file).name.lstrip(".")
        if not name or name in used:
            name = file_name(tag) + "".join(Path(row.file).suffixes[-2:])
        used.add(name)
        (places.contents / "runs").mkdir(exist_ok=True)
        (places.contents / "runs" / name).write_bytes(row.data)


def _write_judgments(connection: Connection, places: Folder) -> None:
    """Write every set in one pass over the table, which is in the order in which things were said."""
    c = judgment.c
    taken_back = select(c.set, c.thing, c.version).where(c.body.is_(None)).order_by(c.version)
    gone: dict[tuple[str, str], int] = {(row[0], row[1]): row[2] for row in connection.execute(taken_back)}
    columns = (c.set, c.body, c.thing, c.version) if gone else (c.set, c.body)
    rows = connection.execution_options(yield_per=_MANY).execute(select(*columns).order_by(c.id))
    with ExitStack() as stack:
        files: dict[str, BinaryIO] = {}
        for part in rows.partitions():
            lines: dict[str, list[str]] = {}
            for row in part:
                if not gone or row[3] > gone.get((row[0], row[2]), 0):
                    lines.setdefault(row[0], []).append(row[1])
            for name, bodies in lines.items():
                if name not in files:
                    path = places.judgment_file(name)
                    path.parent.mkdir(exist_ok=True)
                    files[name] = stack.enter_context(path.open("wb"))
                files[name].write(_ended(bodies))


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    bodies = list(lines)
    if bodies:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(_ended(bodies))


def _ended(bodies: Iterable[str]) -> bytes:
    return ("\n".join(bodies) + "\n").encode()
