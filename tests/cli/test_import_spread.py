"""`qassay import --spread`: the rows of a crowd become sets, one label of each item in each."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

import qassay
from on_disk import read
from qassay.cli import main


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    folder = tmp_path / "e"
    folder.mkdir()
    (folder / "qassay.toml").write_text('task = "entailment2"\n')
    lines = [{"id": str(n), "type": "pair", "text": "t", "hypothesis": "h"} for n in range(20)]
    (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def crowd(path: Path, *, each: int, workers: int, seed: int = 0) -> list[dict[str, str]]:
    """A table as crowds come: one row per label, in the order of the workers, not of the pairs."""
    rng = random.Random(seed)
    rows = [
        {"question": str(pair), "label": rng.choice(["YES", "NO"]), "worker": f"w{worker}"}
        for pair in range(20)
        for worker in rng.sample(range(workers), each)
    ]
    rng.shuffle(rows)
    lines = ["question,label,worker", *(",".join(row.values()) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return rows


def test_a_crowd_becomes_sets(pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = crowd(tmp_path / "crowd.csv", each=12, workers=30)
    assert main(["import", str(pairs), str(tmp_path / "crowd.csv"), "--spread"]) == 0
    evaluation = qassay.open(pairs)
    # Twelve labels for each of 20 pairs: the sets have one label of every pair each.
    assert set(evaluation.sets) == {
        *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
        *("11th", "12th"),
    }
    stored = [row for name in evaluation.sets for row in read(pairs / "judgments" / f"{name}.jsonl")]
    assert Counter((row["question"], row["judgment"], row["assessor"]) for row in stored) == Counter(
        (row["question"], row["label"], row["worker"]) for row in rows
    )
    assert all(len(read(pairs / "judgments" / f"{name}.jsonl")) == 20 for name in evaluation.sets)
    # In the order they come.
    first = {}
    for row in rows:
        first.setdefault(row["question"], row["worker"])
    assert {row["question"]: row["assessor"] for row in read(pairs / "judgments" / "first.jsonl")} == first
    assert main(["agree", str(pairs), "--by", "person", "--json"]) == 0
    out = capsys.readouterr().out
    assert len(json.loads(out[out.index("{") :])["people"]) == 30


def test_importing_again_adds_nothing_and_new_people_get_the_next_set(
    pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crowd(tmp_path / "crowd.csv", each=3, workers=9)
    command = ["import", str(pairs), str(tmp_path / "crowd.csv"), "--spread"]
    assert main(command) == 0
    before = {path.name: path.read_bytes() for path in (pairs / "judgments").iterdir()}
    capsys.readouterr()
    assert main(command) == 0
    assert {path.name: path.read_bytes() for path in (pairs / "judgments").iterdir()} == before
    assert "nothing new" in capsys.readouterr().out
    # A newcomer, and a person who changes their mind: the first goes to the next set, the second stays in theirs.
    known = read(pairs / "judgments" / "second.jsonl")[0]
    other = "NO" if known["judgment"] == "YES" else "YES"
    more = [{"question": known["question"], "judgment": other, "assessor": known["assessor"]}]
    more.append({"question": known["question"], "judgment": "YES", "assessor": "newcomer"})
    (tmp_path / "more.jsonl").write_text("".join(json.dumps(row) + "\n" for row in more))
    assert main(["import", str(pairs), str(tmp_path / "more.jsonl"), "--spread"]) == 0
    assert read(pairs / "judgments" / "second.jsonl")[-1] == more[0]
    assert read(pairs / "judgments" / "fourth.jsonl") == [more[1]]


def test_rows_may_name_runs_and_people_may_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two people judge the same answer of a run differently: that is a crowd, not a contradiction."""
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"id": "1", "question": "Who?", "answer": "x", "run": "A"}\n')
    folder = tmp_path / "e"
    assert main(["import", str(folder), str(answers), "--task", "qa"]) == 0
    labels = [("ana", "correct"), ("bo", "incorrect")]
    given = [{"question": "1", "run": "A", "judgment": label, "assessor": who} for who, label in labels]
    (tmp_path / "crowd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))
    assert main(["import", str(folder), str(tmp_path / "crowd.jsonl")]) == 1
    assert main(["import", str(folder), str(tmp_path / "crowd.jsonl"), "--spread"]) == 0
    assert [read(folder / "judgments" / f"{name}.jsonl")[0]["judgment"] for name in ("first", "second")] == [
        "correct",
        "incorrect",
    ]


def test_rows_without_an_assessor_are_refused(pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"question": "1", "judgment": "YES", "assessor": "ana"}, {"question": "2", "judgment": "YES"}]
    (tmp_path / "crowd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["import", str(pairs), str(tmp_path / "crowd.jsonl"), "--spread"]) == 1
    assert (
        'crowd.jsonl:2: --spread puts each assessor\'s row into a set of its own, and this row has no "assessor"'
        in (capsys.readouterr().err)
    )
    assert not list((pairs / "judgments").glob("*")) if (pairs / "judgments").exists() else True


@pytest.mark.parametrize(
    ("more", "message"), [(["--set", "x"], "leave out --set"), (["--automatic"], "leave out --auto")]
)
def test_contradictions_are_refused(
    pairs: Path, tmp_path: Path, more: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    crowd(tmp_path / "crowd.csv", each=2, workers=3)
    assert main(["import", str(pairs), str(tmp_path / "crowd.csv"), "--spread", *more]) == 2
    assert message in capsys.readouterr().err
    (tmp_path / "questions.jsonl").write_text('{"id": "99", "type": "pair", "text": "t", "hypothesis": "h"}\n')
    assert main(["import", str(pairs), str(tmp_path / "questions.jsonl"), "--spread"]) == 2
    assert "--spread is for judgments" in capsys.readouterr().err


def test_a_file_without_people_is_not_a_crowd(pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"question": "1", "judgment": "YES", "assessor": f"row {n}"} for n in range(101)]
    (tmp_path / "crowd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["import", str(pairs), str(tmp_path / "crowd.jsonl"), "--spread"]) == 1
    assert "crowd.jsonl:101: more than 100 people judge one item" in capsys.readouterr().err
