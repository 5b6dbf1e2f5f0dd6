"""`qassay describe` on the built-in evaluation and on real score matrices."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from on_disk import write
from qassay.cli import main
from qassay.demo import demo_folder


def described(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["describe", *arguments, "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_an_evaluation_is_described_by_unit_type_and_weight(capsys: pytest.CaptureFixture[str]) -> None:
    document = described(capsys, str(demo_folder()))
    assert main(["score", str(demo_folder()), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    by_unit = zip(scores["units"], zip(*scores["matrix"].values(), strict=True), strict=True)
    medians = {unit: median(values) for unit, values in by_unit}
    assert {row["unit"]: row["median"] for row in document["units"]["units"]} == pytest.approx(medians)
    questions = {
        name: [scores["questions"][run][name] for run in scores["questions"]] for name in scores["questions"]["hobby"]
    }
    zero = sum(median(values) == 0 for values in questions.values())
    assert document["questions"]["zero_medians"]["all"]["zero"] == zero
    assert [move["component"] for move in document["weights"]["moves"]] == ["factoid"] * 2 + ["list"] * 2 + [
        "other"
    ] * 2
    assert -1 <= document["aggregation"]["agreement"]["tau"] <= 1


def test_one_question_type_has_no_weights_to_move(capsys: pytest.CaptureFixture[str]) -> None:
    document = described(capsys, str(demo_folder()), "--component", "list")
    assert [name for name, part in document.items() if part] == ["units", "target_types"]


def test_series_hide_the_questions_that_nobody_answers(
    data: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    # About 64% of the TREC 2006 questions have a zero median, about 8% of the series do.
    matrix = str(data("score_matrices/trec2006_factoid_rr_strict.csv"))
    questions = described(capsys, matrix, "--missing", "zero")["units"]["zero_medians"]["all"]
    series = described(capsys, matrix, "--missing", "zero", "--series-from", r"^([^.]+)")["units"]["zero_medians"][
        "all"
    ]
    assert (questions["units"], series["units"]) == (386, 75)
    assert questions["share"] == pytest.approx(0.64, abs=0.01)
    assert series["share"] == pytest.approx(0.08, abs=0.005)


def test_the_summary_comes_first_and_top_limits_the_units(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("qid,A,B\n" + "".join(f"q{i},0,1\n" for i in range(30)))
    assert main(["describe", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.index("Questions with a median score of 0") < out.index("Scores of 2 runs")
    assert "q19" in out
    assert "q20" not in out
    assert "10 more questions (--top)" in out
    assert main(["describe", str(path), "--top", "0"]) == 0
    assert "Scores of 2 runs" not in capsys.readouterr().out


# ---- side by side ---------------------------------------------------------------------------------------------------


def test_scores_by_type_of_target(capsys: pytest.CaptureFixture[str]) -> None:
    """Against the means of the matrix that `score` prints."""
    by_target = described(capsys, str(demo_folder()))["target_types"]
    assert main(["score", str(demo_folder()), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    questions = [json.loads(line) for line in (demo_folder() / "questions.jsonl").read_text().splitlines()]
    kinds = {question["series"]: question["target_type"] for question in questions}
    assert {kind: part["units"] for kind, part in by_target["types"].items()} == dict.fromkeys(
        ("PERSON", "ORGANIZATION", "THING", "EVENT"), 4
    )
    for kind, part in by_target["types"].items():
        places = [place for place, unit in enumerate(scores["units"]) if kinds[unit] == kind]
        means = {run: sum(row[p] for p in places) / 4 for run, row in scores["matrix"].items()}
        assert part["runs"] == pytest.approx(means)
        assert part["mean"] == pytest.approx(sum(means.values()) / len(means))
    # The mean over the types, which have four series each, is the score.
    for row in scores["runs"]:
        assert sum(part["runs"][row["run"]] for part in by_target["types"].values()) / 4 == pytest.approx(row["score"])


@pytest.fixture
def pilot(tmp_path: Path) -> Path:
    """A definition pilot of three runs and two questions, with holistic scores."""
    folder = tmp_path / "pilot"
    folder.mkdir()
    (folder / "qassay.toml").write_text('task = "definition"\n')
    write(folder / "questions.jsonl", [{"id": q, "type": "definition", "text": "Who is X?"} for q in "12"])
    write(folder / "nuggets/author.jsonl", [{"question": q, "nugget": "1", "vital": True, "text": "n"} for q in "12"])
    judged: list[dict[str, Any]] = []
    for run, content, organization, nuggets in (("A", 8, 2, "12"), ("B", 6, 9, "1"), ("C", 1, 1, "")):
        rows = [{"run": run, "question": q, "items": [{"text": "words of a definition"}]} for q in "12"]
        write(folder / "runs" / f"{run}.jsonl", rows)
        for q in "12":
            judged.append({"question": q, "run": run, "nuggets": ["1"] if q in nuggets else []})
            judged.append({"question": q, "run": run, "content": content, "organization": organization})
    write(folder / "judgments/author.jsonl", judged)
    return folder


def test_holistic_against_f_and_content_against_organization(pilot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both, halves = described(capsys, str(pilot))["rankings"]
    assert both["names"] == ["definition F", "holistic"]
    assert {row["run"]: row["scores"] for row in both["runs"]} == {
        "A": pytest.approx([1.0, 0.8 * 8 + 0.2 * 2]),
        "B": pytest.approx([0.5, 0.8 * 6 + 0.2 * 9]),
        "C": pytest.approx([0.0, 1.0]),
    }
    assert both["agreement"]["tau"] == 1
    assert halves["names"] == ["content", "organization"]
    # A and B change places.
    assert (halves["agreement"]["swaps"], halves["agreement"]["concordant"]) == (1, 2)
    assert main(["describe", str(pilot)]) == 0
    out = capsys.readouterr().out
    assert "Definition F and holistic" in out
    assert "Content and organization" in out


def test_one_question_with_all_responses(capsys: pytest.CaptureFixture[str]) -> None:
    document = described(capsys, str(demo_folder()), "--question", "1.5")
    assert main(["score", str(demo_folder()), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["questions"]
    assert {row["run"]: row["score"] for row in document["responses"]} == {
        run: own["1.5"] for run, own in scores.items()
    }
    jay = next(row for row in document["responses"] if row["run"] == "jay")
    assert jay["items"] == [
        {
            "doc": "demo-curie-6",
            "text": "physicist Édouard Branly",
            "judgments": {"adjudicated": "R", "first": "X", "second": "R", "third": "R"},
        }
    ]
    nuggets = described(capsys, str(demo_folder()), "--question", "1.7")["responses"]
    assert nuggets[0]["judgments"]["first"].startswith("nuggets ")


def test_all_justifications_of_a_pair_with_all_judges(capsys: pytest.CaptureFixture[str]) -> None:
    folder = demo_folder("entailment")
    rows = [
        json.loads(line) | {"set": name}
        for name in ("first", "second")
        for line in (folder / "judgments" / f"{name}.jsonl").read_text().splitlines()
    ]
    pair = next(row["question"] for row in rows if "understandability" in row)
    document = described(capsys, str(folder), "--question", pair)
    for response in document["responses"]:
        given = [row for row in rows if row["question"] == pair and row.get("run") == response["run"]]
        assert [(r["judge"], r["understandability"], r["correctness"]) for r in response["ratings"]] == [
            (row["set"], row["understandability"], row.get("correctness")) for row in given
        ]
        assert response["mean"]["correctness"] == sum(row.get("correctness", 0) for row in given) / 2
        assert response["justification"]
    assert set(document["answers"]) == {"adjudicated", "first", "second"}
    assert main(["describe", str(folder), "--question", pair]) == 0
    assert f"All responses to pair {pair}, with the scores of all judges" in capsys.readouterr().out


def test_questions_that_are_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", str(demo_folder()), "--question", "1.55"]) == 2
    assert "unknown question '1.55'; did you mean '1.5'?" in capsys.readouterr().err
    (tmp_path / "scores.csv").write_text("id,A,B\n1,0,1\n2,1,1\n")
    assert main(["describe", str(tmp_path / "scores.csv"), "--question", "1"]) == 2
    assert "--question does not apply to a table of scores" in capsys.readouterr().err
