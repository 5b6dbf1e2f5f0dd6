"""Small files that unpack to very many faulty lines: the first faults are kept, all are counted, memory is bounded."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from qassay.errors import MOST_KEPT

LINES = 300_000
# The interpreter and the libraries take about 200 MiB; the faults of so many lines took more than a gigabyte.
MOST_MEMORY = 600 << 20
TOML = 'task = "series2004"\n'
QUESTION = '{"id": "1.1", "type": "factoid", "text": "Who?", "series": "1", "target": "X"}\n'

# The command, then its own peak memory on a line of its own.
PROGRAM = """
import resource, sys
from qassay.cli import main
status = main(sys.argv[1:])
print()
print(status, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def bounded(*arguments: object) -> tuple[int, dict[str, object], int]:
    """Exit status, JSON document and peak memory of a command."""
    call = [sys.executable, "-c", PROGRAM, *map(str, arguments), "--json"]
    done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=60)
    *document, last = done.stdout.strip().split("\n")
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    status, memory = map(int, last.split())
    return status, json.loads("\n".join(document)), memory


def folder_with(path: Path, name: str, line: str) -> Path:
    """An evaluation one file of which is packed and has a faulty line very many times."""
    for part, text in (("qassay.toml", TOML), ("questions.jsonl", QUESTION), ("runs/ok.txt", "1.1 ok NIL\n")):
        (path / part).parent.mkdir(parents=True, exist_ok=True)
        (path / part).write_text(text)
    (path / name).parent.mkdir(exist_ok=True)
    packed = gzip.compress(line.encode() * LINES)
    assert len(packed) < LINES // 10
    (path / name).write_bytes(packed)
    return path


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("runs/bomb.txt", "x\n"),
        ("runs/bomb.txt", "9.9 t D x\n"),
        ("runs/bomb.txt", "1.1 t D x\n"),
        ("runs/bomb.jsonl", '{"run": 1}\n'),
        ("judgments/bomb.jsonl", "x\n"),
        ("judgments/bomb.jsonl", '{"question": "9"}\n'),
        ("nuggets/bomb.jsonl", '{"question": "9"}\n'),
        ("answers.jsonl", "[]\n"),
        ("questions.jsonl", '{"id": "1"}\n'),
        ("questions.jsonl", "\xff\n"),
    ],
)
def test_check_keeps_the_first_faults_of_a_file_and_counts_the_others(tmp_path: Path, name: str, line: str) -> None:
    status, document, memory = bounded("check", folder_with(tmp_path / "e", name, line))
    assert status == 1
    errors = document["errors"]
    assert isinstance(errors, list)
    assert len([error for error in errors if error["file"] == name]) == MOST_KEPT
    assert isinstance(document["errors_total"], int)
    assert document["errors_total"] >= LINES - 1
    assert memory < MOST_MEMORY, f"{memory >> 20} MiB"
