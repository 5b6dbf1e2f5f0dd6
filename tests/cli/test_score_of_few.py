"""Scores of very few questions: no intervals, and tied runs share a place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qassay.cli import main


def write(folder: Path, questions: int) -> Path:
    """Runs a, b and c: a is right on everything, b and c on the first question alone."""
    for name in ("runs", "judgments"):
        (folder / name).mkdir(parents=True)
    ids = [str(number + 1) for number in range(questions)]
    (folder / "qassay.toml").write_text('task = "main2003"\n')
    rows = [{"id": number, "type": "factoid", "text": "Who?"} for number in ids]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for tag in "abc":
        lines = [f"{number} {tag} D1 {'x' if tag == 'a' or number == '1' else 'y'}\n" for number in ids]
        (folder / "runs" / f"{tag}.txt").write_text("".join(lines))
    judged = [
        {"question": number, "doc": "D1", "text": text, "judgment": label}
        for number in ids
        for text, label in (("x", "R"), ("y", "W"))
    ]
    (folder / "judgments" / "first.jsonl").write_text("".join(json.dumps(row) + "\n" for row in judged))
    return folder


@pytest.mark.parametrize(("questions", "without"), [(2, True), (4, True), (5, False)])
def test_intervals_need_five_questions(
    tmp_path: Path, questions: int, without: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", str(write(tmp_path / "eval", questions))]) == 0
    shown = capsys.readouterr().out
    assert ("No intervals: they need 5" in shown) is without
    assert ("[" in shown) is not without or not without


def test_tied_runs_share_a_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(write(tmp_path / "eval", 2))]) == 0
    rows = [
        line.split()[:2] for line in capsys.readouterr().out.splitlines() if line.split()[1:2] in (["a"], ["b"], ["c"])
    ]
    assert rows == [["1", "a"], ["2=", "b"], ["2=", "c"]]
