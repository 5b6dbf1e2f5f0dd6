"""All pairs at once, and all against one: golden figures, a plain loop, and p and interval that always agree."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qassay.formats.scores import read_scores
from qassay.meta.blocks import blocks
from qassay.meta.flips import flip_chunks
from qassay.meta.significance.differences import Differences, Systems
from qassay.meta.significance.families import Family, families, family

Data = Callable[[str], Path]
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "truth.json").read_text(encoding="utf-8"))
MATRICES = "score_matrices/"


def of_file(path: Path, control: str | None = None, **how: Any) -> tuple[dict[str, int], Systems, Family]:
    """The family of the systems of a table, and the number of each pair by name."""
    matrix = read_scores(path, **how).matrix
    systems = Systems.of(blocks(matrix), None if control is None else matrix.runs.index(control))
    ends = zip(systems.first.tolist(), systems.second.tolist(), strict=True)
    return {f"{matrix.runs[i]} - {matrix.runs[j]}": k for k, (i, j) in enumerate(ends)}, systems, family(systems)


def check(tested: Family, number: int, wanted: dict[str, float]) -> None:
    got = [values[number] for values in (tested.differences, tested.p, tested.low, tested.high)]
    assert got == pytest.approx([wanted[key] for key in ("d", "p", "low", "high")], abs=1e-6)


def test_golden_pairs_of_nq301(data: Data) -> None:
    wanted = GOLDEN["family nq301"]
    names, _, tested = of_file(data("nq301/matrix.csv"))
    assert (tested.line, tested.flips) == (pytest.approx(wanted["r"], abs=1e-6), wanted["flips"])
    assert (int(tested.different.sum()), len(names)) == (wanted["different"], 66)
    for name, figures in wanted["pairs"].items():
        check(tested, names[name], figures)


def test_golden_control_of_nq301(data: Data) -> None:
    wanted = GOLDEN["control nq301, DPR"]
    names, _, tested = of_file(data("nq301/matrix.csv"), "DPR")
    assert tested.line == pytest.approx(wanted["r"], abs=1e-6)
    assert (int(tested.different.sum()), len(names)) == (7, 11)
    for name, figures in wanted["against"].items():
        check(tested, names[f"{name} - DPR"], figures)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("family trec06_rr", "trec2006_factoid_rr_strict.csv"),
        ("family robust04_p10", "robust2004_p10.csv"),
        ("family adhoc8_ap", "adhoc8_ap.csv"),
    ],
)
def test_golden_lines_of_real_matrices(data: Data, name: str, file: str) -> None:
    _, _, tested = of_file(data(MATRICES + file), missing="zero")
    assert tested.line == pytest.approx(GOLDEN[name]["r"], abs=1e-6)
    assert int(tested.different.sum()) == GOLDEN[name]["different"]


def test_golden_line_by_series(data: Data) -> None:
    """75 series of TREC 2006, which weigh as much as the questions they contain."""
    matrix = read_scores(data(MATRICES + "trec2006_factoid_rr_strict.csv"), missing="zero").matrix
    names = list(dict.fromkeys(unit.split(".")[0] for unit in matrix.units))
    series = np.array([names.index(unit.split(".")[0]) for unit in matrix.units])
    parts = np.stack([np.bincount(series, weights=row) for row in blocks(matrix).parts])
    tested = family(Systems(parts, np.bincount(series).astype(float), blocks(matrix).scale))
    assert (len(names), tested.line) == (75, pytest.approx(3.408573, abs=1e-6))
    assert int(tested.different.sum()) == 4497


def test_nothing_differs_where_the_leader_of_equal_systems_seems_ahead() -> None:
    _, _, tested = of_file(Path(__file__).parents[1] / "golden" / "contra.csv")
    assert int(tested.different.sum()) == GOLDEN["contra.csv"]["family_different"]


def drawn(seed: int, runs: int, count: int, *, weighted: bool, values: int) -> Systems:
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 5, count).astype(float) if weighted else np.ones(count)
    parts = rng.integers(0, values, (runs, count)) * weights
    return Systems(parts + np.linspace(0, values, runs).round()[:, None] * (seed % 3 == 0), weights, 4.0 * count)


def naive(systems: Systems, permutations: int, alpha: float) -> tuple[list[float], float]:
    """Adjusted p of every pair, and the line, one pair and one flip after the other."""
    count = systems.parts.shape[1]
    rows = [systems.parts[i] - systems.parts[j] for i, j in zip(systems.first, systems.second, strict=True)]
    squares = [sum(x * x for x in row) for row in rows]
    q0 = max(5, 800 / count) * (sum(squares) / len(squares)) / count
    reached = []
    for chosen in flip_chunks(count, permutations, 0):
        for flip in chosen:
            sums = [sum(-x if f else x for x, f in zip(row, flip, strict=True)) for row in rows]
            reached.append(max(abs(s) / math.sqrt(q + q0) for s, q in zip(sums, squares, strict=True)))
    exact = len(reached) == 2**count
    p = []
    for row, q in zip(rows, squares, strict=True):
        hits = sum(most >= abs(sum(row)) / math.sqrt(q + q0) * (1 - 1e-9) for most in reached)
        p.append(hits / len(reached) if exact else (1 + hits) / (1 + len(reached)))
    reached.sort(reverse=True)
    needed = math.floor(alpha * len(reached) + 1e-9) + 1 if exact else math.floor(alpha * (len(reached) + 1) + 1e-9)
    return p, reached[needed - 1]


@pytest.mark.parametrize(("seed", "count", "weighted"), [(0, 8, False), (1, 8, True), (2, 40, False), (3, 40, True)])
@pytest.mark.parametrize("control", [None, 2])
def test_a_plain_loop_gives_the_same(seed: int, count: int, weighted: bool, control: int | None) -> None:
    some = drawn(seed, 4, count, weighted=weighted, values=5)
    systems = Systems(some.parts, some.weights, some.scale, control=control)
    tested = family(systems, permutations=300)
    p, line = naive(systems, 300, 0.05)
    assert tested.p == pytest.approx(p)
    assert tested.line == pytest.approx(line, rel=1e-6)
    rows = systems.parts[systems.first] - systems.parts[systems.second]
    as_differences = family(
        Differences(rows, np.tile(systems.weights, (len(rows), 1)), systems.scale), permutations=300
    )
    for of_systems, of_pairs in ((tested.p, as_differences.p), (tested.low, as_differences.low)):
        assert of_systems == pytest.approx(of_pairs, rel=1e-5, nan_ok=True)


@given(
    seed=st.integers(0, 10_000),
    runs=st.integers(3, 7),
    count=st.integers(2, 60),
    weighted=st.booleans(),
    values=st.integers(1, 6),
    alpha=st.sampled_from([0.01, 0.05, 0.2]),
)
def test_p_and_interval_agree(seed: int, runs: int, count: int, weighted: bool, values: int, alpha: float) -> None:
    """0 lies outside the interval exactly where p is at most the level; an interval contains its difference."""
    systems = drawn(seed, runs, count, weighted=weighted, values=values)
    tested = family(systems, permutations=400, alpha=alpha)
    outside = (tested.low > 0) | (tested.high < 0)
    assert (outside == tested.different).all()
    assert (tested.different == (tested.p <= alpha)).all()
    there = ~np.isnan(tested.low)
    assert (tested.low <= tested.differences + 1e-9)[there].all()
    assert (tested.high >= tested.differences - 1e-9)[there].all()
    if count < 6:
        assert not tested.different.any()


def test_an_interval_of_equal_weights_is_the_short_formula() -> None:
    systems = drawn(5, 5, 50, weighted=False, values=4)
    tested = family(systems, permutations=2000)
    rows = (systems.parts[systems.first] - systems.parts[systems.second]) * 50 / systems.scale
    q0 = 16 * (rows**2).sum(axis=1).mean() / 50
    c = math.sqrt(49 * tested.line**2 / (50 - tested.line**2))
    half = c * np.sqrt(rows.var(axis=1, ddof=1) + q0 / 49) / math.sqrt(50)
    assert tested.high - tested.differences == pytest.approx(half, rel=1e-5)
    assert tested.differences - tested.low == pytest.approx(half, rel=1e-5)


def test_identical_systems_have_an_interval_and_blank_tables_have_none() -> None:
    rng = np.random.default_rng(0)
    parts = rng.integers(0, 2, (3, 30)).astype(float)
    same = family(Systems(np.vstack([parts, parts[:1]]), np.ones(30), 30.0))
    assert (same.p[2], same.low[2], same.high[2]) == (1.0, -same.high[2], pytest.approx(same.high[2]))
    rounding = family(Systems(1e6 * parts[:1] + np.array([[0.0], [1.0], [2.0]]), np.ones(30), 3e7, tolerance=100.0))
    assert rounding.p.tolist() == [1.0] * 3
    assert ((rounding.low < 0) & (rounding.high > 0)).all()
    nothing = family(Systems(np.ones((3, 30)), np.ones(30), 30.0))
    assert nothing.p.tolist() == [1.0] * 3
    assert np.isnan(nothing.low).all()


def test_questions_that_miss_a_system_count_nothing() -> None:
    """A pair is compared on the questions of both; the chance it is allowed is that of the family."""
    rng = np.random.default_rng(1)
    apart = rng.integers(-1, 2, (3, 40)).astype(float)
    present = np.ones((3, 40))
    present[0, 25:] = apart[0, 25:] = 0.0
    tested = family(Differences(apart, present, 1.0), permutations=500)
    assert tested.differences[0] == apart[0].sum()
    few = np.zeros((3, 40))
    few[:, :3] = 1.0
    assert not family(Differences(apart * few + 5 * few, few, 1.0), permutations=500).different.any()


def test_metrics_over_the_same_questions_are_one_family() -> None:
    """The line of several metrics is that of the largest over all of them, whatever their units are."""
    one, two = (drawn(seed, 4, 30, weighted=False, values=4) for seed in (7, 8))
    together = families([one, Systems(two.parts * 1000, two.weights, two.scale)], permutations=500)
    alone = [family(systems, permutations=500).line for systems in (one, two)]
    assert together[0].line == together[1].line >= max(alone)
    again = families([one, two], permutations=500)
    assert [each.p.tolist() for each in again] == [each.p.tolist() for each in together]


def test_pairs_too_near_the_line_are_counted() -> None:
    tested = [family(drawn(seed, 6, 40, weighted=False, values=3), permutations=300) for seed in range(30)]
    assert any(each.near for each in tested)
    for each in tested:
        near = np.abs(each.p - 0.05) <= 2 * math.sqrt(0.05 * 0.95 / 301)
        assert each.near == near.sum()
