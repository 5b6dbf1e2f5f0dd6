"""Leaving runs out of the pool, against a recomputation by hand on a folder without their contribution."""

from __future__ import annotations

from pathlib import Path

import pytest

import left_out
from on_disk import write
from qassay.errors import UsageError
from qassay.evaluation import Evaluation, open_evaluation
from qassay.meta.reuse import reuse, without

JUDGMENTS = [*left_out.JUDGMENTS, {"question": "3", "run": "b", "doc": "d3", "text": "p", "judgment": "W"}]
INFORMATION = [{"run": "a", "organisation": "one"}, {"run": "b", "organisation": "one"}, {"run": "c"}]


@pytest.fixture
def evaluation(tmp_path: Path) -> Evaluation:
    left_out.write_evaluation(tmp_path, left_out.RUNS, JUDGMENTS)
    write(tmp_path / "runs.jsonl", INFORMATION)
    return open_evaluation(tmp_path)


def test_leaving_out_a_run_takes_only_what_it_alone_brought(evaluation: Evaluation) -> None:
    key, unique = without(evaluation.key(), evaluation.runs, ["a"])
    items = set(key.judgments.kind("item").select("question", "text").iter_rows())
    assert items == {("1", "x"), ("1", "z")}  # y of question 2 was a's alone
    assert unique == {"a": 2}  # y, and q of the list
    lists = {(r["run"], r["text"]): r["judgment"] for r in key.judgments.kind("list").iter_rows(named=True)}
    # p stays, with the judgment of b, who returned it too; q is gone
    assert lists == {("a", "p"): "W", ("b", "p"): "W", ("c", "r"): "R"}


def test_scores_without_a_run_are_those_of_the_reduced_key(evaluation: Evaluation) -> None:
    result = {row.run: row for row in reuse(evaluation.tally()).runs}
    # Whole key: a is right on both factoids; NIL is wrong on 2; S = {P, Q, R}.
    assert result["a"].score == pytest.approx((2 / 3) * 1.0 + (1 / 3) * (4 / 5))
    # Without a: 2 has no known answer any more, a's own y is unjudged; its list has p judged W.
    assert result["a"].score_without == pytest.approx((2 / 3) * 0.5)
    # Without c: z is unjudged, r too, S = {P, Q}.
    assert result["c"].score_without == pytest.approx(0.0)
    assert result["b"].unique_items == 0
    # b's p takes the judgment of a, who was given R for it: F = 2*1 / (1 + 3).
    assert result["b"].change == pytest.approx((1 / 3) * 0.5)


def test_items_of_the_component_are_counted(evaluation: Evaluation) -> None:
    """The table of factoids counted items of lists too."""
    factoid, listed, every = (
        {row.run: row.unique_items for row in reuse(evaluation.tally(), component=component).runs}
        for component in ("factoid", "list", None)
    )
    assert (factoid["a"], listed["a"], every["a"]) == (1, 1, 2)


def test_by_organisation_its_runs_leave_together(evaluation: Evaluation) -> None:
    study = reuse(evaluation.tally(), by="organisation")
    rows = {row.run: row for row in study.runs}
    # Without a and b, x is unjudged for both of them; for b NIL becomes right on 2.
    assert rows["b"].score_without == pytest.approx((2 / 3) * 0.5)
    assert study.as_json()["by"] == "organisation"
    assert "Leave out one organisation" in study.table().title
    assert "Every row leaves out one organisation only" in study.table().notes[1]


def test_a_task_without_a_pool_says_so(evaluation: Evaluation, tmp_path: Path) -> None:
    (tmp_path / "qassay.toml").write_text('task = "entailment2"\n')
    (tmp_path / "questions.jsonl").write_text('{"id": "1", "type": "pair", "text": "t", "hypothesis": "h"}\n')
    for path in (tmp_path / "runs").iterdir():
        path.write_text("ranked: no\n1 YES\n")
    (tmp_path / "judgments" / "adjudicated.jsonl").write_text('{"question": "1", "judgment": "YES"}\n')
    with pytest.raises(UsageError, match="no pool"):
        reuse(open_evaluation(tmp_path).tally())
