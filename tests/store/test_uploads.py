"""Runs of the store: kept to the byte and once, described, withdrawn; and the pool that follows them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import qassay
from acting import act
from qassay.errors import InputError, UsageError
from qassay.judging import Wanted
from qassay.judging.items import pool_items
from qassay.runs import RunInformation
from qassay.store.assignment.assignments import all_assignments, assign, pool_sizes
from qassay.store.assignment.progress import find_questions, hand_over, unassigned_questions, workloads
from qassay.store.engine import Store
from qassay.store.people import add_account
from qassay.store.pool.items import order_seed
from qassay.store.pool.pooling import pool_mark, pool_summary, store_pool
from qassay.store.pool.uploads import count_runs, describe_run, find_run, keep_run, list_runs, set_withdrawn
from qassay.store.schema import assignment, record, run

Serve = Callable[[Path], Store]
NEW = b"1.1 c D1 1902\n1.2 c D1 Ann\n1.3 c D1 it meets\n"
NOTHING = RunInformation()


def pooled(folder: Path, store: Store) -> None:
    evaluation = qassay.open(folder)
    with store.write() as connection:
        seed, mark = order_seed(connection), pool_mark(connection)
    pooled = pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed=seed)
    store_pool(store, pooled, evaluation.questions, evaluation.task, mark=mark, wanted=Wanted(), person=None)


def test_a_run_is_kept_to_the_byte_under_its_tag(served: Serve, small: Path) -> None:
    store = served(small)
    packed = gzip.compress(NEW, mtime=0)
    with store.write() as connection:
        keep_run(act(connection), "c", packed, called="any.gz", information=RunInformation("west", manual=True))
        assert connection.execute(run.select().where(run.c.tag == "c")).one().data == packed
        assert find_run(connection, "c").file == "c.txt.gz"
        assert [run.tag for run in list_runs(connection, limit=2, offset=1)] == ["b", "c"]
    about = qassay.open(small).information["c"]
    assert (about.organisation, about.manual) == ("west", True)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"1.1 a D1 1901\n1.2 a D1 Ann\n1.2 a D2 Bob\n1.3 a D1 a chess club\n", "this run a is here already"),
        (b"1.1 a D1 1902\n1.2 a NIL\n1.3 a NIL\n", "another run a is here already"),
    ],
)
def test_a_tag_is_taken_once(served: Serve, small: Path, data: bytes, says: str) -> None:
    with served(small).write() as connection:
        with pytest.raises(InputError, match=says):
            keep_run(act(connection), "a", data, called="a.txt", information=NOTHING)
        set_withdrawn(act(connection), "a", withdrawn=True, reason="")
        with pytest.raises(InputError, match="which is withdrawn; restore it"):
            keep_run(act(connection), "a", data, called="a.txt", information=NOTHING)
        assert count_runs(connection) == (2, 1)


def test_a_description_keeps_what_else_the_row_says(served: Serve, small: Path) -> None:
    with served(small).write() as connection:
        describe_run(act(connection), "b", RunInformation("east", None, True, 3))
        row = json.loads(connection.execute(run.select().where(run.c.tag == "b")).one().information)
        assert row == {"run": "b", "organisation": "east", "colour": "red", "manual": True, "priority": 3}
        describe_run(act(connection), "b", RunInformation(None, None, False, None))
        row = json.loads(connection.execute(run.select().where(run.c.tag == "b")).one().information)
        assert row == {"run": "b", "colour": "red", "manual": False}
        actions = connection.execute(record.select().where(record.c.action == "describe-run")).all()
        assert [json.loads(action.body)["before"].get("organisation") for action in actions] == ["south", "east"]
        with pytest.raises(UsageError, match="unknown run"):
            describe_run(act(connection), "z", NOTHING)


def test_a_description_that_came_before_its_run_is_used(served: Serve, small: Path, write: Callable[..., Path]) -> None:
    rows = [{"run": "c", "organisation": "waiting"}]
    write(small, "runs.jsonl", rows)
    with served(small).write() as connection:
        keep_run(act(connection), "c", NEW, called="c.txt", information=RunInformation(priority=1))
        about = find_run(connection, "c").information
        assert (about.organisation, about.priority) == ("waiting", 1)


def test_the_pool_follows_the_runs_and_the_counts_follow_the_pool(served: Serve, small: Path) -> None:
    store = served(small)
    pooled(small, store)
    with store.write() as connection:
        summary = pool_summary(connection)
        assert summary is not None
        assert summary.types == [("factoid", "item", 1, 1), ("list", "list", 1, 2), ("other", "match", 1, 2)]
        assert (summary.items, summary.questions, summary.nothing) == (5, 3, 0)
        assert pool_sizes(connection) == {"1.1": 1, "1.2": 3, "1.3": 2}
        assert summary.mark == pool_mark(connection)
        ada = add_account(connection, "Ada", "assessor").id
        assign(act(connection), qassay.open(small).questions, assessors=1, accounts=[ada])
        # All of it was judged in the file of the first assessor.
        assert {
            assignment.question: (assignment.done, assignment.total) for assignment in all_assignments(connection)
        } == {
            "1.1": (1, 1),
            "1.2": (3, 3),
            "1.3": (2, 2),
        }
        assert all(assignment.closed for assignment in all_assignments(connection))
        keep_run(act(connection), "c", NEW, called="c.txt", information=NOTHING)
        assert summary.mark != pool_mark(connection)
    pooled(small, store)
    with store.write() as connection:
        assert {
            assignment.question: (assignment.done, assignment.total, bool(assignment.closed))
            for assignment in all_assignments(connection)
        } == {
            "1.1": (1, 2, False),
            "1.2": (3, 4, False),
            "1.3": (2, 3, False),
        }
        set_withdrawn(act(connection), "a", withdrawn=True, reason="a mistake")
    pooled(small, store)
    with store.write() as connection:
        counts = {
            assignment.question: (assignment.done, assignment.total) for assignment in all_assignments(connection)
        }
        assert counts == {"1.1": (0, 1), "1.2": (1, 2), "1.3": (1, 2)}


def test_work_is_handed_over_a_series_at_a_time_and_what_was_done_stays(served: Serve, small: Path) -> None:
    (small / "judgments" / "first.jsonl").unlink()
    store = served(small)
    questions = qassay.open(small).questions
    pooled(small, store)
    with store.write() as connection:
        ada, ben, cleo = (add_account(connection, name, "assessor").id for name in ("Ada", "Ben", "Cleo"))
        assign(act(connection), questions, assessors=2, accounts=[ada, ben])
        connection.execute(assignment.update().where(assignment.c.question == "1.1").values(closed="2026"))
        connection.execute(assignment.update().where(assignment.c.question == "1.3").values(done=1, seconds=30))
        assert hand_over(act(connection), questions, ada, [ben]) == (0, 2)  # Ben judges them already
        assert hand_over(act(connection), questions, ada, [ben, cleo]) == (2, 0)
        mine = {
            assignment.question: assignment.account
            for assignment in all_assignments(connection)
            if assignment.account in (ada, cleo)
        }
        assert mine == {"1.1": ada, "1.2": cleo, "1.3": cleo}
        assert sum(assignment.done for assignment in all_assignments(connection)) == 2
        assert hand_over(act(connection), questions, cleo, []) == (2, 0)
        assert hand_over(act(connection), questions, None, [cleo]) == (2, 0)
        with pytest.raises(UsageError, match="same person"):
            hand_over(act(connection), questions, cleo, [cleo])
        assert find_questions(connection) == (["1.1", "1.2", "1.3"], 3)
        assert find_questions(connection, first=1, limit=1) == (["1.2"], 3)
        assert find_questions(connection, state="finished") == (["1.1"], 1)
        assert find_questions(connection, state="begun") == (["1.3"], 1)
        assert find_questions(connection, state="waiting") == (["1.2"], 1)
        assert find_questions(connection, state="open") == (["1.2", "1.3"], 2)
        assert find_questions(connection, state="nothing") == ([], 0)
        assert find_questions(connection, state="unassigned") == ([], 0)
        assert find_questions(connection, sort="left") == (["1.2", "1.3", "1.1"], 3)
        assert find_questions(connection, sort="spent")[0][0] == "1.3"
        assert find_questions(connection, person=cleo) == (["1.2", "1.3"], 2)
        assert find_questions(connection, person=None) == ([], 0)
        assert unassigned_questions(connection) == 0
        sums = {
            workload.account: (workload.questions, workload.closed, workload.left, workload.seconds)
            for workload in workloads(connection)
        }
        assert sums == {ada: (1, 1, 0, 0), ben: (3, 1, 4, 30), cleo: (2, 0, 4, 30)}
