"""`qassay import` of what tracks and their tools give out: RAG runs, nugget lists, weights, types of targets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from on_disk import read, run_import, write
from qassay.cli import main
from qassay.evaluation import open_evaluation

Captured = pytest.CaptureFixture[str]
Data = Callable[[str], Path]

LISTS = [
    {"query": "why do lighthouses flash", "qid": "7", "nuggets": [{"text": "to be told apart", "importance": "vital"}]},
    {"query": "how far", "qid": "8", "nuggets": [{"text": "20 miles", "importance": "okay", "other": 1}], "trace": {}},
]


def rag25(answers: dict[str, list[dict[str, Any]]], references: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "metadata": {"team_id": "t", "run_id": "A", "narrative_id": question},
            "references": references,
            "answer": answer,
        }
        for question, answer in answers.items()
    ]


@pytest.fixture
def folder(tmp_path: Path, capsys: Captured) -> Path:
    """An evaluation of long answers with the nugget lists of nuggetizer."""
    assert run_import(tmp_path / "e", write(tmp_path / "gpt.jsonl", LISTS), "--task", "nuggets") == 0
    capsys.readouterr()
    return tmp_path / "e"


def test_lists_of_nuggetizer(folder: Path) -> None:
    assert [(row["id"], row["type"], row["text"]) for row in read(folder / "questions.jsonl")] == [
        ("7", "other", "why do lighthouses flash"),
        ("8", "other", "how far"),
    ]
    assert read(folder / "nuggets" / "gpt.jsonl") == [
        {"question": "7", "nugget": "1", "vital": True, "text": "to be told apart"},
        {"question": "8", "nugget": "1", "vital": False, "text": "20 miles"},
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"qid": "9", "nuggets": []}, "the line has no qid, or no query"),
        ({"qid": "9", "query": "x", "nuggets": [{"text": "y"}]}, "nugget 1: importance None; it is vital or okay"),
        ({"qid": "9", "query": "x", "nuggets": [{}]}, "nugget 1 has no text"),
    ],
)
def test_broken_lists(folder: Path, tmp_path: Path, capsys: Captured, row: dict[str, Any], message: str) -> None:
    assert run_import(folder, write(tmp_path / "x.jsonl", [row])) == 1
    assert message in capsys.readouterr().err
    assert not (folder / "nuggets" / "x.jsonl").exists()


def test_runs_of_later_rag_tracks(folder: Path, tmp_path: Path) -> None:
    answers = {
        "7": [{"text": "To be told apart.", "citations": [1, 0]}, {"text": "Yes.", "citations": []}],
        "8": [{"text": "20 miles.", "citations": ["doc#9"]}],
    }
    assert run_import(folder, write(tmp_path / "A.jsonl", rag25(answers, ["doc#1", "doc#2"]))) == 0
    table = open_evaluation(folder).runs.table
    assert table["question"].cast(str).to_list() == ["7", "7", "8"]
    assert table["citations"].to_list() == [["doc#2", "doc#1"], [], ["doc#9"]]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (rag25({"7": [{"text": "x", "citations": [2]}]}, ["d"])[0], "citation 2 points outside the 1 references"),
        (
            {"metadata": {"run_id": "A"}, "topic_id": "7", "run_id": "A", "answer": []},
            "missing required field `narrative_id`",
        ),
        ({"run_id": "", "topic_id": "7", "answer": []}, "neither run_id and topic_id nor metadata with run_id"),
    ],
)
def test_broken_runs(folder: Path, tmp_path: Path, capsys: Captured, row: dict[str, Any], message: str) -> None:
    assert run_import(folder, write(tmp_path / "A.jsonl", [row])) == 1
    assert message in capsys.readouterr().err


def test_weights_keep_what_is_vital(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "weights.tsv").write_text("7\t1\t0.25\tto be told apart\n7\t2\t0.5\tto save power\n8\t2\t0.1\tmore\n")
    assert run_import(folder, tmp_path / "weights.tsv") == 0
    nuggets = open_evaluation(folder).nugget_list("gpt").sort("question", "nugget")
    assert nuggets.select("question", "nugget", "vital", "weight").rows() == [
        ("7", "1", True, 0.25),  # as the list says
        ("7", "2", True, 0.5),
        ("8", "1", False, None),
        ("8", "2", False, 0.1),
    ]
    (tmp_path / "bad.tsv").write_text("9\t1\t0.25\tx\n")
    assert run_import(folder, tmp_path / "bad.tsv") == 1
    assert "bad.tsv:1: question 9 is not in the test set" in capsys.readouterr().err


def test_nuggets_of_questions_without_nuggets(tmp_path: Path, capsys: Captured) -> None:
    main(["init", str(tmp_path / "e"), "--task", "main2003"])
    assert (
        run_import(tmp_path / "e", write(tmp_path / "q.jsonl", [{"id": "1", "type": "factoid", "text": "Who?"}])) == 0
    )
    nugget = '{"question": "1", "nugget": "1", "vital": true, "text": "x"}\n'
    for name, text in (("w.tsv", "1\t1\t0.25\tx\n"), ("n.txt", "1 1\tvital\tx\n"), ("n.jsonl", nugget)):
        (tmp_path / name).write_text(text)
        assert run_import(tmp_path / "e", tmp_path / name) == 1
        assert f"{name}:1: question 1 is of type factoid, which takes no nuggets" in capsys.readouterr().err


def test_types_of_targets(tmp_path: Path, data: Data, capsys: Captured) -> None:
    folder = tmp_path / "e"
    files = data("trec_qa/trec13targettypes"), data("trec_qa/trec13questions.xml")
    assert run_import(folder, *files, "--task", "series2004") == 0
    assert "types of 65 targets for 351 questions" in capsys.readouterr().out
    questions = open_evaluation(folder).questions
    assert [questions.by_id[name].target_type for name in ("1.1", "2.1", "3.2")] == ["ORG", "PERSON", "THING"]
    assert run_import(folder, files[0]) == 0
    assert "nothing new: the types of its 65 targets are there already" in capsys.readouterr().out


def test_types_of_unknown_targets(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "e"
    main(["init", str(folder), "--task", "series2004"])
    question = {"id": "1.1", "type": "factoid", "text": "When?", "series": "1", "target": "Crips"}
    assert run_import(folder, write(tmp_path / "q.jsonl", [question])) == 0
    (tmp_path / "types").write_text("#ORG Crips\n#PERSON Fred Durst\n#PERSON Crips\n")
    assert run_import(folder, tmp_path / "types") == 1
    message = capsys.readouterr().err
    assert "types:2: no question has the target 'Fred Durst'" in message
    assert "types:3: the target 'Crips' has two types, ORG and PERSON" in message
