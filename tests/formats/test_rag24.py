"""Nugget assignments of TREC RAG 2024."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qassay.errors import InputError
from qassay.formats import files
from qassay.formats.rag24 import parse_assignments
from qassay.questions import Question

NUGGETS = [
    {"text": "a", "importance": "vital", "assignment": "support"},
    {"text": "b", "importance": "okay", "assignment": "partial_support"},
    {"text": "c", "importance": "vital", "assignment": "not_support"},
]
LINE = {"qid": "2024-1", "query": " why? ", "run_id": "A", "answer_text": "Because.\nSo.", "nuggets": NUGGETS}


def text(*lines: dict[str, Any]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def faults(*lines: dict[str, Any]) -> list[tuple[int | None, str]]:
    with pytest.raises(InputError) as caught:
        parse_assignments(text(*lines), file="f")
    return [(problem.line, problem.rule) for problem in caught.value.problems]


def test_real_assignments(data: Callable[[str], Path]) -> None:
    # Counts: README.md of the data.
    file = data("trec_rag24/nugget_assignment.20241108.jl")
    assignments = parse_assignments(files.read_text(file), file=str(file))
    assert (len(assignments.questions), len(assignments.runs)) == (21, 45)
    assert sum(map(len, assignments.runs.values())) == 927
    assert (len(assignments.nuggets), len(assignments.judgments)) == (298, 13_158)
    assert Counter(row["support"] for row in assignments.judgments) == {"full": 4813, "partial": 436, "none": 7909}


def test_one_line_becomes_four_things() -> None:
    assignments = parse_assignments(text({**LINE, "response_length": 7}), file="f")
    assert assignments.questions.questions == (Question("2024-1", "other", "why?"),)
    assert assignments.runs == {
        "A": [{"run": "A", "question": "2024-1", "items": [{"text": "Because.\nSo."}], "response_length": 7}]
    }
    assert assignments.nuggets[1] == {"question": "2024-1", "nugget": "2", "vital": False, "text": "b"}
    assert [(row["nugget"], row["support"]) for row in assignments.judgments] == [
        ("1", "full"),
        ("2", "partial"),
        ("3", "none"),
    ]


def test_empty_answer_is_an_empty_response() -> None:
    assert parse_assignments(text({**LINE, "answer_text": " \n"}), file="f").runs["A"][0]["items"] == []


def test_nugget_lists_of_two_runs_must_agree() -> None:
    other = {**LINE, "run_id": "B", "nuggets": NUGGETS[:2]}
    moved = {**LINE, "run_id": "C", "nuggets": [{**NUGGETS[0], "importance": "okay"}, *NUGGETS[1:]]}
    assert faults(LINE, other, moved) == [(2, "syntax"), (3, "syntax")]


def test_second_answer_and_changed_question() -> None:
    assert faults(LINE, LINE, {**LINE, "run_id": "B", "query": "how?"}) == [(2, "duplicate-question"), (3, "syntax")]


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        ({"qid": None}, ["syntax"]),
        ({"run_id": "a b"}, ["syntax"]),
        ({"run_id": 7}, ["syntax"]),
        ({"answer_text": None, "query": []}, ["syntax", "syntax"]),
        ({"nuggets": {}}, ["syntax"]),
        ({"nuggets": ["x", {"text": 1}]}, ["syntax", "syntax"]),
        ({"nuggets": [{**NUGGETS[0], "importance": "great"}]}, ["bad-label"]),
        ({"nuggets": [{**NUGGETS[0], "assignment": ["support"]}]}, ["bad-label"]),
    ],
)
def test_faults(change: dict[str, Any], rules: list[str]) -> None:
    assert faults({**LINE, **change}) == [(1, rule) for rule in rules]


@pytest.mark.parametrize("content", ["", "{", "[]\n", "null\n", "\0"])
def test_no_assignments(content: str) -> None:
    with pytest.raises(InputError):
        parse_assignments(content, file="f")
