"""One question, one answer: what `score`, `sensitivity` and `plan` say about the same scores never contradicts.

*Repeatable* (a gap keeps its sign with as many new questions) and *significant* (chance alone does not explain a
difference) are two questions. Each output names the one it answers, and all statements about one of them agree.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import qassay
from qassay import figures
from qassay.arrays import Floats
from qassay.cli import main
from qassay.cli.gate import gate_line
from qassay.demo import demo_folder
from qassay.display import as_sentence
from qassay.errors import QassayError, UsageError
from qassay.formats.matrix import read_matrix
from qassay.matrix import Repeats, ScoreMatrix
from qassay.meta.blocks import blocks
from qassay.meta.one_pair import decide_blocks
from qassay.meta.right_or_wrong import mid_p
from qassay.meta.sensitivity.reading import place_among, rank_ranges
from qassay.meta.significance import AllPairs, Method, PairComparison, compare, compare_all
from qassay.meta.simulate import simulate_runs
from qassay.reports import answers
from qassay.studies.one_question import one_question
from qassay.studies.reporting import of_matrix
from qassay.tables import at_least

GAP = re.compile(r"With ([\d,]+) new (\w+), a gap of about (\S+) or more keeps its sign in 95 of 100 repetitions, if ")
OPEN = re.compile(
    r"With ([\d,]+) new (\w+), gaps of about (\S+) or more, taken together, keep their sign in 95 of 100 repetitions, "
    r"if new \w+ are like these\. Gaps just above \3 may do so less often: wider bins, such as (\S+) \(--bin-width\), "
)
NONE = re.compile(
    r"(These \w+ do not separate any two of these systems|These systems lie too close together|Most gaps)\b"
)
NUMBER = re.compile(
    r"About ([\d,]+) (\w+) find a true difference of (\S+) in 8 of 10 evaluations\. Four of five pilots "
)
BESIDE_0 = {"just above 0": 1e-9, "just below 0": -1e-9}
LIMITS = re.compile(r" of \S+ - \S+, (just above 0|\S+) to (just below 0|\S+), ")


def random_matrices() -> list[ScoreMatrix]:
    matrices = []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        runs, units = int(rng.integers(2, 25)), int(rng.integers(12, 120))
        low, high = sorted(rng.uniform(0.1, 0.48, 2))
        kind = ("binary", "normal", "zero-inflated")[seed % 3]
        matrix = simulate_runs(np.linspace(low, high, runs), units, scores=kind, seed=seed)  # type: ignore[arg-type]
        scale = (1.0, 5.0, 100.0)[seed % 4 % 3]
        exact = {"denominator": None} if scale != 1.0 else {}
        matrices.append(replace(matrix, values=matrix.values * scale, unit_name=("question", "questions"), **exact))
    return matrices


def check(matrix: ScoreMatrix) -> None:
    """Every statement about repeatable gaps, and every one about significance, against each other and the numbers."""
    curves, planned = qassay.sensitivity(matrix, intervals=0, trials=2), qassay.plan(matrix, details=True)
    tested = compare_all(matrix, permutations=2000)
    repeatable_gaps_agree(matrix, curves, planned)
    planned_number_agrees(matrix, planned)
    groups_follow_their_own_question(curves, tested)
    printed = " ".join([curves.summary(), *map(str, curves.tables()), planned.summary(), *map(str, planned.tables())])
    assert "trust" not in printed
    # Each word stands for one question: no sentence of sensitivity calls a gap significant.
    assert "significant" not in curves.summary()


def repeatable_gaps_agree(matrix: ScoreMatrix, curves: qassay.SensitivityCurves, planned: qassay.Plan) -> None:
    units = len(matrix.units)
    (now,) = {row.repeatable for row in planned.shows if row.units == units} or {None}
    if len(matrix.runs) == 2:
        assert "cannot show which gaps are repeatable" in curves.summary()
        assert curves.repeatable_difference is None
        assert now is None
        return
    answer = next(filter(None, (form.match(curves.summary()) for form in (GAP, OPEN, NONE))), None)
    assert answer, curves.summary()
    assert answer.re is NONE or answer[1].replace(",", "") == str(units)
    gap = None if answer.re is NONE else float(answer[3])
    # Gaps of one size alone: the bin of the gap in the sentence is no mixture of small and large ones.
    below = curves.bins[-2].predicted_at_target
    is_mixture = gap == curves.limits[-1] and below is not None and below > 0.05
    assert is_mixture == (answer.re is OPEN)
    plan_notes = " ".join(note for shown in planned.tables() for note in shown.notes)
    assert not is_mixture or "all gaps from there on, taken together" in plan_notes
    assert gap == pytest.approx(curves.repeatable_difference)
    assert now == pytest.approx(gap)
    if gap is None:
        # No words about a gap anywhere: no rates, no sizes, and the plan says why.
        assert not any(shown.title.startswith("How often a comparison is wrong") for shown in curves.tables())
        assert curves.withheld is not None
        assert curves.withheld == "bins" or as_sentence(curves.sentence()) in plan_notes
        return
    # The number of pairs is that of the gap in the sentence.
    apart = int((curves.moments.means >= gap - 1e-9).sum())
    assert f"{apart:,} of the {curves.pairs:,} pair" in curves.summary()
    # Every bin from the gap on is within 5%, and the units needed there are no more than there are.
    needed = {float(limit): sizes.predicted for limit, sizes in curves.size_needed().items()}
    for curve in curves.bins[1:]:
        if curve.low >= gap - 1e-9 and curve.predicted_at_target is not None:
            assert curve.predicted_at_target <= 0.05
            if curve.low in needed:
                assert needed[curve.low] is not None
                assert needed[curve.low] <= units  # type: ignore[operator]


def planned_number_agrees(matrix: ScoreMatrix, planned: qassay.Plan) -> None:
    answer, best = NUMBER.match(planned.summary()), planned.recommendation
    assert answer, planned.summary()
    assert best is not None
    number, difference, at_hand = int(answer[1].replace(",", "")), float(answer[3]), len(matrix.units)
    (row,) = (row for row in planned.differences if row.difference == best.difference)
    assert difference == pytest.approx(best.difference)
    assert row.power is not None
    assert row.power == number
    smallest = float(re.findall(r"show differences of (\S+) or more", planned.summary())[0])
    # More questions than there are: the difference is smaller than what these show. And the other way round.
    assert (row.power > at_hand) == (difference < smallest) or row.power == pytest.approx(at_hand, abs=1)
    detected = [shown.detectable for shown in planned.shows if shown.detectable is not None]
    assert detected == sorted(detected, reverse=True)


def groups_follow_their_own_question(curves: qassay.SensitivityCurves, tested: AllPairs) -> None:
    """Groups are shared exactly by the pairs that the test does not separate, whatever gap is repeatable."""
    for i, first in enumerate(tested.runs):
        for j, second in enumerate(tested.runs[:i]):
            together = any({first, second} <= set(group) for group in tested.groups)
            assert together != bool(tested.is_different[i, j])
    for shown in curves.tables():
        if shown.title.startswith("Groups of runs"):
            assert "not the groups of `qassay score`" in " ".join(shown.notes)


@pytest.mark.parametrize("number", range(24))
def test_random_matrices_are_not_contradicted(number: int) -> None:
    check(random_matrices()[number])


@pytest.mark.parametrize("name", ["nq301/matrix", "score_matrices/adhoc8_ap", "score_matrices/robust2004_p10"])
def test_real_matrices_are_not_contradicted(data: Callable[[str], Path], name: str) -> None:
    matrix = read_matrix(data(f"{name}.csv"), missing="zero")
    check(matrix.select(matrix.runs[:30]))


def test_the_built_in_evaluation_says_which_question_each_number_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(demo_folder())]) == 0
    board = " ".join(capsys.readouterr().out.split())
    assert "in the same group (a shared letter) do not differ significantly: chance alone could explain it" in board
    assert "(repeatable) is another question" in board
    assert main(["demo"]) == 0
    story = " ".join(capsys.readouterr().out.split())
    first, last = story.index("differ significantly"), story.index("keeps its sign in 95 of 100 repetitions")
    assert first < last
    assert "both are right" in story
    check(qassay.open(demo_folder()).score().matrix)


def test_the_gap_of_the_open_bin_is_not_that_of_its_smallest_gaps() -> None:
    """Runs far apart, and two close to each other: a gap of 0.2 is wrong in a quarter of cases, one of 0.5 never."""
    values = np.vstack([np.full(20, 1.0), np.full(20, 0.5), np.tile([0.1, 0.9, 0.3, 0.5, 0.55], 4), np.zeros(20)])
    matrix = ScoreMatrix(tuple("DABC"), tuple(map(str, range(20))), values, unit_name=("question", "questions"))
    curves = qassay.sensitivity(matrix, intervals=0, trials=1)
    assert curves.repeatable_difference == 0.2
    assert curves.bins[-2].predicted_at_target is not None
    assert curves.bins[-2].predicted_at_target > 0.2
    check(matrix)
    assert "gaps of about 0.2 or more, taken together, keep their sign" in curves.summary()
    finer = qassay.sensitivity(matrix, intervals=0, trials=1, bin_width=0.04)
    assert finer.repeatable_difference is not None
    assert finer.repeatable_difference > 0.2
    assert GAP.match(finer.summary())
    material = of_matrix(matrix, name="x")
    assert "taken together" in " ".join(answers.repeatable(material))
    assert ("about 0.2", "all gaps from here on, taken together") in {
        (f.value, f.meaning) for f in answers.facts(material)
    }


def test_no_number_of_questions_is_below_those_a_test_needs() -> None:
    """On five questions no difference is significant, so five are never enough to find one."""
    rng = np.random.default_rng(0)
    names = tuple(map(str, range(30)))
    values = np.clip(np.stack([np.full(30, 0.9), np.full(30, 0.1)]) + rng.normal(0, 0.01, (2, 30)), 0, 1)
    matrix = ScoreMatrix(("a", "b"), names, values, unit_name=("question", "questions"))
    assert compare(matrix, "a", "b").units_needed == 6
    assert compare(matrix, "a", "b", alpha=0.01).units_needed == 8
    planned = qassay.plan(matrix, details=True)
    assert min(row.power for row in planned.differences if row.power is not None) >= 6
    four = qassay.plan(replace(matrix, units=names[:16], values=values[:, :16]))
    assert four.shows[0].units == 4
    assert four.shows[0].detectable is None
    assert four.shown_table().cells()[0][1] == "none"
    assert "none: with fewer than 6 questions, chance alone could explain any difference." in four.shown_table().notes


def test_systems_that_never_vary_need_no_made_up_number_of_questions() -> None:
    scores = tuple(np.full((8, 2), score) for score in (0.7, 0.5))
    means = np.stack([score.mean(axis=1) for score in scores])
    matrix = ScoreMatrix(("a", "b"), tuple(map(str, range(8))), means, repeats=Repeats(scores))
    assert compare(matrix, "a", "b").units_needed is None
    assert qassay.plan(matrix).recommendation is None


def test_there_is_no_plan_from_hardly_any_questions() -> None:
    values = np.array([[0.5, 0.7], [0.2, 0.9]])
    few = qassay.plan(ScoreMatrix(("a", "b"), ("q1", "q2"), values, unit_name=("question", "questions")))
    assert few.summary().startswith("No number of questions can be given: 2 runs on 2 questions do not show how ")


def few_scores(seed: int) -> ScoreMatrix:
    """A small table: right or wrong, shares, ratings from 1 to 5, negative scores, percentages, ties, repeats."""
    rng = np.random.default_rng(seed)
    runs, units = int(rng.integers(2, 6)), int(rng.choice([2, 3, 5, 6, 7, 8, 10, 12, 20, 40]))
    means = np.clip(rng.uniform(0.2, 0.8, (runs, 1)) + rng.normal(0, 0.2, units), 0.02, 0.98)

    def drawn() -> Floats:
        noise = rng.normal(0, 0.2, (runs, units))
        kinds: list[Floats] = [
            (rng.random((runs, units)) < means).astype(float),
            np.round(np.clip(means + noise, 0, 1), 2),
            np.clip(np.round(1 + 4 * (means + noise)), 1, 5),
            np.round(2 * (means + noise) - 1, 2),
            np.round(100 * np.clip(means + noise, 0, 1)),
            np.round(2 * means) / 2 * (rng.random((runs, units)) < 0.5),
        ]
        return kinds[seed % 6]

    values, repeats = drawn(), None
    if seed % 4 == 0:
        shifts = rng.normal(0, rng.choice([0.0, 0.1]), (runs, 3))
        drawings = np.stack([drawn() + shifts[:, [repeat]] for repeat in range(3)], axis=2)
        values, repeats = drawings.mean(axis=2), Repeats(tuple(drawings))
    elif seed % 13 == 0:
        values[:] = values[:, :1]
    elif seed % 11 == 0:
        values[1] = values[0]
    tags, names = tuple("ABCDE"[:runs]), tuple(f"q{i}" for i in range(units))
    return ScoreMatrix(tags, names, values, unit_name=("question", "questions"), repeats=repeats)


def pair_agrees(matrix: ScoreMatrix, result: PairComparison) -> None:
    """Verdict, interval, p-value, questions needed and the words about a reversal are one answer."""
    is_clear, units = result.verdict != "cannot tell", len(matrix.units)
    assert is_clear == (result.p <= result.alpha)
    if result.interval is not None:
        assert is_clear == (result.interval[0] > 0 or result.interval[1] < 0)
        assert result.interval[0] - 1e-9 <= result.difference <= result.interval[1] + 1e-9
        # No few units show that a difference is exactly this, and no interval leaves the scale.
        assert result.interval[0] < result.interval[1]
        assert matrix.bounds is None or max(map(abs, result.interval)) <= matrix.span + 1e-9
        for margin in (0.0, 0.01, matrix.span):
            decided = result.gate(margin)
            shown = LIMITS.search(gate_line(result, decided, margin))
            assert shown is not None
            low, high = (BESIDE_0.get(text) or float(text) for text in shown.groups())
            line = float(gate_line(result, decided, margin).rsplit(" ", 1)[1])
            assert line == pytest.approx(-margin, rel=1e-5)
            assert (decided == "ALLOW") == (low > line)
            assert (decided == "REJECT") == (high < line)
            assert (high < 0) == (result.interval[1] < 0)
    if result.units_needed is not None and result.found_with is not None and abs(result.units_needed - units) > 1:
        assert (result.units_needed > units) == (result.wanted_difference < result.found_with)
    # A chance of a reversal below one half is said exactly where there is a verdict.
    assert (result.reversal is not None) == is_clear
    shown = str(result.table())
    if abs(result.difference) < 1e-9:
        assert "put A ahead" not in shown
    assert ("does not explain" in shown) == is_clear


@pytest.mark.parametrize("seed", [*range(60), 488, 504])
def test_small_tables_are_not_contradicted(seed: int) -> None:
    matrix = few_scores(seed)
    units = len(matrix.units)
    for number, run in enumerate(matrix.runs):
        for other in matrix.runs[:number]:
            pair_agrees(matrix, compare(matrix, run, other, permutations=2000))
    tested = compare_all(matrix, permutations=2000)
    if tested.margin is not None:
        line = at_least(tested.margin)
        assert all(pair.different for pair in tested.pairs() if round(pair.difference, 4) > line)
    planned = qassay.plan(matrix, details=True)
    plan_agrees(matrix, planned)
    in_words = " ".join(answers.answer(of_matrix(matrix, name="x")))
    needed = re.findall(r"A test of ([\d,]+) questions would find .* this one has ([\d,]+)", in_words)
    assert all(int(more.replace(",", "")) > int(now.replace(",", "")) == units for more, now in needed)
    try:
        curves = qassay.sensitivity(matrix, intervals=0, trials=1)
    except QassayError:
        # Where sensitivity has no answer, plan gives none in its place.
        assert units < 10
        assert not any(row.repeatable for row in planned.shows)
        return
    if len(matrix.runs) > 2:
        assert curves.sentence()[1:] in in_words
    assert "-0.000" not in in_words


def plan_agrees(matrix: ScoreMatrix, planned: qassay.Plan) -> None:
    """The sentence, the table by numbers of questions and the one by differences are one answer."""
    units, best = len(matrix.units), planned.recommendation
    if best is None:
        assert re.match(r"No number of questions can be given: .", planned.summary())
        return
    (now,) = (row for row in planned.shows if row.units == units)
    answer = re.search(r"show differences of (\S+) or more", planned.summary())
    (line,) = (cells for cells in planned.shown_table().cells() if "(now)" in cells[0])
    assert answer is None or line[1] == answer[1]
    assert answer is not None or line[1] == "none"
    (row,) = (row for row in planned.differences if row.difference == best.difference)
    assert row.power == best.units
    if now.detectable is None:
        # Too few for any test; compare says so of each pair.
        assert units < 6
        assert "no difference at all" in planned.summary()
        assert row.power is None or row.power >= 6
        return
    if best.units is not None and abs(best.units - units) > 1:
        assert (best.units > units) == (best.difference < now.detectable)
        assert row.power_now is not None
        assert (row.power_now < planned.wanted.power) == (best.units > units)
    gaps = [row.repeatable for row in planned.shows if row.repeatable is not None]
    assert gaps == sorted(gaps, reverse=True)


def test_describe_counts_the_questions_on_which_most_runs_score_0() -> None:
    def summary(values: list[list[float]]) -> str:
        questions = tuple(f"q{i}" for i in range(len(values[0])))
        return qassay.describe(
            ScoreMatrix(tuple("ABCD"[: len(values)]), questions, np.array(values), unit_name=("question", "questions"))
        ).sentence()

    # Half of four runs score 0 on q0, three of them on q1.
    assert summary([[0, 0, 1], [0, 0, 1], [0.5, 0, 1], [0.5, 1, 1]]) == (
        "the hardest questions are q0 and q1 (mean 0.250), the easiest q2 (mean 1.000); "
        "more than half of the 4 runs score 0 on 1 of 3 questions"
    )
    assert summary([[1, 0, 0, 0, 0, 0.5]] * 3).startswith(
        "the hardest are 4 questions with mean 0.000, the easiest question is q0 (mean 1.000)"
    )
    assert summary([[0, 1], [0.5, 1]]).endswith("; there is no question on which both runs score 0")
    assert summary([[0, 1], [0, 0]]).endswith("both runs score 0 on 1 of 2 questions")
    assert summary([[0, 1]]).endswith("the run scores 0 on 1 of 2 questions")
    # The middle of -1 and 1 is 0, and neither of the runs scores that.
    assert summary([[-1, 1], [1, -1]]) == "the median score of the 2 runs is 0 on 2 of 2 questions"


def test_running_again_is_in_every_number_about_two_systems() -> None:
    """Questions alone separate these systems; what a repeat shifts on all of them explains the difference."""
    rng = np.random.default_rng(0)
    shifts = np.array([[0.3, -0.3, 0.1], [-0.2, 0.2, -0.1]])
    values = tuple(
        0.5 + shift + rng.normal(0, 0.05, (60, 3)) + gain for shift, gain in zip(shifts, (0.05, 0), strict=True)
    )
    means = np.stack([scores.mean(axis=1) for scores in values])
    names = tuple(f"q{i}" for i in range(60))
    matrix = ScoreMatrix(("new", "old"), names, means, unit_name=("question", "questions"), repeats=Repeats(values))
    result = compare(matrix, "new", "old")
    assert decide_blocks(blocks(matrix)).p < 0.001
    assert result.verdict == "cannot tell"
    assert result.units_needed is None
    assert result.reversal is None
    shown = str(result.table())
    assert "50% or more cannot be ruled out" in shown
    assert "run the systems more often" in shown
    planned = qassay.plan(matrix)
    assert planned.sentence().startswith("no number of questions with 3 repeats each finds a true difference of 0.15 ")
    assert all(row.power is None and (row.power_now or 0) < 0.3 for row in planned.differences)


def test_the_repeatable_gap_names_what_running_again_does() -> None:
    matrix = next(
        matrix for seed in range(0, 200, 4) if len((matrix := few_scores(seed)).runs) > 2 and len(matrix.units) > 20
    )
    curves = qassay.sensitivity(matrix, intervals=0, trials=1)
    assert matrix.repeats is not None
    largest = max(spread for spread in matrix.repeats.spread() if spread is not None)
    floor = f"running a system again moves its score by up to {largest:.3f}"
    assert (floor in curves.summary()) == (curves.repeatable_difference is not None)
    assert (floor in " ".join(answers.repeatable(of_matrix(matrix, name="x")))) == (floor in curves.summary())


def test_shared_places_are_written_with_an_equals_sign() -> None:
    """Ranks of 1.5 stay in JSON; people read 1=."""
    values = np.array([[1, 1, 0, 1] * 15, [1, 1, 0, 1] * 15, [1, 0, 0, 0] * 15, [0, 0, 0, 0] * 15], dtype=np.float64)
    matrix = ScoreMatrix(("a", "b", "c", "d"), tuple(map(str, range(60))), values, denominator=1)
    ranges, scores = rank_ranges(matrix.runs, matrix.scores(), 0.1), matrix.scores()
    assert [place_among(scores, row.score, row.score) for row in ranges] == ["1=", "1=", 3, 4]
    assert [row.rank for row in ranges] == [1.5, 1.5, 3.0, 4.0]
    reused = qassay.reuse(qassay.open(demo_folder()), component="factoid")
    shown, numbers = reused.table(), reused.to_polars()
    assert [row[6] for row in shown.rows][:5] == [1, "2=", "2=", "2=", 5]
    assert numbers["rank"].to_list()[:5] == [1.0, 3.0, 3.0, 3.0, 5.0]
    assert [row["rank"] for row in reused.as_json()["runs"]] == numbers["rank"].to_list()


def test_scores_and_differences_have_three_decimals_and_no_difference_looks_like_none() -> None:
    values = np.zeros((2, 4000))
    values[0, :5], values[1, 5] = 1.0, 1.0
    matrix = ScoreMatrix(("a", "b"), tuple(map(str, range(4000))), values, denominator=1)
    result = compare(matrix, "a", "b")
    answer, _, questions = result.tables()
    assert {row[0]: row[1] for row in answer.rows}["a − b"] == "+0.001"
    assert [column.spec for column in questions.columns[1:]] == ["g", "g", "+.4f"]
    graded = compare(
        replace(matrix, values=values[:, :20] * 0.7321, units=matrix.units[:20], denominator=None), "a", "b"
    )
    assert [column.spec for column in graded.deciding_table().columns[1:]] == [".3f", ".3f", "+.3f"]


@pytest.mark.parametrize("method", [None, "holm", "bh"])
@pytest.mark.parametrize(("ahead", "behind", "level"), [(6, 0, 4), (5, 0, 5), (60, 40, 900), (200, 162, 10), (0, 0, 9)])
def test_two_right_or_wrong_runs_have_one_p_value_however_they_are_asked_about(
    ahead: int, behind: int, level: int, method: Method | None
) -> None:
    """All of them are the sign test: a drawn p-value could lie on the other side of the level."""
    values = np.array([[1] * ahead + [0] * behind + [1] * level, [0] * ahead + [1] * behind + [1] * level])
    matrix = ScoreMatrix(("a", "b"), tuple(map(str, range(values.shape[1]))), values.astype(float), denominator=1)
    alone, among = compare(matrix, "a", "b"), compare_all(matrix, method=method)
    assert (alone.p, alone.test) == (mid_p(ahead, behind, ahead + behind + level), "mid-p")
    assert among.p_adjusted[0, 1] == among.p[0, 1] == alone.p
    assert bool(among.is_different[0, 1]) == (alone.verdict != "cannot tell")
    if among.margin is not None:
        assert (alone.difference >= among.margin - 1e-9) == bool(among.is_different[0, 1])


def test_three_right_or_wrong_runs_have_the_p_values_of_their_pairs_that_are_corrected() -> None:
    matrix = simulate_runs(np.array([0.3, 0.5, 0.6]), 80, scores="binary", seed=3)
    result = compare_all(matrix, method="holm")
    for pair in result.pairs():
        assert pair.p == compare(matrix, pair.a, pair.b).p


def test_decimals_of_fractions_are_ties_where_the_fractions_are() -> None:
    """8/9, 2/3, 1/6, 1/12 and 1/2 with twelve decimals: 20 of the 32 sets of signs reach the difference."""
    differences = np.array([-8 / 9, -2 / 3, 1 / 12, 1 / 6, 1 / 2, 0.0, 0.0])
    decimals = np.round(np.stack([np.maximum(differences, 0), np.maximum(-differences, 0)]), 12)
    names = tuple(map(str, range(7)))
    exact = compare(ScoreMatrix(("a", "b"), names, decimals, denominator=10**12), "a", "b")
    assert exact.p == compare(ScoreMatrix(("a", "b"), names, decimals), "a", "b").p == 20 / 32


def test_one_of_several_is_singular() -> None:
    values = np.zeros((3, 40))
    values[0], values[1, :20], values[2, 19:39] = 1.0, 1.0, 1.0
    tags = ("a", "b", "c")
    matrix = ScoreMatrix(tags, tuple(map(str, range(40))), values, denominator=1)
    result = compare_all(matrix.select(tags[:2]), permutations=500)
    assert "the only pair of runs differs significantly" in result.sentence()
    different = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=bool)
    some = replace(compare_all(matrix, permutations=500), is_different=different)
    assert "; 1 of 3 pairs of runs differs significantly" in some.sentence()
    assert "1 of 3 pairs of runs differs significantly." in answers.significance(
        replace(of_matrix(matrix, name="x"), pairs=some)
    )
    spread = simulate_runs(np.array([0.1, 0.4, 0.7]), 200, scores="normal", seed=1)
    curves = qassay.sensitivity(spread, intervals=0, trials=1)
    scores = np.array([0.0, 0.0, 1.0])
    one = replace(curves, moments=replace(curves.moments, means=scores), error=0.4)
    assert one.repeatable_difference is not None
    assert "1 of the 3 pairs of runs is at least " in one.summary()
    runs = tuple(f"r{i}" for i in range(7))
    seven = ScoreMatrix(runs, tuple(map(str, range(12))), np.random.default_rng(0).random((7, 12)))
    assert "1 more pair: --json" in " ".join(compare_all(seven, permutations=200).pair_table().notes)


@pytest.mark.parametrize("units", [1, 3])
def test_too_few_units_are_counted_and_have_no_interval_to_speak_of(units: int) -> None:
    values = np.array([[0.75], [0.5]]) * np.ones(units)
    remarks = " ".join(compare(ScoreMatrix(("a", "b"), tuple("xyz")[:units], values), "a", "b").remarks)
    assert f"With {units} question{'s' * (units != 1)} no test reaches 0.05" in remarks
    assert "point" not in remarks


def test_no_line_between_runs_lies_outside_the_scores() -> None:
    values = np.array([[0.4, 1.0], [0.5, 0.0], [0.3, 0.2]])
    tested = compare_all(ScoreMatrix(("a", "b", "c"), ("1", "2"), values), method="tukey")
    assert tested.margin is None
    assert "significant." not in " ".join(tested.table().notes)
    assert any("no pair can be called different" in note for note in tested.notes)


def with_manual_runs(folder: Path, *manual: str) -> Path:
    """The built-in evaluation, where people had a hand in these runs."""
    shutil.copytree(demo_folder(), folder)
    path = folder / "runs.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({**row, "manual": row["run"] in manual}) + "\n" for row in rows))
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ["score"],
        ["compare"],
        ["compare", "hobby", "jay", "--details"],
        ["stability"],
        ["describe"],
        ["describe", "--question", "1.1"],
        ["reuse"],
        ["trust", "--assessor", "first"],
    ],
    ids=" ".join,
)
def test_manual_runs_have_their_star_in_every_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    folder = with_manual_runs(tmp_path / "demo", "hobby", "jay")
    out = run_command(capsys, command[0], folder, *command[1:])
    assert "hobby*" in out
    assert "* manual run" in out
    # The rows and columns of a run; sentences have the bare tag.
    assert not re.search(r"^ *(?:\d+=? +)?(?:hobby|jay) {2,}", out, re.MULTILINE)


def test_the_best_of_a_question_are_all_that_share_its_best_score() -> None:
    asked = one_question(qassay.open(demo_folder()), "1.1")
    best = [response.run for response in asked.responses if response.score == 1.0]
    assert len(best) > 1
    for run in best[:3]:
        assert run in asked.sentence().split("best: ")[1]
    matrix = ScoreMatrix(("a", "b", "c"), ("1", "2"), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    assert matrix.sentence().endswith("the best are a and b with 0.500")


def run_command(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 0) -> str:
    assert main([str(argument) for argument in arguments]) == status
    return capsys.readouterr().out


def test_tied_systems_share_a_place_in_compare() -> None:
    values = np.array([[1, 1, 0, 0] * 5, [0, 0, 1, 1] * 5, [0, 0, 0, 1] * 5], dtype=np.float64)
    matrix = ScoreMatrix(("a", "b", "c"), tuple(map(str, range(20))), values, denominator=1)
    result = compare_all(matrix, permutations=500)
    assert [row[0] for row in result.table().rows] == ["1=", "1=", 3]
    assert "no pair of runs differs significantly" in result.sentence()


def test_too_few_questions_have_no_number_beside_the_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "three.csv"
    path.write_text("topic,a,b\n1,1,0\n2,1,1\n3,0,0\n")
    (needed,) = (line for line in run_command(capsys, "compare", path).splitlines() if line.startswith("topics for"))
    assert " ".join(needed.split()) == "topics for 0.05 – too few topics to tell; you have 3"


@pytest.mark.parametrize("rows", ["id,a\n1,1\n2,0\n", "id,a,b\n1,1,1\n2,0,0\n3,1,1\n"], ids=["one system", "equal"])
def test_a_plan_without_a_number_says_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: str
) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(rows)
    out = run_command(capsys, "plan", path)
    assert "No number of questions can be given: " in out
    assert "Give the scores of two systems or more that differ" in out
    assert "–" not in out, "no table of dashes"


@pytest.mark.parametrize(
    ("command", "terms"),
    [
        (["compare", "DEMO", "hobby", "ibis"], ["p: how often chance", "interval: where"]),
        (["compare", "DEMO", "--details"], ["p adjusted: how often chance", "The intervals hold together"]),
        (["score", "DEMO"], ["Intervals: where the true score may lie, by bootstrap (BCa)"]),
        (["agree", "DEMO", "--resamples", "10"], ["kappa, pi and alpha: agreement beyond"]),
        (["stability", "DEMO"], ["tau (Kendall): 1 where", "Swaps are pairs"]),
        (["describe", "DEMO"], ["Half of the runs score between q1 and q3"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_terms_are_explained_where_they_are_met(
    capsys: pytest.CaptureFixture[str], command: list[str], terms: list[str]
) -> None:
    out = " ".join(run_command(capsys, *(demo_folder() if word == "DEMO" else word for word in command)).split())
    for term in terms:
        assert term in out


def test_score_names_all_that_share_the_first_place_and_calls_an_only_run_so() -> None:
    scores = qassay.open(demo_folder()).score()
    best, second, *others = scores.runs
    alone = replace(scores, runs=(best,))
    assert (
        alone.sentence() == "hobby is the only run and scores 0.541 (series_score), 16 series, judgments: adjudicated"
    )
    tied = replace(scores, runs=(best, replace(second, score=best.score), *others))
    assert tied.sentence().startswith("hobby and egret share first place with 0.541 (series_score), 10 runs, 16 series")
    assert scores.sentence().startswith("hobby scores best with 0.541 (series_score), 10 runs, ")


def test_runs_that_are_alike_have_no_curve_and_no_negative_scores() -> None:
    matrix = ScoreMatrix(("a", "b", "c"), tuple(f"q{i}" for i in range(12)), np.zeros((3, 12)), measure="accuracy")
    curves = qassay.sensitivity(matrix)
    assert "there is no gap between them" in curves.sentence()
    assert curves.tables() == ()
    for draw in (figures.error_rate_by_difference, figures.error_curves):
        with pytest.raises(UsageError, match="to draw"):
            draw(curves)
    pair = qassay.compare(matrix, "a", "b")
    assert not any("make the difference" in shown.title for shown in pair.tables())
    assert figures.scores_by_unit(matrix).caption.endswith("every score is 0.")


def test_the_runs_are_furthest_apart_where_the_best_and_the_worst_are() -> None:
    values = np.array([[1.0, 0.9, 0.5], [0.0, 0.8, 0.5], [0.5, 0.1, 0.5], [0.5, 0.1, 0.5], [0.5, 0.5, 0.5]])
    matrix = ScoreMatrix(tuple("abcde"), ("q1", "q2", "q3"), values, measure="accuracy")
    (where,) = (part for part in qassay.report(matrix).sections if part.name == "where")
    assert "The best and the worst run are furthest apart on q1 (1.000)." in " ".join(where.answer)
