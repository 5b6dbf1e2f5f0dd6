"""Items: each thing once, in an order and under numbers that tell nothing of the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import desk as desks
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pooling import store_items

import qassay
from qassay.demo import DEMOS, Demo, demo_folder
from qassay.evaluation import Evaluation
from qassay.judging import Item, Wanted
from qassay.judging.items import parts_of, pool_items
from qassay.judging.pool import pool
from qassay.runs import Runs
from qassay.store.engine import Store
from qassay.store.pool.items import item_with_number, items_of, order_seed

store = desks.store
QUESTIONS = [{"id": "q", "type": "factoid", "text": "?"}, {"id": "r", "type": "factoid", "text": "?"}]
# A letter for a run that gives this answer to q.
ANSWERS = st.lists(
    st.sampled_from(["Atlanta", "atlanta", "the Atlanta", "Bern", "bern!", "Oslo", "42"]), min_size=1, max_size=8
)


def renamed(runs: Runs, names: dict[str, str]) -> Runs:
    """The same runs under other tags."""
    order = pl.Enum([names[tag] for tag in runs.tags])
    table = runs.table.with_columns(pl.col("run").cast(pl.String).replace_strict(names).cast(order))
    return replace(runs, table=table, tags=tuple(names[tag] for tag in runs.tags))


def made_from(folder: Path, answers: list[str]) -> Evaluation:
    runs = {f"run{n}": f"q Q0 D1 1 1 run{n} {text}\nr Q0 D1 1 1 run{n} same\n" for n, text in enumerate(answers)}
    return desks.write_evaluation(folder, task="ranked5", questions=QUESTIONS, runs=runs)


def pooled(evaluation: Evaluation, seed: str = "s", **options: Any) -> list[Item]:
    return list(pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed=seed, **options))


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Path]:
    """A new folder for every example."""
    return (tmp_path / str(number) for number in range(10_000))


@pytest.mark.parametrize("name", DEMOS)
def test_items_are_the_things_of_the_pool(name: Demo) -> None:
    evaluation = qassay.open(demo_folder(name))
    nuggets = evaluation.nugget_list("adjudicated")
    known: dict[str, list[str]] = {}
    for question, nugget in nuggets.select("question", "nugget").iter_rows():
        known.setdefault(question, []).append(nugget)
    items = pooled(evaluation, justified=evaluation.configuration.justified or ())
    for row in pool(evaluation.runs, evaluation.questions, evaluation.task, nuggets=nuggets).types:
        names = row.record.pooled
        wanted = set(row.subjects.select(names).iter_rows())
        if row.record.name == "rating" and evaluation.configuration.justified:
            wanted = {values for values in wanted if values[0] in evaluation.configuration.justified}
        kinds = {"item": "item", "extract": "extract"}.get(row.record.name, row.record.name)
        subjects = [
            tuple(part.row.get(field) for field in names)
            for item in items
            if item.kind == kinds and evaluation.questions.by_id[item.question].type == row.type
            for part in parts_of(item, nuggets=known.get(item.question, []))
            if part.kind == (row.record.name if row.record.name != "extract" else "item") and "item" not in part.row
        ]
        assert len(subjects) == len(set(subjects))
        assert set(subjects) == wanted


def test_numbers_and_orders_tell_nothing_of_the_run() -> None:
    """Other tags give other numbers and another order, and pooled items the same ones."""
    evaluation = qassay.open(demo_folder("series"))
    tags = evaluation.runs.tags
    other = renamed(evaluation.runs, {tag: f"z{number}" for number, tag in enumerate(tags)})
    before = pooled(evaluation)
    after = list(pool_items(other, evaluation.questions, evaluation.task, seed="s"))
    for kind in ("item", "list", "match"):
        first, second = ([item for item in items if item.kind == kind] for items in (before, after))
        assert len(first) == len(second) > 0
        if kind == "item":
            assert first == second
        else:
            assert not {item.id for item in first} & {item.id for item in second}
    # With another secret everything is drawn again: knowing the tags is not enough to compute it.
    assert not {item.id for item in before} & {item.id for item in pooled(evaluation, seed="t")}
    # No run stands at the same place everywhere.
    firsts = set()
    for question in evaluation.questions.of_type("other"):
        mine = [item for item in before if item.question == question.id]
        firsts.add(min(mine, key=lambda item: item.ordinal).run)
    assert len(firsts) > 3
    assert all(0 <= item.id < 2**52 and 0 <= item.ordinal < 2**31 for item in before)
    assert not any(item.run in str(item.body) for item in before if item.run)


def test_orders_are_the_same_for_match_and_holistic(folders: Any) -> None:
    evaluation = desks.write_evaluation(
        next(folders), task="definition", questions=[{"id": "d", "type": "definition", "text": "?"}],
        runs={tag: f"d {tag} D1 what {tag} says\n" for tag in "abcdef"},
    )  # fmt: skip
    items = pooled(evaluation, wanted=Wanted(holistic=True))
    orders = {
        kind: [item.run for item in sorted(items, key=lambda item: item.ordinal) if item.kind == kind]
        for kind in ("match", "holistic")
    }
    assert orders["match"] == orders["holistic"]
    assert len(orders["match"]) == 6
    assert {item.kind for item in pooled(evaluation)} == {"match"}


def test_adding_runs_changes_no_number_and_no_order(folders: Any) -> None:
    @settings(max_examples=25)
    @given(answers=ANSWERS, more=ANSWERS)
    def check(answers: list[str], more: list[str]) -> None:
        few = pooled(made_from(next(folders), answers))
        many = pooled(made_from(next(folders), answers + more))
        numbers = [item.id for item in few if item.question == "q"]
        assert [item.id for item in many if item.id in set(numbers)] == numbers
        places = [item.ordinal for item in many if item.question == "q"]
        assert places == list(range(len(places)))

    check()


def test_similar_strings_stand_together(folders: Any) -> None:
    @settings(max_examples=25)
    @given(answers=ANSWERS)
    def check(answers: list[str]) -> None:
        items = [item for item in pooled(made_from(next(folders), answers)) if item.question == "q"]
        assert len(items) == len(set(answers))
        groups = [item.body["text"].lower().strip("!").removeprefix("the ") for item in items]
        changes = sum(before != after for before, after in pairwise(groups))
        assert changes == len(set(groups)) - 1

    check()


def test_items_that_no_run_returns_are_set_aside_and_come_back(store: Store, tmp_path: Path) -> None:
    with_two, with_one = made_from(tmp_path / "a", ["x", "y"]), made_from(tmp_path / "b", ["x"])
    with store.write() as connection:
        first = store_items(connection, pooled(with_two))
        assert (first.items, first.added, first.retired) == (3, 3, 0)
        second = store_items(connection, pooled(with_one))
        assert (second.items, second.added, second.retired) == (2, 0, 1)
        assert [item.body["text"] for item in items_of(connection, "q")] == ["x"]
        gone = next(item for item in pooled(with_two) if item.body["text"] == "y")
        assert not item_with_number(connection, gone.id).active
        third = store_items(connection, pooled(with_two))
        assert (third.items, third.added, third.retired) == (3, 0, 0)
        assert [item.body["text"] for item in items_of(connection, "q")] == ["x", "y"]
        assert [pooling.touched for pooling in (first, second, third)] == [{"q", "r"}, {"q"}, {"q"}]
        assert store_items(connection, pooled(with_two)) == replace(third, touched=frozenset())
        assert item_with_number(connection, 1) is None


def test_a_number_that_is_drawn_twice_hides_no_item(store: Store, tmp_path: Path) -> None:
    """However unlikely: an item that nobody is shown is never judged."""
    top = 2**52 - 1
    replaced = [replace(item, id=top) for item in pooled(made_from(tmp_path / "a", ["x", "y", "z"]))]
    with store.write() as connection:
        for order in (replaced, replaced[::-1], replaced):
            assert store_items(connection, order).items == 4
            stored = [item for question in "qr" for item in items_of(connection, question)]
            assert sorted(item.body["text"] for item in stored) == ["same", "x", "y", "z"]
            assert {item.id for item in stored} == {top, 0, 1, 2}


def test_the_secret_is_made_once(store: Store) -> None:
    with store.write() as connection:
        seed = order_seed(connection)
        assert order_seed(connection) == seed
        assert len(seed) == 32


def test_equal_items_of_one_list_are_one_and_of_two_lists_two(tmp_path: Path) -> None:
    questions = [{"id": "1.1", "type": "list", "text": "?", "series": "1"}]
    runs = {"a": "1.1 a D1 Ann\n1.1 a D1 Ann\n1.1 a D2 Ann\n", "b": "1.1 b D1 Ann\n"}
    items = pooled(desks.write_evaluation(tmp_path / "e", questions=questions, runs=runs))
    parts = {item.run: parts_of(item) for item in items}
    assert [part.name for part in parts["a"]] == ["0", "1"]
    assert {item.run: item.parts for item in items} == {"a": 2, "b": 1}
    assert parts["a"][0].subject != parts["b"][0].subject
