"""Changes of an assessor's nugget list: one transaction and one key each, with links, counts and taking back."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any

import desk as desks
import pytest
from sqlalchemy import Connection, select

from acting import act
from qassay.errors import InputError, UsageError
from qassay.store.acts import Assessor
from qassay.store.assignment.counting import parts_for
from qassay.store.engine import Store
from qassay.store.judging.decisions import LockedError
from qassay.store.judging.judgments import ConflictError, KeyReusedError
from qassay.store.judging.nugget_changes import NuggetChange, begin_list, begin_matching, match_rows
from qassay.store.judging.nuggets import NuggetConflictError, nuggets_of, write_nugget
from qassay.store.pool.items import items_of
from qassay.store.schema import nugget, record

store = desks.store
KEYS = count()


@pytest.fixture
def desk(store: Store, tmp_path: Path) -> Any:
    """Two assessors of 1.3; the first has begun the list: 1 chess (vital), 2 plays."""
    desk = desks.make_desk(store, tmp_path)
    with store.write() as connection:
        assignment = desk.assigned(connection, "1.3")
        begin_list(act(connection, account=desk.who(assignment).id), assignment)
    return desk


def change(connection: Connection, desk: Any, key: str | None = None, set_name: str = "first") -> NuggetChange:
    """A new change of an assessor's list."""
    assignment = desk.assigned(connection, "1.3", set_name)
    change_act = act(
        connection, task=desk.evaluation.task, who=desk.who(assignment), key=key or f"change-{next(KEYS):010}"
    )
    return NuggetChange(change_act, assignment)


def texts(connection: Connection, list_name: str = "first") -> list[tuple[str, str]]:
    """Ids and texts of a list."""
    return [(nugget.nugget, nugget.text) for nugget in nuggets_of(connection, list_name, "1.3")]


def version(connection: Connection, name: str) -> int:
    """The version of a nugget that stands."""
    return next(nugget.version for nugget in nuggets_of(connection, "first", "1.3") if nugget.nugget == name)


def match(connection: Connection, desk: Any, links: dict[str, dict[str, list[str]]]) -> None:
    """Link nuggets with strings of the runs' responses, and look these through."""
    assignment = desk.assigned(connection, "1.3")
    for item in items_of(connection, "1.3"):
        for part in parts_for(connection, assignment.set, item, None):
            linked = links.get(str(item.run), {}).get(part.name)
            if linked is not None or part.name == "":
                desk.say(connection, assignment, item, part, {"nuggets": linked or []})


def found(connection: Connection) -> dict[tuple[str, int | None], list[str]]:
    """What is linked: by run and string."""
    rows = match_rows(connection, "first", "1.3")
    return {(row["run"], row.get("item")): row["nuggets"] for _, row in rows if row["nuggets"]}


LINKS = {"north": {"0": ["1"], "1": ["2"]}, "south": {"0": ["1"]}}


def test_a_list_begins_as_a_copy_of_development_once(store: Store, desk: Any) -> None:
    with store.write() as connection:
        assert texts(connection) == [("1", "chess"), ("2", "plays")]
        first = change(connection, desk)
        first.remove("1", expected=1)
        first = change(connection, desk)
        first.remove("2", expected=1)
        begin_list(act(connection, account=first.act.account), first.assignment)
        assert texts(connection) == []
        second = desk.assigned(connection, "1.3", "second")
        begin_list(act(connection, account=desk.who(second).id), second)
        assert texts(connection, "second") == texts(connection, "development")


def test_a_set_judged_from_files_takes_the_list_it_went_by_along(store: Store, tmp_path: Path) -> None:
    desk = desks.make_desk(store, tmp_path, development=False)
    with store.write() as connection:
        for question in ("1.3", "9.9"):
            write_nugget(act(connection), "given", question, "a", {"text": "x"})
        rows = [
            ("match", f'{{"question": "{question}", "run": "north", "nuggets": ["a"]}}') for question in ("1.3", "9.9")
        ]
        desks.judgments.append_many(connection, set_name="first", rows=rows, at="2026-01-01T00:00:00Z")
        assignment = desk.assigned(connection, "1.3")
        begin_list(act(connection, account=desk.who(assignment).id), assignment)
        assert [len(nuggets_of(connection, "first", question)) for question in ("1.3", "9.9")] == [1, 1]


def test_nuggets_are_written_marked_and_distinct_from_older_ones(store: Store, desk: Any) -> None:
    with store.write() as connection:
        view = change(connection, desk).add("  meets\n on   Mondays ", vital=False)
        assert (view.nugget, view.text, view.vital) == ("3", "meets on Mondays", False)
        change(connection, desk).rewrite("3", "meets on Mondays", vital=True, expected=1)
        with pytest.raises(NuggetConflictError) as caught:
            change(connection, desk).rewrite("3", "other", vital=True, expected=1)
        assert caught.value.current is not None
        assert caught.value.current.version == 2
        change(connection, desk).remove("3", expected=2)
        assert change(connection, desk).add("next", vital=False).nugget == "4"
        with pytest.raises(InputError, match="1 to 1000"):
            change(connection, desk).add(" \n ", vital=False)


def test_a_change_sent_twice_is_one_and_a_key_belongs_to_one_list(store: Store, desk: Any) -> None:
    with store.write() as connection:
        first = change(connection, desk, "the-same-key-1234")
        assert first.is_new()
        first.split("1", ("white", "black"), expected=1)
        assert not change(connection, desk, "the-same-key-1234").is_new()
        with pytest.raises(KeyReusedError):
            change(connection, desk, "the-same-key-1234", "second").is_new()
        same = ({"1"}, {"white", " black "})
        assert not NuggetChange(first.act, first.assignment, *same).is_new()
        for names, texts in (({"9"}, {"white"}), ({"1"}, {"white", "green"})):
            with pytest.raises(KeyReusedError, match="belongs to another change"):
                NuggetChange(first.act, first.assignment, names, texts).is_new()
        # A key that merely begins like another one is another key.
        assert change(connection, desk, "the-same-key-123").is_new()


def test_moving_renumbers_and_keeps_texts(store: Store, desk: Any) -> None:
    with store.write() as connection:
        change(connection, desk).add("third", vital=False)
        change(connection, desk).move("3", "1", expected=1)
        assert [name for name, _ in texts(connection)] == ["3", "1", "2"]
        change(connection, desk).move("3", None, expected=version(connection, "3"))
        assert texts(connection) == [("1", "chess"), ("2", "plays"), ("3", "third")]
        with pytest.raises(NuggetConflictError):
            change(connection, desk).move("3", "1", expected=1)
        with pytest.raises(NuggetConflictError):
            change(connection, desk).move("3", "gone", expected=version(connection, "3"))


def test_splitting_keeps_the_links_at_the_first_and_merging_joins_them(store: Store, desk: Any) -> None:
    with store.write() as connection:
        match(connection, desk, LINKS)
        change(connection, desk).split("1", ("white", "black"), expected=1)
        assert texts(connection) == [("1", "white"), ("3", "black"), ("2", "plays")]
        assert found(connection) == {("north", 0): ["1"], ("north", 1): ["2"], ("south", 0): ["1"]}
        versions = (version(connection, "2"), version(connection, "1"))
        change(connection, desk).merge("2", "1", "plays chess", expected=versions)
        assert texts(connection) == [("3", "black"), ("2", "plays chess")]
        # North had both: once per response. South's link moved over.
        assert found(connection) == {("north", 1): ["2"], ("south", 0): ["2"]}
        assert next(nugget.vital for nugget in nuggets_of(connection, "first", "1.3") if nugget.nugget == "2")
        with pytest.raises(UsageError):
            change(connection, desk).merge("2", "2", "x", expected=(1, 1))


def test_removing_a_nugget_takes_its_links_and_is_undone_with_them(store: Store, desk: Any) -> None:
    with store.write() as connection:
        match(connection, desk, LINKS)
        before = found(connection)
        removal = change(connection, desk)
        assert removal.remove("1", expected=1) == 2
        assert found(connection) == {("north", 1): ["2"]}
        assert connection.execute(select(record.c.id).where(record.c.action == "remove-nugget")).scalars().all()
        change(connection, desk).undo(removal.act.key)
        assert found(connection) == before
        assert texts(connection) == [("1", "chess"), ("2", "plays")]
        with pytest.raises(NuggetConflictError):
            change(connection, desk).undo(removal.act.key)
        with pytest.raises(UsageError, match="no such change"):
            change(connection, desk).undo("never-sent-0000000")


def test_one_change_after_the_other_is_undone(store: Store, desk: Any) -> None:
    with store.write() as connection:
        before = [(nugget.nugget, nugget.text, nugget.vital) for nugget in nuggets_of(connection, "first", "1.3")]
        keys = []
        for way, arguments in (
            ("rewrite", {"text": "chess", "vital": False, "expected": 1}),
            ("split", {"texts": ("white", "black"), "expected": 2}),
            ("move", {"before": None, "expected": 3}),
            ("remove", {"expected": 4}),
        ):
            done = change(connection, desk)
            getattr(done, way)("1", **arguments)
            keys.append(done.act.key)
        assert texts(connection) == [("3", "black"), ("2", "plays")]
        for key in reversed(keys):
            change(connection, desk).undo(key)
        assert [
            (nugget.nugget, nugget.text, nugget.vital) for nugget in nuggets_of(connection, "first", "1.3")
        ] == before


def test_nothing_is_undone_where_a_link_has_changed_since(store: Store, desk: Any) -> None:
    with store.write() as connection:
        match(connection, desk, LINKS)
        removal = change(connection, desk)
        removal.remove("1", expected=1)
        match(connection, desk, {"north": {"0": ["2"], "1": []}})
        with pytest.raises(ConflictError):
            change(connection, desk).undo(removal.act.key)


@pytest.mark.parametrize("which", [("north",), ("north", "south")])
def test_responses_to_look_at_again_are_open_until_looked_through(
    store: Store, desk: Any, which: Iterable[str]
) -> None:
    with store.write() as connection:
        match(connection, desk, LINKS)
        assert desk.assigned(connection, "1.3").closed
        items = [item for item in items_of(connection, "1.3") if item.run in which]
        again = change(connection, desk)
        again.add("new", vital=True)
        assert again.judge_again(items) == len(items)
        again.finish()
        assignment = desk.assigned(connection, "1.3")
        assert (assignment.done, assignment.closed) == (2 - len(items), None)
        desk.check_counts(connection)
        undone = change(connection, desk)
        undone.undo(again.act.key)
        undone.finish()
        assert desk.assigned(connection, "1.3").done == 2
        desk.check_counts(connection)
        assert found(connection)[("north", 0)] == ["1"]


def test_matching_begins_when_there_is_a_nugget(store: Store, tmp_path: Path) -> None:
    desk = desks.make_desk(store, tmp_path, development=False)
    with store.write() as connection:
        assignment = desk.assigned(connection, "1.3")
        with pytest.raises(InputError, match="at least one nugget"):
            begin_matching(act(connection), assignment)
        change(connection, desk).add("a fact", vital=True)
        begin_matching(act(connection), assignment)
        assert desk.assigned(connection, "1.3").step == 2


def test_nobody_else_changes_a_list(store: Store, desk: Any) -> None:
    with store.write() as connection:
        assignment = desk.assigned(connection, "1.3")
        stranger = Assessor(desk.judge.id, desk.judge.name)
        with pytest.raises(LockedError, match="not assigned"):
            NuggetChange(act(connection, who=stranger, key="a-strangers-key-1"), assignment).is_new()
        rows = connection.execute(select(nugget.c.account).where(nugget.c.list == "first")).scalars()
        assert set(rows) == {assignment.account}


def test_a_removal_that_opens_the_same_responses_is_undone(store: Store, desk: Any) -> None:
    """One change writes a response twice: its link goes, and it is to be looked at again."""
    with store.write() as connection:
        match(connection, desk, {"north": {"": ["1"]}, "south": {"": ["2"]}})
        before = found(connection)
        removal = change(connection, desk)
        assert removal.remove("1", expected=1) == 1
        assert removal.judge_again(items_of(connection, "1.3")) == 2
        removal.finish()
        assert desk.assigned(connection, "1.3").done == 0
        undone = change(connection, desk)
        undone.undo(removal.act.key)
        undone.finish()
        assert found(connection) == before
        assert desk.assigned(connection, "1.3").done == 2
        desk.check_counts(connection)
