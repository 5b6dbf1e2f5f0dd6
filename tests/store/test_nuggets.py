"""Nugget lists: the last row counts, numbers are never used again, and nobody sees what another assessor wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import desk as desks
import pytest

from acting import act
from qassay.store.engine import Store
from qassay.store.judging.nuggets import (
    NuggetConflictError,
    copy_list,
    list_for,
    nugget_lists,
    nuggets_of,
    write_nugget,
)

store = desks.store


def write(connection: Any, list_name: str, text: str | None, nugget: str | None = None, **options: Any) -> Any:
    body = None if text is None else {"vital": True, "text": text}
    change_act = act(connection, key=options.pop("key", None), account=options.pop("account", None))
    return write_nugget(change_act, list_name, "q", nugget, body, **options)


def texts(connection: Any, list_name: str, question: str = "q") -> list[str]:
    return [nugget.text for nugget in nuggets_of(connection, list_name, question)]


def test_the_last_row_counts_and_a_number_is_never_used_again(store: Store) -> None:
    with store.write() as connection:
        assert [write(connection, "first", text).nugget for text in "abc"] == ["1", "2", "3"]
        changed = write(connection, "first", "B", "2")
        assert (changed.version, changed.ordinal) == (2, 2)
        gone = write(connection, "first", None, "3")
        assert (gone.version, gone.body, gone.text) == (2, None, "")
        assert texts(connection, "first") == ["a", "B"]
        assert write(connection, "first", "d").nugget == "4"
        back = write(connection, "first", "c again", "3")
        assert back.version == 3
        assert texts(connection, "first") == ["a", "B", "c again", "d"]
        assert nuggets_of(connection, "first", "other") == []


def test_stale_save_gets_a_conflict(store: Store) -> None:
    with store.write() as connection:
        write(connection, "first", "a", expected=0)
        with pytest.raises(NuggetConflictError) as met:
            write(connection, "first", "b", "1", expected=0)
        assert met.value.current.text == "a"
        assert write(connection, "first", "b", "1", expected=1).version == 2


def test_a_change_sent_twice_is_one(store: Store) -> None:
    with store.write() as connection:
        nugget = write(connection, "first", "a", key="k")
        assert write(connection, "first", "a", key="k") == nugget
        assert texts(connection, "first") == ["a"]


def test_a_copy_starts_a_list_and_never_overwrites_one(store: Store) -> None:
    with store.write() as connection:
        write(connection, "development", "a")
        write(connection, "development", "gone")
        write(connection, "development", None, "2")
        how = {"source": "development", "target": "second", "question": "q"}
        assert copy_list(act(connection), **how) == 1
        write(connection, "second", "mine", "1")
        assert copy_list(act(connection), **how) == 0
        assert (texts(connection, "second"), texts(connection, "development")) == (["mine"], ["a"])


def test_names_of_lists_come_each_once(store: Store) -> None:
    with store.write() as connection:
        assert nugget_lists(connection) == []
        for name in ("second", "development", "second", "llm:x", "Ärger"):
            write(connection, name, "a")
        assert sorted(nugget_lists(connection)) == sorted(["development", "llm:x", "second", "Ärger"])


@pytest.mark.parametrize(
    ("lists", "set_name", "chosen"),
    [
        ((), "first", "first"),
        (("first",), "first", "first"),
        # The only list there is (FORMATS 4), unless another assessor wrote it.
        (("adjudicated",), "second", "adjudicated"),
        (("development",), "second", "development"),
        (("given",), "second", "given"),
        (("first",), "second", "second"),
        (("first",), "adjudicated", "first"),
        (("first", "second"), "adjudicated", "adjudicated"),
        # A list that comes later takes nothing away from those who go by the one that was given.
        (("adjudicated", "llm"), "second", "adjudicated"),
        (("development", "llm"), "second", "development"),
        (("development", "first"), "second", "development"),
        # What was made of the assessors' lists is not shown to an assessor.
        (("adjudicated", "first"), "second", "second"),
        (("adjudicated", "development", "first"), "second", "development"),
    ],
)
def test_the_list_that_a_set_goes_by(
    tmp_path: Path, request: Any, lists: tuple[str, ...], set_name: str, chosen: str
) -> None:
    store = desks.make_store(request, tmp_path, "sqlite")
    with store.write() as connection:
        for name in lists:
            write(connection, name, f"of {name}")
        name, nuggets = list_for(connection, set_name, "q")
        assert name == chosen
        assert [nugget.text for nugget in nuggets] == ([f"of {chosen}"] if chosen in lists else [])
    store.close()
