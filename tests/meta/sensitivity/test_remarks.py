"""What is said beside the curves: few pairs, narrow bins, ties alone, bins that spoil, extended intervals."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from qassay.meta.sensitivity import rests_on, sensitivity, width_for
from qassay.meta.sensitivity.closed_form import pair_moments
from qassay.meta.sensitivity.reading import above_again
from qassay.meta.sensitivity.trials import rounded_up
from qassay.meta.simulate import simulate_runs


def test_few_pairs_are_named():
    assert rests_on(0) == rests_on(15) == []
    assert rests_on(1) == ["The error rates rest on 1 pair of runs only."]
    assert rests_on(3) == ["The error rates rest on 3 pairs of runs only."]


@pytest.mark.parametrize(
    ("number", "wanted"), [(0.04, "0.05"), (0.011, "0.02"), (0.1, "0.1"), (1, "1"), (7, "10"), (3.1, "5"), (120, "200")]
)
def test_widths_are_round(number, wanted):
    assert rounded_up(number) == Decimal(wanted)
    assert "E" not in str(rounded_up(number))


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [(0, 1, "0.01"), (0, 0.1, "0.01"), (1, 5, "0.04"), (0, 100, "1"), (-0.25, 0.25, "0.005"), (0, 37.3, "0.37")],
)
def test_the_width_that_suits_is_a_hundredth_of_the_scale(matrix_of, low, high, wanted):
    assert width_for(matrix_of(np.array([[low, high], [high, low]], dtype=float))) == Decimal(wanted)


@pytest.mark.parametrize(("scale", "wanted"), [((1, 5), "0.04"), ((0, 5), "0.05"), ((0, 1), "0.02"), (None, "0.02")])
def test_the_scale_of_the_task_counts_where_scores_keep_to_it(matrix_of, scale, wanted):
    matrix = matrix_of(np.array([[2.0, 4.0], [4.0, 2.0]]))
    assert width_for(replace(matrix, scale=scale)) == Decimal(wanted)


def test_narrow_bins_are_noted_with_better_ones(matrix_of):
    ratings = np.random.default_rng(0).integers(1, 6, (3, 40)).astype(float)
    narrow = sensitivity(matrix_of(ratings), intervals=0, bin_width="0.01")
    assert narrow.wider == Decimal("0.04")
    assert any("such as 0.04 (--bin-width)" in note for note in narrow.notes)
    assert narrow.withheld == "pairs"
    fitting = sensitivity(matrix_of(ratings), intervals=0)
    assert fitting.width == Decimal("0.04")
    assert fitting.wider is None


@pytest.mark.parametrize(("ties", "said"), [("stay", "is not a swap"), ("half", "half a swap"), ("exclude", None)])
def test_a_first_bin_of_ties_alone_is_noted(ties, said):
    matrix = simulate_runs(np.linspace(0.3, 0.5, 8), 40, scores="binary")
    notes = " ".join(sensitivity(matrix, intervals=0, trials=20, ties=ties).as_json()["notes"])
    assert ("Up to 20 questions all differences below 0.01 are ties" in notes) == (said is not None)
    assert said is None or said in notes
    graded = simulate_runs(np.linspace(0.3, 0.5, 8), 40)
    assert "are ties" not in " ".join(sensitivity(graded, intervals=0, trials=20, ties=ties).study_notes)


def test_intervals_that_end_at_the_rate_are_noted(matrix_of):
    def study(seed):
        values = np.random.default_rng(seed).integers(0, 101, (3, 40)) / 100
        return sensitivity(matrix_of(values), sizes=[20], trials=50, intervals=20, bin_width="0.05")

    curves = study(14)
    ends = [curve for curve in curves.bins if curve.interval[0] and curve.error_rate[0] in curve.interval[0]]
    # Where no comparison misled, or all did, the interval ends at 0 or 1, which is no extension.
    extended = [f"{curve.low:.2f}" for curve in ends if 0.0 < curve.error_rate[0] < 1.0]
    assert len(extended) > 1
    (sentence,) = (note for note in curves.study_notes if "extended to contain it" in note)
    assert f"in the bins from {', '.join(extended)}: " in sentence
    assert "extended" not in " ".join(study(1).study_notes)


@pytest.mark.parametrize(
    ("rates", "found"),
    [
        ([0.2, 0.01, 0.02], None),
        ([0.2, 0.1, 0.06], None),
        ([0.2, 0.01, 0.06], (3, 0.06)),
        ([0.01, 0.06, 0.02], (2, 0.06)),
        ([0.2, 0.01, None], None),
        ([None, None, None], None),
    ],
)
def test_which_bin_spoils_smaller_differences(rates, found):
    assert above_again([1, 2, 3], rates, 0.05) == found


def test_the_bin_that_spoils_is_named(matrix_of):
    rng = np.random.default_rng(7)
    curves = sensitivity(
        matrix_of(rng.integers(0, 101, (3, 40)).astype(float)), intervals=0, bin_width=5, error=0.2, fit=True
    )
    spoiling = {way: curves.above_again(way) for way in ("fit", "predicted")}
    assert any(spoiling.values())
    notes = " ".join(note for table in curves.tables() for note in table.notes)
    for found in filter(None, spoiling.values()):
        assert f"but {found[0]:g} is not ({found[1]:.1%})" in notes


def test_a_difference_that_never_varies_has_no_variance_by_rounding(matrix_of):
    moments = pair_moments(matrix_of(np.array([[0.7] * 20, [0.5] * 20])))
    assert moments.variances.tolist() == [0.0]
    curves = sensitivity(matrix_of(np.array([[0.7] * 20, [0.5] * 20])), intervals=0)
    assert curves.error_rate_at(0.2).predicted == 0.0
