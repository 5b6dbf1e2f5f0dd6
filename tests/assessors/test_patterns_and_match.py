"""Automatic assessors against hand-worked cases, and against judgments worked out another way."""

from __future__ import annotations

import json
import re
from itertools import count
from pathlib import Path

import pytest

import qassay
from qassay.assessors import Case, Judging, Match, Patterns, open_assessor
from qassay.assessors.match import normalised
from qassay.errors import InputError, QassayError
from qassay.evaluation import open_evaluation
from qassay.formats.jsonl import rows_table
from qassay.judging import JUDGMENT_COLUMNS, Item, Part, subject
from qassay.judging.items import pool_items
from qassay.judging.sets import judgment_set
from qassay.questions import Question
from qassay.tasks import task

QUESTION = Question("1", "factoid", "Where was she born?")
ROWS = [
    {"question": "1", "pattern": r"\bWarsaw\b", "docs": ["D1", "D2"]},
    {"question": "1", "pattern": r"Poland", "docs": []},
]


def _part(text: str, doc: str = "D1", kind: str = "item") -> Part:
    return Part("", kind, {"question": "1", "doc": doc, "text": text})


def _case(part: Part, question: Question = QUESTION) -> Case:
    return Case(question, Item(1, question.id, part.kind, None, 0, dict(part.row), 1), part)


@pytest.mark.parametrize(
    ("text", "doc", "label", "exact"),
    [
        ("Warsaw", "D1", "R", "R"),
        ("Warsaw.", "D2", "R", "R"),
        ("in Warsaw", "D1", "R", "X"),
        ("Warsaw", "D3", "U", "U"),
        ("Poland", "D3", "R", "R"),
        ("Warsaw, Poland", "D3", "R", "X"),
        ("Warsawa", "D1", "W", "W"),
        ("", "D1", "W", "W"),
    ],
)
def test_patterns(text: str, doc: str, label: str, exact: str) -> None:
    for wanted, assessor in (
        (label, Patterns.from_rows(ROWS, task("confidence"))),
        (exact, Patterns.from_rows(ROWS, task("confidence"), exact=True)),
    ):
        opinion = assessor.judge(_case(_part(text, doc)))
        assert opinion is not None
        assert opinion.verdict["judgment"] == wanted


def test_patterns_never_call_inexact_what_the_task_does_not() -> None:
    opinion = Patterns.from_rows(ROWS, task("ranked5"), exact=True).judge(_case(_part("in Warsaw")))
    assert opinion is not None
    assert opinion.verdict == {"judgment": "R"}


def test_a_question_without_patterns_is_not_judged() -> None:
    assessor = Patterns.from_rows(ROWS, task("confidence"))
    assert assessor.judge(_case(_part("Warsaw"), Question("2", "factoid", "Who?"))) is None
    assert assessor.judge(_case(Part("", "pair", {"question": "1"}))) is None


def test_a_pattern_that_runs_away_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qassay.assessors.patterns.SECONDS", 0.05)
    assessor = Patterns.from_rows([{"question": "1", "pattern": r"(?:(\w+)+\1)+$", "docs": []}], task("confidence"))
    with pytest.raises(InputError, match="takes too long"):
        assessor.judge(_case(_part("a" * 200 + "!")))


def test_patterns_that_take_long_again_and_again_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack: a pattern that takes a second on each of thousands of answers."""
    monkeypatch.setattr("qassay.assessors.patterns.time.thread_time", count(step=0.5).__next__)
    assessor = Patterns.from_rows([{"question": "1", "pattern": "(a|aa)+$", "docs": []}], task("confidence"))
    for _ in range(4):
        assert assessor.judge(_case(_part("aab")))
    with pytest.raises(InputError, match="takes too long"):
        assessor.judge(_case(_part("aab")))


@pytest.mark.parametrize(
    ("text", "doc", "plain", "loose"),
    [
        ("Marie Curie", "D1", "R", "R"),
        ("marie  CURIE.", "D1", "W", "R"),
        ("the Marie Curie", "D1", "W", "R"),
        ("Marie Curie", "D9", "U", "U"),
        ("Pierre", "D9", "R", "R"),
        ("Irène", "D1", "W", "W"),
    ],
)
def test_match(text: str, doc: str, plain: str, loose: str) -> None:
    rows = [
        {"question": "1", "answer": "Marie Curie", "doc": "D1"},
        {"question": "1", "answer": "Pierre", "doc": None},
        {"question": "1", "answer": "Irène", "doc": None, "withdrawn": True},
    ]
    for wanted, normalise in ((plain, False), (loose, True)):
        opinion = Match.from_rows(rows, normalise=normalise).judge(_case(_part(text, doc)))
        assert opinion is not None
        assert opinion.verdict["judgment"] == wanted


def test_a_right_list_item_gets_the_class_of_its_answer() -> None:
    rows = [{"question": "1", "answer": "Marie Curie", "doc": None}]
    opinion = Match.from_rows(rows, normalise=True).judge(_case(_part("MARIE CURIE", kind="list")))
    assert opinion is not None
    assert opinion.verdict == {"judgment": "R", "answer": "Marie Curie"}


def test_normalising_never_turns_an_answer_into_nothing_or_another() -> None:
    assert normalised("An Annex of the Theatre") == "annex of the theatre"
    assert normalised("A") == "a"
    assert normalised("the") == "the"
    assert normalised("Vitamin A") != normalised("vitamin")
    rows = [{"question": "1", "answer": "A", "doc": None}]
    for text in ("?!", "", "the"):
        opinion = Match.from_rows(rows, normalise=True).judge(_case(_part(text)))
        assert opinion is not None
        assert opinion.verdict["judgment"] == "W"


def test_on_the_built_in_evaluation_patterns_agree_with_a_plain_reading() -> None:
    """The same labels by re.search over the files, without any of our records."""
    folder = Path(qassay.demo_folder())
    evaluation = open_evaluation(folder)
    items = pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed="")
    judging = Judging(open_assessor("patterns", evaluation), evaluation.questions, evaluation.task)
    rows = list(judging.rows(items))
    patterns: dict[str, list[tuple[str, set[str]]]] = {}
    for line in (folder / "patterns.txt").read_text().splitlines():
        question, rest = line.split(" ", 1)
        words = rest.split(" ")
        docs = []
        while len(words) > 1 and words[-1].startswith("demo-"):
            docs.append(words.pop())
        patterns.setdefault(question, []).append((" ".join(words), set(docs)))
    assert rows
    for row in rows:
        hits = [docs for pattern, docs in patterns[row["question"]] if re.search(pattern, row["text"])]
        wanted = "W" if not hits else "R" if any(not docs or row["doc"] in docs for docs in hits) else "U"
        assert row["judgment"] == wanted, row
        assert row["trace"]["assessor"] == row["assessor"] == "patterns"


def test_the_rows_are_a_judgment_set() -> None:
    evaluation = open_evaluation(qassay.demo_folder())
    items = pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed="")
    judging = Judging(open_assessor("match(normalise=true)", evaluation), evaluation.questions, evaluation.task)
    rows = list(judging.rows(items))
    table = rows_table(list(enumerate(rows, 1)), JUDGMENT_COLUMNS, file="x")
    judged = judgment_set("match", table, evaluation.questions, evaluation.task, file="x")
    assert sum(table.height for table in judged.kinds.values()) == len(rows)
    assert json.loads(json.dumps(rows)) == rows


def test_known_judgments_are_not_made_again() -> None:
    evaluation = open_evaluation(qassay.demo_folder())
    assessor = open_assessor("patterns", evaluation)
    pool = list(pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed=""))
    first = Judging(assessor, evaluation.questions, evaluation.task)
    rows = list(first.rows(pool))
    known = {subject("list" if "run" in row else "item", row) for row in rows}
    again = Judging(assessor, evaluation.questions, evaluation.task, known=known)
    assert list(again.rows(pool)) == []
    assert (again.skipped, again.silent) == (len(rows), first.silent)


def test_an_unknown_assessor_is_reported_with_a_guess() -> None:
    with pytest.raises(QassayError, match="patterns"):
        open_assessor("paterns", open_evaluation(qassay.demo_folder()))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("match(normalize=true)", "unknown parameter of match 'normalize'; did you mean 'normalise'"),
        ("match(normalise=yes)", "normalise takes true or false, not 'yes'"),
        ("patterns(exact)", "write name=value"),
        ("patterns(exact=true", "cannot read the assessor"),
    ],
)
def test_a_parameter_that_an_assessor_does_not_take(text: str, message: str) -> None:
    with pytest.raises(QassayError, match=message):
        open_assessor(text, open_evaluation(qassay.demo_folder()))


def test_blanks_and_case_of_a_spelling_do_not_matter() -> None:
    evaluation = open_evaluation(qassay.demo_folder())
    assert open_assessor(" match( normalise = TRUE )", evaluation).name == "match(normalise=true)"
    assert open_assessor("patterns(exact=false)", evaluation).name == "patterns"
