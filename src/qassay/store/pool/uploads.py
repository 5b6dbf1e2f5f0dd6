"""Runs in the store: kept to the byte, described, withdrawn and restored; never overwritten here.

`submissions` are the runs of participants, who may also replace theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from qassay.errors import InputError, Problem, UsageError, unknown
from qassay.formats import files
from qassay.formats.names import LONGEST_FILE_NAME, file_name
from qassay.formats.runs import file_suffix
from qassay.judging import digest
from qassay.runs import RunInformation
from qassay.store.acts import Act
from qassay.store.schema import account as accounts
from qassay.store.schema import run as table
from qassay.store.settings import WAITING, get_setting, put_setting, setting_to_change


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run, without its responses."""

    tag: str
    file: str
    size: int
    information: RunInformation
    withdrawn: bool
    at: str
    by: str | None


def list_runs(connection: Connection, *, limit: int, offset: int = 0) -> list[StoredRun]:
    """Runs by tag, some of them."""
    rows = connection.execute(_runs().order_by(table.c.tag).limit(limit).offset(offset))
    return [_read(row) for row in rows]


def every_run(connection: Connection) -> list[StoredRun]:
    """All runs by tag."""
    return [_read(row) for row in connection.execute(_runs().order_by(table.c.tag))]


def find_run(connection: Connection, tag: str) -> StoredRun:
    """One run; an error where there is none."""
    row = connection.execute(_runs().where(table.c.tag == tag)).one_or_none()
    if row is None:
        raise unknown("run", tag, ())
    return _read(row)


def count_runs(connection: Connection) -> tuple[int, int]:
    """How many runs there are, and how many of them are withdrawn."""
    rows = connection.execute(select(table.c.withdrawn, func.count()).group_by(table.c.withdrawn))
    counts = {bool(withdrawn): count for withdrawn, count in rows}
    return sum(counts.values()), counts.get(True, 0)


def keep_run(act: Act, tag: str, data: bytes, *, called: str, information: RunInformation) -> None:
    """Keep a checked run; an error where its tag is in use, which says what to do."""
    connection = act.connection
    name = file_name(tag) + file_suffix(data)
    if len(name.encode()) > LONGEST_FILE_NAME:
        message = f"the tag {tag[:60]}… is too long for a file name; give the run a shorter one"
        raise InputError(Problem("configuration", message, called))
    waiting = _waiting(connection, tag)
    described = _information_row(tag, information.or_before(_information(waiting)), waiting)
    values = {"tag": tag, "file": name, "data": data, "information": described, "account": act.account, "at": act.at}
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    new = dialect.insert(table).values(**values).on_conflict_do_nothing().returning(table.c.tag)
    if connection.execute(new).first() is not None:
        act.note("upload-run", run=tag, file=called, size=len(data))
        return
    stored = connection.execute(select(table.c.data, table.c.withdrawn).where(table.c.tag == tag)).one()
    path = Path(called)
    which = "this run" if files.unpack(bytes(stored.data), path) == files.unpack(data, path) else "another run"
    way = "restore it, or give" if stored.withdrawn else "give"
    withdrawn = ", which is withdrawn" if stored.withdrawn else ""
    message = f"{which} {tag} is here already{withdrawn}; {way} this file a tag of its own"
    raise InputError(Problem("second-tag", message, called))


def describe_run(act: Act, tag: str, information: RunInformation) -> None:
    """Say what a run is: its row of runs.jsonl; recorded."""
    connection = act.connection
    before = connection.execute(select(table.c.information).where(table.c.tag == tag)).one_or_none()
    if before is None:
        raise unknown("run", tag, ())
    text = _information_row(tag, information, before.information)
    if text == before.information:
        return
    connection.execute(update(table).where(table.c.tag == tag).values(information=text))
    was = None if before.information is None else msgspec.json.decode(before.information)
    now_is = None if text is None else msgspec.json.decode(text)
    act.note("describe-run", run=tag, before=was, after=now_is)


def set_withdrawn(act: Act, tag: str, *, withdrawn: bool, reason: str) -> None:
    """Withdraw a run, or restore it; recorded, and its judgments stay."""
    connection = act.connection
    stored = connection.execute(select(table.c.withdrawn).where(table.c.tag == tag)).one_or_none()
    if stored is None:
        raise unknown("run", tag, ())
    if bool(stored.withdrawn) == withdrawn:
        raise UsageError(f"run {tag} is {'withdrawn already' if withdrawn else 'not withdrawn'}")
    connection.execute(update(table).where(table.c.tag == tag).values(withdrawn=withdrawn))
    action = "withdraw-run" if withdrawn else "restore-run"
    act.note(action, run=tag, reason=reason)


def runs_mark(connection: Connection) -> str:
    """A mark that changes whenever a run comes, goes or is replaced, or its priority changes.

    Results under the same mark are current.
    """
    c = table.c
    rows = connection.execute(select(c.tag, c.at, c.information).where(~c.withdrawn).order_by(c.tag))
    marks: list[tuple[Any, ...]] = []
    for tag, at, text in rows:
        about = _information(text)
        marks.append((tag, at) if about.priority is None else (tag, at, about.organisation, about.priority))
    return digest(marks)


def _runs() -> Select[Any]:
    c = table.c
    size = func.length(c.data).label("size")
    columns = (c.tag, c.file, size, c.information, c.withdrawn, c.at, accounts.c.name.label("by"))
    return select(*columns).join(accounts, accounts.c.id == c.account, isouter=True)


def _read(row: Any) -> StoredRun:
    return StoredRun(row.tag, row.file, row.size, _information(row.information), bool(row.withdrawn), row.at, row.by)


def _information(text: str | None) -> RunInformation:
    return RunInformation.of_row({} if text is None else msgspec.json.decode(text))


def _information_row(tag: str, information: RunInformation, before: str | None) -> str | None:
    """The row of runs.jsonl; None where a description is empty."""
    row = information.row(tag, {} if before is None else msgspec.json.decode(before))
    return None if row.keys() == {"run"} else msgspec.json.encode(row).decode()


def lock_runs(connection: Connection) -> None:
    """On PostgreSQL, where writers do not wait for each other: one at a time counts and adds runs."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("LOCK TABLE run IN SHARE ROW EXCLUSIVE MODE")


def waiting_information(connection: Connection, tag: str) -> RunInformation | None:
    """The description that came before the run; None where there is none."""
    waiting: dict[str, str] = get_setting(connection, WAITING) or {}
    return _information(waiting[tag]) if tag in waiting else None


def _waiting(connection: Connection, tag: str) -> str | None:
    """The description that came before the run, which is used up."""
    if connection.dialect.name == "postgresql":
        # Before the setting: an import locks the runs, and goes on to it.
        connection.exec_driver_sql("LOCK TABLE run IN ROW EXCLUSIVE MODE")
    waiting: dict[str, str] = setting_to_change(connection, WAITING) or {}
    described = waiting.pop(tag, None)
    if described is not None:
        put_setting(connection, WAITING, waiting or None)
    return described
