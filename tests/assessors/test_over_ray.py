"""Judging on a Ray cluster: the same judgments as here, also when a worker is killed, and jobs that go on."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import qassay
from qassay.assessors import Case
from qassay.cli import main
from qassay.errors import InputError, UsageError

pytestmark = pytest.mark.filterwarnings("ignore")
QUESTIONS = 40


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A cluster on this machine, made by the first job and ended here."""
    ray = pytest.importorskip("ray")
    yield "local"
    ray.shutdown()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A `qa` evaluation with two answers to each question."""
    place = tmp_path / "qa"
    assert main(["init", str(place), "--task", "qa"]) == 0
    rows = [{"id": f"q{n}", "type": "qa", "text": f"Which {n}?", "gold": [f"right {n}"]} for n in range(QUESTIONS)]
    _write(place / "questions.jsonl", rows)
    for run in ("right", "wrong"):
        answers = ({"run": run, "question": f"q{n}", "items": [{"text": f"{run} {n}"}]} for n in range(QUESTIONS))
        _write(place / "runs" / f"{run}.jsonl", list(answers))
    return place


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def judged(folder: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a set without the names of set and assessor."""
    lines = (folder / "judgments" / f"{name}.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    return [{key: value for key, value in row.items() if key not in ("assessor", "trace")} for row in rows]


def killed_once(mark: Path) -> Any:
    """An assessor whose worker is killed the first time it sees q5, and which notes the process that judges."""

    def judge(case: Case) -> str:
        if case.question.id == "q5" and not mark.exists():
            mark.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return "correct" if case.text in case.question.gold else "incorrect"

    return judge


def test_a_killed_worker_is_replaced_and_nothing_is_lost_or_doubled(cluster: str, folder: Path, tmp_path: Path) -> None:
    mark = tmp_path / "killed"
    evaluation = qassay.open(folder)
    done = qassay.judge(evaluation, killed_once(mark), set_name="there", workers=2, ray=cluster)
    assert int(mark.read_text()) != os.getpid()
    assert dict(done.labels) == {"correct": QUESTIONS, "incorrect": QUESTIONS}
    qassay.judge(evaluation, killed_once(mark), set_name="here")
    assert judged(folder, "there") == judged(folder, "here")
    assert len(judged(folder, "there")) == 2 * QUESTIONS


def test_built_in_assessors_and_commands_judge_there_as_here(cluster: str, folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "judge.py"
    program.write_text(
        "import json, sys\nfor line in sys.stdin:\n    asked = json.loads(line)\n"
        "    print(json.dumps('correct' if asked['text'] in asked['gold'] else 'incorrect'), flush=True)\n"
    )
    rag = tmp_path / "rag"
    assert main(["demo", "--which", "rag", "--to", str(rag)]) == 0
    for place, spelling in ((folder, "learned"), (folder, f"{sys.executable} {program}"), (rag, "overlap")):
        call = ["judge", str(place), "--with", spelling]
        assert main([*call, "--set", "there", "--ray", cluster, "--workers", "1", "--again"]) == 0
        assert main([*call, "--set", "here", "--again"]) == 0
        assert judged(place, "there") == judged(place, "here")


def test_a_job_that_fails_there_keeps_its_journal_and_goes_on_here(cluster: str, folder: Path) -> None:
    def fails(case: Case) -> str:
        if case.question.id == "q7":
            raise RuntimeError("out of memory")
        return "correct"

    with pytest.raises(InputError, match=r"question q7: .* raised RuntimeError: out of memory"):
        qassay.judge(qassay.open(folder), fails, set_name="job", workers=1, ray=cluster)
    assert "job" not in qassay.open(folder).sets
    done = qassay.judge(qassay.open(folder), lambda _: "incorrect", set_name="job")
    assert 0 < done.resumed < done.judged == 2 * QUESTIONS
    assert done.labels["correct"] == done.resumed


@pytest.mark.slow
def test_a_batch_that_ends_every_worker_stops_the_job(cluster: str, folder: Path) -> None:
    with pytest.raises(InputError, match=r"question q\d+: 3 workers of the Ray cluster ended while judging it"):
        qassay.judge(qassay.open(folder), lambda _: os._exit(1), set_name="poison", workers=1, ray=cluster)


def test_an_assessor_that_cannot_travel_is_refused(cluster: str, folder: Path) -> None:
    lock = threading.Lock()
    with pytest.raises(UsageError, match=r"cannot be sent to a Ray cluster: .*; judge without --ray"):
        qassay.judge(qassay.open(folder), lambda _: str(lock), set_name="stays", ray=cluster)


def test_without_a_cluster_or_ray_it_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["judge", str(folder), "--with", "match", "--ray"]
    assert main([*call, "127.0.0.1:9"]) == 2
    assert "no Ray cluster at 127.0.0.1:9" in capsys.readouterr().err
    monkeypatch.setattr("qassay.extras.find_spec", lambda _: None)
    assert main([*call, "local"]) == 2
    assert "pip install 'qassay[ray]'" in capsys.readouterr().err
    assert not (folder / "judgments" / "match.jsonl").exists()
