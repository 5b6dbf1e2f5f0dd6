"""The analysis against simulated truth: fresh sets of units, which real evaluations never have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qassay.formats.matrix import read_matrix
from qassay.meta.sensitivity import predict, sensitivity
from qassay.meta.simulate import simulate_runs

MEANS = 0.25 + np.linspace(0.0, 0.15, 12)
WIDTH = 0.04


def true_rates(size, scores, sets):
    """Error rates by bin when base and test are fresh units each time."""
    seen, swaps = np.zeros(21), np.zeros(21)
    above = np.triu_indices(len(MEANS), 1)
    for number in range(sets):
        values = simulate_runs(MEANS, 2 * size, scores=scores, seed=10_000 + number).values
        base, test = values[:, :size].mean(axis=1), values[:, size:].mean(axis=1)
        d_base, d_test = (x[above[0]] - x[above[1]] for x in (base, test))
        k = np.minimum((np.abs(d_base) + 1e-9) // WIDTH, 20).astype(int)
        seen += np.bincount(k, minlength=21)
        swaps += np.bincount(k[d_base * d_test < -1e-12], minlength=21)
    return seen, swaps


@pytest.mark.parametrize("scores", ["normal", "zero-inflated", "binary"])
def test_measured_rates_are_true_on_average(scores):
    size, worlds = 12, 60
    seen, swaps = true_rates(size, scores, 1500)
    counts = [
        sensitivity(
            simulate_runs(MEANS, 2 * size, scores=scores, seed=seed),
            sizes=[size],
            trials=10,
            intervals=0,
            bin_width=WIDTH,
        ).counts
        for seed in range(worlds)
    ]
    measured_seen = sum(count.comparisons[0] for count in counts)
    measured = sum(count.swaps[0] for count in counts)
    for k in range(4):
        if seen[k] > 3000:
            assert measured[k] / measured_seen[k] == pytest.approx(swaps[k] / seen[k], abs=0.03)


def test_the_closed_form_is_true_where_runs_differ_and_units_are_many():
    seen, swaps = true_rates(30, "normal", 1500)
    curves = sensitivity(simulate_runs(MEANS, 4000, seed=1), sizes=[30], trials=1, intervals=0, bin_width=WIDTH)
    for k in range(4):
        assert curves.bins[k].predicted[0] == pytest.approx(swaps[k] / seen[k], abs=0.02)


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("gap nq301", "nq301/matrix.csv"),
        ("gap equal30.csv", None),
        ("gap robust04 first 12 by score", "score_matrices/robust2004_p10.csv"),
        ("gap robust04 all", "score_matrices/robust2004_p10.csv"),
    ],
)
def test_the_gap_is_that_of_the_method_or_withheld(
    data: Callable[[str], Path], truth: dict[str, Any], name: str, table: str | None
) -> None:
    golden = Path(__file__).parents[2] / "golden" / "equal30.csv"
    matrix, figures = read_matrix(golden if table is None else data(table), missing="zero"), truth[name]
    if "first 12" in name:
        first = np.argsort(-matrix.scores(), kind="stable")[:12]
        matrix = matrix.select([matrix.runs[place] for place in first])
    prediction = predict(matrix)
    assert prediction.separation.ratio == pytest.approx(figures["F"], abs=1e-4)
    assert prediction.separation.kappa == pytest.approx(figures["kappa"], abs=1e-4)
    assert prediction.repeatable(len(matrix.units), 0.05) == figures["gap"]
    curves = sensitivity(matrix, intervals=0, trials=1)
    assert curves.repeatable_difference == figures["gap"]
    if figures["printed"]:
        units = matrix.unit_name[1]
        assert curves.sentence() == (
            f"with {len(matrix.units)} new {units}, a gap of about {figures['gap']:g} or more keeps its sign in 95 of "
            f"100 repetitions, if new {units} are like these"
        )
    else:
        assert curves.withheld is not None
        assert "gap" in curves.sentence()
        assert not any(prediction.sizes_needed(0.05, 10_000).values())
