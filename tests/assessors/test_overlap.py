"""The overlap assessor against shares worked out by hand, and on the nuggets of the built-in long answers."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import qassay
from qassay.assessors import Case, Overlap, judge_items, open_assessor
from qassay.cli import main
from qassay.errors import QassayError
from qassay.judging import Item, Part
from qassay.judging.items import pool_items
from qassay.questions import Question

QUESTION = Question("q", "other", "What about bridges?")
NUGGETS = [
    {"question": "q", "nugget": "1", "text": "bridges opened in 1937"},
    {"question": "q", "nugget": "2", "text": "painted orange"},
]


def response(run: str, *texts: str, kind: str = "match") -> Item:
    body = {"elements": [{"doc": "D", "text": text} for text in texts], "citations": False}
    return Item(1, "q", kind, run, 0, body, 1)


def case(item: Item, part: Part) -> Case:
    return Case(QUESTION, item, part, NUGGETS)


ITEMS = [
    response("a", "The bridge opened", "in 1937."),
    response("b", "It is an orange bridge."),
    response("c", "Nothing."),
]


def test_a_word_weighs_its_rarity_among_the_responses() -> None:
    """'bridge' is in two of three responses, 'opened' and 1937 in one: 1 of 3, by the formula of the module."""
    overlap = Overlap.from_items(ITEMS)
    rare, common = math.log(4 / 1.5), math.log(4 / 2.5)
    found = overlap.share("q", "bridges opened in 1937", {"bridg"})
    assert found == pytest.approx(common / (common + 2 * rare))
    assert overlap.share("q", "bridges opened in 1937", {"bridg", "open", "1937"}) == pytest.approx(1.0)
    assert overlap.share("q", "", {"bridg"}) == 0.0


def test_nuggets_of_a_response_and_the_support_of_one() -> None:
    overlap = Overlap.from_items(ITEMS)
    whole = Part("", "match", {"question": "q", "run": "a"})
    verdicts = [overlap.judge(case(item, whole)) for item in ITEMS]
    assert [verdict and verdict.verdict for verdict in verdicts] == [
        {"nuggets": ["1"]},
        {"nuggets": []},
        {"nuggets": []},
    ]
    answer = response("a", "The bridge opened in 1937.", kind="support")
    levels = {}
    for nugget in ("1", "2"):
        part = Part(f"nugget:{nugget}", "support", {"question": "q", "run": "a", "nugget": nugget})
        opinion = overlap.judge(case(answer, part))
        assert opinion is not None
        levels[nugget] = opinion.verdict["support"]
    assert levels == {"1": "full", "2": "none"}


def test_nothing_is_said_without_nuggets_or_of_other_kinds() -> None:
    overlap = Overlap.from_items(ITEMS)
    part = Part("", "match", {"question": "q", "run": "a"})
    assert overlap.judge(Case(QUESTION, ITEMS[0], part)) is None
    citation = Part("citation:0:D", "citation", {"question": "q", "run": "a", "sentence": 0, "doc": "D"})
    assert overlap.judge(case(response("a", "x", kind="support"), citation)) is None


def test_an_assessor_is_shown_every_nugget_of_the_built_in_answers(tmp_path: Path) -> None:
    folder = tmp_path / "rag"
    assert main(["demo", "--which", "rag", "--to", str(folder)]) == 0
    evaluation = qassay.open(folder)
    listed = evaluation.nugget_list("adjudicated")
    nuggets: dict[str, list[dict[str, object]]] = {}
    for row in listed.iter_rows(named=True):
        nuggets.setdefault(row["question"], []).append(row)
    items = list(pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed=""))
    assessor = open_assessor("overlap", evaluation)
    done = judge_items(assessor, items, evaluation.questions, evaluation.task, nuggets=nuggets)
    asked = {(row["question"], row["run"], row["nugget"]) for row in done.rows}
    assert asked == {(item.question, item.run, n["nugget"]) for item in items for n in nuggets[item.question]}
    assert all(row["trace"]["assessor"] == "overlap" for row in done.rows)


def test_what_it_judges_is_scored_like_any_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "rag"
    assert main(["demo", "--which", "rag", "--to", str(folder)]) == 0
    assert main(["judge", str(folder), "--with", "overlap(threshold=0.4)", "--set", "words"]) == 0
    capsys.readouterr()
    assert main(["score", str(folder), "--key", "words", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["key"] == "words"


@pytest.mark.parametrize("spelling", ["overlap(threshold=0)", "overlap(threshold=2)", "overlap(threshold=x)"])
def test_a_threshold_is_a_share(spelling: str) -> None:
    with pytest.raises(QassayError, match="threshold"):
        open_assessor(spelling, qassay.open(qassay.demo_folder()))
