"""Who judged, inside the interval: annotators of NQ-301, by hand, how often intervals are right, and every door."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import qassay
from nq301 import evaluation, judged_alike
from on_disk import write
from qassay.cli import main
from qassay.errors import InputError, QassayError, UsageError
from qassay.matrix import ScoreMatrix
from qassay.meta.crossed import OverAssessors, over_assessors
from qassay.meta.generalizability import variance_components
from qassay.meta.significance import PairComparison

Scores = dict[str, ScoreMatrix]


def by_set(scores: np.ndarray) -> Scores:
    """Score matrices of systems x questions x assessors, one per assessor."""
    runs, units, assessors = scores.shape
    names = tuple(f"s{i}" for i in range(runs)), tuple(f"q{i}" for i in range(units))
    return {f"a{i}": ScoreMatrix(*names, scores[:, :, i]) for i in range(assessors)}


def over(scores: Scores, a: str, b: str, *, pool: bool = True) -> OverAssessors:
    pair = {name: matrix.select([a, b]) for name, matrix in scores.items()}
    return over_assessors(pair, everyone=list(scores.values()) if pool else ())[0]


def half(interval: tuple[float, float] | None) -> float:
    assert interval is not None
    return (interval[1] - interval[0]) / 2


def simulated(rng: np.random.Generator, systems: int, units: int, assessors: int, apart: float = 0.03) -> np.ndarray:
    """Equal systems, whose questions and assessors suit each of them more or less."""
    by_unit = rng.normal(0, 0.3, (systems, units, 1))
    by_assessor = rng.normal(0, apart, (systems, 1, assessors))
    return by_unit + by_assessor + rng.normal(0, 0.2, (systems, units, assessors))


@pytest.mark.parametrize("pair", ["EMDR2 - DPR", "EMDR2 - InstructGPT-few", "InstructGPT-few - R2-D2", "FiD-KD - DPR"])
def test_two_annotators_of_nq301(pair: str, data: Callable[[str], Path], truth: dict[str, Any]) -> None:
    known = truth["assessors nq301 (annotators 1 and 2)"]
    scores, (a, b) = judged_alike(data, "first", "second"), pair.split(" - ")
    assert scores["first"].units == scores["second"].units
    pooled, own = over(scores, a, b), over(scores, a, b, pool=False)
    assert (pooled.units, pooled.pooled, own.pooled) == (known["questions"], True, False)
    assert list(pooled.differences.values()) == pytest.approx(known[pair]["by_assessor"], abs=5e-5)
    assert half(pooled.these) == half(own.these) == pytest.approx(known[pair]["F"]["half"], abs=5e-5)
    assert half(own.new) == pytest.approx(known[pair]["S"]["half"], abs=5e-5)
    assert half(pooled.new) == pytest.approx(known[pair]["P"]["half"], abs=5e-5)


@pytest.mark.parametrize("assessors", [2, 3])
def test_the_variance_is_that_of_its_mean_squares(assessors: int) -> None:
    values = simulated(np.random.default_rng(assessors), 6, 20, assessors, apart=0.2)
    result = over(by_set(values), "s0", "s1")
    apart = values[0] - values[1]
    grand, questions, people = apart.mean(), apart.mean(axis=1), apart.mean(axis=0)
    rest = apart - questions[:, None] - people + grand
    size, few = apart.size, assessors - 1
    squares = {
        "q": assessors * ((questions - grand) ** 2).sum() / 19,
        "a": 20 * ((people - grand) ** 2).sum() / few,
        "e": (rest**2).sum() / 19 / few,
    }
    assert half(result.these) == pytest.approx(stats.t.ppf(0.975, 19) * math.sqrt(squares["q"] / size))
    assert result.pooled == (assessors == 2)
    parts = [(squares["q"], 19)]
    if result.pooled:
        # The components of all systems, from the generalizability study, make the same mean squares.
        found = variance_components(values).variances
        residual = found["residual"]
        assert found["run x assessor"] > 0
        parts += [(2 * (residual + 20 * found["run x assessor"]), 5), (-2 * residual, 95)]
    elif squares["a"] > squares["e"]:
        parts += [(squares["a"], few), (-squares["e"], 19 * few)]
    total = sum(part for part, _ in parts)
    freedom = max(1.0, total**2 / sum(part**2 / each for part, each in parts))
    assert half(result.new) == pytest.approx(stats.t.ppf(0.975, freedom) * math.sqrt(total / size))


@pytest.mark.parametrize("seed", range(12))
def test_new_assessors_never_make_the_interval_narrower(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = simulated(rng, (2, 5, 9)[seed % 3], (8, 40)[seed % 2], (2, 3, 6)[seed % 3])
    if seed % 4 == 3:
        values = (values > 0).astype(float)
    result = over(by_set(values), "s1", "s0")
    assert result.these is not None
    assert result.new is not None
    assert result.new[0] <= result.these[0] + 1e-12
    assert result.these[1] <= result.new[1] + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("systems", "assessors"), [(12, 2), (2, 2), (12, 3)])
def test_the_interval_for_new_assessors_contains_the_truth(systems: int, assessors: int) -> None:
    rng = np.random.default_rng(10 * systems + assessors)
    hits = []
    for _ in range(600):
        result = over(by_set(simulated(rng, systems, 60, assessors)), "s0", "s1")
        assert result.new is not None
        hits.append(result.new[0] <= 0 <= result.new[1])
    assert 0.92 <= np.mean(hits) <= 0.985


# ---- every door -----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three assessors of two systems, and a fourth who judged other questions; the third left a hole."""
    rng = np.random.default_rng(8)
    write(tmp_path / "questions.jsonl", [{"id": f"q{n}", "type": "qa", "text": "?"} for n in range(40)])
    (tmp_path / "qassay.toml").write_text('task = "qa"\n', encoding="utf-8")
    for system in "AB":
        rows = [{"run": system, "question": f"q{n}", "items": [{"text": f"{system}{n}"}]} for n in range(30)]
        write(
            tmp_path / "runs" / f"{system}.jsonl", [*rows, *({**rows[0], "question": f"q{n}"} for n in range(30, 40))]
        )
    right = {f"{system}{n}": rng.random() < share for system, share in (("A", 0.8), ("B", 0.5)) for n in range(30)}
    for name, span in {"first": range(30), "second": range(30), "third": range(1, 30), "fourth": range(30, 40)}.items():
        rows = []
        for n in span:
            for system in "AB":
                text = f"{system}{n if n < 30 else 0}"
                label = right[text] != (rng.random() < 0.1)
                rows.append({"question": f"q{n}", "text": text, "judgment": "correct" if label else "incorrect"})
        write(tmp_path / "judgments" / f"{name}.jsonl", rows)
    return tmp_path


def test_sets_with_holes_are_compared_on_what_all_judged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    opened = qassay.open(folder)
    result = qassay.compare(opened, "A", "B", over=["first", "second", "third"])
    assert isinstance(result, PairComparison)
    assert result.over is not None
    assert (result.units, result.over.units, result.test) == (29, 29, "t")
    assert result.interval == result.over.these
    by_hand = [opened.matrices_of(["first", "second", "third"], ["A", "B"])[name].scores() for name in result.over.sets]
    assert list(result.over.differences.values()) == pytest.approx([a - b for a, b in by_hand])
    assert result.difference == pytest.approx(np.mean([a - b for a, b in by_hand]))
    others = qassay.compare(opened, "A", "B", over=["first", "second", "third"], people="new")
    assert (others.found_with, others.units_needed) == (None, None)
    equal = qassay.compare(opened, "A", "B", over=["first", "second"], equal_within=0.9, difference=0.1)
    assert equal.equal_within is not None
    assert (equal.wanted_difference, equal.units_needed) != (others.wanted_difference, None)
    labels = [row[0] for row in others.table().rows]
    assert labels[3:7] == ["  for these assessors", "  by first", "  by second", "  by third"]
    assert others.interval == result.over.new
    capsys.readouterr()
    command = ["compare", str(folder), "A", "B", "--over", "first,second,third"]
    assert main([*command, "--people", "new", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["interval"], document["verdict"]) == ([*(others.interval or ())], others.verdict)
    assert document["over"]["people"] == "new"
    assert set(document["over"]["differences"]) == {"first", "second", "third"}
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "For these 3 assessors A − B lies between +0." in shown
    assert "for other assessors like them between " in shown
    assert "29 of 40 questions: those of which first, second and third judged all answers of A and B." in " ".join(
        shown.split()
    )


def test_two_assessors_of_two_systems_are_told_to_ask_a_third(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["compare", str(folder), "A", "B", "--over", "first,second"]) == 0
    assert "Two assessors hardly show how far assessors differ: a third would." in capsys.readouterr().out


def test_the_largest_swap_of_a_ranking(
    data: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = evaluation(tmp_path / "nq", data, "first", "second")
    ranks = qassay.stability(qassay.open(folder))
    assert ranks.over is not None
    swap = max(ranks.measures["label_mean"].swapped, key=lambda swap: swap.difference)
    assert (ranks.over.a, ranks.over.b) == (swap.better, swap.worse)
    pair = qassay.compare(qassay.open(folder), swap.better, swap.worse, over=["first", "second"])
    assert pair.over == ranks.over
    capsys.readouterr()
    assert main(["stability", str(folder)]) == 0
    assert f"The largest swap: for these 2 assessors {swap.better} − {swap.worse} lies " in capsys.readouterr().out


def test_tables_of_assessors_in_any_order_of_questions() -> None:
    scores = by_set(np.round(simulated(np.random.default_rng(9), 4, 12, 3, apart=0.3), 2))
    first = qassay.stability(scores)
    order = list(range(11, -1, -1))
    turned = {
        name: ScoreMatrix(each.runs, tuple(each.units[u] for u in order), each.values[:, order])
        for name, each in scores.items()
    }
    assert first.over is not None
    assert qassay.stability({"a0": scores["a0"], "a1": turned["a1"], "a2": turned["a2"]}).over == first.over
    fewer = {"a0": scores["a0"], "a1": turned["a1"].select(turned["a1"].runs), "a2": turned["a2"]}
    fewer["a1"] = ScoreMatrix(fewer["a1"].runs, fewer["a1"].units[:8], fewer["a1"].values[:, :8])
    assert (found := qassay.stability(fewer).over) is not None
    assert found.units == 8


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"over": ["first"]}, UsageError, "One assessor: who judges is not included"),
        ({"over": ["first", "first"]}, UsageError, "first is named twice"),
        ({"over": ["first", "firts"]}, UsageError, "did you mean 'first'"),
        ({"over": ["first", "fourth"]}, InputError, "share no question of which each judged all answers of A and B"),
        ({"over": ["first", "second"], "key": "first"}, UsageError, "key does not go with over"),
        ({"over": ["first", "second"], "correct_with": "third"}, UsageError, "correct_with does not go with over"),
        ({"people": "new"}, UsageError, "people goes with over"),
    ],
)
def test_what_over_does_not_take(
    folder: Path, given: dict[str, Any], error: type[QassayError], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(error, match=message):
        qassay.compare(qassay.open(folder), "A", "B", **given)
    options = [
        part
        for name, value in given.items()
        for part in (f"--{name.replace('_', '-')}", value if isinstance(value, str) else ",".join(value))
    ]
    capsys.readouterr()
    assert main(["compare", str(folder), "A", "B", *options]) in (1, 2)
    shown = capsys.readouterr()
    assert "Traceback" not in shown.out + shown.err


def test_over_needs_two_names_and_an_evaluation(folder: Path) -> None:
    with pytest.raises(UsageError, match="over compares two systems: name both"):
        qassay.compare(qassay.open(folder), over=["first", "second"])
    with pytest.raises(UsageError, match="Scores alone do not say who judged"):
        qassay.compare({"A": [1, 0], "B": [0, 1]}, "A", "B", over=["first", "second"])
