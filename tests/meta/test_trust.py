"""Trust in an assessor: figures recomputed with a few lines of their own, and the test of Calderon et al. simulated."""

from __future__ import annotations

import itertools
import json
import math
import statistics
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import qassay
from qassay.cli import main
from qassay.meta.trust import Compared, ScoredTwice, ac1, alternative_annotator, bias_of, trust
from qassay.meta.trust.annotator import significant
from qassay.summaries import Mean

PEOPLE = ["first", "second", "third"]


# ---- labels ---------------------------------------------------------------------------------------------------------


def test_ac1_is_gwets_worked_example() -> None:
    """Gwet (2008), table 2: 118 and 5, 2 and 0 give p_a = 0.944, kappa below 0 and AC1 = 0.9407."""
    joint = np.array([[118.0, 5.0], [2.0, 0.0]])
    pi = (123 + 120) / 250
    expected = 2 * pi * (1 - pi)
    assert float(ac1(joint)) == pytest.approx((118 / 125 - expected) / (1 - expected))
    assert float(ac1(joint)) == pytest.approx(0.9407, abs=5e-4)


def test_labels_are_folded_and_the_unfolded_ones_kept() -> None:
    people = ["full", "partial", "none", "none", "full", "none"]
    program = ["full", "none", "none", "partial", "none", "full"]
    part = Compared("nugget support", ["a", "a", "b", "b", "c", "c"], program, people, "full")
    result = trust("p", "h", [part], None, resamples=0)
    assert result.agreement == pytest.approx(4 / 6)
    assert (result.sensitivity, result.specificity) == (pytest.approx(1 / 2), pytest.approx(3 / 4))
    assert result.kappa == pytest.approx((4 / 6 - (2 * 2 + 4 * 4) / 36) / (1 - (2 * 2 + 4 * 4) / 36))
    assert result.labels["nugget support"].agreement == pytest.approx(2 / 6)
    assert result.labels["nugget support"].matrix["none"] == {"none": 1, "partial": 1, "full": 1}


def test_without_a_common_judgment_there_is_no_result() -> None:
    result = trust("p", "h", [], None)
    assert (result.items, result.kappa) == (0, None)
    assert "nothing can be said" in result.sentence()


# ---- scores ---------------------------------------------------------------------------------------------------------


def twice(program: np.ndarray, people: np.ndarray, **more: Any) -> ScoredTwice:
    runs, units = people.shape
    tags = tuple(f"r{number}" for number in range(runs))
    ids = tuple(f"q{number}" for number in range(units))
    given = {"units_of_run": [units] * runs, "left_out": {}, "measure": "accuracy", **more}
    return ScoredTwice(tags, ids, program, people, Mean(), **given)


def test_bias_and_its_interval_follow_the_formula_of_the_method() -> None:
    rng = np.random.default_rng(5)
    differences = rng.choice([-1.0, 0.0, 0.0, 1.0], size=40)
    n, total = 40, 100
    padded = [*differences.tolist()]
    mean = sum(padded) / (n + 1)
    square = ((sum(value**2 for value in padded) + 1) / (n + 1) - mean**2) * (n + 1) / n
    half = stats.t.ppf(0.975, n) * math.sqrt((1 - n / total) * square / (n + 1) + square / total)
    bias = bias_of(differences, units=total)
    assert bias is not None
    assert bias.bias == pytest.approx(statistics.mean(padded))
    assert bias.interval == pytest.approx((mean - half, mean + half))


def test_equal_scores_leave_an_interval_around_nothing() -> None:
    bias = bias_of(np.zeros(30))
    assert bias is not None
    assert bias.interval is not None
    assert bias.interval[0] < 0 == bias.bias < bias.interval[1]


def test_the_interval_of_a_bias_covers_the_truth() -> None:
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(2000):
        bias = bias_of(rng.choice([-1.0, 0.0, 1.0], p=[0.05, 0.8, 0.15], size=60))
        assert bias is not None
        assert bias.interval is not None
        hits += bias.interval[0] <= 0.1 <= bias.interval[1]
    assert 0.93 <= hits / 2000 <= 0.99


def test_rankings_and_biases_on_the_units_that_both_scored() -> None:
    people = np.array([[1, 1, 0, np.nan], [1, 0, 0, 1], [0, 0, 0, 1.0]])
    program = np.array([[1, 0, 0, 1], [1, 1, 0, 1], [0, 0, 0, np.nan]])
    result = trust("p", "h", [], twice(program, people, left_out={"r0": 1, "r2": 1}))
    assert result.runs.scores["r0"] == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert result.runs.scores["r1"] == (pytest.approx(1 / 2), pytest.approx(3 / 4))
    assert result.runs.scores["r2"] == (0.0, 0.0)
    assert (result.runs.swaps, result.runs.largest_swap) == (1, ("r0", "r1"))
    assert result.runs.largest_swapped_difference == pytest.approx(1 / 6)
    assert result.runs.rmse == pytest.approx(math.sqrt((1 / 9 + 1 / 16 + 0) / 3))
    assert result.bias["r1"].bias == pytest.approx(1 / 4)
    pair = next(pair for pair in result.pairs if (pair.a, pair.b) == ("r0", "r1"))
    assert pair.bias == pytest.approx((0 - 2 + 0) / 3)
    assert result.as_json()["left_out"] == {"r0": 1, "r2": 1}


def test_bias_by_length_and_by_type_averages_over_questions_first() -> None:
    people, program = np.zeros((2, 3)), np.array([[1.0, 0, 0], [0, 1.0, 0]])
    lengths = np.array([[10.0, 20, 30], [40, 50, 60]])
    result = trust("p", "h", [], twice(program, people, lengths=lengths, types=["a", "a", "b"]))
    assert result.by_length["shortest third"].bias == pytest.approx((1 + 0) / 2)
    assert result.by_length["longest third"].bias == pytest.approx((1 + 0) / 2)
    assert result.by_type["a"].bias == pytest.approx((0.5 + 0.5) / 2)
    assert result.by_type["b"].bias == 0.0


# ---- the alternative annotator test ---------------------------------------------------------------------------------


def simulated(rng: np.random.Generator, errors: float, items: int = 100) -> tuple[list[str], dict[str, list[str]]]:
    """A judge with this rate of errors beside three people with 8%; two labels, equally common."""
    truth = rng.integers(0, 2, items)

    def labels(rate: float) -> list[str]:
        return [str(label) for label in np.where(rng.random(items) < rate, 1 - truth, truth)]

    return labels(errors), {name: labels(0.08) for name in PEOPLE}


def test_the_alternative_annotator_test_on_simulated_people() -> None:
    """Three people with 8% errors, 100 items, epsilon 0.2: METHOD 7's figures."""
    rng = np.random.default_rng(2025)
    passing = {}
    for errors in (0.08, 0.2, 0.3):
        outcomes = [alternative_annotator(*simulated(rng, errors)) for _ in range(200)]
        passing[errors] = np.mean(
            [bool(outcome and outcome.passes and outcome.passes["experts"]) for outcome in outcomes]
        )
    assert passing[0.08] >= 0.99
    assert 0.3 <= passing[0.2] <= 0.7
    assert passing[0.3] <= 0.05


@pytest.mark.parametrize("each", [1, 5])
def test_the_alternative_annotator_test_against_its_definition(each: int) -> None:
    """A plain loop over people and items, with scipy's t test and statsmodels' formula of Benjamini and Yekutieli."""
    rng = np.random.default_rng(7)
    program, people = simulated(rng, 0.15)
    questions = [f"q{item // each}" for item in range(100)]
    for labels in people.values():
        for item in rng.choice(100, 20, replace=False):
            labels[item] = None  # type: ignore[call-overload]
    outcome = alternative_annotator(program, people, questions=questions)
    assert outcome is not None
    p_values = {}
    for row in outcome.people:
        wins, differences, asked = [], [], []
        for item in range(100):
            others = [
                labels[item] for name, labels in people.items() if name != row.person and labels[item] is not None
            ]
            own = people[row.person][item]
            if own is None or not others:
                continue
            of_program = sum(label == program[item] for label in others) / len(others)
            of_person = sum(label == own for label in others) / len(others)
            wins.append(of_program >= of_person)
            differences.append((of_person >= of_program) - (of_program >= of_person))
            asked.append(questions[item])
        assert (row.items, row.advantage) == (len(wins), pytest.approx(statistics.mean(wins)))
        if each == 1:
            p_values[row.person] = stats.ttest_1samp(differences, 0.2, alternative="less").pvalue
        else:
            mean, count = statistics.mean(differences), len(set(asked))
            left = [
                sum(d - mean for d, q in zip(differences, asked, strict=True) if q == question) ** 2
                for question in set(asked)
            ]
            error = math.sqrt(count / (count - 1) * sum(left)) / len(differences)
            p_values[row.person] = stats.t.cdf((mean - 0.2) / error, count - 1)
        assert row.p["experts"] == pytest.approx(p_values[row.person])
    adjusted = stats.false_discovery_control(list(p_values.values()), method="by")
    assert outcome.winning_rate["experts"] == pytest.approx(np.mean(adjusted <= 0.05))


@pytest.mark.parametrize("seed", range(20))
def test_benjamini_and_yekutieli_as_scipy_has_them(seed: int) -> None:
    p_values = np.random.default_rng(seed).random(6) ** 3
    assert significant(list(p_values), 0.05) == list(stats.false_discovery_control(p_values, method="by") <= 0.05)


def test_a_judge_who_always_says_right_passes_where_nearly_all_is_right() -> None:
    """Why the test never stands alone: sensitivity and specificity are printed beside it."""
    rng = np.random.default_rng(3)
    people = {name: [str(label) for label in (rng.random(200) < 0.9).astype(int)] for name in PEOPLE}
    outcome = alternative_annotator(["1"] * 200, people)
    assert outcome is not None
    assert outcome.passes == dict.fromkeys(("experts", "trained", "crowd"), True)


def test_two_people_give_no_verdict_and_few_items_nothing() -> None:
    program, people = simulated(np.random.default_rng(1), 0.1)
    del people["third"]
    outcome = alternative_annotator(program, people)
    assert outcome is not None
    assert outcome.passes is None
    assert alternative_annotator(program[:20], {name: labels[:20] for name, labels in people.items()}) is None
    # Fourteen questions do not show how questions differ, with any number of answers.
    assert alternative_annotator(program, people, questions=[str(item % 14) for item in range(100)]) is None
    assert alternative_annotator(program, people, questions=[str(item % 15) for item in range(100)]) is not None


@pytest.mark.slow
def test_a_judge_at_the_border_passes_in_one_case_of_twenty() -> None:
    """Everybody misreads whole questions; the judge loses to each person by just epsilon."""
    rng = np.random.default_rng(8)
    passed = []
    for _ in range(400):
        truth = rng.integers(0, 2, (30, 10))
        people = {name: [str(label) for label in truth.ravel()] for name in PEOPLE}
        # People agree throughout, so that the judge loses where it misreads: on a fifth of the questions.
        program = [str(label) for label in (truth ^ (rng.random((30, 1)) < 0.2)).ravel()]
        outcome = alternative_annotator(program, people, questions=[str(item // 10) for item in range(300)])
        assert outcome is not None
        passed.append(bool(outcome.passes and outcome.passes["experts"]))
    assert np.mean(passed) <= 0.09


def test_graded_labels_are_compared_by_their_distance() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(1, 6, 80)
    people = {name: [float(value) for value in truth + rng.normal(0, 0.3, 80)] for name in PEOPLE}
    near = alternative_annotator([float(value) for value in truth], people, graded=True)
    far = alternative_annotator([float(6 - value) for value in truth], people, graded=True)
    assert near is not None
    assert far is not None
    assert near.winning_rate["experts"] == 1.0
    assert far.winning_rate["experts"] == 0.0


# ---- the command ----------------------------------------------------------------------------------------------------


def command(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    capsys.readouterr()
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_trust_on_real_judgments_recomputed(
    data: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """overlap on TREC RAG 2024: the targets of the assessor, and every figure again from the rows."""
    folder = tmp_path / "rag"
    source = data("trec_rag24/nugget_assignment.20241108.jl")
    assert main(["init", str(folder), "--task", "nuggets"]) == 0
    assert main(["import", str(folder), str(source)]) == 0
    assert main(["judge", str(folder), "--with", "overlap"]) == 0
    document = command(capsys, "trust", folder, "--assessor", "overlap", "--resamples", 0)
    program = {
        (row["question"], row["run"], row["nugget"]): row["support"] == "full"
        for row in map(json.loads, (folder / "judgments" / "overlap.jsonl").read_text().splitlines())
    }
    pairs, cells = [], defaultdict(list)
    for row in map(json.loads, source.read_text().splitlines()):
        for number, nugget in enumerate(row["nuggets"], 1):
            level = program.get((row["qid"], row["run_id"], str(number)))
            person = nugget["assignment"] == "support"
            if level is not None:
                pairs.append((person, level))
            if nugget["importance"] == "vital":
                cells[row["run_id"], row["qid"]].append((person, bool(level)))
    people_share, program_share = (statistics.mean(pair[side] for pair in pairs) for side in (0, 1))
    chance = people_share * program_share + (1 - people_share) * (1 - program_share)
    same = statistics.mean(a == b for a, b in pairs)
    assert document["items"] == len(pairs)
    assert document["agreement"] == pytest.approx(same)
    assert document["kappa"] == pytest.approx((same - chance) / (1 - chance))
    scores: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for (run, _), judged in cells.items():
        scores[run].append((statistics.mean(a for a, _ in judged), statistics.mean(b for _, b in judged)))
    runs = sorted(scores)
    means = np.array([np.mean(scores[run], axis=0) for run in runs])
    assert document["runs"]["tau"] == pytest.approx(stats.kendalltau(means[:, 0], means[:, 1]).statistic)
    assert document["runs"]["rmse"] == pytest.approx(float(np.sqrt(np.mean((means[:, 1] - means[:, 0]) ** 2))))
    assert document["bias"][runs[0]]["bias"] == pytest.approx(means[0, 1] - means[0, 0])
    swaps = [
        abs(means[a, 0] - means[b, 0])
        for a, b in itertools.combinations(range(len(runs)), 2)
        if (means[a, 0] - means[b, 0]) * (means[a, 1] - means[b, 1]) < -1e-12
    ]
    assert document["runs"]["swaps"] == len(swaps)
    assert document["runs"]["largest_swapped_difference"] == pytest.approx(max(swaps))
    # The targets of the assessor as shipped.
    assert document["kappa"] >= 0.52
    assert document["runs"]["tau"] >= 0.77
    assert document["questions"]["mean_tau"] >= 0.57
    assert document["runs"]["rmse"] <= 0.06


def test_the_command_answers_first_and_leaves_out_copies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "demo"
    assert main(["demo", "--to", str(folder)]) == 0
    assert main(["judge", str(folder), "--with", "match(judged=adjudicated)", "--set", "known"]) == 0
    document = command(capsys, "trust", folder, "--assessor", "known", "--resamples", 50)
    assert document["copied"] > 0
    rows = map(json.loads, (folder / "judgments" / "known.jsonl").read_text().splitlines())
    assert document["copied"] == sum(row["trace"].get("copied_from") == "adjudicated" for row in rows)
    assert sum(document["left_out"].values()) > 0
    assert main(["trust", str(folder), "--assessor", "known"]) == 0
    assert capsys.readouterr().out.startswith("known gives the same verdict as adjudicated on ")


def test_three_people_are_asked_whether_they_could_be_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(1)
    folder = tmp_path / "qa"
    assert main(["init", str(folder), "--task", "qa"]) == 0
    ids = [f"q{number}" for number in range(60)]
    texts = {"a": ["yes"] * 60, "b": ["no"] * 60, "c": ["maybe"] * 60}
    (folder / "questions.jsonl").write_text(
        "".join(json.dumps({"id": name, "type": "qa", "text": "?"}) + "\n" for name in ids)
    )
    (folder / "runs").mkdir(exist_ok=True)
    (folder / "judgments").mkdir(exist_ok=True)
    for run, answers in texts.items():
        rows = [
            {"run": run, "question": name, "items": [{"text": text}]} for name, text in zip(ids, answers, strict=True)
        ]
        (folder / "runs" / f"{run}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    truth = {(name, run): bool(rng.random() < 0.6) for name in ids for run in texts}
    for judge, errors in {"first": 0.05, "second": 0.05, "third": 0.05, "program": 0.05}.items():
        rows = []
        for (name, run), right in truth.items():
            label = "correct" if right != (rng.random() < errors) else "incorrect"
            trace = {"trace": {"assessor": "program"}} if judge == "program" else {}
            rows.append({"question": name, "text": texts[run][0], "judgment": label, **trace})
        (folder / "judgments" / f"{judge}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    document = command(capsys, "trust", folder, "--assessor", "program", "--against", "first", "--resamples", 0)
    test = document["alternative_annotator"]
    assert test["passes"]["experts"] is True
    assert {row["person"] for row in test["people"]} == set(PEOPLE)
    assert qassay.trust(qassay.open(folder), against="first", resamples=0).kappa == document["kappa"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no program has judged yet"),
        (["--assessor", "nobody"], "nobody"),
        (["--assessor", "adjudicated"], "--against"),
        (["--assessor", "first", "--against", "nobody"], "nobody"),
    ],
)
def test_sets_that_are_not_there_are_named(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trust", str(qassay.demo_folder()), *arguments]) != 0
    assert message in capsys.readouterr().err


def test_a_program_beside_a_program_is_not_called_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "rag"
    assert main(["demo", "--which", "rag", "--to", str(folder)]) == 0
    for assessor in ("overlap", "learned"):
        qassay.judge(qassay.open(folder), assessor)
    notes = qassay.trust(qassay.open(folder), "overlap", "learned", resamples=0).notes
    assert "learned is a program's set: where this says people, it means learned." in notes
    assert not any("program's set" in note for note in qassay.trust(qassay.open(folder), "overlap", resamples=0).notes)
    for name in ("first", "second"):
        (folder / "judgments" / f"{name}.jsonl").unlink()
    capsys.readouterr()
    assert main(["trust", str(folder), "--assessor", "adjudicated"]) == 1
    message = capsys.readouterr().err
    assert "no judgments of people to compare adjudicated with" in message
    assert "learned, overlap" in message
