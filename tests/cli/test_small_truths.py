"""Small statements of the commands that have to be true: who judged, what is counted, what was asked for."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from on_disk import write
from qassay.cli import main
from qassay.demo import copy_demo
from qassay.evaluation import open_evaluation
from qassay.meta.noise import judging_noise
from qassay.studies.noise import component_noise


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("truths") / "demo"
    copy_demo(folder)
    return folder


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("truths") / "pairs"
    copy_demo(folder, "entailment")
    return folder


def printed(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 0) -> str:
    assert main([str(argument) for argument in arguments]) == status
    return capsys.readouterr().out


def test_rankings_without_a_common_run_are_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "human.csv").write_text("qid,A,B\n1,1,0\n2,0,1\n", encoding="utf-8")
    (tmp_path / "model.csv").write_text("qid,C,D\n1,1,0\n2,0,1\n", encoding="utf-8")
    assert main(["stability", str(tmp_path / "human.csv"), str(tmp_path / "model.csv")]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "no run in common (human has A, B; model has C, D)" in err


def test_describe_counts_series_as_series_and_questions_as_questions(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = printed(capsys, "describe", demo, "--top", "2")
    assert "Questions with a median score of 0" in out
    assert "Series with a median score of 0" in out
    assert "Scores of 10 runs on each series" in out
    assert "14 more series (--top)" in out
    assert "unit" not in out
    zero = json.loads(printed(capsys, "describe", demo, "--json"))
    series = next(line for line in out.split("Series with a median")[1].splitlines() if line.startswith("all"))
    counts = zero["units"]["zero_medians"]["all"]
    assert series.split()[1:3] == [str(counts["zero"]), str(counts["units"])] == [str(counts["zero"]), "16"]
    one_type = printed(capsys, "describe", demo, "--component", "list")
    assert one_type.count("with a median score of 0") == 1
    assert one_type.splitlines()[2] == "Questions with a median score of 0"


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("agree", "The sets first, second and third agree on 80.6% of 268 items; "),
        ("stability", "Compared with adjudicated, first reverses 1 and second reverses 3 of 45 pairs of runs; "),
        (
            "describe",
            "The hardest series is 13 “Roald Amundsen” (mean 0.118), the easiest 6 “UNICEF” (mean 0.615); "
            "there is no series on which ",
        ),
        (
            "reuse",
            "A run left out changes by -0.026 on average, by -0.100 at most (jay); 1 of 45 pairs of runs changes ",
        ),
    ],
)
def test_the_first_line_is_the_answer(
    demo: Path, capsys: pytest.CaptureFixture[str], command: str, answer: str
) -> None:
    options = ["--resamples", "0"] if command == "agree" else []
    first, *rest = printed(capsys, command, demo, *options).splitlines()
    assert first.startswith(answer)
    assert first[-1] == "."
    # No term of statistics in the answer: they are in the tables.
    assert not {"tau", "kappa", "median"} & set(first.replace("'", " ").split())
    assert rest


def test_metrics_that_are_corrected_together_name_all_their_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        f"q{i},{system},{metric},{(i * place + len(metric)) % 7}"
        for i in range(30)
        for place, system in enumerate("abc", start=1)
        for metric in ("exact", "f1")
    ]
    (tmp_path / "scores.csv").write_text("\n".join(["question,system,metric,score", *rows]) + "\n")
    out = " ".join(printed(capsys, "compare", tmp_path / "scores.csv", "--metric", "all").split())
    assert out.count("Level 0.05 over 6 pairs of runs under 2 metrics, corrected by flips, largest of all pairs") == 2
    both = printed(capsys, "compare", tmp_path / "scores.csv", "a", "b", "--metric", "all", "--gate", status=4)
    # The gate names the level of the interval in the table above it.
    levels = [line.split(" interval")[0].split()[-1] for line in both.splitlines() if "% interval" in line]
    assert set(levels) == {"97.5%"}


def test_scores_of_justifications_are_headed_by_their_judges(pairs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "justification, judges: first, second, 20 pairs" in printed(capsys, "score", pairs)
    by_key = printed(capsys, "score", pairs, "--measure", "entailment_accuracy")
    assert "justification, judgments: adjudicated, 20 pairs" in by_key


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("score", []),
        ("sensitivity", ["--intervals", "0", "--fit"]),
        ("agree", ["--resamples", "10"]),
        ("stability", []),
    ],
)
def test_manual_runs_carry_a_star_in_every_table_of_runs(
    pairs: Path, capsys: pytest.CaptureFixture[str], command: str, options: list[str]
) -> None:
    out = printed(capsys, command, pairs, *options)
    tables = [part for part in out.split("\n\n") if any(line.split()[:1] == ["run"] for line in part.splitlines())]
    assert command == "score" or tables
    for table in tables:
        assert "rules*" in table
        assert "* manual run" in table
    assert "rules*" in out


def test_stars_in_the_sweep_and_in_reuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "copy"
    copy_demo(folder)
    about = folder / "runs.jsonl"
    rows = [json.loads(line) for line in about.read_text(encoding="utf-8").splitlines()] if about.exists() else []
    write(about, [*(row for row in rows if row["run"] != "hobby"), {"run": "hobby", "manual": True}])
    for arguments in (
        ["score", folder, "--beta", "1-2"],
        ["reuse", folder, "--component", "factoid"],
        ["describe", folder],
    ):
        out = printed(capsys, *arguments)
        assert "hobby*" in out
        assert "* manual run" in out


def test_intervals_that_were_not_asked_for_are_not_called_impossible(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = " ".join(printed(capsys, "agree", demo, "--sets", "first,second", "--resamples", "0").split())
    assert "No intervals: none were asked for (0 resamples)." in out
    assert "the labels vary too little" not in out


def test_agreement_uses_the_reference_only_where_it_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "rte"
    asked = [{"id": str(i), "type": "pair", "text": "t", "hypothesis": "h"} for i in range(1, 5)]
    write(folder / "questions.jsonl", asked)
    (folder / "qassay.toml").write_text('task = "entailment3"\ntwo_way = ["reference"]\n', encoding="utf-8")
    for name, labels in {"first": "YNUY", "second": "YNYY", "reference": "YNNY"}.items():
        words = {"Y": "YES", "N": "NO", "U": "UNKNOWN"}
        rows = [{"question": str(i), "judgment": words[letter]} for i, letter in enumerate(labels, 1)]
        write(folder / "judgments" / f"{name}.jsonl", rows)
    document = json.loads(printed(capsys, "agree", folder, "--json"))
    assert document["sets"] == ["first", "second"]
    chosen = json.loads(printed(capsys, "agree", folder, "--sets", "first,second,reference", "--json"))
    assert set(chosen["sets"]) == {"first", "second", "reference"}


def test_score_prints_the_decisions_of_entailment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "rte"
    asked = [{"id": str(i), "type": "pair", "text": "t", "hypothesis": "h"} for i in range(1, 5)]
    write(folder / "questions.jsonl", asked)
    (folder / "qassay.toml").write_text('task = "entailment2"\n', encoding="utf-8")
    reference = ["YES", "NO", "NO", "YES"]
    write(
        folder / "judgments" / "reference.jsonl",
        [{"question": str(i), "judgment": label} for i, label in enumerate(reference, 1)],
    )
    for run, decisions in {"a": ["YES", "YES", "NO", "YES"], "b": ["NO", "NO", "NO", "YES"]}.items():
        rows = [{"run": run, "question": str(i), "decision": d} for i, d in enumerate(decisions, 1)]
        write(folder / "runs" / f"{run}.jsonl", rows)
    out = printed(capsys, "score", folder)
    lines = [line.split() for line in out.split("Decisions of 2 runs")[1].splitlines()]
    assert ["YES", "3", "1", "4"] in lines
    assert ["NO", "1", "3", "4"] in lines
    assert ["all", "4", "4", "8"] in lines


def test_noise_counts_other_nuggets_even_where_the_score_is_the_same() -> None:
    items = pl.DataFrame(
        [(run, question, "d", "x") for run in "ab" for question in "123"],
        schema=["run", "question", "doc", "text"],
        orient="row",
    )
    scores = pl.DataFrame(
        [("a", "1", 0.5), ("a", "2", 0.5), ("a", "3", 0.5), ("b", "1", 0.5), ("b", "2", 0.5), ("b", "3", 0.75)],
        schema=["run", "question", "score"],
        orient="row",
    )
    nuggets = {("a", "1"): {"1"}, ("b", "1"): {"2"}, ("a", "2"): {"1"}, ("b", "2"): {"1"}, ("b", "3"): {"1", "2"}}
    verdicts = {place: frozenset(matched) for place, matched in nuggets.items()}
    noise = judging_noise(items, scores, component="other", verdicts=verdicts)
    assert [pair.differing for pair in noise.identical] == [("1", "3")]
    # Lists count another score, as [QA03] does.
    assert [pair.differing for pair in judging_noise(items, scores, component="list").identical] == [("3",)]


def test_noise_of_nugget_questions_in_an_evaluation(tmp_path: Path) -> None:
    """A second run returns what `hobby` returns; another okay nugget was matched for one question."""
    folder = tmp_path / "twins"
    copy_demo(folder)
    source = next(path for path in (folder / "runs").iterdir() if path.name.startswith("hobby"))
    text = source.read_text(encoding="utf-8").replace(" hobby ", " twin ").replace('"hobby"', '"twin"')
    (folder / "runs" / source.name.replace("hobby", "twin")).write_text(text, encoding="utf-8")
    judged = folder / "judgments" / "adjudicated.jsonl"
    rows = [json.loads(line) for line in judged.read_text(encoding="utf-8").splitlines()]
    copies = [{**row, "run": "twin"} for row in rows if row.get("run") == "hobby"]
    matched = next(row for row in copies if row.get("nuggets") is not None)
    lines = (folder / "nuggets" / "adjudicated.jsonl").read_text("utf-8").splitlines()
    listed = [row["nugget"] for row in map(json.loads, lines) if row["question"] == matched["question"]]
    matched["nuggets"] = [*matched["nuggets"], next(name for name in listed if name not in matched["nuggets"])]
    judged.write_text("".join(json.dumps(row) + "\n" for row in [*rows, *copies]), encoding="utf-8")
    noise = component_noise(open_evaluation(folder), "adjudicated", "other")
    assert noise is not None
    assert [(pair.a, pair.b, pair.differing) for pair in noise.identical] == [("hobby", "twin", (matched["question"],))]
