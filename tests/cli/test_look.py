"""`qassay look`: what files are, and the commands for them; hints where a command cannot read its input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from qassay.cli import main
from qassay.demo import demo_folder
from qassay.formats.looking import look

Captured = pytest.CaptureFixture[str]
Data = Callable[[str], Path]

ANSWERS = (
    '{"query": "Who wrote it?", "prediction": "Ann", "reference": "Ann", "ms": 12}\n'
    '{"query": "When?", "prediction": ""}\n'
)
SCORES = "question,A,B\nq1,0.5,1\nq2,0,0.25\nq3,1,1\n"

FILES = {
    "answers.jsonl": (ANSWERS, "responses"),
    "answers.csv": ("id,question,answer\n1,Who is it?,Ann\n", "responses"),
    "both.jsonl": ('{"question": "Who is it?", "answer": "Ann", "prediction": "Anna"}', "responses"),
    "gold.json": ('[{"question": "Who is it?", "gold": "Ann"}]', "responses"),
    "known.jsonl": ('{"question": "1.3", "answer": "Atlanta"}\n', "answers"),
    "labels.csv": ("id,run,label\n1,A,yes\n", "judgments"),
    "judgments.jsonl": ('{"question": "1", "doc": "D", "text": "x", "judgment": "R"}\n', "judgments"),
    "questions.jsonl": ('{"id": "1", "type": "pair", "text": "T", "hypothesis": "H"}\n', "questions"),
    "run.txt": ("1 tag D1 Paris\n2 tag NIL\n", "run"),
    "scores.csv": (SCORES, "scores"),
    "notebook.csv": (",question,model,correct\n0,What is X of it?,A,1\n1,What is X of it?,B,0\n", "scores"),
    "holes.csv": ("qid,A,B\nq1,0.5,\nq2,0,0.25\n", "scores"),
    "documents.sgml": ("<DOC><DOCNO>1</DOCNO></DOC>", "documents"),
    "prose.txt": ("some prose\nin a file\n", "unknown"),
    "empty": ("\n", "empty"),
}


@pytest.mark.parametrize("name", FILES)
def test_every_kind_of_file(tmp_path: Path, capsys: Captured, name: str) -> None:
    text, kind = FILES[name]
    (tmp_path / name).write_text(text)
    assert main(["look", str(tmp_path / name), "--json"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)["files"]
    assert finding["kind"] == kind
    assert finding["summary"].endswith(".")
    assert kind == "empty" or all(
        str(tmp_path) in step["command"] or "my-eval" in step["command"] for step in finding["commands"]
    )
    assert (
        kind == "empty"
        or str(tmp_path / name) in finding["commands"][-1]["command"] + finding["commands"][0]["command"]
    )


def test_answers_are_described(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "old.jsonl").write_text(ANSWERS)
    assert main(["look", str(tmp_path / "old.jsonl")]) == 0
    printed = capsys.readouterr().out
    for part in (
        "old.jsonl contains answers in free text.",
        "JSON lines, 2 rows",
        "question in 'query', answer in 'prediction', gold in 'reference'",
        "1 system: old (the file's name; --run names another)",
        "1 empty answer",
        "no ids: questions are known by their text",
        "not used: ms",
        f"qassay import my-eval {tmp_path / 'old.jsonl'} --task qa",
        'qassay judge my-eval --with "match(normalise=true)"',
    ):
        assert part in printed


def test_the_commands_that_are_proposed_run(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    import shlex

    monkeypatch.chdir(tmp_path)
    Path("old.jsonl").write_text(ANSWERS)
    Path("scores.csv").write_text(SCORES)
    for name in ("old.jsonl", "scores.csv"):
        for step in look(Path(name)).steps:
            if "serve" not in step.command:
                assert main(shlex.split(step.command)[1:]) in ((0,) if "sensitivity" not in step.command else (0, 1, 2))
    capsys.readouterr()


def test_several_files_have_a_command_together(tmp_path: Path, capsys: Captured) -> None:
    paths = [tmp_path / "a b.jsonl", tmp_path / "c.jsonl"]
    for path in paths:
        path.write_text(ANSWERS)
    assert main(["look", *map(str, paths)]) == 0
    assert f"qassay import my-eval '{paths[0]}' {paths[1]} --task qa" in capsys.readouterr().out


def test_several_files_with_several_metrics_have_a_command_that_runs(tmp_path: Path, capsys: Captured) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path in paths:
        path.write_text("user_input,response,faithfulness,answer_relevancy\nwho?,me,0.5,1\nwhen?,now,1,0.5\n")
    assert main(["look", *map(str, paths)]) == 0
    assert f"qassay compare {paths[0]} {paths[1]} --metric faithfulness" in capsys.readouterr().out
    assert main(["compare", *map(str, paths), "--metric", "faithfulness"]) == 0


def test_a_table_says_why_it_has_no_scores(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,new,old\n1,85%,80%\n2,70%,60%\n")
    assert main(["look", str(path)]) == 0
    assert "no scores that can be read: no column has numbers" in capsys.readouterr().out


def test_an_evaluation_and_another_folder(tmp_path: Path, capsys: Captured) -> None:
    assert main(["look", str(demo_folder()), str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "is an evaluation with the task series2004" in printed
    assert f"{tmp_path} is not an evaluation: it has no qassay.toml" in printed


def test_a_workbook_with_a_fault_says_which(tmp_path: Path, capsys: Captured) -> None:
    """A colleague's sheet ends with a row of averages."""
    pytest.importorskip("xlsxwriter", reason="xlsxwriter is not installed")
    frame = pl.DataFrame({"ID": ["1", "2", "Average"], "Notes": ["", "ask", ""], "A": [1.0, 0.0, 0.5], "B": [1, 1, 1]})
    frame.write_excel(tmp_path / "scores.xlsx")
    assert main(["look", str(tmp_path / "scores.xlsx")]) == 0
    printed = capsys.readouterr().out
    assert "no scores that can be read: row 'Average' looks like a summary of the other rows" in printed
    assert "not an Excel workbook" not in printed
    assert main(["init", str(tmp_path / "e"), "--task", "qa"]) == 0
    assert main(["import", str(tmp_path / "e"), str(tmp_path / "scores.xlsx")]) == 1
    assert "its kind cannot be recognised; say it with --as KIND" in capsys.readouterr().err


def test_real_files(data: Data) -> None:
    kinds = {
        "trec_qa/trec13questions.xml": "questions",
        "trec_rag24/nugget_assignment.20241108.jl": "rag-assignments",
        "trec_rag24/topics.rag24.test.txt": "questions",
    }
    assert {name: look(data(name)).kind for name in kinds} == kinds


def test_a_file_that_is_not_there(tmp_path: Path, capsys: Captured) -> None:
    assert main(["look", str(tmp_path / "none.csv"), "--json"]) == 1
    assert "No such file" in json.loads(capsys.readouterr().out)["errors"][0]["message"]
    (tmp_path / "scores.csv").write_text(SCORES)
    for command in ("look", "compare", "describe"):
        assert main([command, str(tmp_path / "score.csv")]) == 1
        assert f"did you mean '{tmp_path / 'scores.csv'}'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "name", "hinted"),
    [
        (("compare",), "answers.jsonl", "contains answers in free text. Try: qassay import my-eval"),
        (("compare",), "judgments.jsonl", "contains judgments"),
        (
            ("import", "EVALUATION"),
            "scores.csv",
            "contains scores: wide table: 2 systems x 3 questions. Try: qassay compare",
        ),
        (("compare",), "prose.txt", None),
        (("import", "EVALUATION"), "prose.txt", None),
        (("compare",), "holes.csv", None),
    ],
    ids=["answers", "judgments", "scores", "prose", "prose to import", "holes"],
)
def test_errors_say_what_a_file_looks_like(
    tmp_path: Path, capsys: Captured, command: tuple[str, ...], name: str, hinted: str | None
) -> None:
    main(["init", str(tmp_path / "e"), "--task", "qa"])
    (tmp_path / name).write_text(FILES[name][0])
    capsys.readouterr()
    arguments = [str(tmp_path / "e") if part == "EVALUATION" else part for part in command]
    assert main([*arguments, str(tmp_path / name)]) == 1
    message = capsys.readouterr().err
    assert "error: " in message
    hints = [line for line in message.splitlines() if line.startswith("hint: ")]
    assert (hinted is None and not hints) or (hinted is not None and hinted in hints[0])


def test_json_of_an_error_is_not_mixed_with_hints(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "answers.jsonl").write_text(ANSWERS)
    assert main(["compare", str(tmp_path / "answers.jsonl"), "--json"]) == 1
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert document["errors"]
