"""`qassay run`: from a folder to a checked run, interrupted and continued, and what it says when a system fails."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import qassay
from qassay import cli

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def _verb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cli.VERBS, "run", "Drive a system over the questions and write a run.")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def calling(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = cli.main(["run", *map(str, arguments)])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return calling


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two series and their documents."""
    path = tmp_path / "eval"
    for part in ("runs", "collection"):
        (path / part).mkdir(parents=True)
    (path / "qassay.toml").write_text('task = "series2004"\n')
    documents = [
        {"id": "D1", "text": "The Fram was a ship. The shipbuilder Colin Archer designed the Fram."},
        {"id": "D2", "text": "The Titanic had 20 lifeboats. Captain Edward Smith went down with the Titanic."},
    ]
    questions = [
        {"id": "1.1", "type": "factoid", "text": "Who designed it?", "series": "1", "target": "Fram"},
        {"id": "1.2", "type": "other", "text": "", "series": "1", "target": "Fram"},
        {"id": "2.1", "type": "factoid", "text": "How many lifeboats did it have?", "series": "2", "target": "Titanic"},
        {"id": "2.2", "type": "list", "text": "Who went down with it?", "series": "2", "target": "Titanic"},
        {"id": "2.3", "type": "other", "text": "", "series": "2", "target": "Titanic"},
    ]
    _write(path / "collection" / "docs.jsonl", documents)
    _write(path / "questions.jsonl", questions)
    return path


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _command(path: Path, body: str) -> str:
    path.write_text("import json, os, sys, time\nfor line in sys.stdin:\n    row = json.loads(line)\n" + body)
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


def test_a_reference_system(folder: Path, call: Call) -> None:
    status, out, err = call(
        folder, "--system", "series(other=sentence-baseline)", "--tag", "base", "--organisation", "us"
    )
    assert (status, err) == (0, "")
    assert "Wrote runs/base.jsonl, checked" in out
    rows = {row["question"]: row for row in _rows(folder / "runs" / "base.jsonl")}
    assert rows["1.1"]["items"] == [{"doc": "D1", "text": "Colin Archer"}]
    assert rows["2.1"]["items"] == [{"doc": "D2", "text": "20"}]
    assert [item["text"] for item in rows["1.2"]["items"]] == [
        "The Fram was a ship.",
        "The shipbuilder Colin Archer designed the Fram.",
    ]
    assert _rows(folder / "runs.jsonl") == [
        {"run": "base", "organisation": "us", "description": "series(other=sentence-baseline)"}
    ]
    log = _rows(folder / "logs" / "base.jsonl")
    assert [row.get("question") for row in log[1:-1]] == ["1.1", "1.2", "2.1", "2.2", "2.3"]
    assert "finished" in log[-1]
    assert qassay.open(folder).runs.tags == ("base",)
    assert cli.main(["check", str(folder)]) == 0


def test_parameters_and_json(folder: Path, call: Call) -> None:
    status, out, _ = call(folder, "--system", "factoid", "--set", "threshold=5", "--json", "--form", "trec4")
    document = json.loads(out)
    assert status == 0
    assert document.pop("seconds") >= 0
    assert document == {
        "run": "factoid-threshold-5",
        "system": "factoid(threshold=5)",
        "file": "runs/factoid-threshold-5.txt",
        "stored": False,
        "log": "logs/factoid-threshold-5.jsonl",
        "questions": 5,
        "continued": 0,
        "nil": 2,
        "empty": 3,
        "failed": [],
    }
    text = (folder / "runs" / "factoid-threshold-5.txt").read_text()
    assert text.splitlines() == [f"{q} factoid-threshold-5 NIL" for q in ("1.1", "1.2", "2.1", "2.2", "2.3")]


def test_the_passages_task(folder: Path, call: Call) -> None:
    (folder / "qassay.toml").write_text('task = "passages"\n')
    (folder / "questions.jsonl").write_text('{"id": "1", "type": "factoid", "text": "Who designed the Fram?"}\n')
    status, _, err = call(folder, "--system", "passages", "--form", "extract")
    assert (status, err) == (0, "")
    assert (folder / "runs" / "passages.txt").read_text() == "1 passages D1 21 47\n"


def test_the_confidence_task_ranks_its_questions(folder: Path, call: Call) -> None:
    (folder / "qassay.toml").write_text('task = "confidence"\n')
    _write(
        folder / "questions.jsonl",
        [
            {"id": "1", "type": "factoid", "text": "Who was her cook?", "target": "Fram"},
            {"id": "2", "type": "factoid", "text": "Who designed the Fram?", "target": "Fram"},
        ],
    )
    assert call(folder, "--system", "factoid(threshold=0)")[0] == 0
    rows = _rows(folder / "runs" / "factoid-threshold-0.jsonl")
    assert [row["question"] for row in rows] == ["2", "1"]
    assert rows[0]["confidence"] >= rows[1]["confidence"]


def test_a_run_that_is_there_stays_unless_forced(folder: Path, call: Call) -> None:
    assert call(folder, "--system", "factoid", "--tag", "t")[0] == 0
    before = (folder / "runs" / "t.jsonl").read_bytes()
    status, _, err = call(folder, "--system", "frequent-name", "--tag", "t")
    assert status == 1
    assert err == "error: runs/t.jsonl: is there already; choose another --tag, or replace it with --force\n"
    assert (folder / "runs" / "t.jsonl").read_bytes() == before
    assert call(folder, "--system", "frequent-name", "--tag", "t", "--force", "--form", "trec4")[0] == 0
    assert [path.name for path in (folder / "runs").iterdir()] == ["t.txt"]
    assert _rows(folder / "logs" / "t.jsonl")[0]["system"] == "frequent-name"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    sys.exit('no model here')\n", "it ended with status 1 before it answered; it last said: no model here"),
        ("    time.sleep(30)\n", "no answer within 0.4 s"),
        ("    print('{}{}', flush=True)\n", "its answer is not one"),
        ('    print(\'{"nil": true}\\n{"nil": true}\', flush=True)\n', "answers no question"),
        (
            '    print(json.dumps({"items": [{"doc": "D9", "text": "x"}]}), flush=True)\n',
            "document D9 is not in the coll",
        ),
    ],
)
def test_systems_that_fail(folder: Path, tmp_path: Path, call: Call, body: str, message: str) -> None:
    command = _command(tmp_path / "system.py", body)
    timeout = "0.4" if "sleep" in body else "20"
    status, out, err = call(folder, "--system", command, "--tag", "t", "--retries", 0, "--timeout", timeout)
    assert (status, out) == (1, "")
    assert message in err
    assert err.startswith("error: ")
    assert "Traceback" not in err
    assert "no run is written" in err
    assert list((folder / "runs").iterdir()) == []
    assert not (folder / "runs.jsonl").exists()


def test_a_failure_as_json(folder: Path, tmp_path: Path, call: Call) -> None:
    command = _command(tmp_path / "system.py", "    sys.exit(3)\n")
    status, out, _ = call(folder, "--system", command, "--tag", "t", "--retries", 0, "--json")
    assert status == 1
    (error,) = json.loads(out)["errors"]
    assert error["question"] == "1.1"
    assert "ended with status 3" in error["message"]


def test_nil_in_place_of_failures(folder: Path, tmp_path: Path, call: Call) -> None:
    body = (
        "    if row['question']['id'] in ('1.1', '2.2'): sys.exit(1)\n"
        "    one = row['question']['type'] == 'factoid'\n"
        "    print(json.dumps({'items': [{'doc': 'D1', 'text': 'x'}]} if one else {}), flush=True)\n"
    )
    command = _command(tmp_path / "system.py", body)
    status, out, err = call(folder, "--system", command, "--tag", "t", "--retries", 0, "--on-failure", "nil")
    assert status == 0
    assert err == "warning: 2 questions failed and are empty: 1.1, 2.2\n"
    assert "1 NIL, 3 empty" in out
    assert _rows(folder / "runs" / "t.jsonl")[0] == {"run": "t", "question": "1.1", "items": [], "nil": True}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--system", "factiod"], "unknown system 'factiod'; did you mean 'factoid'?"),
        (["--system", "factoid", "--set", "threshold"], "--set takes NAME=VALUE"),
        (["--system", "factoid", "--set", "a=1", "--set", "a=2"], "--set a is given twice"),
        (["--system", "factoid", "--tag", "a b"], "the run tag 'a b' contains ' '"),
        (["--system", "factoid", "--form", "rte"], "unknown form to write a run of task series2004 in 'rte'"),
        (["--system", "http://localhost:9/x", "--token-from", "NO_SUCH_VARIABLE_HERE"], "is not set"),
        (["--system", "factoid", "--workers", "0"], "--workers"),
        ([], "--system"),
    ],
)
def test_wrong_usage(folder: Path, call: Call, arguments: list[str], message: str) -> None:
    status, out, err = call(folder, *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert not (folder / "logs").exists()


def test_an_evaluation_without_documents(folder: Path, tmp_path: Path, call: Call) -> None:
    shutil.rmtree(folder / "collection")
    status, _, err = call(folder, "--system", "factoid")
    assert status == 2
    assert "put them in collection/" in err
    command = _command(tmp_path / "system.py", '    print(\'{"items": [{"doc": "any", "text": "x"}]}\', flush=True)\n')
    assert call(folder, "--system", command, "--tag", "t")[0] == 0


COUNTING = """
    q = row['question']['id']
    with open(os.path.join(os.path.dirname(__file__), 'asked'), 'a') as out: out.write(q + '\\n')
    slow = os.path.join(os.path.dirname(__file__), 'slow')
    if q == '2.2' and os.path.exists(slow): time.sleep(8)
    print(json.dumps({'items': [{'doc': 'D1', 'text': q + ' after ' + str(len(row['history']))}]}), flush=True)
"""


@pytest.mark.parametrize("form", ["jsonl", "trec4"])
def test_a_killed_run_is_continued_and_gives_the_same(folder: Path, tmp_path: Path, call: Call, form: str) -> None:
    command = _command(tmp_path / "system.py", COUNTING)
    suffix = {"jsonl": ".jsonl", "trec4": ".txt"}[form]
    assert call(folder, "--system", command, "--tag", "t", "--form", form)[0] == 0
    whole = (folder / "runs" / f"t{suffix}").read_bytes()
    information = (folder / "runs.jsonl").read_bytes()
    shutil.rmtree(folder / "logs")
    shutil.rmtree(folder / "runs")
    (folder / "runs.jsonl").unlink()
    (tmp_path / "asked").unlink()

    (tmp_path / "slow").touch()
    log = folder / "logs" / "t.jsonl"
    code = "import sys; from qassay import cli; cli.VERBS['run'] = ''; sys.exit(cli.main(sys.argv[1:]))"
    arguments = ["run", str(folder), "--system", command, "--tag", "t", "--form", form]
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], start_new_session=True)
    try:
        deadline = time.monotonic() + 30
        while not (log.exists() and b'"2.1"' in log.read_bytes()) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert b'"2.1"' in log.read_bytes()
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert not (folder / "runs").exists() or not list((folder / "runs").iterdir())
    asked = (tmp_path / "asked").read_text().split()
    assert asked[:3] == ["1.1", "1.2", "2.1"]

    (tmp_path / "slow").unlink()
    status, out, err = call(*arguments[1:])
    assert (status, err) == (0, "")
    assert "3 of them before the break" in out
    assert (folder / "runs" / f"t{suffix}").read_bytes() == whole
    assert (folder / "runs.jsonl").read_bytes() == information
    # The finished series was not asked again; the broken one was, from its first question.
    assert (tmp_path / "asked").read_text().split()[len(asked) :] == ["2.1", "2.2", "2.3"]


def test_an_interrupted_run_says_so(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "slow").touch()
    command = _command(tmp_path / "system.py", COUNTING)
    code = "import sys; from qassay import cli; cli.VERBS['run'] = ''; sys.exit(cli.main(sys.argv[1:]))"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "run", str(folder), "--system", command, "--tag", "t"], stderr=subprocess.PIPE
    )
    asked, deadline = tmp_path / "asked", time.monotonic() + 30
    while not (asked.exists() and "2.2" in asked.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"3 answers are kept: the same command goes on from there\n" in err
    assert b"Traceback" not in err
    assert list((folder / "runs").iterdir()) == []


def test_the_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "--help"]) == 0
    out = capsys.readouterr().out
    assert "qassay run my-eval --system series" in out
    for option in ("--system", "--set", "--workers", "--timeout", "--retries", "--on-failure", "--token-from"):
        assert option in out
