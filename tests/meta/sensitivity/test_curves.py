"""The curves and the questions they answer: minimum difference, size needed, groups."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import astuple, replace

import numpy as np
import pytest

from qassay.errors import InputError, UsageError
from qassay.formats.matrix import read_matrix
from qassay.meta.sensitivity import Both, sensitivity
from qassay.meta.sensitivity.reading import first_within, groups, rank_ranges, share_of_pairs
from qassay.meta.simulate import simulate_runs
from qassay.summaries import ConfidenceWeighted, TypeWeighted

# FORMATS 6, the keys of the document and of a bin.
KEYS = """preset measure units runs pairs trials seed ties sizes target bins error minimum_difference size_needed
pairs_at_least_minimum groups"""
BIN_KEYS = "low high error_rate comparisons interval predicted fit not_fitted extrapolated predicted_at_target"


@pytest.fixture(scope="module")
def curves():
    matrix = simulate_runs(np.linspace(0.2, 0.5, 20), 64, seed=2)
    return sensitivity(matrix, preset="trec2004", intervals=10, bin_width=0.01)


def test_json_is_the_documented_one(curves):
    document = json.loads(json.dumps(curves.as_json(), allow_nan=False))
    assert set(KEYS.split()) <= set(document)
    assert (document["preset"], document["units"], document["runs"], document["pairs"]) == ("trec2004", 64, 20, 190)
    assert document["sizes"] == list(range(5, 33))
    assert document["target"] == 64
    assert len(document["bins"]) == 21
    for number, row in enumerate(document["bins"]):
        assert list(row) == BIN_KEYS.split()
        assert row["low"] == number / 100
        assert row["high"] == (None if number == 20 else (number + 1) / 100)
        for rate, comparisons, interval in zip(row["error_rate"], row["comparisons"], row["interval"], strict=True):
            assert (rate is None) == (comparisons == 0)
            if comparisons == 0:
                assert interval is None
        assert (row["fit"] is None) != (row["not_fitted"] is None)
        assert (row["fit"] is None) == (row["extrapolated"] is None)
    assert document["bins"][0]["not_fitted"] == "first bin"
    assert document["bins"][20]["not_fitted"] == "open bin"
    totals = np.sum([row["comparisons"] for row in document["bins"]], axis=0)
    assert (totals == 50 * 190).all()


def test_extrapolation_and_size_needed_follow_from_the_fit(curves):
    document = curves.as_json()
    for row in document["bins"]:
        if row["fit"] is not None:
            a1, a2 = row["fit"]["A1"], row["fit"]["A2"]
            assert row["extrapolated"] == pytest.approx(a1 * math.exp(-a2 * 64))
            needed = document["size_needed"][f"{row['low']:.2f}"]
            expected = max(1, math.ceil(math.log(a1 / 0.05) / a2))
            assert needed["fit"] == (expected if expected <= 640 else None)
    assert list(document["size_needed"]) == [f"{k / 100:.2f}" for k in range(1, 20)]


def test_predicted_size_is_the_smallest_that_is_enough(curves):
    for limit, sizes in curves.size_needed().items():
        k = round(float(limit) * 100)
        if sizes.predicted is None:
            assert not curves.predicted_at(640)[k] <= 0.05
        else:
            assert curves.predicted_at(sizes.predicted)[k] <= 0.05
            assert sizes.predicted == 1 or not curves.predicted_at(sizes.predicted - 1)[k] <= 0.05


def test_minimum_difference_and_what_follows(curves):
    minimum = curves.minimum_difference()
    assert isinstance(minimum, Both)
    for name, column in zip(("extrapolated", "predicted_at_target"), astuple(minimum), strict=True):
        rates = [(curve.low, getattr(curve, name)) for curve in curves.bins[1:]]
        beyond = [rate for low, rate in rates if low >= column and rate is not None]
        assert beyond
        assert max(beyond) <= 0.05
        assert max(rate for low, rate in rates if low == pytest.approx(column - 0.01)) > 0.05
    scores = curves.scores
    differences = np.abs(scores[:, None] - scores[None, :])[np.triu_indices(20, 1)]
    assert curves.pairs_at_least_minimum == pytest.approx((differences >= minimum.predicted).mean())
    assert curves.minimum_difference(error=0.5).fit == 0.01
    assert curves.minimum_difference(error=1e-12) == Both(None, None)
    assert curves.minimum_difference(0.2).fit < minimum.fit


def test_groups_and_ranks_are_those_of_the_fit_as_in_the_papers(curves):
    minimum, document = curves.minimum_difference(), curves.as_json()
    assert document["repeatable_difference"] == minimum.predicted
    assert curves.findings.minimum_difference == minimum.fit
    assert len(document["rank_ranges"]) == 20
    without = sensitivity(
        simulate_runs(np.linspace(0.2, 0.5, 20), 64, seed=2), intervals=0, fit=False, bin_width=0.01
    ).as_json()
    assert (without["groups"], without["rank_ranges"]) == (None, None)
    assert without["repeatable_difference"] == minimum.predicted


def test_groups_walk_down_the_ranking(curves):
    minimum = curves.minimum_difference().fit
    scores = dict(zip(curves.runs, curves.scores.tolist(), strict=True))
    assert sorted(run for group in curves.groups for run in group) == sorted(curves.runs)
    firsts = [scores[group[0]] for group in curves.groups]
    for group, first in zip(curves.groups, firsts, strict=True):
        assert all(first - scores[run] < minimum for run in group)
    assert all(a - b >= minimum for a, b in itertools.pairwise(firsts))


def test_findings_decide_on_limits_exactly():
    runs, scores = ("a", "b", "c", "d"), np.array([0.8, 0.7, 0.65, 0.5])
    # 0.8 - 0.7 is 0.10000000000000009 and 0.7 - 0.65 is 0.04999999999999993: both lie on their limit.
    assert groups(runs, scores, 0.1) == (("a",), ("b", "c"), ("d",))
    assert groups(runs, scores, 0.05) == (("a",), ("b",), ("c",), ("d",))
    assert share_of_pairs(np.array([0.7 - 0.65, 0.1, 0.01]), 0.05) == pytest.approx(2 / 3)
    assert share_of_pairs(np.zeros(0), 0.05) is None


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ([0.3, 0.04, 0.06, 0.05, None], 0.04),
        ([0.3, 0.2, None, 0.04, 0.01], 0.04),
        ([0.3, 0.2, None, 0.04, 0.06], None),
        ([0.01, None, None, None, None], 0.01),
        ([None] * 5, None),
    ],
)
def test_first_bin_within_the_error_rate(rates, expected):
    assert first_within((0.01, 0.02, 0.03, 0.04, 0.05), rates, 0.05) == expected


def test_rank_range_of_the_middle_run(golden):
    # [QA03] 4.2 and table 4: 0.1 either way moves the middle run from fifth to eleventh (METHOD 9).
    table = golden["QA03"]["definition_table4_F5_length"]
    ranges = rank_ranges([row[0] for row in table], np.array([row[1] for row in table]), 0.1)
    middle = ranges[7]
    assert (middle.run, middle.rank, middle.best, middle.worst) == ("MITCSAIL03a", 8, 5, 11)


def test_error_rate_at_a_difference(curves):
    rate = curves.error_rate_at(0.055)
    assert rate.fit == pytest.approx(curves.bins[5].extrapolated)
    assert rate.predicted == pytest.approx(curves.bins[5].predicted_at_target)
    assert curves.error_rate_at(-0.055) == rate
    assert curves.error_rate_at(0.05).fit == rate.fit
    assert curves.error_rate_at(0.003).fit is None
    assert curves.error_rate_at(0.055, 10).predicted == pytest.approx(curves.bins[5].predicted[5])


def test_fit_leaves_out_the_sizes_that_its_preset_leaves_out():
    matrix = simulate_runs(np.linspace(0.2, 0.5, 10), 60, scores="binary")
    all_sizes = sensitivity(matrix, preset="default", sizes=range(1, 31), trials=10, intervals=0, fit=True)
    some = sensitivity(matrix, preset="trec2002", intervals=0)
    assert some.sizes == all_sizes.sizes
    assert np.array_equal(some.counts.swaps, all_sizes.counts.swaps)
    assert some.fits[10] != all_sizes.fits[10]


def test_intervals_can_be_left_out(curves):
    without = sensitivity(
        simulate_runs(np.linspace(0.2, 0.5, 20), 64, seed=2), preset="trec2004", intervals=0, bin_width=0.01
    )
    assert all(row["interval"] is None for row in without.as_json()["bins"])
    assert without.bins[4].error_rate == curves.bins[4].error_rate


def test_progress_reaches_the_end():
    seen = []
    matrix = simulate_runs((0.3, 0.4, 0.5), 20)
    sensitivity(matrix, intervals=3, trials=10, progress=lambda done, total: seen.append((done, total)))
    # Six sizes: ten trials each, and the closed form in three resamples.
    assert seen[-1] == (6 * (10 + 3), 6 * (10 + 3))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    sensitivity(simulate_runs((0.3, 0.4), 20), intervals=3, trials=10, progress=lambda *parts: seen.append(parts))
    assert seen[-1] == (78, 78)


def test_scores_beyond_one_have_bins_of_a_hundredth_of_their_scale():
    matrix = simulate_runs(np.linspace(20, 60, 15), 40, spread=30.0)
    narrow = sensitivity(matrix, intervals=0, bin_width=0.01)
    assert any("--bin-width" in note for note in narrow.notes)
    assert narrow.withheld == "bins"
    assert narrow.summary().startswith(
        "Most gaps are larger than 0.2: wider bins, such as 1.8 (--bin-width), show which"
    )
    suiting = sensitivity(replace(matrix, scale=(-100.0, 100.0), values=matrix.values.clip(-100, 100)), intervals=0)
    assert suiting.as_json()["bin_width"] == 2.0
    assert [curve.low for curve in suiting.bins][:3] == [0.0, 2.0, 4.0]
    assert suiting.repeatable_difference is not None
    assert not suiting.notes


def test_the_fit_of_the_papers_needs_twenty_runs_or_a_request():
    matrix = simulate_runs(np.linspace(0.2, 0.5, 19), 40)
    few = sensitivity(matrix, intervals=0)
    assert {curve.not_fitted for curve in few.bins[1:-1]} == {"fewer than 20 runs"}
    assert few.minimum_difference().fit is None
    assert few.repeatable_difference is not None
    assert "TREC papers" not in " ".join(table.title for table in few.tables())
    for asked in ({"fit": True}, {"preset": "trec2004"}):
        study = sensitivity(matrix, intervals=0, **asked)
        assert any(curve.fit is not None for curve in study.bins)
        assert study.tables()[1].title.startswith("The study as the TREC papers did it")
        assert "needs many runs" in " ".join(study.tables()[1].notes)
    many = simulate_runs(np.linspace(0.2, 0.5, 20), 40)
    assert any(curve.fit is not None for curve in sensitivity(many, intervals=0).bins)
    assert all(curve.fit is None for curve in sensitivity(many, intervals=0, fit=False).bins)


def test_summaries_that_are_not_means(matrix_of):
    rng = np.random.default_rng(0)
    right = rng.random((12, 40)) < np.linspace(0.2, 0.7, 12)[:, None]
    order = np.argsort(rng.random((12, 40)), axis=1)
    cws = sensitivity(matrix_of(right, summary=ConfidenceWeighted(order)), preset="trec2002", intervals=5)
    assert 0 < cws.bins[10].predicted[-1] < 0.5
    types = sensitivity(matrix_of(right, summary=TypeWeighted(("a", "b") * 20, {"a": 1.0, "b": 3.0})), intervals=5)
    assert 0 < types.bins[10].predicted[-1] < 0.5


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_few_runs_say_so(runs):
    curves = sensitivity(simulate_runs(np.linspace(0.3, 0.5, runs), 30), intervals=5)
    document = curves.as_json()
    json.dumps(document, allow_nan=False)
    assert document["notes"]
    assert bool(curves.tables()) == (curves.repeatable_difference is not None)
    assert document["pairs"] == runs * (runs - 1) // 2
    if runs == 1:
        assert all(rate is None for row in document["bins"] for rate in row["error_rate"])
        assert curves.summary() == "There is no pair of runs to compare."


def test_identical_runs_and_constant_scores_say_so(matrix_of):
    same = sensitivity(matrix_of(np.tile(np.arange(20) % 3 / 2, (4, 1))), intervals=5)
    assert "nothing to tell apart" in " ".join(same.notes)
    assert same.bins[0].error_rate[0] == 0.0
    assert same.minimum_difference() == Both(None, None)
    excluded = sensitivity(matrix_of(np.full((3, 20), 0.5)), intervals=5, ties="exclude")
    assert excluded.bins[0].error_rate[0] is None
    assert excluded.bins[0].comparisons[0] == 0
    values = np.random.default_rng(0).random((4, 20))
    values[3] = values[0]
    assert "1 pair of runs has equal scores" in " ".join(sensitivity(matrix_of(values), intervals=0).notes)


def test_one_pair_and_equal_runs_have_no_repeatable_gap():
    matrix = simulate_runs(np.array([0.4, 0.45]), 30)
    pair = sensitivity(matrix, intervals=0, fit=True)
    assert pair.summary().startswith("Two runs are a single pair, which cannot show which gaps are repeatable")
    assert "qassay compare" in pair.summary()
    assert pair.minimum_difference() == Both(None, None)
    assert pair.groups is None
    assert sensitivity(matrix, intervals=0).tables() == ()
    same = sensitivity(replace(matrix, values=np.repeat(matrix.values[:1], 2, axis=0)), intervals=0)
    assert same.minimum_difference() == Both(None, None)
    three = sensitivity(simulate_runs(np.array([0.4, 0.45, 0.5]), 30), intervals=0)
    alike = replace(simulate_runs(np.array([0.4] * 3), 30), values=np.repeat(matrix.values[:1], 3, axis=0))
    assert sensitivity(alike, intervals=0).summary().startswith("All runs have the same scores on every question")
    assert "rests on 3 pairs of runs only" in three.summary()


def test_the_first_sentence_is_the_repeatable_gap(curves):
    gap = curves.repeatable_difference
    assert curves.summary().startswith(
        f"With 64 new questions, a gap of about {gap:g} or more keeps its sign in 95 of 100 repetitions, "
        "if new questions are like these. "
    )
    reaching = int((curves.moments.means >= gap - 1e-9).sum())
    assert f"{reaching} of the 190 pairs of runs are at least {gap:g} apart" in curves.summary()
    assert "trust" not in curves.summary() + str(curves)
    assert curves.sentence() in curves.summary().replace("With", "with")


def test_a_gap_beyond_the_last_bin_can_be_repeatable(matrix_of):
    rng = np.random.default_rng(3)
    # Two equal systems and two far above them, on few questions with large spread: only the open bin is within 5%.
    values = rng.normal(0, 0.3, (4, 12)) + np.array([0, 0, 2.0, 2.0])[:, None]
    curves = sensitivity(matrix_of(values), intervals=0, bin_width="0.05")
    assert curves.bins[19].predicted_at_target is None or curves.bins[20].predicted_at_target <= 0.05
    assert curves.repeatable_difference is not None


def test_manual_runs_carry_a_star_in_groups_and_ranks():
    matrix = simulate_runs(np.linspace(0.2, 0.8, 5), 60)
    curves = sensitivity(replace(matrix, manual=frozenset({matrix.runs[0]})), intervals=0, fit=True)
    *_, groups_table, ranks_table = curves.tables()
    for shown in (groups_table, ranks_table):
        assert f"{matrix.runs[0]}*" in str(shown)
        assert "* manual run" in shown.notes
    assert matrix.runs[0] in [run for group in curves.as_json()["groups"] for run in group]


def test_rank_ranges_are_shown_and_cut():
    curves = sensitivity(simulate_runs(np.linspace(0.2, 0.8, 25), 60), intervals=0)
    shown = curves.tables()[3]
    assert shown.rows[0] == astuple(curves.findings.rank_ranges[0])
    assert len(shown.rows) == 20
    assert shown.notes == ("5 more runs: --json lists all of them.",)
    assert curves.table() == curves.tables()[0]


def test_a_floor_from_judging_noise_is_shown():
    curves = sensitivity(simulate_runs(np.linspace(0.2, 0.5, 10), 40), intervals=0, floor=0.043)
    assert curves.as_json()["floor"] == 0.043
    assert "0.043" in curves.summary()


def test_tables_mark_what_is_extrapolated(curves):
    expected, study, groups_table, _ = curves.tables()
    assert any(column.header.startswith("64 questions*") for column in study.columns)
    assert any("Extrapolated" in note for note in study.notes)
    assert any("82 to 91 of 100" in note for note in study.notes)
    for cell in (row[-1] for row in study.rows if row[-1] is not None):
        assert str(cell).endswith("*") == (int(str(cell).rstrip("*")) > 32)
    assert len(groups_table.rows) == len(curves.groups)
    assert [row[2] for row in expected.rows] == [curve.predicted_at_target for curve in curves.bins]
    assert sum(row[1] for row in expected.rows) == 190


@pytest.mark.parametrize(
    "fields",
    [
        {"preset": "trec2005"},
        {"ties": "drop"},
        {"intervals": -1},
        {"error": 0.0},
        {"error": 1.0},
        {"bin_width": 0.0},
        {"bin_width": float("nan")},
        {"bin_width": "wide"},
        {"sizes": [16]},
        {"trials": 0},
    ],
)
def test_wrong_calls_are_usage_errors(fields):
    with pytest.raises(UsageError):
        sensitivity(simulate_runs((0.3, 0.4), 30), **fields)


def test_too_few_units_are_an_input_error():
    with pytest.raises(InputError, match="9 questions are too few"):
        sensitivity(simulate_runs((0.3, 0.4), 9))


@pytest.mark.parametrize(
    ("name", "runs", "units", "least", "most"),
    [
        ("adhoc8_ap", 129, 50, 0.03, 0.07),
        ("robust2004_p10", 110, 249, 0.02, 0.06),
        ("trec2006_factoid_rr_strict", 139, 386, 0.02, 0.06),
    ],
)
def test_real_matrices(data, name, runs, units, least, most):
    matrix = read_matrix(data(f"score_matrices/{name}.csv"), missing="zero")
    assert (len(matrix.runs), len(matrix.units)) == (runs, units)
    curves = sensitivity(matrix, trials=30, intervals=0)
    minimum = curves.minimum_difference()
    assert least <= minimum.fit <= most
    assert least <= minimum.predicted <= most
    # Rates fall with the difference and, for a given difference, with the size.
    last = [curve.error_rate[-1] for curve in curves.bins[:10]]
    assert last == sorted(last, reverse=True)
    assert curves.bins[5].error_rate[-1] < curves.bins[5].error_rate[10]
    # Halves of one set are not independent, so that measured and expected rates are only near each other.
    for curve in curves.bins[2:10]:
        assert curve.predicted[-1] == pytest.approx(curve.error_rate[-1], abs=0.1)
