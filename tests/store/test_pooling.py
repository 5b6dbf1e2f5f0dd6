"""A pool that is stored while people judge: some questions at a time, each of them whole at any moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import desk as desks
import pytest
from behind import behind
from pooling import store_items

from qassay.errors import InputError
from qassay.judging import Wanted
from qassay.judging.items import pool_items
from qassay.store.assignment.assignments import all_assignments, keep_others_out
from qassay.store.engine import Store
from qassay.store.pool import pooling
from qassay.store.pool.items import Pooled, items_of, order_seed
from qassay.store.pool.pooling import pool_mark, pool_summary, store_pool

store, desk = desks.store, desks.desk
MORE = {**desks.RUNS, "east": "1.1 east D9 1999\n1.2 east D9 Eve\n1.3 east D9 it sings\n"}


def pool(desk: Any, evaluation: Any, **options: Any) -> Pooled:
    """Store the pool of an evaluation, whose runs are its mark."""
    with desk.store.write() as connection:
        seed, mark = order_seed(connection), pool_mark(connection)
    pooled = pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed=seed)
    how = {"mark": mark, "wanted": Wanted(), "person": None, **options}
    return store_pool(desk.store, pooled, evaluation.questions, evaluation.task, **how)


def is_current(store: Store) -> bool:
    with store.read() as connection:
        summary = pool_summary(connection)
        return summary is not None and summary.mark == pool_mark(connection)


def between(monkeypatch: pytest.MonkeyPatch, turn: Callable[[float], object]) -> None:
    """What others do whenever the pool lets them."""
    monkeypatch.setattr(pooling, "time", SimpleNamespace(sleep=turn, monotonic=time.monotonic))


@pytest.fixture
def larger(desk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The evaluation with another run; of its pool, every question is stored by itself."""
    pool(desk, desk.evaluation)
    assert is_current(desk.store)
    monkeypatch.setattr(pooling, "PART", 1)
    monkeypatch.setattr(pooling, "HELD", 0.0)
    return desks.write_evaluation(tmp_path / "larger", runs=MORE)


def test_a_save_has_a_turn_before_all_is_stored(desk: Any, larger: Any, monkeypatch: Any) -> None:
    opened: list[list[str]] = []
    with desk.store.write() as connection:
        for question in ("1.1", "1.2", "1.3"):
            desk.judge_all(connection, question, "first")

    def turn(_: float) -> None:
        with desk.store.write() as connection:
            opened.append(
                [
                    assignment.question
                    for assignment in all_assignments(connection)
                    if assignment.set == "first" and not assignment.closed
                ]
            )
            assignment = desk.assigned(connection, "1.3", "second")
            item = next(each for each in items_of(connection, "1.3") if each.run == "north")
            part = desks.parts_for(connection, assignment.set, item, None)[0]
            desk.say(connection, assignment, item, part, {"nuggets": []})
            desk.check_counts(connection)
        assert not is_current(desk.store)

    between(monkeypatch, turn)
    done = pool(desk, larger)
    assert opened == [["1.1"], ["1.1", "1.2"], ["1.1", "1.2", "1.3"]]
    assert (done.items, done.added, done.retired, done.touched) == (9, 3, 0, {"1.1", "1.2", "1.3"})
    assert is_current(desk.store)
    with desk.store.read() as connection:
        desk.check_counts(connection)
        assert len(desk.rows(connection, "second")) == 1


def test_little_is_stored_at_once_and_nothing_where_nothing_changed(desk: Any, larger: Any, monkeypatch: Any) -> None:
    turns: list[float] = []
    between(monkeypatch, turns.append)
    monkeypatch.setattr(pooling, "HELD", 600.0)
    assert pool(desk, larger).added == 3
    assert len(turns) == 1
    assert pool(desk, larger) == Pooled(9, 0, 0)
    assert len(turns) == 1
    assert is_current(desk.store)


def test_items_of_another_server_are_not_stored_twice(desk: Any, larger: Any) -> None:
    with desk.store.read() as connection:
        seed = order_seed(connection)

    def its_last_part(connection: Any) -> None:
        store_items(connection, pool_items(larger.runs, larger.questions, larger.task, seed=seed))

    assert behind(desk.store, keep_others_out, lambda: pool(desk, larger), its_last_part) == Pooled(9, 0, 0)


def test_a_pool_that_is_interrupted_is_not_current_and_is_rebuilt(desk: Any, larger: Any, monkeypatch: Any) -> None:
    """Also where nothing but the options had changed: the mark of the runs would not tell."""

    def break_off(_: float) -> None:
        raise KeyboardInterrupt

    between(monkeypatch, break_off)
    with pytest.raises(KeyboardInterrupt):
        pool(desk, larger)
    with desk.store.read() as connection:
        assert [len(items_of(connection, name)) for name in ("1.1", "1.2", "1.3")] == [3, 2, 2]
        desk.check_counts(connection)
    assert not is_current(desk.store)
    monkeypatch.undo()
    assert pool(desk, larger).added == 2
    assert is_current(desk.store)
    with desk.store.read() as connection:
        desk.check_counts(connection)


def test_of_two_who_make_the_pool_at_once_the_second_makes_it_whole(
    desk: Any, larger: Any, monkeypatch: Any, tmp_path: Path
) -> None:
    """The first has read the runs before they changed: its questions would lack what the second has stored."""
    runs = {**desks.RUNS, "west": MORE["east"].replace("east", "west").replace("D9", "D8")}
    earlier = desks.write_evaluation(tmp_path / "earlier", runs=runs)
    calls: list[Pooled] = []

    def second(_: float) -> None:
        between(monkeypatch, lambda _: None)
        calls.append(pool(desk, larger))

    between(monkeypatch, second)
    with pytest.raises(InputError, match="is being made by another server"):
        pool(desk, earlier)
    assert [(done.added, done.retired) for done in calls] == [(3, 1)]
    assert is_current(desk.store)
    with desk.store.read() as connection:
        assert [len(items_of(connection, name)) for name in ("1.1", "1.2", "1.3")] == [3, 3, 3]
        desk.check_counts(connection)
