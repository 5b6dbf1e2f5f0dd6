"""Settling what is unanimous, and ruling on the rest."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import desk as desks
import pytest
from sqlalchemy import Connection, func, select

from acting import act
from qassay.errors import InputError
from qassay.judging import ADJUDICATED, Item, Part
from qassay.store.adjudication.own_lists import adopt
from qassay.store.adjudication.rulings import disagreements, part_named, rule, undo_ruling
from qassay.store.adjudication.settling import NotClosedError, progress, settle
from qassay.store.assignment.assignments import SLOTS
from qassay.store.development.answers import add_answer
from qassay.store.engine import Store
from qassay.store.judging.judgments import ConflictError, KeyReusedError
from qassay.store.judging.nuggets import write_nugget
from qassay.store.pool.items import items_of
from qassay.store.schema import judgment
from qassay.store.settings import forget_settled

store, desk = desks.store, desks.desk


def count_rows(connection: Connection, set_name: str = ADJUDICATED) -> int:
    return connection.execute(select(func.count()).where(judgment.c.set == set_name)).scalar_one()


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
        assert all(desk.disagreements(connection, question) == [] for question in ("1.1", "1.2", "1.3"))


def test_two_who_disagree_on_everything_leave_everything(desk: Any) -> None:
    with desk.store.write() as connection:
        for question in ("1.1", "1.2", "1.3"):
            desk.judge_all(connection, question, "first")
            desk.judge_all(connection, question, "second", desks.harsh)
    with desk.store.read() as connection:
        assert desk.rows(connection) == []
        assert [desk.settled(connection, question) for question in ("1.1", "1.2", "1.3")] == [
            (0, 2, 2), (0, 3, 3), (0, 2, 2)
        ]  # fmt: skip
        disagreements = desk.disagreements(connection, "1.1")
        assert {disagreement.item.id for disagreement in disagreements} == {
            item.id for item in items_of(connection, "1.1")
        }
        assert all(sorted(v["judgment"] for v in disagreement.verdicts) == ["R", "W"] for disagreement in disagreements)
        assert all(
            disagreement.ruling is None and disagreement.version == 0 and disagreement.left
            for disagreement in disagreements
        )
        matches = desk.disagreements(connection, "1.3")
        assert all(sorted(v["nuggets"] for v in match.verdicts) == [[], ["1"]] for match in matches)


def test_nobody_sees_anything_before_all_have_finished(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        item = items_of(connection, "1.1")[0]
        with pytest.raises(NotClosedError, match="is not finished by all"):
            desk.disagreements(connection, "1.1")
        with pytest.raises(NotClosedError):
            settle(act(connection, task=desk.evaluation.task), "1.1")
        with pytest.raises(NotClosedError):
            rule(
                act(connection, task=desk.evaluation.task, who=desk.judge, key="k"),
                item,
                "",
                {"judgment": "R"},
                expected=0,
            )
        with pytest.raises(NotClosedError):
            adopt(act(connection, who=desk.judge, key="k"), "1.3", "first")
        with pytest.raises(NotClosedError):
            settle(act(connection, task=desk.evaluation.task), "nowhere")
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
        assert sorted((row["text"], row["judgment"], row["answer"]) for row in rows) == [
            ("Ann", "R", "Ann"), ("Ann", "R", "Ann"), ("Bob", "R", "Robert")
        ]  # fmt: skip
        assert desk.disagreements(connection, "1.2") == []  # Robert and Bob are two names of one class


def test_notes_come_with_the_verdicts_and_names_do_not(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first", lambda *_: {"judgment": "R", "note": "page two"})
        desk.judge_all(connection, "1.1", "second", desks.harsh)
        for disagreement in desk.disagreements(connection, "1.1"):
            assert sorted(map(str, disagreement.verdicts)) == [
                "{'judgment': 'R', 'note': 'page two'}",
                "{'judgment': 'W'}",
            ]
            assert not any(name in str(disagreement) for name in (*SLOTS, "assessor"))


def test_the_order_of_verdicts_is_drawn_for_each_item(store: Store, tmp_path: Path) -> None:
    questions = [{"id": "q", "type": "factoid", "text": "?"}]
    runs = {f"r{n}": f"q Q0 D1 1 1 r{n} answer {n}\n" for n in range(40)}
    evaluation = desks.write_evaluation(tmp_path / "evaluation", task="ranked5", questions=questions, runs=runs)
    desk = desks.make_desk(store, tmp_path, made=evaluation, development=False)
    with store.write() as connection:
        desk.judge_all(connection, "q", "first")
        desk.judge_all(connection, "q", "second", desks.harsh)
        disagreements = desk.disagreements(connection, "q")
        firsts = [disagreement.verdicts[0]["judgment"] for disagreement in disagreements]
        assert len(firsts) == 40
        assert 5 < firsts.count("R") < 35
        assert [disagreement.verdicts for disagreement in desk.disagreements(connection, "q")] == [
            disagreement.verdicts for disagreement in disagreements
        ]


def test_a_ruling_is_kept_and_the_rest_is_left(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second", desks.harsh)
        first, second = desk.disagreements(connection, "1.1")
        saved = desk.rule(connection, first, {"judgment": "X", "note": "too much"})
        assert (saved.version, saved.account, saved.body["assessor"]) == (1, desk.judge.id, desk.judge.name)
        assert desk.settled(connection, "1.1") == (0, 2, 1)
        again = {disagreement.item.id: disagreement for disagreement in desk.disagreements(connection, "1.1")}
        assert again[first.item.id].ruling == {"judgment": "X", "note": "too much"}
        assert (again[first.item.id].version, again[first.item.id].left) == (1, False)
        assert [disagreement.item.id for disagreement in desk.disagreements(connection, "1.1", only_left=True)] == [
            second.item.id
        ]
        desk.rule(connection, second, {"judgment": "W"})
        assert desk.settled(connection, "1.1") == (0, 2, 0)
        assert settle(act(connection, task=desk.evaluation.task), "1.1").left == 0
        assert [row["judgment"] for row in desk.rows(connection)] == ["X", "W"]


def test_rulings_are_checked_versioned_and_sent_twice(desk: Any) -> None:
    task, who = desk.evaluation.task, desk.judge
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second", desks.harsh)
        item = desk.disagreements(connection, "1.1")[0].item
        with pytest.raises(InputError, match="not a label"):
            rule(act(connection, task=task, who=who, key="a"), item, "", {"judgment": "?"}, expected=0)
        verdict = {"judgment": "R", "settled": "unanimous"}
        with pytest.raises(InputError, match="settled"):
            rule(act(connection, task=task, who=who, key="a"), item, "", verdict, expected=0)
        change = rule(act(connection, task=task, who=who, key="a"), item, "", {"judgment": "R"}, expected=0)
        assert rule(act(connection, task=task, who=who, key="a"), item, "", {"judgment": "R"}, expected=0) == change
        with pytest.raises(KeyReusedError):
            rule(act(connection, task=task, who=who, key="a"), item, "", {"judgment": "W"}, expected=1)
        with pytest.raises(ConflictError) as met:
            rule(act(connection, task=task, who=who, key="b"), item, "", {"judgment": "W"}, expected=0)
        assert met.value.current == change
        assert count_rows(connection) == 1
        assert desk.settled(connection, "1.1") == (0, 2, 1)


def test_a_ruling_is_undone(desk: Any) -> None:
    task, who = desk.evaluation.task, desk.judge
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second", desks.harsh)
        disagreement = desk.disagreements(connection, "1.1")[0]
        desk.rule(connection, disagreement, {"judgment": "R"})
        undone = act(connection, task=task, who=who, key="undo")
        saved = undo_ruling(undone, disagreement.item, "", expected=1, to=0)
        assert (saved.version, saved.body) == (2, None)
        assert undo_ruling(undone, disagreement.item, "", expected=1, to=0) == saved
        assert desk.settled(connection, "1.1") == (0, 2, 2)
        assert desk.rows(connection) == []
        with pytest.raises(InputError, match="no version 7"):
            undo_ruling(act(connection, task=task, who=who, key="other"), disagreement.item, "", expected=2, to=7)
        undo_ruling(act(connection, task=task, who=who, key="back"), disagreement.item, "", expected=2, to=1)
        assert desk.settled(connection, "1.1") == (0, 2, 1)


def test_settling_twice_repeats_nothing(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second")
        before = count_rows(connection)
        assert settle(act(connection, task=desk.evaluation.task), "1.1") == settle(act(connection), "1.1")
        assert count_rows(connection) == before == 2


def test_ratings_are_never_settled(store: Store, tmp_path: Path) -> None:
    questions = [{"id": "p", "type": "pair", "text": "T", "hypothesis": "H"}]
    evaluation = desks.write_evaluation(tmp_path / "evaluation", task="justification", questions=questions, runs={})
    for run in ("a", "b"):
        line = f'{{"run": "{run}", "question": "p", "decision": "YES", "justification": "because {run}"}}\n'
        (tmp_path / "evaluation" / "runs" / f"{run}.jsonl").write_text(line, encoding="utf-8")
    desk = desks.make_desk(store, tmp_path, made=evaluation, development=False)
    with store.write() as connection:
        desk.judge_all(connection, "p", "first")
        desk.judge_all(connection, "p", "second")
        desk.check_counts(connection)
        assert desk.settled(connection, "p") == (0, 0, 0)
        assert desk.rows(connection) == []
        item = items_of(connection, "p")[0]
        verdict = {"understandability": 1}
        with pytest.raises(InputError, match="ratings of justifications are not adjudicated"):
            rule(act(connection, task=desk.evaluation.task, who=desk.judge, key="k"), item, "", verdict, expected=0)
        with pytest.raises(InputError, match="ratings of justifications are not adjudicated"):
            undo_ruling(act(connection, task=desk.evaluation.task, who=desk.judge, key="k"), item, "", expected=0, to=0)


def test_progress_tells_what_is_closed_and_what_waits_to_be_settled(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second")
        state = {row.question: (row.assessors, row.closed) for row in progress(connection)}
        assert state == {"1.1": (2, True), "1.2": (2, False), "1.3": (2, False)}
        forget_settled(connection, "1.1")
        assert desk.settled(connection, "1.1") is None
        settle(act(connection, task=desk.evaluation.task), "1.1")
        assert desk.settled(connection, "1.1") == (2, 0, 0)


def test_parts_are_named_as_the_adjudicated_set_has_them(desk: Any) -> None:
    with desk.store.read() as connection:
        item = items_of(connection, "1.3")[0]
        assert part_named(connection, item, "0").row["item"] == 0
        with pytest.raises(Exception, match="unknown part '99'"):
            part_named(connection, item, "99")
        with pytest.raises(NotClosedError):
            disagreements(act(connection, task=desk.evaluation.task), "1.3")


def test_undoing_a_ruling_is_checked_as_ruling_is(desk: Any) -> None:
    """What was ruled before may name a nugget that is not there any more."""
    how = {"task": desk.evaluation.task, "who": desk.judge}
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.3", "first")
        desk.judge_all(connection, "1.3", "second", desks.harsh)
        item = items_of(connection, "1.3")[0]
        for version, nuggets in enumerate((["2"], ["1"])):
            rule(act(connection, **how, key=f"rule-{version}"), item, "", {"nuggets": nuggets}, expected=version)
        write_nugget(act(connection), "development", "1.3", "2", None)
        with pytest.raises(InputError, match="2"):
            undo_ruling(act(connection, **how, key="undo"), item, "", expected=2, to=1)
        assert count_rows(connection) == 2


def by_class(names: Mapping[str, str]) -> desks.Says:
    """Everything is correct, and every string belongs to the class that is named."""

    def says(_: Item, part: Part) -> Mapping[str, Any]:
        return {"judgment": "R", "answer": names[part.row["text"]]}

    return says


def test_classes_that_differ_only_by_name_are_not_a_disagreement(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.2", "first", by_class({"Ann": "Ann", "Bob": "Bob"}))
        desk.judge_all(connection, "1.2", "second", by_class({"Ann": "Annie Lee", "Bob": "Robert"}))
        assert desk.settled(connection, "1.2") == (3, 0, 0)
        assert desk.disagreements(connection, "1.2") == []
        assert {row["answer"] for row in desk.rows(connection, question="1.2")} == {"Ann", "Bob"}
        desk.check_counts(connection)


def test_a_known_answer_differs_from_any_other_class(desk: Any) -> None:
    with desk.store.write() as connection:
        add_answer(act(connection), "1.2", "Ann", None)
        desk.judge_all(connection, "1.2", "first", by_class({"Ann": "Ann", "Bob": "Bob"}))
        desk.judge_all(connection, "1.2", "second", by_class({"Ann": "Annie Lee", "Bob": "Robert"}))
        assert desk.settled(connection, "1.2") == (1, 2, 2)


def test_classes_with_other_items_are_a_disagreement(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.2", "first", by_class({"Ann": "one", "Bob": "two"}))
        desk.judge_all(connection, "1.2", "second", by_class({"Ann": "both", "Bob": "both"}))
        assert desk.settled(connection, "1.2") == (0, 3, 3)
        disagreements = desk.disagreements(connection, "1.2")
        desk.rule(connection, disagreements[0], {"judgment": "R", "answer": "one"})
        assert desk.settled(connection, "1.2") == (0, 3, 2)
        desk.check_counts(connection)


def test_a_ruling_that_changes_nothing_is_not_recorded(desk: Any) -> None:
    with desk.store.write() as connection:
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second", desks.harsh)
        disagreement = desk.disagreements(connection, "1.1")[0]
        first = desk.rule(connection, disagreement, {"judgment": "W"})
        before = count_rows(connection)
        again = desk.rule(connection, desk.disagreements(connection, "1.1")[0], {"judgment": "W"})
        assert (again.id, again.version, count_rows(connection)) == (first.id, first.version, before)
        noted = desk.rule(connection, desk.disagreements(connection, "1.1")[0], {"judgment": "W", "note": "why"})
        assert noted.version == first.version + 1


def test_changed_verdict_is_settled_as_the_whole_question_would_be(desk: Any) -> None:
    """Only the item that changed is read again; settling everything afterwards finds nothing to change."""
    draw = random.Random(7)
    with desk.store.write() as connection:
        for set_name in ("first", "second"):
            desk.judge_all(connection, "1.1", set_name)
        for step in range(25):
            assignment = desk.assigned(connection, "1.1", draw.choice(("first", "second")))
            item = draw.choice(items_of(connection, "1.1"))
            part = part_named(connection, item, "")
            desk.say(connection, assignment, item, part, {"judgment": draw.choice("RXUW")})
            if step == 12:
                forget_settled(connection, "1.1")  # then the next change settles the question whole
                continue
            counts, rows = desk.settled(connection, "1.1"), desk.rows(connection)
            settle(act(connection, task=desk.evaluation.task), "1.1")
            assert desk.settled(connection, "1.1") == counts
            assert desk.rows(connection) == rows
        assert counts is not None
        assert sum(counts[:2]) == 2
