"""Damaged inputs of every reader and command: none may end in a traceback, an abort, 10 seconds or 2 GB.

The short form is part of `make test`. `make soak` tries QASSAY_FUZZ inputs (100,000). An input that broke something is
kept in tests/fuzz/crashes/TARGET/NUMBER/FILE and tried again here.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from random import Random

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import fuzz_running  # noqa: E402
import fuzz_worker  # noqa: E402
from fuzz_damage import damaged  # noqa: E402

LONG = int(os.environ.get("QASSAY_FUZZ", "100000"))


def report(outcome: fuzz_running.Outcome) -> str:
    return "\n".join(
        f"{crash['target']} {crash['number']} {crash['file']}: {crash['text']}" for crash in outcome.crashes
    )


def test_past_crashes_and_a_few_hundred_damaged_inputs_break_nothing(tmp_path: Path) -> None:
    assert fuzz_worker.kept_inputs(fuzz_running.KEPT)
    outcome = fuzz_running.fuzz(tmp_path, 300, seed="short")
    assert outcome.tried == 300
    assert len(outcome.by_target) == 17
    assert 30 < outcome.taken < 270  # the damage is neither harmless nor always seen at once
    assert not outcome.crashes, report(outcome)


@pytest.mark.slow
def test_many_damaged_inputs_break_nothing(tmp_path: Path) -> None:
    outcome = fuzz_running.fuzz(tmp_path, LONG, seed=os.environ.get("QASSAY_FUZZ_SEED", "long"))
    assert outcome.tried == LONG
    assert min(outcome.by_target.values()) > 0
    assert not outcome.crashes, report(outcome)


def test_the_same_number_is_the_same_damage() -> None:
    data = json.dumps([{"question": "1", "a": 0.5}] * 5).encode()
    made = [[damaged(data, Random(f"x {number}")) for number in range(50)] for _ in range(2)]
    assert made[0] == made[1]
    assert len(set(made[0])) > 40


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("raise ZeroDivisionError", "ZeroDivisionError"),
        ("os.abort()", "ends the process"),
        ("time.sleep(60)", "takes longer than 1 seconds"),
        ("hoard = bytearray(1 << 29); time.sleep(60)", "takes more than 300 MiB"),
    ],
)
def test_the_harness_sees_what_breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, says: str) -> None:
    """A worker with one target that breaks at its third input: the input is kept, and those after it are tried."""
    (tmp_path / "fuzz_targets.py").write_text(
        "import os, time\n"
        "from types import SimpleNamespace\n"
        "calls = []\n"
        "def targets(work):\n    return {'only': SimpleNamespace(inputs={'f.txt': b'some text'}, weight=1)}\n"
        "def attempt(target, file, data):\n"
        f"    if os.path.exists({str(tmp_path / 'broken')!r}): return\n"
        f"    calls.append(1)\n    if len(calls) == 3:\n        open({str(tmp_path / 'broken')!r}, 'w').close()\n"
        f"        {code}\n"
    )
    worker = (HERE / "fuzz_worker.py").read_text()
    (tmp_path / "fuzz_worker.py").write_text(worker)
    (tmp_path / "fuzz_damage.py").write_text((HERE / "fuzz_damage.py").read_text())
    monkeypatch.setattr(fuzz_running, "WORKER", tmp_path / "fuzz_worker.py")
    monkeypatch.setattr(fuzz_running, "KEPT", tmp_path / "none")
    monkeypatch.setattr(fuzz_running, "LIMIT_SECONDS", 1.0)
    monkeypatch.setattr(fuzz_running, "LIMIT_BYTES", 300 << 20)
    outcome = fuzz_running.fuzz(tmp_path / "place", 6, seed="x")
    (crash,) = outcome.crashes
    assert (outcome.tried, crash["number"], crash["target"], crash["file"]) == (6, 2, "only", "f.txt")
    assert says in crash["text"]
    assert (tmp_path / "place" / "crashes" / "only" / "2" / "f.txt").read_bytes() == damaged(b"some text", _after(2))


def _after(number: int) -> Random:
    """The generator of an input, after target and file were chosen."""
    chance = Random(f"x {number}")
    chance.choices(["only"], [1])
    fuzz_worker._choose(["f.txt"], chance)
    return chance
