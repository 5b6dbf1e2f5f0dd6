"""Scores that keep coming: `compare --planned`, `--looks` and `--anytime`, and the history of a gate."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import scipy.stats

import qassay
from qassay.cli import main
from qassay.meta.looks import STEPS, Plan, line
from qassay.meta.one_pair import decide, decide_now

Call = Callable[..., Any]
DRAWN = np.random.default_rng(3)
NEW = np.where(DRAWN.random(400) < 0.7, 1.0, 0.0)
OLD = np.where(DRAWN.random(400) < 0.62, 1.0, 0.0)
GRADED = np.round(np.clip(NEW - 0.4 * DRAWN.random(400), 0, 1), 2)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def calling(*arguments: object, status: int = 0) -> Any:
        assert main([*map(str, arguments), "--json"]) == status, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return calling


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Call:
    def refusing(*arguments: object, status: int = 2) -> str:
        assert main([*map(str, arguments)]) == status
        return capsys.readouterr().err

    return refusing


@pytest.fixture
def scores(tmp_path: Path) -> Callable[..., Path]:
    def written(n: int, new: np.ndarray = NEW, name: str = "new", file: str = "scores.csv") -> Path:
        path = tmp_path / file
        rows = "".join(f"q{place},{a},{b}\n" for place, (a, b) in enumerate(zip(new[:n], OLD[:n], strict=True)))
        path.write_text(f"question,{name},old\n{rows}", encoding="utf-8")
        return path

    return written


def inverted(d: np.ndarray, r: float) -> list[float]:
    """The differences x for which |sum (d - x)| / sqrt(sum (d - x)^2 + 2) stays at r or below, by bisection."""

    def measured(x: float) -> float:
        return abs((d - x).sum()) / math.sqrt(((d - x) ** 2).sum() + 2)

    limits = []
    for outside in (-3.0, 3.0):
        inside = d.mean()
        for _ in range(100):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if measured(middle) <= r else (inside, middle)
        limits.append(min(1.0, max(-1.0, inside)))
    return limits


@pytest.mark.parametrize("new", [NEW, GRADED])
@pytest.mark.parametrize("n", [20, 150, 399])
def test_before_the_plan_is_complete_the_interval_inverts_the_line(scores, call: Call, n: int, new: np.ndarray) -> None:
    file = scores(n, new)
    for options, alpha in ((("--planned", 400), 0.005), (("--anytime",), 0.05)):
        document = call("compare", file, "new", "old", *options)
        assert document["interval"] == pytest.approx(inverted(new[:n] - OLD[:n], line(n, alpha)))
        assert (document["p"], document["test"], document["alpha"]) == (None, "any time", alpha)
        assert (document["looks"]["n"], document["looks"]["any_time"]) == (n, True)
        low, high = document["interval"]
        assert (document["verdict"] == "cannot tell") == (low <= 0 <= high)
    one = call("compare", file, "new", "old")
    assert one["looks"] is None
    assert low < one["interval"][0] < one["interval"][1] < high or n == 20


def test_at_the_planned_number_the_pair_is_compared_as_ever(scores, call: Call) -> None:
    planned = call("compare", scores(400), "new", "old", "--planned", 400)
    ordinary = call("compare", scores(400), "new", "old", "--alpha", 0.045)
    assert planned.pop("looks")["alpha"] == 0.045
    assert ordinary.pop("looks") is None
    assert planned == ordinary
    after = call("compare", scores(400), "new", "old", "--planned", 399)
    assert after["interval"] == pytest.approx(inverted(NEW - OLD, line(400, 0.005)))
    assert after["looks"]["next"] is None


def test_the_page_says_what_is_planned(scores, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(scores(150)), "new", "old", "--planned", "400"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    d = NEW[:150] - OLD[:150]
    low, high = inverted(d, line(150, 0.005))
    expected = d.std(ddof=1) * scipy.stats.t.ppf(1 - 0.045 / 2, 399) / 20
    assert (
        f"150 of 400 planned questions are there. Before the plan is complete, the difference lies between {low:+.2f} "
        f"and {high:+.2f}; with all 400 expect about ±{expected:.2f}."
    ) in shown
    assert "any-time 99.5% interval" in shown
    assert main(["compare", str(scores(15)), "new", "old", "--anytime"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "new and old cannot be compared yet on these 15 questions: no interval before there are 20" in shown


def test_off_a_step_there_is_no_verdict(scores, call: Call) -> None:
    for n in (100, 134, 200, 267, 400):
        document = call("compare", scores(n), "new", "old", "--planned", 400, "--looks", 3)
        is_step = n in (134, 267, 400)
        assert (document["interval"] is not None) == is_step
        assert (document["p"] is not None) == (n == 400)
        if is_step:
            step = (134, 267, 400).index(n) + 1
            level = 2 * scipy.stats.norm.sf(STEPS[3] * math.sqrt(3 / step))
            assert document["alpha"] == pytest.approx(level)
            ordinary = call("compare", scores(n), "new", "old", "--alpha", level)
            assert document["interval"] == pytest.approx(ordinary["interval"])
        else:
            assert document["verdict"] == "cannot tell"
            assert document["looks"]["next"] == {100: 134, 200: 267}[n]
            gated = call("compare", scores(n), "new", "old", "--planned", 400, "--looks", 3, "--gate", status=4)
            assert gated["gate"] == "INCONCLUSIVE"


def test_the_level_of_an_early_step_has_enough_flips(scores, call: Call, capsys) -> None:
    """A twentieth of a thousandth takes more flips than a level of 5% does."""
    better = np.clip(GRADED + 0.5 * DRAWN.random(400), 0, 1)
    document = call("compare", scores(100, better), "new", "old", "--planned", 400, "--looks", 4)
    assert document["alpha"] == pytest.approx(2 * scipy.stats.norm.sf(2 * 2.024))
    assert document["permutations"] >= 10 / document["alpha"]
    assert document["interval"] is not None
    assert main(["compare", str(scores(100, better)), "new", "old", "--planned", "500", "--looks", "5"]) == 0
    shown = capsys.readouterr().out
    assert "Look 1 of 5; the next is planned at 200 questions." in shown
    assert "99.999% interval" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("new", "old", "--looks", 3), "To plan 400 questions: --planned 400"),
        (("new", "old", "--anytime", "--planned", 100), "use it without planned and looks"),
        (("new", "old", "--planned", 100, "--alpha", 0.01), "is for the level 0.05"),
        (("--planned", 100, "--method", "holm"), "is for two systems: name them"),
        (("new", "old", "--history", "gates.jsonl"), "--history goes with --gate"),
    ],
)
def test_options_that_do_not_go_together(scores, refused: Call, options: tuple[object, ...], message: str) -> None:
    assert message in refused("compare", scores(60), *options)


def test_blocks_that_weigh_differently_and_repeats_are_looked_at_once(refused: Call, tmp_path: Path) -> None:
    series = tuple("a" * 25 + "b" * 35)
    uneven = qassay.ScoreMatrix(
        ("new", "old"), tuple(map(str, range(60))), np.stack([NEW, OLD])[:, :60], clusters=series
    )
    with pytest.raises(qassay.UsageError, match="for series that all count the same, and these do not"):
        qassay.compare(uneven, "new", "old", anytime=True)
    rows = "".join(f"q{q},{system},{run},{q % 2}\n" for q in range(30) for system in ("new", "old") for run in (1, 2))
    repeated = tmp_path / "long.csv"
    repeated.write_text(f"question,system,repeat,score\n{rows}", encoding="utf-8")
    assert "ran several times" in refused("compare", repeated, "new", "old", "--anytime")


def test_the_same_from_python(scores) -> None:
    table = str(scores(150))
    pair = qassay.compare(table, "new", "old", planned=400)
    assert pair.interval == pytest.approx(inverted(NEW[:150] - OLD[:150], line(150, 0.005)))
    assert (pair.p, pair.looks.plan) == (None, Plan("planned", 400))
    with pytest.raises(qassay.UsageError, match="one metric"):
        qassay.compare(table, "new", "old", planned=400, metric="all")


# ---- the history of a gate ------------------------------------------------------------------------------------------


def test_a_gate_keeps_its_looks(scores, call: Call, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history = tmp_path / "gates.jsonl"
    gate = ("--gate", "--margin", 0.3, "--history", history)
    first = call("compare", scores(150), "new", "old", *gate)
    assert first["interval"] == pytest.approx(inverted(NEW[:150] - OLD[:150], line(150, 0.05)))
    assert (first["gate"], first["history"]) == ("ALLOW", {"look": 1, "gate": 1})
    assert call("compare", scores(150), "new", "old", *gate)["history"] == {"look": 1, "gate": 1}
    assert call("compare", scores(200), "new", "old", *gate)["history"] == {"look": 2, "gate": 1}
    other = call("compare", scores(200, GRADED, "newer", "other.csv"), "newer", "old", *gate)
    assert other["history"] == {"look": 1, "gate": 2}
    rows = [json.loads(row) for row in history.read_text(encoding="utf-8").splitlines()]
    assert [(row["n"], row["decision"]) for row in rows] == [
        *((150, "ALLOW"), (200, "ALLOW"), (200, "ALLOW")),
    ]
    assert len({row["scores"] for row in rows}) == 3
    assert all(len(row["scores"]) == 64 for row in rows)
    summary, junit = tmp_path / "gate.md", tmp_path / "gate.xml"
    files = ("--summary", str(summary), "--junit", str(junit))
    assert main(["compare", str(scores(250, name="newest")), "newest", "old", *map(str, gate), *files]) == 0
    sentence = "Gate 3 of this file: with one look each, chance alone turns about 1 in 40 red."
    shown = capsys.readouterr().out
    assert "ALLOW: the any-time 95% interval of newest - old, " in shown
    assert f"lies above -0.3. {sentence}\n" in shown
    assert sentence in summary.read_text(encoding="utf-8")
    assert ElementTree.parse(junit).getroot().find("testsuite/testcase") is not None


def test_a_plan_in_a_history_stays(scores, call: Call, refused: Call, tmp_path: Path) -> None:
    history = tmp_path / "gates.jsonl"
    call("compare", scores(150), "new", "old", "--gate", "--history", history, "--planned", 400, status=4)
    message = refused("compare", scores(150), "new", "old", "--gate", "--history", history)
    assert "with 400 planned, and this one is at any time. A plan stays as it is" in message
    history.write_text("{}\n", encoding="utf-8")
    assert "this line is not a look of a gate" in refused(
        "compare", scores(150), "new", "old", "--gate", "--history", history, status=1
    )


# ---- how often some look is wrong -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["right or wrong", "graded"])
def test_some_look_at_scores_is_wrong_as_often_as_promised(kind: str) -> None:
    """Equal systems, a look after every twentieth question of 20 to 200; and after four steps, or with no plan."""
    drawn = np.random.default_rng(8)
    trials, wrong = 100, dict.fromkeys(("planned", "steps", "any time", "one look"), 0)
    plans = {"planned": Plan("planned", 100), "steps": Plan("steps", 200, 4), "any time": Plan("any time")}
    for _ in range(trials):
        a, b = drawn.random((2, 200))
        if kind == "right or wrong":
            a, b = (a < 0.5) * 1.0, (b < 0.5) * 1.0
        seen = dict.fromkeys(wrong, False)
        for n in range(20, 201, 20):
            matrix = qassay.ScoreMatrix(("a", "b"), tuple(map(str, range(n))), np.stack([a[:n], b[:n]]).round(2))
            for name, plan in plans.items():
                if plan.look(n).alpha is not None and not seen[name]:
                    seen[name] = decide_now(matrix, plan, flips=1_000).rejects
            if not seen["one look"]:
                seen["one look"] = decide(matrix, flips=1_000).rejects
        for name, was_wrong in seen.items():
            wrong[name] += was_wrong
    by_chance = 2 * math.sqrt(0.05 * 0.95 / trials)
    assert wrong["any time"] / trials <= 0.02
    assert max(wrong["planned"], wrong["steps"]) / trials <= 0.05 + by_chance
    assert wrong["one look"] / trials > 0.1
