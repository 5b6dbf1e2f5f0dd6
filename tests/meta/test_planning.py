"""Units needed, by power, curves and coefficients."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from qassay.errors import UsageError
from qassay.matrix import Floats, ScoreMatrix
from qassay.meta.generalizability import assumed, generalizability
from qassay.meta.planning import Wanted, differences_for, plan, plan_from_variances


def matrix_of(values: Floats, **more: object) -> ScoreMatrix:
    runs, units = values.shape
    return ScoreMatrix(tuple(f"r{i}" for i in range(runs)), tuple(f"u{i}" for i in range(units)), values, **more)  # type: ignore[arg-type]


@pytest.fixture
def pilot() -> ScoreMatrix:
    rng = np.random.default_rng(2)
    return matrix_of(rng.random(60) + 0.3 * rng.random((5, 60)))


def test_deviation_is_the_root_mean_square_over_pairs(pilot: ScoreMatrix) -> None:
    v = pilot.values
    variances = [(v[i] - v[j]).var(ddof=1) for i in range(5) for j in range(i)]
    result = plan(pilot)
    assert result.deviation == pytest.approx(math.sqrt(np.mean(variances)))
    assert result.deviation_hard == pytest.approx(np.quantile(np.sqrt(variances), 0.9))


def test_units_by_power_agree_with_the_noncentral_t(pilot: ScoreMatrix) -> None:
    result = plan(pilot, wanted=Wanted((0.05,), power=0.9))
    assert result.deviation is not None
    effect = 0.05 / result.deviation

    def t_power(n: int) -> float:
        line = stats.t.isf(0.025, n - 1)
        return float(stats.nct.sf(line, n - 1, effect * n**0.5) + stats.nct.cdf(-line, n - 1, effect * n**0.5))

    (row,) = result.differences
    assert row.power is not None
    assert t_power(row.power) >= 0.9 > t_power(row.power - 1)
    assert row.power_now == pytest.approx(t_power(60))
    assert result.detectable is not None
    effect = result.detectable / result.deviation
    assert t_power(60) == pytest.approx(0.9)


def test_smaller_differences_need_more_units(pilot: ScoreMatrix) -> None:
    rows = plan(pilot).differences
    needed = [row.power for row in rows]
    assert needed == sorted(needed, reverse=True)  # type: ignore[type-var]
    assert all(row.power_hard >= row.power for row in rows)  # type: ignore[operator]


def test_sizes_of_the_sensitivity_curves_are_looked_up_by_bin(pilot: ScoreMatrix) -> None:
    sizes = {"0.04": {"fit": 90, "predicted": None}, "0.05": {"fit": 47, "predicted": 52}}
    rows = plan(pilot, wanted=Wanted((0.03, 0.045, 0.05, 0.0599, 0.3)), size_needed=sizes).differences
    assert [(row.fit, row.predicted) for row in rows] == [(None, None), (90, None), (47, 52), (47, 52), (None, None)]


def test_series_are_counted_as_wholes() -> None:
    rng = np.random.default_rng(5)
    series = rng.random((4, 20))
    single = plan(matrix_of(series), wanted=Wanted((0.1,)))
    matrix = matrix_of(np.repeat(series, 3, axis=1), clusters=tuple(str(i // 3) for i in range(60)))
    found = plan(matrix, wanted=Wanted((0.1,)))
    assert found.deviation == pytest.approx(single.deviation)
    assert found.differences[0].power == 3 * (single.differences[0].power or 0)
    assert any("20 of them, 3.0 units each" in note for note in found.notes)


def test_units_for_a_coefficient(pilot: ScoreMatrix, golden: dict[str, Any]) -> None:
    study = generalizability(pilot)
    result = plan(pilot, study=study, wanted=Wanted(coefficient=0.9))
    assert [(c.assessors, c.e_rho2, c.phi) for c in result.coefficients] == [
        (1, study.units_for("e_rho2", 0.9), study.units_for("phi", 0.9))
    ]
    anchor = golden["generalizability"]
    planned = plan_from_variances(
        assumed({"run": anchor["var_run"], "unit": anchor["var_unit"], "residual": anchor["var_error"]})
    )
    assert (planned.coefficients[0].e_rho2, planned.coefficients[0].phi) == (69, 259)
    assert planned.deviation == pytest.approx(math.sqrt(2 * anchor["var_error"]))


def test_questions_against_assessors() -> None:
    study = assumed({"run": 0.01, "unit": 0.02, "residual": 0.05, "run x unit": 0.02, "run x assessor": 0.001})
    rows = plan_from_variances(study).coefficients
    assert [row.assessors for row in rows] == [1, 2, 3, 4, 5]
    assert rows[0].e_rho2 is None  # one assessor's leaning does not average out
    assert [row.e_rho2 for row in rows[2:]] == sorted((row.e_rho2 for row in rows[2:]), reverse=True)  # type: ignore[type-var]


def test_plan_becomes_tables_and_json(pilot: ScoreMatrix) -> None:
    study = generalizability([pilot, matrix_of(pilot.values + 0.01)])
    result = plan(pilot, study=study, size_needed={"0.05": {"fit": 47, "predicted": None}})
    document = json.loads(json.dumps(result.as_json(), allow_nan=False))
    assert document["differences"][3]["units"]["fit"] == 47
    assert document["generalizability"]["assessors"] == 2
    first, second, third = result.tables()
    assert [column.header for column in first.columns] == [
        "difference", "power 0.8", "harder pair", "error 0.05, fit", "power now"
    ]  # fmt: skip
    assert "assessor" in str(second)
    assert "judgments a run" in str(third)


@pytest.mark.parametrize("shape", [(1, 20), (4, 1), (1, 1)])
def test_too_little_to_plan_from(shape: tuple[int, int]) -> None:
    result = plan(matrix_of(np.random.default_rng(0).random(shape)))
    assert result.deviation is None
    assert all(row.power is None and row.power_now is None for row in result.differences)
    assert any("no power can be said" in note for note in result.notes)
    json.dumps(result.as_json(), allow_nan=False)


def test_identical_and_two_runs() -> None:
    base = np.random.default_rng(0).random(20)
    assert any("same on every unit" in note for note in plan(matrix_of(np.stack([base, base, base]))).notes)
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
def test_what_cannot_be_wanted(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Wanted(**wrong)


@pytest.mark.parametrize(("top", "first", "last"), [(1, 0.01, 0.15), (4, 0.05, 0.75), (100, 1.0, 15.0)])
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
