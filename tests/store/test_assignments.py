"""Who judges what: even, together, resumable, and never the same thing to two people at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import desk as desks
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, delete, insert, select, update

from acting import act
from qassay.errors import InputError, UsageError
from qassay.judging import Wanted
from qassay.judging.items import pool_items
from qassay.questions import Question, TestSet
from qassay.store.assignment import assignments
from qassay.store.assignment.assignments import (
    all_assignments,
    assign,
    assignments_of,
    is_work_waiting,
    reassign,
    reopen,
    take,
    withdraw_assignments,
)
from qassay.store.assignment.counting import parts_for
from qassay.store.assignment.progress import workloads
from qassay.store.engine import Store
from qassay.store.judging.decisions import LockedError
from qassay.store.judging.nugget_changes import NuggetChange, begin_list
from qassay.store.pool.items import items_of, order_seed
from qassay.store.pool.pooling import pool_mark, store_pool
from qassay.store.schema import assignment, item, record

store = desks.store


def lay_out(connection: Connection, sizes: Sequence[tuple[str | None, int]]) -> TestSet:
    """Questions with this many items each, in the series named."""
    questions = [Question(str(n), "factoid", series=series) for n, (series, _) in enumerate(sizes)]
    rows = [
        {"id": 1000 * n + i, "question": str(n), "kind": "item", "ordinal": i, "body": "{}"}
        for n, (_, size) in enumerate(sizes)
        for i in range(size)
    ]
    if rows:
        connection.execute(insert(item), rows)
    return TestSet(tuple(questions))


def loads(connection: Connection) -> Counter[int]:
    totals: Counter[int] = Counter()
    for row in all_assignments(connection):
        totals[row.account] += row.total
    return totals


SIZES = st.lists(st.tuples(st.sampled_from([None, "a", "b", "c", "d"]), st.integers(0, 9)), max_size=25)


def test_work_is_even_together_and_by_different_people(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    store = desks.make_store(request, tmp_path, "sqlite")
    with store.write() as connection:
        people = [person.id for person in desks.add_people(connection, 6)]

    @settings(max_examples=60)
    @given(sizes=SIZES, assessors=st.integers(1, 3), number=st.integers(3, 6))
    def check(sizes: Any, assessors: int, number: int) -> None:
        with store.write() as connection:
            connection.execute(delete(item))
            connection.execute(delete(assignment))
            questions = lay_out(connection, sizes)
            count = assign(act(connection), questions, assessors=assessors, accounts=people[:number])
            rows = all_assignments(connection)
            asked = {question.id for question, (_, size) in zip(questions, sizes, strict=True) if size}
            assert count == len(rows) == assessors * len(asked)
            for question in asked:
                mine = [row for row in rows if row.question == question]
                assert [assignment.slot for assignment in mine] == list(range(1, assessors + 1))
                assert len({assignment.account for assignment in mine}) == assessors
            groups: dict[Any, int] = {}
            for question, (series, size) in zip(questions, sizes, strict=True):
                groups[series or question.id] = groups.get(series or question.id, 0) + size
            for series in {series for series, size in sizes if series and size}:
                ids = {question.id for question in questions if question.series == series} & asked
                assert len({(row.slot, row.account) for row in rows if row.question in ids}) == assessors
            work = loads(connection)
            if rows:
                assert max(work.values()) - min(work[person] for person in people[:number]) <= max(groups.values())
            assert assign(act(connection), questions, assessors=assessors, accounts=people[:number]) == 0

    check()
    store.close()


def test_assigning_goes_on_where_it_was(store: Store) -> None:
    """New questions, more people and more assessors per question come to what is there; nothing moves."""
    with store.write() as connection:
        people = [person.id for person in desks.add_people(connection, 4)]
        questions = lay_out(connection, [("a", 3), ("a", 3), (None, 5), (None, 4)])
        some = TestSet((questions.questions[0], questions.questions[2]))
        assert assign(act(connection), some, assessors=1, accounts=people[:2]) == 2
        before = all_assignments(connection)
        assert assign(act(connection), questions, assessors=1, accounts=people[:2]) == 2
        who = {(assignment.question, assignment.slot): assignment.account for assignment in all_assignments(connection)}
        assert who["0", 1] == who["1", 1]
        assert all_assignments(connection)[:2] == before
        assert assign(act(connection), questions, assessors=3, accounts=people) == 8
        after = {
            (assignment.question, assignment.slot): assignment.account for assignment in all_assignments(connection)
        }
        assert after.items() >= who.items()
        for question in questions.ids:
            assert len({after[question, slot] for slot in (1, 2, 3)}) == 3
        assert {after["0", slot] for slot in (1, 2, 3)} == {after["1", slot] for slot in (1, 2, 3)}
        assert len(loads(connection)) == 4


def test_a_series_whose_questions_changed_hands_still_gets_different_people(store: Store) -> None:
    with store.write() as connection:
        first, second, third = (person.id for person in desks.add_people(connection, 3))
        questions = lay_out(connection, [("a", 1), ("a", 1), ("a", 1)])
        rows = [("0", 1, first), ("0", 2, second), ("1", 1, second)]
        for question, slot, account in rows:
            values = {"question": question, "slot": slot, "set": assignments.SLOTS[slot - 1], "account": account}
            connection.execute(insert(assignment).values(**values, total=1))
        assert assign(act(connection), questions, assessors=2, accounts=[first, second, third]) == 3
        for question in questions.ids:
            mine = [each.account for each in all_assignments(connection) if each.question == question]
            assert len(set(mine)) == 2


def test_every_person_is_as_often_the_first(store: Store) -> None:
    with store.write() as connection:
        people = [person.id for person in desks.add_people(connection, 3)]
        questions = lay_out(connection, [(None, 4)] * 30)
        assign(act(connection), questions, assessors=2, accounts=people)
        firsts = Counter(assignment.account for assignment in all_assignments(connection) if assignment.slot == 1)
        assert max(firsts.values()) - min(firsts.values()) <= 2


@pytest.mark.parametrize(("assessors", "number"), [(0, 3), (11, 12), (3, 2), (2, 1)])
def test_too_few_people_are_refused(tmp_path: Path, request: Any, assessors: int, number: int) -> None:
    store = desks.make_store(request, tmp_path, "sqlite")
    with store.write() as connection:
        questions = lay_out(connection, [(None, 1)])
        with pytest.raises(InputError):
            assign(act(connection), questions, assessors=assessors, accounts=list(range(number)))
        assert all_assignments(connection) == []
    store.close()


def test_a_person_who_asks_for_work_gets_one_slot_of_a_question(store: Store) -> None:
    with store.write() as connection:
        first, second = (person.id for person in desks.add_people(connection, 2))
        assign(act(connection), lay_out(connection, [(None, 2), (None, 1)]), assessors=2, accounts=[])
        assert is_work_waiting(connection, first)
        got = [take(act(connection, account=first)) for _ in range(3)]
        assert sorted(each.question for each in got if each) == ["0", "1"]
        assert got[2] is None
        assert not is_work_waiting(connection, first)
        assert {take(act(connection, account=second)).question for _ in range(2)} == {"0", "1"}
        assert take(act(connection, account=second)) is None
        assert sum(work.left for work in workloads(connection)) == 6
        assert len(assignments_of(connection, first)) == 2


def test_two_who_ask_at_once_never_get_the_same(store: Store) -> None:
    """Nor does one person with many tabs get two slots of one question, nor an error."""
    with store.write() as connection:
        people = [person.id for person in desks.add_people(connection, 4)]
        assign(act(connection), lay_out(connection, [(None, 1)] * 6), assessors=2, accounts=[])
    barrier = Barrier(16)

    def ask(number: int) -> tuple[int, list[tuple[int, str]]]:
        barrier.wait()
        got = []
        for _ in range(6):
            with store.write() as connection:
                assignment = take(act(connection, account=people[number % 4]))
            if assignment is not None:
                got.append((assignment.id, assignment.question))
        return people[number % 4], got

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, range(16)))
    given_out = [number for _, got in answers for number, _ in got]
    assert len(given_out) == len(set(given_out)) == 12
    for person in people:
        mine = [question for who, got in answers if who == person for _, question in got]
        assert len(mine) == len(set(mine))


def test_a_lease_that_ends_unused_is_free_again(store: Store, tmp_path: Path, monkeypatch: Any) -> None:
    desk = desks.make_desk(store, tmp_path, assessors=2)
    first, second, third = desk.people
    monkeypatch.setattr(assignments, "LEASE", timedelta(minutes=-1))
    with store.write() as connection:
        connection.execute(update(assignment).values(account=None))
        taken = take(act(connection, account=first.id))
        item_, part = _first(connection, taken)
        again = take(act(connection, account=third.id))
        assert (again.id, again.account) == (taken.id, third.id)
        # The earlier assessor gets a message, and writes nothing into another's work.
        with pytest.raises(LockedError, match="not assigned to you"):
            desks.decide(
                act(connection, task=desk.evaluation.task, who=first, key=desks.key()),
                taken,
                item_,
                part,
                {"judgment": "R"},
                expected=0,
            )
        # One judgment makes it theirs for good, even one that was undone.
        desk.say(connection, again, item_, part, {"judgment": "R"})
        desk.take_back(connection, again, item_, part)
        assert take(act(connection, account=second.id)).id != taken.id


def _first(connection: Connection, assignment: Any) -> Any:
    item = items_of(connection, assignment.question)[0]
    return item, parts_for(connection, assignment.set, item, None)[0]


def test_reassigning_keeps_what_was_done(store: Store, tmp_path: Path) -> None:
    desk = desks.make_desk(store, tmp_path)
    with store.write() as connection:
        assignment = desk.assigned(connection, "1.1")
        item_, part = _first(connection, assignment)
        desk.say(connection, assignment, item_, part, {"judgment": "R"})
        other = desk.assigned(connection, "1.1", "second")
        with pytest.raises(InputError, match="judges it already"):
            reassign(act(connection), assignment.id, other.account)
        reassign(act(connection, account=desk.judge.id), assignment.id, desk.judge.id)
        after = desk.assigned(connection, "1.1")
        assert (after.account, after.done, after.set) == (desk.judge.id, 1, "first")
        desk.judge_all(connection, "1.1", "first")
        assert desk.assigned(connection, "1.1").closed
        desk.check_counts(connection)
        with pytest.raises(UsageError):
            reassign(act(connection), 999, None)
        assert [row.action for row in connection.execute(record.select()) if row.question] == ["reassign"]


def test_ratings_of_the_earlier_assessor_are_done(store: Store, tmp_path: Path) -> None:
    """A rating belongs to its judge; the work of a set is done when somebody has done it."""
    questions = [{"id": "p", "type": "pair", "text": "T", "hypothesis": "H"}]
    evaluation = desks.write_evaluation(tmp_path / "evaluation", task="justification", questions=questions, runs={})
    for run in "abc":
        line = f'{{"run": "{run}", "question": "p", "decision": "YES", "justification": "because"}}\n'
        (tmp_path / "evaluation" / "runs" / f"{run}.jsonl").write_text(line, encoding="utf-8")
    desk = desks.make_desk(store, tmp_path, made=evaluation, development=False, assessors=1)
    with store.write() as connection:
        assignment = desk.assigned(connection, "p")
        for place in (0, 1):
            item_ = items_of(connection, "p")[place]
            (part,) = parts_for(connection, assignment.set, item_, desk.who(assignment).name)
            desk.say(connection, assignment, item_, part, {"understandability": 1})
        reassign(act(connection), assignment.id, desk.judge.id)
        desk.check_counts(connection)
        reassigned = desk.assigned(connection, "p")
        (part,) = parts_for(connection, reassigned, items_of(connection, "p")[0], desk.judge.name)
        assert desk.say(connection, reassigned, items_of(connection, "p")[0], part, {"understandability": 2}).done == 2
        (part,) = parts_for(connection, reassigned, items_of(connection, "p")[2], desk.judge.name)
        assert desk.say(connection, reassigned, items_of(connection, "p")[2], part, {"understandability": 2}).closed
        desk.check_counts(connection)


def test_a_slot_is_withdrawn_where_nobody_has_begun(store: Store, tmp_path: Path) -> None:
    desk = desks.make_desk(store, tmp_path)
    with store.write() as connection:
        assignment = desk.assigned(connection, "1.1", "second")
        desk.say(connection, assignment, *_first(connection, assignment), {"judgment": "R"})
        assert withdraw_assignments(act(connection), slot=2) == 2
        assert {each.question for each in all_assignments(connection) if each.slot == 2} == {"1.1"}


def test_a_run_for_a_run_opens_the_question_though_the_number_is_the_same(store: Store, tmp_path: Path) -> None:
    """One judged item goes and an unjudged one comes: as many as before, and not done."""
    runs = {"a": "q Q0 D1 1 1 a old\n", "b": "q Q0 D1 1 1 b kept\n"}
    questions = [{"id": "q", "type": "factoid", "text": "?"}]
    evaluation = desks.write_evaluation(tmp_path / "one", task="ranked5", questions=questions, runs=runs)
    desk = desks.make_desk(store, tmp_path, made=evaluation, development=False)
    with store.write() as connection:
        for set_name in ("first", "second"):
            assert desk.judge_all(connection, "q", set_name).closed
        assert desk.settled(connection, "q") == (2, 0, 0)
        runs["a"] = "q Q0 D1 1 1 a new\n"
        desk.evaluation = desks.write_evaluation(tmp_path / "two", task="ranked5", questions=questions, runs=runs)
        desk.pool(connection)
        desk.check_counts(connection)
        assignment = desk.assigned(connection, "q")
        assert (assignment.done, assignment.total, assignment.closed) == (1, 2, None)
        assert desk.settled(connection, "q") is None
        # The run goes for good: what is left is judged, and settled by itself.
        desk.evaluation = desks.write_evaluation(
            tmp_path / "three", task="ranked5", questions=questions, runs={"b": runs["b"]}
        )
        desk.pool(connection)
        desk.check_counts(connection)
        assert desk.assigned(connection, "q").closed
        assert desk.settled(connection, "q") == (1, 0, 0)


def test_reopening_is_recorded_and_needs_assignments(store: Store, tmp_path: Path) -> None:
    desk = desks.make_desk(store, tmp_path)
    with store.write() as connection:
        with pytest.raises(UsageError):
            reopen(act(connection), "nowhere", reason="")
        reopen(act(connection, account=desk.judge.id), "1.1", reason="why not")
        rows = connection.execute(record.select()).all()
        assert [(row.action, row.question, row.account) for row in rows][-1] == ("reopen", "1.1", desk.judge.id)
        assert "why not" in rows[-1].body


def test_a_replaced_run_opens_what_was_judged_of_it(store: Store, tmp_path: Path) -> None:
    """Its list keeps its number, and is another one: what is new in it is not judged."""
    desk = desks.make_desk(store, tmp_path)
    with store.write() as connection:
        for set_name in ("first", "second"):
            desk.judge_all(connection, "1.2", set_name)
        assert desk.settled(connection, "1.2") == (3, 0, 0)
        runs = {**desks.RUNS, "south": desks.RUNS["south"].replace("Ann", "Cem")}
        evaluation = desks.write_evaluation(tmp_path / "two", runs=runs)
        items = pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed=order_seed(connection))
        options = {"mark": pool_mark(connection), "wanted": Wanted(), "person": None}
    assert store_pool(store, items, evaluation.questions, evaluation.task, **options).touched == {"1.2"}
    with store.read() as connection:
        desk.check_counts(connection)
        assignment = desk.assigned(connection, "1.2")
        assert (assignment.done, assignment.total, assignment.closed) == (2, 3, None)
        assert desk.settled(connection, "1.2") is None


def test_withdrawing_what_was_open_settles_what_is_finished(store: Store, tmp_path: Path) -> None:
    desk = desks.make_desk(store, tmp_path)
    with store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        assert desk.settled(connection, "1.1") is None
        assert withdraw_assignments(act(connection), slot=2) == 3
        assert desk.settled(connection, "1.1") == (2, 0, 0)
        assert len(desk.rows(connection)) == 2
        # Nobody is left on the others.
        assert withdraw_assignments(act(connection), slot=1) == 2
        assert [assignment.question for assignment in all_assignments(connection)] == ["1.1"]


def test_an_assessor_who_wrote_nuggets_keeps_the_question(store: Store, tmp_path: Path, monkeypatch: Any) -> None:
    desk = desks.make_desk(store, tmp_path)
    first, second, third = desk.people
    monkeypatch.setattr(assignments, "LEASE", timedelta(minutes=-1))
    with store.write() as connection:
        c = assignment.c
        connection.execute(update(assignment).where(c.question != "1.3").values(closed="2001"))
        connection.execute(update(assignment).where(c.question == "1.3", c.slot == 1).values(account=None))
        connection.execute(update(assignment).where(c.question == "1.3", c.slot == 2).values(account=second.id))
        taken = take(act(connection, account=first.id))
        assert (taken.question, taken.set) == ("1.3", "first")
        # Looking at the list, which begins as a copy, is no work yet.
        begin_list(act(connection, account=first.id), taken)
        assert is_work_waiting(connection, third.id)
        change = NuggetChange(act(connection, who=first, key="a-key-of-a-change"), taken)
        assert change.is_new()
        change.add("it meets", vital=True)
        change.finish()
        assert connection.execute(select(c.leased).where(c.id == taken.id)).scalar_one() is None
        connection.execute(update(assignment).where(c.id == taken.id).values(leased="2001"))
        assert take(act(connection, account=third.id)) is None
        assert withdraw_assignments(act(connection), slot=1) == 2
        assert assignments_of(connection, first.id)[0].question == "1.3"
