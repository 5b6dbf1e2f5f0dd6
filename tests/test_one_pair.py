"""One pair, one answer: it depends on the scores of the two systems alone, through every door."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qassay
from on_disk import write
from qassay.cli import main
from qassay.formats.matrix import write_matrix
from qassay.matrix import Repeats, ScoreMatrix
from qassay.meta.significance import PairComparison, compare, compare_all
from qassay.studies.reporting import of_matrix
from qassay.web.results.finding import find


def random_pair(seed: int) -> ScoreMatrix:
    """Two systems: right or wrong, graded, on any scale, or equal."""
    rng = np.random.default_rng(seed)
    units = int(rng.integers(4, 60))
    values = [
        (rng.random((2, units)) < [[0.6], [0.5]]).astype(float),
        np.round(rng.random((2, units)), 2),
        np.round(100 * rng.random((2, units)), 1),
        np.repeat(rng.integers(0, 2, (1, units)).astype(float), 2, axis=0),
    ][seed % 4]
    return ScoreMatrix(
        ("A", "B"), tuple(f"q{unit}" for unit in range(units)), values, denominator=(1, 100, 10, 1)[seed % 4]
    )


def among_others(pair: ScoreMatrix, seed: int) -> ScoreMatrix:
    """The same two among systems on a wider scale, with more digits, and run several times."""
    rng = np.random.default_rng(seed)
    others = rng.normal(0.5, 3, (int(rng.integers(1, 12)), len(pair.units))) / 3
    runs = (*(f"S{number}" for number in range(len(others))), "B", "A")
    repeats = (*(np.column_stack([row, row]) for row in others), pair.values[1][:, None], pair.values[0][:, None])
    values = np.vstack([others, pair.values[::-1]])
    return ScoreMatrix(runs, pair.units, values, denominator=None, repeats=Repeats(repeats) if seed % 2 else None)


def answer(result: PairComparison) -> dict[str, Any]:
    """Everything that is computed of a pair."""
    return {**result.as_json(), "notes": []}


def same(first: Any, second: Any) -> bool:
    """Whether two documents are equal but for the last bits of their numbers."""
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[name], second[name]) for name in first)
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, float) and isinstance(second, float):
        return bool(first == pytest.approx(second, abs=1e-12))
    return bool(first == second)


@pytest.mark.parametrize("seed", range(40))
def test_other_systems_change_nothing(seed: int) -> None:
    pair = random_pair(seed)
    alone = compare(pair, "A", "B", permutations=2000)
    named = compare(among_others(pair, seed), "A", "B", permutations=2000)
    assert same(answer(named), answer(alone))


@pytest.mark.parametrize("seed", range(12))
def test_a_table_of_two_has_one_answer_through_every_door(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """JSON with and without names, Python, the gate, all pairs and the report; a hole in a third changes nothing."""
    pair = random_pair(seed)
    two, three = tmp_path / "two.csv", tmp_path / "three.csv"
    write_matrix(pair, two)
    lines = two.read_text().splitlines()
    cells = ["C", "", *("0.3333333333333333" for _ in lines[2:])]
    three.write_text("".join(f"{line},{cell}\n" for line, cell in zip(lines, cells, strict=True)))
    # The direction of scores beyond 0 to 1 is assumed where they are read, and it is the same.
    expected = qassay.compare(replace(pair, direction=qassay.scores(two).matrix.direction), "A", "B")
    for path in (two, three):
        named = printed(capsys, "compare", path, "A", "B", "--json")
        assert same({**named, "notes": []}, {**answer(expected), "read": named["read"]})
        gated = printed(capsys, "compare", path, "A", "B", "--json", "--gate")
        assert (gated["gate"], gated["interval"]) == (expected.gate(), named["interval"])
        assert same(answer(qassay.compare(path, "A", "B")), answer(expected))
    by_row = tmp_path / "rows.csv"
    cells = zip(*(line.split(",") for line in three.read_text().splitlines()), strict=True)
    by_row.write_text("\n".join(map(",".join, cells)))
    by_row.write_text("run" + by_row.read_text().removeprefix("unit"))
    assert same(printed(capsys, "compare", by_row, "A", "B", "--runs-as-rows", "--json")["interval"], named["interval"])
    (of_two,) = printed(capsys, "compare", two, "--json")["pairs"]
    (all_pairs,) = qassay.compare_all(two).pairs()
    (by_holm,) = compare_all(pair, method="holm").pairs()
    reported = of_matrix(qassay.scores(two).matrix, name="two")
    assert reported.first_two is not None
    sign = 1 if of_two["a"] == "A" else -1
    limits = None if expected.interval is None else [sign * limit for limit in expected.interval][::sign]
    for other in (all_pairs, by_holm):
        assert same(
            [other.p, other.p_adjusted, other.different, other.interval],
            [of_two["p"], of_two["p_adjusted"], of_two["different"], of_two["interval"]],
        )
    assert same([of_two["p"], of_two["interval"]], [expected.p, limits])
    assert of_two["different"] == (expected.verdict != "cannot tell") == bool(reported.pairs.is_different[0, 1])
    assert same([reported.first_two.p, reported.first_two.interval], [expected.p, limits])


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    """The JSON of a command."""
    assert main(list(map(str, arguments))) in (0, 3, 4)
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_several_metrics_of_two_systems_have_one_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "long.csv"
    rng = np.random.default_rng(2)
    rows = [
        f"q{unit},{system},{rng.random():.2f},{rng.random() + better:.2f}"
        for unit in range(30)
        for system, better in (("A", 0.2), ("B", 0))
    ]
    path.write_text("question,system,f1,em\n" + "\n".join(rows) + "\n")
    named = printed(capsys, "compare", path, "A", "B", "--metric", "all", "--json")["metrics"]
    unnamed = printed(capsys, "compare", path, "--metric", "all", "--json")["metrics"]
    for metric, document in named.items():
        (pair,) = unnamed[metric]["pairs"]
        assert pair["p_adjusted"] == document["p_adjusted"]
        assert abs(pair["interval"][0]) in [abs(limit) for limit in document["interval"]]


@pytest.fixture
def evaluation(tmp_path: Path) -> Path:
    """Runs a, b and c of which c lacks a response, and has one that nobody judged."""
    folder = tmp_path / "evaluation"
    for name in ("runs", "judgments"):
        (folder / name).mkdir(parents=True)
    (folder / "qassay.toml").write_text('task = "main2003"\n')
    ids = [str(number) for number in range(1, 31)]
    write(folder / "questions.jsonl", [{"id": name, "type": "factoid", "text": "Who?"} for name in ids])
    for tag, every in (("a", 2), ("b", 3), ("c", 4)):
        lines = [f"{name} {tag} D1 {'x' if int(name) % every else 'y'}\n" for name in ids]
        if tag == "c":
            lines[3:5] = [f"5 {tag} D1 nobody judged this\n"]
        (folder / "runs" / f"{tag}.txt").write_text("".join(lines))
    labels = {"x": "R", "y": "W"}
    rows = [
        {"question": name, "doc": "D1", "text": t, "judgment": label} for name in ids for t, label in labels.items()
    ]
    write(folder / "judgments" / "first.jsonl", rows)
    return folder


def test_what_a_third_run_lacks_changes_nothing(evaluation: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It blocked the comparison, or took its questions from the two."""
    opened = qassay.open(evaluation)
    expected = qassay.compare(opened, "a", "b")
    assert expected.units == 30
    assert expected.difference == pytest.approx(-5 / 30)
    for rules in ([], ["--missing", "skip", "--unjudged", "wrong"], ["--missing", "zero", "--unjudged", "drop"]):
        assert same(printed(capsys, "compare", evaluation, "a", "b", "--json", *rules), expected.as_json())
    page = find("compare", opened, {"a": "a", "b": "b"})
    assert same(page.document, expected.as_json())
    skipped = opened.score(missing="skip", unjudged="wrong")
    assert qassay.compare(skipped, "a", "b").interval == expected.interval
    assert main(["compare", str(evaluation), "a", "nobody"]) == 2
    assert "nobody" in capsys.readouterr().err
