"""The overlap assessor against shares worked out by hand, and on the nuggets of the built-in long answers."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import qassay
from qassay.assessors import Case, Judging, Overlap, open_assessor
from qassay.assessors.overlap import closest, places_of
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


def test_a_word_weighs_its_rarity_in_the_pool() -> None:
    """'bridge' is in two of three responses, 'opened' and 1937 in one, by the formula of the module."""
    overlap = Overlap.from_items(ITEMS)
    rare, common = math.log(1 + 3 / 1.5), math.log(1 + 3 / 2.5)
    shares = overlap.shares("bridges opened in 1937", {"bridg": [0]})
    assert shares.anywhere == pytest.approx(common / (common + 2 * rare))
    assert overlap.shares("bridges opened in 1937", {"bridg": [0], "open": [1], "1937": [2]}).anywhere == 1.0
    assert overlap.shares("", {"bridg": [0]}).anywhere == 0.0


def test_words_far_apart_are_not_a_nugget() -> None:
    overlap = Overlap.from_items([], near=0.5, window=30)
    nugget = "Golden Gate bridge opened 1937"
    apart = {word: [place * 100] for place, word in enumerate(places_of(nugget))}
    assert overlap.level(overlap.shares(nugget, places_of(nugget))) == "full"
    shares = overlap.shares(nugget, apart)
    assert (shares.anywhere, shares.close) == (1.0, pytest.approx(0.2))
    assert overlap.level(shares) == "none"


@given(st.dictionaries(st.sampled_from("abcdef"), st.lists(st.integers(0, 60), min_size=1, max_size=6, unique=True)))
def test_the_closest_words_are_found_by_trying_every_window(places: dict[str, list[int]]) -> None:
    weights = {word: 1.0 + ord(word) % 3 for word in places}
    windows = (
        sum(weight for word, weight in weights.items() if any(start <= place < start + 7 for place in places[word]))
        for start in range(-7, 61)
    )
    assert closest(weights, places, window=7) == pytest.approx(max(windows))


def test_partial_support_is_given_only_on_request() -> None:
    text = places_of("bridge opened")
    nugget = "bridge opened orange paint steel"
    assert Overlap().level(Overlap().shares(nugget, text)) == "none"
    lenient = Overlap(near=0.3, partial=0.4)
    assert lenient.level(lenient.shares(nugget, text)) == "partial"
    assert lenient.name == "overlap(near=0.3,partial=0.4)"


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


def test_no_opinion_without_nuggets_or_of_other_kinds() -> None:
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
    rows = list(Judging(assessor, evaluation.questions, evaluation.task, nuggets).rows(items))
    asked = {(row["question"], row["run"], row["nugget"]) for row in rows}
    assert asked == {(item.question, item.run, n["nugget"]) for item in items for n in nuggets[item.question]}
    assert all(row["trace"]["assessor"] == "overlap" for row in rows)


def test_its_judgments_are_scored_like_any_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
