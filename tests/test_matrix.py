"""The score matrix and its summaries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qassay.errors import UsageError
from qassay.matrix import ConfidenceWeighted, Mean, ScoreMatrix, TypeWeighted


def matrix(**changes: object) -> ScoreMatrix:
    made: dict[str, object] = {
        "runs": ("a", "b", "c"),
        "units": ("1", "2", "3", "4"),
        "values": np.array([[1.0, 0.0, 1.0, 0.5], [0.0, 0.0, 1.0, 1.0], [0.25, 0.5, 0.75, 1.0]]),
    }
    return ScoreMatrix(**(made | changes))  # type: ignore[arg-type]


def test_scores_are_means_unless_told() -> None:
    one = matrix()
    assert one.scores().tolist() == [0.625, 0.5, 0.625]
    assert one.scores_on(np.array([0, 2])).tolist() == [1.0, 0.5, 0.5]
    # Units drawn twice, as resampling does, count twice.
    assert one.scores_on(np.array([0, 0, 1])) == pytest.approx([2 / 3, 0.0, 1 / 3])
    assert one.pairs == 3


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(UsageError, match="do not fit"):
        matrix(values=np.zeros((3, 3)))
    with pytest.raises(UsageError, match="same tag"):
        matrix(runs=("a", "b", "a"))
    for odd in (np.nan, np.inf):
        values = np.zeros((3, 4))
        values[1, 2] = odd
        with pytest.raises(UsageError, match="finite"):
            matrix(values=values)


def test_a_run_is_found_by_its_tag() -> None:
    assert matrix().index("b") == 1
    with pytest.raises(UsageError, match="unknown run 'bb'; did you mean 'b'"):
        matrix().index("bb")


def test_selected_runs_keep_their_rows_and_their_order_of_confidence() -> None:
    order = np.array([[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2]])
    one = matrix(summary=ConfidenceWeighted(order), manual=frozenset({"c"}))
    chosen = one.select(["c", "a"])
    assert chosen.runs == ("c", "a")
    assert chosen.values.tolist() == one.values[[2, 0]].tolist()
    assert chosen.scores().tolist() == one.scores()[[2, 0]].tolist()
    assert isinstance(chosen.summary, ConfidenceWeighted)
    assert chosen.summary.order.tolist() == order[[2, 0]].tolist()


def test_numerators_of_an_exact_matrix() -> None:
    assert matrix().numerators() is None
    found = matrix(
        denominator=60, values=np.array([[1, 1 / 2, 1 / 3, 1 / 4], [1 / 5, 0, 0, 0], [0, 0, 0, 1]])
    ).numerators()
    assert found is not None
    assert found.tolist() == [[60, 30, 20, 15], [12, 0, 0, 0], [0, 0, 0, 60]]


def cws(correct: list[float]) -> float:
    return sum(sum(correct[:n]) / n for n in range(1, len(correct) + 1)) / len(correct)


@given(
    seed=st.integers(0, 2**32 - 1),
    units=st.integers(1, 8),
    drawn=st.lists(st.integers(0, 7), min_size=1, max_size=12),
)
@settings(max_examples=60)
def test_confidence_weighted_on_any_draw(seed: int, units: int, drawn: list[int]) -> None:
    """In the run's own order restricted to the draw, whatever the order of the draw; a repeated unit counts again."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2, (2, units)).astype(float)
    order = np.array([rng.permutation(units) for _ in range(2)])
    chosen = np.array([unit % units for unit in drawn])
    wanted = [
        cws([values[run, unit] for unit in order[run] for _ in range(int((chosen == unit).sum()))]) for run in range(2)
    ]
    assert ConfidenceWeighted(order)(values, chosen) == pytest.approx(wanted, abs=1e-12)


@given(seed=st.integers(0, 2**32 - 1), units=st.integers(1, 9))
@settings(max_examples=60)
def test_type_weighted_on_any_subset(seed: int, units: int) -> None:
    """The weighted mean of the means per type; the weight of a type that is not there is shared out."""
    rng = np.random.default_rng(seed)
    weights = {"factoid": 0.5, "list": 0.25, "definition": 0.25}
    types = tuple(rng.choice(list(weights), units))
    values = rng.random((3, units))
    chosen = rng.permutation(units)[: rng.integers(1, units + 1)]
    present = {types[unit] for unit in chosen}
    total = sum(weights[kind] for kind in present)
    wanted = [
        sum(weights[kind] / total * np.mean([row[u] for u in chosen if types[u] == kind]) for kind in present)
        for row in values
    ]
    assert TypeWeighted(types, weights)(values, chosen) == pytest.approx(wanted, abs=1e-12)


def test_the_mean_of_one_unit_is_its_score() -> None:
    assert Mean()(np.array([[0.25, 1.0]]), np.array([1])).tolist() == [1.0]
