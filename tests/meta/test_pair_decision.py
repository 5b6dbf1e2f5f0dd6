"""The decision about one pair: golden figures, plain Python, and p and interval that always agree."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from qassay.arrays import Floats
from qassay.formats.matrix import read_matrix
from qassay.matrix import Repeats, ScoreMatrix
from qassay.meta import blocks as independent_parts
from qassay.meta import hall
from qassay.meta.blocks import blocks
from qassay.meta.flips import flip_chunks, flip_test, flipped_sums
from qassay.meta.one_pair import PairDecision, decide
from qassay.meta.significance import compare

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "truth.json").read_text(encoding="utf-8"))


def matrix_of(values: Floats, **more: object) -> ScoreMatrix:
    runs, units = values.shape
    return ScoreMatrix(tuple(f"r{i}" for i in range(runs)), tuple(f"u{i}" for i in range(units)), values, **more)  # type: ignore[arg-type]


def differing(d: Floats, **more: object) -> ScoreMatrix:
    """Two runs with these differences."""
    return matrix_of(np.stack([d, np.zeros(len(d))]), **more)


# --- golden figures -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["robust04", "adhoc8"])
def test_golden_flips_of_halls_t(data: Callable[[str], Path], name: str) -> None:
    files = {"robust04": "robust2004_p10", "adhoc8": "adhoc8_ap"}
    matrix = read_matrix(data(f"score_matrices/{files[name]}.csv"))
    order = np.argsort(-matrix.scores(), kind="stable")
    for ranks, wanted in GOLDEN[f"Hall flips {name} (rank a - rank b)"].items():
        pair = matrix.select([matrix.runs[order[int(rank) - 1]] for rank in ranks.split(" - ")])
        found, differences = decide(pair), pair.values[0] - pair.values[1]
        assert (found.test, found.interval) == ("hall", pytest.approx(tuple(wanted["interval"]), abs=1e-6))
        assert (found.difference, found.p) == pytest.approx((wanted["d"], wanted["p"]), abs=1e-6)
        assert hall.skewness(differences) == pytest.approx(wanted["skewness"], abs=1e-4)
        assert hall.rests_on_few(differences) == wanted["warn"]


def test_golden_share_of_real_pairs_with_a_warning(data: Callable[[str], Path]) -> None:
    matrix = read_matrix(data("score_matrices/adhoc8_ap.csv"))
    pairs = itertools.combinations(range(len(matrix.runs)), 2)
    warned = [hall.rests_on_few(matrix.values[i] - matrix.values[j]) for i, j in pairs]
    assert np.mean(warned) == pytest.approx(GOLDEN["skew warning, share of pairs"]["adhoc8 50 questions"], abs=5e-4)


def test_golden_bounds_of_a_reversal(data: Callable[[str], Path]) -> None:
    matrix = read_matrix(data("nq301/matrix.csv"))
    for names, wanted in GOLDEN["reversal at most"].items():
        found = decide(matrix.select(names.split(" - ")))
        assert found.interval == pytest.approx(tuple(wanted["interval"]), abs=1e-6)
        assert found.p == pytest.approx(wanted["p"], abs=1e-6)
        assert found.reversal == (wanted["at_most"] and pytest.approx(wanted["at_most"], abs=5e-5))
    contra, wanted = read_matrix(Path(__file__).parents[1] / "golden" / "contra.csv"), GOLDEN["contra.csv"]
    found = decide(contra.select(wanted["pair"].split(" - ")))
    assert (found.p, *(found.interval or ())) == pytest.approx((wanted["p"], *wanted["interval"]), abs=1e-6)
    assert found.reversal == pytest.approx(wanted["reversal_at_most"], abs=5e-5)


# --- plain Python -------------------------------------------------------------------------------------------------


def brute_p(d: Floats, delta: float, weights: Floats | None = None) -> float:
    """The sign-flip test of a mean difference of delta, all flips, in plain Python."""
    w = np.ones(len(d)) if weights is None else weights
    shifted = [x - delta * v for x, v in zip(d, w, strict=True)]
    observed = abs(sum(shifted))
    flips = list(itertools.product([1, -1], repeat=len(d)))
    hits = sum(abs(sum(s * x for s, x in zip(flip, shifted, strict=True))) >= observed - 1e-9 for flip in flips)
    return hits / len(flips)


@settings(max_examples=40)
@given(hnp.arrays(np.float64, (2, 8), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])))
def test_p_of_plain_flips_is_that_of_every_flip(values: Floats) -> None:
    result = flip_test(blocks(matrix_of(values, denominator=4)), alpha=0.05)
    assert (result.exact, result.flips) == (True, 256)
    assert result.p == pytest.approx(brute_p(values[0] - values[1], 0.0))
    theirs = stats.permutation_test(
        (values[0], values[1]), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
    )
    assert result.p == pytest.approx(min(1.0, theirs.pvalue))


@settings(max_examples=25)
@given(hnp.arrays(np.float64, (2, 7), elements=st.floats(0, 1).map(lambda x: round(x, 3))))
def test_the_interval_of_plain_flips_contains_what_they_do_not_reject(values: Floats) -> None:
    result = flip_test(blocks(matrix_of(values)), alpha=0.05)
    d = values[0] - values[1]
    if result.high - result.low > 1e-5:
        assert min(brute_p(d, result.low + 1e-6), brute_p(d, result.high - 1e-6)) > 0.05
    assert max(brute_p(d, result.low - 1e-6), brute_p(d, result.high + 1e-6)) <= 0.05


def test_series_weigh_as_many_units_as_they_have() -> None:
    values, names = np.random.default_rng(8).random((2, 20)), tuple("aabbbccccdefghhhhijj")
    result = decide(matrix_of(values, clusters=names))
    order = list(dict.fromkeys(names))
    d = np.array([sum(values[0, u] - values[1, u] for u in range(20) if names[u] == s) for s in order])
    sizes = np.array([names.count(s) for s in order], dtype=float)
    assert (result.test, result.p) == ("flips", pytest.approx(brute_p(d, 0.0)))
    assert result.interval is not None
    assert brute_p(d, result.interval[0] + 1e-7, sizes) > 0.05
    assert brute_p(d, result.interval[0] - 1e-7, sizes) <= 0.05
    around = d - sizes * d.sum() / 20
    assert result.deviation**2 == pytest.approx(10 / 9 * (around**2).sum() / 20**2)


@pytest.mark.parametrize("units", [5, 17, 64, 300])
def test_sums_over_flipped_units_are_those_of_plain_addition(units: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking sums up gives those of the same flips as adding does, to the last bit, in pieces of any size."""
    rng = np.random.default_rng(units)
    columns = rng.integers(-(2**20), 2**40, (2, units)).astype(np.float64)
    chosen = np.concatenate(list(flip_chunks(units, 1001, 3))).astype(np.float64)
    assert (chosen == np.concatenate(list(flip_chunks(units, 1001, 3, rows=8)))).all()
    for band in (2, 1 << 14):
        monkeypatch.setattr("qassay.meta.flips._BAND", band)
        assert (np.concatenate(list(flipped_sums(columns, 1001, 3)), axis=1) == columns @ chosen.T).all()


def test_flips_of_many_blocks_come_in_fewer_rows_with_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any other draw would change p-values with the bound on memory."""
    whole = np.vstack(list(flip_chunks(77, 1000, 5)))
    monkeypatch.setattr(independent_parts, "_CELLS", 77 * 13)
    pieces = list(flip_chunks(77, 1000, 5))
    assert max(map(len, pieces)) == 12
    assert (np.vstack(pieces) == whole).all()
    few = list(flip_chunks(6, 1000, 5))
    assert len({tuple(row) for piece in few for row in piece.tolist()}) == 64


def halls_t(d: Floats, skew_by: float | None = None) -> float:
    """Hall's t of differences, and the skewness over sqrt(n) that it corrects for."""
    m, v, n = d.mean(), d.var(), len(d)
    t = m * math.sqrt((n - 1) / v)
    g = float(((d - m) ** 3).mean() / v**1.5 / math.sqrt(n)) if skew_by is None else skew_by
    return float(t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6)


@pytest.mark.parametrize("seed", range(3))
def test_halls_flips_one_by_one(seed: int) -> None:
    """p is the share of flips as far out; at each limit Hall's t, with its skewness, is that of the line."""
    d = np.round(np.random.default_rng(seed).exponential(1, 30) - 0.4, 2)
    found = hall.hall_test(d, alpha=0.05, flips=999, seed=4)
    signs = 1 - 2 * np.concatenate(list(flip_chunks(30, 999, 4))).astype(float)
    flipped = np.array([abs(halls_t(d * row)) for row in signs])
    assert found.p == (1 + int((flipped >= abs(halls_t(d)) * (1 - 1e-9)).sum())) / 1000
    line, skew_by = np.sort(flipped)[-50], stats.skew(d) / math.sqrt(30)
    assert halls_t(d - found.low, skew_by) == pytest.approx(line, rel=1e-9)
    assert halls_t(d - found.high, skew_by) == pytest.approx(-line, rel=1e-9)


# --- one decision -------------------------------------------------------------------------------------------------


def agrees(result: PairDecision, mirrored: PairDecision) -> None:
    """p, interval, verdict and bound never contradict each other, and the other way round all are mirrored."""
    assert result.p == pytest.approx(mirrored.p, rel=1e-12)
    assert (result.interval is None) == (mirrored.interval is None)
    assert (result.reversal is not None) == result.rejects
    if result.interval is None:
        assert result.p > 0.05
        return
    low, high = result.interval
    assert (-high, -low) == pytest.approx(mirrored.interval, abs=1e-12)
    assert (low > 0 or high < 0) == (result.p <= 0.05) == result.rejects
    assert low <= result.difference <= high
    assert low < high
    assert result.reversal is None or 0 <= result.reversal < 0.5


@settings(max_examples=150)
@given(
    hnp.arrays(np.float64, st.tuples(st.just(2), st.integers(1, 45)), elements=st.sampled_from([0.0, 0.3, 0.9, 1.0])),
    st.sampled_from(["right or wrong", "graded", "series", "repeats"]),
    st.integers(0, 3),
)
def test_p_interval_and_bound_never_contradict_each_other(values: Floats, kind: str, seed: int) -> None:
    more: dict[str, object] = {}
    if kind == "right or wrong":
        values = np.round(values)
    if kind == "series":
        more["clusters"] = tuple(str(unit * unit // 20) for unit in range(values.shape[1]))
    if kind == "repeats":
        noise = np.random.default_rng(seed).normal(0, 0.1, (*values.shape, 2)) * (seed > 1)
        repeats = tuple(values[..., None] + noise)
        values = np.stack([scores.mean(axis=1) for scores in repeats])
        more["repeats"] = Repeats(repeats)
    matrix = matrix_of(values, **more)
    agrees(decide(matrix, flips=500, seed=seed), decide(matrix.select(["r1", "r0"]), flips=500, seed=seed))


@pytest.mark.parametrize(
    ("differences", "clusters", "test"),
    [
        ([1.0, 0.0, -1.0, 1.0] * 3, None, "mid-p"),
        ([0.25, 0.0] * 20, None, "mid-p"),
        ([0.5, 1.0] * 9, None, "flips"),
        ([0.5, 1.0] * 10, None, "hall"),
        ([0.5, 1.0] * 20, "ab" * 10 + "abcdefghijklmnopqrst", "flips"),
        ([1.0, 0.0] * 20, [unit // 2 for unit in range(40)], "mid-p"),
    ],
)
def test_scores_choose_the_test(differences: list[float], clusters: list[int] | None, test: str) -> None:
    names = None if clusters is None else tuple(map(str, clusters))
    assert decide(differing(np.array(differences), clusters=names)).test == test


def test_few_units_have_no_interval() -> None:
    result = decide(differing(np.linspace(0.5, 1, 5)))
    assert (result.p, result.interval, result.reversal) == (2 / 32, None, None)


def test_random_flips_are_as_many_as_asked_for() -> None:
    d = np.random.default_rng(0).random(10)
    assert [decide(differing(d), flips=flips).flips for flips in (None, 1000)] == [1024, 1000]
    assert [decide(differing(np.tile(d, 4)), flips=flips).flips for flips in (None, 1000)] == [20_000, 1000]
    assert hall.hall_test(np.random.default_rng(0).random(100_000), alpha=0.05).flips == 2000


# --- how often it errs --------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "units", "covered"),
    [
        *(("four in five equal", 20, 0.94), ("four in five equal", 50, 0.98), ("lognormal", 20, 0.91)),
        *(("lognormal", 50, 0.96), ("one in ten gains", 50, 0.98), ("exponential", 20, 0.95), ("normal", 50, 0.95)),
    ],
)
def test_coverage_of_halls_flips(kind: str, units: int, covered: float) -> None:
    rng = np.random.default_rng(units)
    draw: dict[str, tuple[Callable[[], Floats], float]] = {
        "four in five equal": (lambda: (rng.random(units) < 0.2) * rng.exponential(1, units), 0.2),
        "lognormal": (lambda: rng.lognormal(0, 1, units), math.exp(0.5)),
        "one in ten gains": (lambda: (rng.random(units) < 0.1) * (0.5 + 0.5 * rng.random(units)), 0.075),
        "exponential": (lambda: rng.exponential(1, units), 1.0),
        "normal": (lambda: rng.normal(0.3, 1, units), 0.3),
    }
    sample, truth = draw[kind]
    inside = 0
    for seed in range(2000):
        interval = decide(differing(sample()), flips=999, seed=seed).interval
        inside += interval is not None and interval[0] <= truth <= interval[1]
    assert inside / 2000 > covered - 0.02


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 0.55, 0.6])
def test_the_bound_of_a_reversal_holds_in_95_of_100_comparisons(share: float) -> None:
    """A withheld bound is none, and holds; the true chance is that of as many new questions."""
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(2000):
        d = rng.choice([1.0, 0.0, -1.0], 100, p=[0.3 * share, 0.7, 0.3 * (1 - share)])
        found = decide(differing(d, denominator=1))
        true = 0.3 * (2 * share - 1) * math.copysign(1, found.difference)
        chance = stats.norm.cdf(-true / math.sqrt((0.3 - true**2) / 100))
        held += found.reversal is None or chance <= found.reversal
    assert held / 2000 > 0.94


def test_warnings_are_rare_where_nothing_is_skewed() -> None:
    rng = np.random.default_rng(0)
    assert np.mean([hall.rests_on_few(rng.normal(size=30)) for _ in range(500)]) <= 0.03
    assert np.mean([hall.rests_on_few(rng.lognormal(0, 1, 30)) for _ in range(100)]) > 0.6
    one = np.zeros(100)
    one[0], one[1] = 1.0, 0.1
    assert hall.rests_on_few(one)
    assert compare(differing(one), "r0", "r1").verdict == "cannot tell"
