"""Commands to drive, and a log to drive them with."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from qassay.questions import TestSet
from qassay.systems.harness.log import Log, header

HEAD = """
import json, os, sys, time
def answer(row, text=None):
    if row["question"]["type"] == "factoid":
        return {"items": [{"doc": "D1", "text": text or row["question"]["id"]}]}
    return {"items": []}
def say(row):
    print(json.dumps(row), flush=True)
"""
LOOP = "for line in sys.stdin:\n    row = json.loads(line)\n    q = row['question']['id']\n"


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], str]:
    """A command that runs these lines for every question; `row` is the request, `q` the question's id."""

    def write(body: str) -> str:
        path = tmp_path / "system.py"
        lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
        path.write_text(HEAD + LOOP + lines, encoding="utf-8")
        return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"

    return write


@pytest.fixture
def open_log(tmp_path: Path) -> Callable[..., object]:
    """The log of a run, to be used in a `with`."""

    @contextmanager
    def opening(questions: TestSet, *, system: str = "s", restart: bool = False) -> Iterator[Log]:
        path = tmp_path / "logs" / "tag.jsonl"
        with Log(path, header("tag", system, "series2004", questions), questions, restart=restart) as log:
            yield log

    return opening
