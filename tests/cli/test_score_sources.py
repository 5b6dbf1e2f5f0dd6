"""Scores on the command line: which argument is what, several metrics, repeats, and what was read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qassay
from qassay.cli import main
from qassay.cli.compare import split_arguments
from qassay.errors import InputError, UsageError
from qassay.formats.scores import read_scores
from qassay.meta.repeats import difference_uncertainty
from qassay.meta.significance import compare, holm_levels
from qassay.meta.significance.methods import holm

Call = Callable[..., tuple[int, str, str]]
QUESTIONS = 40


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files of two systems with two metrics, a long table with three epochs, and a wide table."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(7)
    hard = rng.random(QUESTIONS)
    for name, better in (("new", 0.3), ("old", 0.0)):
        lines = [
            {"id": i, "f1": round(float(hard[i] + better), 3), "em": int(rng.random() < 0.5), "latency_ms": 200 + i}
            for i in range(QUESTIONS)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    rows = [
        f"q{q},{system},{epoch},{round(float(hard[q] + shift + 0.1 * rng.random()), 3)}"
        for q in range(QUESTIONS)
        for system, shift in (("A", 0.1), ("B", 0.0))
        for epoch in (1, 2, 3)
    ]
    (tmp_path / "epochs.csv").write_text("\n".join(["qid,model,epoch,score", *rows]))
    wide = [f"q{q},{hard[q]:.3f},{hard[q] / 2:.3f},{hard[q] / 3:.3f}" for q in range(QUESTIONS)]
    (tmp_path / "wide.csv").write_text("\n".join(["topic,A,B,C", *wide]))
    return tmp_path


@pytest.fixture
def call(folder: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    def calling(*arguments: str) -> tuple[int, str, str]:
        status = main(list(arguments))
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return calling


def document(call: Call, *arguments: str) -> dict[str, Any]:
    status, out, _ = call(*arguments, "--json")
    assert status == 0, out
    read: dict[str, Any] = json.loads(out)
    return read


@pytest.mark.parametrize(
    ("arguments", "sources", "names"),
    [
        (["wide.csv"], ["wide.csv"], []),
        (["wide.csv", "A", "B"], ["wide.csv"], ["A", "B"]),
        (["new.jsonl", "old.jsonl"], ["new.jsonl", "old.jsonl"], []),
        (["x=new.jsonl", "y=old.jsonl", "x", "y"], ["x=new.jsonl", "y=old.jsonl"], ["x", "y"]),
        (["none.csv", "A", "B"], ["none.csv"], ["A", "B"]),
        (["wide.csv", "x=none", "y=none"], ["wide.csv"], ["x=none", "y=none"]),
    ],
)
def test_arguments(folder: Path, arguments: list[str], sources: list[str], names: list[str]) -> None:
    assert split_arguments(arguments) == (sources, names)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (["wide.csv", "A"], UsageError, "what is 'A' to be compared with"),
        (["wide.csv", "A", "B", "C"], UsageError, "not 3: A, B, C"),
        (["wide.csv", "A", "old.jsonl"], UsageError, "'old.jsonl' is a file, and comes after 'A'"),
        (["new.jsonl", "none.jsonl"], InputError, "none.jsonl: does not exist"),
    ],
)
def test_wrong_arguments(folder: Path, arguments: list[str], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        split_arguments(arguments)


def test_two_files_are_two_systems(call: Call) -> None:
    status, out, err = call("compare", "new.jsonl", "old.jsonl", "--metric", "f1")
    first = out.splitlines()[0]
    assert (status, err) == (0, "")
    assert first == "2 files, one per system: 2 systems x 40 questions, metric f1; higher is better (assumed)."
    assert " on these " in out or " on each " in out
    assert "Column 'latency_ms' is not a score and was left out." in out
    renamed = document(call, "compare", "b=old.jsonl", "a=new.jsonl", "--metric", "f1")
    assert (renamed["a"], renamed["b"], renamed["verdict"]) == ("b", "a", "worse")
    assert renamed["read"] == "2 files, one per system: 2 systems x 40 questions, metric f1; higher is better (assumed)"
    assert call("compare", "new.jsonl", "old.jsonl", "--metric", "f1", "--gate")[0] == 0


def test_a_system_with_the_name_of_a_file(call: Call, folder: Path) -> None:
    (folder / "A").write_text("not a table")
    assert document(call, "compare", "wide.csv", "--systems", "A,B")["a"] == "A"
    assert document(call, "compare", "wide.csv", "--systems", "A,B,C")["runs"] == 3


def test_every_metric_is_corrected_over_all(call: Call) -> None:
    both = document(call, "compare", "new.jsonl", "old.jsonl", "--metric", "all")
    assert (set(both["metrics"]), both["correction"]) == ({"f1", "em"}, "holm")
    p = [both["metrics"][name]["p"] for name in ("f1", "em")]
    assert [both["metrics"][name]["p_adjusted"] for name in ("f1", "em")] == holm(np.array(p)).tolist()
    for result in both["metrics"].values():
        outside = not result["interval"][0] <= 0 <= result["interval"][1]
        assert outside == (result["p_adjusted"] <= 0.05) == (result["verdict"] != "cannot tell")
    assert both["metrics"]["f1"]["alpha"] == 0.025
    in_python = qassay.compare(read_scores(["new.jsonl", "old.jsonl"], metric="all"), "new", "old", metric="all")
    for name, pair in in_python.metrics.items():
        assert (pair.p_adjusted, pair.verdict) == (
            both["metrics"][name]["p_adjusted"],
            both["metrics"][name]["verdict"],
        )
    assert {"metric", "p"} <= set(in_python.to_polars().columns)
    of_all = qassay.compare_all(read_scores(["new.jsonl", "old.jsonl"], metric="all"), metric="all")
    assert [result.metrics for result in of_all.metrics.values()] == [2, 2]
    status, out, _ = call("compare", "new.jsonl", "old.jsonl", "--metric", "all", "--gate")
    assert (status, "Metric em" in out) == (4, True)
    assert out.splitlines()[2] == "INCONCLUSIVE: f1 ALLOW, em INCONCLUSIVE."


def test_all_pairs_of_every_metric_are_corrected_together(call: Call, folder: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [
        f"q{q},{s},{rng.random() + bonus:.3f},{rng.random():.3f}"
        for q in range(30)
        for s, bonus in zip("ABC", (0.6, 0.2, 0), strict=True)
    ]
    (folder / "metrics.csv").write_text("\n".join(["qid,model,f1,em", *rows]))
    compared = document(call, "compare", "metrics.csv", "--metric", "all")
    assert compared["correction"] == "max-t"
    for name, result in compared["metrics"].items():
        alone = document(call, "compare", "metrics.csv", "--metric", name)
        for pair, single in zip(result["pairs"], alone["pairs"], strict=True):
            assert pair["different"] == (pair["p_adjusted"] <= 0.05) == (pair["interval"][0] > 0)
            assert pair["p_adjusted"] >= single["p_adjusted"]
    # Metrics that are about different questions have no flips in common.
    long = [
        f"{q},{s},{name},{x}"
        for q, s, *both in (r.split(",") for r in rows)
        for name, x in zip(("f1", "em"), both, strict=True)
    ]
    (folder / "metrics.csv").write_text("\n".join(["qid,model,metric,score", *long, *(f"r,{s},f1,0.5" for s in "ABC")]))
    compared = document(call, "compare", "metrics.csv", "--metric", "all")
    assert compared["correction"] == "holm"
    pairs = [pair for result in compared["metrics"].values() for pair in result["pairs"]]
    assert len(pairs) == 6
    assert [pair["p_adjusted"] for pair in pairs] == pytest.approx(holm(np.array([pair["p"] for pair in pairs])))
    assert all(pair["different"] == (pair["p_adjusted"] <= 0.05) for pair in pairs)
    for method in ("bh", "max-t"):
        assert call("compare", "metrics.csv", "--metric", "all", "--method", method)[0] == 2


def test_levels_decide_as_the_correction_does() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        p = {str(i): float(value) for i, value in enumerate(rng.random(5) ** 4)}
        levels, adjusted = holm_levels(p, 0.05)
        assert all((p[name] <= levels[name]) == (adjusted[name] <= 0.05) for name in p)


def test_repeats_are_in_every_document(call: Call) -> None:
    matrix = read_scores("epochs.csv").matrix
    assert matrix.repeats is not None
    spread = {run: float(v.mean(axis=0).std(ddof=1)) for run, v in zip("AB", matrix.repeats.values, strict=True)}
    pair = document(call, "compare", "epochs.csv", "A", "B")
    expected = {"per_question": 3, "spread": pytest.approx(spread)}
    assert pair["repeats"] == expected
    between = difference_uncertainty(*matrix.repeats.values)
    low = pair["difference"] - between.margin(0.95)
    assert pair["interval"][0] == pytest.approx(low)
    assert pair["test"] == "t"
    assert pair["p"] == pytest.approx(between.p(pair["difference"]))
    for arguments in (["compare"], ["sensitivity", "--intervals", "0", "--trials", "5"], ["plan"], ["describe"]):
        analysed = document(call, arguments[0], "epochs.csv", *arguments[1:])
        assert analysed["repeats"] == expected
        assert analysed["read"] == "long table: 2 systems x 40 questions, 3 repeats; higher is better (assumed)"
    assert "spread of A" in call("compare", "epochs.csv", "A", "B")[1]
    out = call("sensitivity", "epochs.csv", "--intervals", "0", "--trials", "5")[1]
    assert "Standard deviation of a score between repeats: A " in out


def test_one_system_only(call: Call, folder: Path) -> None:
    for command in ("compare", "sensitivity"):
        status, _, err = call(command, "new.jsonl", "--metric", "f1")
        assert status == 1
        assert "there is only one system, new. Give one file per system" in err


@pytest.mark.parametrize("command", ["sensitivity", "plan", "describe"])
def test_every_command_takes_several_sources_and_metrics(call: Call, command: str) -> None:
    options = ["--intervals", "0", "--trials", "5"] if command == "sensitivity" else []
    status, out, _ = call(command, "new.jsonl", "old.jsonl", "--metric", "f1", *options)
    assert status == 0
    assert out.startswith(
        "2 files, one per system: 2 systems x 40 questions, metric f1; higher is better (assumed).\n\n"
    )
    analysed = document(call, command, "new.jsonl", "old.jsonl", "--metric", "all", *options)
    assert set(analysed["metrics"]) == {"f1", "em"}
    assert call(command, "wide.csv", "--measure", "f1")[2].startswith("error: --measure is for an evaluation")


def test_stability_says_what_it_read(call: Call, folder: Path) -> None:
    (folder / "other.csv").write_text((folder / "wide.csv").read_text())
    status, out, _ = call("stability", "wide.csv", "other.csv")
    assert status == 0
    expected = "wide: wide table: 3 systems x 40 topics; other: wide table: 3 systems x 40 topics"
    assert out.splitlines()[0] == f"{expected}."
    assert document(call, "stability", "wide.csv", "other.csv")["read"] == expected
    (folder / "again.csv").write_text((folder / "epochs.csv").read_text())
    repeats = document(call, "stability", "epochs.csv", "again.csv")["repeats"]
    assert {name: given["per_question"] for name, given in repeats.items()} == {"epochs": 3, "again": 3}


def test_options_of_tables_do_not_apply_to_an_evaluation(call: Call, folder: Path) -> None:
    assert (
        "--metric and --systems do not apply to a folder" in call("compare", ".", "--metric", "f1", "--systems", "A")[2]
    )
    assert "is an evaluation" in call("compare", ".", "wide.csv")[2]


def test_warnings_go_to_stderr(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from qassay.errors import Problem
    from qassay.formats import foreign
    from qassay.formats.score_rows import ScoreRows

    def log(path: Path) -> ScoreRows | None:
        rows = ScoreRows("Some log", str(path), warnings=[Problem("syntax", "version 9 was never tried", str(path))])
        for i in range(3):
            rows.add("gpt", f"q{i}", i / 2, metric="accuracy")
        return rows

    monkeypatch.setattr(foreign, "read_log", log)
    status, out, err = call("compare", "new.jsonl", "old.jsonl")
    assert (status, err.splitlines()[0]) == (0, "warning: new.jsonl: version 9 was never tried")
    assert out.splitlines()[0] == "2 files, one per system (Some log): 2 systems x 3 questions, metric accuracy."
    assert " on these " in out or " on each " in out


def test_compare_of_a_pair_is_that_of_the_library(call: Call) -> None:
    expected = compare(read_scores(["new.jsonl", "old.jsonl"], metric="f1").matrix, "new", "old")
    compared = document(call, "compare", "new.jsonl", "old.jsonl", "--metric", "f1")
    assert (compared["difference"], tuple(compared["interval"])) == (expected.difference, expected.interval)
