"""`qassay score` from its arguments to its exit status: JSON, tables, CSV, and what it says when it cannot."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qassay
import random_evaluations as evaluations
from on_disk import write_texts
from qassay.cli import main
from qassay.formats import files
from qassay.formats.matrix import read_matrix
from qassay.scoring.record import RunScore, Scores, Units, ranked
from qassay.summaries import Mean

TASKS = {
    # task: question types, measure, components that are always there, further figures of a run
    "ranked5": ("mrr", {"mrr", "mrr_lenient"}, set()),
    "confidence": ("cws", {"cws", "accuracy"}, {"nil_precision", "nil_recall"}),
    "passages": ("accuracy", {"accuracy"}, {"nil_precision", "nil_recall"}),
    "main2003": ("final_score", {"factoid", "list", "definition"}, {"nil_precision", "nil_recall", "mean_length"}),
    "series2004": (
        "series_score",
        {"factoid", "list", "other"},
        {"nil_precision", "nil_recall", "mean_length", "by_type"},
    ),
    "definition": ("nugget_f(beta=5)", {"definition"}, {"mean_length"}),
    "qaciad": ("series_score", {"list"}, set()),
    "entailment2": ("entailment_accuracy", {"YES", "NO"}, {"contingency"}),
    "entailment3": ("entailment_accuracy", {"YES", "NO", "UNKNOWN"}, {"contingency"}),
    "justification": ("correctness", {"understandability", "correctness"}, set()),
    "nuggets": (
        "vital_strict",
        {"all", "all_strict", "vital", "vital_strict", "weighted", "weighted_strict"},
        {"mean_length"},
    ),
}
WHERE_JUDGED = {
    "definition": {"content", "organization", "holistic"},
    "qaciad": {"gathering", "browsing"},
    "justification": {"accuracy"},
    "nuggets": {"citation_precision", "citation_recall"},
}
EVERY_DOCUMENT = {
    "leader",
    "level",
    "notes",
    *("task", "key", "measure", "higher_is_better", "direction_assumed"),
    *("runs", "units", "matrix", "questions", "dropped"),
}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Two series, two runs of one organisation and a manual one; one answer of run `b` is not judged."""
    questions = [
        {"id": "1.1", "type": "factoid", "text": "?", "series": "1"},
        {"id": "1.2", "type": "list", "text": "?", "series": "1"},
        {"id": "1.3", "type": "other", "text": "", "series": "1"},
        {"id": "2.1", "type": "factoid", "text": "?", "series": "2"},
        {"id": "2.2", "type": "other", "text": "", "series": "2"},
    ]
    judgments = [
        {"question": "1.1", "doc": "D", "text": "x", "judgment": "R"},
        {"question": "2.1", "doc": "D", "text": "x", "judgment": "W"},
        *({"question": "1.2", "run": run, "doc": "D", "text": "x", "judgment": "R"} for run in "abc"),
        {"question": "1.2", "run": "a", "doc": "D", "text": "y", "judgment": "R"},
        *({"question": q, "run": run, "nuggets": ["1"]} for q in ("1.3", "2.2") for run in "abc"),
    ]
    nuggets = [{"question": q, "nugget": "1", "vital": True} for q in ("1.3", "2.2")]
    runs = {
        "a": "1.1 a D x\n1.2 a D x\n1.2 a D y\n1.3 a D fact\n2.1 a NIL\n2.2 a D fact\n",
        "b": "1.1 b D z\n1.2 b D x\n1.3 b D fact\n2.1 b D x\n2.2 b NIL\n",
        "c": "1.1 c D x\n1.2 c D x\n1.3 c NIL\n2.1 c D x\n2.2 c D fact\n",
    }
    return write_texts(
        tmp_path / "evaluation",
        {
            "qassay.toml": 'task = "series2004"',
            "questions.jsonl": "".join(json.dumps(row) + "\n" for row in questions),
            "judgments/adjudicated.jsonl": "".join(json.dumps(row) + "\n" for row in judgments),
            "nuggets/adjudicated.jsonl": "".join(json.dumps(row) + "\n" for row in nuggets),
            **{f"runs/{tag}.txt": text for tag, text in runs.items()},
            "runs.jsonl": '{"run": "a", "organisation": "x"}\n{"run": "b", "organisation": "x"}\n'
            '{"run": "c", "manual": true}\n',
        },
    )


@pytest.fixture
def judged(small: Path) -> Path:
    """The same with everything judged."""
    with (small / "judgments" / "adjudicated.jsonl").open("a") as file:
        file.write('{"question": "1.1", "doc": "D", "text": "z", "judgment": "X"}\n')
    return small


def run_score(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return status, out, err


def document(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 0) -> dict[str, Any]:
    ended, out, _ = run_score(capsys, *arguments, "--json")
    assert ended == status
    parsed = json.loads(out)
    assert isinstance(parsed, dict)
    return parsed


# ---------------------------------------------------------------- JSON


@pytest.mark.parametrize("task", TASKS)
def test_the_keys_of_the_document(task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measure, components, figures = TASKS[task]
    seen: set[str] = set()
    for seed in range(8):
        folder = evaluations.make(tmp_path / str(seed), task, seed)
        kinds = {json.loads(line)["type"] for line in (folder / "questions.jsonl").read_text().splitlines()}
        status, out, _ = run_score(capsys, "score", folder, "--unjudged", "wrong", "--missing", "zero", "--json")
        document = json.loads(out)
        if status:  # nothing is left to score
            assert set(document) == {"errors", "errors_total"}
            continue
        more = {"contingency"} & figures | ({"unjudged", "missing"} & set(document))
        assert set(document) == EVERY_DOCUMENT | more
        assert (document["task"], document["measure"]) == (task, measure)
        allowed = components | WHERE_JUDGED.get(task, set())
        for row in document["runs"]:
            absent = {"nil_precision", "nil_recall"} if "factoid" not in kinds else set()
            absent |= {"mean_length"} if not kinds & {"definition", "other"} else set()
            absent |= {"by_type"} if len(kinds) == 1 else set()
            assert (
                set(row) - {"organisation", "manual", "interval", "letters", "rank_range"}
                == {"run", "score", "components", *figures} - absent
            )
            wanted = components & kinds if components <= {"factoid", "list", "definition", "other"} else components
            assert wanted <= set(row["components"]) <= allowed
            seen |= set(row["components"])
        tags = [row["run"] for row in document["runs"]]
        assert list(document["matrix"]) == tags
        assert all(len(scores) == len(document["units"]) for scores in document["matrix"].values())
        assert list(document["questions"]) == tags
        for row in document["dropped"]:
            assert {"reason"} < set(row) <= {"unit", "question", "reason"}
    assert seen == components | WHERE_JUDGED.get(task, set())


def test_a_document_by_hand(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scored = document(capsys, "score", judged)
    # S of 1.2 is {x, y}: a found both, b and c one of them; NIL is right for 2.1.
    two_thirds = pytest.approx(2 / 3)
    # Two series have no intervals, and so no groups.
    assert [tuple(map(row.pop, ("interval", "letters", "rank_range"))) for row in scored["runs"]] == [(None,) * 3] * 3
    assert (scored.pop("level"), scored.pop("leader"), len(scored.pop("notes"))) == (None, None, 2)
    assert scored == {
        "task": "series2004",
        "key": "adjudicated",
        "measure": "series_score",
        "higher_is_better": True,
        "direction_assumed": False,
        "runs": [
            {
                "run": "a",
                "score": 1.0,
                "components": {"factoid": 1.0, "list": 1.0, "other": 1.0},
                "nil_precision": 1.0,
                "nil_recall": 1.0,
                "mean_length": 4.0,
                "by_type": 1.0,
                "organisation": "x",
            },
            {
                "run": "c",
                "score": pytest.approx((0.5 + 0.25 * 2 / 3 + 0.33) / 2),
                "components": {"factoid": 0.5, "list": two_thirds, "other": 0.5},
                "nil_precision": None,
                "nil_recall": None,
                "mean_length": 2.0,
                "by_type": pytest.approx(0.25 + 0.25 * 2 / 3 + 0.125),
                "manual": True,
            },
            {
                "run": "b",
                "score": pytest.approx((0.25 * 2 / 3 + 0.25) / 2),
                "components": {"factoid": 0.0, "list": two_thirds, "other": 0.5},
                "nil_precision": None,
                "nil_recall": None,
                "mean_length": 2.0,
                "by_type": pytest.approx(0.25 * 2 / 3 + 0.125),
                "organisation": "x",
            },
        ],
        "units": ["1", "2"],
        "matrix": {
            "a": [1.0, 1.0],
            "c": [pytest.approx(0.5 + 0.25 * 2 / 3), pytest.approx(0.33)],
            "b": [pytest.approx(0.25 * 2 / 3 + 0.25), 0.0],
        },
        "questions": {
            "a": {"1.1": 1.0, "1.2": 1.0, "1.3": 1.0, "2.1": 1.0, "2.2": 1.0},
            "c": {"1.1": 1.0, "1.2": two_thirds, "1.3": 0.0, "2.1": 0.0, "2.2": 1.0},
            "b": {"1.1": 0.0, "1.2": two_thirds, "1.3": 1.0, "2.1": 0.0, "2.2": 0.0},
        },
        "dropped": [],
    }


def test_numbers_are_not_rounded(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run_score(capsys, "score", judged, "--json")
    assert "0.6666666666666666" in out


def test_stdout_is_one_line_of_json(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run_score(capsys, "score", judged, "--json")
    assert (status, err) == (0, "")
    assert out.count("\n") == 1


# ---------------------------------------------------------------- unjudged, missing, dropped


def test_a_series_can_leave_the_series_scores_while_its_questions_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(qassay.demo_folder(), tmp_path / "demo"))
    before = document(capsys, "score", folder)
    configuration = folder / "qassay.toml"
    text = configuration.read_text()
    configuration.write_text(text + '\n[drop]\n"7" = {reason = "target misspelled", from = "series"}\n')
    after = document(capsys, "score", folder)
    assert after["dropped"] == [{"unit": "7", "reason": "target misspelled"}]
    assert after["units"] == [unit for unit in before["units"] if unit != "7"]
    assert after["questions"] == before["questions"]
    place = before["units"].index("7")
    for run in before["runs"]:
        left = [score for index, score in enumerate(before["matrix"][run["run"]]) if index != place]
        [changed] = [other for other in after["runs"] if other["run"] == run["run"]]
        assert changed["score"] == pytest.approx(sum(left) / len(left), abs=1e-12)
        assert changed["components"] == run["components"]
    configuration.write_text(text + '\n[drop]\n"7.1" = {reason = "x", from = "series"}\n')
    assert main(["score", str(folder)]) == 1
    assert '"7.1" is not a series of the test set' in capsys.readouterr().err
    configuration.write_text(text + '\n[drop]\n"7" = {reason = "x", from = "here"}\n')
    assert main(["score", str(folder)]) == 1
    assert "takes a table of reasons" in capsys.readouterr().err


def test_unjudged_items_stop_the_scoring(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run_score(capsys, "score", small)
    assert (status, out) == (1, "")
    assert "1 item is not judged in the set adjudicated" in err
    assert "--unjudged wrong" in err
    assert "question 1.1: D z" in err
    scored = document(capsys, "score", small, status=1)
    assert set(scored) == {"errors", "errors_total"}
    assert [row["rule"] for row in scored["errors"]] == ["unjudged", "unjudged"]
    assert set(scored["errors"][0]) == {"file", "line", "question", "rule", "message"}
    assert scored["errors"][1]["question"] == "1.1"


def test_only_the_first_few_unjudged_items_are_named(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (small / "judgments" / "adjudicated.jsonl").write_text("")
    (small / "answers.jsonl").write_text('{"question": "1.2", "answer": "x"}\n')
    scored = document(capsys, "score", small, status=1)
    # D x and D z of 1.1, D x of 2.1; four list items; two nugget responses to each other question.
    assert scored["errors"][0]["message"].startswith("11 items are not judged")
    assert len(scored["errors"]) == 7
    assert scored["errors"][-1]["message"] == "... and 6 more"


def test_applied_rules_are_noted(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scored = document(capsys, "score", small, "--unjudged", "wrong")
    assert scored["unjudged"] == {"rule": "wrong", "items": 1}
    assert "missing" not in scored
    (small / "runs" / "c.txt").write_text("1.1 c D x\n1.2 c D x\n2.1 c D x\n")
    assert document(capsys, "score", small, "--unjudged", "wrong", status=1)["errors"][0]["rule"] == "missing-question"
    scored = document(capsys, "score", small, "--unjudged", "wrong", "--missing", "skip")
    assert scored["missing"] == {"rule": "skip", "questions": {"c": 2}}
    assert scored["matrix"]["c"] == [pytest.approx((1 + 2 / 3 / 2) / 1.5), 0.0]
    assert scored["questions"]["c"]["1.3"] is None
    scored = document(capsys, "score", small, "--unjudged", "wrong", "--missing", "zero")
    assert scored["questions"]["c"]["1.3"] == 0.0
    status, out, _ = run_score(capsys, "score", small, "--unjudged", "wrong", "--missing", "zero")
    assert status == 0
    assert "Unjudged: 1 counted as wrong (--unjudged wrong)." in out
    assert "score 0 (--missing zero): c 2." in out


def test_an_unjudged_other_question_takes_its_series_with_it(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (judged / "nuggets" / "adjudicated.jsonl").write_text('{"question": "1.3", "nugget": "1", "vital": true}\n')
    table = judged / "judgments" / "adjudicated.jsonl"
    table.write_text("".join(line for line in table.read_text().splitlines(keepends=True) if '"2.2"' not in line))
    scored = document(capsys, "score", judged, "--unjudged", "drop")
    assert scored["units"] == ["1"]
    assert scored["dropped"] == [{"unit": "2", "question": "2.2", "reason": "never judged"}]
    assert scored["unjudged"] == {"rule": "drop", "items": 1}
    assert scored["questions"]["a"]["2.1"] is None


def test_judged_but_not_adjudicated_is_not_never_judged(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (judged / "nuggets" / "adjudicated.jsonl").write_text('{"question": "1.3", "nugget": "1", "vital": true}\n')
    table = judged / "judgments" / "adjudicated.jsonl"
    lines = table.read_text().splitlines(keepends=True)
    (judged / "judgments" / "first.jsonl").write_text("".join(line for line in lines if '"2.2"' in line))
    table.write_text("".join(line for line in lines if '"2.2"' not in line))
    scored = document(capsys, "score", judged, "--unjudged", "drop")
    assert scored["dropped"] == [{"unit": "2", "question": "2.2", "reason": "judged, but not adjudicated"}]
    scored = document(capsys, "score", judged, "--unjudged", "wrong")
    assert scored["dropped"] == [{"question": "2.2", "reason": "judged, but not adjudicated"}]
    # A set that cannot be read says nothing, and is in nobody's way.
    (judged / "judgments" / "broken.jsonl").write_text("no judgment\n")
    (judged / "judgments" / "second.jsonl").write_text(table.read_text())
    scored = document(capsys, "score", judged, "--unjudged", "drop", "--key", "second")
    assert scored["dropped"][0]["reason"] == "judged, but not in the key second"


def test_organisers_decisions_are_noted(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (judged / "qassay.toml").write_text('task = "series2004"\n[drop]\n"2" = "never judged"\n"1.2" = "a bad question"\n')
    scored = document(capsys, "score", judged)
    assert scored["dropped"] == [
        {"unit": "2", "reason": "never judged"},
        {"question": "1.2", "reason": "a bad question"},
    ]
    assert scored["matrix"]["c"] == [pytest.approx(0.67)]
    _, out, _ = run_score(capsys, "score", judged)
    assert "Left out: 2 (never judged), 1.2 (a bad question)." in out


# ---------------------------------------------------------------- other views


def test_another_key_and_another_measure(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (judged / "judgments" / "adjudicated.jsonl").read_text()
    (judged / "judgments" / "first.jsonl").write_text(text.replace('"R"', '"U"').replace('"W"', '"R"'))
    (judged / "answers.jsonl").write_text('{"question": "1.2", "answer": "x"}\n')
    scored = document(capsys, "score", judged, "--key", "first", "--measure", "accuracy")
    assert (scored["key"], scored["measure"], scored["units"]) == ("first", "accuracy", ["1.1", "2.1"])
    assert scored["questions"]["a"] == {"1.1": 0.0, "2.1": 0.0}
    assert scored["questions"]["b"] == {"1.1": 0.0, "2.1": 1.0}
    scored = document(capsys, "score", judged, "--component", "list")
    assert (scored["measure"], scored["units"]) == ("list_f", ["1.2"])


def test_the_sweep_of_beta(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for rules in ((), ("--missing", "zero")):
        scored = document(capsys, "score", judged, "--beta", "1-3", *rules)
        assert scored["betas"] == [1, 2, 3]
        rows = {row["run"]: row for row in scored["runs"]}
        assert {run: row["ranks"] for run, row in rows.items()} == {"a": [1] * 3, "b": [2.5] * 3, "c": [2.5] * 3}
        for place, beta in enumerate(scored["betas"]):
            single = document(capsys, "score", judged, "--measure", f"nugget_f(beta={beta})", *rules)
            assert {run: row["scores"][place] for run, row in rows.items()} == {
                row["run"]: row["score"] for row in single["runs"]
            }
    status, out, _ = run_score(capsys, "score", judged, "--beta", "1-3")
    assert status == 0
    assert [f"F({b})" in out for b in range(1, 5)] == [True, True, True, False]


def test_the_sweep_averages_over_what_a_run_has(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Under --missing skip, and not over the questions that all runs have."""
    (judged / "runs" / "c.txt").write_text("1.1 c D x\n1.2 c D x\n2.1 c D x\n2.2 c D fact\n")
    rules = ("--missing", "skip")
    scored = document(capsys, "score", judged, "--beta", "2-2", *rules)
    single = document(capsys, "score", judged, "--measure", "nugget_f(beta=2)", *rules)
    assert {row["run"]: row["scores"] for row in scored["runs"]} == {"a": [1.0], "b": [0.5], "c": [1.0]}
    assert {row["run"]: [row["score"]] for row in single["runs"]} == {"a": [1.0], "b": [0.5], "c": [1.0]}
    # A matrix for analyses holds the units of all runs, and says that it holds no others.
    matrix = qassay.open(judged).score(measure="nugget_f(beta=2)", missing="skip").matrix
    assert matrix.units == ("2.2",)
    assert matrix.notes[-1] == "Only the 1 of 2 questions that every run has (--missing skip)."


@pytest.mark.parametrize("sweep", ["5-1", "x", "1-x", "-3", "", "1-1000", "1.5-2"])
def test_a_sweep_that_is_none(judged: Path, capsys: pytest.CaptureFixture[str], sweep: str) -> None:
    status, out, err = run_score(capsys, "score", judged, f"--beta={sweep}", "--json")
    assert (status, out) == (2, "")
    assert "--beta takes a range" in err


@pytest.mark.parametrize("option", [("--measure", "list_f"), ("--component", "list"), ("--csv",)])
def test_a_sweep_is_a_measure_of_its_own(
    judged: Path, capsys: pytest.CaptureFixture[str], option: tuple[str, ...]
) -> None:
    assert run_score(capsys, "score", judged, "--beta", "1-3", *option)[0] == 2


def test_csv_is_a_matrix_that_can_be_read_back(
    judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = run_score(capsys, "score", judged, "--csv")
    assert status == 0
    (tmp_path / "scores.csv").write_text(out)
    matrix, own = read_matrix(tmp_path / "scores.csv"), qassay.open(judged).score().matrix
    assert (matrix.runs, matrix.units) == (own.runs, own.units)
    assert matrix.values.tolist() == own.values.tolist()


def test_the_best_run_of_each_organisation(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scored = document(capsys, "score", judged, "--best-per-organisation")
    # b is of a's organisation; c has none and stands for itself.
    assert [row["run"] for row in scored["runs"]] == list(scored["matrix"]) == list(scored["questions"]) == ["a", "c"]
    _, out, _ = run_score(capsys, "score", judged, "--best-per-organisation")
    assert "The best run of each organisation." in out


def test_the_table_for_people(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run_score(capsys, "score", judged, "--no-intervals")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "a scores best with 1.000 (series_score), 3 runs, 2 series, judgments: adjudicated."
    assert lines[2] == "series2004, judgments: adjudicated, 2 series"
    rows = {line.split()[1]: line.split() for line in lines if line.strip()[:1] in "123" and line.strip()}
    # rank, tag with a star for a manual run, score, components, by type, NIL precision and recall (a dash), length
    assert rows["c*"] == ["2", "c*", "0.498", "0.500", "0.667", "0.500", "0.542", "–", "–", "2.0"]
    assert "* manual run" in out


def test_tags_cannot_move_the_cursor(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text direction marks are no control characters, so a tag may hold them; a terminal must not obey them."""
    text = (judged / "runs" / "c.txt").read_text().replace(" c ", " c\u202ec ")
    (judged / "runs" / "c.txt").write_text(text, encoding="utf-8")
    _, out, _ = run_score(capsys, "score", judged, "--unjudged", "wrong", "--no-intervals")
    assert "\u202e" not in out
    assert "c\\u202ec" in out


# ---------------------------------------------------------------- wrong usage and wrong input


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--measure", "nuget_f"), "unknown measure 'nuget_f'; did you mean 'nugget_f'?"),
        (("--measure", "nugget_f"), "needs beta"),
        (("--measure", "vital_strict"), "vital_strict does not fit the questions of task series2004"),
        (("--component", "definition"), "unknown component of task series2004 'definition'"),
        (("--component", "lst"), "did you mean 'list'?"),
        (("--measure", "list_f", "--component", "list"), "not both"),
        (("--key", "adjudicatd"), "unknown judgment set 'adjudicatd'; did you mean 'adjudicated'?"),
        (("--unjudged", "maybe"), "'maybe' is not one of"),
        (("--missing", "maybe"), "'maybe' is not one of"),
        (("--nonsense",), "--nonsense"),
    ],
)
@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_wrong_usage(
    judged: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str, as_json: tuple[str, ...]
) -> None:
    status, out, err = run_score(capsys, "score", judged, *arguments, *as_json)
    assert (status, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


def test_no_folder_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_score(capsys, "score")[0] == 2


@pytest.mark.parametrize(
    ("change", "file", "words"),
    [
        ({"qassay.toml": 'task = "series2004'}, "qassay.toml", "is not TOML"),
        ({"qassay.toml": 'task = "series204"'}, "qassay.toml", "did you mean 'series2004'?"),
        ({"qassay.toml": "task = 3"}, "qassay.toml", "task: is 3"),
        ({"qassay.toml": 'name = "x"'}, "qassay.toml", "task: is missing"),
        ({"qassay.toml": 'task = "series2004"\ntypo = 1'}, "qassay.toml", "typo: unknown key"),
        ({"qassay.toml": 'task = "mine.toml"'}, "qassay.toml", "cannot read mine.toml"),
        ({"qassay.toml": 'task = "mine.toml"', "mine.toml": "name ="}, "mine.toml", "is not TOML"),
        ({"qassay.toml": 'task = "series2004"\n[drop]\n"9" = "x"'}, "qassay.toml", 'drop: "9" is neither'),
        ({"qassay.toml": 'task = "main2003"'}, "questions.jsonl", "type other, which task main2003 does not have"),
        ({"questions.jsonl": ""}, "questions.jsonl", "no questions"),
        ({"questions.jsonl": '{"id": "1", "type": "factoid", "text": "?"}'}, "questions.jsonl", "1 has no series"),
        ({"judgments/adjudicated.jsonl": "{"}, "judgments/adjudicated.jsonl", "not JSON"),
        ({"nuggets/adjudicated.jsonl": '{"question": "1.3"}'}, "nuggets/adjudicated.jsonl", 'no "nugget"'),
        ({"runs/a.txt": "1.1 a D x\n1.1 a D y"}, "runs/a.txt", "a factoid takes one"),
        ({"runs.jsonl": "[]"}, "runs.jsonl", "one JSON object"),
        ({"answers.jsonl": '{"question": "9", "answer": "x"}'}, "answers.jsonl", "not in the test set"),
    ],
)
def test_wrong_input(
    judged: Path, capsys: pytest.CaptureFixture[str], change: dict[str, str], file: str, words: str
) -> None:
    write_texts(judged, change)
    status, out, err = run_score(capsys, "score", judged, "--json")
    assert status == 1
    errors = json.loads(out)["errors"]
    assert errors[0]["file"] == file
    assert words in errors[0]["message"]
    assert err.startswith("error: ")
    assert len(err.splitlines()) == len(errors)


@pytest.mark.parametrize(
    ("verb", "more"),
    [
        *((verb, ()) for verb in ("score", "agree", "facts", "pool", "export", "reuse", "backup", "serve")),
        ("judge", ("--with", "match")),
        ("trust", ("--assessor", "a")),
        ("sample", ("--size", "1", "--for", "a")),
        ("import", ("a file",)),
        ("sheet", ("--assessor", "ada")),
    ],
)
def test_a_folder_that_is_not_an_evaluation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: str, more: tuple[str, ...]
) -> None:
    for path, words in ((tmp_path / "nowhere", "does not exist"), (tmp_path, "is not an evaluation")):
        status, out, err = run_score(capsys, verb, path, *more, *(("--json",) if verb not in ("serve",) else ()))
        assert status == 1
        assert words in err
        assert "qassay init" in err
        if out:
            assert json.loads(out)["errors"][0]["rule"] == "configuration"


def test_a_file_that_is_not_an_evaluation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert "is a file, not an evaluation" in run_score(capsys, "score", tmp_path / "file")[2]


def test_a_key_has_to_be_chosen_among_several(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = judged / "judgments" / "adjudicated.jsonl"
    for name in ("first", "second"):
        (table.parent / f"{name}.jsonl").write_text(table.read_text())
    table.unlink()
    status, _, err = run_score(capsys, "score", judged)
    assert status == 1
    assert "none is adjudicated: first, second. To choose one: --key SET" in err
    assert document(capsys, "score", judged, "--key", "second")["key"] == "second"


def test_a_file_that_cannot_be_read(
    judged: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = files.open_inside

    def refuse(path: Path) -> BufferedReader:
        if path.name == "questions.jsonl":
            raise PermissionError(13, "Permission denied", str(path))
        return genuine(path)

    monkeypatch.setattr(files, "open_inside", refuse)
    status, out, err = run_score(capsys, "score", judged, "--json")
    assert status == 1
    assert "Permission denied" in json.loads(out)["errors"][0]["message"]
    assert "questions.jsonl" in err


# ---------------------------------------------------------------- a task of one's own

OWN = """
title = "Exact answers, and lists that weigh three times as much"
measure = "final_score"
forms = ["trec4", "jsonl"]
labels = ["R", "W"]
components = ["factoid", "list"]
[types.factoid]
response = "one"
nil = true
score = "accuracy"
weight = 1
[types.list]
response = "set"
score = "list_f"
weight = 3
"""


def own(folder: Path, text: str) -> Path:
    return write_texts(
        folder,
        {
            "qassay.toml": 'name = "mine"\ntask = "own.toml"',
            "own.toml": text,
            "questions.jsonl": "".join(
                json.dumps({"id": name, "type": kind, "text": "?"}) + "\n"
                for name, kind in (("1", "factoid"), ("2", "list"))
            ),
            "runs/a.txt": "1 a D x\n2 a D y\n2 a D z\n",
            "judgments/adjudicated.jsonl": '{"question": "1", "doc": "D", "text": "x", "judgment": "W"}\n'
            '{"question": "2", "run": "a", "doc": "D", "text": "y", "judgment": "R"}\n'
            '{"question": "2", "run": "a", "doc": "D", "text": "z", "judgment": "W"}\n',
        },
    )


def test_a_task_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scored = document(capsys, "score", own(tmp_path, OWN))
    assert scored["task"] == "mine"
    # D = 1, N = 2, S = 1: F = 2/3, with three quarters of the weight.
    assert scored["runs"][0]["score"] == pytest.approx(0.75 * 2 / 3)
    assert scored["runs"][0]["components"] == {"factoid": 0.0, "list": pytest.approx(2 / 3)}


def test_single_keys_can_be_changed_beside_the_task(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (judged / "qassay.toml").write_text('task = "series2004"\n[types.other]\nscore = "nugget_f(beta=1, allowance=1)"\n')
    scored = document(capsys, "score", judged)
    # One nugget allows one character of "fact": precision 1/4, recall 1, F(1) = 0.4.
    assert scored["questions"]["a"]["1.3"] == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('measure = "final_score"', "", "measure: is missing"),
        ('measure = "final_score"', 'measure = "finale"', "measure: unknown measure 'finale'"),
        ('forms = ["trec4", "jsonl"]', 'forms = ["trec5"]', "forms: 'trec5' is not a run form"),
        ('labels = ["R", "W"]', "labels = [1]", "labels: is [1]"),
        ('labels = ["R", "W"]', 'lables = ["R"]', "lables: unknown key 'lables'; did you mean 'labels'?"),
        ('components = ["factoid", "list"]', 'components = ["lists"]', "components: lists"),
        ('response = "one"', 'response = "two"', "types.factoid.response: is 'two'"),
        ('response = "one"', "", "types.factoid.response: is missing"),
        ("nil = true", 'nil = "yes"', "types.factoid.nil: is 'yes'"),
        ("nil = true", "max_items = 0", "types.factoid.max_items: is 0"),
        ("nil = true", "colour = 3", "types.factoid.colour: unknown key"),
        ('score = "list_f"', 'score = "list_g"', "types.list.score: unknown measure 'list_g'"),
        ('score = "list_f"', 'score = "accuracy"', "types.list.score: accuracy cannot score"),
        ('score = "list_f"', 'score = "nugget_f"', "types.list.score: the measure nugget_f needs beta"),
        ("weight = 3", "weight = -3", "types.list.weight: is -3"),
        ("weight = 3", "weight = nan", "types.list.weight: is nan"),
        ("weight = 3", 'weight = "3"', "types.list.weight: is '3'"),
        ("[types.list]", "[types.lists]", "types.lists: is not a question type"),
        ("[types.factoid]", "[without]\nlist = 3\n[types.factoid]", "without.list: is 3"),
        ("[types.factoid]", "[without.list]\n[types.factoid]", "without.list.factoid: is None"),
        ("[types.factoid]", "[without.other]\nfactoid = 1\n[types.factoid]", "without.other: 'other' is not a"),
        ('title = "', 'unit = "page"\ntitle = "', "unit: is 'page'"),
        ('title = "', 'assessors = "two"\ntitle = "', "assessors: is 'two'"),
    ],
)
def test_faults_of_a_task_name_the_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, words: str
) -> None:
    assert OWN.count(old) == 1
    scored = document(capsys, "score", own(tmp_path, OWN.replace(old, new)), status=1)
    assert {row["rule"] for row in scored["errors"]} == {"configuration"}
    assert any(row["message"].startswith(words) for row in scored["errors"]), scored


# ---------------------------------------------------------------- what a process does

COMMAND = [sys.executable, "-c", "import sys; from qassay.cli import main; raise SystemExit(main())"]


def test_scoring_changes_nothing_in_the_folder(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def state() -> list[tuple[str, int, bytes]]:
        files = [path for path in judged.rglob("*") if path.is_file()]
        return sorted((str(path), path.stat().st_mtime_ns, path.read_bytes()) for path in files)

    before = state()
    for path in [judged, *judged.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert run_score(capsys, "score", judged, "--json")[0] == 0
        assert run_score(capsys, "check", judged)[0] == 0
    finally:
        for path in [judged, *judged.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert state() == before


def test_the_same_command_says_the_same(judged: Path) -> None:
    """Whatever the hash seed of the process and the number of threads."""
    texts = set()
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "POLARS_MAX_THREADS": seed}
        done = subprocess.run([*COMMAND, "score", judged, "--json"], capture_output=True, env=environment, check=True)
        texts.add(done.stdout)
    assert len(texts) == 1


def test_interrupted(judged: Path) -> None:
    """Ctrl-C in the midst of it: exit status 130, a word, no traceback."""
    program = (
        "import sys, time, qassay.evaluation as e\n"
        "def slow(*a, **k):\n    print('started', file=sys.stderr, flush=True)\n    time.sleep(60)\n"
        "e.Evaluation.score = slow\n"
        "from qassay.cli import main\nraise SystemExit(main(sys.argv[1:]))\n"
    )
    arguments = [sys.executable, "-c", program, "score", str(judged), "--json"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "started\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err


@pytest.mark.parametrize("arguments", [("score", "--json"), ("check",)])
def test_the_reader_goes_away(judged: Path, arguments: tuple[str, ...]) -> None:
    """`qassay score ... | head -1`: no traceback, no complaint."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*COMMAND, arguments[0], str(judged), *arguments[1:]], stdout=writing, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(writing)
    assert done.stderr == b""
    assert done.returncode == 0


def test_a_full_disk(judged: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    status = main(["score", str(judged), "--json"])
    monkeypatch.undo()
    assert status == 1
    assert capsys.readouterr().err == "error: No space left on device\n"


def test_neighbours_within_a_rounding_error_share_a_rank_whatever_their_tags() -> None:
    scores = {"c": 0.5, "b": 0.5 - 0.8e-9, "a": 0.5 - 1.6e-9, "d": 0.4}
    rows = ranked(RunScore(run, score, {}) for run, score in scores.items())
    assert [row.run for row in rows] == ["a", "b", "c", "d"]
    units = Units((), np.empty((4, 0)), Mean(), None, None)
    assert Scores("task", "key", "measure", rows, units, {}, ()).ranks() == {"a": 2, "b": 2, "c": 2, "d": 4}


def test_runs_above_a_score(capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(qassay.demo_folder())
    assert main(["score", folder, "--json"]) == 0
    scores = {row["run"]: row["score"] for row in json.loads(capsys.readouterr().out)["runs"]}
    assert main(["score", folder, "--above", "0.5", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["run"] for row in document["runs"]] == [run for run, score in scores.items() if score > 0.5]
    assert set(document["matrix"]) == {row["run"] for row in document["runs"]}
    # Groups and intervals are those among all runs, whatever is shown, and the same as in Python.
    board = qassay.leaderboard(qassay.open(folder))
    assert board.intervals is not None
    for row in document["runs"]:
        assert (tuple(row["interval"]), row["letters"]) == (
            board.intervals.interval(row["run"]),
            board.letters[row["run"]],
        )
    assert main(["score", folder]) == 0
    whole = capsys.readouterr().out
    assert main(["score", folder, "--above", "0.5"]) == 0
    out = capsys.readouterr().out
    assert "Runs that score above 0.5: 4 of 10." in out
    shown = [line for line in out.splitlines() if line.startswith("   ") and "–" in line]
    assert len(shown) == 4
    assert all(line in whole.splitlines() for line in shown)
    assert main(["score", folder, "--above", "0.9"]) == 2
    assert "no run scores above 0.9; the best is hobby with 0.541" in capsys.readouterr().err
