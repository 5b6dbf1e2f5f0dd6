"""The results page of a free-text question: gold answers and contexts are on it."""

from __future__ import annotations

import json
from pathlib import Path

from qassay.cli import main
from qassay.evaluation import open_evaluation
from qassay.web.results.finding import find


def test_gold_answers_and_contexts_are_shown(tmp_path: Path) -> None:
    contexts = [{"id": "D7", "text": "A bridge " * 50}, "It was opened in 1932."]
    rows = [
        {"id": "q1", "question": "When was it?", "answer": "1932", "gold": ["1932", "in 1932"], "contexts": contexts}
    ]
    (tmp_path / "a.jsonl").write_text(json.dumps(rows[0]))
    (tmp_path / "first.jsonl").write_text(json.dumps({"question": "q1", "run": "a", "judgment": "correct"}))
    files = [str(tmp_path / name) for name in ("a.jsonl", "first.jsonl")]
    assert main(["import", str(tmp_path / "e"), *files, "--task", "qa"]) == 0
    evaluation = open_evaluation(tmp_path / "e")
    parts = {part.name: part.table for part in find("one_question", evaluation, {"question": "q1"}).parts}
    assert [row for row in parts["about"].rows if row[0] == "gold answer"] == [
        ("gold answer", "1932"),
        ("gold answer", "in 1932"),
    ]
    answers = parts["answers"]
    assert [column.header for column in answers.columns] == ["run", "first", "contexts", "answer"]
    first, second = str(answers.rows[0][2]).split(" | ")
    assert first.startswith("D7: A bridge A bridge")
    assert len(first) <= 210
    assert second == "It was opened in 1932."
    own = {part.name: part.table for part in find("one_run", evaluation, {"run": "a"}).parts}
    assert "contexts" in [column.header for column in own["answers"].columns]
