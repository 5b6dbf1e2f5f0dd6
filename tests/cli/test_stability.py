"""`qassay stability` on score matrices and on small evaluations."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from on_disk import write
from qassay.cli import main

RUNS = ("alpha", "beta", "gamma", "delta")


def write_matrix(path: Path, runs: Sequence[str], units: Mapping[str, Sequence[object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["qid", *runs], *([unit, *row] for unit, row in units.items())])
    return path


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str | Path, status: int = 0) -> dict[str, Any]:
    assert main(["stability", *map(str, arguments), "--json"]) == status
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


@pytest.fixture
def matrices(tmp_path: Path) -> list[Path]:
    human = write_matrix(tmp_path / "human.csv", RUNS, {"1": [1, 1, 0, 0], "2": [1, 0, 1, 0], "3": [1, 1, 0, 0]})
    model = write_matrix(tmp_path / "model.csv", RUNS, {"3": [0, 1, 0, 0], "2": [1, 1, 1, 0], "1": [1, 1, 0, 0]})
    return [human, model]


def test_score_matrices_are_named_by_their_files(matrices: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    # Sums of three: human 3 2 1 0, model 2 3 1 0: alpha and beta change places.
    document = run_json(capsys, *matrices)
    measure = document["measures"]["score"]
    assert document["reference"] == "human"
    assert document["sets"] == ["human", "model"]
    assert measure["swaps"] == [[0, 1], [1, 0]]
    assert measure["tau"][0][1] == pytest.approx(1 - 2 / 6)
    assert measure["swaps_at_least"]["0.33"] == 1
    assert measure["swaps_at_least"]["0.34"] == 0
    assert measure["largest_swapped_difference"] == pytest.approx(1 / 3)
    change = {"run": "alpha", "set": "model", "change": pytest.approx(1 / 3)}
    assert {name: measure["largest_change"][name] for name in change} == change
    # Units: 1 agrees fully; 2 and 3 by scipy.
    taus = [1.0]
    taus += [
        stats.kendalltau([1, 0, 1, 0], [1, 1, 1, 0]).statistic,
        stats.kendalltau([1, 1, 0, 0], [0, 1, 0, 0]).statistic,
    ]
    assert measure["unit_tau"][0][1] == pytest.approx(np.mean(taus))
    assert measure["bound"] is None
    assert document["noise"] is None


def test_the_reference_can_be_chosen(matrices: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    document = run_json(capsys, *matrices, "--reference", "model")
    assert document["reference"] == "model"
    assert document["measures"]["score"]["swapped"] == [
        {
            "set": "human",
            "better": "beta",
            "worse": "alpha",
            "difference": pytest.approx(1 / 3),
            "other_difference": pytest.approx(-1 / 3),
        }
    ]


def test_tau_ap_takes_the_row_as_the_truth(
    tmp_path: Path, golden: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    # README of the R package ircor: x is the truth.
    anchor = golden["rank_correlation"]
    runs = [f"r{i}" for i in range(10)]
    files = {
        name: write_matrix(tmp_path / f"{name}.csv", runs, {"1": anchor[name]}) for name in ("x", "y", "y_rounded")
    }
    plain = run_json(capsys, files["x"], files["y"])["measures"]["score"]
    assert plain["tau_ap"][0][1] == pytest.approx(anchor["tau_ap"], abs=1e-7)
    assert plain["tau_ap"][1][0] != pytest.approx(anchor["tau_ap"], abs=1e-3)
    tied = run_json(capsys, files["x"], files["y_rounded"])["measures"]["score"]
    assert tied["tied"][0][1] == 1
    assert tied["tau_ap_a"][0][1] == pytest.approx(anchor["tau_ap_a_y_rounded_1"], abs=1e-5)
    assert tied["tau_ap"][0][1] == pytest.approx(anchor["tau_ap_b_y_rounded_1"], abs=1e-7)


def test_halves_of_a_real_matrix(
    tmp_path: Path, data: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    with data("score_matrices/adhoc8_ap.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    halves = []
    for name, part in (("odd", rows[::2]), ("even", rows[1::2])):
        halves.append(write_matrix(tmp_path / f"{name}.csv", header, {f"{name}{i}": row for i, row in enumerate(part)}))
    measure = run_json(capsys, *halves)["measures"]["score"]
    means = [np.array(part, dtype=float).mean(axis=0) for part in (rows[::2], rows[1::2])]
    assert measure["tau"][0][1] == pytest.approx(float(stats.kendalltau(*means).statistic), abs=1e-9)
    assert measure["runs"] == 129
    # No unit is in both files, so there is nothing to say of single units.
    assert measure["unit_tau"][0][1] is None


def test_tables_for_people(matrices: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stability", *map(str, matrices)]) == 0
    shown = capsys.readouterr().out
    for words in (
        "Stability under human, model",
        "tau (Kendall)",
        "Scores and ranks under each set",
        "Swaps against human",
    ):
        assert words in shown


def test_two_runs_have_no_tau(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = write_matrix(tmp_path / "a.csv", ["x", "y"], {"1": [1, 0]})
    two = write_matrix(tmp_path / "b.csv", ["x", "y"], {"1": [0, 1]})
    measure = run_json(capsys, first, two)["measures"]["score"]
    assert measure["tau"] == [[None, None], [None, None]]
    assert measure["swaps_with_reference"] == 1
    assert "three runs" in measure["notes"][0]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["human.csv"], 2, "two judges or more"),
        (["human.csv", "model.csv", "--reference", "modle"], 2, "did you mean 'model'?"),
        (["human.csv", "model.csv", "--sets", "a,b"], 2, "--sets does not apply to a table of scores"),
        (
            ["human.csv", "model.csv", "--measure", "cws", "--unjudged", "wrong"],
            2,
            "chosen with --metric NAME",
        ),
        (["human.csv", "nowhere.csv"], 1, "nowhere.csv"),
        (["human.csv", "broken.csv"], 1, "beta"),
        ([".", "model.csv"], 1, "not an evaluation"),
    ],
)
def test_wrong_usage_and_input(
    matrices: list[Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    status: int,
    message: str,
) -> None:
    write_matrix(matrices[0].parent / "broken.csv", RUNS, {"1": [1, "n/a", 0, 0]})
    monkeypatch.chdir(matrices[0].parent)
    assert main(["stability", *arguments]) == status
    assert message in capsys.readouterr().err


@pytest.fixture
def entailment(tmp_path: Path) -> Path:
    """800 pairs with the labels of [RTE08] table 3, the first judge's as the key, and runs of known accuracy."""
    cells = {"YES/YES": 381, "YES/UNKNOWN": 82, "UNKNOWN/UNKNOWN": 217, "YES/NO": 11, "UNKNOWN/NO": 43, "NO/NO": 66}
    labels = [cell.split("/") for cell, count in cells.items() for _ in range(count)]
    folder = tmp_path / "rte"
    folder.mkdir()
    (folder / "qassay.toml").write_text('task = "entailment3"\ntwo_way = ["main"]\n', encoding="utf-8")
    write(
        folder / "questions.jsonl",
        [{"id": str(i), "type": "pair", "text": "t", "hypothesis": "h"} for i in range(len(labels))],
    )
    sets = {
        "adjudicated": [row[0] for row in labels],
        "judge1": [row[0] for row in labels],
        "judge2": [row[1] for row in labels],
        "main": ["YES" if row[0] == "YES" else "NO" for row in labels],
    }
    for name, given in sets.items():
        rows = [{"question": str(i), "judgment": label} for i, label in enumerate(given)]
        write(folder / "judgments" / f"{name}.jsonl", rows)
    decisions = {
        "copy1": [row[0] for row in labels],
        "copy2": [row[1] for row in labels],
        "yes": ["YES"] * len(labels),
        "unknown": ["UNKNOWN"] * len(labels),
    }
    for tag, given in decisions.items():
        rows = [{"run": tag, "question": str(i), "decision": decision} for i, decision in enumerate(given)]
        write(folder / "runs" / f"{tag}.jsonl", rows)
    return folder


def test_entailment_sets_and_the_bound(entailment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = run_json(capsys, entailment)
    measure = document["measures"]["entailment_accuracy"]
    # The two-way key scores another task and does not stand among the three-way sets unasked.
    assert document["sets"] == ["adjudicated", "judge1", "judge2"]
    assert document["reference"] == "adjudicated"
    assert measure["bound"] == pytest.approx(0.17)
    # copy1 is right on everything under judge 1 and on all but 136 pairs under judge 2; copy2 the other way round.
    assert measure["swaps"] == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    assert measure["largest_swapped_difference"] == pytest.approx(136 / 800)
    assert measure["largest_change"]["change"] == pytest.approx(136 / 800)
    assert measure["mean_tau_with_reference"] == pytest.approx((1 + 2 / 3) / 2)
    assert document["noise"] == {}


def test_the_bound_names_what_it_leaves_out(entailment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = run_json(capsys, entailment)
    assert document["notes"] == ["Not shown unless chosen: the rankings under two-way and disagreement-unknown."]
    document = run_json(capsys, entailment, "--sets", "adjudicated,judge1,disagreement-unknown,two-way")
    # What disagreement-unknown follows from counts, named or not; two-way is another rule and can pass the bound.
    measure = document["measures"]["entailment_accuracy"]
    assert measure["bound"] == pytest.approx(136 / 800)
    assert document["notes"][0].startswith("two-way: NO and UNKNOWN count alike there")
    settled = entailment / "judgments" / "adjudicated.jsonl"
    rows = [json.loads(line) for line in settled.read_text(encoding="utf-8").splitlines()]
    rows[0]["judgment"] = "NO"  # both judges say YES
    write(settled, rows)
    notes = run_json(capsys, entailment, "--sets", "adjudicated,judge1,judge2")["notes"]
    assert notes == ["adjudicated rules against all assessors on 1 question, which the bound leaves out."]


def test_derived_keys_can_be_named(entailment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = run_json(capsys, entailment, "--sets", "judge1,disagreement-unknown,two-way")
    assert document["sets"] == ["judge1", "disagreement-unknown", "two-way"]
    assert document["reference"] == "judge1"


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    """Two list questions; `twin1` and `twin2` return the same and are judged apart; `second` judges one question."""
    folder = tmp_path / "lists"
    folder.mkdir()
    (folder / "qassay.toml").write_text('task = "main2003"\n', encoding="utf-8")
    questions = [{"id": q, "type": "list", "text": "?"} for q in "12"] + [{"id": "3", "type": "factoid", "text": "?"}]
    write(folder / "questions.jsonl", questions)
    items = {"twin1": ["Rome", "Oslo"], "twin2": ["Oslo", "Rome"], "other": ["Rome"]}
    for tag, matched in items.items():
        rows: list[dict[str, Any]] = [
            {"run": tag, "question": q, "items": [{"doc": "D", "text": text} for text in matched]} for q in "12"
        ]
        rows.append({"run": tag, "question": "3", "items": [{"doc": "D", "text": matched[0]}]})
        write(folder / "runs" / f"{tag}.jsonl", rows)
    judged = [
        {"question": q, "run": tag, "doc": "D", "text": text, "judgment": "R", "answer": text, "assessor": f"who{q}"}
        for q in "12"
        for tag, matched in items.items()
        for text in matched
    ]
    factoids = [{"question": "3", "doc": "D", "text": text, "judgment": "R"} for text in ("Rome", "Oslo")]
    write(folder / "judgments" / "second.jsonl", factoids)
    for row in judged:
        if row["run"] == "twin2" and row["question"] == "2" and row["text"] == "Oslo":
            row["judgment"] = "W"
    write(folder / "judgments" / "adjudicated.jsonl", [*judged, *factoids])
    return folder


def test_judging_noise_of_identical_runs(lists: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = run_json(capsys, lists)
    noise = document["noise"]["list"]
    assert noise["pairs"] == 1
    assert noise["questions_differing"] == {"1": 1}
    # F falls from 1 to 1/2 on one of two questions.
    assert noise["min"] == noise["max"] == noise["mean"] == pytest.approx(0.25)
    assert noise["assessors"] == {"who2": 1}
    assert "definition" not in document["noise"]
    assert main(["stability", str(lists)]) == 0
    assert "Judging noise, list questions" in capsys.readouterr().out


def test_sets_that_judge_only_a_part_are_left_out_unless_named(lists: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = run_json(capsys, lists)
    assert document["sets"] == ["adjudicated"]
    assert document["notes"][0].startswith("Left out: set second (")
    assert "nothing to compare" in document["measures"]["final_score"]["notes"][0]
    assert "second" in str(run_json(capsys, lists, "--sets", "adjudicated,second", status=1)["errors"])
    whole = run_json(capsys, lists, "--component", "factoid")
    assert whole["sets"] == ["adjudicated", "second"]
    assert whole["measures"]["accuracy"]["tau"][0][1] is None
    assert whole["noise"] == {}


def test_several_measures(lists: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = run_json(capsys, lists, "--measure", "final_score", "--measure", "accuracy", "--unjudged", "wrong")
    assert list(document["measures"]) == ["final_score", "accuracy"]
    assert document["sets"] == ["adjudicated", "second"]
    # What scoring under one set left out stands under the set's name.
    assert any(note.startswith("second: ") for note in document["measures"]["final_score"]["notes"])


def test_wrong_names_in_an_evaluation(lists: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stability", str(lists), "--reference", "third"]) == 2
    assert "unknown reference among the sets 'third'" in capsys.readouterr().err
    assert main(["stability", str(lists), "--measure", "list_g"]) == 2
    assert "did you mean 'list_f'?" in capsys.readouterr().err
    assert main(["stability", str(lists), "--runs-as-rows"]) == 2
    assert "--runs-as-rows does not apply to a folder" in capsys.readouterr().err


def test_judges_of_justifications_rank_the_runs_each_for_themselves(
    tmp_path: Path, golden: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    # [RTE08] figure 2, pair 75. Scoring takes all judges together; here each is a set. An unassigned correctness is 0.
    folder = tmp_path / "why"
    folder.mkdir()
    (folder / "qassay.toml").write_text('task = "justification"\n', encoding="utf-8")
    write(folder / "questions.jsonl", [{"id": "75", "type": "pair", "text": "t", "hypothesis": "h"}])
    ratings = golden["RTE08"]["pair75"]
    for judge in range(6):
        rows = []
        for run, given in ratings.items():
            row = {"question": "75", "run": run, "understandability": given[judge][0]}
            rows.append(row if given[judge][1] is None else row | {"correctness": given[judge][1]})
        write(folder / "judgments" / f"judge{judge}.jsonl", rows)
    measure = run_json(capsys, folder, "--reference", "judge0")["measures"]["correctness"]
    scores = [[given[judge][1] or 0 for given in ratings.values()] for judge in range(6)]
    for judge in range(1, 6):
        expected = float(stats.kendalltau(scores[0], scores[judge]).statistic)
        assert measure["tau"][0][judge] == pytest.approx(expected, abs=1e-9)
