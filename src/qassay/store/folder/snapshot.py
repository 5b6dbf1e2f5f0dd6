"""A store as the contents of its folder, and the files of the folder compared with it.

The rows of a store have the names and the form of the files that an export writes, and are read by the same code, so
that the scores of a store and those of its export are the same by construction.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from sqlalchemy import Connection, func, select

from qassay.errors import InputError, Problem
from qassay.formats import files, jsonl
from qassay.formats.folder import (
    ANSWERS,
    INFORMATION,
    QUESTIONS,
    Configuration,
    Folder,
    judgment_file,
    may_have_store,
    named_database,
    nugget_file,
    read_configuration,
    run_file,
)
from qassay.formats.importing.rows import Identity, by_identity, judgment_identity, missing, row_identity
from qassay.formats.parts import Contents, Part, part_of
from qassay.formats.questions import read_questions
from qassay.judging import digest
from qassay.questions import TestSet
from qassay.store.engine import Store, connected, open_store
from qassay.store.schema import answer, current_judgment, judgment, nugget, question, run
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

# Runs are read at once where all of them are smaller than this, and judgment sets that were read are kept up to it.
KEPT_BYTES = 64 << 20
# The last contents, by the address of their store: they are read again only where the store has changed.
_latest: dict[str, Contents] = {}


def snapshot(store: Store, folder: Folder, *, close: bool = False) -> Folder:
    """The folder with the contents of its store as they are now.

    Judgment sets and large runs are read when they are asked for: judgments up to the last one of now. With `close`, no
    connection to the store is left open in between.
    """
    url = store.engine.url.render_as_string(hide_password=True)
    with store.read() as connection:
        mark = f"{url} {fingerprint(connection)}"
        contents = _latest.get(url)
        if contents is None or contents.mark != mark:
            contents = _contents(connection, _Reader(store, close), mark)
            _latest.clear()
            _latest[url] = contents
    return Folder(folder.path, contents)


def _contents(connection: Connection, reader: _Reader, mark: str) -> Contents:
    parts = {name: part_of(name, _ended(lines)) for name, lines in _small_parts(connection).items() if lines}
    parts |= _run_parts(connection, reader)
    parts |= _set_parts(connection, reader)
    empty: dict[str, list[str]] = get_setting(connection, EMPTY_FILES) or {}
    for name in (*map(nugget_file, empty.get("nuggets", ())), *map(judgment_file, empty.get("judgments", ()))):
        parts.setdefault(name, part_of(name, b""))
    drafts = connection.execute(select(func.count()).where(question.c.draft)).scalar_one()
    return Contents(parts, mark, drafts)


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


def _small_parts(connection: Connection) -> dict[str, Sequence[str]]:
    """The lines of questions, answers, nugget lists and run information."""
    questions = select(question.c.body).where(~question.c.draft).order_by(question.c.ordinal, question.c.id)
    answers = select(answer.c.body).where(answer.c.question.not_in(_DRAFTS)).order_by(answer.c.id)
    return {
        QUESTIONS: connection.execute(questions).scalars().all(),
        ANSWERS: connection.execute(answers).scalars().all(),
        INFORMATION: list(information_lines(connection).values()),
        **{nugget_file(name): lines for name, lines in nugget_lines(connection).items()},
    }


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


class _Reader:
    """Reads runs and judgment sets of a store; the sets that were read last are kept."""

    def __init__(self, store: Store, close: bool) -> None:
        self.store, self.close = store, close
        self.kept: dict[str, bytes] = {}

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection for one part."""
        try:
            with self.store.read() as connection:
                yield connection
        finally:
            if self.close:
                self.store.close()

    def run(self, tag: str) -> bytes:
        """The file of a run, to the byte."""
        with self.connection() as connection:
            return bytes(connection.execute(select(run.c.data).where(run.c.tag == tag)).scalar_one())

    def judgments(self, name: str, last: int) -> bytes:
        """The rows of a judgment set up to a judgment, in the order in which they were made."""
        data = self.kept.pop(name, None)
        if data is None:
            with self.connection() as connection:
                data = _judgment_rows(connection, name, last)
        self.kept[name] = data
        while sum(map(len, self.kept.values())) > KEPT_BYTES:
            self.kept.pop(next(iter(self.kept)))
        return data


def _run_parts(connection: Connection, reader: _Reader) -> dict[str, Part]:
    parts: dict[str, Part] = {}
    current = ~run.c.withdrawn
    size = connection.execute(select(func.coalesce(func.sum(func.length(run.c.data)), 0)).where(current)).scalar_one()
    columns = (run.c.tag, run.c.file, *([run.c.data] if size <= KEPT_BYTES else []))
    for tag, file, *data in connection.execute(select(*columns).where(current).order_by(run.c.tag)):
        # A name out of a database is not trusted with a path, nor to be there once.
        name = f"runs/{Path(file).name.lstrip('.')}"
        if name == "runs/" or name in parts:
            name = run_file(tag, "".join(Path(file).suffixes[-2:]))
        parts[name] = part_of(name, bytes(data[0])) if data else Part(name, partial(reader.run, tag))
    return parts


def _set_parts(connection: Connection, reader: _Reader) -> dict[str, Part]:
    """The judgment sets with a current judgment."""
    c, current = judgment.c, current_judgment.c
    last = connection.execute(select(func.coalesce(func.max(c.id), 0))).scalar_one()
    parts: dict[str, Part] = {}
    # One step for each name: the index finds the next, and no row is read.
    name: str | None = ""
    while (name := connection.execute(select(func.min(c.set)).where(c.set > name)).scalar()) is not None:
        rows = select(current.set).where(current.set == name, current.body.is_not(None)).limit(1)
        if connection.execute(rows).first() is not None:
            file = judgment_file(name)
            parts[file] = Part(file, partial(reader.judgments, name, last))
    return parts


def _judgment_rows(connection: Connection, name: str, last: int) -> bytes:
    c = judgment.c
    rows = (c.set == name, c.id <= last)
    undone = select(c.subject, c.version).where(*rows, c.body.is_(None)).order_by(c.version)
    undone_at: dict[str, int] = {row[0]: row[1] for row in connection.execute(undone)}
    columns = (c.body, c.subject, c.version) if undone_at else (c.body,)
    chosen = select(*columns).where(*rows).order_by(c.id).execution_options(yield_per=_MANY)
    return b"".join(
        _ended([row[0] for row in part if not undone_at or row[2] > undone_at.get(row[1], 0)])
        for part in connection.execute(chosen).partitions()
    )


def _ended(lines: Sequence[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode() if lines else b""


# ---- comparing a folder with its store ------------------------------------------------------------------------------


def differing_files(folder: Folder) -> list[Problem]:
    """A warning for each file of a folder that differs from its store, whose contents are the folder's parts.

    Rows are compared by content, identity by identity: the order of fields and of rows about other things makes no
    difference.
    """
    where = shlex.quote(str(folder.path))
    export = f"qassay export {where} --to {where} --force"
    return [
        Problem("configuration", ADVICE[state].format(export=export), part.name)
        for part, state in _states(Folder(folder.path), folder)
        if state != "same"
    ]


def _states(folder: Folder, stored: Folder) -> Iterator[tuple[Part, State]]:
    """Every file of the folder, compared with the store; a file that cannot be read differs."""
    for part, compare in _comparisons(folder, stored):
        try:
            yield part, compare(part)
        except InputError:
            yield part, "other"


def _comparisons(folder: Folder, stored: Folder) -> Iterator[tuple[Part, Callable[[Part], State]]]:
    questions, task = TestSet(()), read_configuration(folder).task
    if stored.question_files():
        questions = read_questions(stored.questions()).questions
    for part in folder.question_files():
        yield part, partial(_questions_state, questions)
    if (answers := folder.answers) is not None:
        yield answers, partial(_rows_state, stored.answers, row_identity("answers"))
    if (information := folder.run_information) is not None:
        yield information, partial(_rows_state, stored.run_information, row_identity("run-information"), last=True)
    lists, sets = stored.nugget_lists(), stored.judgment_sets()
    for name, part in folder.nugget_lists().items():
        yield part, partial(_rows_state, lists.get(name), row_identity("nuggets"))
    for name, part in folder.judgment_sets().items():
        yield part, partial(_rows_state, sets.get(name), judgment_identity(questions, task))
    # A run may have been imported under another file name: its bytes identify it.
    digests = {digest(part.read()) for part in stored.runs()}
    for part in folder.runs():
        yield part, lambda part: "same" if digest(part.read()) in digests else "other"


def _questions_state(stored: TestSet, part: Part) -> State:
    questions = read_questions(part).questions.questions
    if questions == stored.questions:
        return "same"
    return "behind" if all(stored.by_id.get(question.id) == question for question in questions) else "other"


def _rows_state(other: Part | None, identity: Identity, part: Part, *, last: bool = False) -> State:
    """Compare the rows of two files: of every identity all rows or, with `last`, the last one."""
    data, stored_data = part.read(), b"" if other is None else other.read()
    if data == stored_data:
        return "same"
    parsed = (jsonl.parse_rows(files.decode(text, file=part.name), file=part.name) for text in (data, stored_data))
    own_rows, stored = (by_identity((row for _, row in rows), identity) for rows in parsed)
    if last:
        own_rows, stored = ({key: rows[-1:] for key, rows in table.items()} for table in (own_rows, stored))
    if own_rows == stored:
        return "same"
    return "other" if missing(((key, row) for key, rows in own_rows.items() for row in rows), stored) else "behind"
