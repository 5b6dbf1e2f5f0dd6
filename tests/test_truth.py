"""What is promised is kept: `python -m benchmarks truth` as a test, and its kept result in the docs."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # the benchmarks are beside the package
promises, running = (importlib.import_module(f"benchmarks.truth.{name}") for name in ("promises", "running"))


@pytest.mark.slow
@pytest.mark.parametrize("promise", running.PROMISES, ids=lambda promise: promise.name)
def test_a_promise_is_kept(promise: Any) -> None:
    """No figure is worse than the promise, or than TRUTH observed where that is worse, beyond three standard errors."""
    rows = list(running.observe([promise], times=300, processes=1))
    assert [f"{row.population}, {row.questions}: {row.now:.3f}" for row in rows if row.is_worse] == []


def test_every_promise_can_be_tried() -> None:
    """The first case of every promise, once."""
    for promise in running.PROMISES:
        for row in running.observe([replace(promise, cases=promise.cases[:1])], times=1, processes=1):
            assert row.now is None or 0 <= row.now <= 1


@pytest.mark.parametrize(
    ("kind", "rate", "seen", "now", "worse"),
    [
        ("at most", 0.05, None, 0.05, False),
        ("at most", 0.05, None, 0.11, True),
        ("at most", 0.05, 0.10, 0.11, False),
        ("at most", 0.05, None, 0.0, False),
        ("at least", 0.95, None, 0.89, True),
        ("at least", 0.95, 0.92, 0.91, False),
        ("at least", 0.95, 0.98, 0.94, False),
        ("at least", 0.95, None, 1.0, False),
    ],
)
def test_worse_is_beyond_chance(kind: str, rate: float, seen: float | None, now: float, worse: bool) -> None:
    promise = promises.Promise("p", "", kind, rate, lambda *_: None, (promises.Case(Nowhere(), 10, seen),))
    outcomes = np.zeros(400)
    outcomes[: round(400 * now)] = 1.0
    row = promises.Observed.of(promise, promise.cases[0], outcomes.tolist())
    assert row.is_worse == worse


class Nowhere:
    """A population that is only named."""

    name = "nowhere"
    is_there = True


def test_the_same_seed_gives_the_same_evaluation() -> None:
    promise = next(promise for promise in running.PROMISES if "pair: the interval" in promise.name)
    first, again = ([promise.try_one(promise.cases[0], number, 3) for number in range(12)] for _ in "12")
    assert first == again


def test_the_kept_result_is_about_every_promise() -> None:
    """Of a new promise: `python -m benchmarks truth --only NAME --save`."""
    kept = json.loads(running.KEPT.read_text(encoding="utf-8"))
    cases = [(promise.name, case) for promise in running.PROMISES for case in promise.cases]
    expected = {(name, case.population.name, case.questions) for name, case in cases}
    assert {(row["promise"], row["population"], row["questions"]) for row in kept} == expected
    assert [row for row in kept if promises.Observed(**row).is_worse] == []


def test_a_table_of_ones_own_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    rng = np.random.default_rng(0)
    rows = [",".join(map(str, [f"q{n}", *rng.integers(0, 2, 4)])) for n in range(60)]
    path.write_text("question,a,b,c,d\n" + "\n".join(rows) + "\n")
    shown = running.truth_table([str(path), "--times", "2", "--processes", "1", "--only", "all pairs"])
    assert len(shown.rows) == 4
    assert {row[1] for row in shown.rows} == {"scores", "scores, means equalised"}
