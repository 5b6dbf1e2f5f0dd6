"""The score matrix and its summaries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix
from qassay.summaries import ConfidenceWeighted, Mean, TypeWeighted


def matrix(**changes: object) -> ScoreMatrix:
    fields: dict[str, object] = {
        "runs": ("a", "b", "c"),
        "units": ("1", "2", "3", "4"),
        "values": np.array([[1.0, 0.0, 1.0, 0.5], [0.0, 0.0, 1.0, 1.0], [0.25, 0.5, 0.75, 1.0]]),
    }
    return ScoreMatrix(**(fields | changes))  # type: ignore[arg-type]


def test_scores_are_means_by_default() -> None:
    scores = matrix()
    assert scores.scores().tolist() == [0.625, 0.5, 0.625]
    assert scores.scores_on(np.array([0, 2])).tolist() == [1.0, 0.5, 0.5]
    # Units drawn twice, as resampling does, count twice.
    assert scores.scores_on(np.array([0, 0, 1])) == pytest.approx([2 / 3, 0.0, 1 / 3])
    assert scores.pairs == 3


def test_unfit_matrices_are_refused() -> None:
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
    scores = matrix(summary=ConfidenceWeighted(order), manual=frozenset({"c"}))
    chosen = scores.select(["c", "a"])
    assert chosen.runs == ("c", "a")
    assert chosen.values.tolist() == scores.values[[2, 0]].tolist()
    assert chosen.scores().tolist() == scores.scores()[[2, 0]].tolist()
    assert isinstance(chosen.summary, ConfidenceWeighted)
    assert chosen.summary.order.tolist() == order[[2, 0]].tolist()


def test_numerators_of_an_exact_matrix() -> None:
    assert matrix().numerators() is None
    scores = matrix(
        denominator=60, values=np.array([[1, 1 / 2, 1 / 3, 1 / 4], [1 / 5, 0, 0, 0], [0, 0, 0, 1]])
    ).numerators()
    assert scores is not None
    assert scores.tolist() == [[60, 30, 20, 15], [12, 0, 0, 0], [0, 0, 0, 60]]


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


SUMMARIES = {
    "mean": Mean(),
    "confidence": ConfidenceWeighted(np.argsort(np.random.default_rng(3).random((3, 12)), axis=1)),
    "types": TypeWeighted(("a", "b", "b", "c") * 3, {"a": 0.5, "b": 0.3, "c": 0.2}),
}


@pytest.mark.parametrize("kind", SUMMARIES)
def test_every_way_to_score_a_part_of_the_units_gives_the_score_of_that_part(kind: str) -> None:
    rng = np.random.default_rng(5)
    summary, values = SUMMARIES[kind], rng.integers(0, 2, (3, 12)).astype(float)
    drawn = rng.integers(0, 12, (4, 12))
    times = np.stack([np.bincount(row, minlength=12) for row in drawn])
    assert summary.resampled(values, times) == pytest.approx(np.stack([summary(values, row) for row in drawn]))
    subsets = np.stack([rng.permutation(12)[:5] for _ in range(4)])
    chosen = np.zeros((4, 12), dtype=bool)
    np.put_along_axis(chosen, subsets, True, axis=1)
    on_subsets = summary.on_subsets(values, chosen, 5)
    assert on_subsets == pytest.approx(np.stack([summary(values, row) for row in subsets], axis=1))
    for block in (np.arange(12), np.arange(12) // 3):
        rest = [summary(values, np.flatnonzero(block != left_out)) for left_out in range(block.max() + 1)]
        assert summary.scores_without(values, block) == pytest.approx(np.stack(rest))
    units = np.array([3, 1, 2, 0, 9, 7])
    assert summary.on_units(units).scores(values[:, units]) == pytest.approx(summary(values, units))
    assert summary.for_runs(np.array([2, 0])).scores(values[[2, 0]]) == pytest.approx(summary.scores(values)[[2, 0]])


@pytest.mark.parametrize("kind", SUMMARIES)
def test_the_parts_of_the_units_have_the_score_as_their_mean(kind: str) -> None:
    summary, values = SUMMARIES[kind], np.random.default_rng(6).random((3, 12))
    for parts in (summary.contributions(values), summary.parts(values)):
        assert parts.mean(axis=1) == pytest.approx(summary.scores(values))
    assert summary.deviations(values).sum(axis=1) == pytest.approx(np.zeros(3))
