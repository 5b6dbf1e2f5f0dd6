"""Functions, commands and plug-ins as assessors; jobs that are interrupted and go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest

import qassay
from on_disk import write
from qassay.assessors import Case, Opinion, own
from qassay.cli import main
from qassay.plugins import plugins

WORDS = ("Paris", "London", "Rome", "Oslo", "Bern", "Kiev")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Sixty free-text answers of two systems, all different."""
    place = tmp_path / "qa"
    assert main(["init", str(place), "--task", "qa"]) == 0
    questions = [{"id": f"q{n}", "type": "qa", "text": f"City {n}?", "gold": [WORDS[n % 6]]} for n in range(30)]
    write(place / "questions.jsonl", questions)
    for run, shift in (("a", 0), ("b", 1)):
        rows = [
            {"run": run, "question": f"q{n}", "items": [{"text": f"It is {WORDS[(n + shift * (n % 2)) % 6]} {run}"}]}
            for n in range(30)
        ]
        write(place / "runs" / f"{run}.jsonl", rows)
    return place


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "judgments" / f"{name}.jsonl").read_text().splitlines()]


def has_gold(case: Case) -> str | None:
    """The label of an answer that has the gold word; no opinion on q7."""
    if case.question.id == "q7":
        return None
    return "correct" if case.question.gold[0] in case.text else "incorrect"


def test_a_function_judges_and_its_set_is_a_programs(folder: Path) -> None:
    done = qassay.judge(qassay.open(folder), has_gold, set_name="mine")
    assert (done.judged, done.silent, dict(done.labels)) == (58, 2, {"correct": 44, "incorrect": 14})
    assert {row["trace"]["assessor"] for row in rows(folder, "mine")} == {"mine"}
    evaluation = qassay.open(folder)
    assert "mine" not in evaluation.assessor_sets
    assert qassay.judge(evaluation, has_gold, set_name="mine").known == 58


def test_a_module_is_found_beside_the_user(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "def strict(case):\n    return {'judgment': 'incorrect', 'trace': {'why': 'strict'}, 'probability': 0.9}\n"
    (tmp_path / "my_judges.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    assert main(["judge", str(folder), "--with", "my_judges:strict", "--set", "strict", "--workers", "3"]) == 0
    trace = rows(folder, "strict")[0]["trace"]
    assert trace == {"assessor": "my_judges:strict", "why": "strict", "probability": 0.9}
    assert main(["judge", str(folder), "--with", "my_judges:lenient"]) == 2
    assert "has no attribute 'lenient'" in capsys.readouterr().err


COMMAND = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    right = asked["gold"][0] in asked["text"]
    print(json.dumps({"judgment": asked["labels"][0 if right else 2]}), flush=True)
"""


def test_a_command_sees_what_a_person_sees_and_no_run(folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "judge.py"
    program.write_text(COMMAND)
    spelling = f"{sys.executable} {program}"
    assert main(["judge", str(folder), "--with", spelling, "--set", "command"]) == 0
    expected = {(row["question"], row["text"]): row["judgment"] for row in rows(folder, "command")}
    qassay.judge(
        qassay.open(folder),
        lambda case: "correct" if case.question.gold[0] in case.text else "incorrect",
        set_name="same",
    )
    assert expected == {(row["question"], row["text"]): row["judgment"] for row in rows(folder, "same")}
    seen = {}

    def keep(case: Case) -> None:
        seen.update(own.as_request(case, qassay.open(folder).task))

    qassay.judge(qassay.open(folder), keep, set_name="silent")
    assert set(seen) == {"question", "kind", "about", "text", "gold", "labels"}
    assert '"run"' not in json.dumps(seen)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("'great'", "'great' is not a label"),
        ("{'judgement': 'correct'}", "has no 'judgement'"),
        ("7", "gives a label, a verdict or nothing"),
        ("1/0", "ZeroDivisionError"),
    ],
)
def test_a_wrong_verdict_is_refused_with_its_place(
    answer: str,
    message: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = f"wrong_{abs(hash(answer))}"
    (tmp_path / f"{name}.py").write_text(f"def judge(case):\n    return {answer}\n")
    monkeypatch.chdir(tmp_path)
    assert main(["judge", str(folder), "--with", f"{name}:judge", "--set", "wrong"]) == 1
    assert message in capsys.readouterr().err
    assert not (folder / "judgments" / "wrong.jsonl").exists()


def test_a_command_that_ends_or_hangs_is_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", str(folder), "--with", "false", "--set", "dead"]) == 1
    assert "ended with status 1" in capsys.readouterr().err
    assert (
        main(["judge", str(folder), "--with", "sleep 60", "--set", "slow", "--timeout", "0.3", "--workers", "1"]) == 1
    )
    assert "no answer within 0.3 s" in capsys.readouterr().err
    assert main(["judge", str(folder), "--with", "no-such-program --x"]) == 2
    assert "unknown assessor" in capsys.readouterr().err


@pytest.mark.parametrize("written", ["b'not JSON'", 'b\'{"a": "\\xff"}\'', "b'[' * 100_000"])
def test_a_command_that_writes_anything_else_is_reported(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], written: str
) -> None:
    program = tmp_path / "odd.py"
    program.write_text(f"import os, sys\nfor line in sys.stdin:\n    os.write(1, {written} + b'\\n')\n")
    command = f"{sys.executable} -u {program}"
    assert main(["judge", str(folder), "--with", command, "--set", "odd", "--workers", "1"]) == 1
    assert "it has to write one JSON value per line" in capsys.readouterr().err


def test_several_decisions_are_under_way_and_come_in_order(folder: Path) -> None:
    running, most, lock = 0, 0, threading.Lock()

    def slow(case: Case) -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1
        return "correct"

    assessor = own.FunctionAssessor("slow", slow, under_way=6)
    qassay.judge(qassay.open(folder), assessor)
    qassay.judge(qassay.open(folder), lambda _: "correct", set_name="plain")
    assert most > 2
    assert [row["text"] for row in rows(folder, "slow")] == [row["text"] for row in rows(folder, "plain")]


@pytest.mark.parametrize("cut", [b'{"question": "q1", "te', b'{"question": "\xff"}\n', b"[" * 5_000 + b"\n"])
def test_an_interrupted_job_goes_on_where_it_stopped(folder: Path, cut: bytes) -> None:
    asked: list[tuple[str, str]] = []

    def fails(case: Case) -> str:
        if len(asked) == 20:
            raise RuntimeError("power cut")
        asked.append((case.question.id, case.text))
        return "correct"

    with pytest.raises(qassay.InputError, match="power cut"):
        qassay.judge(qassay.open(folder), fails, set_name="job")
    assert "job" not in qassay.open(folder).sets
    (journal,) = folder.glob(".judging-*")
    with journal.open("ab") as file:
        file.write(cut)  # a line that was cut off, or spoilt
    again: list[tuple[str, str]] = []

    def goes_on(case: Case) -> str:
        again.append((case.question.id, case.text))
        return "correct"

    done = qassay.judge(qassay.open(folder), goes_on, set_name="job")
    assert (done.judged, done.resumed) == (60, 20)
    assert sorted(asked + again) == sorted((row["question"], row["text"]) for row in rows(folder, "job"))
    assert not list(folder.glob(".judging-*"))


def test_nothing_is_lost_by_force(folder: Path, tmp_path: Path) -> None:
    """kill -9 in the middle: what was judged is not judged again, and nothing is judged twice."""
    log = tmp_path / "asked.txt"
    program = tmp_path / "patient.py"
    lines = ("import time", "def judge(case):", f"  open({str(log)!r}, 'a').write('.\\n')", "  time.sleep(0.02)")
    program.write_text("\n".join((*lines, "  return 'correct'")))
    call = [sys.executable, "-c", "import sys; from qassay.cli import main; sys.exit(main())"]
    call += ["judge", str(folder), "--with", "patient:judge", "--set", "killed"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    process = subprocess.Popen(call, env=environment, cwd=tmp_path, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not (log.exists() and len(log.read_text().splitlines()) > 10):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = len(log.read_text().splitlines())
    assert 10 < before < 60
    subprocess.run(call, env=environment, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    judged = [(row["question"], row["text"]) for row in rows(folder, "killed")]
    assert len(judged) == len(set(judged)) == 60
    # Only the decision under way is made again.
    assert len(log.read_text().splitlines()) <= 61


def test_a_plug_in_is_opened_by_its_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def points(*, group: str) -> EntryPoints:
        assert group == "qassay.assessors"
        return EntryPoints([EntryPoint("house", f"{__name__}:plugged", group)])

    monkeypatch.setattr("importlib.metadata.entry_points", points)
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    plugins.cache_clear()
    assert main(["judge", str(folder), "--with", "house(label=incorrect)", "--set", "house"]) == 0
    plugins.cache_clear()
    assert {row["judgment"] for row in rows(folder, "house")} == {"incorrect"}


def plugged(evaluation: qassay.Evaluation, *, label: str = "correct") -> Any:
    """What a package would register under the entry point group."""
    assert evaluation.task.name == "qa"

    def judge(case: Case) -> Opinion:
        return Opinion({"judgment": label}, {"by": "house"})

    return judge
