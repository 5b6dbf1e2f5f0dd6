"""Units needed, by power, curves and coefficients."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from qassay.arrays import Floats
from qassay.errors import UsageError
from qassay.matrix import Repeats, ScoreMatrix
from qassay.meta.generalizability import assumed, generalizability
from qassay.meta.planning import Costs, Wanted, differences_for, plan, plan_from_variances
from qassay.meta.planning.running_again import best_repeats
from qassay.meta.sensitivity import predict
from qassay.meta.significance import Variances, assured_variance, variances


def matrix_of(values: Floats, **more: object) -> ScoreMatrix:
    runs, units = values.shape
    return ScoreMatrix(tuple(f"r{i}" for i in range(runs)), tuple(f"u{i}" for i in range(units)), values, **more)  # type: ignore[arg-type]


@pytest.fixture
def pilot() -> ScoreMatrix:
    rng = np.random.default_rng(2)
    return matrix_of(rng.random(60) + 0.3 * rng.random((5, 60)))


def test_deviation_is_the_root_mean_square_over_pairs_and_its_upper_limit_is_planned_with(pilot: ScoreMatrix) -> None:
    v = pilot.values
    variances = [(v[i] - v[j]).var(ddof=1) for i in range(5) for j in range(i)]
    result, assured = plan(pilot), assured_variance(v)
    assert assured is not None
    assert result.deviation == pytest.approx(math.sqrt(np.mean(variances)))
    assert result.deviation_upper == pytest.approx(math.sqrt(assured.upper))
    assert result.deviation_hard == pytest.approx(
        math.sqrt(np.quantile(variances, 0.9) * assured.upper / assured.measured)
    )


def test_units_by_power_agree_with_the_noncentral_t(pilot: ScoreMatrix) -> None:
    result = plan(pilot, wanted=Wanted((0.05,), power=0.9))
    assert result.deviation_upper is not None
    effect = 0.05 / result.deviation_upper

    def t_power(n: int) -> float:
        line = stats.t.isf(0.025, n - 1)
        return float(stats.nct.sf(line, n - 1, effect * n**0.5) + stats.nct.cdf(-line, n - 1, effect * n**0.5))

    (row,) = result.differences
    assert row.power is not None
    assert t_power(row.power) >= 0.9 > t_power(row.power - 1)
    assert row.power_now == pytest.approx(t_power(60))
    assert result.detectable is not None
    effect = result.detectable / result.deviation_upper
    assert t_power(60) == pytest.approx(0.9)


def test_smaller_differences_need_more_units(pilot: ScoreMatrix) -> None:
    rows = plan(pilot).differences
    needed = [row.power for row in rows]
    assert needed == sorted(needed, reverse=True)  # type: ignore[type-var]
    assert all(row.power_hard >= row.power for row in rows)  # type: ignore[operator]


def test_repeatable_sizes_are_looked_up_by_bin(pilot: ScoreMatrix) -> None:
    apart = pilot.values + 0.05 * np.arange(5.0)[:, None]
    prediction = predict(matrix_of(apart / apart.max()))
    rows = plan(pilot, wanted=Wanted((0.03, 0.045, 0.04, 0.3)), prediction=prediction).differences
    needed = prediction.sizes_needed(0.05, 600)
    assert [row.predicted for row in rows] == [needed["0.03"], needed["0.04"], needed["0.04"], None]


@pytest.mark.parametrize(("units", "wanted", "recommended"), [(60, None, None), (60, (0.01, 0.2), 0.01)])
def test_the_recommendation_is_for_what_the_units_do_not_show_yet(
    pilot: ScoreMatrix, units: int, wanted: tuple[float, ...] | None, recommended: float | None
) -> None:
    result = plan(pilot, wanted=Wanted() if wanted is None else Wanted(wanted))
    best = result.recommendation
    assert best is not None
    assert best.at_hand == units
    assert best.units is not None
    assert best.units > units
    assert recommended is None or best.difference == recommended
    larger = [row for row in result.differences if row.difference > best.difference]
    assert all(row.power is not None and row.power <= 1.2 * units for row in larger)
    assert result.sentence().endswith(f"find a true difference of {best.difference:g} in 8 of 10 evaluations")


def test_units_that_show_everything_are_enough() -> None:
    rng = np.random.default_rng(2)
    alike = rng.random(400) + 0.01 * rng.random((5, 400))
    best = plan(matrix_of(alike)).recommendation
    assert best is not None
    assert best.difference == 0.01
    assert best.units is not None
    assert best.units < 400


def test_the_best_number_of_repeats_is_the_cheapest() -> None:
    for question, answer in ((10.0, 1.0), (1.0, 1.0), (100.0, 0.5), (0.1, 5.0)):
        given, costs = Variances(0.02, 0.0, 0.08), Costs(question, answer)
        best = best_repeats(given, costs)
        price = {r: (given.question + given.rest / r) * costs.of(1, r) for r in range(1, 200)}
        assert best == min(price, key=price.__getitem__)
    assert best_repeats(Variances(0.02, 0.01, 0.08), Costs(1, 1)) is None
    assert best_repeats(Variances(0.0, 0.0, 0.08), Costs(1, 1)) is None


def test_no_number_of_questions_averages_out_shifts_between_repeats() -> None:
    rng = np.random.default_rng(4)
    values = tuple(
        rng.normal(0.5, 0.1, (60, 1)) + shift + rng.normal(0, 0.05, (60, 3))
        for shift in (np.array([[0.0, 0.1, 0.2]]), np.array([[0.1, 0.0, -0.1]]))
    )
    means = np.stack([scores.mean(axis=1) for scores in values])
    result = plan(matrix_of(means, repeats=Repeats(values)), wanted=Wanted((0.05,)))
    again = result.running_again
    assert again is not None
    assert again.repeat_variance == pytest.approx(2 * 0.1**2, rel=0.2)
    # No number of questions averages out what three repeats leave.
    assert result.recommendation is not None
    assert result.recommendation.units is None
    assert result.summary().startswith(
        "No number of questions with 3 repeats each finds a true difference of 0.05 in 8 of 10 evaluations. "
        "More questions are not enough: run the systems more often."
    )
    least = 2.8 * math.sqrt(again.repeat_variance / 3)
    assert all(row.detectable is not None and row.detectable > least for row in result.shows)


def test_variances_of_repeats_are_found_again() -> None:
    rng = np.random.default_rng(4)
    common = rng.normal(0, 0.2, (600, 1))
    values = tuple(
        common + rng.normal(0, 0.1, (600, 1)) + rng.normal(0, 0.03, (1, 40)) + rng.normal(0, 0.2, (600, 40))
        for _ in range(3)
    )
    estimated = variances(Repeats(values))
    assert estimated is not None
    assert estimated.question == pytest.approx(2 * 0.1**2, rel=0.15)
    assert estimated.rest == pytest.approx(2 * 0.2**2, rel=0.05)
    assert estimated.repeat == pytest.approx(2 * 0.03**2, rel=0.5)
    assert variances(Repeats(tuple(scores[:, :1] for scores in values))) is None


def test_series_are_counted_as_wholes() -> None:
    rng = np.random.default_rng(5)
    series = rng.random((4, 20))
    single = plan(matrix_of(series), wanted=Wanted((0.1,)))
    matrix = matrix_of(np.repeat(series, 3, axis=1), clusters=tuple(str(i // 3) for i in range(60)))
    planned = plan(matrix, wanted=Wanted((0.1,)))
    assert planned.deviation == pytest.approx(single.deviation)
    assert planned.differences[0].power == 3 * (single.differences[0].power or 0)
    assert any("20 of them, 3.0 questions each" in note for note in planned.notes)


def test_units_for_a_coefficient(pilot: ScoreMatrix, golden: dict[str, Any]) -> None:
    study = generalizability(pilot)
    result = plan(pilot, study=study, wanted=Wanted(coefficient=0.9))
    assert [(c.assessors, c.e_rho2, c.phi) for c in result.units_for_coefficient] == [
        (1, study.units_for("e_rho2", 0.9), study.units_for("phi", 0.9))
    ]
    anchor = golden["generalizability"]
    planned = plan_from_variances(
        assumed({"run": anchor["var_run"], "unit": anchor["var_unit"], "residual": anchor["var_error"]})
    )
    assert (planned.units_for_coefficient[0].e_rho2, planned.units_for_coefficient[0].phi) == (69, 259)
    assert planned.deviation == pytest.approx(math.sqrt(2 * anchor["var_error"]))


def test_questions_against_assessors() -> None:
    study = assumed({"run": 0.01, "unit": 0.02, "residual": 0.05, "run x unit": 0.02, "run x assessor": 0.001})
    rows = plan_from_variances(study).units_for_coefficient
    assert [row.assessors for row in rows] == [1, 2, 3, 4, 5]
    assert rows[0].e_rho2 is None  # one assessor's leaning does not average out
    assert [row.e_rho2 for row in rows[2:]] == sorted((row.e_rho2 for row in rows[2:]), reverse=True)  # type: ignore[type-var]


def test_plan_becomes_tables_and_json(pilot: ScoreMatrix) -> None:
    pilot = replace(pilot, values=pilot.values + 0.05 * np.arange(5.0)[:, None])
    study = generalizability([pilot, matrix_of(pilot.values + 0.01)])
    result = plan(pilot, study=study, prediction=predict(pilot))
    document = json.loads(json.dumps(result.as_json(), allow_nan=False))
    assert document["generalizability"]["assessors"] == 2
    by_size, first, second, third = result.tables()
    assert [column.header for column in by_size.columns] == [
        "questions", "significant from", "harder pair", "repeatable from"
    ]  # fmt: skip
    assert [column.header for column in first.columns] == [
        "difference", "significant, power 0.8", "harder pair", "repeatable", "power now"
    ]  # fmt: skip
    assert "assessor" in str(second)
    assert "judgments per run" in str(third)


@pytest.mark.parametrize("shape", [(1, 20), (4, 1), (1, 1)])
def test_too_little_to_plan_from(shape: tuple[int, int]) -> None:
    result = plan(matrix_of(np.random.default_rng(0).random(shape)))
    assert result.deviation is None
    assert all(row.power is None and row.power_now is None for row in result.differences)
    assert any("no power can be given" in note for note in result.notes)
    json.dumps(result.as_json(), allow_nan=False)


def test_identical_and_two_runs() -> None:
    base = np.random.default_rng(0).random(20)
    assert any(
        "differ by the same on every question" in note for note in plan(matrix_of(np.stack([base, base, base]))).notes
    )
    two = plan(matrix_of(np.stack([base, base[::-1]])))
    assert two.deviation_hard is None
    assert any("one pair" in note for note in two.notes)


@pytest.mark.parametrize(
    "wrong",
    [
        {"differences": (0.0,)},
        {"differences": (-0.1,)},
        {"power": 1.0},
        {"power": 0.01},
        {"alpha": 0.0},
        {"error": 2.0},
    ],
)
def test_impossible_wishes_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Wanted(**wrong)


@pytest.mark.parametrize(("top", "first", "last"), [(1, 0.01, 0.15), (4, 0.04, 0.6), (100, 1.0, 15.0)])
def test_differences_to_plan_for_follow_the_scale_of_the_scores(top: float, first: float, last: float) -> None:
    differences = differences_for(matrix_of(np.array([[0.0, top, 0.0], [top, top, 0.0]])))
    assert (differences[0], differences[-1], len(differences)) == (first, last, 7)


def test_a_coefficient_out_of_reach_has_its_reason() -> None:
    alike = plan_from_variances(assumed({"run": 0.0, "unit": 0.1, "residual": 0.1}))
    assert any("no more than chance" in note for note in alike.tables()[-1].notes)
    assert "no more than chance" in str(alike.as_json()["notes"])
    leaning = plan_from_variances(assumed({"run": 0.01, "unit": 0.02, "residual": 0.05, "run x assessor": 0.01}))
    assert "so few assessors lean" in str(leaning.as_json()["notes"])
    constant = plan_from_variances(assumed({"run": 0.0, "unit": 0.0, "residual": 0.0}))
    assert "do not vary at all" in str(constant.as_json()["notes"])
    reached = plan_from_variances(assumed({"run": 0.1, "unit": 0.1, "residual": 0.1}))
    assert "coefficient" not in str(reached.as_json()["notes"])


def test_no_difference_beyond_the_scale_is_promised() -> None:
    """Six questions would need a difference of more than 1 between scores from 0 to 1; on three none is significant."""
    three = plan(ScoreMatrix(("a", "b"), ("1", "2", "3"), np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), "score"))
    assert three.detectable is None
    assert three.summary().startswith("No number of questions can be given: 2 runs on 3 questions do not show how")
    assert three.at_hand() == ""
    few = ScoreMatrix(("a", "b"), tuple("123456"), np.array([[1.0, 0.0] * 3, [0.0, 1.0] * 3]), "score")
    planned = plan(few)
    assert planned.detectable is not None
    assert planned.detectable > 1
    assert "show no difference at all" in planned.summary()
    shown = planned.shown_table()
    assert all(cell == "none" or float(cell) <= 1 for row in shown.rows for cell in row[1:] if cell is not None)
    assert "none: not even the largest possible difference, 1." in shown.notes


def test_a_variance_below_zero_is_named_as_people_call_it() -> None:
    two = ScoreMatrix(("a", "b"), ("1", "2"), np.array([[1.0, 0.0], [0.0, 1.0]]), "score")
    assert "Estimated below 0 and set to 0: run, question." in generalizability(two).table().notes
