"""Bring the files of a folder into the store: what it lacks, and what differs.

Nothing is ever taken away: questions and runs that only the store has stay. Rows of judgments, nuggets and answers that
are there already are not repeated, so that taking the same file in twice adds nothing; a row that was taken back in
the meantime is not there any more, and comes in anew.
"""

from __future__ import annotations

from sqlalchemy import Connection, select

from qassay.errors import InputError, Problem
from qassay.formats import files
from qassay.formats.folder import CONFIGURATION, Configuration, Folder, read_configuration, with_two_way
from qassay.formats.importing import Plan
from qassay.store.acts import Act
from qassay.store.assignment.assignments import keep_others_out, refresh_totals
from qassay.store.development.questions import test_set
from qassay.store.engine import Store
from qassay.store.fingerprint import EVALUATION
from qassay.store.folder.incoming import Incoming, Known, read_incoming
from qassay.store.folder.taking import Taken, Taking
from qassay.store.schema import nugget
from qassay.store.settings import get_setting, note_action, put_setting


def take_in(store: Store, folder: Folder, *, replace: bool = False, account: int | None = None) -> list[Taken]:
    """Bring the files of a folder in, all or nothing, and say what was added; files that add nothing are left out.

    With `replace`, a run that differs from the one with its tag takes its place; else that is an error.
    """
    configuration = read_configuration(folder)
    with store.read() as connection:
        known = Known(test_set(connection).by_id, _nuggets(connection))
    incoming = read_incoming(folder, configuration, known)
    with store.write() as connection:
        _keep_others_out(connection)
        _claim(connection, configuration)
        taking = Taking(connection, incoming, replace=replace, account=account)
        taking.everything()
        if taking.problems:
            raise InputError(taking.problems)
        _mark_two_way(folder, incoming)
        if taking.taken:
            # What was imported may be what somebody was to judge.
            refresh_totals(Act(connection, configuration.task))
            note_action(connection, "take-in", account=account, files=[one.as_json() for one in taking.taken])
    return taking.taken


def carry_out(plan: Plan, store: Store, *, account: int | None = None) -> list[Taken]:
    """Carry out an import that was planned on the contents of a store (`snapshot`), all or nothing.

    What a store holds goes there; configuration and patterns are files of the folder itself.
    """
    place = files.TemporaryFolder()
    stored = {path for path in plan.contents if path.is_relative_to(plan.folder.contents)}
    own = {path: data for path, data in plan.contents.items() if path not in stored}
    files.write_all({place.path / path.relative_to(plan.folder.contents): plan.contents[path] for path in stored})
    # The plan has asked for leave to replace where it was needed.
    taken = take_in(store, Folder(plan.folder.path, place), replace=True, account=account)
    files.write_all(own)
    return taken


def _keep_others_out(connection: Connection) -> None:
    """On PostgreSQL, where writers do not wait for each other: nobody appends between looking and appending."""
    keep_others_out(connection)
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("LOCK TABLE question, judgment, nugget, answer, run IN SHARE ROW EXCLUSIVE MODE")


def _claim(connection: Connection, configuration: Configuration) -> None:
    """The database belongs to the evaluation whose files came in first."""
    if get_setting(connection, EVALUATION) is None:
        put_setting(connection, EVALUATION, configuration.name)


def _nuggets(connection: Connection) -> dict[str, set[tuple[str, str]]]:
    """The nuggets that stand on each list."""
    c = nugget.c
    lists: dict[str, set[tuple[str, str]]] = {}
    for row in connection.execute(select(c.list, c.question, c.nugget, c.body).order_by(c.id)):
        named = lists.setdefault(row.list, set())
        (named.discard if row.body is None else named.add)((row.question, row.nugget))
    return lists


def _mark_two_way(folder: Folder, incoming: Incoming) -> None:
    """Labels leave their file of pairs: that their NO means "not entailed" goes to `qassay.toml`."""
    if incoming.found is None or not incoming.found.two_way:
        return
    old = files.read_text(folder.configuration)
    marked = with_two_way(old, "reference")
    if marked is None:
        message = 'add "reference" to two_way: the labels of the pairs are two-way (NO ENTAILMENT)'
        raise InputError(Problem("configuration", message, CONFIGURATION))
    if marked != old:
        files.write_text(folder.configuration, marked)
