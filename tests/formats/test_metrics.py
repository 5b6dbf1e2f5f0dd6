"""Columns that are metrics are not systems, and a metric has a direction. (FORMATS 7 and 8)"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import qassay
from qassay.cli import main
from qassay.errors import QassayError
from qassay.formats.metrics import is_better_low, is_cost, is_metric

RAGAS = "id,faithfulness,answer_relevancy\nq1,0.9,0.8\nq2,0.4,0.5\nq3,0.6,0.7\n"
SYSTEMS = "id,new,old\n" + "".join(f"q{i},{100 + 7 * i},{60 + 5 * i}\n" for i in range(1, 9))


def timed(first: int) -> str:
    """One system: milliseconds and dollars, on eight questions."""
    return "id,latency_ms,cost\n" + "".join(f"q{i},{first + 7 * i},0.{i}\n" for i in range(1, 9))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {"ragas.csv": RAGAS, "scores.csv": SYSTEMS, "slow.csv": timed(200), "fast.csv": timed(100)}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        *("faithfulness", "Answer Relevancy", "contextRecall", "context-precision", "noise_sensitivity(mode=relevant)"),
        *("Contextual Relevancy", "Correctness [GEval]", "Hallucination", "llm-rubric", "rougeL", "BLEU-4", "F1 score"),
        *("toxicity/v1/score", "nDCG@10", "P@5", "recall_100", "ndcg_cut_10", "Recall@k".replace("k", "20"), "MRR"),
        *("groundedness", "QA Correctness", "feedback.helpfulness", "exact_match", "latency_ms", "avg_faithfulness"),
    ],
)
def test_known_metrics(name: str) -> None:
    assert is_metric(name)


@pytest.mark.parametrize("name", ["A", "P", "new", "gpt-4", "bm25", "bm25-rerank", "low-latency", "run1", "v2", "f2"])
def test_names_of_systems(name: str) -> None:
    assert not is_metric(name)


def test_directions_of_names() -> None:
    low = ("latency_ms", "hallucination_rate", "Toxicity", "total_cost", "WER", "perplexity", "loss", "error_rate")
    assert all(map(is_better_low, low))
    assert not any(map(is_better_low, ("accuracy", "f1", "helpfulness", "refusal_rate", "new")))
    assert is_cost("Time to first token (ms)")
    assert not is_cost("hallucination")


def test_metrics_of_one_system_stop_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("compare", "report", "plan", "describe", "sensitivity"):
        assert main([verb, "ragas.csv"]) == 1
        assert capsys.readouterr().err == (
            "error: ragas.csv:1: faithfulness, answer_relevancy look like metrics of one system, not like systems. To "
            "compare systems, give one file per system: NAME=FILE NAME=FILE. If these are systems: "
            "--systems faithfulness,answer_relevancy\n"
        )
    assert main(["look", "ragas.csv"]) == 0
    looked = capsys.readouterr().out
    assert "1 system: ragas\n" in looked
    assert "metrics: faithfulness, answer_relevancy\n" in looked
    assert main(["compare", "A=ragas.csv", "B=ragas.csv", "--metric", "faithfulness"]) == 0
    assert "2 files, one per system: 2 systems x 3 questions, metric faithfulness." in capsys.readouterr().out
    assert main(["compare", "A=ragas.csv", "B=ragas.csv"]) == 1
    assert "several metrics: faithfulness, answer_relevancy. Choose one: --metric NAME" in capsys.readouterr().err
    assert main(["compare", "ragas.csv", "--systems", "faithfulness,answer_relevancy"]) == 0
    assert "Wide table: 2 systems x 3 questions." in capsys.readouterr().out
    with pytest.raises(QassayError, match=r'systems=\["faithfulness", "answer_relevancy"\]'):
        qassay.scores("ragas.csv", repeats="rows")


def test_the_only_shared_metric_needs_no_option(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, values in (("a", (1, 0, 1)), ("b", (0, 0, 1))):
        rows = "".join(f"q{i},{value},{900 + i}\n" for i, value in enumerate(values))
        (folder / f"{name}.csv").write_text(f"id,faithfulness,latency_ms\n{rows}", encoding="utf-8")
    assert main(["compare", "A=a.csv", "B=b.csv"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("2 files, one per system: 2 systems x 3 questions, metric faithfulness.\n")
    assert "Column 'latency_ms' is not a score and was left out." in printed


def test_costs_are_compared_where_they_are_named_or_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "slow.csv", "fast.csv", "--metric", "latency_ms", "--json"]) == 0
    named = json.loads(capsys.readouterr().out)
    assert (named["measure"], named["verdict"], named["difference"]) == ("latency_ms", "worse", 100)
    assert (named["higher_is_better"], named["direction_assumed"]) == (False, True)
    assert named["read"].endswith("metric latency_ms; lower is better (assumed from its name)")
    rows = "".join(f"q{i},{system},1,{i + 50 * (system == 'B')}\n" for i in range(1, 9) for system in "AB")
    (folder / "long.csv").write_text(f"qid,system,score,tokens\n{rows}", encoding="utf-8")
    assert qassay.scores("long.csv").matrix.measure == "score"
    tokens = qassay.scores("long.csv", columns={"score": "tokens"}).matrix
    assert (tokens.measure, tokens.direction.higher_is_better) == ("tokens", False)
    assert qassay.compare_all(tokens).runs == ("A", "B")
    (folder / "only.csv").write_text(f"qid,system,_,tokens\n{rows}".replace(",1,", ",x,"), encoding="utf-8")
    assert qassay.scores("only.csv").matrix.measure == "tokens"


@pytest.mark.parametrize(
    ("options", "decision", "status", "words"),
    [
        ((), "ALLOW", 0, "higher is better (assumed)"),
        (("--lower-is-better", "all"), "REJECT", 3, "lower is better"),
        (("--lower-is-better", "score"), "REJECT", 3, "lower is better"),
        (("--lower-is-better", "score", "--margin", "60"), "ALLOW", 0, "lower is better"),
    ],
)
def test_a_slower_system_does_not_pass_the_gate(
    options: tuple[str, ...],
    decision: str,
    status: int,
    words: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["compare", "scores.csv", "new", "old", "--gate", *options]) == status
    printed = capsys.readouterr().out
    assert printed.startswith(f"Wide table: 2 systems x 8 questions; {words}.\n")
    assert f"{decision}: the 95% interval of new - old" in printed
    assert ("lies below 60 (lower is better)" in printed) == ("60" in options)


def test_the_report_follows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "scores.csv", "--lower-is-better", "all", "--to", "out.md"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Wide table: 2 systems x 8 questions; lower is better.\n")
    assert "old leads with 82.500" in printed
    written = (folder / "out.md").read_text(encoding="utf-8")
    assert "lower is better" in written
    assert "qassay compare scores.csv old new --lower-is-better all" in written


def test_a_metric_that_is_not_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "scores.csv", "--lower-is-better", "speed"]) == 2
    assert "unknown metric 'speed'; there is only 'score'" in capsys.readouterr().err


def test_python_states_directions() -> None:
    scores = {"id": [f"q{i}" for i in range(6)], "A": [5, 6, 7, 5, 6, 9], "B": [1, 2, 3, 2, 1, 2]}
    assert qassay.compare(scores).a == "A"
    for stated in (["score"], "all"):
        assert qassay.compare(scores, lower_is_better=stated).sentence().startswith("B is better than A")
        assert qassay.scores(scores, lower_is_better=stated).matrix.direction.assumed is False
        assert qassay.compare_all(scores, lower_is_better=stated).runs == ("B", "A")
    matrix = qassay.scores(scores).matrix
    assert qassay.compare(matrix, "A", "B", lower_is_better="all").verdict == "worse"
    assert qassay.describe(scores, lower_is_better="all").as_json()["units"]["higher_is_better"] is False
    lower = qassay.scores(scores, lower_is_better="all").matrix
    other = {"id": ["q0", "q1"], "system": ["C", "C"], "score": [1, 2]}
    assert qassay.scores([lower, other], missing="skip").matrix.direction.higher_is_better is False


def test_logs_that_say_their_direction(tmp_path: Path) -> None:
    cells = [json.dumps({"score": score, "direction": "minimize"}) for score in (0.25, 0.5)]
    frame = pd.DataFrame({"id": ["q1", "q2"], "risk_score": cells, "risk_execution_details": ["{}", "{}"]})
    frame.to_csv(tmp_path / "A.csv", index=False)
    matrix = qassay.scores(tmp_path / "A.csv").matrix
    assert (matrix.direction.higher_is_better, matrix.direction.assumed) == (False, False)


FRAME = pd.DataFrame({"id": ["q1", "q2", "q3"], "A": [1.0, 0.5, 0.0], "B": [0.0, np.nan, 1.0]})
WRONG: list[Any] = [
    FRAME,
    FRAME.rename(columns={"A": "faithfulness", "B": "relevance"}),
    FRAME.assign(B=["x", "y", "50%"]),
    FRAME.assign(id="q1", B=1.0),
    FRAME.assign(A=[50, 60, 70], B=[0.1, 0.2, 0.3]),
    FRAME.rename(columns={"id": "system"}).assign(system=["x", "y", "z"]),
    FRAME.assign(B=0.5, system="s", metric="m"),
    FRAME.assign(B=0.5, system=["s", "t", "s"], score=1.0),
    FRAME.assign(id="q1", system="s", score=1.0),
    FRAME.rename(columns={"id": "x"}).assign(x=["a", "b", "c"], B=1.0),
    {"id": [7, 8, 9], "x": [101, 102, 103], "B": [0.5, 0.1, 0.2]},
    [{"id": "q1", "f1": 1, "em": 0}, {"id": "q2", "f1": 1, "em": 0}],
    3,
    None,
]
REQUIRED = {"judge": "overlap", "assessor": "overlap", "size": 3, "spelling": FRAME, "path": FRAME, "a": "A", "b": "B"}


@pytest.mark.parametrize("name", sorted(set(qassay.__all__) - {"__version__", "demo_folder"}))
def test_functions_say_what_they_take_and_no_options_of_commands(name: str) -> None:
    function = getattr(qassay, name)
    if inspect.isclass(function):
        return
    others = list(inspect.signature(function).parameters.values())[1:]
    needed = {p.name: REQUIRED[p.name] for p in others if p.default is p.empty and p.kind is not p.VAR_KEYWORD}
    messages = []
    for source in WRONG:
        try:
            function(source, **needed)
        except QassayError as error:
            messages.append(str(error))
    assert messages
    assert [message for message in messages if " --" in message] == []


def test_the_same_way_out_at_two_doors(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "gaps.csv").write_text("id,A,B\nq1,1,NA\nq2,0,1\n", encoding="utf-8")
    with pytest.raises(QassayError) as caught:
        qassay.compare("gaps.csv")
    fault = "gaps.csv:2: row q1, column B: 'NA' is not a number. To leave the question out: "
    assert str(caught.value) == f'{fault}missing="skip"; to count 0: missing="zero"'
    assert main(["compare", "gaps.csv"]) == 1
    assert capsys.readouterr().err.startswith(f"error: {fault}--missing skip; to count 0: --missing zero\n")
