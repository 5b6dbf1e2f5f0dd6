"""Variance components by hand and from simulation, and the coefficients they give."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nq301 import judged_alike
from qassay.arrays import Floats
from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix
from qassay.meta.generalizability import Generalizability, assumed, generalizability, variance_components
from qassay.results import document
from qassay.summaries import TypeWeighted


def matrix_of(values: Floats, **more: object) -> ScoreMatrix:
    runs, units = values.shape
    return ScoreMatrix(tuple(f"r{i}" for i in range(runs)), tuple(f"u{i}" for i in range(units)), values, **more)  # type: ignore[arg-type]


def test_golden_coefficients(golden: dict[str, Any]) -> None:
    # Vignette of the R package gt4ireval; see papers.json.
    anchor = golden["generalizability"]
    study = assumed({"run": anchor["var_run"], "unit": anchor["var_unit"], "residual": anchor["var_error"]})
    # The printed variances have five digits, and so have the coefficients.
    assert study.e_rho2(anchor["n"]) == pytest.approx(anchor["e_rho2"], abs=1e-5)
    assert study.phi(anchor["n"]) == pytest.approx(anchor["phi"], abs=1e-5)
    assert study.units_for("e_rho2", 0.95) == anchor["n_for_e_rho2_0.95"]
    assert study.units_for("phi", 0.95) == anchor["n_for_phi_0.95"]
    assert study.e_rho2() is None  # no size was studied


def test_one_more_assessor_against_more_questions(data: Callable[[str], Path], truth: dict[str, Any]) -> None:
    # Two annotators of twelve systems on NQ-301.
    study = generalizability(list(judged_alike(data, "first", "second").values()))
    known = truth["g study nq301 (12 x questions x 2)"]
    assert study.variances == pytest.approx(known, abs=5e-8)
    worth = truth["second and third assessor against questions"]
    v = study.variances

    def varies(units: int, assessors: int) -> float:
        return 2 * (v["run x unit"] / units + v["run x assessor"] / assessors + v["residual"] / units / assessors)

    assert (varies(232, 2), varies(232, 3)) == pytest.approx((worth["now"], worth["third"]), abs=5e-9)
    more = study.units_for_assessor
    assert more == worth["questions_for_the_same"]
    assert varies(232 + more, 2) <= varies(232, 3) < varies(232 + more - 1, 2)
    assert study.worth_of_assessor() == "A third assessor narrows the interval as much as 25 more questions."
    assert document(study)["units_for_assessor"] == 25


def test_where_no_number_of_questions_does_as_much_as_an_assessor() -> None:
    lenient = np.tile(np.array([[[0.0, 1.0]], [[1.0, 0.0]], [[0.5, 0.5]]]), (1, 6, 1))
    study = variance_components(lenient + np.linspace(0, 0.01, 6)[None, :, None])
    assert study.units_for_assessor is None
    assert study.worth_of_assessor() == "No number of questions does as much as a third assessor."
    assert variance_components(np.ones((3, 4, 2))).worth_of_assessor() == ""
    assert variance_components(lenient[:, :, 0]).worth_of_assessor() == ""


def test_two_way_components_by_hand() -> None:
    # Three runs, two units. Means of runs 1, 3, 5, of units 2, 4; residuals 0 but for one exchange.
    scores = np.array([[0.0, 2.0], [2.0, 4.0], [4.5, 5.5]])
    study = variance_components(scores)
    grand = 3.0
    run_square = 2 * sum((m - grand) ** 2 for m in (1, 3, 5)) / 2
    unit_means = (6.5 / 3, 11.5 / 3)
    unit_square = 3 * sum((m - grand) ** 2 for m in unit_means) / 1
    left = [
        (scores[r, u] - (1, 3, 5)[r] - unit_means[u] + grand) ** 2 for r, u in itertools.product(range(3), range(2))
    ]
    residual = sum(left) / 2
    assert study.variances == pytest.approx(
        {"run": (run_square - residual) / 2, "unit": (unit_square - residual) / 3, "residual": residual}
    )
    assert (study.runs, study.units, study.assessors) == (3, 2, None)


def test_three_way_components_by_hand() -> None:
    scores = np.random.default_rng(1).random((4, 5, 3)) + np.arange(4)[:, None, None]
    n_r, n_u, n_a = scores.shape
    m = scores.mean()
    r, u, a = scores.mean((1, 2)), scores.mean((0, 2)), scores.mean((0, 1))
    ru, ra, ua = scores.mean(2), scores.mean(1), scores.mean(0)
    ms_r = n_u * n_a * sum((x - m) ** 2 for x in r) / (n_r - 1)
    ms_ru = (
        n_a * sum((ru[i, j] - r[i] - u[j] + m) ** 2 for i in range(n_r) for j in range(n_u)) / ((n_r - 1) * (n_u - 1))
    )
    ms_ra = (
        n_u * sum((ra[i, k] - r[i] - a[k] + m) ** 2 for i in range(n_r) for k in range(n_a)) / ((n_r - 1) * (n_a - 1))
    )
    left = [
        scores[i, j, k] - ru[i, j] - ra[i, k] - ua[j, k] + r[i] + u[j] + a[k] - m
        for i, j, k in itertools.product(range(n_r), range(n_u), range(n_a))
    ]
    ms_rua = sum(x * x for x in left) / ((n_r - 1) * (n_u - 1) * (n_a - 1))
    study = variance_components(scores)
    assert study.variances["residual"] == pytest.approx(ms_rua)
    assert study.variances["run x unit"] == pytest.approx(max(0, (ms_ru - ms_rua) / n_a))
    assert study.variances["run x assessor"] == pytest.approx(max(0, (ms_ra - ms_rua) / n_u))
    assert study.variances["run"] == pytest.approx((ms_r - ms_ru - ms_ra + ms_rua) / (n_u * n_a))


def test_components_are_recovered_from_simulated_scores() -> None:
    rng = np.random.default_rng(0)
    true = {"run": 0.04, "unit": 0.09, "assessor": 0.01, "run x unit": 0.02, "run x assessor": 0.01, "residual": 0.03}
    sizes = (60, 80, 20)

    def effect(name: str, *axes: int) -> Floats:
        shape = [sizes[i] if i in axes else 1 for i in range(3)]
        return rng.normal(0, true[name] ** 0.5, shape)

    scores = effect("run", 0) + effect("unit", 1) + effect("assessor", 2) + effect("run x unit", 0, 1)
    scores = scores + effect("run x assessor", 0, 2) + effect("residual", 0, 1, 2)
    study = variance_components(scores)
    for name, value in true.items():
        assert study.variances[name] == pytest.approx(value, rel=0.5)
    assert study.variances["unit x assessor"] < 0.001


@settings(max_examples=40)
@given(hnp.arrays(np.float64, st.tuples(st.integers(2, 5), st.integers(2, 6)), elements=st.floats(0, 1)))
def test_coefficients_lie_between_0_and_1_and_units_reach_them(scores: Floats) -> None:
    study = variance_components(scores)
    relative, absolute = study.e_rho2(), study.phi()
    assert all(value >= 0 for value in study.variances.values())
    if relative is None or absolute is None:
        # Identical runs: nothing varies that could tell them apart.
        assert study.variances["run"] + study.variances["residual"] == 0
        return
    assert 0 <= absolute <= relative <= 1
    for which in ("e_rho2", "phi"):
        needed = study.units_for(which, 0.9)  # type: ignore[arg-type]
        if needed is not None and needed < 10**9:
            assert study.coefficient(which, needed) >= 0.9 - 1e-9  # type: ignore[arg-type, operator]
            if needed > 1:
                assert study.coefficient(which, needed - 1) < 0.9 + 1e-9  # type: ignore[arg-type, operator]


def test_negative_components_are_set_to_zero_with_a_note() -> None:
    # Runs that differ less than chance: the variance of runs is estimated below 0.
    scores = np.array([[0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0]])
    study = variance_components(scores)
    assert study.variances["run"] == 0
    assert "run" in study.set_to_zero
    assert "Estimated below 0 and set to 0: run" in str(document(study)["notes"])
    assert "Estimated below 0 and set to 0: run" in str(study.table())
    assert study.units_for("e_rho2", 0.5) is None
    assert study.e_rho2() == 0


def test_more_assessors_and_more_units_help() -> None:
    study = Generalizability(
        {
            "run": 0.01,
            "unit": 0.05,
            "assessor": 0.002,
            "run x unit": 0.02,
            "run x assessor": 0.002,
            "unit x assessor": 0.003,
            "residual": 0.01,
        },
        units=50,
        assessors=2,
    )
    by_hand = 0.01 / (0.01 + 0.02 / 50 + 0.002 / 2 + 0.01 / 100)
    assert study.e_rho2() == pytest.approx(by_hand)
    assert study.phi() == pytest.approx(
        0.01 / (0.01 + 0.02 / 50 + 0.002 / 2 + 0.01 / 100 + 0.05 / 50 + 0.002 / 2 + 0.003 / 100)
    )
    # One assessor's disagreement with the runs never averages out over units.
    assert study.units_for("e_rho2", 0.9, assessors=1) is None
    three, five = (study.units_for("e_rho2", 0.9, assessors=n) for n in (3, 5))
    assert three is not None
    assert five is not None
    assert three > five


def test_several_assessors() -> None:
    rng = np.random.default_rng(3)
    first = rng.random((4, 10))
    study = generalizability([matrix_of(first), matrix_of(first + 0.1 * rng.random((4, 10)))])
    assert (study.runs, study.units, study.assessors) == (4, 10, 2)
    assert study.with_assessors
    assert "2 assessors" in study.table().title
    with pytest.raises(UsageError, match="same runs and the same questions"):
        generalizability([matrix_of(first), matrix_of(first[:3])])
    with pytest.raises(UsageError, match="at least one"):
        generalizability([])


def test_type_weighted_scores_enter_by_their_parts() -> None:
    types = ("factoid",) * 6 + ("list",) * 2
    matrix = matrix_of(
        np.random.default_rng(0).random((3, 8)), summary=TypeWeighted(types, {"factoid": 0.5, "list": 0.5})
    )
    assert "not plain means" in generalizability(matrix).notes[0]


@pytest.mark.parametrize("shape", [(1, 5), (5, 1), (2, 3, 1)])
def test_too_small(shape: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="at least two"):
        variance_components(np.zeros(shape))


def test_constant_scores_have_no_coefficient() -> None:
    study = variance_components(np.full((3, 4), 0.5))
    assert (study.e_rho2(), study.phi()) == (None, None)
    assert document(study)["e_rho2"] is None


@pytest.mark.parametrize(
    ("variances", "message"),
    [
        ({"run": 0.1, "unit": 0.1}, "no variance for residual"),
        ({"run": 0.1, "unit": 0.1, "residual": 0.1, "moon": 1}, "unknown source 'moon'"),
        ({"run": -0.1, "unit": 0.1, "residual": 0.1}, "0 or more"),
        ({"run": float("nan"), "unit": 0.1, "residual": 0.1}, "0 or more"),
    ],
)
def test_assumed_variances_are_checked(variances: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        assumed(variances)
    with pytest.raises(UsageError, match="between 0 and 1"):
        assumed({"run": 1, "unit": 1, "residual": 1}).units_for("phi", 1.0)
