"""The built-in evaluation as it might be half-way: some series judged by both assessors, the rest still to do."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from qassay.evaluation import open_evaluation
from qassay.formats.folder import Folder, open_folder, read_configuration
from qassay.judging import Wanted
from qassay.store.acts import Act, Assessor
from qassay.store.assignment.assignments import all_assignments, assign
from qassay.store.engine import Store, open_store
from qassay.store.folder.importing import import_folder
from qassay.store.judging.nugget_changes import begin_matching
from qassay.store.judging.nuggets import nuggets_of
from qassay.store.people import add_account
from qassay.store.people.sessions import hash_password
from qassay.store.pool.pooling import pool_mark
from qassay.web.pooling import pool

# Judged by both assessors; of the other series nothing is judged yet.
JUDGED = frozenset(str(number) for number in range(1, 11))
PEOPLE = (
    ("organiser", "organiser"),
    ("assessor-1", "assessor"),
    ("assessor-2", "assessor"),
    ("adjudicator", "adjudicator"),
    ("reader", "reader"),
)


@dataclass(frozen=True, slots=True)
class DemoAccount:
    """Somebody to sign in as."""

    name: str
    role: str
    password: str


def prepare(path: Path) -> list[DemoAccount]:
    """Make a store of a copy of the built-in evaluation, with people, a pool and work half done."""
    folder = open_folder(path)
    _go_back(folder)
    store = open_store(folder, create=True)
    try:
        import_folder(store, folder)
        return _people_and_work(folder, store)
    finally:
        store.close()


def give_out(
    store: Store,
    folder: Path,
    accounts: Sequence[int],
    *,
    assessors: int = 2,
    by: int | None = None,
    holistic: bool = False,
    citations: bool = False,
) -> None:
    """Pool everything that the runs returned, and give every question to `assessors` of these accounts."""
    with store.read() as connection:
        mark = pool_mark(connection)
    evaluation = open_evaluation(folder, store=store)
    pool(store, evaluation, mark=mark, account=by, wanted=Wanted(holistic, citations))
    with store.write() as connection:
        who = None if by is None else Assessor(by, "")
        assign(Act(connection, evaluation.task, who), evaluation.questions, assessors=assessors, accounts=accounts)


def _people_and_work(folder: Folder, store: Store) -> list[DemoAccount]:
    made = [DemoAccount(name, role, secrets.token_urlsafe(9)) for name, role in PEOPLE]
    with store.write() as connection:
        accounts = {
            person.name: add_account(connection, person.name, person.role, password=hash_password(person.password)).id
            for person in made
        }
    give_out(store, folder.path, [accounts["assessor-1"], accounts["assessor-2"]], by=accounts["organiser"])
    with store.write() as connection:
        # Assessors who have matched nuggets have written them before.
        act = Act(connection, read_configuration(folder).task)
        for assignment in all_assignments(connection):
            if assignment.done and nuggets_of(connection, assignment.set, assignment.question):
                begin_matching(act, assignment)
    return made


def _go_back(folder: Folder) -> None:
    """Leave of the judgments what two assessors said of some series; nothing is adjudicated."""
    series = {question.id: question.series for question in open_evaluation(folder.path).questions}
    for files in (folder.judgment_sets(), folder.nugget_lists()):
        for name, path in files.items():
            if name not in ("first", "second", "development"):
                path.unlink()
                continue
            lines = path.read_text(encoding="utf-8").splitlines()
            kept = [line for line in lines if name == "development" or series[json.loads(line)["question"]] in JUDGED]
            path.write_text("".join(line + "\n" for line in kept), encoding="utf-8")
