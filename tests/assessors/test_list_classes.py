"""Classes of list items: an assessor names the class of a string that is known or that people judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import qassay
from qassay.cli import main

# Run b came later: people judged a alone.
RUNS = {
    "a": ["d1 The Tigris", "d1 Nile", "d2 Po"],
    "b": ["d1 tigris", "d1 Niles", "d9 Nile", "d3 Danube", "d4 Amazon"],
}
PEOPLE = [
    {"question": "1", "run": "a", "doc": "d1", "text": "The Tigris", "judgment": "R", "answer": "Tigris River"},
    {"question": "1", "run": "a", "doc": "d1", "text": "Nile", "judgment": "R", "answer": "River Nile"},
    {"question": "1", "run": "a", "doc": "d2", "text": "Po", "judgment": "W"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    (tmp_path / "judgments").mkdir()
    (tmp_path / "qassay.toml").write_text('task = "main2003"\n')
    (tmp_path / "questions.jsonl").write_text('{"id": "1", "type": "list", "text": "Name rivers."}\n')
    for tag, items in RUNS.items():
        (tmp_path / "runs" / f"{tag}.txt").write_text("".join(f"1 {tag} {item}\n" for item in items))
    (tmp_path / "judgments" / "adjudicated.jsonl").write_text("".join(json.dumps(row) + "\n" for row in PEOPLE))
    (tmp_path / "answers.jsonl").write_text('{"question": "1", "answer": "the Danube"}\n')
    (tmp_path / "patterns.txt").write_text("1 (?i)tigris|nile|danube|amazon\n")
    return tmp_path


def classes(folder: Path, assessor: str) -> dict[tuple[str, str], Any]:
    """The verdicts on run b: the class where an item is right, else the label."""
    qassay.judge(qassay.open(folder), assessor, set_name="program")
    rows = qassay.open(folder).judgment_set("program").kind("list").iter_rows(named=True)
    return {(row["doc"], row["text"]): row["answer"] or row["judgment"] for row in rows if row["run"] == "b"}


@pytest.mark.parametrize(
    ("assessor", "expected"),
    [
        # The class of people, with the document's support; an answer known from development under its own name.
        (
            "match(normalise=true,judged=adjudicated)",
            {"tigris": "Tigris River", "Niles": "W", "Nile": "U", "Danube": "the Danube", "Amazon": "W"},
        ),
        ("match(normalise=true)", {"tigris": "W", "Niles": "W", "Nile": "W", "Danube": "the Danube", "Amazon": "W"}),
        # Equal and nearly equal strings of the same document.
        ("transfer(people=adjudicated,similar=0.5)", {"tigris": "Tigris River", "Niles": "River Nile"}),
        # Any right string; without a known class it is its own.
        (
            "patterns",
            {"tigris": "tigris", "Niles": "Niles", "Nile": "Nile", "Danube": "the Danube", "Amazon": "Amazon"},
        ),
        ("recall", {"tigris": "W", "Niles": "W", "Nile": "W", "Danube": "the Danube", "Amazon": "W"}),
    ],
)
def test_an_assessor_names_the_known_class(folder: Path, assessor: str, expected: dict[str, Any]) -> None:
    assert {text: verdict for (_, text), verdict in classes(folder, assessor).items()} == expected


def test_patterns_from_judgments_know_the_classes_of_people(folder: Path) -> None:
    by_class = classes(folder, "patterns(judged=adjudicated)")
    assert by_class["d1", "tigris"] == "Tigris River"
    assert by_class["d9", "Nile"] in ("River Nile", "U")


def test_only_known_classes_are_distinct_and_judged_runs_keep_their_scores(folder: Path) -> None:
    before = {row.run: row.score for row in qassay.open(folder).score(unjudged="wrong").runs}
    classes(folder, "patterns")
    scores = {row.run: row.score for row in qassay.open(folder).score("adjudicated+program").runs}
    # Known: Tigris River, River Nile, the Danube. a found two with three items.
    assert scores["a"] == before["a"] == pytest.approx(2 * 2 / (3 + 3))
    # Of b's five items, all right by the patterns, "Nile" is a string of people's class and "Danube" a known answer;
    # the classes of "tigris", "Niles" and "Amazon" are not known.
    assert scores["b"] == pytest.approx(2 * 2 / (5 + 3))


def test_two_items_of_one_class_count_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "runs" / "b.txt").write_text("1 b d1 tigris\n1 b d1 the tigris\n")
    assert main(["judge", str(folder), "--with", "transfer(people=adjudicated)", "--set", "carried"]) == 0
    assert "judged 5" in capsys.readouterr().out
    scores = {row.run: row.score for row in qassay.open(folder).score("adjudicated+carried").runs}
    assert scores["b"] == pytest.approx(2 * 1 / (2 + 3))
