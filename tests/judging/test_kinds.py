"""The kinds of judgment: parts and verdicts; what the application accepts is what a judgment file may contain."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qassay.errors import InputError
from qassay.formats import jsonl
from qassay.judging import JUDGMENT_COLUMNS, Item, Wanted, subject
from qassay.judging import KINDS as RECORDS
from qassay.judging.items import check_verdict, parts_of, row_of, verdict_of
from qassay.judging.kind import IDENTITY
from qassay.judging.sets import judgment_set
from qassay.questions import Question, TestSet
from qassay.tasks import Task, task

ELEMENTS = [{"doc": "D1", "text": "one"}, {"doc": None, "text": ""}]
SENTENCES = [{"text": "a", "citations": ["D1", "D2", "D1"]}, {"text": "b", "citations": None}]
# Question type, task and item of every kind.
KINDS: dict[str, tuple[str, str, Item]] = {
    "item": ("factoid", "confidence", Item(1, "q", "item", None, 0, {"doc": "D", "text": "x"}, 1)),
    "extract": ("factoid", "passages", Item(1, "q", "extract", None, 0, {"doc": "D", "start": 3, "length": 5}, 1)),
    "list": ("list", "main2003", Item(1, "q", "list", "r", 0, {"elements": ELEMENTS}, 2)),
    "pair": ("pair", "entailment3", Item(1, "q", "pair", None, 0, {}, 1)),
    "match": ("definition", "main2003", Item(1, "q", "match", "r", 0, {"elements": ELEMENTS}, 1)),
    "support": (
        "other",
        "nuggets",
        Item(1, "q", "support", "r", 0, {"elements": SENTENCES, "citations": True}, 1),
    ),
    "holistic": ("definition", "definition", Item(1, "q", "holistic", "r", 0, {"elements": ELEMENTS}, 1)),
    "rating": ("pair", "justification", Item(1, "q", "rating", "r", 0, {"justification": "so"}, 1)),
    "label": ("qa", "qa", Item(1, "q", "label", None, 0, {"text": "x", "contexts": []}, 1)),
    "context": ("qa", "qa", Item(1, "q", "context", "r", 0, {"text": "x", "contexts": [{"text": "c"}]}, 1)),
}
NUGGETS = ("1", "2")
SMALL = st.one_of(st.integers(-1, 11), st.none(), st.booleans())
VALUES = {
    "judgment": st.sampled_from(["R", "X", "U", "W", "YES", "NO", "UNKNOWN", "correct", "partly", "", "r", None]),
    "answer": st.sampled_from(["Atlanta", "é", None]),
    "nuggets": st.one_of(st.none(), st.lists(st.sampled_from(["1", "2", "9"]), max_size=3)),
    "support": st.sampled_from(["full", "partial", "none", "supported", "unsupported", "", None]),
    "content": SMALL,
    "organization": SMALL,
    "understandability": SMALL,
    "correctness": SMALL,
    "note": st.sampled_from(["a note", None]),
}


def accepted(row: dict[str, Any], kind: str, rules: Task) -> bool:
    """Whether a judgment file may hold the row, and holds it as a judgment of this kind with this identity."""
    questions = TestSet((Question("q", kind),))
    table = jsonl.rows_table([(1, row)], JUDGMENT_COLUMNS, file="judgments/x.jsonl")
    try:
        judged = judgment_set("x", table, questions, rules, file="judgments/x.jsonl")
    except InputError:
        return False
    ((name, rows),) = judged.kinds.items()
    (read,) = rows.iter_rows(named=True)
    return (
        subject(name, read) == subject(name, row)
        and {k: read[k] for k in IDENTITY[name]}.items() >= {k: row.get(k) for k in IDENTITY[name]}.items()
    )


@pytest.mark.parametrize("kind", KINDS)
def test_accepted_verdicts_are_those_of_files(kind: str) -> None:
    """The rules are the same; of files, the nuggets that they name are checked apart, against the list."""
    type_, name, item = KINDS[kind]
    rules = task(name)
    parts = parts_of(item, nuggets=NUGGETS, assessor="me")
    both = {True: 0, False: 0}

    @settings(max_examples=120)
    @given(data=st.data())
    def check(data: Any) -> None:
        part = data.draw(st.sampled_from(parts))
        verdict = {field: data.draw(VALUES[field]) for field in (*RECORDS[part.kind].fields, "note")}
        verdict = {field: value for field, value in verdict.items() if value is not None}
        odd = any(isinstance(value, bool) for value in verdict.values())  # a file with such a value is not read at all
        row = row_of(part, verdict, assessor="me", at="2026-01-01T00:00:00Z")
        try:
            check_verdict(part, verdict, rules, nuggets=NUGGETS)
            passed = True
        except InputError:
            passed = False
        both[passed] += 1
        if passed:
            assert accepted(row, type_, rules)
            assert verdict_of(part, row) == verdict
        elif not odd and accepted(row, type_, rules):
            assert [nugget for nugget in verdict.get("nuggets", []) if nugget not in NUGGETS]

    check()
    assert both[True]
    assert both[False]


def test_every_part_is_another_thing() -> None:
    for kind, (_, _, item) in KINDS.items():
        parts = parts_of(item, nuggets=NUGGETS, assessor="me")
        assert len({part.subject for part in parts}) == len({part.name for part in parts}) == len(parts)
        assert any(part.required for part in parts), kind


def test_the_parts_of_every_kind_of_item() -> None:
    names = {kind: [part.name for part in parts_of(item, nuggets=NUGGETS)] for kind, (_, _, item) in KINDS.items()}
    assert names == {
        "item": [""],
        "extract": [""],
        "list": ["0", "1"],
        "pair": [""],
        "match": ["", "0", "1"],
        "support": ["nugget:1", "nugget:2", "citation:0:D1", "citation:0:D2"],
        "holistic": [""],
        "rating": [""],
        "label": [""],
        "context": [""],
    }
    support = KINDS["support"][2]
    spared = Item(1, "q", "support", "r", 0, {**support.body, "citations": False}, 1)
    assert [part.required for part in parts_of(spared, nuggets=NUGGETS)] == [True, True, False, False]


@pytest.mark.parametrize(
    ("kind", "verdict", "message"),
    [
        ("item", {"judgment": "R", "run": "x"}, "has no 'run'"),
        ("item", {"judgment": "R", "settled": "unanimous"}, "has no 'settled'"),
        ("item", {"judgment": ["R"]}, "is not a label"),
        ("item", {"judgment": "R", "note": "n" * 2_001}, "a note is"),
        ("item", {"judgment": "R", "note": 1}, "a note is"),
        ("item", {"judgment": "R", "note": "\ud800"}, "half a character"),
        ("item", {}, "is not a label"),
        ("extract", {"judgment": "X"}, "is not a label"),
        ("list", {"judgment": "W", "answer": "a"}, "only a correct item"),
        ("list", {"judgment": "R", "answer": " "}, "the class of an answer"),
        ("list", {"judgment": "R", "answer": "a" * 501}, "the class of an answer"),
        ("list", {"judgment": "R", "answer": "\udfff"}, "half a character"),
        ("match", {"nuggets": "1"}, "a list of ids"),
        ("match", {"nuggets": [1]}, "a list of ids"),
        ("match", {"nuggets": ["\ud800"]}, "no nugget"),
        ("match", {"nuggets": ["1", "1"]}, "named twice"),
        ("support", {"support": "half"}, "is not a level of support"),
        ("holistic", {"content": True, "organization": 1}, "content is a whole number"),
        ("holistic", {"content": 1.0, "organization": 1}, "content is a whole number"),
        ("rating", {"understandability": 2, "correctness": 3}, "only from understandability 3"),
        ("rating", {"understandability": 3, "correctness": 6}, "correctness is a whole number"),
    ],
)
def test_a_bad_verdict_is_refused_with_its_rule(kind: str, verdict: dict[str, Any], message: str) -> None:
    _, name, item = KINDS[kind]
    part = parts_of(item, nuggets=NUGGETS)[0]
    with pytest.raises(InputError, match=message):
        check_verdict(part, verdict, task(name), nuggets=NUGGETS)


class Rows:
    """Judgments by kind and subject, as a set has them."""

    def __init__(self, kind: str, rows: list[dict[str, Any]]) -> None:
        self.kind, self.rows = kind, rows

    def row(self, kind: str, subject: Mapping[str, Any]) -> Mapping[str, Any] | None:
        names = RECORDS[kind].identity
        same = (row for row in self.rows if all(row.get(name) == subject.get(name) for name in names))
        return next(same, None) if kind == self.kind else None

    def has_response(self, kind: str, question: str, run: str) -> bool:
        return kind == self.kind and any((row["question"], row["run"]) == (question, run) for row in self.rows)


def _answer(rank: int, **more: Any) -> dict[str, Any]:
    return {"question": "q", "run": "a", "rank": rank, "doc": None, "text": "x", **more}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], [None, None, None]),
        # The response as a whole: its nuggets are named at its first string.
        ([{"nuggets": ["2"]}], [None, "nuggets 2", None]),
        ([{"nuggets": []}], [None, "none", None]),
        # String by string: a string without a row has none.
        ([{"item": 1, "nuggets": ["1", "3"]}], [None, "none", "nuggets 1, 3"]),
        ([{"nuggets": ["1", "2"]}, {"item": 0, "nuggets": ["1"]}], [None, "nuggets 1, 2", None]),
    ],
)
def test_nuggets_of_a_string_in_words(rows: list[dict[str, Any]], words: list[str | None]) -> None:
    judged = Rows("match", [{"question": "q", "run": "a", **row} for row in rows])
    assert [RECORDS["match"].found_words(_answer(rank), judged) for rank in range(3)] == words


def test_citations_and_labels_in_words() -> None:
    cited = Rows("citation", [{"question": "q", "run": "a", "sentence": 1, "doc": "D2", "support": "partial"}])
    support = RECORDS["support"]
    assert support.found_words(_answer(2, citations=["D1", "D2"]), cited) == "D2: partial"
    assert support.found_words(_answer(1, citations=["D2"]), cited) is None
    pair = Rows("pair", [{"question": "q", "judgment": "NO"}])
    assert RECORDS["pair"].found_words(_answer(1), pair) == "NO"
    assert RECORDS["pair"].found_words({**_answer(1), "question": "other"}, pair) is None


def test_each_kind_names_its_options() -> None:
    names = {field.name for field in dataclasses.fields(Wanted)}
    offered = [name for record in RECORDS.values() for name in record.options]
    assert sorted(offered) == sorted(names)
