"""Agreement statistics against the papers, published examples, and the definitions spelled out."""

from __future__ import annotations

import csv
import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from qassay.errors import UsageError
from qassay.meta.agreement import Agreement, agreement, scheme_of
from qassay.meta.agreement.coefficients import cohen_kappa, coincidences, fleiss_kappa, krippendorff_alpha

ROWS = st.lists(st.tuples(*[st.sampled_from("WRUX")] * 3), min_size=1, max_size=25)

# Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), section C: 4 observers, 12 units, gaps.
EXAMPLE = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]


def columns(rows: Sequence[Sequence[str]], names: Sequence[str]) -> dict[str, list[str]]:
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def plain_cohen(rows: Sequence[Sequence[str]]) -> float | None:
    n = len(rows)
    observed = sum(a == b for a, b in rows) / n
    first, second = Counter(a for a, _ in rows), Counter(b for _, b in rows)
    expected = sum(first[label] * second[label] for label in first) / n**2
    return None if math.isclose(expected, 1) else (observed - expected) / (1 - expected)


def plain_fleiss(rows: Sequence[Sequence[str]]) -> float | None:
    n, k = len(rows), len(rows[0])
    each = [sum(c * (c - 1) for c in Counter(row).values()) / (k * (k - 1)) for row in rows]
    shares = [c / (n * k) for c in Counter(itertools.chain.from_iterable(rows)).values()]
    expected = sum(share**2 for share in shares)
    return None if math.isclose(expected, 1) else (sum(each) / n - expected) / (1 - expected)


def plain_alpha(
    units: Sequence[Sequence[float]], distance: Callable[[float, float], float] = lambda a, b: float(a != b)
) -> float | None:
    """1 - D_o / D_e over all pairs of values, within units and anywhere."""
    units = [unit for unit in units if len(unit) > 1]
    values = list(itertools.chain.from_iterable(units))
    n = len(values)
    observed = sum(sum(distance(a, b) for a, b in itertools.permutations(unit, 2)) / (len(unit) - 1) for unit in units)
    expected = sum(distance(a, b) for a, b in itertools.permutations(values, 2))
    return None if not expected else 1 - (n - 1) * observed / expected


def entailment_rows() -> list[tuple[str, str]]:
    """[RTE08] table 3 as pairs of labels; the order within a pair is fixed by the margins of table 2 but for one
    number, which changes no statistic."""
    free = 5
    cells = {
        ("YES", "YES"): 381,
        ("UNKNOWN", "UNKNOWN"): 217,
        ("NO", "NO"): 66,
        ("YES", "UNKNOWN"): 45 - free,
        ("UNKNOWN", "YES"): 37 + free,
        ("YES", "NO"): free,
        ("NO", "YES"): 11 - free,
        ("UNKNOWN", "NO"): 15 - free,
        ("NO", "UNKNOWN"): 28 + free,
    }
    return [cell for cell, count in cells.items() for _ in range(count)]


@pytest.fixture(scope="module")
def track2002(golden: dict[str, Any]) -> Agreement:
    """Label triples with the counts of [EVAL02] table 2; which unanimous label the rest has is not printed."""
    paper = golden["EVAL02"]
    rows = [pattern for pattern, count in paper["disagreements_table2"].items() for _ in range(count)]
    rows += ["RRR"] * (paper["not_all_wrong"] - paper["disagreements"])
    rows += ["WWW"] * (paper["pairs"] - paper["not_all_wrong"])
    # The paper's combinations are unordered, so each assessor may have any place in them.
    mixed = ["".join(np.random.default_rng(i).permutation(list(row))) for i, row in enumerate(rows)]
    return agreement(columns(mixed, ["first", "second", "third"]), resamples=200)


def test_the_disagreements_of_2002(track2002: Agreement, golden: dict[str, Any]) -> None:
    paper = golden["EVAL02"]
    document = track2002.as_json()
    assert document["patterns"] == paper["disagreements_table2"]
    assert list(track2002.patterns) == list(paper["disagreements_table2"])
    assert document["items"] == paper["pairs"] == 15948
    assert document["disagreements"] == paper["disagreements"] == 1886
    assert document["not_all_wrong"] == paper["not_all_wrong"] == 3725
    assert document["raw"] == pytest.approx(1 - 1886 / 15948, abs=1e-12)
    # After folding, combinations of W, U and X alone agree.
    right = sum(n for pattern, n in paper["disagreements_table2"].items() if "R" in pattern)
    assert document["folded"] == pytest.approx(1 - right / 15948, abs=1e-12)
    assert document["fold"] == {"X": "W", "U": "W"}


def test_the_tables_of_2002_read_like_the_papers(track2002: Agreement) -> None:
    items, statistics, combinations, *_ = track2002.tables()
    # [EVAL02] 3: 11.8% of all pairs, 50.6% of those that some assessor did not call wrong; 1886 and 3725 as counts.
    assert [row[2] for row in items.rows] == ["", "11.8%", "23.4%", "50.6%"]
    assert [row[0] for row in statistics.rows][-2:] == ["Fleiss' kappa", "Krippendorff's alpha"]
    assert ("RRX", 418, pytest.approx(100 * 418 / 1886)) in combinations.rows


def test_two_judges_of_entailment(golden: dict[str, Any]) -> None:
    paper = golden["RTE08"]
    result = agreement(columns(entailment_rows(), ["judge1", "judge2"]))
    pair = result.pairs[0]
    assert result.raw == pair.agreement == pytest.approx(paper["table3_pairs_of_judges"]["agreement"], abs=1e-12)
    assert pair.cohen_kappa == pytest.approx(paper["kappa_recomputed"]["cohen"], abs=5e-5)
    assert result.scott_pi == result.fleiss_kappa == pytest.approx(paper["kappa_recomputed"]["scott_pi"], abs=5e-5)
    assert result.krippendorff_alpha == pytest.approx(paper["kappa_recomputed"]["krippendorff_nominal"], abs=5e-5)
    assert result.disagreements == paper["disagreements"]
    assert result.patterns == {"YES/UNKNOWN": 82, "YES/NO": 11, "UNKNOWN/NO": 43}
    assert result.as_json()["not_all_wrong"] is None
    low, high = result.intervals["krippendorff_alpha"] or (0, 0)
    assert low < 0.7065 < high


def test_two_way_sets_are_compared_after_folding_only(golden: dict[str, Any]) -> None:
    # [RTE08] table 2: judge 1 against the two-way key.
    counts = golden["RTE08"]["table2_judges_vs_two_way"]["judge1"]
    rows = [
        (label, key)
        for key in ("YES", "NO")
        for label, count in zip(("YES", "UNKNOWN", "NO"), counts[key], strict=True)
        for _ in range(count)
    ]
    result = agreement(columns(rows, ["judge1", "main"]), two_way=["main"])
    assert result.raw is None
    assert result.folded == pytest.approx(counts["conflated"], abs=1e-12)
    assert result.pairs[0].agreement is None
    assert result.pairs[0].matrix == {
        "YES": {"YES": 378, "UNKNOWN": 0, "NO": 48},
        "UNKNOWN": {"YES": 27, "UNKNOWN": 0, "NO": 242},
        "NO": {"YES": 5, "UNKNOWN": 0, "NO": 100},
    }
    folded = [("YES" if label == "YES" else "NO", key) for label, key in rows]
    assert result.pairs[0].folded_kappa == pytest.approx(plain_cohen(folded), abs=1e-12)
    assert result.patterns == {"YES/NO": 48 + 27 + 5}
    assert "folding" in result.notes[0]


def test_a_two_way_set_leaves_the_statistics_of_the_others_alone() -> None:
    rows = entailment_rows()
    main = ["YES" if i % 2 else "NO" for i in range(len(rows))]
    alone = agreement(columns(rows, ["judge1", "judge2"]))
    beside = agreement(columns(rows, ["judge1", "judge2"]) | {"main": main}, two_way=["main"])
    for name in ("items", "disagreements", "patterns", "raw", "fleiss_kappa", "krippendorff_alpha"):
        assert getattr(beside, name) == getattr(alone, name)
    assert beside.folded is not None
    assert alone.folded is not None
    assert beside.folded < alone.folded
    assert [pair.agreement is None for pair in beside.pairs] == [False, True, True]


def test_two_annotators_of_real_answers(data: Callable[[str], Path], truth: dict[str, Any]) -> None:
    # Counted in the file: both annotators judged 1483 answers and differ on 195.
    with data("nq301/NQ301_human.tsv").open(encoding="utf-8", newline="") as file:
        read = [(row["id"], row["annotator1"], row["annotator2"]) for row in csv.DictReader(file, delimiter="\t")]
    rows = [row for row in read if all(row)]
    both = [row[1:] for row in rows]
    labels = columns(both, ["annotator1", "annotator2"])
    result = agreement(labels, questions=[row[0] for row in rows], resamples=20_000)
    assert (result.items, result.disagreements) == (1483, 195)
    assert result.pairs[0].cohen_kappa == pytest.approx(plain_cohen(both), abs=1e-12)
    known = truth["agree nq301, annotators 1 and 2, questions drawn"]
    assert (result.items, result.questions) == (known["items"], known["questions"])
    assert (result.raw, result.pairs[0].cohen_kappa) == pytest.approx((known["agreement"], known["kappa"]), abs=1e-6)
    assert result.intervals["raw"] == pytest.approx(known["agreement_interval"], abs=0.003)
    assert result.pairs[0].intervals["cohen_kappa"] == pytest.approx(known["kappa_interval"], abs=0.003)
    assert "Intervals: 95%, questions drawn again with all their answers." in result.table().notes
    assert result.fold == {}
    assert result.folded == result.raw


@given(ROWS)
@settings(max_examples=60)
def test_every_statistic_is_that_of_its_definition(rows: list[tuple[str, str, str]]) -> None:
    result = agreement(columns(rows, ["a", "b", "c"]), resamples=0)
    folded = [tuple("R" if label == "R" else "W" for label in row) for row in rows]
    assert result.raw == pytest.approx(sum(len(set(row)) == 1 for row in rows) / len(rows))
    assert result.folded == pytest.approx(sum(len(set(row)) == 1 for row in folded) / len(rows))
    assert result.fleiss_kappa == pytest.approx(plain_fleiss(rows), abs=1e-9)
    numbers = [["WRUX".index(label) for label in row] for row in rows]
    assert result.krippendorff_alpha == pytest.approx(plain_alpha(numbers), abs=1e-9)
    assert sum(result.patterns.values()) == result.disagreements
    assert result.not_all_wrong == sum(set(row) != {"W"} for row in rows)
    for pair, (i, j) in zip(result.pairs, [(0, 1), (0, 2), (1, 2)], strict=True):
        both = [(row[i], row[j]) for row in rows]
        assert pair.cohen_kappa == pytest.approx(plain_cohen(both), abs=1e-9)
        assert pair.folded_kappa == pytest.approx(plain_cohen([(row[i], row[j]) for row in folded]), abs=1e-9)
        assert pair.agreement == pytest.approx(sum(a == b for a, b in both) / len(both))
        assert sum(sum(row.values()) for row in pair.matrix.values()) == len(rows)


@given(ROWS, st.permutations(range(3)))
@settings(max_examples=30)
def test_the_order_of_items_and_sets_changes_nothing(rows: list[tuple[str, str, str]], order: list[int]) -> None:
    questions = [str(place // 2) for place in range(len(rows))]
    agreed = agreement(columns(rows, ["a", "b", "c"]), questions=questions, resamples=50)
    backwards = agreement(columns(rows[::-1], ["a", "b", "c"]), questions=questions[::-1], resamples=50)
    assert backwards == agreed
    turned = agreement(columns([[row[i] for i in order] for row in rows], ["a", "b", "c"]), resamples=0)
    assert turned.patterns == agreed.patterns
    assert turned.krippendorff_alpha == pytest.approx(agreed.krippendorff_alpha, abs=1e-9)


def test_krippendorffs_own_example() -> None:
    units = [[int(row[u]) for row in EXAMPLE if row[u] != "."] for u in range(12)]
    counts = np.array([[unit.count(value) for value in range(1, 6)] for unit in units], dtype=float)
    table = coincidences(counts).sum(axis=0)
    assert float(krippendorff_alpha(table)) == pytest.approx(0.743, abs=5e-4)
    assert float(krippendorff_alpha(table, "ordinal")) == pytest.approx(0.815, abs=5e-4)
    assert float(krippendorff_alpha(table, "interval")) == pytest.approx(0.849, abs=5e-4)
    assert float(krippendorff_alpha(table, "interval")) == pytest.approx(plain_alpha(units, lambda a, b: (a - b) ** 2))


def test_coefficients_of_small_tables() -> None:
    assert float(cohen_kappa(np.array([[20.0, 5.0], [10.0, 15.0]]))) == pytest.approx(0.4)
    # Perfect and perfectly opposite labels of two assessors.
    assert float(fleiss_kappa(coincidences(np.array([[2.0, 0.0], [0.0, 2.0]])).sum(axis=0))) == 1.0
    assert float(fleiss_kappa(coincidences(np.array([[1.0, 1.0], [1.0, 1.0]])).sum(axis=0))) == -1.0
    assert np.isnan(cohen_kappa(np.array([[7.0, 0.0], [0.0, 0.0]])))


def clustered(questions: int, each: int, seed: int) -> list[tuple[str, str, str]]:
    """Question and the labels of two people: each misreads one question in six, and then all answers to it."""
    rng = np.random.default_rng(seed)
    rows = []
    for question in range(questions):
        slips = np.where(rng.random(2) < 1 / 6, 0.6, 0.05)
        for right in rng.random(each) < 0.5:
            first, second = (bool(right) != slip for slip in rng.random(2) < slips)
            rows.append((f"q{question}", "R" if first else "W", "R" if second else "W"))
    return rows


def of_questions(rows: Sequence[tuple[str, str, str]], *, seed: int = 0, resamples: int = 1000) -> Agreement:
    labels = columns([row[1:] for row in rows], ["a", "b"])
    return agreement(labels, questions=[row[0] for row in rows], seed=seed, resamples=resamples)


def test_the_intervals_are_those_of_scipy_with_questions_drawn_one_by_one() -> None:
    rows = clustered(120, 8, 4)
    result = of_questions(rows, resamples=4000)
    by_question = [[row[1:] for row in rows if row[0] == f"q{question}"] for question in range(120)]
    for name, formula in (
        ("agreement", lambda drawn: sum(a == b for a, b in drawn) / len(drawn)),
        ("cohen_kappa", plain_cohen),
    ):

        def statistic(places: Any, formula: Any = formula) -> float:
            return float(formula([row for place in places for row in by_question[place]]))

        theirs = stats.bootstrap((np.arange(120),), statistic, vectorized=False, n_resamples=1500, rng=3)
        expected = theirs.confidence_interval
        assert result.pairs[0].intervals[name] == pytest.approx((expected.low, expected.high), abs=0.012)


def test_questions_with_one_item_each_are_items() -> None:
    labels = columns(entailment_rows(), ["a", "b"])
    assert agreement(labels, questions=[f"q{place}" for place in range(800)]) == agreement(labels)


def test_fewer_than_ten_questions_show_no_interval() -> None:
    result = of_questions(clustered(9, 40, 1))
    assert not any(result.intervals.values())
    assert not any(result.pairs[0].intervals.values())
    assert "9 questions are too few to show how agreement varies between questions." in result.notes
    assert result.questions == 9
    assert any(of_questions(clustered(10, 40, 1)).intervals.values())
    assert (
        "1 question is too few to show how agreement varies between questions."
        in of_questions(clustered(1, 40, 1)).notes
    )


def test_the_seed_decides_the_intervals() -> None:
    labels = columns(entailment_rows(), ["a", "b"])
    assert agreement(labels, seed=3) == agreement(labels, seed=3)
    assert agreement(labels, seed=3).intervals != agreement(labels, seed=4).intervals
    assert agreement(labels, resamples=0).intervals["raw"] is None


def test_constant_labels_have_no_agreement_beyond_chance() -> None:
    result = agreement({"a": ["R"] * 40, "b": ["R"] * 40})
    assert result.raw == 1.0
    assert result.fleiss_kappa is result.krippendorff_alpha is result.pairs[0].cohen_kappa is None
    assert "undefined" in result.notes[0]
    assert "7.5%" in result.notes[1]
    assert "–" in str(result.table())


def test_full_agreement_has_no_interval_of_no_width() -> None:
    labels = ["R", "W", "W"] * 10
    result = agreement({"a": labels, "b": labels})
    assert result.raw == result.krippendorff_alpha == 1.0
    assert not any(result.intervals.values())
    assert "No interval for full agreement: these questions do not show how often it is otherwise." in result.notes
    assert "1.000 to 1.000" not in str(result.table())
    # X and W differ, but not after folding X into W: full agreement there.
    folded = agreement({"a": ["X", "R", "W"] * 10, "b": ["W", "R", "W"] * 10})
    assert folded.folded == 1.0
    assert folded.intervals["folded"] is None
    assert folded.intervals["raw"] is not None


def test_labels_that_hardly_vary_have_no_interval() -> None:
    result = agreement({"a": ["R"] * 40, "b": ["R"] * 39 + ["W"]})
    assert result.krippendorff_alpha == 0.0
    assert result.intervals["krippendorff_alpha"] is None
    assert any("resample" in note for note in result.notes)


def test_nothing_in_common_is_reported_not_raised() -> None:
    result = agreement({"a": [], "b": []})
    assert result.items == 0
    assert result.raw is result.folded is result.krippendorff_alpha is None
    assert "nothing to compare" in result.notes[0]
    assert all(str(shown) for shown in result.tables())


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ({"a": ["R"]}, {}, "two judgment sets"),
        ({"a": ["R"], "b": ["R", "W"]}, {}, "different numbers"),
        ({"a": ["R"], "b": ["Q"]}, {"order": "WRUX"}, "set b: label 'Q'"),
        ({"a": ["R"], "b": [None]}, {}, "set b: an item has no label"),
        ({"a": ["R"], "b": ["W"]}, {"two_way": ["mian"]}, "unknown judgment set 'mian'"),
        ({"a": ["R"], "b": ["W"]}, {"fold": {"U": "wrong"}}, "unknown label to fold into 'wrong'"),
        ({"a": [str(i) for i in range(60)], "b": ["1"] * 60}, {}, "at most 50"),
    ],
)
def test_wrong_calls_say_what_is_wrong(labels: dict[str, list[str]], options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        agreement(labels, **options)


def test_own_folding_and_order() -> None:
    result = agreement(
        {"a": ["good", "fair", "bad"], "b": ["fair", "fair", "fair"]},
        order=["bad", "fair", "good"],
        fold={"fair": "good"},
    )
    assert result.patterns == {"bad/fair": 1, "fair/good": 1}
    assert result.folded == pytest.approx(2 / 3)
    assert scheme_of(["none", "full"]).ordinal
    assert scheme_of(["Yes", "No"]).order == ("No", "Yes")


def test_left_out_matrices_are_noted() -> None:
    labels = {"a": ["R", "W", "R"], "b": ["R", "X", "R"], "c": ["W", "W", "R"]}
    agreed = agreement(labels, resamples=0)
    assert len(agreed.tables()) == len(agreed.tables(matrices=False)) + 3
    assert agreed.tables(matrices=False)[-1].notes == (
        "The matrices of these 3 pairs are not shown: --json lists all of them.",
    )


def test_progress_and_pieces_leave_the_intervals_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    labels = {name: rng.choice(list("RWXU"), 60).tolist() for name in "abcd"}
    seen: list[tuple[int, int]] = []
    whole = agreement(labels, resamples=50, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]
    seen.clear()
    monkeypatch.setattr("qassay.meta.agreement.coefficients.CHUNK", 500)
    pieces = agreement(labels, resamples=50, progress=lambda done, total: seen.append((done, total)))
    assert pieces == whole
    assert [done for done, _ in seen] == list(range(1, len(seen) + 1))
    assert len(seen) == seen[0][1] > 2
