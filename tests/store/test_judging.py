"""Decisions: checked, counted without drift, repeated without harm, and worth the same as files."""

from __future__ import annotations

import random
from typing import Any

import desk as desks
import pytest

from acting import act
from qassay.errors import InputError
from qassay.store.adjudication.settling import progress, settle
from qassay.store.assignment.assignments import assignment_with_number, reassign, reopen
from qassay.store.assignment.counting import completed, is_complete, parts_for, recount
from qassay.store.judging import judgments
from qassay.store.judging.decisions import LockedError, decide, undo
from qassay.store.judging.judgments import ConflictError, KeyReusedError
from qassay.store.judging.nuggets import write_nugget
from qassay.store.pool.items import items_of

store, desk = desks.store, desks.desk


def test_a_decision_is_counted_once(desk: Any) -> None:
    with desk.store.write() as connection:
        where = desks.first_part(desk, connection)
        saved = desks.save(desk, connection, where, seconds=7)
        assert (saved.saved.version, saved.complete, saved.done, saved.total, saved.closed) == (1, True, 1, 2, False)
        assert desks.save(desk, connection, where, seconds=7) == saved
        changed = desks.save(desk, connection, where, "W", expected=1, key="l", seconds=1000)
        assert (changed.saved.version, changed.done) == (2, 1)
        assert desk.assigned(connection, "1.1").seconds == 307
        desk.check_counts(connection)
        row = changed.saved.body
        assert (row["assessor"], row["judgment"]) == (desk.who(where[0]).name, "W")
        assert "run" not in row


def test_refused_judgments_change_nothing(desk: Any) -> None:
    with desk.store.write() as connection:
        where = desks.first_part(desk, connection)
        with pytest.raises(InputError):
            desks.save(desk, connection, where, "?")
        desks.save(desk, connection, where)
        with pytest.raises(ConflictError) as met:
            desks.save(desk, connection, where, "W", key="l")
        assert met.value.current.body["judgment"] == "R"
        with pytest.raises(KeyReusedError):
            desks.save(desk, connection, where, "W", expected=1)
        with pytest.raises(LockedError, match="not assigned to you"):
            desks.save(desk, connection, where, "W", expected=1, key="l", who=desk.judge)
        assert len(judgments.history(connection, "first", where[2].subject)) == 1
        desk.check_counts(connection)


def test_a_save_that_was_answered_is_answered_again_whatever_came_between(desk: Any) -> None:
    """Given to somebody else, ruled on, or a nugget gone: the first answer was given, and is given again."""
    with desk.store.write() as connection:
        where = desks.first_part(desk, connection)
        who = desk.who(where[0])
        saved = desks.save(desk, connection, where)
        reassign(act(connection), where[0].id, desk.judge.id)
        assert desks.save(desk, connection, where, who=who).saved == saved.saved
        assignment, item, part = desks.first_part(desk, connection, "1.3")
        first = act(connection, task=desk.evaluation.task, who=desk.who(assignment), key="n")
        linked = decide(first, assignment, item, part, {"nuggets": ["2"]}, expected=0)
        write_nugget(act(connection), "development", "1.3", "2", None)
        assert decide(first, assignment, item, part, {"nuggets": ["2"]}, expected=0).saved == linked.saved


def test_a_save_sent_again_counts_once_whatever_version_it_expects(desk: Any) -> None:
    """Its key is looked up where the version is not the expected one; where it is, the database knows the key."""
    with desk.store.write() as connection:
        where = desks.first_part(desk, connection)
        assignment, _, part = where
        saved = desks.save(desk, connection, where, "R", expected=0, key="first-0", seconds=7)
        for expected in (0, 1, 2):
            again = desks.save(desk, connection, where, "R", expected=expected, key="first-0", seconds=7)
            assert (again.saved, again.done) == (saved.saved, saved.done)
            with pytest.raises(judgments.KeyReusedError):
                desks.save(desk, connection, where, "W", expected=expected, key="first-0")
        assert len(judgments.history(connection, assignment.set, part.subject)) == 1
        assert assignment_with_number(connection, assignment.id).seconds == 7
        desk.check_counts(connection)


def test_undo_goes_back_step_by_step_and_is_itself_recorded(desk: Any) -> None:
    task = desk.evaluation.task
    with desk.store.write() as connection:
        where = desks.first_part(desk, connection)
        assignment, item, part = where
        who = desk.who(assignment)
        for version, label in enumerate("RXW"):
            desks.save(desk, connection, where, label, expected=version, key=f"d{version}")
        how = {"task": task, "who": who}
        back = undo(act(connection, **how, key="u1"), assignment, item, part, expected=3, to=2)
        assert (back.saved.version, back.saved.body["judgment"], back.done) == (4, "X", 1)
        assert undo(act(connection, **how, key="u1"), assignment, item, part, expected=3, to=2).saved == back.saved
        gone = undo(act(connection, **how, key="u2"), assignment, item, part, expected=4, to=0)
        assert (gone.saved.body, gone.complete, gone.done) == (None, False, 0)
        again = undo(act(connection, **how, key="u3"), assignment, item, part, expected=5, to=4)
        assert (again.saved.body["judgment"], again.done) == ("X", 1)
        with pytest.raises(InputError, match="no version 9"):
            undo(act(connection, **how, key="u4"), assignment, item, part, expected=6, to=9)
        with pytest.raises(ConflictError):
            undo(act(connection, **how, key="u5"), assignment, item, part, expected=5, to=0)
        labels = [
            saved.body and saved.body["judgment"] for saved in judgments.history(connection, "first", part.subject)
        ]
        assert labels == ["R", "X", "W", "X", None, "X"]
        desk.check_counts(connection)


def test_undo_brings_back_no_nugget_that_is_gone(desk: Any) -> None:
    with desk.store.write() as connection:
        assignment, item, part = desks.first_part(desk, connection, "1.3")
        desk.say(connection, assignment, item, part, {"nuggets": ["2"]})
        desk.say(connection, assignment, item, part, {"nuggets": []})
        write_nugget(act(connection), "development", "1.3", "2", None)
        with pytest.raises(InputError, match="no nugget '2'"):
            desk.take_back(connection, assignment, item, part, to=1)


def test_random_work_never_drifts(desk: Any) -> None:
    """Whatever is judged, changed and undone: counts are those of counting, settled is what settling gives."""
    chance = random.Random(7)
    with desk.store.write() as connection:
        for step in range(150):
            question = chance.choice(["1.1", "1.2", "1.3"])
            assignment = desk.assigned(connection, question, chance.choice(["first", "second"]))
            item = chance.choice(items_of(connection, question))
            part = chance.choice(parts_for(connection, assignment.set, item, None))
            version = judgments.version_of(connection, assignment.set, part.subject)
            if version and chance.random() < 0.15:
                desk.take_back(connection, assignment, item, part, chance.randrange(version))
            else:
                verdict = {"nuggets": chance.choice([[], ["1"]])} if part.kind == "match" else {
                    "judgment": chance.choice("RW")}  # fmt: skip
                desk.say(connection, assignment, item, part, verdict)
            if step % 10 == 9:
                desk.check_counts(connection)
                for each in progress(connection):
                    assert (each.settled is not None) == each.closed
                    if each.closed:
                        rows = desk.rows(connection, question=each.question)
                        assert settle(act(connection, task=desk.evaluation.task), each.question) == each.settled
                        assert desk.rows(connection, question=each.question) == rows
        assert any(each.closed for each in progress(connection))


def test_after_reopening_only_the_assessors_go_on_until_they_say_so(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second")
        reopen(act(connection), "1.1", reason="")
        where = desks.first_part(desk, connection)
        again = desks.save(desk, connection, where, "X", expected=1)
        assert (again.done, again.total, again.closed) == (2, 2, False)
        undone = desk.take_back(connection, *where)
        assert (undone.done, undone.closed) == (1, False)
        # What becomes complete again closes by itself.
        assert desks.save(desk, connection, where, "X", expected=3, key="l").closed
        assert desk.settled(connection, "1.1") is None
        assert recount(act(connection), desk.assigned(connection, "1.1", "second"))[2]
        assert desk.settled(connection, "1.1") == (1, 1, 1)
        desk.check_counts(connection)


def test_completed_and_is_complete_say_the_same(desk: Any) -> None:
    with desk.store.write() as connection:
        for question in ("1.1", "1.2", "1.3"):
            assignment, item, part = desks.first_part(desk, connection, question)
            desk.say(connection, assignment, item, part, desks.usual(item, part))
            items = items_of(connection, question)
            each = [
                is_complete(connection, "first", parts_for(connection, assignment.set, other, None)) for other in items
            ]
            assert completed(connection, assignment, items) == each
            desk.check_counts(connection)


def test_assignments_count_decisions(desk: Any) -> None:
    """A list takes a decision for each element: some are made before the list is complete."""
    with desk.store.write() as connection:
        judged, pooled, part = desks.first_part(desk, connection, "1.2")
        elements = sum(len(item.body["elements"]) for item in items_of(connection, "1.2"))
        saved = desk.say(connection, judged, pooled, part, desks.usual(pooled, part))
        assert (saved.done, saved.total, saved.closed) == (1, elements, False)
        undone = desk.take_back(connection, judged, pooled, part)
        assert (undone.done, undone.total) == (0, elements)
