"""Scores of very few questions: no intervals, and tied runs share a place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from on_disk import imported
from on_disk import write as write_rows
from qassay.cli import main
from qassay.formats.scores import read_scores
from qassay.meta.intervals import score_intervals


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


def test_the_kind_of_an_interval_does_not_follow_from_the_runs_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One run had BCa, and Wilson beside the best runs alone: the run that was left out had the only *partly*."""
    labels = {"a": "1110111011", "b": "1010101010", "c": "1010p01010"}
    names = {"1": "correct", "0": "incorrect", "p": "partly"}
    files = [
        write_rows(
            tmp_path / f"{tag}.jsonl", ({"id": str(n), "question": f"{n}?", "answer": f"{tag} {n}"} for n in range(10))
        )
        for tag in labels
    ]
    folder = imported(tmp_path / "eval", "qa", *files)
    judged = (
        {"question": str(n), "text": f"{tag} {n}", "judgment": names[label]}
        for tag, given in labels.items()
        for n, label in enumerate(given)
    )
    write_rows(folder / "judgments" / "ada.jsonl", judged)
    write_rows(folder / "runs.jsonl", ({"run": tag, "organisation": "x" if tag in "bc" else tag} for tag in labels))
    shown = []
    for options in ([], ["--best-per-organisation"]):
        capsys.readouterr()
        assert main(["score", str(folder), *options]) == 0
        shown.append(capsys.readouterr().out)
    assert [("c  " in text, "by bootstrap (BCa), over 10 questions" in " ".join(text.split())) for text in shown] == [
        (True, True),
        (False, True),
    ]
    first, best = (next(line for line in text.splitlines() if " a " in line).split()[2:4] for text in shown)
    # Of three, the leader was picked: its lower limit allows for that.
    assert (first[0], first[1].partition("–")[2]) == (best[0], best[1].partition("–")[2])


def test_the_whole_table_says_which_kind_of_interval_its_systems_have(tmp_path: Path) -> None:
    """Before any restriction, in wide tables and in long ones; columns beyond 0 to 1 are no such systems."""
    wide, long = tmp_path / "wide.csv", tmp_path / "long.csv"
    rows = [(f"q{n}", n % 2, n % 3 == 0, 0.5 if n == 4 else 1) for n in range(20)]
    wide.write_text("id,A,B,C,level\n" + "".join(f"{q},{a:d},{b:d},{c},{len(q)}\n" for q, a, b, c in rows))
    long.write_text(
        "id,system,score\n"
        + "".join(f"{q},{name},{float(x)}\n" for q, *scores in rows for name, x in zip("ABC", scores, strict=True))
    )
    for path in (wide, long):
        all_three = score_intervals(read_scores(path, systems=["A", "B", "C"]).matrix)
        two = score_intervals(read_scores(path, systems=["A", "B"]).matrix)
        chosen = score_intervals(read_scores(path, systems=["A", "B", "C"]).matrix.select(["A", "B"]))
        assert all_three.methods[:2] == two.methods == chosen.methods == ("BCa", "BCa")
    wide.write_text("id,A,B,level\n" + "".join(f"{q},{a:d},{b:d},{len(q)}\n" for q, a, b, _ in rows))
    assert score_intervals(read_scores(wide, systems=["A", "B"]).matrix).methods == ("Wilson", "Wilson")
