"""Small files that unpack to very many faulty lines: the first faults are kept, all are counted, memory is bounded."""

from __future__ import annotations

import gzip
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from qassay.errors import LONGEST_QUESTION, MOST_KEPT, InputError, Problem, Problems

LINES = 150_000
# The interpreter and the libraries take about 200 MiB; the faults of all lines took some 700 MiB more.
MOST_MEMORY = 450 << 20
TOML = 'task = "series2004"\n'
QUESTION = '{"id": "1.1", "type": "factoid", "text": "Who?", "series": "1", "target": "X"}\n'

# The command, then its own peak memory on a line of its own; getrusage would count the process that started it.
PROGRAM = """
import sys
from qassay.cli import main
status = main(sys.argv[1:])
print()
lines = open("/proc/self/status").read().splitlines()
print(status, next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024)
"""


def bounded(*arguments: object) -> tuple[int, dict[str, Any], int]:
    """Exit status, JSON document and peak memory of a command."""
    call = [sys.executable, "-c", PROGRAM, *map(str, arguments), "--json"]
    done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=60)
    *document, last = done.stdout.strip().split("\n")
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    status, memory = map(int, last.split())
    return status, json.loads("\n".join(document)), memory


def evaluation(path: Path, bombs: dict[str, str]) -> Path:
    """An evaluation with packed files of one faulty line, very many times."""
    for part, text in (("qassay.toml", TOML), ("questions.jsonl", QUESTION), ("runs/ok.txt", "1.1 ok NIL\n")):
        (path / part).parent.mkdir(parents=True, exist_ok=True)
        (path / part).write_text(text)
    for name, line in bombs.items():
        (path / name).parent.mkdir(exist_ok=True)
        packed = gzip.compress(line.encode("latin-1") * LINES)
        assert len(packed) < 20_000
        (path / name).write_bytes(packed)
    return path


def check_bounded(folder: Path, bombs: dict[str, str]) -> None:
    status, document, memory = bounded("check", evaluation(folder, bombs))
    assert status == 1
    for name in bombs:
        assert len([error for error in document["errors"] if error["file"] == name]) == MOST_KEPT, name
    assert document["errors_total"] >= len(bombs) * LINES
    assert memory < MOST_MEMORY, f"{memory >> 20} MiB"


def test_check_keeps_the_first_faults_of_a_file_and_counts_the_others(tmp_path: Path) -> None:
    bombs = {
        "runs/a.txt": "x\n",
        "runs/b.jsonl": '{"run": 1}\n',
        "judgments/a.jsonl": "x\n",
        "nuggets/a.jsonl": '{"question": "9"}\n',
        "answers.jsonl": "[]\n",
    }
    check_bounded(tmp_path / "e", bombs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("runs/a.txt", "9.9 t D x\n"),
        ("runs/a.txt", "\xff\n"),
        ("judgments/a.jsonl", '{"question": "9"}\n'),
        ("questions.jsonl", '{"id": 1}\n'),
        ("questions.jsonl", "\xff\n"),
    ],
)
def test_check_is_bounded_for_every_kind_of_file(tmp_path: Path, name: str, line: str) -> None:
    check_bounded(tmp_path / "e", {name: line})


@pytest.mark.parametrize(
    ("name", "head", "line"),
    [
        ("scores.csv", "question,a,b\nq1,0,1\n", "q2,0\n"),
        pytest.param("scores.jsonl", '{"question": "1", "a": 1, "b": 0}\n', "x\n", marks=pytest.mark.slow),
        pytest.param("scores.jsonl", "", '{"question": "1", "a": "x", "b": 1}\n', marks=pytest.mark.slow),
        pytest.param("long.csv", "question,system,score\n", "1,a,x\n", marks=pytest.mark.slow),
    ],
)
def test_compare_is_bounded(tmp_path: Path, name: str, head: str, line: str) -> None:
    (tmp_path / name).write_bytes(gzip.compress((head + line * LINES).encode()))
    status, document, memory = bounded("compare", tmp_path / name)
    assert (status, len(document["errors"]) <= MOST_KEPT) == (1, True)
    assert memory < MOST_MEMORY, f"{memory >> 20} MiB"
    assert max(len(error["message"]) for error in document["errors"]) < 1_100


def test_a_message_that_quotes_a_long_line_is_cut() -> None:
    error = InputError(Problem("syntax", "x" * 10_000_000, "f", 1, "q" * 10_000))
    assert len(str(error)) < 1_100
    assert len(error.problems[0].question or "") == LONGEST_QUESTION


def test_counts_survive_merging_and_pickling() -> None:
    first = InputError(Problem("syntax", str(line), "a", line) for line in range(1_000))
    problems = Problems(Problem("syntax", "b", "b") for _ in range(3))
    problems += first.problems
    problems += InputError(problems).problems.in_file("c")
    assert (len(problems), problems.total) == (3 + MOST_KEPT + MOST_KEPT, 2 * 1_003)
    again = pickle.loads(pickle.dumps(InputError(problems)))
    assert (again.problems, again.problems.total) == (tuple(problems), problems.total)
    assert str(again).endswith("c: ... and 803 more errors; the first 200 of a file are listed")
