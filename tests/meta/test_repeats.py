"""Repeats: mean squares, variance of a mean, differences, and how often intervals contain the truth. (METHOD 6)"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from qassay.arrays import Floats
from qassay.errors import UsageError
from qassay.matrix import Repeats, ScoreMatrix
from qassay.meta.blocks import blocks
from qassay.meta.intervals import score_intervals
from qassay.meta.one_pair import decide_blocks
from qassay.meta.repeats import difference_uncertainty, mean_squares, mean_uncertainty, pair_p_values
from qassay.meta.significance import compare, compare_all


def scores(rng: np.random.Generator, questions: int, repeats: int, *, shift: float = 0.05) -> Floats:
    """Scores with a spread of questions, a shift of each repeat, and noise of each answer."""
    by_question = rng.normal(0.5, 0.3, (questions, 1))
    return np.asarray(by_question + rng.normal(0, shift, (1, repeats)) + rng.normal(0, 0.3, (questions, repeats)))


def least_squares(table: Floats) -> tuple[float, float, float]:
    """MSq, MSr and MSe of a two-way table by regressions on indicators: what each factor takes off the residual."""
    questions, repeats = table.shape
    y = table.ravel()
    of_question = np.kron(np.eye(questions), np.ones((repeats, 1)))
    of_repeat = np.kron(np.ones((questions, 1)), np.eye(repeats))

    def residual(*parts: Floats) -> float:
        design = np.hstack([np.ones((len(y), 1)), *parts])
        fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
        return float(((y - fitted) ** 2).sum())

    rest = residual(of_question, of_repeat)
    by_question = (residual(of_repeat) - rest) / (questions - 1)
    by_repeat = (residual(of_question) - rest) / (repeats - 1)
    return by_question, by_repeat, rest / ((questions - 1) * (repeats - 1))


@pytest.mark.parametrize(("questions", "repeats"), [(2, 2), (7, 3), (12, 5)])
def test_mean_squares_are_those_of_a_regression(questions: int, repeats: int) -> None:
    table = scores(np.random.default_rng(questions), questions, repeats)
    squares = mean_squares(table)
    assert (squares.questions, squares.repeats, squares.rest) == pytest.approx(least_squares(table))
    by_question, by_repeat, rest = least_squares(table)
    assert squares.question_variance == pytest.approx(max(by_question - rest, 0) / repeats)
    assert squares.repeat_variance == pytest.approx(max(by_repeat - rest, 0) / questions)
    assert squares.rest_variance == pytest.approx(rest)


@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_variance_of_a_mean_is_that_of_the_method(shift: float) -> None:
    table = scores(np.random.default_rng(4), 20, 3, shift=shift)
    by_question, by_repeat, rest = least_squares(table)
    estimated = mean_uncertainty(table)
    assert estimated.variance == pytest.approx(max(by_question, by_question + by_repeat - rest) / 60)
    parts = [(by_question, 19.0)]
    if by_repeat > rest:
        parts += [(by_repeat, 2.0), (-rest, 38.0)]
    assert (by_repeat > rest) == (shift > 0)
    freedom = sum(part for part, _ in parts) ** 2 / sum(part**2 / own for part, own in parts)
    assert estimated.freedom == pytest.approx(freedom)


def test_one_repeat_is_the_paired_t_test() -> None:
    rng = np.random.default_rng(2)
    a, b = scores(rng, 30, 1), scores(rng, 30, 1)
    expected = stats.ttest_rel(a[:, 0], b[:, 0])
    estimated = difference_uncertainty(a, b)
    difference = float(a.mean() - b.mean())
    assert estimated.p(difference) == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval()
    assert (difference - estimated.margin(0.95), difference + estimated.margin(0.95)) == pytest.approx(tuple(interval))


def test_a_difference_adds_what_a_repeat_shifts_at_once() -> None:
    rng = np.random.default_rng(5)
    a, b = scores(rng, 40, 3, shift=0.5), scores(rng, 40, 5, shift=0.5)
    between = a.mean(axis=1) - b.mean(axis=1)
    expected = between.var(ddof=1) / 40
    for table in (a, b):
        _, by_repeat, rest = least_squares(table)
        expected += (by_repeat - rest) / table.size
    assert difference_uncertainty(a, b).variance == pytest.approx(expected)
    # The shift of a repeat dominates: its few repeats decide the degrees of freedom.
    assert difference_uncertainty(a, b).freedom < 8


def test_scores_that_do_not_vary() -> None:
    same = np.full((5, 3), 0.1)
    estimated = difference_uncertainty(same, same)
    assert (estimated.variance, estimated.p(0.0), estimated.margin(0.95)) == (0, 1, 0)
    # The sign test: five coins that fall on the same side.
    assert estimated.p(0.2) == 2 * 0.5**5
    with pytest.raises(UsageError, match="two questions or more"):
        mean_squares(np.ones((1, 3)))
    with pytest.raises(UsageError, match="the same questions"):
        difference_uncertainty(same, np.ones((4, 3)))


def coverage(trials: int, *, questions: int, repeats: int, shift: float) -> tuple[float, float]:
    """How often the interval of a difference of 0 contains 0: with repeats, and by questions alone."""
    rng = np.random.default_rng(11)
    inside = alone = 0
    for _ in range(trials):
        by_question = rng.normal(0, 0.3, (questions, 1))
        a, b = (
            by_question + rng.normal(0, shift, (1, repeats)) + rng.normal(0, 0.3, (questions, repeats)) for _ in "ab"
        )
        difference = abs(float(a.mean() - b.mean()))
        inside += difference <= difference_uncertainty(a, b).margin(0.95)
        means = difference_uncertainty(a.mean(axis=1, keepdims=True), b.mean(axis=1, keepdims=True))
        alone += difference <= means.margin(0.95)
    return inside / trials, alone / trials


def test_intervals_contain_the_truth_and_questions_alone_do_not() -> None:
    inside, alone = coverage(400, questions=100, repeats=4, shift=0.05)
    assert inside > 0.92
    assert alone < 0.85


def matrix(*tables: Floats) -> ScoreMatrix:
    values = np.stack([table.mean(axis=1) for table in tables])
    units = tuple(f"q{i}" for i in range(values.shape[1]))
    return ScoreMatrix(tuple("ABC"[: len(tables)]), units, values, repeats=Repeats(tables), read="table")


def test_the_verdict_takes_running_again_into_account() -> None:
    """Questions alone call these systems different; the shift between their repeats explains the difference."""
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.02, (2, 50, 2))
    a, b = 0.5 + noise[0] + np.array([0.2, 0.0]), 0.5 + noise[1] + np.array([0.0, 0.1])
    result = compare(matrix(a, b), "A", "B")
    assert decide_blocks(blocks(matrix(a, b))).p < 0.001
    assert (result.verdict, result.test) == ("cannot tell", "t")
    assert result.interval is not None
    assert result.interval[0] < 0 < result.interval[1]
    assert result.as_json()["repeats"] == {
        "per_question": 2,
        "spread": {"A": pytest.approx(a.mean(axis=0).std(ddof=1)), "B": pytest.approx(b.mean(axis=0).std(ddof=1))},
    }
    assert any("include running the systems again" in note for note in result.notes)
    assert "p, t test with repeats" in str(result.test_table())


def test_interval_verdict_and_p_agree() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        result = compare(matrix(scores(rng, 20, 3), scores(rng, 20, 2) + 0.1), "A", "B", permutations=50)
        assert result.interval is not None
        outside = not result.interval[0] <= 0 <= result.interval[1]
        assert outside == (result.p <= 0.05) == (result.verdict != "cannot tell")


def test_one_repeat_says_that_running_again_is_not_included() -> None:
    rng = np.random.default_rng(1)
    once = ScoreMatrix(("A", "B"), ("q1", "q2", "q3"), rng.random((2, 3)), read="wide table")
    assert any("the variation from run to run is not included" in note for note in compare(once, "A", "B").notes)
    mixed = compare(matrix(scores(rng, 20, 1), scores(rng, 20, 3)), "A", "B")
    assert any("For A, running again is not included" in note for note in mixed.notes)


def test_all_pairs_with_repeats_are_corrected_with_running_again() -> None:
    rng = np.random.default_rng(3)
    three = matrix(scores(rng, 30, 3) + 2, scores(rng, 30, 3), scores(rng, 30, 2))
    result = compare_all(three, method="holm")
    assert three.repeats is not None
    p = pair_p_values(three.repeats)
    p_values = {(pair.a, pair.b): pair.p for pair in result.pairs()}
    assert p_values["A", "B"] == pytest.approx(difference_uncertainty(*three.repeats.values[:2]).p(p_difference(three)))
    assert p[0, 1] == p_values["A", "B"]
    assert result.as_json()["repeats"]["per_question"] == {"A": 3, "B": 3, "C": 2}  # type: ignore[index]
    assert any("The methods max-t and holm" in note for note in compare_all(three, method="tukey").notes)


def p_difference(three: ScoreMatrix) -> float:
    return float(three.values[0].mean() - three.values[1].mean())


def test_repeats_follow_the_runs() -> None:
    rng = np.random.default_rng(3)
    three = matrix(scores(rng, 5, 3), scores(rng, 5, 2), scores(rng, 5, 1))
    chosen = three.select(["C", "A"]).repeats
    assert chosen is not None
    assert chosen.numbers == (1, 3)
    assert chosen.spread()[0] is None
    assert chosen.on_units(np.array([0, 2])).values[1].shape == (2, 3)
    with pytest.raises(UsageError, match="do not fit"):
        ScoreMatrix(("A",), ("q1",), np.ones((1, 1)), repeats=Repeats((np.ones((2, 2)),)))


def test_the_interval_of_a_repeated_score_includes_running_again() -> None:
    """Where a repeat shifts all questions at once, resampling questions alone covers the truth far too rarely."""
    covered, by_questions, trials = 0, 0, 200
    for seed in range(trials):
        table = scores(np.random.default_rng(seed), 40, 4, shift=0.15)
        intervals = score_intervals(matrix(table))
        low, high = intervals.interval("A") or (np.nan, np.nan)
        covered += low <= 0.5 <= high
        alone = score_intervals(
            ScoreMatrix(("a",), tuple(map(str, range(40))), table.mean(axis=1)[None]), resamples=200
        )
        low, high = alone.interval("a") or (np.nan, np.nan)
        by_questions += low <= 0.5 <= high
        assert intervals.methods == ("t with repeats",)
    assert covered / trials >= 0.92
    assert by_questions / trials < 0.85


def test_a_score_without_spread_or_repeats_keeps_its_interval() -> None:
    right, once = np.ones((20, 3)), np.array([[1.0], [0.0]] * 10)
    intervals = score_intervals(matrix(right, once))
    assert intervals.methods == ("Wilson", "Wilson")
    assert intervals.high[0] == 1.0
    nearly = np.ones((20, 3))
    nearly[0, 0] = 0.0
    assert score_intervals(matrix(nearly)).high == (1.0,)


def test_two_questions_give_no_interval_of_millions() -> None:
    """What a repeat shifts is a mean square minus another; where they are nearly equal, no freedom seems to be left."""
    first = np.array([[0.1, 0.5, 0.9], [0.9, 0.1, 0.52]])
    shifts = [first + np.array([0.0, 0.0, extra]) for extra in np.linspace(0.0, 1.0, 200)]
    found = [difference_uncertainty(scores, scores[::-1] * 0.9) for scores in shifts]
    assert min(between.freedom for between in found) == 1.0
    assert all(between.margin(0.95) < 13 * between.variance**0.5 for between in found)
