"""Judging on a Ray cluster: the same judgments as here, also when a worker is killed, and jobs that go on."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.model_server import ScriptedReply, data_of, serving

import qassay
from on_disk import write
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
    write(place / "questions.jsonl", rows)
    for run in ("right", "wrong"):
        answers = ({"run": run, "question": f"q{n}", "items": [{"text": f"{run} {n}"}]} for n in range(QUESTIONS))
        write(place / "runs" / f"{run}.jsonl", list(answers))
    return place


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


def own_workers() -> list[int]:
    """The processes of a model's workers on this machine."""
    results = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if place.joinpath("cmdline").read_bytes().startswith(b"ray::_Host") and _is_ours(int(place.name)):
                results.append(int(place.name))
        except OSError:
            continue
    return results


def _is_ours(process: int) -> bool:
    while process > 1:
        if process == os.getpid():
            return True
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return False


def test_a_model_keeps_its_cache_limit_and_pace_when_its_worker_is_killed(cluster: str, folder: Path) -> None:
    asked: Counter[str] = Counter()
    killed: list[int] = []

    def script(request: dict[str, Any]) -> ScriptedReply:
        answer = data_of(request)["answer"]
        if len(asked) == QUESTIONS // 2 and not killed:
            killed.extend(own_workers()[:1])
            os.kill(killed[0], signal.SIGKILL)
        asked[answer] += 1
        if answer == "right 30" and asked[answer] == 1:
            return ScriptedReply("slow down", status=429, headers={"Retry-After": "0.1"})
        return ScriptedReply(
            {"reason": "read", "judgment": "correct" if "right" in answer else "incorrect"}, delay=0.03
        )

    with serving(script) as server:
        given = f"llm(model=m, endpoint={server.url}, parallel=8, price=1000/1000)"
        call = ["judge", str(folder), "--with", given, "--ray", cluster, "--workers"]
        assert main([*call, "1", "--limit", "10"]) == 5
        assert "m" not in qassay.open(folder).sets or len(judged(folder, "m")) < 2 * QUESTIONS
        within = len(asked)
        assert 0 < within < 2 * QUESTIONS
        assert main([*call, "2"]) == 0
        rows = judged(folder, "m")
        assert len(rows) == len(asked) == 2 * QUESTIONS
        assert all((row["judgment"] == "correct") == row["text"].startswith("right") for row in rows)
        # What the dead worker had under way was asked again, and nothing else was, but for what had been refused.
        assert killed
        assert 0 <= sum(asked.values()) - len(asked) - 1 <= 8
        assert asked["right 30"] >= 2
        assert server.most_under_way <= 8
        calls = server.calls
        # The cache is the one of this machine: without the cluster nothing is paid for again either.
        assert main(["judge", str(folder), "--with", given, "--set", "here"]) == 0
        assert server.calls == calls
        assert {row["text"]: row["judgment"] for row in judged(folder, "here")} == {
            row["text"]: row["judgment"] for row in rows
        }


@pytest.mark.slow
def test_a_model_that_gives_no_usable_answer_is_left_there_too(
    cluster: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(lambda _: "no") as server:
        given = f"llm(model=m, endpoint={server.url})"
        assert main(["judge", str(folder), "--with", given, "--ray", cluster, "--workers", "1"]) == 1
        assert server.calls == 30
    assert "10 calls in a row have no usable answer" in capsys.readouterr().err


def test_a_batch_that_ends_every_worker_stops_the_job(cluster: str, folder: Path) -> None:
    with pytest.raises(InputError, match=r"question q\d+: 3 workers of the Ray cluster ended while judging it"):
        qassay.judge(qassay.open(folder), lambda _: os._exit(1), set_name="poison", workers=1, ray=cluster)


def test_an_assessor_that_cannot_travel_is_refused(cluster: str, folder: Path) -> None:
    lock = threading.Lock()
    with pytest.raises(
        UsageError, match=r"the assessor stays cannot be sent to a Ray cluster: .*; go on without --ray"
    ):
        qassay.judge(qassay.open(folder), lambda _: str(lock), set_name="stays", ray=cluster)


def test_without_a_cluster_or_ray_it_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["judge", str(folder), "--with", "match", "--ray"]
    for address, message in {"127.0.0.1:9": "no Ray cluster at 127.0.0.1:9", "odd": "takes HOST:PORT, auto"}.items():
        assert main([*call, address]) == 2
        assert message in capsys.readouterr().err
    monkeypatch.setattr("qassay.extras.find_spec", lambda _: None)
    assert main([*call, "local"]) == 2
    assert "pip install 'qassay[ray]'" in capsys.readouterr().err
    assert not (folder / "judgments" / "match.jsonl").exists()
