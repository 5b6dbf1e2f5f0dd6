"""The built-in evaluation as it might be half-way: a finished and published part, and a part to judge.

Twelve series are judged by two assessors, adjudicated and published; two wait for the adjudicator, and two are to be
judged. A program has judged too, so that its worth can be looked at.
"""

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
from qassay.store.settings import put_setting
from qassay.web.pooling import pool
from qassay.web.results import publishing
from qassay.web.results.finding import find

# Judged by both assessors; of the other series nothing is judged yet.
JUDGED = frozenset(str(number) for number in range(1, 15))
# Adjudicated too.
FINISHED = frozenset(str(number) for number in range(1, 13))
# The program that has judged, by the answer patterns of the evaluation.
PROGRAM = "patterns"
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
    """Make a store of a copy of the built-in evaluation, with people, a program, results and work half done."""
    folder = open_folder(path)
    _leave_half_judged(folder)
    _judge_by_program(path)
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
    by: Assessor | None = None,
    holistic: bool = False,
    citations: bool = False,
) -> None:
    """Pool everything that the runs returned, and give every question to `assessors` of these accounts."""
    with store.read() as connection:
        mark = pool_mark(connection)
    evaluation = open_evaluation(folder, store=store)
    pool(store, evaluation, mark=mark, person=by, wanted=Wanted(holistic, citations))
    with store.write() as connection:
        assign(Act(connection, evaluation.task, by), evaluation.questions, assessors=assessors, accounts=accounts)


def _people_and_work(folder: Folder, store: Store) -> list[DemoAccount]:
    password = secrets.token_urlsafe(9)
    hashed = hash_password(password)
    with store.write() as connection:
        accounts = {name: add_account(connection, name, role, password=hashed).id for name, role in PEOPLE}
    # The first series were published before the others were given out.
    organiser = Assessor(accounts["organiser"], "organiser")
    _publish(folder, store, organiser)
    give_out(store, folder.path, [accounts["assessor-1"], accounts["assessor-2"]], by=organiser)
    with store.write() as connection:
        # Assessors who have matched nuggets have written them before.
        act = Act(connection, read_configuration(folder).task)
        for assignment in all_assignments(connection):
            if assignment.done and nuggets_of(connection, assignment.set, assignment.question):
                begin_matching(act, assignment)
    return [DemoAccount(name, role, password) for name, role in PEOPLE]


def _publish(folder: Folder, store: Store, organiser: Assessor) -> None:
    """Publish the leaderboard of the finished series, and say that results may be looked at before the rest is."""
    scoring = {"unjudged": "drop"}
    finding = find("score", open_evaluation(folder.path, store=store), scoring)
    with store.write() as connection:
        publishing.publish(
            Act(connection, read_configuration(folder).task, organiser),
            finding,
            scoring,
            title=f"The first {len(FINISHED)} series",
            provisional=None,
        )
        put_setting(connection, publishing.SHOWN_EARLY, True)


def _judge_by_program(path: Path) -> None:
    """Let the program judge all answers, into a set of its own."""
    from qassay.assessors import judge

    judge(open_evaluation(path), PROGRAM)


def _leave_half_judged(folder: Folder) -> None:
    """Keep the judgments of two assessors on some series, and the adjudicated ones of a part of these."""
    series = {question.id: question.series for question in open_evaluation(folder.path).questions}
    series_of_set = {
        "first": JUDGED,
        "second": JUDGED,
        "adjudicated": FINISHED,
        "development": frozenset(series.values()),
    }
    for files in (folder.judgment_sets(), folder.nugget_lists()):
        for name, part in files.items():
            path = folder.path / part.name
            if name not in series_of_set:
                path.unlink()
                continue
            lines = part.text().splitlines()
            rows = [line for line in lines if series[json.loads(line)["question"]] in series_of_set[name]]
            path.write_text("".join(line + "\n" for line in rows), encoding="utf-8")
