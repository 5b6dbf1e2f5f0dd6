"""What becomes of what is settled when assessors go on: changes of mind, reopening, one more assessor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import desk as desks
import pytest

from acting import act
from qassay.judging import ADJUDICATED
from qassay.store.adjudication.settling import NotClosedError
from qassay.store.assignment.assignments import assign, reopen
from qassay.store.assignment.counting import parts_for, recount
from qassay.store.engine import Store
from qassay.store.judging import judgments
from qassay.store.judging.decisions import LockedError
from qassay.store.pool.items import items_of

store, desk = desks.store, desks.desk


def test_a_change_of_mind_after_closing_takes_the_rule_back(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second")
        assignment = desk.assigned(connection, "1.1", "second")
        item = items_of(connection, "1.1")[0]
        (part,) = parts_for(connection, assignment.set, item, None)
        desk.say(connection, assignment, item, part, {"judgment": "W"})
        assert desk.settled(connection, "1.1") == (1, 1, 1)
        assert [row["text"] for row in desk.rows(connection)] != [part.row["text"]]
        assert judgments.history(connection, ADJUDICATED, part.subject)[-1].body is None
        desk.say(connection, assignment, item, part, {"judgment": "R"})
        assert desk.settled(connection, "1.1") == (2, 0, 0)
        assert [saved.version for saved in judgments.history(connection, ADJUDICATED, part.subject)] == [1, 2, 3]


def test_undoing_the_last_judgment_opens_the_question(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second", desks.harsh)
        assignment = desk.assigned(connection, "1.1", "second")
        item = items_of(connection, "1.1")[0]
        (part,) = parts_for(connection, assignment.set, item, None)
        undone = desk.take_back(connection, assignment, item, part)
        assert (undone.closed, undone.done, undone.complete) == (False, 1, False)
        assert desk.settled(connection, "1.1") is None
        with pytest.raises(NotClosedError):
            desk.disagreements(connection, "1.1")
        desk.say(connection, assignment, item, part, {"judgment": "R"})
        assert desk.settled(connection, "1.1") == (1, 1, 1)


def test_after_a_ruling_assessors_change_nothing_unless_the_question_is_reopened(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second", desks.harsh)
        assignment = desk.assigned(connection, "1.1", "second")
        disagreements = desk.disagreements(connection, "1.1")
        desk.rule(connection, disagreements[0], {"judgment": "R"})
        (part,) = parts_for(connection, assignment.set, disagreements[0].item, None)
        with pytest.raises(LockedError):
            desk.say(connection, assignment, disagreements[0].item, part, {"judgment": "X"})
        with pytest.raises(LockedError):
            desk.take_back(connection, assignment, disagreements[0].item, part)
        assert judgments.version_of(connection, "second", part.subject) == 1


def test_reopening_waits_for_the_assessors_and_keeps_the_rulings(desk: Any) -> None:
    """A ruling is asked for again only where what the assessors say has changed; until then it counts."""
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second", desks.harsh)
        for disagreements in desk.disagreements(connection, "1.1"):
            desk.rule(connection, disagreements, {"judgment": "U"})
        reopen(act(connection, account=desk.judge.id), "1.1", reason="a document was missing")
        assert desk.settled(connection, "1.1") is None
        with pytest.raises(NotClosedError):
            desk.rule(connection, disagreements, {"judgment": "R"})
        first, second = (desk.assigned(connection, "1.1", name) for name in ("first", "second"))
        items = items_of(connection, "1.1")
        parts = [parts_for(connection, first.set, item, None)[0] for item in items]
        # The same said again, a change of mind that is undone, and one that stays.
        assert not desk.say(connection, first, items[0], parts[0], {"judgment": "R"}).closed
        assert not desk.say(connection, second, items[0], parts[0], {"judgment": "R"}).closed
        assert not desk.say(connection, second, items[0], parts[0], {"judgment": "W"}).closed
        assert not desk.say(connection, second, items[1], parts[1], {"judgment": "X"}).closed
        assert recount(act(connection), first) == (2, 2, True)
        assert desk.settled(connection, "1.1") is None
        assert recount(act(connection), second) == (2, 2, True)
        assert desk.settled(connection, "1.1") == (0, 2, 1)
        (left,) = desk.disagreements(connection, "1.1", only_left=True)
        assert left.item.id == items[1].id
        assert left.ruling == {"judgment": "U"}
        assert [row["judgment"] for row in desk.rows(connection)] == ["U", "U"]
        desk.rule(connection, left, {"judgment": "X"})
        assert desk.settled(connection, "1.1") == (0, 2, 0)
        with pytest.raises(LockedError):
            desk.say(connection, second, items[1], parts[1], {"judgment": "R"})


def test_a_ruling_stays_where_the_assessors_come_to_agree(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second", desks.harsh)
        disagreement = desk.disagreements(connection, "1.1")[0]
        desk.rule(connection, disagreement, {"judgment": "U"})
        reopen(act(connection), "1.1", reason="")
        first, second = (desk.assigned(connection, "1.1", name) for name in ("first", "second"))
        (part,) = parts_for(connection, second, disagreement.item, None)
        desk.say(connection, second, disagreement.item, part, {"judgment": "R"})
        recount(act(connection), first)
        recount(act(connection), second)
        left = {each.item.id: each for each in desk.disagreements(connection, "1.1", only_left=True)}
        assert len(left) == 2
        asked = left[disagreement.item.id]
        assert asked.ruling == {"judgment": "U"}
        assert asked.verdicts == ({"judgment": "R"}, {"judgment": "R"})
        desk.rule(connection, asked, {"judgment": "R"})
        assert desk.settled(connection, "1.1") == (1, 1, 1)


def test_a_third_assessor_later_opens_what_two_had_settled(store: Store, tmp_path: Path) -> None:
    desk = desks.make_desk(store, tmp_path)
    with store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second")
        people = [person.id for person in desk.people]
        assign(act(connection), desk.evaluation.questions, assessors=3, accounts=people)
        assert desk.settled(connection, "1.1") is None
        desk.judge_all(connection, "1.1", "third", desks.harsh)
        assert desk.settled(connection, "1.1") == (0, 2, 2)
        assert desk.rows(connection) == []


def test_imported_adjudications_count_as_rulings(desk: Any) -> None:
    """Adjudicated judgments of a file are a person's, unless they say that they were unanimous."""
    with desk.store.write() as connection:
        item = items_of(connection, "1.1")[0]
        row = {"question": "1.1", "doc": item.body["doc"], "text": item.body["text"], "judgment": "U"}
        judgments.append(act(connection, at="2026-01-01T00:00:00Z"), ADJUDICATED, "item", row)
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second")
        assert [row["judgment"] for row in desk.rows(connection)] == ["U", "R"]
        # It is older than what they say, and they said nothing then: it is asked for.
        assert desk.settled(connection, "1.1") == (1, 1, 1)
