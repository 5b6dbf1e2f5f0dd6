"""Leave a run out, judge it automatically, compare: against the same done by hand on copies of the folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import left_out
import qassay
from qassay.assessors import Case
from qassay.cli import main
from qassay.errors import UsageError


@pytest.fixture(scope="module")
def rag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("rag") / "rag"
    assert main(["demo", "--which", "rag", "--to", str(place)]) == 0
    return place


@pytest.mark.parametrize("assessor", ["overlap", "learned(hits=true)"])
def test_it_is_what_judging_a_late_run_gives(rag: Path, tmp_path: Path, assessor: str) -> None:
    """By hand: people's judgments of the run are deleted, the assessor judges, and the mixed key scores."""
    result = qassay.reuse(qassay.open(rag), assessor)
    assert result.assessor == assessor
    for row in result.runs:
        place = tmp_path / row.run
        shutil.copytree(rag, place)
        for path in (place / "judgments").iterdir():
            others = [line for line in path.read_text().splitlines() if json.loads(line).get("run") != row.run]
            path.write_text("".join(f"{line}\n" for line in others))
        qassay.judge(qassay.open(place), assessor, set_name="program")
        scores = qassay.open(place).score("adjudicated+program")
        by_hand = {entry.run: entry.score for entry in scores.runs}
        assert row.score_with == pytest.approx(by_hand[row.run], abs=1e-12)
        assert row.rank_with == scores.ranks()[row.run]
        assert row.score == qassay.open(rag).score().runs[[r.run for r in result.runs].index(row.run)].score
        assert row.score_without == 0.0
        assert row.assessed == 88
        assert row.change == row.score_with - row.score


# c returns p too, from a document of its own.
RUNS = left_out.RUNS | {"c": f"{left_out.RUNS['c']}3 c d8 p\n"}
JUDGMENTS = [
    *left_out.JUDGMENTS,
    {"question": "3", "run": "b", "doc": "d3", "text": "p", "judgment": "R", "answer": "P"},
    {"question": "3", "run": "c", "doc": "d8", "text": "p", "judgment": "R", "answer": "P"},
]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return left_out.write_evaluation(tmp_path, RUNS, JUDGMENTS)


def all_right(case: Case) -> str:
    """Calls everything right, and names no class."""
    return "R"


def test_only_what_people_judged_for_the_run_alone_is_judged_again(small: Path) -> None:
    asked: list[tuple[Any, ...]] = []

    def wrong(case: Case) -> str:
        row = case.part.row
        asked.append((row["question"], row.get("run"), row["doc"], row["text"]))
        return "W"

    rows = {row.run: row for row in qassay.reuse(qassay.open(small), wrong).runs}
    assert asked == [
        *(("2", None, "d2", "y"), ("3", "a", "d3", "q")),
        *(("1", None, "d9", "z"), ("3", "c", "d4", "r"), ("3", "c", "d8", "p")),
    ]
    assert {run: row.assessed for run, row in rows.items()} == {"a": 2, "b": 0, "c": 3}
    # As if nothing were in the place of people's judgments: what is unjudged counts as wrong, too.
    assert all(row.score_with == row.score_without for row in rows.values())


def test_a_class_that_is_not_known_is_not_distinct(small: Path) -> None:
    rows = {row.run: row for row in qassay.reuse(qassay.open(small), all_right).runs}
    # a left out: y is right; of its list p has b's judgment, q is right but its class is unknown: D=1, N=2, S={P, R}.
    assert rows["a"].score_with == pytest.approx((2 / 3) * 1.0 + (1 / 3) * (2 * 1 / (2 + 2)))
    # c left out: z is right, NIL on 2 is wrong; r's class is unknown, but p is a string that people put into class P:
    # D=1, N=2, S={P, Q}.
    assert rows["c"].score_with == pytest.approx((2 / 3) * 0.5 + (1 / 3) * (2 * 1 / (2 + 2)))
    assert rows["b"].score_with == rows["b"].score


def test_one_that_learns_never_sees_the_judgments_of_the_run(small: Path) -> None:
    rows = {row.run: row for row in qassay.reuse(qassay.open(small), "transfer(people=adjudicated)").runs}
    # Nothing like y, q, z or r is left to learn from, so that nothing is said of them.
    assert {run: row.assessed for run, row in rows.items()} == {"a": 0, "b": 0, "c": 0}


def test_free_text_answers_too(tmp_path: Path) -> None:
    place = tmp_path / "qa"
    assert main(["init", str(place), "--task", "qa"]) == 0
    (place / "questions.jsonl").write_text('{"id": "1", "type": "qa", "text": "?", "gold": ["Rome"]}\n')
    (place / "runs").mkdir(exist_ok=True)
    (place / "judgments").mkdir(exist_ok=True)
    for run, text in (("a", "Rome"), ("b", "Roma")):
        row = {"run": run, "question": "1", "items": [{"text": text}]}
        (place / "runs" / f"{run}.jsonl").write_text(json.dumps(row) + "\n")
    rows = [{"question": "1", "text": text, "judgment": "correct"} for text in ("Rome", "Roma")]
    (place / "judgments" / "adjudicated.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = qassay.reuse(qassay.open(place), "match")
    scores = {row.run: (row.score, row.score_without, row.score_with) for row in result.runs}
    assert scores == {"a": (1.0, 0.0, 1.0), "b": (1.0, 0.0, 0.0)}


def test_without_an_assessor_whole_responses_cannot_be_left_out(rag: Path) -> None:
    with pytest.raises(UsageError, match=r"task nuggets has no pool: .* To let an assessor judge"):
        qassay.reuse(qassay.open(rag))


def test_command_line_and_json(rag: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reuse", str(rag), "--with", "overlap", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["assessor"] == "overlap"
    assert document["tau"] == 1.0
    assert document["unassessed"]["tau"] is None
    assert set(document["runs"][0]) >= {"score_with", "rank_with", "assessed"}
    assert main(["reuse", str(rag), "--with", "overlap"]) == 0
    shown = capsys.readouterr().out
    assert "judged by overlap" in shown
    assert f"{document['runs'][0]['score_with']:.3f}" in shown
    assert main(["reuse", str(rag), "--with", "overlapp"]) == 2
    assert "did you mean" in capsys.readouterr().err
    qassay.judge(qassay.open(rag), "overlap", set_name="program")
    assert main(["reuse", str(rag), "--with", "overlap", "--key", "program"]) == 2
    assert "name those of people" in capsys.readouterr().err
