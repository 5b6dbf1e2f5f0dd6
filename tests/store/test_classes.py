"""Classes of equivalent answers: an assessor's own and those of development, renamed and merged as one change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import desk as desks
import pytest
from sqlalchemy import Connection, select

from acting import act
from qassay.errors import InputError, UsageError
from qassay.judging import subject
from qassay.store.development.answers import add_answer, note_answer, withdraw_answer
from qassay.store.engine import Store
from qassay.store.judging import judgments
from qassay.store.judging.classes import ClassGoneError, known_classes, rename_class, undo_renaming
from qassay.store.judging.decisions import LockedError
from qassay.store.judging.judgments import KeyReusedError
from qassay.store.schema import judgment, record

store = desks.store
KEY = "0123456789abcdef"


@pytest.fixture
def desk(store: Store, tmp_path: Path) -> Any:
    """Two assessors; the first has called everything in the lists of 1.2 right, each in a class of its own name."""
    desk = desks.make_desk(store, tmp_path)
    with store.write() as connection:
        desk.judge_all(connection, "1.2", "first", lambda item, part: {"judgment": "R", "answer": part.row["text"]})
    return desk


def names(connection: Connection, desk: Any, set_name: str = "first") -> dict[str, int]:
    """The known classes and how many items the assessor has in each."""
    classes = known_classes(connection, desk.assigned(connection, "1.2", set_name))
    return {list_class.name: list_class.items for list_class in classes}


def rename(connection: Connection, desk: Any, before: str, after: str, key: str = KEY) -> int:
    """Rename a class of the first assessor."""
    assignment = desk.assigned(connection, "1.2")
    return rename_class(act(connection, who=desk.who(assignment), key=key), assignment, before, after)


def test_the_known_classes_are_those_of_development_and_the_assessors_own(store: Store, desk: Any) -> None:
    with store.write() as connection:
        add_answer(act(connection), "1.2", "Zoe", "D9")
        add_answer(act(connection), "1.2", "Max", None)
        withdraw_answer(act(connection), "1.2", "Max", None, reason="left in 1900")
        assert names(connection, desk) == {"Zoe": 0, "Ann": 2, "Bob": 1}
        assert names(connection, desk, "second") == {"Zoe": 0}


def test_answers_of_another_assessor_are_not_among_them(store: Store, desk: Any) -> None:
    with store.write() as connection:
        assignment = desk.assigned(connection, "1.2")
        note_answer(act(connection, who=desk.who(assignment)), "1.2", "Noted", None)
        assert "Noted" in names(connection, desk)
        assert "Noted" not in names(connection, desk, "second")


def test_merging_gives_every_judgment_of_the_set_a_new_version(store: Store, desk: Any) -> None:
    with store.write() as connection:
        desk.judge_all(connection, "1.2", "second", lambda item, part: {"judgment": "R", "answer": part.row["text"]})
        assert rename(connection, desk, "Ann", "Bob") == 2
        assert names(connection, desk) == {"Bob": 3}
        assert names(connection, desk, "second") == {"Ann": 2, "Bob": 1}
        changed = [row for row in desk.rows(connection, "first", "1.2") if row["text"] == "Ann"]
        assert [row["answer"] for row in changed] == ["Bob", "Bob"]
        history = judgments.history(connection, "first", subject("list", changed[0]))
        assert [entry.body["answer"] for entry in history if entry.body] == ["Ann", "Bob"]
        recorded = connection.execute(select(record.c.body).where(record.c.action == "rename-class")).scalar_one()
        assert json.loads(recorded)["judgments"] == 2
        # Both had finished: what they agree on is settled again.
        settled = {(row["run"], row["text"]): row.get("answer") for row in desk.rows(connection, question="1.2")}
        assert settled == {("north", "Bob"): "Bob"}


def test_a_renaming_sent_twice_is_one(store: Store, desk: Any) -> None:
    with store.write() as connection:
        assert rename(connection, desk, "Ann", "Anna") == 2
        count = len(connection.execute(select(judgment.c.id)).all())
        assert rename(connection, desk, "Ann", "Anna") == 0
        with pytest.raises(KeyReusedError, match="belongs to another change"):
            rename(connection, desk, "Ann", "Annie")
        assert len(connection.execute(select(judgment.c.id)).all()) == count


def test_a_class_that_is_gone_or_known_from_development_is_not_renamed(store: Store, desk: Any) -> None:
    with store.write() as connection:
        rename(connection, desk, "Ann", "Anna")
        with pytest.raises(ClassGoneError, match="'Ann'"):
            rename(connection, desk, "Ann", "Annie", "another-key-4567")
        add_answer(act(connection), "1.2", "Bob", None)
        with pytest.raises(UsageError, match="question development"):
            rename(connection, desk, "Bob", "Robert", "another-key-4567")
        with pytest.raises(InputError, match="1 to 500"):
            rename(connection, desk, "Anna", "  ", "another-key-4567")


def test_a_renaming_is_undone_as_one(store: Store, desk: Any) -> None:
    with store.write() as connection:
        rename(connection, desk, "Ann", "Bob")
        assignment = desk.assigned(connection, "1.2")
        assert undo_renaming(act(connection, who=desk.who(assignment), key="fedcba9876543210"), assignment, KEY) == 2
        assert names(connection, desk) == {"Ann": 2, "Bob": 1}
        assert undo_renaming(act(connection, who=desk.who(assignment), key="fedcba9876543210"), assignment, KEY) == 0
        with pytest.raises(judgments.ConflictError):
            undo_renaming(act(connection, who=desk.who(assignment), key="0000000000000000"), assignment, KEY)


def test_a_judgment_of_its_own_is_no_change_of_classes(store: Store, desk: Any) -> None:
    """Such as one that leaves unjudged what never was judged: it has a key too."""
    with store.write() as connection:
        assignment = desk.assigned(connection, "1.2", "second")
        row = desk.rows(connection, "first", "1.2")[0]
        judgments.append(act(connection, who=desk.who(assignment), key=KEY), "second", "list", row, undone=True)
        with pytest.raises(UsageError, match="no such change"):
            undo_renaming(act(connection, who=desk.who(assignment), key="fedcba9876543210"), assignment, KEY)


def test_after_a_ruling_nothing_is_renamed(store: Store, desk: Any) -> None:
    with store.write() as connection:
        desk.judge_all(connection, "1.2", "second", lambda item, part: {"judgment": "W"})
        disagreement = desk.disagreements(connection, "1.2")[0]
        desk.rule(connection, disagreement, {"judgment": "W"})
        with pytest.raises(LockedError):
            rename(connection, desk, "Ann", "Anna")


def test_an_item_without_a_class_is_its_own(store: Store, tmp_path: Path) -> None:
    desk = desks.make_desk(store, tmp_path)
    with store.write() as connection:
        desk.judge_all(connection, "1.2", "first")
        assert names(connection, desk) == {"Ann": 2, "Bob": 1}
        assert rename(connection, desk, "Ann", "Bob") == 2
