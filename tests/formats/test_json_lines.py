"""Runs in JSON lines: files that are decoded at once give the rows and problems of the same lines one by one."""

from __future__ import annotations

import json
import random

import pytest

from qassay.formats.runs.json_lines import Parsed, RunFile, parse_jsonl
from qassay.tasks import task as named

RESPONSES = (
    {"items": [{"doc": "D1", "text": "a"}, {"doc": "D2", "text": "b", "citations": ["D3"]}]},
    {"items": [{"text": "é\ud83d\ude00"}], "contexts": ["c", {"text": "d", "doc": "D4"}], "confidence": 0.5},
    {"items": [{"doc": "D1", "start": 0, "length": 3}], "decision": "YES", "justification": "because"},
    {"items": [{"doc": "D1", "start": -1, "length": 3}]},
    {"items": [{"doc": "D1", "start": 1 << 32, "length": 3}]},
    {"items": [{"doc": "NIL"}]},
    {"items": [{"doc": "NIL", "text": "x"}]},
    {"items": [{"doc": "NIL"}, {"text": "x"}]},
    {"items": [{"doc": "D1"}]},
    {"items": [], "nil": True},
    {"items": []},
)


def parsed(text: str, task: str) -> Parsed:
    return parse_jsonl(
        [RunFile(0, "a", "a", "jsonl", text.encode()), RunFile(1, "b", "b", "jsonl", b"{}")], named(task)
    )


@pytest.mark.parametrize("task", ["qa", "ranked5", "passages", "entailment2", "series2004", "nuggets"])
def test_a_file_decoded_at_once_equals_its_lines(task: str) -> None:
    chance = random.Random(task)
    for _ in range(20):
        chosen = chance.choices(RESPONSES, k=chance.randint(1, 8))
        rows = [json.dumps({"run": "r", "question": chance.choice([n, str(n)]), **row}) for n, row in enumerate(chosen)]
        at_once, by_lines = parsed("\n".join(rows), task), parsed("\n".join(rows) + "\n ", task)
        assert at_once.rows.equals(by_lines.rows)
        assert at_once.rows.schema == by_lines.rows.schema
        assert list(at_once.problems) == list(by_lines.problems)


@pytest.mark.parametrize(
    "text",
    [
        '{"run":"r","question":1} {"run":"r","question":2}',
        '{"run":"r","question":1} {"run":"r","question":\n2}',
        '{"run":"r",\n"question":1}\n{"run":"r","question":2}',
    ],
)
def test_a_line_is_one_response(text: str) -> None:
    assert any(problem.line == 1 and problem.file == "a" for problem in parsed(text, "qa").problems)
