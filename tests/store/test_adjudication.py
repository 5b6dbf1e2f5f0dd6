"""Settling what is unanimous, and ruling on the rest."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import Connection, func, select

from qassay.errors import InputError
from qassay.store import judgments
from qassay.store.adjudication import (
    NotClosedError,
    adopt,
    choice,
    disagreements,
    part_named,
    progress,
    rule,
    settle,
    settle_all,
    undo_ruling,
)
from qassay.store.assignments import SLOTS, assign, reopen
from qassay.store.engine import Store
from qassay.store.items import Item, items_of
from qassay.store.judging import ADJUDICATED, LockedError, parts_for, recount
from qassay.store.judgments import ConflictError, KeyReusedError
from qassay.store.nuggets import copy_list, nuggets_of, write_nugget
from qassay.store.parts import Part
from qassay.store.schema import judgment
from qassay.store.settings import forget_settled


def beside(name: str) -> ModuleType:
    """A helper module of this folder (the tests are no package)."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


desks = beside("desk")
store = desks.store


def harsh(_: Item, part: Part) -> Mapping[str, Any]:
    """Somebody who disagrees on everything with whoever finds everything in order."""
    return {"item": {"judgment": "W"}, "list": {"judgment": "X"}, "match": {"nuggets": ["1"]}}[part.kind]


def count_rows(connection: Connection, set_name: str = ADJUDICATED) -> int:
    return connection.execute(select(func.count()).where(judgment.c.set == set_name)).scalar_one()


@pytest.fixture
def desk(store: Store, tmp_path: Path) -> Any:
    return desks.make_desk(store, tmp_path)


def test_two_who_agree_on_everything_settle_everything(desk: Any) -> None:
    with desk.store.write() as connection:
        for question in ("1.1", "1.2", "1.3"):
            for set_name in ("first", "second"):
                desk.judge_all(connection, question, set_name)
    with desk.store.read() as connection:
        assert [desk.settled(connection, question) for question in ("1.1", "1.2", "1.3")] == [
            (2, 0, 0), (3, 0, 0), (2, 0, 0)
        ]  # fmt: skip
        rows = desk.rows(connection)
        assert len(rows) == 7
        assert all(row["settled"] == "unanimous" and "assessor" not in row and "note" not in row for row in rows)
        saved = connection.execute(select(judgment.c.account).where(judgment.c.set == ADJUDICATED)).scalars()
        assert set(saved) == {None}
        assert all(desk.disagreements(connection, one) == [] for one in ("1.1", "1.2", "1.3"))


def test_two_who_disagree_on_everything_leave_everything(desk: Any) -> None:
    with desk.store.write() as connection:
        for question in ("1.1", "1.2", "1.3"):
            desk.judge_all(connection, question, "first")
            desk.judge_all(connection, question, "second", harsh)
    with desk.store.read() as connection:
        assert desk.rows(connection) == []
        assert [desk.settled(connection, question) for question in ("1.1", "1.2", "1.3")] == [
            (0, 2, 2), (0, 3, 3), (0, 2, 2)
        ]  # fmt: skip
        found = desk.disagreements(connection, "1.1")
        assert {one.item.id for one in found} == {item.id for item in items_of(connection, "1.1")}
        assert all(sorted(v["judgment"] for v in one.verdicts) == ["R", "W"] for one in found)
        assert all(one.ruling is None and one.version == 0 and one.left for one in found)
        matches = desk.disagreements(connection, "1.3")
        assert all(sorted(v["nuggets"] for v in one.verdicts) == [[], ["1"]] for one in matches)


def test_nobody_sees_anything_before_all_have_finished(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        item = items_of(connection, "1.1")[0]
        with pytest.raises(NotClosedError, match="is not finished by all"):
            desk.disagreements(connection, "1.1")
        with pytest.raises(NotClosedError):
            settle(connection, "1.1", desk.evaluation.task)
        with pytest.raises(NotClosedError):
            rule(
                connection, item, "", {"judgment": "R"}, task=desk.evaluation.task, who=desk.judge, expected=0, key="k"
            )
        with pytest.raises(NotClosedError):
            adopt(connection, "1.3", "first", who=desk.judge, key="k")
        with pytest.raises(NotClosedError):
            settle(connection, "nowhere", desk.evaluation.task)
        assert desk.settled(connection, "1.1") is None
        assert desk.rows(connection) == []


def test_one_assessor_is_unanimous_with_himself(store: Store, tmp_path: Path) -> None:
    desk = desks.make_desk(store, tmp_path, assessors=1)
    with store.write() as connection:
        last = desk.judge_all(connection, "1.1", "first")
        assert last.closed
        assert desk.settled(connection, "1.1") == (2, 0, 0)
        assert {row["judgment"] for row in desk.rows(connection)} == {"R"}


def test_lists_agree_by_class_and_the_string_is_its_own_class(desk: Any) -> None:
    """A class that is named like the string is the string; of what is not right only the label counts."""
    says = {
        ("first", "Ann"): {"judgment": "R"},
        ("second", "Ann"): {"judgment": "R", "answer": "Ann", "note": "her"},
        ("first", "Bob"): {"judgment": "R", "answer": "Robert"},
        ("second", "Bob"): {"judgment": "R"},
    }
    with desk.store.write() as connection:
        for set_name in ("first", "second"):
            desk.judge_all(connection, "1.2", set_name, lambda _, part, s=set_name: says[s, part.row["text"]])
        rows = desk.rows(connection)
        assert [(row["text"], row["judgment"], row["answer"]) for row in rows] == [("Ann", "R", "Ann")] * 2
        (left,) = desk.disagreements(connection, "1.2")
        assert sorted(verdict.get("answer", "") for verdict in left.verdicts) == ["", "Robert"]
        assert left.kind == "list"


def test_notes_come_with_the_verdicts_and_names_do_not(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first", lambda *_: {"judgment": "R", "note": "page two"})
        desk.judge_all(connection, "1.1", "second", harsh)
        for one in desk.disagreements(connection, "1.1"):
            assert sorted(map(str, one.verdicts)) == ["{'judgment': 'R', 'note': 'page two'}", "{'judgment': 'W'}"]
            assert not any(name in str(one) for name in (*SLOTS, "assessor"))


def test_the_order_of_verdicts_is_drawn_for_each_item(store: Store, tmp_path: Path) -> None:
    questions = [{"id": "q", "type": "factoid", "text": "?"}]
    runs = {f"r{n}": f"q Q0 D1 1 1 r{n} answer {n}\n" for n in range(40)}
    made = desks.write_evaluation(tmp_path / "evaluation", task="ranked5", questions=questions, runs=runs)
    desk = desks.make_desk(store, tmp_path, made=made, development=False)
    with store.write() as connection:
        desk.judge_all(connection, "q", "first")
        desk.judge_all(connection, "q", "second", harsh)
        found = desk.disagreements(connection, "q")
        firsts = [one.verdicts[0]["judgment"] for one in found]
        assert len(firsts) == 40
        assert 5 < firsts.count("R") < 35
        assert [one.verdicts for one in desk.disagreements(connection, "q")] == [one.verdicts for one in found]


def test_a_ruling_stands_and_the_rest_is_left(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second", harsh)
        first, second = desk.disagreements(connection, "1.1")
        saved = desk.rule(connection, first, {"judgment": "X", "note": "too much"})
        assert (saved.version, saved.account, saved.body["assessor"]) == (1, desk.judge.id, desk.judge.name)
        assert desk.settled(connection, "1.1") == (0, 2, 1)
        again = {one.item.id: one for one in desk.disagreements(connection, "1.1")}
        assert again[first.item.id].ruling == {"judgment": "X", "note": "too much"}
        assert (again[first.item.id].version, again[first.item.id].left) == (1, False)
        assert [one.item.id for one in desk.disagreements(connection, "1.1", only_left=True)] == [second.item.id]
        desk.rule(connection, second, {"judgment": "W"})
        assert desk.settled(connection, "1.1") == (0, 2, 0)
        assert settle(connection, "1.1", desk.evaluation.task).left == 0
        assert [row["judgment"] for row in desk.rows(connection)] == ["X", "W"]


def test_rulings_are_checked_versioned_and_sent_twice(desk: Any) -> None:
    task, who = desk.evaluation.task, desk.judge
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second", harsh)
        item = desk.disagreements(connection, "1.1")[0].item
        with pytest.raises(InputError, match="no label"):
            rule(connection, item, "", {"judgment": "?"}, task=task, who=who, expected=0, key="a")
        verdict = {"judgment": "R", "settled": "unanimous"}
        with pytest.raises(InputError, match="settled"):
            rule(connection, item, "", verdict, task=task, who=who, expected=0, key="a")
        one = rule(connection, item, "", {"judgment": "R"}, task=task, who=who, expected=0, key="a")
        assert rule(connection, item, "", {"judgment": "R"}, task=task, who=who, expected=0, key="a") == one
        with pytest.raises(KeyReusedError):
            rule(connection, item, "", {"judgment": "W"}, task=task, who=who, expected=1, key="a")
        with pytest.raises(ConflictError) as met:
            rule(connection, item, "", {"judgment": "W"}, task=task, who=who, expected=0, key="b")
        assert met.value.standing == one
        assert count_rows(connection) == 1
        assert desk.settled(connection, "1.1") == (0, 2, 1)


def test_a_ruling_is_undone(desk: Any) -> None:
    task, who = desk.evaluation.task, desk.judge
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second", harsh)
        found = desk.disagreements(connection, "1.1")[0]
        desk.rule(connection, found, {"judgment": "R"})
        how = {"task": task, "who": who, "expected": 1, "to": 0, "key": "undo"}
        saved = undo_ruling(connection, found.item, "", **how)
        assert (saved.version, saved.body) == (2, None)
        assert undo_ruling(connection, found.item, "", **how) == saved
        assert desk.settled(connection, "1.1") == (0, 2, 2)
        assert desk.rows(connection) == []
        with pytest.raises(InputError, match="no version 7"):
            undo_ruling(connection, found.item, "", task=task, who=who, expected=2, to=7, key="other")
        undo_ruling(connection, found.item, "", task=task, who=who, expected=2, to=1, key="back")
        assert desk.settled(connection, "1.1") == (0, 2, 1)


def test_settling_twice_repeats_nothing(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second")
        before = count_rows(connection)
        assert settle(connection, "1.1", desk.evaluation.task) == settle(connection, "1.1")
        assert count_rows(connection) == before == 2


def test_a_change_of_mind_after_closing_takes_the_rule_back(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second")
        one = desk.assigned(connection, "1.1", "second")
        item = items_of(connection, "1.1")[0]
        (part,) = parts_for(connection, one, item, None)
        desk.say(connection, one, item, part, {"judgment": "W"})
        assert desk.settled(connection, "1.1") == (1, 1, 1)
        assert [row["text"] for row in desk.rows(connection)] != [part.row["text"]]
        assert judgments.history(connection, ADJUDICATED, part.thing)[-1].body is None
        desk.say(connection, one, item, part, {"judgment": "R"})
        assert desk.settled(connection, "1.1") == (2, 0, 0)
        assert [saved.version for saved in judgments.history(connection, ADJUDICATED, part.thing)] == [1, 2, 3]


def test_undoing_the_last_judgment_opens_the_question(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second", harsh)
        one = desk.assigned(connection, "1.1", "second")
        item = items_of(connection, "1.1")[0]
        (part,) = parts_for(connection, one, item, None)
        undone = desk.take_back(connection, one, item, part)
        assert (undone.closed, undone.done, undone.complete) == (False, 1, False)
        assert desk.settled(connection, "1.1") is None
        with pytest.raises(NotClosedError):
            desk.disagreements(connection, "1.1")
        desk.say(connection, one, item, part, {"judgment": "R"})
        assert desk.settled(connection, "1.1") == (1, 1, 1)


def test_after_a_ruling_assessors_change_nothing_unless_the_question_is_reopened(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second", harsh)
        one = desk.assigned(connection, "1.1", "second")
        found = desk.disagreements(connection, "1.1")
        desk.rule(connection, found[0], {"judgment": "R"})
        (part,) = parts_for(connection, one, found[0].item, None)
        with pytest.raises(LockedError):
            desk.say(connection, one, found[0].item, part, {"judgment": "X"})
        with pytest.raises(LockedError):
            desk.take_back(connection, one, found[0].item, part)
        assert judgments.version_of(connection, "second", part.thing) == 1


def test_reopening_waits_for_the_assessors_and_keeps_the_rulings(desk: Any) -> None:
    """A ruling is asked for again only where what the assessors say has changed; it stands meanwhile."""
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second", harsh)
        for found in desk.disagreements(connection, "1.1"):
            desk.rule(connection, found, {"judgment": "U"})
        reopen(connection, "1.1", by=desk.judge.id, reason="a document was missing")
        assert desk.settled(connection, "1.1") is None
        with pytest.raises(NotClosedError):
            desk.rule(connection, found, {"judgment": "R"})
        one, two = (desk.assigned(connection, "1.1", name) for name in ("first", "second"))
        items = items_of(connection, "1.1")
        parts = [parts_for(connection, one, item, None)[0] for item in items]
        # The same said again, a change of mind that is taken back, and one that stays.
        assert not desk.say(connection, one, items[0], parts[0], {"judgment": "R"}).closed
        assert not desk.say(connection, two, items[0], parts[0], {"judgment": "R"}).closed
        assert not desk.say(connection, two, items[0], parts[0], {"judgment": "W"}).closed
        assert not desk.say(connection, two, items[1], parts[1], {"judgment": "X"}).closed
        assert recount(connection, one) == (2, 2, True)
        assert desk.settled(connection, "1.1") is None
        assert recount(connection, two) == (2, 2, True)
        assert desk.settled(connection, "1.1") == (0, 2, 1)
        (left,) = desk.disagreements(connection, "1.1", only_left=True)
        assert left.item.id == items[1].id
        assert left.ruling == {"judgment": "U"}
        assert [row["judgment"] for row in desk.rows(connection)] == ["U", "U"]
        desk.rule(connection, left, {"judgment": "X"})
        assert desk.settled(connection, "1.1") == (0, 2, 0)
        with pytest.raises(LockedError):
            desk.say(connection, two, items[1], parts[1], {"judgment": "R"})


def test_a_ruling_stays_where_the_assessors_come_to_agree(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second", harsh)
        found = desk.disagreements(connection, "1.1")[0]
        desk.rule(connection, found, {"judgment": "U"})
        reopen(connection, "1.1", by=None, reason="")
        one, two = (desk.assigned(connection, "1.1", name) for name in ("first", "second"))
        (part,) = parts_for(connection, two, found.item, None)
        desk.say(connection, two, found.item, part, {"judgment": "R"})
        recount(connection, one)
        recount(connection, two)
        left = {each.item.id: each for each in desk.disagreements(connection, "1.1", only_left=True)}
        assert len(left) == 2
        asked = left[found.item.id]
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
        assign(connection, desk.evaluation.questions, assessors=3, accounts=people)
        assert desk.settled(connection, "1.1") is None
        desk.judge_all(connection, "1.1", "third", harsh)
        assert desk.settled(connection, "1.1") == (0, 2, 2)
        assert desk.rows(connection) == []


def test_matches_under_one_list_are_compared_by_response(desk: Any) -> None:
    """It counts which nuggets a response holds, not in which of its strings they were found."""
    with desk.store.write() as connection:
        for set_name, place in (("first", "0"), ("second", "1")):
            one = desk.assigned(connection, "1.3", set_name)
            for item in items_of(connection, "1.3"):
                parts = {part.name: part for part in parts_for(connection, one, item, None)}
                if place in parts:
                    desk.say(connection, one, item, parts[place], {"nuggets": ["1"]})
                elif set_name == "second":
                    desk.say(connection, one, item, parts["0"], {"nuggets": ["2"]})
                desk.say(connection, one, item, parts[""], {"nuggets": []})
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
        desk.judge_all(connection, "1.3", "first", harsh)
        desk.judge_all(connection, "1.3", "second", harsh)
        assert desk.settled(connection, "1.3") == (2, 0, 0)
        write_nugget(connection, list_name="development", question="1.3", nugget="1", body=None)
        for task in (None, desk.evaluation.task):
            assert settle(connection, "1.3", task).left == 2
        assert desk.rows(connection) == []


def own_lists(desk: Any, connection: Connection, sets: tuple[str, ...] = ("first", "second")) -> None:
    """Every assessor writes his own list, and finds its last nugget in every response."""
    for number, set_name in enumerate(sets):
        copy_list(connection, source="development", target=set_name, question="1.3", account=None)
        body = {"vital": True, "text": f"seen by {set_name}"}
        write_nugget(connection, list_name=set_name, question="1.3", nugget=None, body=body)
        one = desk.assigned(connection, "1.3", set_name)
        for item in items_of(connection, "1.3"):
            parts = {part.name: part for part in parts_for(connection, one, item, None)}
            desk.say(connection, one, item, parts["0"], {"nuggets": ["3"]})
            desk.say(connection, one, item, parts[""], {"nuggets": ["1"] if number else []})


def test_own_lists_are_one_disagreement_settled_by_adopting_one(desk: Any) -> None:
    with desk.store.write() as connection:
        own_lists(desk, connection)
        assert desk.settled(connection, "1.3") == (0, 1, 1)
        (found,) = desk.disagreements(connection, "1.3")
        assert (found.kind, found.item, found.ruling, found.version, found.left) == ("lists", None, None, 0, True)
        texts = [verdict["list"][-1]["text"] for verdict in found.verdicts]
        assert texts == [f"seen by {choice(connection, '1.3', place)}" for place in (0, 1)]
        numbers = {str(item.id) for item in items_of(connection, "1.3")}
        assert all(set(verdict["responses"]) == numbers for verdict in found.verdicts)
        assert not any(run in str(found) for run in ("north", "south"))
        item = items_of(connection, "1.3")[0]
        with pytest.raises(InputError, match="adopt one of the lists first"):
            desk.rule(connection, desks.Disagreement(item, "", "match", (), None, 0, True), {"nuggets": []})
        done = adopt(connection, "1.3", "second", who=desk.judge, key="k", expected=0)
        assert (done.nuggets, done.judgments) == (3, 4)
        assert adopt(connection, "1.3", "second", who=desk.judge, key="k", expected=0) == done
        with pytest.raises(KeyReusedError):
            adopt(connection, "1.3", "first", who=desk.judge, key="k")
        with pytest.raises(ConflictError):
            adopt(connection, "1.3", "first", who=desk.judge, key="l", expected=0)
        assert [one.text for one in nuggets_of(connection, ADJUDICATED, "1.3")] == ["chess", "plays", "seen by second"]
        assert sorted(nugget for row in desk.rows(connection) for nugget in row["nuggets"]) == ["1", "1", "3", "3"]
        assert desk.settled(connection, "1.3") == (0, 1, 0)
        assert settle(connection, "1.3", desk.evaluation.task).left == 0
        (after,) = desk.disagreements(connection, "1.3")
        assert after.ruling["list"][-1]["text"] == "seen by second"


def test_what_was_adopted_is_changed_by_rulings(desk: Any) -> None:
    """A ruling on a response is on all its strings; undoing it brings their links back."""
    with desk.store.write() as connection:
        own_lists(desk, connection)
        adopt(connection, "1.3", "second", who=desk.judge, key="k")
        item = items_of(connection, "1.3")[0]
        how = {"task": desk.evaluation.task, "who": desk.judge}
        rule(connection, item, "", {"nuggets": ["2"]}, expected=1, key="r", **how)
        mine = [row for row in desk.rows(connection) if row["run"] == item.run]
        assert [row["nuggets"] for row in mine] == [["2"]]
        undo_ruling(connection, item, "", expected=2, to=1, key="u", **how)
        mine = [row for row in desk.rows(connection) if row["run"] == item.run]
        assert sorted(nugget for row in mine for nugget in row["nuggets"]) == ["1", "3"]
        assert desk.settled(connection, "1.3") == (0, 1, 0)
        adopt(connection, "1.3", "first", who=desk.judge, key="other", expected=1)
        assert [one.text for one in nuggets_of(connection, ADJUDICATED, "1.3")][-1] == "seen by first"
        assert all(row["nuggets"] in ([], ["3"]) for row in desk.rows(connection))


def test_a_list_is_asked_for_again_where_an_assessor_changed_his(desk: Any) -> None:
    with desk.store.write() as connection:
        own_lists(desk, connection)
        adopt(connection, "1.3", "second", who=desk.judge, key="k")
    for change in (False, True):
        with desk.store.write() as connection:
            reopen(connection, "1.3", by=None, reason="")
            one = desk.assigned(connection, "1.3", "first")
            item = items_of(connection, "1.3")[0]
            part = parts_for(connection, one, item, None)[0]
            desk.say(connection, one, item, part, {"nuggets": ["2"] if change else []})
            for set_name in ("first", "second"):
                recount(connection, desk.assigned(connection, "1.3", set_name))
            assert desk.settled(connection, "1.3") == (0, 1, int(change))


def test_one_assessors_own_list_is_adopted_by_rule(store: Store, tmp_path: Path) -> None:
    desk = desks.make_desk(store, tmp_path, assessors=1)
    with store.write() as connection:
        own_lists(desk, connection, ("first",))
        assert desk.settled(connection, "1.3") == (2, 0, 0)
        assert [one.text for one in nuggets_of(connection, ADJUDICATED, "1.3")] == ["chess", "plays", "seen by first"]
        rows = desk.rows(connection)
        assert sorted((row["run"], row.get("item", -1), tuple(row["nuggets"])) for row in rows) == [
            ("north", -1, ()), ("north", 0, ("3",)), ("south", -1, ()), ("south", 0, ("3",))
        ]  # fmt: skip
        assert all(row["settled"] == "unanimous" for row in rows)
        # What changes in the list afterwards changes there too, unless a person has written into it.
        one = desk.assigned(connection, "1.3")
        body = {"vital": False, "text": "more"}
        write_nugget(connection, list_name="first", question="1.3", nugget="3", body=body)
        recount(connection, one)
        assert nuggets_of(connection, ADJUDICATED, "1.3")[-1].text == "more"
        write_nugget(connection, list_name=ADJUDICATED, question="1.3", nugget="3", body={**body, "text": "a person's"})
        recount(connection, one)
        assert nuggets_of(connection, ADJUDICATED, "1.3")[-1].text == "a person's"


def test_a_second_list_takes_back_what_the_first_settled_alone(store: Store, tmp_path: Path) -> None:
    desk = desks.make_desk(store, tmp_path, assessors=1)
    with store.write() as connection:
        own_lists(desk, connection, ("first",))
        assign(connection, desk.evaluation.questions, assessors=2, accounts=[person.id for person in desk.people])
        own_lists(desk, connection, ("second",))
        assert desk.settled(connection, "1.3") == (0, 1, 1)
        assert desk.rows(connection) == []


def test_adopting_needs_lists_to_choose_from(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.3", "first")
        desk.judge_all(connection, "1.3", "second")
        with pytest.raises(InputError, match="go by one list"):
            adopt(connection, "1.3", "first", who=desk.judge, key="k")
        with pytest.raises(Exception, match="unknown judgment set of the question 'third'"):
            adopt(connection, "1.3", "third", who=desk.judge, key="k")
        with pytest.raises(Exception, match="unknown list '3'"):
            choice(connection, "1.3", 2)


def test_ratings_are_never_settled(store: Store, tmp_path: Path) -> None:
    questions = [{"id": "p", "type": "pair", "text": "T", "hypothesis": "H"}]
    made = desks.write_evaluation(tmp_path / "evaluation", task="justification", questions=questions, runs={})
    for run in ("a", "b"):
        line = f'{{"run": "{run}", "question": "p", "decision": "YES", "justification": "because {run}"}}\n'
        (tmp_path / "evaluation" / "runs" / f"{run}.jsonl").write_text(line, encoding="utf-8")
    desk = desks.make_desk(store, tmp_path, made=made, development=False)
    with store.write() as connection:
        desk.judge_all(connection, "p", "first")
        desk.judge_all(connection, "p", "second")
        desk.check_counts(connection)
        assert desk.settled(connection, "p") == (0, 0, 0)
        assert desk.rows(connection) == []
        item = items_of(connection, "p")[0]
        verdict = {"understandability": 1}
        with pytest.raises(InputError, match="ratings are not adjudicated"):
            rule(connection, item, "", verdict, task=desk.evaluation.task, who=desk.judge, expected=0, key="k")


def test_what_came_from_elsewhere_is_a_ruling(desk: Any) -> None:
    """Adjudicated judgments of a file are a person's, unless they say that they were unanimous."""
    with desk.store.write() as connection:
        item = items_of(connection, "1.1")[0]
        row = {"question": "1.1", "doc": item.body["doc"], "text": item.body["text"], "judgment": "U"}
        judgments.append(connection, set_name=ADJUDICATED, kind="item", row=row, at="2026-01-01T00:00:00Z")
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second")
        assert [one["judgment"] for one in desk.rows(connection)] == ["U", "R"]
        # It is older than what they say, and they said nothing then: it is asked for.
        assert desk.settled(connection, "1.1") == (1, 1, 1)


def test_progress_tells_what_is_closed_and_what_waits_to_be_settled(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second")
        told = {one.question: (one.assessors, one.closed) for one in progress(connection)}
        assert told == {"1.1": (2, True), "1.2": (2, False), "1.3": (2, False)}
        forget_settled(connection, "1.1")
        assert desk.settled(connection, "1.1") is None
        assert settle_all(connection, desk.evaluation.task) == 1
        assert settle_all(connection, desk.evaluation.task) == 0
        assert desk.settled(connection, "1.1") == (2, 0, 0)


def test_parts_are_named_as_the_adjudicated_set_has_them(desk: Any) -> None:
    with desk.store.read() as connection:
        item = items_of(connection, "1.3")[0]
        assert part_named(connection, item, "0").row["item"] == 0
        with pytest.raises(Exception, match="unknown part '99'"):
            part_named(connection, item, "99")
        with pytest.raises(NotClosedError):
            disagreements(connection, "1.3", desk.evaluation.task)
