"""The history of gates: looks are counted, added whole, and nothing in the file is believed."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
from pathlib import Path

import pytest

from qassay.errors import InputError, UsageError
from qassay.formats import gate_history
from qassay.formats.gate_history import Counted, GateLook, keep_look
from qassay.meta.looks import Plan

AT = "2026-01-01T00:00:00+00:00"


def look(a: str = "new", b: str = "old", scores: str = "1", plan: Plan | None = None, measure: str = "f1") -> GateLook:
    return GateLook((a, b), measure, scores, 60, "ALLOW", plan or Plan("any time"))


def test_looks_at_the_same_systems_are_counted_and_the_same_scores_are_no_new_look(tmp_path: Path) -> None:
    file = tmp_path / "gates.jsonl"
    assert keep_look(file, look(), at=AT) == Counted(1, 1)
    assert keep_look(file, look(scores="2"), at=AT) == Counted(2, 1)
    written = file.read_bytes()
    assert keep_look(file, look("old", "new", scores="1"), at=AT) == Counted(1, 1)
    assert file.read_bytes() == written
    assert keep_look(file, look("newer"), at=AT) == Counted(1, 2)
    assert keep_look(file, look(measure="latency"), at=AT) == Counted(1, 3)
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [row["systems"] for row in rows] == [["new", "old"], ["new", "old"], ["newer", "old"], ["new", "old"]]
    assert (rows[0]["time"], rows[0]["scores"], rows[0]["n"], rows[0]["decision"]) == (AT, "1", 60, "ALLOW")


def test_a_plan_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "gates.jsonl"
    keep_look(file, look(plan=Plan("planned", 100)), at=AT)
    with pytest.raises(UsageError, match=r"new and old with 100 planned, and this one is at any time\. A plan stays"):
        keep_look(file, look(scores="2"), at=AT)
    assert keep_look(file, look("newer"), at=AT) == Counted(1, 2)


@pytest.mark.parametrize(
    "line",
    [
        "not JSON",
        "[1, 2]",
        "{}",
        '{"systems": ["a"]}',
        '{"time": 1, "systems": ["a", "b"], "measure": "f1", "scores": 3, "n": 2, "decision": "ALLOW", "plan": {}}',
        '{"systems": ["a", "b"], "measure": "m", "scores": "3", "n": true, "decision": "x", "plan": '
        '{"kind": "any time", "planned": null, "steps": null}}',
        '{"systems": ["a", "b"], "measure": "m", "scores": "3", "n": 3, "decision": "x", "plan": '
        '{"kind": "steps", "planned": 10, "steps": 99}}',
        '{"systems": ["a", "b"], "measure": "m", "sco',
    ],
)
def test_a_damaged_file_is_named_with_its_line_and_left_alone(tmp_path: Path, line: str) -> None:
    file = tmp_path / "gates.jsonl"
    keep_look(file, look(), at=AT)
    with file.open("a", encoding="utf-8") as out:
        out.write(line)
    before = file.read_bytes()
    with pytest.raises(InputError) as caught:
        keep_look(file, look("newer"), at=AT)
    assert caught.value.problems[0].line == 2
    assert file.read_bytes() == before


def test_what_is_no_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="is a folder; name a file in it"):
        keep_look(tmp_path, look(), at=AT)
    with pytest.raises(InputError, match="cannot be written: No such file"):
        keep_look(tmp_path / "nowhere" / "gates.jsonl", look(), at=AT)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="is a pipe or a device"):
        keep_look(pipe, look(), at=AT)
    large = tmp_path / "large.jsonl"
    large.write_bytes(b"x" * 2_000)
    monkeypatch.setattr(gate_history, "MOST_BYTES", 1_000)
    with pytest.raises(InputError, match="is larger than"):
        keep_look(large, look(), at=AT)


def test_a_file_without_rights_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: str, *_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    # Every file is open to root: the system is played.
    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(InputError, match="cannot be written: Permission denied"):
        keep_look(tmp_path / "gates.jsonl", look(), at=AT)


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "gates.jsonl"
    keep_look(file, look(), at=AT)
    before = file.read_bytes()
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:20]))
    with pytest.raises(OSError, match="the disk is full"):
        keep_look(file, look("newer"), at=AT)
    assert file.read_bytes() == before


def _keep(file: Path, number: int) -> None:
    for more in range(10):
        keep_look(file, look(f"new-{number}-{more}"), at=AT)


def test_gates_at_once_wait_for_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "gates.jsonl"
    context = multiprocessing.get_context("fork")
    gates = [context.Process(target=_keep, args=(file, number)) for number in range(4)]
    for gate in gates:
        gate.start()
    for gate in gates:
        gate.join(30)
    assert len(file.read_text(encoding="utf-8").splitlines()) == 40
    assert keep_look(file, look(), at=AT) == Counted(1, 41)
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(gate_history, "PATIENCE", 0.1)
    with file.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="is in use: another gate writes to it"):
            keep_look(file, look(), at=AT)
