"""A store, written out as the files of an evaluation, and compared with the files of its folder.

Reading a store is writing it out and reading the files: there is one way of reading, so that the scores of a store and
those of its export are the same by construction.
"""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

from sqlalchemy import Connection, func, select

from qassay.errors import InputError, Problem
from qassay.formats import files, jsonl
from qassay.formats.files import TemporaryFolder
from qassay.formats.folder import Configuration, Folder, may_have_store, named_database, read_configuration
from qassay.formats.importing.rows import Identity, by_identity, judgment_identity, missing, row_identity
from qassay.formats.names import file_name
from qassay.formats.questions import read_questions
from qassay.judging import digest
from qassay.questions import TestSet
from qassay.store.engine import Store, connected, open_store
from qassay.store.schema import answer, judgment, nugget, question, run
from qassay.store.settings import EMPTY_FILES, WAITING, fingerprint, get_setting
from qassay.store.versions import store_version

# A file that is behind says nothing that the store does not say: importing it would bring nothing.
State: TypeAlias = Literal["same", "behind", "other"]
ADVICE = {
    "behind": "lacks rows that the store has, and the store counts. To write the file again: {export}",
    "other": "differs from the store, and the store counts: import the file, or export the store over it ({export})",
}
# Rows fetched at once.
_MANY = 10_000
# Questions that are not in the test set: their answers and nuggets are not in the evaluation either.
_DRAFTS = select(question.c.id).where(question.c.draft)

_latest: dict[str, tuple[str, TemporaryFolder]] = {}
_turn = threading.Lock()


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
        # An earlier reader still uses it; it is removed when the last reader is done.
        _latest[name] = (present, written)
        return Folder(folder.path, written, drafts)


def is_new(store: Store) -> bool:
    """Whether nothing has come into a store yet: until then the files are the evaluation."""
    with store.read() as connection:
        tables = (question, run, judgment)
        return all(connection.execute(select(table).limit(1)).first() is None for table in tables)


def existing_store(folder: Folder, configuration: Configuration) -> Store | None:
    """The store of an evaluation, opened; None where there is none, and nothing is made.

    A named database may be empty yet.
    """
    if not may_have_store(folder, configuration):
        return None
    if named_database(configuration) is not None:
        with connected(folder, configuration) as engine:
            if engine.dialect.name == "sqlite" and not Path(engine.url.database or "").is_file():
                return None  # connecting would make the file
            with engine.connect() as connection:
                version = store_version(connection)
        engine.dispose()
        if version is None:
            return None
    return open_store(folder)


def write_contents(connection: Connection, target: Path) -> None:
    """Write questions, answers, runs, nuggets and judgments below a folder.

    Without rows there is no file, unless a set or list came into the store as an empty file.
    """
    places = Folder(target)
    questions = select(question.c.body).where(~question.c.draft).order_by(question.c.ordinal, question.c.id)
    _write_lines(target / "questions.jsonl", connection.execute(questions).scalars())
    answers = select(answer.c.body).where(answer.c.question.not_in(_DRAFTS)).order_by(answer.c.id)
    _write_lines(places.answers, connection.execute(answers).scalars())
    _write_runs(connection, places)
    for name, lines in nugget_lines(connection).items():
        _write_lines(places.nugget_file(name), lines)
    _write_judgments(connection, places)
    empty: dict[str, list[str]] = get_setting(connection, EMPTY_FILES) or {}
    for path in [
        *(places.nugget_file(name) for name in empty.get("nuggets", ())),
        *(places.judgment_file(name) for name in empty.get("judgments", ())),
    ]:
        path.parent.mkdir(exist_ok=True)
        path.touch()


def nugget_lines(connection: Connection) -> dict[str, list[str]]:
    """The rows of every nugget list: question by question, nuggets in their order, each with its history.

    A nugget that was removed from its list is left out with its history: the last row of a file is the current one.
    """
    c = nugget.c
    rows = connection.execute(select(question.c.id, question.c.ordinal))
    places: dict[str, int] = {row.id: row.ordinal for row in rows}
    bodies: dict[tuple[str, str, str], tuple[int, list[str]]] = {}
    columns = (c.list, c.question, c.nugget, c.ordinal, c.body)
    for row in connection.execute(select(*columns).where(c.question.not_in(_DRAFTS)).order_by(c.id)):
        key = (row.list, row.question, row.nugget)
        if row.body is None:
            bodies.pop(key, None)
        else:
            _, earlier = bodies.get(key, (0, []))
            bodies[key] = (row.ordinal, [*earlier, row.body])

    def order(key: tuple[str, str, str]) -> tuple[str, int, str, int]:
        return (key[0], places.get(key[1], len(places)), key[1], bodies[key][0])

    lists: dict[str, list[str]] = {}
    for key in sorted(bodies, key=order):
        lists.setdefault(key[0], []).extend(bodies[key][1])
    return lists


def information_lines(connection: Connection) -> dict[str, str]:
    """The rows of runs.jsonl by tag: those of stored runs, and those that wait for their runs."""
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
    """Write every set in one pass over the table, which is in the order in which judgments were made."""
    c = judgment.c
    taken_back = select(c.set, c.subject, c.version).where(c.body.is_(None)).order_by(c.version)
    undone_at: dict[tuple[str, str], int] = {(row[0], row[1]): row[2] for row in connection.execute(taken_back)}
    columns = (c.set, c.body, c.subject, c.version) if undone_at else (c.set, c.body)
    rows = connection.execution_options(yield_per=_MANY).execute(select(*columns).order_by(c.id))
    with ExitStack() as stack:
        files: dict[str, BinaryIO] = {}
        for part in rows.partitions():
            lines: dict[str, list[str]] = {}
            for row in part:
                if not undone_at or row[3] > undone_at.get((row[0], row[2]), 0):
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


# ---- comparing a folder with its store ------------------------------------------------------------------------------


def differing_files(folder: Folder, stored: Folder) -> list[Problem]:
    """A warning for each file of the folder that differs from its store, which is written out as `stored`.

    Rows are compared by content, identity by identity: the order of fields and of rows about other things makes no
    difference.
    """
    plain_folder = Folder(folder.path)
    where = shlex.quote(str(folder.path))
    export = f"qassay export {where} --to {where} --force"
    return [
        Problem("configuration", ADVICE[state].format(export=export), plain_folder.name(path))
        for path, state in _states(plain_folder, stored)
        if state != "same"
    ]


def _states(folder: Folder, stored: Folder) -> Iterator[tuple[Path, State]]:
    """Every file of the folder, compared with the store."""
    questions, task = TestSet(()), read_configuration(folder).task
    if any(stored.contents.glob("questions.*")):
        questions = read_questions(stored.questions()).questions
    for path in sorted(folder.path.glob("questions.*")):
        yield path, _state(_questions_state, path, questions)
    yield folder.answers, _state(_rows_state, folder.answers, stored.answers, row_identity("answers"))
    described = (folder.run_information, stored.run_information)
    yield described[0], _state(_rows_state, *described, row_identity("run-information"), last=True)
    lists, sets = stored.nugget_lists(), stored.judgment_sets()
    for name, path in folder.nugget_lists().items():
        yield path, _state(_rows_state, path, lists.get(name), row_identity("nuggets"))
    for name, path in folder.judgment_sets().items():
        yield path, _state(_rows_state, path, sets.get(name), judgment_identity(questions, task))
    # A run may have been imported under another file name: its bytes identify it.
    digests = {digest(files.read_bytes(path)) for path in stored.runs()}
    for path in folder.runs():
        yield path, _state(_run_state, path, digests)


def _state(compare: Callable[..., State], *arguments: object, **options: object) -> State:
    """The result of a comparison; a file that cannot be read differs."""
    try:
        return compare(*arguments, **options)
    except InputError:
        return "other"


def _run_state(path: Path, digests: set[str]) -> State:
    return "same" if digest(files.read_bytes(path)) in digests else "other"


def _questions_state(path: Path, stored: TestSet) -> State:
    questions = read_questions(path).questions.questions
    if questions == stored.questions:
        return "same"
    return "behind" if all(stored.by_id.get(question.id) == question for question in questions) else "other"


def _rows_state(path: Path, stored_path: Path | None, identity: Identity, *, last: bool = False) -> State:
    """Compare the rows of two files: of every identity all rows or, with `last`, the last one."""
    if not path.is_file():
        return "same"
    data = files.read_bytes(path)
    stored_data = files.read_bytes(stored_path) if stored_path is not None and stored_path.is_file() else b""
    if data == stored_data:
        return "same"
    parsed = (jsonl.parse_rows(files.decode(text, file=path.name), file=path.name) for text in (data, stored_data))
    own_rows, stored = (by_identity((row for _, row in rows), identity) for rows in parsed)
    if last:
        own_rows, stored = ({key: rows[-1:] for key, rows in table.items()} for table in (own_rows, stored))
    if own_rows == stored:
        return "same"
    return "other" if missing(((key, row) for key, rows in own_rows.items() for row in rows), stored) else "behind"
