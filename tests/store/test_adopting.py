"""Nuggets settled: matches under one list, and assessors who wrote their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import desk as desks
import pytest
from sqlalchemy import Connection

from acting import act
from qassay.errors import InputError
from qassay.judging import ADJUDICATED, digest
from qassay.store.adjudication.own_lists import adopt, set_of_list
from qassay.store.adjudication.rulings import rule, undo_ruling
from qassay.store.adjudication.settling import settle
from qassay.store.assignment.assignments import SLOTS, assign, reopen
from qassay.store.assignment.counting import parts_for, recount
from qassay.store.engine import Store
from qassay.store.judging.judgments import ConflictError, KeyReusedError
from qassay.store.judging.nuggets import copy_list, nuggets_of, write_nugget
from qassay.store.pool.items import items_of

store, desk = desks.store, desks.desk


def own_lists(desk: Any, connection: Connection, sets: tuple[str, ...] = ("first", "second")) -> None:
    """Every assessor writes his own list, and finds its last nugget in every response."""
    for number, set_name in enumerate(sets):
        copy_list(act(connection), source="development", target=set_name, question="1.3")
        # As an imported row: a file may say more of a nugget than anybody is to see.
        body = {"vital": True, "text": f"seen by {set_name}", "assessor": f"who wrote {set_name}"}
        write_nugget(act(connection), set_name, "1.3", None, body)
        assignment = desk.assigned(connection, "1.3", set_name)
        for item in items_of(connection, "1.3"):
            parts = {part.name: part for part in parts_for(connection, assignment.set, item, None)}
            desk.say(connection, assignment, item, parts["0"], {"nuggets": ["3"]})
            desk.say(connection, assignment, item, parts[""], {"nuggets": ["1"] if number else []})


def test_matches_under_one_list_are_compared_by_response(desk: Any) -> None:
    """It counts which nuggets a response holds, not in which of its strings they were found."""
    with desk.store.write() as connection:
        for set_name, place in (("first", "0"), ("second", "1")):
            assignment = desk.assigned(connection, "1.3", set_name)
            for item in items_of(connection, "1.3"):
                parts = {part.name: part for part in parts_for(connection, assignment.set, item, None)}
                if place in parts:
                    desk.say(connection, assignment, item, parts[place], {"nuggets": ["1"]})
                elif set_name == "second":
                    desk.say(connection, assignment, item, parts["0"], {"nuggets": ["2"]})
                desk.say(connection, assignment, item, parts[""], {"nuggets": []})
        assert desk.settled(connection, "1.3") == (1, 1, 1)
        (row,) = desk.rows(connection)
        assert (row["run"], row["nuggets"], row.get("item")) == ("north", ["1"], None)
        (left,) = desk.disagreements(connection, "1.3")
        assert sorted(verdict["nuggets"] for verdict in left.verdicts) == [["1"], ["2"]]
        desk.rule(connection, left, {"nuggets": ["1", "2"]})
        assert desk.settled(connection, "1.3") == (1, 1, 0)
        with pytest.raises(InputError, match="no nugget '9'"):
            desk.rule(connection, desk.disagreements(connection, "1.3")[0], {"nuggets": ["9"]})


def test_a_nugget_that_is_gone_is_nothing_to_agree_on(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.3", "first", desks.harsh)
        desk.judge_all(connection, "1.3", "second", desks.harsh)
        assert desk.settled(connection, "1.3") == (2, 0, 0)
        write_nugget(act(connection), "development", "1.3", "1", None)
        for task in (None, desk.evaluation.task):
            assert settle(act(connection, task=task), "1.3").left == 2
        assert desk.rows(connection) == []


def test_own_lists_are_one_disagreement_settled_by_adopting_one(desk: Any) -> None:
    with desk.store.write() as connection:
        own_lists(desk, connection)
        assert desk.settled(connection, "1.3") == (0, 1, 1)
        (disagreement,) = desk.disagreements(connection, "1.3")
        assert (disagreement.kind, disagreement.item, disagreement.ruling) == ("lists", None, None)
        assert (disagreement.version, disagreement.left) == (0, True)
        texts = [verdict["list"][-1]["text"] for verdict in disagreement.verdicts]
        assert texts == [
            f"seen by {set_of_list(connection, '1.3', verdict['name'])}" for verdict in disagreement.verdicts
        ]
        numbers = {str(item.id) for item in items_of(connection, "1.3")}
        assert all(set(verdict["responses"]) == numbers for verdict in disagreement.verdicts)
        assert not any(name in str(disagreement) for name in ("north", "south", "who wrote"))
        item = items_of(connection, "1.3")[0]
        with pytest.raises(InputError, match="adopt one of the lists first"):
            desk.rule(connection, desks.Disagreement(item, "", "match", (), None, 0, True), {"nuggets": []})
        done = adopt(act(connection, who=desk.judge, key="k"), "1.3", "second", seen=disagreement.seen)
        assert (done.nuggets, done.judgments) == (3, 4)
        assert adopt(act(connection, who=desk.judge, key="k"), "1.3", "second", seen=disagreement.seen) == done
        with pytest.raises(KeyReusedError):
            adopt(act(connection, who=desk.judge, key="k"), "1.3", "first")
        with pytest.raises(ConflictError, match="have changed since they were shown"):
            adopt(act(connection, who=desk.judge, key="l"), "1.3", "first", seen=disagreement.seen)
        assert [nugget.text for nugget in nuggets_of(connection, ADJUDICATED, "1.3")] == [
            "chess",
            "plays",
            "seen by second",
        ]
        assert sorted(nugget for row in desk.rows(connection) for nugget in row["nuggets"]) == ["1", "1", "3", "3"]
        assert desk.settled(connection, "1.3") == (0, 1, 0)
        assert settle(act(connection, task=desk.evaluation.task), "1.3").left == 0
        (after,) = desk.disagreements(connection, "1.3")
        assert after.ruling["list"][-1]["text"] == "seen by second"
        adopted = after.verdicts[after.ruling["adopted"]]["name"]
        assert set_of_list(connection, "1.3", adopted) == "second"


def add_an_assessor(desk: Any, connection: Connection) -> None:
    assign(act(connection), desk.evaluation.questions, assessors=3, accounts=[person.id for person in desk.people])
    own_lists(desk, connection, ("third",))


def change_a_nugget(_: Any, connection: Connection) -> None:
    body = {"vital": False, "text": "another fact"}
    write_nugget(act(connection), "first", "1.3", "3", body)


def change_a_match(desk: Any, connection: Connection) -> None:
    item = items_of(connection, "1.3")[0]
    assignment = desk.assigned(connection, "1.3")
    desk.say(connection, assignment, item, parts_for(connection, assignment.set, item, None)[0], {"nuggets": ["1"]})


@pytest.mark.parametrize("change", [add_an_assessor, change_a_nugget, change_a_match])
def test_the_adopted_list_is_the_one_that_was_shown(desk: Any, change: Any) -> None:
    """A page that was left open while the lists changed adopts none of them; the lists seen now can be adopted."""
    with desk.store.write() as connection:
        own_lists(desk, connection)
        (before,) = desk.disagreements(connection, "1.3")
        second = next(verdict["name"] for verdict in before.verdicts if "seen by second" in str(verdict))
        change(desk, connection)
        (after,) = desk.disagreements(connection, "1.3")
        assert set_of_list(connection, "1.3", second) == "second", "whoever comes and goes, a name is one list's"
        with pytest.raises(ConflictError, match="have changed since they were shown; look at them again and choose"):
            adopt(act(connection, who=desk.judge, key="k"), "1.3", "second", seen=before.seen)
        assert desk.rows(connection) == []
        done = adopt(act(connection, who=desk.judge, key="k"), "1.3", "second", seen=after.seen)
        # Sent again after another change it has its answer, and changes nothing.
        write_nugget(act(connection), "second", "1.3", "3", {"vital": True, "text": "later"})
        assert adopt(act(connection, who=desk.judge, key="k"), "1.3", "second", seen=after.seen) == done
        assert nuggets_of(connection, ADJUDICATED, "1.3")[-1].text == "seen by second"


def test_the_names_of_lists_tell_nothing(desk: Any) -> None:
    """Digests with a secret of the store: neither those of another question nor guessing gives a set away."""
    with desk.store.write() as connection:
        own_lists(desk, connection)
        (disagreement,) = desk.disagreements(connection, "1.3")
        names = [verdict["name"] for verdict in disagreement.verdicts]
        guessed = [digest(*some, "verdicts", "lists", "1.3", name) for some in ((), ("",)) for name in SLOTS]
        assert len(set(names)) == 2
        assert not {*names, disagreement.seen} & {*guessed, *SLOTS}


def test_rulings_change_the_adopted_list(desk: Any) -> None:
    """A ruling on a response is on all its strings; undoing it brings their links back."""
    with desk.store.write() as connection:
        own_lists(desk, connection)
        adopt(act(connection, who=desk.judge, key="k"), "1.3", "second")
        item = items_of(connection, "1.3")[0]
        how = {"task": desk.evaluation.task, "who": desk.judge}
        rule(act(connection, **how, key="r"), item, "", {"nuggets": ["2"]}, expected=1)
        mine = [row for row in desk.rows(connection) if row["run"] == item.run]
        assert [row["nuggets"] for row in mine] == [["2"]]
        undo_ruling(act(connection, **how, key="u"), item, "", expected=2, to=1)
        mine = [row for row in desk.rows(connection) if row["run"] == item.run]
        assert sorted(nugget for row in mine for nugget in row["nuggets"]) == ["1", "3"]
        assert desk.settled(connection, "1.3") == (0, 1, 0)
        adopt(act(connection, who=desk.judge, key="other"), "1.3", "first")
        assert [nugget.text for nugget in nuggets_of(connection, ADJUDICATED, "1.3")][-1] == "seen by first"
        assert all(row["nuggets"] in ([], ["3"]) for row in desk.rows(connection))


def test_a_list_is_asked_for_again_where_an_assessor_changed_his(desk: Any) -> None:
    with desk.store.write() as connection:
        own_lists(desk, connection)
        adopt(act(connection, who=desk.judge, key="k"), "1.3", "second")
    for change in (False, True):
        with desk.store.write() as connection:
            reopen(act(connection), "1.3", reason="")
            assignment = desk.assigned(connection, "1.3", "first")
            item = items_of(connection, "1.3")[0]
            part = parts_for(connection, assignment.set, item, None)[0]
            desk.say(connection, assignment, item, part, {"nuggets": ["2"] if change else []})
            for set_name in ("first", "second"):
                recount(act(connection), desk.assigned(connection, "1.3", set_name))
            assert desk.settled(connection, "1.3") == (0, 1, int(change))


def test_one_assessors_own_list_is_adopted_by_rule(store: Store, tmp_path: Path) -> None:
    desk = desks.make_desk(store, tmp_path, assessors=1)
    with store.write() as connection:
        own_lists(desk, connection, ("first",))
        assert desk.settled(connection, "1.3") == (2, 0, 0)
        assert [nugget.text for nugget in nuggets_of(connection, ADJUDICATED, "1.3")] == [
            "chess",
            "plays",
            "seen by first",
        ]
        rows = desk.rows(connection)
        assert sorted((row["run"], row.get("item", -1), tuple(row["nuggets"])) for row in rows) == [
            ("north", -1, ()), ("north", 0, ("3",)), ("south", -1, ()), ("south", 0, ("3",))
        ]  # fmt: skip
        assert all(row["settled"] == "unanimous" for row in rows)
        # What changes in the list afterwards changes there too, unless a person has written into it.
        assignment = desk.assigned(connection, "1.3")
        body = {"vital": False, "text": "more"}
        write_nugget(act(connection), "first", "1.3", "3", body)
        recount(act(connection), assignment)
        assert nuggets_of(connection, ADJUDICATED, "1.3")[-1].text == "more"
        write_nugget(act(connection), ADJUDICATED, "1.3", "3", {**body, "text": "a person's"})
        recount(act(connection), assignment)
        assert nuggets_of(connection, ADJUDICATED, "1.3")[-1].text == "a person's"


def test_a_second_list_undoes_what_the_first_settled_alone(store: Store, tmp_path: Path) -> None:
    desk = desks.make_desk(store, tmp_path, assessors=1)
    with store.write() as connection:
        own_lists(desk, connection, ("first",))
        assign(act(connection), desk.evaluation.questions, assessors=2, accounts=[person.id for person in desk.people])
        own_lists(desk, connection, ("second",))
        assert desk.settled(connection, "1.3") == (0, 1, 1)
        assert desk.rows(connection) == []


def test_adopting_needs_lists_to_choose_from(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.3", "first")
        desk.judge_all(connection, "1.3", "second")
        with pytest.raises(InputError, match="use one list"):
            adopt(act(connection, who=desk.judge, key="k"), "1.3", "first")
        with pytest.raises(Exception, match="unknown judgment set of the question 'third'"):
            adopt(act(connection, who=desk.judge, key="k"), "1.3", "third")
        with pytest.raises(ConflictError, match="have changed since they were shown"):
            set_of_list(connection, "1.3", "a list that is gone")
